//! The chip's packet generator: applications that send batches of packets from a buffer into ingress, when a
//! timer runs out, a port goes down, or a packet matches that goes round.
//!
//! It has no clock: whoever drives the switch asks when it is due ([`PacketGenerator::next_due`]) and calls.
//! Packets of a burst are as far apart as the generator's port needs to take one, or further where the
//! application says so. Tofino 1 counts a gap from start to start, Tofino 2 from the end of one to the start
//! of the next.
//!
//! Invariants: packets come in the order of time, then of pipes and applications' starts. Bursts under way
//! are bounded; a trigger beyond the bound is lost, as is a timer's while its last burst lasts.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_exec::control::ControlError;
use p4cc_ir::TofinoChip;
use p4cc_units::{Span, Time};

use super::bounds::{PIPES, check_port};
use crate::packet::Packet;
use crate::random::Stream;

/// Bytes of a pipe's packet buffer.
pub const BUFFER_BYTES: usize = 16 * 1024;
/// Applications of a pipe, Tofino 2's.
pub const MAX_APPS: u8 = 16;
/// Bursts under way in all pipes.
const MAX_BURSTS: usize = 1_024;
/// Bytes of the header that the generator writes.
const HEADER_BYTES: usize = 6;
/// Bytes of what a pattern is compared with on Tofino 2, and which follow that header.
pub const CONTEXT_BYTES: usize = 16;
/// Bytes of the same on Tofino 1.
const TOFINO1_PATTERN_BYTES: usize = 4;
/// The port that generates on Tofino 1.
const TOFINO1_PORT: u8 = 68;
/// Bits of a port's number within its pipe.
const PORT_OF_PIPE: u32 = 0x7f;

/// What starts an application's burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Trigger {
    /// Nothing.
    #[default]
    None,
    /// Once, so long after the application is enabled.
    OneShot {
        /// In nanoseconds.
        timer_ns: u32,
    },
    /// Again and again.
    Periodic {
        /// In nanoseconds.
        timer_ns: u32,
    },
    /// A port of the pipe goes down.
    PortDown {
        /// Which of the masks says whose ports count; Tofino 1 has none.
        mask: u8,
    },
    /// The first bytes of a packet that goes round match.
    Recirculation {
        /// What they are compared with: 4 bytes on Tofino 1, 16 on Tofino 2.
        value: [u8; CONTEXT_BYTES],
        /// Bits that count.
        mask: [u8; CONTEXT_BYTES],
    },
    /// Ingress asks for it (Tofino 2), with bytes that match.
    Deparser {
        /// What they are compared with.
        value: [u8; CONTEXT_BYTES],
        /// Bits that count.
        mask: [u8; CONTEXT_BYTES],
    },
}

/// An application of a pipe's generator.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct App {
    /// What starts it.
    pub trigger: Trigger,
    /// It may start.
    pub enabled: bool,
    /// Bytes of a packet behind the generator's header.
    pub length_bytes: u16,
    /// Where they stand in the buffer.
    pub offset_bytes: u16,
    /// Port of the pipe that packets seem to come in on; none for the generator's own.
    pub source_port: Option<u8>,
    /// Each packet of a batch has the next port.
    pub increments_source_port: bool,
    /// Number of the last batch; the first is 0.
    pub last_batch: u16,
    /// Number of the last packet of a batch; the first is 0.
    pub last_packet: u16,
    /// Between batches.
    pub batch_gap_ns: u32,
    /// At most so much more, at random.
    pub batch_jitter_ns: u32,
    /// Between packets.
    pub packet_gap_ns: u32,
    /// At most so much more, at random.
    pub packet_jitter_ns: u32,
    /// Port of the pipe that generates, on Tofino 2.
    pub channel: u8,
    /// How often it started.
    pub triggers: u64,
    /// Batches so far.
    pub batches: u64,
    /// Packets so far.
    pub packets: u64,
}

/// What the generator knows of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GeneratorPort {
    /// It generates packets.
    pub generates: bool,
    /// Packets that go round over it are compared with patterns.
    pub matches_pattern: bool,
    /// Kept for the control plane: ports that lead back do so here without asking.
    pub recirculates: bool,
}

/// What a burst's packets carry of its cause.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Timer,
    Port(u32),
    Context([u8; CONTEXT_BYTES]),
}

