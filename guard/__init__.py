"""graph-guard: golden graphs of PyTorch programs. Importing this imports no torch."""

from __future__ import annotations

TYPE_CHECKING = False  # typing costs a fifth of what an answer that nothing moved may
if TYPE_CHECKING:
    from guard.specs import AotJoint, Compile, MakeFx, Sizes

__all__ = ["AotJoint", "Compile", "MakeFx", "Sizes", "__version__"]

__version__ = "0.1.0"

if not TYPE_CHECKING:  # else a checker would take any name for one of guard's

    def __getattr__(name: str) -> object:
        """Import the specs when they are asked for: dataclasses costs 10 ms, which ``guard --help`` need not pay."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from guard import specs

        return getattr(specs, name)
