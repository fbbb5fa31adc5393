//! Known bits: a forward dataflow analysis, run while code is made. It finds constants in registers, and
//! branches that these decide.
//!
//! Invariants: a fact holds on every path to the point where it is known. All forward jumps to a block are
//! made before the block begins. Nothing is known at the start of a loop header.

use std::collections::BTreeMap;

use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder, InstructionData, Opcode, TrapCode, Value, ValueDef,
};
use cranelift_frontend::Switch;

use super::Translator;
use crate::native::storage::Storage;
use crate::op::{Op, SelectOp};

/// Ends code that no way leads to; it is never part of the function.
const NEVER: TrapCode = TrapCode::unwrap_user(1);

/// Jumps that are followed to where they lead in the end.
const MAX_FOLLOWED: usize = 16;

/// The bits of a word whose value is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownBits {
    pub value: u64,
    pub mask: u64,
}

/// Words of which something is known, in order.
#[derive(Clone, Debug, Default)]
struct Facts(Vec<(u32, KnownBits)>);

/// What is known here, and at the blocks to come.
#[derive(Debug, Default)]
pub(super) struct Known {
    here: Facts,
    /// What all jumps to a block agree on.
    entered: BTreeMap<Block, Facts>,
    /// No way leads here.
    is_dead: bool,
}

impl Facts {
    fn get(&self, slot: u32) -> KnownBits {
        self.0.binary_search_by_key(&slot, |fact| fact.0).map_or(KnownBits::default(), |at| self.0[at].1)
    }

    fn set(&mut self, slot: u32, bits: KnownBits) {
        match (self.0.binary_search_by_key(&slot, |fact| fact.0), bits.mask) {
            (Ok(at), 0) => {
                self.0.remove(at);
            }
            (Ok(at), _) => self.0[at].1 = bits,
            (Err(_), 0) => {}
            (Err(at), _) => self.0.insert(at, (slot, bits)),
        }
    }

    /// Keeps what others know as well.
    fn meet(&mut self, others: &Self) {
        self.0.retain_mut(|(slot, bits)| {
            let other = others.get(*slot);
            bits.mask &= other.mask & !(bits.value ^ other.value);
            bits.value &= bits.mask;
            bits.mask != 0
        });
    }
}

impl Known {
    /// The value of a word, if it is a constant here.
    pub fn get(&self, slot: u32) -> Option<u64> {
        let KnownBits { value, mask } = self.here.get(slot);
        (mask == u64::MAX).then_some(value)
    }

    /// What is known of a word.
    pub fn bits(&self, slot: u32) -> KnownBits {
        self.here.get(slot)
    }

    /// A word has a value now, which may be known.
    pub fn set(&mut self, slot: u32, value: Option<u64>) {
        let bits = value.map_or(KnownBits::default(), |value| KnownBits { value, mask: u64::MAX });
        self.here.set(slot, bits);
    }

    /// These bits of a word are known now, and no others.
    pub fn set_bits(&mut self, slot: u32, KnownBits { value, mask }: KnownBits) {
        self.here.set(slot, KnownBits { value: value & mask, mask });
    }

    /// Whether something jumps to a block that has not begun.
    pub fn is_entered(&self, block: Block) -> bool {
        self.entered.contains_key(&block)
    }

    /// Whether a word has a value in a block that has not begun.
    pub fn is_at(&self, block: Block, slot: u32, value: u64) -> bool {
        let bits = self.entered.get(&block).map_or(KnownBits::default(), |facts| facts.get(slot));
        bits.mask == u64::MAX && bits.value == value
    }

    /// A jump from here.
    fn enter(&mut self, block: Block) {
        match self.entered.get_mut(&block) {
            Some(facts) => facts.meet(&self.here),
            None => {
                self.entered.insert(block, self.here.clone());
            }
        }
    }
}