/// A burst under way.
#[derive(Clone, Copy, Debug)]
struct Burst {
    pipe: u8,
    id: u8,
    /// Of the application when it began: one that was stopped since sends no more.
    epoch: u64,
    triggered_at: Time,
    batch_began: Time,
    batch: u16,
    packet: u16,
    cause: Cause,
}

#[derive(Clone, Copy, Debug)]
enum Due {
    Timer { pipe: u8, id: u8, epoch: u64 },
    Packet(Burst),
}

#[derive(Clone, Debug, Default)]
struct Running {
    app: App,
    epoch: u64,
}

/// A generated packet and the port that it comes in on.
pub(crate) struct Generated {
    pub port: u32,
    pub packet: Packet,
}

/// The generators of all pipes.
#[derive(Clone, Debug)]
pub struct PacketGenerator {
    apps: BTreeMap<(u8, u8), Running>,
    buffers: BTreeMap<u8, Vec<u8>>,
    ports: BTreeMap<u32, GeneratorPort>,
    masks: BTreeMap<u8, BTreeSet<u32>>,
    /// By time and, at one instant, the order of starts.
    due: BTreeMap<(Time, u64), Due>,
    bursts: usize,
    next_start: u64,
    /// Ports that went down since their state was cleared: each triggers once.
    seen_down: BTreeSet<u32>,
    went_down: Vec<u32>,
    jitter: Stream,
}

impl PacketGenerator {
    /// Generators without applications.
    pub(crate) fn new(seed: u64, device_id: u64) -> Self {
        Self {
            apps: BTreeMap::new(),
            buffers: BTreeMap::new(),
            ports: BTreeMap::new(),
            masks: BTreeMap::new(),
            due: BTreeMap::new(),
            bursts: 0,
            next_start: 0,
            seen_down: BTreeSet::new(),
            went_down: Vec::new(),
            jitter: Stream::named(seed, &format!("switch.{device_id}.pktgen")),
        }
    }

    /// An application that was set.
    pub fn app(&self, pipe: u8, id: u8) -> Option<&App> {
        self.apps.get(&(pipe, id)).map(|running| &running.app)
    }

    /// Sets an application. One that is enabled, and was not with this trigger, starts its timer; one that is
    /// not stops at once.
    ///
    /// # Errors
    /// The pipe or the number is none of the chip's, or its packet is not within the buffer.
    pub fn set_app(&mut self, now: Time, pipe: u8, id: u8, app: App) -> Result<(), ControlError> {
        check_pipe(pipe)?;
        if id >= MAX_APPS {
            let text = format!("pktgen application {id} is not a number from 0 to {}", MAX_APPS - 1);
            return Err(ControlError::InvalidArgument(text));
        }
        check_range(usize::from(app.offset_bytes), usize::from(app.length_bytes))?;
        let old = self.apps.entry((pipe, id)).or_default();
        let goes_on = old.app.enabled && app.enabled && old.app.trigger == app.trigger;
        if !goes_on {
            old.epoch += 1;
        }
        let epoch = old.epoch;
        old.app = app;
        if let (false, true, Some(timer_ns)) = (goes_on, old.app.enabled, timer_ns(&old.app)) {
            self.put(now + Span::from_ns(timer_ns), Due::Timer { pipe, id, epoch });
        }
        Ok(())
    }

    /// Writes into a pipe's packet buffer.
    ///
    /// # Errors
    /// The pipe is none of the chip's, or the bytes reach over the end.
    pub fn write_buffer(&mut self, pipe: u8, offset: usize, bytes: &[u8]) -> Result<(), ControlError> {
        check_pipe(pipe)?;
        check_range(offset, bytes.len())?;
        let buffer = self.buffers.entry(pipe).or_insert_with(|| vec![0; BUFFER_BYTES]);
        if let Some(part) = buffer.get_mut(offset..offset + bytes.len()) {
            part.copy_from_slice(bytes);
        }
        Ok(())
    }

    /// Bytes of a pipe's packet buffer, as far as they reach.
    pub fn buffer(&self, pipe: u8, offset: usize, length: usize) -> Vec<u8> {
        let stored = self.buffers.get(&pipe).map_or(&[][..], Vec::as_slice);
        let bytes = stored.iter().skip(offset).take(length).copied();
        bytes.chain(core::iter::repeat(0)).take(length.min(BUFFER_BYTES)).collect()
    }

