//! The thread that moves packets: interfaces to switch, switch to links, links to interfaces.
//!
//! Invariants: it never waits for a controller longer than one request takes, and
//! sleeps only when nothing is due; what one round does is bounded ([`Share`]),
//! so that requests and signals are answered whatever packets ask for.

use std::collections::BTreeMap;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::thread::Thread;
use std::time::{Duration, Instant};

use p4cc_switch::config::MAX_PORTS;
use p4cc_switch::{DropCause, PacketPool, Switch};
use p4cc_units::{Span, Time};

use crate::clock::duration;
use crate::packet_io::{self, sys};
use crate::port::Port;
use crate::shared::{PortChange, Shared};
use crate::trace;
use crate::wire::Share;

/// Packets taken from one port before the next has its turn.
const BATCH: usize = 32;
/// What is due sooner than this is waited for without sleeping: a sleep may take longer.
const SPIN: Span = Span::from_us(15);
/// Most packets whose memory is kept: more wait in queues or are on links.
const MAX_SPARE_PACKETS: usize = 1_024;
/// Longest silence about faults of the program, while there are more.
const WARNING_INTERVAL: Duration = Duration::from_secs(1);
/// Most assertions that one warning names.
const MAX_PLACES: usize = 4;
/// Marks a port number that has no port.
const NO_PORT: u16 = u16::MAX;

/// How the thread runs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// Never sleep.
    pub busy_poll: bool,
    /// Write what each packet does to the log.
    pub trace: bool,
    /// Processor to stay on.
    pub cpu: Option<usize>,
    /// End the switch when an assertion does not hold.
    pub stop_on_assertion: bool,
}

/// The data plane.
pub(crate) struct Dataplane {
    shared: Arc<Shared>,
    woken: UnixDatagram,
    manner: Manner,
    ports: Vec<Port>,
    /// Place in `ports` by port number.
    places: Vec<u16>,
    /// Memory of packets that have left, for those that come in.
    pool: PacketPool,
    /// Told when the switch holds something for its controllers.
    messenger: Thread,
    /// The port that has the first turn: the one behind whose packets the last round ended.
    first: usize,
    faults: Faults,
}

/// A count that grows while a program does what it should not, and what was said of it.
#[derive(Default)]
struct Warned {
    count: u64,
    at: Option<Instant>,
}

impl Warned {
    /// By how much the count has grown, if that is to be said: once in a while.
    fn look(&mut self, count: u64) -> Option<u64> {
        if count == self.count || self.at.is_some_and(|at| at.elapsed() < WARNING_INTERVAL) {
            return None;
        }
        let more = count - self.count;
        (self.count, self.at) = (count, Some(Instant::now()));
        Some(more)
    }
}

/// What the log was told of the program's faults.
#[derive(Default)]
struct Faults {
    pass_limit: Warned,
    assertions: Warned,
    /// By place, how often an assertion had not held when the log was told of it.
    places: BTreeMap<String, u64>,
}

impl Faults {
    /// Tells the log what is new; whether an assertion did not hold, which may end the switch.
    fn look(&mut self, switch: &Switch, is_end: bool) -> bool {
        let (counters, limit) = (switch.observation().counters(), switch.config().pass_limit);
        if let Some(dropped) = self.pass_limit.look(counters.drops.of(DropCause::PassLimit)) {
            tracing::warn!(
                dropped,
                limit,
                "packets exceeded the limit of copies and passes per received packet: the program recirculates, \
                 resubmits or copies without end; correct it, or raise --pass-limit"
            );
        }
        let Some(failed) = self.assertions.look(counters.assertions_failed) else { return false };
        let mut places = Vec::new();
        for (place, count) in switch.observation().failed_assertions() {
            if self.places.insert(place.to_owned(), count) != Some(count) && places.len() < MAX_PLACES {
                places.push(place.to_owned());
            }
        }
        let places = places.join(", ");
        let so = if is_end { "the switch ends" } else { "processing of the packets continued" };
        tracing::warn!(failed, "{places} did not hold; {so}");
        true
    }
}

impl Dataplane {
    pub fn new(
        shared: Arc<Shared>,
        woken: UnixDatagram,
        manner: Manner,
        ports: Vec<Port>,
        messenger: Thread,
    ) -> Self {
        let (places, pool) = (Vec::new(), PacketPool::keeping(MAX_SPARE_PACKETS));
        let (first, faults) = (0, Faults::default());
        let mut dataplane = Self { shared, woken, manner, ports, places, pool, messenger, first, faults };
        dataplane.set_places();
        dataplane
    }

    fn set_places(&mut self) {
        self.places = vec![NO_PORT; MAX_PORTS as usize];
        for (at, port) in self.ports.iter().enumerate() {
            if let Some(place) = self.places.get_mut(port.number as usize) {
                *place = at as u16;
            }
        }
    }

    /// Moves packets until the daemon stops; gives the ports back.
    pub fn run(mut self) -> Vec<Port> {
        packet_io::precise_timers();
        if let Some(cpu) = self.manner.cpu
            && let Err(error) = packet_io::pin_to(cpu)
        {
            tracing::warn!(cpu, %error, "cannot set the processor affinity");
        }
        while !self.shared.is_stopping() {
            while let Some(change) = self.shared.take_change() {
                self.change(change);
            }
            let moved = self.step();
            if moved == 0 && !self.manner.busy_poll {
                self.sleep();
            }
        }
        self.ports.iter_mut().for_each(Port::flush_capture);
        self.ports
    }

