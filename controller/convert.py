"""Entities to and from P4Runtime messages, by the names, ids and widths of a P4Info. Pure, no I/O.

Values travel as the shortest big-endian bytes (P4Runtime 8.4). A name the program lacks or a value wider than its
field is a PlanError before anything is sent.
"""

from collections.abc import Iterable
from typing import NoReturn

from finsy import P4Schema
from finsy.p4schema import P4Action, P4ActionProfile, P4EntityMap, P4MatchField, P4MatchType, P4Table
from finsy.proto import p4r

from controller.entities import (
    ActionCall,
    Entity,
    Entry,
    EntryAction,
    EntryKey,
    Exact,
    Group,
    GroupKey,
    GroupRef,
    Key,
    Lpm,
    Match,
    Member,
    MemberKey,
    MemberRef,
    Range,
    Scope,
    Update,
    UpdateKind,
)
from controller.errors import PlanError

# Stands for an action set that another controller wrote in
# place; it equals no desired action, so it is replaced.
FOREIGN_ACTION_SET = ActionCall("one-shot action set")

_KINDS = {
    UpdateKind.INSERT: p4r.Update.INSERT,
    UpdateKind.MODIFY: p4r.Update.MODIFY,
    UpdateKind.DELETE: p4r.Update.DELETE,
}


def to_update(update: Update, schema: P4Schema) -> p4r.Update:
    """The message of one write; a DELETE carries the identity only."""
    whole = update.kind is not UpdateKind.DELETE
    return p4r.Update(type=_KINDS[update.kind], entity=to_entity(update.entity, schema, whole=whole))


def to_entity(entity: Entity, schema: P4Schema, *, whole: bool = True) -> p4r.Entity:
    """The message of one entity, with its action or members if `whole`."""
    match entity:
        case Member():
            profile = find_profile(schema, entity.key.profile)
            member = p4r.ActionProfileMember(action_profile_id=profile.id, member_id=entity.key.member_id)
            if whole:
                member.action.CopyFrom(_to_action(entity.action, profile.actions, entity.key))
            return p4r.Entity(action_profile_member=member)
        case Group():
            profile = find_profile(schema, entity.key.profile)
            group = p4r.ActionProfileGroup(action_profile_id=profile.id, group_id=entity.key.group_id)
            if whole:
                _check_group(entity, profile)
                # Where the program bounds groups, P4Runtime asks each group for a bound, which then stays.
                group.max_size = profile.max_group_size
                for member_id, weight in entity.members:
                    watched = _port(member_id) if entity.watching else b""
                    group.members.add(member_id=member_id, weight=weight, watch_port=watched)
            return p4r.Entity(action_profile_group=group)
        case Entry():
            table = find_table(schema, entity.key.table)
            message = p4r.TableEntry(table_id=table.id, priority=entity.key.priority)
            message.match.extend(_to_match(match, table, entity.key) for match in entity.key.match)
            if whole:
                message.action.CopyFrom(_to_table_action(entity, schema))
            return p4r.Entity(table_entry=message)


def from_entity(message: p4r.Entity, schema: P4Schema) -> Entity | None:
    """The entity of a message that a switch sent; None for what no controller can change (const entries).

    Raises PlanError for a message that does not fit the P4Info.
    """
    match message.WhichOneof("entity"):
        case "action_profile_member":
            member = message.action_profile_member
            profile = _profile_by_id(schema, member.action_profile_id)
            return Member(MemberKey(profile.name, member.member_id), _from_action(member.action, schema))
        case "action_profile_group":
            group = message.action_profile_group
            profile = _profile_by_id(schema, group.action_profile_id)
            members = sorted((member.member_id, member.weight) for member in group.members)
            watched = [member.watch_port == _port(member.member_id) for member in group.members]
            return Group(GroupKey(profile.name, group.group_id), tuple(members), bool(watched) and all(watched))
        case "table_entry":
            entry = message.table_entry
            if entry.is_const or entry.is_default_action:
                return None
            table = schema.tables.get(entry.table_id)
            if table is None:
                _unknown("table id", entry.table_id)
            match = sorted((_from_match(field, table) for field in entry.match), key=lambda found: found.field)
            return Entry(EntryKey(table.name, tuple(match), entry.priority), _from_table_action(entry.action, schema))
        case other:
            raise PlanError("read answer", f"holds an entity of kind {other}", "report this as a fault of the switch")


