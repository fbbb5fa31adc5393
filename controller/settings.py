"""Settings of a link's switch port and senders, for four schemes: every reading, the chosen one, and why.

Sources: DCTCP (Alizadeh et al., SIGCOMM 2010), the GST paper (docs/algorithms/slow-start.md#gst), DCQCN (Zhu et al.,
SIGCOMM 2015), HPCC (Li et al., SIGCOMM 2019) with its authors' simulation script (docs/algorithms/marking.md#red,
docs/algorithms/hpcc.md#hpcc-parameters). Pure: figures of a link in, settings out.
"""

from dataclasses import dataclass
from fractions import Fraction

from controller.model import Bottleneck, argmax_window_pkts, utilisation
from controller.planner import (
    MOST_OF_BUFFER,
    KRule,
    ThresholdRule,
    Thresholds,
    bound_warning,
    choose_thresholds,
    k_dc_readings,
    k_readings,
    threshold_warnings,
)
from controller.red import DEPLOYMENT, DEPLOYMENT_RATE_BPS, REFERENCE_RATE_BPS, SCRIPT

DCTCP_SOURCE = "DCTCP, Alizadeh et al., SIGCOMM 2010"
GST_SOURCE = "GST paper"
GST_BOUND_SOURCE = "GST paper, equation 6"
DCQCN_SOURCE = "DCQCN, Zhu et al., SIGCOMM 2015"
HPCC_SOURCE = "HPCC, Li et al., SIGCOMM 2019"
HPCC_SCRIPT_SOURCE = "simulation script of HPCC's authors"

# HPCC's paper (docs/algorithms/hpcc.md#hpcc-parameters); its authors'
# script has maxStage 0 and a step of 10 Mbit/s for each 25 Gbit/s.
ETA = Fraction(95, 100)
MAX_STAGE = 5
_SCRIPT_MAX_STAGE = 0
_SCRIPT_STEP = Fraction(10_000_000, REFERENCE_RATE_BPS)

_GIVEN = "as specified"


@dataclass(frozen=True)
class Setting:
    """One reading of one setting: a length in bytes (a threshold, a window, a step), or a plain number."""

    scheme: str
    name: str
    reading: str
    formula: str
    source: str
    chosen: bool
    size_bytes: float | None = None
    value: float | None = None
    usable: bool = True


@dataclass(frozen=True)
class LinkPlan:
    """The plan of one link: thresholds, every reading of every setting, reasons and warnings."""

    at: Bottleneck
    rule: KRule
    thresholds: Thresholds
    settings: tuple[Setting, ...]
    why: dict[str, str]
    """One sentence for each scheme."""
    warnings: tuple[str, ...]

    def pkts(self, size_bytes: float) -> float:
        """A length in packets of the link's size."""
        return size_bytes / self.at.packet_bytes

    def queue_us(self, size_bytes: float) -> float:
        """How long the link takes to send this, in microseconds."""
        return 8e6 * size_bytes / self.at.rate_bps

    def chosen(self, name: str) -> Setting:
        """The chosen reading of a setting; raises KeyError."""
        result = next((one for one in self.settings if one.chosen and one.name == name), None)
        if result is None:
            raise KeyError(name)
        return result

    def to_plain(self) -> dict[str, object]:
        """Plain data for JSON; units end the names."""
        at, peak = self.at, argmax_window_pkts(self.at)
        return {
            "buffer_pkts": at.buffer_pkts,
            "rate_bps": at.rate_bps,
            "rtt_ns": at.rtt_ns,
            "rto_ns": at.rto_ns,
            "packet_bytes": at.packet_bytes,
            "senders": at.senders,
            "bdp_pkts": at.bdp_pkts,
            "corner_window_pkts": at.corner_window_pkts,
            "peak_window_pkts": peak,
            "peak_utilisation": utilisation(at, peak),
            "k_rule": self.rule.value,
            "k_pkts": self.thresholds.k_pkts,
            "k_dc_pkts": self.thresholds.k_dc_pkts,
            "settings": [self._plain_setting(one) for one in self.settings],
            "why": self.why,
            "warnings": list(self.warnings),
        }

    def _plain_setting(self, one: Setting) -> dict[str, object]:
        size: dict[str, float | None] = {"value": one.value}
        if one.size_bytes is not None:
            size = {
                "size_pkts": self.pkts(one.size_bytes),
                "size_bytes": one.size_bytes,
                "queue_us": self.queue_us(one.size_bytes),
            }
        return {
            "scheme": one.scheme,
            "name": one.name,
            "reading": one.reading,
            "formula": one.formula,
            **size,
            "usable": one.usable,
            "chosen": one.chosen,
            "source": one.source,
        }


