"""Pages of diff and review: JSON is documented, and text that somebody else wrote stays text."""

from __future__ import annotations

import json
import re

import pytest

from guard.findings import Finding
from guard.report import differences, markdown, pending, since
from tests.report.test_report_json import PAGE, documented, keys

HOSTILE = "a\x1b[2J`|<b>*x*_y_[z](u)@all\n# t"
FOUND = Finding("drift", "a::b", f"structure, {HOSTILE}", ("+ ```", f"- {HOSTILE}"), drift="structure")
ROW = since.Row(f"a::{HOSTILE}", "p", "changed", (FOUND,), reason=HOSTILE)
SINCE = since.Page("main", "1a2b3c4d5e6f", (ROW,), (f"torch {HOSTILE} -> 2",))
WAITS = pending.Entry(f"a::{HOSTILE}", (FOUND,), (f"warned {HOSTILE}",))


@pytest.mark.parametrize(
    "record",
    [
        differences.as_json("a", "b", (FOUND,)),
        since.as_json(SINCE),
        pending.as_json(pending.causes([WAITS])),
    ],
    ids=["diff", "since", "review"],
)
def test_the_page_documents_every_key(record: str) -> None:
    assert keys(json.loads(record)) <= documented(PAGE)


@pytest.mark.parametrize(
    "text",
    [
        differences.as_text((FOUND,)),
        since.as_text(SINCE, verbose=True),
        pending.as_text(pending.causes([WAITS])),
    ],
    ids=["diff", "since", "review"],
)
def test_no_text_steers_the_terminal(text: str) -> None:
    assert "\x1b" not in text
    assert text.count("\\x1b[2J") >= 2


def test_markdown_stays_text() -> None:
    page = since.as_markdown(SINCE)
    outside = re.sub(r"(`+).*?[^`]\1(?!`)", "", page.partition("````")[0])  # of code spans
    assert "<b>" not in outside.replace("\\<b\\>", "")
    assert "\n# t" not in outside
    fence = next(line for line in page.splitlines() if line.startswith("````"))
    assert (fence, page.count("\n````")) == ("````diff", 2)  # the block's own three backticks do not end it
    assert markdown.code("a`b|c") == "``a`b|c``"
    assert markdown.cell("a`b|c") == "``a`b\\|c``"
    assert markdown.text("*a* | <b>") == "\\*a\\* \\| \\<b\\>"
    assert markdown.html("<a>\n") == "<code>&lt;a&gt;</code>"


def test_long_changes_fold_with_the_command_that_shows_all() -> None:
    long = Finding("drift", "a::b", "structure, +99 nodes", tuple(f"+ %{n}" for n in range(99)), drift="structure")
    page = since.as_markdown(since.Page("main", "1a2b", (since.Row("a::b", "p", "changed", (long,)),)))
    assert '# 60 more lines: guard diff --since "main" "a::b"\n```\n' in page
    assert page.count("\n+ %") == since.FOLD - 1
