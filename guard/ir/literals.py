"""Spelling of the smallest pieces: quoted strings, bare names, numbers. Both directions; knows no graph."""

from __future__ import annotations

import re

from guard.ir.types import DTYPES

SHORT_DTYPES = frozenset(DTYPES.values())
TOKEN_KINDS = ("dtype", "layout", "memory_format", "device", "generator", "op", "ellipsis")
# Longer integers are refused, so that no file makes int() quadratic or trips Python's own limit of 4300 digits.
MAX_DIGITS = 1000

_PLAIN = re.compile(r"[ !#-\[\]-~]*")
_ESCAPED = re.compile(r"[^ !#-\[\]-~]")
_ESCAPE = re.compile(r"\\(?:U([0-9A-Fa-f]{8})|u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_SHORT_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_LONG_ESCAPES = {text[1]: char for char, text in _SHORT_ESCAPES.items()}

_NAME = re.compile(r"[A-Za-z0-9_.]+")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_DEVICE = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*(?::[0-9]+)?")
# Words that open a line or an item, and so are quoted where they are a target or a class's name.
RESERVED = frozenset(
    (
        *(
            "_",
            "alias",
            "body",
            "device",
            "dt",
            "dtype",
            "grad",
            "graph",
            "input",
            "inputs",
            "list",
            "literal",
            "mutated",
        ),
        *("opaque", "output", "outputs", "return", "saved", "where"),
    )
)


def quote(text: str) -> str:
    """Put text in double quotes; what is not printable ASCII is escaped, code point by code point.

    Not JSON's escapes: a lone surrogate, and two that would be read as one character, survive.
    """
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    short = _SHORT_ESCAPES.get(char)
    if short:
        return short
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"  # noqa: PLR2004 - end of the BMP


def unquote(text: str) -> str:
    """Inverse of quote.

    Raises:
        ValueError: an escape is not known.
    """
    inner = text[1:-1]
    return _ESCAPE.sub(_unescape, inner) if "\\" in inner else inner


def _unescape(match: re.Match[str]) -> str:
    long, four, short = match.groups()
    if short is None:
        return chr(int(long or four, 16))
    if short not in _LONG_ESCAPES:
        raise ValueError(f'escape "\\{short}" is not known')
    return _LONG_ESCAPES[short]


def name(text: str) -> str:
    """Spell the name of a value, body or graph: bare, or quoted where it has other characters than ``A-Za-z0-9_.``."""
    return text if _NAME.fullmatch(text) else quote(text)


def keyword(text: str) -> str:
    """Spell a keyword argument: as a name, but not starting with a digit."""
    return text if _WORD.fullmatch(text) else quote(text)


def word(text: str) -> str:
    """Spell a target, graph or class: as a name, but neither reserved nor starting with a digit."""
    return text if _WORD.fullmatch(text) and text not in RESERVED else quote(text)


def device(text: str) -> str:
    """Spell a device or another token of torch's: ``cuda:0``, quoted where it is none."""
    return text if _DEVICE.fullmatch(text) else quote(text)


def dtype(text: str) -> str:
    """Spell a dtype: the short names are bare, others ``dtype(name)``."""
    return text if text in SHORT_DTYPES else f"dtype({device(text)})"


def complex_number(value: complex) -> str:
    """Spell a complex number by its parts: ``complex(1.0, -0.0)``; Python's own ``1-0j`` loses signs."""
    return f"complex({value.real!r}, {value.imag!r})"


def number(text: str) -> int | float:
    """Read a number's text.

    Raises:
        ValueError: it has too many digits, or is a float beyond the range of a double.
    """
    if text.lstrip("-").isdecimal():
        if len(text) > MAX_DIGITS:
            raise ValueError(f"integer has {len(text)} digits, wanted at most {MAX_DIGITS}")
        return int(text)
    value = float(text)
    if value in (float("inf"), float("-inf")) and "inf" not in text:
        raise ValueError(f"float {text[:40]} is out of range")
    return value
