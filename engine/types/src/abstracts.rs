//! Methods that an extern leaves to its instances: `Extern(...) name = { method implementations };`
//!
//! The architecture decides what calls them: those of TNA's `RegisterAction` run where its `execute` is
//! called. Of other architectures' externs none has such methods; they are checked here, and refused with
//! their extern when the program is lowered. A method sees what the instance sees: it may read what is around
//! it.

use super::Checker;
use super::hir::{Construct, Constructed, Sig};
use super::ids::FnId;
use super::ty::{Substitution, Ty};
use p4cc_syntax::Diagnostic;
use p4cc_syntax::ast::{Block, Decl, DeclKind, FunctionSignature, Ident};

impl Checker {
    /// Checks that an instance implements each abstract method of its extern, as declared, and nothing else.
    /// Gives what it implements.
    pub(super) fn implementations(
        &mut self,
        name: &Ident,
        construct: &Construct,
        body: Option<&[Decl]>,
    ) -> Vec<FnId> {
        let Constructed::Extern(id, args) = &construct.what else {
            if body.is_some() && construct.what != Constructed::Poison {
                self.push(
                    Diagnostic::error(name.span, "only instances of externs implement methods")
                        .with_help("remove `= { ... }`"),
                );
            }
            return Vec::new();
        };
        let Some(ext) = self.hir.externs.get(id.index()).cloned() else { return Vec::new() };
        if body.is_some() && ext.abstracts.is_empty() {
            let message = format!("extern `{}` has no abstract methods to implement", ext.name);
            self.push(Diagnostic::error(name.span, message).with_help("remove `= { ... }`"));
        }
        let with: Substitution = ext.type_vars.iter().copied().zip(args.iter().cloned()).collect();
        let mut open: Vec<Sig> =
            ext.methods.iter().filter(|sig| ext.abstracts.contains(&sig.name)).cloned().collect();
        for sig in &mut open {
            sig.ret = self.fill(&sig.ret, &with, name.span);
            for param in &mut sig.params {
                param.ty = self.fill(&param.ty, &with, name.span);
            }
        }
        let mut made = Vec::new();
        self.scopes.push();
        let return_ty = self.return_ty.take();
        let this = self.this.replace(Ty::Extern(*id, args.clone().into()));
        for decl in body.unwrap_or_default() {
            match &decl.kind {
                DeclKind::Function { signature, body } => {
                    let written = self.implementation_signature(signature);
                    // Without abstract methods that is what was told.
                    if !ext.abstracts.is_empty() {
                        made.extend(self.implementation(signature, &written, body, &mut open));
                    }
                }
                _ => drop(self.local_decl(decl)),
            }
        }
        self.return_ty = return_ty;
        self.this = this;
        self.scopes.pop();
        for missing in open.into_iter().filter(|sig| !ext.optional_abstracts.contains(&sig.name)) {
            self.push(
                Diagnostic::error(name.span, format!("method `{}` is not implemented", missing.name))
                    .with_related(missing.span, "declared abstract here")
                    .with_help("implement it: `Extern(...) name = { ... };`"),
            );
        }
        made
    }

    /// Type arguments that were left to `_`, and that follow from the parameters of the methods that the
    /// instance implements.
    pub(super) fn infer_from_methods(&mut self, construct: &mut Construct, body: Option<&[Decl]>) {
        let Constructed::Extern(id, args) = &mut construct.what else { return };
        if !args.contains(&Ty::DontCare) {
            return;
        }
        let Some(ext) = self.hir.externs.get(id.index()).cloned() else { return };
        for decl in body.unwrap_or_default() {
            let DeclKind::Function { signature, .. } = &decl.kind else { continue };
            let written = self.implementation_signature(signature);
            let declared = ext.methods.iter().find(|sig| sig.name == signature.name.name);
            let pairs = declared.into_iter().flat_map(|declared| declared.params.iter().zip(&written.params));
            for (declared, written) in pairs {
                let at = ext.type_vars.iter().position(|var| declared.ty == Ty::Var(*var));
                if let Some(arg) = at.and_then(|at| args.get_mut(at)).filter(|arg| **arg == Ty::DontCare) {
                    *arg = written.ty.clone();
                }
            }
        }
    }

    fn implementation_signature(&mut self, signature: &FunctionSignature) -> Sig {
        let FunctionSignature { name, type_params, params, return_type } = signature;
        self.signature(&name.name, name.span, type_params, params, Some(return_type))
    }

    fn implementation(
        &mut self,
        signature: &FunctionSignature,
        written: &Sig,
        body: &Block,
        open: &mut Vec<Sig>,
    ) -> Option<FnId> {
        let name = &signature.name;
        let Some(at) = open.iter().position(|sig| sig.name == name.name) else {
            self.error(name.span, format!("there is no abstract method `{}` to implement", name.name));
            return None;
        };
        let declared = open.remove(at);
        let types = super::typexpr::signature_params;
        let (has, wanted) = (types(written), types(&declared));
        let least = super::typexpr::least_params(&declared);
        let fits =
            (least..=wanted.len()).contains(&has.len()) && has.iter().zip(&wanted).all(|(a, b)| a == b);
        if !fits || written.ret != declared.ret {
            self.push(
                Diagnostic::error(name.span, format!("`{}` differs from its declaration", name.name))
                    .with_related(declared.span, "declared abstract here"),
            );
            return None;
        }
        Some(self.function_body(signature, body))
    }
}
