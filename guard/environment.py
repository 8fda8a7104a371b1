"""What a run is, and what baselines were recorded in: versions and device. Asks package metadata, never torch."""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version

OLDEST = (2, 9)
INSTALL = 'pip install "graph-guard[torch]"'
FILE = "environment.toml"
HEADER = "# The environment that the baselines were recorded in. Written by guard accept.\n"
_LINE = re.compile(r'^(\w+) = "([^"\\\x00-\x1f]*)"$')


@dataclass(frozen=True)
class Environment:
    """Where graphs were captured."""

    torch: str
    """``2.13.0+cpu``, or ``absent``."""
    python: str
    """``3.11``."""
    platform: str
    """``linux-x86_64``."""
    device: str

    def as_dict(self) -> dict[str, str]:
        """Return plain data for JSON, in a stable order."""
        return asdict(self)


def torch_version() -> str:
    """Return the installed torch's full version, or ``absent``, in microseconds."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return "absent"


def torch_problem(version: str) -> str | None:
    """Say why a torch of this version cannot be used, None where it can; what is no number is a source build."""
    if version == "absent":
        return "torch is not installed"
    match = re.match(r"(\d+)\.(\d+)", version)
    if match is not None and (int(match[1]), int(match[2])) < OLDEST:
        return f"torch {version} is too old: wanted {'.'.join(map(str, OLDEST))} or newer"
    return None


def current(device: str = "cpu") -> Environment:
    """Describe this process."""
    return Environment(
        torch=torch_version(),
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        platform=f"{sys.platform}-{platform.machine().lower()}",
        device=device,
    )


def dump(environment: Environment) -> str:
    """Print the file; the same environment gives the same bytes."""
    return HEADER + "".join(f'{key} = "{value}"\n' for key, value in environment.as_dict().items())


def parse(text: str) -> Environment | None:
    """Read what dump wrote; None where it is not that (a hand-edited file is written anew, never trusted)."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pairs = {match[1]: match[2] for match in map(_LINE.match, lines) if match is not None}
    try:
        return Environment(**pairs) if len(pairs) == len(lines) else None
    except TypeError:  # a key is missing or unknown
        return None
