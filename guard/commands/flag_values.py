"""Values of flags: text in, a value out, or what was wanted."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def choice(*wanted: str) -> Callable[[str], str]:
    """Return what takes one of these words."""

    def choose(text: str) -> str:
        if text not in wanted:
            raise argparse.ArgumentTypeError(f"wanted {' or '.join(f'{one!r}' for one in wanted)}, got {text!r}")
        return text

    return choose


def workers(text: str) -> int | str:
    """Take a number of workers, or ``auto``."""
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'wanted "auto" or a number from 1, got {text!r}')
    return int(text)


def positive(text: str) -> int:
    """Take a number from 1."""
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:  # noqa: PLR2004 - hours, already
        raise argparse.ArgumentTypeError(f"wanted a number from 1 to 10000, got {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """Take seconds; 0 is none."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"wanted seconds, 0 for none, got {text!r}")
    return value


def sizes(text: str) -> tuple[tuple[str, int], ...]:
    """Take sizes of symbols: ``s0=4,s1=8``."""
    pairs = [part.strip().partition("=") for part in text.split(",")]
    if not all(name and size.isdecimal() and size.isascii() for name, _equals, size in pairs):
        raise argparse.ArgumentTypeError(f"wanted sizes such as s0=4,s1=8, got {text!r}")
    return tuple((name, int(size)) for name, _equals, size in pairs)


def shard(text: str) -> tuple[int, int]:
    """Take which of how many: ``1/4``."""
    number, _, of = text.partition("/")
    if not all(part.isdecimal() and part.isascii() for part in (number, of)) or not 1 <= int(number) <= int(of) <= 1000:  # noqa: PLR2004 - of machines
        raise argparse.ArgumentTypeError(f"wanted a shard such as 1/4, got {text!r}")
    return int(number), int(of)


def reason(text: str) -> tuple[str, str]:
    """Take what and why: ``gpu=fork``."""
    name, _, reason = text.partition("=")
    if not name or not reason or not text.isprintable():
        raise argparse.ArgumentTypeError(f"wanted what and why, such as gpu=fork, got {text!r}")
    return name, reason


def device(text: str) -> str:
    """Take a device: ``cuda``, ``cuda:1``."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*(:\d+)?", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"wanted a device such as cuda, got {text!r}")
    return text
