"""Whether a check can have changed since it last held: what it depends on, kept and compared. Standard library only."""
