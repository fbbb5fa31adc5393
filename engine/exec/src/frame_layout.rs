//! The layout of the frame: which words hold each variable, header, temporary and constant.
//!
//! The frame holds variables (zero at the start of each packet), then temporaries and the table key (never
//! zeroed), then constants (written once).
//!
//! Invariants: locations are disjoint. A header's validity word and its fields are adjacent, in field order,
//! so headers of one type are copied and compared as ranges of words.

use std::collections::BTreeMap;

use p4cc_ir::bits::words_for;
use p4cc_ir::{Bits, HeaderId, MatchKind, Operand, Program, StackId, VarId, VarType};

/// "No word wanted" for optional results.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// The words of a variable or constant in the frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameLocation {
    /// First word: the value's lowest, or a varbit's length in bits.
    pub slot: u32,
    /// Width in bits (a varbit's largest).
    pub width: u32,
    /// Has a length word before its value.
    pub varbit: bool,
}

impl FrameLocation {
    /// First word of the value.
    pub fn value(self) -> u32 {
        self.slot + u32::from(self.varbit)
    }

    /// All words, the length word of a varbit included.
    pub fn words(self) -> u32 {
        words_for(self.width) as u32 + u32::from(self.varbit)
    }

    /// One word holds it.
    pub fn is_narrow(self) -> bool {
        self.width <= 64 && !self.varbit
    }
}

/// Words kept for narrowed operands within one instruction.
const NARROW_TEMPS: u32 = 4;

/// Locations of everything in the frame.
#[derive(Debug)]
pub(crate) struct Layout {
    vars: Vec<FrameLocation>,
    headers: Vec<u32>,
    header_words: Vec<u32>,
    stacks: Vec<u32>,
    direct_colors: Vec<u32>,
    entries: Vec<u32>,
    /// Word that sums the bytes of headers made valid, less those made invalid.
    pub length_delta: u32,
    /// Words zeroed per packet.
    pub zeroed: u32,
    /// Temporaries for narrowed operands.
    pub temps: u32,
    /// Temporaries for action arguments.
    pub args: u32,
    /// Where the key of the table being applied is packed.
    pub key: u32,
    consts_from: u32,
    consts: Vec<u64>,
    const_index: BTreeMap<Bits, u32>,
}

fn width_words(ty: VarType) -> u32 {
    let varbit = matches!(ty, VarType::Varbit(_));
    words_for(ty.width()) as u32 + u32::from(varbit)
}

impl Layout {
    pub fn new(program: &Program) -> Self {
        let mut next = 0;
        let mut take = |words: u32| {
            let slot = next;
            next += words;
            slot
        };
        let place = |slot, ty: VarType| FrameLocation {
            slot,
            width: ty.width(),
            varbit: matches!(ty, VarType::Varbit(_)),
        };
        let mut vars: Vec<Option<FrameLocation>> = vec![None; program.vars.len()];
        let mut headers = Vec::with_capacity(program.headers.len());
        let mut header_words = Vec::with_capacity(program.headers.len());
        for header in &program.headers {
            let valid = take(1);
            let mut words = 1;
            for &field in &header.fields {
                let ty = program.vars[field.index()].ty;
                vars[field.index()] = Some(place(take(width_words(ty)), ty));
                words += width_words(ty);
            }
            headers.push(valid);
            header_words.push(words);
        }
        let stacks = program.stacks.iter().map(|_| take(1)).collect();
        let vars = vars
            .into_iter()
            .zip(&program.vars)
            .map(|(known, var)| known.unwrap_or_else(|| place(take(width_words(var.ty)), var.ty)))
            .collect();
        let direct_colors = program.meters.iter().map(|_| take(1)).collect();
        let keeps = |table| crate::State::keeps_entry(program, table);
        let entries =
            program.tables.iter().map(|table| if keeps(table) { take(1) } else { NO_SLOT }).collect();
        let length_delta = take(1);
        let zeroed = next;
        let arg_words = program.actions.iter().map(|action| {
            action.params.iter().map(|param| width_words(program.vars[param.var.index()].ty)).sum()
        });
        let key_words = program.tables.iter().map(|table| {
            let matched = table.keys.iter().filter(|key| key.kind != MatchKind::Selector);
            matched.map(|key| width_words(program.vars[key.var.index()].ty)).sum()
        });
        let temps = zeroed;
        let args = temps + NARROW_TEMPS;
        let key = args + arg_words.max().unwrap_or(0);
        let consts_from = key + key_words.max().unwrap_or(0);
        Self {
            vars,
            headers,
            header_words,
            stacks,
            direct_colors,
            entries,
            length_delta,
            zeroed,
            temps,
            args,
            key,
            consts_from,
            consts: Vec::new(),
            const_index: BTreeMap::new(),
        }
    }

    #[inline]
    pub fn var(&self, var: VarId) -> FrameLocation {
        self.vars[var.index()]
    }

    /// Validity word of a header; its fields follow.
    pub fn valid(&self, header: HeaderId) -> u32 {
        self.headers[header.index()]
    }

    /// Words of a header, validity included.
    pub fn header_words(&self, header: HeaderId) -> u32 {
        self.header_words[header.index()]
    }

    /// Next-index word of a stack.
    pub fn stack(&self, stack: StackId) -> u32 {
        self.stacks[stack.index()]
    }

    /// Word that keeps the colour a direct meter gave at the last hit.
    pub fn direct_color(&self, meter: p4cc_ir::MeterId) -> u32 {
        self.direct_colors[meter.index()]
    }

    /// Word that keeps the number of the entry of a table that was hit last, if it keeps one.
    pub fn entry(&self, table: p4cc_ir::TableId) -> u32 {
        self.entries[table.index()]
    }

    /// Where an operand is read.
    pub fn operand(&mut self, operand: &Operand) -> FrameLocation {
        match operand {
            Operand::Var(var) => self.var(*var),
            Operand::Const(bits) => self.constant(bits),
        }
    }

    /// A constant's location.
    pub fn constant(&mut self, bits: &Bits) -> FrameLocation {
        let width = bits.width();
        if let Some(&slot) = self.const_index.get(bits) {
            return FrameLocation { slot, width, varbit: false };
        }
        let slot = self.consts_from + self.consts.len() as u32;
        self.consts.extend_from_slice(bits.words());
        self.const_index.insert(bits.clone(), slot);
        FrameLocation { slot, width, varbit: false }
    }

    /// Words of a frame, constants included.
    pub fn size(&self) -> u32 {
        self.consts_from + self.consts.len() as u32
    }

    /// The constant that a word holds, if it holds one.
    pub fn constant_at(&self, slot: u32) -> Option<u64> {
        self.consts.get(slot.checked_sub(self.consts_from)? as usize).copied()
    }

    /// A frame as it is before a packet.
    pub fn initial(&self) -> Vec<u64> {
        let mut slots = vec![0; self.consts_from as usize];
        slots.extend_from_slice(&self.consts);
        slots
    }
}
