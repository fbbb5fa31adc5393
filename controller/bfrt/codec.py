"""Entities to and from messages of BF Runtime, by the names, ids and widths of a bf-rt.json. Pure, no I/O.

Values travel as big-endian bytes of their field's whole width. A name the program lacks or a value wider than its field
is a PlanError before anything is sent.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from controller.bfrt import schema as names
from controller.bfrt import wire, wred
from controller.bfrt.schema import Action, Field, KeyField, Schema, Table, missing
from controller.entities import (
    ActionCall,
    ActionSet,
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
    OptionalMatch,
    Range,
    Scope,
    Ternary,
    Update,
    UpdateKind,
    Verbatim,
)
from controller.errors import PlanError

PRIORITIES = (1 << 31) - 1
"""The largest priority of P4Runtime, whose highest wins; in BF Runtime the smallest does, from 0."""

MAX_MEMBERS = 1 << 16
"""Of a group, each as often as it weighs; more than any selector has room for."""

_KINDS = {UpdateKind.INSERT: "INSERT", UpdateKind.MODIFY: "MODIFY", UpdateKind.DELETE: "DELETE"}


def to_update(update: Update, schema: Schema) -> wire.Message:
    """The message of one write; a DELETE carries the key only."""
    entity, kind = update.entity, update.kind
    table = table_of(entity.key, schema)
    if wred.is_wred(table):
        # Cells are there at all times: one that comes or goes is a cell that changes.
        call = None
        if kind is not UpdateKind.DELETE and isinstance(entity, Entry) and isinstance(entity.action, ActionCall):
            call = entity.action
        made = wire.Update(type=wire.Update.MODIFY)
        made.entity.table_entry.CopyFrom(wred.to_cell(entity.key, call, table))
        return made
    made = wire.Update(type=wire.Update.Type.Value(_KINDS[kind]))
    made.entity.table_entry.CopyFrom(to_entry(entity, schema, whole=kind is not UpdateKind.DELETE))
    return made


def table_of(key: Key, schema: Schema) -> Table:
    """The table that an entity is a row of; raises PlanError."""
    match key:
        case MemberKey():
            return schema.find(key.profile, "action profile")
        case GroupKey():
            return schema.selector_of(schema.find(key.profile, "action profile"))
        case EntryKey():
            return schema.find(key.table)
        case _:
            raise _of_p4runtime(str(key) if not isinstance(key, bytes) else "entity of a file")


def to_entry(entity: Entity, schema: Schema, *, whole: bool = True) -> wire.Message:
    """The row of one entity, with its action or members if `whole`."""
    table = table_of(entity.key, schema)
    row = wire.TableEntry(table_id=table.id)
    match entity:
        case Member():
            _exact(row, table, names.ACTION_MEMBER_ID, entity.key.member_id, entity.key)
            if whole:
                _put_call(row, table, entity.action, entity.key)
        case Group():
            _exact(row, table, names.SELECTOR_GROUP_ID, entity.key.group_id, entity.key)
            if whole:
                _put_members(row, table, entity)
        case Entry():
            _put_key(row, table, entity.key)
            if whole:
                _put_action(row, table, entity)
        case MulticastGroup() | CloneSession() | Verbatim():
            raise _of_p4runtime(str(entity.key))
    return row


def _of_p4runtime(place: str) -> PlanError:
    remedy = "install it over P4Runtime, or write a row of the chip's fixed table ($mirror.cfg, $pre.mgid)"
    return PlanError(place, "is supported only over P4Runtime", remedy)


def read_request(scope: Scope, schema: Schema) -> wire.Message:
    """A request for every row of the scope: members, groups and entries, as they were written.

    Hardware has fewer bits for some numbers of a filter, so it rounds them.
    """
    request = wire.ReadRequest()
    for table, _ in tables_of(scope, schema):
        request.entities.add().table_entry.table_id = table.id
    return request


def tables_of(scope: Scope, schema: Schema) -> Iterator[tuple[Table, str]]:
    """Tables of a scope, each with the name that the plan has for it."""
    for name in scope.profiles:
        profile = schema.find(name, "action profile")
        yield profile, name
        yield schema.selector_of(profile), name
    for name in scope.tables:
        yield schema.find(name), name


def from_rows(rows: Iterable[wire.Message], scope: Scope, schema: Schema) -> Iterator[Entity]:
    """The entities of rows that a switch sent; raises PlanError for a row that does not fit its bf-rt.json."""
    known = {table.id: (table, name) for table, name in tables_of(scope, schema)}
    for row in rows:
        if row.table_id not in known:
            raise _wrong(f"answers for table id {row.table_id:#x}, which was not requested")
        table, name = known[row.table_id]
        if row.is_default_entry:
            continue
        found = _from_row(row, table, name)
        if found is not None:
            yield found


def _from_row(row: wire.Message, table: Table, name: str) -> Entity | None:
    if wred.is_wred(table):
        return wred.from_cell(row, table, name)
    if names.SELECTOR_GROUP_ID in table.keys:
        group_id = key_value(row, table, names.SELECTOR_GROUP_ID)
        return Group(GroupKey(name, group_id), _members(row, table))
    if names.ACTION_MEMBER_ID in table.keys:
        member_id = key_value(row, table, names.ACTION_MEMBER_ID)
        return Member(MemberKey(name, member_id), _from_call(row, table))
    match: list[Match] = []
    priority = 0
    for field in row.key.fields:
        key = table.keys_by_id.get(field.field_id)
        if key is None:
            raise _wrong(f"table {table.name} has no key of id {field.field_id:#x}")
        if key.field.name == names.MATCH_PRIORITY:
            priority = PRIORITIES - int.from_bytes(field.exact.value, "big")
        elif (one := _from_match(field, key, table)) is not None:
            match.append(one)
    match.sort(key=lambda one: one.field)
    return Entry(EntryKey(name, tuple(match), priority), _from_action(row, table))


def value_bytes(value: int, field: Field, *place: object) -> bytes:
    """Big-endian bytes of a field's width; raises PlanError if the value needs more bits."""
    if value < 0 or value.bit_length() > field.width_bits:
        needs = "is negative" if value < 0 else f"needs {value.bit_length()} bits"
        where = "".join(map(str, place))
        raise PlanError(
            where,
            f"{value:#x} {needs}, but the field in the P4 program has {field.width_bits}",
            "give a value that fits",
        )
    return value.to_bytes(field.width_bytes, "big")


