//! What the control plane sets of a switch: ports, the program, its state, and what is kept for observers.

use std::sync::Arc;

use p4cc_exec::{Pipeline, State};
use p4cc_units::Rate;

use crate::arch::Program;
use crate::chip::Chip;
use crate::config::{ConfigError, ExecChoice, PRIORITIES, PortConfig, SchedulerConfig, ShaperConfig};
use crate::counters::DropCause;
use crate::pre::ReplicationEngine;
use crate::switch::{Switch, set_watch};
use crate::tm::{PortIndex, queue_of};
use crate::tm_state::QueueRate;
use crate::trace::TraceEvent;
use crate::watch::{LogLine, Watch};

/// A switch, to be set by the control plane: [`Switch::control`].
pub struct Control<'s> {
    switch: &'s mut Switch,
}

impl Switch {
    /// The switch as the control plane sets it.
    #[inline]
    pub fn control(&mut self) -> Control<'_> {
        Control { switch: self }
    }

    /// Packets a second that a queue of a port sends at most, where [`Control::set_queue_rate_pps`] limits
    /// it: given to that again, the result sets the same rate.
    pub fn queue_rate_pps(&self, port: u32, priority: u8) -> Option<u64> {
        /// Picoseconds of a second.
        const SECOND_PS: u64 = 1_000_000_000_000;
        let index = self.core.tm.port(port)?;
        match self.core.tm.rest[index.at()].rates[queue_of(priority)] {
            QueueRate::Packets { gap } => Some(SECOND_PS.checked_div(gap.as_ps()).unwrap_or(u64::MAX)),
            QueueRate::Link | QueueRate::Bits { .. } => None,
        }
    }
}

impl<'s> Control<'s> {
    /// Adds a port to a switch that runs.
    ///
    /// # Errors
    /// Its number is taken or does not fit, a value is out of bounds, or
    /// the switch has a shared buffer, which is laid out for its ports.
    pub fn add_port(&mut self, port: PortConfig) -> Result<(), ConfigError> {
        let mut config = self.switch.core.config.clone();
        config.ports.push(port);
        config.check()?;
        if !self.switch.core.tm.add_port(port) {
            return Err(ConfigError::shared_buffer());
        }
        self.switch.core.config = config;
        self.switch.name_units();
        self.set_port_up(port.port, true);
        Ok(())
    }

    /// Removes a port; what waits for it is dropped and counted. False if there is no such port.
    pub fn remove_port(&mut self, port: u32) -> bool {
        let Some(index) = self.switch.core.tm.port(port) else { return false };
        for _ in 0..self.switch.core.tm.remove_port(index) {
            self.switch.core.counters.drops.add(DropCause::NoSuchPort);
        }
        self.switch.core.config.ports.retain(|other| other.port != port);
        self.set_port_up(port, false);
        true
    }

    /// Says that a port went up or down, as its link did. All are up at the start. Members of action
    /// selectors that watch a port which is down are left out of the choice from the next packet on; what is
    /// sent to the port is sent all the same, and is its link's to lose.
    pub fn set_port_up(&mut self, port: u32, up: bool) {
        let ports_down = &mut self.switch.core.ports_down;
        let changed = if up { ports_down.remove(&port) } else { ports_down.insert(port) };
        if changed && !up {
            self.switch.core.chip.generator.port_down(port);
        }
        if changed && let Some(program) = &mut self.switch.program {
            program.runtime_mut().states_mut().for_each(|state| state.set_port_up(port, up));
        }
    }

    /// Sets the rate of a port's link, from the next packet on;
    /// a rate of 0 counts as 1. False if there is no such port.
    pub fn set_port_rate(&mut self, port: u32, rate: Rate) -> bool {
        let rate = rate.max(Rate::from_bps(1));
        let config = self.switch.core.config.ports.iter_mut().find(|other| other.port == port);
        let (Some(index), Some(config)) = (self.switch.core.tm.port(port), config) else { return false };
        config.rate = rate;
        self.switch.core.tm.set_rate(index, rate);
        true
    }

