"""The project's root and its ``[tool.guard]``: found, checked, frozen. Knows no torch, no pytest, no command."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from guard.errors import UsageError
from guard.policy import Rule, parse

FIXES = ("allow", "warn", "fail")
FOLDERS = ("checks", "baselines")
ALARMS = ("note", "warn", "fail")
GPU = ("optional", "unless-fork", "required")
KEYS = (*FOLDERS, "alarms", "fixes", "gpu", "policy", "timeout", "trace_cost", "trace_tolerance", "workers")
REASONS = ("optional", "required")
POLICY = "[tool.guard.policy]"
EXAMPLE = '[tool.guard]\n  checks = "checks"'


@dataclass(frozen=True)
class Config:
    """Where a project keeps what, and its policy. Paths are absolute."""

    root: Path
    """Folder that every printed path and node id is relative to."""
    checks: Path
    baselines: Path
    state: Path
    """``.guard``, git-ignored: pending captures, lock, caches."""
    alarms: Literal["note", "warn", "fail"] = "note"
    """What a sign of wrongness in a graph is: told where it is new, told in every run, or a finding."""
    fixes: Literal["allow", "warn", "fail"] = "allow"
    """What a capture that needs a fix of guard's is: nothing, a note, or a finding."""
    gpu: Literal["optional", "unless-fork", "required"] = "optional"
    """Whether ``guard merge`` lets a run without a GPU pass: yes, of a fork's code, or never."""
    timeout: float = 300.0
    """Seconds a check may take; 0 is no limit."""
    workers: int | Literal["auto"] = "auto"
    policy: tuple[Rule, ...] = ()
    """What a drift is, by class and cause."""
    reasons: Literal["optional", "required"] = "optional"
    """Whether an accept says why."""
    trace_cost: bool = True
    """Whether ``guard check`` counts what tracing does."""
    trace_tolerance: float | None = None
    """Share by which a count may be higher than the accepted one; None: that which it was accepted with."""

    @property
    def checks_prefix(self) -> str:
        """The checks' root as node ids spell it: ``checks``."""
        return self.checks.relative_to(self.root).as_posix()


def load(start: Path | None = None) -> Config:
    """Read the configuration of the project that ``start`` (the working directory) lies in.

    Raises:
        UsageError: No project, a file that is no TOML, an unknown key, or a value of the wrong type.
    """
    start = _here() if start is None else start.resolve()
    folders = (start, *start.parents)
    for folder in folders:
        table = _table(folder / "pyproject.toml")
        if table is not None:
            return _config(folder, table)
    for folder in folders:
        if (folder / "checks").is_dir():
            return _config(folder, {})
    raise UsageError(
        f'no project in "{start}": wanted a pyproject.toml with [tool.guard], or a folder "checks", here or above',
        f"add to pyproject.toml:\n  {EXAMPLE}",
    )


def has_table(folder: Path) -> bool:
    """Tell whether a folder's own pyproject.toml has ``[tool.guard]``.

    Raises:
        UsageError: It cannot be read, or is no TOML.
    """
    return _table(folder / "pyproject.toml") is not None


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the working directory is gone", "cd to the project") from error


