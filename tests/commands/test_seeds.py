"""Another hash seed: a check that captures another graph there has an alarm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from guard.commands import seeds
from guard.commands.options import CheckOptions
from guard.config import Config
from guard.errors import UsageError
from guard.findings import Outcome, Run

CONFIG = Config(Path("/p"), Path("/p/checks"), Path("/p/baselines"), Path("/p/.guard"))
SAID = "unstable: traced in a fresh process with PYTHONHASHSEED=1, it is another graph"


def run(**graphs: str) -> Run:
    return Run(tuple(Outcome(check, check, graph=graph) for check, graph in graphs.items()))


def test_another_graph_is_an_alarm() -> None:
    noted = seeds.compared(run(a="1", b="2", c="", d="4"), run(a="1", b="3", c="5"), CONFIG)
    failed = seeds.compared(run(b="2"), run(b="3"), replace(CONFIG, alarms="fail"))

    assert [outcome.notes for outcome in noted.outcomes] == [(), (f"alarm, {SAID}",), (), ()]
    assert [finding.title for finding in failed.outcomes[0].findings] == [SAID]


def test_the_other_run_only_captures() -> None:
    options = seeds.elsewhere(CheckOptions(alarms="full"))

    assert (options.alarms, options.hash_seed, options.trace_cost, options.replay) == ("seen", 1, "off", "off")
    with pytest.raises(UsageError, match="exclude each other"):
        seeds.elsewhere(CheckOptions(alarms="full", pdb=True))
