"""Defects of the installed torch that guard mends while it traces (design: both public causes hold inside guard).

A nested trace does what it would do if nothing were traced around it, its own errors included; nothing more is mended.
"""

from guard.tracers.fixes.fix import FIXES, Fix
from guard.tracers.fixes.table import Applied, FixState, applied, table

__all__ = ["FIXES", "Applied", "Fix", "FixState", "applied", "table"]
