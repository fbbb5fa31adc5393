"""Rows of the user's over BF Runtime: what is sent for each type, and that no value ends in other than a message."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.bfrt.program import Program
from controller.bfrt.rows import to_update
from controller.errors import PlanError
from controller.written import WrittenEntry
from p4cc.planning.programs import compile_program
from tests.switchd.namespaces import ROOT

CHIP = b"""{"tables": [
 {"name": "tf1.chip", "id": 1, "table_type": "Chip", "size": 8,
  "key": [{"name": "port", "id": 1, "match_type": "Exact", "type": {"type": "uint32"}}],
  "data": [
   {"singleton": {"name": "word", "id": 1, "repeated": false, "type": {"type": "bytes", "width": 72}}},
   {"singleton": {"name": "flag", "id": 2, "repeated": false, "type": {"type": "bool"}}},
   {"singleton": {"name": "share", "id": 3, "repeated": false, "type": {"type": "float"}}},
   {"singleton": {"name": "way", "id": 4, "repeated": false, "type": {"type": "string"}}},
   {"singleton": {"name": "ports", "id": 5, "repeated": true, "type": {"type": "uint32"}}},
   {"singleton": {"name": "raw", "id": 6, "repeated": true, "type": {"type": "bytes", "width": 8}}},
   {"singleton": {"name": "flags", "id": 7, "repeated": true, "type": {"type": "bool"}}}]}]}"""


@pytest.fixture(scope="module")
def program() -> Program:
    """One of ours, on a chip with one table."""
    text = compile_program(ROOT / "p4src" / "tna" / "ecn_dual.p4").bfrt_text().encode()
    return Program("ecn_dual", text, CHIP)


def row(**data: Any) -> WrittenEntry:
    """A row of the chip's table."""
    return WrittenEntry("chip", (("port", (3,)),), None, tuple(data.items()), "here")


def test_each_type_has_its_form(program: Program) -> None:
    given = row(
        word="10.0.0.1",
        flag=True,
        share=0.25,
        way="INGRESS",
        ports=[1, 2],
        raw="0x0aff",
        flags=[True, False],
    )
    entry = to_update(given, program).entity.table_entry
    assert (entry.table_id, entry.key.fields[0].exact.value) == (1, b"\0\0\0\3")
    word, flag, share, way, ports, raw, flags = entry.data.fields
    assert word.stream == bytes([0, 0, 0, 0, 0, 10, 0, 0, 1])
    assert (flag.bool_val, share.float_val, way.str_val, raw.stream) == (True, 0.25, "INGRESS", b"\x0a\xff")
    assert (list(ports.int_arr_val.val), list(flags.bool_arr_val.val)) == ([1, 2], [True, False])


def test_keys_of_programs_match_as_their_tables_say(program: Program) -> None:
    route = WrittenEntry(
        "ingress.forward.ipv4_lpm",
        (("hdr.ipv4.dst_addr", ("10.0.1.0", 24)),),
        None,
        (("$ACTION_MEMBER_ID", 1),),
        "here",
    )
    (key,) = to_update(route, program).entity.table_entry.key.fields
    assert (key.lpm.value, key.lpm.prefix_len) == (bytes([10, 0, 1, 0]), 24)


VALUES = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=9),
    st.lists(st.booleans() | st.integers() | st.text(max_size=3), max_size=3),
)


@given(st.sampled_from(["word", "flag", "share", "way", "ports", "raw", "flags", "none"]), VALUES)
def test_every_other_value_is_refused_with_its_place(program: Program, name: str, value: Any) -> None:
    with suppress(PlanError):
        to_update(row(**{name: value}), program)
