"""A capture leaves arguments and modules as they were, whatever the program does to them."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.distributed.tensor import DTensor, Replicate, Shard

from guard.tracers.mesh import Meshes
from guard.tracers.state import preserved
from guard.tracers.state.objects import SavedObjects

if TYPE_CHECKING:
    from collections.abc import Callable


def run(program: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    with preserved(program, args, kwargs):
        program(*args, **kwargs)


class Block(nn.Module):
    """A module with every kind of state."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.tied = nn.Linear(2, 2)
        self.tied.weight = self.linear.weight
        self.register_buffer("steps", torch.zeros(2))
        self.register_buffer("late", None)
        self.cache: dict[str, Any] = {"keys": [torch.zeros(2)], "nested": {"n": 0}}
        self.seen: set[int] = {1}
        self.log = [1]
        self.recent = deque([1], maxlen=3)
        self.order = OrderedDict(a=1, b=2)
        self.counts = Counter(a=2)
        self.calls = 0
        self.plain = torch.zeros(2)


def fill_cache(block: Block) -> None:
    block.cache["new"] = 1
    block.cache["keys"].append(torch.ones(2))
    block.cache["keys"][0].add_(1)
    block.cache["nested"]["n"] += 1


def rename_attributes(block: Block) -> None:
    block.calls += 1
    block.fresh = 1
    del block.plain


def empty_containers(block: Block) -> None:
    block.seen.add(2)
    block.log.insert(0, 0)
    block.recent.extend([2, 3, 4])
    block.order.move_to_end("a")
    block.counts.update(a=5)


def write_parameter(block: Block) -> None:
    with torch.no_grad():
        block.linear.weight.fill_(7)


def swap_parameter(block: Block) -> None:
    block.linear.weight = nn.Parameter(torch.ones(2, 2))


def swap_parameter_data(block: Block) -> None:
    block.linear.weight.data = torch.ones(3, 3)


def freeze(block: Block) -> None:
    block.requires_grad_(False)  # noqa: FBT003 - torch's signature
    block.eval()


def leave_a_gradient(block: Block) -> None:
    block.linear(torch.ones(2)).sum().backward()


def leave_a_fake_buffer(block: Block) -> None:
    with FakeTensorMode():
        block.steps = torch.zeros(2)
        block.late = torch.zeros(2)


def write_buffer(block: Block) -> None:
    block.steps.add_(1)


def add_a_hook(block: Block) -> None:
    block.linear.register_forward_hook(lambda *_: None)
    block.linear.weight.register_hook(lambda gradient: gradient)


def replace_submodule(block: Block) -> None:
    block.linear = nn.Linear(3, 3)
    block.extra = nn.ReLU()


def mark_tensor(block: Block) -> None:
    block.linear.weight.note = torch.ones(2)


DISTURBING = (
    fill_cache,
    rename_attributes,
    empty_containers,
    write_parameter,
    swap_parameter,
    swap_parameter_data,
    freeze,
    leave_a_gradient,
    leave_a_fake_buffer,
    write_buffer,
    add_a_hook,
    replace_submodule,
    mark_tensor,
)