def read_request(scope: Scope, schema: P4Schema, device_id: int) -> p4r.ReadRequest:
    """A request for everything in the scope: members, groups and all entries of its tables."""
    request = p4r.ReadRequest(device_id=device_id)
    for name in scope.profiles:
        profile = find_profile(schema, name)
        request.entities.add(action_profile_member=p4r.ActionProfileMember(action_profile_id=profile.id))
        request.entities.add(action_profile_group=p4r.ActionProfileGroup(action_profile_id=profile.id))
    for name in scope.tables:
        request.entities.add(table_entry=p4r.TableEntry(table_id=find_table(schema, name).id))
    return request


def counter_request(name: str, cells: Iterable[int], schema: P4Schema, device_id: int) -> p4r.ReadRequest:
    """A request for these cells of an indirect counter; raises PlanError for a cell it lacks."""
    counter = schema.counters.get(name)
    if counter is None:
        _missing("counter", name, schema.counters)
    request = p4r.ReadRequest(device_id=device_id)
    for cell in _cells(name, cells, counter.size):
        entry = p4r.CounterEntry(counter_id=counter.id, index=p4r.Index(index=cell))
        request.entities.add(counter_entry=entry)
    return request


def register_request(name: str, cells: Iterable[int], schema: P4Schema, device_id: int) -> p4r.ReadRequest:
    """A request for these cells of a register; raises PlanError for a cell it lacks."""
    register = schema.registers.get(name)
    if register is None:
        _missing("register", name, schema.registers)
    request = p4r.ReadRequest(device_id=device_id)
    for cell in _cells(name, cells, register.size):
        entry = p4r.RegisterEntry(register_id=register.id, index=p4r.Index(index=cell))
        request.entities.add(register_entry=entry)
    return request


def find_table(schema: P4Schema, name: str) -> P4Table:
    """The table of this name; raises PlanError that lists those there are."""
    table = schema.tables.get(name)
    if table is None:
        _missing("table", name, schema.tables)
    return table


def find_profile(schema: P4Schema, name: str) -> P4ActionProfile:
    """The action profile of this name; raises PlanError that lists those there are."""
    profile = schema.action_profiles.get(name)
    if profile is None:
        _missing("action profile", name, schema.action_profiles)
    return profile


def encode_value(value: int, width_bits: int, *place: object) -> bytes:
    """Shortest big-endian bytes of a value; raises PlanError if it needs more than `width_bits`.

    The parts of `place` become text for the error only: a network has very many values.
    """
    if value < 0 or value.bit_length() > width_bits:
        needs = "is negative" if value < 0 else f"needs {value.bit_length()} bits"
        where = "".join(map(str, place))
        raise PlanError(where, f"{value:#x} {needs}, the P4 program has {width_bits}", "give a value that fits")
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def _to_action(call: ActionCall, actions: P4EntityMap[P4Action], place: Key) -> p4r.Action:
    """The message of an action call."""
    action = actions.get(call.name)
    if action is None:
        _missing(f"{place}: action", call.name, actions)
    given = {name for name, _ in call.args}
    wanted = {param.name for param in action.params}
    if given != wanted:
        cause = f"{call.name} takes ({', '.join(sorted(wanted))}), got ({', '.join(sorted(given))})"
        raise PlanError(str(place), cause, "make program and controller agree")
    message = p4r.Action(action_id=action.id)
    for name, value in call.args:
        param = action.params[name]
        encoded = encode_value(value, param.bitwidth, place, ": ", call.name, " parameter ", name)
        message.params.add(param_id=param.id, value=encoded)
    return message


def _to_table_action(entry: Entry, schema: P4Schema) -> p4r.TableAction:
    """The message of an entry's action."""
    match entry.action:
        case MemberRef(member_id):
            return p4r.TableAction(action_profile_member_id=member_id)
        case GroupRef(group_id):
            return p4r.TableAction(action_profile_group_id=group_id)
        case ActionCall():
            return p4r.TableAction(action=_to_action(entry.action, schema.actions, entry.key))


def _to_match(match: Match, table: P4Table, place: Key) -> p4r.FieldMatch:
    """The message of one match field."""
    field = table.match_fields.get(match.field)
    if field is None:
        _missing(f"{place}: key", match.field, table.match_fields)
    where = place, ": key ", match.field
    match match:
        case Exact(value=value):
            _check_kind(field, P4MatchType.EXACT, place)
            encoded = encode_value(value, field.bitwidth, *where)
            return p4r.FieldMatch(field_id=field.id, exact=p4r.FieldMatch.Exact(value=encoded))
        case Lpm(value=value, prefix_len=prefix_len):
            _check_kind(field, P4MatchType.LPM, place)
            encoded = encode_value(value, field.bitwidth, *where)
            if not 1 <= prefix_len <= field.bitwidth or value & ((1 << (field.bitwidth - prefix_len)) - 1):
                cause = f"{match} is not a prefix of {field.bitwidth} bits"
                raise PlanError(str(place), cause, "use a length of 1 to the width, with zeros behind the prefix")
            return p4r.FieldMatch(field_id=field.id, lpm=p4r.FieldMatch.LPM(value=encoded, prefix_len=prefix_len))
        case Range(low=low, high=high):
            _check_kind(field, P4MatchType.RANGE, place)
            if low > high:
                raise PlanError(str(place), f"{match} holds no value", "give the lower end first")
            ends = p4r.FieldMatch.Range(
                low=encode_value(low, field.bitwidth, *where), high=encode_value(high, field.bitwidth, *where)
            )
            return p4r.FieldMatch(field_id=field.id, range=ends)


