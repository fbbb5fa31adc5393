"""Resolves names and values of written entries against a P4Info, before anything is sent."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from typing import TypeVar

from finsy import P4Schema
from finsy.p4schema import P4Action, P4MatchType, P4Table
from finsy.proto import p4r

from controller.codec import check_width, of_file
from controller.entities import (
    ActionCall,
    CloneSession,
    Entity,
    Entry,
    EntryKey,
    Exact,
    Key,
    Lpm,
    Match,
    MulticastGroup,
    OptionalMatch,
    Range,
    Ternary,
)
from controller.errors import PlanError
from controller.written import AnyValue, Name, Value, Written, WrittenCopies, WrittenEntry

# Command lines give the highest priority the lowest number, P4Runtime the highest; both fit below this.
HIGHEST_PRIORITY = 1 << 24

_MAC = re.compile(r"^([0-9a-fA-F]{1,2}[:-]){5}[0-9a-fA-F]{1,2}$")
_NUMBER = re.compile(r"^-?(0x[0-9a-fA-F]{1,512}|0b[01]{1,2048}|[0-9]{1,640})$")
_Named = TypeVar("_Named", P4Table, P4Action)
_SHAPES = {
    "exact": ("one value",),
    "optional": ("one value",),
    "lpm": ("value", "prefix length"),
    "ternary": ("value", "mask"),
    "range": ("low", "high"),
}
_VALUES = "write a number (decimal, 0x, 0b), an IPv4, IPv6 or MAC address"
_WITH_PRIORITY = (P4MatchType.TERNARY, P4MatchType.RANGE, P4MatchType.OPTIONAL)


def resolve(written: Written, schema: P4Schema) -> tuple[Entity, ...]:
    """Everything that a switch is to hold, each once; raises PlanError that names the place in its file.

    Two entries with one key are an error, as the switch would refuse the second; a default action may be set again.
    """
    found: dict[Key, Entity] = {}
    places: dict[Key, str] = {}
    for written_entry in written.entries:
        entry = resolve_entry(written_entry, schema)
        first = places.setdefault(entry.key, written_entry.place)
        if first is not written_entry.place and not entry.key.is_default:
            cause = f"table {entry.key.table} already has an entry with this key, from {first}"
            raise PlanError(written_entry.place, cause, "remove one of the two, or change a key or priority")
        _put(found, entry)
    for copies in written.copies:
        _check_copies(copies)
        _put(found, copies.entity)
    for message in written.messages:
        _put(found, of_file(p4r.Entity.FromString(message), schema))
    return tuple(found.values())


def _put(found: dict[Key, Entity], entity: Entity) -> None:
    """Of two with one key the later one counts, where it is written."""
    found.pop(entity.key, None)
    found[entity.key] = entity


def resolve_entry(written: WrittenEntry, schema: P4Schema) -> Entry:
    """One table entry; raises PlanError."""
    action = find_named(written.action or "", schema.actions, "action", written.place)
    params, priority = list(written.params), written.priority
    if not written.default and params and params[-1][0] == len(list(action.params)):
        # A command line's last number, where the action takes one less.
        priority = HIGHEST_PRIORITY - number_of(params.pop()[1], 24, f"{written.place}: priority")
    key = resolve_key(replace(written, priority=priority), schema)
    return Entry(key, _call(action, params, written.place))


def resolve_key(written: WrittenEntry, schema: P4Schema) -> EntryKey:
    """The key of an entry, to read or delete it; raises PlanError."""
    table = find_named(written.table, schema.tables, "table", written.place)
    if written.default:
        return EntryKey(table.name, (), is_default=True)
    if table.is_const:
        raise PlanError(written.place, f"table {table.name} has only constant entries", "remove the entry")
    return EntryKey(table.name, _matches(written, table), _priority(table, written.priority, written.place))


def number_of(value: AnyValue, width_bits: int, place: str) -> int:
    """The number of a value: itself, an address, or digits; negative numbers in two's complement."""
    if not isinstance(value, int | str):
        raise PlanError(place, f"{value!r:.60} is not a value", _VALUES)
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
    raise PlanError(place, f"{text[:60]!r} is not a value", _VALUES)


def find_named(name: str, known: Iterable[_Named], kind: str, place: str) -> _Named:
    """The one of this name, or of whose name this is the end."""
    items = list(known)
    whole = [item for item in items if item.name == name]
    found = whole or [item for item in items if item.name.endswith(f".{name}")]
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted(item.name for item in (found or items)))
    if found:
        raise PlanError(place, f"{kind} {name!r} is ambiguous: {names}", "write the full name")
    raise PlanError(place, f"the P4 program has no {kind} {name!r}; it has: {names or 'none'}", "correct the name")


