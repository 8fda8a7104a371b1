"""The graph as data and as text: model, printer, parser, canonical equality. Knows no torch (ir/lower does)."""
