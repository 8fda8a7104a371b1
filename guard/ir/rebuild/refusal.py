"""Why a graph is not rebuilt: the exception, with the node that it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.ir.graph import Node


class RefusedError(Exception):
    """A graph that guard does not rebuild, or cannot run here."""

    def __init__(self, reason: str, node: Node | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node
        """The node of the text at fault, None where it is the whole graph."""
