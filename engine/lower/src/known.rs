//! Which architectures are known here, by their packages.

use super::{arch, psa, tna};
use p4cc_types::hir::{Construct, Constructed, Expr, ExprKind, Instance, Program};

/// The packages of the architectures that are known here.
pub const PACKAGES: [&str; 3] = ["V1Switch", "PSA_Switch", "Switch"];

/// Whether `main` has the parts of its architecture's package: a program may declare its own of that name.
pub fn is_known_package(hir: &Program, main: &Instance) -> bool {
    let Constructed::Package(package) = &main.construct.what else { return false };
    let parts = main.construct.args.iter().flatten();
    match package.as_str() {
        "V1Switch" => parts.count() == arch::V1_BLOCKS.len(),
        "PSA_Switch" => parts.count() == psa::PARTS,
        "Switch" => !main.construct.args.is_empty() && parts.clone().all(|part| is_pipeline(hir, part)),
        _ => false,
    }
}

/// Whether this is a pipeline of the chip.
fn is_pipeline(hir: &Program, part: &Expr) -> bool {
    let construct: Option<&Construct> = match &part.kind {
        ExprKind::Instance(id) => hir.instances.get(id.index()).map(|instance| &instance.construct),
        ExprKind::Construct(construct) => Some(construct),
        _ => None,
    };
    construct.is_some_and(|made| {
        let named = matches!(&made.what, Constructed::Package(name) if name == "Pipeline");
        named && made.args.iter().flatten().count() >= tna::PIPE_BLOCKS
    })
}
