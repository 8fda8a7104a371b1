"""What becomes of a run that was seen: printed in the format that was asked for, and written into a report's folder."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from guard.errors import GuardError
from guard.report import color, terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from guard.commands.options import ReportFormat
    from guard.config import Config
    from guard.findings import Run
    from guard.report.step import Rerecorded

RUN, SUMMARY, SARIF = "run.json", "summary.md", "guard.sarif"


class Wanted(NamedTuple):
    """How a run is to be told."""

    format: ReportFormat = "text"
    verbose: bool = False
    report: Path | None = None
    """Folder."""


@contextmanager
def annotated(wanted: Wanted) -> Iterator[None]:
    """Say an error that ends the command as an annotation, too, where a job asked for those."""
    try:
        yield
    except GuardError as error:
        if wanted.format == "github":
            from guard.report.github import command

            print(command("error", terminal.clean(error.problem), title="guard"), flush=True)
        raise


def publish(config: Config, run: Run, wanted: Wanted) -> None:
    """Write the report, then print, and add to the job's summary.

    Raises:
        GuardError: The folder, or the job's summary, cannot be written.
    """
    if wanted.report is not None or wanted.format == "github":
        _tell_job(config, run, wanted)
    if wanted.format == "json":
        from guard.report import json

        print(json.render(run), end="")
    elif wanted.format == "text":
        painted = color.wanted(sys.stdout, os.environ)
        print(terminal.render(run, color=painted, verbose=wanted.verbose), end="")


def _tell_job(config: Config, run: Run, wanted: Wanted) -> None:
    """Write what a job keeps and shows. Its imports are no others' business: a person's run starts without them."""
    import secrets

    from guard.commands.provenance import below_repository
    from guard.report import github, json, sarif
    from guard.report.step import as_markdown

    prefix, rerecorded = below_repository(config.root), _rerecorded(config, run)
    if wanted.report is not None:
        texts = {
            RUN: json.render(run),
            SUMMARY: as_markdown(run, rerecorded),
            SARIF: sarif.as_sarif(run, prefix=prefix, home=config.checks_prefix),
        }
        _write(wanted.report, texts)
    if wanted.format == "github":
        word = secrets.token_hex(16)
        print(github.as_log(run, word=word, prefix=prefix, verbose=wanted.verbose), end="", flush=True)
        _add_to_summary(run, rerecorded)


def _rerecorded(config: Config, run: Run) -> Rerecorded:
    """List what a pull request re-recorded; of a run that is split, once, where its parts are merged."""
    from guard.baselines.git import GitError
    from guard.commands.since import rerecorded_page
    from guard.report.step import Rerecorded

    base = os.environ.get("GITHUB_BASE_REF")
    if not base or run.shard is not None:
        return Rerecorded()
    try:
        return Rerecorded(rerecorded_page(config, f"origin/{base}"))
    except GuardError as error:
        tip = f"; {error.tip}" if isinstance(error, GitError) and error.tip else ""
        return Rerecorded(problem=f"{error.problem}{tip}")


def _write(folder: Path, texts: dict[str, str]) -> None:
    from guard.baselines.disk import write_whole

    try:
        for name, text in texts.items():
            write_whole(folder / name, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise GuardError(f'"{folder}" cannot be written: {error.strerror}', "--report wants a folder") from error


def _add_to_summary(run: Run, rerecorded: Rerecorded) -> None:
    """Append to the page of this step; what the step has written before counts as well."""
    from pathlib import Path

    from guard.report.step import LIMIT, as_markdown

    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("ab") as stream:
            page = as_markdown(run, rerecorded, limit=LIMIT - stream.tell())
            stream.write(page.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise GuardError(f'"{path}" cannot be written: {error.strerror}', "it is GITHUB_STEP_SUMMARY") from error
