"""Values of `entities` to and from P4Runtime messages, by the names, ids and widths of a P4Info. Pure, no I/O.

Ours rather than finsy's (`P4TableEntry` and its like): those are mutable and hold dicts, so plans could neither
share nor compare them, and their errors name neither place nor remedy.

Values travel as the shortest big-endian bytes (P4Runtime 8.4). A name the program lacks or a value wider than its
field is a PlanError before anything is sent.
"""

from collections.abc import Iterable, Iterator
from typing import NoReturn, TypeVar

from finsy import P4Schema
from finsy.p4schema import P4Action, P4ActionProfile, P4EntityMap, P4MatchField, P4MatchType, P4Table
from finsy.proto import p4r

from controller.entities import (
    ActionCall,
    ActionSet,
    CloneKey,
    CloneSession,
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
    MulticastGroup,
    MulticastKey,
    OptionalMatch,
    Range,
    Scope,
    Ternary,
    Update,
    UpdateKind,
    Verbatim,
)
from controller.errors import PlanError

K = TypeVar("K")
V = TypeVar("V")

MAX_KEPT = 1 << 16
"""Limit of cached translations per direction; beyond it the cache is cleared."""

NO_ACTION = ActionCall("NoAction")
"""The default action of a table that has none."""

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
        case Verbatim():
            return p4r.Entity.FromString(entity.message)
        case MulticastGroup() | CloneSession():
            return p4r.Entity(packet_replication_engine_entry=_to_copies(entity, whole=whole))
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
            message = to_key(entity.key, schema)
            if whole:
                message.table_entry.action.CopyFrom(_to_table_action(entity, schema))
            return message


def to_key(key: EntryKey, schema: P4Schema) -> p4r.Entity:
    """The message that names one entry: to read it, or to delete it."""
    table = find_table(schema, key.table)
    message = p4r.TableEntry(table_id=table.id, priority=key.priority, is_default_action=key.is_default)
    message.match.extend(_to_match(match, table, key) for match in key.match)
    return p4r.Entity(table_entry=message)


def _to_copies(entity: MulticastGroup | CloneSession, *, whole: bool) -> p4r.PacketReplicationEngineEntry:
    # The numeric field is deprecated in favour of bytes; BMv2 and older servers know only this one.
    replicas = [p4r.Replica(egress_port=port, instance=instance) for port, instance in entity.replicas if whole]
    match entity:
        case MulticastGroup():
            group = p4r.MulticastGroupEntry(multicast_group_id=entity.key.group_id, replicas=replicas)
            return p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
        case CloneSession():
            session = p4r.CloneSessionEntry(session_id=entity.key.session_id, replicas=replicas)
            if whole:
                session.packet_length_bytes = entity.packet_length_bytes
                session.class_of_service = entity.class_of_service
            return p4r.PacketReplicationEngineEntry(clone_session_entry=session)


def of_file(message: p4r.Entity, schema: P4Schema) -> Entity:
    """The value of a message that a file gives, or the message itself where a value would not say all of it."""
    try:
        entity = from_entity(message, schema)
    except PlanError:
        return Verbatim(message.SerializeToString(deterministic=True))
    return entity if to_entity(entity, schema) == message else Verbatim(message.SerializeToString(deterministic=True))


def from_entity(message: p4r.Entity, schema: P4Schema) -> Entity:
    """The value of a message that a switch sent; raises PlanError for one that does not fit the P4Info."""
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
            table = schema.tables.get(entry.table_id)
            if table is None:
                _unknown("table id", entry.table_id)
            match = sorted((_from_match(field, table) for field in entry.match), key=lambda found: found.field)
            key = EntryKey(table.name, tuple(match), entry.priority, entry.is_default_action)
            return Entry(key, _from_table_action(entry.action, schema))
        case "packet_replication_engine_entry":
            return _from_copies(message.packet_replication_engine_entry)
        case other:
            raise PlanError("read answer", f"contains an entity of kind {other}", "report this as a bug of the switch")


def comes_and_goes(message: p4r.Entity) -> bool:
    """Whether a controller can add and remove it: it is neither constant nor a default action."""
    return not (message.table_entry.is_const or message.table_entry.is_default_action)


def _from_copies(message: p4r.PacketReplicationEngineEntry) -> MulticastGroup | CloneSession:
    match message.WhichOneof("type"):
        case "multicast_group_entry":
            group = message.multicast_group_entry
            return MulticastGroup(MulticastKey(group.multicast_group_id), _from_replicas(group.replicas))
        case "clone_session_entry":
            session = message.clone_session_entry
            replicas = _from_replicas(session.replicas)
            key = CloneKey(session.session_id)
            return CloneSession(key, replicas, session.packet_length_bytes, session.class_of_service)
        case other:
            raise PlanError("read answer", f"contains replicas of kind {other}", "report this as a bug of the switch")


