"""Names are paths that somebody else chooses: hostile ones stay inside, apart, and valid on every file system."""

from __future__ import annotations

import re
import subprocess
from pathlib import PurePosixPath, PureWindowsPath
from unicodedata import normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from guard.baselines.names import MAX_BYTES, check_of, collisions, quoted, relative_path, short_id
from guard.errors import UsageError

# what breaks file systems, shells and lines, more often than chance would draw it
HOSTILE = st.text(
    st.one_of(st.sampled_from('./\\:<>"|?*%~@#[] \n\0\x7f\u202e\u200b\ud800CONcom1éé'), st.characters()), max_size=40
)
IDS = st.one_of(HOSTILE, st.builds("{}::{}".format, HOSTILE, HOSTILE))
CALM = settings(deadline=None)  # a busy machine is no reason to fail
LONG = st.builds("{}::{}".format, st.text("ab/.", max_size=300), st.text("é[a", min_size=90, max_size=300))


@pytest.mark.parametrize(
    ("nodeid", "short", "path"),
    [
        ("checks/test_nested_trace.py::test_expand[real-fake]", "nested_trace::expand[real-fake]", None),
        ("checks/test_a.py::TestX::TestY::test_b[p]", "a::TestX.TestY.b[p]", "a/TestX.TestY.b[p].graph"),
        ("checks/dtensor/test_mutation.py::test_step", "dtensor/mutation::step", "dtensor/mutation/step.graph"),
        ("./checks/a_test.py::testing", "a_test::testing", None),
        ("checks/test_.py::test_", "test_::test_", None),
        ("checks/test_test_a.py::test_test_b", "test_a::test_b", None),
        ("tests/test_a.py::test_b", "tests/a::b", "tests/a/b.graph"),
        ("checks/test_a.py::test_b[x::y/z.py]", "a::b[x::y/z.py]", "a/b[x%3A%3Ay%2Fz.py].graph"),
        ("a::test_b", "a::test_b", "a/test_b.graph"),
        ("checks/test_a.py::test_b[\n]", "a::b[\\n]", None),
        ("checks/test_a.py::test_b[e\u0301]", "a::b[é]", "a/b[é].graph"),
        ("../test_a.py::test_b", "../a::b", "%2E%2E/a/b.graph"),
        ("checks/test_con.py::test_NUL", "con::NUL", "%63on/%4EUL.graph"),
        ("checks/test_a.py::test_b[x@cuda~1]", "a::b[x@cuda~1]", "a/b[x%40cuda%7E1].graph"),
    ],
)
def test_short_id_and_path(nodeid: str, short: str, path: str | None) -> None:
    assert short_id(nodeid, "checks") == short
    assert short_id(short, "checks") == short
    if path is not None:
        assert relative_path(short) == path


def test_a_deep_checks_root_is_taken_off() -> None:
    assert short_id("test/graphs/test_a.py::test_b", "test/graphs") == "a::b"
    assert short_id("test_a.py::test_b", ".") == "a::b"


def test_a_second_call_s_name() -> None:
    assert short_id("checks/test_a.py::test_b[p]", "checks", "second") == "a::b[p]#second"
    assert short_id("checks/test_a.py::test_b", "checks", "x[1]::y") == "a::b#x[1]::y"


@pytest.mark.parametrize("name", ["", " a", "a ", "a\nb", "\x1b[31m", "\u202e"])
def test_a_name_that_is_no_line_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match='name of "a::b": wanted a printable line'):
        short_id("checks/test_a.py::test_b", "checks", name)


@CALM
@given(st.one_of(IDS, LONG))
@example("../../etc::passwd")
@example("..::..")
@example("a/b.graph::c")
@example("environment.toml::x")
@example("con.x::aux .y")
@example("x::" + "%" * 200)
@example("x::COM¹")
def test_paths_are_safe_everywhere(check: str) -> None:
    path = relative_path(check)
    assert path.encode().decode() == path
    assert not re.search(r'[<>:"\\|?*~\x00-\x1f\x7f-\x9f]', re.sub(r"~[0-9a-f]{16}(?=/|\.graph$)", "", path))
    parts = path.split("/")
    assert PurePosixPath(path).parts == tuple(parts)
    assert PureWindowsPath(path).parts == tuple(parts)
    assert not PureWindowsPath(path).is_absolute()
    assert not any(part.startswith(".") or part[-1] in " ." or "." in part for part in parts[:-1])
    assert parts[-1].endswith(".graph")
    for part in parts:
        assert len(part.removesuffix(".graph").encode()) <= MAX_BYTES
        assert not re.fullmatch(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])[ .]*(\..*)?", part, re.IGNORECASE)


@CALM
@given(IDS, IDS)
@example("a::b/c", "a/b::c")
@example("a/b", "a::b")
@example("a%2Fb::c", "a/b::c")
@example("a::b%2Fc", "a::b/c")
@example("a::b~c", "a::b%7Ec")
@example("::a", "a")
def test_different_ids_have_different_paths(one: str, other: str) -> None:
    assert (relative_path(one) == relative_path(other)) == (normalize("NFC", one) == normalize("NFC", other))


@CALM
@given(IDS)
def test_a_path_that_is_not_cut_gives_its_id_back(check: str) -> None:
    path = relative_path(check)
    wanted = normalize("NFC", check).encode(errors="surrogatepass").decode(errors="replace")
    assert check_of(path) == (None if "~" in path else wanted)


def test_long_names_are_cut_apart() -> None:
    one, other = (relative_path(f"a::{'x' * 200}{last}") for last in "12")
    assert one != other
    assert len(one) == len("a/") + MAX_BYTES + len(".graph")
    assert relative_path("a::" + one[2:-6]) != one  # an id that is spelled as the cut name


def test_collisions_are_those_of_case_and_normal_form() -> None:
    assert collisions(["a::B", "a::b", "a::c", "A::b"]) == (("A::b", "a::B", "a::b"),)
    assert collisions(["a::é", "a::e\u0301"]) == (("a::e\u0301", "a::é"),)
    assert collisions(["a::b", "a::b", "b::a"]) == ()


@pytest.mark.parametrize("check", ["a::b[p q]", "a::b['x']", 'a::b["$HOME`id`!"]', "a::b[\\x00]", "a::b[*;&]", "é"])
def test_a_quoted_id_survives_a_shell(check: str) -> None:
    printed = subprocess.run(["sh", "-c", f"printf %s {quoted(check)}"], capture_output=True, check=True)  # noqa: S607 - any sh
    assert printed.stdout.decode() == check


def test_ordinary_ids_have_double_quotes() -> None:
    assert quoted("a::b[real-fake]") == '"a::b[real-fake]"'
    assert quoted("a::b[!]") == "'a::b[!]'"  # bash's history would expand it
