//! Types, functions, parsers and controls with type parameters that the program never uses.
//!
//! They are checked once, for types of which nothing is known. What is made of them is forgotten, and
//! so are warnings: none of it runs.

use super::Checker;
use super::ty::Ty;
use p4cc_syntax::Severity;
use p4cc_syntax::ast::{AggregateKind, DeclKind, Ident};

impl Checker {
    /// Checks what no other code asked for. To be called last.
    pub(super) fn check_unused_generics(&mut self) {
        let functions = self.unused_functions();
        let blocks = self.unused_blocks();
        let aggregates = self.unused_aggregates();
        if functions.is_empty() && blocks.is_empty() && aggregates.is_empty() {
            return;
        }
        let (hir, told) = (self.hir.clone(), self.diagnostics.len());
        for (index, kind, params) in aggregates {
            // What stands for a type may stand for a header, which a union holds.
            let part = if kind == AggregateKind::HeaderUnion {
                AggregateKind::Header
            } else {
                AggregateKind::Struct
            };
            let (args, span) = (self.opaque(part, &params), params.first().map(|param| param.span));
            let _ = self.generic_aggregate(index, &args, span.unwrap_or_default());
        }
        for (index, params) in functions {
            let (args, span) =
                (self.opaque(AggregateKind::Struct, &params), params.first().map(|param| param.span));
            let _ = self.function_of(index, &args, span.unwrap_or_default());
        }
        for (index, params) in blocks {
            let (args, span) =
                (self.opaque(AggregateKind::Struct, &params), params.first().map(|param| param.span));
            let _ = self.block_of(index, &args, span.unwrap_or_default());
        }
        self.hir = hir;
        let found = self.diagnostics.split_off(told.min(self.diagnostics.len()));
        self.diagnostics.extend(found.into_iter().filter(|one| one.severity == Severity::Error));
    }

    fn unused_aggregates(&self) -> Vec<(usize, AggregateKind, Vec<Ident>)> {
        let all = self.generics.iter().enumerate();
        let unused = all.filter(|(_, generic)| generic.made.is_empty());
        let parts = unused.filter_map(|(index, generic)| match &generic.decl.kind {
            DeclKind::Aggregate { kind, type_params, .. } => Some((index, *kind, type_params.clone())),
            _ => None,
        });
        parts.collect()
    }

    /// A type for each parameter, which is equal to itself only and has no parts.
    fn opaque(&mut self, kind: AggregateKind, params: &[Ident]) -> Vec<Ty> {
        let made =
            params.iter().map(|param| self.aggregate(kind, (param.name.clone(), &[]), param.span, &[], &[]));
        made.collect()
    }
}
