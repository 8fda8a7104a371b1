"""Text -> graph -> rebuilt module -> lowered again: the same text, and the same bits when it runs."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch._higher_order_ops.map import map as map_op
from torch._higher_order_ops.while_loop import while_loop

from guard.ir.digest import digests_of
from guard.ir.graph import Program
from guard.ir.lower.bodies import Bodies
from guard.ir.lower.constants import bytes_of
from guard.ir.lower.context import Context
from guard.ir.lower.walk import lower_graph
from guard.ir.parser import parse_bytes, parse_program
from guard.ir.printer import print_program
from guard.ir.rebuild.build import Source, rebuild
from guard.ir.rebuild.constants import tensor_of
from guard.ir.rebuild.read_back import read_back
from guard.ir.rebuild.refusal import RefusedError
from guard.replay.state import same_bits
from guard.specs import AotJoint, MakeFx
from guard.tracers import aot_joint, make_fx

if TYPE_CHECKING:
    from collections.abc import Callable

BASELINES = sorted((Path(__file__).parents[3] / "baselines").rglob("*.graph"))
X = torch.linspace(-2, 2, 16).reshape(4, 4)
BIG = torch.linspace(0, 1, 100)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(self.norm(self.conv(x)).relu(), 0.5).sum()


def writes(x: torch.Tensor) -> torch.Tensor:
    x[0] += 1
    return x.view(-1)[2:]


def index_put(x: torch.Tensor) -> Any:
    y = x.clone()
    y[torch.tensor([0, 1])] = 3.0
    return y, torch.tensor([[1, 2], [3, 4]]) + 1


def no_grad(x: torch.Tensor) -> Any:
    with torch.no_grad():
        y = x.sin()
    return y, x.cos()


def autocast(x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return x @ x


def cond(x: torch.Tensor) -> Any:
    return torch.ops.higher_order.cond(x.sum() > 0, lambda a: (a.sin(),), lambda a: (a.cos(),), (x,))


ZOO: dict[str, tuple[MakeFx | AotJoint, Callable[..., Any], tuple[Any, ...]]] = {
    "split": (MakeFx(), lambda x: x.split(2)[1] * 2, (X,)),
    "split of one": (MakeFx(), lambda x: x.split(4)[0] * 2, (X,)),
    "layer norm": (MakeFx(), lambda x: nn.functional.layer_norm(x, (4,)), (X,)),
    "written input": (MakeFx(), writes, (X,)),
    "index_put and inline constants": (MakeFx(), index_put, (X,)),
    "symbols": (
        MakeFx(tracing_mode="symbolic"),
        lambda x, y: torch.cat([x, y]).view(-1).reshape(x.shape[0] * 2, -1) + x.shape[1],
        (X, X),
    ),
    "symbols with constraints": (
        MakeFx(tracing_mode="symbolic"),
        lambda x: x.view(x.shape[0] // 2, 2, x.shape[1])[:, :, ::2],
        (torch.ones(6, 5),),
    ),
    "unbacked": (MakeFx(tracing_mode="symbolic"), lambda x: x.nonzero() * 2, (X,)),
    "cond": (MakeFx(), cond, (X,)),
    "map": (MakeFx(), lambda x: map_op(lambda a: a.sin() + 1, x), (X,)),
    "while_loop": (
        MakeFx(),
        lambda x: while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * 2), (torch.tensor(0), x)),
        (X,),
    ),
    "large constant": (MakeFx(), lambda x: x.view(-1).sum() + BIG, (X,)),
    "joint with buffers and dropout": (AotJoint(), Net(), (torch.ones(2, 3, 8, 8),)),
    "memory format and dtype": (
        MakeFx(),
        lambda x: x.contiguous(memory_format=torch.channels_last).to(torch.float64),
        (torch.ones(2, 3, 4, 4),),
    ),
    "autocast": (MakeFx(pre_dispatch=True), autocast, (X,)),
    "no_grad": (MakeFx(pre_dispatch=True), no_grad, (X,)),
    "random": (MakeFx(), lambda x: x + torch.rand(4), (X,)),
    "index": (MakeFx(), lambda x: x[None, ..., 1:3], (X,)),
    "a number": (MakeFx(), lambda x, n: x * n, (X, 3)),
    "a string": (MakeFx(), lambda x: torch.div(x, 2, rounding_mode="floor"), (X,)),
    "infinity": (MakeFx(), lambda x: x.masked_fill(x > 0, float("-inf")).softmax(-1), (X,)),
    "foreach": (MakeFx(), lambda x: torch._foreach_add([x, x], 1.0), (X,)),
}


def rebuilt(program: Program, **source: Any) -> dict[str, torch.fx.GraphModule]:
    return {graph.name: rebuild(program, graph, Source(**source)) for graph in program.graphs}


@pytest.mark.parametrize("path", BASELINES, ids=[path.stem for path in BASELINES])
def test_a_baseline_comes_back(path: Path) -> None:
    data = path.read_bytes()
    program = parse_bytes(data, str(path))
    if b"_c10d_functional." in data:
        with pytest.raises(RefusedError, match="collectives"):
            rebuilt(program)
        return

    assert print_program(read_back(program, rebuilt(program))).encode() == data


@pytest.mark.parametrize("name", ZOO)
def test_a_program_comes_back_and_computes_the_same_bits(name: str) -> None:
    spec, function, args = ZOO[name]
    args = tuple(arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args)
    trace: Any = make_fx.trace if isinstance(spec, MakeFx) else aot_joint.trace
    ((module, context),) = trace(spec, function, args, {}).graphs
    bodies = Bodies()
    graph = lower_graph(module, context, bodies)[0]
    text = print_program(Program("a::b", "t", (graph,), bodies.all()))
    program = parse_program(text)

    again = rebuilt(program, constants=bodies.constants)[context.name]

    assert print_program(read_back(program, {context.name: again})) == text
    _same_runs(module, again, graph, args, function)


def _same_runs(module: Any, again: Any, graph: Any, args: tuple[Any, ...], function: Any) -> None:
    state = (
        dict(function.named_parameters()) | dict(function.named_buffers()) if isinstance(function, nn.Module) else {}
    )
    given = [*(value.detach() for value in state.values()), *args]
    if any(value.role == "tangent" for value in graph.inputs):
        given.append(torch.ones(()))
    results = []
    for one in (module, again):
        # the interpreter takes the inputs flat, where a joint graph's own forward wants its pytree
        run = torch.fx.Interpreter(one)
        inputs = [value.clone() if isinstance(value, torch.Tensor) else value for value in given]
        torch.manual_seed(0)
        with torch.no_grad():
            results.append([*torch.utils._pytree.tree_leaves(run.run(*inputs, enable_io_processing=False)), *inputs])
    assert len(results[0]) == len(results[1])
    for wanted, got in zip(*results, strict=True):
        assert same_bits(wanted, got) if isinstance(wanted, torch.Tensor) else wanted == got


def test_a_digest_takes_the_bytes_of_current_and_nothing_else() -> None:
    ((module, context),) = make_fx.trace(MakeFx(), lambda x: x + BIG, (torch.ones(100),), {}).graphs
    graph, bodies = lower_graph(module, context)
    program = Program("a::b", "t", (graph,))
    ((digest, tensor),) = bodies.constants.items()

    assert (digests_of(program), digest) == ((digest,), f"sha256:{sha256(BIG.numpy().tobytes()).hexdigest()[:32]}")
    with pytest.raises(RefusedError, match="is not among current's"):
        rebuilt(program)
    with pytest.raises(RefusedError, match="got 12 bytes"):
        rebuilt(program, constants={digest: torch.ones(3)})
    raw = tensor_of(bytes_of(tensor))
    made = rebuilt(program, constants={digest: raw})["main"]
    assert same_bits(made(torch.zeros(100))[0], BIG)
    # a graph that writes its constant leaves the user's tensor as it was
    rebuilt(program, constants=bodies.constants)["main"].attribute_0.add_(1)
    assert same_bits(tensor, torch.linspace(0, 1, 100))


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(70).reshape(7, 10).T,
        torch.linspace(0, 1, 65, dtype=torch.bfloat16),
        torch.arange(66) % 2 == 0,
        torch.zeros(0, 4, dtype=torch.float8_e4m3fn),
        torch.randn(70, dtype=torch.complex64).conj(),
    ],
    ids=["strided", "bfloat16", "bool", "empty", "conjugate"],
)
def test_a_constant_of_any_dtype_and_layout_comes_back(tensor: torch.Tensor) -> None:
    graph = torch.fx.Graph()
    made = graph.get_attr("c")
    made.meta["val"] = tensor
    graph.output((made,))
    module = torch.fx.GraphModule({"c": tensor}, graph)
    lowered, bodies = lower_graph(module, Context("main"))

    (got,) = rebuilt(Program("a::b", "t", (lowered,)), constants=bodies.constants)["main"]()

    assert (got.dtype, got.shape) == (tensor.dtype, tensor.shape)
    assert got.numel() == 0 or same_bits(got, tensor.resolve_conj())
    assert got.numel() == 0 or got.stride() == tensor.stride()


def test_an_effect_that_the_operator_does_not_have_reads_back_differently() -> None:
    text = (
        "guard-graph 1\ncheck a::b\ntracer t\n\ngraph main(%x: f32[4]) -> (f32[4]) {\n"
        "  %0: f32[4] = aten.sin.default(%x) {write %x}\n  return %0\n}\n"
    )
    program = parse_program(text)

    assert print_program(read_back(program, rebuilt(program))) == text.replace(" {write %x}", "")
