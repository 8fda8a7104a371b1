"""One graph, ready to be aligned: each node's call as a word, its operands as numbers. Knows no other graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.ir.alias_sets import AliasSets
from guard.ir.graph import Ref, Token
from guard.ir.spelling import Speller
from guard.ir.type_text import print_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from guard.ir.graph import Arg, Effect, Graph, Node

NONE: tuple[int, ...] = ()
NO_WRITER = -1
PLAIN = frozenset((int, float, bool, type(None)))
VIEW = " {alias 1}"  # as _rest spells the commonest effect
# What a node does even if nothing uses its results
KEPT = frozenset(("write", "rng", "comm", "mode", "barrier"))


class Words(dict["str | tuple[str | int, ...]", int]):
    """Text, the parts of a call, or the numbers of several types, -> number; shared by the graphs that are compared."""

    def __missing__(self, text: str | tuple[str | int, ...]) -> int:
        number = self[text] = len(self)
        return number


class _NoDigests(dict[str, str]):
    """Bodies are aligned by themselves: a call is the same call whatever they hold."""

    def __missing__(self, _name: str) -> str:
        return ""


class Flow:
    """A graph's nodes by position, its values by number: results from 0 in program order, inputs -1, -2, ..."""

    def __init__(self, graph: Graph, words: Words) -> None:
        self.graph = graph
        self.words: list[int] = []
        """Call, literals, effects and tags of each node, without the values that it uses."""
        self.types: list[int] = []
        """Of all results."""
        self.values: list[tuple[int, ...]] = []
        """Used by each node, in order: of arguments, then of effects."""
        self.owners: list[int] = []
        """Result -> node."""
        self.firsts: list[int] = []
        """Node -> its first result."""
        self.symbolic: set[int] = set()
        """Nodes whose arguments have symbols."""
        self.ids = {value.name: -1 - position for position, value in enumerate(graph.inputs)}
        self._words = words
        self._spell(graph.nodes)
        self.orders = _Orders(graph, self).orders
        """Node -> what orders it: (link, the last node before it on that link)."""

    def owner(self, value: int) -> int:
        """Give a value's node; an input is its own."""
        return self.owners[value] if value >= 0 else value

    def operands(self, position: int) -> list[int]:
        """Give the nodes (and inputs) that a node uses."""
        owners = self.owners
        return [owners[value] if value >= 0 else value for value in self.values[position]]

    def used(self, arg: Arg) -> list[int]:
        """Give the values in an output."""
        speller = Speller(_NoDigests())
        speller.arg(arg)
        return [self.ids[name] for name in speller.values]

    def outputs(self) -> list[list[int]]:
        """Give the values of each output."""
        return [self.used(output.value) for output in self.graph.outputs]

    def _spell(self, nodes: Iterable[Node]) -> None:  # noqa: C901, PLR0912 - calls from this loop would cost a tenth of all time
        """Spell each node: most arguments are plain uses, and need no call. In one loop, for it is half of all time."""
        ids, words, owners, firsts = self.ids, self._words, self.owners, self.firsts
        speller, types = Speller(_NoDigests()), _Types(words)
        known, plain = types.known, PLAIN
        add_word, add_values, add_types = self.words.append, self.values.append, self.types.append
        for position, (results, target, args, kwargs, effects, tags, _source) in enumerate(nodes):
            found: list[int] = []
            parts = [target]
            for arg in args:
                kind = type(arg)
                if kind is Ref:
                    found.append(ids[arg[0]])  # type: ignore[index]  # mypy does not narrow by identity
                    parts.append("%")
                elif kind in plain or (kind is tuple and plain.issuperset(map(type, arg))):  # type: ignore[arg-type]
                    parts.append(repr(arg))
                else:
                    parts.append(speller.arg(arg))
                    found += self._taken(speller)
            if (
                effects
                and not (kwargs or tags)
                and len(effects) == 1
                and effects[0][0] == "alias"
                and len(effects[0][1]) == 1
            ):
                parts.append(VIEW)
                found.append(ids[effects[0][1][0]])  # type: ignore[index]  # an alias is of a name
            elif kwargs or effects or tags:
                parts += _rest(speller, kwargs, effects, tags)
                if speller.values:
                    found += self._taken(speller)
            if speller.symbolic:
                self.symbolic.add(position)
                speller.symbolic = False
            add_word(words[tuple(parts)])
            add_values(tuple(found))
            firsts.append(len(owners))
            if len(results) == 1:
                name, type_ = results[0]
                if name is not None:
                    ids[name] = len(owners)
                owners.append(position)
                one = known.get(id(type_))
                add_types(types.of(results) if one is None else one)
                continue
            for name, _type in results:
                if name is not None:
                    ids[name] = len(owners)
                owners.append(position)
            add_types(types.of(results))

    def _taken(self, speller: Speller) -> list[int]:
        """Take the uses that the speller has met."""
        names, speller.values = speller.values, []
        return [self.ids[name] for name in names]


