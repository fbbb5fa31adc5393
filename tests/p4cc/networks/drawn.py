"""Valid scenarios drawn at random: every sender, program, shape, buffer, segment size, line rate and kind of fault.

One number gives one scenario, on every machine. What p4cc refuses is not drawn: a refusal of a drawn scenario is an
error, of p4cc or of this file.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from p4cc.algorithms import registry
from topos import generate, topology_from_plain

if TYPE_CHECKING:
    from p4cc.algorithms import Algorithm
    from topos import Topology

Plain = dict[str, Any]
_RATES = (10e6, 100e6, 1e9, 10e9, 25e9, 40e9, 100e9, 200e9, 400e9, 800e9, 1.6e12)
_DELAYS_NS = (1, 10, 500, 1_000, 5_000, 50_000, 2_000_000)
_SEGMENTS = (256, 512, 1_000, 1_436, 4_096, 8_000, 9_000)
_NS: Plain = {"timestamp_unit": "ns"}
_BYTES: Plain = {**_NS, "qdepth_unit": "bytes_80B"}
_PROGRAMS: dict[str, tuple[tuple[str, Plain], ...]] = {
    "none": (("ecn_dual", {}), ("ack_priority", {}), ("ecn_red", {**_BYTES, "ecn_profile": "rfc3168"})),
    "one_ecn_threshold": (("ecn_dual", {}),),
    "two_ecn_thresholds": (("ecn_dual", {}),),
    "random_ecn": (("ecn_red", {**_BYTES, "ecn_profile": "rfc3168"}),),
    "telemetry": (("int_hpcc", _BYTES), ("int_fixed", _BYTES)),
    "rate_allocation": (("d3", _NS),),
    "fair_rate": (("rcp", _NS),),
    "queue_notices": (("bolt", _BYTES),),
    "path_utilisation": (("pint", _BYTES),),
    "l4s_marks": (("dualpi2", {**_NS, "ecn_profile": "rfc3168"}),),
}
"""Programs that do what an algorithm needs of switches, and fields of `switch` that they need."""
_MARKED_BY = {"reno_ecn": ("sce", "rfc3168"), "cubic_ecn": ("sce", "rfc3168"), "gst": ("gst", "sce")}
"""Profiles of algorithms that not every one serves."""
_OF_ONE_PATH = {"telemetry", "rate_allocation", "fair_rate", "queue_notices", "path_utilisation"}
"""Needs of paced senders that cannot choose paths."""
_BY_SEGMENT = {"timely", "dcqcn", "fixed", "hpcc", "dctcp_rate"}
"""Paced senders whose pace does not follow from the round-trip times of packets."""
_LEAST_GRANTED_BPS, _MOST_GRANTED_BPS = 1_000_000_000, 100_000_000_000
HOUR_NS = 3_600_000_000_000


def drawn(number: int) -> Plain:
    """The scenario of a number."""
    random, wider = Random(number), Random(f"wider {number}")
    rate_bps = int(random.choice(_RATES))
    topology = _topology(random, rate_bps)
    shape_fields = {name: value for name, value in topology.items() if name != "kind"}
    graph = generate(topology["kind"], shape_fields)
    capacity_pkts = topology["queue_capacity_pkts"]
    if wider.random() < 0.3:
        topology = _widened(wider, graph, 4 * rate_bps)
        graph = topology_from_plain({name: value for name, value in topology.items() if name != "kind"})
    if (linked := Random(f"links {number}")).random() < 0.2:
        topology = _with_more_links(linked, graph)
        graph = topology_from_plain({name: value for name, value in topology.items() if name != "kind"})
    rtt_ns = 2 * sum(link.delay_ns for link in graph.links) + int(80 * 12_000e9 / rate_bps)
    is_paced = random.random() < 0.6
    variant, switch, transport = (_paced if is_paced else _window)(random, rate_bps)
    may_be_driven = transport.get("recovery") == "selective_repeat" and not graph.has_several_links
    if may_be_driven and (driven := Random(f"driven {number}")).random() < 0.3:
        receiver = driven.choice(_algorithms("receiver"))
        variant["receiver"] = {"name": receiver.name, "first_window_packets": driven.choice((0, 1, 10))}
    paths = Random(f"paths {number}")
    control = variant.get("rate_control", {}).get("name")
    needs = next((row.switch_needs for row in _algorithms("rate_control") if row.name == control), None)
    if transport.get("recovery") == "selective_repeat" and needs not in _OF_ONE_PATH and paths.random() < 0.3:
        transport |= {
            "entropy": paths.choice(("oblivious", "bitmap", "reps")),
            "entropy_values": 2 ** paths.randint(0, 9),
        }
    switch["thresholds"] = _thresholds(random, capacity_pkts)
    hosts = [host.name for host in graph.hosts]
    traffic, total_bytes = _traffic(random, rate_bps, hosts, transport["mss_bytes"])
    items = [traffic]
    if random.random() < 0.5:
        traffic["priority"] = random.randrange(7)
        if wider.random() < 0.5:
            more, total_bytes = _more_traffic(wider, rate_bps, hosts, transport["mss_bytes"], total_bytes)
            items += more
        buffer = _buffer(random, items, rate_bps * 4 * max(link.delay_ns for link in graph.links))
        switch.update({"buffer": buffer} if buffer else {})
    if any(item["kind"] in ("rounds", "collective") for item in items):
        # What is written piece by piece is not read.
        transport.pop("reads", None)
    if wider.random() < 0.3:
        switch["ecmp_weights"] = "capacity"
    slowed = _scheduled(wider, switch, rate_bps) if wider.random() < 0.4 else 0
    goes_back = variant.get("rate_control", {}).get("name") not in ("d3", "rcp_dc")
    slow, card_ns = _cards(Random(f"cards {number}"), graph, switch, transport, is_paced=is_paced, goes_back=goes_back)
    jitter_ns = random.choice((0, 0, 100, 10_000))
    faults = _faults(random, sorted({(link.a, link.b) for link in graph.links}), rtt_ns)
    # Longer than any queue here lasts, so that what is repeated was lost.
    queue_ns = max(1, slowed) * int(capacity_pkts * 8e9 * (transport["mss_bytes"] + 128) / rate_bps) + card_ns
    noise_ns = jitter_ns + transport.get("host_delay_exp_ns", 0) + transport.get("rtt_noise_exp_ns", 0)
    busy_ns = max(1, slowed, 4 * len(slow)) * int(8e9 * total_bytes / rate_bps)
    # `dualpi2.p4` serves L4S packets first as long as there are any: ACKs, which are classic, wait for
    # all of them. So do packets of queues that come last, or whose turns are rare, and ACKs of requests
    # behind what their host sends.
    answers = any(item["kind"] in ("rounds", "collective") for item in items)
    is_starved = switch["program"].endswith("dualpi2.p4") or slowed or answers or len(items) > 1
    starved_ns = (4 if slowed else 1) * busy_ns if is_starved else 0
    rto_ns = min(4 * rtt_ns + 6 * queue_ns + 100 * noise_ns + starved_ns, HOUR_NS)
    if is_paced:
        transport["rto_ns"] = rto_ns
    else:
        transport.update(rto_min_ns=rto_ns, rto_init_ns=rto_ns, rto_max_ns=min(8 * rto_ns, HOUR_NS))
    # Each window may wait for a delayed ACK, half of a timeout.
    windows = 0 if is_paced else total_bytes // transport["mss_bytes"] // transport["rwnd"]
    return {
        "name": f"drawn-{number}",
        "topology": topology,
        "switch": switch,
        "traffic": items,
        "transport": transport,
        "variants": [{"name": "sender", **variant}],
        "faults": faults,
        **({"slow_receivers": slow} if slow else {}),
        "host_jitter_ns": jitter_ns,
        "seeds": [number + 1],
        "stop_ns": min(HOUR_NS, 1_000 * busy_ns + (2_000 + windows) * rto_ns),
        "record": {"windows_interval_ns": None, "queues_interval_ns": None},
    }


def _cards(
    random: Random, graph: Topology, switch: Plain, transport: Plain, *, is_paced: bool, goes_back: bool
) -> tuple[list[Plain], int]:
    """Network cards: one host that takes packets slowly, and how paced receivers answer; the longest wait there."""
    if random.random() < 0.7:
        return [], 0
    longest_ns = 0
    if is_paced:
        ack_bytes = random.choice((1_500, 10_000, 100_000))
        if goes_back and "recovery" not in transport and "segment_bytes" not in transport:
            transport.update(recovery="go_back_0", message_bytes=random.choice((4_000, 64_000)))
        notifies = transport.get("notification") == "packet"
        if notifies:
            transport["cnp_scope"] = random.choice(("flow", "destination", "port"))
        if not transport.get("reads"):
            longest_ns = random.choice((0, 500, 5_000))
            transport.update(ack_bytes=ack_bytes, ack_processing_ns=longest_ns)
            transport.update({"cnp_processing_ns": longest_ns} if notifies else {})
    if random.random() < 0.5:
        return [], longest_ns
    # Slow receivers have one link.
    single = [host for host, ends in graph.interfaces.items() if len(ends) == 1]
    if not single:
        return [], longest_ns
    host = random.choice(single)
    (link,) = [link for link in graph.links if host in (link.a, link.b)]
    buffer: Plain = switch.get("buffer") or {}
    priorities = len(buffer.get("lossless_priorities", ""))
    size = 100_000 + priorities * (40_000 + 4 * link.rate_bps * link.delay_ns // 8_000_000_000)
    receive_bps = link.rate_bps // random.choice((2, 3, 4))
    slow = {"host": host, "receive_rate_bps": receive_bps, "buffer_bytes": size}
    return [slow], longest_ns + int(8e9 * size / receive_bps)


def _widened(random: Random, graph: Topology, most_bps: int) -> Plain:
    """The graph with several links between some switches, and faster ones; links of two switches are of one kind."""
    plain = graph.to_plain()
    switches = {switch.name for switch in graph.switches}
    links: list[Plain] = []
    for link in graph.links:
        one: Plain = link.model_dump(exclude_none=True, exclude={"a_port", "b_port"})
        is_inner = {link.a, link.b} <= switches
        if is_inner and random.random() < 0.3:
            faster_bps = min(most_bps, 1_600_000_000_000, one["rate_bps"] * random.choice((2, 3, 4)))
            one["rate_bps"] = max(one["rate_bps"], faster_bps)
        links += [one] * (random.choice((1, 2, 2, 3, 4)) if is_inner else 1)
    return {"kind": "custom", "hosts": plain["hosts"], "switches": plain["switches"], "links": links}


def _with_more_links(random: Random, graph: Topology) -> Plain:
    """The graph with more links of some hosts, to their own switch or to others."""
    plain = graph.to_plain()
    links: list[Plain] = [link.model_dump(exclude_none=True, exclude={"a_port", "b_port"}) for link in graph.links]
    for host, (home, port) in graph.attachments.items():
        first: Plain = {**graph.links[port.link_index].model_dump(exclude_none=True, exclude={"a_port", "b_port"})}
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            switch = random.choice(graph.switch_names)
            links.append({**first, "a": host, "b": home if random.random() < 0.2 else switch})
    return {"kind": "custom", "hosts": plain["hosts"], "switches": plain["switches"], "links": links}


def _scheduled(random: Random, switch: Plain, rate_bps: int) -> int:
    """Gives some ports levels, turns and rates; returns how many times slower than a link their queues may be."""
    slowed = 1
    switch["schedulers"] = schedulers = list[Plain]()
    for _ in range(random.choice((1, 1, 2))):
        queues: list[Plain] = []
        for queue in sorted(random.sample(range(8), random.randint(1, 8))):
            settings: Plain = {"queue": queue}
            if random.random() < 0.7:
                settings["level"] = random.choice((0, 3, 7))
            if random.random() < 0.7:
                settings["weight"] = random.choice((1, 2, 10, 1_023))
            if random.random() < 0.3:
                slower = random.choice((1, 2, 4))
                slowed = max(slowed, slower)
                settings["rate_bps"] = rate_bps // slower
                settings["burst_bytes"] = random.choice((0, 1, 1_500, 100_000))
            queues.append(settings)
        unit = {"unit": "packets"} if random.random() < 0.3 else {"quantum_bytes": random.choice((256, 1_538, 1 << 20))}
        schedulers.append({"to": random.choice(("*", "*", "h*", "s*")), **unit, "queues": queues})
    return slowed


def _more_traffic(
    random: Random, rate_bps: int, hosts: list[str], segment_bytes: int, total_bytes: int
) -> tuple[list[Plain], int]:
    """Traffic of other classes, and the bytes of all."""
    items: list[Plain] = []
    for at in range(random.randint(1, 2)):
        item, item_bytes = _traffic(random, rate_bps, hosts, segment_bytes)
        items.append({"name": f"more{at}", **item, "priority": random.randrange(7)})
        total_bytes += item_bytes
    return items, total_bytes


def _buffer(random: Random, items: list[Plain], way_ns_bits: int) -> Plain | None:
    """A shared buffer, lossless or not; `way_ns_bits` are the bits on the way of a fast link, times 10^9."""
    if random.random() < 0.7:
        # Room for what is on the way when each port of a switch is paused.
        priorities = sorted({item["priority"] for item in items})
        on_way_bytes = int(way_ns_bits / 8e9) + (1 << 20)
        return {"bytes": 32 * len(priorities) * on_way_bytes, "lossless_priorities": priorities}
    return {"bytes": 1 << 20, "lossless_priorities": []} if random.random() < 0.5 else None


def _topology(random: Random, rate_bps: int) -> Plain:
    delay_ns = random.choice(_DELAYS_NS)
    rtt_ns = 12 * delay_ns
    core_bps = max(10_000_000, min(1_600_000_000_000, int(rate_bps * random.choice((0.25, 1, 4)))))
    shape: Plain = random.choice(
        (
            {"kind": "star", "senders": random.randint(1, 8), "rate_bps": rate_bps, "rtt_ns": rtt_ns},
            {
                "kind": "dumbbell",
                "pairs": random.randint(1, 5),
                "access_rate_bps": rate_bps,
                "bottleneck_rate_bps": core_bps,
                "rtt_ns": rtt_ns,
            },
            {
                "kind": "parking_lot",
                "bottlenecks": random.randint(1, 3),
                "cross_pairs": random.randint(0, 2),
                "access_rate_bps": rate_bps,
                "bottleneck_rate_bps": core_bps,
                "access_delay_ns": delay_ns,
                "bottleneck_delay_ns": delay_ns,
            },
            {
                "kind": "leaf_spine",
                "leaves": random.randint(2, 3),
                "spines": random.randint(1, 3),
                "hosts_per_leaf": random.randint(1, 3),
                "host_rate_bps": rate_bps,
                "fabric_rate_bps": core_bps,
                "host_delay_ns": delay_ns,
                "fabric_delay_ns": delay_ns,
            },
            {"kind": "fat_tree", "k": 4, "hosts": random.randint(2, 8), "rate_bps": rate_bps, "delay_ns": delay_ns},
            {
                "kind": "dragonfly",
                "routers": 2,
                "hosts_per_router": random.randint(1, 2),
                "global_links": 1,
                "host_rate_bps": rate_bps,
                "local_rate_bps": core_bps,
                "global_rate_bps": core_bps,
                "host_delay_ns": delay_ns,
            },
            {
                "kind": "rail",
                "units": random.randint(1, 2),
                "servers_per_unit": 2,
                "rails": 2,
                "spines": random.randint(1, 2),
                "host_rate_bps": rate_bps,
                "fabric_rate_bps": core_bps,
                "host_delay_ns": delay_ns,
            },
        )
    )
    shape["queue_capacity_pkts"] = random.choice((5, 20, 100, 1_000))
    if random.random() < 0.15:
        shape["loss"] = random.choice((0.001, 0.02))
    return shape


def _thresholds(random: Random, capacity_pkts: int) -> Plain:
    k_pkts = random.randint(1, capacity_pkts)
    return {"k_rule": "fixed", "k_pkts": k_pkts, "k_dc_pkts": random.randint(k_pkts, capacity_pkts)}


def _algorithms(kind: str) -> list[Algorithm]:
    return [row for row in registry() if row.kind == kind]


def _switch(random: Random, needs: str) -> tuple[str, Plain]:
    program, fields = random.choice(_PROGRAMS[needs])
    return program, {"program": f"p4src/v1model/{program}.p4", **fields}


def _paced(random: Random, rate_bps: int) -> tuple[Plain, Plain, Plain]:
    # Requests carry rates of up to 2^32 kbit/s, and a flow asks several times in an epoch of 100 ms.
    granted = ("rate_allocation", "fair_rate") if not _LEAST_GRANTED_BPS <= rate_bps <= _MOST_GRANTED_BPS else ()
    row = random.choice([row for row in _algorithms("rate_control") if row.switch_needs not in granted])
    control: Plain = {"name": row.name}
    names = {one.name for one in row.parameters}
    if "r_min_mbps" in names:
        control["r_min_mbps"] = rate_bps / 1e6 / random.choice((100, 1_000))
    if "window" in names and random.random() < 0.5:
        control["window"] = "vwin"
    program, switch = _switch(random, row.switch_needs)
    transport: Plain = {
        "kind": "rdma",
        "mss_bytes": random.choice(_SEGMENTS),
        "ack_every": random.choice((1, 1, 2, 8, 64, 1_024)),
    }
    if row.switch_needs == "fair_rate":
        # Depths of RCP are told in bytes of a packet, up to 4,095.
        transport["mss_bytes"] = min(transport["mss_bytes"], 4_000)
    if program == "int_fixed":
        transport["int_room"] = "hs_fixed"
    if row.name == "dcqcn" and random.random() < 0.4:
        control["form"] = "paper"
        transport["notification"] = "packet"
    elif random.random() < 0.1:
        transport["notification"] = "packet"
    if row.switch_needs != "rate_allocation" and random.random() < 0.5:
        transport["recovery"] = "selective_repeat"
    elif row.name in _BY_SEGMENT and random.random() < 0.3:
        transport["segment_bytes"] = random.choice((4_000, 16_000, 64_000))
        if row.switch_needs == "none" and "notification" not in transport and random.random() < 0.5:
            transport["reads"] = True
    if random.random() < 0.1:
        transport["rtt_noise_exp_ns"] = random.choice((100, 10_000))
    return {"rate_control": control}, switch, transport


def _window(random: Random, rate_bps: int) -> tuple[Plain, Plain, Plain]:
    del rate_bps
    avoidance, slow_start = random.choice(_algorithms("congestion_avoidance")), random.choice(_algorithms("slow_start"))
    needs = max((avoidance.switch_needs, slow_start.switch_needs), key=list(_PROGRAMS).index)
    if {avoidance.switch_needs, slow_start.switch_needs} == {"l4s_marks", "two_ecn_thresholds"}:
        slow_start, needs = next(row for row in _algorithms("slow_start") if row.name == "standard"), "l4s_marks"
    _, switch = _switch(random, needs)
    profiles = {"gst", "sce", "rfc3168"}
    for row in (avoidance, slow_start):
        profiles &= set(_MARKED_BY.get(row.name, profiles))
    switch.setdefault("ecn_profile", random.choice(sorted(profiles)))
    packets = random.choice(("udp", "udp", "tcp"))
    transport: Plain = {
        "mss_bytes": random.choice(_SEGMENTS),
        "packets": packets,
        "recovery": random.choice(("reno", "newreno", "sack")),
        "iw": random.choice((1, 2, 10)),
        "rwnd": random.choice((1, 4, 32, 1_000)),
        "ack_every": random.choice((1, 1, 2, 8, 64, 1_024)),
        "limited_transmit": random.random() < 0.3,
        "window_validation": random.choice(("rfc7661", "rfc5681", "none")),
    }
    if random.random() < 0.2:
        transport["tso_bytes"] = random.choice((9_000, 65_536))
    if random.random() < 0.2:
        transport["host_delay_exp_ns"] = random.choice((100, 10_000))
    senders: Plain = {"congestion_avoidance": {"name": avoidance.name}, "slow_start": {"name": slow_start.name}}
    return senders, switch, transport


def _traffic(random: Random, rate_bps: int, hosts: list[str], segment_bytes: int) -> tuple[Plain, int]:
    """The traffic, and about how many bytes it is."""
    # Some tens of packets to some hundreds, whatever their size.
    size = random.choice((1, 99, segment_bytes, 10 * segment_bytes + 1, 60 * segment_bytes, 200 * segment_bytes))
    *senders, receiver = random.sample(hosts, min(len(hosts), 8))
    kind = random.choice(("incast", "bulk", "rounds", "poisson", "collective"))
    times = random.randint(1, 4)
    gap_ns = max(1_000, int(8e9 * size / rate_bps))
    of_kind: Plain
    match kind:
        case "incast":
            of_kind = {"sources": senders, "destination": receiver, "sru_bytes": size}
            of_kind["start_jitter_ns"] = random.choice((0, 10_000))
        case "bulk":
            of_kind = {"sources": senders, "destinations": [receiver], "size_bytes": size, "flows_per_pair": times}
        case "rounds":
            of_kind = {"servers": senders, "client": receiver, "sru_bytes": size, "rounds": times}
            of_kind["persistent"] = random.random() < 0.5
        case "poisson":
            of_kind = {"size": {"kind": "fixed", "bytes": size}, "mean_gap_ns": gap_ns, "end_ns": times * gap_ns}
            of_kind |= {"sources": senders, "destinations": [receiver]}
        case _:
            of_kind = {"operation": "all_reduce", "size_bytes": size * len(hosts), "ranks": [receiver, *senders]}
            of_kind["iterations"] = times
            times *= 2 * len(hosts)
    return {"kind": kind, **of_kind}, times * len(hosts) * size


def _faults(random: Random, links: list[tuple[str, str]], rtt_ns: int) -> list[Plain]:
    if random.random() < 0.7:
        return []
    down_ns = random.choice((0, rtt_ns // 2, 3 * rtt_ns))
    return [
        {"between": list(random.choice(links)), "down_ns": down_ns, "up_ns": down_ns + random.choice((1, 3)) * rtt_ns}
    ]
