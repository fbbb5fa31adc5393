"""The scenario: one description of an experiment, as YAML writes it and pydantic checks it.

Every field that is a quantity ends in its unit. What a field refers to in the sources is named by its section of the
algorithm specification ("spec 18.1b"). `p4cc schema` prints this as JSON Schema.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from topos import StarParams

Parameter = int | float | str | bool
"""A parameter of an algorithm; its type, range and default are the registry's."""

MAX_RUNS = 100_000


class Model(BaseModel):
    """Base of all parts: unknown keys are errors, values are not coerced, nothing changes after the check."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class StarTopology(StarParams):
    """N senders, one switch, one aggregator; every link alike (spec 15, T-incast)."""

    kind: Literal["star"]

    def parameters(self) -> dict[str, Any]:
        """What the generator takes."""
        return self.model_dump(exclude={"kind"})


Topology = StarTopology


class Thresholds(Model):
    """The two marking thresholds of every egress port (spec 6.5)."""

    k_rule: Annotated[
        Literal["halve_once", "quarter_buffer", "fixed"],
        Field(description="How the planner chooses K; `fixed` takes `k_pkts`."),
    ] = "halve_once"
    k_pkts: Annotated[int, Field(ge=0, le=524_287)] | None = None
    k_dc_pkts: Annotated[int, Field(ge=0, le=524_287)] = 65

    @model_validator(mode="after")
    def _fixed_needs_k(self) -> Self:
        if (self.k_rule == "fixed") != (self.k_pkts is not None):
            raise ValueError("k_pkts is given exactly when k_rule is fixed")
        return self


class SwitchSettings(Model):
    """What the switches run and what the controller installs."""

    program: Annotated[str, Field(min_length=1, description="P4-16 source, relative to the scenario or the project.")]
    ecn_profile: Literal["gst", "rfc3168", "sce"] = "gst"
    thresholds: Thresholds = Thresholds()
    timestamp_unit: Literal["us", "ns"] = "us"


class IncastTraffic(Model):
    """Every sender sends one unit to the aggregator, all at about the same time (spec 16.4)."""

    kind: Literal["incast"]
    sru_bytes: Annotated[int, Field(ge=1, le=1 << 40)]
    start_jitter_ns: Annotated[int, Field(ge=0, le=10_000_000_000)] = 10_000


Traffic = IncastTraffic


class Algorithm(Model):
    """An algorithm of the registry by name, with its parameters beside it (`p4cc algorithms` lists them)."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    name: str

    # pydantic's way to give extra fields a type; the base class declares it wider.
    __pydantic_extra__: dict[str, Parameter] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]

    def parameters(self) -> dict[str, Parameter]:
        """The parameters given, without the name."""
        return dict(self.__pydantic_extra__)


class Transport(Model):
    """The window transport all variants share (spec 2; the base reading of the source: spec 18.1b)."""

    recovery: Literal["reno", "newreno"]
    mss_bytes: Annotated[int, Field(ge=1, le=9_000)] = 1_436
    iw: Annotated[int, Field(ge=1, le=1_000, description="Initial window in segments.")]
    rwnd: Annotated[int, Field(ge=1, le=65_536, description="Receiver window in segments.")]
    rto_min_ns: Annotated[int, Field(ge=1)]
    rto_init_ns: Annotated[int, Field(ge=1)] | None = None
    rto_max_ns: Annotated[int, Field(ge=1)] = 60_000_000_000
    dupthresh: Annotated[int, Field(ge=1, le=1_000)] = 3


class Variant(Model):
    """One kind of sender to compare."""

    name: Annotated[str, Field(min_length=1, max_length=64)]
    congestion_avoidance: Algorithm
    slow_start: Algorithm = Algorithm(name="standard")
    transport: dict[str, Parameter] = Field(default={}, description="Fields of `transport` this variant changes.")
    thresholds: Thresholds | None = Field(default=None, description="In place of the switches' thresholds.")


Interval = Annotated[int, Field(ge=100, le=1_000_000_000)]


class Record(Model):
    """Sampling of each run beside its flows; null records nothing, a row is kept where something changed."""

    windows_interval_ns: Interval | None = 100_000
    queues_interval_ns: Interval | None = 100_000
    events: bool = False


class Limits(Model):
    """Bounds of one run."""

    max_events: Annotated[int, Field(ge=1, le=1 << 40)] = 1_000_000_000


class Panel(Model):
    """One pair of axes."""

    y: Annotated[str, Field(description="A column of the runs or of a time series.")]
    title: str = ""
    label: str = ""
    scale: float = 1.0
    log: bool = False


class SweepFigure(Model):
    """Medians over the swept parameter, a band from the 5th to the 95th percentile over the seeds."""

    kind: Literal["over_sweep"]
    file: str
    title: str = ""
    x: str
    x_label: str = ""
    panels: Annotated[list[Panel], Field(min_length=1, max_length=6)]


class TimeFigure(Model):
    """Time series of one seed, variants side by side in columns."""

    kind: Literal["over_time"]
    file: str
    title: str = ""
    seed: int | None = None
    until_ns: Annotated[int, Field(ge=1)] | None = None
    panels: Annotated[list[Panel], Field(min_length=1, max_length=6)]


Figure = Annotated[SweepFigure | TimeFigure, Field(discriminator="kind")]


class Scenario(Model):
    """One experiment: what is built, what is sent, what is compared, what is drawn."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    title: str
    source: Annotated[str, Field(description="Where the numbers come from: paper, figure, section of the spec.")] = ""
    topology: Topology
    switch: SwitchSettings
    traffic: Traffic
    transport: Transport
    variants: Annotated[list[Variant], Field(min_length=1, max_length=64)]
    sweep: dict[str, Annotated[list[Any], Field(min_length=1, max_length=1_000)]] = Field(
        default={}, description="Dotted path of a field to the values it takes."
    )
    seeds: Annotated[list[Annotated[int, Field(ge=0, lt=1 << 63)]], Field(min_length=1, max_length=10_000)]
    stop_ns: Annotated[int, Field(ge=1, le=3_600_000_000_000)]
    record: Record = Record()
    limits: Limits = Limits()
    figures: list[Figure] = []

    @model_validator(mode="after")
    def _names_and_bounds(self) -> Self:
        names = [variant.name for variant in self.variants]
        if len(set(names)) != len(names):
            raise ValueError("two variants have one name; give each its own")
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError("a seed is listed twice; each seed is one run")
        runs = len(names) * len(self.seeds)
        for values in self.sweep.values():
            runs *= len(values)
        if runs > MAX_RUNS:
            raise ValueError(f"{runs} runs are more than {MAX_RUNS}; shorten the sweep or the seeds")
        return self
