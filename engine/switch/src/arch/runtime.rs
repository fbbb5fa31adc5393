//! The runtime that all architectures run programs with: executor, state, and frames that are used again.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use p4cc_exec::{
    BypassResult, Effects, EgressEnd, EgressStart, Env, Exec, Executor, Frame, HalfEnd, HalfId, IngressStart,
    MAX_CONTROL_STEPS, Native, PacketView, ParseResult, Pipeline, QueueBypass, State, Verdict,
};
use p4cc_ir::{Bits, FuncId, VarId, ViewPlace};
use p4cc_units::Time;

use crate::config::{ExecChoice, MADE_ELSEWHERE};
use crate::core::Core;
use crate::packet::Packet;
use crate::random::Stream;
use crate::trace::{Step, TraceLog, Tracer};

/// A program with its state and its working memory.
#[derive(Clone)]
// In the order of fields: what every packet touches stands in few lines of the cache.
#[repr(C, align(64))]
pub(crate) struct Runtime {
    pub pipeline: Arc<Pipeline>,
    pub frame: Box<WorkingMemory>,
    choice: Choice,
    /// Of the pipe of the chip that runs: [`Self::enter`].
    state: State,
    pub effects: Effects,
    /// Second frame: what a clone or the next run starts from.
    pub spare: Box<WorkingMemory>,
    /// What goes in front of a packet of a PSA or TNA program, as a deparser wrote it.
    front: Vec<u8>,
    /// It is the frame's instead: a half wrote it.
    front_in_frame: bool,
    /// Whether the state counts hits that native code would not.
    counts_hits: bool,
    /// States of the other pipes of the chip; in the place of the one that runs stands what is never read.
    /// Empty where all pipes have one state.
    parked: Vec<State>,
    /// Pipe of the chip that runs.
    pipe: usize,
}

/// What is to run a program.
#[derive(Clone, Copy)]
struct Choice {
    exec: Exec,
    /// Packets that all switches of the program take before native code is made.
    warm_up: u32,
}

impl Choice {
    /// As configured; native code would not count all hits.
    fn new(config: ExecChoice, counts_hits: bool) -> Self {
        let exec = if counts_hits { Exec::Interp } else { config.exec() };
        Self { exec, warm_up: config.warm_up_packets() }
    }
}

/// A frame, and the spare packet whose room takes the next head.
#[derive(Clone, Debug)]
pub(crate) struct WorkingMemory {
    frame: Frame,
    /// Room for the next head that is written: it changes places with the packet whose head it was.
    next: Packet,
}

impl WorkingMemory {
    fn new(pipeline: &Pipeline) -> Box<Self> {
        Box::new(Self { frame: Frame::new(pipeline), next: Packet::default() })
    }
}

impl Deref for WorkingMemory {
    type Target = Frame;

    #[inline]
    fn deref(&self) -> &Frame {
        &self.frame
    }
}

impl DerefMut for WorkingMemory {
    #[inline]
    fn deref_mut(&mut self) -> &mut Frame {
        &mut self.frame
    }
}

/// Working memory that switches of one program take turns with, so that it stays in the processor's caches: a
/// packet leaves nothing in it that the next one sees.
#[derive(Debug, Default)]
pub struct Workspace(Vec<(Arc<Pipeline>, Box<WorkingMemory>)>);

/// Programs that one workspace is for; switches of further ones use their own memory.
const MAX_WORKSPACE_PROGRAMS: usize = 4;

/// Native code, where it is to run the program and was made already.
#[inline]
fn native(pipeline: &Pipeline, choice: Choice) -> Option<&Native> {
    if choice.exec == Exec::Native { pipeline.made_native() } else { None }
}

/// What runs the program now.
#[cold]
fn executor(pipeline: &Pipeline, choice: Choice) -> &dyn Executor {
    match choice.exec {
        Exec::Native if pipeline.has_native() || is_due(pipeline, choice.warm_up) => {
            pipeline.native().map_or(pipeline, |native| native)
        }
        Exec::Native | Exec::Interp => pipeline,
    }
}

/// Whether the packets so far are enough to make native code.
fn is_due(pipeline: &Pipeline, warm_up: u32) -> bool {
    warm_up != MADE_ELSEWHERE && pipeline.interpreted() >= warm_up
}

/// Counts a packet towards native code.
#[inline]
fn warm(pipeline: &Pipeline, choice: Choice) {
    let counts = choice.exec == Exec::Native && !pipeline.has_native();
    if counts && pipeline.interpreted() < choice.warm_up {
        pipeline.count_interpreted();
    }
}

