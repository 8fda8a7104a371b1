"""The values that are defined so far, while one graph is read. Knows no grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.ir.uses import body_names, refs

if TYPE_CHECKING:
    from guard.ir.graph import Arg
    from guard.ir.lexer import Cursor
    from guard.ir.types import Type


class Scope:
    """The values defined so far, and the bodies used, in one graph."""

    def __init__(self, cursor: Cursor, bodies: dict[str, int]) -> None:
        self.cursor = cursor
        self.names: set[str] = set()
        self.types: dict[str, Type] = {}
        """By their text: one object for one text, since comparing looks types up by identity."""
        self.bodies = bodies

    def define(self, name: str, position: int) -> None:
        """Add a value."""
        if name in self.names:
            raise self.cursor.error(f'value "%{name}" is defined twice', position)
        self.names.add(name)

    def use(self, name: str, position: int) -> None:
        """Refuse a value that is not defined yet."""
        if name not in self.names:
            raise self.cursor.error(f'value "%{name}" is used before it is defined', position)

    def use_all(self, arg: Arg, position: int) -> None:
        """Refuse an argument with such a value; note its bodies, which stand further down."""
        for name in refs(arg):
            self.use(name, position)
        for body in body_names(arg):
            self.bodies.setdefault(body, position)