def _matches(written: WrittenEntry, table: P4Table) -> tuple[Match, ...]:
    """Match fields in the order of their names; those that match everything are left out (P4Runtime 9.1.1)."""
    fields = list(table.match_fields)
    given: dict[int, tuple[Value, ...]] = {}
    for name, values in written.match:
        position = _position(name, [field.name for field in fields], f"{written.place}: key of {table.name}")
        if position in given:
            raise PlanError(written.place, f"key {fields[position].name} is given twice", "remove one of the two")
        given[position] = values
    result: list[Match] = []
    for position, field in enumerate(fields):
        if position not in given:
            if field.match_type is P4MatchType.EXACT:
                raise PlanError(written.place, f"key {field.name} of {table.name} is missing", "add the key")
            continue
        kind = field.match_type.name.lower() if isinstance(field.match_type, P4MatchType) else field.match_type
        at = f"{written.place}: key {field.name}"
        match = match_of(field.name, kind, field.bitwidth, given[position], at)
        if match is not None:
            result.append(match)
    return tuple(sorted(result, key=lambda match: match.field))


def _position(key: Name, names: list[str], place: str) -> int:
    if isinstance(key, int):
        if key < len(names):
            return key
        raise PlanError(
            place,
            f"only {len(names)} values are expected, but there are at least {key + 1}",
            "remove the surplus values",
        )
    if key in names:
        return names.index(key)
    raise PlanError(place, f"there is no {key!r}; known names: {', '.join(names) or 'none'}", "correct the name")


def match_of(name: str, kind: str, width: int, values: Sequence[Value], place: str) -> Match | None:
    """One match of this kind; None where it matches everything. Raises PlanError."""
    numbers = [number_of(value, width, place) for value in values]
    shape = _SHAPES.get(kind)
    if shape is None:
        raise PlanError(place, f"match kind {kind} is not a standard one", "use a standard match kind")
    if len(numbers) != len(shape):
        raise PlanError(
            place, f"{kind} takes {' and '.join(shape)}, but {len(numbers)} values are given", "correct the entry"
        )
    check_width(numbers[0], width, place)
    match kind:
        case "exact":
            return Exact(name, numbers[0])
        case "optional":
            return OptionalMatch(name, numbers[0])
        case "lpm":
            value, length = numbers
            if not 0 <= length <= width:
                raise PlanError(
                    place, f"a prefix length of {length} exceeds the key's {width} bits", f"give 0 to {width}"
                )
            # Bits behind the prefix are 0 on the wire (P4Runtime 9.1.1); files write host addresses there.
            return Lpm(name, value >> (width - length) << (width - length), length) if length else None
        case "ternary":
            value, mask = numbers
            check_width(mask, width, place)
            return Ternary(name, value & mask, mask) if mask else None
        case _:
            low, high = numbers
            check_width(high, width, place)
            if low > high:
                raise PlanError(place, f"{low:#x} is greater than {high:#x}", "give the lower bound first")
            return None if (low, high) == (0, (1 << width) - 1) else Range(name, low, high)


def _priority(table: P4Table, priority: int | None, place: str) -> int:
    """The priority of an entry: needed where a field can match in more than one way, not taken elsewhere."""
    needs = any(field.match_type in _WITH_PRIORITY for field in table.match_fields)
    if needs and not priority:
        raise PlanError(
            place, f"an entry of {table.name} needs a priority", "give a priority above 0; the highest wins"
        )
    if priority and not 0 < priority <= HIGHEST_PRIORITY:
        raise PlanError(place, f"priority {priority} is out of range", f"give 1 to {HIGHEST_PRIORITY}")
    return priority if needs and priority else 0


def _call(action: P4Action, params: Sequence[tuple[Name, AnyValue]], place: str) -> ActionCall:
    names = [param.name for param in action.params]
    given = {_position(name, names, f"{place}: parameter of {action.name}"): value for name, value in params}
    if len(given) != len(names) or len(params) != len(names):
        cause = f"{action.name} takes ({', '.join(names)}), but got {len(params)} values"
        raise PlanError(place, cause, "make the file and the program match")
    args: list[tuple[str, int]] = []
    for position, param in enumerate(action.params):
        at = f"{place}: {action.name} parameter {param.name}"
        number = number_of(given[position], param.bitwidth, at)
        check_width(number, param.bitwidth, at)
        args.append((param.name, number))
    return ActionCall(action.name, tuple(sorted(args)))


def _check_copies(written: WrittenCopies) -> None:
    """Raises PlanError for numbers out of range, and for a copy that is there twice."""
    place = written.place
    match written.entity:
        case MulticastGroup(key):
            if not 0 < key.group_id < 1 << 16:
                raise PlanError(place, f"group id {key.group_id} is out of range", "give 1 to 65535")
        case CloneSession(key, _, length):
            if not 0 < key.session_id < 1 << 15:
                raise PlanError(place, f"session id {key.session_id} is out of range", "give 1 to 32767")
            if not 0 <= length < 1 << 16:
                raise PlanError(place, f"length {length} is out of range", "give 0 to 65535")
    seen: set[tuple[int, int]] = set()
    for port, instance in written.entity.replicas:
        if not 0 <= port < 1 << 9 or not 0 <= instance < 1 << 16:
            raise PlanError(place, f"replica {port}/{instance} is out of range", "ports have 9 bits, instances 16")
        if (port, instance) in seen:
            raise PlanError(place, f"port {port} with instance {instance} occurs twice", "remove one of the two")
        seen.add((port, instance))
