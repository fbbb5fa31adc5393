"""All tables and columns of results: meaning, unit, and meaning of null.

The engine declares its columns (`engine/netsim/src/record/schema.rs`); columns derived from these, or read over
P4Runtime, are declared here. Files carry these texts in their metadata, and docs/reference/results.md is generated
from them. A value for an event that did not happen is null; no number represents "none".
"""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from p4cc import _engine
from p4cc.analysis.percentiles import fewest

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    text: str
    unit: str = ""
    null: str = ""
    """The meaning of a null; empty without nulls."""
    kind: str = ""
    """Arrow type of an engine column."""


@dataclass(frozen=True)
class Table:
    """One table of results, with one row per `row`."""

    name: str
    row: str
    columns: tuple[Column, ...]
    when: str = "always"
    """The scenario's field that records it."""

    def column(self, name: str) -> Column | None:
        """A column by name."""
        return next((column for column in self.columns if column.name == name), None)


def _declared() -> dict[str, Table]:
    found = dict[str, Table]()
    for name, row, when, columns in _engine.result_tables():
        held = tuple(Column(column, text, unit, null, kind) for column, kind, unit, text, null in columns)
        found[name] = Table(name, row, held, when)
    return found


ENGINE = _declared()
"""The engine's tables before changes, in order."""

KEYS = (
    Column("variant", "the scenario's name for the senders"),
    Column(
        "algorithm",
        "the senders' algorithms by their names for `--set variant=`: `dctcp`, `gst+dctcp`, `hpcc`; of the row's flow "
        "or label, else of the variant",
    ),
    Column("seed", "the seed of the run"),
)
"""In front of every row, with a column for each swept field before the seed."""

ALGORITHM = "algorithm"

_TIME = Column("time_ns", "virtual time", "ns")
_FLOW = Column("flow_id", "the flow, from 1")
_SWITCH = Column("switch", "the switch")
_PORT = Column("port", "its port's number")
_PEER = Column("peer", "the host or switch at the other end of the port's link; of parallel links with its port, s2:4")
_CLASS = Column("class", "the label of the flow's traffic")
_NOT_COMPLETE = "the flow did not finish before the run ended, or has no size"
_NO_COMPLETE = "no flow finished"


def _percentiles(
    name: str, text: str, unit: str, percents: tuple[int, ...], null: str, count: str = ""
) -> tuple[Column, ...]:
    """A column for each percentile; `count` is the column with the number of values behind them."""
    ending = {"ns": "_ns", "packets": "_pkts"}.get(unit, "")
    middle = "_" if name else ""
    return tuple(
        Column(
            f"{name}{middle}p{percent}{ending}",
            f"{_ORDINAL.get(percent, f'{percent}th')} percentile of {text}{_few(percent, count)}",
            unit,
            null,
        )
        for percent in percents
    )


_ORDINAL = {1: "1st"}


def _few(percent: int, count: str) -> str:
    """The meaning of a percentile of few values, if the number of values matters."""
    if not count or fewest(percent) < 3:
        return ""
    return f"; the {'smallest' if percent < 50 else 'largest'} one if `{count}` is below {fewest(percent)}"


_TRAFFIC = (
    _CLASS,
    Column("flows", "flows with this label"),
    Column("completed", "of these, complete"),
    Column("acked_bytes", "payload acknowledged", "bytes"),
    Column(
        "goodput_bps",
        "payload acknowledged, over the time from first start to last finish or end",
        "bit/s",
        "no flow began before the run ended",
    ),
    Column("jain_index", "Jain's fairness index of the flows' goodputs", "", "nothing flowed"),
    Column("timeouts", "retransmission timeouts; over TCP those of SYN and FIN too"),
    Column("deadline_flows", "flows with a deadline"),
    Column("deadlines_met", "of these, in time"),
    Column("in_time_share", "share of them in time", "", "no flow has a deadline"),
    Column("quenched", "flows that senders gave up because of their deadline"),
    Column("fct_mean_ns", "mean completion time of finished flows", "ns", _NO_COMPLETE),
    Column("slowdown_mean", "mean slowdown of finished flows", "", _NO_COMPLETE),
    *_percentiles("fct", "completion times of finished flows", "ns", (1, 5, 50, 95, 99), _NO_COMPLETE, "completed"),
    *_percentiles("slowdown", "slowdowns of finished flows", "", (1, 5, 50, 95, 99), _NO_COMPLETE, "completed"),
)

_QUEUE_STATS = (
    _SWITCH,
    _PORT,
    _PEER,
    Column("mean_pkts", "mean depth over time", "packets"),
    *_percentiles("", "the depth over time", "packets", (50, 95, 99), ""),
    Column("max_pkts", "largest depth", "packets"),
)

