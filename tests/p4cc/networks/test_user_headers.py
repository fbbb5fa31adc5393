"""Headers of the user's program in data packets: what switches write into them, at receivers and echoed to senders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import RENO, Ran, run, scenario

PROGRAM = Path(__file__).parents[1] / "files" / "trace.p4"
LEAVES: dict[str, Any] = {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2}
SWITCHES = ("leaf1", "leaf2", "spine1", "spine2")
TRACE: list[dict[str, Any]] = [
    {
        "type": "trace_t",
        "after": "ipv4",
        "announce": {"protocol": 150},
        "values": {"next": 17, "asked_by": "h1.ipv4"},
        "echo": True,
    },
    {"type": "record_t", "count": "trace_t.records"},
]
INCAST: dict[str, Any] = {"kind": "incast", "sru_bytes": 100_000, "sources": ["h2", "h3", "h4"], "destination": "h1"}


def own(headers: list[dict[str, Any]] | None = None, **changes: Any) -> dict[str, Any]:
    """An incast through switches that add records."""
    identities = [
        {"switch": name, "table": "identity", "action": "set_id", "params": {"id": number}, "default": True}
        for number, name in enumerate(SWITCHES, 1)
    ]
    plain = scenario(
        **{
            "topology": LEAVES,
            "switch": {"program": str(PROGRAM), "entries": identities},
            "traffic": INCAST,
            "record": {"queues_interval_ns": 1_000, "windows_interval_ns": None, "headers": {"every": 1}},
            **changes,
        }
    )
    return {**plain, "transport": {**plain["transport"], "headers": TRACE if headers is None else headers}}


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The incast with a trace in each segment."""
    return run(tmp_path_factory.mktemp("traced"), own())


def test_switches_write_into_the_headers(traced: Ran) -> None:
    headers = traced.table("headers")
    assert traced.runs[0]["flows_completed"] == 3
    receiver = headers.filter(pl.col("side") == "receiver")
    asked = receiver.filter(pl.col("field") == "asked_by")
    # A row of each field of each segment: 70 segments of 1,436 B in each flow, and what is sent again.
    assert asked.height >= 3 * 70
    assert set(asked["value"]) == {0x0A000001}
    assert set(receiver.filter(pl.col("field") == "next")["value"]) == {17}
    records = receiver.filter(pl.col("field") == "switch_id")
    ways = records.group_by("flow_id", "time_ns", maintain_order=True).agg("value")["value"]
    # Flow 1 is of h2 at the same leaf, 2 and 3 are of the other one; the last switch's record stands first.
    assert {tuple(way) for way in ways} == {(1,), (1, 3, 2)}
    depths = receiver.filter((pl.col("field") == "depth") & (pl.col("index") == 0))["value"]
    peak = traced.table("queues").filter(pl.col("peer") == "h1")["depth_pkts"].to_list()
    assert depths.max() == pytest.approx(max(peak), abs=3), "what the program wrote is the queue that was sampled"


def test_receivers_echo_what_came(traced: Ran) -> None:
    headers = traced.table("headers")
    wide = headers.with_columns(pl.col("value").cast(pl.String)).group_by(
        "flow_id", "time_ns", "side", maintain_order=True
    )
    found = wide.agg(pl.col("value").str.join(",")).sort("time_ns")
    for flow in (1, 2, 3):
        sides = {
            side: found.filter((pl.col("flow_id") == flow) & (pl.col("side") == side))["value"].to_list()
            for side in ("receiver", "sender")
        }
        assert sides["sender"] == sides["receiver"]


def test_threads_and_sampling(tmp_path: Path, traced: Ran) -> None:
    record = {"windows_interval_ns": None, "queues_interval_ns": None, "headers": {"every": 7, "max_packets": 20}}
    one = run(tmp_path, own(record=record), use_cache=False)
    two = run(tmp_path, own(record=record), threads=2, use_cache=False)
    assert one.bytes() == two.bytes()
    assert one.table("headers").height < traced.table("headers").height / 6
    assert one.runs[0]["rows_left_out"] > 0


def test_paced_flows_carry_them_too(tmp_path: Path) -> None:
    timely = {"name": "TIMELY", "rate_control": {"name": "timely"}}
    plain = own(variants=[timely], record={"headers": {}})
    plain["transport"] = {"kind": "rdma", "rto_ns": 1_000_000, "headers": TRACE}
    ran = run(tmp_path, plain)
    assert ran.runs[0]["flows_completed"] == 3
    sides = ran.table("headers").filter(pl.col("field") == "asked_by")["side"].value_counts()
    assert dict(sides.iter_rows()).keys() == {"receiver", "sender"}


def test_header_bytes_count(tmp_path: Path, traced: Ran) -> None:
    without = run(tmp_path, own([], record={}))
    for one, other in zip(
        traced.table("flows").iter_rows(named=True), without.table("flows").iter_rows(named=True), strict=True
    ):
        # 70 segments of 6 B more, at 10 Gbit/s.
        assert one["ideal_fct_ns"] - other["ideal_fct_ns"] == pytest.approx(70 * 6 * 0.8, rel=0.1)


