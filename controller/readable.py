"""A switch's state for people: entries of tables by name, addresses as they are written, numbers as numbers. Pure.

`controller.resolve` accepts these texts in entries; `parts` splits them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

from finsy import P4Schema
from finsy.p4schema import P4MatchField, P4MatchType
from finsy.proto import p4r

from controller.codec import from_entity
from controller.entities import (
    ActionCall,
    ActionSet,
    Entry,
    EntryAction,
    Exact,
    Lpm,
    Match,
    OptionalMatch,
    Range,
    Ternary,
)

Shown = int | str
"""A number, or a text: an address, a prefix, a mask, a range."""
MASK, RANGE, PREFIX = " &&& ", "..", "/"
_MAC_BITS, _IPV4_BITS, _IPV6_BITS = 48, 32, 128
_ADDRESS = re.compile(r"ip|addr|src|dst", re.IGNORECASE)


@dataclass(frozen=True)
class ReadEntry:
    """An entry of a table, or its default action."""

    value: Entry
    match: Mapping[str, Shown]
    """By key, in the program's order; keys that match everything are left out."""
    priority: int
    """0 where the table takes none."""
    action: str
    """Its name without the control's; `member 3` or `group 3` of an action profile, `action set`."""
    params: Mapping[str, Shown] = field(default_factory=dict[str, Shown])
    packets: int | None = None
    """That hit it; None where the switch does not say."""
    bytes: int | None = None
    is_default: bool = False
    is_const: bool = False


def read_entry(message: p4r.TableEntry, schema: P4Schema) -> ReadEntry:
    """An entry that a switch of this program sent; raises PlanError for one of another program."""
    entry = from_entity(p4r.Entity(table_entry=message), schema)
    if not isinstance(entry, Entry):
        raise TypeError("a table entry is an Entry")
    table = schema.tables[entry.key.table]
    fields = {match.field: match for match in entry.key.match}
    action, params = _action(entry.action, schema)
    counts = message.counter_data if message.HasField("counter_data") else None
    return ReadEntry(
        entry,
        {one.name: _match(one, fields[one.name]) for one in table.match_fields if one.name in fields},
        entry.key.priority,
        action,
        params,
        None if counts is None else counts.packet_count,
        None if counts is None else counts.byte_count,
        entry.key.is_default,
        message.is_const,
    )


def shown(value: int, bits: int, name: str) -> Shown:
    """A value of a field or parameter: an address as text where its width or name says so, else the number."""
    if bits == _MAC_BITS:
        return value.to_bytes(_MAC_BITS // 8, "big").hex(":")
    if bits == _IPV6_BITS:
        return str(IPv6Address(value))
    if bits == _IPV4_BITS and _ADDRESS.search(name):
        return str(IPv4Address(value))
    return value


def parts(text: str, kind: P4MatchType | str) -> tuple[Shown, ...]:
    """The values of a match of this kind in a text of `read_entry`'s; the text alone if it is not such a match."""
    separator = {P4MatchType.LPM: PREFIX, P4MatchType.TERNARY: MASK.strip(), P4MatchType.RANGE: RANGE}.get(
        kind if isinstance(kind, P4MatchType) else P4MatchType.UNSPECIFIED
    )
    if separator is None or separator not in text:
        return (text,)
    first, _, second = text.partition(separator)
    return (first.strip(), second.strip())


def _match(key: P4MatchField, match: Match) -> Shown:
    def of(value: int) -> Shown:
        return shown(value, key.bitwidth, key.name)

    match match:
        case Exact(_, value) | OptionalMatch(_, value):
            return of(value)
        case Lpm(_, value, length):
            return f"{of(value)}{PREFIX}{length}"
        case Ternary(_, value, mask):
            return f"{of(value)}{MASK}{mask:#x}"
        case Range(_, low, high):
            return f"{of(low)}{RANGE}{of(high)}"


def _action(action: EntryAction, schema: P4Schema) -> tuple[str, dict[str, Shown]]:
    match action:
        case ActionCall(name, args):
            known = schema.actions.get(name)
            if known is None:
                return name, {}
            given = dict(args)
            matches = (param for param in known.params if param.name in given)
            return known.alias, {one.name: shown(given[one.name], one.bitwidth, one.name) for one in matches}
        case ActionSet():
            return "action set", {}
        case _:
            return str(action), {}
