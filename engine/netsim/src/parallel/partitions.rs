//! One run on several threads, with the results of one thread, byte for byte.
//!
//! The nodes are dealt out to parts, a host with its switch. Every part is a network of its own in which only
//! its nodes are real; while parts run, each handles the events of its nodes in the order of their keys.
//! Events of different nodes touch each other over links only, so what happens in `[T, T + W)` at one part
//! cannot depend on what happens there at another while `W` is no longer than the shortest delay of a link
//! between parts (conservative look-ahead). Parts meet after each such window and hand over what is on its
//! way between them.
//!
//! What is not a node's own is not done by parts. Samples, the look for deadlocks, the first start and the
//! end of a run need all nodes at one event: there the parts are put together again and the network runs as
//! one. The silence that [`Stall`](crate::output::stall::Stall) measures is told from the parts' deliveries
//! after each window.
//!
//! Invariants: each node's state is in exactly one place; no run can end inside a window
//! ([`Network::cannot_end`]); a sequence number decides only between events that one node scheduled for
//! itself or arrivals by one channel, so numbers need not be those of one thread, only rise.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use p4cc_units::{Span, Time};

use crate::describe::spec::RecordSpec;
use crate::describe::topology::Topology;
use crate::events::event::Kind;
use crate::hosts::host::{Ends, Flow};
use crate::links::channel::Mail;
use crate::network::state::{FABRIC_TIMER, Network};
use crate::output::record::Recorder;
use crate::output::stall::Move;
use crate::parallel::barrier::Barrier;
use crate::parallel::load_balancing::owners;
use crate::parallel::logical_processes::{districts, districts_of_parts};
use crate::{Progress, SpecError, Ties};

/// Most threads of one run.
pub const MAX_THREADS: usize = 64;
/// A stretch of fewer windows is not worth dividing the network for.
const FEWEST_WINDOWS: u64 = 16;
/// Events of one thread after a stretch that was hardly worth it, and where a sample or the like is close.
const LONG_PAUSE_EVENTS: u64 = 4_096;
const SHORT_PAUSE_EVENTS: u64 = 64;
/// The network runs as one when so few events are left of the
/// limit: the event that is one too many is then told exactly.
const LIMIT_MARGIN: u64 = 1 << 22;
/// Windows after which a stretch may end so that parts are cut anew; longer where a cut did not help.
const LEAST_PATIENCE: u64 = 128;
const MOST_PATIENCE: u64 = 1 << 14;
/// Windows between two calls of `progress`.
pub(crate) const WINDOWS_PER_LOOK: u64 = 256;

/// The parts of a network and how they are cut.
pub(crate) struct Parts {
    parts: Vec<Network>,
    /// Part of each node.
    owner: Vec<usize>,
    window: Span,
    /// District of each node within its part, where districts take turns.
    districts: Option<Vec<usize>>,
    pace: Pace,
    /// The next flow that may show that the run cannot end, for each part.
    witnesses: Vec<usize>,
    /// Packets of each switch and its hosts when the network was last looked at for a cut.
    packets: Vec<u64>,
    /// A stretch goes on so many windows, however uneven the parts' work is.
    patience: u64,
}

/// When to try the next stretch, by the number of events.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Pace {
    next_try: u64,
}

impl Pace {
    /// A stretch of so many windows is over.
    pub fn after(&mut self, events: u64, windows: u64) {
        // After a long stretch what stands in the way is a sample, which is over with the next event.
        self.next_try = events + if windows >= FEWEST_WINDOWS { 1 } else { LONG_PAUSE_EVENTS };
    }
}

/// Where the threads of one stretch meet.
struct Meeting {
    barrier: Barrier,
    /// By part: time of its next event, the look for deadlocks
    /// that it asks for, and until when the run cannot end.
    next: Vec<AtomicU64>,
    check: Vec<AtomicU64>,
    sure_until: Vec<AtomicU64>,
    /// By part: events of this stretch; and how many of them there may be.
    events: Vec<AtomicU64>,
    most_events: u64,
    /// By part: packet-hops of this stretch, which tell the time that it took.
    hops: Vec<AtomicU64>,
    /// Windows after which uneven work ends the stretch.
    patience: u64,
    /// By sending part and receiving part.
    mail: Vec<Mutex<Vec<Mail>>>,
    moves: Vec<Mutex<Vec<(Time, Move)>>>,
    is_cancelled: AtomicBool,
}

