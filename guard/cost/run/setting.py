"""How torch runs while a pair is measured: one thread, and its warnings are not the user's."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """While open, one thread computes: two graphs that share cores with each other's pool measure the pool."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_num_threads(threads)
