from __future__ import annotations

import pytest

from guard.cost.paired import Paired, from_json, line_of, to_json
from guard.cost.ratio import Quad, Ratio, bimodal, faster, measured, median, slower

MS = 1e-3


def quads(*ratios: float, seconds: float = MS) -> list[Quad]:
    return [Quad(seconds, seconds * ratio, seconds * ratio, seconds) for ratio in ratios]


def test_the_median_of_quads_is_not_moved_by_a_few() -> None:
    found = measured(quads(*[1.1] * 13, *[9.0] * 12), nodes=1)

    assert found.ratio == pytest.approx(1.1)
    assert found.baseline == pytest.approx(MS)


def test_a_steady_drift_of_the_clock_cancels() -> None:
    drifting = [Quad(*(MS * (1 + 0.1 * (4 * i + place)) for place in range(4))) for i in range(9)]

    assert measured(drifting, nodes=1).ratio == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("ratio", "baseline", "is_slower", "is_faster"),
    [
        (1.10, MS, True, False),
        (1.04, MS, False, False),
        (0.96, MS, False, False),
        (0.90, MS, False, True),
        (1.10, 100e-6, False, False),  # beyond the tolerance, below the floor
        (2.00, 100e-6, True, False),
    ],
)
def test_a_gate_needs_the_tolerance_and_the_floor(
    ratio: float,
    baseline: float,
    is_slower: bool,  # noqa: FBT001 - a table of wanted answers
    is_faster: bool,  # noqa: FBT001 - as above
) -> None:
    found = Ratio(ratio, baseline, ratio * baseline)

    assert (slower(found), faster(found)) == (is_slower, is_faster)
    assert Paired("main", ratio=found).is_slower == is_slower


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (measured(quads(*[1.5] * 25), nodes=10), None),
        (measured(quads(*[1.5] * 25), nodes=1000), "low occupancy: 2 us a node"),
        (measured(quads(*[20.0] * 25), nodes=200), None),  # a kernel became 200, which do more than be dispatched
        (measured(quads(*[1.0] * 13, *[1.5] * 12), nodes=1), "two modes: 1.00x in 13 quads, 1.50x in 12"),
        (measured(quads(1.5, 1.5), nodes=1), "only 2 quads"),
    ],
)
def test_what_may_not_fail_a_run_says_why(found: Ratio, reason: str | None) -> None:
    assert found.report_only == reason if reason is None else str(found.report_only).startswith(reason)
    assert Paired("main", ratio=found).is_slower == (reason is None)


def test_noise_around_one_value_is_one_mode() -> None:
    assert bimodal([1.0 + 0.01 * (i % 7) for i in range(25)]) is None
    assert bimodal([1.0] * 24 + [3.0]) is None  # an outlier is no mode
    assert bimodal([1.0 + 0.1 * i for i in range(25)]) is None  # wide, and without a gap


def test_median_of_even_and_odd() -> None:
    assert (median([3, 1, 2]), median([4, 1, 2, 3])) == (2, 2.5)


def test_what_was_measured_survives_json() -> None:
    whole = Paired("main", values="same values", ratio=Ratio(1.0, MS, MS, "two modes"))
    refused = Paired("main", "no run cost", "%0 = x()", 3, "baseline")

    assert from_json(to_json(whole)) == whole
    assert from_json(to_json(refused)) == refused


def test_a_node_is_found_by_its_line_over_several_lines_too() -> None:
    text = "graph\n  %1: f32[4] = a(%0)\n  %10: f32[4] = a([\n    1, 2\n  ])\n  x.y()\n"

    assert line_of(text, "%10: f32[4] = a([1, 2])") == 3
    assert line_of(text, "x.y()") == 6
    assert line_of(text, "%2: f32[4] = b()") is None
