"""Why a flow did not go faster, bin by bin.

Each bin of a flow's life gets one cause. The order of the rules is their precedence: what stops a sender altogether (a
pause, a timer) comes before what it does to itself (its floor), that before a full link, and a full link before what
only matters where links have room (receiver window, slow start).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from p4cc.explain.causes import Cause
from p4cc.explain.timeline import SATURATED

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from p4cc.explain.cards import Card
    from p4cc.explain.network import Crossing, Way
    from p4cc.explain.pauses import Pauses
    from p4cc.explain.settings import Settings
    from p4cc.explain.timeline import Flags, Floats, Flow, Samples, Timeline

ALONE = 0.9
"""Share of a full link's payload from which a flow has it for itself."""
UNEVEN = 0.2
"""Difference between the loads of equal choices from which one is too full."""
BUSY = 0.5
"""Mean load from which a link between switches may have bounded a flow."""
_QUEUED = 1.25
"""A smoothed round-trip time above its least value, from which a flow's packets wait."""
_NEAR = 1.02
_ABOVE_FLOOR = 1.5
_GAPS = 0.2
"""Share of a bin that the gap between two packets takes at most where a sender without packets under way idles."""
_CAUSES = list(Cause)
_NUMBER = {cause: number for number, cause in enumerate(_CAUSES)}


@dataclass(frozen=True)
class Verdict:
    """What bounded one flow."""

    flow: Flow
    shares: Mapping[Cause, float]
    """Of its time; they sum to 1."""
    link: str
    """The link that was full, where one was."""

    @property
    def bound(self) -> Cause:
        """The cause with the largest share; a full link for itself only where there is little else."""
        others = {cause: share for cause, share in self.shares.items() if cause is not Cause.LINE}
        if not others or self.shares.get(Cause.LINE, 0.0) >= 0.8:
            return Cause.LINE
        return max(others, key=lambda cause: others[cause])


@dataclass(frozen=True)
class _Bins:
    """The bins of a flow's life."""

    within: slice
    spans_ns: Floats
    rate_bps: Floats
    """Payload acknowledged."""
    is_still: Flags
    """Nothing was acknowledged."""


