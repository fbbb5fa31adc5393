"""Entities to messages and back by a P4Info, and refusal of what does not fit it before anything is sent."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from finsy import P4Schema
from finsy.proto import p4r
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from controller import EcnSettings, PlanError, Profile, Thresholds, codec, same_thresholds
from controller.codec import Translation
from controller.entities import (
    ActionCall,
    ActionSet,
    CloneKey,
    CloneSession,
    Entity,
    Entry,
    EntryKey,
    Exact,
    Group,
    GroupKey,
    Lpm,
    Member,
    MemberKey,
    MemberRef,
    MulticastGroup,
    MulticastKey,
    Range,
    Update,
    UpdateKind,
)
from controller.pipeline import Pipeline, load_pipeline
from tests.controller import own_program as program
from tests.controller.planned import planned
from topos import generate

GOLDEN = Path(__file__).resolve().parents[2] / "p4src" / "golden" / "ecn_dual.p4info.txtpb"
REGISTER = """
registers {
  preamble { id: 0x16000001 name: "egress.peak" alias: "peak" }
  type_spec { bitstring { bit { bitwidth: 32 } } }
  size: 8
}
"""
# The program has no register; one more makes their requests testable.
P4INFO = GOLDEN.read_text(encoding="utf-8") + REGISTER


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return load_pipeline(P4INFO, b"program")


@pytest.fixture(scope="module")
def schema(pipeline: Pipeline) -> P4Schema:
    return pipeline.schema


def threshold(port: int, **args: int) -> Entry:
    call = ActionCall(program.SET_THRESHOLDS, tuple(sorted(args.items())))
    return Entry(EntryKey(program.THRESHOLDS, (Exact("egress_port", port),)), call)


def route(address: int, prefix_len: int) -> Entry:
    return Entry(EntryKey(program.ROUTES, (Lpm(program.ROUTES_KEY, address, prefix_len),)), MemberRef(1))


HOP = ActionCall(program.SET_NEXT_HOP, (("dst_mac", 1), ("port", 1)))
SAMPLES: list[Entity] = [
    threshold(3, k=8, k_dc=65),
    route(0x0A000000, 8),
    Group(GroupKey(program.NEXT_HOPS, 7), ((1, 1), (3, 2))),
    Group(GroupKey(program.NEXT_HOPS, 8), ((1, 1), (300, 2)), watching=True),
    Member(MemberKey(program.NEXT_HOPS, 2), HOP),
    Entry(EntryKey(program.THRESHOLDS, (), is_default=True), ActionCall("NoAction")),
    MulticastGroup(MulticastKey(4), ((1, 0), (1, 2))),
    CloneSession(CloneKey(5), ((3, 1),), 64, 7),
]


def test_a_whole_plan_survives_the_round_trip(schema: P4Schema) -> None:
    topology = generate("dumbbell", {"pairs": 3})
    plans = planned(topology, EcnSettings(Profile.GST, same_thresholds(topology, Thresholds(0, 524_287))))
    group = Group(GroupKey(program.NEXT_HOPS, 7), ((1, 1), (3, 2)))
    for entity in (*plans[0].entities, *plans[1].entities, group, route(0x0A000000, 8)):
        assert codec.from_entity(codec.to_entity(entity, schema), schema) == entity


def test_what_comes_back_as_it_was_sent_is_the_entity_itself(schema: P4Schema) -> None:
    topology = generate("dumbbell", {"pairs": 3})
    plans = planned(topology, EcnSettings(Profile.GST, same_thresholds(topology, Thresholds(33, 65))))
    translation = Translation(schema)
    for entity in plans[0].entities:
        message = translation.to_update(Update(UpdateKind.INSERT, entity))
        assert message == codec.to_update(Update(UpdateKind.INSERT, entity), schema)
        assert translation.to_update(Update(UpdateKind.INSERT, entity)) is message
        assert list(translation.from_entities([message.entity])) == [entity]
        assert next(translation.from_entities([message.entity])) is entity


def test_constant_entries_and_defaults_do_not_come_and_go(schema: P4Schema) -> None:
    messages = [codec.to_entity(threshold(port, k=8, k_dc=65), schema) for port in (1, 2, 3)]
    messages[0].table_entry.is_const = True
    messages[1].table_entry.is_default_action = True
    assert list(Translation(schema).from_entities(messages)) == [threshold(3, k=8, k_dc=65)]


def test_requests_for_counters_are_made_once_for_all_switches(schema: P4Schema) -> None:
    (name, *_) = schema.counters
    translation = Translation(schema)
    for device, cells in ((1, (0, 2)), (2, (0, 2)), (2, (1,))):
        found = translation.counter_request(str(name.name), cells, device)
        assert found == codec.counter_request(str(name.name), cells, schema, device)


def test_the_message_of_an_entry(schema: P4Schema) -> None:
    message = codec.to_update(Update(UpdateKind.INSERT, threshold(3, k=8, k_dc=300)), schema)
    assert message.type == p4r.Update.INSERT
    entry = message.entity.table_entry
    assert entry.table_id == schema.tables[program.THRESHOLDS].id
    assert [(field.field_id, field.exact.value) for field in entry.match] == [(1, b"\x03")]
    values = {param.param_id: param.value for param in entry.action.action.params}
    assert values == {1: b"\x08", 2: b"\x01\x2c"}, "the shortest big-endian bytes"


def test_zero_is_one_byte(schema: P4Schema) -> None:
    message = codec.to_entity(threshold(0, k=0, k_dc=0), schema)
    assert message.table_entry.match[0].exact.value == b"\x00"


def test_a_group_asks_for_the_bound_of_its_selector(schema: P4Schema) -> None:
    group = Group(GroupKey(program.NEXT_HOPS, 1), ((1, 1),))
    message = codec.to_entity(group, schema).action_profile_group
    assert message.max_size == schema.action_profiles[program.NEXT_HOPS].max_group_size == 32
    assert codec.to_entity(group, schema, whole=False).action_profile_group.max_size == 0


def test_a_delete_carries_the_identity_only(schema: P4Schema) -> None:
    group = Group(GroupKey(program.NEXT_HOPS, 1), ((1, 1),))
    member = Member(MemberKey(program.NEXT_HOPS, 2), ActionCall(program.SET_NEXT_HOP, (("dst_mac", 1), ("port", 1))))
    updates = [Update(UpdateKind.DELETE, entity) for entity in (threshold(3, k=1, k_dc=2), group, member)]
    deleted = [codec.to_update(update, schema).entity for update in updates]
    assert not deleted[0].table_entry.HasField("action")
    assert list(deleted[1].action_profile_group.members) == []
    assert not deleted[2].action_profile_member.HasField("action")
    assert deleted[2].action_profile_member.member_id == 2


def test_padded_values_and_any_order_read_back_as_equal(schema: P4Schema) -> None:
    message = codec.to_entity(threshold(3, k=8, k_dc=65), schema)
    entry = message.table_entry
    entry.match[0].exact.value = b"\x00\x03"
    params = [p4r.Action.Param(param_id=p.param_id, value=b"\x00" + p.value) for p in entry.action.action.params]
    del entry.action.action.params[:]
    entry.action.action.params.extend(reversed(params))
    assert codec.from_entity(message, schema) == threshold(3, k=8, k_dc=65)


@pytest.mark.parametrize(
    ("entity", "words"),
    [
        (threshold(512, k=1, k_dc=2), ["key egress_port", "0x200 needs 10 bits", "has 9"]),
        (threshold(1, k=1 << 19, k_dc=2), ["parameter k", "needs 20 bits", "has 19"]),
        (threshold(1, k=-1, k_dc=2), ["parameter k", "is negative"]),
        (threshold(1, k=1), ["takes (k, k_dc), but got (k)"]),
        (Entry(EntryKey("nowhere", ()), MemberRef(1)), ["table 'nowhere'", "it defines: egress.ecn.codepoint_map, "]),
        (
            Entry(EntryKey(program.THRESHOLDS, (Exact("port", 1),)), MemberRef(1)),
            ["key 'port'", "it defines: egress_port"],
        ),
        (
            Entry(EntryKey(program.THRESHOLDS, (Lpm("egress_port", 1, 9),)), MemberRef(1)),
            ["does not have match kind lpm"],
        ),
        (
            Entry(EntryKey(program.ROUTES, (Exact(program.ROUTES_KEY, 1),)), MemberRef(1)),
            ["does not have match kind exact"],
        ),
        (Entry(EntryKey(program.ROUTES, ()), ActionCall("fly")), ["action 'fly'"]),
        (route(0x0A000001, 8), ["not a prefix of 32 bits"]),
        (route(0, 0), ["not a prefix of 32 bits"]),
        (route(0, 33), ["not a prefix of 32 bits"]),
        (Group(GroupKey("nothing", 1), ()), ["action profile 'nothing'", "it defines: ingress.forward.ecmp"]),
        (
            Group(GroupKey(program.NEXT_HOPS, 1), tuple((i, 1) for i in range(33))),
            ["members of weight 33", "selector's limit of 32"],
        ),
        (Group(GroupKey(program.NEXT_HOPS, 1), ((0, 20), (1, 13))), ["members of weight 33"]),
    ],
)
def test_what_does_not_fit_the_program_is_refused(schema: P4Schema, entity: Entity, words: list[str]) -> None:
    with pytest.raises(PlanError) as caught:
        codec.to_entity(entity, schema)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def _no_table(message: p4r.Entity) -> None:
    message.table_entry.table_id = 99


def _no_field(message: p4r.Entity) -> None:
    message.table_entry.match[0].field_id = 99


def _no_action(message: p4r.Entity) -> None:
    message.table_entry.action.action.action_id = 99


def _no_param(message: p4r.Entity) -> None:
    message.table_entry.action.action.params[0].param_id = 99


def _ternary(message: p4r.Entity) -> None:
    message.table_entry.match[0].ternary.mask = b"\x01"


def _meter(message: p4r.Entity) -> None:
    message.meter_entry.meter_id = 1


@pytest.mark.parametrize("spoil", [_no_table, _no_field, _no_action, _no_param, _ternary, _meter])
def test_an_answer_that_does_not_fit_the_program_is_an_error(
    schema: P4Schema, spoil: Callable[[p4r.Entity], None]
) -> None:
    message = codec.to_entity(threshold(1, k=1, k_dc=2), schema)
    spoil(message)
    with pytest.raises(PlanError, match="read answer"):
        codec.from_entity(message, schema)


def test_entries_that_no_controller_can_change_are_left_out(schema: P4Schema) -> None:
    message = codec.to_entity(threshold(1, k=1, k_dc=2), schema)
    message.table_entry.is_const = True
    assert not codec.comes_and_goes(message)
    message.table_entry.is_const = False
    assert codec.comes_and_goes(message)


def test_an_action_set_of_another_controller_differs_from_any_plan(schema: P4Schema) -> None:
    message = codec.to_entity(route(1, 32), schema)
    call = codec.to_entity(Member(MemberKey(program.NEXT_HOPS, 1), HOP), schema).action_profile_member.action
    message.table_entry.action.action_profile_action_set.action_profile_actions.add(action=call, weight=2)
    found = codec.from_entity(message, schema)
    assert isinstance(found, Entry)
    assert found.key == route(1, 32).key
    assert found.action == ActionSet(((HOP, 2, 0),))
    assert codec.to_entity(found, schema) == message


def test_requests_name_what_they_read(schema: P4Schema) -> None:
    request = codec.read_request(program.SCOPE, schema, 7)
    kinds = [entity.WhichOneof("entity") for entity in request.entities]
    assert kinds == ["action_profile_member", "action_profile_group", *["table_entry"] * 4]
    assert request.device_id == 7
    counters = codec.counter_request(program.LEVEL_PACKETS, [4, 6], schema, 1)
    assert [entity.counter_entry.index.index for entity in counters.entities] == [4, 6]
    registers = codec.register_request("egress.peak", [7], schema, 1)
    assert registers.entities[0].register_entry.register_id == 0x16000001


@pytest.mark.parametrize("cell", [-1, 2048])
def test_a_cell_outside_the_array_is_refused(schema: P4Schema, cell: int) -> None:
    with pytest.raises(PlanError, match="the array has 2048 cells"):
        codec.counter_request(program.LEVEL_PACKETS, [cell], schema, 1)


def test_unknown_counters_and_registers_list_the_known(schema: P4Schema) -> None:
    with pytest.raises(PlanError, match=r"it defines: egress\.ecn\.level_packets"):
        codec.counter_request("drops", [0], schema, 1)
    with pytest.raises(PlanError, match=r"it defines: egress\.peak"):
        codec.register_request("drops", [0], schema, 1)


def test_the_cookie_names_p4info_and_config(pipeline: Pipeline) -> None:
    assert load_pipeline(P4INFO, b"program").cookie == pipeline.cookie
    assert load_pipeline(P4INFO, b"other").cookie != pipeline.cookie
    assert load_pipeline(pipeline.config.p4info.SerializeToString(), b"program").cookie == pipeline.cookie
    assert pipeline.is_loaded(pipeline.config)
    answer = p4r.ForwardingPipelineConfig(p4info=pipeline.config.p4info)
    assert not pipeline.is_loaded(answer), "no cookie"
    answer.cookie.cookie = pipeline.cookie
    assert pipeline.is_loaded(answer)
    answer.p4info.tables[0].size = 1
    assert not pipeline.is_loaded(answer), "same cookie, other P4Info"


@pytest.mark.parametrize(
    ("p4info", "words"),
    [
        ("tables { nonsense }", "cannot be read"),
        (b"\xff\xff\xff", "cannot be read"),
        ('tables { preamble { id: 1 name: "t" } implementation_id: 5 }', "is inconsistent"),
    ],
)
def test_a_broken_p4info_is_refused(p4info: str | bytes, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        load_pipeline(p4info, b"")


def test_a_pipeline_too_large_to_send_is_refused() -> None:
    with pytest.raises(PlanError, match="exceed the limit of 4194304"):
        load_pipeline(P4INFO, bytes(4 * 1024 * 1024))


def test_a_set_without_members_stays_a_set(schema: P4Schema) -> None:
    empty = Entry(EntryKey(program.THRESHOLDS, (), is_default=True), ActionSet(()))
    assert codec.from_entity(codec.to_entity(empty, schema), schema) == empty


@given(st.sampled_from(SAMPLES), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=4))
def test_a_garbled_answer_raises_nothing_but_plan_error(sample: Entity, changes: list[tuple[int, int]]) -> None:
    schema = load_pipeline(P4INFO, b"").schema
    data = bytearray(codec.to_entity(sample, schema).SerializeToString())
    for at, value in changes:
        data[at % len(data)] = value
    message = p4r.Entity()
    try:
        message.ParseFromString(bytes(data))
    except DecodeError:
        return
    with contextlib.suppress(PlanError):
        entity = codec.from_entity(message, schema)
        assert codec.from_entity(codec.to_entity(entity, schema), schema) == entity


def step(low: int, high: int, priority: int = 1) -> Entry:
    match = (Exact("egress_port", 3), Range(program.DEPTH_KEY, low, high))
    return Entry(EntryKey(program.RED_STEPS, match, priority), ActionCall(program.SET_PROBABILITY, (("p", 7),)))


def test_ranges_go_there_and_back_with_their_priority() -> None:
    golden = GOLDEN.parent / "tna" / "ecn_red.p4info.txtpb"
    schema = load_pipeline(golden.read_text(encoding="utf-8"), b"program").schema
    message = codec.to_entity(step(5, 9, 12), schema)
    assert (message.table_entry.priority, len(message.table_entry.match)) == (12, 2)
    assert codec.from_entity(message, schema) == step(5, 9, 12)
    with pytest.raises(PlanError, match="is an empty range"):
        codec.to_entity(step(9, 5), schema)
    with pytest.raises(PlanError, match="needs 20 bits"):
        codec.to_entity(step(5, 1 << 19), schema)
    exact = Entry(EntryKey(program.THRESHOLDS, (Range("egress_port", 1, 2),)), ActionCall("NoAction"))
    marks = load_pipeline(GOLDEN.read_text(encoding="utf-8"), b"program").schema
    with pytest.raises(PlanError, match="does not have match kind range"):
        codec.to_entity(exact, marks)
