//! Sizes of what the chip keeps beside a packet: cells of registers, what a resubmission brings.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_syntax::Diagnostic;

use super::refused;
use p4cc_types::hir::{Callee, Constructed, ExprKind, Program, Stmt, StmtKind};
use p4cc_types::ids::InstId;
use p4cc_types::ty::Ty;
use p4cc_types::walk::{calls, stmt_parts};

/// What a chip's registers hold.
struct Cells {
    /// Widths of numbers, alone or in pairs.
    numbers: &'static [u32],
    /// Widths of plain bits.
    bits: &'static [u32],
    /// Bits that a register action works on at once.
    most: u32,
    /// What they hold in words.
    told: &'static str,
    /// What a register action works on in words.
    works: &'static str,
}

const FIRST: Cells = Cells {
    numbers: &[8, 16, 32],
    bits: &[1, 64],
    most: 32,
    told: "1 supports registers of 8, 16 or 32 bits, pairs of these, `bit<1>` and `bit<64>`",
    works: "1 processes 32 bits of a register at once",
};
const SECOND: Cells = Cells {
    numbers: &[8, 16, 32, 64],
    bits: &[1, 128],
    most: 64,
    told: "2 supports registers of 8, 16, 32 or 64 bits, pairs of these, `bit<1>` and `bit<128>`",
    works: "2 processes 64 bits of a register at once",
};
/// Bits that a resubmission brings on Tofino 1.
const RESUBMIT_BITS: u32 = 64;
/// Bits of a key that matches ranges: five half bytes.
const RANGE_BITS: u32 = 20;
/// Register actions that a register's unit holds.
const MOST_ACTIONS: usize = 4;
/// Bits of a mirror header.
const MIRROR_BITS: u32 = 256;

/// Runs the rules.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let is_first = !program.aggregates.iter().any(|agg| agg.name == "ghost_intrinsic_metadata_t");
    let cells = if is_first { FIRST } else { SECOND };
    for instance in &program.instances {
        let Constructed::Extern(id, types) = &instance.construct.what else { continue };
        let name = program.externs.get(id.index()).map_or("", |known| known.name.as_str());
        match name {
            "Register" | "DirectRegister"
                if types.first().is_some_and(|cell| !is_cell(program, cell, &cells)) =>
            {
                let instead = "use such a type for the cells; split wider values over several registers";
                found.push(refused("register-width", instance.span, cells.told, instead));
            }
            "RegisterAction" | "DirectRegisterAction" => {
                let functions = instance.methods.iter().filter_map(|id| program.functions.get(id.index()));
                functions.for_each(|function| wide(program, &function.body, &cells, found));
            }
            _ => {}
        }
    }
    range_keys(program, found);
    let mut used: BTreeSet<InstId> = BTreeSet::new();
    calls(program, &mut |_, _, call| {
        let Callee::Method { object, extern_name, name, .. } = &call.callee else { return };
        if let ExprKind::Instance(id) = &object.kind
            && extern_name.starts_with("RegisterAction")
        {
            used.insert(*id);
        }
        let (data, most, what) = match (extern_name.as_str(), name.as_str()) {
            ("Resubmit", "emit") if is_first => {
                (call.args.first(), RESUBMIT_BITS, "carries at most 64 bits with a resubmitted packet")
            }
            ("Mirror", "emit") => {
                (call.args.get(1), MIRROR_BITS, "supports mirror headers of at most 32 bytes")
            }
            _ => return,
        };
        let Some(Some(data)) = data else { return };
        if program.width_bits(&data.ty).is_some_and(|bits| bits > most) {
            let instead = "remove fields, or move them into the packet";
            found.push(refused("header-size", data.span, what, instead));
        }
    });
    many_actions(program, &used, found);
}

/// Looks for range keys that are too wide.
fn range_keys(program: &Program, found: &mut Vec<Diagnostic>) {
    for key in program.tables.iter().flat_map(|table| &table.keys) {
        if key.match_kind == "range" && program.width_bits(&key.expr.ty).is_some_and(|bits| bits > RANGE_BITS)
        {
            let instead = "match a slice of it, or split ranges into prefixes";
            found.push(refused("range-key", key.expr.span, "matches ranges of at most 20 bits", instead));
        }
    }
}

/// Looks for registers that more actions work on than the register's unit holds.
fn many_actions(program: &Program, used: &BTreeSet<InstId>, found: &mut Vec<Diagnostic>) {
    let mut of_register: BTreeMap<InstId, usize> = BTreeMap::new();
    for id in used {
        let Some(action) = program.instances.get(id.index()) else { continue };
        let register = action.construct.args.first().and_then(Option::as_ref).map(|register| &register.kind);
        let Some(ExprKind::Instance(register)) = register else { continue };
        let count = of_register.entry(*register).or_default();
        *count += 1;
        if *count == MOST_ACTIONS + 1 {
            found.push(refused(
                "register-actions",
                action.span,
                "supports four register actions per register, and this is the fifth",
                "combine two of them, or use two registers",
            ));
        }
    }
}

/// Looks for what a register action works out of more bits than the chip's register unit has.
fn wide(program: &Program, body: &[Stmt], cells: &Cells, found: &mut Vec<Diagnostic>) {
    for stmt in body {
        if let StmtKind::Assign(_, value) | StmtKind::Update { value, .. } = &stmt.kind
            && let Ty::Bit(width) | Ty::Int(width) = program.underlying(&value.ty)
            && *width > cells.most
        {
            found.push(refused(
                "register-width",
                value.span,
                cells.works,
                "use pairs as cells, and process one half",
            ));
        }
        let (mut exprs, mut bodies) = (Vec::new(), Vec::new());
        stmt_parts(stmt, &mut exprs, &mut bodies);
        bodies.into_iter().for_each(|body| wide(program, body, cells, found));
    }
}

fn is_cell(program: &Program, ty: &Ty, cells: &Cells) -> bool {
    let under = program.underlying(ty);
    match under {
        Ty::Bit(width) if cells.bits.contains(width) => return true,
        Ty::Bit(width) | Ty::Int(width) => return cells.numbers.contains(width),
        _ => {}
    }
    let fields = program.fields(under);
    let is_number = |ty: &Ty| match program.underlying(ty) {
        Ty::Bit(width) | Ty::Int(width) => cells.numbers.contains(width).then_some(*width),
        _ => None,
    };
    let halves: Vec<Option<u32>> = fields.iter().map(|field| is_number(&field.ty)).collect();
    match halves.as_slice() {
        [Some(_)] => true,
        [Some(one), Some(other)] => one == other,
        _ => false,
    }
}
