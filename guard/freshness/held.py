"""The checks of a manifest: what each was when it last held, which rows it depends on, and whether these still are."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.findings import Outcome, outcome_from_json, outcome_to_json
from guard.freshness.look import Look
from guard.freshness.manifest import Manifest, read
from guard.freshness.rows import IMPORTS, value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Held(NamedTuple):
    """One test that held."""

    test: str
    """Short id; a module's where it skipped itself."""
    outcomes: tuple[Outcome, ...]
    """One a call, as reports of this run show them."""
    rows: frozenset[int]
    """Of those that not every check depends on."""


class Contents(NamedTuple):
    """What the JSON of a manifest says."""

    known: tuple[str, ...]
    """Short ids of all tests of the project; empty where the run was of a part."""
    everybody: frozenset[int]
    """Rows that every check depends on."""
    collection: frozenset[int]
    """Rows that decide which checks there are, or whether a baseline is without one."""
    names: Mapping[int, frozenset[str]]
    """Row of an import root -> the modules that were asked for and could be in it."""
    held: tuple[Held, ...]


class Fresh(NamedTuple):
    """What is as it was."""

    held: tuple[Held, ...] = ()
    known: tuple[str, ...] = ()
    """Short ids of all tests of the project; empty where there may be others by now."""
    whole: bool = False
    """Every one of them is held."""
    rows: Sequence[str] = ()
    """Of the manifest; what is held names them by position."""
    everybody: frozenset[int] = frozenset()
    collection: frozenset[int] = frozenset()
    names: Mapping[int, frozenset[str]] = {}


def dump(contents: Contents) -> str:
    """Print the JSON: groups of rows that several checks share are written once."""
    groups: dict[frozenset[int], int] = {}
    held = [
        [one.test, groups.setdefault(one.rows, len(groups)), [outcome_to_json(outcome) for outcome in one.outcomes]]
        for one in contents.held
    ]
    record = {
        "known": contents.known,
        "everybody": sorted(contents.everybody),
        "collection": sorted(contents.collection),
        "names": {row: sorted(names) for row, names in contents.names.items()},
        "groups": [sorted(group) for group in groups],
        "held": held,
    }
    return json.dumps(record, separators=(",", ":"))


def load(text: str) -> Contents:
    """Read the JSON.

    Raises:
        ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError: It is not what dump prints.
    """
    record: dict[str, Any] = json.loads(text)
    groups = [frozenset(map(int, group)) for group in record["groups"]]
    return Contents(
        known=tuple(map(str, record["known"])),
        everybody=frozenset(map(int, record["everybody"])),
        collection=frozenset(map(int, record["collection"])),
        names={int(row): frozenset(names) for row, names in record["names"].items()},
        held=tuple(
            Held(str(test), tuple(map(outcome_from_json, outcomes)), groups[group])
            for test, group, outcomes in record["held"]
        ),
    )


def look(path: str, surroundings: str) -> Fresh:
    """Return what has not moved since the last run; nothing where its manifest is none, or is of other surroundings."""
    found = read(path)
    if found is None or found.surroundings != surroundings:
        return Fresh()
    try:
        contents = load(found.checks)
        seen = Look(found, path)
        return _judge(found, contents, seen)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):  # nothing that guard wrote
        return Fresh()


def _judge(found: Manifest, contents: Contents, seen: Look) -> Fresh:
    for row in tuple(seen.moved):
        if _is_harmless(found.rows[row], contents.names.get(row)):
            seen.accept(row)
    moved = seen.moved
    if moved & contents.everybody:
        return Fresh()
    seen.keep()
    held = tuple(one for one in contents.held if moved.isdisjoint(one.rows))
    known = () if moved & contents.collection else contents.known
    whole = bool(known) and set(known) <= {one.test for one in held}
    return Fresh(held, known, whole, found.rows, contents.everybody, contents.collection, contents.names)


def _is_harmless(row: str, wanted: frozenset[str] | None) -> bool:
    """Tell whether what came or went in an import root is nothing that anything asked for."""
    kind, _, was, subject = row.split("\t")
    if kind != IMPORTS or wanted is None:
        return False
    return wanted.isdisjoint(set(was.split("/")) ^ set(value(kind, subject).split("/")))


def shown(outcome: Outcome) -> Outcome:
    """Return an outcome as a later run shows it: nothing was traced or counted."""
    return replace(outcome, seconds=0.0, counted=None, unchanged=True)
