"""``guard verify`` over 1,000 baselines against an empty interpreter: CPU time of whole processes, git's included."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

from benchmarks.test_start import cpu
from guard import config as configuration
from guard.baselines.disk import write_whole
from guard.baselines.store import Store
from guard.ir.parser import parse_program
from guard.ir.printer import print_program
from tests.repository import repository

MOST = 15.0
NUMBER = 1_000
ROUNDS = 7
MODULES = 20
ROOT = Path(__file__).resolve().parents[1]
OWN = ROOT / "baselines"
# Functions as long as those of a real module of checks
BODY = "".join(f"    x{line} = f(x{line}, ['a', {line}], scale=0.5) + {line}\n" for line in range(8))


def texts() -> list[str]:
    """Return the project's own baselines; beyond them, the same with other sizes: no two bodies are the same."""
    own = [path.read_text(encoding="utf-8") for path in sorted(OWN.rglob("*.graph"))]
    seen: dict[str, None] = {}
    scale = 1
    while len(seen) < NUMBER:
        for text in own:
            body = text.partition("\n\n")[2]
            # dtypes keep their digits: only sizes, strides and literals are multiplied
            seen.setdefault(_scaled(body, scale))
        scale += 1
    return list(seen)[:NUMBER]


def _scaled(body: str, scale: int) -> str:
    return re.sub(r"(?<![\w.])(\d+)(?![\w.])", lambda found: str(int(found[1]) * scale), body)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("verify")
    (root / "pyproject.toml").write_text("[tool.guard]\n")
    store = Store(configuration.load(root))
    names: dict[int, list[str]] = {}
    for number, body in enumerate(texts()):
        names.setdefault(number % MODULES, []).append(f"def test_{number}(guard):\n{BODY}")
        check = f"m{number % MODULES}::{number}"
        text = f"guard-graph 1\ncheck {check}\ntracer make_fx\n\n{body}"
        write_whole(store.path(check), print_program(parse_program(text)).encode())
    (root / "checks").mkdir()
    for module, tests in names.items():
        (root / f"checks/test_m{module}.py").write_text("\n\n".join(tests))
    git = repository(root)
    git.write(".gitignore", ".guard/\n")
    git.commit()
    return root


def verify(root: Path) -> float:
    there = f"import os, sys; os.chdir({str(root)!r}); sys.path[0] = {str(ROOT)!r}"
    return cpu("-c", f"{there}; from guard.__main__ import main; sys.exit(main(['verify']))")


def test_verify(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cpu("-c", "pass")
    cold = verify(project) / cpu("-c", "pass")
    warm = median(verify(project) / cpu("-c", "pass") for _ in range(ROUNDS))
    with capsys.disabled():
        sys.stdout.write(
            f"\nguard verify, {NUMBER} baselines: {warm:.1f}x of python -c pass, the first time {cold:.1f}x\n"
        )

    assert warm <= MOST


def test_the_project_of_the_benchmark_is_right(project: Path) -> None:
    """Else the numbers above are those of messages."""
    ran = subprocess.run(
        [sys.executable, "-m", "guard", "verify"],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == f"{NUMBER} baselines verified, no faults\n"
