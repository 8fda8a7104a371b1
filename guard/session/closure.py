"""What the checks of one worker depend on, as the worker sees it: files opened and run, folders listed, variables read.

Leaves edges for the controller, ``<worker>.edges``: who used what. An audit hook sees what Python opens, executes and
imports (PEP 578); it cannot be taken away again, and hears nothing once it is closed.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import threading
from collections import deque
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from guard.freshness.edges import EVERYBODY, Edge
from guard.freshness.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from types import CodeType, FrameType

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
        self._file: IO[str] | None = (folder / f"{worker}.edges").open("w", encoding="utf-8")
        self._heard: set[Edge] = set()
        self._new: list[Edge] = []
        self._importing = ""
        self._written: set[str] = set()
        self._reals: dict[str, str] = {}
        self._modules: set[str] = set()
        self._path: list[str] = []
        self._item: tuple[str, str, frozenset[CodeType]] = ("", "", frozenset())
        self._codecs: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None
        self._thread = threading.get_ident()
        for module in tuple(sys.modules.values()):  # plugins of the project's
            where = getattr(module, "__file__", None)
            if isinstance(where, str) and self._places.kind(where) == "project":
                self._say("file", EVERYBODY, os.path.abspath(where))
        sys.addaudithook(self._hear)
        self.collecting(on=True)

    def collecting(self, *, on: bool) -> None:
        """Hear of the variables that are read while modules are imported; not later, where calls may be counted."""
        environ: Any = os.environ
        if on and self._codecs is None:
            encode, decode = self._codecs = environ.encodekey, environ.decodekey
            walked: deque[str] = deque()

            def asked(name: Any) -> Any:
                # whoever copies all variables has their names decoded before it asks for the values, in their order
                if walked and walked[0] == name:
                    walked.popleft()
                elif isinstance(name, str):
                    walked.clear()
                    self._variable(sys._getframe(1), name)  # noqa: SLF001 - the only way to the caller
                return encode(name)

            def met(name: Any) -> Any:
                walked.append(decode(name))
                return walked[-1]

            environ.encodekey, environ.decodekey = asked, met
        elif not on and self._codecs is not None:
            (environ.encodekey, environ.decodekey), self._codecs = self._codecs, None

    def _variable(self, frame: FrameType, name: str) -> None:
        package, own = self._nearest(frame)
        if own or (package not in _PYTEST and package != "guard" and name not in _AMBIENT):
            self._say("variable", self._user(frame), name)

    def begin_import(self, path: Path) -> None:
        """Note which module pytest imports."""
        self._importing = os.path.realpath(path)
        self.collecting(on=True)

    def begin(self, path: Path, name: str, function: Any) -> None:
        """Tell what follows from this test's own function apart from what others may share."""
        self.collecting(on=False)
        code = getattr(function, "__code__", None)
        self._item = (os.path.realpath(path), name, frozenset(_nested(code)) if code is not None else frozenset())

    def end(self, nodeid: str) -> None:
        """Leave what was heard of a test or an import: a worker may die of the next."""
        self._item = ("", "", frozenset())
        self.leave(nodeid)

    def ran(self, files: Iterable[str]) -> None:
        """Note files whose code a capture of the running test ran."""
        path, name, _ = self._item
        for file in files:
            if self._places.kind(file) == "project":
                self._say("file", f"{path}::{name}", os.path.abspath(file))

    def leave(self, nodeid: str | None = None) -> None:
        """Write what is new, and behind it which test or import ended."""
        file = self._file
        if file is None:
            return
        if sys.path != self._path:
            self._path = list(sys.path)
            self._new += [Edge("path", str(number), str(entry)) for number, entry in enumerate(self._path)]
        fresh = [name for name in sys.modules if name not in self._modules]
        self._modules.update(fresh)
        # also of Python's own: a file of the project that takes such a name comes before it
        for top in {name.partition(".")[0] for name in fresh}:
            self._say("name", EVERYBODY, top)
        for name in fresh:
            where = getattr(sys.modules.get(name), "__file__", None)
            if isinstance(where, str) and self._places.kind(where) in {"project", "foreign"}:
                self._new.append(Edge("module", name, where))
        new, self._new = self._new, []
        new += [Edge("ran", nodeid, "")] if nodeid is not None else []
        with suppress(OSError):  # without the file nothing is known of this worker's checks: they are traced again
            file.writelines(edge.line() for edge in new)
            file.flush()

    def close(self) -> None:
        """Hear nothing more."""
        self.collecting(on=False)
        self.leave()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in _WANTED or self._file is None:
            return
        try:
            self._take(event, args)
        except Exception as error:  # noqa: BLE001 - an exception of the hook would be one of the user's own call
            self._say("unkeyable", EVERYBODY, f"{event}: {type(error).__name__}")

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

    def _open(self, subject: Any, _mode: Any, flags: int) -> None:
        path = _text(subject)
        if path is None or path.endswith(".pyc") or "__pycache__" in path:
            return
        absolute = os.path.abspath(path)
        kind = self._places.kind(absolute)
        if kind in {"installed", "python", "guard"} or absolute.startswith(self._state):
            return
        frame = sys._getframe(3)  # noqa: SLF001 - the hook's caller is who opens
        package, own = self._nearest(frame)
        if package in _PYTEST or package == "guard":
            return
        if absolute.startswith(_MACHINE):
            if own and absolute != os.devnull:
                self._say("unkeyable", self._user(frame), f'opens "{absolute}"')
            return
        if flags & _WRITES:
            if flags & os.O_RDWR and not flags & os.O_TRUNC and absolute not in self._written and _exists(absolute):
                self._say("unkeyable", self._user(frame), f'opens "{absolute}" for update')
            self._written.add(absolute)
        elif absolute not in self._written and (own or kind == "project" or not absolute.startswith(self._system)):
            self._uses(frame, path, absolute)

    def _uses(self, frame: FrameType, path: str, absolute: str) -> None:
        user = self._user(frame)
        if not os.path.isabs(path):
            self._say("here", user, "")
        self._say("file", user, absolute)

    def _exec(self, code: Any) -> None:
        name = getattr(code, "co_filename", "")
        if self._places.kind(name) != "project" or not _exists(name):
            return
        user = self._user(sys._getframe(3))  # noqa: SLF001 - as above
        # a conftest, and the module that pytest collects: not everybody's, but that of the tests below or in it
        if user != EVERYBODY or (os.path.basename(name) != "conftest.py" and self._real(name) != self._importing):
            self._say("file", user, os.path.abspath(name))

    def _import(self, name: Any, path: Any) -> None:
        if isinstance(path, str):
            if self._places.kind(path) == "project":
                self._say("file", self._user(sys._getframe(3)), os.path.abspath(path))  # noqa: SLF001 - as above
        elif isinstance(name, str):
            self._say("name", self._user(sys._getframe(3)), name)  # noqa: SLF001 - as above

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
        package, own = self._nearest(frame)
        inside = self._places.kind(absolute) == "project" and not (absolute + os.sep).startswith(self._state)
        outside = own and not absolute.startswith((*_MACHINE, self._temporary))
        if package in _PYTEST or package == "guard" or not (inside or outside):
            return
        if not os.path.isabs(path):
            self._say("here", self._user(frame), "")
        self._say("folder", self._user(frame), absolute)

    def _library(self, event: str, subject: Any) -> None:
        path = _text(subject)
        frame = sys._getframe(3)  # noqa: SLF001 - as above
        if path is None or os.sep not in path or not self._nearest(frame)[1]:
            return
        if event == "sqlite3.connect":
            self._say("unkeyable", self._user(frame), f'opens the database "{path}"')
        else:
            self._uses(frame, path, os.path.abspath(path))

    def _leave_process(self, event: str) -> None:
        frame = sys._getframe(3)  # noqa: SLF001 - as above
        package, _own = self._nearest(frame)
        # torch's data loaders fork, too, and read what the user gave them
        quiet = _PYTEST if event.startswith("os.fork") else _ENGINES
        user = self._user(frame)
        # a plugin that asks for the machine's name does so of its own accord; a thread hides who started it
        plugin = user == EVERYBODY and threading.get_ident() == self._thread
        if package not in quiet and package != "guard" and not plugin:
            self._say("unkeyable", user, event)

    def _nearest(self, frame: FrameType | None) -> tuple[str, bool]:
        """Return whose the innermost frame is that is not Python's own: its package, and whether the project's."""
        while frame is not None:
            path = frame.f_code.co_filename
            kind = self._places.kind(path)
            if kind not in {"none", "python"}:
                return ("guard" if kind == "guard" else _package(path)), kind == "project"
            frame = frame.f_back
        return "", False

    def _user(self, frame: FrameType | None) -> str:
        """Return the innermost file of the project's that is at work, with its test where it is that one's own code."""
        while frame is not None:
            code = frame.f_code
            if self._places.kind(code.co_filename) == "project":
                path, name, codes = self._item
                return f"{path}::{name}" if code in codes else self._real(code.co_filename)
            frame = frame.f_back
        return EVERYBODY

    def _real(self, path: str) -> str:
        found = self._reals.get(path)
        if found is None:
            found = self._reals[path] = os.path.realpath(path)
        return found

    def _say(self, kind: str, user: str, subject: str) -> None:
        edge = Edge(kind, user, subject)
        if edge not in self._heard:
            self._heard.add(edge)
            self._new.append(edge)


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


def _package(path: str) -> str:
    parts = path.replace(os.sep, "/").split("/")
    for site in ("site-packages", "dist-packages"):
        if site in parts:
            return parts[parts.index(site) + 1]
    return ""


def _nested(code: CodeType) -> list[CodeType]:
    """Return a function's code and that of the functions in it."""
    inner = [found for found in code.co_consts if hasattr(found, "co_consts")]
    return [code, *(deeper for found in inner for deeper in _nested(found))]
