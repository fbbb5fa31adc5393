//! Functions, parsers and controls with type parameters: one is made for each list of type arguments.
//!
//! A body is checked when it is made, with its type parameters standing
//! for types, so that whatever is allowed for those types is allowed in
//! it. Invariant: none is made inside itself, since P4 has no recursion.

use super::hir::{Constructed, Sig};
use super::ids::{ControlId, FnId, ParserId, TypeVar};
use super::scope::{FnSymbol, Symbol, TypeSymbol};
use super::ty::{BlockType, Substitution, Ty};
use super::{Checker, CodeContext};
use indexmap::IndexMap;
use p4cc_budget::Resource;
use p4cc_syntax::ast::{
    Annotation, Block, ControlDecl, FunctionSignature, Ident, Param, ParserDecl, Type as AstType,
};
use p4cc_syntax::{Diagnostic, Span};

use std::rc::Rc;

/// A function with type parameters and what was made of it.
pub(super) struct GenericFunction {
    signature: FunctionSignature,
    body: Block,
    pub sig: Sig,
    made: IndexMap<Vec<Ty>, FnId>,
    busy: bool,
}

/// A parser or control as written.
#[derive(Clone)]
pub(super) enum BlockDecl {
    Parser(ParserDecl),
    Control(ControlDecl),
}

impl BlockDecl {
    fn name(&self) -> &Ident {
        match self {
            Self::Parser(parser) => &parser.name,
            Self::Control(control) => &control.name,
        }
    }

    fn parts(&self) -> (&[Ident], &[Param], &[Param]) {
        match self {
            Self::Parser(p) => (&p.type_params, &p.params, &p.constructor_params),
            Self::Control(c) => (&c.type_params, &c.params, &c.constructor_params),
        }
    }
}

/// A parser or control with type parameters and what was made of it.
pub(super) struct GenericBlock {
    decl: BlockDecl,
    annotations: Vec<Annotation>,
    pub type_vars: Vec<TypeVar>,
    apply: Sig,
    pub constructor: Sig,
    made: IndexMap<Vec<Ty>, BlockId>,
    busy: bool,
}

/// A parser or control that was made.
#[derive(Clone, Copy)]
pub(super) enum BlockId {
    Parser(ParserId),
    Control(ControlId),
}

impl BlockId {
    pub fn constructed(self) -> Constructed {
        match self {
            Self::Parser(id) => Constructed::Parser(id),
            Self::Control(id) => Constructed::Control(id),
        }
    }

    pub fn symbol(self) -> TypeSymbol {
        match self {
            Self::Parser(id) => TypeSymbol::Parser(id),
            Self::Control(id) => TypeSymbol::Control(id),
        }
    }
}

impl Checker {
    /// Takes in a function with type parameters.
    pub(super) fn generic_function_decl(&mut self, signature: &FunctionSignature, body: &Block) {
        let name = &signature.name;
        let params = &signature.params;
        let ret = Some(&signature.return_type);
        let sig = self.signature(&name.name, name.span, &signature.type_params, params, ret);
        let index = self.generic_functions.len();
        let (signature, body) = (signature.clone(), body.clone());
        let made = IndexMap::new();
        self.generic_functions.push(GenericFunction { signature, body, sig, made, busy: false });
        self.declare(name, Symbol::Functions(vec![FnSymbol::Generic(index)]));
    }

    /// Takes in a parser or control with type parameters.
    pub(super) fn generic_block_decl(&mut self, decl: BlockDecl, annotations: &[Annotation]) {
        let name = decl.name().clone();
        let (type_params, params, constructor_params) = decl.parts();
        self.scopes.push();
        let type_vars = self.type_params(type_params);
        let apply = self.signature_of(&name.name, name.span, type_vars.clone(), params, None);
        let constructor =
            self.signature_of(&name.name, name.span, type_vars.clone(), constructor_params, None);
        self.scopes.pop();
        let index = self.generic_blocks.len();
        self.generic_blocks.push(GenericBlock {
            decl,
            annotations: annotations.to_vec(),
            type_vars,
            apply,
            constructor,
            made: IndexMap::new(),
            busy: false,
        });
        self.declare(&name, Symbol::Type(TypeSymbol::GenericBlock(index)));
    }

    /// Functions that were never made, with their type parameters.
    pub(super) fn unused_functions(&self) -> Vec<(usize, Vec<Ident>)> {
        let all = self.generic_functions.iter().enumerate();
        let unused = all.filter(|(_, generic)| generic.made.is_empty());
        unused.map(|(index, generic)| (index, generic.signature.type_params.clone())).collect()
    }

    /// Parsers and controls that were never made, likewise.
    pub(super) fn unused_blocks(&self) -> Vec<(usize, Vec<Ident>)> {
        let all = self.generic_blocks.iter().enumerate();
        let unused = all.filter(|(_, generic)| generic.made.is_empty());
        unused.map(|(index, generic)| (index, generic.decl.parts().0.to_vec())).collect()
    }

