"""Text of programs and graphs, in program order. docs/grammar.md is the grammar; the parser reads exactly this back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from guard.ir.arg_text import TEXT, one_line, print_arg, print_ref, rows, wrap
from guard.ir.expr_text import print_expr
from guard.ir.graph import EFFECTS, Ref
from guard.ir.literals import device, keyword, quote, word
from guard.ir.ranks import print_ranks
from guard.ir.type_text import print_type

if TYPE_CHECKING:
    from guard.ir.graph import CaptureError, Effect, Event, Graph, Input, Node, Output, Program
    from guard.ir.types import Type

__all__ = ["FORMAT", "print_graph", "print_node", "print_program", "print_type"]

FORMAT = 1
# Said in words, so that a file that was cut off behind its header is not taken for a program without graphs.
NO_GRAPHS = "no graphs"
LINE_WIDTH = 100
_TAG = re.compile(r"[A-Za-z0-9_.-]+")
_KIND = re.compile(r"[a-z0-9-]+")


def print_program(program: Program) -> str:
    """Print one file: header, then graphs and bodies, or the error in their place.

    What is carried for messages alone is not printed: sources, an error's cause, the partial graph.
    """
    lines = [f"guard-graph {FORMAT}", f"check {header_text(program.check)}", f"tracer {header_text(program.tracer)}"]
    lines += [_event(event) for event in program.events]
    if program.error is not None:
        return "\n".join([*lines, *_error(program.error), ""])
    if not program.graphs:
        return "\n".join([*lines, NO_GRAPHS, ""])
    texts = [print_graph(graph) for graph in program.graphs]
    texts += [print_graph(body, "body") for body in program.bodies]
    return "\n".join([*lines, *(f"\n{text}" for text in texts), ""])


def print_graph(graph: Graph, opening: str = "graph") -> str:
    """Print one graph from its signature to its closing brace, without a final line break."""
    lines = [_signature(graph, opening)]
    if graph.where:
        constraints = rows([print_expr(constraint) for constraint in graph.where]).replace("\n", "\n    ")
        lines.append(f"  where {constraints}")
    if graph.in_tree is not None:
        lines.append(f"  inputs {graph.in_tree}")
    if graph.out_tree is not None:
        lines.append(f"  outputs {graph.out_tree}")
    if graph.device != "cpu":
        lines.append(f"  device {device(graph.device)}")
    _body(graph.nodes, lines)
    values = rows([print_arg(output.value) for output in graph.outputs]).replace("\n", "\n    ")
    lines.append(f"  return {values}" if values else "  return")
    lines.append("}")
    return "\n".join(lines)


def print_node(node: Node) -> str:
    """Print one node on one line, without indentation."""
    lines: list[str] = []
    _body((node,), lines)
    return one_line(lines[0]).strip()


def header_text(text: str) -> str:
    """Spell a check's id or a tracer: bare to the end of the line, quoted where that would not be read back."""
    plain = text.isprintable() and text == text.strip() and text and not text.startswith('"')
    return text if plain else quote(text)


class _Refs(dict[str, str]):
    """Values' names as they print, each spelled once."""

    def __missing__(self, key: str) -> str:
        # a node's own number needs no look at its letters
        text = self[key] = f"%{key}" if key.isdecimal() and key.isascii() else print_ref(key)
        return text


class _Keywords(dict[str, str]):
    """Names of keyword arguments as they print, each spelled once."""

    def __missing__(self, key: str) -> str:
        text = self[key] = keyword(key)
        return text


class _Words(dict[str, str]):
    """Targets as they print, each spelled once."""

    def __missing__(self, key: str) -> str:
        text = self[key] = word(key)
        return text


