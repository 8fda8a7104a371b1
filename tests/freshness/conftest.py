"""A project that was checked and held, with one of each thing that a check may depend on; its memory is looked at."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from guard.freshness.held import Fresh, look
from guard.freshness.manifest import place, read
from tests.project import ROOT, Project, empty_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHECKS = {
    "checks/test_a.py": """
        import model
        def test_one(guard): guard.check(model.ops, tracer=None)
        def test_lazy(guard):
            import lazy
            guard.check(lazy.ops, tracer=None)
        @__import__("pytest").mark.parametrize("name", ["first", "second"])
        def test_named(guard, name):
            import importlib
            guard.check(importlib.import_module(f"programs.{name}").ops, tracer=None)
        """,
    "checks/test_b.py": """
        import os
        from pathlib import Path
        FLAG = os.environ.get("MODEL_FLAG")
        ROOT = Path(__file__).parent.parent
        LATE = "MODEL_LATE"
        def late(): return os.getenv(LATE, "aten.sin.default")
        def test_late(guard): guard.check(lambda: [late()], tracer=None)
        def test_data(guard): guard.check(lambda: (ROOT / "data/ops.txt").read_text().split(), tracer=None)
        def test_tree(guard):
            names = sorted(os.listdir(ROOT / "data/many"))
            guard.check(lambda: [f"aten.{name[:-4]}.default" for name in names], tracer=None)
        def test_optional(guard):
            path = ROOT / "data/optional.txt"
            try: text = path.read_text()
            except FileNotFoundError: text = "aten.sin.default"
            guard.check(lambda: text.split(), tracer=None)
        """,
    "checks/sub/test_c.py": """
        import library
        try: import pkg.extra
        except ImportError: pass
        def test_library(guard): guard.check(library.ops, tracer=None)
        """,
    "checks/sub/notes.json": "{}",
    "checks/test_outside.py": """
        import subprocess, sys, tempfile
        def test_process(guard):
            subprocess.run([sys.executable, "-c", "pass"], check=True)
            guard.check(lambda: ["aten.sin.default"], tracer=None)
        def test_own_file(guard, tmp_path):
            (tmp_path / "x").write_text("aten.sin.default")
            guard.check(lambda: [(tmp_path / "x").read_text()], tracer=None)
        def test_fails(guard):
            assert not sys.path
            guard.check(lambda: ["aten.sin.default"], tracer=None)
        """,
    "src/model.py": "from deep import NAMES\ndef ops(): return NAMES\n",
    "src/deep.py": 'NAMES = ["aten.sin.default", "aten.cos.default"]\n',
    "src/lazy.py": 'def ops(): return ["aten.tan.default"]\n',
    "src/programs/first.py": 'def ops(): return ["aten.sin.default"]\n',
    "src/programs/second.py": 'def ops(): return ["aten.cos.default"]\n',
    "src/pkg/__init__.py": "",
    "src/unused.py": "",
    "data/ops.txt": "aten.sin.default aten.tan.default",
    "data/many/cos.txt": "",
    "conftest.py": "",
    "pyproject.toml": """
        [tool.guard]
        workers = 1
        [tool.pytest.ini_options]
        addopts = "-p no:cacheprovider"
        pythonpath = ["src"]
        """,
    # beside the project: a package that was installed, and one that is edited in place
    "../site/library.py": 'import edited\ndef ops(): return ["aten.exp.default"]\n',
    "../site/library-1.0.dist-info/RECORD": "library.py,sha256=1,2\n",
    "../edited/edited/__init__.py": "",
    "../edited/edited/lib.so": "machine code",
}  # fmt: skip
EVERY = frozenset(
    ("a::lazy", "a::named[first]", "a::named[second]", "a::one", "b::data", "b::late", "b::optional", "b::tree",
     "outside::own_file", "sub/c::library")
)  # fmt: skip
"""What is remembered of it: all but what left the process, and what failed."""


class Memory(NamedTuple):
    """The project, and what is remembered of it."""

    project: Project

    @property
    def path(self) -> str:
        return place(str(self.project.root / ".guard"))

    def look(self) -> Fresh:
        found = read(self.path)
        assert found is not None
        # this process is not the one that checked: its own surroundings say nothing
        return look(self.path, found.surroundings)

    def moved(self) -> set[str]:
        return set(EVERY - {one.test for one in self.look().held})


@pytest.fixture(scope="session")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    made = empty_project(tmp_path_factory.mktemp("checked") / "project")
    for name, text in CHECKS.items():
        made.write(name, text)
    beside = made.root.parent
    paths = os.pathsep.join(str(beside / name) for name in ("site", "edited"))
    here = (path for path in sys.path if Path(path).is_absolute())
    made.environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), paths, *here))
    ran = made.guard("update")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    ran = made.guard("check")
    assert ran.stdout.splitlines()[-1].startswith("11 hold, 1 failed in"), ran.stdout + ran.stderr
    return Memory(made)


class Edits:
    """Changes of a project that are taken back, so that the next test finds the project as it was checked."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._undo: list[Callable[[], Any]] = []

    def write(self, name: str, text: str) -> Path:
        path = self._root / name
        for folder in reversed([folder for folder in path.parents if not folder.exists()]):
            folder.mkdir()
            self._undo.append(folder.rmdir)
        self._keep(path)
        path.write_text(text, encoding="utf-8")
        return path

    def remove(self, name: str) -> None:
        self._keep(self._root / name)
        (self._root / name).unlink()

    def rename(self, name: str, to: str) -> None:
        before, after = self._root / name, self._root / to
        self._undo.append(lambda: after.rename(before))
        before.rename(after)

    def _keep(self, path: Path) -> None:
        if not path.exists():
            self._undo.append(path.unlink)
            return
        old, times = path.read_bytes(), (path.stat().st_atime_ns, path.stat().st_mtime_ns)
        self._undo += [lambda: os.utime(path, ns=times), lambda: path.write_bytes(old)]

    def undo(self) -> None:
        while self._undo:
            self._undo.pop()()


@pytest.fixture
def edits(checked: Memory) -> Iterator[Edits]:
    made = Edits(checked.project.root)
    yield made
    made.undo()
