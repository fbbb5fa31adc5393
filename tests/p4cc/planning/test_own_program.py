"""A user's own P4 program in virtual time: its routes found or named, its entries from rows and files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import ROOT, Ran, run, scenario

PROGRAM = ROOT / "tests" / "lab" / "files" / "route.p4"
"""Not p4cc's: one table `ingress.routes`, its key `hdr.ipv4.dst`, its action `forward(mac, port)`."""

ACROSS: dict[str, Any] = {"kind": "incast", "sru_bytes": 20_000, "sources": ["h3", "h4"], "destination": "h1"}
LEAVES: dict[str, Any] = {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2}


def own(switch: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """The small scenario with a program of the user's, and whatever `switch` says besides."""
    return scenario(**{"switch": {"program": str(PROGRAM), **(switch or {})}, **changes})


def star_rows() -> list[dict[str, Any]]:
    """A route to each host of the star, with the names of the network."""
    return [
        {
            "switch": "s*",
            "table": "routes",
            "match": {"hdr.ipv4.dst": [f"{host}.ipv4", 32]},
            "action": "forward",
            "params": {"mac": f"{host}.mac", "port": f"port(self, {host})"},
        }
        for host in ("h1", "h2", "h3", "h4", "aggregator")
    ]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run whose routes p4cc found by itself."""
    return run(tmp_path_factory.mktemp("found"), own())


def test_the_table_of_routes_is_found_and_said(found: Ran) -> None:
    assert [row["flows_completed"] for row in found.runs] == [4]
    (note,) = [note for note in found.outcome.notes if "routes are written to" in note]
    assert "table ingress.routes, key hdr.ipv4.dst (lpm)" in note
    assert "ingress.forward(mac=next_hop_mac, port=egress_port)" in note


def test_its_default_codepoints_are_those_of_rfc_3168(tmp_path: Path) -> None:
    reno = {"name": "Reno", "congestion_avoidance": {"name": "reno_ecn"}}
    plain = run(tmp_path, own(variants=[reno])).bytes()
    named = run(tmp_path, own({"ecn_profile": "rfc3168"}, variants=[reno])).bytes()
    assert plain["flows.parquet"] == named["flows.parquet"]
    with pytest.raises(UserError, match="gst needs two marking thresholds"):
        run(tmp_path, own(variants=[{**reno, "slow_start": {"name": "gst"}}]))
    # p4cc's program knows two levels, and none of them is CE.
    with pytest.raises(UserError, match="gst has no CE codepoint"):
        run(tmp_path, scenario(variants=[reno]))


@pytest.mark.parametrize("kind", ["rows", "json", "commands", "messages"])
def test_entries_of_every_form_do_what_found_routes_do(tmp_path: Path, found: Ran, kind: str) -> None:
    entries = star_rows() if kind == "rows" else [{"switch": "s1", "file": _file(tmp_path, kind)}]
    ran = run(tmp_path, own({"routes": "none", "entries": entries}))
    assert ran.bytes()["flows.parquet"] == found.bytes()["flows.parquet"]


def _file(folder: Path, kind: str) -> str:
    """A file of the star's routes: ports 1 to 5 in the order of links, addresses as p4cc plans them."""
    hosts = [(f"10.0.0.{number}", f"02:00:00:00:00:{number:02x}", number) for number in range(1, 6)]
    if kind == "json":
        rows = [
            {
                "table": "ingress.routes",
                "match": {"hdr.ipv4.dst": [address, 32]},
                "action_name": "ingress.forward",
                "action_params": {"mac": mac, "port": port},
            }
            for address, mac, port in hosts
        ]
        (folder / "s1-runtime.json").write_text(json.dumps({"target": "bmv2", "table_entries": rows}))
        return "{switch}-runtime.json"
    if kind == "commands":
        lines = [f"table_add ingress.routes ingress.forward {a}/32 => {mac} {port}" for a, mac, port in hosts]
        (folder / "s1.txt").write_text("\n".join(lines) + "\n")
        return "s1.txt"
    (folder / "s1.txtpb").write_text("".join(_update(*host) for host in hosts))
    return "s1.txtpb"


def _update(address: str, mac: str, port: int) -> str:
    from p4cc.planning.programs import compile_program

    text = compile_program(PROGRAM).p4info_text()

    def number(kind: str, name: str) -> int:
        block = re.search(rf'{kind} \{{\s*preamble \{{\s*id: (\d+)\s*name: "{name}"', text)
        assert block is not None, name
        return int(block[1])

    def octal(value: bytes) -> str:
        return "".join(f"\\{byte:03o}" for byte in value.lstrip(b"\0") or b"\0")

    ip = bytes(int(part) for part in address.split("."))
    return (
        "updates { type: INSERT entity { table_entry { "
        f"table_id: {number('tables', 'ingress.routes')} "
        f'match {{ field_id: 1 lpm {{ value: "{octal(ip)}" prefix_len: 32 }} }} '
        f"action {{ action {{ action_id: {number('actions', 'ingress.forward')} "
        f'params {{ param_id: 1 value: "{octal(bytes.fromhex(mac.replace(":", "")))}" }} '
        f'params {{ param_id: 2 value: "{octal(port.to_bytes(2, "big"))}" }} }} }} }} }} }}\n'
    )


def test_named_routes_of_p4ccs_own_program_change_no_byte(tmp_path: Path) -> None:
    data = scenario(topology=LEAVES, traffic=ACROSS)
    plain = run(tmp_path, data).bytes()
    routes = {
        "table": "ipv4_lpm",
        "key": "dst_addr",
        "action": "set_next_hop",
        "params": {"dst_mac": "next_hop_mac", "port": "egress_port"},
    }
    named = run(tmp_path, {**data, "switch": {**data["switch"], "routes": routes}}).bytes()
    assert named == plain


@pytest.mark.parametrize("addresses", ["in_order", "by_rack"])
def test_prefixes_lead_where_routes_of_hosts_lead(tmp_path: Path, addresses: str) -> None:
    fabric = {"kind": "fat_tree", "k": 4, "addresses": addresses}
    data = scenario(topology=fabric, traffic={**ACROSS, "sources": ["h3", "h5", "h16"]})
    prefixes = run(tmp_path, data)
    hosts = run(tmp_path, {**data, "switch": {**data["switch"], "routes": "hosts"}})
    assert prefixes.bytes() == hosts.bytes()
    assert prefixes.runs[0]["flows_completed"] == 3


def test_named_routes_take_numbers_and_other_values_of_the_route(tmp_path: Path, found: Ran) -> None:
    routes = {"table": "routes", "action": "forward", "params": {"mac": "host_mac", "port": "egress_port"}}
    ran = run(tmp_path, own({"routes": routes}))
    assert ran.bytes()["flows.parquet"] == found.bytes()["flows.parquet"], "one switch: the next hop is the host"


def test_switches_run_programs_of_their_own(tmp_path: Path) -> None:
    data = own(
        {"programs": [{"switch": "spine*", "program": "p4src/v1model/ecn_dual.p4"}]}, topology=LEAVES, traffic=ACROSS
    )
    ran = run(tmp_path, data)
    assert ran.runs[0]["flows_completed"] == ran.runs[0]["flows_finite"] > 0
    counters = ran.table("counters")
    assert set(counters["switch"].unique()) == {"spine1", "spine2"}, "leaves have no thresholds"
    assert {path.name for path in (ran.outcome.folder / "inputs").iterdir()} == {"route.p4", "ecn_dual.p4"}


def test_a_run_of_an_own_program_repeats_from_its_folder(found: Ran) -> None:
    from p4cc.running.request import RunRequest
    from p4cc.running.rerun import rerun

    again = rerun(found.outcome.folder, RunRequest(scenario=Path(), quiet=True, use_cache=False))
    assert again.differing == ()


TWO_TABLES = PROGRAM.read_text(encoding="utf-8").replace(
    "    apply {\n        if (hdr.ipv4.isValid()) {",
    "    table others { key = { hdr.ipv4.dst: exact; } actions = { forward; NoAction; }"
    " default_action = NoAction(); }\n    apply {\n        others.apply();\n        if (hdr.ipv4.isValid()) {",
)
NO_TABLE = PROGRAM.read_text(encoding="utf-8").replace("hdr.ipv4.dst: lpm", "hdr.ipv4.src: lpm")


def _with(row: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"routes": "none", "entries": [{**row, **changes}]}


@pytest.mark.parametrize(
    ("switch", "said"),
    [
        (_with(star_rows()[0], switch="leaf9"), "no switch matches 'leaf9'"),
        (_with(star_rows()[0], params={"mac": "h9.mac", "port": 1}), "there is no host 'h9'"),
        (_with(star_rows()[0], params={"mac": "h1.mac", "port": "port(s1, h9)"}), "no link leads to 'h9'"),
        (_with(star_rows()[0], table="nothing"), "the P4 program has no table 'nothing'"),
        (_with(star_rows()[0], action="nothing"), "the P4 program has no action 'nothing'"),
        (_with(star_rows()[0], params={"mac": "h1.mac"}), "takes (mac, port), but got 1 values"),
        ({"entries": [{"file": "missing.json"}]}, "no entry file 'missing.json'"),
        ({"routes": {"table": "classes", "action": "mark", "params": {"tos": 1}}}, "has 3 keys"),
        ({"routes": {"table": "routes", "action": "mark", "params": {}}}, "has no unique action 'mark'"),
        ({"routes": {"table": "routes", "action": "forward", "params": {"port": 1}}}, "takes mac, port"),
        (
            {
                "routes": {"table": "routes", "action": "forward", "params": {"mac": 1, "port": "egress_port"}},
                "entries": star_rows(),
            },
            "both switch.routes and switch.entries write to table",
        ),
        ({"p4info": "missing.txtpb"}, "no P4Info 'missing.txtpb'"),
        (
            {"programs": [{"switch": "s1", "program": str(PROGRAM), "defines": ["X"]}]},
            "compiled with two sets of options",
        ),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path: Path, switch: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as raised:
        run(tmp_path, own(switch))
    assert said in str(raised.value)
    assert raised.value.remedy or "remedy" in str(raised.value)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            TWO_TABLES,
            "2 tables or actions could be meant for routes: ingress.routes with ingress.forward; ingress.others",
        ),
        (NO_TABLE, "p4cc cannot tell which table is for routes; tables with an address and a port: ingress.routes"),
    ],
)
def test_a_program_without_one_table_for_routes_asks(tmp_path: Path, source: str, said: str) -> None:
    (tmp_path / "own.p4").write_text(source)
    with pytest.raises(UserError) as raised:
        run(tmp_path, own({"program": "own.p4"}))
    assert said in str(raised.value)