    /// One round over all ports; how many packets came in or went out.
    fn step(&mut self) -> usize {
        let shared = Arc::clone(&self.shared);
        let mut switch = shared.switch.lock();
        if self.manner.trace {
            // Another program starts without.
            switch.control().set_logging(true);
        }
        let now = shared.clock.now();
        let share = Share::begin(&switch);
        let mut moved = self.take_in(&mut switch, now, share);
        if switch.next_generated().is_some_and(|due| due <= now) {
            switch.generate(now);
        }
        // Packets of the controller wait here too.
        self.start_ready(&mut switch, now, share);
        for port in &mut self.ports {
            port.advance(&mut switch, now, share);
        }
        // What is left is due now.
        moved += usize::from(share.is_used_up(&switch));
        let is_end = self.manner.stop_on_assertion;
        if self.faults.look(&switch, is_end) && is_end {
            shared.fail();
        }
        let told = switch.has_messages();
        if self.manner.trace {
            let (events, lines) = (switch.control().take_trace(), switch.control().take_logs());
            drop(switch);
            trace::write(&events, &lines);
        } else {
            drop(switch);
        }
        if told {
            self.messenger.unpark();
        }
        moved + self.ports.iter_mut().map(|port| port.flush(&mut self.pool)).sum::<usize>()
    }

    /// Takes what came in on the ports, each in its turn; how many packets that were.
    fn take_in(&mut self, switch: &mut Switch, now: Time, share: Share) -> usize {
        let (ports, first) = (self.ports.len(), self.first);
        let mut moved = 0;
        for turn in 0..ports {
            let at = (first + turn) % ports;
            for _ in 0..BATCH {
                let port = &mut self.ports[at];
                let Some(packet) = port.receive(&mut self.pool) else { break };
                let number = port.number;
                // A packet that finds its queue empty and its link free leaves without a way through the
                // queue.
                let sent = switch.receive_with_bypass(now, number, packet, |to| {
                    place(&self.places, to).is_some_and(|to| self.ports[to].is_free(now))
                });
                if let Some((to, sent)) = sent.and_then(|sent| Some((place(&self.places, sent.port)?, sent)))
                {
                    self.ports[to].carry(now, sent);
                }
                self.start_ready(switch, now, share);
                moved += 1;
                if share.is_used_up(switch) {
                    self.first = at + 1;
                    return moved;
                }
            }
        }
        moved
    }

    #[inline]
    fn start_ready(&mut self, switch: &mut Switch, now: Time, share: Share) {
        while !share.is_used_up(switch)
            && let Some(number) = switch.next_ready()
        {
            if let Some(at) = place(&self.places, number) {
                self.ports[at].start(switch, now, share);
            }
        }
    }

    /// Sleeps until a packet comes in, somebody asks, or a link has something to do.
    fn sleep(&mut self) {
        let now = self.shared.clock.now();
        let generated = self.shared.switch.lock().next_generated();
        let next = self.ports.iter().filter_map(Port::next).chain(generated).min();
        let left = next.map(|at| at.since(now));
        if left.is_some_and(|left| left <= SPIN) {
            return;
        }
        self.ports.iter_mut().for_each(Port::flush_capture);
        let of_port = |port: &Port| port.interface.raw_fds().map(sys::readable).collect::<Vec<_>>();
        let mut fds: Vec<_> = self.ports.iter().flat_map(of_port).collect();
        fds.push(sys::readable(self.woken.as_raw_fd()));
        if let Err(error) = sys::wait(&mut fds, left.map(duration)) {
            tracing::error!(%error, "cannot wait for packets");
            // Not again at once: whatever it is, it must not take the whole processor.
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut waited = fds.iter();
        for port in &self.ports {
            for fd in waited.by_ref().take(port.interface.raw_fds().count()) {
                let has_error = fd.revents & !libc::POLLIN != 0;
                let Some(error) = has_error.then(|| sys::take_error(fd.fd)).flatten() else { continue };
                let interface = port.interface.name();
                tracing::warn!(port = port.number, interface, %error, "the interface reports an error");
            }
        }
        let mut byte = [0];
        while self.woken.recv(&mut byte).is_ok() {}
    }

    fn change(&mut self, change: PortChange) {
        match change {
            PortChange::Attach(port) => self.ports.push(*port),
            PortChange::Detach(number, _closed) => self.ports.retain(|port| port.number != number),
            PortChange::Close(number, _closed) => {
                if let Some(port) = self.port(number) {
                    port.interface.close();
                }
            }
            PortChange::Reopen(number, interface) => {
                // Another one may be the port of this number meanwhile.
                if let Some(port) = self.port(number).filter(|port| port.interface.name() == interface.name())
                {
                    port.interface.replace(*interface);
                }
            }
            PortChange::Delay(number, delay) => {
                if let Some(port) = self.port(number) {
                    port.set_delay(delay);
                }
            }
        }
        self.set_places();
    }

    fn port(&mut self, number: u32) -> Option<&mut Port> {
        self.ports.iter_mut().find(|port| port.number == number)
    }
}

/// The place of the port of this number.
#[inline]
fn place(places: &[u16], number: u32) -> Option<usize> {
    places.get(number as usize).filter(|place| **place != NO_PORT).map(|place| usize::from(*place))
}
