//! The loop: packets in, timers, packets out, and sleep until something is due.
//!
//! Invariant: what the algorithms decide depends on `now` and on what
//! arrived only; this file gives them both and does what they say.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use p4cc_cc::ConfigError;
use p4cc_transport::rdma::RdmaData;
use p4cc_transport::wire::{Datagram, Flags, Header, PacketKind};
use p4cc_transport::{Action, Actions, Codepoint, SackBlocks};
use p4cc_units::{Span, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::Clock;
use crate::ends::{Extra, Outgoing, ReceiveEnd, Receiving, SendEnd, Sending};
use crate::line::Line;
use crate::metrics::{Counters, Metrics};
use crate::plan::{Flow, HostPlan, MAX_FLOWS, Transport};
use crate::sockets::Sockets;

/// IPv4 and UDP before the datagram.
const IP_UDP_BYTES: usize = 28;
/// Reads of the socket between two looks at timers and interface.
const READS: usize = 64;
/// What is due sooner is waited for without sleeping: a sleep takes longer.
const SPIN: Span = Span::from_us(60);
/// Longest sleep: a signal is seen after it.
const LONGEST_SLEEP: Span = Span::from_ms(100);
/// Wait for an interface that has no room.
const RETRY: Span = Span::from_us(100);

/// How an agent runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    /// Never sleep.
    pub busy_poll: bool,
    /// Stop then, complete or not.
    pub stop_at: Option<Time>,
    /// How long answers go on after everything is complete.
    pub linger: Span,
    /// State of senders is noted so often.
    pub sample: Option<Span>,
}

/// What is due for a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Due {
    /// The sending flow at this place starts.
    Start(usize),
    /// Its timer.
    Sender(usize),
    /// A delayed ACK of the receiving flow of this number.
    Receiver(u32),
}

/// An agent of one host.
pub struct Agent {
    clock: Clock,
    manner: Manner,
    sockets: Sockets,
    line: Line,
    sends: Vec<Sending>,
    by_id: BTreeMap<u32, usize>,
    receives: BTreeMap<u32, Receiving>,
    /// How flows are received that the plan does not name.
    accepts: Option<Transport>,
    host: HostPlan,
    waiting: VecDeque<Outgoing>,
    /// Place of the paced flow whose turn is next.
    turn: usize,
    due: BinaryHeap<Reverse<(Time, Due)>>,
    /// The interface had no room; not before then.
    blocked_until: Time,
    idle_since: Option<Time>,
    next_sample: Option<Time>,
    actions: Actions,
    bytes: Vec<u8>,
    metrics: Metrics,
    counters: Counters,
}

/// Why an agent cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A flow's configuration.
    #[error("flow {0}: {1}")]
    Config(u32, ConfigError),
    /// A socket.
    #[error("{0}: {1}; see that the address is this host's and no other agent runs here")]
    Socket(Ipv4Addr, io::Error),
}

impl Agent {
    /// An agent for a host; flows that the plan does not name are received as `accepts` says, if at all.
    ///
    /// # Errors
    /// A configuration that is refused, or a socket that cannot be had.
    pub fn new(
        host: HostPlan,
        accepts: Option<Transport>,
        manner: Manner,
        metrics: Metrics,
        clock: Clock,
    ) -> Result<Self, StartError> {
        let socket_error = |error| StartError::Socket(host.address, error);
        let mut sockets = Sockets::open(host.address).map_err(socket_error)?;
        let mut sends = Vec::new();
        for flow in &host.sends {
            sockets.open_flow(flow.id).map_err(socket_error)?;
            let sending =
                Sending::new(flow, host.line_rate).map_err(|error| StartError::Config(flow.id, error))?;
            sends.push(sending);
        }
        let mut receives = BTreeMap::new();
        for flow in &host.receives {
            sockets.open_flow(flow.id).map_err(socket_error)?;
            let receiving =
                Receiving::new(flow, host.line_rate).map_err(|error| StartError::Config(flow.id, error))?;
            receives.insert(flow.id, receiving);
        }
        let due = sends.iter().enumerate().map(|(at, flow)| Reverse((flow.start, Due::Start(at)))).collect();
        Ok(Self {
            clock,
            manner,
            sockets,
            line: Line::new(host.line_rate),
            by_id: sends.iter().enumerate().map(|(at, flow)| (flow.id, at)).collect(),
            sends,
            receives,
            accepts,
            host,
            waiting: VecDeque::new(),
            turn: 0,
            due,
            blocked_until: Time::ZERO,
            idle_since: None,
            next_sample: manner.sample.map(|_| Time::ZERO),
            actions: Actions::new(),
            bytes: Vec::new(),
            metrics,
            counters: Counters::default(),
        })
    }

