"""The action by itself: what its inputs do, what it gives to later steps, and that no input is part of its script."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.act.workflow import OWN, USES

if TYPE_CHECKING:
    from tests.act.workflow import Act, Run

pytestmark = [pytest.mark.prove, pytest.mark.timeout(300)]

ONE = ".github/workflows/one.yml"
WORKFLOW = """\
name: one
on: push
jobs:
  one:
    runs-on: ubuntu-24.04
    steps:
      - uses: actions/checkout@{checkout}
        with: {{fetch-depth: 0}}
      - uses: actions/setup-python@{python}
        with: {{python-version: "3.11"}}
      - id: check
        uses: ./
        with: {inputs}
      - if: always()
        env:
          COUNTS: ${{{{ steps.check.outputs.counts }}}}
          REPORT: ${{{{ steps.check.outputs.report }}}}
        run: |
          echo "counted ${{COUNTS}}"
          ls "${{REPORT}}" | sed 's/^/reported /'
          ls | sed 's/^/there /'
"""


def run(act: Act, **inputs: str) -> Run:
    pinned = dict(USES.findall((act.repository.top / OWN).read_text(encoding="utf-8")))
    text = WORKFLOW.format(
        checkout=pinned["actions/checkout"], python=pinned["actions/setup-python"], inputs=json.dumps(inputs)
    )
    act.repository.write(ONE, text)
    act.repository.commit("workflow")
    return act.run(ONE)


def test_a_later_step_has_counts_and_the_report(fake: Act) -> None:
    done = run(fake)

    assert done.results() == {"one": "success"}, done.story()
    said = done.said("one").splitlines()
    assert 'counted {"holds":2}' in said
    assert {"reported run.json", "reported summary.md", "reported guard.sarif"} <= set(said)


def test_paths_are_checks_one_a_line(fake: Act) -> None:
    done = run(fake, paths="it::two\n\n  it::nothing*\n")

    assert done.results() == {"one": "failure"}
    assert "it::nothing*" in done.annotations("one")[0].message

    # the line before it was taken as a check of its own
    assert "it::two" not in done.annotations("one")[0].message


@pytest.mark.parametrize("hostile", ["$(touch pwned)", "`touch pwned`", '"; touch pwned; "', "x' && touch pwned; '"])
def test_an_input_is_no_script(fake: Act, hostile: str) -> None:
    done = run(fake, paths=hostile, shard=hostile, against=hostile, device=hostile)

    assert done.results() == {"one": "failure"}
    assert "there pwned" not in done.said("one")
    assert "there model.py" in done.said("one")


def test_a_flag_among_paths_is_refused(fake: Act) -> None:
    done = run(fake, paths="--fixes=off")

    assert done.results() == {"one": "failure"}
    assert [note.message for note in done.annotations("one")] == ['paths: wanted checks, got the flag "--fixes=off"']


def test_a_cache_is_believed_or_not(fake: Act) -> None:
    done = run(fake, cache="perhaps")

    assert done.results() == {"one": "failure"}
    assert [note.message for note in done.annotations("one")] == ['cache: wanted true or false, got "perhaps"']


def test_a_device_that_is_not_there_fails(fake: Act) -> None:
    done = run(fake, device="cuda:0")

    assert done.results() == {"one": "failure"}
    assert "no CUDA device" in done.annotations("one")[0].message
    assert "counted {}" in done.said("one")
