//! Which architectures are known here, by their packages.

use super::{Kind, arch, psa, tna};
use p4cc_types::hir::{Construct, Constructed, Expr, ExprKind, Instance, Program};

/// Whether `main` has the parts of its architecture's package: a program may declare its own of that name.
pub fn is_known_package(hir: &Program, main: &Instance) -> bool {
    let Constructed::Package(package) = &main.construct.what else { return false };
    let parts = main.construct.args.iter().flatten();
    match Kind::of(package) {
        Some(Kind::V1Model) => parts.count() == arch::V1_BLOCKS.len(),
        Some(Kind::Psa) => parts.count() == psa::PARTS,
        Some(Kind::Tna) => {
            !main.construct.args.is_empty() && parts.clone().all(|part| is_pipeline(hir, part))
        }
        None => false,
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