def _from_replicas(replicas: Iterable[p4r.Replica]) -> tuple[tuple[int, int], ...]:
    """Ports and instances; a server may say ports in bytes or as a number."""
    return tuple(
        (int.from_bytes(one.port, "big") or one.egress_port, one.instance)  # pyright: ignore[reportDeprecated]
        for one in replicas
    )


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
    """The table of this name; raises PlanError that lists the known ones."""
    table = schema.tables.get(name)
    if table is None:
        _missing("table", name, schema.tables)
    return table


def find_profile(schema: P4Schema, name: str) -> P4ActionProfile:
    """The action profile of this name; raises PlanError that lists the known ones."""
    profile = schema.action_profiles.get(name)
    if profile is None:
        _missing("action profile", name, schema.action_profiles)
    return profile


def encode_value(value: int, width_bits: int, *place: object) -> bytes:
    """Shortest big-endian bytes of a value; raises PlanError if it needs more than `width_bits`."""
    check_width(value, width_bits, *place)
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def check_width(value: int, width_bits: int, *place: object) -> None:
    """Raises PlanError if a value needs more than `width_bits`.

    The parts of `place` become text for the error only: a network has very many values.
    """
    if value < 0 or value.bit_length() > width_bits:
        needs = "is negative" if value < 0 else f"needs {value.bit_length()} bits"
        where = "".join(map(str, place))
        raise PlanError(
            where, f"{value:#x} {needs}, but the field in the P4 program has {width_bits}", "give a value that fits"
        )


def _to_action(call: ActionCall, actions: P4EntityMap[P4Action], place: Key) -> p4r.Action:
    """The message of an action call."""
    action = actions.get(call.name)
    if action is None:
        _missing(f"{place}: action", call.name, actions)
    given = {name for name, _ in call.args}
    wanted = {param.name for param in action.params}
    if given != wanted:
        cause = f"{call.name} takes ({', '.join(sorted(wanted))}), but got ({', '.join(sorted(given))})"
        raise PlanError(str(place), cause, "make the program and the controller match")
    message = p4r.Action(action_id=action.id)
    for name, value in call.args:
        param = action.params[name]
        encoded = encode_value(value, param.bitwidth, place, ": ", call.name, " parameter ", name)
        message.params.add(param_id=param.id, value=encoded)
    return message


def _to_table_action(entry: Entry, schema: P4Schema) -> p4r.TableAction:
    """The message of an entry's action."""
    match entry.action:
        case ActionSet(members):
            made = p4r.TableAction()
            made.action_profile_action_set.SetInParent()  # a set without members is a set all the same
            for call, weight, watched in members:
                action = _to_action(call, schema.actions, entry.key)
                port = _port(watched) if watched else None
                made.action_profile_action_set.action_profile_actions.add(action=action, weight=weight, watch_port=port)
            return made
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
                raise PlanError(str(place), cause, "use a length from 1 to the key's width, and zeros after the prefix")
            return p4r.FieldMatch(field_id=field.id, lpm=p4r.FieldMatch.LPM(value=encoded, prefix_len=prefix_len))
        case Range(low=low, high=high):
            _check_kind(field, P4MatchType.RANGE, place)
            if low > high:
                raise PlanError(str(place), f"{match} is an empty range", "give the lower bound first")
            ends = p4r.FieldMatch.Range(
                low=encode_value(low, field.bitwidth, *where), high=encode_value(high, field.bitwidth, *where)
            )
            return p4r.FieldMatch(field_id=field.id, range=ends)
        case Ternary(value=value, mask=mask):
            _check_kind(field, P4MatchType.TERNARY, place)
            if value & ~mask:
                raise PlanError(str(place), f"{match} sets bits outside its mask", "clear those bits")
            masked = p4r.FieldMatch.Ternary(
                value=encode_value(value, field.bitwidth, *where), mask=encode_value(mask, field.bitwidth, *where)
            )
            return p4r.FieldMatch(field_id=field.id, ternary=masked)
        case OptionalMatch(value=value):
            _check_kind(field, P4MatchType.OPTIONAL, place)
            encoded = encode_value(value, field.bitwidth, *where)
            return p4r.FieldMatch(field_id=field.id, optional=p4r.FieldMatch.Optional(value=encoded))


def _check_kind(field: P4MatchField, kind: P4MatchType, place: Key) -> None:
    """Raise PlanError unless the program matches this field by `kind`."""
    if field.match_type is not kind:
        cause = f"key {field.name} does not have match kind {kind.name.lower()}"
        raise PlanError(str(place), cause, "make the program and the controller match")


def _port(number: int) -> bytes:
    """A port's number as a watch port."""
    return encode_value(number, 32, "watch port")