    /// The function for some type arguments.
    pub(super) fn function_of(&mut self, index: usize, args: &[Ty], span: Span) -> Option<FnId> {
        let generic = self.generic_functions.get(index)?;
        if let Some(id) = generic.made.get(args) {
            return Some(*id);
        }
        let (name, busy) = (generic.sig.name.clone(), generic.busy);
        if busy {
            return self.calls_itself(&name, span);
        }
        self.writable_types(&name, args, span)?;
        self.charge(Resource::Instantiations, 1, span)?;
        let generic = self.generic_functions.get_mut(index)?;
        generic.busy = true;
        let (signature, body) = (generic.signature.clone(), generic.body.clone());
        let id = self.with_types(&signature.type_params, args, |this| this.function_body(&signature, &body));
        let generic = self.generic_functions.get_mut(index)?;
        generic.busy = false;
        generic.made.insert(args.to_vec(), id);
        Some(id)
    }

    /// The parser or control for some type arguments.
    pub(super) fn block_of(&mut self, index: usize, args: &[Ty], span: Span) -> Option<BlockId> {
        let generic = self.generic_blocks.get(index)?;
        if let Some(id) = generic.made.get(args) {
            return Some(*id);
        }
        let (wanted, name) = (generic.type_vars.len(), generic.apply.name.clone());
        if generic.busy {
            return self.calls_itself(&name, span);
        }
        if !self.type_args_fit(wanted, args, span) {
            return None;
        }
        self.writable_types(&name, args, span)?;
        self.charge(Resource::Instantiations, 1, span)?;
        let generic = self.generic_blocks.get_mut(index)?;
        generic.busy = true;
        let (decl, annotations) = (generic.decl.clone(), generic.annotations.clone());
        let id = self.with_types(decl.parts().0, args, |this| match &decl {
            BlockDecl::Parser(parser) => BlockId::Parser(this.parser_body(parser, &annotations)),
            BlockDecl::Control(control) => BlockId::Control(this.control_body(control, &annotations)),
        });
        let generic = self.generic_blocks.get_mut(index)?;
        generic.busy = false;
        generic.made.insert(args.to_vec(), id);
        Some(id)
    }

    /// Type of a parser or control whose type parameters are open.
    pub(super) fn open_block_type(&self, index: usize) -> Option<(Ty, Vec<TypeVar>)> {
        let generic = self.generic_blocks.get(index)?;
        let block = BlockType {
            is_parser: matches!(generic.decl, BlockDecl::Parser(_)),
            name: generic.apply.name.clone(),
            params: super::typexpr::signature_params(&generic.apply),
            param_names: generic.apply.params.iter().map(|param| param.name.clone()).collect(),
            least: super::typexpr::least_params(&generic.apply),
        };
        Some((Ty::Block(Rc::new(block)), generic.type_vars.clone()))
    }

    /// Type arguments that follow from the type that the surroundings want.
    pub(super) fn infer_block_args(&self, index: usize, wanted: &Ty) -> Option<Vec<Ty>> {
        let (open, vars) = self.open_block_type(index)?;
        let mut found = Substitution::new();
        self.infer(&open, wanted, &mut found);
        vars.iter().map(|var| found.get(var).filter(|ty| !ty.has_vars()).cloned()).collect()
    }

    /// The type parameters as written of a call's type arguments.
    pub(super) fn written_types(&mut self, args: &[AstType]) -> Vec<Ty> {
        args.iter().map(|arg| self.resolve_type(arg)).collect()
    }

    fn calls_itself<T>(&mut self, name: &str, span: Span) -> Option<T> {
        self.push(
            Diagnostic::error(span, format!("`{name}` is used in its own body"))
                .with_help("P4 does not support recursion; use a loop"),
        );
        None
    }

    /// Type arguments must be types that can be written.
    fn writable_types(&mut self, name: &str, args: &[Ty], span: Span) -> Option<()> {
        for arg in args {
            let open = match arg {
                Ty::Unknown => return None,
                Ty::Integer | Ty::Record(_) | Ty::InvalidHeader | Ty::Dots | Ty::DontCare | Ty::Void => true,
                ty => ty.has_vars(),
            };
            if open {
                let shown = self.hir.show(arg);
                self.push(
                    Diagnostic::error(span, format!("`{shown}` cannot be a type argument of `{name}`"))
                        .with_help(format!("write the type arguments: `{name}<...>`")),
                );
                return None;
            }
        }
        Some(())
    }

    /// Checks something as if it stood at top level, type parameters standing for types.
    pub(super) fn with_types<T>(
        &mut self,
        params: &[Ident],
        args: &[Ty],
        check: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let hidden = self.scopes.hide_locals();
        self.scopes.push();
        for (param, arg) in params.iter().zip(args) {
            self.declare(param, Symbol::Type(TypeSymbol::Plain(arg.clone())));
        }
        let place = std::mem::replace(&mut self.place, CodeContext::Top);
        let return_ty = self.return_ty.take();
        let loop_depth = std::mem::take(&mut self.loop_depth);
        self.generic_depth += 1;
        let made = check(self);
        self.generic_depth -= 1;
        self.loop_depth = loop_depth;
        self.return_ty = return_ty;
        self.place = place;
        self.scopes.pop();
        self.scopes.restore(hidden);
        made
    }
}
