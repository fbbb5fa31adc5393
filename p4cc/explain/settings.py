"""The settings of a case that bound its flows: receiver window, floors, payload of a packet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.json_data import items, mapping, number
from p4cc.scenario.expand import column_names
from p4cc.scenario.fabric import RdmaTransport
from p4cc.scenario.schema import Transport, header_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4cc.analysis.recorded import RecordedCase, RecordedRun
    from p4cc.json_data import JsonObject, JsonValue

_ANY_VARIANT = "variants.*."
_HEADERS_BYTES = header_bytes("udp", 4)
_WAITING_KINDS = ("rpc", "rounds", "collective", "chakra", "simai")


@dataclass(frozen=True)
class Settings:
    """What bounds the flows of one case."""

    is_paced: bool
    mss_bytes: int
    rwnd_segments: float | None
    """None where the default applies, which is more than path and queue hold."""
    iw_segments: float
    cwnd_min: float | None
    r_min_bps: float | None
    r_min_share: float | None
    waiting_labels: frozenset[str]
    """Labels of traffic whose connections wait for their applications between messages."""

    def may_wait(self, label: str) -> bool:
        """Whether the application of a flow may have nothing to send."""
        # Groups of a collective have numbers behind a slash, which no label has.
        return label.removesuffix(".request").partition("/")[0] in self.waiting_labels

    @property
    def payload_share(self) -> float:
        """Of the bytes on a link."""
        return self.mss_bytes / (self.mss_bytes + _HEADERS_BYTES)

    def floor_bps(self, line_bps: float) -> float | None:
        """The least rate of a paced sender."""
        if self.r_min_bps:
            return self.r_min_bps
        return self.r_min_share * line_bps if self.r_min_share else None


def settings_of(run: RecordedRun, case: RecordedCase) -> Settings:
    """The settings of a case, with the values of its point of the sweep."""
    scenario: JsonObject = run.scenario.model_dump()
    variants = (one.model_dump() for one in run.scenario.variants)
    none: JsonObject = {}
    variant = next((one for one in variants if one["name"] == case.variant), none)
    is_paced = "rate_control" in case.algorithms and variant.get("rate_control") is not None
    shared = mapping(scenario.get("transport"))
    if is_paced and shared.get("kind") != "rdma":
        shared = mapping(scenario.get("paced"))
    fields = {**shared, **mapping(variant.get("transport")), **dict(_swept(run, case))}
    # Runs of older versions may not have recorded what was not given.
    usual = (RdmaTransport if is_paced else Transport).model_fields
    params: dict[str, JsonValue] = {}
    for chosen in case.algorithms.values():
        params |= chosen
    r_min = number(params.get("r_min_mbps"))
    return Settings(
        is_paced=is_paced,
        mss_bytes=int(number(fields.get("mss_bytes")) or usual["mss_bytes"].default),
        rwnd_segments=None if is_paced else number(fields.get("rwnd")),
        iw_segments=number(fields.get("iw")) or Transport.model_fields["iw"].default,
        cwnd_min=number(params.get("cwnd_min")),
        r_min_bps=r_min * 1e6 if r_min else None,
        r_min_share=number(params.get("r_min_share")),
        waiting_labels=frozenset(_waiting(scenario.get("traffic"))),
    )


def _waiting(traffic: JsonValue) -> Iterator[str]:
    """Labels of traffic on persistent connections."""
    for item in [traffic] if isinstance(traffic, dict) else items(traffic or []):
        kind = mapping(item).get("kind")
        if kind in _WAITING_KINDS:
            yield str(mapping(item).get("name") or kind)


def _swept(run: RecordedRun, case: RecordedCase) -> Iterator[tuple[str, JsonValue]]:
    """Swept fields of the transport."""
    values = case.model_extra or {}
    for column, path in column_names(run.scenario.sweep).items():
        field = path.removeprefix(_ANY_VARIANT)
        if field.startswith("transport.") and column in values:
            yield field.removeprefix("transport."), values[column]
