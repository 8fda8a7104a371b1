"""Read a cost file as strictly as a graph: nothing in it is trusted. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from guard.baselines.section import Section

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT = 1
MAX_BYTES = 4 << 20
MAX_DIGITS = 18
MAX_TEXT = 1000
"""Characters of a key."""
SIZES = 3
_TOP = frozenset(("check", "format", "traces"))
_NEEDED = frozenset(("calls", "functions", "tolerance"))
_KNOWN = _NEEDED | {"growth", "instructions", "propagations"}
_CONFLICT = re.compile(rb"^(?:<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)(?: |\r?$)", re.MULTILINE)


class Fault(Exception):  # noqa: N818 - becomes a CostSyntaxError with its line
    """What is wrong, and the keys that lead there; or the line, where that is known."""

    def __init__(self, message: str, at: tuple[str, ...] | int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


def read(data: bytes, check: str | None) -> dict[str, Section]:
    """Return the sections of a file.

    Raises:
        Fault: It is not what is written there, or it is another check's.
    """
    row = top(data)
    if check is not None and row["check"] != check:
        raise Fault(f"it holds check {_shown(row['check'])}, wanted {_shown(check)}", ("check",))
    return dict(_sections(row["traces"]))


def top(data: bytes) -> dict[str, Any]:
    """Return the outermost object.

    Raises:
        Fault: It is none.
    """
    if len(data) > MAX_BYTES:
        raise Fault(f"the file is larger than {MAX_BYTES >> 20} MiB", 1)
    conflict = _CONFLICT.search(data)
    if conflict is not None:
        raise Fault("a conflict of git's is not resolved", data.count(b"\n", 0, conflict.start()) + 1)
    try:
        found = json.loads(data.decode(), object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
    except UnicodeDecodeError as error:
        raise Fault("it is no UTF-8", data.count(b"\n", 0, error.start) + 1) from None
    except json.JSONDecodeError as error:
        raise Fault(f"it is no JSON: {error.msg.lower()}", error.lineno) from None
    except RecursionError:
        raise Fault("it is nested too deeply", 1) from None
    row = _keys(found, (), _TOP, _TOP)
    if row["format"] != FORMAT or isinstance(row["format"], bool):
        raise Fault(f"wanted format {FORMAT}, got {_shown(row['format'])}", ("format",))
    if not isinstance(row["check"], str):
        raise Fault(f"wanted a check's id, got {_shown(row['check'])}", ("check",))
    return row


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise Fault(f"the key {_shown(key)} is there twice", (key,))
        found[key] = value
    return found


def _constant(text: str) -> NoReturn:
    raise Fault(f"wanted a number, got {text}", 1)


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:  # Python before 3.11 takes minutes to read millions of digits
        raise Fault("a number is too large", 1)
    return int(text)


def _sections(traces: object) -> Iterator[tuple[str, Section]]:
    for key, value in _mapping(traces, ("traces",)).items():
        yield _name(key, ("traces", key)), _read(value, ("traces", key))


def _read(value: object, at: tuple[str, ...]) -> Section:
    row = _keys(value, at, _NEEDED, _KNOWN)
    functions = _mapping(row["functions"], (*at, "functions"))
    counts = [
        (_name(name, (*at, "functions", name)), _number(count, (*at, "functions", name)))
        for name, count in functions.items()
    ]
    return Section(
        calls=_number(row["calls"], (*at, "calls")),
        tolerance=_tolerance(row["tolerance"], (*at, "tolerance")),
        functions=tuple(sorted(counts)),
        propagations=_number(row["propagations"], (*at, "propagations")) if "propagations" in row else None,
        growth=_growth(row["growth"], (*at, "growth")) if "growth" in row else None,
        instructions=_number(row["instructions"], (*at, "instructions")) if "instructions" in row else None,
    )


def _growth(value: object, at: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    keys = frozenset(("sizes", "calls"))
    row = _keys(value, at, keys, keys)
    sizes, calls = (_numbers(row[name], (*at, name)) for name in ("sizes", "calls"))
    if not 0 < sizes[0] < sizes[1] < sizes[2] or sizes[1] ** 2 != sizes[0] * sizes[2]:
        raise Fault(f"wanted sizes in geometric progression, got {_shown(list(sizes))}", (*at, "sizes"))
    return sizes, calls


def _numbers(value: object, at: tuple[str, ...]) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) != SIZES:
        raise Fault(f"wanted {SIZES} numbers, got {_shown(value)}", at)
    return tuple(_number(one, at) for one in value)


def _number(value: object, at: tuple[str, ...]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Fault(f"wanted a count, got {_shown(value)}", at)
    return value


def _tolerance(value: object, at: tuple[str, ...]) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise Fault(f"wanted a share from 0 up to 1, got {_shown(value)}", at)
    return float(value)


def _name(key: str, at: tuple[str, ...]) -> str:
    if not key or not key.isprintable() or len(key) > MAX_TEXT:
        raise Fault(f"wanted a printable key of at most {MAX_TEXT} characters, got {_shown(key)}", at)
    return key


def _keys(value: object, at: tuple[str, ...], needed: frozenset[str], known: frozenset[str]) -> dict[str, Any]:
    row = _mapping(value, at)
    unknown = next((key for key in row if key not in known), None)
    if unknown is not None:
        raise Fault(f"unknown key {_shown(unknown)}, wanted {', '.join(sorted(known))}", (*at, unknown))
    missing = sorted(needed - set(row))
    if missing:
        raise Fault(f"no key {_shown(missing[0])}", at)
    return row


def _mapping(value: object, at: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Fault(f"wanted an object, got {_shown(value)}", at)
    return value


def _shown(value: object) -> str:
    """Print a value of a file that anybody may have written: short, in one printable line."""
    text = json.dumps(value) if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__
    return text if len(text) <= 80 else f"{text[:80]} ..."  # noqa: PLR2004 - a line of a message
