"""The one line of a long message that tells, without what changes from run to run. Knows text only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.tracers.errors.chain import Link

WIDTH = 160  # characters: what a terminal and a pull request show in one line
_MAX_LINE = 2000  # characters read of a line; the rest could not be shown

# Noise that a message carries, and what stays of it. In order: later rules see what earlier ones left.
_NOISE = tuple(
    (re.compile(pattern), left)
    for pattern, left in (
        (r"<built-in (?:method|function) (\w+)[^<>]*>", r"\1"),  # <built-in method mm of type object at 0x7f..>
        (r"<function ([\w.<>]+) at 0x[0-9a-f]+>", r"\1"),
        (r"<(?:[\w.]+\.)?(\w+) object at 0x[0-9a-f]+>", r"\1"),  # <torch.fx...PythonKeyTracer object at 0x7f..>
        (r"<class '([\w.]+)'>", r"\1"),
        (r"\(([\w.]+), \d{6,}\) ?", r"(\1) "),  # (torch.SymInt, 140335254676368)is not tracked: its id
        (r",? ?\b(?:at )?0x[0-9a-fA-F]+\b", ""),  # addresses
        (r"\b\d{12,}\b", "N"),  # other ids; byte counts of a failed allocation differ between machines too
        (r"FakeTensor\(\.\.\., ", "FakeTensor("),
        (r"\b(zuf|zf|s|u)\d+\b(?!\[)", r"\1"),  # symbols: torch numbers s75 by a hash; u8[4] is a dtype
        (r"\b(_tensor_constant|tangents_|primals_|arg\d+_)\d+\b", lambda m: m[1].rstrip("_")),  # temporary names
        (r"(?<=\bNode )(\w+?)(?:_\d+)+\b", r"\1"),  # Node view_2 was invalid
        (r"""(?:[A-Za-z]:)?(?:[\w.+~-]*[/\\])+([\w.+-]+\.pyi?)""", r"\1"),  # paths
        (r"(\.pyi?):\d+", r"\1"),
        (r"\bline \d+", "line N"),
        (r"(?:,? ?(?:[Pp]lease )?\b(?:see|visit|issue at|at))?:? ?https?://\S+", ""),
        (r"(?:Enable TORCH|Set TORCH|For more information, run with).*", ""),  # how to get a longer message
    )
)
_PREAMBLES = re.compile(r"raised:$|Got graph break/error:$")
_EXPLANATION = re.compile(r"\n\s*Explanation: ([^\n]+)")


def telling_line(link: Link) -> str:
    """Give ``Class: message`` of one exception, at most WIDTH characters, the same in every process."""
    first = next((line for line in _lines(link.text) if not _PREAMBLES.search(line)), "")
    line = scrub(first + _explanation(link.text))
    return _shorten(f"{link.name}: {line}" if line else link.name)


def scrub(text: str) -> str:
    """Take out ids, addresses, symbol numbers, paths, line numbers and temporary names; one line of printable text."""
    for pattern, left in _NOISE:
        text = pattern.sub(left, text)
    printable = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(printable.split())


def _lines(text: str) -> list[str]:
    return [line.strip()[:_MAX_LINE] for line in text.splitlines() if line.strip()]


def _explanation(text: str) -> str:
    """Dynamo's second line, which says what the first one only names: torch/_dynamo/exc.py, ``unimplemented``."""
    found = _EXPLANATION.search(text)
    return f": {found[1].strip()[:_MAX_LINE]}" if found else ""


def _shorten(line: str) -> str:
    if len(line) <= WIDTH:
        return line
    whole_words, blank, _ = line[: WIDTH - 2].rpartition(" ")
    return (whole_words if blank else line[: WIDTH - 3]).rstrip() + "..."
