from __future__ import annotations

import re

from guard.tracers.errors.chain import Link
from guard.tracers.errors.fingerprint import fingerprint
from guard.tracers.errors.user_line import UserLine

LINE = UserLine("checks/test_a.py:3", "return x.item()", exact=True)


def link(text: str = "no", types: tuple[str, ...] = ("RuntimeError", "Exception"), operator: str = "") -> Link:
    return Link(types, text, (), (), operator, implicit=False)


def test_is_twelve_hex_digits() -> None:
    assert re.fullmatch("[0-9a-f]{12}", fingerprint("data-dependent", link(), LINE))


def test_is_the_same_in_every_release_of_guard() -> None:
    assert fingerprint("data-dependent", link(), LINE) == "fe143acb31d0"


def test_rewording_and_a_moved_line_do_not_change_it() -> None:
    reworded = link("cannot read aten.item.default while tracing", ("torch.NewError", "RuntimeError"))
    moved = UserLine("checks/renamed.py:99", "return x.item()", exact=True)
    assert fingerprint("data-dependent", reworded, moved) == fingerprint("data-dependent", link(), LINE)


def test_another_class_line_or_operator_changes_it() -> None:
    seen = {
        fingerprint("data-dependent", link(), LINE),
        fingerprint("fake-constant", link(), LINE),
        fingerprint("data-dependent", link(), UserLine("checks/test_a.py:3", "return y.item()", exact=True)),
        fingerprint("data-dependent", link(operator="aten.nonzero.default"), LINE),
        fingerprint("data-dependent", link(), None),
    }
    assert len(seen) == 5


def test_named_operator_counts_only_without_an_exact_line() -> None:
    whole = UserLine("checks/test_a.py:1", "def f(x):", exact=False)
    one, two = link("no rule for aten.add.Tensor"), link("no rule for aten::mul.Tensor")
    assert fingerprint("sharding-propagation", one, LINE) == fingerprint("sharding-propagation", two, LINE)
    assert fingerprint("sharding-propagation", one, whole) != fingerprint("sharding-propagation", two, whole)
    assert fingerprint("sharding-propagation", one, None) != fingerprint("sharding-propagation", two, None)


def test_program_and_other_tell_apart_by_built_in_class() -> None:
    value, key = link(types=("ValueError", "Exception")), link(types=("KeyError", "LookupError"))
    derived = link(types=("torch.fx.Broken", "ValueError"))
    for kind in ("program", "other"):
        assert fingerprint(kind, value, LINE) != fingerprint(kind, key, LINE)
        assert fingerprint(kind, value, LINE) == fingerprint(kind, derived, LINE)
    assert fingerprint("unsupported", value, LINE) == fingerprint("unsupported", key, LINE)