def _table(path: Path) -> dict[str, Any] | None:
    """Return ``[tool.guard]``, or None where the file does not have it."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f'"{path}" cannot be read: {error.strerror}') from error
    # most files on the way up are other projects': do not parse them, nor fail on their mistakes
    if b"guard" not in data:
        return None
    tool = _parse(data, path).get("tool")
    table = tool.get("guard") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise UsageError(f'"tool.guard" in "{path}" is no table', f"write:\n  {EXAMPLE}")
    return table


def _parse(data: bytes, path: Path) -> dict[str, Any]:
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        return cast("dict[str, Any]", toml.loads(data.decode()))
    except ValueError as error:  # TOMLDecodeError and UnicodeDecodeError
        raise UsageError(f'"{path}" is no TOML: {error}') from error


def _config(root: Path, table: dict[str, Any]) -> Config:
    for key in table:
        if key not in KEYS:
            raise UsageError(f'unknown key "{key}" in [tool.guard] of "{root / "pyproject.toml"}"', _near_key(key))
    checks, baselines = (_folder(root, key, table.get(key, key)) for key in FOLDERS)
    if checks == baselines:
        raise _wrong("baselines", "a folder of its own", table.get("baselines", "baselines"))
    rules = table.get("policy", {})
    if not isinstance(rules, dict):
        raise _wrong("policy", "a table of classes and what to do", rules)
    return Config(
        root=root,
        checks=checks,
        baselines=baselines,
        state=root / ".guard",
        alarms=_alarms(table.get("alarms", "note")),
        fixes=_fixes(table.get("fixes", "allow")),
        gpu=_gpu(table.get("gpu", "optional")),
        timeout=_timeout(table.get("timeout", 300)),
        workers=_workers(table.get("workers", "auto")),
        policy=parse(rules, POLICY, others=("reasons",)),
        reasons=_reasons(rules.get("reasons", "optional")),
        trace_cost=_switch("trace_cost", table.get("trace_cost", True)),
        trace_tolerance=_tolerance(table.get("trace_tolerance")),
    )


def _near_key(key: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, KEYS, n=1, cutoff=0.5)
    return f'did you mean "{near[0]}"?' if near else f"the keys are {', '.join(KEYS)}"


def _wrong(key: str, wanted: str, got: object) -> UsageError:
    return UsageError(f'"{key}" in [tool.guard]: wanted {wanted}, got {got!r}')


def _folder(root: Path, key: str, value: object) -> Path:
    """Return an absolute folder below the root: accept must not be led out of the project, nor write among sources."""
    if not isinstance(value, str) or not value:
        raise _wrong(key, "a folder as text", value)
    folder = Path(root, value)
    parts = folder.relative_to(root).parts if folder.is_relative_to(root) else ("..",)
    if ".." in parts or parts[:1] == (".guard",) or (key == "baselines" and not parts):
        raise _wrong(key, "a folder below the project's root", value)
    return folder


def _reasons(value: object) -> Literal["optional", "required"]:
    if value not in REASONS:
        raise UsageError(f'"reasons" in {POLICY}: wanted "optional" or "required", got {value!r}')
    return cast('Literal["optional", "required"]', value)


def _fixes(value: object) -> Literal["allow", "warn", "fail"]:
    if value not in FIXES:
        raise _wrong("fixes", '"allow", "warn" or "fail"', value)
    return cast('Literal["allow", "warn", "fail"]', value)


def _alarms(value: object) -> Literal["note", "warn", "fail"]:
    if value not in ALARMS:
        raise _wrong("alarms", '"note", "warn" or "fail"', value)
    return cast('Literal["note", "warn", "fail"]', value)


def _switch(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong(key, "true or false", value)
    return value


def _tolerance(value: object) -> float | None:
    if value is not None and not is_tolerance(value):
        raise _wrong("trace_tolerance", "a share from 0 up to 1, such as 0.01 for 1 %", value)
    return cast("float | None", value)


def is_tolerance(value: object) -> bool:
    """Tell whether something is a share by which a count may be higher."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1


def _gpu(value: object) -> Literal["optional", "unless-fork", "required"]:
    if value not in GPU:
        raise _wrong("gpu", '"optional", "unless-fork" or "required"', value)
    return cast('Literal["optional", "unless-fork", "required"]', value)


def _timeout(value: object) -> float:
    # `0 <=` is also what refuses nan
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise _wrong("timeout", "seconds, 0 for no limit", value)
    return float(value)


def _workers(value: object) -> int | Literal["auto"]:
    if value == "auto":
        return "auto"
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise _wrong("workers", '"auto" or a number from 1', value)
    return value
