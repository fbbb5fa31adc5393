//! The storage plan of a program, made before its translation: which actions are inlined, and whether each
//! word of the frame is stored in memory, in a register or as a constant.
//!
//! Invariant: a word in a register is used by one native function only, or each function initialises it.
//! Before a helper runs that may use the word, the word is written to its location in the frame, and read
//! back after.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::{Type, types};
use p4cc_ir::{ActionId, ProfileId, Program, Table, VarId, VarKind};

use crate::accesses::{Access, Accessor, HeaderAccess, OpAccess, accesses};
use crate::bitplan::FieldSlice;
use crate::frame_layout::FrameLocation;
use crate::op::{Code, HeaderPlan, Op};

/// Operations that copies of one action may take in all; past that it becomes a function of its own.
const MAX_COPIES_OPS: usize = 2_048;

/// Operations of a program's functions times words that last, above which what lasts stays in the frame:
/// finding a register for every word at every place would take long.
const MAX_REGISTER_PLACES: usize = 8_000_000;

/// Most operations of one native function, cases of selects among them: bounds what is translated before
/// [`super::codegen`] can count instructions.
pub(super) const MAX_FUNCTION_OPS: usize = 50_000;

/// Most words that the operations of one native function move, for the same reason: one that extracts or
/// emits a header is code for each of its fields. The largest of 1,350 programs of others moves 18,495.
pub(super) const MAX_FUNCTION_WORDS: usize = 40_000;

/// Where a word of the frame is stored while a native function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    Memory,
    Register,
    Constant(u64),
    /// A field within a register that holds a chunk of a header as packed.
    PackedBits(PackedBits),
}

/// Bits of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedBits {
    /// The chunk, by its first word.
    pub chunk: u32,
    /// Place of the lowest bit.
    pub low: u8,
    pub width: u8,
    /// Bits of the register that the chunk may set: those above are zero.
    pub unit: u8,
}

impl PackedBits {
    /// The bits in the chunk.
    pub fn bits(self) -> u64 {
        (u64::MAX >> (64 - self.width)) << self.low
    }
}

/// Bytes of a header in one register: as a number of 8, 16,
/// 32 or 64 bits, of which the first byte is the highest.
#[derive(Clone, Debug)]
pub(super) struct PackedChunk {
    pub bytes: u32,
    /// Bits of the number.
    pub unit: u8,
    /// Words of the frame that the chunk holds, in order.
    pub slots: Vec<u32>,
}

/// Where the validity of headers is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    InFrame,
    /// For functions that begin with a frame of their own, and leave it as none that others look at.
    InRegisters,
}

/// Where local variables are stored, if one function alone uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locals {
    InRegisters,
    /// In the frame, where a test can see them.
    #[cfg(feature = "testing")]
    InFrame,
}

/// Decisions for a whole program.
pub(super) struct StoragePlan {
    storage: Vec<Storage>,
    /// Actions that are functions of their own.
    pub outlined: BTreeSet<ActionId>,
    /// Actions that each table may run.
    candidates: Vec<Vec<ActionId>>,
    /// Operations of each function, inlined actions included.
    sizes: Vec<usize>,
    /// Words that these operations move.
    moved_words: Vec<usize>,
    /// Chunks of headers that live in registers, by their first words.
    chunks: BTreeMap<u32, PackedChunk>,
    /// The program is small enough to keep what lasts in registers.
    is_small: bool,
}

impl PackedChunk {
    /// The type of the number.
    pub fn ty(&self) -> Type {
        match self.unit {
            8 => types::I8,
            16 => types::I16,
            32 => types::I32,
            _ => types::I64,
        }
    }
}

