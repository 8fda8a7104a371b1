"""What the checks of one worker depend on, as the worker sees it: files opened and run, folders listed, variables read.

An audit hook sees what Python opens, executes and imports (PEP 578); it cannot be taken away again, and hears nothing
once it is closed.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from guard.freshness.edges import EVERYBODY
from guard.freshness.places import Places
from guard.session.callers import Callers
from guard.session.heard import Heard
from guard.session.variables import Variables

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from types import FrameType

FILE = "fresh.json"
"""In a run's folder, of a run that is remembered: the tests that need not run."""
# pytest reads each module to rewrite its asserts, and guard each baseline: what they open is in the manifest by itself
_PYTEST = frozenset(("_pytest", "pytest", "pluggy", "xdist", "execnet", "pytest_timeout.py", "coverage", "pytest_cov"))
# torch starts a compiler and opens sockets of its own accord
_ENGINES = _PYTEST | {"torch", "numpy", "sympy", "triton"}
_PROCESSES = frozenset(("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec", "os.fork", "os.forkpty"))
_NETWORK = frozenset(("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"))
_LISTINGS = frozenset(("os.listdir", "os.scandir"))
_WANTED = (
    _PROCESSES | _NETWORK | _LISTINGS | {"open", "exec", "import", "os.rename", "ctypes.dlopen", "sqlite3.connect"}
)
# Libraries look these up for a terminal, a cache folder or a name to greet; they differ from shell to shell
_AMBIENT = frozenset(
    ("_", "COLUMNS", "DISPLAY", "EDITOR", "FORCE_COLOR", "HOME", "LANG", "LINES", "LOGNAME", "NO_COLOR", "OLDPWD",
     "PAGER", "PATH", "PWD", "SHELL", "SHLVL", "TEMP", "TERM", "TMP", "TMPDIR", "USER", "USERNAME", "XDG_CACHE_HOME",
     "XDG_CONFIG_HOME")
)  # fmt: skip
_MACHINE = ("/proc/", "/sys/", "/dev/")
_WRITES = os.O_WRONLY | os.O_RDWR


