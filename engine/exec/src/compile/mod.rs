//! Compiles a verified program to operations of the interpreter, once, at load.
//!
//! Invariants: only verified programs get here, so indices and widths hold. Jump targets are block numbers
//! until their function is finished, then they become addresses. No packet needs the IR.

mod data;
mod externs;
mod inst;
mod terminator;

use p4cc_ir::{Func, FuncId, HeaderId, MatchKind, Operand, Program, Table, TableId};

use crate::State;
use crate::bitplan::BitPlan;
use crate::checksum::HashCrc;
use crate::frame_layout::{FrameLocation, Layout};
use crate::op::{ActionPlan, Code, HeaderPlan, Op, SlowOp, TablePlan, V1ModelLocations, WideKind};
use crate::state::{KeyShape, match_keys};

pub(crate) struct Compiler<'p> {
    program: &'p Program,
    code: Code,
    /// Narrowing temporaries taken by the current instruction.
    temps_used: u32,
}

/// Compiles a verified program.
pub(crate) fn compile(program: &Program) -> Code {
    let layout = Layout::new(program);
    let v1model = program.architecture.v1model().map(|v1| V1ModelLocations {
        checksum_error: layout.var(v1.metadata.checksum_error).slot,
        egress_spec: layout.var(v1.metadata.egress_spec),
        mcast_grp: layout.var(v1.metadata.mcast_grp).slot,
    });
    let code = Code {
        hash_crcs: program.hashes.iter().map(HashCrc::new).collect(),
        parser_error: layout.var(program.architecture.parser_error()).slot,
        v1model,
        layout,
        ops: Vec::new(),
        entries: Vec::new(),
        blocks: Vec::new(),
        slow: Vec::new(),
        externs: Vec::new(),
        checksums: Vec::new(),
        selects: Vec::new(),
        slow_selects: Vec::new(),
        headers: Vec::new(),
        actions: Vec::new(),
        tables: Vec::new(),
    };
    let mut compiler = Compiler { program, code, temps_used: 0 };
    compiler.headers();
    for (index, func) in program.funcs.iter().enumerate() {
        compiler.func(FuncId::from_index(index), func);
    }
    compiler.actions();
    for (index, table) in program.tables.iter().enumerate() {
        let plan = compiler.table(TableId::from_index(index), table);
        compiler.code.tables.push(plan);
    }
    compiler.code
}

impl Compiler<'_> {
    fn headers(&mut self) {
        for (index, header) in self.program.headers.iter().enumerate() {
            let layout = &self.code.layout;
            let id = HeaderId::from_index(index);
            let places: Vec<FrameLocation> = header.fields.iter().map(|&var| layout.var(var)).collect();
            let varbit = places.iter().position(|place| place.varbit);
            let fixed = &places[..varbit.unwrap_or(places.len())];
            let tail = varbit.map(|at| (places[at], BitPlan::new(places[at + 1..].iter().copied(), false)));
            let members = header.union.map(|union| &self.program.unions[union.index()].members[..]);
            let rivals = members.unwrap_or_default().iter();
            let rivals = rivals.filter(|member| member.index() != index).map(|&member| layout.valid(member));
            self.code.headers.push(HeaderPlan {
                valid: layout.valid(id),
                words: layout.header_words(id),
                rivals: rivals.collect(),
                plan: BitPlan::new(fixed.iter().copied(), false),
                tail,
            });
        }
    }

    fn func(&mut self, id: FuncId, func: &Func) {
        let first_op = self.code.ops.len();
        let (first_select, first_slow) = (self.code.selects.len(), self.code.slow_selects.len());
        self.code.entries.push(first_op as u32);
        let mut addresses = Vec::with_capacity(func.blocks.len());
        for (index, block) in func.blocks.iter().enumerate() {
            let address = self.code.ops.len() as u32;
            addresses.push(address);
            self.code.blocks.push((address, id, index as u32));
            for inst in &block.insts {
                self.temps_used = 0;
                self.inst(inst);
            }
            self.temps_used = 0;
            self.terminator(&block.terminator, index);
        }
        let address = |block: &mut u32| *block = addresses[*block as usize];
        for op in &mut self.code.ops[first_op..] {
            match op {
                Op::Jump { to } => address(to),
                Op::Branch { then, otherwise, .. } => {
                    address(then);
                    address(otherwise);
                }
                _ => {}
            }
        }
        for select in &mut self.code.selects[first_select..] {
            select.cases.iter_mut().for_each(|case| address(&mut case.2));
            select.default.iter_mut().for_each(address);
        }
        for select in &mut self.code.slow_selects[first_slow..] {
            select.cases.iter_mut().for_each(|case| address(&mut case.1));
            select.default.iter_mut().for_each(address);
        }
    }

    fn actions(&mut self) {
        for action in &self.program.actions {
            let places = action.params.iter().map(|param| self.code.layout.var(param.var));
            let param_words = places.flat_map(|place| place.slot..place.slot + place.words()).collect();
            let entry = self.code.entries[action.body.index()];
            self.code.actions.push(ActionPlan { entry, param_words });
        }
    }

    fn table(&mut self, id: TableId, table: &Table) -> TablePlan {
        let keys = match_keys(table).map(|key| self.code.layout.var(key.var));
        let shape = KeyShape::new(self.program, table);
        let parts = keys.zip(shape.places()).flat_map(|(key, (first, shift, _))| {
            (0..key.words()).map(move |word| (key.slot + word, first + word, shift))
        });
        let parts: Box<[(u32, u32, u8)]> = parts.collect();
        let selected = table.keys.iter().filter(|key| key.kind == MatchKind::Selector);
        let selected: Vec<Operand> = selected.map(|key| Operand::Var(key.var)).collect();
        let selector = table.profile.and_then(|profile| self.program.profiles[profile.index()].selector);
        let selector = selector.map(|(algorithm, _)| (algorithm, self.hashed(algorithm, &selected)));
        let keeps_entry = State::keeps_entry(self.program, table);
        TablePlan {
            parts,
            words: shape.words,
            selector,
            entry: keeps_entry.then(|| self.code.layout.entry(id)),
            color: table.meter.map(|meter| self.code.layout.direct_color(meter)),
        }
    }

    fn emit(&mut self, op: Op) {
        self.code.ops.push(op);
    }

    fn emit_slow(&mut self, op: SlowOp) {
        let index = self.code.slow.len() as u32;
        self.code.slow.push(op);
        self.emit(Op::Slow(index));
    }

    fn emit_wide(&mut self, kind: WideKind, dst: FrameLocation, a: FrameLocation, b: FrameLocation) {
        self.emit_slow(SlowOp::Wide { kind, dst, a, b });
    }

    /// A word with the operand's value, saturated to 64 bits if it is wider.
    fn narrow(&mut self, operand: &p4cc_ir::Operand) -> u32 {
        let place = self.code.layout.operand(operand);
        if place.is_narrow() {
            return place.slot;
        }
        let slot = self.code.layout.temps + self.temps_used;
        self.temps_used += 1;
        let temp = FrameLocation { slot, width: 64, varbit: false };
        self.emit_wide(WideKind::Narrow, temp, place, place);
        slot
    }
}