impl Translator<'_, '_> {
    /// The number that a value is, if it is written as one.
    pub(super) fn constant(&self, value: Value) -> Option<u64> {
        let ValueDef::Result(inst, _) = self.b.func.dfg.value_def(value) else { return None };
        match self.b.func.dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits() as u64),
            _ => None,
        }
    }

    /// Ends the block if no way leads to it, and is false then.
    pub(super) fn is_left(&mut self) -> bool {
        if self.known.is_dead {
            self.b.ins().trap(NEVER);
        }
        !self.known.is_dead
    }

    pub(super) fn jump(&mut self, to: Block, args: &[BlockArg]) {
        if self.is_left() {
            self.known.enter(to);
            self.b.ins().jump(to, args);
        }
    }

    pub(super) fn brif(
        &mut self,
        cond: Value,
        then: Block,
        then_args: &[BlockArg],
        otherwise: Block,
        otherwise_args: &[BlockArg],
    ) {
        match self.constant(cond) {
            Some(0) => self.jump(otherwise, otherwise_args),
            Some(_) => self.jump(then, then_args),
            None if self.is_left() => {
                self.known.enter(then);
                self.known.enter(otherwise);
                self.b.ins().brif(cond, then, then_args, otherwise, otherwise_args);
            }
            None => {}
        }
    }

    /// Jumps by a value.
    pub(super) fn switch(&mut self, switch: Switch, value: Value, otherwise: Block) {
        if self.is_left() {
            switch.entries().values().for_each(|&block| self.known.enter(block));
            self.known.enter(otherwise);
            switch.emit(&mut self.b, value, otherwise);
        }
    }

    /// Jumps by a flag of the frame, which is known where it leads to.
    pub(super) fn branch(&mut self, cond: u32, cond_value: Value, [then, otherwise]: [Block; 2]) {
        if !self.is_left() {
            return;
        }
        for (block, value) in [(then, 1), (otherwise, 0)] {
            let before = self.known.here.clone();
            self.learn(cond, value);
            self.known.enter(block);
            self.known.here = before;
        }
        self.b.ins().brif(cond_value, then, &[], otherwise, &[]);
    }

    /// A word is known to have a value.
    pub(super) fn learn(&mut self, slot: u32, value: u64) {
        match self.shared.plan.storage_of(slot) {
            Storage::Register => self.known.set(slot, Some(value)),
            Storage::PackedBits(part) => {
                let (KnownBits { value: before, mask }, bits) = (self.known.bits(part.chunk), part.bits());
                let value = before & !bits | value << part.low;
                self.known.set_bits(part.chunk, KnownBits { value, mask: mask | bits });
            }
            Storage::Memory | Storage::Constant(_) => {}
        }
    }

    /// Calls `f` where a flag is known, and forgets that again.
    pub(super) fn supposing<R>(&mut self, slot: u32, value: u64, f: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.known.here.clone();
        self.learn(slot, value);
        let result = f(self);
        self.known.here = before;
        result
    }

    /// Begins a block that all jumps are made to.
    pub(super) fn switch_to(&mut self, block: Block) {
        self.switch_to_open(block);
        self.b.seal_block(block);
    }

    /// Begins a block that is jumped to from within, with
    /// nothing changed that is known; it is to be sealed then.
    pub(super) fn switch_to_open(&mut self, block: Block) {
        self.b.switch_to_block(block);
        let facts = self.known.entered.remove(&block);
        self.known.is_dead = facts.is_none();
        self.known.here = facts.unwrap_or_default();
    }

    /// Begins a block that is jumped to from anywhere.
    pub(super) fn switch_to_loop(&mut self, block: Block) {
        self.b.switch_to_block(block);
        self.known.entered.remove(&block);
        (self.known.here, self.known.is_dead) = (Facts::default(), false);
    }

    /// Where a jump to an address leads in the end, by what is known here.
    pub(super) fn follow(&self, mut to: u32) -> u32 {
        for _ in 0..MAX_FOLLOWED {
            let next = match self.shared.code.ops.get(to as usize) {
                Some(Op::Jump { to }) => Some(*to),
                Some(Op::Branch { cond, then, otherwise }) => {
                    self.known(*cond).map(|cond| if cond == 0 { *otherwise } else { *then })
                }
                Some(Op::Select(index)) => self.selected(*index),
                _ => None,
            };
            match next {
                Some(next) => to = next,
                None => break,
            }
        }
        to
    }

    /// Where a select goes on, if that follows from what is known of its keys.
    pub(super) fn selected(&self, index: u32) -> Option<u32> {
        let select = &self.shared.code.selects[index as usize];
        let known = self.known_keys(select);
        for &(value, mask, to) in &select.cases {
            let is_possible = (known.value ^ value) & mask & known.mask == 0;
            match (is_possible, mask & !known.mask) {
                (true, 0) => return Some(to),
                (true, _) => return None,
                (false, _) => {}
            }
        }
        select.default
    }

    /// What is known of the keys of a select together.
    pub(super) fn known_keys(&self, select: &SelectOp) -> KnownBits {
        let mut bits = KnownBits::default();
        for (slot, key) in select.key_masks() {
            if let Some(value) = self.known(slot) {
                bits.value |= value << key.trailing_zeros() & key;
                bits.mask |= key;
            }
        }
        bits
    }
}
