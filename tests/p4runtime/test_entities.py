"""Writes and reads of entities, and every way in which a write is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from finsy import GRPCStatusCode as Code
from finsy.p4client import P4ClientError
from finsy.proto import p4d, p4r

from tests.p4runtime.session import Controller, Program, primary


def acl(program: Program, priority: int, **match: p4r.FieldMatch) -> p4r.Entity:
    entry = p4r.TableEntry(
        table_id=program.tables["acl"],
        match=list(match.values()),
        priority=priority,
        action=program.action("count_and_discard"),
    )
    return p4r.Entity(table_entry=entry)


async def codes(controller: Controller, *updates: tuple[p4r.Update.Type.ValueType, p4r.Entity]) -> list[int]:
    """Codes of a batch's members, from the details of its status."""
    request = p4r.WriteRequest(
        device_id=1,
        election_id=p4r.Uint128(low=controller.election),
        updates=[p4r.Update(type=kind, entity=entity) for kind, entity in updates],
    )
    with pytest.raises(P4ClientError) as error:
        await controller.client.request(request)
    assert error.value.code == Code.UNKNOWN
    failed = error.value.details
    return [failed[place].canonical_code if place in failed else Code.OK for place in range(len(updates))]


async def test_entries_come_back_as_written(address: str, program: Program) -> None:
    exact = program.exact(b"\x0a\x00\x00\x01", b"\x00", program.action("forward", b"\x01\xff"))
    ternary = p4r.FieldMatch(field_id=1, ternary=p4r.FieldMatch.Ternary(value=b"\x0a\x00", mask=b"\xff\x00"))
    ranged = p4r.FieldMatch(field_id=2, range=p4r.FieldMatch.Range(low=b"\x05", high=b"\x01\x00"))
    optional = p4r.FieldMatch(field_id=3, optional=p4r.FieldMatch.Optional(value=b"\x00"))
    entries = [acl(program, 3, a=ternary, b=ranged), acl(program, 2, c=optional), acl(program, 1)]
    async with primary(address, program) as controller:
        await controller.insert(exact, *entries)
        of_acl = p4r.Entity(table_entry=p4r.TableEntry(table_id=program.tables["acl"]))
        found = await controller.read(of_acl)
        assert sorted(found, key=lambda one: -one.table_entry.priority) == entries
        of_acl.table_entry.priority = 2
        assert await controller.read(of_acl) == [entries[1]]
        everything = await controller.read(p4r.Entity(table_entry=p4r.TableEntry()))
        assert len(everything) == 1 + 3 + 2, "with the constant entries"
        assert sum(one.table_entry.is_const for one in everything) == 2
        exact.table_entry.action.CopyFrom(program.action("discard"))
        await controller.modify(exact)
        exact.table_entry.ClearField("action")
        assert (await controller.read(exact))[0].table_entry.action == program.action("discard")
        await controller.delete(exact)
        assert await controller.read(exact) == []


async def test_values_come_back_canonical(address: str, program: Program) -> None:
    async with primary(address, program) as controller:
        await controller.insert(program.exact(b"\x00\x00\x00\x01", b"\x02", program.action("forward", b"\x00\x03")))
        canonical = program.exact(b"\x01", b"\x02", program.action("forward", b"\x03"))
        table = p4r.Entity(table_entry=p4r.TableEntry(table_id=program.tables["exact_match"]))
        assert await controller.read(table) == [canonical]


async def test_default_entries_are_set_and_reset(address: str, program: Program) -> None:
    default = p4r.Entity(
        table_entry=p4r.TableEntry(
            table_id=program.tables["keyless"], is_default_action=True, action=program.action("discard")
        )
    )
    wanted = p4r.Entity(table_entry=p4r.TableEntry(table_id=program.tables["keyless"], is_default_action=True))
    async with primary(address, program) as controller:
        await controller.modify(default)
        assert await controller.read(wanted) == [default]
        await controller.modify(wanted)
        assert (await controller.read(wanted))[0].table_entry.action == program.action("forward", b"\x03")


async def test_ecmp_groups(address: str, program: Program) -> None:
    to_group = p4r.TableAction(action_profile_group_id=1)
    route = program.route(b"\x0a\x00\x00\x00", 8, to_group)
    async with primary(address, program) as controller:
        await controller.insert(program.member(1, b"\x01"), program.member(2, b"\x02"))
        await controller.insert(program.group(1, 1, 2))
        await controller.insert(route)
        groups = await controller.read(p4r.Entity(action_profile_group=p4r.ActionProfileGroup()))
        assert groups == [program.group(1, 1, 2)]
        members = await controller.read(p4r.Entity(action_profile_member=p4r.ActionProfileMember()))
        assert members == [program.member(1, b"\x01"), program.member(2, b"\x02")]
        delete, insert = p4r.Update.DELETE, p4r.Update.INSERT
        assert await codes(controller, (delete, program.member(1, b"\x01"))) == [Code.FAILED_PRECONDITION]
        assert await codes(controller, (delete, program.group(1))) == [Code.FAILED_PRECONDITION]
        assert await codes(controller, (insert, program.group(2, 9))) == [Code.NOT_FOUND]
        await controller.modify(program.group(1, 2))
        await controller.delete(program.member(1, b"\x01"))
        await controller.delete(route)
        await controller.delete(program.group(1))