    /// Sets how many packets a second a queue of a port sends at most, or each if no priority is given; none
    /// for as many as the link takes. It replaces a rate in bits. Other queues of the port are not affected.
    /// False if there is no such port.
    pub fn set_queue_rate_pps(&mut self, port: u32, priority: Option<u8>, rate_pps: Option<u64>) -> bool {
        let Some(index) = self.configure_shapers(port, priority, None) else { return false };
        self.switch.core.tm.set_rate_pps(index, priority, rate_pps);
        true
    }

    /// Sets the bits a second that a queue of a port sends at most, or each if no priority is given; none for
    /// as many as the link takes. A rate of 0 counts as 1. It replaces a rate in packets. False if there is
    /// no such port.
    pub fn set_queue_shaper(
        &mut self,
        port: u32,
        priority: Option<u8>,
        shaper: Option<ShaperConfig>,
    ) -> bool {
        let least = Rate::from_bps(1);
        let shaper = shaper.map(|shaper| ShaperConfig { rate: shaper.rate.max(least), ..shaper });
        let Some(index) = self.configure_shapers(port, priority, shaper) else { return false };
        self.switch.core.tm.set_shaper(index, priority, shaper);
        true
    }

    /// Writes a queue's rate in bits, or that of each, to the configuration.
    fn configure_shapers(
        &mut self,
        port: u32,
        priority: Option<u8>,
        shaper: Option<ShaperConfig>,
    ) -> Option<PortIndex> {
        let config = self.switch.core.config.ports.iter_mut().find(|other| other.port == port);
        match (priority, config) {
            (Some(priority), Some(config)) => config.shapers[queue_of(priority)] = shaper,
            (None, Some(config)) => config.shapers = [shaper; PRIORITIES],
            (_, None) => {}
        }
        self.switch.core.tm.port(port)
    }

    /// Sets in which order a port's queues send; turns begin anew. False if there is no such port.
    ///
    /// # Errors
    /// A level, a weight or the quantum is out of range.
    pub fn set_scheduler(&mut self, port: u32, scheduler: SchedulerConfig) -> Result<bool, ConfigError> {
        scheduler.check("scheduler")?;
        let config = self.switch.core.config.ports.iter_mut().find(|other| other.port == port);
        let (Some(index), Some(config)) = (self.switch.core.tm.port(port), config) else { return Ok(false) };
        config.scheduler = scheduler;
        self.switch.core.tm.set_scheduler(index, &scheduler);
        Ok(true)
    }

    /// Sets how many packets a queue of a port holds, or each if no priority
    /// is given. What waits already stays. False if there is no such port.
    pub fn set_queue_capacity(&mut self, port: u32, priority: Option<u8>, capacity_pkts: u32) -> bool {
        let Some(index) = self.switch.core.tm.port(port) else { return false };
        self.switch.core.tm.set_capacity(index, priority, capacity_pkts);
        true
    }

    /// Empties a queue of a port and lets nothing in until [`Self::open_queue`]: how many packets were
    /// dropped ([`DropCause::TailDrop`]).
    pub fn close_queue(&mut self, port: u32, priority: u8) -> u64 {
        let core = &mut self.switch.core;
        let Some(index) = core.tm.port(port) else { return 0 };
        let dropped = core.tm.close_queue(index, priority);
        core.counters.drops.add_many(DropCause::TailDrop, dropped);
        if dropped > 0 {
            core.trace.begin(0);
            core.trace.dropped(Some(port), DropCause::TailDrop, dropped);
        }
        dropped
    }

    /// Opens a queue of a port that was closed, with the capacity that was set last.
    pub fn open_queue(&mut self, port: u32, priority: u8) {
        if let Some(index) = self.switch.core.tm.port(port) {
            self.switch.core.tm.open_queue(index, priority);
        }
    }

