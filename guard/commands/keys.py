"""One answer from a terminal: a single key where it can, else a line."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ESCAPE = "\x1b"
END = "\x04"  # Ctrl-D; and what a closed terminal answers


def is_terminal() -> bool:
    """Tell whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def ask(prompt: str, environ: Mapping[str, str]) -> str:
    """Print a prompt and return the key that was typed, or the line; ``END`` where the input ends.

    Raises:
        KeyboardInterrupt: Ctrl-C. The terminal is as it was before.
    """
    if environ.get("TERM") == "dumb" or not _single_keys():
        return line(prompt)
    with _unbuffered():
        print(prompt, end="", flush=True)  # after the switch: a key typed at once must not wait for its line
        key = _key()
        while key.isspace():  # the Enter behind a key
            key = _key()
    print(key if key.isprintable() else "")
    return key


def line(prompt: str) -> str:
    """Print a prompt and return the line that was typed, without spaces around; ``END`` where the input ends."""
    try:
        return input(prompt).strip()
    except EOFError:
        print()
        return END


def _single_keys() -> bool:
    try:
        import termios
    except ImportError:  # Windows
        return os.name == "nt"
    try:
        termios.tcgetattr(sys.stdin.fileno())
    except (termios.error, ValueError, OSError):  # a terminal that has no modes
        return False
    return True


@contextmanager
def _unbuffered() -> Iterator[None]:
    """Give keys one by one, unechoed; Ctrl-C stays an interrupt."""
    if sys.platform == "win32":
        yield
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin.fileno())
    try:
        # DRAIN: what was typed ahead stays
        tty.setcbreak(sys.stdin.fileno(), termios.TCSADRAIN)
        yield
    finally:
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)


def _key() -> str:
    if sys.platform == "win32":
        import msvcrt

        key = msvcrt.getwch()
        if key in ("\x00", "\xe0"):  # a function key: its second half follows
            msvcrt.getwch()
            return ESCAPE
        if key == "\x03":
            raise KeyboardInterrupt
        return key
    read = os.read(sys.stdin.fileno(), 1)
    if read == ESCAPE.encode():  # an arrow's sequence is one key
        _drop_waiting()
    return read.decode(errors="replace") or END


def _drop_waiting() -> None:
    import select

    while select.select([sys.stdin.fileno()], [], [], 0.02)[0]:
        if not os.read(sys.stdin.fileno(), 32):
            return