def test_include_folders_and_macros_are_the_scenarios(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "size.p4").write_text("#define ROUTES WIDE\n")
    source = PROGRAM.read_text(encoding="utf-8").replace("size = 64", "size = ROUTES")
    (tmp_path / "own.p4").write_text(source.replace("#include <core.p4>", '#include <core.p4>\n#include "size.p4"'))
    ran = run(tmp_path, own({"program": "own.p4", "include": ["lib"], "defines": ["WIDE=64"]}))
    assert [row["flows_completed"] for row in ran.runs] == [4]


def test_by_the_rules_of_a_course_a_warning_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "warned.p4").write_text(PROGRAM.read_text(encoding="utf-8") + "\n#warning finish this exercise\n")
    warned = {"program": "warned.p4", "routes": "auto"}
    run(tmp_path, own(warned))
    for switch in (warned | {"strict": "course"}, {"programs": [{"switch": "s1", **_strict("warned.p4")}]}):
        with pytest.raises(UserError, match=r"does not compile[^@]*error: #warning finish this exercise"):
            run(tmp_path, own(switch))
    run(tmp_path, own(_strict(str(PROGRAM))))


def _strict(program: str) -> dict[str, str]:
    return {"program": program, "strict": "course"}


def test_programs_and_their_include_folders_may_stand_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy"
    (copy / "lib").mkdir(parents=True)
    (copy / "lib" / "size.p4").write_text("#define ROUTES 64\n")
    source = PROGRAM.read_text(encoding="utf-8").replace("size = 64", "size = ROUTES")
    (copy / "other.p4").write_text(source.replace("#include <core.p4>", '#include <core.p4>\n#include "size.p4"'))
    monkeypatch.chdir(copy)
    ran = run(tmp_path, own({"program": "other.p4", "include": ["lib"]}))
    assert [row["flows_completed"] for row in ran.runs] == [4]


def test_marks_of_an_own_program_are_read_as_rfc_3168_has_them(tmp_path: Path) -> None:
    marking = PROGRAM.read_text(encoding="utf-8").replace(
        "    apply {\n        if (standard.mcast_grp == 1",
        "    apply {\n        if (standard.enq_qdepth > 10 && hdr.ipv4.tos[1:0] != 0) { hdr.ipv4.tos[1:0] = 3; }\n"
        "        if (standard.mcast_grp == 1",
    )
    (tmp_path / "own.p4").write_text(marking)
    dctcp = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}
    (row,) = run(tmp_path, own({"program": "own.p4"}, variants=[dctcp])).runs
    assert sum(row[name] for name in row if name.startswith("marks")) > 0
    assert row["drops"] == 0