impl StoragePlan {
    /// `natives` are the native functions to be made, each by the functions that it runs.
    pub fn new(
        program: &Program,
        code: &Code,
        natives: &[Vec<usize>],
        locals: Locals,
        validity: Validity,
    ) -> Self {
        let mut plan = Self {
            storage: Vec::new(),
            outlined: BTreeSet::new(),
            candidates: candidates(program),
            sizes: vec![0; program.funcs.len()],
            moved_words: vec![0; program.funcs.len()],
            chunks: BTreeMap::new(),
            is_small: false,
        };
        plan.measure(program, code);
        let ops: usize = natives.iter().flatten().map(|&func| plan.sizes[func]).sum();
        plan.is_small = ops.saturating_mul(code.layout.zeroed as usize) <= MAX_REGISTER_PLACES;
        if locals == Locals::InRegisters {
            plan.storage = plan.assign_storage(program, code, natives, validity);
        }
        if locals == Locals::InRegisters && plan.starts_fresh(validity) {
            plan.pack(program, code);
        }
        plan.storage.resize(code.layout.size() as usize, Storage::Memory);
        for (slot, storage_of) in plan.storage.iter_mut().enumerate() {
            if let Some(value) = code.layout.constant_at(slot as u32) {
                *storage_of = Storage::Constant(value);
            }
        }
        plan
    }

    /// Whether functions initialise the words that last: actions
    /// that are functions of their own look for it in the frame.
    fn starts_fresh(&self, validity: Validity) -> bool {
        validity == Validity::InRegisters && self.outlined.is_empty() && self.is_small
    }

    /// Where a word is stored.
    pub fn storage_of(&self, slot: u32) -> Storage {
        self.storage.get(slot as usize).copied().unwrap_or(Storage::Memory)
    }

    /// Actions that a table may run.
    pub fn candidates(&self, table: u32) -> &[ActionId] {
        &self.candidates[table as usize]
    }

    /// Operations of a function and cases of its selects, inlined actions included.
    pub fn size(&self, func: usize) -> usize {
        self.sizes[func]
    }

    /// Words that a function's operations move, inlined actions included.
    pub fn moved_words(&self, func: usize) -> usize {
        self.moved_words[func]
    }

    /// Whether one native function may hold these functions.
    pub fn fits(&self, funcs: &[usize]) -> bool {
        funcs.iter().map(|&func| self.size(func)).sum::<usize>() <= MAX_FUNCTION_OPS
            && funcs.iter().map(|&func| self.moved_words(func)).sum::<usize>() <= MAX_FUNCTION_WORDS
    }

    /// Actions that an operation may run.
    fn runs(&self, op: &Op) -> Vec<ActionId> {
        match *op {
            Op::Apply { table, .. } => self.candidates(table).to_vec(),
            Op::Call { action } => vec![ActionId(action)],
            _ => Vec::new(),
        }
    }

    /// Sizes, and which actions are too large to be copied to where they run.
    fn measure(&mut self, program: &Program, code: &Code) {
        let mut sites: BTreeMap<ActionId, usize> = BTreeMap::new();
        for op in &code.ops {
            self.runs(op).into_iter().for_each(|action| *sites.entry(action).or_default() += 1);
        }
        let mut known = vec![false; program.funcs.len()];
        for func in 0..program.funcs.len() {
            self.measure_func(program, code, func, &sites, &mut known);
        }
    }

    /// The size of a function; calls go down only, since P4 has no recursion.
    fn measure_func(
        &mut self,
        program: &Program,
        code: &Code,
        func: usize,
        sites: &BTreeMap<ActionId, usize>,
        known: &mut [bool],
    ) -> usize {
        if core::mem::replace(&mut known[func], true) {
            return self.sizes[func];
        }
        let (mut size, mut moved) = (0, 0);
        for op in code.ops_of(func) {
            size += 1 + cases(code, op);
            moved += words_moved(code, op);
            for action in self.runs(op) {
                let body = program.actions[action.index()].body.index();
                let inner = self.measure_func(program, code, body, sites, known);
                if sites[&action] > 1 && inner * sites[&action] > MAX_COPIES_OPS {
                    self.outlined.insert(action);
                } else {
                    size += inner;
                    moved += self.moved_words[body];
                }
            }
        }
        (self.sizes[func], self.moved_words[func]) = (size, moved);
        size
    }

    /// All functions that a function may run, itself among them.
    pub fn reached(&self, program: &Program, code: &Code, root: usize) -> BTreeSet<usize> {
        self.closure(program, code, root, |_| true)
    }

    /// The functions that a native function consists of: itself and the actions inlined into it.
    pub fn inlined_funcs(&self, program: &Program, code: &Code, root: usize) -> BTreeSet<usize> {
        self.closure(program, code, root, |action| !self.outlined.contains(&action))
    }

