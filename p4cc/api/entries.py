"""Tables, counters and registers of a switch by name: read as frames, written as messages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import polars as pl
from finsy.p4schema import P4Counter, P4CounterUnit, P4MatchType, P4Register
from finsy.proto import p4d, p4r

from controller.codec import from_entity, to_entity, to_key
from controller.entities import ActionCall, Entry
from controller.readable import parts, read_entry, shown
from controller.resolve import find_named, resolve_entry, resolve_key
from p4cc.errors import UserError
from p4cc.planning.entries import entry_of
from p4cc.scenario.programs import TableRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from finsy import P4Schema
    from finsy.p4schema import P4Action, P4MatchField, P4Table
    from polars._typing import PolarsDataType

    from controller.written import WrittenEntry
    from p4cc.planning.names import Names

Value = int | str
"""A number, an address or digits as text, or a name of the network: `h2.ipv4`, `port(s1, h2)`."""
Given = Value | tuple[Value, Value] | list[Value]
"""Key value; two values for a prefix (value, length), a mask (value, mask) or a range (low, high), or their text."""
Array = TypeVar("Array", P4Counter, P4Register)
_STAND_IN = "action"
_MOST_BITS = 64
_BESIDE = ("priority", "action", "packets", "bytes", "is_default", "is_const")
_SMALLEST, _LARGEST = -(1 << 63), (1 << 63) - 1


def table_named(schema: P4Schema, name: str, place: str) -> P4Table:
    """A table by its name, or the end of it; raises PlanError with the available ones."""
    return find_named(name, schema.tables, "table", place)


def asked_entries(table: P4Table) -> list[p4r.Entity]:
    """Requests for all entries of a table, then its default action, with their direct counters."""
    entries = [p4r.TableEntry(table_id=table.id, is_default_action=default) for default in (False, True)]
    if table.direct_counter is not None:
        entries[0].counter_data.SetInParent()
    return [p4r.Entity(table_entry=entry) for entry in entries]


def entry_frame(table: P4Table, found: Iterable[p4r.Entity], schema: P4Schema) -> pl.DataFrame:
    """Entries as rows: a column for each key and parameter; null where a key matches everything."""
    params = _param_columns(table, schema)
    columns: dict[str, PolarsDataType] = {key.name: _kind_of_key(key) for key in table.match_fields}
    columns |= {"priority": pl.Int64, "action": pl.String} | dict(params.values())
    columns |= {"packets": pl.UInt64, "bytes": pl.UInt64, "is_default": pl.Boolean, "is_const": pl.Boolean}
    rows: list[dict[str, object]] = []
    for one in found:
        entry = read_entry(one.table_entry, schema)
        held = {params[entry.action, name][0]: value for name, value in entry.params.items()}
        more = {name: getattr(entry, name) for name in _BESIDE}
        rows.append({**entry.match, **held, **more, "priority": entry.priority or None})
    frame = pl.DataFrame(rows, schema=columns)
    left_out = [] if table.direct_counter is not None else ["packets", "bytes"]
    if "priority" in frame.columns and frame["priority"].null_count() == frame.height:
        left_out.append("priority")
    return frame.drop(left_out)


def _kind_of(bits: int, name: str) -> PolarsDataType:
    return pl.String if isinstance(shown(0, bits, name), str) or bits > _MOST_BITS else pl.UInt64


def _kind_of_key(key: P4MatchField) -> PolarsDataType:
    is_plain = key.match_type in (P4MatchType.EXACT, P4MatchType.OPTIONAL)
    return _kind_of(key.bitwidth, key.name) if is_plain else pl.String


def _param_columns(table: P4Table, schema: P4Schema) -> dict[tuple[str, str], tuple[str, PolarsDataType]]:
    """Column and type of each parameter of each action; `action.parameter` if the name has several meanings."""
    found = [
        (action.alias, param.name, _kind_of(param.bitwidth, param.name))
        for action in _actions_of(table, schema)
        for param in action.params
    ]
    kinds = Counter(name for name, _ in {(name, str(kind)) for _, name, kind in found})
    taken = {*(key.name for key in table.match_fields), *_BESIDE}
    return {
        (action, name): (f"{action}.{name}" if kinds[name] > 1 or name in taken else name, kind)
        for action, name, kind in found
    }


def _actions_of(table: P4Table, schema: P4Schema) -> list[P4Action]:
    return [schema.actions[action.id] for action in table.actions]


@dataclass(frozen=True)
class Writer:
    """Updates of tables of one switch, by name."""

    schema: P4Schema
    names: Names
    place: str
    """For messages."""

    def entry(
        self, table: str, match: Mapping[str, Given], priority: int | None, *, default: bool
    ) -> tuple[P4Table, WrittenEntry]:
        """An entry without its action; raises UserError, PlanError."""
        held = table_named(self.schema, table, self.place)
        keys = {name: self._key(held, name) for name in match}
        plain = {keys[name].name: self._values(keys[name], value) for name, value in match.items()}
        row = TableRow(
            switch=self.names.itself,
            table=held.name,
            match=plain,
            action=_STAND_IN,
            priority=priority,
            default=default,
        )
        return held, entry_of(row, self.names, self.place)

    def with_action(self, of: tuple[P4Table, WrittenEntry], action: str, params: Mapping[str, Value]) -> p4r.Entity:
        """The entry with an action of its table; raises UserError, PlanError."""
        table, entry = of
        named = find_named(action, _actions_of(table, self.schema), f"action of {table.name}", self.place)
        resolved = tuple(
            (name, self.names.value(value, f"{self.place}: parameter {name}")) for name, value in params.items()
        )
        return to_entity(resolve_entry(replace(entry, action=named.name, params=resolved), self.schema), self.schema)

    def changed(self, of: tuple[P4Table, WrittenEntry], held: p4r.Entity, params: Mapping[str, Value]) -> p4r.Entity:
        """The entry with changed parameters of its present action; raises UserError, PlanError."""
        table, _ = of
        now = from_entity(held, self.schema)
        if not isinstance(now, Entry) or not isinstance(now.action, ActionCall):
            cause = f"the entry of {table.name} has no action with parameters"
            raise UserError(cause, place=self.place, remedy="give the action too")
        return self.with_action(of, now.action.name, {**dict(now.action.args), **params})

    def identity(self, of: tuple[P4Table, WrittenEntry]) -> p4r.Entity:
        """The identity of the entry; raises PlanError."""
        return to_key(resolve_key(of[1], self.schema), self.schema)

    def _key(self, table: P4Table, name: str) -> P4MatchField:
        """A key by its name, or the end of it."""
        fields = list(table.match_fields)
        found = [field for field in fields if field.name == name]
        found = found or [field for field in fields if field.name.endswith(f".{name}")]
        if len(found) == 1:
            return found[0]
        cause = f"table {table.name} has no key {name!r}" if not found else f"{name!r} may be several keys"
        remedy = f"keys: {', '.join(field.name for field in fields) or 'none'}"
        raise UserError(cause, place=self.place, remedy=remedy)

    def _values(self, key: P4MatchField, value: Given) -> Value | list[Value]:
        if isinstance(value, str):
            taken = parts(value, key.match_type)
            return value if len(taken) == 1 else [_fitting(one) for one in taken]
        return _fitting(value) if isinstance(value, int) else [_fitting(one) for one in value]


def _fitting(value: Value) -> Value:
    """A value for rows: larger numbers become digits."""
    return value if isinstance(value, str) or _SMALLEST <= value <= _LARGEST else str(value)


def counter_frame(messages: Iterable[p4r.Entity], schema: P4Schema) -> pl.DataFrame:
    """Cells of counters: name, index, packets, bytes; null for quantities that a counter does not count."""
    rows: list[tuple[str, int, int | None, int | None]] = []
    for one in messages:
        entry = one.counter_entry
        counter = schema.counters[entry.counter_id]
        packets = entry.data.packet_count if counter.unit is not P4CounterUnit.BYTES else None
        size = entry.data.byte_count if counter.unit is not P4CounterUnit.PACKETS else None
        rows.append((counter.name, entry.index.index, packets, size))
    columns = {"counter": pl.String, "index": pl.UInt64, "packets": pl.UInt64, "bytes": pl.UInt64}
    return pl.DataFrame(rows, schema=columns, orient="row")


def register_frame(messages: Iterable[p4r.Entity], schema: P4Schema) -> pl.DataFrame:
    """Cells of registers: name, index, value (null above 64 bits, and if not a number), and the value as text."""
    rows: list[tuple[str, int, int | None, str]] = []
    for one in messages:
        entry = one.register_entry
        value, text = _data(entry.data)
        rows.append((schema.registers[entry.register_id].name, entry.index.index, value, text))
    columns = {"register": pl.String, "index": pl.UInt64, "value": pl.UInt64, "text": pl.String}
    return pl.DataFrame(rows, schema=columns, orient="row")


def _data(data: p4d.P4Data) -> tuple[int | None, str]:
    match data.WhichOneof("data"):
        case "bitstring":
            number = int.from_bytes(data.bitstring, "big")
            return (number if number < 1 << _MOST_BITS else None), str(number)
        case "bool":
            return int(data.bool), str(data.bool).lower()
        case _:
            return None, " ".join(str(data).split())


def named_array(arrays: Sequence[Array], kind: str, name: str | None, place: str) -> Sequence[Array]:
    """The counter or register of this name, or the end of it; all without a name. Raises UserError."""
    if name is None:
        return arrays
    found = [one for one in arrays if one.name == name] or [one for one in arrays if one.name.endswith(f".{name}")]
    if len(found) != 1:
        known = ", ".join(one.name for one in arrays) or "none"
        raise UserError(f"the program has no {kind} {name!r}", place=place, remedy=f"{kind}s: {known}")
    return found
