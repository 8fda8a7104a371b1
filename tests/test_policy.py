"""Rules by class and cause: how they read, which one wins, and what a wrong one is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.drift import change
from guard.errors import UsageError
from guard.policy import CAUSES, CLASSES, STRICT, Rule, choose, decided, must_fail, parse, projection

if TYPE_CHECKING:
    from collections.abc import Mapping

WHERE = "[tool.guard.policy]"
IGNORE = {"by": "torch", "action": "ignore", "reason": "nightlies"}


def test_the_classes_are_those_of_the_classifier() -> None:
    assert CLASSES == change.CLASSES


def test_every_way_to_write_a_rule() -> None:
    table = {"any": "warn", "order": "fail", "type": {"by": "torch", "action": "warn"}, "constant": [IGNORE, "fail"]}
    assert parse(table, WHERE) == (
        Rule("order", "fail"),
        Rule("type", "warn", "torch"),
        Rule("constant", "ignore", "torch", "nightlies"),
        Rule("constant", "fail"),
        Rule("any", "warn"),  # last, wherever it stands
    )


def test_without_a_rule_a_drift_fails() -> None:
    assert all(choose((), kind, by) == STRICT for kind in CLASSES for by in ("", *CAUSES))
    assert STRICT.action == "fail"


@pytest.mark.parametrize(
    ("kind", "by", "action"),
    [
        ("type", "torch", "ignore"),
        ("type", "code", "fail"),
        ("type", "both", "fail"),
        ("type", "", "warn"),
        ("order", "torch", "warn"),
        ("order", "", "fail"),
        ("signature", "torch", "warn"),
        ("signature", "code", "fail"),
    ],
)
def test_which_rule_wins(kind: str, by: str, action: str) -> None:
    table: dict[str, object] = {
        "any": {"by": "torch", "action": "warn"},
        "type": [IGNORE, {"by": "unknown", "action": "warn"}, "fail"],
    }
    assert choose(parse(table, WHERE), kind, by).action == action


def test_what_is_known_without_a_cause() -> None:
    rules = parse({"order": "warn", "type": IGNORE, "constant": {"by": "code", "action": "fail"}}, WHERE)
    assert decided(rules, "order") == Rule("order", "warn")
    assert decided(rules, "type") is None
    assert [must_fail(rules, kind) for kind in ("order", "type", "constant", "mutation")] == [False, False, True, True]


@pytest.mark.parametrize(
    ("table", "problem", "tip"),
    [
        ({"ordr": "warn"}, f'unknown class "ordr" in {WHERE}', 'did you mean "order"?'),
        ({"proxy_leak": "warn"}, 'unknown class "proxy_leak"', 'did you mean "proxy-leak"?'),
        ({"reason": "x"}, 'unknown class "reason"', "wanted one of proxy-leak, "),
        ({"order": "wrn"}, f'"order" in {WHERE}: unknown action "wrn"', 'did you mean "warn"?'),
        ({"order": {"by": "torhc", "action": "warn"}}, 'unknown cause "torhc"', 'did you mean "torch"?'),
        ({"order": {"by": "", "action": "warn"}}, 'unknown cause ""', "wanted one of torch, code, both, unknown"),
        ({"order": {"action": "warn", "bye": "x"}}, 'unknown key "bye" of "order"', 'did you mean "by"?'),
        ({"order": {"by": "torch"}}, "wanted an action, got None", "wanted one of fail, warn, ignore"),
        ({"order": {"by": ["torch"], "action": "warn"}}, "wanted a cause, got ['torch']", "wanted one of torch"),
        ({"order": 3}, "wanted an action or a table with one, got 3", "actions: fail, warn, ignore"),
        ({"order": True}, "wanted an action or a table with one, got True", "actions"),
        ({"order": [["warn"]]}, "wanted an action or a table with one, got ['warn']", "actions"),
        ({"order": []}, "wanted a rule, got an empty list", 'write: "order" = "warn"'),
        (
            {"order": "ignore"},
            "wanted a reason to ignore it, got none",
            'write: "order" = { action = "ignore", reason = "why" }',
        ),
        (
            {"order": {"by": "torch", "action": "ignore", "reason": ""}},
            "wanted a reason to ignore it",
            'write: "order" = { by = "torch", action = "ignore", reason = "why" }',
        ),
        ({"order": {"action": "ignore", "reason": "a\nb"}}, "wanted a reason of one line, got 'a\\nb'", None),
        ({"order": {"action": "ignore", "reason": 3}}, "wanted a reason of one line, got 3", None),
        ({"order": ["warn", IGNORE]}, 'the rule "ignore" by torch is never reached', "the first that matches wins"),
        ({"order": [IGNORE, IGNORE]}, 'the rule "ignore" by torch is never reached', "the first"),
    ],
)
def test_a_wrong_rule_is_told_with_the_nearest_right_one(
    table: Mapping[str, object], problem: str, tip: str | None
) -> None:
    with pytest.raises(UsageError) as caught:
        parse(table, WHERE)
    assert problem in caught.value.problem
    assert WHERE in caught.value.problem
    assert (caught.value.tip or "").startswith(tip or "")


def test_a_projection_ignores_what_is_not_kept() -> None:
    rules = projection(("signature", "mutation"))

    assert choose(rules, "mutation", "") == STRICT
    assert choose(rules, "structure", "torch").action == "ignore"
    assert choose(rules, "structure", "torch").reason == "the check keeps signature, mutation"
    assert choose((*parse({"structure": "warn"}, "here"), *rules), "structure", "").action == "warn"


@pytest.mark.parametrize(
    ("keep", "text"), [(("signatur",), 'got "signatur"'), ((), "got ()"), ("signature", "got 'signature'")]
)
def test_what_is_kept_is_a_list_of_classes(keep: tuple[str, ...], text: str) -> None:
    with pytest.raises(UsageError) as raised:
        projection(keep)

    assert text in raised.value.problem
    assert "signature" in str(raised.value.tip)
