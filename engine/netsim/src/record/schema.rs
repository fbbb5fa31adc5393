//! The tables of results and their columns: name, type, unit, text, and what a null means. Results,
//! Python's tables and docs/reference/results.md have them from here.
//!
//! A value for an event that did not happen is null: no number represents "none". Pauses are those of
//! PFC (IEEE 802.1Qbb).

use crate::record::table::{ColumnSpec, Columns, Kind, Row, Table, TableSpec};

const TIME: &str = "virtual time";
const FLOW: &str = "the flow, from 1";
const SWITCH: &str = "the switch";
const PORT: &str = "its port's number";
const CLASS: &str = "the label of the flow's traffic";
const NOT_COMPLETE: &str = "the flow did not finish before the run ended, or has no size";
const NOT_FINISHED: &str = "the iteration did not finish";
const JOB_NOT_FINISHED: &str = "an operation did not end";

/// Defines a table: a row as it is given, and the columns that rows are put into.
macro_rules! table {
    ($name:literal, per $row_text:literal, $when:literal => $row:ident, $columns:ident {
        $($field:ident: $kind:ty, $unit:literal, $text:expr $(, null $null:expr)?;)*
    }) => {
        #[doc = concat!("A row of `", $name, "`.")]
        pub(crate) struct $row<'a> {
            $(pub $field: <$kind as Kind>::Value<'a>,)*
        }

        #[doc = concat!("The columns of `", $name, "`.")]
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $columns {
            rows: usize,
            $($field: <$kind as Kind>::Cells,)*
        }

        impl Row for $row<'_> {
            type Columns = $columns;

            fn push_into(self, columns: &mut $columns) {
                columns.rows += 1;
                $(<$kind as Kind>::push(&mut columns.$field, self.$field);)*
            }
        }

        impl Columns for $columns {
            const SPEC: &'static TableSpec = &TableSpec {
                name: $name,
                row: $row_text,
                when: $when,
                columns: &[$(ColumnSpec {
                    name: stringify!($field),
                    kind: <$kind as Kind>::TYPE,
                    unit: $unit,
                    text: $text,
                    null: [$($null,)? ""][0],
                }),*],
            };

            fn len(&self) -> usize {
                self.rows
            }

            fn into_table(self) -> Table {
                Table { spec: Self::SPEC, columns: vec![$(<$kind as Kind>::column(self.$field)),*] }
            }
        }
    };
}

/// All tables, in the order of results.
pub const TABLES: [&TableSpec; 34] = [
    Flows::SPEC,
    Rounds::SPEC,
    Collectives::SPEC,
    CollectiveSteps::SPEC,
    Jobs::SPEC,
    Operations::SPEC,
    Windows::SPEC,
    Queues::SPEC,
    Events::SPEC,
    Checkpoints::SPEC,
    Rtts::SPEC,
    Ports::SPEC,
    PortQueues::SPEC,
    Links::SPEC,
    Hosts::SPEC,
    Pauses::SPEC,
    PauseFrames::SPEC,
    WatchdogEvents::SPEC,
    SlowReceivers::SPEC,
    Deadlocks::SPEC,
    PacketsSent::SPEC,
    PacketsReceived::SPEC,
    Headers::SPEC,
    Captures::SPEC,
    AlgorithmStates::SPEC,
    ProgramCounters::SPEC,
    ProgramRegisters::SPEC,
    ProgramMeters::SPEC,
    ProgramTables::SPEC,
    Drops::SPEC,
    ProgramDigests::SPEC,
    ProgramLog::SPEC,
    LinkBytes::SPEC,
    QueueHistogram::SPEC,
];

