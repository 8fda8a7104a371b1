"""Reader of a check module's syntax: nothing of it is imported or run. Pure."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from guard.baselines.audit.module import Source, Test

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PREFIX = "test"
# Whatever mentions one of these may not run here: then nothing is demanded of it
_SKIPS = frozenset(
    (
        *("skip", "skipif", "skipTest", "skipIf", "skipUnless", "xfail", "importorskip", "expectedFailure"),
        *("collect_ignore", "collect_ignore_glob", "pytest_ignore_collect", "__test__"),
        *("pytest_collection_modifyitems", "pytest_runtest_setup", "pytest_pycollect_makeitem"),
    )
)
# Names that appear without a definition
_OPENERS = frozenset(("exec", "eval", "globals", "setattr", "vars", "locals", "__dict__"))
_MARKS = "mark."

_Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


def read_source(data: bytes) -> Source:
    """Read a module."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError) as error:  # ValueError: a NUL byte, on older Pythons
        line = error.lineno if isinstance(error, SyntaxError) else None
        return Source(problem=(line or 1, error.msg if isinstance(error, SyntaxError) else str(error)))
    statements = tuple(_statements(tree.body))
    return Source(
        tests=tuple(_tests(statements, "", certain=True)),
        names=tuple(dict.fromkeys(_names(statements, ""))),
        fixtures=tuple(_fixtures(tree)),
        open=any(_mentions(tree, _OPENERS)) or any(_stars(tree)),
        skips=_skips(statements),
        hooks=any(_mentions(tree, _SKIPS)),
    )


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a scope, those under ``if``, ``try``, ``with`` and loops too."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.stmt):
                yield from _statements((child,))
            elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
                yield from _statements(child.body)


def _tests(statements: Iterable[ast.stmt], head: str, *, certain: bool) -> Iterator[Test]:
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _test(statement, head, certain=certain)
        elif isinstance(statement, ast.ClassDef):
            inner = tuple(_statements(statement.body))
            collected = statement.name.startswith("Test") and not any(map(_constructor, inner))
            sure = certain and collected and not statement.bases and _marked(statement) and not _skips(inner)
            yield from _tests(inner, f"{head}{statement.name}.", certain=sure)


def _test(function: _Function, head: str, *, certain: bool) -> Test:
    given = function.args
    asks = tuple(one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs) if one.arg != "self")
    sure = certain and function.name.startswith(_PREFIX) and _marked(function) and not any(_mentions(function, _SKIPS))
    return Test(f"{head}{function.name}", function.lineno, asks, sure)


def _constructor(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and statement.name in ("__init__", "__new__")


def _marked(statement: _Function | ast.ClassDef) -> bool:
    """Tell whether all decorators are marks of pytest's that skip nothing; an unknown one may do anything."""
    return all(_MARKS in ast.unparse(one) and not any(_mentions(one, _SKIPS)) for one in statement.decorator_list)


def _names(statements: Iterable[ast.stmt], head: str) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from (f"{head}{(alias.asname or alias.name).partition('.')[0]}" for alias in statement.names)
        elif isinstance(statement, ast.ClassDef):
            if statement.bases or statement.keywords or statement.decorator_list:
                yield f"{head}{statement.name}"
            yield from _names(tuple(_statements(statement.body)), f"{head}{statement.name}.")
        elif not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            yield from (f"{head}{node.id}" for node in stored if isinstance(node.ctx, ast.Store))


def _fixtures(tree: ast.Module) -> Iterator[tuple[str, tuple[str, ...]]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found = [one for one in node.decorator_list if "fixture" in ast.unparse(one)]
            if found:
                asks = tuple(one.arg for one in (*node.args.args, *node.args.kwonlyargs) if one.arg != "self")
                yield _fixture_name(found[0]) or node.name, asks


def _fixture_name(decorator: ast.expr) -> str | None:
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    values = (word.value for word in keywords if word.arg == "name" and isinstance(word.value, ast.Constant))
    return next((str(value.value) for value in values), None)


def _stars(tree: ast.Module) -> Iterator[bool]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            yield True


def _skips(statements: Iterable[ast.stmt]) -> bool:
    """Tell whether what a scope says beside its functions and classes may skip all of it."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(any(_mentions(one, _SKIPS)) for one in statements if not isinstance(one, kinds))


def _mentions(tree: ast.AST, words: frozenset[str]) -> Iterator[bool]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            named = node.id
        elif isinstance(node, ast.Attribute):
            named = node.attr
        elif isinstance(node, ast.FunctionDef):
            named = node.name
        else:
            continue
        if named in words:
            yield True
