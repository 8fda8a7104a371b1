"""Names of checks: pytest's node id, the short id that is printed, the baseline's file. Pure; touches no disk.

A short id is ``folder/module::Class.function[params]#name``: node ids without the checks' root and ``test_``.
"""

from __future__ import annotations

import re
import shlex
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from unicodedata import normalize
from urllib.parse import unquote

from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIX = ".graph"
COST_SUFFIX = ".cost.json"
MAX_BYTES = 100
_PREFIX = "test_"
# What no file name may hold: control and invisible characters, and lone surrogates. Listed rather than asked of
# unicodedata, whose answer changes with Python's version, and with it every path.
_INVISIBLE = "\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufffe\uffff"
_CONTROL = re.compile(f"[{_INVISIBLE}]")
# Windows forbids <>:"/\|?*; % is the escape itself; ~ marks a cut name; @ is kept free for overlays' names.
_FORBIDDEN = re.compile(f'[{_INVISIBLE}<>:"/\\\\|?*%~@]')
_FOLDER_FORBIDDEN = re.compile(f'[{_INVISIBLE}<>:"/\\\\|?*%~@.]')
# Device names on Windows, with any extension: learn.microsoft.com/windows/win32/fileio/naming-a-file
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\.|$)", re.IGNORECASE)
# Inside double quotes a POSIX shell leaves all but these alone; ! is bash's history
_UNSAFE_QUOTED = re.compile(r'["$`!\\]')


def quoted(check: str) -> str:
    """Quote an id so that it can be pasted into a shell."""
    return shlex.quote(check) if _UNSAFE_QUOTED.search(check) else f'"{check}"'


def short_id(nodeid: str, checks: str, name: str | None = None) -> str:
    """Shorten a node id, whose checks' root is ``checks`` (``Config.checks_prefix``); a short id passes through.

    ``name`` is that of a second call in one test: one printable line. Characters that would break a line print as
    Python's escapes, and Unicode is brought to its normal form.

    Raises:
        UsageError: ``name`` is empty, not printable, or has spaces around it.
    """
    path, separator, test = nodeid.partition("::")
    short = nodeid
    if path.endswith(".py"):
        head, bracket, params = test.partition("[")
        *classes, function = head.split("::")
        short = f"{_module(path, checks)}{separator}{'.'.join((*classes, strip(function)))}{bracket}{params}"
    if name is not None:
        if not isinstance(name, str) or not name.isprintable() or name != name.strip() or not name:
            raise UsageError(f"name of {quoted(short)}: wanted a printable line without spaces around, got {name!r}")
        short = f"{short}#{name}"
    return _CONTROL.sub(_python_escape, normalize("NFC", short))


def _module(path: str, checks: str) -> str:
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    root = PurePosixPath(checks).parts
    if tuple(parts[: len(root)]) == root:
        parts = parts[len(root) :]
    return "/".join((*parts[:-1], strip(parts[-1].removesuffix(".py"))))


def strip(name: str) -> str:
    """Return a function's or module's name as ids have it: without ``test_``, unless that is all of it."""
    return name[len(_PREFIX) :] if name.startswith(_PREFIX) and name != _PREFIX else name


def _python_escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def tests_of(check: str) -> tuple[str, ...]:
    """Return the ids that the test of a check may have, longest first: ``#`` begins a name, or is in a parameter."""
    cuts = [place for place, letter in enumerate(check) if letter == "#"]
    return (check, *(check[:cut] for cut in reversed(cuts)))


def module_of(check: str) -> str:
    """Return the id of a check's module, which may have skipped itself."""
    return check.partition("::")[0]


def relative_path(check: str) -> str:
    """Return the baseline's path below ``baselines/``, with ``/``: injective, and valid on every file system."""
    module, separator, test = normalize("NFC", check).partition("::")
    if not separator:
        return _file(module)
    return "/".join((*(_folder(part) for part in module.split("/")), _file(test)))


def cost_path(check: str) -> str:
    """Return the path of the trace cost, beside the baseline."""
    return relative_path(check).removesuffix(SUFFIX) + COST_SUFFIX


def _folder(part: str) -> str:
    # every dot goes: then no folder is hidden, .., environment.toml, or named like a baseline
    return _component(part, _FOLDER_FORBIDDEN)


def _file(test: str) -> str:
    return _component(test, _FORBIDDEN) + SUFFIX


def _component(text: str, forbidden: re.Pattern[str]) -> str:
    escaped = forbidden.sub(_percent, text) or "%_"  # an empty name has no spelling; %_ escapes nothing else
    if escaped[0] in " ." or _RESERVED.match(escaped):
        escaped = f"%{ord(escaped[0]):02X}{escaped[1:]}"
    if escaped[-1] in " .":
        escaped = f"{escaped[:-1]}%{ord(escaped[-1]):02X}"
    return escaped if len(escaped.encode()) <= MAX_BYTES else _cut(escaped)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _cut(escaped: str) -> str:
    digest = sha256(escaped.encode()).hexdigest()[:16]
    kept = escaped.encode()[: MAX_BYTES - len(digest) - 1].decode(errors="ignore")
    return f"{kept}~{digest}"


def check_of(relative: str) -> str | None:
    """Return the check whose baseline has this path below ``baselines/``; None where a cut name hides it."""
    if "~" in relative:
        return None
    *folders, file = (unquote("" if part == "%_" else part) for part in relative[: -len(SUFFIX)].split("/"))
    return f"{'/'.join(folders)}::{file}" if folders else file


def collisions(checks: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of different checks that some file system would keep in one file."""
    groups: dict[str, set[str]] = {}
    for check in checks:
        groups.setdefault(normalize("NFC", relative_path(check).casefold()), set()).add(check)
    return tuple(sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1))
