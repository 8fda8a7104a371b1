"""Which fixes this torch needs: asked of a subprocess once per torch build, then of a cache. Imports no torch."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from filelock import FileLock, Timeout

import guard
from guard.tracers.fixes.fix import FIXES

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

PROBE = "guard.tracers.fixes.probe"
SECONDS = 300.0  # importing torch took 60 s on a cold disk; the traces themselves take 2
# what the fixes touch: a build edited in place is another build
TORCH_FILES = (
    "version.py",
    "fx/experimental/proxy_tensor.py",
    "_functorch/_aot_autograd/graph_capture_wrappers.py",
    "_subclasses/fake_tensor.py",
    "_subclasses/functional_tensor.py",
)


@dataclass(frozen=True)
class Probed:
    """What the installed torch does about one fix."""

    state: Literal["native", "needed", "cannot"]
    evidence: str
    """A symptom, or why it cannot be told."""


def probed(cache_dir: Path | None) -> dict[str, Probed]:
    """Return a verdict by fix name. ``cache_dir`` None, unreadable or unwritable costs time only."""
    return dict(_probed(cache_dir, build_key()))


@lru_cache(maxsize=8)
def _probed(cache_dir: Path | None, key: str) -> dict[str, Probed]:
    if cache_dir is None:
        return _ask(SECONDS)
    path = cache_dir / f"fixes-{key}.json"
    found = _read(path)
    if found is not None:
        return found
    with _locked(path):
        # another worker may have asked meanwhile
        found = _read(path) or _ask(SECONDS)
        # a reason that may pass, as a timeout does, is not kept
        if all(verdict.state != "cannot" for verdict in found.values()):
            _write(path, found)
    return found


def build_key() -> str:
    """Name this torch build, Python and guard: by version.py's text, which holds the git commit, and files' stamps."""
    spec = find_spec("torch")
    root = Path(spec.origin).parent if spec is not None and spec.origin else None
    files = [] if root is None else [root / name for name in TORCH_FILES]
    own = sorted(Path(__file__).parent.glob("*.py"))
    text = "" if root is None else _text(root / "version.py")
    parts = [guard.__version__, sys.version, text, *(_stamp(path) for path in (*files, *own))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _stamp(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return f"{path}: absent"
    return f"{path}: {found.st_mtime_ns} {found.st_size}"


def _ask(seconds: float) -> dict[str, Probed]:
    """Run the probe; what keeps it from answering makes every fix "cannot", with the reason."""
    # guard may run from a source tree that is not installed
    home = str(Path(guard.__file__).parents[1])
    path = os.pathsep.join(part for part in (home, os.environ.get("PYTHONPATH")) if part)
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, a module of guard's
            [sys.executable, "-m", PROBE],
            # safe path: a project may have a folder "guard" of its own (Python 3.10 does not know it)
            env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1", "TORCH_CPP_LOG_LEVEL": "ERROR"},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _cannot(f"the probe did not end in {seconds:g} s")
    except OSError as error:
        return _cannot(f"the probe did not start: {error.strerror}")
    found = _parse(done.stdout.strip().rpartition("\n")[2])
    return found or _cannot(_why(done))


def _why(done: subprocess.CompletedProcess[str]) -> str:
    last = done.stderr.strip().rpartition("\n")[2]
    return f"the probe exited with {done.returncode}: {last or 'it said nothing'}"


def _cannot(reason: str) -> dict[str, Probed]:
    return {fix.name: Probed("cannot", reason) for fix in FIXES}


def _parse(text: str) -> dict[str, Probed] | None:
    """Read ``{name: [state, evidence]}`` with exactly the fixes that there are; None where it is anything else."""
    try:
        data: Any = json.loads(text)
        pairs = {fix.name: data[fix.name] for fix in FIXES}
        ok = len(data) == len(FIXES) and all(_is_verdict(*pair) for pair in pairs.values())
        return {name: Probed(*pair) for name, pair in pairs.items()} if ok else None
    except (ValueError, TypeError, KeyError):
        return None


def _is_verdict(state: object, evidence: object) -> bool:
    return state in ("native", "needed", "cannot") and isinstance(evidence, str)


def _read(path: Path) -> dict[str, Probed] | None:
    try:
        return _parse(path.read_text())
    except (OSError, ValueError):
        return None


def _write(path: Path, found: dict[str, Probed]) -> None:
    """Write whole or not at all; a cache that cannot be written is none."""
    text = json.dumps({name: [verdict.state, verdict.evidence] for name, verdict in found.items()})
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError:
        return


def _locked(path: Path) -> AbstractContextManager[object]:
    """Let one worker ask for all; without a lock each asks for itself."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(path.with_suffix(".lock"), timeout=SECONDS).acquire()
    except (OSError, Timeout):
        return cast("AbstractContextManager[object]", nullcontext())
