"""What ``guard bench`` found, as text and as JSON. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.baselines.names import quoted
from guard.cost.paired import to_json
from guard.cost.ratio import faster
from guard.report.json import dump
from guard.report.terminal import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.cost.paired import Benched, Paired
    from guard.cost.ratio import Ratio


def as_text(found: Sequence[Benched]) -> str:
    """Print what ran, what did not and why, and a line that counts."""
    if not found:
        return "nothing to run: there is no baseline and nothing is pending\n"
    lines = [line for one in found for line in _lines(one)]
    return clean("\n".join([*lines, _summary(found)])) + "\n"


def as_json(found: Sequence[Benched], exit_code: int) -> str:
    """Print every check; docs/json.md documents the keys."""
    return dump({"exit_code": exit_code, "checks": [_record(one) for one in found]})


def as_rounds(found: Sequence[Benched]) -> str:
    """Print what ``--guard-bench`` ran: nothing of it fails the run."""
    return clean("".join(f"{line}\n" for one in found for line in _rounds(one)))


def _rounds(one: Benched) -> Iterator[str]:
    name = quoted(one.check)
    if one.problem is not None:
        yield f"{name}: no run cost: {one.problem}"
    for pair in one.pairs:
        graph = f" {pair.graph}" if len(one.pairs) > 1 else ""
        holds = () if one.drifts or pair.problem else ("holds",)
        yield f"{name}{graph}: {', '.join((*holds, *_parts(one, pair)))}"
        if pair.difference is not None:
            yield f"  {pair.difference}"
        if pair.ratio is not None:
            only = "" if pair.ratio.report_only is None else f", report only: {pair.ratio.report_only}"
            yield f"  {_time(pair.ratio.baseline)} -> {_time(pair.ratio.current)} a call{only}"
        yield from _kernels(pair)


def _record(one: Benched) -> dict[str, Any]:
    pairs = [{**to_json(pair), "slower": pair in one.slower} for pair in one.pairs]
    return {"check": one.check, "idle": one.idle, "problem": one.problem, "drifts": list(one.drifts), "graphs": pairs}


def _lines(one: Benched) -> Iterator[str]:
    name = quoted(one.check)
    if one.idle:
        yield f"{name}: nothing pending"
    if one.problem is not None:
        yield f"{name}: no run cost: {one.problem}"
    for pair in one.pairs:
        graph = f" {pair.graph}" if len(one.pairs) > 1 else ""
        yield f"{name}{graph}: {', '.join(_parts(one, pair))}"
        yield from _details(one, pair)


def _parts(one: Benched, pair: Paired) -> Iterator[str]:
    if one.drifts:
        yield f"{', '.join(one.drifts)} drift"
    if pair.problem is not None:
        yield pair.problem
        return
    yield pair.values
    if pair.ratio is not None:
        yield f"{pair.ratio.ratio:.2f}x"


def _details(one: Benched, pair: Paired) -> Iterator[str]:
    if pair.where is not None:
        file = one.path if pair.side == "baseline" else "pending"
        yield f"  {file}{'' if pair.line is None else f':{pair.line}'}: {pair.where}"
    if pair.difference is not None:
        yield f"  {pair.difference}"
    if pair.ratio is not None:
        yield from _times(one, pair, pair.ratio)
    yield from _kernels(pair)


def _times(one: Benched, pair: Paired, ratio: Ratio) -> Iterator[str]:
    times = f"{_time(ratio.baseline)} -> {_time(ratio.current)} a call"
    if pair in one.slower:
        yield f"  slower: {times}, confirmed in a fresh process"
        yield f"  intended? guard accept {quoted(one.check)}"
    elif pair.is_slower:
        yield f"  {times}, but a fresh process did not confirm it"
    elif ratio.report_only is not None:
        yield f"  {times}, report only: {ratio.report_only}"
    elif faster(ratio):
        yield f"  faster: {times}; to keep it: guard accept {quoted(one.check)}"


def _kernels(pair: Paired) -> Iterator[str]:
    if pair.kernels is not None:
        was, now = pair.kernels
        yield f"  {was} kernels a call, as before" if was == now else f"  {was} -> {now} kernels a call"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def _summary(found: Sequence[Benched]) -> str:
    ran = [pair for one in found for pair in one.pairs if pair.problem is None]
    not_run = sum(one.problem is not None for one in found)
    not_run += sum(pair.problem is not None for one in found for pair in one.pairs)
    slower = sum(len(one.slower) for one in found)
    differ = sum(pair.difference is not None for pair in ran)
    idle = sum(one.idle for one in found)
    counts = (("slower", slower), ("with other values", differ), ("not run", not_run), ("with nothing pending", idle))
    return ", ".join([f"{len(ran)} run", *(f"{count} {what}" for what, count in counts if count)])
