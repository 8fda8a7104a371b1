"""Public defects that explain a capture error, each with the way out: one row a defect."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.tracers.errors.chain import Link

_MAKE_FX = "torch/fx/experimental/proxy_tensor.py:trace"  # _MakefxTracer.trace; higher-order bodies use trace_subgraph
_DTENSOR = "torch/distributed/tensor/"


class Evidence(NamedTuple):
    """What a row may look at."""

    kind: str
    text: str
    places: tuple[str, ...]
    """``place`` of every frame of the chain, outermost first."""

    @property
    def nested(self) -> bool:
        """Whether one make_fx ran inside another."""
        return self.places.count(_MAKE_FX) > 1

    def passed(self, part: str) -> bool:
        """Whether a frame's place holds this text."""
        return any(part in name for name in self.places)


class Cause(NamedTuple):
    """A defect, what tells it, and what to do."""

    reference: str
    what: str
    way_out: str
    when: Callable[[Evidence], bool]


CAUSES = (
    Cause(
        "pytorch#113034",
        "make_fx ran under the functionalization of an outer AOTAutograd trace",
        "trace the inner program outside of the outer one",
        lambda e: e.kind == "untracked-proxy" and e.passed("functional_tensor.py:_sync_view_replay_annotations"),
    ),
    Cause(
        "pytorch#93290",
        "an inner make_fx shared the outer trace's proxies",
        "run with guard's fixes on",
        lambda e: e.kind == "untracked-proxy" and e.nested,
    ),
    Cause(
        "pytorch#167657",
        "a DTensor is an argument of make_fx",
        "pass local tensors, and build the DTensor inside the program",
        lambda e: e.kind == "untracked-proxy" and e.passed(_DTENSOR),
    ),
    Cause(
        "pytorch#93290",
        "an inner symbolic make_fx took the outer trace's fake mode, which has no shape environment",
        "trace the inner program with another tracing_mode",
        lambda e: e.kind == "unsupported" and "shape_env should be set" in e.text,
    ),
    # Both end in the same assertion at the same place: guard's plant of the second on 2.13 is how that is known.
    Cause(
        "pytorch#164732",
        "a fake tensor of an earlier pass stayed in the program's state; or, on torch < 2.11, a DTensor input is "
        "mutated under training (pytorch#170467)",
        "keep no tensor in module attributes while tracing, and run with guard's fixes on",
        lambda e: e.kind == "fake-constant" and "Unexpected fake" in e.text,
    ),
    Cause(
        "pytorch#153062",
        "a fake tensor of an earlier trace stayed in the program's state",
        "keep no tensor in module attributes or closures while tracing",
        lambda e: e.kind == "fake-constant" and "Mixing fake modes" in e.text,
    ),
    Cause(
        "pytorch#172549",
        "an output and a detached alias of it, a DTensor output (pytorch#185296), or a backward that writes into an "
        "output (pytorch#172956)",
        "clone one of the two, or return local tensors",
        lambda e: e.kind == "partitioner",
    ),
)


def find_cause(kind: str, telling: Link, places: Sequence[str]) -> str | None:
    """Name the first known cause: ``pytorch#93290: what happened; the way out``."""
    evidence = Evidence(kind, telling.text, tuple(places))
    found = next((cause for cause in CAUSES if cause.when(evidence)), None)
    return None if found is None else f"{found.reference}: {found.what}; {found.way_out}"
