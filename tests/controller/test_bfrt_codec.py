"""BF Runtime's messages: their description, what P4 Studio's client sends for the same, schemas and rows that lie."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from hypothesis import given
from hypothesis import strategies as st

from controller.bfrt import codec, wire
from controller.bfrt.schema import COUNTER_INDEX, Schema, parse_schema
from controller.entities import (
    ActionCall,
    Entity,
    Entry,
    EntryKey,
    Exact,
    Group,
    GroupKey,
    GroupRef,
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
from p4cc.planning.programs import compile_program
from tests.bfrt.wire import MESSAGES
from tests.switchd.namespaces import ROOT

FORWARD = "ingress.forward"
ROUTES, PROFILE = f"{FORWARD}.ipv4_lpm", f"{FORWARD}.ecmp"
SCOPE = Scope((ROUTES, "egress.ecn.thresholds"), (PROFILE,))
HOP = ActionCall(f"{FORWARD}.set_next_hop", (("dst_mac", 0x0200_0000_0001), ("port", 1)))
MEMBER = Member(MemberKey(PROFILE, 1), HOP)
GROUP = Group(GroupKey(PROFILE, 1), ((1, 1),))
ROUTE = Entry(EntryKey(ROUTES, (Lpm("hdr.ipv4.dst_addr", 0x0A00_0100, 24),)), GroupRef(1))
SET_THRESHOLDS = ActionCall("egress.ecn.set_thresholds", (("k", 627), ("k_dc", 1235)))
THRESHOLDS = Entry(EntryKey("egress.ecn.thresholds", (Exact("egress_port", 3),)), SET_THRESHOLDS)

AS_P4_STUDIO_SENDS = [
    (
        UpdateKind.INSERT,
        MEMBER,
        "37080112330a3108f9bce98f08120e0a0c0883800412060a04000000011a1908969da40b120a080212060200000000011206080112020001",
    ),
    (
        UpdateKind.INSERT,
        GROUP,
        "400801123c0a3a08f6b8a69408120e0a0c0884800412060a04000000011a221209088380042a030a01011209089c800432030a0101120a08"
        "9d8004120400000020",
    ),
    (
        UpdateKind.INSERT,
        ROUTE,
        "29080112250a2308c69ae817120e0a0c080122080a040a00010010181a0c120a08848004120400000001",
    ),
    (
        UpdateKind.INSERT,
        THRESHOLDS,
        "300801122c0a2a08efd7cf16120a0a08080112040a0200031a1708f4ddcf091207080112030002731207080212030004d3",
    ),
    (UpdateKind.DELETE, THRESHOLDS, "17080412130a1108efd7cf16120a0a08080112040a020003"),
]
"""Updates as the client of P4 Studio (November 2026) sent them to `p4cc-switch`, behind target and client id 100."""
WRITE_HEAD, READ_HEAD = "0a0a10ffff0318ff0120ff0110641a", "0a0a10ffff0318ff0120ff0110641a"
COUNTER_READ = "1c0a1a08df8c8a9e08120e0a0c0894800412060a040000000d4a020801"


@pytest.fixture(scope="module")
def text() -> bytes:
    return compile_program(ROOT / "p4src/tna/ecn_dual.p4").bfrt_text().encode()


@pytest.fixture(scope="module")
def schema(text: bytes) -> Schema:
    return parse_schema(text)


def plain(file: descriptor_pb2.FileDescriptorProto) -> descriptor_pb2.FileDescriptorProto:
    """Without what each compiler adds as it likes, and without the calls, which `wire` names itself."""
    made = descriptor_pb2.FileDescriptorProto()
    made.CopyFrom(file)
    made.ClearField("source_code_info")
    made.ClearField("service")
    pending = list(made.message_type)
    while pending:
        message = pending.pop()
        pending.extend(message.nested_type)
        for field in message.field:
            field.ClearField("json_name")
    return made


def test_the_description_is_that_of_the_proto_file() -> None:
    of_source = descriptor_pb2.FileDescriptorProto()
    MESSAGES["WriteRequest"].DESCRIPTOR.file.CopyToProto(of_source)
    assert plain(wire.description()) == plain(of_source), (
        "make controller/bfrt/bfruntime.binpb anew (controller/bfrt/wire.py)"
    )
    (service,) = wire.description().service
    calls = {method.name: (method.client_streaming, method.server_streaming) for method in service.method}
    assert calls == {
        "Write": (False, False),
        "Read": (False, True),
        "SetForwardingPipelineConfig": (False, False),
        "GetForwardingPipelineConfig": (False, False),
        "StreamChannel": (True, True),
    }


@pytest.mark.parametrize(("kind", "entity", "sent"), AS_P4_STUDIO_SENDS)
def test_requests_are_those_of_p4_studios_client(schema: Schema, kind: UpdateKind, entity: Entity, sent: str) -> None:
    request = wire.on_all_pipes(wire.WriteRequest(client_id=100), 0)
    request.updates.append(codec.to_update(Update(kind, entity), schema))
    assert request.SerializeToString(deterministic=True).hex() == WRITE_HEAD + sent


def test_a_read_of_a_counter_is_that_of_p4_studios_client(schema: Schema) -> None:
    request = wire.on_all_pipes(wire.ReadRequest(client_id=100), 0)
    row = request.entities.add().table_entry
    row.CopyFrom(codec.index_row(schema.find("egress.ecn.level_packets"), COUNTER_INDEX, 13))
    row.table_flags.from_hw = True
    assert request.SerializeToString(deterministic=True).hex() == READ_HEAD + COUNTER_READ


@pytest.mark.parametrize(
    "entity",
    [
        MEMBER,
        GROUP,
        Group(GroupKey(PROFILE, 2), ((1, 3), (2, 1))),
        ROUTE,
        Entry(EntryKey(ROUTES, ()), MemberRef(1)),
        THRESHOLDS,
    ],
)
def test_what_is_written_is_what_is_read(schema: Schema, entity: Entity) -> None:
    row = codec.to_entry(entity, schema)
    assert list(codec.from_rows([row], SCOPE, schema)) == [entity]


def test_the_highest_priority_of_a_plan_is_the_smallest_of_the_wire() -> None:
    schema = parse_schema(compile_program(ROOT / "p4src/tna/ecn_red.p4").bfrt_text().encode())
    table = "egress.red.steps"
    match = (Exact("egress_port", 3), Range("queue_depth", 10, 20))
    call = ActionCall("egress.red.set_always")
    sent: dict[int, int] = {}
    for priority in (1, 2, codec.PRIORITIES):
        entry = Entry(EntryKey(table, match, priority), call)
        row = codec.to_entry(entry, schema)
        sent[priority] = int.from_bytes(row.key.fields[-1].exact.value, "big")
        assert list(codec.from_rows([row], Scope((table,), ()), schema)) == [entry]
    assert sent == {1: 2**31 - 2, 2: 2**31 - 3, codec.PRIORITIES: 0}
    with pytest.raises(PlanError, match="priorities from 1 to"):
        codec.to_entry(Entry(EntryKey(table, match), call), schema)
    # A field that is left out stands for everything, and comes back as left out.
    half = Entry(EntryKey(table, (Exact("egress_port", 3),), 1), call)
    row = codec.to_entry(half, schema)
    assert list(codec.from_rows([row], Scope((table,), ()), schema)) == [half]


def entry(*match: Match, table: str = ROUTES, call: ActionCall | None = None) -> Entry:
    return Entry(EntryKey(table, match), call or MemberRef(1))


@pytest.mark.parametrize(
    ("entity", "message"),
    [
        (
            entry(table="egress.no"),
            "table 'egress.no': the P4 program does not define it; it defines: egress.ecn.codepoint_map",
        ),
        (Member(MemberKey("no", 1), HOP), "action profile 'no': the P4 program does not define it"),
        (entry(Exact("hdr.ipv4.dst_addr", 1)), "has match kind LPM, not hdr.ipv4.dst_addr=1"),
        (entry(Lpm("hdr.ipv4.dst_addr", 1, 24)), "is not a prefix of 32 bits"),
        (entry(Lpm("hdr.ipv4.dst_addr", 0, 33)), "is not a prefix of 32 bits"),
        (entry(Lpm("hdr.ipv4.other", 0, 3)), "key 'hdr.ipv4.other'"),
        (entry(table="egress.ecn.thresholds", call=SET_THRESHOLDS), "key egress_port is missing"),
        (entry(Exact("egress_port", 512), table="egress.ecn.thresholds", call=SET_THRESHOLDS), "needs 10 bits"),
        (entry(Exact("egress_port", -1), table="egress.ecn.thresholds", call=SET_THRESHOLDS), "is negative"),
        (
            entry(Exact("egress_port", 1), table="egress.ecn.thresholds", call=HOP),
            "action 'ingress.forward.set_next_hop'",
        ),
        (
            entry(Exact("egress_port", 1), table="egress.ecn.thresholds", call=ActionCall(SET_THRESHOLDS.name)),
            r"takes \(k, k_dc\), but got \(\)",
        ),
        (Entry(EntryKey(ROUTES, ROUTE.key.match, 1), MemberRef(1)), "the table has no priorities"),
        (Group(GroupKey(PROFILE, 1), ((1, 33),)), "33 members exceed the selector's limit of 32"),
        (Group(GroupKey(PROFILE, 1), ((1, 2**60),)), "members exceed the selector's limit of 32"),
        (Group(GroupKey(PROFILE, 1), ((1, 1),), watching=True), "members do not watch ports"),
        (Member(MemberKey(PROFILE, 2**32), HOP), "needs 33 bits"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(schema: Schema, entity: Entity, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        codec.to_entry(entity, schema)


def row_of(entity: Entity, schema: Schema) -> Any:
    return codec.to_entry(entity, schema)


def test_rows_that_lie_are_refused(schema: Schema) -> None:
    def refused(row: Any, message: str) -> None:
        with pytest.raises(PlanError, match=message):
            list(codec.from_rows([row], SCOPE, schema))

    refused(wire.TableEntry(table_id=5), "answers for table id 0x5, which was not requested")
    row = row_of(THRESHOLDS, schema)
    row.data.action_id = 77
    refused(row, "no action of id 0x4d")
    row = row_of(THRESHOLDS, schema)
    row.data.fields.add(field_id=99)
    refused(row, "no data field of id 0x63")
    row = row_of(THRESHOLDS, schema)
    row.key.fields.add(field_id=99)
    refused(row, "no key of id 0x63")
    row = row_of(THRESHOLDS, schema)
    row.key.fields[0].ternary.mask = b"\1"
    refused(row, "match of kind ternary")
    row = row_of(MEMBER, schema)
    row.key.ClearField("fields")
    refused(row, "has no \\$ACTION_MEMBER_ID")
    row = row_of(GROUP, schema)
    row.data.fields[1].bool_arr_val.val.append(True)
    refused(row, "1 members but 2 states")
    row = row_of(ROUTE, schema)
    row.data.ClearField("fields")
    refused(row, "neither action nor member nor group")
    # A member that somebody turned off is a difference.
    row = row_of(GROUP, schema)
    row.data.fields[1].bool_arr_val.val[0] = False
    assert list(codec.from_rows([row], SCOPE, schema)) == [Group(GROUP.key, ((1, 0),))]


def test_a_schema_of_another_form_is_refused(text: bytes) -> None:
    tables = json.loads(text)["tables"]

    def refused(plain: object, message: str) -> None:
        with pytest.raises(PlanError, match=message):
            parse_schema(json.dumps(plain).encode())

    refused([], "text: is not an object")
    refused({"tables": {}}, "tables is not a list")
    refused({"tables": [1]}, "table 0: is not an object")
    refused({"tables": [{**tables[0], "id": "x"}]}, "id: is not a 32-bit number")
    refused({"tables": [{**tables[0], "id": 2**32}]}, "id: is not a 32-bit number")
    refused({"tables": [tables[0], tables[0]]}, "its name or id occurs twice")
    twice = {**tables[0], "key": [tables[0]["key"][0]] * 2}
    refused({"tables": [twice]}, "has 'hdr.ethernet.ether_type' twice")
    wide = {**tables[0]["key"][0], "type": {"type": "bytes", "width": 1 << 30}}
    refused({"tables": [{**tables[0], "key": [wide]}]}, "has 1073741824 bits")
    for raw in (b"", b"\xff\xfe", b"[" * 100_000, b"{" * 9):
        with pytest.raises(PlanError, match="is not valid JSON"):
            parse_schema(raw)
    two = [{**tables[0], "name": f"{pipe}.t", "id": at} for at, pipe in enumerate(("a", "b"))]
    of_two_pipes = parse_schema(json.dumps({"tables": two}).encode())
    with pytest.raises(PlanError, match="several pipes have such a table"):
        of_two_pipes.find("t")


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "name", "type", "width"]), inner)
    ),
    max_leaves=6,
)


@given(where=st.lists(st.integers(0, 40), min_size=1, max_size=6), junk=JUNK)
def test_junk_in_a_schema_is_one_error_or_none(text: bytes, where: list[int], junk: object) -> None:
    plain = json.loads(text)
    at: Any = plain["tables"]
    for step in where:
        children: list[Any] = list(at) if hasattr(at, "keys") else list(range(len(at)))
        if not children:
            break
        spot = children[step % len(children)]
        if step == where[-1] or not hasattr(at[spot], "clear"):
            at[spot] = junk
            break
        at = at[spot]
    with suppress(PlanError):
        found = parse_schema(json.dumps(plain).encode())
        for entity in (MEMBER, GROUP, ROUTE, THRESHOLDS):
            list(codec.from_rows([codec.to_entry(entity, found)], SCOPE, found))


@given(st.binary(max_size=60))
def test_any_row_is_an_entity_or_one_error(schema: Schema, raw: bytes) -> None:
    try:
        row = wire.TableEntry.FromString(raw)
    except Exception:  # noqa: BLE001 - protobuf's own, which gRPC turns into INTERNAL.
        return
    for table in (ROUTES, "egress.ecn.thresholds", PROFILE, f"{PROFILE}_selector"):
        row.table_id = schema.find(table).id
        with suppress(PlanError):
            list(codec.from_rows([row], SCOPE, schema))
