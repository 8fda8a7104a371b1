from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.config import Config, load
from guard.errors import UsageError
from guard.policy import Rule

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, table: str) -> Path:
    (root / "pyproject.toml").write_text(f"[tool.guard]\n{table}\n")
    return root


def test_defaults(tmp_path: Path) -> None:
    config = load(write(tmp_path, ""))
    assert config == Config(
        root=tmp_path, checks=tmp_path / "checks", baselines=tmp_path / "baselines", state=tmp_path / ".guard"
    )
    assert (config.fixes, config.timeout, config.workers, config.checks_prefix) == ("allow", 300.0, "auto", "checks")


def test_every_key(tmp_path: Path) -> None:
    table = 'checks = "test/graphs"\nbaselines = "golden"\nfixes = "fail"\ntimeout = 1.5\nworkers = 3'
    config = load(write(tmp_path, table))
    assert config.checks_prefix == "test/graphs"
    assert config.baselines == tmp_path / "golden"
    assert (config.fixes, config.timeout, config.workers) == ("fail", 1.5, 3)


def test_the_policy(tmp_path: Path) -> None:
    assert (load(write(tmp_path, "")).policy, load(tmp_path).reasons) == ((), "optional")
    table = (
        '[tool.guard.policy]\nreasons = "required"\norder = "warn"\n"proxy-leak" = { by = "torch", action = "warn" }'
    )
    config = load(write(tmp_path, table))
    assert config.policy == (Rule("order", "warn"), Rule("proxy-leak", "warn", "torch"))
    assert config.reasons == "required"


def test_the_root_is_found_from_below(tmp_path: Path) -> None:
    below = write(tmp_path, "") / "checks" / "deep"
    below.mkdir(parents=True)
    assert load(below).root == tmp_path


def test_a_table_above_wins_over_a_folder_here(tmp_path: Path) -> None:
    here = write(tmp_path, "") / "package"
    (here / "checks").mkdir(parents=True)
    assert load(here).root == tmp_path


def test_a_checks_folder_is_enough(tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    assert load(tmp_path / "checks").root == tmp_path


def test_another_tool_s_broken_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[[[")
    (tmp_path / "checks").mkdir()
    assert load(tmp_path).root == tmp_path


def test_no_project_says_what_to_add(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no project in .* wanted a pyproject\.toml") as caught:
        load(tmp_path)
    assert "[tool.guard]" in str(caught.value.tip)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('check = "x"', 'unknown key "check".*\n.*did you mean "checks"'),
        ("zzz = 1", 'unknown key "zzz".*\n.*the keys are checks, baselines'),
        ("checks = 3", '"checks" .* wanted a folder as text, got 3'),
        ('checks = "../other"', "wanted a folder below the project's root, got '../other'"),
        ('checks = "/etc"', "wanted a folder below"),
        ('baselines = "."', "wanted a folder below"),
        ('baselines = ".guard/x"', "wanted a folder below"),
        ('baselines = "checks"', "wanted a folder of its own"),
        ("policy = 3", '"policy" .* wanted a table of classes'),
        ('policy = { ordr = "warn" }', 'unknown class "ordr" in .tool.guard.policy.\n.*did you mean "order"'),
        ('policy = { resons = "required" }', 'unknown class "resons".*\n.*did you mean "reasons"'),
        ('policy = { reasons = "yes" }', '"reasons" .* wanted "optional" or "required", got \'yes\''),
        ('fixes = "yes"', 'wanted "allow", "warn" or "fail", got \'yes\''),
        ("timeout = -1", "wanted seconds"),
        ("timeout = nan", "wanted seconds"),
        ("timeout = inf", "wanted seconds"),
        ("timeout = true", "wanted seconds"),
        ('timeout = "3"', "wanted seconds"),
        ("workers = 0", 'wanted "auto" or a number from 1, got 0'),
        ("workers = true", 'wanted "auto"'),
        ("workers = 1.0", 'wanted "auto"'),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load(write(tmp_path, table))


def test_broken_toml_is_a_sentence_with_the_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"pyproject\.toml\" is no TOML: .*line 2"):
        load(write(tmp_path, "checks = "))


def test_a_guard_that_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("tool.guard = 3")
    with pytest.raises(UsageError, match="is no table"):
        load(tmp_path)