def _body(nodes: tuple[Node, ...], lines: list[str]) -> None:
    """Print nodes, the only part of a file that grows: each type, name and target is spelled once."""
    refs, words, keywords, types = _Refs(), _Words(), _Keywords(), _Types()
    texts, known = TEXT, types.texts
    for results, target, args, kwargs, effects, tags, _source in nodes:
        parts = [refs[arg[0]] if type(arg) is Ref else texts[type(arg)](arg) for arg in args]
        if kwargs:
            parts += [f"{keywords[key]}={texts[type(arg)](arg)}" for key, arg in kwargs]
        given = ", ".join(parts) if len(parts) <= 16 else wrap(parts)  # noqa: PLR2004 - LINE_ITEMS
        tail = _tail(effects, tags, refs) if effects or tags else ""
        if len(results) == 1:
            value, type_ = results[0]
            text = known.get(id(type_)) or types[type_]
            name = "_" if value is None else refs[value]
            lines.append(f"  {name}: {text} = {words[target]}({given}){tail}")
        else:
            left = ", ".join([f"{'_' if value is None else refs[value]}: {types[type_]}" for value, type_ in results])
            lines.append(f"  {left}{' = ' if left else ''}{words[target]}({given}){tail}")


def _tail(effects: tuple[Effect, ...], tags: tuple[str, ...], refs: _Refs) -> str:
    text = f" {{{', '.join([_effect(effect, refs) for effect in effects])}}}" if effects else ""
    return text + "".join([f" #{_tag(tag)}" for tag in tags])


class _Types:
    """Types as they print. Lowering interns them, so that identity finds most; the nodes keep them alive."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}

    def __getitem__(self, type_: Type) -> str:
        text = self.texts.get(id(type_))
        if text is None:
            text = self.texts[id(type_)] = print_type(type_)
        return text


def _effect(effect: Effect, refs: _Refs) -> str:
    kind, on = effect
    if not on:
        return kind
    if kind in ("alias", "write"):
        return f"{kind} {', '.join([refs[item] if isinstance(item, str) else str(item) for item in on])}"
    ranks = [item for item in on if isinstance(item, int)]
    return f"{kind} {print_ranks(ranks) if len(ranks) == len(on) else ', '.join([_place(item) for item in on])}"


def _place(item: str | int) -> str:
    """Print a device or a rank; a device that is called like an effect would start another one."""
    if isinstance(item, int):
        return str(item)
    return quote(item) if item in EFFECTS else device(item)


def _tag(tag: str) -> str:
    return tag if _TAG.fullmatch(tag) else quote(tag)


def _signature(graph: Graph, opening: str) -> str:
    start = f"{opening} {word(graph.name)}("
    inputs = [_input(value) for value in graph.inputs]
    names = {value.name for value in graph.inputs}
    outputs = [_output(value, names) for value in graph.outputs]
    line = f"{start}{', '.join(inputs)}) -> ({', '.join(outputs)}) {{"
    if len(line) <= LINE_WIDTH:
        return line
    head = f"{start}{_one_a_line(inputs)}) -> ("
    short = f"{', '.join(outputs)}) {{"
    last = len(head) - head.rfind("\n") - 1 + len(short)
    return head + (short if last <= LINE_WIDTH else f"{_one_a_line(outputs)}) {{")


def _one_a_line(items: list[str]) -> str:
    return "\n  " + ",\n  ".join(items) + "\n" if items else ""


def _input(value: Input) -> str:
    text = f"{print_ref(value.name)}: {print_type(value.type)}"
    if value.role != "input":
        text = f"{value.role} {text}"
    if value.labels:
        text += f" also {', '.join(map(quote, value.labels))}"
    return text if value.alias is None else f"{text} alias {print_ref(value.alias)}"


def _output(output: Output, inputs: set[str]) -> str:
    of = "" if output.of is None else f"{_of(output.of, inputs)}: "
    role = "" if output.role == "output" and not of else f"{output.role} "
    return f"{role}{of}{_outer_type(output)}"


def _of(name: str, inputs: set[str]) -> str:
    """Print an input of this graph as a value, one of the forward's (in a backward graph) as a quoted label."""
    return print_ref(name) if name in inputs else quote(name)


def _outer_type(output: Output) -> str:
    if output.type is not None:
        return print_type(output.type)
    return "None" if output.value is None else "literal"


def _event(event: Event) -> str:
    at = f" at {quote(event.code)}" if event.code else ""
    return f"{event.kind} {quote(event.reason)}{at}"


def _error(error: CaptureError) -> list[str]:
    kind = error.kind if _KIND.fullmatch(error.kind) else quote(error.kind)
    code = [f"code {quote(error.code)}"] if error.code else []
    return [f"error {kind}", f"line {quote(error.line)}", *code, f"fingerprint {error.fingerprint}"]
