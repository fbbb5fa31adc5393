//! Sizes of what the chip keeps beside a packet: cells of registers, what a resubmission brings.

use p4cc_syntax::Diagnostic;

use super::refused;
use crate::check::walk::calls;
use crate::types::hir::{Callee, Constructed, Program};
use crate::types::ty::Ty;

/// Widths of a register's cell.
const CELLS: [u32; 4] = [1, 8, 16, 32];
/// Widths of each half of a cell of two.
const HALVES: [u32; 3] = [8, 16, 32];
/// Bits that a resubmission brings on Tofino 1.
const RESUBMIT_BITS: u32 = 64;
/// Bits of a mirror header.
const MIRROR_BITS: u32 = 256;

/// Runs the rules.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let is_first = !program.aggregates.iter().any(|agg| agg.name == "ghost_intrinsic_metadata_t");
    for instance in &program.instances {
        let Constructed::Extern(id, types) = &instance.construct.what else { continue };
        let name = program.externs.get(id.index()).map_or("", |known| known.name.as_str());
        if !matches!(name, "Register" | "DirectRegister") {
            continue;
        }
        if types.first().is_some_and(|cell| !is_cell(program, cell)) {
            found.push(refused(
                "register-width",
                instance.span,
                "has registers of 8, 16 or 32 bits, of pairs of these, and of single bits",
                "give the cell such a type; split what is wider into several registers",
            ));
        }
    }
    calls(program, &mut |_, _, call| {
        let Callee::Method { extern_name, name, .. } = &call.callee else { return };
        let (data, most, what) = match (extern_name.as_str(), name.as_str()) {
            ("Resubmit", "emit") if is_first => {
                (call.args.first(), RESUBMIT_BITS, "brings 64 bits with a resubmission")
            }
            ("Mirror", "emit") => {
                (call.args.get(1), MIRROR_BITS, "writes mirror headers of 32 bytes at most")
            }
            _ => return,
        };
        let Some(Some(data)) = data else { return };
        if program.width_bits(&data.ty).is_some_and(|bits| bits > most) {
            let instead = "leave fields out, or put them into the packet";
            found.push(refused("header-size", data.span, what, instead));
        }
    });
}

fn is_cell(program: &Program, ty: &Ty) -> bool {
    let under = program.underlying(ty);
    if let Ty::Bit(width) | Ty::Int(width) = under {
        return CELLS.contains(width);
    }
    if *under == Ty::Bool {
        return true;
    }
    let halves: Vec<Option<u32>> =
        program.fields(under).iter().map(|field| program.width_bits(&field.ty)).collect();
    match halves.as_slice() {
        [Some(one)] => HALVES.contains(one),
        [Some(one), Some(other)] => one == other && HALVES.contains(one),
        _ => false,
    }
}
