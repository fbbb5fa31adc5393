"""The bytes of P4Runtime messages, as a session within this process sends and reads them. Pure, no I/O.

A network has very many entries of few shapes. Members and entries of the usual shapes are written here, which takes a
quarter of the time of making a message; all others are messages of `codec`, and so are those that it refuses.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from finsy import P4Schema
from finsy.p4schema import P4Action, P4EntityMap, P4MatchType
from finsy.proto import p4r

from controller import codec
from controller.entities import (
    ActionCall,
    Entity,
    Entry,
    Exact,
    GroupRef,
    Lpm,
    Match,
    Member,
    MemberRef,
    Scope,
    Update,
    UpdateKind,
)

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

_VARINT, _BYTES = 0, 2
"""Wire types of protobuf."""


def varint(number: int) -> bytes:
    """A number as protobuf writes it; raises ValueError for a negative one."""
    if number < 0:
        raise ValueError(f"{number} has no such form")
    if number < 0x80:
        return _SHORT[number]
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


_SHORT = tuple(bytes((number,)) for number in range(0x80))


def _tag(message: "Descriptor", name: str, wire_type: int) -> bytes:
    return varint(message.fields_by_name[name].number << 3 | wire_type)


_ENTITY, _UPDATE, _ACTION = p4r.Entity.DESCRIPTOR, p4r.Update.DESCRIPTOR, p4r.Action.DESCRIPTOR
_MEMBER, _ENTRY = p4r.ActionProfileMember.DESCRIPTOR, p4r.TableEntry.DESCRIPTOR
_FIELD, _TABLE_ACTION = p4r.FieldMatch.DESCRIPTOR, p4r.TableAction.DESCRIPTOR
_OF_MEMBER = _tag(_ENTITY, "action_profile_member", _BYTES)
_OF_ENTRY = _tag(_ENTITY, "table_entry", _BYTES)
_MEMBER_ID = _tag(_MEMBER, "member_id", _VARINT)
_MEMBER_ACTION = _tag(_MEMBER, "action", _BYTES)
_ENTRY_MATCH = _tag(_ENTRY, "match", _BYTES)
_ENTRY_ACTION = _tag(_ENTRY, "action", _BYTES)
_ENTRY_PRIORITY = _tag(_ENTRY, "priority", _VARINT)
_BY_CALL = _tag(_TABLE_ACTION, "action", _BYTES)
_BY_MEMBER = _tag(_TABLE_ACTION, "action_profile_member_id", _VARINT)
_BY_GROUP = _tag(_TABLE_ACTION, "action_profile_group_id", _VARINT)
_FIELD_ID = _tag(_FIELD, "field_id", _VARINT)
_EXACT = _tag(_FIELD, "exact", _BYTES)
_LPM = _tag(_FIELD, "lpm", _BYTES)
_EXACT_VALUE = _tag(p4r.FieldMatch.Exact.DESCRIPTOR, "value", _BYTES)
_LPM_VALUE = _tag(p4r.FieldMatch.LPM.DESCRIPTOR, "value", _BYTES)
_LPM_LENGTH = _tag(p4r.FieldMatch.LPM.DESCRIPTOR, "prefix_len", _VARINT)
_PARAM = _tag(_ACTION, "params", _BYTES)
_PARAM_ID = _tag(p4r.Action.Param.DESCRIPTOR, "param_id", _VARINT)
_PARAM_VALUE = _tag(p4r.Action.Param.DESCRIPTOR, "value", _BYTES)
_ACTION_ID = _tag(_ACTION, "action_id", _VARINT)
_INSERT = _tag(_UPDATE, "type", _VARINT) + varint(p4r.Update.INSERT) + _tag(_UPDATE, "entity", _BYTES)
_UPDATES = _tag(p4r.WriteRequest.DESCRIPTOR, "updates", _BYTES)
_CONFIG = _tag(p4r.SetForwardingPipelineConfigRequest.DESCRIPTOR, "config", _BYTES)


def _sized(tag: bytes, content: bytes) -> bytes:
    return tag + varint(len(content)) + content


class _OtherShapeError(Exception):
    """A message of `codec` is needed, or its refusal."""


class _Shapes:
    """Bytes of members and of usual entries, by the names, ids and widths of one P4Info."""

    def __init__(self, schema: P4Schema) -> None:
        self._schema = schema
        self._calls: dict[tuple[str, str], tuple[bytes, list[tuple[int, str, bytes, int]]]] = {}
        """By the action profile, if one takes the action, and the action's name: place, name, beginning and width of
        each parameter in the order of ids, in which a switch sends them back.
        """
        self._fields: dict[tuple[str, str], tuple[int, bytes, int, P4MatchType | str]] = {}

    def entity(self, entity: Entity) -> bytes:
        """The serialized message of an entity; raises PlanError."""
        try:
            if isinstance(entity, Member):
                return self._member(entity)
            if isinstance(entity, Entry) and not entity.key.is_default:
                return self._entry(entity)
        except _OtherShapeError:
            pass
        return codec.to_entity(entity, self._schema).SerializeToString()

    def _member(self, member: Member) -> bytes:
        key = member.key
        profile = codec.find_profile(self._schema, key.profile)
        content = p4r.ActionProfileMember(action_profile_id=profile.id).SerializeToString()
        if key.member_id:
            content += _MEMBER_ID + _unsigned(key.member_id, 32)
        action = self._call(key.profile, profile.actions, member.action)
        return _sized(_OF_MEMBER, content + _sized(_MEMBER_ACTION, action))

    def _entry(self, entry: Entry) -> bytes:
        key, action = entry.key, entry.action
        match action:
            case MemberRef(number):
                does = _BY_MEMBER + _unsigned(number, 32)
            case GroupRef(number):
                does = _BY_GROUP + _unsigned(number, 32)
            case ActionCall():
                does = _sized(_BY_CALL, self._call("", self._schema.actions, action))
            case _:
                raise _OtherShapeError
        found = [self._match(key.table, match) for match in key.match]
        # A switch sends fields back in the order of their ids.
        found.sort()
        fields = b"".join([_sized(_ENTRY_MATCH, message) for _, message in found])
        table = codec.find_table(self._schema, key.table)
        content = p4r.TableEntry(table_id=table.id).SerializeToString() + fields + _sized(_ENTRY_ACTION, does)
        if key.priority:
            content += _ENTRY_PRIORITY + _unsigned(key.priority, 31)
        return _sized(_OF_ENTRY, content)

    def _call(self, profile: str, actions: P4EntityMap[P4Action], call: ActionCall) -> bytes:
        known = self._calls.get((profile, call.name))
        if known is None:
            action = actions.get(call.name)
            if action is None:
                raise _OtherShapeError
            places = {name: place for place, name in enumerate(sorted(one.name for one in action.params))}
            params = [
                (places[one.name], one.name, _PARAM_ID + varint(one.id) + _PARAM_VALUE, one.bitwidth)
                for one in sorted(action.params, key=lambda one: one.id)
            ]
            known = self._calls[profile, call.name] = _ACTION_ID + varint(action.id), params
        content, params = known
        args = call.args
        if len(params) != len(args):
            raise _OtherShapeError
        for place, name, head, width in params:
            given, value = args[place]
            if given != name:
                raise _OtherShapeError
            content += _sized(_PARAM, head + _value(value, width))
        return content

    def _match(self, table: str, match: Match) -> tuple[int, bytes]:
        """The id of the field, and its message."""
        known = self._fields.get((table, match.field))
        if known is None:
            field = codec.find_table(self._schema, table).match_fields.get(match.field)
            if field is None:
                raise _OtherShapeError
            known = field.id, _FIELD_ID + varint(field.id), field.bitwidth, field.match_type
            self._fields[table, match.field] = known
        number, head, width, kind = known
        match match:
            case Exact(_, value) if kind is P4MatchType.EXACT:
                return number, head + _sized(_EXACT, _EXACT_VALUE + _value(value, width))
            case Lpm(_, value, length) if kind is P4MatchType.LPM:
                if not 1 <= length <= width or value & ((1 << (width - length)) - 1):
                    raise _OtherShapeError
                return number, head + _sized(_LPM, _LPM_VALUE + _value(value, width) + _LPM_LENGTH + varint(length))
            case _:
                raise _OtherShapeError


def _unsigned(number: int, width_bits: int) -> bytes:
    """A number that fits into so many bits; of others `codec` and the switch know what to say."""
    if not 0 <= number < 1 << width_bits:
        raise _OtherShapeError
    return varint(number)


def _value(value: int, width_bits: int) -> bytes:
    """Length and shortest big-endian bytes of a value that fits."""
    bits = value.bit_length()
    if value < 0 or bits > width_bits:
        raise _OtherShapeError
    size = (bits + 7) // 8 or 1
    return varint(size) + value.to_bytes(size, "big")


class Wire:
    """Messages by one schema as bytes, each entity's once: switches of a network share most of them.

    As in `codec.Translation`, an entity is known by its identity, and what a switch sends back is the entity that was
    sent.
    """

    def __init__(self, schema: P4Schema, config: p4r.ForwardingPipelineConfig) -> None:
        self._schema = schema
        self._config = _sized(_CONFIG, config.SerializeToString())
        self._shapes = _Shapes(schema)
        self._inserts: dict[int, tuple[Entity, bytes]] = {}
        """By the identity of the entity, which is kept so that no other one gets it."""
        self._entities: dict[bytes, Entity] = {}
        self._reads: dict[Scope, bytes] = {}
        self._counters: dict[tuple[str, tuple[int, ...]], bytes] = {}

    def push(self, device_id: int, election_id: p4r.Uint128) -> bytes:
        """A request to run the program."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=device_id,
            election_id=election_id,
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
        )
        return request.SerializeToString() + self._config

    def write(self, device_id: int, election_id: p4r.Uint128, batch: Sequence[Update]) -> bytes:
        """A request for these updates in their order; raises PlanError."""
        request = p4r.WriteRequest(device_id=device_id, election_id=election_id)
        return b"".join((request.SerializeToString(), *map(self._update, batch)))

    def read(self, device_id: int, scope: Scope) -> bytes:
        """A request for everything in the scope; raises PlanError."""
        wanted = self._reads.get(scope)
        if wanted is None:
            codec.make_room(self._reads)
            wanted = self._reads[scope] = codec.read_request(scope, self._schema, 0).SerializeToString()
        return p4r.ReadRequest(device_id=device_id).SerializeToString() + wanted

    def counter(self, device_id: int, name: str, cells: tuple[int, ...]) -> bytes:
        """A request for these cells of an indirect counter; raises PlanError."""
        wanted = self._counters.get((name, cells))
        if wanted is None:
            codec.make_room(self._counters)
            wanted = codec.counter_request(name, cells, self._schema, 0).SerializeToString()
            self._counters[name, cells] = wanted
        return p4r.ReadRequest(device_id=device_id).SerializeToString() + wanted

    def entities(self, messages: Iterable[bytes]) -> Iterator[Entity]:
        """The values of entities that a switch sent, of those that come and go; raises PlanError."""
        known = self._entities
        for raw in messages:
            entity = known.get(raw)
            if entity is None:
                message = p4r.Entity.FromString(raw)
                if not codec.comes_and_goes(message):
                    continue
                codec.make_room(known)
                entity = known[raw] = codec.from_entity(message, self._schema)
            yield entity

    def _update(self, update: Update) -> bytes:
        entity = update.entity
        if update.kind is not UpdateKind.INSERT:
            return _sized(_UPDATES, codec.to_update(update, self._schema).SerializeToString())
        known = self._inserts.get(id(entity))
        if known is None:
            codec.make_room(self._inserts)
            codec.make_room(self._entities)
            raw = self._shapes.entity(entity)
            known = entity, _sized(_UPDATES, _sized(_INSERT, raw))
            self._inserts[id(entity)] = known
            # A switch that sends these bytes holds this entity, or an equal one of an earlier plan.
            self._entities[raw] = entity
        return known[1]
