"""Each check in checks/ has a fault that it is for: planted in a copy of the project, it must fail every case."""

from __future__ import annotations

import ast
import json
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.project import ROOT, Project

if TYPE_CHECKING:
    from pathlib import Path

CAUGHT = {"drift", "error"}


class Plant(NamedTuple):
    """A fault, and the checks that are for it."""

    checks: dict[str, tuple[str, ...]]
    """Module -> its test functions, without ``test_``."""
    defect: str = ""
    """Expression of a context manager that is entered around each check."""
    imports: str = "import contextlib"
    edits: tuple[tuple[str, str, str], ...] = ()
    """Module, text, text in its place."""
    spares: str = "no such text"
    """Cases whose id contains this cannot show it."""


PLANTS = {
    # pytorch#93290: the inner trace's detaches and its program reach the outer graph
    "nested trace leaks": Plant(
        {
            "nested_trace": (
                "expand_in_function_mode",
                "direct",
                "started_from_function_mode",
                "started_from_dispatch_mode",
                "inside_transform",
                "inside_cond_branch",
                "three_deep",
                "pre_dispatch",
                "inside_joint_trace",
                "closes_over_outer_value",
                "inner_graph_is_called",
            )
        },
        defect="nested_isolation.plant()",
        imports="from guard.tracers.fixes import nested_isolation",
    ),
    # pytorch#170467: AOTAutograd replays copy_ without giving fresh tensors a proxy
    "fresh tensor without proxy": Plant(
        {
            "dtensor_mutation": (
                "buffer_update",
                "two_dimensional_mesh",
                "uneven_shard",
                "mesh_size",
                "written_in_forward_and_backward",
                "batch_norm_statistics",
                "write_through_to_local",
                "view_of_buffer",
            )
        },
        defect="proxy_preservation.plant()",
        imports="from guard.tracers.fixes import proxy_preservation",
        spares="plain",
    ),
    "mutation without its copy_": Plant(
        {
            "dtensor_mutation": (
                "buffer_update",
                "buffer_update_plain",
                "two_dimensional_mesh",
                "uneven_shard",
                "mesh_size",
                "written_in_forward_and_backward",
                "batch_norm_statistics",
                "write_through_to_local",
                "view_of_buffer",
                "foreach_step",
            )
        },
        defect='mock.patch.object(aot, "apply_in_graph_mutations", lambda *args, **kwargs: None)',
        imports="from unittest import mock\nfrom torch._functorch._aot_autograd import graph_capture_wrappers as aot",
    ),
    "edited program": Plant(
        {
            "nested_trace": ("isolated_graphmodule", "nested_grad_without_inner_trace"),
            "dtensor_mutation": ("outputs_differ_in_placement", "buffer_update"),
        },
        edits=(
            # not isolated, the trace's program is recorded a second time
            ("nested_trace", "get_isolated_graphmodule(wave, (x,), {}, tracing_mode=inner)", "wave(x)"),
            # isolated too eagerly, the outer level does not see the inner one
            ("nested_trace", "grad(lambda t: t.sin().sum())(x)", "grad(lambda t: t.sin().sum())(x.detach())"),
            # a placement alone
            ("dtensor_mutation", "LocalProduct(mesh, Partial())", "LocalProduct(mesh, R)"),
            ("dtensor_mutation", "place(mesh, seen, 8, 4)", "place(mesh, [R if seen == [S0] else S0], 8, 4)"),
        ),
    ),
}


