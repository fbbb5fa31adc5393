"""The client within this process compared with the one over gRPC, at one server: what they read, write and refuse."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any, cast

import pytest
from finsy.proto import p4r
from hypothesis import given
from hypothesis import strategies as st

from controller import EcnSettings, PlanError, Profile, SwitchError, Thresholds, codec, same_thresholds
from controller.client import Session
from controller.entities import (
    ActionCall,
    Entity,
    Entry,
    EntryKey,
    Exact,
    GroupRef,
    Lpm,
    Match,
    Member,
    MemberKey,
    MemberRef,
    Scope,
    Update,
    UpdateKind,
)
from controller.install import Server, diff_network, install_network, read_ports
from controller.pipeline import Pipeline, load_pipeline
from controller.reconcile import MAX_BATCH
from controller.wire import varint
from controller.within import Service
from p4cc import _engine
from p4cc.planning.programs import compile_program
from tests.controller import own_program as program
from tests.controller.planned import planned
from tests.controller.test_codec import P4INFO, SAMPLES
from tests.controller.test_install import ROOT, TOPOLOGY, network
from topos import generate

ECN = EcnSettings(Profile.GST, same_thresholds(TOPOLOGY, Thresholds(33, 65)))
UPDATES = [Update(kind, entity) for entity in SAMPLES for kind in UpdateKind]


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    compiled = compile_program(ROOT / "p4src" / "v1model" / "ecn_dual.p4")
    return load_pipeline(compiled.p4info_bytes(), compiled.device_config())


@pytest.fixture
def servers() -> Iterator[tuple[Server, Server]]:
    """One server, over gRPC and within this process."""
    net = network(TOPOLOGY)
    server = Server(net.serve())
    try:
        yield server, replace(server, within=Service(net.calls(), _engine.CallError))
    finally:
        net.stop_server()


@pytest.mark.parametrize("first", [0, 1])
async def test_each_finds_what_the_other_installed(
    servers: tuple[Server, Server], pipeline: Pipeline, first: int
) -> None:
    ours, other = servers[first], servers[1 - first]
    plans = planned(TOPOLOGY, ECN)
    (report,) = await install_network(ours, pipeline, plans, are_new=True)
    assert report.pipeline_pushed
    assert report.updates_written == len(plans[0].entities)
    # Fresh caches, so that what is read is not what was written.
    (left,) = await diff_network(other, load_pipeline(pipeline.config.p4info.SerializeToString(), b""), plans)
    assert left.pipeline_differs
    for server in servers:
        (left,) = await diff_network(server, replace(pipeline), plans)
        assert not left.pipeline_differs
        assert left.updates == ()
        (again,) = await install_network(server, replace(pipeline), plans)
        assert again.updates_written == 0
    assert await read_ports(ours, pipeline, plans) == await read_ports(other, pipeline, plans)
    assert [port.k_pkts for port in await read_ports(ours, pipeline, plans)] == [33] * len(TOPOLOGY.ports["s1"])


async def test_what_a_switch_sends_back_is_the_object_that_was_sent(
    servers: tuple[Server, Server], pipeline: Pipeline
) -> None:
    await install_network(servers[1], pipeline, planned(TOPOLOGY, ECN), are_new=True)
    # Its entities are equal to those, but others.
    plans = planned(TOPOLOGY, ECN)
    await install_network(servers[1], pipeline, plans, are_new=True)
    async with servers[1].line() as line, line.session(servers[1].target(plans[0]), 9.0) as session:
        read = await session.read(plans[0].scope, pipeline)
    assert {id(entity) for entity in read} == {id(entity) for entity in plans[0].entities}


def entry(port: int, k_pkts: int) -> Entry:
    call = ActionCall(program.SET_THRESHOLDS, (("k", k_pkts), ("k_dc", 65)))
    return Entry(EntryKey(program.THRESHOLDS, (Exact("egress_port", port),)), call)


async def _twice(session: Session, pipeline: Pipeline) -> None:
    batch = [Update(UpdateKind.INSERT, entry(port, 7)) for port in (1, 2, 3)]
    await session.write([batch], pipeline)
    await session.write([[Update(UpdateKind.INSERT, entry(0, 7)), *batch]], pipeline)


async def _absent(session: Session, pipeline: Pipeline) -> None:
    route = Entry(EntryKey(program.ROUTES, (Lpm(program.ROUTES_KEY, 0x0A000000, 8),)), MemberRef(77))
    await session.write([[Update(UpdateKind.INSERT, route)]], pipeline)


async def _negative_priority(session: Session, pipeline: Pipeline) -> None:
    key = replace(entry(1, 7).key, priority=-1)
    await session.write([[Update(UpdateKind.INSERT, replace(entry(1, 7), key=key))]], pipeline)


async def _all_absent(session: Session, pipeline: Pipeline) -> None:
    routes = (Lpm(program.ROUTES_KEY, 0x0A000000 + host, 32) for host in range(MAX_BATCH))
    entries = [Entry(EntryKey(program.ROUTES, (route,)), MemberRef(77)) for route in routes]
    await session.write([[Update(UpdateKind.INSERT, one) for one in entries]], pipeline)


async def _cell(session: Session, pipeline: Pipeline) -> None:
    await session.read_counter(program.LEVEL_PACKETS, [1 << 40], pipeline)


async def _push(session: Session, pipeline: Pipeline) -> None:
    config = p4r.ForwardingPipelineConfig()
    config.CopyFrom(pipeline.config)
    config.p4_device_config = b"control c() { apply { nothing } }"
    await session.ensure_pipeline(Pipeline(pipeline.schema, config), is_new=True)


async def _unknown_table(session: Session, pipeline: Pipeline) -> None:
    await session.read(Scope(("nowhere",), ()), pipeline)


ACTIONS: dict[str, Callable[[Session, Pipeline], Awaitable[object]]] = {
    "inserted twice": _twice,
    "a member that is not there": _absent,
    "a negative priority": _negative_priority,
    "a cell that is not there": _cell,
    "a program that does not compile": _push,
    "a table that is not there": _unknown_table,
    "a lower election id": lambda session, _: session.become_primary(0),
}


@pytest.mark.parametrize("what", ACTIONS)
async def test_refusals_are_alike(servers: tuple[Server, Server], pipeline: Pipeline, what: str) -> None:
    (plan,) = planned(TOPOLOGY, ECN)
    found: list[str] = []
    for server in servers:
        async with server.line() as line, line.session(server.target(plan), 9.0) as session:
            await session.become_primary(9)
            await session.ensure_pipeline(pipeline, is_new=True)
            with pytest.raises((SwitchError, PlanError)) as caught:
                await ACTIONS[what](session, pipeline)
            found.append(str(caught.value))
    assert found[0] == found[1]


async def test_a_whole_batch_that_is_refused_is_counted_with_its_cause(
    servers: tuple[Server, Server], pipeline: Pipeline
) -> None:
    (plan,) = planned(TOPOLOGY, ECN)
    _, local = servers
    async with local.line() as line, line.session(local.target(plan), 9.0) as session:
        await session.become_primary(9)
        await session.ensure_pipeline(pipeline, is_new=True)
        with pytest.raises(SwitchError, match=rf"has no member 77; insert the member first; {MAX_BATCH - 1} more"):
            await _all_absent(session, pipeline)


async def test_others_have_their_turn_between_batches(servers: tuple[Server, Server], pipeline: Pipeline) -> None:
    (plan,) = planned(TOPOLOGY, ECN)
    _, local = servers
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with local.line() as line, line.session(local.target(plan), 9.0) as session:
        await session.become_primary(9)
        await session.ensure_pipeline(pipeline, is_new=True)
        other = asyncio.create_task(take_turns())
        batches = [[Update(UpdateKind.INSERT, entry(port, 7))] for port in range(8)]
        before = turns
        await session.write(batches, pipeline)
        other.cancel()
    assert turns - before >= len(batches)


async def test_a_device_that_is_not_there_is_refused_alike(servers: tuple[Server, Server], pipeline: Pipeline) -> None:
    (plan,) = planned(TOPOLOGY, ECN)
    found: list[str] = []
    for server in servers:
        with pytest.raises(SwitchError, match="arbitration") as caught:
            await install_network(server, pipeline, [replace(plan, device_id=77)])
        found.append(str(caught.value))
    assert found[0] == found[1]


async def test_a_higher_election_id_keeps_others_out(servers: tuple[Server, Server], pipeline: Pipeline) -> None:
    (plan,) = planned(TOPOLOGY, ECN)
    remote, local = servers
    async with remote.line() as line, line.session(remote.target(plan), 9.0) as session:
        await session.become_primary(1 << 80)
        with pytest.raises(SwitchError, match="another controller is primary with election id"):
            await install_network(local, pipeline, [plan])
    assert (await install_network(replace(local, election_id=1 << 81), pipeline, [plan]))[0].updates_written > 0


async def test_a_server_that_has_stopped_says_so(pipeline: Pipeline) -> None:
    net = network(TOPOLOGY)
    local = Server(net.serve(), within=Service(net.calls(), _engine.CallError))
    net.stop_server()
    with pytest.raises(SwitchError, match="UNAVAILABLE"):
        await install_network(local, pipeline, planned(TOPOLOGY, ECN))
    with pytest.raises(_engine.ServerError, match="does not run"):
        net.calls()


def in_order(message: p4r.Entity) -> p4r.Entity:
    """The message with fields and parameters in the order of their ids, which means the same."""
    fields = sorted(message.table_entry.match, key=lambda one: one.field_id)
    if fields:
        copied = [p4r.FieldMatch.FromString(one.SerializeToString()) for one in fields]
        del message.table_entry.match[:]
        message.table_entry.match.extend(copied)
    for action in (message.table_entry.action.action, message.action_profile_member.action):
        if action.params:
            params = sorted(action.params, key=lambda one: one.param_id)
            copies = [p4r.Action.Param.FromString(one.SerializeToString()) for one in params]
            del action.params[:]
            action.params.extend(copies)
    return message


def check_bytes(updates: list[Update]) -> None:
    pipeline = load_pipeline(P4INFO, b"program")
    request = p4r.WriteRequest.FromString(pipeline.wire.write(7, p4r.Uint128(low=5, high=1), updates))
    assert (request.device_id, request.election_id.low, request.election_id.high) == (7, 5, 1)
    expected = [codec.to_update(update, pipeline.schema) for update in updates]
    assert [one.type for one in request.updates] == [one.type for one in expected]
    for got, wanted in zip(request.updates, expected, strict=True):
        assert in_order(got.entity) == in_order(wanted.entity)


def test_bytes_are_the_codecs_messages() -> None:
    check_bytes(UPDATES)
    plans = planned(generate("fat_tree", {"k": 4}), EcnSettings(Profile.GST, {}))
    check_bytes([Update(UpdateKind.INSERT, entity) for plan in plans for entity in plan.entities])


MATCHES: st.SearchStrategy[Match] = st.one_of(
    st.builds(Lpm, st.just(program.ROUTES_KEY), st.integers(-1, 1 << 33), st.integers(0, 33)),
    st.builds(Exact, st.sampled_from([program.ROUTES_KEY, "egress_port", "nothing"]), st.integers(-1, 1 << 10)),
)
CALLS = st.builds(
    ActionCall,
    st.sampled_from([program.SET_NEXT_HOP, program.SET_THRESHOLDS, "NoAction", "nothing"]),
    st.dictionaries(
        st.sampled_from(["dst_mac", "src_mac", "port", "k", "k_dc", "nothing"]),
        st.one_of(st.integers(-1, 300), st.integers(0, 1 << 49)),
    ).map(lambda args: tuple(sorted(args.items()))),
)
NUMBERS = st.integers(0, (1 << 32) - 1)
BEYOND = [-200, -1, 1 << 32, (1 << 32) + 3]
"""Numbers that no id has."""
ENTITIES: st.SearchStrategy[Entity] = st.one_of(
    st.builds(Member, st.builds(MemberKey, st.sampled_from([program.NEXT_HOPS, "nothing"]), NUMBERS), CALLS),
    st.builds(
        Entry,
        st.builds(
            EntryKey,
            st.sampled_from([program.ROUTES, program.THRESHOLDS, "nothing"]),
            st.lists(MATCHES, max_size=2).map(tuple),
            st.sampled_from([-200, -1, 0, 1, 1 << 20, (1 << 31) - 1]),
        ),
        st.one_of(CALLS, st.builds(MemberRef, NUMBERS), st.builds(GroupRef, NUMBERS)),
    ),
)


@given(ENTITIES)
def test_bytes_of_any_entity_are_the_codecs_or_refused_alike(entity: Entity) -> None:
    pipeline = load_pipeline(P4INFO, b"program")
    update = Update(UpdateKind.INSERT, entity)
    try:
        codec.to_update(update, pipeline.schema)
    except PlanError as error:
        refusal = str(error)
    else:
        check_bytes([update])
        return
    with pytest.raises(PlanError) as caught:
        pipeline.wire.write(1, p4r.Uint128(), [update])
    assert str(caught.value) == refusal


@pytest.mark.parametrize(
    ("shape", "number"),
    [
        *product((MemberRef, GroupRef, "member"), BEYOND),
        # A negative priority can be said; the switch refuses it.
        *product(("priority",), (1 << 31, (1 << 32) + 3)),
    ],
)
def test_numbers_that_no_field_holds_are_refused_as_by_the_codec(
    shape: Callable[[int], Any] | str, number: int
) -> None:
    pipeline = load_pipeline(P4INFO, b"program")
    lpm = (Lpm(program.ROUTES_KEY, 0x0A000000, 8),)
    if shape == "member":
        call = ActionCall(program.SET_NEXT_HOP, (("dst_mac", 1), ("port", 1)))
        entity: Entity = Member(MemberKey(program.NEXT_HOPS, number), call)
    elif shape == "priority":
        entity = Entry(EntryKey(program.ROUTES, lpm, number), MemberRef(1))
    else:
        entity = Entry(EntryKey(program.ROUTES, lpm), cast("Callable[[int], Any]", shape)(number))
    update = Update(UpdateKind.INSERT, entity)
    with pytest.raises((ValueError, PlanError)) as expected:
        codec.to_update(update, pipeline.schema)
    with pytest.raises(type(expected.value)) as caught:
        pipeline.wire.write(1, p4r.Uint128(), [update])
    assert str(caught.value) == str(expected.value)


@given(st.integers(0, 1 << 64))
def test_numbers_are_as_protobuf_writes_them(number: int) -> None:
    message = p4r.Uint128(low=number % (1 << 64)).SerializeToString()
    assert varint(number % (1 << 64)) == (message[1:] or b"\0")