def key_value(row: wire.Message, table: Table, name: str) -> int:
    """The number of an exact key of a row; raises PlanError where it has none."""
    wanted = table.keys[name].field.id
    for field in row.key.fields:
        if field.field_id == wanted and field.WhichOneof("match_type") == "exact":
            return int.from_bytes(field.exact.value, "big")
    raise _wrong(f"a row of table {table.name} has no {name}")


def index_row(table: Table, key: str, cell: int) -> wire.Message:
    """A row of an array, for its index alone; raises PlanError for a cell it lacks."""
    if not 0 <= cell < table.size:
        cause = f"the array has {table.size} cells"
        raise PlanError(f"{table.name}[{cell}]", cause, "increase its size in the P4 program")
    row = wire.TableEntry(table_id=table.id)
    _exact(row, table, key, cell, table.name)
    return row


def data_fields(row: wire.Message, table: Table, known: Action | None = None) -> Iterator[tuple[Field, wire.Message]]:
    """Fields of a row's data with their values; raises PlanError for one that neither action nor table has."""
    for one in row.data.fields:
        field = known.by_id.get(one.field_id) if known is not None else None
        field = field or table.data_by_id.get(one.field_id)
        if field is None:
            raise _wrong(f"table {table.name} has no data field of id {one.field_id:#x}")
        yield field, one


def _exact(row: wire.Message, table: Table, name: str, value: int, place: object) -> None:
    key = table.keys.get(name)
    if key is None:
        missing(f"table {table.name}: key", name, table.keys)
    field = row.key.fields.add(field_id=key.field.id)
    field.exact.value = value_bytes(value, key.field, place, ": key ", name)


def _put_key(row: wire.Message, table: Table, key: EntryKey) -> None:
    """All fields of a key, also those that match anything, for which the chip's driver has other defaults."""
    given = {match.field: match for match in key.match}
    for name in given:
        if name not in table.keys:
            missing(f"{key}: key", name, table.keys)
    by_priority = names.MATCH_PRIORITY in table.keys
    if key.is_default:
        row.is_default_entry = True
        return
    if not (1 if by_priority else 0) <= key.priority <= (PRIORITIES if by_priority else 0):
        cause = f"the table takes priorities from 1 to {PRIORITIES}" if by_priority else "the table has no priorities"
        raise PlanError(str(key), cause, "make the program and the controller match")
    for name, of in table.keys.items():
        wanted = Exact(name, PRIORITIES - key.priority) if name == names.MATCH_PRIORITY else given.get(name)
        put_match(row.key.fields.add(field_id=of.field.id), of, wanted, key)


