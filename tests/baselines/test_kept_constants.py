"""Bytes of large constants: kept by their digest while something waits, and read only where they are those."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from guard.baselines import constants
from guard.baselines.constants import folder, keep, missing, read
from guard.baselines.meta import Meta
from guard.baselines.pending import drop_pending, write_pending
from guard.config import load
from guard.ir.digest import digest_text, file_name

if TYPE_CHECKING:
    from pathlib import Path

    from guard.config import Config

DATA = bytes(range(256)) * 2
DIGEST = digest_text((DATA,))


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "checks").mkdir()
    return load(tmp_path)


def test_bytes_are_read_back_by_their_digest_and_git_ignores_them(config: Config) -> None:
    assert keep(config, DIGEST, DATA)
    assert keep(config, DIGEST, DATA)

    assert read(folder(config), DIGEST) == DATA
    assert missing(config, (DIGEST, "no-bytes", digest_text((b"other",)))) == (digest_text((b"other",)),)
    assert (config.state / ".gitignore").read_text() == "*\n"


def test_bytes_that_the_digest_does_not_stand_for_are_neither_kept_nor_read(config: Config) -> None:
    assert not keep(config, DIGEST, DATA[1:])
    assert not folder(config).exists()
    assert keep(config, DIGEST, DATA)
    (folder(config) / str(file_name(DIGEST))).write_bytes(DATA[1:])

    assert read(folder(config), DIGEST) is None


@pytest.mark.parametrize(
    "text", ["sha256:../../secret", "../secret", "no-bytes", "sha256:" + "0" * 31, "sha256:" + "A" * 32]
)
def test_a_digest_is_never_a_path(config: Config, text: str) -> None:
    (config.root / "secret").write_bytes(b"secret")
    folder(config).mkdir(parents=True)

    assert (file_name(text), read(folder(config), text), keep(config, text, b"secret")) == (None, None, False)


def test_too_large_is_not_kept_and_the_oldest_make_room(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "MAX_ONE", 4)
    monkeypatch.setattr(constants, "MAX_ALL", 10)
    texts = [digest_text((data,)) for data in (b"aaaa", b"bbbb", b"cccc", b"ddddd")]

    assert keep(config, texts[0], b"aaaa")
    os.utime(folder(config) / str(file_name(texts[0])), (1, 1))
    assert keep(config, texts[1], b"bbbb")
    assert keep(config, texts[2], b"cccc")
    assert not keep(config, texts[3], b"ddddd")

    assert [read(folder(config), text) for text in texts] == [None, b"bbbb", b"cccc", None]


def test_they_go_when_nothing_waits_any_more(config: Config) -> None:
    for check in ("a::b", "a::c"):
        write_pending(config, check, "text", Meta("2.13.0", None))
    keep(config, DIGEST, DATA)

    drop_pending(config, "a::b")
    assert read(folder(config), DIGEST) == DATA
    drop_pending(config, "a::c")
    assert not folder(config).exists()
