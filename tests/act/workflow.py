"""Workflows of GitHub Actions, run on this machine by act in host mode, and what GitHub would have shown of them.

Third-party actions cannot be fetched: those that the workflows use are mapped to the stand-ins in actions/, whose
artifacts really go from job to job. The stand-in for setup-python puts a prepared python on PATH, whose pip answers
that all is installed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.project import ROOT

if TYPE_CHECKING:
    from tests.repository import Repository

OWN = ".github/workflows/own-guard.yml"
"""This project's, in the repositories of conftest.py."""
INIT = ".github/workflows/guard.yml"
"""The one that ``guard init`` wrote."""
SHARDS = ("cpu, shard 1-1", "cpu, shard 2-2")
STAND_INS = Path(__file__).parent / "actions"
USES = re.compile(r"uses: (?P<action>[\w./-]+)@(?P<ref>[0-9a-f]{40})")
RUNNERS = ("ubuntu-24.04", "self-hosted")
# The checkout is a stand-in, too, instead of act's copy of the work tree: what is not committed must not count.
OFFLINE = ("--no-skip-checkout", "--no-cache-server", "--action-offline-mode", "--pull=false")
# plugins of pytest's that happen to be installed take half a second a process
QUICK = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PREPARED = """\
#!/usr/bin/env bash
if [[ "$1 $2" == "-m pip" ]]; then echo "prepared: $*"; exit 0; fi
exec {python} "$@"
"""


@dataclass(frozen=True)
class Annotation:
    """What GitHub shows at a line, or above the log."""

    level: str
    title: str
    where: str
    """``file:line``, or "" where it has none."""
    message: str


class Run:
    """One run of a workflow, read from what ``act --json`` printed."""

    def __init__(self, code: int, log: str, artifacts: Path) -> None:
        self.code, self.log, self.artifacts = code, log, artifacts
        self.rows: list[dict[str, Any]] = [json.loads(line) for line in log.splitlines() if line.startswith("{")]

    def results(self) -> dict[str, str]:
        """Return what became of each job that ran, by its name in the log.

        One job of a matrix that fails fails all of them, for those that need it and in act's log: here, those whose
        steps did.
        """
        ended = {row["job"]: row["jobResult"] for row in self.rows if "jobResult" in row}
        failed = {row["job"] for row in self.rows if row.get("stepResult") == "failure"}
        matrix = {row["job"] for row in self.rows if row.get("matrix")}
        spared = {job for job in matrix - failed if ended.get(job) == "failure"}
        return {self._short(job): "success" if job in spared else result for job, result in ended.items()}

    def annotations(self, job: str) -> list[Annotation]:
        """Return the annotations of one job, in the order in which they were printed."""
        told = [row for row in self._of(job) if row.get("command") in ("error", "warning", "notice")]
        return [_annotation(row["raw"]) for row in told]

    def summary(self, job: str) -> str:
        """Return the step summaries of one job; act tells that of an action's step once more for the action."""
        return "".join(dict.fromkeys(row["content"] for row in self._of(job) if row.get("command") == "summary"))

    def said(self, job: str) -> str:
        """Return the log of one job: what its steps printed."""
        return "".join(row["msg"] for row in self._of(job) if row.get("raw_output"))

    def obeyed(self, job: str) -> list[str]:
        """Return the lines that GitHub's runner obeys and act prints: behind spaces, or of the runner's older kind.

        None between a stop-commands and its word.
        """
        found, word = [], None
        for row in self._of(job):
            command = row.get("command")
            word = row["arg"] if command == "stop-commands" else None if command == word else word
            if word is None and row.get("raw_output") and row["msg"].lstrip().startswith(("::", "##[")):
                found.append(row["msg"])
        return found

    def story(self) -> str:
        """Return what each job printed and was told, for the message of a test that fails."""
        jobs = dict.fromkeys(self._short(row["job"]) for row in self.rows if "job" in row)
        return "\n".join(f"== {job}\n{self.said(job)}{self.annotations(job)}" for job in jobs)

    def outputs(self, job: str) -> dict[str, str]:
        """Return what the steps of one job gave to those after them."""
        return {row["name"]: row["arg"] for row in self._of(job) if row.get("command") == "set-output"}

    def uploaded(self) -> list[str]:
        return sorted(path.name for path in self.artifacts.iterdir())

    def _of(self, job: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if self._short(row.get("job", "")) == job]

    @staticmethod
    def _short(job: str) -> str:
        return job.strip().partition("/")[2]


def _annotation(raw: str) -> Annotation:
    """Read a command as GitHub's runner does, which ends the properties at the first ``::``; act does at the last."""
    head, _, message = raw.strip().removeprefix("::").partition("::")
    level, _, listed = head.partition(" ")
    given = dict(pair.partition("=")[::2] for pair in listed.split(",") if pair)
    given = {key: _plain(value.replace("%3A", ":").replace("%2C", ",")) for key, value in given.items()}
    where = f"{given['file']}:{given['line']}" if "file" in given else ""
    return Annotation(level, given.get("title", ""), where, _plain(message))


def _plain(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


@dataclass(frozen=True)
class Act:
    """act, for one repository. Each run gets folders of its own."""

    repository: Repository
    scratch: Path

    def run(self, workflow: str, *flags: str, event: str = "push", payload: dict[str, Any] | None = None) -> Run:
        """Run a workflow of the repository at its last commit; ``flags`` are act's."""
        artifacts = self.scratch / "artifacts"
        artifacts.mkdir(parents=True)
        told = self.scratch / "event.json"
        told.write_text(json.dumps(payload or {}), encoding="utf-8")
        text = (self.repository.top / workflow).read_text(encoding="utf-8")
        own = {"STANDIN_ARTIFACTS": str(artifacts), "STANDIN_ORIGIN": str(self.repository.top)}
        options = {
            "--platform": [f"{runner}=-self-hosted" for runner in RUNNERS],
            "--local-repository": stand_ins(text),
            "--env": [f"{name}={value}" for name, value in (own | self._prepared()).items()],
        }
        given = [part for flag, values in options.items() for value in values for part in (flag, value)]
        command = [find_tool("act"), event, "--json", "--workflows", workflow, "--eventpath", str(told), *OFFLINE]
        ran = subprocess.run(
            [*command, *given, *flags],
            cwd=self.repository.top,
            env={**os.environ, "HOME": str(self.scratch / "home")},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return Run(ran.returncode, ran.stdout + ran.stderr, artifacts)

    def _prepared(self) -> dict[str, str]:
        folder = self.scratch / "bin"
        folder.mkdir()
        python = shlex.quote(sys.executable)
        _executable(folder / "python", PREPARED.format(python=python))
        _executable(folder / "guard", f'#!/usr/bin/env bash\nexec {python} -m guard "$@"\n')
        return {"STANDIN_BIN": str(folder), "STANDIN_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)} | QUICK


def stand_ins(workflow: str) -> list[str]:
    """Return act's mappings for the actions that a workflow uses; one without a stand-in fails in act, by name."""
    uses = dict.fromkeys(USES.findall(workflow))
    return [
        f"{action}@{ref}={STAND_INS / action.rpartition('/')[2]}"
        for action, ref in uses
        if (STAND_INS / action.rpartition("/")[2]).is_dir()
    ]


def find_tool(name: str) -> str:
    """Return a tool's path: of this python's environment, or of PATH."""
    places = (str(Path(sys.executable).parent), os.environ.get("PATH", ""))
    return shutil.which(name, path=os.pathsep.join(places)) or pytest.skip(f"{name} is not installed: see group dev")


def _executable(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
