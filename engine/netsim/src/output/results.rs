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
use crate::record::schema::{DeadlockRow, FlowRow, LinkRow, PauseRow, PortRow, QueueRow, RoundRow};
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
    /// (docs/algorithms/metrics.md#metrics), if anything flowed.
    pub jain_index: Option<f64>,
    /// Last finish of a flow with a size, if all are complete.
    pub finish_ns: Option<u64>,
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
    /// When nothing had been delivered for too long with flows under way, for the first time.
    pub stalled_ns: Option<u64>,
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
    /// Those of `TABLES`.
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
        self.tables.iter().find(|table| table.spec.name == name)
    }
}

/// Payload over a time, in bit/s; 0 over no time.
pub(crate) fn rate_bps(bytes: u64, start: Time, end: Time) -> f64 {
    let span_ps = end.since(start).as_ps();
    if span_ps == 0 { 0.0 } else { bytes as f64 * 8.0 / (span_ps as f64 * 1e-12) }
}

/// Pauses of one port and priority up to now.
struct PausedPort<'a> {
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
        tables.extend(self.jobs_tables());
        tables.extend(observers.recorder.tables());
        tables.extend([self.ports_table(), self.port_queues_table(), self.links_table(), self.hosts_table()]);
        tables.extend([
            self.pauses_table(),
            self.pause_frames_table(),
            self.watchdog_table(),
            self.slow_receivers_table(),
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
        let (balance, flows, pauses) = (self.packet_balance(), self.hosts.flows(), self.paused_ports());
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
            finish_ns: self.last_finish().map(Time::as_ns),
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
            stalled_ns: stall.found.map(Time::as_ns),
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
                + self.watchdog_left_out()
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

    fn jain_index(&self) -> Option<f64> {
        let flows = self.hosts.planned_flows();
        let begun = flows.filter(|(plan, flow)| flow.has_begun && !plan.is_request());
        let rates = begun.map(|(_, flow)| {
            let start = flow.start.unwrap_or(Time::ZERO);
            rate_bps(flow.snapshot().snd_una, start, flow.finish.unwrap_or(self.now))
        });
        let (count, sum, squares) =
            rates.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
        (squares != 0.0).then(|| sum * sum / (count * squares))
    }

    pub(crate) fn flows_table(&self) -> Table {
        let algorithms: Vec<&str> = self.spec.sender_names().collect();
        let host = |index: u32| self.host_name(index);
        let flows = self.hosts.planned_flows().map(|(plan, flow)| {
            // A flow that has not begun has no start, though its plan may have one after the run's end.
            (plan, flow, flow.snapshot(), flow.start.filter(|_| flow.has_begun))
        });
        Table::of(flows.map(|(plan, flow, sender, start)| FlowRow {
            flow_id: plan.id.into(),
            src: host(plan.data_hosts().0),
            dst: host(plan.data_hosts().1),
            class: &plan.class,
            algorithm: algorithms[plan.algorithm as usize],
            size_bytes: plan.size_bytes,
            start_ns: start.map(Time::as_ns),
            finish_ns: flow.finish.map(Time::as_ns),
            received_ns: flow.received.map(Time::as_ns),
            // The difference of the two columns, not of times that are finer than they are.
            fct_ns: flow.finish.zip(start).map(|(finish, start)| finish.as_ns() - start.as_ns()),
            deadline_ns: flow.deadline.map(Span::as_ns),
            deadline_met: flow.deadline_met().map(u64::from),
            quenched: flow.quenched.is_some().into(),
            acked_bytes: sender.snd_una,
            data_pkts: flow.data_pkts,
            retransmitted_pkts: sender.retransmitted_segments,
            timeouts: sender.timeouts,
            fast_retransmits: sender.fast_retransmits,
            marks_level1: flow.marks[0],
            marks_level2: flow.marks[1],
        }))
    }

    /// One row for each round that began.
    fn rounds_table(&self) -> Table {
        let groups = self.topology.rounds.iter().zip(&self.hosts.applications().rounds);
        let rounds = groups.flat_map(|(plan, run)| {
            (0_u64..).zip(&run.rounds).map(move |(number, round)| (plan, number, round))
        });
        Table::of(rounds.map(|(plan, number, round)| RoundRow {
            group: &plan.name,
            round: number,
            start_ns: round.start.as_ns(),
            finish_ns: round.finish.map(Time::as_ns),
            bytes: plan.round_bytes(),
            goodput_bps: round.finish.map(|finish| rate_bps(plan.round_bytes(), round.start, finish)),
        }))
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
        Table::of(self.port_rows().iter().map(|(device_id, port, counters)| PortRow {
            device_id: *device_id,
            port: (*port).into(),
            rx_pkts: counters.rx_pkts,
            rx_bytes: counters.rx_bytes,
            tx_pkts: counters.tx_pkts,
            tx_bytes: counters.tx_bytes,
            dropped_pkts: counters.dropped(),
            peak_depth_pkts: counters.peak_depth_pkts().into(),
        }))
    }

    /// One row for each queue that a packet was put into, or dropped at.
    fn port_queues_table(&self) -> Table {
        let ports = self.port_rows();
        let queues = ports.iter().flat_map(|(device, port, counters)| {
            (0_u64..).zip(&counters.queues).map(move |(priority, queue)| (*device, *port, priority, queue))
        });
        let used = queues.filter(|(.., queue)| queue.enqueued_pkts > 0 || queue.dropped.total() > 0);
        Table::of(used.map(|(device_id, port, priority, queue)| QueueRow {
            device_id,
            port: port.into(),
            priority,
            enqueued_pkts: queue.enqueued_pkts,
            enqueued_bytes: queue.enqueued_bytes,
            peak_depth_pkts: queue.peak_depth_pkts.into(),
            peak_depth_bytes: queue.peak_depth_bytes,
            dropped_queue_full: queue.dropped.of(DropCause::TailDrop),
            dropped_ingress: queue.dropped.of(DropCause::Ingress),
            dropped_egress: queue.dropped.of(DropCause::Egress),
            dropped_no_pipeline: queue.dropped.of(DropCause::NoPipeline),
            dropped_no_such_port: queue.dropped.of(DropCause::NoSuchPort),
            dropped_no_replicas: queue.dropped.of(DropCause::NoReplicas),
            dropped_pass_limit: queue.dropped.of(DropCause::PassLimit),
            dropped_too_long: queue.dropped.of(DropCause::TooLong),
            dropped_controller_queue: queue.dropped.of(DropCause::ControllerQueue),
            dropped_shared_buffer: queue.dropped.of(DropCause::SharedBuffer),
            dropped_headroom: queue.dropped.of(DropCause::Headroom),
        }))
    }

    fn links_table(&self) -> Table {
        let channels = self.topology.channels.iter().zip(self.links.channels());
        Table::of(channels.map(|(plan, channel)| LinkRow {
            link: &plan.name,
            rate_bps: plan.rate.as_bps(),
            bytes: channel.bytes,
            lost_pkts: channel.lost(),
        }))
    }

    /// Ports and priorities of switches, then of hosts, that
    /// were paused or paused a neighbour, or could have.
    fn paused_ports(&self) -> Vec<PausedPort<'_>> {
        let mut rows = Vec::new();
        for (node, spec) in self.switches.nodes().iter().zip(&self.spec.switches) {
            for config in &node.switch.config().ports {
                let port = config.port;
                let Some(counters) = node.switch.observation().port_counters(port) else { continue };
                for priority in 0..counters.pauses.len() {
                    let counters = node.switch.observation().pauses(port, priority as u8, self.now);
                    rows.push(PausedPort { node: &spec.name, port, priority, counters });
                }
            }
        }
        for (interface, host) in (0..).zip(self.hosts.hosts()) {
            for priority in 0..PRIORITIES {
                let mut counters = host.pauses.counters(priority, self.now);
                host.slow.iter().for_each(|card| card.add_pauses(priority, &mut counters));
                let port = self.topology.interfaces.port(interface);
                rows.push(PausedPort { node: self.host_name(interface), port, priority, counters });
            }
        }
        rows.retain(|row| row.counters != PauseCounters::default());
        rows
    }

    fn pauses_table(&self) -> Table {
        Table::of(self.paused_ports().iter().map(|row| PauseRow {
            node: row.node,
            port: row.port.into(),
            priority: row.priority as u64,
            pauses_sent: row.counters.sent,
            resumes_sent: row.counters.resumes_sent,
            pauses_received: row.counters.received,
            paused_ns: row.counters.paused.as_ns(),
            longest_pause_ns: row.counters.longest.as_ns(),
            first_pause_ns: row.counters.first.map(Time::as_ns),
            last_change_ns: row.counters.last.map(Time::as_ns),
            peak_ingress_bytes: row.counters.peak_ingress_bytes,
            peak_headroom_bytes: row.counters.peak_headroom_bytes,
        }))
    }

    /// Cycles of links that waited for each other, as `s1:2->s2:1 => s2:2->s3:1`.
    fn deadlocks_table(&self, deadlocks: &[Deadlock]) -> Table {
        let name = |channel: &u32| self.topology.channels[*channel as usize].name.as_str();
        let cycle = |deadlock: &Deadlock| deadlock.channels.iter().map(name).collect::<Vec<_>>().join(" => ");
        let cycles: Vec<String> = deadlocks.iter().map(cycle).collect();
        Table::of(deadlocks.iter().zip(&cycles).map(|(deadlock, links)| DeadlockRow {
            time_ns: deadlock.at.as_ns(),
            priority: deadlock.priority.into(),
            links,
        }))
    }
}
