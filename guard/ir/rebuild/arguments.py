"""Literals of the text -> arguments of fx nodes. What no rule knows is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.ir.expr import Apply, Symbol
from guard.ir.graph import Body, Mapping, Ref, Slice, Token
from guard.ir.rebuild.expressions import value_of
from guard.ir.rebuild.refusal import RefusedError
from guard.ir.rebuild.targets import resolve
from guard.ir.types import DTYPES

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Mapping as Dictionary

    from guard.ir.graph import Arg

_PLAIN = (int, float, complex, bool, str, type(None))
_FULL = {short: name for name, short in DTYPES.items()}


def dtype_of(name: str) -> torch.dtype:
    """The dtype of a short or full name."""
    found = getattr(torch, _FULL.get(name, name), None)
    if not isinstance(found, torch.dtype):
        raise RefusedError(f'torch has no dtype "{name}"')
    return found


def device_of(name: str) -> torch.device:
    """The device of a name such as ``cuda:1``."""
    try:
        return torch.device(name)
    except RuntimeError:
        raise RefusedError(f'torch has no device "{name}"') from None


class Arguments:
    """Converter of one graph's arguments."""

    def __init__(
        self,
        values: Dictionary[str, Any],
        body: Callable[[str], Any],
        symbols: Dictionary[str, Any],
        namespaces: frozenset[str],
    ) -> None:
        self._values = values
        self._body = body
        self._symbols = symbols
        self._namespaces = namespaces

    def convert(self, arg: Arg, sequence: Callable[[Any], Any] = list) -> Any:
        """Convert one argument; ``sequence`` is what lists become."""
        if type(arg) in _PLAIN:
            return arg
        if type(arg) is Ref:
            return self._values[arg.name]
        if type(arg) is tuple:
            return sequence([self.convert(item, sequence) for item in arg])
        if type(arg) is Token:
            return self._token(arg)
        return self._structured(arg, sequence)

    def _structured(self, arg: Arg, sequence: Callable[[Any], Any]) -> Any:
        if type(arg) is Slice:
            return slice(*(self.convert(part) for part in arg))
        if type(arg) is Mapping:
            return {key: self.convert(value, sequence) for key, value in arg.items}
        if type(arg) is Body:
            return self._body(arg.name)
        if type(arg) in {Symbol, Apply}:
            return value_of(arg, self._symbols)  # type: ignore[arg-type]  # just looked
        raise RefusedError(f'an argument of type "{type(arg).__name__.lower()}" is not rebuilt')

    def _token(self, token: Token) -> Any:
        if token.kind == "dtype":
            return dtype_of(token.text)
        if token.kind == "device":
            return device_of(token.text)
        if token.kind == "op":
            return resolve(token.text, self._namespaces)
        if token.kind == "ellipsis":
            return ...
        kind = {"layout": torch.layout, "memory_format": torch.memory_format}.get(token.kind)
        found = getattr(torch, token.text, None)
        if kind is None or not isinstance(found, kind):
            raise RefusedError(f'{token.kind} "{token.text}" is not rebuilt')
        return found