async def test_counters_and_registers(address: str, program: Program) -> None:
    data = p4r.CounterData(byte_count=1500, packet_count=1)
    counter = p4r.CounterEntry(counter_id=program.counter, index=p4r.Index(index=3), data=data)
    register = p4r.RegisterEntry(
        register_id=program.register, index=p4r.Index(index=15), data=p4d.P4Data(bitstring=b"\x07")
    )
    async with primary(address, program) as controller:
        await controller.modify(p4r.Entity(counter_entry=counter), p4r.Entity(register_entry=register))
        cells = await controller.read(p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=program.counter)))
        assert [cell.counter_entry.data.packet_count for cell in cells] == [0, 0, 0, 1, 0, 0, 0, 0]
        assert len(await controller.read(p4r.Entity(register_entry=p4r.RegisterEntry()))) == 16
        at = p4r.RegisterEntry(register_id=program.register, index=p4r.Index(index=15))
        assert (await controller.read(p4r.Entity(register_entry=at)))[0].register_entry == register
        at.index.index = 16
        with pytest.raises(P4ClientError) as error:
            await controller.read(p4r.Entity(register_entry=at))
        assert error.value.details[0].canonical_code == Code.OUT_OF_RANGE


async def test_a_batch_goes_on_after_an_error(address: str, program: Program) -> None:
    entry = program.exact(b"\x01", b"\x01", program.action("forward", b"\x01"))
    insert = p4r.Update.INSERT
    async with primary(address, program) as controller:
        got = await codes(controller, (insert, entry), (insert, entry), (insert, program.member(1, b"\x01")))
        assert got == [Code.OK, Code.ALREADY_EXISTS, Code.OK]


Change = Callable[[Program, p4r.TableEntry], None]


def wide_match(_: Program, entry: p4r.TableEntry) -> None:
    entry.match[1].exact.value = b"\x01\x00"


def wide_argument(_: Program, entry: p4r.TableEntry) -> None:
    entry.action.action.params[0].value = b"\x02\x00"


def unknown_table(_: Program, entry: p4r.TableEntry) -> None:
    entry.table_id = 0x02FFFFFF


def unknown_action(_: Program, entry: p4r.TableEntry) -> None:
    entry.action.action.action_id = 0x01FFFFFF


def other_tables_action(program: Program, entry: p4r.TableEntry) -> None:
    entry.action.CopyFrom(program.action("report"))


def default_only_action(program: Program, entry: p4r.TableEntry) -> None:
    entry.action.CopyFrom(program.action("NoAction"))


def missing_field(_: Program, entry: p4r.TableEntry) -> None:
    del entry.match[1]


def missing_argument(_: Program, entry: p4r.TableEntry) -> None:
    del entry.action.action.params[:]


def priority_without_ternary(_: Program, entry: p4r.TableEntry) -> None:
    entry.priority = 1


def missing_priority(program: Program, entry: p4r.TableEntry) -> None:
    entry.CopyFrom(acl(program, 0).table_entry)


def const_table(program: Program, entry: p4r.TableEntry) -> None:
    entry.table_id = program.tables["fixed"]
    entry.match[0].exact.value = b"\x09"
    del entry.match[1]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (wide_match, Code.OUT_OF_RANGE, ["exact_match", "kind", "0x0100", "needs 9 bits", "has 8"]),
        (wide_argument, Code.OUT_OF_RANGE, ["forward", "port", "0x0200", "needs 10 bits", "has 9"]),
        (unknown_table, Code.NOT_FOUND, ["table", "0x02ffffff"]),
        (unknown_action, Code.INVALID_ARGUMENT, ["exact_match", "0x01ffffff"]),
        (other_tables_action, Code.INVALID_ARGUMENT, ["exact_match", "report"]),
        (default_only_action, Code.PERMISSION_DENIED, ["NoAction", "@defaultonly"]),
        (missing_field, Code.INVALID_ARGUMENT, ["kind", "must be given"]),
        (missing_argument, Code.INVALID_ARGUMENT, ["port", "missing"]),
        (priority_without_ternary, Code.INVALID_ARGUMENT, ["priority 1"]),
        (missing_priority, Code.INVALID_ARGUMENT, ["priority 0"]),
        (const_table, Code.PERMISSION_DENIED, ["fixed", "const entries"]),
    ],
)
async def test_bad_entries(address: str, program: Program, change: Change, code: int, words: list[str]) -> None:
    entity = program.exact(b"\x01", b"\x01", program.action("forward", b"\x01"))
    change(program, entity.table_entry)
    async with primary(address, program) as controller:
        with pytest.raises(P4ClientError) as error:
            await controller.insert(entity)
        details = error.value.details[0]
        assert details.canonical_code == code
        assert all(word in details.message for word in words), details.message