table! {
    "flows", per "flow", "always" => FlowRow, Flows {
        flow_id: u64, "", FLOW;
        src: str, "", "the sending host";
        dst: str, "", "the receiving host";
        class: str, "", CLASS;
        algorithm: str, "", "the algorithm of the flow's sender";
        size_bytes: Option<u64>, "bytes", "payload to send", null "the flow has no end";
        start_ns: Option<u64>, "ns",
            "when the first packet could be sent", null "the flow did not start before the run ended";
        finish_ns: Option<u64>, "ns", "when the last byte was acknowledged", null NOT_COMPLETE;
        received_ns: Option<u64>, "ns", "when the last byte arrived at the receiver", null NOT_COMPLETE;
        fct_ns: Option<u64>, "ns", "completion time: finish_ns - start_ns", null NOT_COMPLETE;
        deadline_ns: Option<u64>, "ns",
            "by when all bytes should be at the receiver", null "the flow has no deadline";
        deadline_met: Option<u64>, "", "1 if they were, 0 if not", null "the flow has no deadline";
        quenched: u64, "", "1 if the sender gave the flow up because of its deadline";
        acked_bytes: u64, "bytes", "payload acknowledged";
        data_pkts: u64, "packets",
            "data packets sent, including retransmissions and rate requests";
        retransmitted_pkts: u64, "packets", "data packets retransmitted; for a read, repeated requests";
        timeouts: u64, "", "retransmission timeouts; over TCP those of SYN and FIN too";
        fast_retransmits: u64, "", "fast retransmits";
        marks_level1: u64, "packets", "data packets that arrived marked at level 1 (K)";
        marks_level2: u64, "packets", "data packets that arrived marked at level 2 (K_dc)";
    }
}

table! {
    "rounds", per "round of requests that began", "traffic in rounds" => RoundRow, Rounds {
        group: str, "", "the group of hosts that take part";
        round: u64, "", "number of the round, from 0";
        start_ns: u64, "ns", "when the first request was sent";
        finish_ns: Option<u64>, "ns", "when the last answer was complete", null "the round did not finish";
        bytes: u64, "bytes", "payload of all answers";
        goodput_bps: Option<f64>, "bit/s",
            "bytes over the time from start to finish", null "the round did not finish";
    }
}

table! {
    "collectives",
    per "iteration of a job that began",
    "traffic in collectives" => CollectiveRow, Collectives {
        job: str, "", "the label of the collective's traffic, with the number of its group";
        operation: str, "", "`all_reduce`, `all_gather`, `reduce_scatter` or `all_to_all`";
        schedule: str, "", "`ring`, `halving_doubling` or `pairwise`";
        iteration: u64, "", "number of the iteration, from 0";
        ranks: u64, "", "hosts that take part";
        size_bytes: u64, "bytes", "the whole buffer";
        start_ns: u64, "ns", "when the first piece left";
        finish_ns: Option<u64>, "ns", "when the last piece was complete", null NOT_FINISHED;
        completion_ns: Option<u64>, "ns", "finish_ns - start_ns", null NOT_FINISHED;
        algorithm_bps: Option<f64>, "bit/s", "size_bytes over completion_ns", null NOT_FINISHED;
        bus_bps: Option<f64>, "bit/s",
            "algorithm_bps times 2 (n - 1) / n of an all-reduce, (n - 1) / n of the others, with n ranks: \
            NCCL's busbw",
            null NOT_FINISHED;
        slowest_step: Option<u64>, "",
            "the step with the piece that took longest", null "no piece was received";
        slowest_step_ns: Option<u64>, "ns",
            "from leaving to the last byte of that piece", null "no piece was received";
        straggler: str, "", "the host whose last piece arrived last; empty if the iteration did not finish";
    }
}

table! {
    "collective_steps", per "piece that left its rank", "traffic in collectives" => StepRow, CollectiveSteps {
        job: str, "", "the label of the collective's traffic, with the number of its group";
        iteration: u64, "", "number of the iteration, from 0";
        step: u64, "", "number of the step in the iteration, from 0";
        src: str, "", "the host that sent the piece";
        dst: str, "", "the host that received it";
        bytes: u64, "bytes", "payload of the piece";
        sent_ns: u64, "ns", "when the application gave the piece to its sender";
        received_ns: Option<u64>, "ns", "when the piece was complete", null "it was not";
    }
}

table! {
    "jobs", per "job of operations", "traffic with operations that wait for others" => JobRow, Jobs {
        job: str, "", "the label of the job's traffic";
        operations: u64, "", "its operations";
        ended: u64, "", "those that ended";
        start_ns: Option<u64>, "ns", "when the first of them started", null "none did";
        finish_ns: Option<u64>, "ns", "when the last of them ended", null JOB_NOT_FINISHED;
        completion_ns: Option<u64>, "ns", "finish_ns - start_ns", null JOB_NOT_FINISHED;
    }
}