/// Ingress where there is no native code, or somebody traces.
#[cold]
fn ingress_otherwise<'e>(
    pipeline: &Pipeline,
    choice: Choice,
    frame: &mut Frame,
    log: &mut TraceLog,
    start: IngressStart<'e>,
    env: &mut Env<'e>,
) -> ParseResult {
    warm(pipeline, choice);
    if log.is_on() {
        return pipeline.ingress_traced(frame, start, env, &mut Tracer { pipeline, log });
    }
    executor(pipeline, choice).ingress(frame, start, env)
}

/// Runs what stands behind v1model's queues.
#[inline(always)]
fn egress<'e>(
    pipeline: &Pipeline,
    choice: Choice,
    frame: &mut Frame,
    log: &mut TraceLog,
    start: EgressStart<'e>,
    env: &mut Env<'e>,
) -> EgressEnd {
    match native(pipeline, choice) {
        Some(native) if !log.is_on() => native.egress(frame, start, env),
        _ => egress_otherwise(pipeline, choice, frame, log, start, env),
    }
}

/// The same where there is no native code, or somebody traces.
#[cold]
fn egress_otherwise<'e>(
    pipeline: &Pipeline,
    choice: Choice,
    frame: &mut Frame,
    log: &mut TraceLog,
    start: EgressStart<'e>,
    env: &mut Env<'e>,
) -> EgressEnd {
    if log.is_on() {
        return pipeline.egress_traced(frame, start, env, &mut Tracer { pipeline, log });
    }
    executor(pipeline, choice).egress(frame, start, env)
}

/// A packet as programs see it.
#[inline]
pub(crate) fn view(packet: &Packet) -> PacketView<'_> {
    PacketView { bytes: &packet.head, zeros: packet.zeros }
}

impl Runtime {
    pub fn new(pipeline: Arc<Pipeline>, drop_port: u32, choice: ExecChoice, counts_hits: bool) -> Self {
        let start = if counts_hits { State::counting_hits } else { State::new };
        let mut state = start(&pipeline);
        state.set_drop_port(drop_port);
        Self {
            state,
            frame: WorkingMemory::new(&pipeline),
            spare: WorkingMemory::new(&pipeline),
            effects: Effects::default(),
            front: Vec::new(),
            front_in_frame: false,
            choice: Choice::new(choice, counts_hits),
            counts_hits,
            parked: Vec::new(),
            pipe: 0,
            pipeline,
        }
        .prepared()
    }

    /// Gives each pipe of the chip a state of its own, which begins as the state is now.
    pub fn split(&mut self, pipes: usize) {
        self.enter(0);
        self.parked = if pipes > 1 { vec![self.state.clone(); pipes] } else { Vec::new() };
    }

    /// Changes to the state of a pipe of the chip, for the packets that come.
    #[inline]
    pub fn enter(&mut self, pipe: usize) {
        if !self.parked.is_empty() {
            self.change_pipe(pipe % self.parked.len());
        }
    }

    #[cold]
    fn change_pipe(&mut self, pipe: usize) {
        if pipe != self.pipe {
            core::mem::swap(&mut self.state, &mut self.parked[self.pipe]);
            core::mem::swap(&mut self.state, &mut self.parked[pipe]);
            self.pipe = pipe;
        }
    }

    /// Pipes of the chip that have a state of their own.
    pub fn pipes(&self) -> usize {
        self.parked.len().max(1)
    }

    /// The state of a pipe of the chip.
    pub fn state(&self, pipe: usize) -> Option<&State> {
        if pipe == self.pipe { Some(&self.state) } else { self.parked.get(pipe) }
    }

    /// The same to be changed.
    pub fn state_mut(&mut self, pipe: usize) -> Option<&mut State> {
        if pipe == self.pipe { Some(&mut self.state) } else { self.parked.get_mut(pipe) }
    }

    /// Puts a state in the place of all.
    pub fn set_states(&mut self, state: State) {
        for parked in &mut self.parked {
            parked.clone_from(&state);
        }
        self.state = state;
    }

    /// All states to be changed.
    pub fn states_mut(&mut self) -> impl Iterator<Item = &mut State> {
        core::iter::once(&mut self.state).chain(&mut self.parked)
    }

    /// Changes what runs the program from the next packet on.
    pub fn set_exec(&mut self, choice: ExecChoice) {
        self.choice = Choice::new(choice, self.counts_hits);
        self.prepare();
    }

    /// Whether all hits are counted.
    pub fn counts_hits(&self) -> bool {
        self.counts_hits
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
        warm(&self.pipeline, self.choice);
    }

