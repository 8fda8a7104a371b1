from __future__ import annotations

from dataclasses import replace

import pytest

from guard.drift.cause import Evidence, lines, verdict
from guard.environment import Environment

THEN = Environment("2.13.0+cpu", "3.11", "linux-x86_64", "cpu")
BUMPED = replace(THEN, torch="2.14.1+cpu")
BASE = Evidence("0123456789abcdef", now=THEN, then=THEN, sources=("checks/test_it.py", "model.py"))
COMMAND = 'guard check --against 0123456789 "it::one"'


@pytest.mark.parametrize(
    ("change", "by", "told"),
    [
        (
            {"moved": ("model.py",)},
            "code",
            ("since 0123456789: torch 2.13.0+cpu as then; 1 of 2 sources changed: model.py - your code moved",),
        ),
        (
            {"now": BUMPED},
            "torch",
            ("since 0123456789: torch 2.13.0+cpu -> 2.14.1+cpu; none of 2 sources changed - torch moved",),
        ),
        (
            {"now": BUMPED, "moved": ("model.py",)},
            "",
            (
                "since 0123456789: torch 2.13.0+cpu -> 2.14.1+cpu; 1 of 2 sources changed: model.py",
                f"who moved it? {COMMAND}",
            ),
        ),
        (
            # a trace may depend on what it did not run
            {"now": BUMPED, "others": ("sizes.py",)},
            "",
            (
                (
                    "since 0123456789: torch 2.13.0+cpu -> 2.14.1+cpu; none of 2 sources changed, "
                    "1 other Python file did: sizes.py"
                ),
                f"who moved it? {COMMAND}",
            ),
        ),
        (
            {"others": ("a.py", "b.py", "c.py", "d.py", "e.py", "f.py")},
            "",
            (
                (
                    "since 0123456789: torch 2.13.0+cpu as then; none of 2 sources changed, 6 other Python files did: "
                    "a.py, b.py, c.py, d.py and 2 more"
                ),
                f"who moved it? {COMMAND}",
            ),
        ),
        (
            {},
            "",
            (
                "since 0123456789: torch 2.13.0+cpu as then; none of 2 sources changed",
                "neither moved: another package, guard itself, or a program that does not trace the same twice",
            ),
        ),
        (
            {"now": replace(THEN, python="3.12"), "moved": ("model.py",)},
            "",
            (
                "since 0123456789: torch 2.13.0+cpu as then, python 3.11 -> 3.12; 1 of 2 sources changed: model.py",
                f"who moved it? {COMMAND}",
            ),
        ),
        (
            {"now": replace(BUMPED, device="cuda"), "sources": ("model.py",)},
            "",
            (
                "since 0123456789: torch 2.13.0+cpu -> 2.14.1+cpu, device cpu -> cuda; its source did not change",
                f"who moved it? {COMMAND}",
            ),
        ),
        (
            {"then": None, "moved": ("model.py",)},
            "",
            (
                "since 0123456789: torch 2.13.0+cpu now, then not recorded; 1 of 2 sources changed: model.py",
                f"who moved it? {COMMAND}",
            ),
        ),
        (
            {"committed": False, "moved": ("model.py",)},
            "",
            (
                (
                    "the baseline is not committed; since HEAD (0123456789): torch 2.13.0+cpu as then; "
                    "1 of 2 sources changed: model.py"
                ),
                f"who moved it? {COMMAND}",
            ),
        ),
        (
            {"shallow": True, "now": BUMPED},
            "",
            (
                "since 0123456789, where history ends: torch 2.13.0+cpu -> 2.14.1+cpu; none of 2 sources changed",
                "a shallow clone has no more history: git fetch --unshallow",
            ),
        ),
    ],
    ids=[
        "code",
        "torch",
        "mixed",
        "torch and a file that was not run",
        "only files that were not run",
        "nothing",
        "python",
        "device",
        "no environment.toml",
        "not committed",
        "shallow",
    ],
)
def test_what_changed_and_what_follows(change: dict[str, object], by: str, told: tuple[str, ...]) -> None:
    evidence = replace(BASE, **change)  # type: ignore[arg-type]
    assert verdict(evidence) == by
    assert lines(evidence, COMMAND) == told
