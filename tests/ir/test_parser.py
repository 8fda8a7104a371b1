from __future__ import annotations

import pytest

from guard.errors import GraphSyntaxError
from guard.ir.canonical import equal
from guard.ir.graph import Program
from guard.ir.parser import MAX_BYTES, parse_bytes, parse_program
from guard.ir.printer import print_program

HEADER = "guard-graph 1\ncheck c\ntracer t\n"
GRAPH = "graph main(%a: f32[2]) -> (f32[2]) {\n  %0: f32[2] = aten.neg.default(%a)\n  return %0\n}\n"
GOOD = f"{HEADER}\n{GRAPH}"


def body(line: str, returned: str = "%a") -> str:
    return f"{HEADER}\ngraph main(%a: f32[2]) -> (f32[2]) {{\n  {line}\n  return {returned}\n}}\n"


def signature(inputs: str, outputs: str = "", returned: str = "") -> str:
    return f"{HEADER}\ngraph main({inputs}) -> ({outputs}) {{\n  return{returned}\n}}\n"


# what is wrong: text, line, column, part of the message
WRONG = {
    "empty file": ("", 1, 1, "this is no graph file"),
    "another format": (GOOD.replace("graph 1", "graph 2"), 1, 1, "another version"),
    "conflict in a body": (body("<<<<<<< HEAD\n"), 6, 3, "wanted an operator"),
    "conflict marker": (GOOD.replace("  %0: ", "<<<<<<< HEAD\n  %0: "), 6, 1, "merge conflict marker"),
    "conflict middle": (GOOD.replace("  return", "=======\n  return"), 7, 1, "merge conflict marker"),
    "NUL": (GOOD.replace("neg", "n\0g"), 6, 22, "NUL"),
    "no tracer": ("guard-graph 1\ncheck c\n", 3, 1, '"tracer "'),
    "no graph": (HEADER, 4, 1, 'wanted "graph"'),
    "cut off": (GOOD[:-3], 7, 12, "end of the file"),
    "no body": (f"{HEADER}graph main() -> ()\n", 5, 1, 'wanted "{"'),
    "trailing words": (GOOD + "extra\n", 9, 1, 'wanted "graph"'),
    "second graph on a line": (GOOD.rstrip("\n") + " " + GRAPH, 8, 3, "the end of the line"),
    "garbage behind a node": (GOOD.replace("(%a)", "(%a) f(%a)"), 6, 37, "the end of the line"),
    "graph defined twice": (f"{GOOD}\n{GRAPH}", 10, 1, '"main" is defined twice'),
    "value defined twice": (GOOD.replace("%0", "%a"), 6, 3, '"%a" is defined twice'),
    "input defined twice": (signature("%a: ?, %a: ?"), 5, 19, '"%a" is defined twice'),
    "use before definition": (GOOD.replace("(%a)", "(%0)"), 6, 16, '"%0" is used before'),
    "effect on nothing": (GOOD.replace("(%a)", "(%a) {alias %b}"), 6, 16, '"%b" is used before'),
    "return of nothing": (GOOD.replace("return %0", "return %1"), 7, 10, '"%1" is used before'),
    "unknown role": (signature("weight %a: ?"), 5, 12, "a role of an input"),
    "unknown effect": (GOOD.replace("(%a)", "(%a) {reads %a}"), 6, 38, "wanted an effect"),
    "unknown dtype": (GOOD.replace("%0: f32", "%0: f31"), 6, 7, "a dtype such as f32"),
    "unknown word": (body("f(whatever)"), 6, 5, "a symbol such as s0"),
    "unknown escape": (body(r'f("\q")'), 6, 5, r'"\q" is not known'),
    "code point out of range": (body(r'f("\UFFFFFFFF")'), 6, 5, ""),
    "open string": (body('f("abc)'), 6, 5, "a string is not closed"),
    "huge integer": (body(f"f({'9' * 5000})"), 6, 5, "integer has 5000 digits"),
    "huge float": (body("f(1e999)"), 6, 5, "out of range"),
    "deep list": (body(f"f({'[' * 5000}{']' * 5000})"), 6, 55, "levels of nesting"),
    "deep expression": (body(f"f({'(' * 5000}1{')' * 5000})"), 6, 56, "levels of nesting"),
    "long chain": (body(f"f(s0{' // 2' * 5000})"), 6, 263, "levels of nesting"),
    "deep type": (signature(f"%a: {'list(' * 5000}"), 5, 266, "levels of nesting"),
    "deep tree": (body(f"inputs {'[' * 5000}"), 6, 61, "levels of nesting"),
    "positional behind keyword": (body("f(x=1, 2)"), 6, 10, "a keyword argument"),
    "keyword twice": (body("f(x=1, x=2)"), 6, 10, '"x" is given twice'),
    "trailing comma": (body("f(1, )"), 6, 8, "wanted an argument"),
    "more values than the signature": (body("f()", "%a, %a"), 7, 3, "returns 2 values, its signature names 1"),
    "two-part slice": (body("f(slice(1, 2))"), 6, 5, "a slice has 3 parts"),
    "missing body": (body("f(@body_1)"), 6, 3, '"@body_1" is used, but the file does not define it'),
    "body that uses itself": (body("f(@b)") + "body b() -> () {\n  f(@b)\n  return\n}\n", 6, 3, '"@b" uses itself'),
    "graph behind a body": (f"{GOOD}body b() -> () {{\nreturn\n}}\ngraph x() -> () {{\nreturn\n}}\n", 12, 1, '"body"'),
    "alias of a later input": (signature("%a: ? alias %b, %b: ?"), 5, 24, '"%b" is used before'),
    "a node that starts like a role": (signature("%a: f32[2] requires"), 5, 23, ""),
    "inner requires_grad": (signature("%a: dt<f32[2] requires_grad, mesh(2), [R]> local f32[2]"), 5, 39, "behind"),
    "placement": (signature("%a: dt<f32[2], mesh(2), [T]> local f32[2]"), 5, 37, "wanted a placement"),
    "float dimension": (signature("%a: f32[2.0]"), 5, 20, "wanted an integer or an expression"),
    "binary minus": (body("f(s0 - s1)"), 6, 10, "an integer behind the minus sign"),
    "unknown event": (HEADER + 'break "x" in "y"\n' + GRAPH, 4, 1, "wanted an event"),
    "error with graphs": (f'{HEADER}error other\nline "x"\nfingerprint 0123456789ab\n{GRAPH}', 7, 1, "in place of"),
    "error without fingerprint": (f'{HEADER}error other\nline "x"\n', 6, 1, '"fingerprint "'),
    "short fingerprint": (f'{HEADER}error other\nline "x"\nfingerprint 0123\n', 6, 13, "12 hex digits"),
    "a bad character": (body("f(%a);"), 6, 8, 'character ";" has no place here'),
    "a carriage return alone": (body("f(%a)\r f(%a)"), 6, 8, r'character "\r" has no place here'),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named_with_its_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(GraphSyntaxError) as caught:
        parse_program(text, "x.graph")
    assert (caught.value.line, caught.value.column) == (line, column), caught.value
    assert message in caught.value.message
    assert str(caught.value).startswith(f"x.graph:{line}:{column}: ")


@pytest.mark.parametrize("end", range(len(GOOD) - 2))
def test_every_truncation_is_refused(end: int) -> None:
    with pytest.raises(GraphSyntaxError):
        parse_program(GOOD[:end])


def test_crlf_and_a_byte_order_mark_read_the_same() -> None:
    wanted = parse_program(GOOD)
    assert parse_program(GOOD.replace("\n", "\r\n")) == wanted
    assert parse_bytes(b"\xef\xbb\xbf" + GOOD.encode()) == wanted


def test_bytes_that_are_not_utf8_are_named_with_their_place() -> None:
    with pytest.raises(GraphSyntaxError, match=r"^x:2:7: the file is not UTF-8$"):
        parse_bytes(b"guard-graph 1\ncheck \xff\n", "x")


def test_a_file_over_64_mib_is_refused() -> None:
    with pytest.raises(GraphSyntaxError, match="64 MiB"):
        parse_bytes(b" " * (MAX_BYTES + 1))


def test_what_cannot_be_printed_bare_is_quoted_in_the_header() -> None:
    for check in ("", " a", "a ", '"a"', "a\nb", "a\u2028b", "\ud800", "tést::ü"):
        program = Program(check, "t")
        assert parse_program(print_program(program)) == program


DEEP = {
    "lists": ("[", "", "]"),
    "dicts": ('{"a": ', "1", "}"),
    "slices": ("slice(1, 1, ", "1", ")"),
    "quotients": ("(", "s0", " // 2)"),
    "calls": ("ceil(", "s0", ")"),
    "denials": ("not (", "s0", ")"),
}


@pytest.mark.parametrize(("start", "middle", "end"), DEEP.values(), ids=DEEP)
def test_twenty_levels_are_read_printed_and_compared(start: str, middle: str, end: str) -> None:
    program = parse_program(body(f"f({start * 20}{middle}{end * 20})"))
    assert parse_program(print_program(program)) == program
    assert equal(program, program)
