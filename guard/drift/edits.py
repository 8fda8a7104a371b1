"""Shortest edit script between two sequences: Myers' O(ND) greedy algorithm (Algorithmica 1, 1986). Pure.

difflib is not used: without its junk heuristic it takes quadratic time on the repeated rows of a deep network, and with
it two changes ten thousand rows apart make everything between them a change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# Time and memory grow with its square (0.3 s, 40 MB here); nobody reads more than this row by row
MOST = 600


class Edit(NamedTuple):
    """``before[a:b]`` is replaced by ``after[c:d]``; one of them may be empty."""

    a: int
    b: int
    c: int
    d: int


def edits(before: Sequence[object], after: Sequence[object], most: int = MOST) -> list[Edit]:
    """Return the edits in order; one that covers everything where more than ``most`` rows differ."""
    start, stop = _common(before, after)
    old, new = before[start : len(before) - stop], after[start : len(after) - stop]
    whole = [(0, 0, len(old), len(new))] if old or new else []
    steps = _steps(old, new, most) if old and new else whole
    return _joined([Edit(start + x, start + u, start + y, start + v) for x, y, u, v in steps])


def _common(before: Sequence[object], after: Sequence[object]) -> tuple[int, int]:
    """Return how many rows are equal at the start and, of the rest, at the end."""
    most = min(len(before), len(after))
    start = next((i for i in range(most) if before[i] != after[i]), most)
    most -= start
    stop = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    return start, stop


def _steps(old: Sequence[object], new: Sequence[object], most: int) -> list[tuple[int, int, int, int]]:
    """Return single insertions and deletions as moves from (x, y) to (u, v) in the edit graph."""
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for distance in range(most + 1):
        trace.append(dict(furthest))
        for k in range(-distance, distance + 1, 2):
            down = k == -distance or (k != distance and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[k] = x
            if x >= len(old) and y >= len(new):
                return _walked_back(trace, len(old), len(new))
    return [(0, 0, len(old), len(new))]


def _walked_back(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int, int, int]]:
    steps = []
    for distance in range(len(trace) - 1, 0, -1):
        furthest, k = trace[distance], x - y
        down = k == -distance or (k != distance and furthest[k - 1] < furthest[k + 1])
        from_k = k + 1 if down else k - 1
        u = furthest[from_k]
        v = u - from_k
        steps.append((u, v, u, v + 1) if down else (u, v, u + 1, v))
        x, y = u, v
    return steps[::-1]


def _joined(single: list[Edit]) -> list[Edit]:
    """Join edits that touch."""
    joined: list[Edit] = []
    for edit in single:
        if joined and joined[-1].b == edit.a and joined[-1].d == edit.c:
            joined[-1] = Edit(joined[-1].a, edit.b, joined[-1].c, edit.d)
        else:
            joined.append(edit)
    return joined