def changed(**first: Any) -> list[dict[str, Any]]:
    return [{**TRACE[0], **first}, TRACE[1]]


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        (changed(type="nothing_t"), "headers[0].type: the program has no header type 'nothing_t'"),
        (changed(type="text_t"), "headers[0].type: it has a variable-length field"),
        (changed(type="odd_t"), "headers[0].type: header type 'odd_t' has 7 bits"),
        (changed(values={"color": 1}), "headers[0].values: trace_t has no field 'color'"),
        (changed(values={"next": 256}), "headers[0].values.next: 256 does not fit in 8 bits"),
        (changed(values={"next": -1}), "headers[0].values.next: -1 does not fit in 8 bits"),
        (changed(values={"asked_by": "h9.ipv4"}), "headers[0].values.asked_by: there is no host 'h9'"),
        (changed(values={"asked_by": "somebody"}), "'somebody' is not a number or an address"),
        (changed(announce={"ihl": True}), "headers: the IPv4 options have 6 bytes"),
        (
            [TRACE[0], {"type": "record_t", "count": "trace_t.other"}],
            "headers[1].count: 'trace_t.other' is not a field that can count headers",
        ),
        (
            [TRACE[0], {"type": "record_t", "count": "records"}],
            "headers[1].count: 'records' is not a field that can count headers",
        ),
        (
            [{**TRACE[0], "values": {"records": 255}}, {"type": "record_t", "count": "trace_t.records"}],
            "headers[1]: headers have 1026 bytes",
        ),
        (changed(after=None), "headers[0].after: the first header must follow a layer"),
        (changed(announce=None), "headers[0].announce: a parser cannot recognise a header after ipv4"),
        (changed(announce={"ethertype": 5}), "headers[0].announce: a parser cannot recognise"),
        ([TRACE[0], TRACE[0]], "headers[1].after: all headers are inserted at the same place"),
        (changed(announce={}), "exactly one of ethertype, protocol, ihl and udp_port"),
    ],
)
def test_a_mistake_has_place_and_remedy(tmp_path: Path, headers: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(UserError) as raised:
        run(tmp_path, own(headers))
    assert said in str(raised.value)
    assert "remedy: " in str(raised.value)


def test_types_of_two_programs_must_agree(tmp_path: Path) -> None:
    other = tmp_path / "other.p4"
    text = PROGRAM.read_text(encoding="utf-8")
    assert "bit<24> depth; }" in text
    other.write_text(text.replace("bit<24> depth; }", "bit<24> depth; bit<8> more; }"), encoding="utf-8")
    data = own()
    switch = {**data["switch"], "entries": [], "programs": [{"switch": "spine*", "program": str(other)}]}
    with pytest.raises(UserError, match="'record_t' has different fields in another program"):
        run(tmp_path, {**data, "switch": switch, "variants": [RENO]})


READS = """
from p4cc import RateAlgorithm, WindowAlgorithm

class Window(WindowAlgorithm):
    def start(self):
        self.depth = self.bare = self.first_depth = 0
    def observe(self, ack):
        record = ack.headers.get(("record_t", 0))
        if record is None:
            self.bare += 1
        else:
            self.depth = record["depth"]
            self.first_depth = self.first_depth or self.depth

class Rate(RateAlgorithm):
    def start(self):
        self.depth = self.bare = 0
    def on_ack(self, ack):
        record = ack.headers.get(("record_t", 0))
        self.depth, self.bare = (self.depth, self.bare + 1) if record is None else (record["depth"], self.bare)
"""


@pytest.mark.parametrize("kind", ["Window", "Rate"])
def test_algorithms_in_python_see_what_is_echoed(tmp_path: Path, kind: str) -> None:
    (tmp_path / "reads.py").write_text(READS)
    part = "congestion_avoidance" if kind == "Window" else "rate_control"
    plain = own(variants=[{"name": "Reads", part: {"python": f"reads.py:{kind}"}}])
    if kind == "Rate":
        plain["transport"] = {"kind": "rdma", "rto_ns": 1_000_000, "headers": TRACE}
    plain["record"] = {"windows_interval_ns": 1_000, "headers": {"every": 1}, "state": ["depth", "bare"]}
    ran = run(tmp_path, plain)
    state, headers = ran.table("algorithm_state"), ran.table("headers")
    echoed = headers.filter((pl.col("side") == "sender") & (pl.col("field") == "depth") & (pl.col("index") == 0))
    seen = state.filter(pl.col("name") == "depth")["value"]
    assert echoed.height > 100
    assert set(seen) <= {0, *echoed["value"]}
    assert max(seen) == max(echoed["value"]) != 0
    assert state.filter(pl.col("name") == "bare")["value"].max() == 0, "each ACK echoes the headers of its packet"