class Judge:
    """Judges the flows of one run."""

    def __init__(self, timeline: Timeline, settings: Settings, pauses: Pauses, cards: Mapping[str, Card]) -> None:
        self._timeline = timeline
        self._cards = cards
        self._settings = settings
        self._pauses = pauses
        self._loads: dict[tuple[Way, bool], Floats] = {}
        self._waits: dict[Way, Flags | None] = {}

    def verdict(self, flow: Flow, crossing: Crossing | None) -> Verdict:
        """What bounded a flow."""
        bins = self._bins(flow)
        samples = self._timeline.samples.get(flow.flow_id)
        found = np.full(bins.spans_ns.size, _NUMBER[Cause.UNKNOWN])
        links: list[str] = []
        is_full = np.zeros(found.size, dtype=np.bool_)
        if samples is not None:
            self._mark_room(flow, bins, samples, found)
        elif not self._settings.is_paced and self._may_start(flow):
            found[:] = _NUMBER[Cause.START]
        if crossing is not None:
            is_full, links = self._mark_links(flow, crossing, bins, samples, found)
        self._mark_halts(flow, crossing, bins, samples, is_full, found)
        edges = self._timeline.edges[bins.within.start : bins.within.stop + 1]
        paused = self._pauses.share(crossing, edges)
        if crossing is not None and (card := self._cards.get(flow.dst)) is not None:
            is_held = self._is_held(card, crossing, bins, edges) & (found != _NUMBER[Cause.TIMEOUT])
            found[is_held] = _NUMBER[Cause.SLOW_HOST]
            # Its pauses have the same cause.
            paused[is_held] = 0
        return Verdict(flow, _shares(bins, found, paused), links[0] if links else "")

    def _is_held(self, card: Card, crossing: Crossing, bins: _Bins, edges: npt.NDArray[np.int64]) -> Flags:
        """Bins in which the receiver got as much as it takes."""
        # Slow receivers have one link.
        ((last, _),) = [end for end in crossing.ends if end[1]]
        load_bps = self._load(last, True)[bins.within] * last.rate_bps
        return card.is_slow(edges) & (load_bps >= SATURATED * card.rate_bps)

    def _bins(self, flow: Flow) -> _Bins:
        edges = self._timeline.edges
        first = max(0, int(np.searchsorted(edges, flow.start_ns, side="right")) - 1)
        last = min(edges.size - 1, max(first + 1, int(np.searchsorted(edges, flow.end_ns, side="left"))))
        clipped = np.clip(edges[first : last + 1], flow.start_ns, max(flow.end_ns, flow.start_ns + 1))
        spans = np.maximum(np.diff(clipped).astype(np.float64), 1e-9)
        done = np.diff(self._timeline.acked(flow))[first:last]
        rate_bps = self._timeline.smoothed(8e9 * done / spans)
        return _Bins(slice(first, last), spans, rate_bps, done <= 0)

    def _may_start(self, flow: Flow) -> bool:
        """Whether a flow between two samples needed more than its initial window."""
        first_bytes = self._settings.iw_segments * self._settings.mss_bytes
        return bool(self._timeline.samples) and flow.size_bytes is not None and flow.size_bytes > first_bytes

    def _mark_room(self, flow: Flow, bins: _Bins, samples: Samples, found: npt.NDArray[np.int64]) -> None:
        """What bounds a sender whose path has room."""
        at = self._rows(bins, samples)
        is_known = at >= 0
        at = np.maximum(at, 0)
        found[is_known] = _NUMBER[Cause.SENDER]
        phase = samples.phases[at]
        found[is_known & np.isin(phase, ("slow_start", "smoothing"))] = _NUMBER[Cause.START]
        cwnd, flight = samples.columns["cwnd_segments"][at], samples.columns["flight_segments"][at]
        limit = cwnd
        rwnd = self._settings.rwnd_segments
        if rwnd is not None:
            limit = np.minimum(cwnd, rwnd)
            found[is_known & (cwnd >= rwnd - 0.5) & (flight >= rwnd - 1)] = _NUMBER[Cause.RECEIVER]
        if not self._settings.is_paced:
            found[is_known & (phase == "recovery")] = _NUMBER[Cause.RECOVERY]
        has_nothing = self._has_nothing(flow, samples, at, limit - flight >= 1, float(np.median(bins.spans_ns)))
        found[is_known & has_nothing & (phase != "recovery")] = _NUMBER[Cause.APPLICATION]

    def _rows(self, bins: _Bins, samples: Samples) -> npt.NDArray[np.int64]:
        edges = self._timeline.edges
        starts = edges[bins.within]
        return samples.at(starts, edges[bins.within.start + 1 : bins.within.stop + 1])

    def _has_nothing(
        self, flow: Flow, samples: Samples, at: npt.NDArray[np.int64], has_room: Flags, bin_ns: float
    ) -> Flags:
        """Whether the application had nothing to send, the end of the flow apart."""
        if not self._settings.may_wait(flow.label):
            return np.zeros(at.size, np.bool_)
        next_byte, acked = samples.columns["next_byte"][at], samples.columns["acked_bytes"][at]
        has_more = np.full(at.size, True) if flow.size_bytes is None else next_byte < flow.size_bytes
        if self._settings.is_paced:
            # Between two packets of a slow sender nothing is outstanding either.
            gap_ns = 8e9 * self._settings.mss_bytes / np.maximum(samples.columns["rate_bps"][at], 1.0)
            has_room = (next_byte <= acked) & (gap_ns < _GAPS * bin_ns)
        return has_more & has_room

    def _mark_links(
        self,
        flow: Flow,
        crossing: Crossing,
        bins: _Bins,
        samples: Samples | None,
        found: npt.NDArray[np.int64],
    ) -> tuple[Flags, list[str]]:
        """Marks bins in which a link was full; the bins, and the links by how long they were."""
        payload_share = self._settings.payload_share
        room_bps = crossing.rate_bps * payload_share
        total = np.zeros(found.size, dtype=np.bool_)
        for_long: dict[str, float] = {}
        is_congested = self._is_congested(flow, bins, samples)
        for way in crossing.siblings:
            is_full = self._inner_is_full(way, bins) & is_congested
            cause = Cause.COLLISION if self._is_uneven(way, crossing.siblings[way]) else Cause.SHARING
            found[is_full & ~total] = _NUMBER[cause]
            for_long[str(way)] = float(bins.spans_ns[is_full].sum())
            total |= is_full
        for way, is_last in crossing.ends:
            load = self._load(way, is_last)[bins.within]
            is_full = load >= SATURATED
            own = bins.rate_bps >= ALONE * load * way.rate_bps * payload_share
            found[is_full & ~own] = _NUMBER[Cause.SHARING]
            found[is_full & own] = _NUMBER[Cause.LINE]
            for_long[str(way)] = float(bins.spans_ns[is_full].sum())
            total |= is_full
        is_line = bins.rate_bps >= SATURATED * room_bps
        found[is_line] = _NUMBER[Cause.LINE]
        links = sorted((name for name, span in for_long.items() if span), key=lambda name: -for_long[name])
        return total | is_line, links

    def _is_congested(self, flow: Flow, bins: _Bins, samples: Samples | None) -> Flags:
        """Whether the flow's own packets met a queue: longer round trips, or marks and losses at all."""
        met = np.full(bins.spans_ns.size, bool(flow.marks or flow.retransmitted_pkts))
        if samples is None:
            return met
        srtt = samples.columns["srtt_ns"]
        if np.isnan(srtt).all():
            return met
        at = np.maximum(self._rows(bins, samples), 0)
        return met | (srtt[at] > _QUEUED * np.nanmin(srtt))

    def _inner_is_full(self, way: Way, bins: _Bins) -> Flags:
        if way not in self._waits:
            self._waits[way] = self._timeline.waits(way)
        is_busy = self._timeline.util(way) >= BUSY
        waits = self._waits[way]
        if waits is None:
            return np.full(bins.spans_ns.size, is_busy)
        return waits[bins.within] | (self._timeline.util(way) >= SATURATED)

    def _is_uneven(self, way: Way, siblings: tuple[Way, ...]) -> bool:
        loads = [self._timeline.util(one) for one in siblings]
        return self._timeline.util(way) - min(loads) >= UNEVEN * max(loads)

    def _load(self, way: Way, is_last: bool) -> Floats:
        key = (way, is_last)
        if key not in self._loads:
            share = self._settings.payload_share
            self._loads[key] = self._timeline.load(way, is_last=is_last, payload_share=share)
        return self._loads[key]

    def _mark_halts(
        self,
        flow: Flow,
        crossing: Crossing | None,
        bins: _Bins,
        samples: Samples | None,
        is_full: Flags,
        found: npt.NDArray[np.int64],
    ) -> None:
        """What a sender does to itself or waits for, whatever links do."""
        if samples is None:
            if flow.timeouts:
                found[~is_full] = _NUMBER[Cause.TIMEOUT]
            return
        at = self._rows(bins, samples)
        is_known = at >= 0
        at = np.maximum(at, 0)
        fair_bps = np.full(at.size, np.inf) if crossing is None else self._fair_bps(crossing, bins)
        at_floor, floor_bps = self._at_floor(samples, at, is_full)
        # A sender at its floor on a full link is one of many, unless all of them at their floors fill it.
        found[is_known & at_floor & (~is_full | (floor_bps >= ALONE * fair_bps))] = _NUMBER[Cause.FLOOR]
        outstanding = samples.columns["next_byte"][at] > samples.columns["acked_bytes"][at]
        if flow.retransmitted_pkts:
            found[bins.is_still & is_known & outstanding & ~is_full] = _NUMBER[Cause.RECOVERY]
        if flow.timeouts:
            rto = samples.columns["rto_ns"][at]
            srtt = np.nan_to_num(samples.columns["srtt_ns"][at])
            least = np.where(rto > 0, 0.6 * rto, 3 * srtt)
            for first, last in _stretches(bins.is_still & is_known & outstanding):
                if bins.spans_ns[first:last].sum() >= least[first]:
                    found[first:last] = _NUMBER[Cause.TIMEOUT]

    def _fair_bps(self, crossing: Crossing, bins: _Bins) -> Floats:
        """An equal share of the payload that the fuller host's links carry."""
        shares: list[Floats] = []
        for stage, is_last in ((crossing.stages[0], False), (crossing.stages[-1], True)):
            flows = np.maximum(self._timeline.active(stage[0], is_last=is_last)[bins.within], 1)
            shares.append(sum(way.rate_bps for way in stage) * self._settings.payload_share / flows)
        return np.minimum(*shares)

    def _at_floor(self, samples: Samples, at: npt.NDArray[np.int64], is_full: Flags) -> tuple[Flags, Floats]:
        """Whether the sender is at its floor, and the rate there."""
        columns = samples.columns
        if self._settings.is_paced:
            rates = columns["rate_bps"]
            line = 0.0 if np.isnan(rates).all() else float(np.nanmax(rates))
            floor = self._settings.floor_bps(line)
            if floor is None:
                return np.zeros(at.size, np.bool_), np.zeros(at.size)
            return rates[at] <= _NEAR * floor, np.full(at.size, floor)
        least = self._settings.cwnd_min
        if least is None:
            return np.zeros(at.size, np.bool_), np.zeros(at.size)
        is_sending = columns["next_byte"][at] > columns["acked_bytes"][at]
        # On a full link a window goes up a segment from its floor and is cut again.
        most = np.where(is_full, least + _ABOVE_FLOOR, least * _NEAR)
        is_least = is_sending & (columns["cwnd_segments"][at] <= most) & (samples.phases[at] == "avoidance")
        # Of a window: at the shortest round trip, for longer ones come from the queue that it makes.
        srtt = columns["srtt_ns"]
        base_ns = np.inf if np.isnan(srtt).all() else float(np.nanmin(srtt))
        return is_least, np.full(at.size, 8e9 * least * self._settings.mss_bytes / base_ns)


def _stretches(flags: Flags) -> list[tuple[int, int]]:
    """First and last places of runs of true values."""
    steps = np.diff(np.concatenate(([0], flags.astype(np.int8), [0])))
    return list(zip(np.flatnonzero(steps == 1).tolist(), np.flatnonzero(steps == -1).tolist(), strict=True))


def _shares(bins: _Bins, found: npt.NDArray[np.int64], paused: Floats) -> dict[Cause, float]:
    """Shares of time by cause, those of pauses taken out of each bin."""
    total = float(bins.spans_ns.sum())
    by_cause: dict[Cause, float] = {}
    weights = bins.spans_ns * (1.0 - paused)
    if (pause := float((bins.spans_ns * paused).sum())) > 0:
        by_cause[Cause.PAUSE] = pause / total
    numbers: list[int] = np.unique(found).tolist()
    for number in numbers:
        if (share := float(weights[found == number].sum()) / total) > 0:
            by_cause[_CAUSES[number]] = by_cause.get(_CAUSES[number], 0.0) + share
    return dict(sorted(by_cause.items(), key=lambda item: -item[1]))