    fn prepared(mut self) -> Self {
        self.prepare();
        self
    }

    /// Makes native code now if it is not to wait.
    fn prepare(&mut self) {
        executor(&self.pipeline, self.choice);
    }

    pub fn set(&mut self, var: VarId, value: u64) {
        self.frame.set(&self.pipeline, var, value);
    }

    pub fn get(&self, var: VarId) -> u64 {
        self.frame.get(&self.pipeline, var)
    }

    /// Runs what stands before v1model's queues on the frame;
    /// returns the number of bytes that the parser took.
    #[inline(always)]
    pub fn ingress(
        &mut self,
        core: &mut Core,
        now: Time,
        start: IngressStart<'_>,
        packet_length: u32,
    ) -> u32 {
        let (state, effects) = (&mut self.state, &mut self.effects);
        let payload = PacketView::default();
        let mut env = Env { state, effects, random: &mut core.random, packet_length, payload, now };
        let outcome = match native(&self.pipeline, self.choice) {
            Some(native) if !core.trace.is_on() => native.ingress(&mut self.frame, start, &mut env),
            _ => {
                let Self { pipeline, choice, frame, .. } = self;
                ingress_otherwise(pipeline, *choice, frame, &mut core.trace, start, &mut env)
            }
        };
        if let Some(error) = outcome.error {
            self.on_parser_error(core, error);
        }
        outcome.consumed_bytes()
    }

    /// Counts a packet that a parser rejected.
    #[cold]
    fn on_parser_error(&self, core: &mut Core, error: u32) {
        core.counters.parser_errors += 1;
        core.trace.parser_error(&self.pipeline, error);
        core.trace.keep(|| {
            let name = self.pipeline.program().errors.get(error as usize);
            Step::ParserError { error: name.cloned().unwrap_or_default() }
        });
    }

    /// Runs a packet from outside through v1model's pipelines, as
    /// far as it goes; none where native code is not to run.
    #[inline(always)]
    pub fn ingress_with_bypass(
        &mut self,
        random: &mut Stream,
        now: Time,
        packet: &Packet,
        start: IngressStart<'_>,
        packet_length: u32,
        queue_bypass: &mut dyn QueueBypass,
    ) -> Option<BypassResult> {
        let Self { pipeline, state, frame, effects, choice, .. } = self;
        let native = native(pipeline, *choice)?;
        let WorkingMemory { frame, next, .. } = &mut **frame;
        let payload = PacketView::default();
        next.head.take_tail(&packet.head);
        let mut env = Env { state, effects, random, packet_length, payload, now };
        Some(native.ingress_with_bypass(frame, start, &mut env, queue_bypass, next.head.room()))
    }

    /// A packet with the head that was written in place of its first bytes.
    #[inline(always)]
    pub fn written(&mut self, mut packet: Packet, written: u32, taken: u32) -> Packet {
        let next = &mut self.frame.next;
        next.head.set_written(written as usize, &packet.head, taken as usize);
        next.zeros = packet.zeros;
        core::mem::swap(next, &mut packet);
        packet
    }

    /// Runs what stands behind v1model's queues on the frame. `payload`
    /// follows what was saved, `packet_length` is what counters count.
    #[inline]
    pub fn egress(
        &mut self,
        core: &mut Core,
        now: Time,
        start: EgressStart<'_>,
        payload: PacketView<'_>,
        packet_length: u32,
    ) -> EgressEnd {
        let Self { pipeline, state, frame, effects, choice, .. } = self;
        let mut env = Env { state, effects, random: &mut core.random, packet_length, payload, now };
        egress(pipeline, *choice, frame, &mut core.trace, start, &mut env)
    }

    /// Runs the rest of the egress pipeline after egress made a request.
    pub fn finish(&mut self, core: &mut Core, now: Time, payload: PacketView<'_>, packet_length: u32) {
        let (state, effects) = (&mut self.state, &mut self.effects);
        let mut env = Env { state, effects, random: &mut core.random, packet_length, payload, now };
        if core.trace.is_on() {
            let mut tracer = Tracer { pipeline: &self.pipeline, log: &mut core.trace };
            return self.pipeline.finish_traced(&mut self.frame, &mut env, &mut tracer);
        }
        executor(&self.pipeline, self.choice).finish(&mut self.frame, &mut env);
    }

    /// How v1model's ingress left the packet of the frame.
    #[inline]
    pub fn verdict(&self) -> Verdict {
        self.pipeline.v1_pipelines().map(|v1_pipelines| v1_pipelines.verdict(&self.frame)).unwrap_or_default()
    }

