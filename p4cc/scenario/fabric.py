"""The parts of a scenario that make a fabric lossless: shared buffers, pauses, RED curves, the RDMA-like transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import Field, model_validator

from p4cc.scenario.base import KIND, MAX_TIME_NS, Model, Parameter, TimeNs
from p4cc.scenario.user_headers import UserHeaders

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc import spec
    from p4cc.json_data import JsonValue

BufferBytes = Annotated[int, Field(ge=0, le=1 << 40)]


class BufferSettings(Model):
    """The buffer that all ports of a switch share (docs/algorithms/pfc.md#pfc)."""

    bytes: Annotated[int, Field(ge=1, le=1 << 40)] | None = Field(
        default=None,
        description="All of it: reserves, headrooms and what is shared. Absent: those of the switch's ports, and to "
        "share 16 MiB for each 50 Gb/s of a host's link, at least 1 MiB.",
    )
    lossless_priorities: list[Annotated[int, Field(ge=0, le=6)]] = Field(
        default=[3], description="Priorities that are paused rather than dropped (PFC)."
    )
    alpha_log2: Annotated[int, Field(ge=-10, le=10, description="Log2 of the dynamic threshold's alpha.")] = -3
    headroom_bytes: BufferBytes | None = Field(
        default=None, description="For each port and lossless priority; by `headroom_rule` if absent."
    )
    headroom_rule: Literal["qbb", "hpcc_ns3"] = Field(
        default="qbb",
        description="`qbb` covers all that can still come once a pause is due, as IEEE 802.1Qbb asks: nothing is lost. "
        "`hpcc_ns3` is 3 rate delay / 8, as in HPCC's ns-3 simulator (docs/algorithms/pfc.md#headroom).",
    )
    pfc_expiry: bool = Field(
        default=False,
        description="Pauses end by themselves as in IEEE 802.1Qbb, not by a resume only "
        "(docs/algorithms/pfc.md#choice-pfc-expiry).",
    )
    pause_quanta: Annotated[int, Field(ge=1, le=65_535)] = Field(
        default=65_535, description="How long a pause lasts with `pfc_expiry`, in times of 512 bits on its link."
    )
    reserve_bytes: BufferBytes = 4_096
    """Set aside for each port and lossless priority."""
    resume_offset_bytes: BufferBytes = 3_072
    """How far below the threshold of its pause a port must be to be resumed."""


class RedCurveSettings(Model):
    """RED of every port (docs/algorithms/marking.md#red), for programs that mark by a curve."""

    k_min_bytes: Annotated[int, Field(ge=0)] = 100_000
    """No packet is marked while the queue is shorter."""
    k_max_bytes: Annotated[int, Field(ge=1)] = 400_000
    """Every packet is marked while the queue is longer."""
    p_max: Annotated[float, Field(gt=0, le=1)] = 0.2
    """Chance of a mark just below `k_max_bytes`; it grows evenly from 0 at `k_min_bytes`."""
    scale_with_rate: bool = Field(default=True, description="Thresholds are for each 25 Gb/s of the port's rate.")

    @property
    def is_step(self) -> bool:
        """Whether it is a threshold: from no mark to all within a hundredth of its depth, as cells are not finer."""
        return self.p_max == 1 and self.k_max_bytes - self.k_min_bytes <= self.k_min_bytes / 100


SegmentBytes = Annotated[int, Field(ge=1, le=1 << 24)]


class RdmaTransport(Model):
    """The RDMA-like transport all variants share: paced packets, go-back-N.

    Source: docs/algorithms/substrate.md#pacing, #go-back-n, docs/algorithms/dcqcn.md#dcqcn-receiver.
    """

    kind: Annotated[Literal["rdma"], KIND] = "rdma"
    mss_bytes: Annotated[int, Field(ge=1, le=9_000)] = 1_000
    """Payload of a full packet; 64 bytes of headers come on top."""
    headers: UserHeaders = Field(
        default=[], description="Headers of the program's that data packets of all flows carry, in order."
    )
    ack_every: Annotated[int, Field(ge=1, le=1_024)] = 1
    """Packets in order for each ACK; what fills a window or ends a flow is answered at once."""
    ack_delay_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None,
        description="Longest that a packet waits for its ACK with `ack_every` above 1; `base_rtt_ns` if absent.",
    )
    nack_interval_ns: TimeNs = 500_000
    """Shortest time between two NACKs for the same byte."""
    rto_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None, description="Absent: none; what is lost at the end of a flow stays lost."
    )
    recovery: Annotated[
        Literal["go_back_n", "selective_repeat"],
        Field(
            description="How losses are mended: the sender goes back, or receivers keep what comes and it sends "
            "again what is missing (docs/algorithms/substrate.md#selective-repeat), as packets that take several "
            "ways need."
        ),
    ] = "go_back_n"
    reordering_bytes: Annotated[int, Field(ge=1, le=2**30)] | None = Field(
        default=None,
        description="With selective repeat: a packet is lost when so many bytes arrived that left after it; one and a "
        "half windows if absent, from five packets to one and a half bandwidth-delay products.",
    )
    notification: Annotated[
        Literal["ack_flag", "packet"], Field(description="How marks come back: in each ACK, or as CNPs.")
    ] = "ack_flag"
    cnp_interval_ns: TimeNs = 50_000
    """Shortest time between two notifications that are packets of their own (CNPs)."""
    ack_class: Annotated[int, Field(ge=0, le=7, description="Queue of ACKs and CNPs.")] = 7
    rtt_without_serialisation: bool = False
    """Whether the packet's own time on the sender's link is taken off round-trip times."""
    segment_bytes: SegmentBytes | None = Field(
        default=None, description="One round-trip time for each segment of so much payload, and an ACK at its end."
    )
    reads: bool = Field(
        default=False,
        description="Receivers ask for the data, a request for each segment, which their algorithm paces "
        "(docs/algorithms/timely.md#reads); needs `segment_bytes`.",
    )
    burst_bytes: SegmentBytes | None = Field(
        default=None, description="Payload that leaves back to back; a segment if absent, or else a packet."
    )
    burst_rate_bps: Annotated[int, Field(ge=1_000, le=10**13)] | None = Field(
        default=None, description="Rate within a burst; the interface's if absent."
    )
    ecn_capable: bool | None = Field(
        default=None, description="Whether data may be marked; what the algorithm reads decides if absent."
    )
    rtt_noise_uniform_ns: TimeNs = Field(default=0, description="Round-trip times are longer by up to this, evenly.")
    rtt_noise_exp_ns: Annotated[int, Field(ge=0, le=MAX_TIME_NS // 100)] = Field(
        default=0, description="And by an exponential time of this mean."
    )
    int_room: Annotated[
        Literal["push", "hs_fixed"],
        Field(
            description="Hop records: packets grow by 8 B a hop (`int_hpcc.p4`), or 42 B are reserved (`int_fixed.p4`)."
        ),
    ] = "push"
    request_records: Annotated[int, Field(ge=1, le=6)] | None = Field(
        default=None, description="Hops that rate requests have room for; the switches of the longest path if absent."
    )
    request_patience_rounds: Annotated[int, Field(ge=2, le=1_000)] = Field(
        default=4,
        description="Round trips after which the return of a rate request is given up; `base_rtt_ns` is the shortest.",
    )
    base_rtt_ns: Annotated[int, Field(ge=1, le=MAX_TIME_NS)] | None = Field(
        default=None, description="The network's longest, with a packet's time on each link, if absent."
    )

    @model_validator(mode="before")
    @classmethod
    def _no_tcp(cls, data: JsonValue) -> JsonValue:
        """Names what an unknown key alone would not say."""
        if isinstance(data, dict) and (given := [name for name in ("packets", "ip") if name in data]):
            raise ValueError(
                f"{given[0]}: paced senders have p4cc's own header, which carries their rates, telemetry and NACKs, "
                f"over UDP and IPv4; leave {given[0]} out, or give senders with windows a transport of kind window"
            )
        return data

    def config(
        self, changes: Mapping[str, Parameter], telemetry: spec.IntTable, cc: spec.AlgorithmSpec, **usual: int
    ) -> spec.RdmaConfig:
        """The engine's form with a sender's `changes`; `telemetry` is what it must know to read hop records.

        `usual` is what follows from the network where nobody says it.
        """
        given = {**usual, **self.model_dump(exclude={"kind", "headers"}, exclude_none=True), **changes}
        room = given.pop("int_room")
        # Senders name what they change; the engine checks it.
        return cast("spec.RdmaConfig", {**given, "int": {**telemetry, "room": room}, "cc": cc})