    /// Sets what is known of a port.
    ///
    /// # Errors
    /// It is none of the chip's.
    pub fn set_port(&mut self, port: u32, known: GeneratorPort) -> Result<(), ControlError> {
        check_port("pktgen port", port)?;
        self.ports.insert(port, known);
        Ok(())
    }

    /// What is known of a port.
    pub fn port(&self, port: u32) -> GeneratorPort {
        self.ports.get(&port).copied().unwrap_or_default()
    }

    /// Lets the next fall of a port trigger again.
    pub fn clear_port_down(&mut self, port: u32) {
        self.seen_down.remove(&port);
    }

    /// Sets the ports of one of Tofino 2's masks: those that do not trigger.
    ///
    /// # Errors
    /// The mask or a port is none of the chip's.
    pub fn set_port_mask(&mut self, mask: u8, ports: BTreeSet<u32>) -> Result<(), ControlError> {
        if mask > 1 {
            let text = format!("pktgen port mask {mask} is none: the chip has 0 and 1");
            return Err(ControlError::InvalidArgument(text));
        }
        ports.iter().try_for_each(|&port| check_port("pktgen port mask", port))?;
        self.masks.insert(mask, ports);
        Ok(())
    }

    /// The ports of one of Tofino 2's masks.
    pub fn port_mask(&self, mask: u8) -> Option<&BTreeSet<u32>> {
        self.masks.get(&mask)
    }

    /// A port went down: seen with the next call.
    pub(crate) fn port_down(&mut self, port: u32) {
        if !self.apps.is_empty() && self.seen_down.insert(port) {
            self.went_down.push(port);
        }
    }

    /// Whether the control plane has set an application.
    pub fn has_apps(&self) -> bool {
        !self.apps.is_empty()
    }

