//! A pipeline with everything that a call needs.

use p4cc_ir::{Bits, FuncId, HeaderId, VarId};
use p4cc_units::Time;

use crate::{Effects, Env, Executor, Frame, Native, PacketView, ParseResult, Pipeline, RandomSource, State};

/// A small generator with a fixed seed.
#[derive(Clone, Debug)]
pub struct SplitMix(pub u64);

impl RandomSource for SplitMix {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A pipeline, its state, a frame, and what calls leave behind. Each call runs
/// in native code too, on a copy of all that, and must leave the same behind.
pub struct Rig {
    /// The program.
    pub pipeline: Pipeline,
    /// Its tables.
    pub state: State,
    /// The packet.
    pub frame: Frame,
    /// Requests to the architecture.
    pub effects: Effects,
    /// Randomness.
    pub random: SplitMix,
    /// Bytes that counters count.
    pub packet_length: u32,
    /// Zero bytes of payload.
    pub payload_zeros: u32,
    /// The time.
    pub now: Time,
    native: Native,
}

/// What a call can change.
struct Left<'a> {
    state: &'a State,
    frame: &'a Frame,
    effects: &'a Effects,
    random: &'a SplitMix,
}

impl Left<'_> {
    /// Panics where two back ends differ.
    fn check(&self, other: &Left<'_>, pipeline: &Pipeline) {
        let program = pipeline.program();
        for (id, var) in program.vars.iter().enumerate() {
            let id = VarId::from_index(id);
            let (interpreted, native) =
                (self.frame.get_bits(pipeline, id), other.frame.get_bits(pipeline, id));
            assert_eq!(interpreted, native, "`{}` in the interpreter and in native code", var.name);
        }
        for (id, header) in program.headers.iter().enumerate() {
            let id = HeaderId::from_index(id);
            let (interpreted, native) =
                (self.frame.is_valid(pipeline, id), other.frame.is_valid(pipeline, id));
            assert_eq!(interpreted, native, "validity of `{}`", header.name);
        }
        assert_eq!(self.frame.length_delta(pipeline), other.frame.length_delta(pipeline));
        assert_eq!(self.effects, other.effects);
        assert_eq!(self.random.0, other.random.0, "numbers drawn");
        assert!(
            self.state.has_same_cells(other.state),
            "counters, meters, registers or times of hits differ"
        );
    }
}

impl Rig {
    /// Everything fresh.
    pub fn new(pipeline: Pipeline) -> Self {
        Self {
            state: State::new(&pipeline),
            frame: Frame::new(&pipeline),
            native: pipeline.native_with_locals().expect("native code for this processor"),
            pipeline,
            effects: Effects::default(),
            random: SplitMix(1),
            packet_length: 100,
            payload_zeros: 0,
            now: Time::ZERO,
        }
    }

    /// Runs something in both back ends.
    fn both<R: PartialEq + core::fmt::Debug>(
        &mut self,
        run: impl Fn(&dyn Executor, &mut Frame, &mut Env<'_>) -> R,
    ) -> R {
        let numbers = (self.packet_length, self.payload_zeros, self.now);
        let (mut state, mut frame) = (self.state.clone(), self.frame.clone());
        let (mut effects, mut random) = (self.effects.clone(), self.random.clone());
        let mut env = Self::env(&mut state, &mut effects, &mut random, numbers);
        let native = run(&self.native, &mut frame, &mut env);
        let mut env = Self::env(&mut self.state, &mut self.effects, &mut self.random, numbers);
        let interpreted = run(&self.pipeline, &mut self.frame, &mut env);
        assert_eq!(interpreted, native, "results of the interpreter and of native code");
        let left =
            Left { state: &self.state, frame: &self.frame, effects: &self.effects, random: &self.random };
        let other = Left { state: &state, frame: &frame, effects: &effects, random: &random };
        left.check(&other, &self.pipeline);
        interpreted
    }

    fn env<'a>(
        state: &'a mut State,
        effects: &'a mut Effects,
        random: &'a mut SplitMix,
        numbers: (u32, u32, Time),
    ) -> Env<'a> {
        let (packet_length, zeros, now) = numbers;
        Env { state, effects, random, packet_length, payload: PacketView { bytes: &[], zeros }, now }
    }

    /// Resets the frame and parses.
    pub fn parse(&mut self, packet: PacketView<'_>) -> ParseResult {
        self.frame.reset();
        self.both(|exec, frame, env| exec.parse(frame, packet, env))
    }

    /// Runs a function.
    pub fn run(&mut self, func: FuncId) {
        self.both(|exec, frame, env| exec.run(func, frame, env));
    }

    /// Runs the ingress.
    pub fn ingress(&mut self) {
        self.run(self.pipeline.v1model().expect("a v1model program").ingress);
    }

    /// Emitted headers.
    pub fn deparse(&mut self) -> Vec<u8> {
        self.both(|exec, frame, _| {
            let mut out = vec![0xa5];
            exec.deparse(frame, &mut out);
            out.split_off(1)
        })
    }

    /// A variable's low word.
    pub fn get(&self, var: VarId) -> u64 {
        self.frame.get(&self.pipeline, var)
    }

    /// A variable's whole value.
    pub fn bits(&self, var: VarId) -> Bits {
        self.frame.get_bits(&self.pipeline, var)
    }

    /// Sets a variable.
    pub fn set(&mut self, var: VarId, value: u64) {
        self.frame.set(&self.pipeline, var, value);
    }

    /// Sets a whole variable.
    pub fn set_bits(&mut self, var: VarId, value: &Bits) {
        self.frame.set_bits(&self.pipeline, var, value);
    }
}
