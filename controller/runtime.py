"""State that a file fixes for a switch, as P4Runtime messages: names resolved by the P4Info, values by their widths.

Unlike `controller.entities`, which holds what our own programs use, this takes every kind of match, priorities, default
actions, multicast groups and clone sessions. Pure: `controller.install` reads and writes.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from typing import TypeVar

from finsy import P4Schema
from finsy.p4schema import P4Action, P4MatchField, P4MatchType, P4Table
from finsy.proto import p4r

from controller.convert import encode_value
from controller.errors import PlanError
from topos.loaders.runtime import Key, Runtime, RuntimeEntry, RuntimeGroup, RuntimeSession, Value, WholeMatch

# Command lines give the highest priority the lowest number, P4Runtime the highest; both fit below this.
HIGHEST_PRIORITY = 1 << 24

_MAC = re.compile(r"^([0-9a-fA-F]{1,2}[:-]){5}[0-9a-fA-F]{1,2}$")
_NUMBER = re.compile(r"^-?(0x[0-9a-fA-F]{1,512}|0b[01]{1,2048}|[0-9]{1,640})$")
_Named = TypeVar("_Named", P4Table, P4Action)
_SHAPES = {
    P4MatchType.LPM: "value and prefix length",
    P4MatchType.TERNARY: "value and mask",
    P4MatchType.RANGE: "low and high",
}
_WITH_PRIORITY = (P4MatchType.TERNARY, P4MatchType.RANGE, P4MatchType.OPTIONAL)


def to_entities(runtime: Runtime, schema: P4Schema) -> tuple[p4r.Entity, ...]:
    """The messages of everything a switch is to hold; raises PlanError that names the place in its file."""
    return (
        *_entries(runtime.entries, schema),
        *(_group(group) for group in runtime.groups),
        *(_session(session) for session in runtime.sessions),
        *(p4r.Entity.FromString(entity) for entity in runtime.entities),
    )


def _entries(entries: Iterable[RuntimeEntry], schema: P4Schema) -> list[p4r.Entity]:
    """Table entries, no two with one key: the switch would refuse the second. A default action may be set again."""
    messages: list[p4r.Entity] = []
    places: dict[bytes, str] = {}
    for entry in entries:
        message = _entry(entry, schema)
        messages.append(message)
        if entry.default:
            continue
        first = places.setdefault(_key(message.table_entry), entry.place)
        if first is not entry.place:
            table = schema.tables[message.table_entry.table_id].name
            cause = f"table {table} has an entry with this key already, from {first}"
            raise PlanError(entry.place, cause, "remove one of the two, or change a key or priority")
    return messages


def _key(entry: p4r.TableEntry) -> bytes:
    """What tells an entry from others. Matches are in the order of the table's fields, and values are canonical."""
    key = p4r.TableEntry(table_id=entry.table_id, match=entry.match, priority=entry.priority)
    return key.SerializeToString(deterministic=True)


def number_of(value: Value, width_bits: int, place: str) -> int:
    """The number that a value stands for: itself, an address, or digits; a negative one in two's complement."""
    number = value if isinstance(value, int) else _parsed(value.strip(), place)
    if number >= 0:
        return number
    if number < -(1 << (width_bits - 1)):
        raise PlanError(place, f"{number} does not fit in {width_bits} bits", "give a value that fits")
    return number + (1 << width_bits)


def _parsed(text: str, place: str) -> int:
    if _NUMBER.match(text):
        return int(text, 0) if not text.lstrip("-").isdigit() else int(text)
    if _MAC.match(text):
        return int.from_bytes(bytes(int(part, 16) for part in re.split("[:-]", text)), "big")
    for kind in (IPv4Address, IPv6Address):
        try:
            return int(kind(text))
        except ValueError:
            continue
    remedy = "write a number (decimal, 0x, 0b), an IPv4, IPv6 or MAC address"
    raise PlanError(place, f"{text[:60]!r} is no value", remedy)