_POD_PAIRS = (
    Column("src_pod", "pod of the senders"),
    Column("dst_pod", "pod of the receivers"),
    Column("is_full", "whether both pods have as many hosts as the largest"),
    Column("flows", "flows between them"),
    Column("flows_completed", "of these, complete"),
    Column("bytes", "their sizes, summed", "bytes"),
    Column(
        "uplink_share", "share of the first pod's outgoing bytes that the second gets", "", "nothing leaves the pod"
    ),
    *_percentiles("fct", "completion times", "ns", (50, 95), _NO_COMPLETE, "flows_completed"),
    *_percentiles("slowdown", "slowdowns", "", (50, 95), _NO_COMPLETE, "flows_completed"),
    *_percentiles("slowdown_rate_only", "slowdowns by the rate alone", "", (50, 95), _NO_COMPLETE, "flows_completed"),
)

_SWEPT_METRICS = (
    Column("slowdown_mean", "mean slowdown of finished flows", "", _NO_COMPLETE),
    *_percentiles("slowdown", "slowdowns of finished flows", "", (50, 95, 99), _NO_COMPLETE),
    Column("fct_mean_ns", "mean completion time of finished flows", "ns", _NO_COMPLETE),
    Column("fct_p99_ns", "99th percentile of completion times of finished flows", "ns", _NO_COMPLETE),
    Column("goodput_bps", "payload acknowledged, over the time from first start to last finish or end", "bit/s"),
    Column("finish_ns", "when the last flow finished", "ns", "not every flow finished"),
    Column("pauses", "pause frames sent", "frames", "not measured"),
    Column("queue_p99_bytes", "99th percentile of depths of ports", "bytes", "record.queue_histogram_interval_ns is 0"),
    Column("jain_index", "Jain's fairness index of the flows' goodputs", "", "nothing flowed"),
)


def _spread(column: Column) -> tuple[Column, ...]:
    """A metric of `p4cc sweep` over the seeds: median, smallest and largest value, number of seeds with a value."""
    null = f"in every seed: {column.null}" if column.null else ""
    return (
        Column(column.name, f"{column.text}; the median over the seeds with a value", column.unit, null),
        Column(f"{column.name}_low", "its smallest value over the seeds", column.unit, null),
        Column(f"{column.name}_high", "its largest value over the seeds", column.unit, null),
        Column(f"{column.name}_seeds", "seeds that have a value"),
    )


_SETTINGS = (
    Column("seeds", "seeds that were run"),
    Column("flows", "finished flows, which percentiles cover; the fewest over the seeds"),
    Column("unfinished", "flows that had not finished when the run ended; the median over the seeds", "flows"),
    *(column for metric in _SWEPT_METRICS for column in _spread(metric)),
    Column(
        "on_front",
        "whether the setting is on the Pareto front of the two metrics that the table's metadata name (`objectives`): "
        "no other setting of the same variant and point is at least as good in both and better in one; false if a seed "
        "lacks a value of either, or other settings leave fewer flows unfinished",
    ),
)


def _of_engine(name: str, *more: Column) -> Table:
    """An engine's table in its result form: with names of switches, ports with a neighbour, and `more` columns."""
    held = ENGINE[name]
    is_of_switches = held.column("device_id") is not None
    columns = list[Column]()
    for column in held.columns:
        if column.name == "device_id":
            columns.append(_SWITCH)
        elif column.name == "port" and is_of_switches:
            columns += (column, _PEER)
        elif column.name != ALGORITHM:
            columns.append(column)
    return replace(held, columns=(*columns, *more))


