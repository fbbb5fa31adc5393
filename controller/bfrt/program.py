"""A program that a BF Runtime server runs: its name, and its tables as the server has them."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

from controller.bfrt import wire
from controller.bfrt.schema import MATCH_PRIORITY, Schema, Table, parse_schema
from controller.bfrt.wred import WRED, WRED_PART
from controller.entities import Scope
from controller.errors import SwitchError
from controller.roles import KeyPart, Roles, TablePart, made, role_in, table_part
from controller.units import CHIP_CELL_BYTES

CHIPS = {"tf1": "tna", "tf2": "t2na"}
"""Architectures by the prefix of the chip's fixed tables."""


@dataclass(frozen=True)
class Program:
    """A program that runs. `text` is its bf-rt.json, whose hash identifies it in comparisons."""

    p4_name: str
    text: bytes
    chip_text: bytes = b""
    """bf-rt.json of the chip's own tables."""

    @cached_property
    def schema(self) -> Schema:
        """Its tables; raises PlanError."""
        return parse_schema(self.text)

    @cached_property
    def chip_schema(self) -> Schema:
        """The chip's own tables; none of a server that tells none. Raises PlanError."""
        return parse_schema(self.chip_text) if self.chip_text else Schema(())

    @cached_property
    def digest(self) -> bytes:
        """Distinguishes its tables from those of another program of the same name."""
        return hashlib.sha256(self.text).digest()

    @cached_property
    def cell_bytes(self) -> int | None:
        """Bytes of a cell of the chip's traffic manager; None for a chip that is not known. Raises PlanError."""
        if not self.chip_text:
            return None
        result = {name.partition(".")[0] for name in self.chip_schema.tables}
        sizes = {CHIP_CELL_BYTES[arch] for prefix, arch in CHIPS.items() if prefix in result}
        return sizes.pop() if len(sizes) == 1 else None

    @cached_property
    def roles(self) -> Roles:
        """The roles of its tables, with the program's names; raises PlanError."""
        tables: list[TablePart] = []
        counters: list[tuple[str, str]] = []
        for table in self.schema.tables.values():
            name = table.name.partition(".")[2]
            if table.kind == "Wred" and name == WRED:
                tables.append(WRED_PART)
            role = role_in(table.annotations)
            if role is not None and table.kind == "Counter":
                counters.append((role, name))
            elif role is not None:
                tables.append(_part(role, name, table, self.schema))
        return made(tables, counters)

    def fills(self, scope: Scope) -> bool:
        """Whether it may have constant entries, which only the switch knows."""
        return bool(scope.tables)


def _part(role: str, name: str, table: Table, schema: Schema) -> TablePart:
    others = [schema.by_id[one] for one in table.depends_on if one in schema.by_id]
    profile = next((one for one in others if one.kind == "Action"), None)
    keys = [
        (key.field.annotations, KeyPart(key.field.name, key.match.lower(), key.field.width_bits))
        for key in table.keys.values()
        if key.field.name != MATCH_PRIORITY
    ]
    actions = [
        (
            one.annotations,
            one.name,
            [(of.annotations, of.name, of.width_bits) for of in one.params.values()],
        )
        for one in (profile or table).actions.values()
    ]
    selects = any(one.kind == "Selector" for one in others)
    return table_part(role, name, keys, actions, profile and profile.name.partition(".")[2], selects=selects)


def program_in(answer: wire.Message, p4_name: str, place: str) -> Program:
    """The program of this name among those of a server; raises SwitchError where it does not run."""
    for config in answer.config:
        if config.p4_name == p4_name:
            chip_text = bytes(answer.non_p4_config.bfruntime_info)
            return Program(p4_name, bytes(config.bfruntime_info), chip_text)
    running = ", ".join(f"{config.p4_name[:64]!r}" for config in list(answer.config)[:8]) or "none"
    cause = f"the switch does not run program {p4_name!r}, but {running}"
    remedy = (
        "a controller cannot load programs over BF Runtime: start the switch with the program (run_switchd.sh -c, "
        "p4cc-switch --bfrt-addr), or correct the name"
    )
    raise SwitchError(place, cause, remedy, "NOT_FOUND")
