//! The switch as the simulator and the daemon use it: packets in, transmissions and PFC (IEEE 802.1Qbb) pause
//! frames out, and the reads and writes of the control plane.

use std::sync::Arc;

use p4cc_exec::{DigestMessage, NativeError, Pipeline, State};
use p4cc_units::{Rate, Span, Time};

use crate::arch::{Arrival, IngressResult, LeftQueue, Program, Workspace};
use crate::chip::Chip;
use crate::chip::pktgen::Generated;
use crate::config::{ConfigError, ExecChoice, PortConfig, QdepthUnit, SwitchConfig};
use crate::core::{Core, Instance, MAX_CONTROLLER_QUEUE, Unqueued};
use crate::counters::{DropCause, PauseCounters, PortCounters, SwitchCounters};
use crate::lineage::Lineage;
use crate::packet::{MAX_PACKET_BYTES, Packet};
use crate::pre::ReplicationEngine;
use crate::tm::PortIndex;
use crate::tm_buffer::PauseFrame;
use crate::trace::{Step, TraceEvent};
use crate::watch::{DropLog, DropRow, Kept, KeptDigest, LogLine, Watch};

/// Packets that leave a queue in one call without being sent, at most.
const MAX_UNSENT: u32 = 1_024;
/// Passes and copies that such packets cause in one call before the rest waits for the next.
const MAX_CAUSED: u64 = 4_096;

/// Packets that the generator sends in one call, at most.
pub const MAX_GENERATED: usize = 1_024;

/// A packet on its way out.
#[derive(Debug)]
pub struct Transmission {
    /// Port that it leaves by.
    pub port: u32,
    /// The packet.
    pub packet: Packet,
    /// Its length.
    pub bytes: u32,
    /// How long the port is busy with it.
    pub duration: Span,
    /// Whether the port has further packets that it may send.
    pub has_more: bool,
}

/// A switch.
#[derive(Clone)]
#[repr(C)]
pub struct Switch {
    pub(crate) core: Core,
    pub(crate) program: Option<Box<Program>>,
    exec: ExecChoice,
    /// Pipes of the chip with a state of their own.
    pipes: u8,
}

