"""Every table and column of results: what it holds, its unit, and what a null in it means.

Files carry these texts in their metadata, and docs/reference/results.md is written from them. What did not happen is
null: no number stands for "none". Engine and derived tables keep to the columns listed here.
"""

# pyarrow's stubs leave some overloads partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from p4cc.analysis.percentiles import fewest

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE = -1
"""The engine's null of integer columns; `without_sentinels` replaces it."""


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    text: str
    unit: str = ""
    null: str = ""
    """What a null means; empty where there is none."""


@dataclass(frozen=True)
class Table:
    """One table of results, a row for each `row`."""

    name: str
    row: str
    columns: tuple[Column, ...]
    when: str = "always"
    """What a scenario asks for to get it."""

    def column(self, name: str) -> Column | None:
        """A column by name."""
        return next((column for column in self.columns if column.name == name), None)


KEYS = (
    Column("variant", "the name that the scenario's file gives to the senders"),
    Column(
        "algorithm",
        "the senders' algorithms by the registry's names, as `--set variant=` takes them: `dctcp`, `gst+dctcp`, "
        "`hpcc`; of the flow or label that the row is of, else of the variant",
    ),
    Column("seed", "the seed of the run"),
)
"""In front of every row, with a column for each field that the scenario sweeps before the seed."""

ALGORITHM = "algorithm"

_TIME = Column("time_ns", "virtual time", "ns")
_FLOW = Column("flow_id", "the flow, from 1")
_SWITCH = Column("switch", "the switch")
_PORT = Column("port", "its port's number")
_PEER = Column("peer", "the host or switch at the other end of the port's link")
_CLASS = Column("class", "the label of the flow's traffic")
_MARKS = (
    Column("marks_level1", "data packets that arrived marked at level 1 (K)", "packets"),
    Column("marks_level2", "data packets that arrived marked at level 2 (K_dc)", "packets"),
)
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
    """What a percentile of few values is, where the number of values decides."""
    if not count or fewest(percent) < 3:
        return ""
    return f"; the {'least' if percent < 50 else 'largest'} of them where `{count}` is below {fewest(percent)}"


_FLOWS = (
    _FLOW,
    Column("src", "the sending host"),
    Column("dst", "the receiving host"),
    _CLASS,
    Column("size_bytes", "payload to send", "bytes", "the flow has no end"),
    Column("start_ns", "when the first packet could go", "ns", "the flow did not start before the run ended"),
    Column("finish_ns", "when the last byte was acknowledged", "ns", _NOT_COMPLETE),
    Column("received_ns", "when the last byte was at the receiver", "ns", _NOT_COMPLETE),
    Column("fct_ns", "completion time: finish_ns - start_ns", "ns", _NOT_COMPLETE),
    Column("deadline_ns", "by when all bytes should be at the receiver", "ns", "the flow has no deadline"),
    Column("deadline_met", "1 if they were, 0 if not", "", "the flow has no deadline"),
    Column("quenched", "1 if the sender gave the flow up because of its deadline"),
    Column("acked_bytes", "payload acknowledged", "bytes"),
    Column("data_pkts", "data packets that left the sender, repetitions and requests for rates included", "packets"),
    Column("retransmitted_pkts", "data packets sent again; of a read, requests", "packets"),
    Column("timeouts", "retransmission timeouts; over TCP those of SYN and FIN too"),
    Column("fast_retransmits", "fast retransmits"),
    *_MARKS,
    Column(
        "ideal_fct_ns",
        "completion time alone in the network (Slowdown, above)",
        "ns",
        "the flow has no size: nothing to compare with",
    ),
    Column("slowdown", "fct_ns / ideal_fct_ns (Slowdown, above)", "", _NOT_COMPLETE),
    Column(
        "slowdown_rate_only", "fct_ns / (payload's time at the slowest link's rate, without delay)", "", _NOT_COMPLETE
    ),
    Column("src_pod", "pod of the sender, in topologies with pods"),
    Column("dst_pod", "pod of the receiver, in topologies with pods"),
)

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
    Column("fct_mean_ns", "mean completion time of the flows that finished", "ns", _NO_COMPLETE),
    Column("slowdown_mean", "mean slowdown of the flows that finished", "", _NO_COMPLETE),
    *_percentiles(
        "fct", "completion times of the flows that finished", "ns", (1, 5, 50, 95, 99), _NO_COMPLETE, "completed"
    ),
    *_percentiles(
        "slowdown", "slowdowns of the flows that finished", "", (1, 5, 50, 95, 99), _NO_COMPLETE, "completed"
    ),
)

