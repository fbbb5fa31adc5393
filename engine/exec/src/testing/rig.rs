//! A pipeline with everything that a call needs around it.

use p4cc_ir::{Bits, FuncId, VarId};
use p4cc_units::Time;

use crate::{Effects, Env, Executor, Frame, PacketView, ParseOutcome, Pipeline, RandomSource, State};

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

/// A pipeline, its state, a frame, and what calls leave behind.
pub struct Rig {
    /// The program.
    pub pipeline: Pipeline,
    /// Its tables.
    pub state: State,
    /// The packet.
    pub frame: Frame,
    /// What was asked of the architecture.
    pub effects: Effects,
    /// Randomness.
    pub random: SplitMix,
    /// Bytes that counters count.
    pub packet_length: u32,
    /// Zero bytes of payload.
    pub payload_zeros: u32,
    /// The time.
    pub now: Time,
}

impl Rig {
    /// Everything fresh.
    pub fn new(pipeline: Pipeline) -> Self {
        Self {
            state: State::new(&pipeline),
            frame: Frame::new(&pipeline),
            pipeline,
            effects: Effects::default(),
            random: SplitMix(1),
            packet_length: 100,
            payload_zeros: 0,
            now: Time::ZERO,
        }
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
    pub fn parse(&mut self, packet: PacketView<'_>) -> ParseOutcome {
        self.frame.reset();
        let numbers = (self.packet_length, self.payload_zeros, self.now);
        let mut env = Self::env(&mut self.state, &mut self.effects, &mut self.random, numbers);
        self.pipeline.parse(&mut self.frame, packet, &mut env)
    }

    /// Runs a function.
    pub fn run(&mut self, func: FuncId) {
        let numbers = (self.packet_length, self.payload_zeros, self.now);
        let mut env = Self::env(&mut self.state, &mut self.effects, &mut self.random, numbers);
        self.pipeline.run(func, &mut self.frame, &mut env);
    }

    /// Runs the ingress.
    pub fn ingress(&mut self) {
        self.run(self.pipeline.v1model().expect("a v1model program").ingress);
    }

    /// Emitted headers.
    pub fn deparse(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.pipeline.deparse(&mut self.frame, &mut out);
        out
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
