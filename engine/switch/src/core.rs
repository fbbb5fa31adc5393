//! A switch without its program: traffic manager, packet replication, counters, messages to the controller.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use std::sync::Arc;

use p4cc_exec::DigestMessage;
use p4cc_ir::Program;
use p4cc_units::Time;

use crate::chip::Chip;
use crate::config::{SwitchConfig, TimestampUnit};
use crate::counters::{DropCause, SwitchCounters};
use crate::lineage::{Lineage, Lineages};
use crate::packet::Packet;
use crate::pre::ReplicationEngine;
use crate::random::Stream;
use crate::tm::TrafficManager;
use crate::trace::{Step, TraceLog};
use crate::watch::{Kept, LogLine};

/// Most packet-ins, and most digest messages, that wait for the controller.
pub const MAX_CONTROLLER_QUEUE: usize = 1_024;

/// Most lines of `log_msg` that wait for whoever traces.
pub const MAX_LOG_LINES: usize = 1_024;

/// Most places of assertions that are counted one by one.
const MAX_ASSERTION_PLACES: usize = 4_096;

/// v1model's `instance_type`, with BMv2's values. No enumeration: the values that one does not have would
/// tell a slot of the queues that it is free, in the middle of what is copied; so the packet's pointer tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Instance(u8);

impl Instance {
    pub const NORMAL: Self = Self(0);
    pub const INGRESS_CLONE: Self = Self(1);
    pub const EGRESS_CLONE: Self = Self(2);
    pub const RECIRCULATED: Self = Self(4);
    pub const REPLICA: Self = Self(5);
    pub const RESUBMITTED: Self = Self(6);
    /// Of TNA: the packet leaves by its port without egress.
    pub const NO_EGRESS: Self = Self(7);
    /// Of TNA: the first of a group's replicas.
    pub const FIRST_REPLICA: Self = Self(8);
    /// Its own queue was full: a value of p4cc's, which v1model's programs see too.
    pub const DEFLECTED: Self = Self(9);

    /// BMv2's value.
    #[inline]
    pub const fn code(self) -> u8 {
        self.0
    }
}

/// A queue of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct QueueId {
    pub port: u32,
    pub priority: u8,
}

/// What a packet of the switch comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// Port that drops are counted against: as a rule the one that it came in on.
    pub port: u32,
    pub lineage: Lineage,
}

/// A packet between ingress and egress.
#[derive(Clone, Debug)]
pub(crate) struct Queued {
    /// The live part of the frame in place of the bytes that were parsed into it, then what was not parsed:
    /// most packets wait without memory of their own.
    pub packet: Packet,
    pub enqueued_at: Time,
    /// Length as it came in: what counters count.
    pub length: u32,
    /// Length that it is cut to when it leaves.
    pub truncate: u32,
    /// Bytes of the live part at the head of `packet`.
    pub saved_bytes: u32,
    pub rid: u16,
    /// What `setValid` and `setInvalid` added to v1model's `packet_length`.
    pub length_delta: i16,
    /// Port that it came in on, for what has to be counted against it.
    pub ingress_port: u16,
    pub instance: Instance,
    /// What it shares with all that descends from the same received packet.
    pub lineage: Lineage,
}

impl Queued {
    /// A whole packet that nothing of the program's memory goes along with.
    #[inline]
    pub fn new(now: Time, packet: Packet, origin: Origin) -> Self {
        Self {
            enqueued_at: now,
            length: packet.len(),
            packet,
            saved_bytes: 0,
            truncate: u32::MAX,
            rid: 0,
            length_delta: 0,
            ingress_port: u16::try_from(origin.port).unwrap_or(u16::MAX),
            instance: Instance::NORMAL,
            lineage: origin.lineage,
        }
    }
}

/// A packet for a port that has no queue.
#[derive(Clone, Debug)]
pub(crate) struct Unqueued {
    pub port: u32,
    pub priority: u8,
    pub queued: Queued,
}

/// Everything of a switch but the program. In the order of fields, which is
/// that of how often they are touched: what packets need as a rule stands in
/// few lines of the cache, the first and those of the traffic manager's start.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Core {
    /// Packets for ports that have no queue, the controller's and those without
    /// an interface, that have yet to run through egress. Empty between calls.
    pub unqueued: VecDeque<Unqueued>,
    pub trace: TraceLog,
    /// Of the configuration, which lies further off.
    pub drop_port: u32,
    timestamp_unit: TimestampUnit,
    /// Of the configuration, too.
    pub deflect_on_drop: bool,
    pub counters: SwitchCounters,
    pub packet_ins: VecDeque<Packet>,
    pub digests: VecDeque<DigestMessage>,
    pub tm: TrafficManager<Queued>,
    pub config: SwitchConfig,
    pub pre: ReplicationEngine,
    /// What a Tofino chip has beside the program.
    pub chip: Box<Chip>,
    pub random: Stream,
    pub logs: VecDeque<LogLine>,
    /// Of a PSA or TNA program: packets on their way through egress to ingress. Empty between calls.
    pub loopback: VecDeque<Unqueued>,
    lineages: Lineages,
    /// Ports that are down; all others are up.
    pub ports_down: BTreeSet<u32>,
    /// What observers of whole runs keep, if there are any.
    pub kept: Option<Box<Kept>>,
    /// How often `assert` and `assume` did not hold, by the place in the source.
    pub failed_assertions: BTreeMap<String, u64>,
}