table! {
    "operations",
    per "operation that started",
    "traffic with operations that wait for others" => OperationRow, Operations {
        job: str, "", "the label of the job's traffic";
        operation: str, "", "its name, or its number in the job, from 0";
        kind: str, "", "`send`, `compute` or `collective`";
        host: str, "", "the host that sends, computes or takes part";
        peer: str, "", "the host that a send goes to; empty for others";
        flow_id: Option<u64>, "", "the flow of a send", null "it is not a send";
        collective: str, "", "the job of `collectives` that the host takes part in; empty for others";
        start_ns: u64, "ns", "when it started";
        arrival_ns: Option<u64>, "ns",
            "when the last byte arrived at the receiver", null "it did not, or it is not a send";
        end_ns: Option<u64>, "ns",
            "when the last byte was acknowledged, the time was over, or the last piece came in",
            null "it did not end";
    }
}

table! {
    "windows", per "change of a sender's window or rate", "record.windows_interval_ns" => WindowRow, Windows {
        time_ns: u64, "ns", TIME;
        flow_id: u64, "", FLOW;
        cwnd_segments: Option<f64>, "segments", "congestion window", null "a paced sender has none";
        ssthresh_segments: Option<f64>, "segments",
            "slow start threshold", null "not set yet, or a paced sender";
        alpha: Option<f64>, "", "DCTCP's estimate of the marked fraction", null "the algorithm has none";
        delta: Option<f64>, "", "the exponent of GST's and RFB's slow starts", null "the algorithm has none";
        srtt_ns: Option<u64>, "ns", "smoothed round-trip time", null "no sample yet";
        rto_ns: u64, "ns", "retransmission timeout";
        flight_segments: u64, "segments", "segments sent and not acknowledged";
        acked_bytes: u64, "bytes", "payload acknowledged";
        next_byte: u64, "bytes", "the next byte to send";
        rate_bps: Option<f64>, "bit/s", "sending rate", null "the sender is not paced";
        phase: str, "", "what the sender does: slow start, congestion avoidance, recovery, ...";
    }
}

table! {
    "queues",
    per "sample of a port's depth, where it changed",
    "record.queues_interval_ns" => DepthRow, Queues {
        time_ns: u64, "ns", TIME;
        device_id: u64, "", "the switch, by the number of its device";
        port: u64, "", PORT;
        depth_pkts: u64, "packets", "packets that wait";
    }
}

table! {
    "events", per "event of a sender", "record.events" => EventRow, Events {
        time_ns: u64, "ns", TIME;
        flow_id: u64, "", FLOW;
        event: str, "", "its kind: timeout, fast_retransmit, alpha, ...";
        value: Option<f64>, "",
            "what it is about: a sequence number, an alpha, ...", null "the kind has none";
        second_value: Option<f64>, "", "more of that", null "the kind has none";
    }
}

table! {
    "checkpoints", per "flow and end of a span of `measure`", "measure" => CheckpointRow, Checkpoints {
        time_ns: u64, "ns", TIME;
        flow_id: u64, "", FLOW;
        acked_bytes: u64, "bytes", "payload acknowledged by then";
    }
}

table! {
    "rtts", per "sample of a round-trip time", "record.rtts" => RttRow, Rtts {
        time_ns: u64, "ns", TIME;
        flow_id: u64, "", FLOW;
        rtt_ns: u64, "ns", "the sample";
        marked: u64, "", "level of the mark that the ACK echoed: 0, 1 (K) or 2 (K_dc)";
    }
}

table! {
    "ports", per "port of a switch", "always" => PortRow, Ports {
        device_id: u64, "", "the switch, by the number of its device";
        port: u64, "", PORT;
        rx_pkts: u64, "packets", "packets received";
        rx_bytes: u64, "bytes", "bytes received";
        tx_pkts: u64, "packets", "packets sent";
        tx_bytes: u64, "bytes", "bytes sent";
        dropped_pkts: u64, "packets", "packets dropped, for any cause";
        peak_depth_pkts: u64, "packets", "largest depth of any of its queues";
    }
}