impl Meeting {
    fn new(parts: usize, most_events: u64, patience: u64) -> Self {
        let numbers = || (0..parts).map(|_| AtomicU64::new(u64::MAX)).collect();
        let counts = || (0..parts).map(|_| AtomicU64::new(0)).collect();
        Self {
            barrier: Barrier::new(parts),
            next: numbers(),
            check: numbers(),
            sure_until: numbers(),
            events: counts(),
            most_events,
            hops: counts(),
            patience,
            mail: (0..parts * parts).map(|_| Mutex::default()).collect(),
            moves: (0..parts).map(|_| Mutex::default()).collect(),
            is_cancelled: AtomicBool::new(false),
        }
    }

    /// What goes from one part to another.
    fn mail(&self, from: usize, to: usize) -> &Mutex<Vec<Mail>> {
        &self.mail[from * self.next.len() + to]
    }

    fn least(numbers: &[AtomicU64]) -> Time {
        let least = numbers.iter().map(|number| number.load(Ordering::Acquire)).min();
        Time::from_ps(least.unwrap_or(u64::MAX))
    }

    /// End of the next window, none if the stretch ends. All threads come to the same answer.
    fn next_window(&self, window: Span, limit: Time) -> Option<Time> {
        let (start, limit) = (Self::least(&self.next), limit.min(Self::least(&self.check)));
        let end = window_end(start, window).min(limit);
        let events: u64 = self.events.iter().map(|number| number.load(Ordering::Acquire)).sum();
        let sure_until = self.sure_until.iter().map(|number| number.load(Ordering::Acquire)).max();
        let is_sure = end.as_ps() <= sure_until.unwrap_or(0) && events <= self.most_events;
        (start < limit && is_sure && !self.is_cancelled.load(Ordering::Acquire)).then_some(end)
    }
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Network {
    /// Why a run of this network goes on one thread however many it may have; none if it does not.
    pub fn one_thread_reason(&self) -> Option<&'static str> {
        let record = &self.spec.record;
        if self.tap.is_some() {
            return Some("packets are watched");
        }
        if self.spec.ties != Ties::LowerPort {
            return Some("simultaneous events happen in the order in which all hosts schedule them");
        }
        if !self.rounds.is_empty() {
            return Some("rounds of requests tie hosts together");
        }
        if record.events || record.rtts {
            return Some("events and round-trip times are recorded in the order of all hosts");
        }
        if self.switches.len() < 2 {
            return Some("there is one switch");
        }
        let window = window(&self.topology, &owners(&self.topology, 2, &[]));
        if window == Span::ZERO {
            return Some("a link has no delay that threads could look ahead by");
        }
        if self.check_interval() < window {
            return Some("a deadlock is to be found sooner than links let threads look ahead");
        }
        let intervals =
            [record.windows_interval_ns, record.queues_interval_ns, record.queue_histogram_interval_ns];
        let shortest = intervals.into_iter().flatten().min().map_or(Span::MAX, Span::from_ns);
        (shortest < window * FEWEST_WINDOWS)
            .then_some("samples are taken more often than links let threads look ahead")
    }

    /// Windows of virtual time so far in which threads ran side by side, or
    /// districts one after the other; all that makes a difference to is time.
    pub fn windows_apart(&self) -> u64 {
        self.windows
    }