def picture(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """Print a value's identity and state, so that two pictures are equal only where nothing changed."""
    if id(value) in seen:
        return id(value)
    seen = (*seen, id(value))
    if isinstance(value, torch.Tensor):
        data = None if isinstance(value, FakeTensor) else value.detach().clone().tolist()
        flags = (value.requires_grad, value.is_leaf, tuple(value.shape), value.stride(), value.storage_offset())
        return id(value), data, flags, id(value.grad) if value.is_leaf else None, picture(vars(value), seen)
    if isinstance(value, nn.Module):
        return id(value), picture(vars(value), seen)
    if isinstance(value, dict):
        return id(value), type(value).__name__, [(key, picture(item, seen)) for key, item in value.items()]
    if isinstance(value, list | set | deque | tuple):
        return id(value), [picture(item, seen) for item in value]
    return id(value), repr(value)


@pytest.mark.parametrize("disturb", DISTURBING)
def test_module_is_as_before(disturb: Callable[[Block], None]) -> None:
    block = Block()
    before = picture(block)
    run(disturb, block)
    assert picture(block) == before
    # the test can fail: without the restore the picture differs
    disturb(block)
    assert picture(block) != before


@pytest.mark.parametrize("reach", ["module", "closure", "partial", "method", "global"])
def test_module_is_found_from_the_program(reach: str) -> None:
    block = Block()
    block.forward = partial(write_buffer, block)
    programs: dict[str, Callable[..., Any]] = {
        "module": block,
        "closure": lambda: write_buffer(block),
        "partial": partial(write_buffer, block),
        "method": block.__call__,
        "global": write_global,
    }
    GLOBAL.steps.zero_()
    run(programs[reach])
    assert block.steps.tolist() == GLOBAL.steps.tolist() == [0, 0]
    # the test can fail: the program does write
    programs[reach]()
    assert block.steps.tolist() == [1, 1] or GLOBAL.steps.tolist() == [1, 1]


GLOBAL = Block()


def write_global() -> None:
    write_buffer(GLOBAL)


def test_tensor_that_a_function_closes_over_is_as_before() -> None:
    total = torch.zeros(2)
    run(lambda: total.add_(1))
    assert total.tolist() == [0, 0]


def test_list_that_a_function_closes_over_is_the_checks_own() -> None:
    kept: list[int] = []
    run(lambda: kept.append(1))
    assert kept == [1]


def write_in_place(tensor: torch.Tensor) -> None:
    tensor.add_(1)


def write_through_numpy(tensor: torch.Tensor) -> None:
    tensor.numpy()[:] = 5


def write_through_data(tensor: torch.Tensor) -> None:
    tensor.data.mul_(3)


def transpose_in_place(tensor: torch.Tensor) -> None:
    tensor.t_()


def resize(tensor: torch.Tensor) -> None:
    tensor.resize_(8, 8)


def resize_storage(tensor: torch.Tensor) -> None:
    tensor.untyped_storage().resize_(0)


def set_to_another(tensor: torch.Tensor) -> None:
    tensor.set_(torch.ones(5))  # type: ignore[call-overload, unused-ignore] # torch's stubs depend on its version


def require_grad(tensor: torch.Tensor) -> None:
    tensor.requires_grad_()
    (tensor * 2).sum().backward()


def write_a_graph(tensor: torch.Tensor) -> None:
    tensor.mul_(torch.ones(2, 3, requires_grad=True))


@pytest.mark.parametrize(
    "disturb",
    [
        write_in_place,
        write_through_numpy,
        write_through_data,
        transpose_in_place,
        resize,
        resize_storage,
        set_to_another,
        require_grad,
        write_a_graph,
    ],
)
def test_tensor_argument_is_as_before(disturb: Callable[[torch.Tensor], None]) -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    before = picture(tensor)
    run(disturb, tensor)
    assert picture(tensor) == before
    disturb(tensor)
    assert tensor.untyped_storage().nbytes() == 0 or picture(tensor) != before


def test_arguments_are_found_in_pytrees() -> None:
    inner = {"a": [torch.zeros(2), (torch.zeros(2),)]}
    pairs = defaultdict(list, k=[1])
    both = [inner, pairs]
    before = picture(both)

    def program(first: Any, *, second: Any) -> None:
        first["a"][0].add_(1)
        first["a"][1][0].add_(1)
        first["b"] = 1
        second["k"].append(2)
        second["missing"].append(1)

    run(program, inner, second=pairs)
    assert picture(both) == before


def test_gradients_keep_identity_and_values() -> None:
    tensor = torch.zeros(2, requires_grad=True)
    gradient = tensor.grad = torch.ones(2)

    def program(x: torch.Tensor) -> None:
        (x * 3).sum().backward()
        x.grad = None

    run(program, tensor)
    assert tensor.grad is gradient
    assert gradient.tolist() == [1, 1]


def test_views_of_one_storage_are_copied_once() -> None:
    base = torch.zeros(1000)
    views = [base[i:] for i in range(10)]
    saved = SavedObjects()
    saved.add([base, views, base.t()])
    assert len(saved._tensors._storages) == 1

    run(lambda *tensors: [tensor.add_(1) for tensor in tensors], base, *views)
    assert base.eq(0).all()
    assert all(view.untyped_storage().data_ptr() == base.untyped_storage().data_ptr() for view in views)


def test_memory_that_may_not_be_written_is_not() -> None:
    array: Any = np.zeros(4, dtype=np.float32)
    tensor = torch.from_numpy(array)
    array.flags.writeable = False
    mapped = torch.from_numpy(np.frombuffer(bytearray(16), dtype=np.float32))
    run(lambda x, y: x + y, tensor, mapped)


@pytest.mark.parametrize("disturb", [transpose_in_place, resize])
def test_fake_and_meta_tensors_have_metadata_only(disturb: Callable[[torch.Tensor], None]) -> None:
    with FakeTensorMode():
        fake = torch.empty(2, 3)
    for tensor in (fake, torch.empty(2, 3, device="meta")):
        run(disturb, tensor)
        assert (tuple(tensor.shape), tensor.stride()) == ((2, 3), (3, 1))


def test_dtensor_is_restored_by_its_local_tensor() -> None:
    meshes = Meshes()
    mesh = meshes.mesh((2,))
    tensor = DTensor.from_local(torch.zeros(2, 3), mesh, [Shard(0)], run_check=False)
    local, spec = tensor._local_tensor, tensor._spec

    def program(x: Any) -> None:
        x.add_(1)
        x._local_tensor = torch.ones(4, 3)
        x._spec = DTensor.from_local(torch.zeros(2, 3), mesh, [Replicate()], run_check=False)._spec
        x.requires_grad_()

    try:
        run(program, tensor)
        assert tensor._local_tensor is local
        assert tensor._spec is spec
        assert local.eq(0).all()
        assert not tensor.requires_grad
    finally:
        meshes.close()


def test_sparse_and_nested_arguments_pass() -> None:
    sparse = torch.eye(2).to_sparse()
    nested = torch.nested.nested_tensor([torch.ones(1), torch.ones(2)], layout=torch.jagged)
    run(lambda s, n: (s * 2, n * 2), sparse, nested)


@pytest.mark.parametrize(
    "make",
    [
        lambda dense: dense.to_sparse().coalesce(),
        lambda dense: dense.to_sparse_csr(),
        lambda dense: dense.to_sparse_csc(),
        lambda dense: torch.nested.nested_tensor([dense, dense[:1]]),
        lambda dense: torch.nested.nested_tensor([dense, dense[:1]], layout=torch.jagged),
    ],
    ids=["coo", "csr", "csc", "nested", "jagged"],
)
@pytest.mark.filterwarnings("ignore:.*(nested tensors|Sparse C):UserWarning")
def test_sparse_and_nested_arguments_are_as_before(make: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Their data are in tensors that they hold, and that an operator in place may exchange."""
    tensor = make(torch.eye(2))

    def values() -> torch.Tensor:
        return tensor.values().clone()

    before = values()
    run(lambda x: x.mul_(2), tensor)
    assert torch.equal(values(), before)


def test_inference_tensor_passes() -> None:
    with torch.inference_mode():
        tensor = torch.zeros(2)
    run(lambda x: x + 1, tensor)


def test_error_of_the_program_is_kept_and_state_is_restored() -> None:
    tensor = torch.zeros(2)

    def program(x: torch.Tensor) -> None:
        x.add_(1)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run(program, tensor)
    assert tensor.tolist() == [0, 0]
