"""A verb's command line: parsed into options. Runs nothing."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from guard.commands import options
from guard.commands.verbs import VERBS
from guard.cost.ratio import QUADS
from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Parser(argparse.ArgumentParser):
    """argparse, with its errors as UsageError and the nearest flag for an unknown one."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse would print."""
        raise UsageError(f"{self.prog}: {message}", f"{self.prog} --help")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse; flags and ids may be mixed in any order."""
        namespace, unknown = self.parse_known_intermixed_args(arguments)
        if not unknown:
            return namespace
        from difflib import get_close_matches

        flag = unknown[0].partition("=")[0]
        near = get_close_matches(flag, self._option_string_actions, n=1)
        tip = f'did you mean "{near[0]}"?' if near else f"{self.prog} --help"
        raise UsageError(f'{self.prog}: unknown {"flag" if flag.startswith("-") else "argument"} "{flag}"', tip)


def parse(name: str, arguments: Sequence[str]) -> object:
    """Return the options of a verb's command line."""
    mine, passed = _split(arguments) if name == "check" else (tuple(arguments), ())
    return _VERBS[name].options(parser(name).parse(mine), passed)


def _split(arguments: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cut at ``--``: what follows is pytest's."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    return tuple(arguments[:cut]), tuple(arguments[cut + 1 :])


def parser(name: str) -> Parser:
    """Return a verb's parser."""
    verb = VERBS[name]
    made = Parser(
        prog=f"guard {name}",
        description=verb.line,
        epilog="\n".join(("examples:", *(f"  {example}" for example in verb.examples))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _VERBS[name].add(made)
    return made


def _choice(*wanted: str) -> Callable[[str], str]:
    def choose(text: str) -> str:
        if text not in wanted:
            raise argparse.ArgumentTypeError(f"wanted {' or '.join(f'{one!r}' for one in wanted)}, got {text!r}")
        return text

    return choose


def _workers(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'wanted "auto" or a number from 1, got {text!r}')
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:  # noqa: PLR2004 - hours, already
        raise argparse.ArgumentTypeError(f"wanted a number from 1 to 10000, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"wanted seconds, 0 for none, got {text!r}")
    return value


def _sizes(text: str) -> tuple[tuple[str, int], ...]:
    pairs = [part.strip().partition("=") for part in text.split(",")]
    if not all(name and size.isdecimal() and size.isascii() for name, _equals, size in pairs):
        raise argparse.ArgumentTypeError(f"wanted sizes such as s0=4,s1=8, got {text!r}")
    return tuple((name, int(size)) for name, _equals, size in pairs)


def _shard(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not all(part.isdecimal() and part.isascii() for part in (number, of)) or not 1 <= int(number) <= int(of) <= 1000:  # noqa: PLR2004 - of machines
        raise argparse.ArgumentTypeError(f"wanted a shard such as 1/4, got {text!r}")
    return int(number), int(of)


def _reason(text: str) -> tuple[str, str]:
    name, _, reason = text.partition("=")
    if not name or not reason or not text.isprintable():
        raise argparse.ArgumentTypeError(f"wanted what and why, such as gpu=fork, got {text!r}")
    return name, reason


def _device(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*(:\d+)?", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"wanted a device such as cuda, got {text!r}")
    return text


def _ids(made: Parser, line: str) -> None:
    made.add_argument("ids", nargs="*", metavar="ID", help=f"{line}: short or node ids, paths, prefixes, * and ?")


def _format(made: Parser, *more: str) -> None:
    known = ("text", "json", *more)
    made.add_argument("--format", type=_choice(*known), default="text", metavar="|".join(known))


def _accepting(made: Parser) -> None:
    made.add_argument("--in-ci", action="store_true", help="write baselines although CI is set in the environment")
    made.add_argument("--reason", default="", metavar="TEXT", help="why: recorded in the baselines' reasons.toml")


def _run_flags(made: Parser) -> None:
    """Add what every verb that runs checks takes."""
    _ids(made, "checks to run; all without")
    made.add_argument("-k", dest="keyword", metavar="EXPR", help="only tests that match pytest's -k expression")
    made.add_argument("-m", dest="markers", metavar="MARK", help="only tests that match pytest's -m expression")
    made.add_argument("-n", dest="workers", type=_workers, metavar="N", help="worker processes, or auto")
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
    made.add_argument("--timeout", type=_seconds, metavar="S", help="seconds a check may take, 0 for no limit")
    made.add_argument("-v", "--verbose", action="store_true", help="list the checks that hold, too")


def _check_flags(made: Parser) -> None:
    _run_flags(made)
    made.add_argument(
        "--alarms",
        type=_choice("on", "full"),
        default="on",
        metavar="on|full",
        help="full: capture again and again, too",
    )
    made.add_argument(
        "--fixes", type=_choice("on", "off"), default="on", metavar="on|off", help="off: trace with torch as it is"
    )
    made.add_argument("--against", metavar="REF", help="trace the code of this commit, too: who moved what drifted?")
    _format(made, "github")
    _report(made)
    made.add_argument("--shard", type=_shard, metavar="I/N", help="run one of N parts of the checks")
    made.add_argument("--durations", type=Path, metavar="PATH", help="with --shard: a report of before to balance by")
    made.add_argument(
        "--require-device", type=_device, metavar="NAME", help="run on this device; fail where there is none"
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


def _report(made: Parser) -> None:
    made.add_argument("--report", type=Path, metavar="DIR", help="write run.json, summary.md and guard.sarif there")


def _merge_flags(made: Parser) -> None:
    made.add_argument("reports", nargs="*", type=Path, metavar="REPORT", help="folders and zip files that arrived")
    made.add_argument("--expect", type=_positive, required=True, metavar="N", help="shards that were planned")
    made.add_argument(
        "--expect-device",
        dest="devices",
        type=_device,
        action="append",
        default=[],
        metavar="NAME",
        help="another device whose report was planned, too",
    )
    made.add_argument(
        "--not-run",
        type=_reason,
        action="append",
        default=[],
        metavar="NAME=WHY",
        help="what was left out and why, such as gpu=fork: [tool.guard] gpu decides whether that passes",
    )
    _format(made, "github")
    _report(made)
    made.add_argument("-v", "--verbose", action="store_true", help="list the checks that hold, too")


def _update_flags(made: Parser) -> None:
    _run_flags(made)
    _accepting(made)


def _accept_flags(made: Parser) -> None:
    _reject_flags(made)
    made.add_argument(
        "--from", dest="origin", type=Path, metavar="PATH", help="take what another machine's check saw: folder or zip"
    )
    _accepting(made)


def _reject_flags(made: Parser) -> None:
    _ids(made, "checks")
    made.add_argument("--all", dest="everything", action="store_true", help="everything that is pending")


def _list_flags(made: Parser) -> None:
    _ids(made, "checks to list; all without")
    _format(made)


def _show_flags(made: Parser) -> None:
    made.add_argument("id", metavar="ID", help="one check: short or node id, or its baseline's path")
    made.add_argument("--pending", action="store_true", help="what the last check saw, not the baseline")
    made.add_argument("--cost", action="store_true", help="what each node costs, beside it, and the totals")
    made.add_argument("--alarms", action="store_true", help="only the signs that it is wrong, a line each")
    made.add_argument(
        "--sizes", type=_sizes, default=(), metavar="S=N,...", help="with --cost: sizes for symbols, s0=4,s1=8"
    )
    _format(made)


def _verify_flags(made: Parser) -> None:
    made.add_argument("files", nargs="*", metavar="FILE", help="baselines and check modules to speak of; all without")
    _format(made)


def _cost_flags(made: Parser) -> None:
    _ids(made, "checks to print; all without")
    made.add_argument("--history", action="store_true", help="from git: how the accepted values crept")
    _format(made)


def _review_flags(made: Parser) -> None:
    _ids(made, "checks to review, everything that is pending without")
    made.add_argument("--list", action="store_true", help="list what is pending, each cause once; asks nothing")
    _format(made)
    _accepting(made)


def _diff_flags(made: Parser) -> None:
    made.add_argument(
        "ids",
        nargs="*",
        metavar="GRAPH",
        help="a file, or a check for its baseline; one check alone: what waits for it",
    )
    made.add_argument("--since", metavar="REF", help="list the baselines that this branch re-recorded since REF")
    made.add_argument("-v", "--verbose", action="store_true", help="with --since: the rows that changed, too")
    _format(made, "markdown")


def _init_flags(made: Parser) -> None:
    made.add_argument("--gpu-runner", metavar="LABEL", help="add a job on the self-hosted runners with this label")


def _bench_flags(made: Parser) -> None:
    _ids(made, "checks to run; all without")
    made.add_argument(
        "--quads", type=_positive, default=QUADS, metavar="N", help=f"measurements of each pair (default: {QUADS})"
    )
    made.add_argument(
        "--require-same-values", action="store_true", help="fail where current computes other values, or was not run"
    )
    _format(made)


def _make(kind: Callable[..., object]) -> Callable[[argparse.Namespace, tuple[str, ...]], object]:
    """Build options whose fields are the flags' names."""
    return lambda namespace, _: kind(**_fields(namespace))


def _fields(namespace: argparse.Namespace) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in vars(namespace).items()}


def _check_options(namespace: argparse.Namespace, passed: tuple[str, ...]) -> object:
    fields = _fields(namespace)
    if fields["durations"] is not None and fields["shard"] is None:
        raise UsageError("guard check: --durations is for --shard", "guard check --shard 1/4 --durations PATH")
    return options.CheckOptions(**fields | {"device": _device_of(fields)}, pytest_args=passed)


def _device_of(fields: dict[str, Any]) -> str:
    """Return the device to run on: the one that is required, unless the other flag names one of its kind."""
    asked, required = fields["device"], fields["require_device"]
    if asked is not None and required is not None and asked.partition(":")[0] != required.partition(":")[0]:
        raise UsageError(f'guard check: --require-device "{required}" would not be used: --device is "{asked}"')
    return str(asked or required or "cpu")


def _update_options(namespace: argparse.Namespace, _: tuple[str, ...]) -> object:
    fields = _fields(namespace)
    own = {name: fields.pop(name) for name in ("in_ci", "reason")}
    check = options.CheckOptions(**fields | {"device": fields["device"] or "cpu"})
    return options.UpdateOptions(check=check, **own)


def _selftest_flags(made: Parser) -> None:
    made.add_argument(
        "--aa",
        type=_positive,
        metavar="N",
        help="in place of plants: compare baselines with themselves in N fresh processes, and tell the noise",
    )
    _format(made)


class Arguments(NamedTuple):
    """What a verb takes, and the options that they become."""

    add: Callable[[Parser], None]
    options: Callable[[argparse.Namespace, tuple[str, ...]], object]


_VERBS = {
    "check": Arguments(_check_flags, _check_options),
    "merge": Arguments(_merge_flags, _make(options.MergeOptions)),
    "accept": Arguments(_accept_flags, _make(options.AcceptOptions)),
    "reject": Arguments(_reject_flags, _make(options.RejectOptions)),
    "update": Arguments(_update_flags, _update_options),
    "list": Arguments(_list_flags, _make(options.ListOptions)),
    "show": Arguments(_show_flags, _make(options.ShowOptions)),
    "verify": Arguments(_verify_flags, _make(options.VerifyOptions)),
    "cost": Arguments(_cost_flags, _make(options.CostOptions)),
    "review": Arguments(_review_flags, _make(options.ReviewOptions)),
    "diff": Arguments(_diff_flags, _make(options.DiffOptions)),
    "bench": Arguments(_bench_flags, _make(options.BenchOptions)),
    "init": Arguments(_init_flags, _make(options.InitOptions)),
    "doctor": Arguments(_format, _make(options.DoctorOptions)),
    "selftest": Arguments(_selftest_flags, _make(options.SelftestOptions)),
}
