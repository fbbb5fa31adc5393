//! Results of a run: tables by column, and a summary. Pauses of PFC (IEEE 802.1Qbb) are the table `pauses`.

use p4cc_switch::config::PRIORITIES;
use p4cc_switch::{DropCause, PauseCounters, PortCounters};
use p4cc_units::{Span, Time};
use serde::Serialize;

use crate::describe::FlowPlan;
use crate::hosts::Flow;
use crate::output::balance::Progress;
use crate::output::captures::{self, Capture};
use crate::output::trace::Trace;
use crate::output::view::View;
use crate::record::{Deadlock, Observers, Table};

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
    /// Times that an `assert` or `assume` of a switch's program did not hold.
    pub assertions_failed: u64,
    /// Which of them, by switch and place in the source; the first few.
    pub assertion_places: String,
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

/// Pauses of one port and priority up to now.
struct PauseRow<'a> {
    node: &'a str,
    port: u32,
    priority: usize,
    counters: PauseCounters,
}

impl View<'_> {
    /// Results of the run so far.
    pub fn results(&self, observers: &Observers, summary: Summary) -> Results {
        let mut tables = vec![self.flows_table(), self.rounds_table()];
        tables.extend(self.collectives_tables());
        tables.extend(observers.recorder.tables());
        tables.extend([self.ports_table(), self.port_queues_table(), self.links_table(), self.hosts_table()]);
        tables.extend([
            self.pauses_table(),
            self.pause_frames_table(),
            self.deadlocks_table(&observers.deadlocks.found),
        ]);
        tables.extend([self.packets_sent_table(), self.packets_received_table(), self.headers_table()]);
        let captures = self.captures();
        tables.push(captures::table(&captures));
        tables.push(observers.recorder.state.table());
        tables.extend(self.arrays_tables(&observers.recorder));
        tables.extend([self.drops_table(), self.digests_table(), self.log_lines_table()]);
        let names: Vec<&str> = self.topology.channels.iter().map(|channel| channel.name.as_str()).collect();
        tables.extend([observers.recorder.links_table(&names), observers.recorder.histogram_table()]);
        Results { tables, summary, captures, trace: self.trace(observers.trace.as_deref()) }
    }

    /// The run in a few numbers.
    pub fn summary(&self, observers: &Observers, progress: Progress) -> Summary {
        let (balance, flows, pauses) = (self.packet_balance(), self.hosts.flows(), self.pause_rows());
        let rounds = || self.hosts.applications().rounds.iter().flat_map(|run| &run.rounds);
        let snapshots = || flows.iter().map(|flow| flow.snapshot());
        let drops =
            |cause| self.switches.iter().map(|switch| switch.observation().counters().drops.of(cause)).sum();
        let shared_drops: [u64; 2] = [DropCause::SharedBuffer, DropCause::Headroom].map(drops);
        let mut stall = observers.stall.clone();
        stall.look(self.now);
        Summary {
            seed: self.seed,
            goodput_bps: self.goodput_bps(),
            total_goodput_bps: self.total_goodput_bps(),
            jain_index: self.jain_index(),
            finish_ns: self.last_finish().map_or(-1, |finish| finish.as_ns() as i64),
            end_ns: progress.now_ns,
            flows_finite: progress.flows_finite,
            flows_completed: self.counted().filter(|(_, flow)| flow.finish.is_some()).count() as u64,
            rounds_completed: rounds().filter(|round| round.finish.is_some()).count() as u64,
            deadline_flows: flows.iter().filter(|flow| flow.deadline.is_some()).count() as u64,
            deadlines_met: flows.iter().filter(|flow| flow.deadline_met() == Some(true)).count() as u64,
            timeouts: snapshots().map(|snapshot| snapshot.timeouts).sum(),
            flows_timed_out: snapshots().filter(|snapshot| snapshot.timeouts > 0).count() as u64,
            drops: balance.dropped,
            tail_drops: drops(DropCause::TailDrop),
            buffer_drops: shared_drops.iter().sum(),
            pass_limit_drops: drops(DropCause::PassLimit),
            assertions_failed: self
                .switches
                .iter()
                .map(|switch| switch.observation().counters().assertions_failed)
                .sum(),
            assertion_places: self.assertion_places(),
            pauses: pauses.iter().map(|row| row.counters.sent).sum(),
            paused_ns: pauses.iter().map(|row| row.counters.paused.as_ns()).sum(),
            longest_pause_ns: pauses.iter().map(|row| row.counters.longest.as_ns()).max().unwrap_or(0),
            deadlocks: observers.deadlocks.found.len() as u64,
            stalled_ns: stall.found.map_or(-1, |at| at.as_ns() as i64),
            longest_silence_ns: stall.longest.as_ns(),
            link_losses: balance.lost,
            host_refusals: balance.refused,
            marks_level1: flows.iter().map(|flow| flow.marks[0]).sum(),
            marks_level2: flows.iter().map(|flow| flow.marks[1]).sum(),
            peak_queue_pkts: self
                .port_rows()
                .iter()
                .map(|row| row.2.peak_depth_pkts().into())
                .max()
                .unwrap_or(0),
            packet_hops: progress.packet_hops,
            events: progress.events,
            rows_left_out: observers.recorder.rows_left_out()
                + self.pause_frames_left_out()
                + self.received_left_out()
                + self.headers_left_out()
                + self.program_events_left_out(),
        }
    }

    /// The first few places at which assertions did not hold, such as `s1: assert at x.p4:7 (12 times)`.
    fn assertion_places(&self) -> String {
        const MOST: usize = 4;
        let switches = self.switches.nodes().iter().zip(self.spec.switch_names());
        let mut places = switches.flat_map(|(node, name)| {
            let place = move |(place, count)| format!("{name}: {place} ({count} times)");
            node.switch.observation().failed_assertions().map(place)
        });
        let mut shown: Vec<String> = places.by_ref().take(MOST).collect();
        let more = places.count();
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        shown.join("; ")
    }

    /// Counted flows.
    fn counted(&self) -> impl Iterator<Item = (&FlowPlan, &Flow)> {
        self.hosts.planned_flows().filter(|(plan, _)| plan.is_counted())
    }

    /// When the last counted flow finished, if all did.
    fn last_finish(&self) -> Option<Time> {
        self.counted().map(|(_, flow)| flow.finish).collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    fn goodput_bps(&self) -> f64 {
        let Some(start) = self.counted().map(|(plan, _)| plan.start).min() else { return 0.0 };
        let bytes = self.counted().map(|(_, flow)| flow.snapshot().snd_una).sum();
        rate_bps(bytes, start, self.last_finish().unwrap_or(self.now))
    }

    fn total_goodput_bps(&self) -> f64 {
        let (start, before) = self.hosts.progress().first_begin.unwrap_or((Time::ZERO, 0));
        rate_bps(self.hosts.acked_bytes() - before, start, self.now)
    }

    fn jain_index(&self) -> f64 {
        let flows = self.hosts.planned_flows();
        let begun = flows.filter(|(plan, flow)| flow.has_begun && !plan.is_request());
        let rates = begun.map(|(_, flow)| {
            let start = flow.start.unwrap_or(Time::ZERO);
            rate_bps(flow.snapshot().snd_una, start, flow.finish.unwrap_or(self.now))
        });
        let (count, sum, squares) =
            rates.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
        if squares == 0.0 { 0.0 } else { sum * sum / (count * squares) }
    }

    pub(crate) fn flows_table(&self) -> Table {
        let algorithms: Vec<&str> = self.spec.sender_names().collect();
        let host = |index: u32| self.spec.hosts[index as usize].name.as_str();
        let flows = self.hosts.planned_flows().map(|(plan, flow)| {
            // A flow that has not begun has no start, though its plan may have one after the run's end.
            (plan, flow, flow.snapshot(), flow.start.filter(|_| flow.has_begun))
        });
        Table::of("flows", &flows.collect::<Vec<_>>())
            .column("flow_id", |(plan, ..)| u64::from(plan.id))
            .column("src", |(plan, ..)| host(plan.data_hosts().0))
            .column("dst", |(plan, ..)| host(plan.data_hosts().1))
            .column("class", |(plan, ..)| &*plan.class)
            .column("algorithm", |(plan, ..)| algorithms[plan.algorithm as usize])
            .column("size_bytes", |(plan, ..)| plan.size_bytes)
            .column("start_ns", |(.., start)| *start)
            .column("finish_ns", |(_, flow, ..)| flow.finish)
            .column("received_ns", |(_, flow, ..)| flow.received)
            // The difference of the two columns, not of times that are finer than they are.
            .column("fct_ns", |(_, flow, _, start)| Some(flow.finish?.as_ns() - (*start)?.as_ns()))
            .column("deadline_ns", |(_, flow, ..)| flow.deadline.map(Span::as_ns))
            .column("deadline_met", |(_, flow, ..)| flow.deadline_met().map(u64::from))
            .column("quenched", |(_, flow, ..)| u64::from(flow.quenched.is_some()))
            .column("acked_bytes", |(_, _, sender, _)| sender.snd_una)
            .column("data_pkts", |(_, flow, ..)| flow.data_pkts)
            .column("retransmitted_pkts", |(_, _, sender, _)| sender.retransmitted_segments)
            .column("timeouts", |(_, _, sender, _)| sender.timeouts)
            .column("fast_retransmits", |(_, _, sender, _)| sender.fast_retransmits)
            .column("marks_level1", |(_, flow, ..)| flow.marks[0])
            .column("marks_level2", |(_, flow, ..)| flow.marks[1])
            .build()
    }

    /// One row for each round that began.
    fn rounds_table(&self) -> Table {
        let groups = self.topology.rounds.iter().zip(&self.hosts.applications().rounds);
        let rounds = groups.flat_map(|(plan, run)| {
            (0_u64..).zip(&run.rounds).map(move |(number, round)| (plan, number, round))
        });
        Table::of("rounds", &rounds.collect::<Vec<_>>())
            .column("group", |(plan, ..)| plan.name.as_str())
            .column("round", |(_, number, _)| *number)
            .column("start_ns", |(.., round)| round.start.as_ns())
            .column("finish_ns", |(.., round)| round.finish)
            .column("bytes", |(plan, ..)| plan.round_bytes())
            .column("goodput_bps", |(plan, _, round)| {
                round.finish.map(|finish| rate_bps(plan.round_bytes(), round.start, finish))
            })
            .build()
    }

    /// All ports of all switches, with their counters.
    fn port_rows(&self) -> Vec<(u64, u32, PortCounters)> {
        let ports = self.switches.iter().flat_map(|switch| {
            let counters = |port| switch.observation().port_counters(port).unwrap_or_default();
            let ports = switch.config().ports.iter();
            ports.map(move |port| (switch.device_id(), port.port, counters(port.port)))
        });
        ports.collect()
    }

    fn ports_table(&self) -> Table {
        Table::of("ports", &self.port_rows())
            .column("device_id", |(device, ..)| *device)
            .column("port", |(_, port, _)| u64::from(*port))
            .column("rx_pkts", |(.., port)| port.rx_pkts)
            .column("rx_bytes", |(.., port)| port.rx_bytes)
            .column("tx_pkts", |(.., port)| port.tx_pkts)
            .column("tx_bytes", |(.., port)| port.tx_bytes)
            .column("dropped_pkts", |(.., port)| port.dropped())
            .column("peak_depth_pkts", |(.., port)| u64::from(port.peak_depth_pkts()))
            .build()
    }

    /// One row for each queue that a packet was put into, or dropped at.
    fn port_queues_table(&self) -> Table {
        let ports = self.port_rows();
        let queues = ports.iter().flat_map(|(device, port, counters)| {
            (0_u64..).zip(&counters.queues).map(move |(priority, queue)| (*device, *port, priority, queue))
        });
        let rows: Vec<_> =
            queues.filter(|(.., queue)| queue.enqueued_pkts > 0 || queue.dropped.total() > 0).collect();
        let mut table = Table::of("port_queues", &rows)
            .column("device_id", |row| row.0)
            .column("port", |row| u64::from(row.1))
            .column("priority", |row| row.2)
            .column("enqueued_pkts", |row| row.3.enqueued_pkts)
            .column("enqueued_bytes", |row| row.3.enqueued_bytes)
            .column("peak_depth_pkts", |row| u64::from(row.3.peak_depth_pkts))
            .column("peak_depth_bytes", |row| row.3.peak_depth_bytes);
        for cause in DropCause::ALL {
            table = table.column(cause.column(), |row| row.3.dropped.of(cause));
        }
        table.build()
    }

    fn links_table(&self) -> Table {
        let channels: Vec<_> = self.topology.channels.iter().zip(self.links.channels()).collect();
        Table::of("links", &channels)
            .column("link", |(plan, _)| plan.name.as_str())
            .column("rate_bps", |(plan, _)| plan.rate.as_bps())
            .column("bytes", |(_, channel)| channel.bytes)
            .column("lost_pkts", |(_, channel)| channel.lost())
            .build()
    }

    /// Ports and priorities of switches, then of hosts, that
    /// were paused or paused a neighbour, or could have.
    fn pause_rows(&self) -> Vec<PauseRow<'_>> {
        let mut rows = Vec::new();
        for (node, spec) in self.switches.nodes().iter().zip(&self.spec.switches) {
            for config in &node.switch.config().ports {
                let port = config.port;
                let Some(counters) = node.switch.observation().port_counters(port) else { continue };
                for priority in 0..counters.pauses.len() {
                    let counters = node.switch.observation().pauses(port, priority as u8, self.now);
                    rows.push(PauseRow { node: &spec.name, port, priority, counters });
                }
            }
        }
        for (host, spec) in self.hosts.hosts().iter().zip(&self.spec.hosts) {
            for priority in 0..PRIORITIES {
                let counters = host.pauses.counters(priority, self.now);
                rows.push(PauseRow { node: &spec.name, port: 0, priority, counters });
            }
        }
        rows.retain(|row| row.counters != PauseCounters::default());
        rows
    }

    fn pauses_table(&self) -> Table {
        Table::of("pauses", &self.pause_rows())
            .column("node", |row| row.node)
            .column("port", |row| u64::from(row.port))
            .column("priority", |row| row.priority as u64)
            .column("pauses_sent", |row| row.counters.sent)
            .column("resumes_sent", |row| row.counters.resumes_sent)
            .column("pauses_received", |row| row.counters.received)
            .column("paused_ns", |row| row.counters.paused.as_ns())
            .column("longest_pause_ns", |row| row.counters.longest.as_ns())
            .column("first_pause_ns", |row| row.counters.first)
            .column("last_change_ns", |row| row.counters.last)
            .column("peak_ingress_bytes", |row| row.counters.peak_ingress_bytes)
            .column("peak_headroom_bytes", |row| row.counters.peak_headroom_bytes)
            .build()
    }

    /// Cycles of links that waited for each other, as `s1:2->s2:1 => s2:2->s3:1`.
    fn deadlocks_table(&self, deadlocks: &[Deadlock]) -> Table {
        let name = |channel: &u32| self.topology.channels[*channel as usize].name.as_str();
        Table::of("deadlocks", deadlocks)
            .column("time_ns", |deadlock| deadlock.at.as_ns())
            .column("priority", |deadlock| u64::from(deadlock.priority))
            .column("links", |deadlock| deadlock.channels.iter().map(name).collect::<Vec<_>>().join(" => "))
            .build()
    }
}
