//! Signatures, functions and actions.

use super::hir::{Action, Function, LocalKind, Sig, SigParam, Stmt, StmtKind};
use super::ids::{ActId, FnId, LocalId};
use super::scope::{FnSymbol, Symbol};
use super::ty::Ty;
use super::{Checker, CodeContext};
use p4cc_syntax::ast::{Annotation, Block, Direction, FunctionSignature, Ident, Param, Type};
use p4cc_syntax::{Diagnostic, Span};

impl Checker {
    /// Checks a signature in a scope of its own.
    pub(super) fn signature(
        &mut self,
        name: &str,
        span: Span,
        type_params: &[Ident],
        params: &[Param],
        ret: Option<&Type>,
    ) -> Sig {
        self.scopes.push();
        let type_vars = self.type_params(type_params);
        let made = self.signature_of(name, span, type_vars, params, ret);
        self.scopes.pop();
        made
    }

    pub(super) fn signature_of(
        &mut self,
        name: &str,
        span: Span,
        type_vars: Vec<super::TypeVar>,
        params: &[Param],
        ret: Option<&Type>,
    ) -> Sig {
        let mut made: Vec<SigParam> = Vec::with_capacity(params.len());
        for param in params {
            let _ = self.charge_scan(made.len(), param.name.span);
            if made.iter().any(|old| old.name == param.name.name) {
                self.error(param.name.span, format!("parameter `{}` is declared twice", param.name.name));
            }
            let ty = self.resolve_type(&param.ty);
            self.check_param(param, &ty);
            let default = param.default.as_ref().map(|default| {
                let value = self.expr(default);
                let value = self.coerce(value, &ty);
                self.check_default(param, &value);
                value
            });
            if default.is_some() && matches!(param.direction, Direction::Out | Direction::InOut) {
                self.error(param.name.span, "an out or inout parameter cannot have a default value");
            }
            let optional = param.annotations.iter().any(|annotation| annotation.name.name == "optional");
            made.push(SigParam {
                name: param.name.name.clone(),
                direction: param.direction,
                ty,
                default,
                optional,
            });
        }
        let ret = ret.map_or(Ty::Void, |written| {
            let ty = self.resolve_type(written);
            self.check_result(written, &ty);
            ty
        });
        Sig { name: name.to_owned(), type_vars, params: made, ret, span }
    }

    /// Declares the parameters of a signature as locals in the innermost scope.
    pub(super) fn declare_params(
        &mut self,
        sig: &Sig,
        params: &[Param],
        kind: impl Fn(Direction) -> LocalKind,
    ) -> Vec<LocalId> {
        let mut ids = Vec::with_capacity(params.len());
        for (param, checked) in params.iter().zip(&sig.params) {
            let annotations = self.annotations(&param.annotations);
            ids.push(self.new_local(&param.name, checked.ty.clone(), kind(param.direction), annotations));
        }
        ids
    }

    /// Checks an extern function.
    pub(super) fn extern_function(&mut self, signature: &FunctionSignature) {
        let name = &signature.name;
        let sig = self.signature(
            &name.name,
            name.span,
            &signature.type_params,
            &signature.params,
            Some(&signature.return_type),
        );
        let index = self.extern_functions.len();
        self.extern_functions.push(sig);
        self.declare(name, Symbol::Functions(vec![FnSymbol::Extern(index)]));
    }

    /// Checks a function with a body.
    pub(super) fn function_decl(&mut self, signature: &FunctionSignature, body: &Block) {
        let name = &signature.name;
        if !signature.type_params.is_empty() {
            self.generic_function_decl(signature, body);
            return;
        }
        let id = self.function_body(signature, body);
        self.declare(name, Symbol::Functions(vec![FnSymbol::User(id)]));
    }