impl Switch {
    /// A switch without a program: it drops and counts what it receives.
    ///
    /// # Errors
    /// The first value of the configuration that is out of bounds.
    pub fn new(config: SwitchConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { core: Core::new(config), program: None, exec: ExecChoice::default(), pipes: 1 })
    }

    /// The configuration.
    pub fn config(&self) -> &SwitchConfig {
        &self.core.config
    }

    /// P4Runtime's device id.
    #[inline]
    pub fn device_id(&self) -> u64 {
        self.core.config.device_id
    }

    /// Whether a port can be named: one of its own, or the controller's.
    pub fn has_port(&self, port: u32) -> bool {
        self.core.tm.port(port).is_some() || self.core.config.cpu_port == Some(port)
    }

    /// Adds a port to a switch that runs.
    ///
    /// # Errors
    /// Its number is taken or does not fit, a value is out of bounds, or
    /// the switch has a shared buffer, which is laid out for its ports.
    pub fn add_port(&mut self, port: PortConfig) -> Result<(), ConfigError> {
        let mut config = self.core.config.clone();
        config.ports.push(port);
        config.check()?;
        if !self.core.tm.add_port(port) {
            return Err(ConfigError::shared_buffer());
        }
        self.core.config = config;
        self.name_units();
        self.set_port_up(port.port, true);
        Ok(())
    }

    /// Removes a port; what waits for it is dropped and counted. False if there is no such port.
    pub fn remove_port(&mut self, port: u32) -> bool {
        let Some(index) = self.core.tm.port(port) else { return false };
        for _ in 0..self.core.tm.remove_port(index) {
            self.core.counters.drops.add(DropCause::NoSuchPort);
        }
        self.core.config.ports.retain(|other| other.port != port);
        self.set_port_up(port, false);
        true
    }

    /// Says that a port went up or down, as its link did. All are up at the start. Members of action
    /// selectors that watch a port which is down are left out of the choice from the next packet on; what is
    /// sent to the port is sent all the same, and is its link's to lose.
    pub fn set_port_up(&mut self, port: u32, up: bool) {
        let ports_down = &mut self.core.ports_down;
        let changed = if up { ports_down.remove(&port) } else { ports_down.insert(port) };
        if changed && !up {
            self.core.chip.generator.port_down(port);
        }
        if changed && let Some(program) = &mut self.program {
            program.runtime_mut().states_mut().for_each(|state| state.set_port_up(port, up));
        }
    }

    /// Whether a port is up: the one place that knows, for whatever depends on it.
    pub fn is_port_up(&self, port: u32) -> bool {
        !self.core.ports_down.contains(&port)
    }

    /// Sets the rate of a port's link, from the next packet on;
    /// a rate of 0 counts as 1. False if there is no such port.
    pub fn set_port_rate(&mut self, port: u32, rate: Rate) -> bool {
        let rate = rate.max(Rate::from_bps(1));
        let config = self.core.config.ports.iter_mut().find(|other| other.port == port);
        let (Some(index), Some(config)) = (self.core.tm.port(port), config) else { return false };
        config.rate = rate;
        self.core.tm.set_rate(index, rate);
        true
    }

    /// Sets how many packets a second a queue of a port sends at most, or each if no priority is given; none
    /// for as many as the link takes. A packet of a queue with such a rate keeps the port busy for its share
    /// of the second. False if there is no such port.
    pub fn set_queue_rate_pps(&mut self, port: u32, priority: Option<u8>, rate_pps: Option<u64>) -> bool {
        let Some(index) = self.core.tm.port(port) else { return false };
        self.core.tm.set_rate_pps(index, priority, rate_pps);
        true
    }

    /// Sets how many packets a queue of a port holds, or each if no priority
    /// is given. What waits already stays. False if there is no such port.
    pub fn set_queue_capacity(&mut self, port: u32, priority: Option<u8>, capacity_pkts: u32) -> bool {
        let Some(index) = self.core.tm.port(port) else { return false };
        self.core.tm.set_capacity(index, priority, capacity_pkts);
        true
    }

    /// Loads a program with fresh state; groups and sessions are removed, and waiting packets dropped and
    /// counted, since both belong to the program before.
    pub fn set_pipeline(&mut self, pipeline: Arc<Pipeline>) {
        self.power_off();
        let hits = self.watched().hits;
        self.start(Box::new(Program::new(pipeline, self.core.drop_port, self.exec, hits)));
    }

    /// Runs a program that is new to this switch.
    fn start(&mut self, mut program: Box<Program>) {
        if self.watched().max_logs > 0 {
            program.runtime_mut().effects.keep_logs = true;
        }
        if program.runtime().pipes() != usize::from(self.pipes) {
            program.split(self.pipes);
        }
        self.seed(&mut program);
        self.program = Some(program);
        self.name_units();
        self.tell_ports_down();
    }

    /// Tells the program's states which ports are down.
    fn tell_ports_down(&mut self) {
        let Some(program) = &mut self.program else { return };
        let ports_down = &self.core.ports_down;
        program.runtime_mut().states_mut().for_each(|state| state.set_ports_down(ports_down));
    }

    /// A switch like this one without a program, for [`Self::take_over`]: to load one, and to write its
    /// state, costs time that this switch has for packets.
    pub fn staging(&self) -> Self {
        let mut core = Core::new(self.core.config.clone());
        let watch = self.watched();
        if watch != Watch::default() {
            set_watch(&mut core, watch);
        }
        Self { core, program: None, exec: self.exec, pipes: self.pipes }
    }

    /// Runs the program of a switch that [`Self::staging`] made, with the state, groups and sessions that it
    /// has there; waiting packets are dropped and counted. The other gets what ran before, for the caller to
    /// drop in its own time.
    pub fn take_over(&mut self, staged: &mut Switch) {
        let before = self.program.take();
        self.power_off();
        let Some(mut program) = std::mem::replace(&mut staged.program, before) else { return };
        if program.runtime().counts_hits() != self.watched().hits {
            // An observer came or went meanwhile; a program counts hits from its first packet or never.
            let pipeline = Arc::clone(&program.runtime().pipeline);
            let mut anew = Program::new(pipeline, self.core.drop_port, self.exec, self.watched().hits);
            if let Some(state) = program.runtime().state(0) {
                anew.runtime_mut().set_states(state.clone());
            }
            program = Box::new(anew);
        }
        program.runtime_mut().set_exec(self.exec);
        self.core.pre = std::mem::take(&mut staged.core.pre);
        self.start(program);
    }

    /// Draws of filters: the first pipe's are those of a switch whose pipes share everything.
    fn seed(&self, program: &mut Program) {
        let (seed, device) = (self.core.config.seed, self.core.config.device_id);
        for (pipe, state) in program.runtime_mut().states_mut().enumerate() {
            let name = match pipe {
                0 => format!("switch.{device}.filters"),
                _ => format!("switch.{device}.filters.{pipe}"),
            };
            state.set_seed(crate::random::seed_of(seed, &name));
        }
    }

    /// Gives ports that name no unit of depths the architecture's.
    fn name_units(&mut self) {
        let unit = self.program.as_ref().map_or(QdepthUnit::Packets, |program| program.qdepth_unit());
        let Core { config, tm, .. } = &mut self.core;
        for port in config.ports.iter().filter(|port| port.qdepth_unit == QdepthUnit::Auto) {
            if let Some(index) = tm.port(port.port) {
                tm.set_qdepth_unit(index, unit);
            }
        }
    }

    /// Gives each of so many pipes of a chip tables, counters and registers of its own, which begin as they
    /// are now: of the program that is loaded, and of those after it. Ports belong to the pipe that bits 8
    /// and 7 of their number say. A program of another architecture than the chip's has one state all the
    /// same.
    pub fn split_pipes(&mut self, pipes: u8) {
        self.pipes = pipes.max(1);
        if let Some(program) = &mut self.program {
            program.split(self.pipes);
        }
    }

    /// Pipes that have a state of their own.
    pub fn pipes(&self) -> usize {
        self.program.as_ref().map_or(1, |program| program.runtime().pipes())
    }

    /// Loses the program with its state, groups and sessions, and waiting packets, which are counted. Ports
    /// are up or down as before.
    pub fn power_off(&mut self) {
        let waiting = self.core.tm.clear();
        for _ in 0..waiting {
            self.core.counters.drops.add(DropCause::NoPipeline);
        }
        if waiting > 0 {
            self.core.trace.begin(0);
            self.core.trace.dropped(None, DropCause::NoPipeline, waiting);
        }
        self.core.pre = ReplicationEngine::default();
        *self.core.chip = Chip::new(self.core.config.seed, self.core.config.device_id);
        self.core.digests.clear();
        self.program = None;
    }

    /// Chooses what runs programs: the one that is loaded, from the
    /// next packet on, and those after it. Results do not depend on it.
    pub fn set_exec(&mut self, choice: ExecChoice) {
        self.exec = choice;
        if let Some(program) = &mut self.program {
            program.runtime_mut().set_exec(choice);
        }
    }

    /// What runs programs.
    pub fn exec(&self) -> ExecChoice {
        self.exec
    }

    /// Why the loaded program has no native code, once that was needed: the interpreter runs it.
    pub fn native_error(&self) -> Option<&NativeError> {
        self.pipeline().and_then(|pipeline| pipeline.native_error())
    }

    /// The loaded program.
    pub fn pipeline(&self) -> Option<&Arc<Pipeline>> {
        self.program.as_ref().map(|program| &program.runtime().pipeline)
    }

    /// Tables, counters and registers of the loaded program; of the first pipe of a chip whose pipes have
    /// their own ([`Self::split_pipes`]).
    pub fn state(&self) -> Option<&State> {
        self.state_of(0)
    }

    /// Tables, counters and registers of the loaded program, to change.
    pub fn state_mut(&mut self) -> Option<&mut State> {
        self.state_of_mut(0)
    }

    /// The same of one pipe of the chip. None if there is no program, or no state of such a pipe.
    pub fn state_of(&self, pipe: usize) -> Option<&State> {
        self.program.as_ref().and_then(|program| program.runtime().state(pipe))
    }

    /// The same of one pipe of the chip, to change.
    pub fn state_of_mut(&mut self, pipe: usize) -> Option<&mut State> {
        self.program.as_mut().and_then(|program| program.runtime_mut().state_mut(pipe))
    }

    /// Puts a state of the loaded program in the place of its
    /// own, in all pipes. Ports are up or down as this switch knows them.
    pub fn set_state(&mut self, mut state: State) {
        state.set_ports_down(&self.core.ports_down);
        if let Some(program) = &mut self.program {
            program.runtime_mut().set_states(state);
        }
    }

    /// The same switch at the start of another run: program, tables, cells, groups and sessions as they are
    /// now, empty queues, counters of zero, ports that are up, and the random stream of the seed.
    pub fn fork(&self, seed: u64) -> Self {
        let mut core = Core::new(SwitchConfig { seed, ..self.core.config.clone() });
        core.pre = self.core.pre.clone();
        core.chip = self.core.chip.clone();
        core.chip.generator.restart(seed, core.config.device_id);
        let watch = self.watched();
        if watch != Watch::default() {
            set_watch(&mut core, watch);
        }
        let mut program = self.program.clone();
        if let Some(program) = &mut program {
            for &port in &self.core.ports_down {
                program.runtime_mut().states_mut().for_each(|state| state.set_port_up(port, true));
            }
        }
        let mut forked = Self { core, program, exec: self.exec, pipes: self.pipes };
        forked.name_units();
        forked
    }

    /// Lends the switch a workspace for the next calls, or
    /// takes it back: to be called before them and after them.
    #[inline]
    pub fn exchange(&mut self, workspace: &mut Workspace) {
        if let Some(program) = &mut self.program {
            program.runtime_mut().exchange(workspace);
        }
    }

    /// Takes a packet that arrived on a port through ingress
    /// into queues. Ask [`Self::next_ready`] afterwards.
    pub fn receive(&mut self, now: Time, port: u32, packet: Packet) {
        self.receive_with_bypass(now, port, packet, |_| false);
    }

    /// Takes a packet that arrived on a port through ingress. Where native code runs the program, the packet
    /// bypasses its queue if that queue is empty and `is_free` says that the port is idle: egress runs in the
    /// same call, and the packet leaves. Counters and the program's metadata are those that [`Self::receive`]
    /// and [`Self::transmit`] give. Ask [`Self::next_ready`] afterwards.
    #[inline]
    pub fn receive_with_bypass(
        &mut self,
        now: Time,
        port: u32,
        packet: Packet,
        is_free: impl Fn(u32) -> bool,
    ) -> Option<Transmission> {
        let (arrival, index) = self.arrive(now, port, packet)?;
        let Self { core, program, .. } = self;
        let program = program.as_mut()?;
        match program.receive_with_bypass(core, now, arrival, index, is_free) {
            IngressResult::Leaves(index, packet) => Some(core.sent(index, packet)),
            IngressResult::Dropped(index) => self.transmit_next(now, index),
            IngressResult::Done => {
                serve_unqueued(program, core, now);
                None
            }
        }
    }

    /// Counts a packet that arrived on a port, and the port; none if it is dropped.
    #[inline(always)]
    fn arrive(&mut self, now: Time, port: u32, packet: Packet) -> Option<(Arrival, PortIndex)> {
        let core = &mut self.core;
        let lineage =
            if core.trace.is_any() { core.trace_arrival(now, port, packet.len()) } else { Lineage::NONE };
        core.counters.received += 1;
        let Some(index) = core.tm.port(port) else {
            core.drop_at(port, 0, DropCause::NoSuchPort);
            return None;
        };
        let length = packet.len();
        core.tm.at_mut(index).received.add(length);
        let arrival = self.arrival(port, (packet, length), lineage)?;
        Some((arrival, index))
    }

    /// Takes a packet of the controller: it enters ingress on the CPU port, its controller header in front.
    /// Without a CPU port it is dropped and counted.
    pub fn packet_out(&mut self, now: Time, packet: Packet) {
        self.core.counters.packet_outs += 1;
        self.core.trace.follow(now, Lineage::NONE);
        self.core.trace.begin(packet.len());
        let Some(port) = self.core.config.cpu_port else {
            self.core.drop_at(u32::MAX, 0, DropCause::NoSuchPort);
            return;
        };
        let length = packet.len();
        let Some(arrival) = self.arrival(port, (packet, length), Lineage::NONE) else { return };
        let Some(program) = &mut self.program else { return };
        program.receive(&mut self.core, now, arrival);
        serve_unqueued(program, &mut self.core, now);
    }

    /// A packet at the entrance of the parser; none if it is dropped before.
    #[inline(always)]
    fn arrival(&mut self, port: u32, (packet, length): (Packet, u32), lineage: Lineage) -> Option<Arrival> {
        if length > MAX_PACKET_BYTES {
            self.core.drop_at(port, 0, DropCause::TooLong);
            return None;
        }
        if self.program.is_none() {
            self.core.drop_at(port, 0, DropCause::NoPipeline);
            return None;
        }
        Some(Arrival { packet, length, ingress_port: port, instance: Instance::NORMAL, lineage })
    }

    /// Starts the transmission of a port that is idle: takes packets from its queues through egress until one
    /// is to be sent. The caller asks again when the duration is over. Where egress sends nothing of many
    /// packets, the rest is left for another call, and [`Self::next_ready`] gives the port again.
    pub fn transmit(&mut self, now: Time, port: u32) -> Option<Transmission> {
        let index = self.core.tm.port(port)?;
        self.core.tm.release(index, now);
        self.transmit_next(now, index)
    }

    fn transmit_next(&mut self, now: Time, index: PortIndex) -> Option<Transmission> {
        let program = self.program.as_mut()?;
        let (mut unsent, mut since) = (0, None);
        loop {
            let left = self.core.tm.dequeue(index)?;
            self.core.tm.hold(index, left.priority, now);
            self.core.trace.follow(now, left.item.lineage);
            self.core.trace.begin(left.item.length);
            self.core.trace.keep(|| {
                let LeftQueue { port, priority, enq_depth, deq_depth, .. } = left;
                Step::Dequeued { port, priority, enq_qdepth: enq_depth, deq_qdepth: deq_depth }
            });
            let sent = program.egress(&mut self.core, now, left);
            serve_unqueued(program, &mut self.core, now);
            if let Some(packet) = sent {
                return Some(self.core.sent(index, packet));
            }
            unsent += 1;
            let caused = self.core.counters.caused();
            if unsent == MAX_UNSENT || caused - *since.get_or_insert(caused) >= MAX_CAUSED {
                self.core.tm.mark_ready(index);
                return None;
            }
        }
    }

    /// When a port whose queues have something, but wait for their rates, may send next.
    pub fn next_allowed(&self, port: u32) -> Option<Time> {
        self.core.tm.port(port).and_then(|index| self.core.tm.next_allowed(index))
    }

    /// A port that got work while it had none, once for each time; start it if it is idle.
    #[inline]
    pub fn next_ready(&mut self) -> Option<u32> {
        self.core.tm.next_ready()
    }

    /// Takes the packets for the controller, controller header in front.
    pub fn take_packet_ins(&mut self) -> Vec<Packet> {
        self.core.packet_ins.drain(..).collect()
    }

    /// Takes the digest messages for the controller.
    pub fn take_digests(&mut self) -> Vec<DigestMessage> {
        self.core.digests.drain(..).collect()
    }

    /// Whether something waits for the controller.
    pub fn has_messages(&self) -> bool {
        !self.core.packet_ins.is_empty() || !self.core.digests.is_empty()
    }

    /// Whether the text of `log_msg` is kept for [`Self::take_logs`]; at the start it is not, since it costs
    /// time. Without effect before a program is loaded; a new program starts without.
    pub fn set_logging(&mut self, on: bool) {
        if let Some(program) = &mut self.program {
            program.runtime_mut().effects.keep_logs = on;
        }
    }

    /// Takes the lines that `log_msg` wrote, the oldest first; only the newest
    /// [`MAX_LOG_LINES`](crate::MAX_LOG_LINES) are kept.
    pub fn take_logs(&mut self) -> Vec<LogLine> {
        self.core.logs.drain(..).collect()
    }

    /// Assertions that did not hold, as `assert at file:line`, and how often: those of earlier programs too.
    pub fn failed_assertions(&self) -> impl Iterator<Item = (&str, u64)> {
        self.core.failed_assertions.iter().map(|(place, count)| (place.as_str(), *count))
    }

    /// What observers keep of the switch from here on; what they kept before is gone.
    pub fn watch(&mut self, watch: Watch) {
        set_watch(&mut self.core, watch);
        self.set_logging(watch.max_logs > 0);
    }

    fn watched(&self) -> Watch {
        self.core.kept.as_ref().map(|kept| kept.watch).unwrap_or_default()
    }

    /// Drops that were added up, in the order of time, cause and port.
    pub fn watched_drops(&self) -> impl Iterator<Item = DropRow<'_>> {
        self.core.trace.drops().into_iter().flat_map(DropLog::rows)
    }

    /// Digests that were kept, the oldest first.
    pub fn watched_digests(&self) -> &[KeptDigest] {
        self.core.kept.as_ref().map_or(&[], |kept| &kept.digests)
    }

    /// Lines of `log_msg` that were kept, the oldest first.
    pub fn watched_logs(&self) -> &[LogLine] {
        self.core.kept.as_ref().map_or(&[], |kept| &kept.logs)
    }

    /// What there was no room for: packets dropped, digests and lines.
    pub fn watched_left_out(&self) -> u64 {
        let drops = self.core.trace.drops().map_or(0, |drops| drops.left_out);
        drops + self.core.kept.as_ref().map_or(0, |kept| kept.left_out)
    }

    /// Whether what packets do is kept for [`Self::take_trace`],
    /// step by step; at the start it is not, since it costs time.
    pub fn set_tracing(&mut self, on: bool) {
        self.core.trace.set(on);
    }

    /// Takes the steps of packets, the oldest first; only the newest
    /// [`MAX_TRACE_STEPS`](crate::MAX_TRACE_STEPS) are kept.
    pub fn take_trace(&mut self) -> Vec<TraceEvent> {
        self.core.trace.take().collect()
    }

    /// Keeps what expected packets do from here on ([`Self::expect_traced`]), so many steps at most; results
    /// are those of a switch that keeps nothing.
    pub fn set_tracing_expected(&mut self, max_steps: usize) {
        self.core.trace.set_expecting(max_steps);
    }

    /// The packet that arrives at a port as the `nth` since [`Self::set_tracing_expected`], from 1, is to be
    /// traced under a number; copies of it are, too.
    pub fn expect_traced(&mut self, port: u32, nth: u64, packet: u64) {
        self.core.trace.expect(port, nth, packet);
    }

    /// The expected packet that was sent last, if the last one was such.
    pub fn last_traced(&self) -> Option<u64> {
        self.core.trace.at_hand()
    }

    /// The steps that are kept, the oldest first.
    pub fn trace(&self) -> impl Iterator<Item = &TraceEvent> {
        self.core.trace.events()
    }

    /// Steps of expected packets that did not fit.
    pub fn trace_left_out(&self) -> u64 {
        self.core.trace.left_out()
    }

    /// Multicast groups and clone sessions.
    pub fn pre(&self) -> &ReplicationEngine {
        &self.core.pre
    }

    /// Multicast groups and clone sessions, to change.
    pub fn pre_mut(&mut self) -> &mut ReplicationEngine {
        &mut self.core.pre
    }

    /// What a Tofino chip has beside the program; empty after a program is loaded.
    pub fn chip(&self) -> &Chip {
        &self.core.chip
    }

    /// What a Tofino chip has beside the program, to change.
    pub fn chip_mut(&mut self) -> &mut Chip {
        &mut self.core.chip
    }

    /// When the packet generator has something to do next: [`Self::generate`] is to be called then.
    #[inline]
    pub fn next_generated(&self) -> Option<Time> {
        self.core.chip.generator.next_due()
    }

    /// Lets the packet generator send what is due by now into ingress; at most [`MAX_GENERATED`] packets, the
    /// rest with the next call. Ask [`Self::next_ready`] afterwards.
    pub fn generate(&mut self, now: Time) {
        let Self { core, program: Some(program), .. } = self else { return };
        let Some(chip) = program.chip() else { return };
        for _ in 0..MAX_GENERATED {
            let Some(Generated { port, packet }) = core.chip.generator.take(now, chip) else { break };
            core.counters.generated += 1;
            let (length, lineage) = (packet.len(), Lineage::NONE);
            let arrival = Arrival { packet, length, ingress_port: port, instance: Instance::NORMAL, lineage };
            program.receive(core, now, arrival);
        }
        serve_unqueued(program, core, now);
    }

    /// Counters of the whole switch.
    pub fn counters(&self) -> &SwitchCounters {
        &self.core.counters
    }

    /// Counters of a port.
    pub fn port_counters(&self, port: u32) -> Option<PortCounters> {
        self.core.tm.port(port).map(|index| self.core.tm.counters(index))
    }

    /// Packets waiting in all queues of a port; 0 for a port that is not there.
    pub fn port_depth_pkts(&self, port: u32) -> u32 {
        self.core.tm.port(port).map_or(0, |index| self.core.tm.port_depth_pkts(index))
    }

    /// Bytes waiting in all queues of a port; 0 for a port that is not there.
    pub fn port_depth_bytes(&self, port: u32) -> u64 {
        self.core.tm.port(port).map_or(0, |index| self.core.tm.port_depth_bytes(index))
    }

    /// Whether a port has packets that it may send.
    #[inline]
    pub fn has_sendable(&self, port: u32) -> bool {
        self.core.tm.port(port).is_some_and(|index| self.core.tm.has_sendable(index))
    }

    /// Whether there is a pause or resume frame to send.
    #[inline]
    pub fn has_pause_frames(&self) -> bool {
        self.core.tm.has_pause_frames()
    }

    /// The next pause or resume frame to send; ask after [`Self::receive`] and [`Self::transmit`].
    #[inline]
    pub fn next_pause_frame(&mut self) -> Option<PauseFrame> {
        self.core.tm.next_pause_frame()
    }

    /// The neighbour at a port pauses a priority, or lets it go on. Ask [`Self::next_ready`] afterwards.
    pub fn set_paused(&mut self, now: Time, port: u32, priority: u8, pause: bool) {
        if let Some(index) = self.core.tm.port(port) {
            self.core.tm.set_paused(now, index, priority, pause);
        }
    }

    /// Since when the neighbour at a port has kept a priority paused; none if it may send.
    pub fn paused_since(&self, port: u32, priority: u8) -> Option<Time> {
        self.core.tm.port(port).and_then(|index| self.core.tm.paused_since(index, priority))
    }

    /// What is counted of the pauses of a port's priority, up to now; nothing for a port that is not there.
    pub fn pauses(&self, port: u32, priority: u8, now: Time) -> PauseCounters {
        self.core
            .tm
            .port(port)
            .map_or_else(PauseCounters::default, |index| self.core.tm.pauses(index, priority, now))
    }

    /// The pause that this switch sent to a port's neighbour has lapsed without a resume.
    pub fn lapse_pause(&mut self, port: u32, priority: u8) {
        if let Some(index) = self.core.tm.port(port) {
            self.core.tm.lapse(index, priority);
        }
    }

    /// Pairs of ingress and egress ports: what came in on the one, which this
    /// switch has paused, waits at the other, which its neighbour has paused.
    pub fn waits(&self, priority: u8) -> Vec<(u32, u32)> {
        self.core.tm.waits(priority)
    }

    /// Packets waiting in all queues of all ports.
    pub fn waiting(&self) -> u64 {
        self.core.tm.waiting()
    }
}

