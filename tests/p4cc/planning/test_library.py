"""p4cc's own controls in programs of others: included from anywhere, recognised by their tables, filled by entries."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from finsy.proto import p4r
from google.protobuf import text_format

from controller.entities import Update, UpdateKind
from controller.pipeline import Pipeline, load_pipeline
from controller.roles import Roles, roles_of
from p4cc import bundled
from p4cc.errors import UserError
from p4cc.planning.network import plan_case
from p4cc.planning.programs import compile_program
from p4cc.running.prepared import prepare
from p4cc.running.request import RunRequest
from tests.p4cc.scenarios import ROOT, Ran, run, scenario, skewed, write

MARKS = ROOT / "tests" / "p4cc" / "files" / "basic_marks.p4"
"""A router with its own headers and `#include <p4cc/ecn_dual.p4>`; its control is `MyEgress.marks`."""

GST: dict[str, Any] = {"name": "GST", "slow_start": {"name": "gst"}, "congestion_avoidance": {"name": "dctcp"}}
LOW: dict[str, Any] = {"ecn_profile": "gst", "thresholds": {"k_rule": "fixed", "k_pkts": 5, "k_dc_pkts": 9}}
LEAVES: dict[str, Any] = {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2}


def pipeline(path: Path) -> Pipeline:
    program = compile_program(path)
    assert program.ok, program.rendered
    return load_pipeline(program.p4info_text(), program.device_config())


def test_every_control_is_in_the_library() -> None:
    ours = {path.name for folder in ("controls", "include") for path in (bundled.P4SRC / folder).glob("*.p4")}
    # Those of v1model come in with the controls.
    ours |= {path.name for path in (bundled.P4SRC / "adaptors").glob("tna*.p4")}
    assert {path.name for path in (bundled.LIBRARY / "p4cc").glob("*.p4")} == ours


@pytest.mark.parametrize("program", sorted(bundled.P4SRC.glob("v1model/*.p4")) + sorted(bundled.P4SRC.glob("tna/*.p4")))
def test_p4ccs_programs_compile_anywhere_with_includes_of_the_library(tmp_path: Path, program: Path) -> None:
    source = program.read_text(encoding="utf-8")
    text = re.sub(r'"\.\./(?:adaptors|controls|include)/([a-z0-9_]+\.p4)"', r"<p4cc/\1>", source)
    assert text.count("<p4cc/") > 3
    assert "../" not in text
    moved = tmp_path / program.name
    moved.write_text(text)
    assert pipeline(moved).schema.p4info == pipeline(program).schema.p4info


ANYWHERE = """
#include <core.p4>
#include <v1model.p4>
#include "../include/headers.p4"
#include "../include/transport.p4"
#include "../include/rate.p4"
struct headers_t {{
    ethernet_h ethernet; ipv4_h ipv4; l4_ports_h l4_ports; fair_rate_h fair_rate;
    rate_request_h rate_request; rate_hop_h rate_hop;
}}
struct metadata_t {{}}
#include <p4cc/ipv4_checksum.p4>
#include <p4cc/parser.p4>
#include <p4cc/{name}.p4>
parser p(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {{
    PacketParser() common;
    state start {{ common.apply(packet, hdr); transition accept; }}
}}
control i(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {{
    apply {{ standard.egress_spec = 1; }}
}}
control e(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {{
    {control}() mine;
    apply {{ mine.apply({arguments}); }}
}}
control d(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr); }} }}
V1Switch(p(), verify_ipv4_checksum(), i(), e(), compute_ipv4_checksum(), d()) main;
"""


@pytest.mark.parametrize(
    ("name", "control", "arguments"),
    [
        ("ecn_red_steps", "EcnRedSteps", "hdr.ipv4.ecn, standard.egress_port, standard.deq_qdepth"),
        ("rcp_stamp", "RcpStamp", "hdr, standard.egress_port, standard.deq_qdepth"),
        ("d3_stamp", "D3Stamp", "hdr, standard.egress_port"),
    ],
)
def test_what_was_made_for_the_chip_runs_under_v1model_too(
    tmp_path: Path, name: str, control: str, arguments: str
) -> None:
    program = tmp_path / "program.p4"
    program.write_text(ANYWHERE.format(name=name, control=control, arguments=arguments))
    found = roles_of(pipeline(program).schema).tables
    assert {role.partition(".")[0] for role in found} == {name}
    assert all(table.name.startswith("e.mine.") for table in found.values())


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """GST over a program that is not p4cc's, away from the repository."""
    folder = tmp_path_factory.mktemp("stranger")
    shutil.copy(MARKS, folder)
    return run(folder, scenario(switch={"program": MARKS.name, **LOW}, variants=[GST]))


