"""An exception and everything that it was raised from, read once into frozen data. Never raises, whatever it reads."""

from __future__ import annotations

import traceback
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from guard.tracers.errors.places import place

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINKS = 32  # torch wraps about 4 deep; a hostile chain is cyclic or endless
MAX_TEXT = 20_000  # characters: every telling part of torch's messages sits in the first 2000
_DYNAMO = "torch._dynamo.exc.TorchDynamoException"


class Frame(NamedTuple):
    """One line of a stack."""

    path: str
    line: int
    function: str


class Link(NamedTuple):
    """One exception of a chain."""

    types: tuple[str, ...]
    """Qualified names of its class and bases, nearest first; builtins without their module."""
    text: str
    frames: tuple[Frame, ...]
    """Of its traceback, innermost last."""
    stack: tuple[Frame, ...]
    """The user's stack where torch attached one (Dynamo's ``real_stack``), innermost last."""
    operator: str
    """Operator that torch attached as an object (``aten.nonzero.default``), else ""."""
    implicit: bool
    """Only being handled when the outer one was raised (``__context__``): not said to be its cause."""

    @property
    def name(self) -> str:
        """The class's own name."""
        return self.types[0].rpartition(".")[2]

    @property
    def raised_in(self) -> str:
        """``place`` of the innermost frame."""
        return place(self.frames[-1].path, self.frames[-1].function) if self.frames else ""


def read_chain(exception: BaseException) -> tuple[Link, ...]:
    """List the exception and its causes, outermost first, those that are only implied last."""
    return tuple(_link(error, implicit=implicit) for error, implicit in walk(exception))


def walk(exception: BaseException) -> Iterator[tuple[BaseException, bool]]:
    """Visit what the exception was raised from, each once; True where it is only implied."""
    seen: set[int] = set()
    said: deque[BaseException] = deque([exception])
    implied: deque[BaseException] = deque()
    while (said or implied) and len(seen) < MAX_LINKS:
        implicit = not said
        error = (said or implied).popleft()
        if id(error) in seen:
            continue
        seen.add(id(error))
        yield error, implicit
        (implied if implicit else said).extend(_causes(error))
        if error.__context__ is not None and not error.__suppress_context__:
            implied.append(error.__context__)


def members(error: BaseException) -> tuple[BaseException, ...]:
    """List the members of an ExceptionGroup, which is built in since Python 3.11; () of any other exception."""
    inner = _attribute(error, "exceptions")
    if not isinstance(inner, tuple):
        return ()
    return tuple(member for member in inner[:MAX_LINKS] if isinstance(member, BaseException) and member is not error)


def safe_text(value: object) -> str:
    """Give ``str(value)``, cut to MAX_TEXT; "" where that raises."""
    try:
        return str(value)[:MAX_TEXT]
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a user's __str__ may raise anything, and the capture error must still be told
        return ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    if error.__cause__ is not None:
        yield error.__cause__
    elif error.__context__ is not None and _DYNAMO in _types(error):
        # torch/_dynamo/convert_frame.py raises InternalTorchDynamoError and BackendCompilerFailed "from None":
        # what they wrap is their suppressed context.
        yield error.__context__
    yield from members(error)


def _link(error: BaseException, *, implicit: bool) -> Link:
    frames = tuple(
        Frame(frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(error.__traceback__)
    )
    operator = _attribute(error, "func")
    return Link(
        types=_types(error),
        text=safe_text(error),
        frames=frames,
        stack=_real_stack(error),
        operator="" if operator is None else safe_text(operator),
        implicit=implicit,
    )


def _types(error: BaseException) -> tuple[str, ...]:
    bases = type(error).__mro__[:-1]
    return tuple(b.__qualname__ if b.__module__ == "builtins" else f"{b.__module__}.{b.__qualname__}" for b in bases)


def _real_stack(error: BaseException) -> tuple[Frame, ...]:
    stack = _attribute(error, "real_stack")
    if not isinstance(stack, traceback.StackSummary):
        return ()
    return tuple(Frame(f.filename, f.lineno or 0, f.name) for f in stack)


def _attribute(error: BaseException, name: str) -> object:
    try:
        return getattr(error, name, None)
    except Exception:  # noqa: BLE001 - a property of a user's exception may raise anything
        return None
