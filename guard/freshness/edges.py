"""Who used what, as a worker heard it: one line each, read without trust. Pure data."""

from __future__ import annotations

from typing import NamedTuple

EVERYBODY = ""
"""The user of what no file of the project asked for: everybody may depend on it."""
SUFFIX = ".edges"


class Edge(NamedTuple):
    """One use."""

    kind: str
    """What was used: ``file``, ``folder``, ``variable``, ``here`` (the working directory), ``unkeyable`` (a reason).

    Or what is known: ``module``, a name and its file; ``name``, a module that was asked for; ``path``, an entry of
    sys.path and its position; ``ran``, a test or module whose uses are all in the lines before.
    """
    user: str
    """A file, ``file::test`` for what one test function alone used, or EVERYBODY; of a ``module`` its name."""
    subject: str

    def line(self) -> str:
        """Return the line of the file; what would break it keeps nobody from being traced again."""
        if any(mark in text for text in self for mark in "\t\n\r") or not _plain(*self):
            return f"unkeyable\t{EVERYBODY}\ta path that cannot be written down\n"
        return "\t".join(self) + "\n"


def _plain(*texts: str) -> bool:
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def read_edges(text: str) -> list[Edge]:
    """Read what a worker left; the last line of one that died may be torn."""
    lines = (line.split("\t") for line in text.split("\n")[:-1])
    return [Edge(*parts) for parts in lines if len(parts) == len(Edge._fields)]