def test_a_strangers_program_marks_as_p4ccs_does(tmp_path: Path, strangers: Ran) -> None:
    own = run(tmp_path, scenario(switch={"program": "p4src/v1model/ecn_dual.p4", **LOW}, variants=[GST]))
    assert strangers.table("counters")["level1_pkts"].sum() > 0
    theirs, ours = strangers.bytes(), own.bytes()
    assert theirs.keys() == ours.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []


def test_the_run_says_which_table_gets_thresholds(strangers: Ran) -> None:
    assert "s1: thresholds are written to table MyEgress.marks.thresholds" in strangers.outcome.notes


LACKS = [
    ("k, @p4cc_unit", "first, @p4cc_unit", "has no parameter k"),
    ('egress_port: exact @name("egress_port")', "egress_port: exact", None),
    ('egress_port: exact @name("egress_port")', 'egress_port: exact @name("port")', "it has no exact key egress_port"),
    ('egress_port: exact @name("egress_port")', 'egress_port: exact @name("p") @p4cc_role("egress_port")', None),
    ("table codepoint_map", "table codepoints", None),
    (") level_packets;", ") packets_by_level;", None),
    (
        '@p4cc_unit("depth") queue_depth_t k,',
        '@p4cc_unit("bytes") queue_depth_t k,',
        "parameter k of set_thresholds is in bytes",
    ),
]


@pytest.mark.parametrize(("old", "new", "said"), LACKS)
def test_what_a_table_does_not_take_is_named(tmp_path: Path, old: str, new: str, said: str | None) -> None:
    control = (ROOT / "p4src" / "controls" / "ecn_dual.p4").read_text(encoding="utf-8")
    assert old in control
    control = control.replace(old, new).replace("(bit<32>)k;", "(bit<32>)first;" if "first" in new else "(bit<32>)k;")
    for whole, part in (("codepoint_map", "codepoints"), ("level_packets", "packets_by_level")):
        control = control.replace(f"{whole}.", f"{part}.") if f" {part}" in control else control
    control = control.replace("../include/", "p4cc/")
    (tmp_path / "ecn_dual.p4").write_text(control.replace('"p4cc/headers.p4"', "<p4cc/headers.p4>"))
    router = MARKS.read_text(encoding="utf-8").replace("<p4cc/ecn_dual.p4>", '"ecn_dual.p4"')
    (tmp_path / "mine.p4").write_text(router)
    switch = {"program": "mine.p4"}
    if said is None:
        counters = run(tmp_path, scenario(switch=switch)).table("counters")
        assert counters["k_pkts"].drop_nulls().len() > 0
        return
    with pytest.raises(UserError) as refused:
        run(tmp_path, scenario(switch=switch))
    assert said in refused.value.cause
    assert "table MyEgress.marks.thresholds (ecn_dual.thresholds)" in (refused.value.place or "")


def golden_roles() -> dict[str, Roles]:
    """Roles by program, of the committed P4Info."""
    golden = ROOT / "p4src" / "golden"
    files = [*golden.glob("*.txtpb"), *golden.glob("tna/*.txtpb")]
    return {str(path.relative_to(golden)): roles_of(load_pipeline(path.read_text(), b"").schema) for path in files}


