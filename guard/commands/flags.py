"""Which flags a verb takes; first those that several share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from guard.commands import flag_values
from guard.cost.ratio import QUADS

if TYPE_CHECKING:
    from guard.commands.parser import Parser


def ids(made: Parser, line: str) -> None:
    """Add the checks that a verb is about."""
    made.add_argument("ids", nargs="*", metavar="ID", help=f"{line}: short or node ids, paths, prefixes, * and ?")


def output_format(made: Parser, *more: str) -> None:
    """Add how the result is printed: as text, as JSON, and more."""
    known = ("text", "json", *more)
    made.add_argument("--format", type=flag_values.choice(*known), default="text", metavar="|".join(known))


def accepting(made: Parser) -> None:
    """Add what every verb takes that writes baselines."""
    made.add_argument("--in-ci", action="store_true", help="write baselines although CI is set in the environment")
    made.add_argument("--reason", default="", metavar="TEXT", help="why: recorded in the baselines' reasons.toml")


def report(made: Parser) -> None:
    """Add where a report is written."""
    made.add_argument("--report", type=Path, metavar="DIR", help="write run.json, summary.md and guard.sarif there")


def run_flags(made: Parser) -> None:
    """Add what every verb that runs checks takes."""
    ids(made, "checks to run; all without")
    made.add_argument("-k", dest="keyword", metavar="EXPR", help="only tests that match pytest's -k expression")
    made.add_argument("-m", dest="markers", metavar="MARK", help="only tests that match pytest's -m expression")
    made.add_argument("-n", dest="workers", type=flag_values.workers, metavar="N", help="worker processes, or auto")
    made.add_argument("--device", metavar="NAME", help="what guard_device gives to checks (default: cpu)")
    made.add_argument(
        "--no-trace-cost",
        dest="trace_cost",
        action="store_const",
        const="off",
        default="on",
        help="do not count what tracing does",
    )
    made.add_argument(
        "--no-replay",
        dest="replay",
        action="store_const",
        const="off",
        default="on",
        help="do not run what was captured beside its program; CI does it all the same",
    )
    made.add_argument(
        "--timeout", type=flag_values.seconds, metavar="S", help="seconds a check may take, 0 for no limit"
    )
    made.add_argument("-v", "--verbose", action="store_true", help="list the checks that hold, too")


def check_flags(made: Parser) -> None:
    """Add the flags of ``guard check``."""
    run_flags(made)
    made.add_argument(
        "--alarms",
        type=flag_values.choice("on", "full"),
        default="on",
        metavar="on|full",
        help="full: capture again and again, too",
    )
    made.add_argument(
        "--fixes",
        type=flag_values.choice("on", "off"),
        default="on",
        metavar="on|off",
        help="off: trace with torch as it is",
    )
    made.add_argument("--against", metavar="REF", help="trace the code of this commit, too: who moved what drifted?")
    output_format(made, "github")
    report(made)
    made.add_argument("--shard", type=flag_values.shard, metavar="I/N", help="run one of N parts of the checks")
    made.add_argument("--durations", type=Path, metavar="PATH", help="with --shard: a report of before to balance by")
    made.add_argument(
        "--require-device", type=flag_values.device, metavar="NAME", help="run on this device; fail where there is none"
    )
    made.add_argument("-x", "--exitfirst", action="store_true", help="stop after the first check that does not hold")
    made.add_argument("--pdb", action="store_true", help="no workers; enter the debugger where a check fails")
    made.add_argument("--junitxml", type=Path, metavar="PATH", help="write pytest's JUnit file, too")
    made.add_argument(
        "--no-cache",
        dest="cache",
        action="store_false",
        help="trace every check, also what has not moved since it held",
    )
    made.usage = "guard check [flags] [ID ...] [-- pytest's arguments]"


def merge_flags(made: Parser) -> None:
    """Add the flags of ``guard merge``."""
    made.add_argument("reports", nargs="*", type=Path, metavar="REPORT", help="folders and zip files that arrived")
    made.add_argument(
        "--expect", type=flag_values.positive, required=True, metavar="N", help="shards that were planned"
    )
    made.add_argument(
        "--expect-device",
        dest="devices",
        type=flag_values.device,
        action="append",
        default=[],
        metavar="NAME",
        help="another device whose report was planned, too",
    )
    made.add_argument(
        "--not-run",
        type=flag_values.reason,
        action="append",
        default=[],
        metavar="NAME=WHY",
        help="what was left out and why, such as gpu=fork: [tool.guard] gpu decides whether that passes",
    )
    output_format(made, "github")
    report(made)
    made.add_argument("-v", "--verbose", action="store_true", help="list the checks that hold, too")


def update_flags(made: Parser) -> None:
    """Add the flags of ``guard update``."""
    run_flags(made)
    accepting(made)


def accept_flags(made: Parser) -> None:
    """Add the flags of ``guard accept``."""
    reject_flags(made)
    made.add_argument(
        "--from", dest="origin", type=Path, metavar="PATH", help="take what another machine's check saw: folder or zip"
    )
    accepting(made)


def reject_flags(made: Parser) -> None:
    """Add the flags of ``guard reject``."""
    ids(made, "checks")
    made.add_argument("--all", dest="everything", action="store_true", help="everything that is pending")


def list_flags(made: Parser) -> None:
    """Add the flags of ``guard list``."""
    ids(made, "checks to list; all without")
    output_format(made)


def show_flags(made: Parser) -> None:
    """Add the flags of ``guard show``."""
    made.add_argument("id", metavar="ID", help="one check: short or node id, or its baseline's path")
    made.add_argument("--pending", action="store_true", help="what the last check saw, not the baseline")
    made.add_argument("--cost", action="store_true", help="what each node costs, beside it, and the totals")
    made.add_argument("--alarms", action="store_true", help="only the signs that it is wrong, a line each")
    made.add_argument(
        "--sizes",
        type=flag_values.sizes,
        default=(),
        metavar="S=N,...",
        help="with --cost: sizes for symbols, s0=4,s1=8",
    )
    output_format(made)


def verify_flags(made: Parser) -> None:
    """Add the flags of ``guard verify``."""
    made.add_argument("files", nargs="*", metavar="FILE", help="baselines and check modules to speak of; all without")
    output_format(made)


def cost_flags(made: Parser) -> None:
    """Add the flags of ``guard cost``."""
    ids(made, "checks to print; all without")
    made.add_argument("--history", action="store_true", help="from git: how the accepted values crept")
    output_format(made)


def review_flags(made: Parser) -> None:
    """Add the flags of ``guard review``."""
    ids(made, "checks to review, everything that is pending without")
    made.add_argument("--list", action="store_true", help="list what is pending, each cause once; asks nothing")
    output_format(made)
    accepting(made)


def diff_flags(made: Parser) -> None:
    """Add the flags of ``guard diff``."""
    made.add_argument(
        "ids",
        nargs="*",
        metavar="GRAPH",
        help="a file, or a check for its baseline; one check alone: what waits for it",
    )
    made.add_argument("--since", metavar="REF", help="list the baselines that this branch re-recorded since REF")
    made.add_argument("-v", "--verbose", action="store_true", help="with --since: the rows that changed, too")
    output_format(made, "markdown")


def init_flags(made: Parser) -> None:
    """Add the flags of ``guard init``."""
    made.add_argument("--gpu-runner", metavar="LABEL", help="add a job on the self-hosted runners with this label")


def bench_flags(made: Parser) -> None:
    """Add the flags of ``guard bench``."""
    ids(made, "checks to run; all without")
    made.add_argument(
        "--quads",
        type=flag_values.positive,
        default=QUADS,
        metavar="N",
        help=f"measurements of each pair (default: {QUADS})",
    )
    made.add_argument(
        "--require-same-values", action="store_true", help="fail where current computes other values, or was not run"
    )
    output_format(made)


def selftest_flags(made: Parser) -> None:
    """Add the flags of ``guard selftest``."""
    made.add_argument(
        "--aa",
        type=flag_values.positive,
        metavar="N",
        help="in place of plants: compare baselines with themselves in N fresh processes, and tell the noise",
    )
    output_format(made)
