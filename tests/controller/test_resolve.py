"""What files fix for a switch, resolved against the P4Info of a program."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from finsy import P4Schema
from finsy.proto import p4r

from controller.codec import from_entity, to_entity
from controller.entities import Entity, Entry, EntryKey, Lpm, UpdateKind, Verbatim
from controller.errors import PlanError
from controller.files import read_entries
from controller.files.switch_cli import parse, read_commands
from controller.files.tutorial_runtime import read_runtime
from controller.pipeline import Pipeline, load_pipeline
from controller.reconcile import diff
from controller.record import file_recorder
from controller.resolve import HIGHEST_PRIORITY, number_of, resolve
from controller.written import Written
from p4cc.planning.programs import compile_program
from topos import TopologyError

FILES = Path(__file__).parents[1] / "lab" / "files"
ROOT = Path(__file__).parents[2]
NONE: list[Any] = []


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    program = compile_program(FILES / "route.p4")
    assert program.ok, program.rendered
    return load_pipeline(program.p4info_bytes(), program.device_config())


def from_json(*entries: dict[str, Any]) -> Written:
    return read_runtime({"table_entries": list(entries)}, "s1.json")


def messages(written: Written, schema: P4Schema) -> list[p4r.Entity]:
    return [to_entity(entity, schema) for entity in resolve(written, schema)]


def route(dst: Any, **changes: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "table": "ingress.routes",
        "match": {"hdr.ipv4.dst": dst},
        "action_name": "ingress.forward",
        "action_params": {"mac": "08:00:00:07:01:01", "port": 1},
    }
    return {**entry, **changes}


def test_both_files_of_the_lab_become_messages(pipeline: Pipeline) -> None:
    data = json.loads((FILES / "s1.json").read_text())
    entities = messages(read_runtime(data, "s1.json"), pipeline.schema)
    kinds = [entity.WhichOneof("entity") for entity in entities]
    assert kinds == ["table_entry"] * 5 + ["packet_replication_engine_entry"] * 2
    assert entities[0].table_entry.is_default_action
    # A host's address with a shorter prefix: the bits behind it are 0 on the wire.
    assert entities[3].table_entry.match[0].lpm == p4r.FieldMatch.LPM(value=bytes([10, 7, 2, 0]), prefix_len=24)
    text = (FILES / "s2.txt").read_text()
    entities = messages(read_commands(parse(text, "s2.txt")), pipeline.schema)
    entry = entities[3].table_entry
    assert entry.priority == HIGHEST_PRIORITY - 5, "a command line's lowest number wins"
    assert [match.WhichOneof("field_match_type") for match in entry.match] == ["range", "ternary", "exact"]
    assert entry.action.action.params[0].value == b"\xb8"


def test_matches_of_everything_are_left_out(pipeline: Pipeline) -> None:
    classes = {
        "table": "classes",
        "match": {"hdr.ipv4.protocol": [0, 0], "hdr.ipv4.length": [0, 65_535], "standard.ingress_port": 1},
        "action_name": "mark",
        "action_params": {"tos": 1},
        "priority": 1,
    }
    whole, every = messages(from_json(classes, route([0, 0])), pipeline.schema)
    assert [match.field_id for match in whole.table_entry.match] == [3]
    assert list(every.table_entry.match) == []


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (route(["10.0.0.1", 33]), "prefix length of 33"),
        (route("10.0.0.1"), "lpm takes value and prefix length"),
        (route(["10.0.0.300", 24]), "is not a value"),
        (route([1 << 32, 24]), "needs 33 bits"),
        (route([-(1 << 40), 24]), "does not fit"),
        (route(["10.0.0.1", 24], table="routs"), "no table 'routs'; it has: ingress.classes, ingress.routes"),
        (route(["10.0.0.1", 24], action_name="go"), "no action 'go'"),
        (route(["10.0.0.1", 24], match={"dst": [1, 2]}), "there is no 'dst'"),
        (route(["10.0.0.1", 24], action_params={"port": 1}), "takes (mac, port), but got 1"),
        (route(["10.0.0.1", 24], action_params={"mac": 1, "prot": 1}), "there is no 'prot'"),
        (route(["10.0.0.1", 24], action_params={"mac": 1, "port": 512}), "needs 10 bits"),
        (route(0, table="classes", match={"hdr.ipv4.protocol": [1, 1]}, action_name="mark",
               action_params={"tos": 1}, priority=1), "standard.ingress_port of ingress.classes is missing"),
        (route(0, table="classes", match={"standard.ingress_port": 1}, action_name="mark",
               action_params={"tos": 1}), "needs a priority"),
        (route(0, table="classes", match={"standard.ingress_port": 1, "hdr.ipv4.length": [5, 2]}, action_name="mark",
               action_params={"tos": 1}, priority=1), "is greater than"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_program_is_refused_with_its_place(
    pipeline: Pipeline, entry: dict[str, Any], words: str
) -> None:
    with pytest.raises(PlanError) as error:
        messages(from_json(entry), pipeline.schema)
    assert words in str(error.value)
    assert "s1.json: table_entries[0]" in str(error.value)


def test_a_second_entry_with_one_key_is_refused_with_both_places(pipeline: Pipeline) -> None:
    ternary = {
        "table": "classes",
        "match": {"hdr.ipv4.protocol": [6, 255], "standard.ingress_port": 1},
        "action_name": "mark",
        "action_params": {"tos": 1},
    }
    default = {"table": "routes", "default_action": True, "action_name": "drop"}
    # Another priority is another key, bits behind a prefix are none, and a default action may be set again.
    apart = (route(["10.0.0.1", 32]), route(["10.0.0.1", 24]), {**ternary, "priority": 1}, {**ternary, "priority": 2})
    assert len(messages(from_json(*apart, default, default), pipeline.schema)) == 5
    for second in (route(["10.0.0.2", 24]), {**ternary, "priority": 1, "action_params": {"tos": 2}}):
        with pytest.raises(PlanError) as error:
            messages(from_json(*apart, second), pipeline.schema)
        assert error.value.place == "s1.json: table_entries[4]"
        assert "with this key, from s1.json: table_entries[" in error.value.cause
    text = "table_add routes forward 10.0.0.1/32 => 00:00:00:00:00:01 1\n" * 2
    with pytest.raises(PlanError, match="with this key, from") as error:
        messages(read_commands(parse(text, "s1.txt")), pipeline.schema)
    assert error.value.place.startswith("s1.txt")


@pytest.mark.parametrize("kind", ["multicast_group", "clone_session"])
def test_a_second_group_or_session_of_one_id_is_refused_with_both_places(kind: str) -> None:
    data = {f"{kind}_entries": [{f"{kind}_id": number, "replicas": NONE} for number in (1, 2, 1)]}
    with pytest.raises(TopologyError) as error:
        read_runtime(data, "s1.json")
    for place in (f"s1.json: {kind}_entries[2]", f"from s1.json: {kind}_entries[0]"):
        assert place in str(error.value)


def test_a_number_below_zero_is_remarked_with_its_place() -> None:
    entries = (route(["10.0.0.1", 32]), route(["10.0.0.2", 32], action_params={"mac": 1, "port": -1}))
    (remark,) = from_json(*entries).remarks()
    assert remark.startswith("s1.json: table_entries[1]: parameter port of ingress.routes is -1")
    (remark,) = from_json(route(["10.0.0.2", 32], action_params={"mac": 1, "port": "-1"})).remarks()
    assert "is -1" in remark


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"multicast_group_entries": [{"multicast_group_id": 0, "replicas": NONE}]}, "group id 0"),
        ({"multicast_group_entries": [{"multicast_group_id": 1, "replicas": [{"egress_port": 512}]}]}, "replica 512/0"),
        ({"multicast_group_entries": [{"multicast_group_id": 1, "replicas": [{"egress_port": 1}] * 2}]}, "twice"),
        ({"clone_session_entries": [{"clone_session_id": 1 << 15, "replicas": NONE}]}, "session id"),
        (
            {"clone_session_entries": [{"clone_session_id": 1, "replicas": NONE, "packet_length_bytes": -1}]},
            "length -1",
        ),
    ],
)
def test_copies_out_of_range_are_refused(pipeline: Pipeline, data: dict[str, Any], words: str) -> None:
    with pytest.raises(PlanError, match=words):
        messages(read_runtime(data, "s1.json"), pipeline.schema)


@pytest.mark.parametrize(
    ("value", "width", "number"),
    [
        (7, 9, 7), ("7", 9, 7), ("007", 9, 7), ("0x1F", 8, 31), ("0b101", 8, 5), (-1, 8, 255), ("-2", 8, 254),
        ("10.0.0.1", 32, 0x0A000001), ("08:00:00:00:01:11", 48, 0x080000000111), ("::1", 128, 1),
    ],
)  # fmt: skip
def test_values_are_numbers_addresses_or_digits(value: int | str, width: int, number: int) -> None:
    assert number_of(value, width, "here") == number


def test_only_what_differs_is_written(pipeline: Pipeline) -> None:
    schema = pipeline.schema
    first, second = resolve(from_json(route(["10.0.0.1", 32]), route(["10.0.0.2", 32])), schema)
    padded = to_entity(first, schema)
    # A server may pad values and add counters: still the same entry.
    padded.table_entry.action.action.params[1].value = b"\0\1"
    padded.table_entry.counter_data.packet_count = 9
    held = from_entity(padded, schema)
    assert kinds([first], [held]) == []
    (changed,) = resolve(from_json(route(["10.0.0.1", 32], action_params={"mac": 1, "port": 2})), schema)
    assert kinds([changed, second], [held]) == [UpdateKind.INSERT, UpdateKind.MODIFY]
    assert kinds([second], [held]) == [UpdateKind.INSERT], "what else is there stays"
    (default,) = resolve(from_json({"table": "routes", "default_action": True, "action_name": "drop"}), schema)
    assert kinds([default], []) == [UpdateKind.MODIFY]


def kinds(desired: list[Entity], held: list[Entity]) -> list[UpdateKind]:
    batches = diff(desired, held, keeps_others=True)
    return [update.kind for batch in batches for update in batch]


def test_of_two_messages_with_one_key_the_later_one_counts(pipeline: Pipeline) -> None:
    one, other = messages(from_json(route(["10.0.0.1", 32])), pipeline.schema) * 2
    other = p4r.Entity.FromString(other.SerializeToString())
    other.table_entry.action.action.params[1].value = b"\2"
    written = Written(messages=(one.SerializeToString(), other.SerializeToString()))
    assert messages(written, pipeline.schema) == [other]


def test_what_no_value_says_stays_the_message_that_it_is(pipeline: Pipeline) -> None:
    register = "updates { type: INSERT entity { register_entry { register_id: 3 } } }"
    (entity,) = resolve(read_entries(register, "s1.txtpb"), pipeline.schema)
    assert isinstance(entity, Verbatim)
    (plain,) = messages(from_json(route(["10.0.0.1", 32])), pipeline.schema)
    (entity,) = resolve(Written(messages=(plain.SerializeToString(),)), pipeline.schema)
    assert isinstance(entity, Entry)
    assert entity.key == EntryKey("ingress.routes", (Lpm("hdr.ipv4.dst", 0x0A000001, 32),))
    plain.table_entry.idle_timeout_ns = 5
    (entity,) = resolve(Written(messages=(plain.SerializeToString(),)), pipeline.schema)
    assert isinstance(entity, Verbatim)
    assert to_entity(entity, pipeline.schema) == plain


def test_what_a_chips_externs_are_told_is_kept_as_bytes(tmp_path: Path) -> None:
    compiled = compile_program(ROOT / "p4src" / "tna" / "ecn_dual.p4")
    of_chip = load_pipeline(compiled.p4info_bytes(), compiled.device_config())
    record = file_recorder(tmp_path / "s1.jsonl", "s1")
    record(p4r.SetForwardingPipelineConfigRequest(device_id=1, config=of_chip.config))
    (push,) = (json.loads(line) for line in (tmp_path / "s1.jsonl").read_text().splitlines())
    (extern,) = push["message"]["config"]["p4info"]["externs"]
    info = extern["instances"][0]["info"]
    assert info["@type"] == "type.googleapis.com/barefoot.PortMetadata"
    assert b64decode(info["value"]) == b"ig_intr_md.ingress_port"


def test_every_request_is_a_line_without_the_program(tmp_path: Path, pipeline: Pipeline) -> None:
    record = file_recorder(tmp_path / "s1.jsonl", "s1")
    record(p4r.SetForwardingPipelineConfigRequest(device_id=1, config=pipeline.config))
    record(p4r.ReadRequest(device_id=1))
    push, read = (json.loads(line) for line in (tmp_path / "s1.jsonl").read_text().splitlines())
    assert push["request"] == "SetForwardingPipelineConfigRequest"
    assert len(push["message"]["config"]["p4_device_config"]) < 200
    assert push["message"]["config"]["p4info"]["tables"]
    assert (read["request"], read["switch"], read["message"]) == ("ReadRequest", "s1", {"device_id": "1"})
    assert len(pipeline.config.p4_device_config) > 1_000