    /// Whether v1model's egress dropped the packet of the frame.
    pub fn drops(&self, core: &Core) -> bool {
        self.pipeline
            .v1_pipelines()
            .is_some_and(|v1_pipelines| v1_pipelines.egress_spec(&self.frame) == core.drop_port)
    }

    /// What lives on through the queues of the spare frame.
    pub fn saved_spare(&self) -> Vec<u8> {
        let mut saved = Vec::new();
        if let Some(v1_pipelines) = self.pipeline.v1_pipelines() {
            v1_pipelines.save(&self.spare, &mut saved);
        }
        saved
    }

    /// Runs a half of a TNA program as one native function, where there is one that takes this packet:
    /// parser, control and deparser. `timestamp` is what the parser tells. Where there is none nothing
    /// happened but to the frame.
    #[inline]
    pub fn half(
        &mut self,
        core: &mut Core,
        now: Time,
        id: HalfId,
        timestamp: u64,
        packet: &Packet,
        packet_length: u32,
    ) -> Option<HalfEnd> {
        if core.trace.is_on() || core.chip.snapshots.is_armed() {
            return None;
        }
        let Self { pipeline, state, frame, effects, choice, .. } = self;
        let native = native(pipeline, *choice)?;
        let payload = PacketView::default();
        let mut env = Env { state, effects, random: &mut core.random, packet_length, payload, now };
        let end = native.half(id, frame, view(packet), timestamp, &mut env)?;
        self.front_in_frame = true;
        Some(end)
    }

    /// What the last deparser emitted.
    #[inline]
    pub fn front(&self) -> &[u8] {
        if self.front_in_frame { self.frame.front() } else { &self.front }
    }

    /// Runs a parser into the frame.
    pub fn parse(&mut self, core: &mut Core, now: Time, func: FuncId, packet: &Packet) -> ParseResult {
        self.warm();
        let choice = self.choice_of_blocks(core);
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
            let exec = executor(&self.pipeline, choice);
            exec.parse_by(func, &mut self.frame, view(packet), &mut env)
        };
        if let Some(error) = outcome.error {
            self.on_parser_error(core, error);
        }
        outcome
    }

    /// Who runs blocks one by one: the interpreter where a snapshot waits, which shows any value.
    fn choice_of_blocks(&self, core: &Core) -> Choice {
        let exec = if core.chip.snapshots.is_armed() { Exec::Interp } else { self.choice.exec };
        Choice { exec, ..self.choice }
    }

    /// Keeps the packet's values in the snapshots that wait for it behind this control.
    pub fn capture(&self, core: &mut Core, of_program: u8, is_egress: bool, pipe: u8) {
        let read = |place: ViewPlace| match place {
            ViewPlace::Var(var) => self.frame.get_bits(&self.pipeline, var),
            ViewPlace::Valid(header) => {
                Bits::from_u128(1, u128::from(self.frame.is_valid(&self.pipeline, header)))
            }
            ViewPlace::Nowhere => Bits::zero(1),
        };
        core.chip.snapshots.capture(of_program, is_egress, pipe, read);
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
        let choice = self.choice_of_blocks(core);
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
            executor(&self.pipeline, choice).run(func, &mut self.frame, &mut env);
        }
    }

    /// Runs a deparser that may call externs; what it emits is the new front.
    pub fn deparse(&mut self, core: &mut Core, now: Time, func: FuncId, length: u32) {
        self.front.clear();
        self.front_in_frame = false;
        let mut env = Env {
            state: &mut self.state,
            effects: &mut self.effects,
            random: &mut core.random,
            packet_length: length,
            payload: PacketView::default(),
            now,
        };
        let exec = executor(&self.pipeline, self.choice);
        exec.deparse_by(func, &mut self.frame, &mut env, &mut self.front);
    }

    /// Hands on what a run left for the controller and for whoever traces.
    pub fn settle(&mut self, core: &mut Core, now: Time) {
        if self.effects.is_empty() {
            return;
        }
        for message in &mut self.effects.digests {
            message.pipe = self.pipe as u8;
        }
        core.keep_digests(now, self.pipeline.program(), &mut self.effects.digests);
        core.keep_logs(now, &mut self.effects.logs);
        for place in self.effects.assertion_failures.drain(..) {
            core.count_failed_assertion(place);
        }
        for _ in 0..core::mem::take(&mut self.effects.loop_limits_hit) {
            // The rest of the control did not run: nobody may take the packet for a right one.
            core.count_failed_assertion(format!("a control's bound of {MAX_CONTROL_STEPS} steps"));
        }
    }
}
