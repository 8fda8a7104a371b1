"""What each verb was asked to do: frozen data that cli builds and commands read. Knows no argparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from guard.cost.ratio import QUADS

if TYPE_CHECKING:
    from pathlib import Path

Format = Literal["text", "json"]
ReportFormat = Literal["text", "json", "github"]
Workers = int | Literal["auto"]


@dataclass(frozen=True)
class CheckOptions:
    """``guard check``. None means that the configuration decides."""

    ids: tuple[str, ...] = ()
    """Selectors as typed: short ids, node ids, paths, globs. None of them is every check."""
    keyword: str | None = None
    """pytest's ``-k`` expression."""
    markers: str | None = None
    """pytest's ``-m`` expression."""
    workers: Workers | None = None
    fixes: Literal["on", "off"] = "on"
    device: str = "cpu"
    timeout: float | None = None
    """Seconds a check may take; 0 is no limit."""
    format: ReportFormat = "text"
    verbose: bool = False
    exitfirst: bool = False
    """Stop after the first check that does not hold."""
    pdb: bool = False
    """No workers, pytest's own output and debugger."""
    junitxml: Path | None = None
    """Relative to the working directory."""
    pytest_args: tuple[str, ...] = ()
    """What followed ``--``, as typed."""
    quiet: bool = False
    """No progress while it runs."""
    trace_cost: Literal["off", "on", "record"] = "on"
    """Whether to count what tracing does; ``record``: also for accept, where none was accepted yet."""
    replay: Literal["on", "off"] = "on"
    """Whether graphs are run beside their programs; in CI they always are."""
    alarms: Literal["on", "full", "seen"] = "on"
    """``full``: look for what only further captures show; ``seen``: one of these, of which the digests count."""
    hash_seed: int = 0
    """PYTHONHASHSEED of the workers."""
    against: str | None = None
    """A commit whose code is traced too, to tell who moved what drifted."""
    evidence: bool = True
    """Ask git who moved what drifted."""
    lenient: bool = False
    """Leave out ids that name no check."""
    report: Path | None = None
    """Folder for run.json, summary.md and guard.sarif, relative to the working directory."""
    shard: tuple[int, int] | None = None
    """Which part to run, from 1, and of how many."""
    durations: Path | None = None
    """A report of before, or its run.json: what each check took decides which shard runs it."""
    require_device: str | None = None
    """A kind of device without which nothing is checked."""
    cache: bool = True
    """Leave out what has not moved since it last held."""


@dataclass(frozen=True)
class AcceptOptions:
    """``guard accept``: either ids or everything."""

    ids: tuple[str, ...] = ()
    everything: bool = False
    in_ci: bool = False
    reason: str = ""
    """Why; recorded with the baselines."""
    origin: Path | None = None
    """A folder or zip file with what another machine's check saw, relative to the working directory."""


@dataclass(frozen=True)
class MergeOptions:
    """``guard merge``."""

    reports: tuple[Path, ...] = ()
    """Folders and zip files with the reports that arrived, relative to the working directory."""
    expect: int = 1
    """Shards that were planned."""
    devices: tuple[str, ...] = ()
    """Other devices whose report was planned."""
    not_run: tuple[tuple[str, str], ...] = ()
    """What was not planned, and why: ("gpu", "fork")."""
    format: ReportFormat = "text"
    report: Path | None = None
    verbose: bool = False


@dataclass(frozen=True)
class RejectOptions:
    """``guard reject``: either ids or everything."""

    ids: tuple[str, ...] = ()
    everything: bool = False


@dataclass(frozen=True)
class UpdateOptions:
    """``guard update``: a check, then an accept of what it selected."""

    check: CheckOptions
    in_ci: bool = False
    reason: str = ""


@dataclass(frozen=True)
class ListOptions:
    """``guard list``."""

    ids: tuple[str, ...] = ()
    format: Format = "text"


@dataclass(frozen=True)
class ShowOptions:
    """``guard show``."""

    id: str
    pending: bool = False
    cost: bool = False
    """What each node costs, and all of them."""
    sizes: tuple[tuple[str, int], ...] = ()
    """Of symbols, for costs: ``s0``, 4."""
    alarms: bool = False
    """The signs that it is wrong, and which of them it cannot show."""
    format: Format = "text"


@dataclass(frozen=True)
class VerifyOptions:
    """``guard verify``."""

    files: tuple[str, ...] = ()
    """Files and folders to speak of, relative to the working directory; everything without."""
    format: Format = "text"


@dataclass(frozen=True)
class CostOptions:
    """``guard cost``."""

    ids: tuple[str, ...] = ()
    history: bool = False
    """From git: how the accepted values crept."""
    format: Format = "text"


@dataclass(frozen=True)
class ReviewOptions:
    """``guard review``."""

    ids: tuple[str, ...] = ()
    """What to review, everything that is pending without; behind ``accept`` or ``reject``, what to answer so."""
    list: bool = False
    format: Format = "text"
    in_ci: bool = False
    reason: str = ""


@dataclass(frozen=True)
class DiffOptions:
    """``guard diff``."""

    ids: tuple[str, ...] = ()
    """Two graphs: files, or checks for their baselines; one check for its baseline and what waits. With ``since`` the
    checks to list."""
    since: str | None = None
    """A revision of git's: list the baselines that this branch re-recorded."""
    format: Literal["text", "json", "markdown"] = "text"
    verbose: bool = False


@dataclass(frozen=True)
class BenchOptions:
    """``guard bench``."""

    ids: tuple[str, ...] = ()
    quads: int = QUADS
    """ABBA quads that each pair of graphs is measured by."""
    require_same_values: bool = False
    """Fail where current computes other values, and where that is not known."""
    format: Format = "text"


@dataclass(frozen=True)
class InitOptions:
    """``guard init``."""

    gpu_runner: str | None = None
    """Label of a self-hosted runner with a GPU; None for no such job."""


@dataclass(frozen=True)
class DoctorOptions:
    """``guard doctor``."""

    format: Format = "text"


@dataclass(frozen=True)
class SelftestOptions:
    """``guard selftest``."""

    aa: int | None = None
    """Processes that a baseline is compared with itself in, in place of the plants."""
    format: Format = "text"
