"""One thing that a check depends on, as a line of the manifest: how it was, and whether it still is.

A line is ``kind TAB stamp TAB value TAB subject``. The key is the value: content. The stamp (mtime_ns, ctime_ns, size,
inode) only spares reading what cannot have changed, as git's index does; ctime is what an edit that puts size and
mtime back does not escape.
"""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISREG

from guard.freshness.digest import digest, file_digest, folder_digest, is_noise, names_digest

TYPE_CHECKING = False  # typing costs a fifth of what the whole answer may
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FILE = "file"
"""Content of a regular file; "" where there is none, which is how a missing one is kept too."""
STAT = "stat"
"""Size, mtime and inode of a file that is too large to read each time: a library that was built in place."""
FOLDER = "folder"
"""Names in a folder."""
DATA = "data"
"""Names of the files in a folder that are no Python: what a check may read without Python seeing it."""
INSTALLED = "installed"
"""Names of the distributions in a folder of the import path."""
IMPORTS = "imports"
"""Names that could be imported from a folder."""
VARIABLE = "variable"
"""Digest of an environment variable, "" where it is not set."""
HERE = "here"
"""The working directory."""

# Nanoseconds. A file's time is the kernel's clock of the last tick, at most 10 ms old; coarser clocks (FAT: 2 s) are
# not told apart: there a stamp is made of the size, the inode and a time that is always too old to be trusted.
TICK = 20_000_000
UNTRUSTED = "-"
UNREADABLE = "unreadable"
DISTRIBUTIONS = (".dist-info", ".egg-info", ".egg-link", ".pth", ".egg")
IMPORTABLE = (".py", ".pyc", ".so", ".pyd", ".zip")


def stamp(path: str) -> str:
    """Return the stamp of a file or folder, "" where there is none."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ""
    return f"{found.st_mtime_ns} {found.st_ctime_ns} {found.st_size} {found.st_ino}"


def trusted(mark: str, now: int) -> str:
    """Return a stamp as it may be kept: one that is as young as the look at the content proves nothing (git's rule)."""
    if not mark:
        return mark
    modified, changed, _size, _inode = mark.split(" ")
    return mark if max(int(modified), int(changed)) < now - TICK else UNTRUSTED


def value(kind: str, subject: str) -> str:
    """Look at a subject: its content as text without tabs and line ends."""
    return _VALUES[kind](subject)


def has_stamp(kind: str) -> bool:
    """Tell whether a stamp can spare looking at the content."""
    return kind not in (VARIABLE, HERE, STAT)


def _file(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return ""
    # a pipe would wait for ever, and a device never ends
    if S_ISREG(mode):
        return file_digest(path) or UNREADABLE
    return "folder" if S_ISDIR(mode) else "special"


def _stat(path: str) -> str:
    modified, _changed, *rest = stamp(path).split(" ") if stamp(path) else ("", "")
    return " ".join((modified, *rest))


def _data(path: str) -> str:
    return names_digest(data_files(path))


def data_files(path: str) -> list[str]:
    """Return the names of the files in a folder that are no Python and no noise."""
    try:
        with os.scandir(path) as entries:
            found = [entry.name for entry in entries if not entry.is_dir()]
    except OSError:
        return []
    return [name for name in found if not name.endswith(".py") and not is_noise(name)]


def _installed(path: str) -> str:
    try:
        return names_digest(name for name in os.listdir(path) if name.endswith(DISTRIBUTIONS))
    except OSError:
        return ""


def _imports(path: str) -> str:
    try:
        return "/".join(sorted(importable(os.listdir(path))))
    except OSError:
        return ""


def importable(names: Iterable[str]) -> set[str]:
    """Return the modules that files and folders of these names could be; a folder is not told from a bare file."""
    found = set()
    for name in names:
        stem, dot, _ = name.partition(".")
        if stem.isidentifier() and not is_noise(name) and (not dot or name.endswith(IMPORTABLE)):
            found.add(stem)
    return found


def _variable(name: str) -> str:
    found = os.environ.get(name)
    # a digest, because it may be a secret
    return "" if found is None else digest(found.encode("utf-8", "surrogateescape"))


def _here(_subject: str) -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


_VALUES: dict[str, Callable[[str], str]] = {
    FILE: _file,
    STAT: _stat,
    FOLDER: folder_digest,
    DATA: _data,
    INSTALLED: _installed,
    IMPORTS: _imports,
    VARIABLE: _variable,
    HERE: _here,
}


def speakable(subject: str) -> bool:
    """Tell whether a subject can be written into a line of the manifest."""
    try:
        subject.encode()
    except UnicodeEncodeError:  # a name that is no UTF-8
        return False
    return not any(mark in subject for mark in "\t\n\r\0")
