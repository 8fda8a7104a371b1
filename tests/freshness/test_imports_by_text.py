"""What a file imports, by its text."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from guard.freshness.imports import Imports, imports_of

if TYPE_CHECKING:
    from pathlib import Path


def read(tmp_path: Path, text: str, package: str = "") -> Imports:
    path = tmp_path / "module.py"
    path.write_text(dedent(text), encoding="utf-8")
    return imports_of(str(path), package)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import a.b as c, d", {"a.b", "d"}),
        ("from a import b, c", {"a", "a.b", "a.c"}),
        ("from a import *", {"a"}),
        ("from . import b", {"p.q", "p.q.b"}),
        ("from ..r import b", {"p.r", "p.r.b"}),
        ("from .... import b", set()),
        ("def f():\n  class A:\n    def g(self):\n      import a", {"a"}),
        ("try:\n  import a\nexcept ImportError:\n  pass", {"a"}),
        ("m = importlib.import_module('a.b')", {"a.b"}),
        ("m = pytest.importorskip('a')", {"a"}),
        ("m = import_module(name)", set()),
        ("if TYPE_CHECKING:\n  import a", {"a"}),
        ("import a (", set()),
        ("\0", set()),
    ],
)
def test_names(tmp_path: Path, text: str, names: set[str]) -> None:
    assert read(tmp_path, text, "p.q").names == names


def test_a_test_function_has_its_imports_to_itself(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
        import shared
        def test_one(guard):
            import one
        class TestIt:
            def test_two(self):
                from two import f
        def helper():
            import three
        """,
    )
    assert found.names == {"shared", "three"}
    assert found.tests == {"test_one": {"one"}, "test_two": {"two", "two.f"}}


@pytest.mark.parametrize(
    "use",
    ["def test_b(): test_a()", "TABLE = [test_a]", "def test_b(test_a): pass", "getattr(m, 'test_a')",
     "class T:\n  def test_a(self): pass"],
    ids=["call", "table", "fixture", "name", "twice"],
)  # fmt: skip
def test_unless_another_may_call_it(tmp_path: Path, use: str) -> None:
    found = read(tmp_path, f"def test_a():\n  import a\n{use}\n")
    assert found.names == {"a"}
    assert found.tests == {}


@pytest.mark.parametrize(
    "text",
    ["os.environ['A']", "os.environ.get('A', '')", "os.getenv('A')", "getenv('A')", "'A' in os.environ",
     "environ.pop('A')"],
)  # fmt: skip
def test_variables(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, f"def f():\n  x = {text}\n").variables == {"A"}


def test_a_literal_that_is_written_as_variables_are_may_name_one(tmp_path: Path) -> None:
    text = 'KEY = "MY_FLAG"\nMODES = ("fake", "Real", "A b", "B-C", "")\ndef f(): return os.getenv(KEY, MODES[0])\n'
    assert read(tmp_path, text).variables == {"MY_FLAG"}