def put_match(made: wire.Message, key: KeyField, wanted: Match | None, place: object) -> None:
    """Puts a match of a key, or that anything matches; raises PlanError."""
    field = key.field
    where = place, ": key ", field.name
    match key.match, wanted:
        case "Exact", Exact(_, value):
            made.exact.value = value_bytes(value, field, *where)
        case "LPM", Lpm(_, value, prefix_len):
            behind = field.width_bits - prefix_len
            if not 1 <= prefix_len <= field.width_bits or value & ((1 << behind) - 1):
                cause = f"{wanted} is not a prefix of {field.width_bits} bits"
                remedy = "use a length from 1 to the key's width, and zeros after the prefix"
                raise PlanError(str(place), cause, remedy)
            made.lpm.value, made.lpm.prefix_len = value_bytes(value, field, *where), prefix_len
        case "Ternary", Ternary(_, value, mask):
            made.ternary.value, made.ternary.mask = value_bytes(value, field, *where), value_bytes(mask, field, *where)
        case "Optional", OptionalMatch(_, value):
            made.optional.value, made.optional.is_valid = value_bytes(value, field, *where), True
        case "Range", Range(_, low, high):
            if low > high:
                raise PlanError(str(place), f"{wanted} is an empty range", "give the lower bound first")
            made.range.low, made.range.high = value_bytes(low, field, *where), value_bytes(high, field, *where)
        case "LPM", None:
            made.lpm.value, made.lpm.prefix_len = bytes(field.width_bytes), 0
        case "Range", None:
            made.range.low = bytes(field.width_bytes)
            made.range.high = ((1 << field.width_bits) - 1).to_bytes(field.width_bytes, "big")
        case "Optional", None:
            made.optional.value, made.optional.is_valid = bytes(field.width_bytes), False
        case "Ternary", None:
            made.ternary.value = made.ternary.mask = bytes(field.width_bytes)
        case _, None:
            raise PlanError(str(place), f"key {field.name} is missing", "make the program and the controller match")
        case _:
            cause = f"key {field.name} has match kind {key.match}, not {wanted}"
            raise PlanError(str(place), cause, "make the program and the controller match")


def _put_call(row: wire.Message, table: Table, call: ActionCall, place: Key) -> None:
    action = table.actions.get(call.name)
    if action is None:
        missing(f"{place}: action", call.name, table.actions)
    given = {name for name, _ in call.args}
    if given != set(action.params):
        cause = f"{call.name} takes ({', '.join(sorted(action.params))}), but got ({', '.join(sorted(given))})"
        raise PlanError(str(place), cause, "make the program and the controller match")
    row.data.action_id = action.id
    for name, value in call.args:
        field = action.params[name]
        raw = value_bytes(value, field, place, ": ", call.name, " parameter ", name)
        made = row.data.fields.add(field_id=field.id)
        if field.kind == "bool":
            made.bool_val = bool(value)
        else:
            made.stream = raw


def _put_action(row: wire.Message, table: Table, entry: Entry) -> None:
    match entry.action:
        case ActionCall():
            _put_call(row, table, entry.action, entry.key)
        case MemberRef(member_id):
            _put_number(row, table.data_field(names.ACTION_MEMBER_ID), member_id, entry.key)
        case GroupRef(group_id):
            _put_number(row, table.data_field(names.SELECTOR_GROUP_ID), group_id, entry.key)
        case ActionSet():
            raise _of_p4runtime(f"{entry.key}: action set")


def _put_number(row: wire.Message, field: Field, value: int, place: object) -> None:
    row.data.fields.add(field_id=field.id).stream = value_bytes(value, field, place, ": ", field.name)


