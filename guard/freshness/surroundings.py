"""What every check depends on and no file says: the interpreter, the import path, variables, the device."""

from __future__ import annotations

import os
import sys

from guard import __version__
from guard.freshness.digest import digest

TYPE_CHECKING = False  # typing costs a fifth of what the whole answer may
if TYPE_CHECKING:
    from collections.abc import Mapping

# Variables whose name begins so change what torch, its libraries, Python or pytest do. Those that a check's own modules
# read are kept one by one, with the files.
PREFIXES = (
    "AOT", "ATEN", "CUBLAS", "CUDA", "CUDNN", "DYNAMO", "FUNCTORCH", "GLOO", "GOMP", "GUARD", "HIP", "HSA", "INDUCTOR",
    "KMP", "LD_", "LIBTORCH", "MKL", "NCCL", "NUMEXPR", "NUMPY", "NVIDIA", "OMP", "ONEDNN", "OPENBLAS", "PYTEST",
    "PYTHON", "PYTORCH", "ROCM", "ROCR", "TORCH", "TRITON", "XLA",
)  # fmt: skip
# Said by pytest of the moment, and by xdist of the worker
_OF_THE_MOMENT = frozenset(("PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_TESTRUNUID", "PYTEST_VERSION"))
# A driver that appears makes checks run that were skipped
_DEVICES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
NOT_CI = ("", "0", "false", "no", "off")


def surroundings(environ: Mapping[str, str], device: str = "cpu") -> str:
    """Return the digest of all of it."""
    variables = (
        f"{name}={value}"
        for name, value in sorted(environ.items())
        if name.startswith(PREFIXES) and name not in _OF_THE_MOMENT
    )
    parts = (
        __version__,
        sys.version,
        sys.executable,
        sys.prefix,
        sys.platform,
        os.uname().machine if hasattr(os, "uname") else "",
        repr(sys.flags),
        "\n".join(map(str, sys.path)),
        device,
        *(name for name in _DEVICES if os.path.exists(name)),
        *variables,
    )
    return digest("\0".join(parts).encode("utf-8", "surrogateescape"))


def in_ci(environ: Mapping[str, str]) -> bool:
    """Tell whether CI runs this: there everything is traced."""
    return environ.get("CI", "").lower() not in NOT_CI
