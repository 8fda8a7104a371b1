"""A capture leaves the process as it was: random states, defaults, switches and stacks of modes."""

from __future__ import annotations

import random
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
import torch._dynamo
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from guard.tracers.state import modes_off, preserved

if TYPE_CHECKING:
    from collections.abc import Callable


class FunctionMode(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class DispatchMode(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def draw_torch() -> None:
    torch.rand(3)
    torch.manual_seed(7)


def draw_numpy() -> None:
    np.random.rand(3)  # noqa: NPY002 - the global generator is what is restored


def draw_random() -> None:
    random.random()  # noqa: S311 - no secret


def change_dtype() -> None:
    torch.set_default_dtype(torch.float64)


def change_device() -> None:
    torch.set_default_device("meta")


def switch_grad_off() -> None:
    torch.set_grad_enabled(False)


def switch_forward_grad_off() -> None:
    torch._C._set_fwd_grad_enabled(False)  # noqa: FBT003 - torch's signature


def stay_in_inference_mode() -> None:
    KEPT.append(torch._C._InferenceMode(True))  # noqa: FBT003 - torch's signature


def switch_autocast_on() -> None:
    torch.set_autocast_enabled("cpu", True)  # noqa: FBT003 - torch's signature
    torch.set_autocast_dtype("cpu", torch.float16)
    torch.set_autocast_cache_enabled(False)


def be_deterministic() -> None:
    torch.use_deterministic_algorithms(True, warn_only=True)  # noqa: FBT003 - torch's signature


def change_threads() -> None:
    torch.set_num_threads(torch.get_num_threads() + 1)


def change_excepthook() -> None:
    sys.excepthook = lambda *_: None


def filter_warnings() -> None:
    warnings.simplefilter("ignore")


def configure_dynamo() -> None:
    torch._dynamo.config.recompile_limit += 1
    torch._dynamo.config.traceable_tensor_subclasses.add(DispatchMode)


def leave_function_mode() -> None:
    FunctionMode().__enter__()


def take_function_mode() -> None:
    torch.overrides._pop_mode()


def leave_dispatch_mode() -> None:
    DispatchMode().__enter__()


def leave_fake_mode() -> None:
    FakeTensorMode().__enter__()


def take_dispatch_mode() -> None:
    torch.utils._python_dispatch._pop_mode()


def leave_functorch_levels() -> None:
    torch._C._functorch._grad_increment_nesting()
    torch._C._functorch._vmap_increment_nesting(2, "error")


def leave_dual_level() -> None:
    forward_ad.enter_dual_level()


KEPT: list[Any] = []

DISTURBING = (
    draw_torch,
    draw_numpy,
    draw_random,
    change_dtype,
    change_device,
    switch_grad_off,
    switch_forward_grad_off,
    stay_in_inference_mode,
    switch_autocast_on,
    be_deterministic,
    change_threads,
    change_excepthook,
    filter_warnings,
    configure_dynamo,
    leave_function_mode,
    take_function_mode,
    leave_dispatch_mode,
    leave_fake_mode,
    take_dispatch_mode,
    leave_functorch_levels,
    leave_dual_level,
)


def picture() -> Any:
    levels = len(torch._C._functorch.get_interpreter_stack() or ())
    with modes_off():
        state = torch.default_generator.get_state()
        generator = None if levels else state.tolist()  # torch 2.9 wraps the state in a level
    return (
        generator,
        str(np.random.get_state()),  # noqa: NPY002 - the global generator is what is restored
        random.getstate(),
        torch.get_default_dtype(),
        getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None),
        torch.is_grad_enabled(),
        torch._C._is_fwd_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_autocast_dtype("cpu"),
        torch.is_autocast_cache_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        torch.get_num_threads(),
        sys.excepthook,
        list(warnings.filters),
        torch._dynamo.config.get_config_copy(),
        [id(mode) for mode in torch.overrides._get_current_function_mode_stack()],
        [id(mode) for mode in _get_current_dispatch_mode_stack()],
        levels,
        forward_ad._current_level,
    )


@pytest.mark.parametrize("disturb", DISTURBING)
def test_process_is_as_before(disturb: Callable[[], None]) -> None:
    with FunctionMode(), DispatchMode():
        before = picture()
        with preserved(disturb, (), {}):
            disturb()
        after = picture()
    KEPT.clear()
    assert after == before


@pytest.mark.parametrize("disturb", DISTURBING)
def test_program_does_disturb_something(disturb: Callable[[], None]) -> None:
    with FunctionMode(), DispatchMode(), preserved(disturb, (), {}):
        before = picture()
        disturb()
        changed = [one != other for one, other in zip(picture(), before, strict=True)]
    KEPT.clear()
    assert any(changed)


def test_user_modes_stay_on_for_the_program() -> None:
    with FunctionMode() as function, DispatchMode() as dispatch, preserved(None, (), {}):
        assert torch.overrides._get_current_function_mode_stack() == [function]
        assert _get_current_dispatch_mode_stack() == [dispatch]


def test_each_capture_draws_the_same_numbers() -> None:
    def drawn() -> Any:
        numpy_number = float(np.random.rand())  # noqa: NPY002 - the global generator is what is seeded
        return torch.rand(2).tolist(), numpy_number, random.random()  # noqa: S311 - no secret

    found = []
    for _ in range(2):
        with preserved(drawn, (), {}):
            found.append(drawn())
        drawn()
    assert found[0] == found[1]


def test_own_work_is_not_seen_by_the_users_modes() -> None:
    calls: list[str] = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append(str(func))
            return func(*args, **(kwargs or {}))

    class WatchDispatch(DispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            calls.append(str(func))
            return func(*args, **(kwargs or {}))

    argument = torch.zeros(2, requires_grad=True)
    module = torch.nn.Linear(2, 2)
    with Watch(), WatchDispatch(), preserved(module, (argument,), {}):
        entering = calls.copy()
        argument.data.add_(1)
        calls.clear()
    assert entering == calls == []


def test_modes_off_puts_the_stacks_back_after_an_error() -> None:
    with FunctionMode(), DispatchMode(), FakeTensorMode():
        before = picture()
        with modes_off():
            assert _get_current_dispatch_mode_stack() == []
            assert type(torch.ones(1)) is torch.Tensor
        with pytest.raises(KeyError), modes_off():
            raise KeyError
        assert picture() == before


def test_compiled_code_is_forgotten() -> None:
    compiled: list[Any] = []

    def backend(module: Any, _: Any) -> Any:
        compiled.append(module)
        return module.forward

    program = torch.compile(lambda x: x + 1, backend=backend)
    for _ in range(2):
        with preserved(program, (), {}):
            program(torch.ones(2))
    assert len(compiled) == 2


def test_error_in_one_part_does_not_keep_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from guard.tracers.state.objects import SavedObjects

    def broken(_: Any) -> None:
        raise OSError("cannot restore")

    monkeypatch.setattr(SavedObjects, "restore", broken)
    before = picture()

    def disturb() -> None:
        with preserved(None, (), {}):
            change_dtype()
            leave_function_mode()
            draw_torch()

    with pytest.raises(OSError, match="cannot restore"):
        disturb()
    assert picture() == before