    /// Checks a function whose type parameters, if any, stand for types already.
    pub(super) fn function_body(&mut self, signature: &FunctionSignature, body: &Block) -> FnId {
        let name = &signature.name;
        let sig = self.signature(&name.name, name.span, &[], &signature.params, Some(&signature.return_type));
        self.check_run_time_params(&sig, name.span);
        let outer = std::mem::replace(&mut self.place, CodeContext::Function);
        self.scopes.push();
        let params = self.declare_params(&sig, &signature.params, |direction| {
            LocalKind::Param(if direction == Direction::None { Direction::In } else { direction })
        });
        self.return_ty = Some(sig.ret.clone());
        let stmts = self.block(body);
        self.return_ty = None;
        self.scopes.pop();
        self.place = outer;
        if sig.ret != Ty::Void && sig.ret != Ty::Unknown && !always_returns(&stmts) {
            self.push(
                Diagnostic::error(
                    name.span,
                    format!("function `{}` may end without returning a value", name.name),
                )
                .with_help("return a value on every path"),
            );
        }
        let id = FnId::from_index(self.hir.functions.len());
        self.hir.functions.push(Function {
            name: name.name.clone(),
            params,
            ret: sig.ret.clone(),
            body: stmts,
        });
        self.function_sigs.push(sig);
        id
    }

    /// Checks an action.
    pub(super) fn action_decl(
        &mut self,
        name: &Ident,
        params: &[Param],
        body: &Block,
        annotations: &[Annotation],
    ) {
        let sig = self.signature(&name.name, name.span, &[], params, None);
        self.check_run_time_params(&sig, name.span);
        self.no_modules(&sig, params);
        self.check_action_params(&sig, params);
        let global = self.scopes.at_top();
        let outer = std::mem::replace(&mut self.place, CodeContext::Action);
        self.scopes.push();
        let ids = self.declare_params(&sig, params, LocalKind::Param);
        let outer_return = self.return_ty.replace(Ty::Void);
        let stmts = self.block(body);
        self.return_ty = outer_return;
        self.scopes.pop();
        self.place = outer;
        let annotations = self.annotations(annotations);
        let id = ActId::from_index(self.hir.actions.len());
        if global && name.name == "NoAction" {
            self.hir.no_action = Some(id);
        }
        self.hir.actions.push(Action {
            name: name.name.clone(),
            global,
            params: ids,
            body: stmts,
            annotations,
            span: name.span,
        });
        self.action_sigs.push(sig);
        self.declare(name, Symbol::Action(id));
    }

    /// Whether the control plane can give a value of this type with an action.
    pub(super) fn is_action_data(&self, ty: &Ty) -> bool {
        let ty = self.hir.underlying(ty);
        matches!(ty, Ty::Bit(_) | Ty::Int(_) | Ty::Bool | Ty::Enum(_) | Ty::Error | Ty::Unknown)
    }

    fn check_action_params(&mut self, sig: &Sig, params: &[Param]) {
        let mut data_seen = false;
        for (param, checked) in params.iter().zip(&sig.params) {
            if param.direction == Direction::None {
                data_seen = true;
                // An action that no table lists may take composite values, which its callers give.
                let composite = matches!(checked.ty, Ty::Aggregate(_) | Ty::Stack(..) | Ty::Tuple(_));
                if !composite && !self.is_action_data(&checked.ty) {
                    let shown = self.hir.show(&checked.ty);
                    self.error(
                        param.name.span,
                        format!(
                            "parameter `{}` comes from the control plane and cannot have type `{shown}`",
                            checked.name
                        ),
                    );
                }
            } else if data_seen {
                self.error(
                    param.name.span,
                    format!("parameter `{}` with a direction must precede those without", checked.name),
                );
            }
        }
    }

    /// Run-time parameters cannot have compile-time types; those without
    /// direction may take an `int` that is known when the call is made.
    pub(super) fn check_run_time_params(&mut self, sig: &Sig, span: Span) {
        for param in &sig.params {
            let bad = match &param.ty {
                Ty::Integer => param.direction != Direction::None,
                Ty::Void | Ty::MatchKind | Ty::String | Ty::DontCare | Ty::Package(_) => true,
                _ => false,
            };
            if bad {
                let shown = self.hir.show(&param.ty);
                self.error(span, format!("parameter `{}` cannot have type `{shown}`", param.name));
            }
        }
    }
}

/// Whether every way through the statements meets a `return` or `exit`.
fn always_returns(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Exit => true,
        StmtKind::Block(body) => always_returns(body),
        StmtKind::If(_, then, otherwise) => always_returns(then) && always_returns(otherwise),
        StmtKind::SwitchValue { cases, default, .. } => {
            always_returns(default) && cases.iter().all(|(_, body)| always_returns(body))
        }
        StmtKind::SwitchAction { cases, default, .. } => {
            always_returns(default) && cases.iter().all(|(_, body)| always_returns(body))
        }
        _ => false,
    })
}