    /// Loads a program with fresh state; groups and sessions are removed, and waiting packets dropped and
    /// counted, since both belong to the program before.
    pub fn set_pipeline(&mut self, pipeline: Arc<Pipeline>) {
        self.power_off();
        let hits = self.switch.watched().hits;
        self.start(Box::new(Program::new(pipeline, self.switch.core.drop_port, self.switch.exec, hits)));
    }

    /// Runs a program that is new to this switch.
    fn start(&mut self, mut program: Box<Program>) {
        if self.switch.watched().max_logs > 0 {
            program.runtime_mut().effects.keep_logs = true;
        }
        if program.runtime().pipes() != usize::from(self.switch.pipes) {
            program.split(self.switch.pipes);
        }
        self.seed(&mut program);
        self.switch.program = Some(program);
        self.switch.name_units();
        self.tell_ports_down();
    }

    /// Tells the program's states which ports are down.
    fn tell_ports_down(&mut self) {
        let Some(program) = &mut self.switch.program else { return };
        let ports_down = &self.switch.core.ports_down;
        program.runtime_mut().states_mut().for_each(|state| state.set_ports_down(ports_down));
    }

    /// Draws of filters: the first pipe's are those of a switch whose pipes share everything.
    fn seed(&self, program: &mut Program) {
        let (seed, device) = (self.switch.core.config.seed, self.switch.core.config.device_id);
        for (pipe, state) in program.runtime_mut().states_mut().enumerate() {
            let name = match pipe {
                0 => format!("switch.{device}.filters"),
                _ => format!("switch.{device}.filters.{pipe}"),
            };
            state.set_seed(crate::random::seed_of(seed, &name));
        }
    }

    /// Runs the program of a switch that [`Switch::staging`] made, with the state, groups and sessions that
    /// it has there; waiting packets are dropped and counted. The other gets what ran before, for the caller
    /// to drop in its own time.
    pub fn take_over(&mut self, staged: &mut Switch) {
        let before = self.switch.program.take();
        self.power_off();
        let Some(mut program) = std::mem::replace(&mut staged.program, before) else { return };
        if program.runtime().counts_hits() != self.switch.watched().hits {
            // An observer came or went meanwhile; a program counts hits from its first packet or never.
            let pipeline = Arc::clone(&program.runtime().pipeline);
            let mut anew = Program::new(
                pipeline,
                self.switch.core.drop_port,
                self.switch.exec,
                self.switch.watched().hits,
            );
            if let Some(state) = program.runtime().state(0) {
                anew.runtime_mut().set_states(state.clone());
            }
            program = Box::new(anew);
        }
        program.runtime_mut().set_exec(self.switch.exec);
        self.switch.core.pre = std::mem::take(&mut staged.core.pre);
        self.start(program);
    }

    /// Gives each of so many pipes of a chip tables, counters and registers of its own, which begin as they
    /// are now: of the program that is loaded, and of those after it. Ports belong to the pipe that bits 8
    /// and 7 of their number say. A program of another architecture than the chip's has one state all the
    /// same.
    pub fn split_pipes(&mut self, pipes: u8) {
        self.switch.pipes = pipes.max(1);
        if let Some(program) = &mut self.switch.program {
            program.split(self.switch.pipes);
        }
    }

    /// Loses the program with its state, groups and sessions, and waiting packets, which are counted. Ports
    /// are up or down as before.
    pub fn power_off(&mut self) {
        let waiting = self.switch.core.tm.clear();
        for _ in 0..waiting {
            self.switch.core.counters.drops.add(DropCause::NoPipeline);
        }
        if waiting > 0 {
            self.switch.core.trace.begin(0);
            self.switch.core.trace.dropped(None, DropCause::NoPipeline, waiting);
        }
        self.switch.core.pre = ReplicationEngine::default();
        let config = &self.switch.core.config;
        *self.switch.core.chip = Chip::new(config.seed, config.device_id, config.deflect_on_drop);
        self.switch.core.digests.clear();
        self.switch.program = None;
    }

