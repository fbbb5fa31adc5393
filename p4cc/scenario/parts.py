"""The parts of a scenario for people: each field with type, unit, default and description, from the schema itself."""

from __future__ import annotations

import difflib
import textwrap
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.scenario.schema import ScenarioModel
from topos.units import held, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic.json_schema import JsonSchemaValue as Node

    from p4cc.json_data import JsonValue

MAX_NESTED = 2
MAX_DEFAULT = 30
"""Longest default of a mapping that is shown, in characters; longer ones only repeat the fields' defaults."""
MIN_SHOWN = 10_000
"""Numbers from here on are also shown with a unit."""
WORDS = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "object": "mapping",
}


@dataclass(frozen=True)
class Part:
    """The target of a path: a field, and the mappings that it accepts (several if it has kinds)."""

    path: str
    field: Node
    required: bool

    @property
    def mappings(self) -> list[Node]:
        """Mappings allowed here, also in lists."""
        return list(_mappings(self.field))


@cache
def schema() -> Node:
    """The JSON Schema of a scenario."""
    return ScenarioModel.model_json_schema()


def find(path: str) -> Part:
    """The part that a dotted path names, with kinds as steps (`topology.leaf_spine`); raises UserError."""
    part = Part("", schema(), required=True)
    for step in path.split("."):
        if step == "*" or step.isdecimal():
            continue
        inner = _step(part, step)
        if inner is None:
            known = steps(part)
            close = difflib.get_close_matches(step, known, n=1)
            within = part.path or "a scenario"
            remedy = f"did you mean {close[0]!r}?" if close else f"parts there: {', '.join(known) or 'none'}"
            raise UserError(f"{within} has no part {step!r}", place=f"p4cc schema {path}", remedy=remedy)
        part = inner
    return part


def at(steps: Sequence[int | str], kinds: Sequence[str | None]) -> Part | None:
    """The part at a location of a scenario's data; `kinds` has the kind that the data chose at each step, if any."""
    part = Part("", schema(), required=True)
    for step, kind in zip(steps, kinds, strict=True):
        if isinstance(step, str):
            inner = _step(part, step)
            if inner is None:
                return None
            part = inner
        if kind is not None and len(part.mappings) > 1:
            part = _step(part, kind) or part
    return part


def names() -> list[str]:
    """The parts of a scenario."""
    return list(schema()["properties"])


def text(part: Part, width: int) -> str:
    """A part for people, in lines of this width."""
    return "\n".join(_lines(part, width))


def type_text(name: str, node: Node) -> str:
    """A field's values: its type with the range, and the unit that its name ends in."""
    unit = held(name)
    found = " or ".join(dict.fromkeys(_type(branch) for branch in _branches(node)))
    return found if unit is None else f"{found}: {unit[0]}, such as {unit[1]}"


def kinds_of(node: Node) -> list[str]:
    """Names of the kinds that a mapping is of; its own name where fields tell it from others."""
    kind = node.get("properties", {}).get("kind")
    if kind is None:
        return [node["title"]] if "title" in node else []
    return [kind["const"]] if "const" in kind else list(kind.get("enum", []))


def steps(part: Part) -> list[str]:
    """Steps that lead on from a part: its kinds, or its fields."""
    mappings = part.mappings
    kinds = [kind for mapping in mappings for kind in kinds_of(mapping)] if len(mappings) > 1 else []
    return sorted({*kinds, *(name for mapping in mappings for name in mapping["properties"])})


def kinds_at(part: Part) -> list[str]:
    """Names of all kinds allowed at a part."""
    return [kind for mapping in part.mappings for kind in kinds_of(mapping)]


def about(part: Part) -> str:
    """A field's purpose: the first sentence of its description."""
    return " ".join(_merged(part.field).get("description", "").split()).partition(". ")[0]


def _lines(part: Part, width: int) -> Iterator[str]:
    mappings = part.mappings
    if len(mappings) == 1:
        about = mappings[0].get("description", "")
        yield from textwrap.wrap(f"{part.path}: {_first(about)}", width)
        for paragraph in about.split("\n\n")[1:]:
            yield from textwrap.wrap(" ".join(paragraph.split()), width)
        yield ""
        yield from _fields(part.path, mappings[0], "  ", width, 0)
        return
    yield from _field(part.path, part.path.rsplit(".", 1)[-1], part.field, ("", width), MAX_NESTED, part.required)


def _fields(path: str, mapping: Node, indent: str, width: int, depth: int) -> Iterator[str]:
    required = mapping.get("required", [])
    for name, node in mapping.get("properties", {}).items():
        yield from _field(f"{path}.{name}", name, node, (indent, width), depth, name in required)


