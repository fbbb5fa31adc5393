//! Results of a run: tables by column, and a summary. Pauses of PFC (IEEE 802.1Qbb) are the table `pauses`.

use p4cc_switch::config::PRIORITIES;
use p4cc_switch::{DropCause, PauseCounters};
use p4cc_units::Time;
use serde::Serialize;

use crate::describe::FlowPlan;
use crate::network::Network;
use crate::output::captures::{self, Capture};
use crate::output::table::{Column, Table};
use crate::output::trace::Trace;

/// The run in a few numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Seed.
    pub seed: u64,
    /// Payload bits of flows with a size, acknowledged, over the time from their earliest planned start to
    /// the last finish, or to the end of the run if one is not complete (docs/algorithms/metrics.md#metrics,
    /// #choice-gst-utilisation). 0 if there is none.
    pub goodput_bps: f64,
    /// As `goodput_bps`, of all flows but requests, flows without end included: payload acknowledged from the
    /// first start of a flow with a size to the end of the run.
    pub total_goodput_bps: f64,
    /// Jain's index of the goodputs of single flows, each over its own time
    /// (docs/algorithms/metrics.md#metrics); 0 without a flow.
    pub jain_index: f64,
    /// Last finish of a flow with a size; -1 if one is not complete.
    pub finish_ns: i64,
    /// Virtual time at the end of the run.
    pub end_ns: u64,
    /// Flows with a size; requests of rounds are not counted.
    pub flows_finite: u64,
    /// Of these, complete.
    pub flows_completed: u64,
    /// Rounds complete, over all groups.
    pub rounds_completed: u64,
    /// Flows with a deadline.
    pub deadline_flows: u64,
    /// Of these, complete at the receiver in time.
    pub deadlines_met: u64,
    /// Retransmission timeouts of all flows.
    pub timeouts: u64,
    /// Flows with at least one.
    pub flows_timed_out: u64,
    /// Packets that switches dropped, for any cause.
    pub drops: u64,
    /// Of these, for a full queue.
    pub tail_drops: u64,
    /// Of these, for want of room in a shared buffer or of headroom.
    pub buffer_drops: u64,
    /// Of these, because a received packet had caused as many copies and passes as its switch allows.
    pub pass_limit_drops: u64,
    /// Pause frames that switches sent; resume frames are not counted.
    pub pauses: u64,
    /// How long ports of switches and hosts were paused, summed over ports and priorities.
    pub paused_ns: u64,
    /// The longest single pause of one of them.
    pub longest_pause_ns: u64,
    /// Cycles of paused ports that waited for each other for too long.
    pub deadlocks: u64,
    /// When nothing had been delivered for too long with flows under way, for the first time; -1 if never.
    pub stalled_ns: i64,
    /// The longest time that nothing was delivered with flows under way.
    pub longest_silence_ns: u64,
    /// Packets lost on links.
    pub link_losses: u64,
    /// Packets that hosts refused.
    pub host_refusals: u64,
    /// Data packets that arrived marked at level 1 (K).
    pub marks_level1: u64,
    /// Data packets that arrived marked at level 2 (K_dc).
    pub marks_level2: u64,
    /// Most packets that waited in any one queue.
    pub peak_queue_pkts: u64,
    /// Traversals of a link by a packet.
    pub packet_hops: u64,
    /// Events.
    pub events: u64,
    /// Rows that `record.max_rows` left out.
    pub rows_left_out: u64,
}

/// Tables and summary of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// `flows`, `rounds`, `collectives`, `collective_steps`, `windows`, `algorithm_state`, `queues`,
    /// `events`, `checkpoints`, `ports`, `port_queues`, `links`, `hosts`, `pauses`, `pause_frames`,
    /// `deadlocks`, `packets_sent`, `packets_received`, `headers`, `captures`, `link_bytes`,
    /// `queue_histogram`.
    pub tables: Vec<Table>,
    /// The run in a few numbers.
    pub summary: Summary,
    /// What was captured at ends of links.
    pub captures: Vec<Capture>,
    /// What switches did with packets that are followed, if any are.
    pub trace: Option<Trace>,
}

