"""The classes of capture errors, and the rules that tell them apart: data, and one function that reads it.

A rule looks at the exception's type and at the function that raised it before it looks at words, because torch rewords
its messages between releases and rarely moves these functions. Measured on torch 2.13.0; docs/capture-errors.md lists
the program that raises each.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from guard.tracers.errors.places import USER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.tracers.errors.chain import Link

KINDS = {
    "recursion": "Python's recursion limit was reached",
    "untracked-proxy": "a value of another trace, or of no trace, met this one",
    "unbacked-symbol": "an operator made a data-dependent size that none of its results carries",
    "data-dependent": "the program reads a tensor's values, which a trace does not have",
    "fake-constant": "a fake tensor became a constant, or a real tensor or another trace's fake met fake ones",
    "partitioner": "the joint graph could not be split into forward and backward",
    "sharding-propagation": "DTensor has no placement for an operator's result",
    "unsupported": "torch cannot trace this operator, dtype or combination",
    "graph-break": "torch.compile had to leave the graph, or to recompile too often, under fullgraph=True",
    "program": "the program itself raised, as it would in eager",
    "other": "none of these",
}

_PROXY = r"torch/fx/experimental/proxy_tensor\.py:"
_FAKE = "torch._subclasses.fake_tensor."
_DYNAMO = "torch._dynamo.exc."


class Rule(NamedTuple):
    """Any one of its three sides is enough."""

    kind: str
    types: tuple[str, ...] = ()
    """Qualified names of exception classes; subclasses count."""
    raised_in: str = ""
    """Regular expression over ``Link.raised_in``, from its start."""
    text: str = ""
    """Regular expression, found anywhere in the message."""


SPECIFIC = (
    # First: DTensor's sharding propagation wraps one in a RuntimeError of its own.
    Rule("recursion", types=("RecursionError",)),
    Rule(
        "untracked-proxy",
        raised_in=_PROXY + r"(get_proxy_slot|_build_proxy_for_sym_expr)$"
        r"|torch/_subclasses/functional_tensor\.py:_sync_view_replay_annotations$",
        text=r"is not tracked with proxy|cannot find .* in tensor_tracker",
    ),
    Rule(
        "unbacked-symbol",
        types=("torch.fx.experimental.symbolic_shapes.PendingUnbackedSymbolNotFound",),
        text=r"[Pp]ending unbacked symbol",
    ),
    Rule(
        "data-dependent",
        types=(
            "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode",
            _FAKE + "DynamicOutputShapeException",
            _FAKE + "DataDependentOutputException",
            "torch.fx.proxy.TraceError",
        ),
        text=r"get value out of a tracing tensor|data-dependent (expression|control flow)|vmap over calling \.item\(\)",
    ),
    Rule(
        "fake-constant",
        raised_in=r"torch/_dynamo/utils\.py:assert_no_fake_params_or_buffers$"
        r"|torch/_subclasses/fake_tensor\.py:validate$",
        text=r"Unexpected fake (buffer|param)|Mixing fake modes|convert all Tensors to FakeTensors",
    ),
    Rule(
        "partitioner",
        raised_in=r"torch/_functorch/partitioners\.py:",
        text=r"was invalid, but is output",
    ),
    Rule(
        "sharding-propagation",
        raised_in=r"torch/distributed/tensor/(_sharding_prop\.py:|_dispatch\.py:_propagate_op_sharding)",
        text=r"Sharding propagation failed|does not have a sharding strategy",
    ),
    Rule(
        "unsupported",
        types=(
            _DYNAMO + "UncapturedHigherOrderOpError",
            _FAKE + "UnsupportedOperatorException",
            _FAKE + "UnsupportedFakeTensorException",
            _FAKE + "UnsupportedMutationAliasingException",
            "torch._higher_order_ops.utils.UnsupportedAliasMutationException",
        ),
        # An inner symbolic make_fx takes the fake mode of AOTAutograd's joint trace, which has no shape environment.
        raised_in=_PROXY + r"_init_modes_from_inputs$",
        text=r"[Cc]annot access data pointer|\.numpy\(\) is not supported|not implemented for '",
    ),
)
"""Told from an implied cause too: ``except RuntimeError: raise ValueError`` in the program hides none of them."""

GENERAL = (
    # A warning that the run's filters made an error: eager need not warn, as torch warns while it traces too.
    Rule("other", types=("Warning",)),
    # Dynamo's own statement that eager fails alike, and the program's raise that Dynamo saw.
    Rule("program", types=(_DYNAMO + "ObservedException", _DYNAMO + "TorchRuntimeError")),
    Rule(
        "graph-break",
        types=(_DYNAMO + "Unsupported", _DYNAMO + "FailOnRecompileLimitHit", _DYNAMO + "RecompileError"),
    ),
    Rule(
        "program",
        types=(_FAKE + "FakeTensorDeviceMismatchError",),
        raised_in=re.escape(USER) + r"|torch/_subclasses/fake_tensor\.py:merge_devices$",  # torch 2.9 has no such type
    ),
    # After the program's own NotImplementedError, and after graph breaks, which Dynamo raises from one.
    Rule("unsupported", types=("NotImplementedError",)),
    # An operator refused its arguments: kernels through _ops.py, fake ones through the meta functions, and operators
    # that C++ composes through the mode that called them.
    Rule(
        "program",
        raised_in=r"torch/(_ops|_tensor|functional|_meta_registrations)\.py:"
        r"|torch/__init__\.py:_check|torch/(nn|autograd|_refs|_prims|_prims_common|_decomp)/"
        rf"|{_PROXY}__torch_function__$",
    ),
)


def match(links: Sequence[Link]) -> tuple[str, Link]:
    """Name the class of a chain, and the link that tells it: the innermost one of the first rule that holds."""
    said = [link for link in reversed(links) if not link.implicit]
    for rule in SPECIFIC:
        for link in said:
            if _holds(rule, link):
                return rule.kind, link
    for rule in SPECIFIC:
        for link in links:
            if link.implicit and _holds(rule, link):
                return rule.kind, link
    for rule in GENERAL:
        for link in said:
            if _holds(rule, link):
                return rule.kind, link
    return "other", links[0]


def _holds(rule: Rule, link: Link) -> bool:
    return (
        any(name in link.types for name in rule.types)
        or bool(rule.raised_in and re.match(rule.raised_in, link.raised_in))
        or bool(rule.text and re.search(rule.text, link.text))
    )
