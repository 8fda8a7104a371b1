"""pytest as guard's engine: its command line, its silence, its exit."""

from __future__ import annotations

import contextlib
import io
import json
import os
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from guard.commands import workers
from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from guard.commands.options import CheckOptions
    from guard.config import Config

MANY = "1000000"
LEFT = -1


def arguments(config: Config, options: CheckOptions, folder: Path, paths: Sequence[Path], number: int) -> list[str]:
    """Return pytest's command line; a project's own ``addopts`` come before it, so ours win."""
    timeout = config.timeout if options.timeout is None else options.timeout
    own = [
        f"--rootdir={config.root}",
        "-p",
        "xdist",  # named, for where PYTEST_DISABLE_PLUGIN_AUTOLOAD is set
        "-p",
        "timeout",
        *own_plugin(),
        f"--guard-run={folder}",
        f"--guard-root={config.root}",
        f"--guard-select={json.dumps(options.ids)}",
        f"--guard-device={options.device}",
        f"--guard-fixes={options.fixes}",
        f"--guard-trace-cost={options.trace_cost}",
        f"--guard-replay={options.replay}",
        f"--guard-alarms={options.alarms}",
        # guard's modules are imported by now; pytest would warn that it cannot rewrite their asserts
        "-W=ignore::pytest.PytestAssertRewriteWarning",
        "--continue-on-collection-errors",
        f"--timeout={timeout}",
        "--timeout-method=signal",
        "-o",
        "faulthandler_timeout=0",  # the watch has its own timer, and there is one a process
    ]
    chosen = [f"-k={options.keyword}"] if options.keyword is not None else []
    chosen += [f"-m={options.markers}"] if options.markers is not None else []
    chosen += ["--guard-lenient"] if options.lenient else []
    chosen += [f"--guard-shard={'/'.join(map(str, options.shard))}"] if options.shard is not None else []
    chosen += ["-x"] if options.exitfirst else []
    chosen += [f"--junitxml={options.junitxml.absolute()}"] if options.junitxml is not None else []
    return [*own, *_workers(options, number), *chosen, *options.pytest_args, *map(str, paths)]


def run(args: Sequence[str], recorder: object, *, shown: bool, seed: int = 0) -> tuple[int, str]:
    """Run pytest in this process; return its exit code and what it printed, "" where that was shown.

    The code is LEFT where the project's own code wanted to end this process, and would have made the run pass.
    """
    printed = io.StringIO()
    with _variables(workers.environment(seed)), contextlib.ExitStack() as stack:
        if not shown:
            stack.enter_context(contextlib.redirect_stdout(printed))
            stack.enter_context(contextlib.redirect_stderr(printed))
        stack.enter_context(_stay())
        try:
            code = int(pytest.main(list(args), plugins=[recorder]))
        except SystemExit as end:
            print(f"\n{type(end).__name__}: {end}", file=printed)
            code = LEFT
    return code, printed.getvalue()


@contextlib.contextmanager
def _stay() -> Iterator[None]:
    """Make ``os._exit`` of this process an exception: pytest imports conftests into it."""
    leave, mine = os._exit, os.getpid()

    def stay(status: int) -> NoReturn:
        if os.getpid() != mine:
            leave(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = stay
    try:
        yield
    finally:
        os._exit = leave


def check_expressions(options: CheckOptions) -> None:
    """Refuse a ``-k`` or ``-m`` that pytest cannot parse; a worker that meets one leaves xdist without workers.

    Raises:
        UsageError: with pytest's own message.
    """
    try:
        from _pytest.mark.expression import Expression
    except ImportError:  # private: then the message is xdist's
        return
    for flag, text in (("-k", options.keyword), ("-m", options.markers)):
        problem = _problem(Expression.compile, text or "")
        if problem is not None:
            raise UsageError(f'"{text}" is no expression for {flag}: {problem}')


def _problem(parse: Callable[[str], object], text: str) -> str | None:
    try:
        parse(text)
    except SyntaxError as error:
        return str(error.msg)
    except Exception as error:  # noqa: BLE001 - pytest 8's ParseError is no SyntaxError
        return str(error)
    return None


def own_plugin() -> list[str]:
    """Return the flags that load guard's plugin: none where pytest finds it by itself.

    It is named by its module only where guard is not installed: pytest refuses a module under two names.
    """
    if not any(entry.name == "guard" for entry in entry_points(group="pytest11")):
        return ["-p", "guard.pytest_plugin"]
    return ["-p", "guard"] if os.environ.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD") else []


def _workers(options: CheckOptions, number: int) -> list[str]:
    if options.pdb:
        return ["--pdb", "-n0", "--capture=no"]
    # worksteal: others run what a dead worker had left. Restarts: with xdist's default, -n1 gave up after 5 crashes
    return [f"-n{number}", "--dist=worksteal", f"--max-worker-restart={MANY}"]


@contextlib.contextmanager
def _variables(values: dict[str, str]) -> Iterator[None]:
    before: dict[str, Any] = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
