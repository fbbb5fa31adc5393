"""Brings one switch to hold what a file says, writing only what differs; what else it holds stays.

A user's own controller may have added entries meanwhile: those are not this one's to remove.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from finsy.proto import p4r

from controller.client import Session
from controller.errors import SwitchError
from controller.pipeline import Pipeline
from controller.runtime import to_entities
from topos.loaders.runtime import Runtime

_ORDER = {"action_profile_member": 0, "action_profile_group": 1, "packet_replication_engine_entry": 2}
"""Kinds of entities that are inserted, in the order in which they may name each other."""


@dataclass(frozen=True)
class InstallReport:
    """What was done to one switch: whether the pipeline was pushed, and the updates written."""

    switch: str
    pipeline_pushed: bool
    updates_written: int


async def install_runtime(session: Session, pipeline: Pipeline, runtime: Runtime) -> InstallReport:
    """Push the program unless it runs, then write what is missing or differs; raises SwitchError or PlanError."""
    desired = to_entities(runtime, pipeline.schema)
    pushed = await session.ensure_pipeline(pipeline)
    tables = [entity for entity in desired if entity.HasField("table_entry")]
    others = [entity for entity in desired if not entity.HasField("table_entry")]
    written = 0
    # Entries may name members and groups of action profiles, so these come first.
    for entity in sorted(others, key=lambda one: _ORDER.get(one.WhichOneof("entity") or "", len(_ORDER))):
        written += await _write_other(session, entity)
    updates = difference(tables, await _held_entries(session, tables))
    await session.write_messages(updates)
    return InstallReport(session.target.name, pushed, written + len(updates))


def difference(desired: Sequence[p4r.Entity], held: Iterable[p4r.Entity]) -> list[p4r.Update]:
    """Updates that add or change what is desired, in its order; of two entries with one key the later one counts."""
    have = {identity(entity): _state(entity) for entity in held}
    updates: dict[bytes, p4r.Update] = {}
    for entity in desired:
        key = identity(entity)
        updates.pop(key, None)
        if have.get(key) == _state(entity):
            continue
        # A table's default action is always there and can only be changed (P4Runtime 9.1.2).
        is_there = key in have or entity.table_entry.is_default_action
        updates[key] = p4r.Update(type=p4r.Update.MODIFY if is_there else p4r.Update.INSERT, entity=entity)
    return list(updates.values())


async def _held_entries(session: Session, desired: Iterable[p4r.Entity]) -> list[p4r.Entity]:
    """The entries of the tables in question, and the default actions of those that get one."""
    wanted: dict[tuple[int, bool], p4r.Entity] = {}
    for entity in desired:
        entry = entity.table_entry
        asked = p4r.TableEntry(table_id=entry.table_id, is_default_action=entry.is_default_action)
        wanted[entry.table_id, entry.is_default_action] = p4r.Entity(table_entry=asked)
    return await session.read_messages(wanted.values()) if wanted else []


async def _write_other(session: Session, entity: p4r.Entity) -> int:
    """What is no table entry, inserted, or changed where it is there; the number of updates."""
    if entity.WhichOneof("entity") not in _ORDER:
        # Registers, counters and meters are always there.
        await session.write_messages([p4r.Update(type=p4r.Update.MODIFY, entity=entity)])
        return 1
    try:
        held = await session.read_messages([_asked(entity)])
    except SwitchError:
        # Not every switch can read these.
        held = []
    if any(_state(one) == _state(entity) for one in held):
        return 0
    kinds = (p4r.Update.MODIFY, p4r.Update.INSERT) if held else (p4r.Update.INSERT, p4r.Update.MODIFY)
    try:
        await session.write_messages([p4r.Update(type=kinds[0], entity=entity)])
    except SwitchError as error:
        if error.code not in ("ALREADY_EXISTS", "NOT_FOUND"):
            raise
        await session.write_messages([p4r.Update(type=kinds[1], entity=entity)])
    return 1


def _asked(entity: p4r.Entity) -> p4r.Entity:
    """The entity with its identity alone."""
    match entity.WhichOneof("entity"):
        case "action_profile_member":
            member = entity.action_profile_member
            asked = p4r.ActionProfileMember(action_profile_id=member.action_profile_id, member_id=member.member_id)
            return p4r.Entity(action_profile_member=asked)
        case "action_profile_group":
            group = entity.action_profile_group
            found = p4r.ActionProfileGroup(action_profile_id=group.action_profile_id, group_id=group.group_id)
            return p4r.Entity(action_profile_group=found)
        case _:
            return p4r.Entity(packet_replication_engine_entry=_asked_copies(entity))


def _asked_copies(entity: p4r.Entity) -> p4r.PacketReplicationEngineEntry:
    engine = entity.packet_replication_engine_entry
    if engine.HasField("multicast_group_entry"):
        group = p4r.MulticastGroupEntry(multicast_group_id=engine.multicast_group_entry.multicast_group_id)
        return p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
    session = p4r.CloneSessionEntry(session_id=engine.clone_session_entry.session_id)
    return p4r.PacketReplicationEngineEntry(clone_session_entry=session)


def identity(entity: p4r.Entity) -> bytes:
    """What tells a table entry from others: table, key, priority, and whether it is the default action."""
    plain = _canonical(entity.table_entry)
    plain.ClearField("action")
    return plain.SerializeToString(deterministic=True)


def _state(entity: p4r.Entity) -> bytes:
    """Identity and effect, without what the switch adds (counters, times)."""
    if entity.HasField("table_entry"):
        return _canonical(entity.table_entry).SerializeToString(deterministic=True)
    return entity.SerializeToString(deterministic=True)


def _canonical(entry: p4r.TableEntry) -> p4r.TableEntry:
    """An entry with fields in order and values in their shortest form: servers may send them padded."""
    plain = p4r.TableEntry(table_id=entry.table_id, priority=entry.priority, is_default_action=entry.is_default_action)
    for found in sorted(entry.match, key=lambda field: field.field_id):
        field = plain.match.add()
        field.CopyFrom(found)
        kind = field.WhichOneof("field_match_type")
        if kind is None:
            continue
        match = getattr(field, kind)
        for part in match.DESCRIPTOR.fields:
            if part.type == part.TYPE_BYTES:
                setattr(match, part.name, _short(getattr(match, part.name)))
    plain.action.CopyFrom(entry.action)
    params = sorted(entry.action.action.params, key=lambda param: param.param_id)
    del plain.action.action.params[:]
    for param in params:
        plain.action.action.params.add(param_id=param.param_id, value=_short(param.value))
    return plain


def _short(value: bytes) -> bytes:
    """The shortest form of a value (P4Runtime 8.4)."""
    return value.lstrip(b"\0") or b"\0"
