"""A verb's command line: parsed into options. Runs nothing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.commands import flags, options
from guard.commands.parser import Parser
from guard.commands.verbs import VERBS
from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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


class Arguments(NamedTuple):
    """What a verb takes, and the options that they become."""

    add: Callable[[Parser], None]
    options: Callable[[argparse.Namespace, tuple[str, ...]], object]


_VERBS = {
    "check": Arguments(flags.check_flags, _check_options),
    "merge": Arguments(flags.merge_flags, _make(options.MergeOptions)),
    "accept": Arguments(flags.accept_flags, _make(options.AcceptOptions)),
    "reject": Arguments(flags.reject_flags, _make(options.RejectOptions)),
    "update": Arguments(flags.update_flags, _update_options),
    "list": Arguments(flags.list_flags, _make(options.ListOptions)),
    "show": Arguments(flags.show_flags, _make(options.ShowOptions)),
    "verify": Arguments(flags.verify_flags, _make(options.VerifyOptions)),
    "cost": Arguments(flags.cost_flags, _make(options.CostOptions)),
    "review": Arguments(flags.review_flags, _make(options.ReviewOptions)),
    "diff": Arguments(flags.diff_flags, _make(options.DiffOptions)),
    "bench": Arguments(flags.bench_flags, _make(options.BenchOptions)),
    "init": Arguments(flags.init_flags, _make(options.InitOptions)),
    "doctor": Arguments(flags.output_format, _make(options.DoctorOptions)),
    "selftest": Arguments(flags.selftest_flags, _make(options.SelftestOptions)),
}
