"""Compare a counted trace with the one that was accepted, and say what grew. Pure; whoever counts is ``cost/trace``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.baselines.section import Section
from guard.cost.calls import Growth

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal, TypeAlias

    from guard.cost.calls import TraceCost

    State: TypeAlias = Literal["holds", "worse", "better", "new"]

TOLERANCE = 0.01
"""FINDINGS: what ran before in a process moves a count by at most 0.03 %."""
EXPONENT = 0.15
"""By how much a growth's exponent may be higher: over three sizes, terms of lower order move it by less."""
BEND = 0.03
"""Part of the calls at the largest size that may come to lie above the line through the two others. Work that is linear
has none, to 0.2 %; a quadratic part stands in a sum with a linear one, and moves the exponent only when it is large."""
LISTED = 200
"""Functions with less than this part of all calls are not stored, so that a file is read by people."""
MOST = 5
"""Functions that a finding names."""
_WORDS = {1: "linear", 2: "quadratic", 3: "cubic"}
_NEAR = 0.25


class Judged(NamedTuple):
    """What a count is beside the accepted one."""

    state: State
    """``new`` where nothing was accepted under this environment."""
    title: str = ""
    """``+3.2 %: 12,340 calls, was 11,957 (tolerance 1 %)``; of ``holds``, nothing."""
    lines: tuple[str, ...] = ()
    """What grew most."""
    accept: Section | None = None
    """What an accept would write: what is within tolerance stays as it was. None where that is all of it."""


def section(cost: TraceCost, tolerance: float) -> Section:
    """Return a count as it is stored."""
    least = cost.calls / LISTED
    functions = (row for row in cost.functions if row[1] >= least and row[0].isprintable())
    growth = None if cost.growth is None else (tuple(cost.growth.sizes), tuple(cost.growth.calls))
    return Section(cost.calls, tolerance, tuple(sorted(functions)), cost.propagations, growth, cost.instructions)


def compare(accepted: Section | None, cost: TraceCost, tolerance: float | None) -> Judged:
    """Judge a count.

    Args:
        accepted: under the same environment, None where there is nothing.
        cost: this run's.
        tolerance: as code or configuration says it; without it the file's counts, and ``TOLERANCE`` for a new one.
    """
    if accepted is None:
        now = section(cost, TOLERANCE if tolerance is None else tolerance)
        return Judged("new", f"{_calls(now.calls)}", accept=now)
    allowed = accepted.tolerance if tolerance is None else tolerance
    now = section(cost, allowed)
    return judge(accepted, now, tuple(cost.functions))


def judge(accepted: Section, now: Section, functions: tuple[tuple[str, int], ...] | None = None) -> Judged:
    """Judge a count as it would be stored; ``functions`` are more of them than those that are."""
    measures = (_count(accepted, now, functions or now.functions), _propagated(accepted, now), _grown(accepted, now))
    moved = [measure for measure in measures if measure is not None]
    kept = _kept(accepted, now, {measure.name for measure in moved})
    state = _worst(moved, new=kept != accepted)
    said = [measure for measure in moved if measure.state == state]
    title = "; ".join(measure.title for measure in said)
    lines = tuple(line for measure in said for line in measure.lines)
    return Judged(state, title, lines, kept if kept != accepted else None)


class _Moved(NamedTuple):
    """A measure that is not within its tolerance."""

    name: str
    """Field of a section."""
    state: State
    title: str
    lines: tuple[str, ...] = ()


def _worst(moved: list[_Moved], *, new: bool) -> State:
    states = {measure.state for measure in moved}
    for state in ("worse", "better"):
        if state in states:
            return state
    return "new" if new else "holds"


def _kept(accepted: Section, now: Section, moved: set[str]) -> Section:
    """Return what an accept writes: a measure within its tolerance, or one that was not taken, stays."""
    kept = accepted
    if "calls" in moved:
        kept = kept._replace(
            calls=now.calls, tolerance=now.tolerance, functions=now.functions, instructions=now.instructions
        )
    if now.propagations is not None and ("propagations" in moved or accepted.propagations is None):
        kept = kept._replace(propagations=now.propagations)
    if now.growth is not None and ("growth" in moved or not _same_sizes(accepted, now)):
        kept = kept._replace(growth=now.growth)
    return kept