fn set_watch(core: &mut Core, watch: Watch) {
    if let Some((interval, max_rows)) = watch.drops {
        core.trace.set_drops(DropLog::new(interval, max_rows));
    }
    core.kept = (watch != Watch::default()).then(|| Box::new(Kept::new(watch)));
}

impl Core {
    /// Counts a packet that leaves a port.
    #[inline(always)]
    fn sent(&mut self, index: PortIndex, packet: Packet) -> Transmission {
        self.counters.sent += 1;
        let length = packet.len();
        let state = self.tm.at_mut(index);
        state.sent.add(length);
        let port = state.number();
        let duration = state.time_on_link(length);
        let has_more = state.sendable() != 0;
        self.trace.keep(|| Step::Sent { port, bytes: length });
        Transmission { port, packet, bytes: length, duration, has_more }
    }
}

/// Takes the packets for ports without a queue through egress.
#[inline]
fn serve_unqueued(program: &mut Program, core: &mut Core, now: Time) {
    if !core.unqueued.is_empty() {
        serve_all_unqueued(program, core, now);
    }
}

/// What egress leaves of them goes to the controller, or is dropped at a port that has no interface.
#[cold]
fn serve_all_unqueued(program: &mut Program, core: &mut Core, now: Time) {
    let at_hand = core.trace.at_hand();
    while let Some(Unqueued { port, priority, queued }) = core.unqueued.pop_front() {
        core.trace.follow(now, queued.lineage);
        let deq_depth = core.unqueued.len() as u32;
        let ingress_port = u32::from(queued.ingress_port);
        // Such a port has no queue in time: packets leave at once.
        let left = LeftQueue { item: queued, port, priority, enq_depth: 0, deq_depth };
        let Some(packet) = program.egress(core, now, left) else { continue };
        if core.config.cpu_port != Some(port) {
            core.drop_at(ingress_port, priority, DropCause::NoSuchPort);
        } else if core.packet_ins.len() < MAX_CONTROLLER_QUEUE {
            core.counters.packet_ins += 1;
            core.packet_ins.push_back(packet);
            core.trace.keep(|| Step::ToController { port });
        } else {
            core.drop_at(ingress_port, priority, DropCause::ControllerQueue);
        }
    }
    core.trace.resume(at_hand);
}
