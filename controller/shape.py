"""What a program offers to whoever fills its tables, by P4Info or BF Runtime's bf-rt.json: names, kinds, widths."""

from collections.abc import Mapping
from dataclasses import dataclass

from finsy import P4Schema
from finsy.p4schema import P4MatchField

Widths = Mapping[str, int]
"""Bits by name."""


@dataclass(frozen=True)
class TableShape:
    """A table: its keys by how they are matched (`exact`, `range`, ...) and width, and its actions' parameters."""

    name: str
    keys: Mapping[str, tuple[str, int]]
    actions: Mapping[str, Widths]


@dataclass(frozen=True)
class Shape:
    """Tables of a program by their names, and the names of its counters with an index."""

    tables: Mapping[str, TableShape]
    counters: frozenset[str]


def shape_of(schema: P4Schema) -> Shape:
    """The shape of a P4Info."""
    tables: dict[str, TableShape] = {}
    for table in schema.tables:
        keys = {key.name: (_kind(key), key.bitwidth) for key in table.match_fields}
        actions = [schema.actions[ref.id] for ref in table.actions]
        params = {action.name: {param.name: param.bitwidth for param in action.params} for action in actions}
        tables[table.name] = TableShape(table.name, keys, params)
    return Shape(tables, frozenset(counter.name for counter in schema.counters))


def _kind(key: P4MatchField) -> str:
    kind = key.match_type
    # A kind of another architecture has no number in P4Runtime, and is there as text.
    return kind if isinstance(kind, str) else kind.name.lower()
