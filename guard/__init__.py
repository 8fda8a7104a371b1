"""graph-guard: golden graphs of PyTorch programs. Importing this imports no torch."""

from guard.specs import AotJoint, Compile, MakeFx

__all__ = ["AotJoint", "Compile", "MakeFx", "__version__"]

__version__ = "0.1.0"
