"""A program's dissector: its parser as a table of Lua, and code that runs it on each packet."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING, TypedDict, cast

from p4cc.dissector import lua
from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p4cc.json_data import JsonObject, JsonValue

MAX_FIELDS = 20_000
"""Of all header types, as Wireshark registers each."""
_MAX_NAME = 60
"""Characters of a name that become part of a filter's name."""


class _FieldSpec(TypedDict):
    name: str
    var: JsonValue
    width: int
    varbit: JsonValue


class _HeaderSpec(TypedDict):
    name: str
    type: str
    fields: list[_FieldSpec]


class _ParserSpec(TypedDict):
    """A program's parser (`CompiledProgram.parser`)."""

    headers: list[_HeaderSpec]
    stacks: list[dict[str, JsonValue]]
    widths: JsonValue
    blocks: list[dict[str, JsonValue]]


def transport_dissector() -> str:
    """The dissector of p4cc's transport header, and of its option of TCP."""
    return "\n".join(f"do\n{_source(name)}end\n" for name in ("transport.lua", "feedback.lua"))


def program_dissector(parser: JsonObject, name: str) -> str:
    """The dissector of a program (`CompiledProgram.parser`) of this name; raises UserError."""
    graph = _graph(cast("_ParserSpec", parser), name)
    return f"local graph = {lua.literal(graph)}\n\n{_source('runtime.lua')}"


def _source(file: str) -> str:
    return (resources.files("p4cc.dissector") / file).read_text(encoding="utf-8")


def _graph(parser: _ParserSpec, name: str) -> dict[str, JsonValue]:
    types: dict[str, int] = {}
    listed: list[JsonObject] = []
    headers: list[JsonObject] = []
    abbreviation = f"p4_{_word(name)}"
    type_words, count = _Words(), 0
    for header in parser["headers"]:
        if header["type"] not in types:
            types[header["type"]] = len(types) + 1
            prefix = f"{abbreviation}.{type_words.new(header['type'])}"
            listed.append({"name": header["type"], "fields": _fields(header["fields"], prefix)})
            count += len(header["fields"])
        variables = [field["var"] for field in header["fields"]]
        headers.append({"name": header["name"], "type": types[header["type"]], "vars": variables})
    if count > MAX_FIELDS:
        cause = f"its header types have {count} fields; Wireshark supports {MAX_FIELDS} per program"
        raise UserError(cause, place=name, remedy="remove header types that no packet uses")
    return {
        "abbreviation": abbreviation,
        "title": f"P4 program {name}",
        "types": listed,
        "headers": headers,
        "stacks": [stack["elements"] for stack in parser["stacks"]],
        "widths": parser["widths"],
        "blocks": [{"ops": block["ops"], "end": block["end"]} for block in parser["blocks"]],
    }


def _fields(fields: Iterable[_FieldSpec], prefix: str) -> list[JsonObject]:
    words = _Words()
    return [
        {
            "name": field["name"],
            "abbreviation": f"{prefix}.{words.new(field['name'])}",
            "width": field["width"],
            "varbit": field["varbit"],
        }
        for field in fields
    ]


class _Words:
    """Names for filters, each once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def new(self, name: str) -> str:
        word = base = _word(name)
        while word in self._taken:
            # Counted on from the last: many fields may share what is left of their names.
            self._numbers[base] = self._numbers.get(base, 1) + 1
            word = f"{base}_{self._numbers[base]}"
        self._taken.add(word)
        return word


def _word(name: str) -> str:
    """What Wireshark takes in the name of a filter."""
    return re.sub(r"[^a-z0-9_]", "_", name.lower())[:_MAX_NAME] or "_"