    /// Runs until everything is complete, the time is up, or `stop` is set; whether all flows are complete.
    ///
    /// # Errors
    /// The socket, or the file of the metrics.
    pub fn run(mut self, stop: &AtomicBool) -> io::Result<bool> {
        while !self.clock.until_start().is_zero() && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(self.clock.until_start().min(Duration::from_millis(100)));
        }
        while !stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            for _ in 0..READS {
                if !self.receive()? {
                    break;
                }
            }
            self.fire(now);
            self.transmit()?;
            self.sample(now)?;
            if self.manner.stop_at.is_some_and(|at| now >= at) || self.is_over(now) {
                break;
            }
            if !self.manner.busy_poll {
                self.sleep()?;
            }
        }
        self.finish()
    }

    /// Everything is complete, and what may still ask has had its time.
    fn is_over(&mut self, now: Time) -> bool {
        let complete = self.accepts.is_none() && self.is_complete();
        if !complete {
            self.idle_since = None;
            return false;
        }
        let since = *self.idle_since.get_or_insert(now);
        self.receives.is_empty() || now.since(since) >= self.manner.linger
    }

    fn is_complete(&self) -> bool {
        self.sends.iter().filter(|flow| flow.size_bytes.is_some()).all(Sending::is_over)
            && self
                .host
                .receives
                .iter()
                .filter(|flow| flow.size_bytes.is_some())
                .all(|flow| self.receives.get(&flow.id).is_some_and(|receiving| receiving.finish.is_some()))
            && (self.manner.stop_at.is_none()
                || self.sends.iter().all(|flow| flow.size_bytes.is_some())
                    && self.host.receives.iter().all(|flow| flow.size_bytes.is_some()))
    }

    fn finish(mut self) -> io::Result<bool> {
        let now = self.clock.now();
        for flow in self.sends.iter().filter(|flow| flow.finish.is_none()) {
            self.metrics.flow(now, flow)?;
        }
        for flow in self.receives.values().filter(|flow| flow.finish.is_none()) {
            self.metrics.received(now, flow)?;
        }
        self.metrics.summary(now, &self.counters)?;
        Ok(self.is_complete())
    }

    fn receive(&mut self) -> io::Result<bool> {
        // Packets are handled as they are read; the buffer they stand in is the sockets' own.
        let mut arrived = Vec::new();
        let more = self.sockets.receive(|from, ecn, bytes| arrived.push((from, ecn, bytes.to_vec())))?;
        for (from, ecn, bytes) in arrived {
            match Datagram::decode(&bytes) {
                Ok(datagram) => self.deliver(from, ecn, &datagram)?,
                Err(_) => self.counters.refused_malformed += 1,
            }
        }
        Ok(more)
    }

    fn deliver(&mut self, from: Ipv4Addr, ecn: Codepoint, datagram: &Datagram<'_>) -> io::Result<()> {
        let now = self.clock.now();
        match datagram.header.kind {
            PacketKind::Ack => self.on_ack(now, from, datagram),
            PacketKind::Notice => {
                self.on_notice(now, from, datagram);
                Ok(())
            }
            PacketKind::Data => self.on_data(now, from, ecn, datagram),
        }
    }

    fn on_ack(&mut self, now: Time, from: Ipv4Addr, datagram: &Datagram<'_>) -> io::Result<()> {
        let Some(at) = self.sent_to(from, datagram.header.flow_id) else { return Ok(()) };
        let fields = datagram.ack_fields();
        let flow = &mut self.sends[at];
        let complete = match &mut flow.end {
            SendEnd::Window(sender) => {
                self.actions.clear();
                sender.on_ack(now, &fields, &mut self.actions);
                self.act(at)
            }
            SendEnd::Rdma(sender) => {
                // Real timestamps have their own noise.
                let outcome =
                    sender.on_ack(now, &fields, datagram.header.flags, &datagram.extension, Span::ZERO);
                outcome.completed
            }
        };
        if complete {
            self.sends[at].finish = Some(now);
            self.metrics.flow(now, &self.sends[at])?;
        }
        Ok(())
    }

    /// The flow of this number that is sent to a peer, of which something came back.
    fn sent_to(&mut self, peer: Ipv4Addr, id: u32) -> Option<usize> {
        let found = self.by_id.get(&id).copied().filter(|at| self.sends[*at].peer == peer);
        *if found.is_some() { &mut self.counters.received_pkts } else { &mut self.counters.refused_flow } +=
            1;
        found
    }

    /// A switch tells of its queue, in the name of the receiver.
    fn on_notice(&mut self, now: Time, from: Ipv4Addr, datagram: &Datagram<'_>) {
        let Some(at) = self.sent_to(from, datagram.header.flow_id) else { return };
        if let SendEnd::Rdma(sender) = &mut self.sends[at].end {
            sender.on_notice(now, datagram.header.timestamp_echo_ns, &datagram.extension);
        }
    }

    fn on_data(
        &mut self,
        now: Time,
        from: Ipv4Addr,
        ecn: Codepoint,
        datagram: &Datagram<'_>,
    ) -> io::Result<()> {
        let header = datagram.header;
        let id = header.flow_id;
        self.accept(from, id, header.class)?;
        let Some(flow) = self.receives.get_mut(&id).filter(|flow| flow.peer == from) else {
            self.counters.refused_flow += 1;
            return Ok(());
        };
        self.counters.received_pkts += 1;
        flow.count(now, ecn);
        let waited_until = flow.timer;
        let completed = match &mut flow.end {
            ReceiveEnd::Window(receiver) => {
                let receipt = receiver.on_data(now, &header.data_fields(ecn));
                flow.bytes = receiver.delivered_bytes();
                flow.timer = receiver.deadline();
                self.waiting.extend(receipt.acks().map(|ack| Outgoing::Ack(id, *ack)));
                receipt.completed
            }
            ReceiveEnd::Rdma(receiver, _) => {
                let receipt = receiver.on_data(
                    now,
                    &RdmaData {
                        seq: header.seq,
                        len: u32::from(header.payload_len),
                        fin: header.flags.has(Flags::FIN),
                        ack_request: header.flags.has(Flags::ACK_REQUEST),
                        ecn,
                        timestamp_ns: header.timestamp_ns,
                        // Sockets have a port each.
                        src_port: 0,
                        extension: datagram.extension,
                    },
                );
                flow.bytes = receiver.delivered_bytes();
                flow.timer = receiver.deadline();
                self.waiting.extend(receipt.answers().map(|answer| {
                    let extra = Extra::from(answer.extension(datagram.extension));
                    Outgoing::RdmaAck(id, answer, extra)
                }));
                receipt.completed
            }
        };
        if let Some(at) = flow.timer.filter(|at| waited_until != Some(*at)) {
            self.due.push(Reverse((at, Due::Receiver(id))));
        }
        if completed {
            flow.finish = Some(now);
            self.metrics.received(now, &self.receives[&id])?;
        }
        Ok(())
    }

    /// A flow that is not in the plan, if such flows are taken and there is room.
    fn accept(
        &mut self,
        from: Ipv4Addr,
        id: u32,
        class: p4cc_transport::wire::TrafficClass,
    ) -> io::Result<()> {
        let Some(transport) = &self.accepts else { return Ok(()) };
        if self.receives.contains_key(&id) || self.receives.len() >= MAX_FLOWS {
            return Ok(());
        }
        let flow = Flow {
            id,
            peer: from,
            size_bytes: None,
            start: Time::ZERO,
            class,
            deadline: None,
            transport: transport.clone(),
            seed: 0,
        };
        if let Ok(receiving) = Receiving::new(&flow, self.host.line_rate) {
            self.sockets.open_flow(id)?;
            self.receives.insert(id, receiving);
        }
        Ok(())
    }

    /// Does what a window sender asked for; whether its flow is complete.
    fn act(&mut self, at: usize) -> bool {
        let mut complete = false;
        for action in self.actions.actions() {
            match action {
                Action::Send(segment) => {
                    self.waiting.push_back(Outgoing::Data(at, *segment, Extra::default()))
                }
                Action::SetTimer(time) => {
                    self.sends[at].timer = Some(*time);
                    self.due.push(Reverse((*time, Due::Sender(at))));
                }
                Action::CancelTimer => self.sends[at].timer = None,
                Action::Complete => complete = true,
            }
        }
        complete
    }

    /// Starts and timers that are due.
    fn fire(&mut self, now: Time) {
        while let Some(Reverse((at, due))) = self.due.peek().copied().filter(|Reverse((at, _))| *at <= now) {
            self.due.pop();
            match due {
                Due::Start(place) => self.start(now, place),
                Due::Sender(place) if self.sends[place].timer == Some(at) => {
                    self.sends[place].timer = None;
                    self.on_sender_timer(now, place);
                }
                Due::Receiver(id) => self.on_receiver_timer(now, at, id),
                Due::Sender(_) => {}
            }
        }
    }

    fn start(&mut self, now: Time, place: usize) {
        let flow = &mut self.sends[place];
        flow.started = true;
        flow.start = now;
        match &mut flow.end {
            SendEnd::Window(sender) => {
                if let Some(deadline) = flow.deadline {
                    sender.set_deadline(now + deadline);
                }
                self.actions.clear();
                sender.start(now, &mut self.actions);
                self.act(place);
            }
            SendEnd::Rdma(sender) => {
                if let Some(deadline) = flow.deadline {
                    sender.set_deadline(now + deadline);
                }
                sender.start(now);
            }
        }
    }

    fn on_sender_timer(&mut self, now: Time, place: usize) {
        match &mut self.sends[place].end {
            SendEnd::Window(sender) => {
                self.actions.clear();
                sender.on_timer(now, &mut self.actions);
                self.act(place);
            }
            SendEnd::Rdma(sender) => {
                sender.on_timer(now);
                self.arm_paced(place);
            }
        }
    }

    /// Has the timeout of a paced flow looked at when it may be due.
    fn arm_paced(&mut self, place: usize) {
        let flow = &mut self.sends[place];
        let SendEnd::Rdma(sender) = &flow.end else { return };
        if let (Some(deadline), None) = (sender.deadline(), flow.timer) {
            flow.timer = Some(deadline);
            self.due.push(Reverse((deadline, Due::Sender(place))));
        }
    }

    fn on_receiver_timer(&mut self, now: Time, at: Time, id: u32) {
        let Some(flow) = self.receives.get_mut(&id).filter(|flow| flow.timer == Some(at)) else { return };
        flow.timer = None;
        self.waiting.extend(match &mut flow.end {
            ReceiveEnd::Window(receiver) => receiver.on_timer(now).map(|ack| Outgoing::Ack(id, ack)),
            ReceiveEnd::Rdma(receiver, _) => receiver.on_timer(now).map(|due| {
                let extra = Extra::from(due.extension());
                Outgoing::RdmaAck(id, due.ack, extra)
            }),
        });
    }

    /// Packets leave as long as the interface is free: what waits, then paced flows in turn.
    fn transmit(&mut self) -> io::Result<()> {
        loop {
            let now = self.clock.now();
            if self.line.free_at() > now || self.blocked_until > now {
                return Ok(());
            }
            let Some(outgoing) = self.waiting.front().cloned().map_or_else(|| self.next_paced(now), Some)
            else {
                return Ok(());
            };
            let is_waiting = !self.waiting.is_empty();
            let Some((id, to, ecn)) = self.encode(now, &outgoing) else {
                self.waiting.pop_front();
                continue;
            };
            match self.sockets.send(id, to, ecn, &self.bytes) {
                Ok(true) => {}
                Ok(false) => {
                    // A paced packet that found no room is lost, as on a wire; the algorithm sees to it.
                    self.blocked_until = now + RETRY;
                    self.counters.interface_full += 1;
                    return Ok(());
                }
                // Refused by the other host, or no route: a lost packet, which the algorithms repeat.
                Err(_) => self.counters.send_errors += 1,
            }
            if is_waiting {
                self.waiting.pop_front();
            }
            self.counters.sent_pkts += 1;
            self.line.take(now, IP_UDP_BYTES + self.bytes.len());
        }
    }

    /// A packet of the first paced flow, from the one whose turn it is, that may send now.
    fn next_paced(&mut self, now: Time) -> Option<Outgoing> {
        let count = self.sends.len();
        for step in 0..count {
            let place = (self.turn + step) % count;
            let flow = &mut self.sends[place];
            let SendEnd::Rdma(sender) = &mut flow.end else { continue };
            if let Some((segment, extension)) = sender.take(now) {
                let extra = extension.into();
                self.turn = (place + 1) % count;
                self.arm_paced(place);
                return Some(Outgoing::Data(place, segment, extra));
            }
        }
        None
    }

    /// Puts the packet's bytes into the buffer; number, destination and ECN bits. None if it fits no packet.
    fn encode(&mut self, now: Time, outgoing: &Outgoing) -> Option<(u32, Ipv4Addr, Codepoint)> {
        let not_capable = Codepoint::NOT_ECT;
        match outgoing {
            Outgoing::Data(place, segment, extra) => {
                let flow = &mut self.sends[*place];
                let header = Header::data(flow.id, flow.class, segment, now)?;
                flow.data_pkts += 1;
                Datagram { header, extension: extra.extension() }.encode(&mut self.bytes).ok()?;
                Some((flow.id, flow.peer, segment.ecn))
            }
            Outgoing::Ack(id, fields) => {
                let flow = self.receives.get(id)?;
                let header = Header::ack(*id, flow.class, fields, now);
                let blocks: SackBlocks = fields.sack;
                let wire = blocks.to_wire();
                Datagram { header, extension: wire.extension() }.encode(&mut self.bytes).ok()?;
                Some((*id, flow.peer, not_capable))
            }
            Outgoing::RdmaAck(id, answer, extra) => {
                let flow = self.receives.get(id)?;
                let ReceiveEnd::Rdma(_, class) = &flow.end else { return None };
                let header = Header::rdma_ack(*id, *class, answer, now);
                Datagram { header, extension: extra.extension() }.encode(&mut self.bytes).ok()?;
                Some((*id, flow.peer, not_capable))
            }
        }
    }

    fn sample(&mut self, now: Time) -> io::Result<()> {
        let (Some(interval), Some(at)) = (self.manner.sample, self.next_sample) else { return Ok(()) };
        if now < at {
            return Ok(());
        }
        for flow in self.sends.iter().filter(|flow| flow.started && flow.finish.is_none()) {
            self.metrics.sample(now, flow)?;
        }
        self.metrics.publish(&self.counters, &self.sends, &self.receives);
        // What was slept through is not made up for.
        self.next_sample = Some(now + interval);
        Ok(())
    }

    /// Sleeps until a packet comes in or something is due.
    fn sleep(&self) -> io::Result<()> {
        let now = self.clock.now();
        let mut next = now + LONGEST_SLEEP;
        let paced = self.sends.iter().filter_map(Sending::ready_at).min();
        let out = if self.waiting.is_empty() { paced } else { Some(Time::ZERO) };
        if let Some(out) = out {
            next = next.min(out.max(self.line.free_at()).max(self.blocked_until));
        }
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        for at in [due, self.next_sample, self.manner.stop_at].into_iter().flatten() {
            next = next.min(at);
        }
        let left = next.since(now);
        if left <= SPIN {
            return Ok(());
        }
        let left_ns = left.as_ns() - SPIN.as_ns();
        let timeout =
            Timespec { tv_sec: (left_ns / 1_000_000_000) as i64, tv_nsec: (left_ns % 1_000_000_000) as i64 };
        match poll(&mut [PollFd::new(&self.sockets, PollFlags::IN)], Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
