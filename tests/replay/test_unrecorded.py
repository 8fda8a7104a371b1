"""What replay makes of seeds, and of gradients that are switched off where no graph can hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from guard.replay.faithful import replay
from guard.replay.noted import note
from guard.replay.refusal import UnreplayedError
from guard.specs import AotJoint, MakeFx, Replay
from guard.tracers.capture import Job, capture

if TYPE_CHECKING:
    from guard.findings import Replayed
    from guard.specs import Tracer


def replayed(spec: Tracer, program: Any, *args: Any) -> Replayed:
    job = Job(spec, program, args, {})
    return replay(job, capture(job, check="a::b", fixes="off"), Replay(), fixes="off")


def gradient(w: Tensor, x: Tensor) -> Tensor:
    return torch.autograd.grad((x @ w).pow(2).sum(), w)[0]


def inference(w: Tensor, x: Tensor) -> Tensor:
    with torch.inference_mode():
        return x @ w


def gradient_and_lost_flag(w: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    return gradient(w, x), x.clone().requires_grad_() * 2


WEIGHT_AND_X = torch.randn(4, 3).requires_grad_(), torch.randn(2, 4)


@pytest.mark.parametrize("program", [gradient, inference])
def test_gradients_that_are_switched_off_unrecorded(program: Any) -> None:
    assert replayed(MakeFx(pre_dispatch=True), program, *WEIGHT_AND_X).state == "replayed"


def test_a_flag_that_is_lost_beside_them() -> None:
    """pytorch#186522."""
    found = replayed(MakeFx(pre_dispatch=True), gradient_and_lost_flag, *WEIGHT_AND_X)
    assert (found.state, found.lines) == ("unfaithful", ("wanted True, got False",))


@pytest.mark.parametrize("spec", [MakeFx(), AotJoint()], ids=["make-fx", "joint"])
def test_a_lost_seed(spec: Tracer) -> None:
    """No graph holds ``torch.manual_seed``; of the capture and of many programs it is 0, so replay seeds otherwise."""

    def program(x: Tensor) -> Tensor:
        torch.manual_seed(0)
        return x + torch.rand(3)

    found = replayed(spec, program, torch.ones(3).requires_grad_())
    assert (found.state, found.reason) == ("unfaithful", "output 0 differs from eager on the example inputs")


@pytest.mark.filterwarnings("ignore:.*nested tensors:UserWarning")
def test_a_nested_tensor_without_sizes_is_not_compared() -> None:
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    with pytest.raises(UnreplayedError, match="jagged"):
        note(nested)


def test_a_submodule_with_two_names() -> None:
    """torch.func.functional_call leaves the tensors of the trace in it, which is no fault of the program's."""
    norm = nn.BatchNorm1d(4)
    program = nn.Sequential(norm, nn.Linear(4, 4), norm)
    before = norm.running_mean
    assert replayed(MakeFx("fake"), program, torch.randn(5, 4)).state == "replayed"
    assert norm.running_mean is before


def test_a_joint_graph_with_effect_tokens() -> None:
    found = replayed(AotJoint(), lambda a: torch.linalg.cholesky(a @ a.mT + torch.eye(4)), torch.randn(4, 4))
    assert found.state == "replayed", found


def test_a_joint_graph_that_gives_an_input_another_storage() -> None:
    """The graph's set_ acts on what it was given for the input."""

    def program(x: Tensor, y: Tensor) -> Tensor:
        with torch.no_grad():
            x.set_(y)
        return x * 2

    assert replayed(AotJoint(), program, torch.randn(3), torch.randn(4)).state == "replayed"
