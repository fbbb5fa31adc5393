//! Compiles the terminators of basic blocks: jumps, branches, selects.

use p4cc_ir::{Bits, BlockId, Keyset, Operand, Terminator};

use super::Compiler;
use crate::frame_layout::FrameLocation;
use crate::op::{Op, SelectOp, SelectSlowOp, SlowKeyset};

impl Compiler<'_> {
    /// Targets are block numbers here; the function's end turns them into addresses.
    pub(super) fn terminator(&mut self, terminator: &Terminator, block: usize) {
        match terminator {
            Terminator::Jump(to) if to.index() == block + 1 => {}
            Terminator::Jump(to) => self.emit(Op::Jump { to: to.0 }),
            Terminator::Branch { cond, then, otherwise } => {
                let cond = self.narrow(cond);
                self.emit(Op::Branch { cond, then: then.0, otherwise: otherwise.0 });
            }
            Terminator::Switch { value, cases, default } => {
                let cases: Vec<(Vec<Keyset>, BlockId)> = cases
                    .iter()
                    .map(|(bits, to)| {
                        (vec![Keyset::Mask { value: bits.clone(), mask: ones(bits.width()) }], *to)
                    })
                    .collect();
                self.select(core::slice::from_ref(value), &cases, Some(*default));
            }
            Terminator::Select { keys, cases, default } => self.select(keys, cases, *default),
            Terminator::Return => self.emit(Op::Return),
            Terminator::Exit => self.emit(Op::Exit),
            Terminator::Accept => self.emit(Op::Accept),
            Terminator::Reject => self.emit(Op::Reject),
        }
    }

    fn select(&mut self, keys: &[Operand], cases: &[(Vec<Keyset>, BlockId)], default: Option<BlockId>) {
        let keys = self.operands(keys);
        let default = default.map(|block| block.0);
        let fits = keys.iter().map(|key| key.width).sum::<u32>() <= 64;
        let ranges = cases.iter().flat_map(|case| &case.0).any(|set| matches!(set, Keyset::Range { .. }));
        if fits && !ranges {
            let op = packed(&keys, cases, default);
            let index = self.code.selects.len() as u32;
            self.code.selects.push(op);
            self.emit(Op::Select(index));
        } else {
            let cases = cases
                .iter()
                .map(|(sets, to)| (sets.iter().map(|set| self.keyset(set)).collect(), to.0))
                .collect();
            let index = self.code.slow_selects.len() as u32;
            self.code.slow_selects.push(SelectSlowOp { keys, cases, default });
            self.emit(Op::SelectSlow(index));
        }
    }

    fn keyset(&mut self, keyset: &Keyset) -> SlowKeyset {
        let layout = &mut self.code.layout;
        match keyset {
            Keyset::Any => SlowKeyset::Any,
            Keyset::Mask { value, mask } => {
                SlowKeyset::Mask { value: layout.constant(value), mask: layout.constant(mask) }
            }
            Keyset::Range { low, high, signed } => {
                SlowKeyset::Range { low: layout.constant(low), high: layout.constant(high), signed: *signed }
            }
        }
    }
}

fn ones(width: u32) -> Bits {
    Bits::from_words(width, &vec![u64::MAX; p4cc_ir::bits::words_for(width)])
}

/// All keys side by side in one word.
fn packed(keys: &[FrameLocation], cases: &[(Vec<Keyset>, BlockId)], default: Option<u32>) -> SelectOp {
    let mut below = keys.iter().map(|key| key.width).sum::<u32>();
    let keys: Box<[(u32, u8)]> = keys
        .iter()
        .map(|key| {
            below -= key.width;
            (key.slot, below as u8)
        })
        .collect();
    let cases = cases
        .iter()
        .map(|(sets, to)| {
            let (mut value, mut mask) = (0, 0);
            for (set, &(_, shift)) in sets.iter().zip(&keys) {
                if let Keyset::Mask { value: v, mask: m } = set {
                    value |= (v.low_u64() & m.low_u64()) << shift;
                    mask |= m.low_u64() << shift;
                }
            }
            (value, mask, to.0)
        })
        .collect();
    SelectOp { keys, cases, default }
}
