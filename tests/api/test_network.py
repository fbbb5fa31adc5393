"""`p4cc.Network`: steps, what is read and changed between them, forks, packets, mistakes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

import p4cc
from tests.p4cc.control.test_controller import LATENCIES, reactive
from tests.p4cc.scenarios import ROOT, scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from p4cc.api.tables import Tables

STEP_NS = 37_123
K = 20
DCTCP = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}
RECORD: dict[str, Any] = {"windows_interval_ns": 10_000, "queues_interval_ns": 10_000, "packets_received": {}}
PORT = {"egress_port": "port(s1, aggregator)"}
PROBE = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x88\xb5" + bytes(50)


def small(**changes: Any) -> dict[str, Any]:
    """Four senders of 60 kB each into one port, recorded."""
    traffic = {"kind": "incast", "sru_bytes": 60_000}
    return scenario(**{"variants": [DCTCP], "traffic": traffic, "record": RECORD, **changes})


@pytest.fixture
def net() -> Iterator[p4cc.Network]:
    with p4cc.Network(small()) as made:
        yield made


def same(one: Tables, other: Tables) -> None:
    """Every table has the same rows."""
    assert one.tables == other.tables
    for name in one.tables:
        assert one.table(name).equals(other.table(name)), name
        assert one.units(name) == other.units(name)


def in_steps(net: p4cc.Network) -> p4cc.Network:
    while not net.has_ended:
        net.run_for(STEP_NS)
        net.queues()
    return net


@contextlib.contextmanager
def interrupted(after_s: float) -> Generator[None]:
    """Ctrl-C after a time, which is heard."""
    timer = threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        yield
    timer.join()


def test_many_steps_end_as_one_run_does(tmp_path: Path, net: p4cc.Network) -> None:
    whole = p4cc.run(small(), out=tmp_path / "out", quiet=True)
    found = in_steps(net).result()
    same(found, whole)
    assert found.summary["finish_ns"] == whole.runs["finish_ns"][0] == net.now_ns
    assert found.plot.cdf("fct").get_lines()


CHANGE = {"table": "thresholds", "match": PORT, "action": "set_thresholds", "params": {"k": 1, "k_dc": 30}}


def led(folder: Path, by: str) -> dict[str, Any]:
    """A scenario in which something goes on by itself."""
    if by == "messages":
        return reactive(control=LATENCIES["drawn"], stop_ns=5_000_000)
    if by == "a restart":
        restart = {"switch": "s1", "down_ns": 200_000, "up_ns": 260_000}
        return small(faults=[restart], changes=[{"at_ns": 100_000, "switch": "s1", **CHANGE}])
    follow = (ROOT / "docs/how-to/write-a-controller.md").read_text().split("```python\n")[1].split("```")[0]
    (folder / "follow.py").write_text(follow)
    switch = {"program": "p4src/v1model/ecn_dual.p4", "controller": f"{folder / 'follow.py'}:Follow"}
    control = {"latency_ns": 30_000, "parameters": {"interval_ns": 50_000}}
    return small(switch=switch, control=control)


@pytest.mark.parametrize("by", ["timers", "messages", "a restart"])
def test_what_goes_on_by_itself_goes_on_within_the_steps(tmp_path: Path, by: str) -> None:
    data = led(tmp_path, by)
    whole = p4cc.run(data, out=tmp_path / "out", quiet=True)
    assert (whole.control.height > 3) == (by != "a restart")
    with p4cc.Network(data) as net:
        net.run_until(120_000)
        with net.fork() as copy:
            same(in_steps(net).result(), whole)
            assert copy.now_ns == 120_000
            same(copy.run().result(), whole)


def test_a_changed_threshold_changes_marks(net: p4cc.Network) -> None:
    net.run_until(150_000)
    other = net.fork()
    same(net.result(), other.result())
    net.modify("s1", "thresholds", PORT, params={"k": 1})
    port = net.table("s1", "thresholds").filter(pl.col("k") == 1)
    assert port["k_dc"].to_list() == [65], "what is not given stays"
    marked, unmarked = net.run().result(), other.run().result()
    assert marked.summary["marks_level1"] > unmarked.summary["marks_level1"]
    assert other.table("s1", "thresholds")["k"].drop_nulls().unique().to_list() == [K]
    thresholds = marked.counters.filter(pl.col("peer") == "aggregator")["k_pkts"].to_list()
    assert thresholds == [1]
    other.close()


def test_a_fork_stands_where_the_network_does(net: p4cc.Network) -> None:
    net.inject("h1", PROBE)
    net.run_until(100_000)
    net.modify("s1", "thresholds", PORT, "set_thresholds", {"k": 3, "k_dc": 9})
    net.inject("s1", PROBE, port="h2")
    net.run_for(30_000)
    net.delete("s1", "thresholds", {"egress_port": 1})
    fork = net.fork()
    assert fork.now_ns == net.now_ns == 130_000
    assert fork.table("s1", "thresholds").equals(net.table("s1", "thresholds"))
    assert fork.flows().equals(net.flows())
    second = fork.fork()
    same(in_steps(fork).result(), net.run().result())
    same(second.run().result(), net.result())
    fork.close()
    second.close()


def test_a_fork_with_a_seed_begins_anew_with_the_entries_of_now(net: p4cc.Network) -> None:
    net.modify("s1", "thresholds", PORT, params={"k": 1})
    whole = net.fork(seed=7)
    net.run_until(200_000)
    later = net.fork(seed=7)
    assert (later.now_ns, later.seed) == (0, 7)
    assert 1 in later.table("s1", "thresholds")["k"].to_list()
    one, two = whole.run().result(), later.run().result()
    assert one.flows.equals(two.flows)
    assert set(two.flows["seed"]) == {7}
    copy = later.fork()
    same(copy.result(), two)
    for made in (whole, later, copy):
        made.close()


def test_packets_arrive_where_they_are_sent(net: p4cc.Network) -> None:
    net.run_until(50_000)
    routes = net.table("s1", "ipv4_lpm")
    to = routes.filter(~pl.col("is_default"))["hdr.ipv4.dst_addr"][1].removesuffix("/32")
    packet = (
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:fe")
        / IP(src="10.0.0.1", dst=to, ttl=9)
        / UDP(dport=9)
        / (b"x" * 100)
    )
    net.inject("h1", packet)
    net.inject("s1", bytearray(bytes(packet)), port=1)
    arrived = net.run().result().packets_received
    assert arrived["host"].to_list() == ["h2", "h2"]
    assert arrived["length_bytes"].to_list() == [142, 142]
    sooner, later = sorted(arrived["time_ns"])
    assert 50_000 < sooner < later


def test_what_a_switch_holds_is_read_by_name(net: p4cc.Network) -> None:
    assert net.switches == ["s1"]
    assert len(net.hosts) == 5
    net.run_until(150_000)
    queues, flows = net.queues(), net.flows()
    assert queues["peer"].to_list() == net.hosts
    deepest = queues.filter(pl.col("depth_pkts") > 0)
    assert deepest["peer"].to_list() == ["aggregator"]
    assert flows["state"].to_list() == ["active"] * 4
    assert (flows["acked_bytes"] < flows["size_bytes"]).all()
    assert (flows["cwnd_segments"] >= 1).all()
    cells = net.counters("s1", "level_packets")
    assert cells["packets"].sum() > 0
    assert cells["bytes"].null_count() == cells.height
    assert net.registers("s1").is_empty()
    net.insert("s1", "ecmp_seeds", {"ether_type": 0x86DD}, "set_seed", {"factor": "0x10"})
    entry = net.table("s1", "ecmp_seeds").filter(pl.col("hdr.ethernet.ether_type") == 0x86DD)
    assert entry["factor"].to_list() == [16]
    net.run()
    assert set(net.flows()["state"]) == {"complete"}


REGISTERS = """
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> kind; }
struct headers_t { h_t h; }
struct metadata_t { }
parser p(packet_in b, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { b.extract(h.h); transition accept; }
}
control none(inout headers_t h, inout metadata_t m) { apply { } }
control ingress(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    register<bit<48>>(4) last;
    register<bit<96>>(1) wide;
    direct_counter(CounterType.packets_and_bytes) hits;
    action out_of(bit<9> port) { s.egress_spec = port; last.write((bit<32>)port, s.ingress_global_timestamp); }
    table by_kind {
        key = {
            h.h.kind: ternary @name("kind"); s.ingress_port: range @name("port");
            s.packet_length: optional @name("size");
        }
        actions = { out_of; NoAction; }
        counters = hits;
    }
    apply { by_kind.apply(); wide.write(0, (bit<96>)1 << 80); }
}
control egress(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) { apply { } }
control deparser(packet_out b, in headers_t h) { apply { b.emit(h.h); } }
V1Switch(p(), none(), ingress(), egress(), none(), deparser()) main;
"""


def test_masks_ranges_direct_counters_and_registers(tmp_path: Path) -> None:
    program = tmp_path / "registers.p4"
    program.write_text(REGISTERS)
    data = small(switch={"program": str(program), "routes": "none"}, stop_ns=1_000_000)
    with p4cc.Network(data) as net:
        match: dict[str, Any] = {"kind": "7 &&& 0xf", "port": "1..2"}
        net.insert("s1", "by_kind", match, "out_of", {"port": "port(self, h3)"}, priority=5)
        net.inject("s1", b"\x17" + bytes(99), port="h1")
        net.run_for(10_000)
        (row,) = net.table("s1", "by_kind").filter(pl.col("priority") == 5).to_dicts()
        assert (row["kind"], row["port"], row["size"]) == ("7 &&& 0xf", "1..2", None)
        assert (row["out_of.port"], row["packets"], row["bytes"]) == (3, 1, 100)
        last = net.registers("s1", "last")
        assert last["value"].to_list()[3] == 0
        assert last.height == 4
        assert net.registers("s1", "wide").row(0)[1:] == (0, None, str(1 << 80))
        assert net.result().packets_received.is_empty()
        again = {name: row[name] for name in ("kind", "port")}
        net.delete("s1", "by_kind", again, priority=5)
        net.modify("s1", "by_kind", default=True, action="out_of", params={"port": 2})
        assert net.table("s1", "by_kind")["is_default"].to_list() == [True]


MISTAKES: list[tuple[Callable[[p4cc.Network], object], str]] = [
    (lambda net: net.run_until(-1), "-1 is not a time"),
    (lambda net: net.run_until(True), "True is not a time"),
    (lambda net: net.run_for(1.5), "1.5 is not a time"),  # pyright: ignore[reportArgumentType]
    (lambda net: net.run_until(50_000).run_until(40_000), "40000 ns is over"),
    (lambda net: net.inject("h9", PROBE), "there is no host \"h9\""),
    (lambda net: net.inject("h1", 5), "int is not a packet"),  # pyright: ignore[reportArgumentType]
    (lambda net: net.inject("h1", "text"), "str is not a packet"),  # pyright: ignore[reportArgumentType]
    (lambda net: net.inject("h1", b""), "it has 0 bytes"),
    (lambda net: net.inject("h1", bytes(70_000)), "it has 70000 bytes"),
    (lambda net: net.inject("h1", PROBE, priority=8), "8 is out of range"),
    (lambda net: net.inject("h1", PROBE, priority=-1), "give a number from 0 to 7"),
    (lambda net: net.inject("h1", PROBE, port=1), "h1 is not a switch"),
    (lambda net: net.inject("s1", PROBE), "ports: 1 to h1, 2 to h2"),
    (lambda net: net.inject("s1", PROBE, port=9), "s1 has no port 9"),
    (lambda net: net.run().inject("h1", PROBE), "it is over"),
    (lambda net: net.table("s2", "thresholds"), "switches: s1"),
    (lambda net: net.table("s1", "threshold"), "egress.ecn.thresholds"),
    (lambda net: net.counters("s1", "<script>"), "counters: egress.ecn.level_packets"),
    (lambda net: net.registers("s1", "r"), "registers: none"),
    (lambda net: net.modify("s1", "thresholds", {"port": 1}, params={"k": 1}), "keys: egress_port"),
    (lambda net: net.modify("s1", "thresholds", {"egress_port": 77}, params={"k": 1}), "has no such entry"),
    (lambda net: net.modify("s1", "thresholds", PORT, params={"kk": 1}), "there is no 'kk'"),
    (lambda net: net.modify("s1", "thresholds", PORT, params={"k": 1 << 19}), "needs 20 bits"),
    (lambda net: net.modify("s1", "thresholds", PORT, "no_route"), "set_thresholds"),
    (lambda net: net.modify("s1", "thresholds", {"egress_port": "h1"}, params={"k": 1}), "'h1' is not a value"),
    (lambda net: net.modify("s1", "ipv4_lpm", {"dst_addr": "10.0.0.1/32"}, params={"port": 1}), "give the action too"),
    (lambda net: net.insert("s1", "thresholds", PORT, "set_thresholds", {"k": 1, "k_dc": 2}), "ALREADY_EXISTS"),
    (lambda net: net.delete("s1", "thresholds", {"egress_port": 77}), "NOT_FOUND"),
    (lambda net: net.fork(seed=-1), "-1 is not a seed"),
]  # fmt: skip


@pytest.fixture(scope="module")
def mistaken() -> Iterator[p4cc.Network]:
    with p4cc.Network(small()) as made:
        yield made


@pytest.mark.parametrize(("call", "told"), MISTAKES)
def test_mistakes_say_what_there_is(mistaken: p4cc.Network, call: Callable[[p4cc.Network], object], told: str) -> None:
    with mistaken.fork() as net, pytest.raises(p4cc.UserError) as refused:
        call(net)
    assert told in str(refused.value)
    assert refused.value.place


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"variant": "Renoo"}, "no variant 'Renoo'"),
        ({"seed": 1 << 63}, "is not a seed"),
        ({"topology__sender": 3}, "unknown key 'sender'"),
        ({}, "variant=NAME of DCTCP, GST-DCTCP; one value for each of topology.senders"),
    ],
)
def test_a_network_is_one_run(options: dict[str, Any], told: str) -> None:
    with pytest.raises(p4cc.UserError) as refused:
        p4cc.Network("gst/incast", **options)
    assert told in str(refused.value)


@pytest.mark.parametrize("controlled", [False, True])
def test_ctrl_c_leaves_a_network_that_goes_on(controlled: bool) -> None:
    fault = {"switch": "s1", "down_ns": 8_999_000_000, "up_ns": 8_999_100_000}
    data = small(
        traffic={"kind": "bulk"},
        transport={"rwnd": 64, "rto_min_ns": 2_000_000},
        record={"windows_interval_ns": 1_000_000, "queues_interval_ns": None},
        stop_ns=9_000_000_000,
        faults=[fault] if controlled else [],
    )
    with p4cc.Network(data) as net:
        began = time.monotonic()
        with interrupted(0.4):
            net.run()
        assert time.monotonic() - began < 5
        stood_ns = net.now_ns
        assert 0 < stood_ns < 8_000_000_000
        assert not net.has_ended
        end_ns = stood_ns + 5_000_000
        net.modify("s1", "thresholds", {"egress_port": 5}, params={"k": 4})
        with net.fork() as again:
            same(again.run_until(end_ns).result(), net.run_until(end_ns).result())


def test_calls_work_where_an_event_loop_runs() -> None:
    async def cell() -> int:
        with p4cc.Network(small()) as net:
            net.run_until(100_000)
            net.modify("s1", "thresholds", PORT, params={"k": 1})
            return net.run().result().flows.height

    assert asyncio.run(cell()) == 4


def test_a_closed_network_says_so_and_notebooks_show_names_as_text() -> None:
    named = small(variants=[{**DCTCP, "name": "<script>alert(1)</script>"}])
    net = p4cc.Network(named)
    net.close()
    net.close()
    for call in (net.run, net.result, net.fork, lambda: net.table("s1", "thresholds")):
        with pytest.raises(p4cc.UserError, match="closed"):
            call()
    shown = net._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert "closed" in repr(net)
