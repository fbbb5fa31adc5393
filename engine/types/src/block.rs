//! Controls.

use super::generic::BlockDecl;
use super::hir::{Control, LocalKind, Sig, Stmt};
use super::ids::ControlId;
use super::scope::{Symbol, TypeSymbol};
use super::{BlockSigs, Checker, CodeContext};
use p4cc_syntax::ast::{Annotation, ControlDecl, Decl, DeclKind, Ident, Param};

impl Checker {
    /// Checks a control with its body.
    pub(super) fn control_decl(&mut self, control: &ControlDecl, annotations: &[Annotation]) {
        if !control.type_params.is_empty() {
            self.generic_block_decl(BlockDecl::Control(control.clone()), annotations);
            return;
        }
        let id = self.control_body(control, annotations);
        self.declare(&control.name, Symbol::Type(TypeSymbol::Control(id)));
    }

    /// Checks a control whose type parameters, if any, stand for types already.
    pub(super) fn control_body(&mut self, control: &ControlDecl, annotations: &[Annotation]) -> ControlId {
        let (apply, constructor) =
            self.block_sigs(&control.name, &control.params, &control.constructor_params);
        self.check_brought_modules(false, &constructor, &control.constructor_params);
        let outer_place = std::mem::replace(&mut self.place, CodeContext::Control);
        let outer_instances = std::mem::take(&mut self.instances);
        self.scopes.push();
        let constructor_params =
            self.declare_params(&constructor, &control.constructor_params, |_| LocalKind::Constructor);
        let params = self.declare_params(&apply, &control.params, LocalKind::Param);
        self.scopes.push();
        let mut body: Vec<Stmt> = Vec::new();
        for decl in &control.locals {
            if let Some(stmt) = self.control_local(decl) {
                body.push(stmt);
            }
        }
        let outer_return = self.return_ty.replace(super::Ty::Void);
        body.extend(self.block(&control.apply));
        self.return_ty = outer_return;
        self.scopes.pop();
        self.scopes.pop();
        let instances = std::mem::replace(&mut self.instances, outer_instances);
        self.place = outer_place;
        let annotations = self.annotations(annotations);
        let id = ControlId::from_index(self.hir.controls.len());
        self.hir.controls.push(Control {
            name: control.name.name.clone(),
            params,
            constructor_params,
            instances,
            body,
            annotations,
            span: control.name.span,
        });
        self.control_sigs.push(BlockSigs { apply, constructor });
        id
    }

    /// Signatures of `apply` and of the constructor.
    pub(super) fn block_sigs(&mut self, name: &Ident, params: &[Param], constructor: &[Param]) -> (Sig, Sig) {
        let apply = self.signature(&name.name, name.span, &[], params, None);
        self.check_run_time_params(&apply, name.span);
        self.no_modules(&apply, params);
        let constructor = self.signature(&name.name, name.span, &[], constructor, None);
        (apply, constructor)
    }

    fn control_local(&mut self, decl: &Decl) -> Option<Stmt> {
        match &decl.kind {
            DeclKind::Action { name, params, body } => {
                self.action_decl(name, params, body, &decl.annotations);
                None
            }
            DeclKind::Table(table) => {
                self.table_decl(table, &decl.annotations);
                None
            }
            _ => self.local_decl(decl),
        }
    }
}
