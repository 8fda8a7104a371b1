"""How an alarm names a node: its text without effects, short enough for a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.ir.printer import print_node

if TYPE_CHECKING:
    from guard.ir.graph import Node

LONGEST = 100


def spelled(node: Node) -> str:
    """Return the node's text, cut where it is long."""
    text = print_node(node._replace(effects=(), tags=()))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
