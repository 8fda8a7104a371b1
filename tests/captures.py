"""Captures of programs for tests of the tracers and of lowering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.ir.canonical import equal
from guard.ir.parser import parse_program
from guard.ir.printer import print_program
from guard.tracers.capture import Job, capture

if TYPE_CHECKING:
    from pathlib import Path

    from guard.ir.graph import Program
    from guard.specs import Tracer


class Captures:
    """Captures programs, and sees each text read back."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache

    def __call__(self, spec: Tracer, program: Any, *args: Any, **kwargs: Any) -> Program:
        found = capture(Job(spec, program, args, kwargs), check="a::b", cache=self.cache).program
        text = print_program(found)
        assert print_program(parse_program(text)) == text
        assert equal(parse_program(text), found)
        return found
