from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from guard.tracers.fixes.engagement import Engagements
from guard.tracers.fixes.patch import Patch, Switch


def doubled(original: Any) -> Any:
    return lambda: original() * 2


def test_patch_is_made_once_and_undone_by_the_last_user() -> None:
    owner = SimpleNamespace(answer=lambda: 21)
    before = owner.answer
    patch = Patch(lambda: owner, "answer", doubled)
    first, second = patch.installed(), patch.installed()
    with first:
        second.__enter__()
        assert owner.answer() == 42
    # the first user left before the second, as threads do
    assert owner.answer() == 42
    second.__exit__(None, None, None)
    assert owner.answer is before


def test_patch_is_undone_on_an_error() -> None:
    owner = SimpleNamespace(answer=lambda: 21)
    with pytest.raises(KeyError), Patch(lambda: owner, "answer", doubled).installed():
        raise KeyError
    assert owner.answer() == 21


def test_switch_is_on_while_any_block_holds_it() -> None:
    switch = Switch()
    with switch.held():
        with switch.held():
            pass
        assert switch
    assert not switch


def test_engagements_reach_open_notes_only() -> None:
    engagements = Engagements()
    with engagements.opened() as first:
        pass
    with engagements.opened() as second, engagements.opened() as third:
        engagements.mark()
    assert [first.engaged, second.engaged, third.engaged] == [False, True, True]
    assert not engagements
