"""Replay: run a graph again on inputs of guard's own, and compare what comes out. A torch room; knows no check."""
