//! What all architectures run programs with: the executor, its state, and frames that are used again.

use std::sync::Arc;

use p4cc_exec::{
    Effects, EgressEnd, EgressStart, Env, Exec, Executor, Frame, IngressStart, PacketView, Pipeline, State,
    Verdict,
};
use p4cc_ir::{FuncId, VarId};
use p4cc_units::Time;

use crate::config::ExecChoice;
use crate::core::Core;
use crate::packet::Packet;
use crate::trace::Tracer;

/// A program with its state and its working memory.
#[derive(Clone)]
pub(crate) struct Machine {
    pub pipeline: Arc<Pipeline>,
    pub state: State,
    pub frame: Box<Frame>,
    /// Second frame: what a clone or the next pass starts from.
    pub spare: Box<Frame>,
    pub effects: Effects,
    /// What goes in front of a packet of a PSA program, as a deparser wrote it.
    pub front: Vec<u8>,
    exec: Exec,
    /// Packets that all switches of the program take before native code is made.
    warm_up: u32,
}

/// Working memory that switches of one program take turns with, so that it stays in the processor's caches: a packet
/// leaves nothing in it that the next one sees.
#[derive(Debug, Default)]
pub struct Workspace(Vec<(Arc<Pipeline>, Box<Frame>)>);

/// Programs that one workspace is for; switches of further ones use their own memory.
const MAX_WORKSPACE_PROGRAMS: usize = 4;

/// What runs the program now.
fn executor(pipeline: &Pipeline, exec: Exec, warm_up: u32) -> &dyn Executor {
    match exec {
        Exec::Native if pipeline.has_native() || pipeline.interpreted() >= warm_up => {
            pipeline.native().map_or(pipeline, |native| native)
        }
        Exec::Native | Exec::Interp => pipeline,
    }
}

/// A packet as programs see it.
pub(crate) fn view(packet: &Packet) -> PacketView<'_> {
    PacketView { bytes: &packet.head, zeros: packet.zeros }
}

fn length(packet: PacketView<'_>) -> u32 {
    u32::try_from(packet.len()).unwrap_or(u32::MAX)
}

impl Machine {
    pub fn new(pipeline: Arc<Pipeline>, drop_port: u32, choice: ExecChoice) -> Self {
        let mut state = State::new(&pipeline);
        state.set_drop_port(drop_port);
        Self {
            state,
            frame: Box::new(Frame::new(&pipeline)),
            spare: Box::new(Frame::new(&pipeline)),
            effects: Effects::default(),
            front: Vec::new(),
            exec: choice.exec(),
            warm_up: choice.warm_up_packets(),
            pipeline,
        }
        .prepared()
    }

    /// Changes what runs the program from the next packet on.
    pub fn set_exec(&mut self, choice: ExecChoice) {
        (self.exec, self.warm_up) = (choice.exec(), choice.warm_up_packets());
        self.prepare();
    }

    /// Exchanges the frame for that of a workspace, or back.
    #[inline]
    pub fn exchange(&mut self, workspace: &mut Workspace) {
        match workspace.0.first_mut() {
            Some((pipeline, frame)) if Arc::ptr_eq(pipeline, &self.pipeline) => {
                core::mem::swap(frame, &mut self.frame);
            }
            _ => self.exchange_another(workspace),
        }
    }

    /// The same where the program is not the workspace's first.
    #[cold]
    fn exchange_another(&mut self, Workspace(frames): &mut Workspace) {
        match frames.iter().position(|(pipeline, _)| Arc::ptr_eq(pipeline, &self.pipeline)) {
            Some(place) => core::mem::swap(&mut frames[place].1, &mut self.frame),
            None if frames.len() < MAX_WORKSPACE_PROGRAMS => {
                frames.push((Arc::clone(&self.pipeline), self.frame.clone()));
            }
            None => {}
        }
    }

    /// Counts a packet towards native code.
    #[inline]
    fn warm(&self) {
        if self.exec == Exec::Native
            && !self.pipeline.has_native()
            && self.pipeline.interpreted() < self.warm_up
        {
            self.pipeline.count_interpreted();
        }
    }

    fn prepared(mut self) -> Self {
        self.prepare();
        self
    }

    /// Makes native code now if it is not to wait.
    fn prepare(&mut self) {
        executor(&self.pipeline, self.exec, self.warm_up);
    }

    pub fn set(&mut self, var: VarId, value: u64) {
        self.frame.set(&self.pipeline, var, value);
    }

    pub fn get(&self, var: VarId) -> u64 {
        self.frame.get(&self.pipeline, var)
    }

    /// Runs what stands before v1model's queues on the frame; returns the number of bytes that the parser took.
    pub fn ingress(&mut self, core: &mut Core, now: Time, start: IngressStart<'_>) -> u32 {
        self.warm();
        let mut env = Env {
            state: &mut self.state,
            effects: &mut self.effects,
            random: &mut core.random,
            packet_length: length(start.packet),
            payload: PacketView::default(),
            now,
        };
        let outcome = if core.trace.is_on() {
            let mut tracer = Tracer { pipeline: &self.pipeline, log: &mut core.trace };
            self.pipeline.ingress_traced(&mut self.frame, start, &mut env, &mut tracer)
        } else {
            executor(&self.pipeline, self.exec, self.warm_up).ingress(&mut self.frame, start, &mut env)
        };
        core.counters.parser_errors += u64::from(outcome.error.is_some());
        outcome.consumed_bytes()
    }

