"""Does plain data have the shape that a JSON schema asks for? The words of that language that guard uses. Pure."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "run.schema.json"
# bool is a number to Python, not to JSON
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_KNOWN = frozenset(
    ("$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "enum", "minimum", "minLength")
) | {"required", "properties", "additionalProperties", "items"}


def run_schema() -> dict[str, Any]:
    """Return the schema of run.json, which docs/json.md describes."""
    found: dict[str, Any] = json.loads(files("guard.report").joinpath(FILE).read_bytes())
    return found


def problem(data: object, schema: dict[str, Any]) -> str | None:
    """Return the first thing that is wrong, with the key that it is at; None where the data have the shape.

    Raises:
        KeyError: The schema uses a word that is not known here: to leave it out would check less than it says.
    """
    return next(_problems(data, schema, schema, ""), None)


def _problems(data: object, schema: dict[str, Any], top: dict[str, Any], where: str) -> Iterator[str]:
    if unknown := schema.keys() - _KNOWN:
        raise KeyError(f"no rule for {', '.join(sorted(unknown))}")
    if "$ref" in schema:
        yield from _problems(data, top["$defs"][schema["$ref"].removeprefix("#/$defs/")], top, where)
        return
    wanted = _wanted(data, schema)
    if wanted:
        yield f'"{where or "the file"}": wanted {wanted}, got {_short(data)}'
    elif isinstance(data, dict):
        yield from _in_object(data, schema, top, where)
    elif isinstance(data, list) and "items" in schema:
        for place, item in enumerate(data):
            yield from _problems(item, schema["items"], top, f"{where}[{place}]")


def _in_object(data: dict[str, Any], schema: dict[str, Any], top: dict[str, Any], where: str) -> Iterator[str]:
    for key in schema.get("required", ()):
        if key not in data:
            yield f'"{_at(where, key)}": is not there'
    own = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for key, value in data.items():
        rule = own.get(key, others)
        if isinstance(rule, dict):
            yield from _problems(value, rule, top, _at(where, key))
        elif rule is False:
            yield f'"{_at(where, key)}": is not known'


def _wanted(data: object, schema: dict[str, Any]) -> str:
    """Say what a value itself should have been, "" where it is."""
    types = schema.get("type", list(_TYPES))
    names = [types] if isinstance(types, str) else types
    if not any(_is(data, name) for name in names):
        return " or ".join(names)
    if "const" in schema and data != schema["const"]:
        return repr(schema["const"])
    if "enum" in schema and data not in schema["enum"]:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if isinstance(data, (int, float)) and not data >= schema.get("minimum", data):
        return f"{schema.get('minimum', 'a number')} or more"
    if isinstance(data, str) and len(data) < schema.get("minLength", 0):
        return "text"
    return ""


def _is(data: object, name: str) -> bool:
    return isinstance(data, _TYPES[name]) and (name == "boolean" or not isinstance(data, bool))


def _at(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _short(data: object) -> str:
    text = type(data).__name__ if isinstance(data, (dict, list)) else repr(data)
    return text if len(text) <= 60 else f"{text[:60]}..."  # noqa: PLR2004 - of a line
