"""The page of a job: complete where it fits, cut in whole rows and sections where not, and nobody's to command."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from guard.findings import Finding, Outcome, Run, Shard
from guard.report.since import Page, Row
from guard.report.step import LIMIT, Rerecorded, as_markdown

DRIFT = Finding(
    "drift",
    "a::b",
    "structure, +1 node",
    ("  %1: f32[4]", "+ %2: f32[4]"),
    'guard accept "a::b"',
    "model.py:7",
    "structure",
    "code",
    ("since 1a2b3c: your code moved",),
    ("costs more: flops +4",),
)
ONE = Run(
    (Outcome("a::b", "n", (DRIFT,)), Outcome("a::c", "n")),
    1.0,
    environment={"torch": "2.13.0+cpu", "python": "3.11", "platform": "linux-x86_64", "device": "cpu"},
    commit="1a2b3c4d5e6f" + "0" * 28,
    notes=("gpu: not run (fork)",),
)
HOSTILE = (
    "`x` ``` </code></details><script>alert(1)</script> | @everyone https://evil.example [a](javascript:b) \r\n"
    "```\n# heading\n<img src=x>\u202e\x1b[31m ~~~ #1 www.evil.example"
)


def test_the_page_of_one_drift() -> None:
    assert as_markdown(ONE) == (
        "### guard: 1 holds, 1 drift in 1.0 s\n"
        "\n"
        "`torch 2.13.0+cpu`, `Python 3.11`, `linux-x86_64`, `cpu`, `commit 1a2b3c4d5e`\n"
        "\n"
        "| | check | what | who moved it |\n"
        "|---|---|---|---|\n"
        "| drift: structure | `a::b` | `structure, +1 node` | code |\n"
        "\n"
        "<details><summary>drift: <code>a::b</code> <code>structure, +1 node</code></summary>\n"
        "\n"
        "```diff\n"
        "  %1: f32[4]\n"
        "+ %2: f32[4]\n"
        "```\n"
        "```text\n"
        "costs more: flops +4\n"
        "since 1a2b3c: your code moved\n"
        "```\n"
        "```console\n"
        'guard accept "a::b"\n'
        "```\n"
        "</details>\n"
        "\n"
        "- `gpu: not run (fork)`\n"
    )


def test_a_run_that_holds_has_no_table() -> None:
    assert "|" not in as_markdown(Run((Outcome("a::c", "n"),)))
    assert as_markdown(Run(shard=Shard(2, 8))).startswith("### guard: shard 2 of 8: nothing in it")


def outside_of_code(page: str) -> str:
    """Return what GitHub would read as markdown or HTML: fenced blocks, code spans and code elements are out."""
    lines: list[str] = []
    fence = ""
    for line in page.splitlines():
        opened = re.match(r" {0,3}(`{3,})", line)
        if fence:
            fence = "" if opened and len(opened[1]) >= len(fence) and line.strip("` ") == "" else fence
        elif opened and "`" not in line.lstrip(" `"):  # else it is a code span
            fence = opened[1]
        else:
            lines.append(line)
    assert not fence
    text = re.sub(r"<code>[^<]*</code>", "", "\n".join(lines))
    return re.sub(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", text)


@pytest.mark.parametrize("field", ["check", "title", "lines", "fix", "evidence", "cost", "reason"])
def test_hostile_text_stays_code(field: str) -> None:
    value = (HOSTILE,) if field in ("lines", "evidence", "cost") else HOSTILE
    bad = replace(DRIFT, **{field: value})  # type: ignore[arg-type]
    run = replace(ONE, outcomes=(Outcome(bad.check, HOSTILE, (bad,), warned=(bad,)),), notes=(HOSTILE,))
    page = as_markdown(replace(run, environment={"torch": HOSTILE, "device": HOSTILE}, commit=HOSTILE))
    left = outside_of_code(page)
    for sign in ("@everyone", "https:", "www.", "<script", "<img", "# heading", "javascript", "\x1b", "\u202e"):
        assert sign not in left, (sign, left)
    assert left.count("<details>") == left.count("</details>")
    assert "\u202e" not in page
    assert "\x1b" not in page
    table = [line for line in page.splitlines() if line.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in table)


def test_hostile_text_stays_code_in_what_was_re_recorded() -> None:
    bad = replace(DRIFT, title=HOSTILE, lines=(HOSTILE,))
    row = Row(HOSTILE, HOSTILE, "changed", (bad,), reason=HOSTILE)
    page = as_markdown(Run((Outcome("a", "n"),)), Rerecorded(Page("origin/main", "ab" * 20, (row,), (HOSTILE,))))
    left = outside_of_code(page)
    for sign in ("@everyone", "https:", "www.", "<script", "<img", "# heading", "javascript"):
        assert sign not in left, (sign, left)
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_one_cause_in_many_checks_is_one_row() -> None:
    outcomes = [Outcome(f"a::{n}", "n", (replace(DRIFT, check=f"a::{n}"),)) for n in range(12)]
    page = as_markdown(Run(tuple(outcomes)))
    assert "| drift: structure | `a::0` and 11 more | `structure, +1 node` | code |" in page
    assert page.count("<details>") == 1
    assert "The same in `" in page
    assert "`and 3 more`" in page


def large(number: int) -> Run:
    rows = tuple(f"+ %{n}: f32[4] = aten.sin.default(%x) {'x' * 200}" for n in range(80))
    found = [replace(DRIFT, check=f"a::{n}", title=f"+{n} nodes", lines=(str(n), *rows)) for n in range(number)]
    return Run(tuple(Outcome(one.check, "n", (one,)) for one in found))


@pytest.mark.parametrize(("limit", "rows_fit"), [(LIMIT, True), (100_000, False)])
def test_a_page_of_any_run_fits_and_says_what_it_leaves_out(limit: int, rows_fit: bool) -> None:  # noqa: FBT001 - a row of the table above
    page = as_markdown(large(900), limit=limit)
    assert limit - 40_000 < len(page.encode()) <= limit
    rows, folds = page.count("\n| drift"), page.count("<details>")
    said = [f"The table leaves out {900 - rows} more.", f"{900 - folds} of 900 changes do not fit here: see the log."]
    assert [line in page.splitlines() for line in said] == [not rows_fit, True]
    assert (rows == 900) is rows_fit
    assert page.count("</details>") == folds > 1


def test_one_change_of_many_rows_is_cut() -> None:
    long = replace(DRIFT, lines=tuple(f"+ %{n}" for n in range(500)))
    page = as_markdown(Run((Outcome("a::b", "n", (long,)),)))
    assert "# 400 more lines in the log" in page
    assert "+ %99\n" in page
    assert "+ %100\n" not in page


def test_what_the_step_wrote_before_counts() -> None:
    assert as_markdown(large(50), limit=0) == "\n"
    assert len(as_markdown(large(50), limit=50_000).encode()) <= 50_000


def test_what_the_branch_re_recorded_is_below() -> None:
    row = Row("a::b", "baselines/a/b.graph", "changed", (DRIFT,), reason="wanted")
    page = as_markdown(ONE, Rerecorded(Page("origin/main", "ab" * 20, (row,))))
    assert "### Baselines since `origin/main`" in page
    assert "| changed | `a::b` |" in page
    many = tuple(row._replace(check=f"a::{n}", reason=str(n)) for n in range(20_000))
    page = as_markdown(ONE, Rerecorded(Page("origin/main", "ab" * 20, many)))
    assert page.endswith("The list does not fit here.\n")
    assert len(page) < 10_000


def test_where_it_is_not_known_what_was_re_recorded_the_reason_is_there() -> None:
    page = as_markdown(ONE, Rerecorded(problem='"origin/main" names no commit here; git fetch'))
    assert (
        'Which baselines this branch re-recorded is not known: `"origin/main" names no commit here; git fetch`' in page
    )
