"""Whether the kernel knows a hardware counter of instructions. Asks the file system; whether one works is probed."""

from __future__ import annotations

from pathlib import Path

DEVICES = Path("/sys/bus/event_source/devices")


def has_pmu(devices: Path = DEVICES) -> bool:
    """Look for ``cpu``, ``cpu_core`` or ``armv8_pmuv3_0``, which virtual machines lack."""
    try:
        return any(path.name.startswith(("cpu", "armv")) for path in devices.iterdir())
    except OSError:
        return False