def to_identity(entry: RuntimeEntry, schema: P4Schema) -> p4r.Entity:
    """What tells an entry from others, without its action: to read it, or to delete it; raises PlanError."""
    table = find_named(entry.table, schema.tables, "table", entry.place)
    if not entry.default and table.is_const:
        raise PlanError(entry.place, f"table {table.name} has constant entries only", "remove the entry")
    message = p4r.TableEntry(table_id=table.id, is_default_action=entry.default)
    if not entry.default:
        message.match.extend(_matches(entry, table))
        message.priority = _priority(table, entry.priority, entry.place)
    return p4r.Entity(table_entry=message)


def _entry(entry: RuntimeEntry, schema: P4Schema) -> p4r.Entity:
    action = find_named(entry.action, schema.actions, "action", entry.place)
    params, priority = list(entry.params), entry.priority
    if not entry.default and params and params[-1][0] == len(list(action.params)):
        # A command line's last number, where the action takes one less.
        priority = HIGHEST_PRIORITY - number_of(params.pop()[1], 24, f"{entry.place}: priority")
    message = to_identity(replace(entry, priority=priority), schema)
    message.table_entry.action.action.CopyFrom(_action(action, params, entry.place))
    return message


def find_named(name: str, known: Iterable[_Named], kind: str, place: str) -> _Named:
    """The one of this name, or of whose name this is the end."""
    items = list(known)
    whole = [item for item in items if item.name == name]
    found = whole or [item for item in items if item.name.endswith(f".{name}")]
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted(item.name for item in (found or items)))
    if found:
        raise PlanError(place, f"{kind} {name!r} may be any of {names}", "write the whole name")
    raise PlanError(place, f"the P4 program has no {kind} {name!r}, only: {names or 'none'}", "correct the name")


def _matches(entry: RuntimeEntry, table: P4Table) -> list[p4r.FieldMatch]:
    fields = list(table.match_fields)
    given: dict[int, WholeMatch] = {}
    for match in entry.match:
        position = _position(match.field, [field.name for field in fields], f"{entry.place}: key of {table.name}")
        if position in given:
            raise PlanError(entry.place, f"key {fields[position].name} is given twice", "remove one")
        given[position] = match
    messages: list[p4r.FieldMatch] = []
    for position, field in enumerate(fields):
        if position not in given:
            if field.match_type is P4MatchType.EXACT:
                raise PlanError(entry.place, f"key {field.name} of {table.name} is missing", "add it")
            continue
        message = _match(field, given[position].values, f"{entry.place}: key {field.name}")
        if message is not None:
            messages.append(message)
    return messages


def _position(key: Key, names: list[str], place: str) -> int:
    if isinstance(key, int):
        if key < len(names):
            return key
        raise PlanError(place, f"there are {len(names)}, not {key + 1}", "remove what is too much")
    if key in names:
        return names.index(key)
    raise PlanError(place, f"none is named {key!r}, only: {', '.join(names) or 'none'}", "correct the name")


def _match(field: P4MatchField, values: tuple[Value, ...], place: str) -> p4r.FieldMatch | None:
    """The message of one match; None where it matches everything, which P4Runtime says by leaving it out (9.1.1)."""
    width = field.bitwidth
    numbers = [number_of(value, width, place) for value in values]
    kind = field.match_type
    if not isinstance(kind, P4MatchType):
        raise PlanError(place, f"a match of kind {kind} is of no standard", "use a standard kind of match")
    if len(numbers) != (2 if kind in _SHAPES else 1):
        raise PlanError(place, f"{kind.name.lower()} takes {_SHAPES.get(kind, 'one value')}", "correct the entry")
    first = encode_value(numbers[0], width, place)
    whole = (1 << width) - 1
    match kind:
        case P4MatchType.EXACT:
            return p4r.FieldMatch(field_id=field.id, exact=p4r.FieldMatch.Exact(value=first))
        case P4MatchType.OPTIONAL:
            return p4r.FieldMatch(field_id=field.id, optional=p4r.FieldMatch.Optional(value=first))
        case P4MatchType.LPM:
            return _prefix(field, numbers[0], numbers[1], place)
        case P4MatchType.TERNARY:
            mask = number_of(values[1], width, place)
            if mask == 0:
                return None
            masked = encode_value(numbers[0] & mask, width, place)
            ternary = p4r.FieldMatch.Ternary(value=masked, mask=encode_value(mask, width, place))
            return p4r.FieldMatch(field_id=field.id, ternary=ternary)
        case _:
            low, high = numbers
            if low > high:
                raise PlanError(place, f"{low:#x} is above {high:#x}", "give the lower end first")
            if (low, high) == (0, whole):
                return None
            wide = p4r.FieldMatch.Range(low=first, high=encode_value(high, width, place))
            return p4r.FieldMatch(field_id=field.id, range=wide)


