//! Parameters of the package's blocks: where they are stored, and the fields that the switch sets or reads.

use super::Lowerer;
use super::program::PackageBlock;
use super::storage::StaticStorage;
use p4cc_ir::{Bridge, VarId, VarKind};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Construct, Expr, ExprKind};
use std::collections::BTreeSet;

/// A parameter whose struct the architecture declares, taken apart.
pub(super) struct Metadata {
    pub place: StaticStorage,
    fields: Vec<(String, VarId)>,
    span: Span,
}

impl<'h> Lowerer<'h> {
    /// What an instance was made by.
    pub(super) fn construct_of<'e>(&self, arg: &'e Expr) -> Option<&'e Construct>
    where
        'h: 'e,
    {
        let hir = self.hir;
        match &arg.kind {
            ExprKind::Instance(id) => hir.instances.get(id.index()).map(|instance| &instance.construct),
            ExprKind::Construct(construct) => Some(construct),
            _ => None,
        }
    }
}

impl Lowerer<'_> {
    /// Storage for a parameter of a block.
    pub(super) fn param_place(&mut self, block: &PackageBlock, at: usize) -> Option<StaticStorage> {
        let id = self.params(block.env)?.get(at).copied()?;
        let local = self.hir.locals.get(id.index())?;
        self.alloc(&local.ty, &local.name, VarKind::Metadata, local.span)
    }

    /// Storage for a parameter of a block that is a struct of the architecture.
    pub(super) fn metadata(&mut self, block: &PackageBlock, at: usize) -> Option<Metadata> {
        let place = self.param_place(block, at)?;
        let id = self.params(block.env)?.get(at).copied()?;
        let local = self.hir.locals.get(id.index())?;
        let names = self.hir.fields(&local.ty).iter().map(|field| field.name.clone());
        let parts: &[StaticStorage] = match &place {
            StaticStorage::Struct(parts) => parts,
            _ => &[],
        };
        let scalar = |(name, part): (String, &StaticStorage)| match part {
            StaticStorage::Scalar(var) => Some((name, *var)),
            _ => None,
        };
        let fields = names.zip(parts).filter_map(scalar).collect();
        Some(Metadata { place, fields, span: local.span })
    }

    /// A field of such a parameter, which the switch sets or reads.
    pub(super) fn param_field(&mut self, of: &Metadata, name: &str) -> Option<VarId> {
        let found = of.fields.iter().find(|(field, _)| field == name).map(|(_, var)| *var);
        if found.is_none() {
            let file = format!("{}.p4", self.architecture().to_lowercase());
            self.push(
                Diagnostic::error(of.span, format!("this metadata has no field `{name}`"))
                    .with_help(format!("include the bundled {file}")),
            );
        }
        let found = found?;
        self.switch_sets(found, 1, name, of.span)?;
        Some(found)
    }

    /// Variables and headers of a parameter that the switch carries along with the packet.
    pub(super) fn bridge(&self, place: &StaticStorage) -> Bridge {
        let (mut vars, mut headers) = (BTreeSet::new(), BTreeSet::new());
        self.footprint(place, &mut vars, &mut headers);
        Bridge { vars: vars.into_iter().collect(), headers: headers.into_iter().collect() }
    }
}
