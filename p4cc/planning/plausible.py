"""Warnings about values that the schema takes and that nobody means: most often a unit that is not the field's.

Each names the field and the value as p4cc understands it. Nothing is refused here: odd networks are experiments too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from p4cc.digits import digits
from p4cc.scenario.fabric import RdmaTransport
from topos.units import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4cc.scenario.base import Algorithm
    from p4cc.scenario.schema import ScenarioModel, Variant

# A thousandth of the 1 Gb/s that the slowest data-centre
# port has today; labs on one machine run at 10 to 100 Mb/s.
LEAST_RATE_BPS = 1_000_000
# The fastest Ethernet that is being standardised (IEEE 802.3dj).
MOST_RATE_BPS = 1_600_000_000_000
# Light takes 10 ns for 2 m of cable, the shortest that leave a rack; 8 for 8 us is below.
LEAST_DELAY_NS = 10
# A hop over a geostationary satellite is 140 ms long, the longest path on the ground some 100 ms.
MOST_DELAY_NS = 200_000_000
# One link of a round trip at each end of that: two hops there, two back.
MOST_RTT_NS = 4 * MOST_DELAY_NS
# Time stamps of HPCC's telemetry count whole nanoseconds and its byte counts units of more than a packet.
# At the 40 ns of 1,500 B at 300 Gb/s a rate of two samples is off by as much as HPCC leaves free of the line
# (docs/explanation/line-rate.md).
LEAST_HPCC_PACKET_NS = 40
# Prague grows slower than another window by the square of this: a hundredth of a segment in a round trip.
MOST_VIRTUAL_TIMES = 10
# Prague's least window of two segments fills a line that holds no more.
LEAST_PRAGUE_PKTS = 4


def of_scenario(scenario: ScenarioModel) -> Iterator[str]:
    """Warnings about rates and times of links, and loads, of one point of a scenario."""
    for path, value in _numbers("topology", scenario.topology.model_dump(exclude_none=True)):
        yield from _of_link(path, value)
    several = isinstance(scenario.traffic, list)
    for number, item in enumerate(scenario.traffic_items):
        load = getattr(item, "load", None)
        if load is not None and load > 1:
            path = f"traffic[{number}].load" if several else "traffic.load"
            yield (
                f"{path} {load:g} is {digits(100 * load, 6)} % of the capacity of the hosts' links: queues and "
                "active flows grow until traffic ends; for 30 %, write 30% or 0.3"
            )


def of_case(scenario: ScenarioModel, variant: Variant, rtt_ns: int, packet_bytes: int) -> Iterator[str]:
    """Warnings that follow from the network: timeouts below `rtt_ns`, a buffer below a packet, an early end."""
    buffer = scenario.switch.buffer
    if buffer is not None and buffer.bytes is not None and buffer.bytes < packet_bytes:
        yield (
            f"switch.buffer.bytes {buffer.bytes} is {shown('bytes', buffer.bytes)}, less than one packet of "
            f"{packet_bytes} B: all packets are dropped"
        )
    for path, value in _timeouts(scenario, variant):
        if value < rtt_ns:
            yield (
                f"{path} {value} is {shown('ns', value)}, less than the longest round-trip time of the empty "
                f"network, {shown('ns', rtt_ns)}: every packet is retransmitted before its ACK can arrive"
            )
    if scenario.stop_ns < rtt_ns:
        yield (
            f"stop_ns {scenario.stop_ns} is {shown('ns', scenario.stop_ns)}, less than one round-trip time, "
            f"{shown('ns', rtt_ns)}: no flow can complete by then"
        )


def of_sender(variant: Variant, line_bps: int, rtt_ns: int, packet_bytes: int) -> Iterator[str]:
    """Warnings about a sender that its parameters or its telemetry keep below the line of a host."""
    control = variant.rate_control or variant.congestion_avoidance
    if control is None:
        return
    packet_ns = packet_bytes * 8_000_000_000 / line_bps
    if control.name == "hpcc" and packet_ns <= LEAST_HPCC_PACKET_NS:
        yield (
            f"variant {variant.name}: a packet of {packet_bytes} B takes {digits(packet_ns, 3)} ns at "
            f"{shown('rate_bps', line_bps)}, and HPCC's telemetry counts whole ns and more bytes than a packet has: "
            "one flow stays below 95 % of the line; set a larger mss_bytes, such as 4_000 at 400 Gb/s"
        )
    virtual_ns = _number(control, "rtt_virt_ns")
    in_flight_pkts = line_bps * rtt_ns // (8_000_000_000 * packet_bytes)
    if virtual_ns >= MOST_VIRTUAL_TIMES * rtt_ns and in_flight_pkts >= LEAST_PRAGUE_PKTS:
        yield (
            f"variant {variant.name}: rtt_virt_ns is {shown('ns', virtual_ns)}, {digits(virtual_ns / rtt_ns, 3)} times "
            f"the longest round-trip time, {shown('ns', rtt_ns)}: {control.name} grows as over that, much less than a "
            f"segment in each round trip, and wins the {in_flight_pkts} packets of the line back slowly; set "
            "rtt_virt_ns to the round-trip time if flows of the Internet do not share the line"
        )


def _number(algorithm: Algorithm, name: str) -> int:
    """A parameter of an algorithm, given or by default; 0 if it has none of that name."""
    entry = algorithm.entry
    defaults = {} if entry is None else {one.name: one.default for one in entry.parameters}
    value = {**defaults, **algorithm.parameters()}.get(name)
    return int(value) if isinstance(value, int | float) else 0


def _of_link(path: str, value: float) -> Iterator[str]:
    said = f"{path} {value} is {shown(path, value)}"
    if path.endswith("nvswitch_rate_bps"):
        # Inside a server there is no Ethernet.
        return
    if path.endswith("rate_bps"):
        if value < LEAST_RATE_BPS:
            yield f"{said}, slower than any current network; for gigabits write 25G"
        elif value > MOST_RATE_BPS:
            yield f"{said}, faster than any Ethernet port; the unit is bits per second, and 25G is 25_000_000_000"
    elif path.endswith("delay_ns"):
        if 0 < value < LEAST_DELAY_NS:
            yield f"{said}, the propagation delay of {value / 5:g} m of fibre; for microseconds write 8us"
        elif value > MOST_DELAY_NS:
            yield f"{said}, longer than a satellite hop; the unit is nanoseconds, and 8us is 8_000"
    elif "rtt" in path:
        if 0 < value < LEAST_DELAY_NS:
            yield f"{said}, the propagation delay of {value / 5:g} m of fibre; for microseconds write 100us"
        elif value > MOST_RTT_NS:
            yield f"{said}, longer than a satellite round trip; the unit is nanoseconds, and 100us is 100_000"


def _timeouts(scenario: ScenarioModel, variant: Variant) -> Iterator[tuple[str, int]]:
    """Timeouts of a variant's transport, by their place."""
    if variant.rate_control is None:
        transport, at, names = scenario.transport, "transport", ("rto_min_ns", "rto_init_ns")
    else:
        transport, names = scenario.rdma_transport, ("rto_ns",)
        at = "transport" if isinstance(scenario.transport, RdmaTransport) else "paced"
    for name in names:
        own = variant.transport.get(name)
        value = getattr(transport, name, None) if own is None else own
        if isinstance(value, int) and not isinstance(value, bool):
            yield f"{at}.{name}" if own is None else f"variant {variant.name}: transport.{name}", value


def _numbers(path: str, node: object) -> Iterator[tuple[str, float]]:
    """Every number below a node, with its path."""
    if isinstance(node, dict):
        for key, value in cast("dict[str, object]", node).items():
            yield from _numbers(f"{path}.{key}", value)
    elif isinstance(node, list | tuple):
        for number, value in enumerate(cast("list[object]", node)):
            yield from _numbers(f"{path}[{number}]", value)
    elif isinstance(node, int | float) and not isinstance(node, bool):
        yield path, node