def _rest(
    speller: Speller, kwargs: tuple[tuple[str, Arg], ...], effects: tuple[Effect, ...], tags: tuple[str, ...]
) -> list[str]:
    parts = []
    for key, arg in kwargs:
        kind = type(arg)
        if kind in PLAIN:
            parts.append(f"{key}={arg!r}")
        elif kind is Token:
            parts.append(f"{key}=~{arg[0]!r}{arg[1]!r}")  # type: ignore[index,misc]  # mypy does not narrow by identity
        else:
            parts.append(f"{key}={speller.arg(arg)}")
    for effect, on in effects:
        if effect in ("alias", "write"):
            parts.append(f" {{{effect} {len(on)}}}")
            speller.values += on  # type: ignore[arg-type]  # names
        else:
            parts.append(f" {{{effect} {on}}}")
    if tags:
        parts.append(f" #{tags}")
    return parts


class _Types:
    """Types as numbers; equal ones are mostly one object, which the graph keeps alive."""

    def __init__(self, words: Words) -> None:
        self.known: dict[int, int] = {}
        self._words = words

    def of(self, results: Iterable[tuple[str | None, Any]]) -> int:
        """Number the types of a node's results."""
        numbers = tuple([self._one(type_) for _name, type_ in results])
        return numbers[0] if len(numbers) == 1 else self._words[numbers]

    def _one(self, type_: Any) -> int:
        number = self.known.get(id(type_))
        if number is None:
            number = self.known[id(type_)] = self._words[f"type {print_type(type_)}"]
        return number


class _Orders:
    """What must stay behind what: writes and reads of one storage, draws, collectives, barriers."""

    def __init__(self, graph: Graph, flow: Flow) -> None:
        self.orders: dict[int, list[tuple[str, int]]] = {}
        self._last: dict[str, int] = {}
        if not any(effect[0] in KEPT for node in graph.nodes for effect in node[4]):
            return
        self._sets: Mapping[str, str] = AliasSets(graph).written
        sets = self._sets
        of_value = {flow.ids[name]: link for name, link in sets.items() if name in flow.ids}
        barrier = False
        for position, node in enumerate(graph.nodes):
            links: list[str] = []
            if of_value:
                links += [f"storage {of_value[v]}" for v in flow.values[position] if v in of_value]
            links += ["barrier"] if barrier else []
            if node.effects:
                links += self._enter(node)
            if links:
                self.orders[position] = [(link, self._last.get(link, NO_WRITER)) for link in dict.fromkeys(links)]
            for kind, on in node.effects:
                barrier = self._advance(position, kind, on) or barrier

    def _enter(self, node: Node) -> list[str]:
        links = [f"rng {device}" for kind, on in node.effects if kind == "rng" for device in on or ("",)]
        return links + ["comm" for kind, _on in node.effects if kind == "comm"]

    def _advance(self, position: int, kind: str, on: tuple[str | int, ...]) -> bool:
        if kind == "write":
            self._last.update({f"storage {self._sets[str(name)]}": position for name in on})
        elif kind == "rng":
            self._last.update({f"rng {device}": position for device in on or ("",)})
        elif kind == "comm":
            self._last["comm"] = position
        elif kind in ("mode", "barrier"):
            self._last["barrier"] = position
        return kind in ("mode", "barrier")


def alive(flow: Flow) -> list[bool]:
    """Tell of each node whether an output or an effect needs it."""
    live = [False] * len(flow.words)
    for values in flow.outputs():
        for value in values:
            if value >= 0:
                live[flow.owners[value]] = True
    nodes, owners = flow.graph.nodes, flow.owners
    for position in range(len(live) - 1, -1, -1):
        if live[position] or any(kind in KEPT for kind, _on in nodes[position].effects):
            live[position] = True
            for value in flow.values[position]:
                if value >= 0:
                    live[owners[value]] = True
    return live


def spelled(node: Node) -> str:
    """Spell a call without its values and bodies."""
    return Speller(_NoDigests()).node(node)