table! {
    "port_queues", per "queue that a packet was put into, or dropped at", "always" => QueueRow, PortQueues {
        device_id: u64, "", "the switch, by the number of its device";
        port: u64, "", PORT;
        priority: u64, "", "the queue, 7 the first to be served";
        enqueued_pkts: u64, "packets", "packets put into it";
        enqueued_bytes: u64, "bytes", "bytes put into it";
        peak_depth_pkts: u64, "packets", "largest depth";
        peak_depth_bytes: u64, "bytes", "largest depth";
        dropped_queue_full: u64, "packets", "packets dropped: queue_full";
        dropped_ingress: u64, "packets", "packets dropped: ingress";
        dropped_egress: u64, "packets", "packets dropped: egress";
        dropped_no_pipeline: u64, "packets", "packets dropped: no_pipeline";
        dropped_no_such_port: u64, "packets", "packets dropped: no_such_port";
        dropped_no_replicas: u64, "packets", "packets dropped: no_replicas";
        dropped_pass_limit: u64, "packets", "packets dropped: pass_limit";
        dropped_too_long: u64, "packets", "packets dropped: too_long";
        dropped_controller_queue: u64, "packets", "packets dropped: controller_queue";
        dropped_shared_buffer: u64, "packets", "packets dropped: shared_buffer";
        dropped_headroom: u64, "packets", "packets dropped: headroom";
    }
}

table! {
    "links", per "direction of a link", "always" => LinkRow, Links {
        link: str, "", "its ends: node:port->node:port";
        rate_bps: u64, "bit/s", "its rate";
        bytes: u64, "bytes", "bytes carried";
        lost_pkts: u64, "packets", "packets lost on it";
    }
}

table! {
    "hosts",
    per "host",
    "traffic of kind packets or replay, record.packets_received or record.drops" => HostRow, Hosts {
        host: str, "", "the host";
        sent_pkts: u64, "packets", "packets that left it";
        delivered_pkts: u64, "packets", "packets that a flow took";
        refused_address_pkts: u64, "packets", "packets of p4cc's flows for another host";
        refused_malformed_pkts: u64, "packets", "packets of another protocol, or damaged";
        refused_flow_pkts: u64, "packets", "packets of a flow that does not end there";
    }
}

table! {
    "pauses",
    per "port and priority that was paused, paused a neighbour, or could have",
    "always" => PauseRow, Pauses {
        node: str, "", "the switch or host";
        port: u64, "", PORT;
        priority: u64, "", "priority of the pause frames";
        pauses_sent: u64, "frames", "pause frames sent";
        resumes_sent: u64, "frames", "resume frames sent";
        pauses_received: u64, "frames", "pause frames received";
        paused_ns: u64, "ns", "how long this port and priority was paused";
        longest_pause_ns: u64, "ns", "the longest of these times";
        first_pause_ns: Option<u64>, "ns", "when it was paused for the first time", null "never";
        last_change_ns: Option<u64>, "ns",
            "when it was paused or resumed for the last time", null "never";
        peak_ingress_bytes: u64, "bytes", "most bytes charged to the ingress port and priority";
        peak_headroom_bytes: u64, "bytes", "most bytes of these in the headroom";
    }
}

table! {
    "pause_frames",
    per "pause or resume frame that a switch sent",
    "record.pauses" => PauseFrameRow, PauseFrames {
        time_ns: u64, "ns", TIME;
        node: str, "", "the switch that sent it";
        port: u64, "", PORT;
        peer: str, "", "the neighbour that it pauses or resumes";
        priority: u64, "", "priority of the frame";
        pause: u64, "", "1 for a pause, 0 for a resume";
        towards: str, "",
            "the next hop of the packet that triggered the pause; empty for a resume";
    }
}

table! {
    "watchdog",
    per "storm of pauses that the PFC watchdog of a switch detected, and per end of one",
    "switch.buffer.watchdog" => WatchdogRow, WatchdogEvents {
        time_ns: u64, "ns", TIME;
        node: str, "", SWITCH;
        port: u64, "", PORT;
        peer: str, "", "the neighbour that paused it";
        priority: u64, "", "priority of the queue";
        event: str, "", "`detected` or `restored`";
        dropped_pkts: u64, "packets",
            "packets that the queue dropped: at once when the storm was detected, all since then when it ended";
    }
}

