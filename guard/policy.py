"""What a drift means to this project: rules by class and by cause. Pure; knows no graph, no file and no run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# guard.drift.change has them too, with what each means: a test holds the two together. They stand here as well, because
# the configuration is read by verbs that load nothing of graphs.
CLASSES = (
    "proxy-leak",
    "specialization",
    "signature",
    "mutation",
    "collective",
    "type",
    "constant",
    "structure",
    "order",
)
ANY = "any"  # in place of a class
TRACE_COST = "trace-cost"  # a finding's kind that has rules as a class of drift has, and that ``any`` leaves alone
CAUSES = ("torch", "code", "both", "unknown")
ACTIONS = ("fail", "warn", "ignore")
KEYS = ("action", "by", "reason")


class Rule(NamedTuple):
    """One line of a policy."""

    kind: str
    """A class, ``any`` or ``trace-cost``."""
    action: str
    """One of ACTIONS."""
    by: str = ""
    """One of CAUSES; "" is whatever the cause."""
    reason: str = ""


STRICT = Rule(ANY, "fail")


def parse(table: Mapping[str, object], where: str, others: tuple[str, ...] = ()) -> tuple[Rule, ...]:
    """Read ``{class: action}``, where an action may be a table with by, action and reason, or a list of such.

    Args:
        table: as TOML or the caller of ``guard.check`` gives it.
        where: what messages call it, ``[tool.guard.policy]``.
        others: keys that are no classes and not read here.

    Returns:
        The rules of classes in their order, then those of ``any``: the first that matches wins.

    Raises:
        UsageError: An unknown class, cause, action or key, an ignore without a reason, a rule that is never reached.
    """
    known = (*CLASSES, ANY, TRACE_COST, *others)
    for kind in table:
        if kind not in known:
            raise UsageError(f'unknown class "{kind}" in {where}', _near(str(kind), known))
    rules = [rule for kind, value in table.items() if kind not in others for rule in _rules(kind, value, where)]
    return tuple(sorted(rules, key=lambda rule: rule.kind == ANY))


def projection(keep: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules that ignore every class but those that a check keeps.

    Raises:
        UsageError: A name that is no class, or none at all.
    """
    unknown = [kind for kind in keep if kind not in CLASSES]
    if isinstance(keep, str) or unknown or not keep:
        got = repr(keep) if isinstance(keep, str) or not keep else f'"{unknown[0]}"'
        tip = _near(unknown[0], CLASSES) if unknown and not isinstance(keep, str) else 'keep=("signature", "mutation")'
        raise UsageError(f"keep= wants classes of drift, got {got}", tip)
    reason = f"the check keeps {', '.join(keep)}"
    return tuple(Rule(kind, "ignore", reason=reason) for kind in CLASSES if kind not in keep)


def choose(rules: Sequence[Rule], kind: str, by: str) -> Rule:
    """Return the first rule that speaks of a drift of this class and cause ("" is unknown); without one it fails."""
    cause = by or "unknown"
    kinds = (kind,) if kind == TRACE_COST else (kind, ANY)
    matching = (rule for rule in rules if rule.kind in kinds and rule.by in ("", cause))
    return next(matching, STRICT)


def decided(rules: Sequence[Rule], kind: str) -> Rule | None:
    """Return the rule that holds whatever the cause turns out to be, None where the cause makes a difference."""
    chosen = {choose(rules, kind, cause) for cause in CAUSES}
    return chosen.pop() if len(chosen) == 1 else None


def must_fail(rules: Sequence[Rule], kind: str) -> bool:
    """Tell whether a drift of this class fails whatever the cause turns out to be."""
    return all(choose(rules, kind, cause).action == "fail" for cause in CAUSES)


def _near(word: str, known: Sequence[str]) -> str:
    """Return the tip for a word that is none of those known."""
    from difflib import get_close_matches  # 3 ms that a right policy need not pay

    close = get_close_matches(word, known, n=1, cutoff=0.5)
    return f'did you mean "{close[0]}"?' if close else f"wanted one of {', '.join(known)}"


def _rules(kind: str, value: object, where: str) -> Iterator[Rule]:
    values = value if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise UsageError(f'"{kind}" in {where}: wanted a rule, got an empty list', f'write: "{kind}" = "warn"')
    seen: set[str] = set()
    for one in values:
        rule = _rule(kind, one, where)
        if seen & {"", rule.by}:
            raise UsageError(
                f'"{kind}" in {where}: the rule {_shown(rule)} is never reached', "the first that matches wins"
            )
        seen.add(rule.by)
        yield rule


def _rule(kind: str, value: object, where: str) -> Rule:
    table = {"action": value} if isinstance(value, str) else value
    if not isinstance(table, dict):
        raise UsageError(
            f'"{kind}" in {where}: wanted an action or a table with one, got {value!r}',
            f"actions: {', '.join(ACTIONS)}",
        )
    for key in table:
        if key not in KEYS:
            raise UsageError(f'unknown key "{key}" of "{kind}" in {where}', _near(str(key), KEYS))
    action = _word(table.get("action"), "action", ACTIONS, kind, where)
    if kind == TRACE_COST and "by" in table:
        raise UsageError(f'"{kind}" in {where}: counts are compared under one torch only, so it has no "by"')
    by = _word(table["by"], "cause", CAUSES, kind, where) if "by" in table else ""
    reason = table.get("reason", "")
    if not isinstance(reason, str) or not (reason.isprintable() and reason == reason.strip()):
        raise UsageError(f'"{kind}" in {where}: wanted a reason of one line, got {reason!r}')
    if action == "ignore" and not reason:
        example = f'"{kind}" = {{ {f"by = {by!r}, " if by else ""}action = "ignore", reason = "why" }}'.replace(
            "'", '"'
        )
        raise UsageError(f'"{kind}" in {where}: wanted a reason to ignore it, got none', f"write: {example}")
    return Rule(kind, action, by, reason)


def _word(value: object, noun: str, known: Sequence[str], kind: str, where: str) -> str:
    if isinstance(value, str) and value in known:
        return value
    got = f'unknown {noun} "{value}"' if isinstance(value, str) else f"wanted {_article(noun)}, got {value!r}"
    raise UsageError(f'"{kind}" in {where}: {got}', _near(value if isinstance(value, str) else "", known))


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _shown(rule: Rule) -> str:
    return f'"{rule.action}"{f" by {rule.by}" if rule.by else ""}'