class Closure:
    """The ears of one worker."""

    def __init__(self, folder: Path, worker: str, root: Path) -> None:
        self._places = Places(str(root))
        self._state = str(root / ".guard") + os.sep
        self._temporary = os.path.realpath(tempfile.gettempdir()) + os.sep
        # what a library looks up in these is the machine's; what the project's own code opens there counts
        self._system = (self._temporary, "/etc/", "/usr/")
        self._callers = Callers(self._places)
        self._heard = Heard(folder / f"{worker}.edges", self._places)
        self._variables = Variables(self._variable)
        self._importing = ""
        self._written: set[str] = set()
        self._thread = threading.get_ident()
        for module in tuple(sys.modules.values()):  # plugins of the project's
            where = getattr(module, "__file__", None)
            if isinstance(where, str) and self._places.kind(where) == "project":
                self._heard.say("file", EVERYBODY, os.path.abspath(where))
        sys.addaudithook(self._hear)
        self._variables.listen()

    def begin_import(self, path: Path) -> None:
        """Note which module pytest imports, and hear of variables: not later, where calls may be counted."""
        self._importing = os.path.realpath(path)
        self._variables.listen()

    def begin(self, path: Path, name: str, function: Any) -> None:
        """Tell what follows from this test's own function apart from what others may share."""
        self._variables.rest()
        self._callers.begin(str(path), name, function)

    def end(self, nodeid: str) -> None:
        """Leave what was heard of a test or an import: a worker may die of the next."""
        self._callers.end()
        self.leave(nodeid)

    def ran(self, files: Iterable[str]) -> None:
        """Note files whose code a capture of the running test ran."""
        for file in files:
            if self._places.kind(file) == "project":
                self._heard.say("file", self._callers.test, os.path.abspath(file))

    def leave(self, nodeid: str | None = None) -> None:
        """Leave what is new, and which test or import ended."""
        self._heard.leave(nodeid)

    def close(self) -> None:
        """Hear nothing more."""
        self._variables.rest()
        self._heard.close()

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in _WANTED or self._heard.closed:
            return
        try:
            self._take(event, args)
        except Exception as error:  # noqa: BLE001 - an exception of the hook would be one of the user's own call
            self._heard.say("unkeyable", EVERYBODY, f"{event}: {type(error).__name__}")

    def _take(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            self._open(*args)
        elif event == "exec":
            self._exec(args[0])
        elif event == "import":
            self._import(*args[:2])
        elif event == "os.rename":
            self._rename(*args[:2])
        elif event in _LISTINGS:
            self._list(args[0])
        elif event in {"ctypes.dlopen", "sqlite3.connect"}:
            self._library(event, args[0])
        else:
            self._leave_process(event)

    def _variable(self, frame: FrameType, name: str) -> None:
        package, own = self._callers.nearest(frame)
        if own or (package not in _PYTEST and package != "guard" and name not in _AMBIENT):
            self._say("variable", frame, name)

    def _open(self, subject: Any, _mode: Any, flags: int) -> None:
        path = _text(subject)
        if path is None or path.endswith(".pyc") or "__pycache__" in path:
            return
        absolute = os.path.abspath(path)
        kind = self._places.kind(absolute)
        if kind in {"installed", "python", "guard"} or absolute.startswith(self._state):
            return
        frame = sys._getframe(3)  # noqa: SLF001 - the hook's caller is who opens
        package, own = self._callers.nearest(frame)
        if package in _PYTEST or package == "guard":
            return
        if absolute.startswith(_MACHINE):
            if own and absolute != os.devnull:
                self._say("unkeyable", frame, f'opens "{absolute}"')
            return
        if flags & _WRITES:
            if flags & os.O_RDWR and not flags & os.O_TRUNC and absolute not in self._written and _exists(absolute):
                self._say("unkeyable", frame, f'opens "{absolute}" for update')
            self._written.add(absolute)
        elif absolute not in self._written and (own or kind == "project" or not absolute.startswith(self._system)):
            self._uses(frame, path, absolute)

    def _uses(self, frame: FrameType, path: str, absolute: str) -> None:
        user = self._callers.user(frame)
        if not os.path.isabs(path):
            self._heard.say("here", user, "")
        self._heard.say("file", user, absolute)

    def _exec(self, code: Any) -> None:
        name = getattr(code, "co_filename", "")
        if self._places.kind(name) != "project" or not _exists(name):
            return
        user = self._callers.user(sys._getframe(3))  # noqa: SLF001 - as above
        # a conftest, and the module that pytest collects: not everybody's, but that of the tests below or in it
        shared = os.path.basename(name) == "conftest.py" or self._callers.real(name) == self._importing
        if user != EVERYBODY or not shared:
            self._heard.say("file", user, os.path.abspath(name))

    def _import(self, name: Any, path: Any) -> None:
        if isinstance(path, str):
            if self._places.kind(path) == "project":
                self._say("file", sys._getframe(3), os.path.abspath(path))  # noqa: SLF001 - as above
        elif isinstance(name, str):
            self._say("name", sys._getframe(3), name)  # noqa: SLF001 - as above

    def _rename(self, source: Any, target: Any) -> None:
        before, after = _text(source), _text(target)
        if before is not None and after is not None and os.path.abspath(before) in self._written:
            self._written.add(os.path.abspath(after))

    def _list(self, subject: Any) -> None:
        path = "." if subject is None else _text(subject)
        frame = sys._getframe(3)  # noqa: SLF001 - as above
        if path is None or frame.f_code.co_filename.startswith("<frozen importlib"):
            return
        absolute = os.path.abspath(path)
        package, own = self._callers.nearest(frame)
        inside = self._places.kind(absolute) == "project" and not (absolute + os.sep).startswith(self._state)
        outside = own and not absolute.startswith((*_MACHINE, self._temporary))
        if package in _PYTEST or package == "guard" or not (inside or outside):
            return
        if not os.path.isabs(path):
            self._say("here", frame, "")
        self._say("folder", frame, absolute)

    def _library(self, event: str, subject: Any) -> None:
        path = _text(subject)
        frame = sys._getframe(3)  # noqa: SLF001 - as above
        if path is None or os.sep not in path or not self._callers.nearest(frame)[1]:
            return
        if event == "sqlite3.connect":
            self._say("unkeyable", frame, f'opens the database "{path}"')
        else:
            self._uses(frame, path, os.path.abspath(path))

    def _leave_process(self, event: str) -> None:
        frame = sys._getframe(3)  # noqa: SLF001 - as above
        package, _own = self._callers.nearest(frame)
        # torch's data loaders fork, too, and read what the user gave them
        quiet = _PYTEST if event.startswith("os.fork") else _ENGINES
        user = self._callers.user(frame)
        # a plugin that asks for the machine's name does so of its own accord; a thread hides who started it
        plugin = user == EVERYBODY and threading.get_ident() == self._thread
        if package not in quiet and package != "guard" and not plugin:
            self._heard.say("unkeyable", user, event)

    def _say(self, kind: str, frame: FrameType, subject: str) -> None:
        self._heard.say(kind, self._callers.user(frame), subject)


def still_fresh(run: Path | None) -> frozenset[str]:
    """Return the tests that need not run, by short id, as the controller says."""
    try:
        return frozenset(json.loads((run / FILE).read_text(encoding="ascii"))) if run is not None else frozenset()
    except FileNotFoundError:
        return frozenset()


def _text(subject: Any) -> str | None:
    """Return a path as text; None for a descriptor."""
    return os.fsdecode(subject) if isinstance(subject, (str, bytes, os.PathLike)) else None


def _exists(path: str) -> bool:
    with suppress(OSError, ValueError):
        return stat.S_ISREG(os.stat(path).st_mode)
    return False
