"""The workflow that ``guard init`` writes: steps of ``run:``, for a repository that has no action of guard's. Pure."""

from __future__ import annotations

import json
import re
import shlex
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Any

from guard import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from guard.commands.place import Place

GPU_ENV = """\
          GPU: ${{ needs.gpu.result }}
"""
# A device that was left out is named with the reason; "[tool.guard] gpu" decides whether that may pass
GPU_PLAN = """\
          if [[ "${GPU}" != skipped ]]; then planned+=(--expect-device cuda); else planned+=(--not-run gpu=fork); fi
"""
GATES = {
    True: (
        '[[ "${CPU}" == success && "${GPU}" =~ ^(success|skipped)$ ]]'
        ' || { echo "::error::cpu: ${CPU}, gpu: ${GPU}"; exit 1; }'
    ),
    False: '[[ "${CPU}" == success ]] || { echo "::error::cpu: ${CPU}"; exit 1; }',
}


def workflow(place: Place, name: str, gpu_runner: str | None, template: Callable[[str], str]) -> str:
    """Return the file's text; ``template`` gives those that it is made of."""
    gpu = gpu_runner is not None
    # the setup and the GPU's job first: they have marks of their own
    marks = {
        "GPU": template("gpu.yml") if gpu else "",
        "SETUP": template("setup.yml").removesuffix("\n"),
        "RUNNER": gpu_runner or "",
        "GPU_ENV": GPU_ENV if gpu else "",
        "GPU_PLAN": GPU_PLAN if gpu else "",
        "GATE": GATES[gpu],
        "NEEDS": "cpu, gpu" if gpu else "cpu",
        "NAME": name,
        "BRANCH": json.dumps(place.branch, ensure_ascii=False),
        "DEFAULTS": _defaults(place.prefix),
        "FOLDER": f"{place.prefix}/" if place.prefix else "",
        "PYTHON": f"{sys.version_info.major}.{sys.version_info.minor}",
        "INSTALL": _install(place, "[torch]"),
        "INSTALL_GUARD": f"python -m pip install {shlex.quote(_requirement(''))}",
    }
    text = template("workflow.yml")
    for mark, value in marks.items():
        text = text.replace(f"@@{mark}@@", value)
    return text


def _defaults(prefix: str) -> str:
    if not prefix:
        return ""
    return f"defaults:\n  run:\n    working-directory: {json.dumps(prefix, ensure_ascii=False)}\n\n"


def _install(place: Place, extra: str) -> str:
    """Return the command that installs torch, the project and guard, as far as can be told."""
    parts = ["python -m pip install"]
    if (place.root / "requirements.txt").is_file():
        parts.append("--requirement requirements.txt")
    if (place.root / "setup.py").is_file() or _is_package(place.root / "pyproject.toml"):
        parts.append("--editable .")
    return " ".join((*parts, shlex.quote(_requirement(extra))))


def _is_package(pyproject: Path) -> bool:
    with suppress(OSError):
        return re.search(rb"^\[(build-system|project)\]", pyproject.read_bytes(), re.MULTILINE) is not None
    return False


def _requirement(extra: str) -> str:
    """Return guard as pip finds it: from the repository that it was installed from, else by its version."""
    try:
        origin: Any = json.loads(distribution("graph-guard").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    source = origin.get("vcs_info", {})
    if source.get("vcs") == "git" and "commit_id" in source:
        return f"graph-guard{extra} @ git+{origin['url']}@{source['commit_id']}"
    return f"graph-guard{extra}=={__version__}"
