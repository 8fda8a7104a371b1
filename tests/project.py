"""A project in a temporary folder whose checks trace with a fake tracer: a run of guard takes a second, not ten."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parent.parent

# A program returns its operations' names; "fails: ..." as the first is a capture error, "breaks" a defect of guard's,
# "unused" gives its graph an input that nothing uses.
FAKE = """
import inspect, os, sys, types
from dataclasses import dataclass
from guard.ir.graph import CaptureError, Graph, Input, Node, Output, Program, Ref, Result
from guard.ir.types import TensorType
from guard.cost.calls import Growth, Key, TraceCost
from guard.findings import Replayed

F32 = TensorType("f32", (4,))

@dataclass(frozen=True)
class Captured:
    program: Program
    engaged: tuple = ()
    sources: tuple = ()
    constants: tuple = ()
    dropped: tuple = ()

@dataclass(frozen=True)
class Job:
    spec: object
    program: object
    args: tuple
    kwargs: dict

def capture(job, *, check, fixes="on", cache=None):
    program, args, kwargs = job.program, job.args, job.kwargs
    header = dict(check=check, tracer="fake()")
    file = inspect.getsourcefile(program)
    ops = program(*args, **kwargs)
    engaged = ()
    if ops[0].startswith("needs "):
        name, ops = ops[0][6:], ops[1:]
        engaged = (name,) if fixes == "on" else ()
        if fixes == "off" and name != "nothing":
            ops = ["fails: leaked"]
    if ops[0] == "breaks":
        raise RuntimeError("planted defect")
    if ops[0].startswith("fails: "):
        error = CaptureError("untracked-proxy", ops[0][7:], ops[0][7:].encode().hex().ljust(12, "0")[:12],
                             "x + y", "checks/test_it.py:3", "project#1: a known cause")
        return Captured(Program(**header, error=error), engaged, (file,))
    unused = (Input("y", TensorType("f32", (7,))),) if ops[0] == "unused" else ()
    ops = ops[len(unused):]
    names = ["x", *map(str, range(len(ops)))]
    nodes = tuple(Node((Result(names[i + 1], F32),), op, (Ref(names[i]),), source=f"checks/test_it.py:{i + 1}")
                  for i, op in enumerate(ops))
    graph = Graph("main", (Input("x", F32), *unused), nodes, (Output(Ref(names[-1]), F32),))
    return Captured(Program(**header, graphs=(graph,)), engaged, (file,))

def lower_module(graph_module, *, check):
    return Captured(capture(Job(None, lambda: graph_module, (), {}), check=check).program)

def trace_cost(job, *, fixes="on", cache=None, sizes=None, known=()):
    # a program says what tracing it costs: ops.cost = 1000, the fields of a TraceCost, or why there is none
    found = getattr(job.program, "cost", "the fake tracer counts nothing")
    fields = {"calls": found} if isinstance(found, int) else found
    if not isinstance(fields, dict):
        return fields
    key = Key("2.13.0 git-1", os.environ.get("FAKE_PYTHON", "3.11"), "linux-x86_64", ())
    growth = Growth(sizes.at, tuple(sizes.make(at)[1][0] for at in sizes.at)) if sizes else None
    return TraceCost(key, **{"growth": growth, **fields})

def replay(job, captured, asked, *, fixes="on", cache=None):
    # a program says what is wrong with its graph: ops.unfaithful = "output 0"
    wrong = getattr(job.program, "unfaithful", None)
    if wrong is None:
        return Replayed("replayed", ("example", "fresh"))
    title = f"{wrong} differs from eager on fresh inputs"
    return Replayed("unfaithful", ("example", "fresh"), title, ("[0]: wanted 1.0, got 2.0",))

def replay_module(eager, captured, asked):
    return replay(Job(None, eager, (), {}), captured, asked)

class Meshes:
    closed = 0
    def mesh(self, shape, names=None, *, device="cpu"):
        return ("mesh", shape, names)
    def close(self):
        Meshes.closed += 1