    fn closure(
        &self,
        program: &Program,
        code: &Code,
        root: usize,
        follows: impl Fn(ActionId) -> bool,
    ) -> BTreeSet<usize> {
        let mut parts = BTreeSet::new();
        let mut open = vec![root];
        while let Some(func) = open.pop() {
            if !parts.insert(func) {
                continue;
            }
            for op in code.ops_of(func) {
                let followed = self.runs(op).into_iter().filter(|&action| follows(action));
                open.extend(followed.map(|action| program.actions[action.index()].body.index()));
            }
        }
        parts
    }

    /// Decides which words are stored in registers.
    fn assign_storage(
        &self,
        program: &Program,
        code: &Code,
        natives: &[Vec<usize>],
        validity: Validity,
    ) -> Vec<Storage> {
        let size = code.layout.size() as usize;
        let mut storage = vec![Storage::Memory; size];
        for var in program.vars.iter().enumerate().filter(|(_, var)| var.kind == VarKind::Local) {
            let place = code.layout.var(VarId::from_index(var.0));
            storage[place.slot as usize..(place.slot + place.words()) as usize].fill(Storage::Register);
        }
        storage[code.layout.temps as usize..code.layout.key as usize].fill(Storage::Register);
        // Words that each native function initialises, so that several functions may use them.
        let mut initialised = vec![false; size];
        if self.starts_fresh(validity) {
            let valid = code.headers.iter().map(|header| header.valid);
            let lasting = program.vars.iter().enumerate().filter(|(_, var)| var.kind != VarKind::Local);
            let lasting = lasting.flat_map(|(var, _)| words(code.layout.var(VarId::from_index(var))));
            for slot in valid.chain(lasting) {
                (storage[slot as usize], initialised[slot as usize]) = (Storage::Register, true);
            }
        }
        let bodies = self.outlined.iter().map(|action| program.actions[action.index()].body.index());
        let outlined = bodies.flat_map(|body| self.inlined_funcs(program, code, body));
        for op in outlined.flat_map(|func| code.ops_of(func)) {
            self.word_accesses(code, op, &mut |first, words, _| {
                storage[first as usize..(first + words) as usize].fill(Storage::Memory);
            });
        }
        let mut owner: Vec<Option<usize>> = vec![None; size];
        for (number, roots) in natives.iter().enumerate() {
            let parts = roots.iter().flat_map(|&root| self.inlined_funcs(program, code, root));
            for op in parts.flat_map(|func| code.ops_of(func)) {
                self.word_accesses(code, op, &mut |first, words, by| {
                    for slot in first as usize..(first + words) as usize {
                        let shared = !initialised[slot] && owner[slot].is_some_and(|owner| owner != number);
                        if by == Accessor::Helper || shared {
                            storage[slot] = Storage::Memory;
                        }
                        owner[slot] = Some(number);
                    }
                });
            }
        }
        storage
    }

    /// Packs headers of which code alone works with the fields, and leaves the fields of others in the frame.
    fn pack(&mut self, program: &Program, code: &Code) {
        let listed = program.field_lists.iter().flat_map(|list| &list.vars);
        let listed: BTreeSet<u32> = listed.flat_map(|&var| words(code.layout.var(var))).collect();
        for header in &code.headers {
            let fields = header.valid + 1..header.valid + header.words;
            let is_free = |slot: u32| self.storage_of(slot) == Storage::Register && !listed.contains(&slot);
            let packs = header.plan.is_chunked() && header.is_short() && fields.clone().all(is_free);
            if !packs || self.storage_of(header.valid) != Storage::Register {
                self.storage[fields.start as usize..fields.end as usize].fill(Storage::Memory);
                continue;
            }
            let bytes = header.plan.bytes;
            let ends = header.plan.chunks().skip(1).map(|(chunk, _)| chunk.store_from).chain([bytes]);
            for ((chunk, slices), end) in header.plan.chunks().zip(ends) {
                let bytes = end - chunk.store_from;
                let unit = if bytes.is_power_of_two() { bytes as u8 * 8 } else { 64 };
                let Some(first) = slices.first() else { continue };
                for slice in slices {
                    self.storage[slice.slot as usize] = Storage::PackedBits(PackedBits {
                        chunk: first.slot,
                        low: slice.store_shift - (64 - unit),
                        width: slice.width,
                        unit,
                    });
                }
                let slots = slices.iter().map(|slice| slice.slot).collect();
                self.chunks.insert(first.slot, PackedChunk { bytes, unit, slots });
            }
        }
    }

