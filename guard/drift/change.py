"""One change between two programs: what findings, diffs and reviews are made of. Knows no graph."""

from __future__ import annotations

from dataclasses import dataclass, field

# What a change is about; docs/drift.md says what each one means. The order is that of findings.
CLASSES = (
    "proxy-leak",      # nested-trace artefacts: detach chains, dead subgraphs, lifted proxies
    "specialization",  # symbol to constant, new constraint, graph break, recompile
    "signature",       # inputs, outputs, roles, placements, pytree, requires_grad
    "mutation",        # writes, copy_, aliasing
    "collective",      # collectives and their groups
    "type",            # dtype, shape, stride, device of what is computed
    "constant",        # a literal or a constant's bytes
    "structure",       # operators added, removed, replaced, rewired
    "order",           # conflicting effects changed places
)  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One cause, however many nodes it moved."""

    kind: str
    """One of CLASSES."""
    title: str
    """What follows the class on the first line: ``+3 nodes``."""
    lines: tuple[str, ...] = ()
    """The change in place: ``- `` of the baseline, ``+ `` of current with its source, two rows of context."""
    known: str | None = None
    """A known cause with its public number."""
    source: str | None = None
    """``path:line`` of current's first changed node."""
    nodes: frozenset[tuple[str, int]] = field(default=frozenset(), compare=False)
    """Current's nodes that were added or changed: name of the graph, position."""
