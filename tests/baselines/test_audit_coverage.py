"""Which functions have a baseline to have, and which may come from elsewhere: by syntax alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guard.baselines.audit.cache import Cache
from guard.baselines.audit.coverage import Held, homes, missing, orphans
from guard.baselines.audit.tree import Tree

if TYPE_CHECKING:
    from guard.config import Config


def tree(config: Config, text: str, conftest: str = "", name: str = "test_it.py") -> Tree:
    (config.checks / name).write_text(text)
    (config.checks / "conftest.py").write_text(conftest)
    return Tree(config, Cache(config.state, trusted=False))


def demanded(made: Tree, *held: str) -> list[str]:
    return [fault.fix for fault in missing(made, [Held(check, check) for check in held], "checks")]


@pytest.mark.parametrize(
    "text",
    [
        "def test_a(guard): ...",
        "async def test_a(guard): ...",
        "def test_a(size, *, guard): ...",
        "import pytest\n@pytest.mark.slow\ndef test_a(guard): ...",
        "import pytest\n@pytest.fixture\ndef mesh(guard): ...\ndef test_a(mesh): ...",
        "import pytest\n@pytest.fixture(name='mesh')\ndef made(guard): ...\ndef test_a(mesh): ...",
        "import pytest\n@pytest.fixture\ndef guard(guard): ...\ndef test_a(guard): ...",
        "if True:\n    def test_a(guard): ...",
        "try:\n    pass\nfinally:\n    def test_a(guard): ...",
    ],
)
def test_a_check_without_a_baseline_is_missing(config: Config, text: str) -> None:
    made = tree(config, text)
    assert demanded(made) == ['guard update "it::a"']
    assert demanded(made, "it::a[x]#second") == []


@pytest.mark.parametrize(
    "text",
    [
        "def test_a(other): ...",
        "def a(guard): ...",
        "class Helper:\n    def test_a(self, guard): ...",
        "class TestA:\n    def __init__(self): ...\n    def test_a(self, guard): ...",
        "import pytest\n@pytest.mark.skip\ndef test_a(guard): ...",
        "import pytest\n@pytest.mark.skipif(True, reason='')\nclass TestA:\n    def test_a(self, guard): ...",
        "import pytest\nclass TestA:\n    pytestmark = pytest.mark.xfail\n    def test_a(self, guard): ...",
        "import pytest\npytestmark = [pytest.mark.skip]\ndef test_a(guard): ...",
        "import pytest\ntorch = pytest.importorskip('torch')\ndef test_a(guard): ...",
        "import pytest\ndef test_a(guard):\n    pytest.skip('no device')",
        "from elsewhere import requires_gpu\n@requires_gpu\ndef test_a(guard): ...",
        "import pytest\n@pytest.fixture\ndef guard(): ...\ndef test_a(guard): ...",
        "__test__ = False\ndef test_a(guard): ...",
    ],
)
def test_nothing_is_demanded_of_what_may_not_run(config: Config, text: str) -> None:
    assert demanded(tree(config, text)) == []


def test_a_conftest_gives_fixtures_and_may_keep_tests_from_running(config: Config) -> None:
    text = "def test_a(mesh): ..."
    assert demanded(tree(config, text, "import pytest\n@pytest.fixture\ndef mesh(guard): ...")) == [
        'guard update "it::a"'
    ]
    hooked = "def pytest_collection_modifyitems(items): ...\n"
    assert demanded(tree(config, "def test_a(guard): ...", hooked)) == []


@pytest.mark.parametrize(
    ("text", "check", "gone"),
    [
        ("def test_a(guard): ...", "it::a[1]", 0),
        ("def test_b(guard): ...", "it::a[1]", 1),
        ("# def test_a(guard)", "it::a#b", 1),
        ("class TestA:\n    def test_a(self, guard): ...", "it::TestA.a", 0),
        ("class TestA:\n    def test_b(self, guard): ...", "it::TestA.a", 1),
        ("class TestB:\n    def test_a(self, guard): ...", "it::TestA.a", 1),
        ("class TestA:\n    class TestB:\n        def test_a(self, guard): ...", "it::TestA.TestB.a", 0),
        ("from base import Base\nclass TestA(Base): ...", "it::TestA.a", 0),
        ("from shared import test_a", "it::a", 0),
        ("from shared import *", "it::a", 0),
        ("test_a = make('a')", "it::a", 0),
        ("for name in 'ab':\n    globals()['test_' + name] = make(name)", "it::a", 0),
        ("def it_traces(guard): ...", "it::it_traces", 0),
        ("def test_a(guard:", "it::a", 0),
    ],
)
def test_an_orphan_s_function_is_surely_gone(config: Config, text: str, check: str, gone: int) -> None:
    found = [fault.kind for fault in orphans(homes(tree(config, text), [Held(check, "x.graph")]))]
    assert found == ["orphan"] * gone


def test_modules_are_found_by_both_of_pytest_s_names(config: Config) -> None:
    made = tree(config, "def test_a(guard): ...", name="it_test.py")
    assert not list(orphans(homes(made, [Held("it_test::a", "x")])))
    assert demanded(made) == ['guard update "it_test::a"']


def test_folders_that_pytest_passes_by_are_passed_by(config: Config) -> None:
    for folder in ("build", "env"):
        (config.checks / folder).mkdir()
        (config.checks / folder / "test_it.py").write_text("def test_a(guard): ...")
    (config.checks / "env/pyvenv.cfg").write_text("")
    assert demanded(tree(config, "")) == []


def test_what_was_read_once_is_not_parsed_again(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    (config.checks / "test_it.py").write_text("import pytest\n@pytest.fixture\ndef m(guard): ...\ndef test_a(m): ...")
    first = Cache(config.state, trusted=True)
    wanted = demanded(Tree(config, first))
    first.write()
    monkeypatch.setattr("ast.parse", None)
    assert demanded(Tree(config, Cache(config.state, trusted=True))) == wanted == ['guard update "it::a"']