    /// The network's parts for so many threads; none where it runs on one.
    pub(crate) fn parts(&self, threads: usize) -> Option<Parts> {
        let count = threads.min(MAX_THREADS).min(self.switches.len());
        if count < 2 || self.one_thread_reason().is_some() {
            return None;
        }
        let owner = owners(&self.topology, count, &[]);
        let of_parts = window(&self.topology, &owner);
        let of_turns = self.has_turns().then(|| window(&self.topology, &districts(&self.topology)));
        // Windows so much shorter would cost more than turns gain.
        let of_turns = of_turns.filter(|window| *window > Span::ZERO && *window * 2 >= of_parts);
        let window = of_turns.unwrap_or(of_parts);
        if window == Span::ZERO || self.check_interval() < window {
            return None;
        }
        let parts = (0..count).map(|_| self.shell()).collect::<Result<Vec<_>, _>>().ok()?;
        let mut parts = Parts {
            parts,
            owner: Vec::new(),
            window,
            districts: of_turns.map(|_| Vec::new()),
            pace: Pace::default(),
            witnesses: Vec::new(),
            packets: vec![0; self.switches.len()],
            patience: LEAST_PATIENCE,
        };
        parts.cut(&self.topology, owner);
        Some(parts)
    }

    /// A network of the same description in which nothing is real and nothing will happen.
    fn shell(&self) -> Result<Network, SpecError> {
        let mut shell = self.at_start_without_programs()?;
        shell.plans = Arc::clone(&self.plans);
        shell.recorder = Recorder::new(&RecordSpec::default(), 0, 0);
        shell.stall.keep_moves();
        Ok(shell)
    }

    /// Runs parts on threads of their own as far as they can go
    /// before `until`; the network is whole again afterwards.
    pub(crate) fn run_parts(
        &mut self,
        parts: &mut Parts,
        until: Time,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) {
        let Some(limit) = self.stretch(&mut parts.pace, parts.window, until) else { return };
        let before = self.windows;
        parts.balance(self);
        parts.divide(self);
        parts.run(self, limit, cancel, progress);
        parts.unite(self);
        parts.pace.after(self.events, self.windows - before);
    }

    /// Packets that each switch and its hosts received so far.
    fn packets_by_switch(&self) -> Vec<u64> {
        let mut packets: Vec<u64> =
            self.switches.iter().map(|node| node.switch.counters().received).collect();
        for (host, plan) in self.hosts.iter().zip(&self.topology.hosts) {
            let peer = self.topology.channels[plan.uplink as usize].to as usize;
            packets.get_mut(peer).into_iter().for_each(|packets| *packets += host.counters.delivered_pkts);
        }
        packets
    }

    /// Before what instant a stretch of windows that begins now has to end; none if it is not worth while.
    pub(crate) fn stretch(&self, pace: &mut Pace, window: Span, until: Time) -> Option<Time> {
        if self.events < pace.next_try || self.first_begin.is_none() && self.counted_flows > 0 {
            return None;
        }
        pace.next_try = self.events + SHORT_PAUSE_EVENTS;
        let limit = self.stretch_limit(until);
        let far = self.now() + window * FEWEST_WINDOWS;
        (limit >= far && self.events_left() > 0).then_some(limit)
    }

    /// Before what instant nothing is to be done by all nodes at one event.
    pub(crate) fn stretch_limit(&self, until: Time) -> Time {
        let limit = self.recorder.next_due().min(until) + Span::from_ps(1);
        limit.min(self.fabric.check_at.unwrap_or(Time::MAX))
    }

    /// How many events there may be until they are to be counted one by one.
    pub(crate) fn events_left(&self) -> u64 {
        self.spec().limits.max_events.saturating_sub(self.events.saturating_add(LIMIT_MARGIN))
    }

    /// Until when the run cannot end, whatever happens before: some flow of this
    /// part has data that it has not sent once, or has not begun. `witness` is
    /// the first flow that may show it; a flow that does not will never again.
    pub(crate) fn cannot_end(&self, owner: &[usize], part: usize, witness: &mut usize) -> Time {
        if !self.spec().stop_when_complete || self.counted_flows == 0 {
            return Time::MAX;
        }
        while let (Some(flow), Some(plan)) = (self.flows.get(*witness), self.plans.get(*witness)) {
            if plan.is_counted() && owner[self.host_node(plan.src) as usize] == part {
                if flow.has_begun && flow.has_unsent() && plan.close.is_none() {
                    return Time::MAX;
                }
                if let Some(start) = flow.start.filter(|_| !flow.has_begun) {
                    return start;
                }
            }
            *witness += 1;
        }
        Time::ZERO
    }
}