_ROUNDS = (
    Column("group", "the group of hosts that take part"),
    Column("round", "number of the round, from 0"),
    Column("start_ns", "when the first request was sent", "ns"),
    Column("finish_ns", "when the last answer was whole", "ns", "the round did not finish"),
    Column("bytes", "payload of all answers", "bytes"),
    Column("goodput_bps", "bytes over the time from start to finish", "bit/s", "the round did not finish"),
    Column("latency_ns", "finish_ns - start_ns", "ns", "the round did not finish"),
    Column("label", "the label of the group's traffic"),
)

_JOB = Column("job", "the label of the collective's traffic, with the number of its group")

_COLLECTIVES = (
    _JOB,
    Column("operation", "`all_reduce`, `all_gather`, `reduce_scatter` or `all_to_all`"),
    Column("schedule", "`ring`, `halving_doubling` or `pairwise`"),
    Column("iteration", "number of the iteration, from 0"),
    Column("ranks", "hosts that take part"),
    Column("size_bytes", "the whole buffer", "bytes"),
    Column("start_ns", "when the first piece left", "ns"),
    Column("finish_ns", "when the last piece was whole", "ns", "the iteration did not finish"),
    Column("completion_ns", "finish_ns - start_ns", "ns", "the iteration did not finish"),
    Column("algorithm_bps", "size_bytes over completion_ns", "bit/s", "the iteration did not finish"),
    Column(
        "bus_bps",
        "algorithm_bps times 2 (n - 1) / n of an all-reduce, (n - 1) / n of the others, with n ranks: NCCL's busbw",
        "bit/s",
        "the iteration did not finish",
    ),
    Column("slowest_step", "the step with the piece that took longest", "", "no piece was received"),
    Column("slowest_step_ns", "from leaving to the last byte of that piece", "ns", "no piece was received"),
    Column("straggler", "the host whose last piece came in last; empty if the iteration did not finish"),
)

_COLLECTIVE_STEPS = (
    _JOB,
    Column("iteration", "number of the iteration, from 0"),
    Column("step", "number of the step in the iteration, from 0"),
    Column("src", "the host that sent the piece"),
    Column("dst", "the host that received it"),
    Column("bytes", "payload of the piece", "bytes"),
    Column("sent_ns", "when the application gave the piece to its sender", "ns"),
    Column("received_ns", "when the piece was whole", "ns", "it is not"),
)

_WINDOWS = (
    _TIME,
    _FLOW,
    Column("cwnd_segments", "congestion window", "segments", "a paced sender has none"),
    Column("ssthresh_segments", "slow start threshold", "segments", "not set yet, or a paced sender"),
    Column("alpha", "DCTCP's estimate of the marked fraction", "", "the algorithm has none"),
    Column("delta", "the exponent of GST's and RFB's slow starts", "", "the algorithm has none"),
    Column("srtt_ns", "smoothed round-trip time", "ns", "no sample yet"),
    Column("rto_ns", "retransmission timeout", "ns"),
    Column("flight_segments", "segments sent and not acknowledged", "segments"),
    Column("acked_bytes", "payload acknowledged", "bytes"),
    Column("next_byte", "the next byte to send", "bytes"),
    Column("rate_bps", "sending rate", "bit/s", "the sender is not paced"),
    Column("phase", "what the sender does: slow start, congestion avoidance, recovery, ..."),
)