impl Core {
    pub fn new(config: SwitchConfig) -> Self {
        Self {
            tm: TrafficManager::new(&config.ports, config.buffer.as_ref()),
            unqueued: VecDeque::new(),
            pre: ReplicationEngine::default(),
            chip: Box::new(Chip::new(config.seed, config.device_id, config.deflect_on_drop)),
            random: Stream::named(config.seed, &format!("switch.{}", config.device_id)),
            counters: SwitchCounters::default(),
            packet_ins: VecDeque::new(),
            digests: VecDeque::new(),
            logs: VecDeque::new(),
            loopback: VecDeque::new(),
            lineages: Lineages::default(),
            ports_down: BTreeSet::new(),
            kept: None,
            failed_assertions: BTreeMap::new(),
            trace: TraceLog::default(),
            drop_port: config.drop_port,
            timestamp_unit: config.timestamp_unit,
            deflect_on_drop: config.deflect_on_drop,
            config,
        }
    }

    /// Time as the program sees it.
    #[inline]
    pub fn timestamp(&self, time: Time) -> u64 {
        match self.timestamp_unit {
            TimestampUnit::Us => time.as_us(),
            TimestampUnit::Ns => time.as_ns(),
        }
    }

    /// Counts a drop against the port that the packet came in on.
    #[cold]
    pub fn drop_at(&mut self, ingress_port: u32, priority: u8, cause: DropCause) {
        self.counters.drops.add(cause);
        self.trace.keep(|| Step::Dropped { cause, port: ingress_port, priority });
        let port = self.tm.port(ingress_port);
        self.trace.dropped(port.map(|_| ingress_port), cause, 1);
        if let Some(port) = port {
            self.tm.count_drop(port, priority, cause);
        }
    }

    /// Counts a drop of a packet that left the queue of an egress port.
    pub fn drop_from(&mut self, egress_port: u32, priority: u8, cause: DropCause) {
        self.drop_at(egress_port, priority, cause);
    }

    /// Puts a packet into the queue of a port, or drops and counts it.
    #[inline(never)]
    pub fn enqueue(&mut self, port: u32, priority: u8, queued: Queued) {
        self.enqueue_in_line(port, priority, queued);
    }

    /// The same, where most packets come by.
    #[inline(always)]
    pub fn enqueue_in_line(&mut self, port: u32, priority: u8, queued: Queued) {
        let Some(index) = self.tm.port(port) else {
            self.enqueue_elsewhere(port, priority, queued);
            return;
        };
        let frame_bytes = queued.length.min(queued.truncate);
        let ingress = self.tm.port(u32::from(queued.ingress_port));
        match self.tm.enqueue(index, priority, frame_bytes, ingress, queued) {
            Ok(()) => self.trace.keep(|| Step::Enqueued { port, priority }),
            Err(cause) => {
                self.counters.drops.add(cause);
                self.trace.keep(|| Step::Dropped { cause, port, priority });
                self.trace.dropped(Some(port), cause, 1);
            }
        }
    }

    /// Whether packets wait for ports that have no queue: the controller's, one without an interface, one
    /// that leads back.
    #[inline]
    pub fn has_unqueued(&self) -> bool {
        !self.unqueued.is_empty() || !self.loopback.is_empty()
    }

    /// Whether the queue of a port takes a packet, by its own capacity; what has no queue takes all.
    pub fn has_room(&self, port: u32, priority: u8, frame_bytes: u32) -> bool {
        self.tm.port(port).is_none_or(|index| self.tm.has_room(index, priority, frame_bytes))
    }

    /// For the controller, or for a port without an interface: egress runs for both.
    #[cold]
    fn enqueue_elsewhere(&mut self, port: u32, priority: u8, queued: Queued) {
        if self.unqueued.len() < MAX_CONTROLLER_QUEUE {
            self.trace.keep(|| Step::Enqueued { port, priority });
            self.unqueued.push_back(Unqueued { port, priority, queued });
            return;
        }
        let is_controllers = self.config.cpu_port == Some(port);
        let cause = if is_controllers { DropCause::ControllerQueue } else { DropCause::TailDrop };
        self.drop_at(u32::from(queued.ingress_port), priority, cause);
    }