    /// When something is to be generated next.
    #[inline]
    pub fn next_due(&self) -> Option<Time> {
        if !self.went_down.is_empty() {
            return Some(Time::ZERO);
        }
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    /// For another run: nothing is under way, and timers start at its beginning.
    pub(crate) fn restart(&mut self, seed: u64, device_id: u64) {
        let Self { apps, buffers, ports, masks, .. } = core::mem::replace(self, Self::new(seed, device_id));
        (self.buffers, self.ports, self.masks) = (buffers, ports, masks);
        for ((pipe, id), Running { app, .. }) in apps {
            if let (true, Some(timer_ns)) = (app.enabled, timer_ns(&app)) {
                self.put(Time::ZERO + Span::from_ns(timer_ns), Due::Timer { pipe, id, epoch: 0 });
            }
            self.apps.insert((pipe, id), Running { app, epoch: 0 });
        }
    }

    fn put(&mut self, at: Time, due: Due) {
        self.due.insert((at, self.next_start), due);
        self.next_start += 1;
    }

    /// The bursts of packets whose first bytes match.
    pub(crate) fn compare(&mut self, now: Time, chip: TofinoChip, port: u32, head: &[u8], asked: bool) {
        if self.apps.is_empty() || !(asked || self.port(port).matches_pattern) {
            return;
        }
        let bytes = if chip == TofinoChip::Tofino1 { TOFINO1_PATTERN_BYTES } else { CONTEXT_BYTES };
        let mut context = [0; CONTEXT_BYTES];
        for (to, from) in context.iter_mut().zip(head.iter().take(bytes)) {
            *to = *from;
        }
        let pipe = pipe_of(port);
        let matches = |app: &App| {
            let (value, mask) = match (app.trigger, asked) {
                (Trigger::Recirculation { value, mask }, false) => (value, mask),
                (Trigger::Deparser { value, mask }, true) => (value, mask),
                _ => return false,
            };
            app.enabled
                && (0..bytes).all(|at| (context[at] ^ value[at]) & mask[at] == 0)
                && (asked || head.len() >= bytes)
        };
        let of_pipe = self.apps.range((pipe, 0)..=(pipe, u8::MAX));
        let started: Vec<u8> =
            of_pipe.filter(|(_, running)| matches(&running.app)).map(|((_, id), _)| *id).collect();
        for id in started {
            self.begin(now, pipe, id, chip, Cause::Context(context));
        }
    }

    /// Starts a burst of an application, if its port generates.
    fn begin(&mut self, now: Time, pipe: u8, id: u8, chip: TofinoChip, cause: Cause) -> bool {
        let ports = &self.ports;
        let Some(running) = self.apps.get_mut(&(pipe, id)) else { return false };
        let port = u32::from(pipe) << 7 | u32::from(own_port(&running.app, chip));
        if !ports.get(&port).is_some_and(|port| port.generates) || self.bursts >= MAX_BURSTS {
            return false;
        }
        running.app.triggers = running.app.triggers.wrapping_add(1);
        let burst = Burst {
            pipe,
            id,
            epoch: running.epoch,
            triggered_at: now,
            batch_began: now,
            batch: 0,
            packet: 0,
            cause,
        };
        self.bursts += 1;
        self.put(now, Due::Packet(burst));
        true
    }

    /// The next packet that is due by now.
    pub(crate) fn take(&mut self, now: Time, chip: TofinoChip) -> Option<Generated> {
        self.see_ports(now, chip);
        loop {
            let first = self.due.first_entry().filter(|first| first.key().0 <= now)?;
            let ((at, _), due) = first.remove_entry();
            match due {
                Due::Timer { pipe, id, epoch } => self.timer(at, pipe, id, epoch, chip),
                Due::Packet(burst) => {
                    if let Some(generated) = self.packet(at, burst, chip) {
                        return Some(generated);
                    }
                }
            }
        }
    }

    fn timer(&mut self, at: Time, pipe: u8, id: u8, epoch: u64, chip: TofinoChip) {
        let Some(running) = self.apps.get(&(pipe, id)).filter(|running| running.epoch == epoch) else {
            return;
        };
        let again = match running.app.trigger {
            Trigger::Periodic { timer_ns } => Some(u64::from(timer_ns.max(1))),
            _ => None,
        };
        let began = self.begin(at, pipe, id, chip, Cause::Timer);
        // A burst that began sets the timer again at its end.
        if let (false, Some(timer_ns)) = (began, again) {
            let rest_ns = timer_ns.max(IDLE_TIMER_NS);
            let whole_ns = rest_ns.div_ceil(timer_ns) * timer_ns;
            self.put(at + Span::from_ns(whole_ns), Due::Timer { pipe, id, epoch });
        }
    }

    /// Ports that went down, each for the applications of its pipe.
    fn see_ports(&mut self, now: Time, chip: TofinoChip) {
        for port in core::mem::take(&mut self.went_down) {
            let pipe = pipe_of(port);
            let of_pipe = self.apps.range((pipe, 0)..=(pipe, u8::MAX));
            let started: Vec<u8> = of_pipe
                .filter(|(_, running)| {
                    let Trigger::PortDown { mask } = running.app.trigger else { return false };
                    let hidden = chip == TofinoChip::Tofino2
                        && self.masks.get(&mask).is_some_and(|ports| ports.contains(&port));
                    running.app.enabled && !hidden
                })
                .map(|((_, id), _)| *id)
                .collect();
            for id in started {
                self.begin(now, pipe, id, chip, Cause::Port(port));
            }
        }
    }

    /// A packet of a burst; none if its application was stopped.
    fn packet(&mut self, at: Time, burst: Burst, chip: TofinoChip) -> Option<Generated> {
        let which = (burst.pipe, burst.id);
        let running = self.apps.get_mut(&which).filter(|running| running.epoch == burst.epoch);
        let Some(Running { app, .. }) = running else {
            self.bursts -= 1;
            return None;
        };
        app.packets = app.packets.wrapping_add(1);
        app.batches = app.batches.wrapping_add(u64::from(burst.packet == 0));
        let app = app.clone();
        let mut bytes = header(&burst, chip);
        let length = usize::from(app.length_bytes);
        bytes.extend(self.buffer(burst.pipe, usize::from(app.offset_bytes), length));
        let own = app.source_port.unwrap_or_else(|| own_port(&app, chip));
        let step = if app.increments_source_port { u32::from(burst.packet) } else { 0 };
        let port = u32::from(burst.pipe) << 7 | (u32::from(own) + step) & PORT_OF_PIPE;
        self.go_on(at, burst, &app, bytes.len(), chip);
        Some(Generated { port, packet: Packet::new(&bytes, 0) })
    }

    /// Plans what follows a packet.
    fn go_on(&mut self, at: Time, mut burst: Burst, app: &App, bytes: usize, chip: TofinoChip) {
        let wire_ns = (bytes as u64 * 8).div_ceil(port_gbps(chip));
        let from_end = if chip == TofinoChip::Tofino1 { 0 } else { wire_ns };
        let gap = |began: Time, gap_ns: u32, jitter_ns: u64| {
            let next = began + Span::from_ns(from_end + u64::from(gap_ns) + jitter_ns);
            next.max(at + Span::from_ns(wire_ns))
        };
        if burst.packet < app.last_packet {
            burst.packet += 1;
            let jitter_ns = self.random_ns(app.packet_jitter_ns);
            let next = gap(at, app.packet_gap_ns, jitter_ns);
            return self.put(next, Due::Packet(burst));
        }
        if burst.batch < app.last_batch {
            (burst.batch, burst.packet) = (burst.batch + 1, 0);
            let jitter_ns = self.random_ns(app.batch_jitter_ns);
            let began = if chip == TofinoChip::Tofino1 { burst.batch_began } else { at };
            burst.batch_began = gap(began, app.batch_gap_ns, jitter_ns);
            return self.put(burst.batch_began, Due::Packet(burst));
        }
        self.bursts -= 1;
        if let Trigger::Periodic { timer_ns } = app.trigger {
            let timer_ns = u64::from(timer_ns.max(1));
            let lasted_ns = at.as_ns() + wire_ns - burst.triggered_at.as_ns();
            let next_ns = burst.triggered_at.as_ns() + lasted_ns.div_ceil(timer_ns).max(1) * timer_ns;
            let Burst { pipe, id, epoch, .. } = burst;
            self.put(Time::from_ns(next_ns), Due::Timer { pipe, id, epoch });
        }
    }

    fn random_ns(&mut self, most_ns: u32) -> u64 {
        if most_ns == 0 { 0 } else { self.jitter.below(u64::from(most_ns) + 1) }
    }
}

/// How often a timer whose port does not generate is looked at, at most.
const IDLE_TIMER_NS: u64 = 1_000_000;

/// Rate of the port that packets are generated on, which spaces them.
const fn port_gbps(chip: TofinoChip) -> u64 {
    match chip {
        TofinoChip::Tofino1 => 100,
        TofinoChip::Tofino2 => 400,
    }
}

fn timer_ns(app: &App) -> Option<u64> {
    match app.trigger {
        Trigger::OneShot { timer_ns } | Trigger::Periodic { timer_ns } => Some(timer_ns.into()),
        _ => None,
    }
}

fn own_port(app: &App, chip: TofinoChip) -> u8 {
    if chip == TofinoChip::Tofino1 { TOFINO1_PORT } else { app.channel & PORT_OF_PIPE as u8 }
}

fn pipe_of(port: u32) -> u8 {
    (port >> 7 & 3) as u8
}

/// What the generator writes in front: application and pipe, cause or batch, packet.
fn header(burst: &Burst, chip: TofinoChip) -> Vec<u8> {
    let app_bits = if chip == TofinoChip::Tofino1 { 3 } else { 4 };
    let first = burst.pipe << app_bits | burst.id & ((1 << app_bits) - 1);
    let [b0, b1] = burst.batch.to_be_bytes();
    let [p0, p1] = burst.packet.to_be_bytes();
    let batch = [0, b0, b1];
    let middle = match burst.cause {
        Cause::Timer => batch,
        Cause::Port(port) => [0, (port >> 8) as u8, port as u8],
        Cause::Context([_, key @ .., _, _, _, _, _, _, _, _, _, _, _, _]) if chip == TofinoChip::Tofino1 => {
            key
        }
        Cause::Context(_) => batch,
    };
    let mut bytes = Vec::with_capacity(HEADER_BYTES + CONTEXT_BYTES);
    bytes.push(first);
    bytes.extend(middle);
    bytes.extend([p0, p1]);
    if let (Cause::Context(context), TofinoChip::Tofino2) = (burst.cause, chip) {
        bytes.extend(context);
    }
    bytes
}

fn check_pipe(pipe: u8) -> Result<(), ControlError> {
    if pipe < PIPES {
        return Ok(());
    }
    let text = format!("pktgen: pipe {pipe} is not a number from 0 to {}", PIPES - 1);
    Err(ControlError::InvalidArgument(text))
}

fn check_range(offset: usize, length: usize) -> Result<(), ControlError> {
    if offset.checked_add(length).is_some_and(|end| end <= BUFFER_BYTES) {
        return Ok(());
    }
    Err(ControlError::OutOfRange(format!(
        "pktgen: {length} bytes from byte {offset} on reach over the packet buffer's {BUFFER_BYTES} bytes"
    )))
}

#[cfg(test)]
#[path = "pktgen_tests.rs"]
mod tests;