/// How long parts may run without meeting: no longer than the delay of any link between them, nor than the
/// least round trip of a packet and its ACK. Zero if there is no such time.
pub(crate) fn window(topology: &Topology, owner: &[usize]) -> Span {
    let delays = topology.channels.iter().filter(|plan| owner[plan.from as usize] != owner[plan.to as usize]);
    let round_trips = topology.hosts.iter().map(|host| topology.channels[host.uplink as usize].delay * 2);
    delays.map(|plan| plan.delay).chain(round_trips).min().unwrap_or(Span::ZERO)
}

/// End of the window that an instant lies in: windows begin at multiples of their width.
pub(crate) fn window_end(at: Time, width: Span) -> Time {
    let width_ps = width.as_ps().max(1);
    Time::from_ps((at.as_ps() / width_ps).saturating_add(1).saturating_mul(width_ps))
}

impl Parts {
    /// Cuts the network into parts by the owner of each node.
    fn cut(&mut self, topology: &Topology, owner: Vec<usize>) {
        if let Some(districts) = &mut self.districts {
            *districts = districts_of_parts(topology, &owner);
        }
        self.witnesses = vec![0; self.parts.len()];
        self.owner = owner;
    }

    /// Cuts anew if one part had far more to do since the
    /// last time than another would have had by another cut.
    fn balance(&mut self, whole: &Network) {
        /// Switches of this share of all packets have to change hands for it.
        const WORTH_IT: u64 = 50;
        let packets = whole.packets_by_switch();
        let new: Vec<u64> = packets.iter().zip(&self.packets).map(|(now, before)| now - before).collect();
        let owner = owners(&whole.topology, self.parts.len(), &new);
        let moved: u64 = (0..new.len()).filter(|&at| owner[at] != self.owner[at]).map(|at| new[at]).sum();
        let is_worth_it = moved * WORTH_IT > new.iter().sum();
        let keeps_window = self.districts.is_some() || window(&whole.topology, &owner) >= self.window;
        self.packets = packets;
        if is_worth_it && keeps_window {
            self.cut(&whole.topology, owner);
            self.patience = LEAST_PATIENCE;
        } else if new.iter().any(|&packets| packets > 0) {
            self.patience = (self.patience * 2).min(MOST_PATIENCE);
        }
    }

    /// Gives every part what is its own.
    fn divide(&mut self, whole: &mut Network) {
        let now = whole.now();
        whole.take_workspace_back();
        for part in &mut self.parts {
            part.enter_stretch(whole, now);
        }
        self.exchange(whole);
        for event in whole.queue.take_all(now) {
            if event.kind() == Kind::Timer && event.port() == FABRIC_TIMER {
                whole.queue.push(event);
            } else {
                self.parts[self.owner[event.node() as usize]].queue.push(event);
            }
        }
        for part in &mut self.parts {
            if let Some(owner) = &self.districts {
                part.begin_turns(owner, self.window);
            }
        }
        for (key, until) in core::mem::take(&mut whole.fabric.asked_until) {
            self.parts[self.owner[key.0 as usize]].fabric.asked_until.insert(key, until);
        }
        for (key, until) in core::mem::take(&mut whole.fabric.obeyed_until) {
            self.parts[self.owner[key.0 as usize]].fabric.obeyed_until.insert(key, until);
        }
    }