_PAUSES = (
    Column("node", "the switch or host"),
    _PORT,
    Column("priority", "priority of the pause frames"),
    Column("pauses_sent", "pause frames sent", "frames"),
    Column("resumes_sent", "resume frames sent", "frames"),
    Column("pauses_received", "pause frames received", "frames"),
    Column("paused_ns", "how long this port and priority was paused", "ns"),
    Column("longest_pause_ns", "the longest of these times", "ns"),
    Column("first_pause_ns", "when it was paused for the first time", "ns", "it never was"),
    Column("last_change_ns", "when it was paused or resumed for the last time", "ns", "it never was"),
    Column("peak_ingress_bytes", "most bytes charged to the ingress port and priority", "bytes"),
    Column("peak_headroom_bytes", "most bytes of these in the headroom", "bytes"),
    Column("paused_share", "paused_ns over the time of the run"),
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
    Column("uplink_share", "part of what leaves the first pod that goes to the second", "", "nothing leaves the pod"),
    *_percentiles("fct", "completion times", "ns", (50, 95), _NO_COMPLETE, "flows_completed"),
    *_percentiles("slowdown", "slowdowns", "", (50, 95), _NO_COMPLETE, "flows_completed"),
    *_percentiles("slowdown_rate_only", "slowdowns by the rate alone", "", (50, 95), _NO_COMPLETE, "flows_completed"),
)

_COUNTED_PORT = (
    Column("rx_pkts", "packets received", "packets"),
    Column("rx_bytes", "bytes received", "bytes"),
    Column("tx_pkts", "packets sent", "packets"),
    Column("tx_bytes", "bytes sent", "bytes"),
    Column("dropped_pkts", "packets dropped, for any cause", "packets"),
    Column("peak_depth_pkts", "largest depth of any of its queues", "packets"),
)

_SWEPT_METRICS = (
    Column("slowdown_mean", "mean slowdown of the flows that finished", "", _NO_COMPLETE),
    *_percentiles("slowdown", "slowdowns of the flows that finished", "", (50, 95, 99), _NO_COMPLETE),
    Column("fct_mean_ns", "mean completion time of the flows that finished", "ns", _NO_COMPLETE),
    Column("fct_p99_ns", "99th percentile of completion times of the flows that finished", "ns", _NO_COMPLETE),
    Column("goodput_bps", "payload acknowledged, over the time from first start to last finish or end", "bit/s"),
    Column("finish_ns", "when the last flow finished", "ns", "not every flow finished"),
    Column("pauses", "pause frames sent", "frames", "not measured"),
    Column("queue_p99_bytes", "99th percentile of depths of ports", "bytes", "record.queue_histogram_interval_ns is 0"),
    Column("jain_index", "Jain's fairness index of the flows' goodputs", "", "nothing flowed"),
)


def _spread(column: Column) -> tuple[Column, ...]:
    """A metric of `p4cc sweep` over the seeds: median, smallest and largest value, how many seeds have one."""
    null = f"in every seed: {column.null}" if column.null else ""
    return (
        Column(column.name, f"{column.text}; the median over the seeds that have it", column.unit, null),
        Column(f"{column.name}_low", "its smallest value over the seeds", column.unit, null),
        Column(f"{column.name}_high", "its largest value over the seeds", column.unit, null),
        Column(f"{column.name}_seeds", "seeds that have a value"),
    )


_SETTINGS = (
    Column("seeds", "seeds that were run"),
    Column("flows", "flows that finished, what percentiles are of; the fewest over the seeds"),
    Column("unfinished", "flows that had not finished when the run ended; the median over the seeds", "flows"),
    *(column for metric in _SWEPT_METRICS for column in _spread(metric)),
    Column(
        "on_front",
        "whether the setting is on the Pareto front of the two metrics that the table's metadata name (`objectives`): "
        "no other of the same variant and point is as good in both and better in one; not so where a seed has no value "
        "of one of them, or other settings leave fewer flows unfinished",
    ),
)

