"""`p4cc run --trace`: which packets are traced through the network, and the recorded steps."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc import _engine
    from topos import Topology

FIRST_PACKETS = 3
"""Number of traced packets if none is named."""
MAX_CHOICES = 64
"""Limit of traced senders in a run."""
MAX_PACKETS = 10_000
"""Limit of traced packets (the engine's `MAX_TRACED_PACKETS`)."""
DEFAULT_STEPS = 2_000
MAX_STEPS = 1_000_000
"""Limit of recorded and printed steps (`MAX_TRACED_STEPS`)."""
_FORM = re.compile(r"(?P<sender>[^:]+)(?P<acks>:acks)?(?::(?P<first>\d{1,15})(?:-(?P<last>\d{1,15}))?)?")
_MAX_FLOW = 2**32 - 1


@dataclass(frozen=True)
class PacketChoice:
    """Packets of one sender, numbered as they leave its host."""

    text: str
    """The user's text."""
    sender: int | str
    """Flow number or name of the host."""
    acks: bool
    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> PacketChoice:
        """Reads `FLOW|HOST[:acks][:N[-M]]`; raises UserError."""
        found = _FORM.fullmatch(text)
        if found is None:
            raise _refused(text, "names no packets")
        sender = found["sender"]
        is_flow = sender.isascii() and sender.isdigit()
        if is_flow and int(sender) > _MAX_FLOW:
            raise _refused(text, f"there is no flow {sender}")
        if found["acks"] and not is_flow:
            raise _refused(text, "a host's packets are data and ACKs alike")
        first = int(found["first"] or 1)
        last = int(found["last"] or (first if found["first"] else FIRST_PACKETS))
        if not 1 <= first <= last:
            raise _refused(text, "packets are numbered from 1, the first before the last")
        return cls(text, int(sender) if is_flow else sender, found["acks"] is not None, first, last)

    @property
    def place(self) -> str:
        """Its place in the command line."""
        return f"--trace {self.text}"

    def plain(self) -> dict[str, object]:
        """Its form in the engine's description."""
        who: dict[str, object] = (
            {"flow": self.sender, "acks": self.acks} if isinstance(self.sender, int) else {"host": self.sender}
        )
        return {**who, "first": self.first, "last": self.last}

    def check_sent(self, sent: int) -> None:
        """Refuses packets that the sender did not send; raises UserError."""
        if sent >= self.first:
            return
        kind = "ACKs" if self.acks else "data packets"
        what = f"flow {self.sender} sent {sent} {kind}" if isinstance(self.sender, int) else f"it sent {sent} packets"
        remedy = f"name one of 1 to {sent}" if sent else "name another sender"
        raise UserError(f"{what}, and no packet {self.first}", place=self.place, remedy=remedy)


def _refused(text: str, cause: str) -> UserError:
    remedy = "give FLOW or HOST, and packets if not the first: 1, 1:7, 1:2-5, 1:acks:7, h1:4"
    return UserError(cause, place=f"--trace {text}", remedy=remedy)


@dataclass(frozen=True)
class TraceRequest:
    """The options of the command line."""

    asked: tuple[PacketChoice, ...]
    max_steps: int = DEFAULT_STEPS

    @classmethod
    def parse(cls, texts: Sequence[str], max_steps: int) -> TraceRequest:
        """Parses the options; raises UserError."""
        if len(texts) > MAX_CHOICES:
            raise UserError(
                f"is given {len(texts)} times", place="--trace", remedy=f"follow {MAX_CHOICES} senders at a time"
            )
        return cls(tuple(map(PacketChoice.parse, texts)), max_steps)

    def check_hosts(self, topology: Topology) -> None:
        """Refuses senders other than hosts; raises UserError."""
        for one in self.asked:
            if isinstance(one.sender, str) and one.sender not in topology.host_names:
                names = topology.host_names
                more = f" and {len(names) - 8} more" if len(names) > 8 else ""
                cause = (
                    f"{one.sender!r} is a switch" if one.sender in topology.switch_names else "there is no such host"
                )
                remedy = f"name a flow by its number, or a host: {', '.join(names[:8])}{more}"
                raise UserError(cause, place=one.place, remedy=remedy)

    def into(self, spec_json: str) -> str:
        """The engine's description with the packets to trace."""
        spec = json.loads(spec_json)
        packets = [one.plain() for one in self.asked]
        trace = {"packets": packets, "max_packets": MAX_PACKETS, "max_steps": self.max_steps}
        return json.dumps({**spec, "record": {**spec["record"], "trace": trace}})

    def refused_by(self, error: _engine.SpecError) -> UserError | None:
        """A UserError for a rejection by the engine."""
        found = re.fullmatch(r"record\.trace\.packets\[(\d+)\]\..*", error.place)
        if found is None:
            return None
        return UserError(error.cause, place=self.asked[int(found[1])].place, remedy=error.remedy)

    def kept(self, result: _engine.RunResult) -> PacketTrace:
        """The traces of a run; raises UserError if it has none of the packets."""
        lines, sent, packets_left_out, steps_left_out = result.trace() or ([], [], 0, 0)
        for asked, count in zip(self.asked, sent, strict=True):
            asked.check_sent(count)
        steps = [json.loads(line) for line in lines[: self.max_steps]]
        return PacketTrace(steps, packets_left_out, steps_left_out + len(lines) - len(steps))


@dataclass(frozen=True)
class PacketTrace:
    """Steps of the traced packets, ordered by packet and then by time."""

    steps: list[dict[str, Any]]
    packets_left_out: int
    steps_left_out: int

    def plain(self) -> dict[str, object]:
        """The output of `--json`."""
        return {
            "steps": self.steps,
            "packets_left_out": self.packets_left_out,
            "steps_left_out": self.steps_left_out,
        }
