"""Baselines on disk: their names, the store, what waits to be accepted. Knows no torch, no pytest."""
