//! What all architectures run programs with: the executor, its state, and frames that are used again.

use std::sync::Arc;

use p4cc_exec::{Effects, Env, Exec, Executor, Frame, PacketView, Pipeline, State};
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
    /// What goes in front of a packet: the live part of its frame, or the headers as the deparser wrote them.
    pub front: Vec<u8>,
    exec: Exec,
    /// Packets until native code is made, unless another switch had it made.
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
        Exec::Native if warm_up == 0 || pipeline.has_native() => {
            pipeline.native().map_or(pipeline, |native| native)
        }
        Exec::Native | Exec::Interp => pipeline,
    }
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
    pub fn exchange(&mut self, Workspace(frames): &mut Workspace) {
        match frames.iter().position(|(pipeline, _)| Arc::ptr_eq(pipeline, &self.pipeline)) {
            Some(place) => core::mem::swap(&mut frames[place].1, &mut self.frame),
            None if frames.len() < MAX_WORKSPACE_PROGRAMS => {
                frames.push((Arc::clone(&self.pipeline), self.frame.clone()));
            }
            None => {}
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

    /// Runs a parser into the frame; returns the number of bytes taken.
    pub fn parse(&mut self, core: &mut Core, now: Time, func: FuncId, packet: &Packet) -> u32 {
        let view = PacketView { bytes: &packet.head, zeros: packet.zeros };
        self.warm_up = self.warm_up.saturating_sub(1);
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
            self.pipeline.parse_traced(func, &mut self.frame, view, &mut env, &mut tracer)
        } else {
            let exec = executor(&self.pipeline, self.exec, self.warm_up);
            exec.parse_by(func, &mut self.frame, view, &mut env)
        };
        core.counters.parser_errors += u64::from(outcome.error.is_some());
        // A byte that was taken in part is gone for the deparser, as in BMv2.
        outcome.consumed_bits.div_ceil(8)
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
        let in_head = packet.head.len().min(payload_at as usize);
        let zeros = packet.zeros - packet.zeros.min(payload_at - in_head as u32);
        let mut env = Env {
            state: &mut self.state,
            effects: &mut self.effects,
            random: &mut core.random,
            packet_length: length,
            payload: PacketView { bytes: &packet.head[in_head..], zeros },
            now,
        };
        if core.trace.is_on() {
            let mut tracer = Tracer { pipeline: &self.pipeline, log: &mut core.trace };
            self.pipeline.run_traced(func, &mut self.frame, &mut env, &mut tracer);
        } else {
            executor(&self.pipeline, self.exec, self.warm_up).run(func, &mut self.frame, &mut env);
        }
    }

    /// Runs the last deparser; what it emits is the new front.
    pub fn emit(&mut self) {
        self.front.clear();
        executor(&self.pipeline, self.exec, self.warm_up).deparse(&mut self.frame, &mut self.front);
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
        core.keep_digests(&mut self.effects.digests);
        core.keep_logs(now, &mut self.effects.logs);
        core.counters.assertions_failed += self.effects.assertion_failures.len() as u64;
    }
}