TABLES = (
    _of_engine(
        "flows",
        Column(
            "ideal_fct_ns",
            "completion time alone in the network (Slowdown, above)",
            "ns",
            "the flow has no size",
        ),
        Column("slowdown", "fct_ns / ideal_fct_ns (Slowdown, above)", "", _NOT_COMPLETE),
        Column(
            "slowdown_rate_only",
            "fct_ns / (payload's time at the slowest link's rate, without delay)",
            "",
            _NOT_COMPLETE,
        ),
        Column("src_pod", "pod of the sender, in topologies with pods"),
        Column("dst_pod", "pod of the receiver, in topologies with pods"),
    ),
    Table("traffic", "label of traffic", _TRAFFIC),
    _of_engine(
        "rounds",
        Column("latency_ns", "finish_ns - start_ns", "ns", "the round did not finish"),
        Column("label", "the label of the group's traffic"),
    ),
    _of_engine("collectives"),
    _of_engine("collective_steps"),
    _of_engine("jobs"),
    _of_engine("operations"),
    Table(
        "coflows",
        "coflow, or request of a tree, that began",
        (
            Column("job", "the label of its traffic"),
            Column("coflow", "its name in the trace, or the number of the request, from 0"),
            Column("flows", "flows of it that began"),
            Column("bytes", "their payload", "bytes"),
            Column("start_ns", "when the first of them began, or the request", "ns"),
            Column("finish_ns", "when the last byte arrived", "ns", "it is not complete"),
            Column("completion_ns", "finish_ns - start_ns", "ns", "it is not complete"),
            Column("deadline_ns", "its deadline, after its start", "ns", "it has none"),
            Column("deadline_met", "1 if it was complete by then", "", "it has none, or the run ended before"),
        ),
        "traffic of kind coflows or tree",
    ),
    _of_engine("windows"),
    _of_engine("algorithm_state"),
    _of_engine("queues"),
    Table("queue_stats", "port", _QUEUE_STATS, "record.queues_interval_ns"),
    _of_engine("queue_histogram"),
    _of_engine("events"),
    _of_engine("checkpoints"),
    _of_engine("rtts", _CLASS),
    Table(
        "goodput",
        "flow and bin with acknowledged payload",
        (
            _FLOW,
            Column("time_ns", "start of the bin", "ns"),
            Column(
                "rate_bps",
                "payload acknowledged within the bin; above the line rate if one ACK fills a gap and also covers the "
                "data received after it",
                "bit/s",
            ),
        ),
        "record.goodput_interval_ns and record.windows_interval_ns",
    ),
    Table(
        "slowdown",
        "bin of flow sizes with equally many complete flows",
        (
            Column("max_size_bytes", "largest flow of the bin", "bytes"),
            Column("flows", "complete flows in it"),
            *_percentiles("", "slowdowns, those below 1 counted as 1", "", (50, 95, 99), "", "flows"),
        ),
        "record.slowdown_by_size",
    ),
    _of_engine("ports"),
    _of_engine("port_queues"),
    Table(
        "counters",
        "port of a switch, read over P4Runtime when the run ended",
        (
            _SWITCH,
            _PORT,
            _PEER,
            Column("k_pkts", "threshold K as installed", "packets", "the program has no such threshold"),
            Column("k_dc_pkts", "threshold K_dc as installed", "packets", "the program has no such threshold"),
            Column("level0_pkts", "packets below both", "packets", "the program does not count levels"),
            Column("level1_pkts", "packets at level 1", "packets", "the program does not count levels"),
            Column("level2_pkts", "packets at level 2", "packets", "the program does not count levels"),
        ),
    ),
    Table(
        "control",
        "value that the user's controller wrote down (`Controller.record`)",
        (
            _TIME,
            Column("switch", "its switch", "", "the value belongs to no switch"),
            Column("name", "its name"),
            Column("value", "the value"),
        ),
        "switch.controller",
    ),
    _of_engine("links"),
    _of_engine("link_bytes"),
    _of_engine(
        "pauses",
        Column("paused_share", "paused_ns over the time of the run"),
    ),
    _of_engine("pause_frames"),
    _of_engine("watchdog"),
    _of_engine("slow_receivers"),
    _of_engine("deadlocks"),
    _of_engine("packets_sent"),
    _of_engine("packets_received"),
    _of_engine("headers"),
    _of_engine("hosts"),
    _of_engine("captures"),
    _of_engine("program_counters"),
    _of_engine("program_registers"),
    _of_engine("program_meters"),
    _of_engine("program_tables"),
    _of_engine("drops"),
    _of_engine("program_digests"),
    _of_engine("program_log"),
    Table("pod_pairs", "ordered pair of pods", _POD_PAIRS, "topology with pods"),
    Table(
        "settings",
        "setting of a variant at a point of the scenario's sweep, its values in front of the row instead of the seed",
        _SETTINGS,
        "`p4cc sweep`",
    ),
)
"""In the order of a reader's interest."""


def table(name: str) -> Table:
    """A table by name; raises KeyError."""
    return _BY_NAME[name]


def described(name: str, columns: pa.Table, swept: Mapping[str, str]) -> pa.Schema:
    """The schema of a table with texts and units in its metadata; `swept` has the path of each swept field."""
    known = table(name)
    fields: list[pa.Field[pa.DataType]] = []
    keys = {key.name: key for key in KEYS}
    for field in columns.schema:
        column = known.column(field.name) or keys.get(field.name)
        if column is None and field.name in swept:
            column = Column(field.name, f"swept: {swept[field.name]}")
        if column is None:
            raise KeyError(f"{name}.{field.name} is not described")
        texts = {"description": column.text, "unit": column.unit, "null": column.null}
        fields.append(field.with_metadata({key: text for key, text in texts.items() if text}))
    return pa.schema(fields, {"description": f"one row per {known.row}"})


_BY_NAME = {one.name: one for one in TABLES}
TABLE_NAMES = tuple(_BY_NAME)
