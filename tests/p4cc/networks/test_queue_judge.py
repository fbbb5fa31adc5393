"""Departures of a port's queues, packet by packet, compared with ns.py 0.4.3 (PyPI)."""

# Scapy has no types.
# pyright: basic

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from tests.p4cc.scenarios import run, scenario

if TYPE_CHECKING:
    from pathlib import Path

LINE_BPS = 1_000_000_000
ACCESS_BPS = 800_000_000_000
"""100 bytes take 1 ns, so a packet arrives at the switch a whole number of nanoseconds after it was sent."""
DELAY_NS = 1_000


def sent() -> list[tuple[int, int, int]]:
    """Class, bytes and time of 60 packets that fill 94 % of the line in bursts and gaps."""
    packets, at_ns = [], 0
    for nth in range(60):
        packets.append((1 + nth * 5 % 3, 100 * (2 + nth * 7_919 % 13), at_ns))
        at_ns += 101 + (nth * nth * 37 % 9_001 if nth % 7 else 20_011)
    return packets


def departures(
    folder: Path, packets: list[tuple[int, int, int]], queues: list[dict[str, Any]] | None, **scheduler: Any
) -> list[tuple[int, int]]:
    """Number of each packet, and when its last bit has left the switch, in the order in which they arrive."""
    frames = []
    for nth, (priority, size_bytes, at_ns) in enumerate(packets):
        # From IP on, which is what a link counts: IP, UDP and a payload that begins with the number.
        payload = nth.to_bytes(2, "big") + bytes(size_bytes - 30)
        frame = Ether() / IP(src="10.0.0.1", dst="10.0.0.2", tos=priority << 5) / UDP(sport=9, dport=9) / Raw(payload)
        frame.time = at_ns / 1e9
        frames.append(frame)
    wrpcap(str(folder / "sent.pcap"), frames, nano=True)
    links = [
        {"a": host, "b": "s1", "rate_bps": rate, "delay_ns": DELAY_NS, "queue_capacity_pkts": 1_000}
        for host, rate in (("h1", ACCESS_BPS), ("h2", LINE_BPS))
    ]
    switch: dict[str, Any] = {"program": "p4src/v1model/ack_priority.p4", "ecn_profile": "rfc3168"}
    if queues is not None:
        switch["schedulers"] = [{"to": "h2", "queues": queues, **scheduler}]
    data = scenario(
        topology={
            "kind": "custom",
            "hosts": [{"name": "h1"}, {"name": "h2"}],
            "switches": [{"name": "s1"}],
            "links": links,
        },
        switch=switch,
        traffic={
            "kind": "replay",
            "source": "h1",
            "pcap": "sent.pcap",
            "addresses": {"10.0.0.1": "h1", "10.0.0.2": "h2"},
        },
        stop_ns=10_000_000,
        record={"packets_received": {"hosts": ["h2"]}},
    )
    received = run(folder, data).table("packets_received")
    return [
        (int.from_bytes(bytes(Ether(bytes.fromhex(data))[Raw])[:2], "big"), time_ns - 2 * DELAY_NS)
        for data, time_ns in received.select("bytes", "time_ns").iter_rows()
    ]


THEIR_ORDER = """
    0 1 4 7 2 5 8 10 11 13 3 14 6 9 12 16 19 17 20 22 15 23 25 26 18 28 21 24 29 27 31 32 34 35 30 33 36
    37 38 40 41 39 42 43 44 46 45 49 47 48 50 51 52 53 54 55 56 57 58 59
"""
THEIR_TIMES_NS = """
    1602 23316 31316 33716 38516 48116 52116 59316 68116 69716 76116 79316 90516 96116 106516 112916
    124116 132116 134516 140116 144916 152116 162516 164116 173716 178516 182516 191316 197716 200916
    210516 221716 225716 231316 239316 241716 249829 258629 269029 272229 277029 278629 285029 304022
    313622 316022 327222 334422 338422 344022 353736 364136 365736 368936 373736 380136 388136 402725
    413925 416325
"""
"""`SPServer` of ns.py at 1 Gb/s, priorities 1 to 3: packets by number, and when each was sent."""


def test_strict_priority_sends_when_another_implementation_does(tmp_path: Path) -> None:
    theirs = zip(map(int, THEIR_ORDER.split()), map(int, THEIR_TIMES_NS.split()), strict=True)
    assert departures(tmp_path, sent(), None) == list(theirs)


THEIR_SHAPED_TIMES_NS = """
    8010 28122 36122 44122 52122 60122 68122 88122 108122 128122 148122 168122 188122 208122 228122
    248122 268122 288122 308122 328122 348122 368122 388122 408122 428122 448122 468122 488122 508122
    528122 548122 568122 588122 608122 628122 648122 668122 688122 708122 728122 748122 768122 788122
    808122 828122 848122 868122 888122 908122 928122 948122 968122 988122 1008122 1028122 1048122
    1068122 1088122 1108122 1128122
"""
"""`TokenBucketShaper` of ns.py as in the test below: when each packet of 1,000 B was sent."""


def test_a_shaped_queue_sends_when_another_implementation_does(tmp_path: Path) -> None:
    """`TokenBucketShaper` of ns.py: 0.4 Gb/s with a peak of 1 Gb/s, 4,000 B of tokens, packets of 1,000 B.

    It waits for all tokens of a packet, ours for the first (docs/algorithms/queues.md#shaping), so its bucket is a
    packet larger.
    """
    queue = {"queue": 1, "rate_bps": 400_000_000, "burst_bytes": 3_000}
    same_size = [(1, 1_000, at_ns) for _, _, at_ns in sent()]
    ours = [at_ns for _, at_ns in departures(tmp_path, same_size, [queue])]
    assert ours == [int(time_ns) for time_ns in THEIR_SHAPED_TIMES_NS.split()]


THEIR_TURNS = "122233122233122233122233122233122233122331331331331111111111"
"""`DRRServer` of ns.py, quantum 1,500 B, weights 1, 3 and 2: the queue of each of 60 packets of 1,500 B."""


def test_turns_by_packets_have_the_order_of_another_implementation(tmp_path: Path) -> None:
    """`DRRServer` of ns.py with packets of one size and a quantum of that size: turns count packets."""
    # The first packet occupies the port until all others wait.
    packets = [(0, 1_400, 0), *((1 + nth % 3, 100 * (2 + nth * 7_919 % 13), 20 * (nth + 1)) for nth in range(60))]
    queues = [{"queue": queue, "level": 1, "weight": weight} for queue, weight in ((1, 1), (2, 3), (3, 2))]
    ours = departures(tmp_path, packets, queues, unit="packets")
    order = "".join(str(packets[nth][0]) for nth, _ in ours[1:])
    assert order == THEIR_TURNS