    /// Lets a packet cause so many copies and passes as are left of its lineage; how many those are, `wanted`
    /// at most. The others are dropped and counted against the port that the packet came in on.
    #[cold]
    pub fn allow(&mut self, lineage: &mut Lineage, wanted: usize, against: QueueId) -> usize {
        let QueueId { port: ingress_port, priority } = against;
        let Self { lineages, tm, unqueued, loopback, .. } = self;
        let limit = self.config.pass_limit;
        let asked = u32::try_from(wanted).unwrap_or(u32::MAX);
        let is_new = *lineage == Lineage::NONE;
        let waiting = || waiting(tm, unqueued, loopback);
        let allowed = lineages.take(lineage, asked, limit, waiting) as usize;
        if is_new {
            self.trace.forget(*lineage);
        }
        let dropped = (wanted - allowed) as u64;
        if dropped > 0 {
            let cause = DropCause::PassLimit;
            self.counters.drops.add_many(cause, dropped);
            self.trace.keep(|| Step::Dropped { cause, port: ingress_port, priority });
            let port = self.tm.port(ingress_port);
            self.trace.dropped(port.map(|_| ingress_port), cause, dropped);
            if let Some(port) = port {
                self.tm.count_drops(port, priority, cause, dropped);
            }
        }
        allowed
    }

    /// The lineage of a packet that arrives at a port where packets are traced. One that is expected has its
    /// lineage from here on, so that its steps are known behind the queue.
    #[cold]
    pub fn trace_arrival(&mut self, now: Time, port: u32, bytes: u32) -> Lineage {
        let is_expected = self.trace.on_arrival(now, port);
        self.trace.begin(bytes);
        self.trace.keep(|| Step::Received { port, bytes });
        if !is_expected {
            return Lineage::NONE;
        }
        let Self { lineages, tm, unqueued, loopback, .. } = self;
        let lineage = lineages.begin(self.config.pass_limit, || waiting(tm, unqueued, loopback));
        self.trace.enters(lineage);
        lineage
    }

    /// The same for copies, which are counted as made; those to make.
    pub fn allow_copies(&mut self, lineage: &mut Lineage, wanted: usize, against: QueueId) -> usize {
        self.counters.copies += wanted as u64;
        if wanted == 0 { 0 } else { self.allow(lineage, wanted, against) }
    }

    /// Keeps the lines that a run wrote; the oldest yield when there are too many.
    #[inline]
    pub fn keep_logs(&mut self, now: Time, lines: &mut Vec<String>) {
        if !lines.is_empty() {
            self.keep_more_logs(now, lines);
        }
    }

    /// An assertion did not hold. Programs come and go: of very many places only the first have a count each.
    #[cold]
    pub fn count_failed_assertion(&mut self, place: String) {
        self.counters.assertions_failed += 1;
        let places = self.failed_assertions.len();
        match self.failed_assertions.get_mut(&place) {
            Some(count) => *count += 1,
            None if places < MAX_ASSERTION_PLACES => _ = self.failed_assertions.insert(place, 1),
            None => {}
        }
    }

    #[cold]
    fn keep_more_logs(&mut self, now: Time, lines: &mut Vec<String>) {
        for text in lines.drain(..) {
            if let Some(kept) = &mut self.kept {
                kept.log(now, &text);
            }
            if self.logs.len() == MAX_LOG_LINES {
                self.logs.pop_front();
            }
            self.logs.push_back(LogLine { at: now, text });
        }
    }

    /// Keeps digests for the controller, up to the bound.
    #[inline]
    pub fn keep_digests(&mut self, now: Time, program: &Arc<Program>, digests: &mut Vec<DigestMessage>) {
        if !digests.is_empty() {
            if let Some(kept) = &mut self.kept {
                kept.digests(now, program, digests);
            }
            self.keep_more_digests(digests);
        }
    }

    #[cold]
    fn keep_more_digests(&mut self, digests: &mut Vec<DigestMessage>) {
        self.counters.digests += digests.len() as u64;
        for message in digests.drain(..) {
            if self.digests.len() < MAX_CONTROLLER_QUEUE {
                self.digests.push_back(message);
            } else {
                self.counters.digests_lost += 1;
            }
        }
    }
}

/// Lineages of all packets that wait.
fn waiting<'a>(
    tm: &'a TrafficManager<Queued>,
    unqueued: &'a VecDeque<Unqueued>,
    loopback: &'a VecDeque<Unqueued>,
) -> impl Iterator<Item = Lineage> {
    let unqueued = unqueued.iter().chain(loopback).map(|one| &one.queued);
    tm.items().chain(unqueued).map(|queued| queued.lineage)
}

#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::*;

    #[test]
    fn what_every_packet_touches_stands_together() {
        assert!(offset_of!(Core, counters) + 2 * size_of::<u64>() <= 64);
        assert_eq!(offset_of!(Core, tm) % 64, 0);
    }
}
