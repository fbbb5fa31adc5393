"""Files of entries: what they say, and what is said of bad ones."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.entities import CloneKey, CloneSession, MulticastGroup, MulticastKey
from controller.files import read_entries
from controller.files.switch_cli import parse, read_commands
from controller.files.tutorial_runtime import read_runtime
from controller.written import WrittenCopies
from topos import TopologyError
from topos.loaders.reading import parse_json

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


def test_a_runtime_file_says_entries_groups_and_sessions() -> None:
    data = parse_json(
        """{
            "target": "bmv2", "bmv2_json": "build/x.json",
            "table_entries": [
                {"table": "t", "default_action": true, "action_name": "drop", "action_params": {}},
                {"table": "t", "match": {"a": ["10.0.1.1", 24], "b": 7, "c": [1]},
                 "action_name": "go", "action_params": {"port": [3]}, "priority": 2}],
            "multicast_group_entries": [{"multicast_group_id": 1, "replicas": [{"egress_port": 2, "instance": 1}]}],
            "clone_session_entries": [{"clone_session_id": 5, "replicas": [{"egress_port": 4}],
                                       "packet_length_bytes": 64}]
        }""",
        "s1.json",
    )
    fixed = read_runtime(data, "s1.json")
    default, entry = fixed.entries
    assert (default.default, default.match) == (True, ())
    assert entry.match == (("a", ("10.0.1.1", 24)), ("b", (7,)), ("c", (1,)))
    assert (entry.params, entry.priority) == ((("port", 3),), 2)
    assert fixed.copies == (
        WrittenCopies(MulticastGroup(MulticastKey(1), ((2, 1),)), "s1.json: multicast_group_entries[0]"),
        WrittenCopies(CloneSession(CloneKey(5), ((4, 0),), 64), "s1.json: clone_session_entries[0]"),
    )
    assert fixed.device_config == "build/x.json"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "an object"),
        ({"target": "tofino"}, "unknown target"),
        ({"table_entries": {}}, "a list"),
        ({"table_entries": [{"table": 1}]}, "table_entries[0].table"),
        ({"table_entries": [{"table": "t", "match": {"a": [1, 2, 3]}, "action_name": "x"}]}, "3 values"),
        ({"table_entries": [{"table": "t", "match": {"a": 1.5}, "action_name": "x"}]}, "a whole number"),
        ({"table_entries": [{"table": "t", "match": {"a": 1}, "default_action": True, "action_name": "x"}]}, "match"),
        ({"multicast_group_entries": [{"multicast_group_id": 1}]}, "replicas"),
        ({"multicast_group_entries": [{"multicast_group_id": 1, "replicas": [7]}]}, "an object"),
    ],
)
def test_a_bad_runtime_file_is_refused_with_its_place(data: Any, words: str) -> None:
    with pytest.raises(TopologyError) as error:
        read_runtime(data, "s1.json")
    assert words in str(error.value)
    assert "s1.json" in str(error.value)


def test_a_command_file_is_entries_groups_sessions_and_the_rest() -> None:
    commands = parse(
        "// tables\ntable_set_default t drop\n\ntable_add t go 10.0.1.1/32 1&&&0xff 2->5 => 00:00:00:00:00:01 1 # x\n"
        "mc_mgrp_create 3\nmc_node_create 9 1 2\nmc_node_associate 3 0\nmirroring_add 7 4\nmirroring_add_mc 8 3\n"
        "set_queue_rate 100 1\n",
        "s.txt",
    )
    fixed = read_commands(commands)
    assert [entry.place for entry in fixed.entries] == ["s.txt:2", "s.txt:4"]
    assert [values for _, values in fixed.entries[1].match] == [("10.0.1.1", "32"), ("1", "0xff"), ("2", "5")]
    group, *sessions = fixed.copies
    assert group == WrittenCopies(MulticastGroup(MulticastKey(3), ((1, 9), (2, 9))), "s.txt:5")
    assert [one.entity for one in sessions] == [
        CloneSession(CloneKey(7), ((4, 0),)),
        CloneSession(CloneKey(8), ((1, 9), (2, 9))),
    ]
    assert [str(command) for command in fixed.commands] == ["set_queue_rate 100 1"]


@pytest.mark.parametrize(
    "line",
    ["table_add t go 1", "table_add t =>", "table_set_default t", "mc_mgrp_create x", "mc_node_associate 1 0",
     "mirroring_add 1", "mirroring_add_mc 1 2", "mc_mgrp_create"],
)  # fmt: skip
def test_a_bad_command_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(TopologyError, match=r"s\.txt:2"):
        read_commands(parse(f"\n{line}\n", "s.txt"))


@given(text=st.text(max_size=200))
def test_any_text_is_commands_or_a_topology_error(text: str) -> None:
    with contextlib.suppress(TopologyError):
        read_commands(parse(text, "file"))


@given(data=JSON, key=st.sampled_from(["table_entries", "multicast_group_entries", "clone_session_entries"]))
def test_any_object_is_a_runtime_file_or_a_topology_error(data: Any, key: str) -> None:
    with contextlib.suppress(TopologyError):
        read_runtime({key: data}, "file")


@given(text=st.text(max_size=200), suffix=st.sampled_from(["json", "txtpb", "txt"]))
def test_any_text_is_entries_or_a_topology_error(text: str, suffix: str) -> None:
    with contextlib.suppress(TopologyError):
        read_entries(text, f"file.{suffix}")


def test_the_ending_tells_what_a_file_is() -> None:
    assert read_entries('{"table_entries": []}', "s1.json").entries == ()
    assert read_entries("table_set_default t drop", "s1.txt").entries[0].action == "drop"
    request = "updates { type: INSERT entity { register_entry { register_id: 3 } } }"
    assert len(read_entries(request, "s1.txtpb").messages) == 1
    with pytest.raises(TopologyError, match="deletes a nonexistent entry"):
        read_entries(request.replace("INSERT", "DELETE"), "s1.txtpb")
