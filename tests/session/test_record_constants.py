"""A check that drifts keeps the bytes of its large constants, one that holds or is new does not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from guard.baselines.constants import folder, read
from guard.baselines.store import Store
from guard.config import load
from guard.ir.lower.constants import constant_arg
from guard.ir.parser import parse_program
from guard.session import record
from guard.session.asked import Asked
from guard.session.outcome import judged
from guard.session.setting import Setting
from guard.session.subject import Subject

if TYPE_CHECKING:
    from pathlib import Path

torch = pytest.importorskip("torch")

TABLE = torch.arange(100)
DIGEST: Any = constant_arg(TABLE)
HEAD = "guard-graph 1\ncheck a::b\ntracer t\n\ngraph main(%x: i64[100]) -> (i64[100]) {\n"
NODES = f'  %0: i64[100] = constant(digest("{DIGEST.text}"))\n  %1: i64[100] = aten.add.Tensor(%x, %0)\n'
TEXT = f"{HEAD}{NODES}  return %1\n}}\n"


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    (tmp_path / "checks").mkdir()
    return Setting(load(tmp_path))


@pytest.mark.parametrize(
    ("baseline", "kept"), [(TEXT.replace("(%x, %0)", "(%0, %x)"), True), (TEXT, False), (None, False)]
)
def test_only_a_drift_keeps_them(setting: Setting, baseline: str | None, *, kept: bool) -> None:
    path = Store(setting.config).path("a::b")
    path.parent.mkdir(parents=True)
    if baseline is not None:
        path.write_text(baseline, encoding="utf-8")
    captured = SimpleNamespace(program=parse_program(TEXT), sources=(), constants={DIGEST.text: TABLE})

    judged(setting, Subject("checks/test_a.py::test_b", "checks/test_a.py:1"), "a::b", captured, Asked(), None)

    wanted = TABLE.numpy().tobytes() if kept else None
    assert read(folder(setting.config), DIGEST.text) == wanted


def test_what_the_program_wrote_after_its_trace_is_not_kept_as_what_it_was(setting: Setting) -> None:
    record.keep(setting, {DIGEST.text: TABLE + 1})

    assert read(folder(setting.config), DIGEST.text) is None


def test_a_folder_that_cannot_be_written_fails_no_check(setting: Setting) -> None:
    setting.config.state.write_bytes(b"no folder")

    record.keep(setting, {DIGEST.text: TABLE})
