"""What a switch holds, as the page shows it: tables, registers, counters; read over P4Runtime, and bounded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from finsy import P4ClientError
from finsy.proto import p4r

from controller.client import refusal
from controller.entities import ActionCall
from controller.readable import ReadEntry, parts, read_entry
from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from finsy import P4Schema
    from finsy.p4schema import P4Table
    from finsy.proto import p4i

    from p4cc.control.line import SwitchLine

MAX_ENTRIES = 200
"""Of a table that the page shows."""
MAX_CELLS = 64
"""Of a register or a counter that the page shows."""
_UNITS = {1: "bytes", 2: "packets", 3: "both"}


@dataclass(frozen=True)
class ShownEntry:
    """An entry that the page may ask to change."""

    table: P4Table
    read: ReadEntry
    is_const: bool


@dataclass
class SwitchView:
    """One switch with what was shown of it last."""

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

    async def plain(self) -> dict[str, Any]:
        """What the switch holds now; raises UserError."""
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
            found = refusal(f"switch {self.name}", error)
            raise UserError(found.cause, place=found.place, remedy=found.remedy) from error

    async def _table(self, table: P4Table) -> dict[str, Any]:
        asked = p4r.TableEntry(table_id=table.id)
        if table.id in {one.direct_table_id for one in self._info.direct_counters}:
            asked.counter_data.SetInParent()
        default = p4r.TableEntry(table_id=table.id, is_default_action=True)
        listed = await self._read([p4r.Entity(table_entry=asked)])
        listed = [one for one in listed if not one.table_entry.is_default_action]
        defaults = await self._read([p4r.Entity(table_entry=default)])
        keys = [{"name": key.name, "match": _kind(key.match_type), "bits": key.bitwidth} for key in table.match_fields]
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

    def _entry(self, table: P4Table, entity: p4r.Entity) -> dict[str, Any]:
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

    async def _register(self, register: p4i.Register) -> dict[str, Any]:
        key = register.preamble.id
        cells, left_out = await self._cells(
            register.size, lambda at: p4r.Entity(register_entry=p4r.RegisterEntry(register_id=key, index=at))
        )
        found = [cell.register_entry for cell in cells]
        values = [[int(one.index.index), " ".join(_parts(one.data)) or "-"] for one in found]
        return {"name": register.preamble.name, "size": register.size, "values": values, "left_out": left_out}

    async def _counter(self, counter: p4i.Counter) -> dict[str, Any]:
        key = counter.preamble.id
        cells, left_out = await self._cells(
            counter.size, lambda at: p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=key, index=at))
        )
        found = [cell.counter_entry for cell in cells]
        rows = [[int(one.index.index), int(one.data.packet_count), int(one.data.byte_count)] for one in found]
        unit = _UNITS.get(counter.spec.unit, "packets")
        return {"name": counter.preamble.name, "unit": unit, "rows": rows, "left_out": left_out}

    async def _cells(self, size: int, asked: Callable[[p4r.Index], p4r.Entity]) -> tuple[list[p4r.Entity], int]:
        """The first cells of a register or counter, and how many are left out; raises UserError."""
        shown = min(size, MAX_CELLS)
        return await self._read([asked(p4r.Index(index=index)) for index in range(shown)]), size - shown

    def changed_row(self, entry: str, action: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """A row of `changes`, without its time, for an entry that was shown; raises UserError where that cannot be."""
        shown, place = self.shown.get(entry), f"switch {self.name}"
        if shown is None:
            raise UserError("that entry is not shown any more", place=place, remedy="open the switch again")
        if shown.is_const:
            raise UserError("the program keeps this entry constant", place=place, remedy="change another one")
        key, action_now = shown.read.value.key, shown.read.value.action
        if not isinstance(action_now, ActionCall):
            cause = "its action is of an action profile"
            raise UserError(cause, place=place, remedy="change the scenario, or another entry")
        return {
            "switch": self.name,
            "table": shown.table.name,
            **({"default": True} if key.is_default else {"match": _match_row(shown)}),
            **({"priority": key.priority} if key.priority else {}),
            "action": action,
            "params": dict(params),
        }


def _match_row(shown: ShownEntry) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in shown.table.match_fields:
        if key.name in shown.read.match:
            values = parts(str(shown.read.match[key.name]), key.match_type)
            found[key.name] = values[0] if len(values) == 1 else list(values)
    return found


def _kind(match_type: Any) -> str:
    return str(getattr(match_type, "name", match_type)).lower()


def _parts(data: Any) -> Iterator[str]:
    """A register's value: a number, or the parts of a struct."""
    kind = data.WhichOneof("data")
    if kind == "bitstring":
        yield str(int.from_bytes(data.bitstring, "big"))
    elif kind == "bool":
        yield str(int(data.bool))
    elif kind in ("struct", "tuple"):
        for member in getattr(data, kind).members:
            yield from _parts(member)