impl Results {
    /// A table by name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// Payload over a time, in bit/s; 0 over no time.
pub(crate) fn rate_bps(bytes: u64, start: Time, end: Time) -> f64 {
    let span_ps = end.since(start).as_ps();
    if span_ps == 0 { 0.0 } else { bytes as f64 * 8.0 / (span_ps as f64 * 1e-12) }
}

/// Device id, port and priority of a queue, and its counters.
type QueueRow = (u64, u64, u64, p4cc_switch::QueueCounters);

/// Pauses of one port and priority up to now.
struct PauseRow<'a> {
    node: &'a str,
    port: u32,
    priority: usize,
    counters: PauseCounters,
}

impl Network {
    /// Results of the run so far.
    pub fn results(&self) -> Results {
        let mut tables = vec![self.flows_table(), self.rounds_table()];
        tables.extend(self.collectives_tables());
        tables.extend(self.observers.recorder.tables());
        tables.extend([self.ports_table(), self.port_queues_table(), self.links_table(), self.hosts_table()]);
        tables.extend([self.pauses_table(), self.pause_frames_table(), self.deadlocks_table()]);
        tables.extend([self.packets_sent_table(), self.packets_received_table(), self.headers_table()]);
        let captures = self.captures();
        tables.push(captures::table(&captures));
        tables.push(self.observers.recorder.state.table());
        tables.extend(self.arrays_tables());
        tables.extend([self.drops_table(), self.digests_table(), self.log_lines_table()]);
        let names: Vec<&str> = self.topology.channels.iter().map(|channel| channel.name.as_str()).collect();
        tables
            .extend([self.observers.recorder.links_table(&names), self.observers.recorder.histogram_table()]);
        Results { tables, summary: self.summary(), captures, trace: self.trace() }
    }

    /// The run in a few numbers.
    pub fn summary(&self) -> Summary {
        let rounds = || self.nodes.rounds.iter().flat_map(|run| &run.rounds);
        let balance = self.packet_balance();
        let snapshots = || self.nodes.flows.iter().map(|flow| flow.snapshot());
        let switches = || self.nodes.switches.iter().map(|node| &node.switch);
        let peaks = switches().flat_map(|switch| {
            switch.config().ports.iter().filter_map(|port| switch.port_counters(port.port))
        });
        let progress = self.progress();
        let mut stall = self.observers.stall.clone();
        stall.look(self.now());
        Summary {
            seed: self.seed(),
            goodput_bps: self.goodput_bps(),
            total_goodput_bps: self.total_goodput_bps(),
            jain_index: self.jain_index(),
            finish_ns: self.last_finish().map_or(-1, |finish| finish.as_ns() as i64),
            end_ns: progress.now_ns,
            flows_finite: progress.flows_finite,
            flows_completed: self.counted().filter(|&flow| self.nodes.flows[flow].finish.is_some()).count()
                as u64,
            rounds_completed: rounds().filter(|round| round.finish.is_some()).count() as u64,
            deadline_flows: self.nodes.flows.iter().filter(|flow| flow.deadline.is_some()).count() as u64,
            deadlines_met: self.nodes.flows.iter().filter(|flow| flow.deadline_met() == Some(true)).count()
                as u64,
            timeouts: snapshots().map(|snapshot| snapshot.timeouts).sum(),
            flows_timed_out: snapshots().filter(|snapshot| snapshot.timeouts > 0).count() as u64,
            drops: balance.dropped,
            tail_drops: switches().map(|switch| switch.counters().drops.of(DropCause::TailDrop)).sum(),
            buffer_drops: switches()
                .map(|switch| &switch.counters().drops)
                .map(|drops| drops.of(DropCause::SharedBuffer) + drops.of(DropCause::Headroom))
                .sum(),
            pass_limit_drops: switches().map(|switch| switch.counters().drops.of(DropCause::PassLimit)).sum(),
            pauses: self.pause_rows().iter().map(|row| row.counters.sent).sum(),
            paused_ns: self.pause_rows().iter().map(|row| row.counters.paused.as_ns()).sum(),
            longest_pause_ns: self
                .pause_rows()
                .iter()
                .map(|row| row.counters.longest.as_ns())
                .max()
                .unwrap_or(0),
            deadlocks: self.observers.deadlocks.found.len() as u64,
            stalled_ns: stall.found.map_or(-1, |at| at.as_ns() as i64),
            longest_silence_ns: stall.longest.as_ns(),
            link_losses: balance.lost,
            host_refusals: balance.refused,
            marks_level1: self.nodes.flows.iter().map(|flow| flow.marks[0]).sum(),
            marks_level2: self.nodes.flows.iter().map(|flow| flow.marks[1]).sum(),
            peak_queue_pkts: peaks.map(|counters| u64::from(counters.peak_depth_pkts())).max().unwrap_or(0),
            packet_hops: self.observers.packet_hops,
            events: self.schedule.events,
            rows_left_out: self.observers.recorder.rows_left_out()
                + self.pause_frames_left_out()
                + self.received_left_out()
                + self.headers_left_out()
                + self.program_events_left_out(),
        }
    }

