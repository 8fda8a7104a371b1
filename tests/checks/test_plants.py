"""Each check in checks/ has a fault that it is for: planted in a copy of the project, it must fail every case."""

from __future__ import annotations

import ast
import json
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest
from project import ROOT, Project

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


def statuses(project: Project, plant: Plant) -> dict[str, str]:
    """Run the plant's checks; return the status of each case."""
    chosen = [f"checks/test_{module}.py::test_{name}" for module, names in plant.checks.items() for name in names]
    done = project.guard("check", "--format", "json", *chosen, timeout=500)
    assert done.returncode == 1, done.stdout + done.stderr
    return {outcome["check"]: outcome["status"] for outcome in json.loads(done.stdout)["outcomes"]}


@pytest.mark.prove
@pytest.mark.parametrize("fault", list(PLANTS))
def test_every_case_fails_with_its_plant(fault: str, tmp_path: Path) -> None:
    plant = PLANTS[fault]
    seen = {id_: status for id_, status in statuses(planted(plant, tmp_path), plant).items() if plant.spares not in id_}
    assert seen
    assert {id_: status for id_, status in seen.items() if status not in CAUGHT} == {}