TABLES = (
    Table("flows", "flow", _FLOWS),
    Table("traffic", "label of traffic", _TRAFFIC),
    Table("rounds", "round of requests that began", _ROUNDS, "traffic in rounds"),
    Table("collectives", "iteration of a job that began", _COLLECTIVES, "traffic in collectives"),
    Table("collective_steps", "piece that left its rank", _COLLECTIVE_STEPS, "traffic in collectives"),
    Table("windows", "change of a sender's window or rate", _WINDOWS, "record.windows_interval_ns"),
    Table(
        "algorithm_state",
        "change of an attribute of an algorithm in Python",
        (_TIME, _FLOW, Column("name", "the attribute"), Column("value", "its value")),
        "record.state",
    ),
    Table(
        "queues",
        "sample of a port's depth, where it changed",
        (_TIME, _SWITCH, _PORT, _PEER, Column("depth_pkts", "packets that wait", "packets")),
        "record.queues_interval_ns",
    ),
    Table("queue_stats", "port", _QUEUE_STATS, "record.queues_interval_ns"),
    Table(
        "queue_histogram",
        "bin of 1 kB of depths, over all ports and samples",
        (
            Column("depth_bytes", "lower end of the bin", "bytes"),
            Column("samples", "samples in it"),
            Column("sum_bytes", "their depths, summed", "bytes"),
        ),
        "record.queue_histogram_interval_ns",
    ),
    Table(
        "events",
        "event of a sender",
        (
            _TIME,
            _FLOW,
            Column("event", "its kind: timeout, fast_retransmit, alpha, ..."),
            Column("value", "what it is about: a sequence number, an alpha, ...", "", "the kind has none"),
            Column("second_value", "more of that", "", "the kind has none"),
        ),
        "record.events",
    ),
    Table(
        "checkpoints",
        "flow and end of a span of `measure`",
        (_TIME, _FLOW, Column("acked_bytes", "payload acknowledged by then", "bytes")),
        "measure",
    ),
    Table(
        "rtts",
        "sample of a round-trip time",
        (
            _TIME,
            _FLOW,
            Column("rtt_ns", "the sample", "ns"),
            Column("marked", "level of the mark that the ACK echoed: 0, 1 (K) or 2 (K_dc)"),
            _CLASS,
        ),
        "record.rtts",
    ),
    Table(
        "goodput",
        "flow and bin in which something was acknowledged",
        (
            _FLOW,
            Column("time_ns", "start of the bin", "ns"),
            Column(
                "rate_bps",
                "payload acknowledged within the bin; above the line rate where one ACK fills a hole and releases what "
                "had arrived behind it",
                "bit/s",
            ),
        ),
        "record.goodput_interval_ns and record.windows_interval_ns",
    ),
    Table(
        "slowdown",
        "bin of flow sizes, each with as many complete flows",
        (
            Column("max_size_bytes", "largest flow of the bin", "bytes"),
            Column("flows", "complete flows in it"),
            *_percentiles("", "slowdowns, those below 1 counted as 1", "", (50, 95, 99), "", "flows"),
        ),
        "record.slowdown_by_size",
    ),
    Table("ports", "port of a switch", (_SWITCH, _PORT, _PEER, *_COUNTED_PORT)),
    Table(
        "port_queues",
        "queue that a packet was put into, or dropped at",
        (
            _SWITCH,
            _PORT,
            _PEER,
            Column("priority", "the queue, 7 the first to be served"),
            Column("enqueued_pkts", "packets put into it", "packets"),
            Column("enqueued_bytes", "bytes put into it", "bytes"),
            Column("peak_depth_pkts", "largest depth", "packets"),
            Column("peak_depth_bytes", "largest depth", "bytes"),
        ),
    ),
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
            Column("switch", "the switch that it is of", "", "it is of no switch"),
            Column("name", "its name"),
            Column("value", "the value"),
        ),
        "switch.controller",
    ),
    Table(
        "links",
        "direction of a link",
        (
            Column("link", "its ends: node:port->node:port"),
            Column("rate_bps", "its rate", "bit/s"),
            Column("bytes", "bytes carried", "bytes"),
            Column("lost_pkts", "packets lost on it", "packets"),
        ),
    ),
    Table(
        "link_bytes",
        "direction of a link and end of a span of `measure`",
        (
            _TIME,
            Column("link", "its ends: node:port->node:port"),
            Column("bytes", "bytes carried by then", "bytes"),
        ),
        "measure",
    ),
    Table("pauses", "port and priority that was paused, paused a neighbour, or could have", _PAUSES),
    Table(
        "pause_frames",
        "pause or resume frame that a switch sent",
        (
            _TIME,
            Column("node", "the switch that sent it"),
            _PORT,
            Column("peer", "the neighbour that it stops, or lets go on"),
            Column("priority", "priority of the frame"),
            Column("pause", "1 for a pause, 0 for a resume"),
            Column("towards", "the neighbour that the packet waits for which asked for the pause; empty with a resume"),
        ),
        "record.pauses",
    ),
    Table(
        "deadlocks",
        "cycle of paused ports that waited for each other for too long",
        (
            _TIME,
            Column("priority", "priority of the pauses"),
            Column("links", "the cycle: link => link => ..."),
        ),
        "topology with a cycle, lossless traffic",
    ),
    Table(
        "packets_sent",
        "host that sends packets of the user's own, and item of traffic",
        (
            Column("class", "the label of the traffic"),
            Column("host", "the host that sent them"),
            Column("sent_pkts", "packets that left the host", "packets"),
            Column("sent_bytes", "bytes of these, Ethernet header included", "bytes"),
            Column("most_late_ns", "the longest time that a packet left after it was due", "ns"),
        ),
        "traffic of kind packets or replay",
    ),
    Table(
        "packets_received",
        "packet that arrived at a host and that no flow took",
        (
            _TIME,
            Column("host", "the host"),
            Column(
                "cause",
                "why no flow took it: `protocol`, another one than that of p4cc's flows; `damaged`, of theirs with "
                "headers that contradict each other; `address`, for another host; `flow`, of one that ends elsewhere",
            ),
            Column("length_bytes", "its length, Ethernet header included", "bytes"),
            Column("bytes", "its first bytes (`snap_bytes`), two hexadecimal digits each"),
        ),
        "record.packets_received",
    ),
    Table(
        "headers",
        "field of a header of the user's that arrived with a packet",
        (
            _TIME,
            _FLOW,
            Column("side", "`receiver`: in a data packet; `sender`: echoed in an ACK"),
            Column("header", "the header's type"),
            Column("index", "which element of a stack, from 0"),
            Column("field", "the field"),
            Column("value", "its value; of more than 64 bits the lower ones"),
        ),
        "record.headers",
    ),
    Table(
        "hosts",
        "host",
        (
            Column("host", "the host"),
            Column("sent_pkts", "packets that left it", "packets"),
            Column("delivered_pkts", "packets that a flow took", "packets"),
            Column("refused_address_pkts", "packets of p4cc's flows for another host", "packets"),
            Column("refused_malformed_pkts", "packets of another protocol, or damaged", "packets"),
            Column("refused_flow_pkts", "packets of a flow that does not end there", "packets"),
        ),
        "traffic of kind packets or replay, record.packets_received or record.drops",
    ),
    Table(
        "captures",
        "captured end of a link",
        (
            Column("node", "the switch or host"),
            Column("port", "its port's number; 0 of a host"),
            Column("captured_pkts", "packets in its file", "packets"),
            Column("left_out_pkts", "packets that came or left after the file had reached its limit", "packets"),
            Column("file_bytes", "length of the file", "bytes"),
        ),
        "record.pcap",
    ),
    Table(
        "program_counters",
        "cell of a counter and sample that differs from the one before; a value holds until the next row and is 0 "
        "before the first",
        (
            _TIME,
            Column("switch", "the switch"),
            Column("counter", "the counter's name in its program"),
            Column("index", "the cell"),
            Column("packets", "packets counted, 0 of a counter of bytes", "packets"),
            Column("bytes", "bytes counted, 0 of a counter of packets", "bytes"),
        ),
        "record.counters",
    ),
    Table(
        "program_registers",
        "cell of a register and sample that differs from the one before; a value holds until the next row and is 0 "
        "before the first",
        (
            _TIME,
            Column("switch", "the switch"),
            Column("register", "the register's name in its program"),
            Column("index", "the cell"),
            Column("value", "what it holds, its bits as an unsigned number"),
        ),
        "record.registers",
    ),
    Table(
        "program_meters",
        "colour of a cell of a meter and sample that differs from the one before; a value holds until the next row "
        "and is 0 before the first",
        (
            _TIME,
            Column("switch", "the switch"),
            Column("meter", "the meter's name in its program"),
            Column("index", "the cell"),
            Column("color", "`green`, `yellow` or `red`"),
            Column("packets", "packets that the cell gave the colour", "packets"),
            Column("bytes", "their bytes", "bytes"),
        ),
        "record.meters",
    ),
    Table(
        "program_tables",
        "entry of a table, or its misses, and sample that differs from the one before; a value holds until the next "
        "row and is 0 before the first",
        (
            _TIME,
            Column("switch", "the switch"),
            Column("table", "the table's name in its program"),
            Column("result", "`hit` of an entry, or `miss`"),
            Column(
                "entry",
                "the entry's key at the time of the sample, `name=value` for each field and its priority if it has "
                "one; empty of misses",
            ),
            Column("action", "the entry's action, `member`, `group` or `action set`; of misses the default action"),
            Column("packets", "packets that hit it, or missed", "packets"),
            Column("bytes", "their bytes", "bytes"),
        ),
        "record.tables",
    ),
    Table(
        "drops",
        "interval, cause, place and port of packets that a switch dropped",
        (
            Column("time_ns", "start of the interval", "ns"),
            Column("switch", "the switch"),
            Column(
                "port",
                "the port whose queue it was, else the port that they came in on",
                null="neither is a port of the switch",
            ),
            Column(
                "cause",
                "`queue_full`, `shared_buffer`, `headroom`; `ingress`, `egress`: the program; or as the columns of "
                "`port_queues` have it",
            ),
            Column("control", "the control of the program that dropped them; empty for other causes"),
            Column("table", "the table whose action called `mark_to_drop`; empty where there is none"),
            Column("action", "the action that called `mark_to_drop`; empty where the control itself did, or nothing"),
            Column("parser_error", "the error that the parser ended with; empty if none"),
            Column("packets", "packets dropped", "packets"),
            Column("bytes", "their bytes as they came in; 0 of those that waited in a switch that restarts", "bytes"),
        ),
        "record.drops",
    ),
    Table(
        "program_digests",
        "field of a digest message that a program sent",
        (
            _TIME,
            Column("switch", "the switch"),
            Column("digest", "the digest's name in the P4Info"),
            Column("message", "the message's number at its switch, from 0"),
            Column("field", "the field, a tuple's by its place"),
            Column("value", "what it holds; of more than 64 bits the lower ones"),
        ),
        "record.digests",
    ),
    Table(
        "program_log",
        "line that `log_msg` wrote",
        (_TIME, Column("switch", "the switch"), Column("text", "the line, values filled in")),
        "record.log_msg",
    ),
    Table("pod_pairs", "ordered pair of pods", _POD_PAIRS, "topology with pods"),
    Table(
        "settings",
        "setting of a variant at a point of the scenario's sweep, its values in front of the row in place of the seed",
        _SETTINGS,
        "`p4cc sweep`",
    ),
)
"""In the order in which a reader asks for them."""

