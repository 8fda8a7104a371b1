"""One check's life: capture, compare, judge, outcome. torch rooms are imported inside functions only."""
