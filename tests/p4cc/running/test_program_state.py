"""Counters and registers of a user's program, sampled over a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import Ran, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct metadata_t { }
parser parse(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ethernet); transition accept; }
}
control nothing(inout headers_t hdr, inout metadata_t meta) { apply { } }
control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    counter(8, CounterType.packets_and_bytes) arrived;
    counter(4, CounterType.packets) unused;
    direct_counter(CounterType.packets) known;
    register<bit<48>>(8) last_seen;
    register<bit<128>>(2) wide;
    action forward(bit<9> port) { standard.egress_spec = port; }
    table dmac { key = { hdr.ethernet.dst: exact; } actions = { forward; } counters = known; size = 64; }
    apply {
        arrived.count((bit<32>)standard.ingress_port);
        last_seen.write((bit<32>)standard.ingress_port, standard.ingress_global_timestamp);
        wide.write(0, 1);
        dmac.apply();
    }
}
control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(parse(), nothing(), ingress(), egress(), nothing(), deparse()) main;
"""
NOTHING: dict[str, Any] = {"windows_interval_ns": None, "queues_interval_ns": None}


def counting(folder: Path, record: dict[str, Any], **changes: Any) -> dict[str, Any]:
    (folder / "counts.p4").write_text(PROGRAM)
    return scenario(**{"switch": {"program": "counts.p4"}, "record": {**NOTHING, **record}, **changes})


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("counts")
    record = {"counters": {"interval_ns": 20_000}, "registers": {"names": ["last_*"], "interval_ns": 50_000}}
    return run(folder, counting(folder, record), use_cache=False)


def test_counters_end_at_what_arrived(ran: Ran) -> None:
    counted = ran.table("program_counters")
    assert counted["counter"].unique().to_list() == ["ingress.arrived"]
    last = counted.group_by("index").agg(pl.col("packets", "bytes").last()).sort("index")
    ports = ran.table("ports").sort("port")
    assert last["index"].to_list() == ports["port"].to_list()
    assert last["packets"].to_list() == ports["rx_pkts"].to_list()
    assert last["bytes"].to_list() == ports["rx_bytes"].to_list()


def test_samples_are_of_their_instants_and_of_changes_only(ran: Ran) -> None:
    counted = ran.table("program_counters")
    end_ns = ran.runs[0]["end_ns"]
    assert all(time % 20_000 == 0 or time == end_ns for time in counted["time_ns"].to_list())
    changes = counted.sort("index", "time_ns").with_columns(more=pl.col("packets").diff().over("index"))
    assert (changes["more"].drop_nulls() > 0).all()
    seen = ran.table("program_registers")
    # Microseconds, as v1model has them.
    assert (seen["value"] * 1_000 <= seen["time_ns"]).all()


def test_threads_and_the_interpreter_see_the_same(tmp_path: Path) -> None:
    topology = {"kind": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 2}
    traffic = {"kind": "bulk", "sources": ["h1", "h2"], "destinations": ["h3", "h4"], "size_bytes": 200_000}
    tables: list[dict[str, bytes]] = []
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        data = counting(folder, {"counters": {}, "registers": {}}, topology=topology, traffic=traffic)
        tables.append(run(folder, data, use_cache=False, threads=threads).bytes())
    assert tables[0] == tables[1]
    assert {"program_counters.parquet", "program_registers.parquet"} <= tables[0].keys()


def test_what_is_not_asked_for_leaves_no_table(tmp_path: Path) -> None:
    plain = run(tmp_path, counting(tmp_path, {})).bytes()
    assert not [name for name in plain if name.startswith("program_")]
    asked = run(tmp_path, counting(tmp_path, {"counters": {}}), use_cache=False).bytes()
    assert {name: asked[name] for name in plain} == plain


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"counters": {"names": ["arived"]}}, "no counter of these switches matches arived"),
        ({"counters": {"switches": ["x*"]}}, "no switch matches"),
        (
            {"counters": {"names": ["arrived", "known"]}},
            r"(?s)ingress.known is a direct counter.*ingress.dmac.*record.tables",
        ),
        ({"counters": {"names": ["kn*"]}}, "ingress.known is a direct counter"),
        ({"registers": {"names": ["wide"]}}, "at most 64 bits"),
        ({"counters": {"interval_ns": 1}}, "interval_ns"),
    ],
)
def test_names_that_fit_nothing_are_explained(tmp_path: Path, record: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        run(tmp_path, counting(tmp_path, record))


@pytest.mark.parametrize("per_second", [False, True])
def test_the_figure_draws_them(tmp_path: Path, per_second: bool) -> None:
    figure = {"kind": "program_state", "file": "state.png", "y": "bytes", "names": ["arrived"], "lines": 2}
    data = counting(tmp_path, {"counters": {"interval_ns": 20_000}}, figures=[{**figure, "per_second": per_second}])
    ran = run(tmp_path, data, figures=True)
    assert (ran.outcome.folder / "state.png").read_bytes().startswith(b"\x89PNG")