def test_the_page_has_every_role() -> None:
    page = (ROOT / "docs" / "reference" / "features.md").read_text(encoding="utf-8")
    for roles in golden_roles().values():
        for role, table in roles.tables.items():
            for called, action in table.actions.items():
                if called in ("NoAction", "no_route", "set_fixed_rate"):
                    continue
                params = ", ".join(
                    f"{name} {one.bits}{f' {one.unit}' if one.unit else ''}" for name, one in action.params.items()
                )
                kinds = {"exact": "", "range": " (range)", "lpm": " (lpm)"}
                keys = ", ".join(f"`{name}` {one.bits}{kinds[one.kind]}" for name, one in table.keys.items())
                assert f"| `{role}` | {keys} | `{called}({params})` |" in page, role
        assert all(f"counter `{role}`" in page for role in roles.counters)


def test_a_control_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    text = MARKS.read_text(encoding="utf-8").replace("EcnDual() marks;", "EcnDual() marks; EcnDual() again;")
    text = text.replace(
        "            marks.apply(",
        "            again.apply(hdr.ipv4.diffserv[1:0], standard_metadata.egress_port, 0, level); marks.apply(",
    )
    (tmp_path / "twice.p4").write_text(text)
    with pytest.raises(UserError, match=r"have the role ecn_dual\.thresholds"):
        run(tmp_path, scenario(switch={"program": "twice.p4"}))


def by_program(name: str) -> dict[str, Any]:
    """A scenario that needs what the program's tables hold."""
    across: dict[str, Any] = {"kind": "incast", "sru_bytes": 20_000, "sources": ["h3", "h4"], "destination": "h1"}
    path = f"p4src/v1model/{name}.p4"
    if name == "ecn_dual":
        return scenario(topology=LEAVES, traffic=across, variants=[GST])
    senders: dict[str, dict[str, Any]] = {
        "int_hpcc": {"name": "HPCC", "rate_control": {"name": "hpcc"}},
        "ecn_red": {"name": "DCQCN", "rate_control": {"name": "dcqcn"}},
        "d3": {"name": "D3", "rate_control": {"name": "d3"}},
        "rcp": {"name": "RCP", "rate_control": {"name": "rcp"}},
    }
    data = skewed(variants=[senders[name]])
    data["switch"]["program"] = path
    return {**data, "sweep": {}, "seeds": [1], "traffic": {**across, "sources": ["h5", "h6"], "priority": 3}}


@pytest.mark.parametrize("name", ["ecn_dual", "ecn_red", "int_hpcc", "d3", "rcp"])
def test_entries_of_files_give_the_bytes_that_p4ccs_controller_gives(tmp_path: Path, name: str) -> None:
    data = by_program(name)
    plain = run(tmp_path, data)
    (case,) = prepare(RunRequest(scenario=write(tmp_path, data))).cases
    loaded = pipeline(bundled.PROGRAMS / f"{name}.p4")
    plan = plan_case(case, tmp_path / "scenario.yaml", lambda _: loaded.schema)
    for switch in plan.switches:
        request = p4r.WriteRequest()
        for entity in switch.entities:
            request.updates.append(loaded.translation.to_update(Update(UpdateKind.INSERT, entity)))
        (tmp_path / f"{switch.switch}.txtpb").write_text(text_format.MessageToString(request))
    entries = [{"switch": "*", "file": "{switch}.txtpb"}]
    filled = run(tmp_path, {**data, "switch": {**data["switch"], "routes": "none", "entries": entries}})
    assert filled.runs[0]["flows_completed"] == plain.runs[0]["flows_completed"] > 0
    theirs, ours = filled.bytes(), plain.bytes()
    assert theirs.keys() == ours.keys()
    assert [table for table in ours if ours[table] != theirs[table]] == []


def test_thresholds_of_entries_are_those_that_senders_learn(tmp_path: Path) -> None:
    rows = [
        {
            "switch": "s1",
            "table": "thresholds",
            "match": {"egress_port": "port(self, aggregator)"},
            "action": "set_thresholds",
            "params": {"k": 5, "k_dc": 9},
        }
    ]
    switch = {**scenario()["switch"], "thresholds": {"k_rule": "fixed", "k_pkts": 90}, "entries": rows}
    ran = run(tmp_path, scenario(switch=switch, variants=[GST]))
    counters = ran.table("counters")
    assert counters.select("k_pkts", "k_dc_pkts").drop_nulls().rows() == [(5, 9)]
    assert counters["level1_pkts"].sum() > 0
