"""Name a change on one line. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from guard.drift.kinds import short
from guard.ir.arg_text import one_line, print_arg
from guard.ir.type_text import print_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from guard.drift.align import Alignment
    from guard.drift.causes import Cause
    from guard.drift.signature import Item
    from guard.ir.graph import Node

LONGEST = 72
MOST_NAMES = 6
VALUE = re.compile(r'%(?:"(?:[^"\\]|\\.)*"|[\w.]+)')


def title(alignment: Alignment, cause: Cause) -> str:
    """Say what became of which operators."""
    a, b = alignment.a.graph.nodes, alignment.b.graph.nodes
    swapped = [(a[alignment.of_b[node]], b[node]) for node, facts in sorted(cause.changed.items()) if "call" in facts]
    removed = [a[node] for node in cause.removed] + [one for one, _other in swapped]
    added = [b[node] for node in cause.added] + [other for _one, other in swapped]
    if removed and added:
        return _replaced(removed, added)
    if removed or added:
        return counted(added, removed)
    return _changed(alignment, cause)


def counted(added: Sequence[Node], removed: Sequence[Node]) -> str:
    """Count nodes: ``+4 nodes: 3 detach, 1 expand``."""
    counts = [f"{sign}{len(nodes)}" for sign, nodes in (("+", added), ("-", removed)) if nodes]
    plural = "" if len(added) + len(removed) == 1 else "s"
    names = [f"{number} {name}" for name, number in Counter(_names([*added, *removed])).most_common()]
    if not plural:
        names = [name.removeprefix("1 ") for name in names]
    return f"{' '.join(counts)} node{plural}: {_some(names, ', ')}"


def signature_title(items: Sequence[Item]) -> str:
    """Say what one item was and is, or name several."""
    if len(items) == 1:
        (item,) = items
        if item.was is None or item.now is None:
            text = f"+ {item.now}" if item.was is None else f"- {item.was}"
            return text if len(text) <= LONGEST else f"{item.label} {'added' if item.was is None else 'removed'}"
        text = f"{item.was} -> {item.now}"
        return text if len(text) <= LONGEST else item.label
    return _some(list(dict.fromkeys(item.label for item in items)), ", ")


def after(wake: int) -> str:
    """Count what follows from a change."""
    return f", and {wake} node{'' if wake == 1 else 's'} after it" if wake else ""


def _replaced(removed: list[Node], added: list[Node]) -> str:
    was, now = _names(removed), _names(added)
    if Counter(was) == Counter(now):
        was, now = [node.target for node in removed], [node.target for node in added]
    if Counter(was) == Counter(now):
        return f"{_sum(was)} rewired"
    return f"{_sum(was)} -> {_sum(now)}"


def _changed(alignment: Alignment, cause: Cause) -> str:
    names = _names([alignment.b.graph.nodes[node] for node in sorted(cause.changed)])
    what = _shown(alignment, cause) or next(text for fact, text in _FACTS.items() if fact in cause.facts)
    return f"{_sum(names)}: {what}"


_FACTS = {
    "effects": "other effects",
    "operands": "other operands",
    "type": "other type",
    "literal": "other arguments",
    "tags": "other tags",
    "order": "moved over a conflicting effect",
}


def _shown(alignment: Alignment, cause: Cause) -> str | None:
    """Show what a single node was and is, where that is short."""
    if len(cause.changed) != 1:
        return None
    ((place, facts),) = cause.changed.items()
    one, other = alignment.a.graph.nodes[alignment.of_b[place]], alignment.b.graph.nodes[place]
    if facts == {"operands"}:
        return _swapped(alignment, place)
    if facts == {"type"}:
        return _short(
            [print_type(type_) for _, type_ in one.results], [print_type(type_) for _, type_ in other.results]
        )
    if facts == {"tags"}:
        return _short([f"#{tag}" for tag in one.tags], [f"#{tag}" for tag in other.tags])
    return _short(_arguments(one), _arguments(other)) if "literal" in facts else None


def _swapped(alignment: Alignment, place: int) -> str | None:
    values = [alignment.value(value) for value in alignment.a.values[alignment.of_b[place]]]
    now = alignment.b.values[place]
    return "operands swapped" if len(values) == len(now) and Counter(values) == Counter(now) else None


def _types(node: Node) -> list[str]:
    return [print_type(type_) for _name, type_ in node.results]


def _arguments(node: Node) -> list[str]:
    """Print arguments without the values that they use, whose names are numbers."""
    named = [*(("", arg) for arg in node.args), *((f"{key}=", arg) for key, arg in node.kwargs)]
    return [f"{key}{VALUE.sub('%', one_line(print_arg(arg)))}" for key, arg in named]


def _short(was: list[str], now: list[str]) -> str | None:
    """Show what differs of two lists, None where it is long."""
    if len(was) == len(now):
        differ = [(one, other) for one, other in zip(was, now, strict=True) if one != other]
        left, right = [one for one, _other in differ], [other for _one, other in differ]
    else:
        left, right = [text for text in was if text not in now], [text for text in now if text not in was]
    text = f"{', '.join(left) or 'none'} -> {', '.join(right) or 'none'}"
    return text if left != right and len(text) <= LONGEST else None


def _names(nodes: Iterable[Node]) -> list[str]:
    return [short(node.target) for node in nodes]


def _sum(names: Sequence[str]) -> str:
    return _some([f"{number} {name}" if number > 1 else name for name, number in Counter(names).items()], " + ")


def _some(names: Sequence[str], between: str) -> str:
    if len(names) <= MOST_NAMES:
        return between.join(names)
    return f"{between.join(names[: MOST_NAMES - 1])}{between}{len(names) - MOST_NAMES + 1} more"