    /// Puts everything back into one network.
    fn unite(&mut self, whole: &mut Network) {
        if self.districts.is_some() {
            self.parts.iter_mut().for_each(Network::end_turns);
        }
        self.exchange(whole);
        let started = whole.active.len();
        let mut check: Option<Time> = None;
        for part in &mut self.parts {
            whole.take_counts(part);
            whole.active.append(&mut part.active);
            whole.fabric.asked_until.append(&mut part.fabric.asked_until);
            whole.fabric.obeyed_until.append(&mut part.fabric.obeyed_until);
            check = [check, part.fabric.wanted.take()].into_iter().flatten().min();
        }
        let kept = whole.queue.take_all(whole.now);
        let events = self.parts.iter_mut().flat_map(|part| part.queue.take_all(Time::ZERO));
        kept.into_iter().chain(events).for_each(|event| whole.queue.push(event));
        whole.put_in_order_of_start(started);
        if let Some(at) = check {
            whole.schedule_check_at(at);
        }
    }

    /// Exchanges what the parts own with what stands in its place in the whole network; twice is nothing.
    fn exchange(&mut self, whole: &mut Network) {
        use core::mem::swap;
        let switches = whole.switches.len();
        for (node, &owner) in self.owner.iter().enumerate() {
            let part = &mut self.parts[owner];
            match node.checked_sub(switches) {
                None => swap(&mut whole.switches[node], &mut part.switches[node]),
                Some(host) => swap(&mut whole.hosts[host], &mut part.hosts[host]),
            }
            swap(&mut whole.seqs[node], &mut part.seqs[node]);
        }
        for (index, plan) in whole.topology.channels.iter().enumerate() {
            let (from, to) = (self.owner[plan.from as usize], self.owner[plan.to as usize]);
            let one = &mut whole.channels[index];
            if from == to {
                swap(one, &mut self.parts[from].channels[index]);
            } else {
                one.exchange_sending(&mut self.parts[from].channels[index]);
                one.exchange_arriving(&mut self.parts[to].channels[index]);
            }
        }
        for (index, plan) in whole.plans.iter().enumerate() {
            let node = |host: u32| switches + host as usize;
            let (src, dst) = (self.owner[node(plan.src)], self.owner[node(plan.dst)]);
            let one = &mut whole.flows[index];
            if src == dst {
                swap(one, &mut self.parts[src].flows[index]);
            } else {
                exchange_sender(one, &mut self.parts[src].flows[index]);
                exchange_receiver(one, &mut self.parts[dst].flows[index]);
            }
        }
    }

    /// Runs all parts, one on this thread, until all events before `limit`
    /// have happened, or something has to be done by the whole network.
    fn run(
        &mut self,
        whole: &mut Network,
        limit: Time,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) {
        let meeting = Meeting::new(self.parts.len(), whole.events_left(), self.patience);
        let (owner, window) = (&self.owner, self.window);
        let workers = self.parts.iter_mut().zip(&mut self.witnesses).enumerate();
        let mut workers = workers.map(|(number, (part, witness))| Worker {
            number,
            part,
            witness,
            owner,
            meeting: &meeting,
        });
        let Some(mut first) = workers.next() else { return };
        std::thread::scope(|scope| {
            for mut worker in workers {
                scope.spawn(move || {
                    worker.tell();
                    meeting_loop(&mut worker, window, limit, &mut |_| {});
                });
            }
            first.tell();
            let mut windows = 0_u64;
            meeting_loop(&mut first, window, limit, &mut |meeting| {
                let mut moves = Vec::new();
                meeting.moves.iter().for_each(|of_part| moves.append(&mut lock(of_part)));
                whole.stall.replay(&mut moves);
                windows += 1;
                whole.windows += 1;
                if windows.is_multiple_of(WINDOWS_PER_LOOK) {
                    let now_ns = Meeting::least(&meeting.next).as_ns();
                    let told = whole.progress();
                    let hops: u64 = meeting.hops.iter().map(|of_part| of_part.load(Ordering::Acquire)).sum();
                    progress(Progress { now_ns, packet_hops: told.packet_hops + hops, ..told });
                }
                meeting.is_cancelled.store(cancel.load(Ordering::Relaxed), Ordering::Release);
            });
        });
    }
}

