"""Text of a node's arguments: literals, tokens, references. One line, wrapped where a list is long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from guard.ir.expr import Apply, Symbol
from guard.ir.expr_text import print_expr
from guard.ir.graph import Body, Digest, Group, Mapping, Opaque, Ref, Slice, Token
from guard.ir.literals import SHORT_DTYPES, complex_number, device, dtype, name, quote
from guard.ir.ranks import print_ranks

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.ir.graph import Arg

LINE_ITEMS = 16
_LINE_BREAK = re.compile(r"(,?)\n *")


def print_arg(arg: Arg) -> str:
    """Print one argument; a list of more than 16 items takes several lines."""
    return TEXT[type(arg)](arg)


def print_ref(value: str) -> str:
    """Print the use of a value by its name."""
    return f"%{name(value)}"


def one_line(text: str) -> str:
    """Undo the wrapping of long lists. Strings are escaped, so that each line break is one of ours."""
    return _LINE_BREAK.sub(lambda match: ", " if match[1] else "", text)


def wrap(texts: list[str]) -> str:
    """Join what stands between brackets: with commas, 16 a line where there are more than 16."""
    if len(texts) <= LINE_ITEMS:
        return ", ".join(texts)
    inner = rows(texts).replace("\n", "\n    ")
    return f"\n    {inner}\n  "


def rows(texts: list[str]) -> str:
    """Join with commas, 16 a line."""
    return ",\n".join([", ".join(texts[start : start + LINE_ITEMS]) for start in range(0, len(texts), LINE_ITEMS)])


def _token(token: Token) -> str:
    return dtype(token.text) if token.kind == "dtype" else f"{token.kind}({device(token.text)})"


def _symbol(symbol: Symbol) -> str:
    """Print a lone symbol; u8 is a dtype, so that the ninth unbacked symbol needs another spelling."""
    return f"sym({quote(symbol.name)})" if symbol.name in SHORT_DTYPES else print_expr(symbol)


def _mapping(mapping: Mapping) -> str:
    return f"{{{wrap([f'{quote(key)}: {print_arg(value)}' for key, value in mapping.items])}}}"


TEXT: dict[type, Callable[[Any], str]] = {
    Ref: lambda ref: f"%{name(ref.name)}",
    int: repr,
    float: repr,
    bool: repr,
    type(None): repr,
    str: quote,
    complex: complex_number,
    tuple: lambda items: f"[{wrap([TEXT[type(item)](item) for item in items])}]",
    Token: _token,
    Symbol: _symbol,
    Apply: print_expr,
    Slice: lambda it: f"slice({print_arg(it.start)}, {print_arg(it.stop)}, {print_arg(it.step)})",
    Mapping: _mapping,
    Body: lambda body: f"@{name(body.name)}",
    Group: lambda group: f"group({print_ranks(group.ranks)})",
    Opaque: lambda opaque: f"opaque({quote(opaque.name)})",
    Digest: lambda digest: f"digest({quote(digest.text)})",
}