    /// Counted flows, by index.
    fn counted(&self) -> impl Iterator<Item = usize> + '_ {
        let plans = self.nodes.plans.iter().enumerate();
        plans.filter(|(_, plan)| plan.is_counted()).map(|(index, _)| index)
    }

    /// When the last counted flow finished, if all did.
    fn last_finish(&self) -> Option<Time> {
        self.counted()
            .map(|flow| self.nodes.flows[flow].finish)
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .max()
    }

    fn goodput_bps(&self) -> f64 {
        let Some(start) = self.counted().map(|flow| self.nodes.plans[flow].start).min() else { return 0.0 };
        let end = self.last_finish().unwrap_or(self.now());
        let bytes: u64 = self.counted().map(|flow| self.nodes.flows[flow].snapshot().snd_una).sum();
        rate_bps(bytes, start, end)
    }

    fn total_goodput_bps(&self) -> f64 {
        let (start, before) = self.observers.first_begin.unwrap_or((Time::ZERO, 0));
        rate_bps(self.nodes.acked_bytes() - before, start, self.now())
    }

    fn jain_index(&self) -> f64 {
        let begun = self
            .nodes
            .plans
            .iter()
            .zip(&self.nodes.flows)
            .filter(|(plan, flow)| flow.has_begun && !plan.is_request());
        let rates = begun.map(|(_, flow)| {
            let start = flow.start.unwrap_or(Time::ZERO);
            rate_bps(flow.snapshot().snd_una, start, flow.finish.unwrap_or(self.now()))
        });
        let (count, sum, squares) =
            rates.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
        if squares == 0.0 { 0.0 } else { sum * sum / (count * squares) }
    }

    pub(crate) fn flows_table(&self) -> Table {
        let plans = &self.nodes.plans;
        let algorithms: Vec<&str> = self.spec.sender_names().collect();
        let host = |index: u32| self.spec.hosts[index as usize].name.as_str();
        // By the way of the data.
        let ends = |plan: &FlowPlan| if plan.is_read { (plan.dst, plan.src) } else { (plan.src, plan.dst) };
        let snapshots: Vec<_> = self.nodes.flows.iter().map(|flow| flow.snapshot()).collect();
        let time = |time: Option<Time>| time.map_or(-1, |time| time.as_ns() as i64);
        let u64s = |get: &dyn Fn(usize) -> u64| Column::U64((0..plans.len()).map(get).collect());
        let i64s = |get: &dyn Fn(usize) -> i64| Column::I64((0..plans.len()).map(get).collect());
        // A flow that has not begun has no start, though its plan may have one after the run's end.
        let start = |flow: usize| self.nodes.flows[flow].start.filter(|_| self.nodes.flows[flow].has_begun);
        // The difference of the two columns, not of times that are finer than they are.
        let fct = |flow: usize| {
            let finish = self.nodes.flows[flow].finish;
            start(flow).zip(finish).map_or(-1, |(start, finish)| finish.as_ns() as i64 - start.as_ns() as i64)
        };
        let deadline =
            |flow: usize| self.nodes.flows[flow].deadline.map_or(-1, |deadline| deadline.as_ns() as i64);
        let met = |flow: usize| self.nodes.flows[flow].deadline_met().map_or(-1, i64::from);
        Table {
            name: "flows",
            columns: vec![
                ("flow_id", u64s(&|flow| u64::from(plans[flow].id))),
                ("src", Column::text(plans.iter().map(|plan| host(ends(plan).0)))),
                ("dst", Column::text(plans.iter().map(|plan| host(ends(plan).1)))),
                ("class", Column::text(plans.iter().map(|plan| &*plan.class))),
                ("algorithm", Column::text(plans.iter().map(|plan| algorithms[plan.algorithm as usize]))),
                ("size_bytes", i64s(&|flow| plans[flow].size_bytes.map_or(-1, |size| size as i64))),
                ("start_ns", i64s(&|flow| time(start(flow)))),
                ("finish_ns", i64s(&|flow| time(self.nodes.flows[flow].finish))),
                ("received_ns", i64s(&|flow| time(self.nodes.flows[flow].received))),
                ("fct_ns", i64s(&fct)),
                ("deadline_ns", i64s(&deadline)),
                ("deadline_met", i64s(&met)),
                ("quenched", u64s(&|flow| u64::from(self.nodes.flows[flow].quenched.is_some()))),
                ("acked_bytes", u64s(&|flow| snapshots[flow].snd_una)),
                ("data_pkts", u64s(&|flow| self.nodes.flows[flow].data_pkts)),
                ("retransmitted_pkts", u64s(&|flow| snapshots[flow].retransmitted_segments)),
                ("timeouts", u64s(&|flow| snapshots[flow].timeouts)),
                ("fast_retransmits", u64s(&|flow| snapshots[flow].fast_retransmits)),
                ("marks_level1", u64s(&|flow| self.nodes.flows[flow].marks[0])),
                ("marks_level2", u64s(&|flow| self.nodes.flows[flow].marks[1])),
            ],
        }
    }

    /// One row for each round that began.
    fn rounds_table(&self) -> Table {
        let rows: Vec<_> = self
            .topology
            .rounds
            .iter()
            .zip(&self.nodes.rounds)
            .flat_map(|(plan, run)| {
                run.rounds.iter().enumerate().map(move |(number, round)| (plan, number, round))
            })
            .collect();
        let goodput = rows.iter().map(|(plan, _, round)| {
            round.finish.map_or(f64::NAN, |finish| rate_bps(plan.round_bytes(), round.start, finish))
        });
        let finish = rows.iter().map(|(_, _, round)| round.finish.map_or(-1, |finish| finish.as_ns() as i64));
        Table {
            name: "rounds",
            columns: vec![
                ("group", Column::text(rows.iter().map(|(plan, _, _)| plan.name.as_str()))),
                ("round", Column::U64(rows.iter().map(|(_, number, _)| *number as u64).collect())),
                ("start_ns", Column::U64(rows.iter().map(|(_, _, round)| round.start.as_ns()).collect())),
                ("finish_ns", Column::I64(finish.collect())),
                ("bytes", Column::U64(rows.iter().map(|(plan, _, _)| plan.round_bytes()).collect())),
                ("goodput_bps", Column::F64(goodput.collect())),
            ],
        }
    }

    fn ports_table(&self) -> Table {
        let ports = || {
            self.nodes
                .switches
                .iter()
                .flat_map(|node| node.switch.config().ports.iter().map(move |port| (&node.switch, port.port)))
        };
        let counters: Vec<_> =
            ports().map(|(switch, port)| switch.port_counters(port).unwrap_or_default()).collect();
        let u64s =
            |get: &dyn Fn(&p4cc_switch::PortCounters) -> u64| Column::U64(counters.iter().map(get).collect());
        Table {
            name: "ports",
            columns: vec![
                ("device_id", Column::U64(ports().map(|(switch, _)| switch.device_id()).collect())),
                ("port", Column::U64(ports().map(|(_, port)| u64::from(port)).collect())),
                ("rx_pkts", u64s(&|port| port.rx_pkts)),
                ("rx_bytes", u64s(&|port| port.rx_bytes)),
                ("tx_pkts", u64s(&|port| port.tx_pkts)),
                ("tx_bytes", u64s(&|port| port.tx_bytes)),
                ("dropped_pkts", u64s(&|port| port.dropped())),
                ("peak_depth_pkts", u64s(&|port| u64::from(port.peak_depth_pkts()))),
            ],
        }
    }

    /// One row for each queue that a packet was put into, or dropped at.
    fn port_queues_table(&self) -> Table {
        let mut rows = Vec::new();
        for node in &self.nodes.switches {
            for port in &node.switch.config().ports {
                let Some(counters) = node.switch.port_counters(port.port) else { continue };
                for priority in 0..PRIORITIES {
                    let queue = counters.queues[priority];
                    if queue.enqueued_pkts > 0 || queue.dropped.total() > 0 {
                        rows.push((node.switch.device_id(), u64::from(port.port), priority as u64, queue));
                    }
                }
            }
        }
        let u64s = |get: &dyn Fn(&QueueRow) -> u64| Column::U64(rows.iter().map(get).collect());
        let mut columns = vec![
            ("device_id", u64s(&|row| row.0)),
            ("port", u64s(&|row| row.1)),
            ("priority", u64s(&|row| row.2)),
            ("enqueued_pkts", u64s(&|row| row.3.enqueued_pkts)),
            ("enqueued_bytes", u64s(&|row| row.3.enqueued_bytes)),
            ("peak_depth_pkts", u64s(&|row| u64::from(row.3.peak_depth_pkts))),
            ("peak_depth_bytes", u64s(&|row| row.3.peak_depth_bytes)),
        ];
        for cause in DropCause::ALL {
            columns.push((cause.column(), u64s(&|row| row.3.dropped.of(cause))));
        }
        Table { name: "port_queues", columns }
    }

    fn links_table(&self) -> Table {
        Table {
            name: "links",
            columns: vec![
                ("link", Column::text(self.topology.channels.iter().map(|channel| channel.name.as_str()))),
                (
                    "rate_bps",
                    Column::U64(self.topology.channels.iter().map(|channel| channel.rate.as_bps()).collect()),
                ),
                ("bytes", Column::U64(self.nodes.channels.iter().map(|channel| channel.bytes).collect())),
                (
                    "lost_pkts",
                    Column::U64(self.nodes.channels.iter().map(|channel| channel.lost()).collect()),
                ),
            ],
        }
    }

    /// Ports and priorities of switches, then of hosts, that
    /// were paused or paused a neighbour, or could have.
    fn pause_rows(&self) -> Vec<PauseRow<'_>> {
        let mut rows = Vec::new();
        for (node, spec) in self.nodes.switches.iter().zip(&self.spec.switches) {
            for config in &node.switch.config().ports {
                let port = config.port;
                let Some(counters) = node.switch.port_counters(port) else { continue };
                for priority in 0..counters.pauses.len() {
                    let counters = node.switch.pauses(port, priority as u8, self.now());
                    rows.push(PauseRow { node: &spec.name, port, priority, counters });
                }
            }
        }
        for (host, spec) in self.nodes.hosts.iter().zip(&self.spec.hosts) {
            for priority in 0..PRIORITIES {
                let counters = host.pauses.counters(priority, self.now());
                rows.push(PauseRow { node: &spec.name, port: 0, priority, counters });
            }
        }
        rows.retain(|row| row.counters != PauseCounters::default());
        rows
    }

    fn pauses_table(&self) -> Table {
        let rows = self.pause_rows();
        let u64s = |get: &dyn Fn(&PauseRow<'_>) -> u64| Column::U64(rows.iter().map(get).collect());
        let times = |get: &dyn Fn(&PauseRow<'_>) -> Option<Time>| {
            let of = |row| get(row).map_or(-1, |time| time.as_ns() as i64);
            Column::I64(rows.iter().map(of).collect())
        };
        Table {
            name: "pauses",
            columns: vec![
                ("node", Column::text(rows.iter().map(|row| row.node))),
                ("port", u64s(&|row| row.port.into())),
                ("priority", u64s(&|row| row.priority as u64)),
                ("pauses_sent", u64s(&|row| row.counters.sent)),
                ("resumes_sent", u64s(&|row| row.counters.resumes_sent)),
                ("pauses_received", u64s(&|row| row.counters.received)),
                ("paused_ns", u64s(&|row| row.counters.paused.as_ns())),
                ("longest_pause_ns", u64s(&|row| row.counters.longest.as_ns())),
                ("first_pause_ns", times(&|row| row.counters.first)),
                ("last_change_ns", times(&|row| row.counters.last)),
                ("peak_ingress_bytes", u64s(&|row| row.counters.peak_ingress_bytes)),
                ("peak_headroom_bytes", u64s(&|row| row.counters.peak_headroom_bytes)),
            ],
        }
    }

    /// Cycles of links that waited for each other, as `s1:2->s2:1 => s2:2->s3:1`.
    fn deadlocks_table(&self) -> Table {
        let rows = &self.observers.deadlocks.found;
        let names = |channels: &[u32]| {
            let links = channels.iter().map(|&one| self.topology.channels[one as usize].name.as_str());
            links.collect::<Vec<_>>().join(" => ")
        };
        let cycles: Vec<String> = rows.iter().map(|row| names(&row.channels)).collect();
        Table {
            name: "deadlocks",
            columns: vec![
                ("time_ns", Column::U64(rows.iter().map(|row| row.at.as_ns()).collect())),
                ("priority", Column::U64(rows.iter().map(|row| row.priority.into()).collect())),
                ("links", Column::text(cycles.iter().map(String::as_str))),
            ],
        }
    }
}