/// Window after window; `between` is called between two, when all have told what they did.
fn meeting_loop(worker: &mut Worker<'_>, window: Span, limit: Time, between: &mut dyn FnMut(&Meeting)) {
    let meeting = worker.meeting;
    let mut evenness = Evenness::default();
    while meeting.barrier.wait() {
        let end = meeting.next_window(window, limit).filter(|_| evenness.lasts(meeting));
        let Some(end) = end else { return };
        worker.part.run_events_before(end);
        worker.send();
        if !meeting.barrier.wait() {
            return;
        }
        worker.receive();
        between(meeting);
        worker.tell();
    }
}

/// How even the parts' work is, which all threads see alike.
#[derive(Default)]
struct Evenness {
    windows: u64,
    /// Packet-hops of each part when it was last looked at.
    hops: Vec<u64>,
}

impl Evenness {
    /// Another window begins; false if some part had so much more to do than others that another cut may pay.
    fn lasts(&mut self, meeting: &Meeting) -> bool {
        /// This share more than the average.
        const UNEVEN: (u64, u64) = (21, 20);
        let is_look = self.windows.is_multiple_of(meeting.patience);
        self.windows += 1;
        if !is_look {
            return true;
        }
        let now: Vec<u64> = meeting.hops.iter().map(|number| number.load(Ordering::Acquire)).collect();
        let before = core::mem::replace(&mut self.hops, now);
        let new = || self.hops.iter().zip(&before).map(|(now, before)| now - before);
        let (most, all) = (new().max().unwrap_or(0), new().sum::<u64>());
        most * self.hops.len() as u64 * UNEVEN.1 <= all * UNEVEN.0
    }
}

/// A part and what its thread needs.
struct Worker<'a> {
    number: usize,
    part: &'a mut Network,
    witness: &'a mut usize,
    owner: &'a [usize],
    meeting: &'a Meeting,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The others end too, so that it is told.
            self.meeting.barrier.break_up();
        }
    }
}

impl Worker<'_> {
    /// Hands over what left the part, and what the network as a whole has to know.
    fn send(&mut self) {
        let part = &mut *self.part;
        let mut boxes: Vec<_> =
            (0..self.meeting.next.len()).map(|to| lock(self.meeting.mail(self.number, to))).collect();
        for mail in part.left.drain(..) {
            let node = part.channels[mail.0 as usize].to();
            boxes[self.owner[node as usize]].push(mail);
        }
        self.part.stall.take_moves(&mut lock(&self.meeting.moves[self.number]));
    }

    /// Takes what came from other parts.
    fn receive(&mut self) {
        for from in 0..self.meeting.next.len() {
            for (channel, arrival, frame) in lock(self.meeting.mail(from, self.number)).drain(..) {
                self.part.carry(channel, arrival, frame);
            }
        }
    }

    /// Says what decides the next window.
    fn tell(&mut self) {
        let (meeting, number) = (self.meeting, self.number);
        let next = self.part.queue.next_time().unwrap_or(Time::MAX);
        let check = self.part.fabric.wanted.unwrap_or(Time::MAX);
        let sure_until = self.part.cannot_end(self.owner, number, self.witness);
        meeting.events[number].store(self.part.events, Ordering::Release);
        meeting.hops[number].store(self.part.packet_hops, Ordering::Release);
        for (place, time) in
            [(&meeting.next, next), (&meeting.check, check), (&meeting.sure_until, sure_until)]
        {
            place[number].store(time.as_ps(), Ordering::Release);
        }
    }
}

/// Exchanges what the sending host of a flow changes.
fn exchange_sender(a: &mut Flow, b: &mut Flow) {
    use core::mem::swap;
    match (&mut a.ends, &mut b.ends) {
        (Ends::Window { sender: a, .. }, Ends::Window { sender: b, .. }) => swap(a, b),
        (Ends::Rdma(a), Ends::Rdma(b)) => {
            swap(&mut a.sender, &mut b.sender);
            swap(&mut a.noise, &mut b.noise);
            swap(&mut a.seat, &mut b.seat);
        }
        _ => debug_assert!(false, "a flow has the same ends everywhere"),
    }
    swap(&mut a.start, &mut b.start);
    swap(&mut a.has_begun, &mut b.has_begun);
    swap(&mut a.timer, &mut b.timer);
    swap(&mut a.finish, &mut b.finish);
    swap(&mut a.quenched, &mut b.quenched);
    swap(&mut a.data_pkts, &mut b.data_pkts);
}