    /// Runs what stands behind v1model's queues on the frame. `payload` follows what was saved, `packet_length` is what
    /// counters count.
    pub fn egress(
        &mut self,
        core: &mut Core,
        now: Time,
        start: EgressStart<'_>,
        payload: PacketView<'_>,
        packet_length: u32,
    ) -> EgressEnd {
        let (state, effects) = (&mut self.state, &mut self.effects);
        let mut env = Env { state, effects, random: &mut core.random, packet_length, payload, now };
        if core.trace.is_on() {
            let mut tracer = Tracer { pipeline: &self.pipeline, log: &mut core.trace };
            return self.pipeline.egress_traced(&mut self.frame, start, &mut env, &mut tracer);
        }
        executor(&self.pipeline, self.exec, self.warm_up).egress(&mut self.frame, start, &mut env)
    }

    /// Runs the rest of that after egress asked for something.
    pub fn finish(&mut self, core: &mut Core, now: Time, payload: PacketView<'_>, packet_length: u32) {
        let (state, effects) = (&mut self.state, &mut self.effects);
        let mut env = Env { state, effects, random: &mut core.random, packet_length, payload, now };
        if core.trace.is_on() {
            let mut tracer = Tracer { pipeline: &self.pipeline, log: &mut core.trace };
            return self.pipeline.finish_traced(&mut self.frame, &mut env, &mut tracer);
        }
        executor(&self.pipeline, self.exec, self.warm_up).finish(&mut self.frame, &mut env);
    }

    /// How v1model's ingress left the packet of the frame.
    pub fn verdict(&self) -> Verdict {
        self.pipeline.halves().map(|halves| halves.verdict(&self.frame)).unwrap_or_default()
    }

    /// Whether v1model's egress dropped the packet of the frame.
    pub fn drops(&self, core: &Core) -> bool {
        self.pipeline.halves().is_some_and(|halves| halves.egress_spec(&self.frame) == core.config.drop_port)
    }

    /// What lives on through the queues of the spare frame.
    pub fn saved_spare(&self) -> Vec<u8> {
        let mut saved = Vec::new();
        if let Some(halves) = self.pipeline.halves() {
            halves.save(&self.spare, &mut saved);
        }
        saved
    }

    /// Runs a parser into the frame; returns the number of bytes taken.
    pub fn parse(&mut self, core: &mut Core, now: Time, func: FuncId, packet: &Packet) -> u32 {
        self.warm();
        let mut env = Env {
            state: &mut self.state,
            effects: &mut self.effects,
            random: &mut core.random,
            packet_length: packet.len(),
            payload: PacketView::default(),
            now,
        };
        let outcome = if core.trace.is_on() {
            let mut tracer = Tracer { pipeline: &self.pipeline, log: &mut core.trace };
            self.pipeline.parse_traced(func, &mut self.frame, view(packet), &mut env, &mut tracer)
        } else {
            let exec = executor(&self.pipeline, self.exec, self.warm_up);
            exec.parse_by(func, &mut self.frame, view(packet), &mut env)
        };
        core.counters.parser_errors += u64::from(outcome.error.is_some());
        outcome.consumed_bytes()
    }

    /// Runs a control on a packet whose first bytes were parsed; `length` is what counters count.
    pub fn run(
        &mut self,
        core: &mut Core,
        now: Time,
        func: FuncId,
        packet: &Packet,
        payload_at: u32,
        length: u32,
    ) {
        let mut env = Env {
            state: &mut self.state,
            effects: &mut self.effects,
            random: &mut core.random,
            packet_length: length,
            payload: view(packet).skip(payload_at),
            now,
        };
        if core.trace.is_on() {
            let mut tracer = Tracer { pipeline: &self.pipeline, log: &mut core.trace };
            self.pipeline.run_traced(func, &mut self.frame, &mut env, &mut tracer);
        } else {
            executor(&self.pipeline, self.exec, self.warm_up).run(func, &mut self.frame, &mut env);
        }
    }

    /// Runs a deparser that may call externs; what it emits is the new front.
    pub fn deparse(&mut self, core: &mut Core, now: Time, func: FuncId, length: u32) {
        self.front.clear();
        let mut env = Env {
            state: &mut self.state,
            effects: &mut self.effects,
            random: &mut core.random,
            packet_length: length,
            payload: PacketView::default(),
            now,
        };
        let exec = executor(&self.pipeline, self.exec, self.warm_up);
        exec.deparse_by(func, &mut self.frame, &mut env, &mut self.front);
    }

    /// Hands on what a pass left for the controller and for whoever traces.
    pub fn settle(&mut self, core: &mut Core, now: Time) {
        if self.effects.is_empty() {
            return;
        }
        core.keep_digests(&mut self.effects.digests);
        core.keep_logs(now, &mut self.effects.logs);
        core.counters.assertions_failed += self.effects.assertion_failures.len() as u64;
    }
}
