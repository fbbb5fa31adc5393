"""What a run records of a program's drops, tables, meters, digests and lines of `log_msg`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tests.p4cc.running.test_program_state import NOTHING, PROGRAM
from tests.p4cc.scenarios import Ran, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = """
    meter(8, MeterType.packets) rated;
    action refuse() { mark_to_drop(standard); }
    action admit() { }
    table door { key = { standard.ingress_port: exact; } actions = { refuse; admit; } default_action = admit(); }
    action forward"""
APPLIED = """
        bit<2> color;
        rated.execute_meter((bit<32>)standard.ingress_port, color);
        digest<seen_t>(1, { hdr.ethernet.src, standard.ingress_port });
        log_msg("packet at port {}", { standard.ingress_port });
        dmac.apply();
        if (standard.ingress_port == 2) { mark_to_drop(standard); }
        door.apply();
"""
RECORD: dict[str, Any] = {"drops": {}, "tables": {}, "meters": {}, "digests": {}, "log_msg": {}}
TABLES = {"drops", "program_tables", "program_meters", "program_digests", "program_log"}


def guarded(folder: Path, record: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A scenario whose program refuses packets of port 1 in a table and those of port 2 in its control."""
    text = PROGRAM.replace("    action forward", DECLARED, 1).replace("        dmac.apply();", APPLIED)
    text = text.replace("struct metadata_t", "struct seen_t { bit<48> src; bit<9> port; }\nstruct metadata_t")
    (folder / "guarded.p4").write_text(text)
    entry = {"switch": "*", "table": "door", "match": {"standard.ingress_port": 1}, "action": "refuse"}
    switch = {"program": "guarded.p4", "entries": [entry]}
    return scenario(**{"switch": switch, "record": {**NOTHING, **record}, "stop_ns": 5_000_000, **changes})


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("guarded")
    return run(folder, guarded(folder, RECORD), use_cache=False)


def test_drops_have_their_place_in_the_program(ran: Ran) -> None:
    drops = ran.table("drops").filter(pl.col("cause") == "ingress")
    of = drops.group_by("port", "control", "table", "action").agg(pl.col("packets", "bytes").sum()).sort("port")
    assert of.select("port", "table", "action").rows() == [(1, "ingress.door", "ingress.refuse"), (2, "", "")]
    assert set(of["control"]) == {"ingress"}
    queues = ran.table("port_queues").group_by("port").agg(pl.col("dropped_ingress").sum()).sort("port")
    assert of["packets"].to_list() == [pkts for pkts in queues["dropped_ingress"].to_list() if pkts]
    assert (of["bytes"] > of["packets"] * 40).all()
    assert any("by action refuse of table door; s1" in note for note in ran.outcome.notes) or any(
        "by control ingress; s1" in note for note in ran.outcome.notes
    )


def test_full_queues_are_drops_too(tmp_path: Path) -> None:
    topology = {"kind": "star", "senders": 4, "queue_capacity_pkts": 4}
    data = scenario(topology=topology, record={**NOTHING, "drops": {"interval_ns": 1}})
    ran = run(tmp_path, data)
    full = ran.table("drops").filter(pl.col("cause") == "queue_full")
    assert full["packets"].sum() == ran.runs[0]["tail_drops"] > 0
    assert set(full["table"]) == {""}


def test_tables_count_hits_and_misses(ran: Ran) -> None:
    last = ran.table("program_tables").group_by("table", "result", "entry", "action").agg(pl.col("packets").last())
    door = last.filter(pl.col("table") == "ingress.door").sort("result")
    assert door.select("result", "action").rows() == [("hit", "ingress.refuse"), ("miss", "ingress.admit")]
    assert door["entry"].to_list() == ["standard.ingress_port=0x1", ""]
    ports = {row["port"]: row["rx_pkts"] for row in ran.table("ports").to_dicts()}
    assert door["packets"].to_list() == [ports[1], sum(ports.values()) - ports[1]]
    assert last.filter(pl.col("table") == "ingress.dmac")["packets"].sum() == sum(ports.values())


def test_meters_digests_and_lines_are_of_each_packet(ran: Ran) -> None:
    ports = {row["port"]: row["rx_pkts"] for row in ran.table("ports").to_dicts() if row["rx_pkts"]}
    meters = ran.table("program_meters").group_by("index", "color").agg(pl.col("packets").last())
    assert {(row["index"], row["color"]): row["packets"] for row in meters.to_dicts()} == {
        (port, "green"): pkts for port, pkts in ports.items()
    }
    digests = ran.table("program_digests")
    sent = digests.filter(pl.col("field") == "port")
    assert {row["value"]: row["len"] for row in sent.group_by("value").len().to_dicts()} == ports
    assert digests["message"].n_unique() == sum(ports.values())
    lines = ran.table("program_log")
    assert lines.filter(pl.col("text") == "packet at port 1").height == ports[1]


def test_records_change_nothing_else_whatever_runs_the_program(tmp_path: Path) -> None:
    topology = {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 2}
    traffic = {"kind": "bulk", "sources": ["h1", "h2"], "destinations": ["h3", "h4"], "size_bytes": 100_000}
    tables: list[dict[str, bytes]] = []
    for threads, record in ((1, RECORD), (2, RECORD), (1, {})):
        folder = tmp_path / str(len(tables))
        folder.mkdir()
        data = guarded(folder, record, topology=topology, traffic=traffic)
        tables.append(run(folder, data, use_cache=False, threads=threads).bytes())
    assert tables[0] == tables[1]
    kept = {f"{name}.parquet" for name in (*TABLES, "hosts")}
    assert tables[2].keys() == tables[0].keys() - kept
    assert {name: tables[0][name] for name in tables[2]} == tables[2]


@pytest.mark.parametrize(
    ("kind", "table", "bound"),
    [
        ("log_msg", "program_log", "max_lines"),
        ("digests", "program_digests", "max_messages"),
    ],
)
def test_rows_are_bounded(tmp_path: Path, kind: str, table: str, bound: str) -> None:
    ran = run(tmp_path, guarded(tmp_path, {kind: {bound: 3}}))
    kept = ran.table(table)
    assert (kept["message"].n_unique() if kind == "digests" else kept.height) == 3
    assert ran.runs[0]["rows_left_out"] == sum(ran.table("ports")["rx_pkts"]) - 3