def _check_group(group: Group, profile: P4ActionProfile) -> None:
    """Raise PlanError for a group whose members weigh more than the selector allows."""
    weight = sum(of_member for _, of_member in group.members)
    if profile.max_group_size and weight > profile.max_group_size:
        cause = f"members of weight {weight} exceed the selector's limit of {profile.max_group_size}"
        raise PlanError(str(group.key), cause, "increase max_group_size in the P4 program")


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
        case "action_profile_action_set":
            members = message.action_profile_action_set.action_profile_actions
            return ActionSet(
                tuple(
                    (_from_action(one.action, schema), one.weight, int.from_bytes(one.watch_port, "big"))
                    for one in members
                )
            )
        case _:
            return NO_ACTION


def _from_match(message: p4r.FieldMatch, table: P4Table) -> Match:
    """A match field from its message."""
    field = table.match_fields.get(message.field_id)
    if field is None:
        _unknown(f"{table.name} key id", message.field_id)
    kind = message.WhichOneof("field_match_type")
    if kind is None or field.match_type is not P4MatchType.__members__.get(kind.upper()):
        cause = f"{table.name} key {field.name} has a match of kind {kind}"
        raise PlanError("read answer", cause, "push the pipeline again")
    match kind:
        case "exact":
            return Exact(field.name, int.from_bytes(message.exact.value, "big"))
        case "lpm":
            return Lpm(field.name, int.from_bytes(message.lpm.value, "big"), message.lpm.prefix_len)
        case "range":
            low, high = (int.from_bytes(end, "big") for end in (message.range.low, message.range.high))
            return Range(field.name, low, high)
        case "ternary":
            value, mask = (int.from_bytes(part, "big") for part in (message.ternary.value, message.ternary.mask))
            return Ternary(field.name, value, mask)
        case "optional":
            return OptionalMatch(field.name, int.from_bytes(message.optional.value, "big"))
        case _:
            raise PlanError("read answer", f"contains a match of kind {kind}", "use only match kinds of P4Runtime")


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
            raise PlanError(f"{name}[{cell}]", f"the array has {size} cells", "increase its size in the P4 program")
        yield cell


def _missing(kind: str, name: str, known: Iterable[object]) -> NoReturn:
    """Raise the PlanError for a name that the program lacks."""
    names = ", ".join(sorted(str(getattr(item, "name", "")) for item in known)) or "none"
    cause = f"the P4 program does not define it; it defines: {names}"
    raise PlanError(f"{kind} {name!r}", cause, "load a program that defines it")


def _unknown(kind: str, number: int) -> NoReturn:
    """Raise the PlanError for an id that the P4Info lacks."""
    raise PlanError("read answer", f"{kind} {number:#x} is not in the P4Info", "push the pipeline again")


class Translation:
    """Entities and their messages by one schema, each translated once: switches of a network share most entities.

    Plans share what is equal, so an entity is known by its identity, which needs no hash of all that it holds. What a
    switch sends back is the entity that was sent: a comparison of both ends at once.
    """

    def __init__(self, schema: P4Schema) -> None:
        self._schema = schema
        self._updates: dict[int, tuple[Entity, p4r.Update]] = {}
        """By the identity of the entity, which is kept so that no other one gets it."""
        self._entities: dict[bytes, Entity] = {}
        self._counters: dict[tuple[str, tuple[int, ...]], p4r.ReadRequest] = {}
        """Of switches with the same ports."""

    def to_update(self, update: Update) -> p4r.Update:
        """As `codec.to_update`; the message is for reading only."""
        if update.kind is not UpdateKind.INSERT:
            return to_update(update, self._schema)
        known = self._updates.get(id(update.entity))
        if known is None:
            make_room(self._updates)
            make_room(self._entities)
            known = update.entity, to_update(update, self._schema)
            self._updates[id(update.entity)] = known
            # A switch that sends these very bytes holds this very entity.
            self._entities.setdefault(known[1].entity.SerializeToString(), update.entity)
        return known[1]

    def counter_request(self, name: str, cells: tuple[int, ...], device_id: int) -> p4r.ReadRequest:
        """As `codec.counter_request`."""
        key = name, cells
        if key not in self._counters:
            make_room(self._counters)
            self._counters[key] = counter_request(name, cells, self._schema, device_id)
        request = p4r.ReadRequest()
        request.CopyFrom(self._counters[key])
        request.device_id = device_id
        return request

    def from_entities(self, messages: Iterable[p4r.Entity]) -> Iterator[Entity]:
        """As `codec.from_entity`, those that come and go."""
        for message in messages:
            raw = message.SerializeToString()
            known = self._entities.get(raw)
            if known is None:
                if not comes_and_goes(message):
                    continue
                make_room(self._entities)
                known = self._entities[raw] = from_entity(message, self._schema)
            yield known


def make_room(cache: dict[K, V]) -> None:
    """Clears a cache that has reached its limit."""
    if len(cache) >= MAX_KEPT:
        cache.clear()
