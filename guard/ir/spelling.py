"""Nodes as equality sees them: text in which each use of a value is a bare ``%``, beside the list of the values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.ir.arg_text import TEXT
from guard.ir.expr import Apply, Symbol
from guard.ir.expr_text import print_expr, rename
from guard.ir.graph import Body, Mapping, Ref, Slice
from guard.ir.literals import quote

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Mapping as Dictionary

    from guard.ir.graph import Arg, Effect, Node


class Speller:
    """Spells arguments and nodes. ``values`` collects the uses; ``symbolic`` is set once a symbol was met.

    Strings are quoted, so that a ``%`` of theirs is never taken for a use.
    """

    def __init__(self, digests: Dictionary[str, str], symbols: Dictionary[str, str] | None = None) -> None:
        self.values: list[str] = []
        self.symbolic = False
        self._digests = digests
        self._symbols = symbols
        self._special: dict[type, Callable[[Any], str]] = {
            Ref: self._ref,
            tuple: self._list,
            Slice: self._slice,
            Mapping: self._mapping,
            Body: self._body,
            Symbol: self._expr,
            Apply: self._expr,
        }
        self._texts = {**TEXT, **self._special}

    def arg(self, arg: Arg) -> str:
        """Spell one argument."""
        return self._texts[type(arg)](arg)

    def node(self, node: Node) -> str:
        """Spell a node's call, effects and tags; its results are not part of it."""
        _results, target, args, kwargs, effects, tags, _source = node
        texts = self._texts
        parts = [texts[type(arg)](arg) for arg in args]
        if kwargs:
            parts += [f"{key}={texts[type(arg)](arg)}" for key, arg in kwargs]
        text = f"{target}({', '.join(parts)})"
        if effects:
            text += "".join([self._effect(effect) for effect in effects])
        return f"{text} #{' #'.join(map(quote, tags))}" if tags else text

    def _effect(self, effect: Effect) -> str:
        kind, on = effect
        if kind not in ("alias", "write"):
            return f" {{{kind} {on}}}" if on else f" {{{kind}}}"
        self.values += [str(name) for name in on]
        return f" {{{kind}{' %' * len(on)}}}"

    def _ref(self, ref: Ref) -> str:
        self.values.append(ref[0])
        return "%"

    def _list(self, items: tuple[Arg, ...]) -> str:
        texts = self._texts
        return f"[{', '.join([texts[type(item)](item) for item in items])}]"

    def _slice(self, it: Slice) -> str:
        return f"slice({', '.join(map(self.arg, it))})"

    def _mapping(self, mapping: Mapping) -> str:
        return f"{{{', '.join([f'{quote(key)}: {self.arg(value)}' for key, value in mapping.items])}}}"

    def _body(self, body: Body) -> str:
        return f"@{self._digests[body.name]}"

    def _expr(self, expr: Symbol | Apply) -> str:
        self.symbolic = True
        if self._symbols is None:
            return f"sym {print_expr(expr)}"
        return f"sym {print_expr(rename(expr, self._symbols))}"
