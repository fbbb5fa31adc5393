"""The way of packets that a switch followed, as the page shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from p4cc.packet_way.lines import in_order, step_lines
from p4cc.planning.programs import places_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from controller.pipeline import Pipeline


class StepText(TypedDict):
    """A line of a packet's way."""

    text: str
    is_heading: bool
    kind: str
    """As `p4cc.packet_way.lines.Line` has it."""
    depth: int


class PacketTrace(TypedDict):
    """A packet's way through a switch."""

    number: int
    time_ns: int
    steps: list[StepText]


def _step_texts(steps: Sequence[Mapping[str, Any]]) -> list[StepText]:
    """What happened, below the instants."""
    texts: list[StepText] = []
    last_ns: int | None = None
    for step in in_order(steps):
        if step["time_ns"] != last_ns:
            last_ns = step["time_ns"]
            texts.append({"text": f"at {last_ns:,} ns", "is_heading": True, "kind": "block", "depth": 0})
        texts += [
            StepText(text=str(line), is_heading=False, kind=line.kind, depth=line.depth) for line in step_lines(step)
        ]
    return texts


def packet_traces(steps: Iterable[dict[str, Any]], pipeline: Pipeline) -> list[PacketTrace]:
    """Packets in their order, each with its steps and where the program declares what they name."""
    places = places_of(pipeline.config.p4_device_config)
    by_packet: dict[int, list[dict[str, Any]]] = {}
    for step in steps:
        by_packet.setdefault(step["packet"], []).append(step)
    packets: list[PacketTrace] = []
    for number, own in by_packet.items():
        places.add_to(own)
        packets.append(PacketTrace(number=number, time_ns=own[0]["time_ns"], steps=_step_texts(own)))
    return packets