def _prefix(field: P4MatchField, value: int, length: int, place: str) -> p4r.FieldMatch | None:
    width = field.bitwidth
    if not 0 <= length <= width:
        raise PlanError(place, f"a prefix of {length} bits does not fit in {width}", f"give 0 to {width}")
    if length == 0:
        return None
    # Bits behind the prefix are 0 on the wire (P4Runtime 9.1.1); files write host addresses there.
    kept = value >> (width - length) << (width - length)
    lpm = p4r.FieldMatch.LPM(value=encode_value(kept, width, place), prefix_len=length)
    return p4r.FieldMatch(field_id=field.id, lpm=lpm)


def _priority(table: P4Table, priority: int | None, place: str) -> int:
    """The priority of an entry: needed where a field can match in more than one way, not taken elsewhere."""
    needs = any(field.match_type in _WITH_PRIORITY for field in table.match_fields)
    if needs and not priority:
        raise PlanError(place, f"an entry of {table.name} needs a priority", "give one above 0; the highest wins")
    if priority and not 0 < priority <= HIGHEST_PRIORITY:
        raise PlanError(place, f"priority {priority} is out of range", f"give 1 to {HIGHEST_PRIORITY}")
    return priority if needs and priority else 0


def _action(action: P4Action, params: Sequence[tuple[Key, Value]], place: str) -> p4r.Action:
    names = [param.name for param in action.params]
    where = f"{place}: parameter of {action.name}"
    given = {_position(key, names, where): value for key, value in params}
    if len(given) != len(names) or len(params) != len(names):
        cause = f"{action.name} takes ({', '.join(names)}), got {len(params)} values"
        raise PlanError(place, cause, "make file and program agree")
    message = p4r.Action(action_id=action.id)
    for position, param in enumerate(action.params):
        at = f"{place}: {action.name} parameter {param.name}"
        number = number_of(given[position], param.bitwidth, at)
        message.params.add(param_id=param.id, value=encode_value(number, param.bitwidth, at))
    return message


def _group(group: RuntimeGroup) -> p4r.Entity:
    if not 0 < group.group_id < 1 << 16:
        raise PlanError(group.place, f"group id {group.group_id} is out of range", "give 1 to 65535")
    message = p4r.MulticastGroupEntry(multicast_group_id=group.group_id)
    message.replicas.extend(_replicas(group.replicas, group.place))
    return p4r.Entity(packet_replication_engine_entry=p4r.PacketReplicationEngineEntry(multicast_group_entry=message))


def _session(session: RuntimeSession) -> p4r.Entity:
    if not 0 < session.session_id < 1 << 15:
        raise PlanError(session.place, f"session id {session.session_id} is out of range", "give 1 to 32767")
    if not 0 <= session.packet_length_bytes < 1 << 16:
        raise PlanError(session.place, f"length {session.packet_length_bytes} is out of range", "give 0 to 65535")
    message = p4r.CloneSessionEntry(
        session_id=session.session_id,
        packet_length_bytes=session.packet_length_bytes,
        class_of_service=session.priority,
    )
    message.replicas.extend(_replicas(session.replicas, session.place))
    return p4r.Entity(packet_replication_engine_entry=p4r.PacketReplicationEngineEntry(clone_session_entry=message))


def _replicas(replicas: Iterable[tuple[int, int]], place: str) -> Iterable[p4r.Replica]:
    seen: set[tuple[int, int]] = set()
    for port, instance in replicas:
        if not 0 <= port < 1 << 9 or not 0 <= instance < 1 << 16:
            raise PlanError(place, f"copy {port}/{instance} is out of range", "ports have 9 bits, instances 16")
        if (port, instance) in seen:
            raise PlanError(place, f"port {port} with instance {instance} is there twice", "remove one")
        seen.add((port, instance))
        # The numeric field is deprecated in favour of bytes; BMv2 and older servers know only this one.
        yield p4r.Replica(egress_port=port, instance=instance)
