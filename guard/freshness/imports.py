"""What a Python file imports, by its text: module names, per test function where only that one has the import."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 8 << 20
_TESTS = "test"
# KEY = "MY_FLAG" here, environ.get(KEY) there: a literal that is written as variables are may be the name of one
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")


class Imports(NamedTuple):
    """Names that a file may import, wherever the import stands."""

    names: frozenset[str] = frozenset()
    """Dotted, absolute. ``from a import b`` is ``a`` and ``a.b``: b may be a module."""
    tests: dict[str, frozenset[str]] = {}  # noqa: RUF012 - never written to
    """Test function -> what it alone imports."""
    variables: frozenset[str] = frozenset()
    """Environment variables that it names, or may."""


def imports_of(path: str, package: str) -> Imports:
    """Read a file; nothing where it does not parse: then it cannot be imported either.

    Args:
        path: the file.
        package: the package that relative imports in it start from, "" where there is none.
    """
    try:
        with open(path, "rb") as stream:
            tree = ast.parse(stream.read(MAX_BYTES))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return Imports()
    own = dict(_own(tree, package))
    inside = {id(node) for function in own.values() for node in ast.walk(function)}
    names = frozenset(name for node in ast.walk(tree) if id(node) not in inside for name in _names(node, package))
    tests = {
        test: frozenset(name for node in ast.walk(function) for name in _names(node, package))
        for test, function in own.items()
    }
    variables = frozenset(name for node in ast.walk(tree) for name in _variables(node))
    return Imports(names, {test: found for test, found in tests.items() if found}, variables)


def _own(tree: ast.Module, package: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield the test functions that import something, and that nothing else in the file could call."""
    tests = [
        function
        for body in (tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef)))
        for function in body
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name.startswith(_TESTS)
    ]
    importing = [
        function for function in tests if any(True for node in ast.walk(function) for _ in _names(node, package))
    ]
    if not importing:
        return
    used = {name for node in ast.walk(tree) for name in _uses(node)}
    names = [function.name for function in tests]
    yield from (
        (function.name, function)
        for function in importing
        if function.name not in used and names.count(function.name) == 1
    )


def _uses(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.arg):  # a fixture
        yield node.arg
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # getattr, a table of names
        yield node.value


def _names(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = _base(node, package)
        if base:
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        # import_module("a.b"), importorskip("a"), find_spec("a"): a name in a string is one too
        name = node.args[0].value
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if isinstance(name, str) and called in {"import_module", "__import__", "importorskip", "find_spec"}:
            yield name


def _base(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    kept = parts[: max(0, len(parts) - node.level + 1)]
    if not kept:  # beyond the top: Python refuses it
        return ""
    return ".".join([*kept, *([node.module] if node.module else [])])


def _variables(node: ast.AST) -> Iterator[str]:
    """Yield any ``"AB"``, literals of ``environ["a"]``, ``environ.get("a")``, ``getenv("a")``, ``"a" in environ``."""
    found: ast.AST | None = None
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _VARIABLE.fullmatch(node.value):
        found = node
    elif isinstance(node, ast.Subscript) and _is_environ(node.value):
        found = node.slice
    elif isinstance(node, ast.Call) and node.args and isinstance(node.func, (ast.Attribute, ast.Name)):
        reads = _is_environ(getattr(node.func, "value", None)) or "getenv" in _last(node.func)
        found = node.args[0] if reads else None
    elif isinstance(node, ast.Compare) and _is_environ(node.comparators[0]):
        found = node.left
    if isinstance(found, ast.Constant) and isinstance(found.value, str):
        yield found.value


def _is_environ(node: ast.AST | None) -> bool:
    return node is not None and _last(node) in {"environ", "environb"}


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
