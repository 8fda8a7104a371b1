"""Name a function the same on every machine: its path below site-packages or the project, and its qualified name."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from guard.tracers.errors.places import USER, place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

LEAST = 1000
"""A function with less than one in so many events is left out: some hundreds make 95 % of a trace."""
_INSTALLED = re.compile(r".*[/\\](?:site|dist)-packages[/\\]")
_STDLIB = (Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("platstdlib")))
# Dynamo names what it makes by line, by count and by a random number: __resume_at_30_2, __compiled_fn_1_9b3a_...
_MADE = re.compile(r"(_at)(?:_\d+)+|(__compiled_fn)_\w+")


def functions(counted: Sequence[tuple[CodeType, int]], root: Path) -> tuple[tuple[str, int], ...]:
    """Sum the events by name, those of the same name together; sorted, the small ones left out."""
    total = sum(count for _, count in counted)
    named: dict[str, int] = {}
    for code, count in counted:
        name = name_of(code, root)
        named[name] = named.get(name, 0) + count
    return tuple(sorted((name, count) for name, count in named.items() if count * LEAST >= total))


def name_of(code: CodeType, root: Path) -> str:
    """``torch/fx/proxy.py:TracerBase.create_proxy``; Python 3.10 has no qualified name."""
    name = getattr(code, "co_qualname", code.co_name)
    return _file(code.co_filename, root) + ":" + _MADE.sub(r"\1\2", name)


def _file(path: str, root: Path) -> str:
    if path.startswith("<"):  # <eval_with_key>.12, <string>
        return path.partition(">")[0] + ">"
    inside_torch = place(path, "")
    if inside_torch not in ("", USER):
        return inside_torch[:-1]
    match = _INSTALLED.match(path)
    if match is not None:
        return path[match.end() :].replace("\\", "/")
    for base in (root, *_STDLIB):
        if Path(path).is_relative_to(base):
            return Path(path).relative_to(base).as_posix()
    return Path(path).name
