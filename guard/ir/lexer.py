"""Tokens of a graph's text, and the cursor that readers share. Knows characters, no grammar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from guard.errors import GraphSyntaxError
from guard.ir import literals

if TYPE_CHECKING:
    from collections.abc import Iterator

# Deeper nesting is refused: it is no graph that a tracer wrote, and readers recurse up to 7 frames a level
# (Python stops at 1000 frames, of which a test runner has taken 150 already).
MAX_DEPTH = 50
_STRING = r'"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"'
_TOKEN = re.compile(
    rf"""[ \n\t]*(?:
      (?P<string>{_STRING})
    | (?P<ref>%(?:[A-Za-z0-9_.]+|{_STRING}))
    | (?P<at>@(?:[A-Za-z0-9_.]+(?::[0-9]+)?|{_STRING}))
    | (?P<tag>\#(?:[A-Za-z0-9_.-]+|{_STRING}))
    | (?P<attribute>\.(?:[A-Za-z_][A-Za-z0-9_.]*|{_STRING}))
    | (?P<number>-inf|-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_.])
    | (?P<word>[A-Za-z_][A-Za-z0-9_.]*)
    | (?P<op>->|==|!=|<=|>=|//|\*\*|[-()\[\]{{}}<>,:=+*/%?])
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.ASCII,
)


class Token(NamedTuple):
    """One token: kind is a group of the pattern above, or ``bad``."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str, start: int) -> Iterator[Token]:
    """Yield tokens from start on; the last is of kind ``end`` or ``bad``."""
    match = _TOKEN.match(text, start)
    while match:
        kind = match.lastgroup or "end"
        yield Token(kind, match[kind], match.start(kind), match.end())
        if kind == "end":
            return
        start = match.end()
        match = _TOKEN.match(text, start)
    while text[start] in " \n\t":
        start += 1
    yield Token("bad", text[start], start, start + 1)


class Cursor:
    """The place in the text up to which a reader has read. ``token`` is the next one, ``after`` the one behind it."""

    def __init__(self, text: str, start: int, path: str) -> None:
        self.text = text
        self.path = path
        self.depth = 0
        self.end = start
        self._tokens = tokens(text, start)
        self.token = next(self._tokens)
        self.after = next(self._tokens, self.token)

    def take(self) -> Token:
        """Consume the next token."""
        token = self.token
        self.end = token.end
        self.token = self.after
        self.after = next(self._tokens, self.token)
        return token

    def at(self, text: str) -> bool:
        """Tell whether the next token is this word or sign."""
        token = self.token
        return token.text == text and token.kind in ("op", "word")

    def accept(self, text: str) -> bool:
        """Consume the next token if it is this word or sign."""
        found = self.at(text)
        if found:
            self.take()
        return found

    def expect(self, text: str) -> None:
        """Consume this word or sign."""
        if not self.accept(text):
            raise self.wanted(f'"{text}"')

    def one_of(self, known: tuple[str, ...], what: str) -> str:
        """Consume one of a closed set of words; what names the set in the message."""
        if self.token.text not in known:
            raise self.wanted(f"{what} ({', '.join(known)})")
        return self.take().text

    def expect_kind(self, kind: str, what: str) -> Token:
        """Consume a token of one kind; what names it in the message."""
        if self.token.kind != kind:
            raise self.wanted(what)
        return self.take()

    def deeper(self) -> None:
        """Count one more level of nesting; ``depth`` is taken back by who went deeper."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"more than {MAX_DEPTH} levels of nesting")

    def starts_line(self) -> bool:
        """Tell whether a line break stands before the next token."""
        return "\n" in self.text[self.end : self.token.start]

    def string(self, what: str) -> str:
        """Consume a quoted string."""
        return self.unquote(self.expect_kind("string", what))

    def spelled(self, token: Token, skip: int = 0) -> str:
        """Read a name that may be quoted, behind skip characters of prefix."""
        text = token.text[skip:]
        return self.unquote(token, skip) if text.startswith('"') else text

    def name(self, what: str) -> str:
        """Consume the name of a graph, target or class: bare or quoted."""
        if self.token.kind not in ("word", "string"):
            raise self.wanted(what)
        return self.spelled(self.take())

    def unquote(self, token: Token, skip: int = 0) -> str:
        """Read a string token's escapes."""
        try:
            return literals.unquote(token.text[skip:])
        except (ValueError, OverflowError) as error:
            raise self.error(str(error), token.start) from None

    def number(self, token: Token) -> int | float:
        """Read a number token."""
        try:
            return literals.number(token.text)
        except ValueError as error:
            raise self.error(str(error), token.start) from None

    def integer(self, what: str) -> int:
        """Consume an integer."""
        token = self.expect_kind("number", what)
        value = self.number(token)
        if not isinstance(value, int):
            raise self.error(f'wanted {what}, got "{token.text}"', token.start)
        return value

    def wanted(self, what: str) -> GraphSyntaxError:
        """Build the error that says what should stand here, and what does."""
        token = self.token
        if token.kind == "end":
            return self.error(f"wanted {what}, got the end of the file")
        if token.kind == "bad":
            return self.error(_describe_bad(self.text, token))
        return self.error(f"wanted {what}, got {_shorten(token.text)}")

    def error(self, message: str, position: int | None = None) -> GraphSyntaxError:
        """Build an error at a position, by default at the next token."""
        return error_at(self.text, message, self.token.start if position is None else position, self.path)


def error_at(text: str, message: str, position: int, path: str) -> GraphSyntaxError:
    """Build a GraphSyntaxError from an offset into the text."""
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return GraphSyntaxError(message, line, column, path)


def _describe_bad(text: str, token: Token) -> str:
    if token.text == '"' or text[token.start + 1 : token.start + 2] == '"':
        return "a string is not closed on its line"
    return f"character {literals.quote(token.text)} has no place here"


def _shorten(text: str) -> str:
    short = text if len(text) <= 40 else text[:37] + "..."  # noqa: PLR2004 - fits a message's line
    return short if short.startswith('"') else f'"{short}"'
