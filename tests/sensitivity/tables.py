"""A tally as a page: what guard and its rivals say of the same mutants and rewrites. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.sensitivity.rivals import DIFFERS, REFUSED, RIVALS
from tests.sensitivity.table import KINDS, REWRITES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.sensitivity.bench import Seen, Tally
    from tests.sensitivity.table import Kind, Rewrite

WANTED = {kind.name: kind.drift for kind in KINDS}


class Numbers(NamedTuple):
    """What a proof asks of a tally."""

    mutants: int
    caught: int
    right: int
    """Given exactly the class that the table wants, and no other."""
    rewrites: int
    alarms: int


def numbers(tally: Tally) -> Numbers:
    return Numbers(
        len(tally.mutants),
        sum(map(caught, tally.mutants)),
        sum(map(right, tally.mutants)),
        len(tally.rewrites),
        sum(map(caught, tally.rewrites)),
    )


def caught(seen: Seen) -> bool:
    return bool(seen.classes)


def right(seen: Seen) -> bool:
    return set(seen.classes) == {WANTED[seen.name]}


PAGE = """\
# Sensitivity

Written by `{command}`, never by hand: torch {torch}, {captures} captures of the project's own checks.

Each capture is changed before it is lowered: its fx graphs, what torch says of their values, what the tracer knows
of inputs and outputs. guard lowers and prints the result and compares it with the baseline, as `guard check` does.
The class that each kind of change must be given stands in `tests/sensitivity/table.py`; it is *right* if guard gives
that one and no other.

- {own.mutants} mutants: {own.caught} caught ({caught}), {own.right} of the right class ({right})
- {own.rewrites} rewrites that change nothing: {own.alarms} false alarms

## Side by side, on the same captures

{sides}

Refused: it raises on this graph, and so tells nothing. Rewrites of guard's own data and of the baseline's text have
no fx form: the rivals' false alarms are of the rewrites that have one.

## Mutants

{mutants}

{kinds}

## Rewrites

{rewrites}

{harmless}
"""


def page(tally: Tally, command: str, torch: str) -> str:
    """Print docs/sensitivity.md."""
    own = numbers(tally)
    formed = [seen for seen in tally.rewrites if seen.rivals]
    kinds = (_kind_row(kind, [seen for seen in tally.mutants if seen.name == kind.name]) for kind in KINDS)
    rewrites = (_rewrite_row(one, [seen for seen in tally.rewrites if seen.name == one.name]) for one in REWRITES)
    return PAGE.format(
        command=command,
        torch=torch,
        captures=tally.captures,
        own=own,
        caught=_share(own.caught, own.mutants),
        right=_share(own.right, own.mutants),
        sides=_table(("", "mutants caught", "refused", "false alarms", "refused"), _sides(own, tally.mutants, formed)),
        mutants=_table(("mutator", "class", "edits", "mutants", "caught", "right", *RIVALS), kinds),
        kinds="\n".join(f"- `{kind.name}`: {kind.what}" for kind in KINDS),
        rewrites=_table(("rewrite", "of", "rewrites", "false alarms", *RIVALS), rewrites),
        harmless="\n".join(f"- `{one.name}`: {one.what}" for one in REWRITES),
    )


def _sides(own: Numbers, mutants: Sequence[Seen], rewrites: Sequence[Seen]) -> list[tuple[str, ...]]:
    guard = ("**guard**", _part(own.caught, own.mutants), "0", _part(own.alarms, own.rewrites), "0")
    return [guard, *(_side(rival, mutants, rewrites) for rival in RIVALS)]


def _side(rival: str, *columns: Sequence[Seen]) -> tuple[str, ...]:
    cells = [(_part(_said(seen, rival, DIFFERS), len(seen)), str(_said(seen, rival, REFUSED))) for seen in columns]
    return rival, *(text for cell in cells for text in cell)


def _said(seen: Sequence[Seen], rival: str, what: str) -> int:
    return sum(one.rivals.get(rival) == what for one in seen)


def _kind_row(kind: Kind, seen: Sequence[Seen]) -> tuple[str, ...]:
    return kind.name, kind.drift, kind.level, str(len(seen)), *_counts(seen, caught, right), *_rivals(seen)


def _rewrite_row(one: Rewrite, seen: Sequence[Seen]) -> tuple[str, ...]:
    formed = any(row.rivals for row in seen)
    return (
        one.name,
        one.level,
        str(len(seen)),
        *_counts(seen, caught),
        *(_rivals(seen) if formed else ("",) * len(RIVALS)),
    )


def _counts(seen: Sequence[Seen], *what: Callable[[Seen], bool]) -> list[str]:
    return [str(sum(map(one, seen))) for one in what]


def _rivals(seen: Sequence[Seen]) -> list[str]:
    return [str(_said(seen, rival, DIFFERS)) for rival in RIVALS]


def _part(count: int, total: int) -> str:
    return f"{count} of {total} ({_share(count, total)})"


def _share(count: int, total: int) -> str:
    """Round down: 100 % is all of them."""
    return f"{count * 1000 // total / 10:g} %" if total else "none"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