_DROPS = "dropped_"


def table(name: str) -> Table:
    """A table by name; raises KeyError."""
    return _BY_NAME[name]


def without_sentinels(name: str, columns: pa.Table) -> pa.Table:
    """An engine's table with nulls where there is nothing."""
    known = table(name)
    for position, column in enumerate(columns.column_names):
        description = known.column(column)
        if description is None or not description.null:
            continue
        values = columns.column(position)
        if pa.types.is_signed_integer(values.type):
            values = pc.if_else(pc.equal(values, pa.scalar(NONE, values.type)), pa.scalar(None, values.type), values)
        elif pa.types.is_floating(values.type):
            values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
        columns = columns.set_column(position, column, values)
    return columns


def described(name: str, columns: pa.Table, swept: Mapping[str, str]) -> pa.Schema:
    """The schema of a table with texts and units in its metadata; `swept` has the path of each swept field."""
    known = table(name)
    fields: list[pa.Field[pa.DataType]] = []
    keys = {key.name: key for key in KEYS}
    for field in columns.schema:
        column = known.column(field.name) or keys.get(field.name)
        if column is None and field.name in swept:
            column = Column(field.name, f"swept: {swept[field.name]}")
        if column is None and field.name.startswith(_DROPS):
            column = Column(field.name, f"packets dropped: {field.name.removeprefix(_DROPS)}", "packets")
        if column is None:
            raise KeyError(f"{name}.{field.name} is not described")
        texts = {"description": column.text, "unit": column.unit, "null": column.null}
        fields.append(field.with_metadata({key: text for key, text in texts.items() if text}))
    return pa.schema(fields, {"description": f"one row per {known.row}"})


_BY_NAME = {one.name: one for one in TABLES}
TABLE_NAMES = tuple(_BY_NAME)
