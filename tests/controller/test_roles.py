"""What tables of a program are for, as its annotations say, whoever wrote it and whatever its names are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller import EcnSettings, PlanError, Profile, Thresholds, same_thresholds
from controller.bfrt.program import Program
from controller.ecn import LEVEL_PACKETS, THRESHOLDS
from controller.entities import ActionCall, Entry, EntryKey, Exact, Range
from controller.find_routes import find_routes
from controller.pipeline import load_pipeline
from controller.plan import SwitchProgram
from controller.roles import Roles, Row, roles_of
from controller.route_table import Role
from p4cc.planning.programs import compile_program
from tests.controller.planned import planned
from tests.switchd.namespaces import ROOT
from topos import generate

if TYPE_CHECKING:
    from pathlib import Path

MINE = """
#include <core.p4>
#include <v1model.p4>
struct headers {}
struct metadata {}
parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t std) {
    state start { transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply {} }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t std) { apply {} }
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {
    bit<19> low = 0;
    bit<19> high = 0;
    @p4cc_role("set_thresholds")
    action limits(PARAMS) { low = first; high = second; }
    ROLE
    table limits_of_ports {
        key = { std.egress_port: exact @name("port") @p4cc_role("egress_port"); MORE }
        actions = { limits; NoAction; }
        const default_action = NoAction();
    }
    apply {
        limits_of_ports.apply();
        if (std.enq_qdepth >= low && std.enq_qdepth < high) { mark_to_drop(std); }
    }
}
control D(packet_out packet, in headers hdr) { apply {} }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"""
ROLE = '@p4cc_role("ecn_dual.thresholds")'
PARAMS = '@p4cc_role("k") bit<19> first, @p4cc_role("k_dc") @p4cc_unit("depth") bit<19> second'


def found(folder: Path, role: str = ROLE, params: str = PARAMS, more: str = "") -> Roles:
    """The roles of the program above."""
    path = folder / "mine.p4"
    text = MINE.replace("ROLE\n", f"{role}\n").replace("PARAMS", params).replace("MORE", more)
    path.write_text(text, encoding="utf-8")
    program = compile_program(path)
    assert program.ok, program.rendered
    return roles_of(load_pipeline(program.p4info_bytes(), program.device_config()).schema)


@pytest.mark.parametrize("role", [ROLE, '@p4cc_role["ecn_dual.thresholds"]'])
def test_a_users_program_is_served_by_its_annotations(tmp_path: Path, role: str) -> None:
    topology = generate("star", {"senders": 1})
    ecn = EcnSettings(Profile.RFC3168, same_thresholds(topology, Thresholds(33, 65)))
    (plan,) = planned(topology, ecn, program=SwitchProgram(found(tmp_path, role), routes=None))
    call = ActionCall("E.limits", (("first", 33), ("second", 65)))
    assert plan.marks
    assert plan.entities == tuple(
        Entry(EntryKey("E.limits_of_ports", (Exact("port", port),)), call) for port in plan.ports
    )
    assert plan.scope.tables == ("E.limits_of_ports",)


@pytest.mark.parametrize(
    ("params", "more", "words"),
    [
        ('@p4cc_role("k") bit<19> first, bit<19> second', "", "has no parameter k_dc"),
        (PARAMS.replace('"depth"', '"bytes"'), "", "parameter second of set_thresholds is in bytes"),
        (f"{PARAMS}, bit<8> third", "", "has further parameters: third"),
        (PARAMS, "std.instance_type: exact;", "key instance_type gets no value"),
    ],
)
def test_a_table_that_does_not_take_its_row_is_refused(tmp_path: Path, params: str, more: str, words: str) -> None:
    topology = generate("star", {"senders": 1})
    ecn = EcnSettings(Profile.RFC3168, same_thresholds(topology, Thresholds(33, 65)))
    program = SwitchProgram(found(tmp_path, params=params, more=more), routes=None)
    with pytest.raises(PlanError, match=words) as refused:
        planned(topology, ecn, program=program)
    assert refused.value.place == "table E.limits_of_ports (ecn_dual.thresholds)"
    assert refused.value.remedy


def test_a_role_is_one_tables_alone(tmp_path: Path) -> None:
    twice = f"{ROLE} table again {{ key = {{ std.egress_port: exact; }} actions = {{ NoAction; }} }} {ROLE}"
    text = MINE.replace("limits_of_ports.apply();", "limits_of_ports.apply(); again.apply();")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.controller.test_roles.MINE", text)
        with pytest.raises(PlanError, match=r"both E\.(again|limits_of_ports) and E\."):
            found(tmp_path, twice)


@pytest.mark.parametrize("name", ["ecn_dual", "ecn_red", "int_hpcc", "ack_priority", "d3", "rcp", "trim"])
def test_bfrt_and_p4info_say_the_same(name: str) -> None:
    compiled = compile_program(ROOT / "p4src" / "tna" / f"{name}.p4")
    by_p4info = roles_of(load_pipeline(compiled.p4info_bytes(), compiled.device_config()).schema)
    by_bfrt = Program(name, compiled.bfrt_text().encode()).roles
    assert by_bfrt.counters == by_p4info.counters
    assert by_bfrt.tables.keys() == by_p4info.tables.keys()
    for role, table in by_p4info.tables.items():
        other = by_bfrt.tables[role]
        assert other.name == table.name
        assert (other.keys, other.profile, other.selects) == (table.keys, table.profile, table.selects)
        assert {name: action for name, action in other.actions.items() if name in table.actions} == table.actions


def test_a_range_and_its_priority_reach_the_entry() -> None:
    compiled = compile_program(ROOT / "p4src" / "tna" / "ecn_red.p4")
    table = roles_of(load_pipeline(compiled.p4info_bytes(), b"program").schema).table("ecn_red_steps.steps")
    row = Row(table.role, {"egress_port": 1, "queue_depth": (1, 5)}, "set_always", priority=1)
    match = (Exact("egress_port", 1), Range("queue_depth", 1, 5))
    assert table.entry(row) == Entry(EntryKey("egress.red.steps", match, 1), ActionCall("egress.red.set_always"))


def test_a_threshold_that_the_program_cannot_hold_is_said(tmp_path: Path) -> None:
    topology = generate("star", {"senders": 1})
    thresholds, cells = same_thresholds(topology, Thresholds(33, 524_287)), {("s1", "h1"): 19}
    program = SwitchProgram(found(tmp_path), routes=None)
    (plan,) = planned(topology, EcnSettings(Profile.GST, thresholds, cells), program=program)
    (warning,) = (one for one in plan.warnings if "exceeds the limit" in one.text)
    assert "k_dc of 524287 packets is 9961453 units of depth" in warning.text
    assert warning.place.endswith("to h1")


def test_roles_of_our_own_programs_are_stable() -> None:
    compiled = compile_program(ROOT / "p4src" / "v1model" / "ecn_dual.p4")
    roles = roles_of(load_pipeline(compiled.p4info_bytes(), b"program").schema)
    assert roles.tables[THRESHOLDS].name == "egress.ecn.thresholds"
    assert roles.counters == {LEVEL_PACKETS: "egress.ecn.level_packets"}


ROUTES = """
    action go(@p4cc_role("egress_port") bit<9> out_, @p4cc_role("own_mac") bit<48> mine) {
        std.egress_spec = out_;
        hdr.e.source = mine;
    }
    @p4cc_role("forward.routes")
    table away { key = { hdr.e.a: lpm; } actions = { go; NoAction; } const default_action = NoAction(); }
    apply { away.apply(); }
"""


def test_routes_go_where_annotations_say(tmp_path: Path) -> None:
    ingress = "control I(inout headers hdr, inout metadata meta, inout standard_metadata_t std) {"
    text = MINE.replace("struct headers {}", "header e_h { bit<32> a; bit<48> source; }\nstruct headers { e_h e; }")
    text = text.replace(f"{ingress} apply {{}}", f"{ingress} {ROUTES}").replace("ROLE\n", "\n")
    (tmp_path / "mine.p4").write_text(text.replace("PARAMS", PARAMS).replace("MORE", ""), encoding="utf-8")
    compiled = compile_program(tmp_path / "mine.p4")
    assert compiled.ok, compiled.rendered
    routes = find_routes(load_pipeline(compiled.p4info_bytes(), compiled.device_config()).schema)
    assert routes is not None
    assert (routes.table, routes.key, routes.match, routes.action) == ("I.away", "hdr.e.a", "lpm", "I.go")
    assert routes.params == (("mine", Role.OWN_MAC), ("out_", Role.EGRESS_PORT))
    assert routes.is_said
