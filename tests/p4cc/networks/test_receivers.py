"""Receivers that let senders send (docs/algorithms/receivers.md): NDP's, and a user's class."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc.errors import UserError
from tests.p4cc.scenarios import ROOT, Ran, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

RATE_BPS, PACKET_BYTES, PAYLOAD_BYTES = 10_000_000_000, 1_064, 1_000
SENDERS, PACKETS = 8, 150
LEAST_NS = SENDERS * PACKETS * PACKET_BYTES * 8e9 / RATE_BPS
"""What the line of the receiver needs for all packets once."""
NDP: dict[str, Any] = {"name": "NDP", "rate_control": {"name": "fixed"}, "receiver": {"name": "ndp"}}
MINE = '''
from p4cc import ReceiverAlgorithm, number


class Echo(ReceiverAlgorithm):
    """Asks for as many bytes as arrive."""

    packets = number(8, min=1, max=100, unit="packets", summary="first window")

    def start(self):
        self.unasked_bytes = int(self.packets) * self.payload_bytes

    def on_arrival(self, arrival):
        self.acknowledge()
        self.pull(arrival.flow, arrival.bytes)


class Granting(ReceiverAlgorithm):
    """Grants a window ahead of what arrives, from a timer, in a traffic class."""

    def start(self):
        self.ends = {}
        self.done = []

    def on_arrival(self, arrival):
        end = max(self.ends.get(arrival.flow, 0), arrival.end)
        self.ends[arrival.flow] = end
        self.timer_ns = arrival.now_ns + 100

    def on_complete(self, now_ns, flow):
        self.done.append(flow)
        self.ends.pop(flow, None)

    def on_timer(self, now_ns):
        for flow in sorted(self.ends):
            self.grant(flow, self.ends[flow] + 10 * self.payload_bytes, priority=3)


class Late(Echo):
    """Sets its first window when it is over."""

    def on_arrival(self, arrival):
        self.unasked_bytes = 1


class Generous(ReceiverAlgorithm):
    """Grants all that a number can say."""

    def start(self):
        self.unasked_bytes = self.payload_bytes

    def on_arrival(self, arrival):
        self.grant(arrival.flow, 2**64 - 1)


class Stranger(Echo):
    """Names a flow of another host."""

    def on_arrival(self, arrival):
        self.pull(99, 1)
'''


def incast(**changes: Any) -> dict[str, Any]:
    star = {"kind": "star", "senders": SENDERS, "rate_bps": RATE_BPS, "rtt_ns": 8_000, "queue_capacity_pkts": 1_000}
    return scenario(
        **{
            "topology": star,
            "switch": {
                "program": "p4src/v1model/trim.p4",
                "ecn_profile": "rfc3168",
                "deflect_on_drop": True,
                "queue_capacity_bytes": 8 * PACKET_BYTES,
            },
            "traffic": {"kind": "incast", "sru_bytes": PACKETS * PAYLOAD_BYTES},
            "transport": {"kind": "rdma", "recovery": "selective_repeat", "rto_ns": 2_000_000},
            "variants": [NDP],
            "stop_ns": 50_000_000,
            "record": {"windows_interval_ns": None, "queues_interval_ns": None},
            **changes,
        }
    )


def own(folder: Path, name: str, **parameters: float) -> dict[str, Any]:
    (folder / "mine.py").write_text(MINE, encoding="utf-8")
    return {**NDP, "name": name, "receiver": {"python": f"mine.py:{name}", **parameters}}


def finish_ns(ran: Ran) -> float:
    flows = ran.table("flows")
    assert flows["finish_ns"].null_count() == 0
    return float(flows["finish_ns"].max())  # pyright: ignore[reportArgumentType]


def test_an_incast_fills_the_line_and_ends_together(tmp_path: Path) -> None:
    ran = run(tmp_path, incast())
    flows = ran.table("flows")
    end_ns = finish_ns(ran)
    assert flows["timeouts"].sum() == 0
    # The first windows overflow the queue; afterwards the line is full of what is pulled.
    assert flows["retransmitted_pkts"].sum() > 10
    assert LEAST_NS < end_ns < 1.05 * LEAST_NS + 16_000
    fct = flows["fct_ns"]
    assert fct.min() > 0.9 * fct.max(), "flows take turns"  # pyright: ignore[reportOperatorIssue, reportOptionalOperand]
    # Senders alone at the line rate trim nearly everything again and again.
    alone = run(tmp_path, incast(variants=[{"name": "alone", "rate_control": {"name": "fixed"}}]))
    assert alone.table("flows")["retransmitted_pkts"].sum() > 4 * flows["retransmitted_pkts"].sum()


@pytest.mark.parametrize("name", ["eqds", "rccc"])
def test_credit_for_what_is_asked_fills_the_line(tmp_path: Path, name: str) -> None:
    ran = run(tmp_path, incast(variants=[{**NDP, "receiver": {"name": name}}]))
    flows = ran.table("flows")
    assert flows["timeouts"].sum() == 0
    assert flows["retransmitted_pkts"].sum() > 10
    # The rest of the first windows is void, so credit takes a trip and a half to come; the line is at 0.99.
    assert LEAST_NS < finish_ns(ran) < 1.06 * LEAST_NS + 24_000
    fct = flows["fct_ns"]
    assert fct.min() > 0.9 * fct.max(), "flows take turns"  # pyright: ignore[reportOperatorIssue, reportOptionalOperand]


def test_a_sender_may_have_a_window_and_credit(tmp_path: Path) -> None:
    """NSCC beside RCCC, as in uet-htsim: the window alone builds a queue that credit does not."""
    switch = {"program": "p4src/v1model/ecn_red_spray.p4", "ecn_profile": "rfc3168"}
    both = {"name": "both", "rate_control": {"name": "nscc"}, "receiver": {"name": "rccc"}}
    ran = run(tmp_path, incast(switch=switch, variants=[both, {"name": "window", "rate_control": {"name": "nscc"}}]))
    flows = ran.table("flows")
    assert flows["timeouts"].sum() == 0
    assert flows["retransmitted_pkts"].sum() == 0
    of = {name: flows.filter(pl.col("variant") == name)["fct_ns"] for name in ("both", "window")}
    for name, fct in of.items():
        assert LEAST_NS < fct.max() < 1.1 * LEAST_NS + 24_000, name  # pyright: ignore[reportOperatorIssue, reportOptionalOperand]


def test_a_pause_of_the_application_costs_a_request(tmp_path: Path) -> None:
    """Data that comes when there is no credit is asked for at once, not after a timeout."""
    rounds = {"kind": "rounds", "sru_bytes": 20 * PAYLOAD_BYTES, "rounds": 5}
    variant = {"name": "eqds", "rate_control": {"name": "fixed"}, "receiver": {"name": "eqds"}}
    ran = run(tmp_path, incast(traffic=rounds, variants=[variant]))
    assert ran.runs[0]["outcome"] == "finished"
    assert ran.table("flows")["timeouts"].sum() == 0


@pytest.mark.parametrize("name", ["ndp", "eqds", "rccc"])
def test_a_second_thread_changes_no_byte(tmp_path: Path, name: str) -> None:
    tree = {"kind": "fat_tree", "k": 4, "rate_bps": RATE_BPS, "delay_ns": 1_000, "queue_capacity_pkts": 1_000}
    of: dict[str, list[str]] = {"h12": ["h1", "h2"], "h13": ["h3", "h4", "h5"], "h16": ["h6", "h7", "h8"]}
    items = [
        {"kind": "incast", "name": to, "sources": sources, "destination": to, "sru_bytes": 40 * PAYLOAD_BYTES}
        for to, sources in of.items()
    ]
    tables: list[dict[str, bytes]] = []
    for threads in (1, 2):
        folder = tmp_path / str(threads)
        folder.mkdir()
        variant = {**NDP, "receiver": {"name": name}}
        changes = {"topology": tree, "traffic": items, "variants": [variant]}
        ran = run(folder, incast(**changes), use_cache=False, threads=threads)
        assert ran.table("flows")["retransmitted_pkts"].sum() > 0
        tables.append(ran.bytes())
    assert tables[0] == tables[1]


def test_a_class_lets_send_as_the_engines_receivers_do(tmp_path: Path) -> None:
    echo = run(tmp_path, incast(variants=[own(tmp_path, "Echo")]))
    # Headers of packets that are too many at a time take a third of the line: so NDP paces its pulls.
    assert LEAST_NS < finish_ns(echo) < 1.5 * LEAST_NS
    granted = run(tmp_path, incast(variants=[own(tmp_path, "Granting")]))
    assert finish_ns(granted) < 2 * LEAST_NS


def test_a_class_that_names_a_stranger_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"(?s)Stranger, host \d+ at \d+ ns.*flow 99 has not arrived here"):
        run(tmp_path, incast(variants=[own(tmp_path, "Stranger")]))


def test_a_first_window_that_comes_too_late_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"unasked_bytes is fixed when the run has begun; set it in start"):
        run(tmp_path, incast(variants=[own(tmp_path, "Late")]))


def test_a_grant_without_bound_lets_all_be_sent(tmp_path: Path) -> None:
    assert finish_ns(run(tmp_path, incast(variants=[own(tmp_path, "Generous")]))) > LEAST_NS


@pytest.mark.parametrize(
    ("variant", "text"),
    [
        ({"receiver": {"name": "npd"}}, r"(?s)variants\[0\]\.receiver\.name: unknown algorithm .*did you mean .ndp"),
        ({"receiver": {"name": "ndp", "pull_rate": 3}}, r"variants\[0\]\.receiver\.pull_rate: 3 is out of range"),
        ({"receiver": {"name": "fixed"}}, r"fixed.* is an algorithm for rate_control, not for receiver"),
        ({"receiver": {"name": "ndp", "first_window_packets": 0.5}}, r"first_window_packets: 0\.5 is not a whole numb"),
        ({"transport": {"recovery": "go_back_n"}}, r"(?s)variants\[0\]\.receiver: .*recovery: selective_repeat"),
    ],
)
def test_what_does_not_fit_is_refused_at_its_place(tmp_path: Path, variant: dict[str, Any], text: str) -> None:
    with pytest.raises(UserError, match=text):
        run(tmp_path, incast(variants=[{**NDP, **variant}]))


def test_a_receiver_needs_a_timeout(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"(?s)receiver: .*no timeout.*give rto_ns"):
        run(tmp_path, incast(transport={"kind": "rdma", "recovery": "selective_repeat"}))


def test_a_receiver_needs_a_paced_sender(tmp_path: Path) -> None:
    sender = {"name": "x", "congestion_avoidance": {"name": "reno"}, "receiver": {"name": "ndp"}}
    with pytest.raises(UserError, match="give rate_control"):
        run(tmp_path, incast(variants=[sender]))


def test_a_receiver_is_named_as_a_variant(tmp_path: Path) -> None:
    ran = run(tmp_path, incast(), "variant=ndp")
    assert ran.table("flows")["variant"].unique().to_list() == ["ndp"]
    assert finish_ns(ran) < 1.05 * LEAST_NS + 16_000


def test_two_receivers_of_one_host_are_refused(tmp_path: Path) -> None:
    other = {"receiver": {"name": "ndp", "pull_rate": 0.5}, "rate_control": {"name": "fixed"}}
    items = [
        {"kind": "incast", "name": "one", "sru_bytes": 1_000},
        {"kind": "incast", "name": "two", "sru_bytes": 1_000, "sender": other},
    ]
    with pytest.raises(UserError, match="the same receiver"):
        run(tmp_path, incast(traffic=items))


def test_one_receiver_is_told_one_packet_size(tmp_path: Path) -> None:
    other = {"receiver": {"name": "ndp"}, "rate_control": {"name": "fixed"}, "transport": {"mss_bytes": 500}}
    items = [
        {"kind": "incast", "name": "one", "sru_bytes": 1_000},
        {"kind": "incast", "name": "two", "sru_bytes": 1_000, "sender": other},
    ]
    with pytest.raises(UserError, match=r"(?s)have another mss_bytes, too.*the same mss_bytes"):
        run(tmp_path, incast(traffic=items))


def test_homa_serves_the_shortest_message_first(tmp_path: Path) -> None:
    """Messages to one receiver end in the order of their sizes, each soon after all that are shorter have been sent."""
    sizes = [PAYLOAD_BYTES * packets for packets in (600, 100, 400, 200, 800, 300)]
    bulk = [
        {
            "kind": "bulk",
            "name": f"m{number}",
            "sources": [f"h{number}"],
            "destinations": ["aggregator"],
            "size_bytes": size,
        }
        for number, size in enumerate(sizes, 1)
    ]
    classes = [{**one, "priority": 6} for one in bulk]
    switch = {"program": "p4src/v1model/ack_priority.p4", "ecn_profile": "rfc3168"}
    homa = {"python": str(ROOT / "experiments/own_algorithms/homa.py:Homa"), "overcommitment": 4}
    variants = [{**NDP, "name": "Homa", "receiver": homa}, NDP]
    flows = run(tmp_path, incast(switch=switch, traffic=classes, variants=variants)).table("flows")
    of = {name: flows.filter(pl.col("variant") == name).sort("size_bytes") for name in ("Homa", "NDP")}
    assert flows["retransmitted_pkts"].sum() == 0
    times = of["Homa"].select("size_bytes", "fct_ns").rows()
    # What was granted last is not taken back: a message may wait for the next longer one, never for others.
    first_windows_ns = 80 * PACKET_BYTES * 8e9 / RATE_BPS
    sums = list(accumulate(size * PACKET_BYTES / PAYLOAD_BYTES * 8e9 / RATE_BPS for size, _ in times))
    for (size, fct_ns), least_ns, next_ns in zip(times, sums, [*sums[1:], sums[-1]], strict=True):
        assert least_ns < fct_ns < 1.05 * next_ns + first_windows_ns, size
    mean = {name: float(rows["fct_ns"].mean()) for name, rows in of.items()}  # pyright: ignore[reportArgumentType]
    assert mean["Homa"] < 0.75 * mean["NDP"]


def test_homa_in_the_highest_classes_lets_no_longer_message_by(tmp_path: Path) -> None:
    """By default a grant to the only message known is of the lowest class, and its data waits for those that follow."""
    sizes = [PAYLOAD_BYTES * packets for packets in (20, 72, 36, 28, 84, 48, 60, 96)]
    # The shortest message is alone when it gets its grants.
    starts_ns = [0, *([5_000] * 7)]
    bulk: list[dict[str, Any]] = [
        {
            "kind": "bulk",
            "name": f"m{number}",
            "sources": [f"h{number}"],
            "destinations": ["aggregator"],
            "size_bytes": size,
            "start_ns": start_ns,
            "priority": 6,
        }
        for number, (size, start_ns) in enumerate(zip(sizes, starts_ns, strict=True), 1)
    ]
    switch = {"program": "p4src/v1model/ack_priority.p4", "ecn_profile": "rfc3168"}
    homa = {"python": str(ROOT / "experiments/own_algorithms/homa.py:Homa"), "overcommitment": 4}
    variants = [
        {**NDP, "name": name, "receiver": {**homa, "from_top": from_top}} for name, from_top in (("low", 0), ("top", 1))
    ]
    flows = run(tmp_path, incast(switch=switch, traffic=bulk, variants=variants)).table("flows")
    of = {
        name: flows.filter(pl.col("variant") == name).sort("finish_ns")["size_bytes"].to_list()
        for name in ("low", "top")
    }
    assert of["top"] == sorted(sizes)
    assert of["low"] != sorted(sizes)


def test_homa_acknowledges_as_rarely_as_the_transport_does(tmp_path: Path) -> None:
    """It has no ACK for each packet: where credit waits at a sender, little but a grant for each goes back."""
    bulk: list[dict[str, Any]] = [
        {"kind": "bulk", "name": f"m{number}", "sources": ["h1"], "destinations": ["aggregator"], "priority": 6}
        for number in range(SENDERS)
    ]
    traffic = [{**one, "size_bytes": PACKETS * PAYLOAD_BYTES} for one in bulk]
    transport = {"kind": "rdma", "recovery": "selective_repeat", "rto_ns": 5_000_000}
    transport |= {"ack_every": 64, "ack_delay_ns": 1_000_000}
    homa = {"python": str(ROOT / "experiments/own_algorithms/homa.py:Homa")}
    switch = {"program": "p4src/v1model/ack_priority.p4", "ecn_profile": "rfc3168"}
    variants = [{**NDP, "name": "Homa", "receiver": homa}]
    ran = run(tmp_path, incast(switch=switch, transport=transport, traffic=traffic, variants=variants))
    assert ran.table("flows")["retransmitted_pkts"].sum() == 0
    finish_ns(ran)
    back = ran.table("ports").filter(pl.col("peer") == "aggregator")["rx_pkts"].sum()
    assert back < 1.2 * SENDERS * PACKETS
