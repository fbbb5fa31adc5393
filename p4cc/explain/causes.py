"""What can bound a flow, in words, with what to look at or to set."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Words:
    """A cause for people."""

    name: str
    text: str
    remedy: str


class Cause(Enum):
    """Why a flow did not go faster at an instant."""

    TIMEOUT = Words(
        "timeout",
        "nothing was acknowledged until a retransmission timer expired",
        "table `port_queues` has the queues that dropped; larger buffers, lower thresholds, or a smaller "
        "transport.rto_min_ns",
    )
    RECOVERY = Words(
        "loss recovery",
        "lost packets were sent again, and nothing new was acknowledged or the window was reduced meanwhile",
        "table `port_queues` has the queues that dropped; `--set record.drops={}` says why",
    )
    PAUSE = Words(
        "pause (PFC)",
        "its host or a switch on its path was paused",
        "table `pauses` has the ports; switch.buffer, the marking thresholds, or a sender that slows down earlier",
    )
    SLOW_HOST = Words(
        "slow receiver",
        "its receiver took packets from the network card below the link's rate (PFC paused the way there, or the card "
        "dropped what it could not hold)",
        "table `slow_receivers` has the host's card; slow_receivers of the scenario",
    )
    APPLICATION = Words(
        "application",
        "the window had room and the application had nothing to send",
        "the traffic: think times, sizes of requests, rounds that wait for the slowest answer",
    )
    FLOOR = Words(
        "sender's floor",
        "the sender was at its least window or rate and cannot go lower, or did not leave it",
        "r_min_mbps or cwnd_min of the algorithm; fewer flows, or more time for its increase",
    )
    RECEIVER = Words(
        "receiver window",
        "the congestion window was larger than the receiver window, and the path had room",
        "transport.rwnd",
    )
    START = Words(
        "slow start",
        "the window was still growing from its initial value, and the path had room",
        "transport.iw or another slow start",
    )
    COLLISION = Words(
        "path collision",
        "one of several equal paths was full while others had room",
        "switch.ecmp_seed, flowlets (switch.flowlet_gap_ns) or spraying (a program's choice of paths)",
    )
    SHARING = Words(
        "queueing behind others",
        "the link that it shares with other flows was full",
        "nothing, if the flow got its share; else the algorithm's fairness, or more capacity",
    )
    LINE = Words("line rate", "it had a full link for itself", "a faster link")
    SENDER = Words(
        "sender's control",
        "its window or rate was below what the path had room for, although slow start was over",
        "the algorithm's increase and its reaction to marks: p4cc algorithms NAME, a figure of table `windows`",
    )
    UNKNOWN = Words("unknown", "the run did not record enough to say", "the notes below say what to record")

    @property
    def key(self) -> str:
        """Its name in JSON."""
        return self.name.lower()