table! {
    "slow_receivers",
    per "host that takes packets from its network card slowly",
    "slow_receivers" => SlowReceiverRow, SlowReceivers {
        host: str, "", "the host";
        rate_bps: u64, "bit/s", "rate at which it takes packets, in bytes as on its link; 0 if it takes nothing";
        start_ns: u64, "ns", "when it began to be slow";
        end_ns: Option<u64>, "ns", "when it took all at once again", null "it stayed slow";
        buffer_bytes: u64, "bytes", "what its card holds";
        pause_bytes: u64, "bytes", "bytes in the card above which it pauses its neighbour";
        arrived_pkts: u64, "packets", "packets that reached the card";
        taken_pkts: u64, "packets", "packets that the host took";
        taken_bytes: u64, "bytes", "their bytes, as on its link";
        dropped_pkts: u64, "packets", "packets that found no room in the card";
        peak_bytes: u64, "bytes", "most bytes in the card";
        pauses_sent: u64, "frames", "times that it paused its neighbour, all lossless priorities at once";
        pausing_ns: u64, "ns", "how long it paused its neighbour";
        busy_ns: u64, "ns", "how long packets waited in the card";
    }
}

table! {
    "deadlocks",
    per "cycle of paused ports that waited for each other for too long",
    "topology with a cycle, lossless traffic" => DeadlockRow, Deadlocks {
        time_ns: u64, "ns", TIME;
        priority: u64, "", "priority of the pauses";
        links: str, "", "the cycle: link => link => ...";
    }
}

table! {
    "packets_sent",
    per "host that sends user-defined packets, and item of traffic",
    "traffic of kind packets or replay" => SentRow, PacketsSent {
        class: str, "", "the label of the traffic";
        host: str, "", "the host that sent them";
        sent_pkts: u64, "packets", "packets that left the host";
        sent_bytes: u64, "bytes", "bytes of these, Ethernet header included";
        most_late_ns: u64, "ns", "the largest delay of a packet after its scheduled time";
    }
}

table! {
    "packets_received",
    per "packet that arrived at a host and that no flow took",
    "record.packets_received" => ReceivedRow, PacketsReceived {
        time_ns: u64, "ns", TIME;
        host: str, "", "the host";
        cause: str, "",
            "why no flow took it: `protocol`, not that of p4cc's flows; `damaged`, contradictory headers; \
            `address`, for another host; `flow`, of a flow between other hosts";
        length_bytes: u64, "bytes", "its length, Ethernet header included";
        bytes: str, "", "its first bytes (`snap_bytes`), two hexadecimal digits each";
    }
}

table! {
    "headers",
    per "field of a user-defined header in an arriving packet",
    "record.headers" => HeaderRow, Headers {
        time_ns: u64, "ns", TIME;
        flow_id: u64, "", FLOW;
        side: str, "", "`receiver`: in a data packet; `sender`: echoed in an ACK";
        header: str, "", "the header's type";
        index: u64, "", "which element of a stack, from 0";
        field: str, "", "the field";
        value: u64, "", "its value; of more than 64 bits the lower ones";
    }
}

table! {
    "captures", per "captured end of a link", "record.pcap" => CaptureRow, Captures {
        node: str, "", "the switch or host";
        port: u64, "", "its port's number; 0 for a host";
        captured_pkts: u64, "packets", "packets in its file";
        left_out_pkts: u64, "packets", "packets that came or left after the file had reached its limit";
        file_bytes: u64, "bytes", "length of the file";
    }
}

table! {
    "algorithm_state",
    per "change of an attribute of an algorithm in Python",
    "record.state" => StateRow, AlgorithmStates {
        time_ns: u64, "ns", TIME;
        flow_id: u64, "", FLOW;
        name: str, "", "the attribute";
        value: f64, "", "its value";
    }
}

table! {
    "program_counters",
    per "cell of a counter and sample that differs from the one before; a value holds until the next row \
        and is 0 before the first",
    "record.counters" => CounterRow, ProgramCounters {
        time_ns: u64, "ns", TIME;
        switch: str, "", SWITCH;
        counter: str, "", "the counter's name in its program";
        index: u64, "", "the cell";
        packets: u64, "packets", "packets counted, 0 for a counter of bytes";
        bytes: u64, "bytes", "bytes counted, 0 for a counter of packets";
    }
}

