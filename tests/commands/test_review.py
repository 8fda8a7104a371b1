"""guard review: what it lists, and what it does with each answer, through a real pseudo-terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from guard.__main__ import main
from guard.baselines import reasons
from guard.baselines.disk import write_whole
from guard.baselines.meta import Meta
from guard.baselines.pending import digest, pending_path, write_pending
from guard.baselines.store import Store
from guard.config import Config, load
from tests.commands.test_diff import graph
from tests.project import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pexpect = pytest.importorskip("pexpect", reason="pseudo-terminals are POSIX's")

ASKED = r"\[q\]uit\? "


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """A project in which four checks moved alike, one otherwise, one is new and one is gone."""
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "test_a.py").write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.guard]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    config = load(tmp_path)
    for check, op in {**dict.fromkeys(("a::m1", "a::m2", "a::m3", "a::m4"), "sin"), "a::one": "cos"}.items():
        write_whole(Store(config).path(check), graph(check).encode())
        waits(config, check, graph(check, op))
    waits(config, "a::new", graph("a::new"))
    write_whole(Store(config).path("a::gone"), graph("a::gone").encode())
    waits(config, "a::gone", None)
    return config


def waits(config: Config, check: str, text: str | None, **meta: Any) -> None:
    before = Store(config).read(check)
    bound = Meta("2.13.0", None if before is None else digest(before), **meta)
    write_pending(config, check, text, bound if text is not None else Meta(bound.torch, bound.baseline, "remove"))


def ops(config: Config) -> dict[str, str]:
    """What the baselines hold: id -> operation."""
    found = {check: (Store(config).read(check) or b"").decode() for check in Store(config).ids()}
    return {check: text.partition("aten.")[2].partition(".")[0] for check, text in found.items()}


def pending(config: Config) -> list[str]:
    folder = config.state / "pending" / "a"
    return sorted(path.stem.removesuffix(".graph") for path in folder.glob("*.json")) if folder.exists() else []


BEFORE = {"a::gone": "neg", "a::m1": "neg", "a::m2": "neg", "a::m3": "neg", "a::m4": "neg", "a::one": "neg"}
WAITING = ["gone", "m1", "m2", "m3", "m4", "new", "one"]


@pytest.fixture
def start(config: Config) -> Iterator[Any]:
    """Start a review on a terminal of its own."""
    started = []

    def spawn(*arguments: str, **environ: str) -> Any:
        env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{':'.join(sys.path)}", "TERM": "xterm", "NO_COLOR": "1"}
        child = pexpect.spawn(
            sys.executable,
            ["-m", "guard", "review", *arguments],
            cwd=str(config.root),
            env=env | environ,
            encoding="utf-8",
            timeout=60,
            dimensions=(40, 160),
        )
        started.append(child)
        return child

    yield spawn
    for child in started:
        child.close(force=True)


def answer(child: Any, key: str) -> str:
    """Wait for a question, answer it, return what was shown before."""
    child.expect(ASKED)
    child.send(key)
    return str(child.before)


def ended(child: Any, code: int) -> str:
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == code
    return str(child.before).replace("\r\n", "\n")


def test_accept_one_reject_one_skip_one_quit(config: Config, start: Any) -> None:
    child = start()
    shown = answer(child, "a")
    assert "(1/4) drift:" in shown
    assert '"a::m1": ' in shown
    assert "the same in" in shown
    assert "A R S for all 4" in shown
    after = answer(child, "r")
    assert 'accepted: "a::m1"' in after
    assert "drift:" not in after  # the cause is shown once
    assert '"a::m2": ' in after
    assert '"a::m3": ' in answer(child, "s")
    assert "[s]kip, [g]raph" in answer(child, "q")  # one is left: there are no others to answer for
    end = ended(child, 0)
    assert "1 accepted, 1 rejected, 5 left as they were\ngit add -- baselines/a/m1.graph baselines/environment" in end
    assert ops(config) == BEFORE | {"a::m1": "sin"}
    assert pending(config) == ["gone", "m3", "m4", "new", "one"]


def test_all_of_one_cause(config: Config, start: Any) -> None:
    child = start()
    answer(child, "s")
    answer(child, "A")
    assert 'drift: "a::one" - ' in answer(child, "R")  # no others: of this one
    assert 'missing: "a::new" - ' in answer(child, "a")
    assert 'orphan: "a::gone" - a baseline without a check: to be removed' in answer(child, "a")
    assert "5 accepted, 1 rejected, 1 left as they were" in ended(child, 0)
    removed = {check: op for check, op in BEFORE.items() if check != "a::gone"}
    assert ops(config) == removed | dict.fromkeys(("a::m2", "a::m3", "a::m4"), "sin") | {"a::new": "neg"}
    assert pending(config) == ["m1"]


def test_reject_and_skip_all_of_a_cause(config: Config, start: Any) -> None:
    child = start()
    answer(child, "R")
    answer(child, "s")
    answer(child, "q")
    assert "0 accepted, 4 rejected, 3 left" in ended(child, 0)
    assert (ops(config), pending(config)) == (BEFORE, ["gone", "new", "one"])
    child = start("a::new", "a::one")
    assert "(1/2) drift:" in answer(child, "\x04")  # Ctrl-D
    assert "0 accepted, 0 rejected, 2 left" in ended(child, 0)


def test_ctrl_c_leaves_what_was_chosen(config: Config, start: Any) -> None:
    child = start()
    answer(child, "a")
    child.expect(ASKED)
    child.sendintr()
    end = ended(child, 130)
    assert "1 accepted, 0 rejected, 6 left as they were\ngit add -- baselines/a/m1.graph" in end
    assert "Traceback" not in end
    assert ops(config) == BEFORE | {"a::m1": "sin"}


def test_the_graph_and_keys_that_are_none(config: Config, start: Any) -> None:
    child = start()
    answer(child, "g")
    assert "aten.sin.default" in answer(child, "\x1b[A")  # an arrow is one key, and none of the answers
    assert "it becomes the baseline" in answer(child, "x")
    answer(child, "\n")  # the Enter behind a key is no answer
    child.send("q")
    assert "it becomes the baseline" not in ended(child, 0)
    assert (ops(config), pending(config)) == (BEFORE, WAITING)


def test_lines_where_the_terminal_has_no_keys(config: Config, start: Any) -> None:
    child = start(TERM="dumb")
    answer(child, "accept\n")
    answer(child, "R\n")
    answer(child, "yes\n")
    answer(child, "quit\n")
    assert "1 accepted, 3 rejected, 3 left" in ended(child, 0)
    assert (ops(config), pending(config)) == (BEFORE | {"a::m1": "sin"}, ["gone", "new", "one"])


def test_a_reason_where_policy_wants_one(config: Config, start: Any) -> None:
    (config.root / "pyproject.toml").write_text('[tool.guard.policy]\nreasons = "required"\n')
    child = start()
    answer(child, "A")
    child.expect(r"why\? ")
    child.sendline("")
    assert "not accepted: accept why?" in answer(child, "A")
    child.expect(r"why\? ")
    child.sendline("the op is fused")
    answer(child, "q")
    ended(child, 0)
    assert reasons.read(config.baselines, "") == dict.fromkeys(("a::m1", "a::m2", "a::m3", "a::m4"), "the op is fused")


def test_what_to_know_before_accepting(config: Config, start: Any) -> None:
    waits(config, "a::one", graph("a::one", "cos"), sources={"checks/test_a.py": "00"})
    write_whole(Store(config).path("a::m2"), graph("a::m2", "exp").encode())
    child = start("a::one", "a::m2")
    shown = answer(child, "a")
    assert 'warning: "a::m2": the baseline has changed since the check ran: an accept will be refused' in shown
    shown = answer(child, "a")
    assert 'refused: "a::m2": the baseline has changed' in shown
    assert 'warning: "a::one" was captured before checks/test_a.py changed' in shown
    assert 'warning: "a::one" was captured before checks/test_a.py changed; run: guard check "a::one"' in ended(
        child, 2
    )


def test_broken_files_can_be_rejected(config: Config, start: Any) -> None:
    pending_path(config, "a::one").write_text("torn")
    child = start("a::one")
    assert 'unreadable: "a::one" - its pending file is not right' in answer(child, "r")
    ended(child, 0)
    assert "one" not in pending(config)


def test_the_list(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "--list"]) == 0
    out = capsys.readouterr().out
    assert out.count("aten.sin.default") == 1
    assert '  the same in\n    "a::m2"\n    "a::m3"\n    "a::m4"\n' in out
    assert out.endswith("7 pending, 4 causes\n")
    assert main(["review", "--list", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["pending"]
    assert [(row["check"], row["cause"], row["changes"][0]["kind"]) for row in rows] == [
        *((f"a::m{number}", 1, "drift") for number in (1, 2, 3, 4)),
        ("a::one", 2, "drift"),
        ("a::new", 3, "missing"),
        ("a::gone", 4, "orphan"),
    ]
    assert main(["review", "a::one", "--list", "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["pending"]) == 1
    assert (ops(config), pending(config)) == (BEFORE, WAITING)


def test_new_checks_with_the_same_graphs_are_one_cause(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    waits(config, "a::new2", graph("a::new2"))
    waits(config, "a::new3", graph("a::new3", "exp"))
    assert main(["review", "a::new", "a::new2", "a::new3", "--list"]) == 0
    assert capsys.readouterr().out.endswith("3 pending, 2 causes\n")


def test_answers_without_a_terminal(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "accept", "a::m1", "a::m2", "--reason", "x"]) == 0
    assert 'accepted: "a::m1"\naccepted: "a::m2"\ngit add -- ' in capsys.readouterr().out
    assert main(["review", "reject", "a::m3"]) == 0
    assert pending(config) == ["gone", "m4", "new", "one"]


def test_no_terminal(config: Config, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["review"]) == 2
    assert capsys.readouterr().err == (
        "error: a review asks questions, and this is no terminal\n"
        "  guard review --list, then guard accept ID or guard reject ID\n"
    )
    assert main(["review", "--format", "json"]) == 2
    assert main(["review", "a::x"]) == 2
    assert (ops(config), pending(config)) == (BEFORE, WAITING)
    assert main(["reject", "--all"]) == 0
    monkeypatch.setenv("CI", "1")
    assert main(["review"]) == 0
    assert capsys.readouterr().out.endswith("nothing is pending: guard check\n")
    assert main(["review", "--list", "--format", "json"]) == 0


def test_ci_is_refused_before_the_first_question(config: Config, start: Any) -> None:
    assert "baselines are not written in CI" in ended(start(CI="true"), 2)
    assert pending(config) == WAITING