def _check_kind(field: P4MatchField, kind: P4MatchType, place: Key) -> None:
    """Raise PlanError unless the program matches this field by `kind`."""
    if field.match_type is not kind:
        cause = f"key {field.name} is not matched by {kind.name.lower()}"
        raise PlanError(str(place), cause, "make program and controller agree")


def _port(number: int) -> bytes:
    """A port's number as a watch port."""
    return encode_value(number, 32, "watch port")


def _check_group(group: Group, profile: P4ActionProfile) -> None:
    """Raise PlanError for a group larger than the selector allows."""
    if profile.max_group_size and len(group.members) > profile.max_group_size:
        cause = f"{len(group.members)} members are more than the selector's {profile.max_group_size}"
        raise PlanError(str(group.key), cause, "raise max_group_size in the P4 program")


def _from_action(message: p4r.Action, schema: P4Schema) -> ActionCall:
    """The action call of a message, arguments in the order of their names."""
    action = schema.actions.get(message.action_id)
    if action is None:
        _unknown("action id", message.action_id)
    args: list[tuple[str, int]] = []
    for argument in message.params:
        param = action.params.get(argument.param_id)
        if param is None:
            _unknown(f"{action.name} parameter id", argument.param_id)
        args.append((param.name, int.from_bytes(argument.value, "big")))
    return ActionCall(action.name, tuple(sorted(args)))


def _from_table_action(message: p4r.TableAction, schema: P4Schema) -> EntryAction:
    """An entry's action from its message."""
    match message.WhichOneof("type"):
        case "action":
            return _from_action(message.action, schema)
        case "action_profile_member_id":
            return MemberRef(message.action_profile_member_id)
        case "action_profile_group_id":
            return GroupRef(message.action_profile_group_id)
        case _:
            return FOREIGN_ACTION_SET


def _from_match(message: p4r.FieldMatch, table: P4Table) -> Match:
    """A match field from its message."""
    field = table.match_fields.get(message.field_id)
    if field is None:
        _unknown(f"{table.name} key id", message.field_id)
    match message.WhichOneof("field_match_type"):
        case "exact":
            return Exact(field.name, int.from_bytes(message.exact.value, "big"))
        case "lpm":
            return Lpm(field.name, int.from_bytes(message.lpm.value, "big"), message.lpm.prefix_len)
        case "range":
            low, high = (int.from_bytes(end, "big") for end in (message.range.low, message.range.high))
            return Range(field.name, low, high)
        case other:
            cause = f"{table.name} key {field.name} has a match of kind {other}"
            raise PlanError("read answer", cause, "use a program whose tables match exactly, by prefix or by range")


def _profile_by_id(schema: P4Schema, profile_id: int) -> P4ActionProfile:
    """The action profile of this id; raises PlanError."""
    profile = schema.action_profiles.get(profile_id)
    if profile is None:
        _unknown("action profile id", profile_id)
    return profile


def _cells(name: str, cells: Iterable[int], size: int) -> Iterable[int]:
    """The cells, each checked against the array's size."""
    for cell in cells:
        if not 0 <= cell < size:
            raise PlanError(f"{name}[{cell}]", f"the array has {size} cells", "raise its size in the P4 program")
        yield cell


def _missing(kind: str, name: str, known: Iterable[object]) -> NoReturn:
    """Raise the PlanError for a name that the program lacks."""
    names = ", ".join(sorted(str(getattr(item, "name", "")) for item in known)) or "none"
    cause = f"the P4 program has none of this name, only: {names}"
    raise PlanError(f"{kind} {name!r}", cause, "load a program that has it")


def _unknown(kind: str, number: int) -> NoReturn:
    """Raise the PlanError for an id that the P4Info lacks."""
    raise PlanError("read answer", f"{kind} {number:#x} is not in the P4Info", "push the pipeline again")
