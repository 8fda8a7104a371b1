"""Reader of the lines before the graphs: each is a word and the rest of its line. Knows no graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from guard.ir.graph import CaptureError, Event
from guard.ir.lexer import error_at
from guard.ir.literals import unquote
from guard.ir.printer import FORMAT, NO_GRAPHS

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.errors import GraphSyntaxError

_STRING = r'"(?:[^"\\]|\\.)*"'
_QUOTED = re.compile(_STRING)
_EVENT = re.compile(rf"(break|recompile) ({_STRING})(?: at ({_STRING}))? *")


class Header:
    """The header's lines, read one by one; ``position`` is where the next line starts."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.position = 0

    def version(self) -> None:
        """Read ``guard-graph 1``."""
        wanted = f"guard-graph {FORMAT}"
        line = self._line()
        if line == wanted:
            self._next_line()
        elif re.fullmatch(r"guard-graph [0-9]{1,9}", line):
            raise self._error(f'wanted "{wanted}", got "{line}": another version of graph-guard wrote this file')
        else:
            raise self._error(f'wanted "{wanted}" in the first line: this is no graph file')

    def text_of(self, word: str) -> str:
        """Read ``check ...`` or ``tracer ...``, bare or quoted."""
        return self._required(word, self._bare)

    def events(self) -> tuple[Event, ...]:
        """Read the graph breaks and recompiles, in their order."""
        return tuple(iter(self._event, None))

    def capture_error(self) -> CaptureError | None:
        """Read the error that stands in place of graphs, if one does."""
        kind = self._optional("error", self._kind)
        if kind is None:
            return None
        line = self._required("line", self._quoted)
        code = self._optional("code", self._quoted) or ""
        return CaptureError(kind, line, self._required("fingerprint", self._fingerprint), code)

    def no_graphs(self) -> bool:
        """Read ``no graphs``, if it stands here."""
        self._skip_blank()
        found = self._line().rstrip(" \t") == NO_GRAPHS
        if found:
            self._next_line()
        return found

    def end(self, instead: str) -> None:
        """Refuse anything that follows."""
        self._skip_blank()
        if self.position < len(self.text):
            raise self._error(f"wanted the end of the file behind {instead}")

    def _line(self) -> str:
        end = self.text.find("\n", self.position)
        return self.text[self.position : len(self.text) if end < 0 else end]

    def _next_line(self) -> None:
        self.position = min(self.position + len(self._line()) + 1, len(self.text))

    def _skip_blank(self) -> None:
        while self.position < len(self.text) and not self._line().strip(" \t"):
            self._next_line()

    def _optional(self, word: str, read: Callable[[str, int], str]) -> str | None:
        """Read a line that starts with this word, if the next one does."""
        self._skip_blank()
        line = self._line()
        if not line.startswith(f"{word} "):
            return None
        value = read(line[len(word) + 1 :].rstrip(" \t"), self.position + len(word) + 1)
        self._next_line()
        return value

    def _required(self, word: str, read: Callable[[str, int], str]) -> str:
        value = self._optional(word, read)
        if value is None:
            raise self._error(f'wanted a line that starts with "{word} "')
        return value

    def _bare(self, text: str, position: int) -> str:
        if text.startswith('"'):
            return self._quoted(text, position)
        if not text or text[0] == " ":
            raise self._error("wanted text behind one space", position)
        if not text.isprintable():
            raise self._error("a character that is not printable must be escaped in quotes", position)
        return text

    def _quoted(self, text: str, position: int) -> str:
        if not _QUOTED.fullmatch(text):
            raise self._error("wanted a quoted string up to the end of the line", position)
        try:
            return unquote(text)
        except (ValueError, OverflowError) as error:
            raise self._error(str(error), position) from None

    def _kind(self, text: str, position: int) -> str:
        if text.startswith('"'):
            return self._quoted(text, position)
        return self._matched(text, r"[a-z0-9-]+", "the class of an error, such as untracked-proxy", position)

    def _fingerprint(self, text: str, position: int) -> str:
        return self._matched(text, r"[0-9a-f]{12}", "12 hex digits", position)

    def _matched(self, text: str, pattern: str, what: str, position: int) -> str:
        if not re.fullmatch(pattern, text):
            raise self._error(f'wanted {what}, got "{text[:40]}"', position)
        return text

    def _event(self) -> Event | None:
        self._skip_blank()
        line, position = self._line(), self.position
        if not line.startswith(("break ", "recompile ")):
            return None
        match = _EVENT.fullmatch(line)
        if not match:
            raise self._error('wanted an event such as break "reason" at "code"')
        kind, reason, code = match.groups()
        event = Event(kind, self._quoted(reason, position), self._quoted(code, position) if code else "")
        self._next_line()
        return event

    def _error(self, message: str, position: int | None = None) -> GraphSyntaxError:
        return error_at(self.text, message, self.position if position is None else position, self.path)
