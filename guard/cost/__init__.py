"""What a captured graph must do: operations, bytes, collectives. Computed from graphs, never stored."""
