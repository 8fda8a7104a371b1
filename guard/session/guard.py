"""The ``guard`` fixture: claims an id for each call, captures, judges, and keeps the outcomes of one test."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from guard.baselines.names import collisions, short_id
from guard.environment import INSTALL, torch_problem, torch_version
from guard.errors import GuardError, TorchMissingError, UsageError
from guard.findings import Finding, Outcome
from guard.policy import TRACE_COST, must_fail, parse, projection
from guard.session import internal
from guard.session.alarms import ALARM, Further, sounded
from guard.session.asked import Asked
from guard.session.capture import Capture
from guard.session.failure import CheckFailed
from guard.session.needs import needs
from guard.session.outcome import judged
from guard.session.replay import replayed
from guard.session.trace import count
from guard.specs import Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from guard.cost.calls import TraceCost
    from guard.findings import Replayed
    from guard.policy import Rule
    from guard.session.setting import Setting
    from guard.session.subject import Subject
    from guard.session.trace import Take
    from guard.specs import Sizes, Tracer


@dataclass
class Guard:
    """The fixture's object: one a test."""

    setting: Setting
    test: Subject
    outcomes: list[Outcome] = field(default_factory=list)
    """One a call, in their order; the plugin reads them."""
    beside: Callable[[Outcome, Any], None] | None = None
    """Runs what a call captured beside its baseline, where the plugin was asked to."""
    _meshes: Any = None

    @property
    def id(self) -> str:
        """Short id of the test, which is that of its unnamed call."""
        return short_id(self.test.nodeid, self.setting.config.checks_prefix)

    def check(  # noqa: PLR0913 - the user's vocabulary: each says one thing of one check
        self,
        program: Callable[..., Any],
        *args: Any,
        tracer: Tracer,
        name: str | None = None,
        kwargs: Mapping[str, Any] | None = None,
        keep: Sequence[str] | None = None,
        policy: Mapping[str, object] | None = None,
        trace_cost: bool | None = None,
        trace_tolerance: float | None = None,
        sizes: Sizes | None = None,
        inputs: Callable[[], Any] | tuple[Any, ...] | None = None,
        order: int | None = None,
        tolerance: tuple[float, float] | Literal["bitwise"] | None = None,
        replay: str | None = None,
        alarms: Literal["note", "warn", "fail"] | None = None,
    ) -> Capture:
        """Capture ``program(*args, **kwargs)`` and compare it with this check's baseline.

        Args:
            program: callable or module; it may be called several times, and what it disturbs is restored.
            *args: its arguments.
            tracer: how to capture it: ``MakeFx``, ``AotJoint`` or ``Compile``.
            name: tells several calls in one test apart; a second call needs one.
            kwargs: its keyword arguments.
            keep: classes of drift that count here, ``("signature", "collective", "mutation")``; all without it.
            policy: rules that come before the project's ``[tool.guard.policy]``: ``{"order": "warn"}``.
            trace_cost: whether ``guard check`` counts what tracing it does; ``[tool.guard] trace_cost`` without it.
            trace_tolerance: share by which that count may be higher than the accepted one, 0.02 for 2 %.
            sizes: programs of three sizes, so that a tracer whose work grows faster than the program is seen.
            inputs: makes the arguments of the second replay, in place of those that guard draws: a function without
                arguments, or a tuple.
            order: of the gradients that a replay compares, 0 to 2; without it 1 for ``AotJoint`` and ``Compile``.
            tolerance: of a replay, ``(rtol, atol)`` or ``"bitwise"``; torch.testing.assert_close's without it.
            replay: why this check is not replayed.
            alarms: what a sign of wrongness in its graph is; ``[tool.guard] alarms`` without it.

        Returns:
            What was captured, so that hand-written counts can follow. A missing baseline, a drift that policy may let
            pass and a higher trace cost fail the test at its end, so that they are tried whatever becomes of it.

        Raises:
            CheckFailed: any other finding.
        """
        if not callable(program):
            raise UsageError(f"guard.check: wanted a callable or a module, got {type(program).__name__}")
        if kwargs is not None and not isinstance(kwargs, Mapping):
            raise UsageError(f'guard.check: wanted kwargs={{"name": value}}, got {type(kwargs).__name__}')

        cache = self.setting.config.state / "cache"

        def job() -> Any:
            from guard.tracers.capture import Job

            return Job(tracer, program, args, dict(kwargs or {}))

        def run(check: str, fixes: str) -> Any:
            from guard.tracers.capture import capture

            return capture(job(), check=check, fixes=fixes, cache=cache)

        def take(asked: Asked, known: tuple[int, ...]) -> TraceCost | str:
            from guard.cost.trace import trace_cost

            return trace_cost(job(), fixes=self.setting.fixes, cache=cache, sizes=asked.sizes, known=known)

        def ruled() -> Asked:
            played = Replay(order, inputs, tolerance, "" if replay is None else replay)
            return Asked(_rules(policy, keep), trace_cost, trace_tolerance, sizes, played, alarms)

        def again(captured: Any, asked: Asked) -> Replayed:
            from guard.replay.faithful import replay

            return replay(job(), captured, asked.replay, fixes=self.setting.fixes, cache=cache)

        def further(captured: Any) -> Further:
            from guard.tracers.again import again, retraced

            check, fixes = captured.program.check, self.setting.fixes
            return Further(
                again(job(), check, fixes=fixes, cache=cache), retraced(job(), captured, fixes=fixes, cache=cache)
            )

        return self._check(name, run, ruled, take, again, further)

    def check_graph(  # noqa: PLR0913 - as of check
        self,
        graph_module: Any,
        *,
        eager: Callable[..., Any] | None = None,
        inputs: tuple[Any, ...] | Callable[[], Any] | None = None,
        name: str | None = None,
        keep: Sequence[str] | None = None,
        policy: Mapping[str, object] | None = None,
        order: int | None = None,
        tolerance: tuple[float, float] | Literal["bitwise"] | None = None,
        replay: str | None = None,
        alarms: Literal["note", "warn", "fail"] | None = None,
    ) -> Capture:
        """Compare a ``torch.fx.GraphModule`` that the user's own pipeline captured with this check's baseline.

        Args:
            graph_module: the graph; it takes the arguments that ``eager`` takes.
            eager: the program that it stands for; with it and ``inputs`` the graph is replayed against it.
            inputs: its arguments, or a function that makes them.
            name: as of ``check``, and so are the others.
            keep: classes of drift that count here.
            policy: rules that come before the project's.
            order: of the gradients that a replay compares; 0 without it.
            tolerance: of a replay.
            replay: why this check is not replayed.
            alarms: as of ``check``.

        Raises:
            CheckFailed: a finding.
        """
        if eager is not None and not callable(eager):
            raise UsageError(f"guard.check_graph: wanted eager= a callable, got {type(eager).__name__}")

        def run(check: str, _fixes: str) -> Any:
            from guard.tracers.capture import lower_module

            return lower_module(graph_module, check=check)

        def ruled() -> Asked:
            return Asked(
                _rules(policy, keep),
                replay=Replay(order, inputs, tolerance, replay or _unreplayed(eager, inputs)),
                alarms=alarms,
            )

        def again(captured: Any, asked: Asked) -> Replayed:
            from guard.replay.faithful import replay_module

            assert eager is not None  # noqa: S101 - _unreplayed has looked
            return replay_module(eager, captured, asked.replay)

        return self._check(name, run, ruled, None, again, lambda _captured: Further())

    def mesh(self, shape: tuple[int, ...], names: tuple[str, ...] | None = None) -> Any:
        """Return a ``DeviceMesh`` over a fake process group, which ends with this test."""
        if self._meshes is None:
            from guard.tracers.mesh import Meshes

            self._meshes = Meshes()
        return self._meshes.mesh(shape, names, device=self.setting.device)

    def close(self) -> None:
        """End what the test set up."""
        meshes, self._meshes = self._meshes, None
        if meshes is not None:
            meshes.close()

    def _check(  # noqa: PLR0913, PLR0917 - all that a program and a graph of the user's do differently
        self,
        name: str | None,
        run: Callable[[str, str], Any],
        ruled: Callable[[], Asked],
        take: Take | None,
        again: Callable[[Any, Asked], Replayed],
        further: Callable[[Any], Further],
    ) -> Capture:
        """Check one capture; without ``take`` it is a graph of the user's, which cannot be captured once more."""
        check = self._claim(name)
        started = time.perf_counter()
        with self._reported(check, started):
            _refuse_old_torch()
            asked = ruled()
            with self.setting.watch.phase("tracing"):
                captured = run(check, self.setting.fixes)
            if self.setting.closure is not None:
                self.setting.closure.ran(captured.sources)
            program = captured.program
            traced = time.perf_counter() - started
            # at once: what else is traced first might move it
            cost = (
                None if take is None or program.error is not None else count(self.setting, check, asked, take, traced)
            )
            seen = replayed(self.setting, asked, captured, lambda found: again(found, asked))
            with self.setting.watch.phase("comparing"):
                outcome = judged(self.setting, self.test, check, captured, asked, cost, seen)
            policy = asked.alarms or self.setting.config.alarms
            outcome = sounded(self.setting, outcome, captured, policy, lambda: further(captured))
            if take is not None and captured.engaged and self.setting.fixes == "on":
                with self.setting.watch.phase("tracing without fixes"):
                    bare = run(check, "off")
                outcome = replace(outcome, needs=needs(captured.engaged, program, bare.program))
            if self.beside is not None:
                with self.setting.watch.phase("running"):
                    self.beside(outcome, captured)
        self._add(replace(outcome, policy=asked.rules, seconds=time.perf_counter() - started))
        return Capture(program)

    def _claim(self, name: str | None) -> str:
        """Return the id of the next call, or fail where it would share another's baseline."""
        try:
            check = short_id(self.test.nodeid, self.setting.config.checks_prefix, name)
        except UsageError as error:
            raise self._refuse(self.id, error.problem, error.tip) from None
        refusal = self.test.refusal
        if refusal is not None:
            raise self._fail(replace(refusal, check=check))
        earlier = {outcome.check for outcome in self.outcomes}
        if check in earlier or any(check in group for group in collisions((*earlier, check))):
            tip = 'guard.check(..., name="another")' if name is None else None
            problem = "a second call without a name" if name is None else f'a second call with name="{name}"'
            raise self._refuse(check, f"{problem} would share this baseline", tip)
        return check

    def _add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        worse = next((finding for finding in outcome.findings if self._fails_now(finding, outcome)), None)
        if worse is not None:
            raise CheckFailed(worse)

    def _fails_now(self, finding: Finding, outcome: Outcome) -> bool:
        """Tell whether the test ends here; the plugin fails it at its end for what else was found."""
        if finding.kind == "drift":
            return must_fail((*outcome.policy, *self.setting.config.policy), finding.drift)
        return finding.kind not in ("missing", TRACE_COST, ALARM)

    @contextmanager
    def _reported(self, check: str, started: float) -> Iterator[None]:
        """Turn an exception of guard's own into a finding; pytest's outcomes and interrupts are no Exception."""
        try:
            yield
        except TorchMissingError as error:
            raise self._fail(_from_error("import", check, error), started) from None
        except GuardError as error:
            raise self._fail(_from_error("refused", check, error), started) from None
        except Exception as error:
            raise self._fail(internal.finding(self.setting, check, error), started) from error

    def _refuse(self, check: str, problem: str, tip: str | None) -> CheckFailed:
        return self._fail(Finding("refused", check, problem, fix=tip))

    def _fail(self, finding: Finding, started: float | None = None) -> CheckFailed:
        finding = replace(finding, source=finding.source or self.test.source)
        seconds = 0.0 if started is None else time.perf_counter() - started
        self.outcomes.append(Outcome(finding.check, self.test.nodeid, (finding,), seconds=seconds))
        return CheckFailed(finding)


def _refuse_old_torch() -> None:
    """Refuse a torch that lacks what the tracers import; one without metadata is a source build.

    Raises:
        TorchMissingError: It is too old.
    """
    version = torch_version()
    problem = None if version == "absent" else torch_problem(version)
    if problem is not None:
        raise TorchMissingError(problem, INSTALL)


def _from_error(kind: str, check: str, error: GuardError) -> Finding:
    return Finding(kind, check, error.problem, fix=error.tip)


def _unreplayed(eager: object, inputs: object) -> str:
    """Return why a graph of the user's own cannot be replayed, "" where it can."""
    if eager is not None and inputs is not None:
        return ""
    return "check_graph was not told the program: eager=program, inputs=(x,)"


def _rules(policy: Mapping[str, object] | None, keep: Sequence[str] | None) -> tuple[Rule, ...]:
    """Return a check's own rules: what its policy says of a class comes before what it keeps."""
    return (*parse(policy or {}, "policy= of guard.check"), *(projection(keep) if keep is not None else ()))
