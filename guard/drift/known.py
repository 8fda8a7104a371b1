"""Causes that are public: a row each, matched on what the graphs themselves show. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

CAST_OFF = frozenset(("detach", "detach_", "alias"))
LIFTED = frozenset(("constant", "lift_fresh", "lift_fresh_copy"))
SCATTERS = frozenset(("select_scatter", "slice_scatter"))


class Evidence(NamedTuple):
    """What one change consists of."""

    kind: str
    added: tuple[str, ...]
    """Operators of nodes that only current has, short."""
    removed: tuple[str, ...]
    distributed: bool
    """Collectives or DTensors are in the graph."""
    backward: bool
    """Some node of the graph is tagged so, or it is a joint or backward graph."""

    @property
    def loose(self) -> frozenset[str]:
        """Operators on either side."""
        return frozenset((*self.added, *self.removed))


class Known(NamedTuple):
    """One row."""

    number: str
    says: str
    fits: Callable[[Evidence], bool]


def _replaces(evidence: Evidence, one: str, others: frozenset[str]) -> bool:
    """Tell whether one operator gave way to others, or the other way round."""
    was, now = set(evidence.removed), set(evidence.added)
    return (one in was and bool(now & others) and one not in now) or (
        one in now and bool(was & others) and one not in was
    )


# The first row that fits is said. A row needs evidence in the graphs: a class alone is none.
TABLE = (
    Known(
        "pytorch#185865",
        "sharding propagation was traced into this graph",
        lambda it: (
            it.kind == "proxy-leak" and it.distributed and not it.loose & CAST_OFF and "constant" not in it.loose
        ),
    ),
    Known(
        "torchtitan#3818",
        "tensors made while tracing were lifted into this graph",
        lambda it: it.kind == "proxy-leak" and bool(it.loose & LIFTED),
    ),
    Known(
        "pytorch#93290",
        "an inner make_fx left nodes in this graph",
        lambda it: it.kind == "proxy-leak" and bool(it.loose & CAST_OFF),
    ),
    Known(
        "pytorch#194037",
        "newer torch traces a functionalized split as slices; matchers of split find nothing (pytorch#197358)",
        lambda it: (
            _replaces(it, "split_with_sizes", frozenset(("slice",))) or _replaces(it, "split", frozenset(("slice",)))
        ),
    ),
    Known(
        "pytorch#152346",
        "a write to a view of an input costs a scatter and a copy_ of the whole",
        lambda it: it.kind in ("mutation", "structure") and bool(it.loose & SCATTERS) and "copy_" in it.loose,
    ),
    Known(
        "pytorch#170467",
        "a DTensor input's mutation got lost in a training step",
        lambda it: it.kind == "mutation" and it.distributed and it.backward and set(it.removed) == {"copy_"},
    ),
)


def known(evidence: Evidence) -> str | None:
    """Name the public cause that a change fits, None where no row does."""
    row = next((row for row in TABLE if row.fits(evidence)), None)
    return None if row is None else f"{row.says} ({row.number})"