def _count(accepted: Section, now: Section, functions: tuple[tuple[str, int], ...]) -> _Moved | None:
    was, is_ = accepted.calls, now.calls
    share = (is_ - was) / was if was else float(bool(is_))
    if abs(share) <= now.tolerance:
        return None
    title = f"{_percent(share)}: {_calls(is_)}, was {was:,} (tolerance {100 * now.tolerance:g} %)"
    if share < 0:
        return _Moved("calls", "better", title)
    return _Moved("calls", "worse", title, tuple(_functions(accepted, functions)))


def _percent(share: float) -> str:
    digits = 1 if abs(share) >= 0.001 else 3  # noqa: PLR2004 - 0.0 % says nothing
    return f"{100 * share:+.{digits}f} %"


def _calls(number: int) -> str:
    return f"{number:,} call{'' if number == 1 else 's'}"


def _functions(accepted: Section, functions: tuple[tuple[str, int], ...]) -> Iterator[str]:
    """Yield a line for each function that grew most; what the file does not list had less than it lists."""
    before = dict(accepted.functions)
    unlisted = accepted.calls // LISTED
    grown = [(count - before.get(name, unlisted), name, count) for name, count in functions]
    for more, name, count in sorted(grown, key=lambda row: (-row[0], row[1]))[:MOST]:
        if more > 0:
            was = f"{before[name]:,}" if name in before else f"at most {unlisted:,}"
            yield f"+{more:,}{'' if name in before else ' or more'} {name}  {was} -> {count:,}"


def _propagated(accepted: Section, now: Section) -> _Moved | None:
    was, is_ = accepted.propagations, now.propagations
    if was is None or is_ is None or was == is_:
        return None
    state: State = "worse" if is_ > was else "better"
    noun = f"sharding propagation{'' if is_ == 1 else 's'} that no cache answered"
    return _Moved("propagations", state, f"{is_:,} {noun}, was {was:,}")


def _grown(accepted: Section, now: Section) -> _Moved | None:
    was, is_ = exponent(accepted), exponent(now)
    if was is None or is_ is None or not _same_sizes(accepted, now):
        return None
    bend = _bend(now) - _bend(accepted)
    if abs(is_ - was) <= EXPONENT and bend <= BEND:
        return None
    state: State = "worse" if is_ > was + EXPONENT or bend > BEND else "better"
    word = _word(is_) if abs(is_ - was) > EXPONENT else f"{_percent(bend)} of its calls are above a straight line"
    title = f"grows {power_text(is_)}, was {power_text(was)}{f': {word}' if word else ''}"
    return _Moved("growth", state, title, _sizes(accepted, now) if state == "worse" else ())


def _bend(found: Section) -> float:
    growth = _growth(found)
    return 0.0 if growth is None else growth.beyond_linear


def _same_sizes(accepted: Section, now: Section) -> bool:
    return accepted.growth is not None and now.growth is not None and accepted.growth[0] == now.growth[0]


def exponent(found: Section) -> float | None:
    """Return the exponent, 0 where nothing grows, None where no growth was taken."""
    growth = _growth(found)
    return None if growth is None else growth.exponent or 0.0


def _growth(found: Section) -> Growth | None:
    if found.growth is None:
        return None
    (first, second, third), (low, middle, high) = found.growth
    return Growth((first, second, third), (low, middle, high))


def _word(found: float) -> str:
    near = min(_WORDS, key=lambda power: abs(power - found))
    return _WORDS[near] if abs(near - found) <= _NEAR else ""


def power_text(power: float) -> str:
    """Print an exponent."""
    return f"as n^{power:.2f}" if power else "not at all"


def _sizes(accepted: Section, now: Section) -> tuple[str, ...]:
    assert accepted.growth is not None  # noqa: S101 - the caller has looked
    assert now.growth is not None  # noqa: S101 - the caller has looked
    rows = zip(now.growth[0], accepted.growth[1], now.growth[1], strict=True)
    return tuple(f"size {size:,}: {was:,} -> {_calls(is_)}" for size, was, is_ in rows)
