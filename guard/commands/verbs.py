"""The verbs that there are: what each does in a line, examples, and its function. Pure data, read by help."""

from __future__ import annotations

from typing import NamedTuple


class Verb(NamedTuple):
    """One verb."""

    line: str
    examples: tuple[str, ...]
    function: str
    """``module:name`` below guard.commands; called with the verb's options, returns the exit code."""


VERBS = {
    "check": Verb(
        "Trace every check and compare it with its baseline. Writes no baseline.",
        (
            "guard check",
            'guard check "nested_trace::expand[real-fake]" -v',
            "guard check -k expand --fixes off",
            "guard check --against main",
            "guard check --shard 1/4 --report report --format github",
        ),
        "check:check",
    ),
    "merge": Verb(
        "Join the reports of a run's shards, and demand every one that was planned.",
        (
            "guard merge reports --expect 4",
            "guard merge reports/* --expect 4 --expect-device cuda --report merged --format github",
            "guard merge reports --expect 4 --not-run gpu=fork",
        ),
        "merge:merge",
    ),
    "accept": Verb(
        "Make what the last check saw the baseline.",
        ('guard accept "nested_trace::expand[real-fake]"', "guard accept --all", "guard accept --from pending.zip"),
        "accept:accept",
    ),
    "reject": Verb(
        "Forget what the last check saw; the baseline stays.",
        ('guard reject "nested_trace::expand[real-fake]"', "guard reject --all"),
        "reject:reject",
    ),
    "update": Verb(
        "Check, then accept what was selected and changed.",
        ("guard update nested_trace", "guard update -k expand"),
        "update:update",
    ),
    "list": Verb(
        "List the checks that have a baseline or wait to be accepted.",
        ("guard list", "guard list dtensor --format json"),
        "list:list_checks",
    ),
    "show": Verb(
        "Print a check's baseline.",
        ('guard show "nested_trace::expand[real-fake]"', 'guard show "nested_trace::expand[real-fake]" --cost'),
        "show:show",
    ),
    "verify": Verb(
        "Say whether the baselines are fit to be committed: texts, places, checks, staging. Imports no torch.",
        ("guard verify", "guard verify baselines/nested_trace", "guard verify --format json"),
        "verify:verify",
    ),
    "cost": Verb(
        "Print the accepted trace costs, or how they crept from commit to commit.",
        ("guard cost", "guard cost --history", 'guard cost "nested_trace::expand[real-fake]"'),
        "cost:cost",
    ),
    "review": Verb(
        "Step through what waits to be accepted.",
        ("guard review", "guard review --list --format json", 'guard review accept "nested_trace::expand[real-fake]"'),
        "review:review",
    ),
    "diff": Verb(
        "Say what moved between two graphs, or which baselines this branch re-recorded.",
        (
            "guard diff before.graph after.graph",
            'guard diff "nested_trace::expand[real-fake]"',
            "guard diff --since main",
        ),
        "diff:diff",
    ),
    "bench": Verb(
        "Run what drifted against its baseline, side by side: same values, and in what time?",
        (
            "guard bench",
            'guard bench "nested_trace::expand[real-fake]"',
            "guard bench --quads 50",
            "guard bench --require-same-values",
        ),
        "bench:bench",
    ),
    "init": Verb(
        "Write what a repository needs for guard: configuration, a first check, hooks, a workflow; keep what is there.",
        ("guard init", "guard init --gpu-runner gpu"),
        "init:init",
    ),
    "doctor": Verb(
        "Say what this torch is, and which of its defects guard mends while tracing.",
        ("guard doctor", "guard doctor --format json"),
        "doctor:doctor",
    ),
    "selftest": Verb(
        "Plant known defects in a project of its own, and demand that check finds each.",
        ("guard selftest", "guard selftest --aa 20", "guard selftest --format json"),
        "selftest:selftest",
    ),
}
