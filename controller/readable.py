"""What a switch holds, for people: entries of tables by name, addresses as they are written, numbers as numbers. Pure.

What stands here as text is understood where entries are written (`controller.runtime`): `parts` takes it apart.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

from finsy import P4Schema
from finsy.p4schema import P4MatchField, P4MatchType, P4Table
from finsy.proto import p4r

Shown = int | str
"""A number, or a text: an address, a prefix, a mask, a range."""
MASK, RANGE, PREFIX = " &&& ", "..", "/"
_MAC_BITS, _IPV4_BITS, _IPV6_BITS = 48, 32, 128
_ADDRESS = re.compile(r"ip|addr|src|dst", re.IGNORECASE)


@dataclass(frozen=True)
class ReadEntry:
    """An entry of a table, or its default action."""

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
    """An entry that a switch of this program sent."""
    table = schema.tables[message.table_id]
    matches = {found.field_id: found for found in message.match}
    action, params = _action(message.action, table)
    counts = message.counter_data if message.HasField("counter_data") else None
    return ReadEntry(
        {one.name: _match(one, matches[one.id]) for one in table.match_fields if one.id in matches},
        message.priority,
        action,
        params,
        None if counts is None else counts.packet_count,
        None if counts is None else counts.byte_count,
        message.is_default_action,
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
    """The values that a match of this kind takes, of a text as `read_entry` gives it; one text where it is no such."""
    separator = {P4MatchType.LPM: PREFIX, P4MatchType.TERNARY: MASK.strip(), P4MatchType.RANGE: RANGE}.get(
        kind if isinstance(kind, P4MatchType) else P4MatchType.UNSPECIFIED
    )
    if separator is None or separator not in text:
        return (text,)
    first, _, second = text.partition(separator)
    return (first.strip(), second.strip())


def _match(key: P4MatchField, message: p4r.FieldMatch) -> Shown:
    def of(value: bytes) -> Shown:
        return shown(int.from_bytes(value, "big"), key.bitwidth, key.name)

    match message.WhichOneof("field_match_type"):
        case "exact":
            return of(message.exact.value)
        case "optional":
            return of(message.optional.value)
        case "lpm":
            return f"{of(message.lpm.value)}{PREFIX}{message.lpm.prefix_len}"
        case "ternary":
            mask = int.from_bytes(message.ternary.mask, "big")
            return f"{of(message.ternary.value)}{MASK}{mask:#x}"
        case "range":
            return f"{of(message.range.low)}{RANGE}{of(message.range.high)}"
        case other:
            return f"a match of kind {other}"


def _action(message: p4r.TableAction, table: P4Table) -> tuple[str, dict[str, Shown]]:
    match message.WhichOneof("type"):
        case "action":
            action = table.actions[message.action.action_id]
            given = {one.param_id: int.from_bytes(one.value, "big") for one in message.action.params}
            params = {
                one.name: shown(given[one.id], one.bitwidth, one.name) for one in action.params if one.id in given
            }
            return action.alias, params
        case "action_profile_member_id":
            return f"member {message.action_profile_member_id}", {}
        case "action_profile_group_id":
            return f"group {message.action_profile_group_id}", {}
        case "action_profile_action_set":
            return "action set", {}
        case _:
            return "", {}