def _field(path: str, name: str, node: Node, page: tuple[str, int], depth: int, required: bool) -> Iterator[str]:
    indent, width = page
    inside = indent + "    "
    mappings = list(_mappings(node))
    yield f"{indent}{name}{_default(name, node, required, bool(mappings))}"
    if description := _merged(node).get("description"):
        yield from textwrap.wrap(" ".join(description.split()), width, initial_indent=inside, subsequent_indent=inside)
    is_list = any(branch.get("type") == "array" for branch in _branches(node))
    if not mappings:
        yield from textwrap.wrap(type_text(name, node), width, initial_indent=inside, subsequent_indent=inside)
        return
    kinds = [kind for one in mappings for kind in kinds_of(one)]
    if len(mappings) > 1:
        said = f"{'a list of, or one of' if is_list else 'one of'}: {', '.join(kinds)} (p4cc schema {path}.{kinds[0]})"
        yield from textwrap.wrap(said, width, initial_indent=inside, subsequent_indent=inside)
    elif depth >= MAX_NESTED:
        yield f"{inside}p4cc schema {path}"
    else:
        yield f"{inside}{'a list of mappings' if is_list else 'a mapping'} of"
        yield from _fields(path, mappings[0], inside + "  ", width, depth + 1)


def _default(name: str, node: Node, required: bool, nested: bool) -> str:
    if required:
        return " (required)"
    value = _merged(node).get("default")
    plain = _plain(value)
    if nested and len(plain) > MAX_DEFAULT:
        return ""
    if held(name) is not None and isinstance(value, int) and value >= MIN_SHOWN:
        plain += f" ({shown(name, value)})"
    return f" = {plain}"


def _plain(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_plain(one) for one in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_plain(one)}' for key, one in value.items() if one is not None)}}}"
    if isinstance(value, int | float):
        return f"{value:_}" if isinstance(value, int) else f"{value:g}"
    return '""' if value == "" else str(value)


def _first(about: str) -> str:
    return " ".join(about.partition("\n\n")[0].split())


def _type(node: Node) -> str:
    if "const" in node:
        return str(node["const"])
    if "enum" in node:
        return ", ".join(str(one) for one in node["enum"])
    kind = node.get("type", "any value")
    if kind == "array":
        inner = " or ".join(dict.fromkeys(_type(branch) for branch in _branches(node.get("items", {}))))
        return f"list of {inner}"
    return f"{WORDS.get(kind, kind)}{_range(node)}"


def _range(node: Node) -> str:
    """The bounds of a number or of a text."""
    low, above = node.get("minimum"), node.get("exclusiveMinimum")
    high, below = node.get("maximum"), node.get("exclusiveMaximum")
    if low is None and above is not None and node.get("type") == "integer":
        low, above = above + 1, None
    if high is None and below is not None and node.get("type") == "integer":
        high, below = below - 1, None
    words = [
        f"{word} {_plain_number(value)}"
        for word, value in (("from", low), ("above", above), ("to" if low is not None else "at most", high))
        if value is not None
    ]
    if below is not None:
        words.append(f"below {_plain_number(below)}")
    if "pattern" in node:
        words.append(f"that matches {node['pattern']}")
    return "".join(f" {word}" for word in words)


def _plain_number(value: float) -> str:
    return f"{value:_}" if isinstance(value, int) else f"{value:_.10g}"


def _merged(node: Node) -> Node:
    """A node merged with its reference, its own keys first."""
    reference = node.get("$ref")
    if reference is None:
        return node
    return {**schema()["$defs"][reference.rsplit("/", 1)[-1]], **node}


def _branches(node: Node) -> Iterator[Node]:
    """The alternatives of a node, references resolved."""
    found = _merged(node)
    several = found.get("anyOf") or found.get("oneOf")
    if several is None:
        yield found
        return
    for one in several:
        yield from _branches(one)


def _mappings(node: Node) -> Iterator[Node]:
    """Mappings with fields allowed at a node, also in lists."""
    seen: list[str] = []
    for branch in _branches(node):
        inner = _mappings(branch["items"]) if branch.get("type") == "array" and "items" in branch else iter((branch,))
        for one in inner:
            if "properties" in one and one.get("title", "") not in seen:
                seen.append(one.get("title", ""))
                yield one


def _step(part: Part, step: str) -> Part | None:
    mappings = part.mappings
    path = f"{part.path}.{step}".lstrip(".")
    if len(mappings) > 1:
        for mapping in mappings:
            if step in kinds_of(mapping):
                return Part(path, mapping, part.required)
    for mapping in mappings:
        if step in mapping["properties"]:
            return Part(path, mapping["properties"][step], step in mapping.get("required", []))
    return None
