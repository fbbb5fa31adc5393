"""The parts of a scenario that make a fabric lossless: shared buffers, pauses, RED curves, the RDMA-like transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self, cast

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, MAX_TIME_NS, Model, Parameter, TimeNs
from p4cc.scenario.user_headers import UserHeaders
from p4cc.scenario.without_effect import idle_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc import spec
    from p4cc.json_data import JsonValue

BufferBytes = Annotated[int, Field(ge=0, le=1 << 40)]
WatchdogTimeNs = Annotated[TimeNs, Field(ge=1)]


class WatchdogSettings(Model):
    """The PFC watchdog of each switch, for queues that stay paused (docs/algorithms/pfc.md#watchdog)."""

    detection_ns: WatchdogTimeNs = 200_000_000
    """A queue that holds packets and has been paused for this time is in a storm."""
    restoration_ns: WatchdogTimeNs = 200_000_000
    """The storm has ended when the queue has not been paused for this time."""
    action: Literal["drop", "forward", "alert"] = Field(
        default="drop",
        description="`drop` drops the queue's packets and those that arrive for it until it is restored; `forward` "
        "ignores its pauses; `alert` only records the storm (table `watchdog`).",
    )


class BufferSettings(Model):
    """The buffer that all ports of a switch share (docs/algorithms/pfc.md#pfc)."""

    bytes: Annotated[int, Field(ge=1, le=1 << 40)] | None = Field(
        default=None,
        description="Total size: reserves, headrooms and the shared part. Default: the reserves and headrooms of "
        "the switch's ports plus a shared part of 16 MiB per 50 Gb/s of a host's link, at least 1 MiB and four "
        "times what is in flight on that link.",
    )
    lossless_priorities: list[Annotated[int, Field(ge=0, le=6)]] = Field(
        default=[3], description="Lossless priorities, which are paused (PFC) rather than dropped."
    )
    alpha_log2: Annotated[int, Field(ge=-10, le=10, description="Log2 of the dynamic threshold's alpha.")] = -3
    headroom_bytes: BufferBytes | None = Field(
        default=None, description="Headroom of each port and lossless priority; computed by `headroom_rule` if absent."
    )
    headroom_rule: Literal["qbb", "hpcc_ns3"] = Field(
        default="qbb",
        description="`qbb` covers everything that can still arrive after a pause frame is triggered, as IEEE "
        "802.1Qbb requires, so nothing is lost. `hpcc_ns3` is 3 * rate * delay / 8, as in HPCC's ns-3 "
        "simulator (docs/algorithms/pfc.md#headroom).",
    )
    pfc_expiry: bool = Field(
        default=False,
        description="Whether pauses expire as in IEEE 802.1Qbb, instead of lasting until a resume frame "
        "(docs/algorithms/pfc.md#choice-pfc-expiry).",
    )
    pause_quanta: Annotated[int, Field(ge=1, le=65_535)] = Field(
        default=65_535, description="Duration of a pause with `pfc_expiry`, in units of 512 bit times of the link."
    )
    watchdog: WatchdogSettings | None = Field(
        default=None, description="PFC watchdog of each switch; if absent, a queue waits as long as it is paused."
    )
    reserve_bytes: BufferBytes = 4_096
    """Reserve of each port and lossless priority."""
    resume_offset_bytes: BufferBytes = 3_072
    """How far below its pause threshold a port must fall before it is resumed."""


class QueueSettings(Model):
    """Order and rate of a queue."""

    queue: Annotated[int, Field(ge=0, le=7, description="Its number: the traffic class of its packets.")]
    level: Annotated[int, Field(ge=0, le=7)] | None = Field(
        default=None,
        description="Higher levels go first, strictly; queues of one level take turns. Default: the queue's number.",
    )
    weight: Annotated[int, Field(ge=1, le=1_023, description="Share among the queues of its level.")] = 1
    rate_bps: Annotated[int, Field(ge=1, le=10**13)] | None = Field(
        default=None, description="Maximum rate on the link; if absent, the link's rate."
    )
    burst_bytes: Annotated[int, Field(ge=0, le=2**32 - 1)] = Field(
        default=0, description="With `rate_bps`: bytes that may be ahead of that rate (token bucket)."
    )

    @model_validator(mode="after")
    def _burst_needs_a_rate(self) -> Self:
        if self.burst_bytes and self.rate_bps is None:
            raise ValueError("burst_bytes has no effect without rate_bps; give a rate, or remove it")
        return self


class SchedulerSettings(Model):
    """Scheduling of the queues of some switches' ports towards some neighbours (docs/algorithms/queues.md)."""

    switch: Annotated[str, Field(min_length=1, max_length=64, description="Switch name; * and ? are wildcards.")] = "*"
    to: Annotated[str, Field(min_length=1, max_length=64, description="Neighbour name; * and ? are wildcards.")] = "*"
    unit: Annotated[
        Literal["bytes", "packets"],
        Field(description="What turns count: `bytes` is deficit round robin, `packets` weighted round robin."),
    ] = "bytes"
    quantum_bytes: Annotated[int, Field(ge=256, le=1 << 20)] = Field(
        default=1_538, description="With `bytes`: what a turn of weight 1 adds to a queue's deficit."
    )
    queues: Annotated[list[QueueSettings], Field(min_length=1, max_length=8)]
    """Queues with settings of their own. The others are levels by their numbers, which these may share."""

    @model_validator(mode="after")
    def _each_queue_once(self) -> Self:
        numbers = [one.queue for one in self.queues]
        if len(set(numbers)) < len(numbers):
            raise ValueError("a queue comes twice; name each queue once")
        return self


class RedCurveSettings(Model):
    """RED curve of a port (docs/algorithms/marking.md#red), for programs that mark by a curve."""

    k_min_bytes: Annotated[int, Field(ge=0)] = 100_000
    """Queue length below which no packet is marked."""
    k_max_bytes: Annotated[int, Field(ge=1)] = 400_000
    """Queue length above which every packet is marked."""
    p_max: Annotated[float, Field(gt=0, le=1)] = 0.2
    """Marking probability just below `k_max_bytes`; it grows linearly from 0 at `k_min_bytes`."""
    scale_with_rate: bool = Field(
        default=True, description="Whether the thresholds apply per 25 Gb/s of the port's rate."
    )

    @property
    def is_step(self) -> bool:
        """Whether it is a threshold: from no mark to all within a hundredth of its depth, as cells are not finer."""
        return self.p_max == 1 and self.k_max_bytes - self.k_min_bytes <= self.k_min_bytes / 100


SegmentBytes = Annotated[int, Field(ge=1, le=1 << 24)]


class RdmaTransport(Model):
    """The RDMA-like transport that all variants share: paced packets, go-back-N.

    Source: docs/algorithms/substrate.md#pacing, #go-back-n, docs/algorithms/dcqcn.md#dcqcn-receiver.
    """

    kind: Annotated[Literal["rdma"], KIND] = "rdma"
    mss_bytes: Annotated[int, Field(ge=1, le=9_000)] = 1_000
    """Payload of a full packet; 64 bytes of headers are added."""
    headers: UserHeaders = Field(
        default=[], description="User-defined headers, in order, that data packets of all flows carry."
    )
    ack_every: Annotated[int, Field(ge=1, le=1_024)] = 1
    """In-order packets per ACK; packets that fill a window or end a flow are acknowledged at once."""
    ack_bytes: Annotated[int, Field(ge=1, le=2**30)] | None = Field(
        default=None,
        description="In-order bytes per ACK; with `ack_every` above 1, an ACK for whichever comes first. If absent, "
        "only packets count.",
    )
    ack_delay_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None,
        description="Longest time for which the ACK of a packet is delayed with `ack_every` above 1 or `ack_bytes`; "
        "`base_rtt_ns` if absent.",
    )
    nack_interval_ns: TimeNs = 500_000
    """Shortest time between two NACKs for the same byte."""
    rto_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None,
        description="Retransmission timeout, which a `receiver` requires; if absent, there is none, and a loss at "
        "the end of a flow is never recovered.",
    )
    recovery: Annotated[
        Literal["go_back_n", "go_back_0", "selective_repeat"],
        Field(
            description="Loss recovery: the sender goes back to the missing packet, or to the start of its message "
            "(docs/algorithms/substrate.md#go-back-0), or receivers keep out-of-order packets and the "
            "sender resends only what is missing (docs/algorithms/substrate.md#selective-repeat), as "
            "packets on several paths require."
        ),
    ] = "go_back_n"
    message_bytes: Annotated[int, Field(ge=1, le=2**30)] | None = Field(
        default=None,
        description="With `go_back_0`: payload of a message; if absent, 2^30, and each flow up to that is one.",
    )
    reordering_bytes: Annotated[int, Field(ge=1, le=2**30)] | None = Field(
        default=None,
        description="With selective repeat: a packet counts as lost once this many bytes that were sent after it "
        "have arrived; one and a half windows if absent, but at least five packets and at most one and "
        "a half bandwidth-delay products.",
    )
    entropy: Annotated[
        Literal["flow", "oblivious", "bitmap", "reps"],
        Field(
            description="How senders choose the source port by which switches choose a packet's path "
            "(docs/algorithms/entropy.md): one per flow, each value in turn, in turn but for marked ones, or "
            "values whose ACKs came back unmarked; the last three need selective repeat."
        ),
    ] = "flow"
    entropy_values: Annotated[int, Field(ge=1, le=2**14)] | None = Field(
        default=None, description="Number of values to choose from, a power of two; 1024 if absent."
    )
    notification: Annotated[
        Literal["ack_flag", "packet"], Field(description="How marks are echoed: in every ACK, or as CNPs.")
    ] = "ack_flag"
    cnp_interval_ns: TimeNs = 50_000
    """Minimum time between two congestion notification packets (CNPs)."""
    cnp_scope: Literal["flow", "destination", "port"] = Field(
        default="flow",
        description="What keeps that time at the receiver's network card: each flow, each host to which CNPs go, or "
        "the card (docs/algorithms/dcqcn.md#cnp-scope).",
    )
    cnp_processing_ns: TimeNs = 0
    """Time that the receiver's network card takes for each CNP."""
    ack_processing_ns: TimeNs = 0
    """Time that the receiver's network card takes for each ACK and NACK."""
    ack_class: Annotated[int, Field(ge=0, le=7, description="Traffic class of ACKs and CNPs.")] = 7
    rtt_without_serialisation: bool = False
    """Whether the packet's serialisation time on the sender's link is subtracted from round-trip times."""
    segment_bytes: SegmentBytes | None = Field(
        default=None,
        description="Payload of a segment: each segment is acknowledged at its end and yields one round-trip time.",
    )
    reads: bool = Field(
        default=False,
        description="Whether receivers request the data, one request per segment, paced by their algorithm "
        "(docs/algorithms/timely.md#reads); needs `segment_bytes`.",
    )
    burst_bytes: SegmentBytes | None = Field(
        default=None, description="Payload sent back to back; default: a segment, or a packet without segments."
    )
    burst_rate_bps: Annotated[int, Field(ge=1_000, le=10**13)] | None = Field(
        default=None, description="Rate within a burst; the link rate if absent."
    )
    ecn_capable: bool | None = Field(
        default=None,
        description="Whether data packets are ECN-capable; if absent, they are when the algorithm reads marks.",
    )
    rtt_noise_uniform_ns: TimeNs = Field(
        default=0, description="Upper end of a uniform random time that is added to each round-trip time."
    )
    rtt_noise_exp_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS // 100)] = Field(
        default=0, description="Mean of an exponential time that is added to each round-trip time."
    )
    int_room: Annotated[
        Literal["push", "hs_fixed"],
        Field(
            description="Telemetry per hop: packets grow by 8 B per hop (`int_hpcc.p4`), or reserve 42 B "
            "(`int_fixed.p4`)."
        ),
    ] = "push"
    pint_share: Annotated[
        float,
        Field(
            ge=1e-6,
            le=1,
            description="PINT: share of data packets that carry the path's utilisation (`pint.p4`), drawn for each.",
        ),
    ] = 1.0
    request_records: Annotated[int, Field(ge=1, le=6)] | None = Field(
        default=None, description="Hops for which rate requests have room; the switches on the longest path if absent."
    )
    request_patience_rounds: Annotated[int, Field(ge=2, le=1_000)] = Field(
        default=4,
        description="Time, in multiples of `base_rtt_ns`, after which a rate request without an answer counts as lost.",
    )
    base_rtt_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None,
        description="The network's longest round-trip time, including a packet's serialisation time "
        "on each link, if absent.",
    )
    base_rtt: Literal["longest", "pair"] = Field(
        default="longest",
        description="Where `base_rtt_ns` is absent: the longest round-trip time of the network for all senders, or for "
        "each the one between its two hosts.",
    )

    @model_validator(mode="after")
    def _one_base_rtt(self) -> Self:
        if self.base_rtt == "pair" and self.base_rtt_ns is not None:
            raise ValueError("base_rtt: pair takes each pair's own time; remove base_rtt_ns")
        return self

    @model_validator(mode="before")
    @classmethod
    def _no_tcp(cls, data: JsonValue) -> JsonValue:
        """Explains keys that would otherwise only be unknown."""
        if isinstance(data, dict) and (given := [name for name in ("packets", "ip") if name in data]):
            raise ValueError(
                f"{given[0]}: paced senders use p4cc's header, which carries their rates, telemetry and NACKs, over "
                f"UDP and IPv4; remove {given[0]}, or give window senders a transport of kind window"
            )
        return data

    def config(
        self,
        changes: Mapping[str, Parameter],
        telemetry: spec.IntTable,
        algorithms: tuple[spec.AlgorithmSpec, spec.AlgorithmSpec | None],
        pint_log_base: float | None,
        **usual: int,
    ) -> spec.RdmaConfig:
        """The engine's form with a sender's `changes`; `telemetry` is what it must know to read hop records.

        `algorithms` are the sender's and, where it has one, the receiver's. `pint_log_base` is that of the switches,
        None for a sender that does not read PINT.

        `usual` is what follows from the network where nobody says it.
        """
        shared = self.model_dump(exclude={"kind", "headers", "base_rtt"}, exclude_none=True)
        # What only other senders use. `options_without_effect` reports what no sender uses.
        idle = idle_in({**shared, **changes}) - changes.keys()
        given = {**usual, **{name: value for name, value in shared.items() if name not in idle}, **changes}
        room = given.pop("int_room")
        share = given.pop("pint_share")
        pint = {} if pint_log_base is None else {"pint": {"log_base": pint_log_base, "share": share}}
        cc, receiver = algorithms
        driven = {} if receiver is None else {"receiver": receiver}
        # Senders name what they change; the engine checks it.
        return cast("spec.RdmaConfig", {**given, "int": {**telemetry, "room": room}, **pint, "cc": cc, **driven})