    /// Chooses what runs programs: the one that is loaded, from the
    /// next packet on, and those after it. Results do not depend on it.
    pub fn set_exec(&mut self, choice: ExecChoice) {
        self.switch.exec = choice;
        if let Some(program) = &mut self.switch.program {
            program.runtime_mut().set_exec(choice);
        }
    }

    /// Tables, counters and registers of the loaded program, to change.
    pub fn state_mut(self) -> Option<&'s mut State> {
        self.state_of_mut(0)
    }

    /// The same of one pipe of the chip, to change.
    pub fn state_of_mut(self, pipe: usize) -> Option<&'s mut State> {
        self.switch.program.as_mut().and_then(|program| program.runtime_mut().state_mut(pipe))
    }

    /// Puts a state of the loaded program in the place of its
    /// own, in all pipes. Ports are up or down as this switch knows them.
    pub fn set_state(&mut self, mut state: State) {
        state.set_ports_down(&self.switch.core.ports_down);
        if let Some(program) = &mut self.switch.program {
            program.runtime_mut().set_states(state);
        }
    }

    /// Multicast groups and clone sessions, to change.
    pub fn pre_mut(self) -> &'s mut ReplicationEngine {
        &mut self.switch.core.pre
    }

    /// What a Tofino chip has beside the program, to change.
    pub fn chip_mut(self) -> &'s mut Chip {
        &mut self.switch.core.chip
    }

    /// Whether the text of `log_msg` is kept for [`Self::take_logs`]; at the start it is not, since it costs
    /// time. Without effect before a program is loaded; a new program starts without.
    pub fn set_logging(&mut self, on: bool) {
        if let Some(program) = &mut self.switch.program {
            program.runtime_mut().effects.keep_logs = on;
        }
    }

    /// Takes the lines that `log_msg` wrote, the oldest first; only the newest
    /// [`MAX_LOG_LINES`](crate::MAX_LOG_LINES) are kept.
    pub fn take_logs(&mut self) -> Vec<LogLine> {
        self.switch.core.logs.drain(..).collect()
    }

    /// What observers keep of the switch from here on; what they kept before is gone.
    pub fn watch(&mut self, watch: Watch) {
        set_watch(&mut self.switch.core, watch);
        self.set_logging(watch.max_logs > 0);
    }

    /// Whether what packets do is kept for [`Self::take_trace`],
    /// step by step; at the start it is not, since it costs time.
    pub fn set_tracing(&mut self, on: bool) {
        self.switch.core.trace.set(on);
    }

    /// Traces all packets, and what each step changes ([`Step::Changed`](crate::Step)), for packets that
    /// come one after the other.
    pub fn set_tracing_values(&mut self) {
        self.set_tracing(true);
        self.switch.core.trace.set_values();
    }

    /// Traces what each step of expected packets changes, too.
    pub fn set_expected_values(&mut self) {
        self.switch.core.trace.set_values();
    }

    /// Takes the number of steps that were left out behind the first
    /// [`MAX_TRACE_STEPS`](crate::MAX_TRACE_STEPS) where values are traced.
    pub fn take_steps_left_out(&mut self) -> u64 {
        self.switch.core.trace.take_left_out()
    }

    /// Takes the steps of packets, the oldest first; only the newest
    /// [`MAX_TRACE_STEPS`](crate::MAX_TRACE_STEPS) are kept.
    pub fn take_trace(&mut self) -> Vec<TraceEvent> {
        self.switch.core.trace.take().collect()
    }

    /// Keeps what expected packets do from here on ([`Self::expect_traced`]), so many steps at most; results
    /// are those of a switch that keeps nothing.
    pub fn set_tracing_expected(&mut self, max_steps: usize) {
        self.switch.core.trace.set_expecting(max_steps);
    }

    /// The packet that arrives at a port as the `nth` since [`Self::set_tracing_expected`], from 1, is to be
    /// traced under a number; copies of it are, too.
    pub fn expect_traced(&mut self, port: u32, nth: u64, packet: u64) {
        self.switch.core.trace.expect(port, nth, packet);
    }
}
