from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError

import pytest

from guard import environment
from guard.environment import Environment, current, dump, parse

SAMPLE = Environment(torch="2.13.0+cpu", python="3.11", platform="linux-x86_64", device="cpu")


def test_the_file_round_trips_and_is_toml() -> None:
    assert parse(dump(SAMPLE)) == SAMPLE
    assert dump(SAMPLE).splitlines()[1:] == [
        'torch = "2.13.0+cpu"',
        'python = "3.11"',
        'platform = "linux-x86_64"',
        'device = "cpu"',
    ]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib arrived in 3.11")
def test_a_toml_reader_sees_the_same() -> None:
    tomllib = import_module("tomllib")  # mypy checks for 3.10, which lacks it

    assert tomllib.loads(dump(SAMPLE)) == SAMPLE.as_dict()


@pytest.mark.parametrize("text", ["", "torch = 3", 'torch = "2"', "garbage\n" + dump(SAMPLE), dump(SAMPLE) + 'x = "1"'])
def test_what_dump_did_not_write_is_not_trusted(text: str) -> None:
    assert parse(text) is None


def test_this_process_is_described_by_its_own_versions() -> None:
    now = current("cuda")
    assert now.device == "cuda"
    assert now.python == ".".join(map(str, sys.version_info[:2]))
    assert now.platform.startswith(f"{sys.platform}-")


def test_absent_torch_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(environment, "version", absent)
    assert current().torch == "absent"