table! {
    "program_registers",
    per "cell of a register and sample that differs from the one before; a value holds until the next \
        row and is 0 before the first",
    "record.registers" => RegisterRow, ProgramRegisters {
        time_ns: u64, "ns", TIME;
        switch: str, "", SWITCH;
        register: str, "", "the register's name in its program";
        index: u64, "", "the cell";
        value: u64, "", "what it holds, its bits as an unsigned number";
    }
}

table! {
    "program_meters",
    per "colour of a cell of a meter and sample that differs from the one before; a value holds until \
        the next row and is 0 before the first",
    "record.meters" => MeterRow, ProgramMeters {
        time_ns: u64, "ns", TIME;
        switch: str, "", SWITCH;
        meter: str, "", "the meter's name in its program";
        index: u64, "", "the cell";
        color: str, "", "`green`, `yellow` or `red`";
        packets: u64, "packets", "packets that the cell gave the colour";
        bytes: u64, "bytes", "their bytes";
    }
}

table! {
    "program_tables",
    per "entry of a table, or its misses, and sample that differs from the one before; a value holds \
        until the next row and is 0 before the first",
    "record.tables" => TableRow, ProgramTables {
        time_ns: u64, "ns", TIME;
        switch: str, "", SWITCH;
        table: str, "", "the table's name in its program";
        result: str, "", "`hit` for an entry, or `miss`";
        entry: str, "",
            "the entry's key at the time of the sample, `name=value` for each field and its priority if it \
            has one; empty for misses";
        action: str, "",
            "the entry's action, `member`, `group` or `action set`; for misses the default action";
        packets: u64, "packets", "packets that hit it, or missed";
        bytes: u64, "bytes", "their bytes";
    }
}

table! {
    "drops",
    per "interval, cause, place and port of packets that a switch dropped",
    "record.drops" => DropRow, Drops {
        time_ns: u64, "ns", "start of the interval";
        switch: str, "", SWITCH;
        port: Option<u64>, "",
            "the queue's port, else the ingress port",
            null "neither is a port of the switch";
        cause: str, "",
            "`queue_full`, `shared_buffer`, `headroom`; `ingress`, `egress`: the program; or another of the \
            columns of `port_queues`";
        control: str, "", "the control of the program that dropped them; empty for other causes";
        table: str, "", "the table whose action called `mark_to_drop`; empty if there is none";
        action: str, "",
            "the action that called `mark_to_drop`; empty if the control itself or nothing did";
        parser_error: str, "", "the error that the parser ended with; empty if none";
        packets: u64, "packets", "packets dropped";
        bytes: u64, "bytes", "their bytes on arrival; 0 for packets queued in a restarting switch";
    }
}

table! {
    "program_digests",
    per "field of a digest message that a program sent",
    "record.digests" => DigestRow, ProgramDigests {
        time_ns: u64, "ns", TIME;
        switch: str, "", SWITCH;
        digest: str, "", "the digest's name in the P4Info";
        message: u64, "", "the message's number at its switch, from 0";
        field: str, "", "the field, a tuple's by its place";
        value: u64, "", "what it holds; of more than 64 bits the lower ones";
    }
}

table! {
    "program_log", per "line that `log_msg` wrote", "record.log_msg" => LogRow, ProgramLog {
        time_ns: u64, "ns", TIME;
        switch: str, "", SWITCH;
        text: str, "", "the line, values filled in";
    }
}

table! {
    "link_bytes",
    per "direction of a link and end of a span of `measure`",
    "measure" => LinkBytesRow, LinkBytes {
        time_ns: u64, "ns", TIME;
        link: str, "", "its ends: node:port->node:port";
        bytes: u64, "bytes", "bytes carried by then";
    }
}

table! {
    "queue_histogram",
    per "bin of 1 kB of depths, over all ports and samples",
    "record.queue_histogram_interval_ns" => HistogramRow, QueueHistogram {
        depth_bytes: u64, "bytes", "lower end of the bin";
        samples: u64, "", "samples in it";
        sum_bytes: u64, "bytes", "their depths, summed";
    }
}