/// Exchanges what the receiving host of a flow changes.
fn exchange_receiver(a: &mut Flow, b: &mut Flow) {
    use core::mem::swap;
    match (&mut a.ends, &mut b.ends) {
        (Ends::Window { receiver: a, .. }, Ends::Window { receiver: b, .. }) => swap(a, b),
        (Ends::Rdma(a), Ends::Rdma(b)) => swap(&mut a.receiver, &mut b.receiver),
        _ => debug_assert!(false, "a flow has the same ends everywhere"),
    }
    swap(&mut a.received, &mut b.received);
    swap(&mut a.marks, &mut b.marks);
}

impl Network {
    /// Makes a shell ready for another stretch: the time, and what the whole network knows.
    fn enter_stretch(&mut self, whole: &Network, now: Time) {
        self.queue.take_all(now);
        (self.now, self.open_flows, self.first_begin) = (now, self.counted_flows, whole.first_begin);
        (self.fabric.check_at, self.fabric.is_part) = (whole.fabric.check_at, true);
    }

    /// Sorts the flows that were started since there were so
    /// many as their start events stand: time, host, number.
    pub(crate) fn put_in_order_of_start(&mut self, from: usize) {
        let (flows, plans) = (&self.flows, &self.plans);
        self.active[from..]
            .sort_unstable_by_key(|&flow| (flows[flow as usize].start, plans[flow as usize].src, flow));
    }

    /// Adds what a part counted, once.
    fn take_counts(&mut self, part: &mut Network) {
        self.events += core::mem::take(&mut part.events);
        self.packet_hops += core::mem::take(&mut part.packet_hops);
        // What this part closed; it began with all of them open.
        self.open_flows -= part.counted_flows - part.open_flows;
        self.now = self.now.max(part.now);
    }

    /// Handles all events before an instant.
    fn run_events_before(&mut self, end: Time) {
        if self.queue.districts() > 0 {
            return self.run_window(end);
        }
        let last = Time::from_ps(end.as_ps() - 1);
        while let Some(event) = self.queue.pop_until(last) {
            self.now = event.time();
            self.order.advance(&event);
            self.dispatch(&event);
            self.events += 1;
        }
        self.take_workspace_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_ends_where_events_are_to_be_counted_one_by_one() {
        let (meeting, window, limit) = (Meeting::new(2, 100, 16), Span::from_ns(1), Time::from_ns(10));
        meeting.next[1].store(1_500, Ordering::Release);
        meeting.events[0].store(60, Ordering::Release);
        for (events, end) in [(40, Some(Time::from_ns(2))), (41, None)] {
            meeting.events[1].store(events, Ordering::Release);
            assert_eq!(meeting.next_window(window, limit), end);
        }
    }

    #[test]
    fn uneven_work_ends_a_stretch_when_it_is_looked_at() {
        let meeting = Meeting::new(2, u64::MAX, 3);
        let mut evenness = Evenness::default();
        let mut lasts = |hops: [u64; 2]| {
            meeting.hops.iter().zip(hops).for_each(|(place, hops)| place.store(hops, Ordering::Release));
            evenness.lasts(&meeting)
        };
        // The first window; no look; an even one; no look; the first part had 30 of 50.
        for (hops, is_lasting) in [
            ([0, 0], true),
            ([50, 0], true),
            ([60, 0], true),
            ([100, 96], true),
            ([130, 96], true),
            ([130, 100], true),
        ] {
            assert_eq!(lasts(hops), is_lasting, "{hops:?}");
        }
        assert!(!lasts([130, 116]));
    }
}
