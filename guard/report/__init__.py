"""Rendering of a run as text: pure functions, one file a format."""
