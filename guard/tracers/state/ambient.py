"""Process-wide settings that a program may change: each is a pair of a reader and a writer."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SEED = 0  # a capture draws the same numbers each time: a constant that it bakes in is the same
Saved = list[tuple["Setting", Any]]
_HELD: list[Any] = []  # torch.inference_mode has no setter: the guard that switches it back must live on


@dataclass(frozen=True)
class Setting:
    """One thing that can be read, and written back."""

    read: Callable[[], Any]
    write: Callable[[Any], None]


def read(settings: Iterable[Setting]) -> Saved:
    """Read settings, to write them back."""
    return [(setting, setting.read()) for setting in settings]


def restore(saved: Saved) -> None:
    """Write settings back."""
    for setting, value in saved:
        setting.write(value)


def seed(generators: int = SEED) -> None:
    """Seed what random_states reads: torch by ``generators``, on each device in use; numpy where loaded; random."""
    torch.default_generator.manual_seed(generators)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(generators)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(SEED)
    random.seed(SEED)


def reset_dynamo() -> None:
    """Forget what Dynamo compiled, where it is loaded: a cached frame would not be captured again (20 us)."""
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None and hasattr(dynamo, "reset"):
        dynamo.reset()


def flags(*, dynamo: bool = True) -> list[Setting]:
    """List the switches, in the order of writing: leaving inference mode turns grad mode on.

    Dynamo's configuration alone takes 0.3 ms to read.
    """
    configured = [Setting(_dynamo_config, _set_dynamo_config)] if dynamo else []
    return [
        Setting(torch.get_default_dtype, torch.set_default_dtype),
        Setting(_default_device, _set_default_device),
        Setting(torch.is_inference_mode_enabled, _set_inference_mode),
        Setting(torch.is_grad_enabled, torch._C._set_grad_enabled),
        Setting(torch._C._is_fwd_grad_enabled, torch._C._set_fwd_grad_enabled),
        Setting(torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled),
        *(setting for device in _devices() for setting in _autocast(device)),
        Setting(_deterministic, lambda value: torch._C._set_deterministic_algorithms(value[0], warn_only=value[1])),
        Setting(torch.get_num_threads, _set_num_threads),
        Setting(lambda: sys.excepthook, lambda hook: setattr(sys, "excepthook", hook)),
        *configured,
    ]


def _set_num_threads(count: int) -> None:
    if torch.get_num_threads() != count:  # a new pool of threads
        torch.set_num_threads(count)


def _devices() -> tuple[str, ...]:
    accelerator = torch._C._get_accelerator().type  # "cpu" on a build without one
    return tuple(dict.fromkeys(("cpu", accelerator)))


def _autocast(device: str) -> tuple[Setting, Setting]:
    return (
        Setting(lambda: torch.is_autocast_enabled(device), lambda on: torch.set_autocast_enabled(device, on)),
        Setting(lambda: torch.get_autocast_dtype(device), lambda dtype: torch.set_autocast_dtype(device, dtype)),
    )


def _deterministic() -> tuple[bool, bool]:
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def _default_device() -> Any:
    """Return the mode of set_default_device; that it is on the stack of function modes is that stack's business."""
    return getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)


def _set_default_device(context: Any) -> None:
    if context is not None or hasattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context"):
        torch._GLOBAL_DEVICE_CONTEXT.device_context = context


def _set_inference_mode(on: bool) -> None:  # noqa: FBT001 - a setting's writer
    if torch.is_inference_mode_enabled() != on:
        _HELD.append(torch._C._InferenceMode(on))


def _dynamo_config() -> dict[str, Any] | None:
    config = getattr(sys.modules.get("torch._dynamo"), "config", None)
    return None if config is None else dict(config.get_config_copy())


def _set_dynamo_config(before: dict[str, Any] | None) -> None:
    now = _dynamo_config()
    if before is None or now is None:
        return
    config = sys.modules["torch._dynamo"].config
    # one by one: load_config warns about each deprecated key
    for key in [key for key, value in before.items() if now.get(key) != value]:
        setattr(config, key, before[key])


def random_states() -> list[Setting]:
    """List the random generators that exist now. Their states are tensors: read and write with modes off."""
    torch_states = [Setting(torch.default_generator.get_state, torch.default_generator.set_state)]
    if torch.cuda.is_initialized():
        torch_states.append(Setting(torch.cuda.get_rng_state_all, torch.cuda.set_rng_state_all))
    states = [*torch_states, Setting(random.getstate, random.setstate)]
    if (numpy := sys.modules.get("numpy")) is not None:
        states.append(Setting(numpy.random.get_state, numpy.random.set_state))
    return states