for name in ("guard.tracers", "guard.tracers.capture", "guard.tracers.mesh", "guard.cost.trace",
             "guard.replay.faithful"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["guard.tracers.capture"].capture = capture
sys.modules["guard.tracers.capture"].Job = Job
sys.modules["guard.tracers.capture"].lower_module = lower_module
sys.modules["guard.tracers.mesh"].Meshes = Meshes
sys.modules["guard.cost.trace"].trace_cost = trace_cost
sys.modules["guard.replay.faithful"].replay = replay
sys.modules["guard.replay.faithful"].replay_module = replay_module
"""
MODELLED = """
[tool.guard]
workers = 1

[tool.pytest.ini_options]
addopts = "-p no:cacheprovider"
pythonpath = ["."]
"""
MODEL_CHECKS = """
from model import ops
def test_one(guard): guard.check(ops, tracer=None)
def test_two(guard): guard.check(lambda: ["aten.sin.default"], tracer=None)
"""


@dataclass
class Project:
    """A folder with a configuration, checks, and what they recorded."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    def checks(self, text: str, name: str = "test_it") -> Path:
        return self.write(f"checks/{name}.py", text)

    def guard(self, *arguments: str, cwd: str = ".", timeout: float = 100) -> subprocess.CompletedProcess[str]:
        return self._run("-m", "guard", *arguments, cwd=cwd, timeout=timeout)

    def pytest(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("-m", "pytest", *plugin(), "-p", "no:cacheprovider", *arguments)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "guard", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=self.root, env=self._environment(), stdout=pipe, stderr=pipe, text=True)

    def record(self) -> Path:
        """Make what its checks capture their baselines; return its root."""
        ran = self.guard("update")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return self.root

    def pending(self) -> list[str]:
        folder = self.root / ".guard" / "pending"
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.graph"))

    def _run(self, *arguments: str, cwd: str = ".", timeout: float = 100) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root / cwd,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def _environment(self) -> dict[str, str]:
        # pytest's own variables of the outer run, and CI's, are not the project's
        dropped = {"CI", "PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTHONWARNINGS"}
        outer = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
        kept = {name: value for name, value in outer.items() if name not in dropped}
        # no autoload: plugins that happen to be installed take half a second a process
        own = {"NO_COLOR": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        # folders only: an editable install leaves the name of its finder there, which reads as a relative path
        paths = [path for path in sys.path if Path(path).is_absolute()]
        return kept | own | {"PYTHONPATH": os.pathsep.join([str(ROOT), *paths])} | self.environment


def empty_project(root: Path) -> Project:
    """Make a project of one worker with the fake tracer and no checks."""
    made = Project(root)
    made.write(
        "pyproject.toml",
        '[tool.guard]\nworkers = 1\n\n[tool.pytest.ini_options]\naddopts = "-p no:cacheprovider"\n',
    )
    made.write("checks/conftest.py", FAKE)
    return made


def copied(template: Path, folder: Path) -> Project:
    """Copy a project into a folder of the test's own: to record one anew is slow."""
    shutil.copytree(template, folder / "project")
    return Project(folder / "project")


def modelled_project(root: Path) -> Project:
    """Make one of two checks, the first of a program in ``model.py``, whose folder a repository may be made of."""
    made = empty_project(root)
    made.write("pyproject.toml", MODELLED)
    made.write(".gitignore", "__pycache__/\n.guard/\n")
    made.checks(MODEL_CHECKS)
    model(made, "cos")
    return made


def model(project: Project, name: str) -> None:
    """Change the program of ``it::one``."""
    project.write("model.py", f'def ops(): return ["aten.sin.default", "aten.{name}.default"]\n')


def plugin() -> list[str]:
    """Return what loads the plugin in a project: it autoloads none, whether guard is installed or not."""
    installed = any(entry.name == "guard" for entry in entry_points(group="pytest11"))
    return ["-p", "guard" if installed else "guard.pytest_plugin"]
