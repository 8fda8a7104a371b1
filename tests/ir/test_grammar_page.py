from __future__ import annotations

import re
from pathlib import Path

import pytest

from guard.ir.parser import parse_program
from guard.ir.printer import print_program

PAGE = (Path(__file__).parents[2] / "docs" / "grammar.md").read_text(encoding="utf-8")
HEADER = "guard-graph 1\ncheck c\ntracer t\n\n"


def block(heading: str) -> list[str]:
    """Give the lines of the first code block below a heading."""
    lines = PAGE.split(f"{heading}\n", 1)[1].splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("    "))
    end = next(place for place in range(start, len(lines)) if lines[place] and not lines[place].startswith("    "))
    return [line[4:] for line in lines[start:end]]


def items(heading: str) -> list[str]:
    """Give those lines without the remarks behind them."""
    return [re.split(r" +# ", line)[0] for line in block(heading) if line]


def read_back(line: str, inputs: str = "%a: f32[4], %0: ?, %4: ?, %flag: ?") -> None:
    text = f"{HEADER}graph main({inputs}) -> () {{\n  {line}\n  return\n}}\n\nbody body_1() -> () {{\n  return\n}}\n"
    assert print_program(parse_program(text)) == text


def test_the_first_example_prints_as_it_stands() -> None:
    text = "\n".join(block("# The text of a graph")).rstrip("\n") + "\n"
    assert print_program(parse_program(text)) == text


@pytest.mark.parametrize("line", items("## Nodes"))
def test_nodes(line: str) -> None:
    defined = re.findall(r"%([0-9]):", line)
    read_back(line, ", ".join(f"%{name}: ?" for name in ("a", "b", "flag", *"01234") if name not in defined))


@pytest.mark.parametrize("types", items("## Types"))
def test_types(types: str) -> None:
    for type_ in re.split(r" {2,}", types):
        read_back(f"_: {type_} = f()")


def test_arguments() -> None:
    table = PAGE.split("## Arguments\n", 1)[1].split("\n\n")[0].splitlines()[3:]
    args = [arg for row in table for arg in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
    assert len(args) > 15
    for arg in args:
        read_back(f"f({arg})")
