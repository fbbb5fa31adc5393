//! The switch as the simulator and the daemon use it: packets in, transmissions and PFC (IEEE 802.1Qbb) pause
//! frames out. The control plane's side is `control`, the observers' is `observation`.

use p4cc_exec::DigestMessage;
use p4cc_units::{Span, Time};

use crate::arch::{Arrival, IngressResult, Left, LeftQueue, Program, Workspace};
use crate::chip::pktgen::Generated;
use crate::config::{ConfigError, ExecChoice, QdepthUnit, SwitchConfig};
use crate::core::{Core, Instance, MAX_CONTROLLER_QUEUE, Unqueued};
use crate::counters::DropCause;
use crate::lineage::Lineage;
use crate::packet::{MAX_PACKET_BYTES, Packet};
use crate::tm::PortIndex;
use crate::tm_buffer::PauseFrame;
use crate::trace::Step;
use crate::watch::{DropLog, Kept, Watch};

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
    pub(crate) exec: ExecChoice,
    /// Pipes of the chip with a state of their own.
    pub(crate) pipes: u8,
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

    /// A switch like this one without a program, for [`take_over`](crate::Control::take_over): to load one,
    /// and to write its state, costs time that this switch has for packets.
    pub fn staging(&self) -> Self {
        let mut core = Core::new(self.core.config.clone());
        let watch = self.watched();
        if watch != Watch::default() {
            set_watch(&mut core, watch);
        }
        Self { core, program: None, exec: self.exec, pipes: self.pipes }
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

    /// Gives ports that name no unit of depths the architecture's.
    pub(crate) fn name_units(&mut self) {
        let unit = self.program.as_ref().map_or(QdepthUnit::Packets, |program| program.qdepth_unit());
        let Core { config, tm, .. } = &mut self.core;
        for port in config.ports.iter().filter(|port| port.qdepth_unit == QdepthUnit::Auto) {
            if let Some(index) = tm.port(port.port) {
                tm.set_qdepth_unit(index, unit);
            }
        }
    }

    /// What observers keep of it.
    pub(crate) fn watched(&self) -> Watch {
        self.core.kept.as_ref().map(|kept| kept.watch).unwrap_or_default()
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
            IngressResult::Dropped(index) => {
                // In parts: a whole one would keep in memory what the packet above leaves with, too.
                let further = transmit_further(program, core, now, index, 0)?;
                let Transmission { port, packet, bytes, duration, has_more } = further;
                Some(Transmission { port, packet, bytes, duration, has_more })
            }
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
        let arrival = self.arrival(port, packet, length, lineage)?;
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
        let Some(arrival) = self.arrival(port, packet, length, Lineage::NONE) else { return };
        let Some(program) = &mut self.program else { return };
        program.receive(&mut self.core, now, arrival);
        serve_unqueued(program, &mut self.core, now);
    }

    /// A packet at the entrance of the parser; none if it is dropped before.
    #[inline(always)]
    fn arrival(&mut self, port: u32, packet: Packet, length: u32, lineage: Lineage) -> Option<Arrival> {
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

    /// Without a loop, as nearly always egress sends the first packet.
    #[inline(always)]
    fn transmit_next(&mut self, now: Time, index: PortIndex) -> Option<Transmission> {
        let Self { core, program, .. } = self;
        let program = program.as_mut()?;
        match egress_of_next(program, core, now, index)? {
            Some(packet) => Some(core.sent(index, packet)),
            None => transmit_further(program, core, now, index, 1),
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

    /// The expected packet that was sent last, if the last one was such.
    pub fn last_traced(&self) -> Option<u64> {
        self.core.trace.at_hand()
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

    /// The pause that this switch sent to a port's neighbour has lapsed without a resume.
    pub fn lapse_pause(&mut self, port: u32, priority: u8) {
        if let Some(index) = self.core.tm.port(port) {
            self.core.tm.lapse(index, priority);
        }
    }
}

/// Sets what observers keep from here on.
pub(crate) fn set_watch(core: &mut Core, watch: Watch) {
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
        let has_more = state.has_more();
        self.trace.keep(|| Step::Sent { port, bytes: length });
        Transmission { port, packet, bytes: length, duration, has_more }
    }
}

/// Takes the next packet of a port's queues through egress; whether one waits, and is to be sent.
#[inline(always)]
fn egress_of_next(
    program: &mut Program,
    core: &mut Core,
    now: Time,
    index: PortIndex,
) -> Option<Option<Packet>> {
    let (packet, left) = core.tm.dequeue(index)?.split();
    core.tm.hold(index, left.priority, left.length, now);
    if core.trace.is_any() {
        trace_dequeued(core, now, left);
    }
    let sent = program.egress(core, now, packet, left);
    serve_unqueued(program, core, now);
    Some(sent)
}

#[cold]
fn trace_dequeued(core: &mut Core, now: Time, left: Left) {
    core.trace.follow(now, left.lineage);
    core.trace.begin(left.length);
    core.trace.keep(|| {
        let Left { port, priority, enq_depth, deq_depth, .. } = left;
        Step::Dequeued { port, priority, enq_qdepth: enq_depth, deq_qdepth: deq_depth }
    });
}

/// Egress sent nothing of so many packets: takes the next ones, until one is to be sent.
#[cold]
fn transmit_further(
    program: &mut Program,
    core: &mut Core,
    now: Time,
    index: PortIndex,
    mut unsent: u32,
) -> Option<Transmission> {
    let mut since = (unsent > 0).then(|| core.counters.caused());
    loop {
        if let Some(packet) = egress_of_next(program, core, now, index)? {
            return Some(core.sent(index, packet));
        }
        unsent += 1;
        let caused = core.counters.caused();
        if unsent == MAX_UNSENT || caused - *since.get_or_insert(caused) >= MAX_CAUSED {
            core.tm.mark_ready(index);
            return None;
        }
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
        let (packet, left) = left.split();
        let Some(packet) = program.egress(core, now, packet, left) else { continue };
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
