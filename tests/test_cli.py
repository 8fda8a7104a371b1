from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from guard import __version__, cli
from guard.commands import options
from guard.commands.arguments import parse
from guard.commands.verbs import VERBS
from guard.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("torch", "pytest", "_pytest", "rich", "filelock", "xdist")


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


IMPORTS = (
    "import guard",
    "from guard import MakeFx",
    "main(['--help'])",
    "main(['--version'])",
    "main(['chek'])",
    *(f"main(['{verb}', '--help'])" for verb in VERBS),
)


@pytest.mark.parametrize("what", IMPORTS)
def test_nothing_heavy_is_imported(what: str) -> None:
    out = python(
        f"import io, json, sys, contextlib\nfrom guard.__main__ import main\n"
        f"with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):\n    {what}\n"
        f"print(json.dumps(sorted(sys.modules)))"
    )
    modules = json.loads(out)
    assert not [name for name in modules if name.partition(".")[0] in HEAVY]


def test_the_package_gives_its_specs_and_no_more() -> None:
    import guard

    assert guard.MakeFx(tracing_mode="fake").tracing_mode == "fake"
    with pytest.raises(AttributeError, match="no attribute 'Makefx'"):
        _ = guard.Makefx  # type: ignore[attr-defined] # that is the test


def test_help_names_every_verb_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {verb} " in out for verb in VERBS)
    assert "130 interrupted" in out
    assert cli.run(["-h"]) == 0
    assert capsys.readouterr().out == out


def test_no_verb_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == 2
    assert "usage: guard VERB" in capsys.readouterr().out


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_s_help_has_its_examples_and_they_parse(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([verb, "--help"]) == 0
    out = capsys.readouterr().out
    assert VERBS[verb].examples
    for example in VERBS[verb].examples:
        assert f"  {example}\n" in out
        guard, name, *rest = shlex.split(example)
        assert (guard, name) == ("guard", verb)
        parse(verb, rest)


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([flag]) == 0
    assert capsys.readouterr().out == f"graph-guard {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "problem", "tip"),
    [
        (["chekc"], 'unknown verb "chekc"', 'did you mean "guard check"?'),
        (["zzz"], 'unknown verb "zzz"', "guard --help"),
        (["--fixes", "check"], 'unknown flag before the verb "--fixes"', "guard --help"),
        (["check", "--fixs=on"], 'guard check: unknown flag "--fixs"', 'did you mean "--fixes"?'),
        (["accept", "x", "--everything"], 'guard accept: unknown flag "--everything"', "guard accept --help"),
        (["check", "--fix", "on"], 'guard check: unknown flag "--fix"', 'did you mean "--fixes"?'),
        (["show", "a", "b"], 'guard show: unknown argument "b"', "guard show --help"),
        (["check", "--fixes", "no"], "guard check: argument --fixes: wanted 'on' or 'off', got 'no'", None),
        (["check", "-n", "0"], "guard check: argument -n: wanted \"auto\" or a number from 1, got '0'", None),
        (["check", "--timeout=-3"], "guard check: argument --timeout: wanted seconds, 0 for none, got '-3'", None),
        (["check", "--timeout", "nan"], "guard check: argument --timeout: wanted seconds, 0 for none, got 'nan'", None),
        (["check", "-k"], "guard check: argument -k: expected one argument", None),
        (["list", "--format", "xml"], "guard list: argument --format: wanted 'text' or 'json', got 'xml'", None),
        (["update", "--fixes", "off"], 'guard update: unknown flag "--fixes"', None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(arguments: list[str], problem: str, tip: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        cli.run(arguments)
    assert caught.value.exit_code == 2
    assert caught.value.problem == problem
    assert tip is None or caught.value.tip == tip


def test_check_takes_everything_in_any_order() -> None:
    line = (
        "a::b -k EXPR c -m MARK -n 3 --fixes off d::e[x-y] --device cuda --timeout 1.5 --format json -v -x --pdb "
        "--junitxml out.xml f -- -p no:foo --fixes on"
    )
    assert parse("check", line.split()) == options.CheckOptions(
        ids=("a::b", "c", "d::e[x-y]", "f"),
        keyword="EXPR",
        markers="MARK",
        workers=3,
        fixes="off",
        device="cuda",
        timeout=1.5,
        format="json",
        verbose=True,
        exitfirst=True,
        pdb=True,
        junitxml=Path("out.xml"),
        pytest_args=("-p", "no:foo", "--fixes", "on"),
    )


def test_defaults_are_those_of_the_options() -> None:
    assert parse("check", []) == options.CheckOptions()
    assert parse("check", ["-n", "auto"]) == options.CheckOptions(workers="auto")
    assert parse("accept", []) == options.AcceptOptions()
    assert parse("update", []) == options.UpdateOptions(options.CheckOptions())
    assert parse("doctor", []) == options.DoctorOptions()


def test_the_other_verbs() -> None:
    assert parse("accept", ["a", "--in-ci", "b"]) == options.AcceptOptions(("a", "b"), in_ci=True)
    assert parse("reject", ["--all"]) == options.RejectOptions(everything=True)
    assert parse("update", ["a", "-k", "x", "--in-ci"]) == options.UpdateOptions(
        options.CheckOptions(ids=("a",), keyword="x"), in_ci=True
    )
    assert parse("list", ["a", "--format", "json"]) == options.ListOptions(("a",), "json")
    assert parse("show", ["--pending", "a"]) == options.ShowOptions("a", pending=True)