def plan_link(at: Bottleneck, rule: ThresholdRule | None = None) -> LinkPlan:
    """Every setting for one link, by the default rule if none is given.

    Raises PlannerError where a rule gives no threshold.
    """
    rule = rule or ThresholdRule()
    thresholds = choose_thresholds(at, rule)
    given = rule.k_dc_pkts is not None
    settings = (
        *_dctcp(at, thresholds.k_dc_pkts, given=given),
        *_gst(at, thresholds, rule.k_rule),
        *_dcqcn(at),
        *_hpcc(at),
    )
    why = {
        "DCTCP": _why_k_dc(at, thresholds.k_dc_pkts, given=given),
        "GST": _why_k(rule.k_rule),
        "DCQCN": _why_red(at),
        "HPCC": _why_hpcc(at),
    }
    warnings = (bound_warning(at, rule.k_dc_pkts), *threshold_warnings(thresholds, at.buffer_pkts))
    return LinkPlan(at, rule.k_rule, thresholds, settings, why, tuple(filter(None, warnings)))


def falling(plans: list[tuple[str, LinkPlan]]) -> tuple[str, ...]:
    """Says where a faster link has a smaller threshold than a slower one of the same or a smaller buffer."""
    result: list[str] = []
    for name, fast in plans:
        for slower, slow in plans:
            if fast.at.rate_bps <= slow.at.rate_bps or fast.at.buffer_pkts < slow.at.buffer_pkts:
                continue
            if fast.thresholds.k_pkts < slow.thresholds.k_pkts:
                result.append(
                    f"{name} is faster than {slower} but has a smaller K ({fast.thresholds.k_pkts} and "
                    f"{slow.thresholds.k_pkts} packets): k_rule {fast.rule.value} subtracts the packets in flight "
                    "from the buffer; k_rule proportional grows with the rate"
                )
    return tuple(result)


def _dctcp(at: Bottleneck, k_dc_pkts: int, *, given: bool) -> list[Setting]:
    readings = k_dc_readings(at)
    values = [
        ("bound", "C RTT / 7", readings.bound_pkts, DCTCP_SOURCE),
        ("by_rate", "20, 65 at 1, 10 Gb/s", readings.by_rate_pkts, DCTCP_SOURCE),
        ("buffer_share", f"{100 * MOST_OF_BUFFER} % of buffer", readings.most_pkts, GST_SOURCE),
        ("buffer_end", "7/8 of buffer", readings.end_pkts, ""),
    ]
    if given:
        values.append(("given", _GIVEN, k_dc_pkts, ""))
    taken = "given" if given else readings.taken
    return [
        Setting("DCTCP", "k_dc", name, formula, source, name == taken, size_bytes=pkts * at.packet_bytes)
        for name, formula, pkts, source in values
    ]


def _gst(at: Bottleneck, thresholds: Thresholds, rule: KRule) -> list[Setting]:
    settings: list[Setting] = []
    for reading in k_readings(at, thresholds.k_dc_pkts):
        chosen = reading.name == rule.value
        # What is installed is whole packets, rounded down.
        pkts = thresholds.k_pkts if chosen else reading.value_pkts
        source = GST_SOURCE if reading.name == KRule.PROPORTIONAL else GST_BOUND_SOURCE
        size = pkts * at.packet_bytes
        settings.append(Setting("GST", "k", reading.name, reading.formula, source, chosen, size, usable=reading.usable))
    if rule is KRule.FIXED:
        size = thresholds.k_pkts * at.packet_bytes
        settings.append(Setting("GST", "k", "fixed", _GIVEN, "", True, size))
    return settings


def _dcqcn(at: Bottleneck) -> list[Setting]:
    scale = Fraction(at.rate_bps, REFERENCE_RATE_BPS)
    published = Fraction(at.rate_bps, DEPLOYMENT_RATE_BPS)
    settings: list[Setting] = []
    for reading, curve, factor, source, chosen in (
        ("hpcc", SCRIPT, scale, HPCC_SOURCE, True),
        ("dcqcn", DEPLOYMENT, published, DCQCN_SOURCE, False),
    ):
        base = "25" if chosen else "40"
        for name, size in (("k_min", curve.k_min_bytes), ("k_max", curve.k_max_bytes)):
            formula = f"{size // 1000} kB per {base} Gb/s"
            settings.append(Setting("DCQCN", name, reading, formula, source, chosen, float(size * factor)))
        settings.append(Setting("DCQCN", "p_max", reading, "at k_max", source, chosen, value=float(curve.p_max)))
    return settings


