"""Tables, registers and counters of a switch for the page; read over P4Runtime, in bounded number."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from finsy import P4ClientError
from finsy.proto import p4r

from controller.client import refusal
from controller.entities import ActionCall
from controller.readable import ReadEntry, parts, read_entry
from p4cc.errors import UserError
from p4cc.live.messages import ChangeRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from finsy import P4Schema
    from finsy.p4schema import P4Table
    from finsy.proto import p4d, p4i

    from p4cc.control.line import SwitchLine
    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.live.requests import ChangeRequest

MAX_ENTRIES = 200
"""Entries of a table that the page shows."""
MAX_CELLS = 64
"""Cells of a register or a counter that the page shows."""
_UNITS = {1: "bytes", 2: "packets", 3: "both"}


@dataclass(frozen=True)
class ShownEntry:
    """An entry that the page may ask to change."""

    table: P4Table
    read: ReadEntry
    is_const: bool


@dataclass
class SwitchView:
    """One switch, with the entries that the page shows."""

    line: SwitchLine
    program: str
    """Its name in the scenario."""
    shown: dict[str, ShownEntry] = field(default_factory=dict[str, ShownEntry])
    """Entries by the ids that the page has for them."""

    @property
    def name(self) -> str:
        """The switch's."""
        return self.line.plan.switch

    @property
    def _schema(self) -> P4Schema:
        return self.line.pipeline.schema

    @property
    def _info(self) -> p4i.P4Info:
        return self.line.pipeline.config.p4info

    async def contents(self) -> Mapping[str, object]:
        """The present contents of the switch; raises UserError."""
        self.shown.clear()
        return {
            "switch": self.name,
            "device_id": self.line.plan.device_id,
            "program": self.program,
            "tables": [await self._table(table) for table in self._schema.tables],
            "registers": [await self._register(register) for register in self._info.registers],
            "counters": [await self._counter(counter) for counter in self._info.counters],
        }

    async def _read(self, entities: Sequence[p4r.Entity]) -> list[p4r.Entity]:
        try:
            return await self.line.read(entities) if entities else []
        except P4ClientError as error:
            problem = refusal(f"switch {self.name}", error)
            raise UserError(problem.cause, place=problem.place, remedy=problem.remedy) from error

    async def _table(self, table: P4Table) -> Mapping[str, object]:
        wildcard = p4r.TableEntry(table_id=table.id)
        if table.id in {counter.direct_table_id for counter in self._info.direct_counters}:
            wildcard.counter_data.SetInParent()
        default = p4r.TableEntry(table_id=table.id, is_default_action=True)
        listed = await self._read([p4r.Entity(table_entry=wildcard)])
        listed = [entity for entity in listed if not entity.table_entry.is_default_action]
        defaults = await self._read([p4r.Entity(table_entry=default)])
        keys = [
            {
                "name": key.name,
                "match": str(getattr(key.match_type, "name", key.match_type)).lower(),
                "bits": key.bitwidth,
            }
            for key in table.match_fields
        ]
        actions = [
            {"name": one.alias, "params": [{"name": param.name, "bits": param.bitwidth} for param in one.params]}
            for one in table.actions
        ]
        return {
            "name": table.name,
            "size": table.size,
            "keys": keys,
            "actions": actions,
            "entries": [self._entry(table, one) for one in (*listed[:MAX_ENTRIES], *defaults)],
            "entries_left_out": max(0, len(listed) - MAX_ENTRIES),
            "misses": None,
        }

    def _entry(self, table: P4Table, entity: p4r.Entity) -> Mapping[str, object]:
        entry = read_entry(entity.table_entry, self._schema)
        key = hashlib.sha256(str(entry.value.key).encode()).hexdigest()[:16]
        is_const = entry.is_const or (entry.is_default and table.const_default_action is not None)
        self.shown[key] = ShownEntry(table, entry, is_const)
        return {
            "entry": key,
            "match": {one.name: str(entry.match.get(one.name, "*")) for one in table.match_fields},
            "priority": entry.priority or None,
            "action": entry.action,
            "params": {name: str(value) for name, value in entry.params.items()},
            "hits": entry.packets,
            "is_default": entry.is_default,
            "is_const": is_const,
        }

    async def _register(self, register: p4i.Register) -> Mapping[str, object]:
        key = register.preamble.id
        cells, left_out = await self._cells(
            register.size, lambda at: p4r.Entity(register_entry=p4r.RegisterEntry(register_id=key, index=at))
        )
        entries = [cell.register_entry for cell in cells]
        values = [[int(entry.index.index), " ".join(_parts(entry.data)) or "-"] for entry in entries]
        return {"name": register.preamble.name, "size": register.size, "values": values, "left_out": left_out}

    async def _counter(self, counter: p4i.Counter) -> Mapping[str, object]:
        key = counter.preamble.id
        cells, left_out = await self._cells(
            counter.size, lambda at: p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=key, index=at))
        )
        entries = [cell.counter_entry for cell in cells]
        rows = [[int(one.index.index), int(one.data.packet_count), int(one.data.byte_count)] for one in entries]
        unit = _UNITS.get(counter.spec.unit, "packets")
        return {"name": counter.preamble.name, "unit": unit, "rows": rows, "left_out": left_out}

    async def _cells(self, size: int, entity: Callable[[p4r.Index], p4r.Entity]) -> tuple[list[p4r.Entity], int]:
        """The first cells of a register or counter, and how many are left out; raises UserError."""
        shown = min(size, MAX_CELLS)
        return await self._read([entity(p4r.Index(index=index)) for index in range(shown)]), size - shown

    def change_row(self, request: ChangeRequest) -> ChangeRow:
        """The row that gives a shown entry another action; raises UserError where that is impossible."""
        shown, place = self.shown.get(request.entry), f"switch {self.name}"
        if shown is None:
            raise UserError("that entry is not shown any more", place=place, remedy="open the switch again")
        if shown.is_const:
            raise UserError("the program keeps this entry constant", place=place, remedy="change another one")
        key, action_now = shown.read.value.key, shown.read.value.action
        if not isinstance(action_now, ActionCall):
            cause = "its action is of an action profile"
            raise UserError(cause, place=place, remedy="change the scenario, or another entry")
        row = ChangeRow(
            switch=self.name,
            table=shown.table.name,
            default=True,
            match=_match_row(shown),
            priority=key.priority,
            action=request.action,
            params=request.params,
        )
        del row["match" if key.is_default else "default"]
        if not key.priority:
            del row["priority"]
        return row


def _match_row(shown: ShownEntry) -> JsonObject:
    row: dict[str, JsonValue] = {}
    for key in shown.table.match_fields:
        if key.name in shown.read.match:
            values = parts(str(shown.read.match[key.name]), key.match_type)
            row[key.name] = values[0] if len(values) == 1 else list(values)
    return row


def _parts(data: p4d.P4Data) -> Iterator[str]:
    """A register's value: a number, or the parts of a struct."""
    kind = data.WhichOneof("data")
    if kind == "bitstring":
        yield str(int.from_bytes(data.bitstring, "big"))
    elif kind == "bool":
        yield str(int(data.bool))
    elif kind in ("struct", "tuple"):
        for member in getattr(data, kind).members:
            yield from _parts(member)
