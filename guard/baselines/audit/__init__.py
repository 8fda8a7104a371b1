"""What can be said of the baselines without torch, pytest or a run: texts, places, checks, staging."""
