//! Methods that an extern leaves to its instances: `Extern(...) name = { method implementations };`
//!
//! The architecture decides what calls them. v1model has no such extern, so that they are checked here and
//! refused with their extern when the program is lowered.

use super::Checker;
use super::hir::{Construct, Constructed, Sig};
use super::ty::Substitution;
use p4cc_syntax::Diagnostic;
use p4cc_syntax::ast::{Block, Decl, DeclKind, FunctionSignature, Ident};

impl Checker {
    /// Checks that an instance implements each abstract method of its extern, as declared, and nothing else.
    pub(super) fn implementations(&mut self, name: &Ident, construct: &Construct, body: Option<&[Decl]>) {
        let Constructed::Extern(id, args) = &construct.what else {
            if body.is_some() && construct.what != Constructed::Poison {
                self.push(
                    Diagnostic::error(name.span, "only instances of externs implement methods")
                        .with_help("leave out `= { ... }`"),
                );
            }
            return;
        };
        let Some(ext) = self.hir.externs.get(id.index()).cloned() else { return };
        if body.is_some() && ext.abstracts.is_empty() {
            let message = format!("extern `{}` has no abstract methods to implement", ext.name);
            self.push(Diagnostic::error(name.span, message).with_help("leave out `= { ... }`"));
        }
        let with: Substitution = ext.type_vars.iter().copied().zip(args.iter().cloned()).collect();
        let mut open: Vec<Sig> =
            ext.methods.iter().filter(|sig| ext.abstracts.contains(&sig.name)).cloned().collect();
        for sig in &mut open {
            sig.ret = self.fill(&sig.ret, &with);
            for param in &mut sig.params {
                param.ty = self.fill(&param.ty, &with);
            }
        }
        self.with_types(&[], &[], |this| {
            for decl in body.unwrap_or_default() {
                match &decl.kind {
                    DeclKind::Function { signature, body } => {
                        let written = this.implementation_signature(signature);
                        // Without abstract methods that is what was told.
                        if !ext.abstracts.is_empty() {
                            this.implementation(signature, &written, body, &mut open);
                        }
                    }
                    _ => drop(this.local_decl(decl)),
                }
            }
        });
        for missing in open {
            self.push(
                Diagnostic::error(name.span, format!("method `{}` is not implemented", missing.name))
                    .with_related(missing.span, "declared abstract here")
                    .with_help("implement it: `Extern(...) name = { ... };`"),
            );
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
    ) {
        let name = &signature.name;
        let Some(at) = open.iter().position(|sig| sig.name == name.name) else {
            self.error(name.span, format!("there is no abstract method `{}` left to implement", name.name));
            return;
        };
        let declared = open.remove(at);
        let types = super::typexpr::signature_params;
        if types(written) != types(&declared) || written.ret != declared.ret {
            self.push(
                Diagnostic::error(name.span, format!("`{}` differs from its declaration", name.name))
                    .with_related(declared.span, "declared abstract here"),
            );
            return;
        }
        self.function_body(signature, body);
    }
}