def _hpcc(at: Bottleneck) -> list[Setting]:
    window = Fraction(at.rate_bps * at.rtt_ns, 8_000_000_000)
    by_flows, script = window * (1 - ETA) / at.senders, window * _SCRIPT_STEP
    of_flows = f"W_init (1 - eta)/{at.senders}"
    return [
        Setting("HPCC", "eta", "hpcc", "", HPCC_SOURCE, True, value=float(ETA)),
        Setting("HPCC", "max_stage", "hpcc", "", HPCC_SOURCE, True, value=MAX_STAGE),
        Setting("HPCC", "max_stage", "script", "", HPCC_SCRIPT_SOURCE, False, value=_SCRIPT_MAX_STAGE),
        Setting("HPCC", "base_rtt_ns", "hpcc", "T", HPCC_SOURCE, True, value=at.rtt_ns),
        Setting("HPCC", "w_init", "hpcc", "C T, the largest window", HPCC_SOURCE, True, float(window)),
        Setting("HPCC", "w_ai", "hpcc", of_flows, HPCC_SOURCE, True, float(by_flows)),
        Setting("HPCC", "w_ai", "script", "10 Mb/s T per 25 Gb/s", HPCC_SCRIPT_SOURCE, False, float(script)),
    ]


def _why_k_dc(at: Bottleneck, k_dc_pkts: int, *, given: bool) -> str:
    readings = k_dc_readings(at)
    if given:
        below = "not " if k_dc_pkts < readings.bound_pkts else ""
        return f"K_dc as specified; it is {below}above C RTT / 7, below which the link runs idle after a window cut"
    reasons = {
        "bound": "C RTT / 7 decides: less would let the link run idle, and the paper's setting by rate "
        f"({readings.by_rate_pkts}) does not fit in a buffer of {at.buffer_pkts}",
        "by_rate": f"the paper's setting, in proportion to the rate: C RTT / 7 ({readings.bound_pkts}) assumes "
        "evenly spaced packets, but hosts send bursts",
        "buffer_share": f"the paper's setting by rate ({readings.by_rate_pkts}) leaves no room above it in a buffer "
        f"of {at.buffer_pkts}, so K_dc is the same fraction of the buffer as the GST paper's 65 of "
        "100",
        "buffer_end": f"C RTT / 7 ({readings.bound_pkts}) exceeds a buffer of {at.buffer_pkts}, so K_dc is seven "
        "eighths of the buffer",
    }
    return reasons[readings.taken]


def _why_k(rule: KRule) -> str:
    reasons = {
        KRule.PROPORTIONAL: "the GST paper's best of K = 5, 25 and 45 with K_dc 65, in the same proportion, for "
        "senders that stop growing at the first mark (gst_entry hold)",
        KRule.HALVE_ONCE: "the paper's bound with its window halved once, for senders that double until the round "
        "ends (gst_entry window_close); a faster link gets a smaller K, because the packets in "
        "flight are subtracted",
        KRule.QUARTER_BUFFER: "a quarter of the buffer, close to the GST paper's value; independent of the rate",
        KRule.FIXED: "K as specified",
    }
    return reasons[rule]


def _why_red(at: Bottleneck) -> str:
    k_max_pkts = SCRIPT.k_max_bytes * Fraction(at.rate_bps, REFERENCE_RATE_BPS) / at.packet_bytes
    text = "k_min and k_max of the HPCC paper's comparison scale with the rate; DCQCN's published ones are for 40 Gb/s"
    if k_max_pkts >= at.buffer_pkts:
        text += (
            f"; this buffer of {at.buffer_pkts} is smaller than k_max, so PFC or losses occur before every packet "
            "is marked"
        )
    return text


def _why_hpcc(at: Bottleneck) -> str:
    return (
        f"eta {float(ETA):g} and max_stage {MAX_STAGE} are the paper's; with w_ai {at.senders} flows (--senders) "
        "fill what eta leaves free; HPCC bounds the senders' windows, so the queue stays nearly empty"
    )
