"""What arguments use: values and bodies. Pure; knows no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.ir.graph import Body, Mapping, Ref, Slice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.ir.graph import Arg, Graph


def refs(arg: Arg) -> Iterator[str]:
    """Yield the names of the values that an argument uses, in order."""
    for leaf in leaves(arg):
        if type(leaf) is Ref:
            yield leaf.name


def leaves(arg: Arg) -> Iterator[Arg]:
    """Yield an argument's leaves in order: what stands within lists, dicts and slices."""
    if type(arg) is tuple or type(arg) is Slice:
        for item in arg:
            yield from leaves(item)
    elif type(arg) is Mapping:
        for _key, item in arg.items:
            yield from leaves(item)
    else:
        yield arg


def body_names(arg: Arg) -> Iterator[str]:
    """Yield the names of the bodies that an argument uses."""
    for leaf in leaves(arg):
        if type(leaf) is Body:
            yield leaf.name


def bodies_of(graph: Graph) -> dict[str, None]:
    """Give the names of the bodies that a graph uses, in order of first use."""
    names: dict[str, None] = {}
    for node in graph.nodes:
        for arg in (*node.args, *(value for _key, value in node.kwargs)):
            names.update(dict.fromkeys(body_names(arg)))
    for output in graph.outputs:
        names.update(dict.fromkeys(body_names(output.value)))
    return names


def cycle(bodies: dict[str, Graph]) -> str | None:
    """Find a body that uses itself, through others too: by taking away bodies whose uses are all taken away."""
    uses = {name: set(bodies_of(body)) for name, body in bodies.items()}
    while uses:
        free = {name for name, names in uses.items() if not names & uses.keys()}
        if not free:
            return next(name for name in uses)
        uses = {name: names for name, names in uses.items() if name not in free}
    return None