def functions(module: str) -> set[str]:
    tree = ast.parse((ROOT / "checks" / f"test_{module}.py").read_text("utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {name.removeprefix("test_") for name in names if name.startswith("test_")}


def modules() -> list[str]:
    return sorted(path.stem.removeprefix("test_") for path in (ROOT / "checks").rglob("test_*.py"))


@pytest.mark.parametrize("module", modules())
def test_every_check_has_a_plant(module: str) -> None:
    planted = {name for plant in PLANTS.values() for name in plant.checks.get(module, ())}
    assert planted == functions(module)


def test_every_plant_edits_text_that_is_there() -> None:
    for module, old, _ in (edit for plant in PLANTS.values() for edit in plant.edits):
        assert (ROOT / "checks" / f"test_{module}.py").read_text("utf-8").count(old) == 1, old


def planted(plant: Plant, root: Path) -> Project:
    """Copy the project's checks and baselines, with the fault in."""
    for folder in ("checks", "baselines"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    project = Project(root)
    project.write("pyproject.toml", "[tool.guard]\n")
    for module, old, new in plant.edits:
        path = root / "checks" / f"test_{module}.py"
        path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    if plant.defect:
        project.write("checks/conftest.py", conftest(plant))
    return project


def conftest(plant: Plant) -> str:
    lines = ("import pytest", plant.imports, "@pytest.fixture(autouse=True)", "def planted():")
    return "\n".join((*lines, f"    with {plant.defect}:", "        yield", ""))


def cases(plant: Plant) -> list[str]:
    """Ids of the recorded cases that can show the fault; a name= of several is one case."""
    return sorted(
        {
            f"{module}::{path.stem.partition('#')[0]}"
            for module, names in plant.checks.items()
            for path in (ROOT / "baselines" / module).glob("*.graph")
            if path.stem.partition("[")[0] in names and plant.spares not in path.stem
        }
    )


def first_of_each(ids: list[str]) -> list[str]:
    return list({id_.partition("[")[0]: id_ for id_ in reversed(ids)}.values())


def assert_caught(plant: Plant, ids: list[str], root: Path) -> None:
    """Run these checks with the fault in: each must fail, and by what guard compared."""
    names = [f"{module}::{name}" for module, checks in plant.checks.items() for name in checks]
    assert sorted({id_.partition("[")[0] for id_ in ids}) == sorted(names)
    done = planted(plant, root).guard("check", "--format", "json", *ids, timeout=500)
    assert done.returncode == 1, done.stdout + done.stderr
    # a graph that lost its write is unfaithful, too: what was compared must have found it by itself
    seen = {
        outcome["check"]: [finding["kind"] for finding in outcome["findings"]]
        for outcome in json.loads(done.stdout)["outcomes"]
    }
    assert {id_.partition("#")[0] for id_ in seen} == set(ids)
    assert {id_: kinds for id_, kinds in seen.items() if not CAUGHT.intersection(kinds)} == {}


@pytest.mark.parametrize("fault", list(PLANTS))
def test_a_case_of_each_check_fails_with_its_plant(fault: str, tmp_path: Path) -> None:
    plant = PLANTS[fault]
    assert_caught(plant, first_of_each(cases(plant)), tmp_path)


@pytest.mark.prove
@pytest.mark.parametrize("fault", list(PLANTS))
def test_every_case_fails_with_its_plant(fault: str, tmp_path: Path) -> None:
    plant = PLANTS[fault]
    assert_caught(plant, cases(plant), tmp_path)


# an inner trace that traces nothing; the function stands for its graph
NO_INNER_TRACE = """\
def make_fx(f, **options):
    return lambda *args: f


def get_isolated_graphmodule(*args, **kwargs):
    return None


MODES:"""


@pytest.mark.prove
def test_each_outer_graph_is_that_of_the_program_without_its_inner_trace(tmp_path: Path) -> None:
    names = tuple(sorted(functions("nested_trace")))
    project = planted(
        Plant({"nested_trace": names}, edits=(("nested_trace", "\nMODES:", "\n" + NO_INNER_TRACE),)), tmp_path
    )
    done = project.guard("check", "--format", "json", "checks/test_nested_trace.py", timeout=500)
    outcomes = json.loads(done.stdout)["outcomes"]
    assert {outcome["check"].partition("[")[0].removeprefix("nested_trace::") for outcome in outcomes} == set(names)
    assert {outcome["check"]: outcome["status"] for outcome in outcomes if outcome["status"] != "holds"} == {}
    assert not any(outcome["needs"] for outcome in outcomes)
