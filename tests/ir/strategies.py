"""Well-formed programs for hypothesis: every construct of docs/grammar.md, with values that are defined before use."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from guard.ir import graph as ir
from guard.ir import types as ty
from guard.ir.expr import Apply, Symbol
from guard.ir.expr_text import ordered
from guard.ir.literals import TOKEN_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import DrawFn, SearchStrategy


flags: SearchStrategy[bool] = st.booleans()
ints = st.integers(-(2**70), 2**70)
floats = st.floats()
odd_text = st.text(st.characters(), max_size=6) | st.sampled_from(
    ["", '"', "\\", "%0", "\ud83d\ude00", "a\nb", "return"]
)
words = st.sampled_from(["a", "fc.weight", "x_1", "odd name", "0x", "return", "é", "_", "f32", "s0", "inf", "True"])
symbols = st.sampled_from(["s0", "s1", "u0", "u8", "f16", "odd name"]).map(Symbol)
shapes = st.lists(st.integers(0, 9), max_size=4).map(tuple)


def _grow(inner: SearchStrategy[Any]) -> SearchStrategy[Any]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        st.builds(
            Apply,
            st.sampled_from(["+", "*", "and", "or", "max", "min"]),
            st.lists(inner, min_size=2, max_size=3).map(tuple),
        ),
        st.builds(Apply, st.sampled_from(["//", "/", "%", "**", "==", "!=", "<", "<=", ">", ">="]), pairs),
        st.builds(Apply, st.sampled_from(["not", "ceil", "sqrt"]), st.tuples(inner)),
        st.builds(Apply, st.sampled_from(["where", "in"]), st.tuples(inner, inner, inner)),
    )


raw_exprs = st.recursive(symbols | st.integers(-3, 9) | floats | st.booleans(), _grow, max_leaves=6)
exprs = raw_exprs.filter(lambda expr: isinstance(expr, (Symbol, Apply))).map(ordered)
dims = st.integers(0, 99) | st.integers(-9, 2**63) | exprs

tensors = st.builds(
    ty.TensorType,
    st.sampled_from(["f32", "bf16", "i64", "b8", "quint8", "odd name"]),
    st.lists(dims, max_size=3).map(tuple),
    st.none() | st.lists(dims, max_size=3).map(tuple),
    st.just(0) | dims,
    st.none() | st.sampled_from(["cuda:0", "meta", "odd name", "cuda:x"]),
    st.booleans(),
    st.none() | st.sampled_from(["sparse_coo", "odd name"]),
)
meshes = st.builds(
    ty.Mesh,
    st.lists(st.integers(0, 9), max_size=2).map(tuple),
    st.none() | st.lists(st.integers(0, 9), max_size=4).map(tuple),
)
placements = st.sampled_from(["R", "S(0)", "S(-1)", "P(sum)", "P(avg)", "_StridedShard(dim=0, sf=2)", "", "S(0", "X"])
scalars = st.builds(
    ty.ScalarType,
    st.sampled_from(["int", "float", "bool", "str", "SymInt", "SymFloat", "SymBool"]),
    st.none() | ints | floats | st.booleans() | exprs | odd_text | st.complex_numbers(),
)
types = st.recursive(
    st.one_of(
        tensors,
        scalars,
        st.just(ty.ScalarType("None")),
        st.builds(ty.ScalarType, st.just("complex"), st.none() | st.complex_numbers()),
        st.builds(ty.DTensorType, tensors, meshes, st.lists(placements, max_size=2).map(tuple), tensors),
        st.builds(ty.SubclassType, words | st.sampled_from(["dt", "list"]), tensors, words, tensors),
        st.builds(ty.OpaqueType, odd_text),
        st.just(ty.UnknownType()),
    ),
    lambda inner: st.builds(ty.ListType, st.lists(inner, max_size=3).map(tuple)),
    max_leaves=3,
)

_token_texts = st.sampled_from(["f32", "strided", "cuda:0", "aten.add.Tensor", "odd name", "...", "quint8", ""])
leaf_args = st.one_of(
    *(ints, floats, st.booleans(), st.none(), st.complex_numbers(), odd_text, exprs),
    st.builds(ir.Token, st.sampled_from(TOKEN_KINDS), _token_texts),
    st.builds(ir.Group, st.lists(st.integers(0, 9), max_size=3).map(tuple)),
    st.builds(ir.Opaque, odd_text),
    st.builds(ir.Digest, odd_text),
)


def args_over(values: list[str], bodies: list[str]) -> SearchStrategy[Any]:
    """Arguments that may use these values and bodies."""
    leaves = leaf_args
    if values:
        leaves = st.sampled_from(values).map(ir.Ref) | leaves
    if bodies:
        leaves = leaves | st.sampled_from(bodies).map(ir.Body)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(tuple),
            st.lists(st.integers(0, 9), min_size=15, max_size=35).map(tuple),
            st.builds(ir.Slice, inner, inner, inner),
            st.lists(st.tuples(odd_text, inner), max_size=3).map(lambda items: ir.Mapping(tuple(items))),
        ),
        max_leaves=4,
    )


def effects_on(values: list[str]) -> SearchStrategy[ir.Effect]:
    """Effects of every kind, on these values."""
    places = st.lists(st.sampled_from(values), max_size=2).map(tuple) if values else st.just(())
    devices = st.lists(st.sampled_from(["cpu", "cuda:1", "odd name", "mode"]), max_size=2).map(tuple)
    ranks = st.lists(st.integers(0, 99), max_size=3).map(tuple)
    return st.one_of(
        st.builds(ir.Effect, st.sampled_from(["alias", "write"]), places),
        st.builds(ir.Effect, st.just("rng"), devices),
        st.builds(ir.Effect, st.just("comm"), ranks),
        st.sampled_from([ir.Effect("mode"), ir.Effect("barrier")]),
    )


trees = st.recursive(
    st.sampled_from(["*", "None"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        inner.map(lambda item: f"({item},)"),
        st.lists(inner, max_size=2).map(lambda items: f"Point({', '.join(items)})"),
        st.lists(inner, max_size=2).map(
            lambda items: "{" + ", ".join(f'"k{place}": {item}' for place, item in enumerate(items)) + "}"
        ),
    ),
    max_leaves=4,
)


def _inputs(draw: DrawFn) -> list[ir.Input]:
    names = draw(st.lists(words | odd_text, max_size=4, unique=True))
    inputs: list[ir.Input] = []
    for name in names:
        alias = draw(st.none() | st.sampled_from([value.name for value in inputs])) if inputs else None
        labels = tuple(draw(st.lists(odd_text, max_size=2)))
        inputs.append(ir.Input(name, draw(types), draw(st.sampled_from(ir.ROLES)), labels, alias))
    return inputs


def _node(draw: DrawFn, values: list[str], fresh: Callable[[], str], bodies: list[str]) -> ir.Node:
    args = args_over(values, bodies)
    names = draw(st.lists(st.booleans(), max_size=3))
    keys = draw(st.lists(words, max_size=2, unique=True))
    return ir.Node(
        tuple(ir.Result(fresh() if named else None, draw(types)) for named in names),
        draw(st.sampled_from(["aten.add.Tensor", "constant", "my mod.fn", "return", "where", "_", "3d"])),
        tuple(draw(st.lists(args, max_size=3))),
        tuple((key, draw(args)) for key in keys),
        tuple(draw(st.lists(effects_on(values), max_size=2))),
        tuple(draw(st.lists(st.sampled_from(["backward", "must_save", "odd tag"]), max_size=2))),
    )


def _output(draw: DrawFn, values: list[str], inputs: list[ir.Input]) -> ir.Output:
    of = draw(st.none() | st.sampled_from([value.name for value in inputs])) if inputs else None
    role = draw(st.sampled_from(ir.OUTPUT_ROLES))
    if draw(flags) and values:
        return ir.Output(ir.Ref(draw(st.sampled_from(values))), draw(types), role, of)
    return ir.Output(draw(args_over(values, [])), None, role, of)


@st.composite
def graphs(draw: DrawFn, name: str = "main", bodies: tuple[str, ...] = (), max_nodes: int = 6) -> ir.Graph:
    """Graphs that use these bodies."""
    inputs = _inputs(draw)
    values = [value.name for value in inputs]
    count = 0

    def fresh() -> str:
        nonlocal count
        while str(count) in values:
            count += 1
        values.append(str(count))
        return values[-1]

    nodes = []
    for _ in range(draw(st.integers(0, max_nodes))):
        known = list(values)
        nodes.append(_node(draw, known, fresh, list(bodies)))
    return ir.Graph(
        name,
        tuple(inputs),
        tuple(nodes),
        tuple(_output(draw, values, inputs) for _ in range(draw(st.integers(0, 3)))),
        tuple(draw(st.lists(exprs, max_size=2))),
        draw(st.none() | trees),
        draw(st.none() | trees),
        draw(st.sampled_from(["cpu", "cuda:0", "odd name"])),
    )


events = st.builds(ir.Event, st.sampled_from(["break", "recompile"]), odd_text, odd_text, st.none())
errors = st.builds(
    ir.CaptureError,
    st.sampled_from(["untracked-proxy", "odd kind", "other"]),
    odd_text,
    st.sampled_from(["0123456789ab", "ffffffffffff"]),
    odd_text,
    st.none(),
    st.none(),
)


@st.composite
def programs(draw: DrawFn) -> ir.Program:
    """Programs: with an error, without graphs, or with graphs and bodies, of which later ones use earlier ones."""
    header = ir.Program(
        draw(words | odd_text | st.just("nested_trace::expand[real-fake]")),
        draw(words | odd_text | st.just("make_fx(tracing_mode=real)")),
        events=tuple(draw(st.lists(events, max_size=2))),
    )
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return replace(header, error=draw(errors))
    if kind == 1:
        return header
    bodies: list[ir.Graph] = []
    for place in range(draw(st.integers(0, 2))):
        bodies.append(draw(graphs(f"body_{place}", tuple(body.name for body in bodies), max_nodes=2)))
    used = tuple(body.name for body in bodies)
    names = draw(st.sampled_from([("main",), ("forward", "backward"), ("odd name",)]))
    return replace(header, graphs=tuple(draw(graphs(name, used)) for name in names), bodies=tuple(bodies))