def _put_members(row: wire.Message, table: Table, group: Group) -> None:
    """Members of a group, all of them active, each as often as it weighs."""
    if group.watching:
        cause = "BF Runtime members do not watch ports: the controller itself disables them"
        raise PlanError(str(group.key), cause, "plan groups that do not watch ports")
    members = [member for member, weight in group.members for _ in range(min(weight, MAX_MEMBERS))]
    size = table.data_field(names.MAX_GROUP_SIZE)
    room = size.default or len(members)
    if len(members) > min(room, MAX_MEMBERS):
        cause = f"{len(members)} members exceed the selector's limit of {room}"
        raise PlanError(str(group.key), cause, "increase max_group_size in the P4 program")
    ids = table.data_field(names.ACTION_MEMBER_ID)
    listed = row.data.fields.add(field_id=ids.id)
    listed.int_arr_val.SetInParent()
    listed.int_arr_val.val.extend(members)
    states = row.data.fields.add(field_id=table.data_field(names.ACTION_MEMBER_STATUS).id)
    states.bool_arr_val.SetInParent()
    states.bool_arr_val.val.extend(True for _ in members)
    _put_number(row, size, room, group.key)


def _members(row: wire.Message, table: Table) -> tuple[tuple[int, int], ...]:
    """Members with their weights; one that is turned off counts for nothing, which no plan asks for."""
    ids: Sequence[int] = ()
    states: Sequence[bool] = ()
    for field, value in data_fields(row, table):
        if field.name == names.ACTION_MEMBER_ID:
            ids = value.int_arr_val.val
        elif field.name == names.ACTION_MEMBER_STATUS:
            states = value.bool_arr_val.val
    if len(ids) != len(states):
        raise _wrong(f"a group of {table.name} has {len(ids)} members but {len(states)} states")
    weights = Counter[int]()
    for member, is_on in zip(ids, states, strict=True):
        weights[int(member)] += int(is_on)
    return tuple(sorted(weights.items()))


def _from_call(row: wire.Message, table: Table) -> ActionCall:
    action = table.actions_by_id.get(row.data.action_id)
    if action is None:
        raise _wrong(f"table {table.name} has no action of id {row.data.action_id:#x}")
    args: list[tuple[str, int]] = []
    for field, value in data_fields(row, table, action):
        if field.name in action.params:
            number = int(value.bool_val) if field.kind == "bool" else int.from_bytes(value.stream, "big")
            args.append((field.name, number))
    return ActionCall(action.name, tuple(sorted(args)))


def _from_action(row: wire.Message, table: Table) -> EntryAction:
    """An entry's action: a call, or the member or group that its data names."""
    if table.actions:
        return _from_call(row, table)
    for field, value in data_fields(row, table):
        # The other one of the two may be there as 0.
        if value.WhichOneof("value") != "stream":
            continue
        number = int.from_bytes(value.stream, "big")
        if field.name == names.ACTION_MEMBER_ID:
            return MemberRef(number)
        if field.name == names.SELECTOR_GROUP_ID:
            return GroupRef(number)
    raise _wrong(f"an entry of {table.name} has neither action nor member nor group")


def _from_match(found: wire.Message, key: KeyField, table: Table) -> Match | None:
    """A match field from its message; None for one that matches anything."""
    field, kind = key.field, found.WhichOneof("match_type")
    if kind != key.match.lower():
        cause = f"{table.name} key {field.name} has a match of kind {kind}"
        raise PlanError("read answer", cause, "check that the switch still runs the program")
    match kind:
        case "exact":
            return Exact(field.name, int.from_bytes(found.exact.value, "big"))
        case "lpm":
            number, length = int.from_bytes(found.lpm.value, "big"), found.lpm.prefix_len
            return Lpm(field.name, number, length) if length else None
        case "range":
            low, high = int.from_bytes(found.range.low, "big"), int.from_bytes(found.range.high, "big")
            return Range(field.name, low, high) if (low, high) != (0, (1 << field.width_bits) - 1) else None
        case "ternary":
            value, mask = (int.from_bytes(part, "big") for part in (found.ternary.value, found.ternary.mask))
            return Ternary(field.name, value & mask, mask) if mask else None
        case "optional" if not found.optional.is_valid:
            return None
        case "optional":
            return OptionalMatch(field.name, int.from_bytes(found.optional.value, "big"))
        case _:
            raise _wrong(f"{table.name} key {field.name} has a match of kind {kind}")


def _wrong(cause: str) -> PlanError:
    return PlanError("read answer", cause, "check that the switch still runs the program")