    /// The register that holds exactly these slices, if one does.
    pub fn packed(&self, slices: &[FieldSlice]) -> Option<&PackedChunk> {
        let packed = self.chunks.get(&slices.first()?.slot)?;
        packed.slots.iter().copied().eq(slices.iter().map(|slice| slice.slot)).then_some(packed)
    }

    /// Registers that hold the fields of a header.
    pub fn chunks(&self, header: &HeaderPlan) -> impl Iterator<Item = (u32, &PackedChunk)> {
        self.chunks.range(header.valid..header.valid + header.words).map(|(&slot, packed)| (slot, packed))
    }

    /// Calls `f` with each run of words that an operation reads or writes, the parameters of its actions
    /// among them: first word, number, by whom.
    fn word_accesses(&self, code: &Code, op: &Op, f: &mut impl FnMut(u32, u32, Accessor)) {
        accesses(code, op, &mut |access| match access {
            OpAccess::Words { access: Access::Guard, .. } => {}
            OpAccess::Words { first, words, by, .. } => f(first, words, by),
            OpAccess::Header { header, access } => {
                validity_accesses(&code.headers[header as usize], access, f)
            }
        });
        if let Op::Apply { .. } = op {
            for action in self.runs(op) {
                let params = &code.actions[action.index()].param_words;
                params.iter().for_each(|&slot| f(slot, 1, Accessor::Code));
            }
        }
    }
}

/// Comparisons that an operation consists of, beside itself.
fn cases(code: &Code, op: &Op) -> usize {
    match *op {
        Op::Select(index) => code.selects[index as usize].cases.len(),
        _ => 0,
    }
}

/// Words of the frame that an operation reads and writes, those of headers as a whole among them.
fn words_moved(code: &Code, op: &Op) -> usize {
    let mut moved = 0;
    accesses(code, op, &mut |access| {
        moved += match access {
            OpAccess::Words { words, .. } => words as usize,
            OpAccess::Header { header, .. } => code.headers[header as usize].words as usize,
        };
    });
    moved
}

/// Words of validity that an operation on a header works with. Of headers that are extracted and emitted as a
/// whole only validity may live in registers, and generated code works with it there.
fn validity_accesses(header: &HeaderPlan, access: HeaderAccess, f: &mut impl FnMut(u32, u32, Accessor)) {
    match access {
        HeaderAccess::Extract | HeaderAccess::Emit => {}
        HeaderAccess::SetValid | HeaderAccess::SetInvalid => {
            f(header.valid, 1, if header.is_short() { Accessor::Code } else { Accessor::Helper });
        }
        HeaderAccess::ExtractOneOf | HeaderAccess::SetOneOf | HeaderAccess::ClearRivals => {
            f(header.valid, 1, Accessor::Helper);
            header.rivals.iter().for_each(|&rival| f(rival, 1, Accessor::Helper));
        }
    }
}

/// The actions that each table may run: its own, and through a profile those of all tables that share it.
fn candidates(program: &Program) -> Vec<Vec<ActionId>> {
    let mut shared: BTreeMap<ProfileId, BTreeSet<ActionId>> = BTreeMap::new();
    for table in &program.tables {
        if let Some(profile) = table.profile {
            shared.entry(profile).or_default().extend(table.actions.iter().map(|action| action.action));
        }
    }
    let of_table = |table: &Table| {
        let own = table.actions.iter().map(|action| action.action).chain([table.default_action.action]);
        let of_profile = table.profile.and_then(|profile| shared.get(&profile)).into_iter().flatten();
        let all: BTreeSet<ActionId> = own.chain(of_profile.copied()).collect();
        all.into_iter().collect()
    };
    program.tables.iter().map(of_table).collect()
}

/// Words of a variable.
fn words(place: FrameLocation) -> core::ops::Range<u32> {
    place.slot..place.slot + place.words()
}
