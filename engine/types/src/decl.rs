//! Declarations at top level, and those that may also stand
//! inside parsers and controls: constants, variables, instances.

use super::hir::{
    Callee, Construct, Constructed, EnumDef, Expr, ExprKind, ExternDef, Instance, LocalKind, NewType, Stmt,
    StmtKind,
};
use super::ids::{EnumId, ExternId, InstId, NewTypeId};
use super::scope::{Symbol, TypeSymbol};
use super::ty::Ty;
use super::value::Value;
use super::{BlockSig, Checker, CodeContext, GenericAggregate};
use indexmap::IndexMap;
use num_bigint::BigInt;
use p4cc_budget::Resource;
use p4cc_ir::limits::MAX_STACK;
use p4cc_syntax::ast::{
    self, Annotation, Argument, Decl, DeclKind, EnumMember, ExternMethod, Ident, Param, Type, TypeKind,
};
use p4cc_syntax::{Diagnostic, Span};
use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::rc::Rc;

impl Checker {
    /// Checks a declaration at top level.
    pub(super) fn global_decl(&mut self, decl: &Decl) {
        match &decl.kind {
            DeclKind::Error { members } => self.error_decl(members),
            DeclKind::MatchKind { members } => {
                for member in members {
                    if !self.match_kinds.insert(member.name.clone()) {
                        self.error(member.span, format!("match kind `{}` is already declared", member.name));
                    }
                }
            }
            DeclKind::Aggregate { kind, name, type_params, fields } => {
                if type_params.is_empty() {
                    let named = (name.name.clone(), &[][..]);
                    let ty = self.aggregate(*kind, named, name.span, fields, &decl.annotations);
                    self.declare(name, Symbol::Type(TypeSymbol::Plain(ty)));
                } else {
                    let index = self.generics.len();
                    self.generics.push(GenericAggregate { decl: decl.clone(), made: IndexMap::new() });
                    self.declare(name, Symbol::Type(TypeSymbol::Generic(index)));
                }
            }
            DeclKind::Enum { name, underlying, members } => {
                self.enum_decl(name, underlying.as_ref(), members, &decl.annotations)
            }
            DeclKind::Typedef { ty, name } => {
                let _ = self.annotations(&decl.annotations);
                let ty = self.resolve_type(ty);
                self.declare(name, Symbol::Type(TypeSymbol::Plain(ty)));
            }
            DeclKind::NewType { ty, name } => self.newtype_decl(ty, name, &decl.annotations),
            DeclKind::ParserType { name, type_params, params } => {
                self.block_sig(true, name, type_params, params)
            }
            DeclKind::ControlType { name, type_params, params } => {
                self.block_sig(false, name, type_params, params);
            }
            DeclKind::PackageType { name, type_params, params } => {
                let sig = self.signature(&name.name, name.span, type_params, params, None);
                let index = self.packages.len();
                self.packages.push(sig);
                self.declare(name, Symbol::Type(TypeSymbol::Package(index)));
            }
            DeclKind::Parser(parser) => self.parser_decl(parser, &decl.annotations),
            DeclKind::Control(control) => self.control_decl(control, &decl.annotations),
            DeclKind::ExternObject { name, type_params, methods } => {
                self.extern_object(name, type_params, methods)
            }
            DeclKind::ExternFunction(signature) => self.extern_function(signature),
            DeclKind::Function { signature, body } => {
                let _ = self.annotations(&decl.annotations);
                self.function_decl(signature, body);
            }
            DeclKind::Action { name, params, body } => {
                self.action_decl(name, params, body, &decl.annotations)
            }
            DeclKind::Variable { name, .. } => {
                self.error(
                    name.span,
                    "a variable must be declared inside a parser, control, action or function",
                );
            }
            DeclKind::Table(table) => {
                self.error(table.name.span, "a table must be declared inside a control")
            }
            DeclKind::ValueSet { name, .. } => {
                self.error(name.span, "a value set must be declared inside a parser");
            }
            DeclKind::Const { .. } => {
                let _ = self.annotations(&decl.annotations);
                self.shared_decl(decl);
            }
            DeclKind::Instance { .. } => self.shared_decl(decl),
        }
    }

    /// Checks a constant, variable or instance wherever it may
    /// stand. Gives the statement that a variable becomes.
    pub(super) fn local_decl(&mut self, decl: &Decl) -> Option<Stmt> {
        match &decl.kind {
            DeclKind::Variable { ty, name, init } => {
                let ty = self.variable_type(ty);
                let value = init.as_ref().map(|init| {
                    let value = self.expr(init);
                    self.coerce(value, &ty)
                });
                let annotations = self.annotations(&decl.annotations);
                let id = self.new_local(name, ty, LocalKind::Variable, annotations);
                Some(Stmt { kind: StmtKind::Declare(id, value), span: decl.span })
            }
            DeclKind::Const { .. } | DeclKind::Instance { .. } => {
                self.shared_decl(decl);
                None
            }
            _ => {
                self.error(decl.span, "this declaration is not allowed here");
                None
            }
        }
    }

    fn shared_decl(&mut self, decl: &Decl) {
        match &decl.kind {
            DeclKind::Const { ty, name, value } => self.const_decl(ty, name, value),
            DeclKind::Instance { ty, args, name, body } => {
                let (id, mut construct) = self.instance_decl(ty, args, name, &decl.annotations, decl.span);
                self.infer_from_methods(&mut construct, body.as_deref());
                let methods = self.implementations(name, &construct, body.as_deref());
                if let Some(instance) = self.hir.instances.get_mut(id.index()) {
                    (instance.methods, instance.construct) = (methods, construct);
                }
            }
            _ => {}
        }
    }

    /// A type that a variable may have.
    pub(super) fn variable_type(&mut self, ty: &Type) -> Ty {
        let resolved = self.resolve_type(ty);
        let bad = match &resolved {
            Ty::Integer => Some("`int` has no width; a variable needs `bit<W>` or `int<W>`".to_owned()),
            Ty::Void
            | Ty::String
            | Ty::MatchKind
            | Ty::DontCare
            | Ty::Extern(..)
            | Ty::Block(_)
            | Ty::Package(_) => Some(format!("a variable cannot have type `{}`", self.hir.show(&resolved))),
            Ty::List(_) => {
                self.not_supported(ty.span, "variables of type `list`");
                return resolved;
            }
            _ => None,
        };
        match bad {
            Some(message) => {
                self.error(ty.span, message);
                Ty::Unknown
            }
            None => resolved,
        }
    }

    fn const_decl(&mut self, ty: &Type, name: &Ident, value: &ast::Expr) {
        let ty = self.resolve_type(ty);
        let checked = self.expr(value);
        let checked = self.coerce(checked, &ty);
        if matches!(ty, Ty::Extern(..) | Ty::Block(_) | Ty::Package(_)) {
            let shown = self.hir.show(&ty);
            self.push(
                Diagnostic::error(name.span, format!("a constant cannot have type `{shown}`"))
                    .with_help(format!("declare an instance: `{shown}(...) {};`", name.name)),
            );
        }
        if !self.is_compile_time(&checked) {
            self.push(
                Diagnostic::error(
                    value.span,
                    format!("the value of constant `{}` is not known at compile time", name.name),
                )
                .with_help("use a variable instead of `const`"),
            );
        }
        self.declare(name, Symbol::Const(Rc::new(checked)));
    }

    /// Whether an expression's value follows from constants and constructor parameters alone.
    pub(super) fn is_compile_time(&self, expr: &Expr) -> bool {
        self.follows_from(expr, &|kind| kind == LocalKind::Constructor)
    }

    /// Whether an expression may be the argument of a parameter without direction: it follows from constants
    /// and from parameters without direction, those of an action among them, as in p4c.
    pub(super) fn is_directionless(&self, expr: &Expr) -> bool {
        let no_direction = LocalKind::Param(ast::Direction::None);
        self.follows_from(expr, &|kind| kind == LocalKind::Constructor || kind == no_direction)
    }

    /// Whether an expression's value follows from constants and locals of some kinds alone.
    fn follows_from(&self, expr: &Expr, known: &dyn Fn(LocalKind) -> bool) -> bool {
        let follows = |expr: &Expr| self.follows_from(expr, known);
        match &expr.kind {
            ExprKind::Poison | ExprKind::Const(_) | ExprKind::InvalidHeader | ExprKind::Default => true,
            ExprKind::Local(id) => known(self.local_kind(*id)) || expr.ty == Ty::Integer,
            ExprKind::Instance(_) | ExprKind::Construct(_) => true,
            // A function that gives an object makes it before packets come.
            ExprKind::Call(call) => {
                let makes = matches!((&call.callee, &expr.ty), (Callee::Extern { .. }, Ty::Extern(..)));
                makes && call.args.iter().flatten().all(follows)
            }
            ExprKind::Aggregate(items) => items.iter().all(follows),
            ExprKind::Field(base, _) | ExprKind::Slice(base, _, _) => follows(base),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => follows(a),
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => follows(a) && follows(b),
            ExprKind::Conditional(c, a, b) => [c, a, b].into_iter().all(|e| follows(e)),
            _ => false,
        }
    }

    /// The type of the objects in `T(args) name[2][3]`, and the sizes of the array, from the outermost.
    fn object_array<'t>(&mut self, ty: &'t Type) -> (&'t Type, Vec<u32>) {
        let (mut elem, mut sizes) = (ty, Vec::new());
        while let TypeKind::Stack(inner, size) = &elem.kind {
            sizes.extend(self.number(size, "size of an array", 1, MAX_STACK));
            elem = inner;
        }
        (elem, sizes)
    }

    /// Declares an instance. Gives what it is made of.
    pub(super) fn instance_decl(
        &mut self,
        ty: &Type,
        args: &[Argument],
        name: &Ident,
        annotations: &[Annotation],
        span: Span,
    ) -> (InstId, Construct) {
        if matches!(self.place, CodeContext::Action | CodeContext::Function) {
            self.error(span, "an instance cannot be created inside an action or function");
        }
        let (ty, sizes) = self.object_array(ty);
        let construct = self.construct(ty, args, span);
        if !sizes.is_empty() && !matches!(construct.what, Constructed::Extern(..) | Constructed::Poison) {
            self.error(ty.span, "only extern objects can form an array of instances");
        }
        let annotations = self.annotations(annotations);
        let id = InstId::from_index(self.hir.instances.len());
        let name_text = name.name.clone();
        self.hir.instances.push(Instance {
            name: name_text,
            construct: construct.clone(),
            sizes,
            annotations,
            methods: Vec::new(),
            apply_sites: 0,
            span: name.span,
        });
        self.declare(name, Symbol::Instance(id));
        if self.scopes.at_top() {
            self.hir.global_instances.push(id);
            if name.name == "main" {
                self.hir.main = Some(id);
            }
        } else {
            self.instances.push(id);
        }
        (id, construct)
    }

    fn error_decl(&mut self, members: &[Ident]) {
        for member in members {
            if self.charge(Resource::ErrorNames, 1, member.span).is_none() {
                return;
            }
            match self.error_names.entry(member.name.clone()) {
                Entry::Occupied(_) => {
                    self.error(member.span, format!("error `{}` is already declared", member.name));
                }
                Entry::Vacant(vacant) => {
                    vacant.insert(self.hir.errors.len() as u32);
                    self.hir.errors.push(member.name.clone());
                }
            }
        }
    }

    fn newtype_decl(&mut self, ty: &Type, name: &Ident, annotations: &[Annotation]) {
        let inner = self.resolve_type(ty);
        let allowed = matches!(
            self.hir.underlying(&inner),
            Ty::Bit(_) | Ty::Int(_) | Ty::Bool | Ty::Enum(_) | Ty::Error | Ty::Unknown
        );
        if !allowed {
            let shown = self.hir.show(&inner);
            self.error(
                ty.span,
                format!("`type` cannot wrap `{shown}`, only bit, int, bool, enum and error types"),
            );
        }
        let annotations = self.annotations(annotations);
        if annotations.translation.is_some()
            && !matches!(self.hir.underlying(&inner), Ty::Bit(_) | Ty::Unknown)
        {
            let shown = self.hir.show(&inner);
            self.error(ty.span, format!("`@p4runtime_translation` requires `bit<W>`, not `{shown}`"));
        }
        let known = allowed && inner != Ty::Unknown;
        let size = if known { self.newtype_size(&name.name, &inner, name.span) } else { None };
        let ty = if let Some(size) = size {
            self.newtype_sizes.push(size);
            let id = NewTypeId::from_index(self.hir.newtypes.len());
            self.hir.newtypes.push(NewType { name: name.name.clone(), ty: inner, annotations });
            Ty::NewType(id)
        } else {
            Ty::Unknown
        };
        self.declare(name, Symbol::Type(TypeSymbol::Plain(ty)));
    }

    fn enum_decl(
        &mut self,
        name: &Ident,
        underlying: Option<&Type>,
        members: &[EnumMember],
        annotations: &[Annotation],
    ) {
        let underlying = underlying.map(|ty| (self.resolve_type(ty), ty.span));
        // A `type` is one of its own, and no number is one of its values.
        if let Some((ty, span)) = &underlying
            && !ty.is_fixed()
            && *ty != Ty::Unknown
        {
            let shown = self.hir.show(ty);
            self.error(
                *span,
                format!(
                    "the underlying type of an enum must be `bit<W>` or `int<W>`, not \
                `{shown}`"
                ),
            );
        }
        let written = underlying.is_some();
        let ty = underlying.map(|(ty, _)| ty).filter(Ty::is_fixed);
        let wrong = written && ty.is_none();
        let mut made: Vec<(String, BigInt)> = Vec::with_capacity(members.len());
        let mut names = BTreeSet::new();
        for (index, member) in members.iter().enumerate() {
            if !names.insert(member.name.name.as_str()) {
                self.error(member.name.span, format!("enum member `{}` is declared twice", member.name.name));
                continue;
            }
            let given = if wrong { None } else { self.enum_value(ty.as_ref(), member) };
            let value = given.unwrap_or_else(|| BigInt::from(index));
            made.push((member.name.name.clone(), value));
        }
        let annotations = self.annotations(annotations);
        let id = EnumId::from_index(self.hir.enums.len());
        self.hir.enums.push(EnumDef { name: name.name.clone(), underlying: ty, members: made, annotations });
        self.declare(name, Symbol::Type(TypeSymbol::Plain(Ty::Enum(id))));
    }

    fn enum_value(&mut self, underlying: Option<&Ty>, member: &EnumMember) -> Option<BigInt> {
        match (underlying, &member.value) {
            (None, None) => None,
            (None, Some(value)) => {
                self.push(
                    Diagnostic::error(
                        value.span,
                        "members of an enum without an underlying type have no \
                        values",
                    )
                    .with_help("give the enum a type: `enum bit<8> E { ... }`"),
                );
                None
            }
            (Some(_), None) => {
                self.error(
                    member.name.span,
                    format!("member `{}` of a typed enum needs a value", member.name.name),
                );
                None
            }
            (Some(ty), Some(value)) => {
                let checked = self.expr(value);
                if let (ExprKind::Const(Value::Int(number)), Ty::Integer) = (&checked.kind, &checked.ty)
                    && !super::value::fits(number, ty)
                {
                    let shown = self.hir.show(ty);
                    self.push(
                        Diagnostic::error(
                            member.name.span,
                            format!("{number} of member `{}` does not fit in `{shown}`", member.name.name),
                        )
                        .with_help("choose a smaller value or a wider type"),
                    );
                    return None;
                }
                let checked = self.coerce(checked, ty);
                match checked.kind {
                    ExprKind::Const(Value::Int(value)) => Some(value),
                    ExprKind::Poison => None,
                    _ => {
                        self.error(value.span, "the value of an enum member must be a compile-time number");
                        None
                    }
                }
            }
        }
    }

    fn block_sig(&mut self, is_parser: bool, name: &Ident, type_params: &[Ident], params: &[Param]) {
        let sig = self.signature(&name.name, name.span, type_params, params, None);
        self.no_modules(&sig, params);
        let index = self.blocks.len();
        self.blocks.push(BlockSig { is_parser, sig });
        self.declare(name, Symbol::Type(TypeSymbol::Block(index)));
    }

    fn extern_object(&mut self, name: &Ident, type_params: &[Ident], methods: &[ExternMethod]) {
        let id = ExternId::from_index(self.hir.externs.len());
        self.hir.externs.push(ExternDef {
            name: name.name.clone(),
            type_vars: Vec::new(),
            constructors: Vec::new(),
            methods: Vec::new(),
            optional_abstracts: methods
                .iter()
                .filter(|method| method.annotations.iter().any(|one| one.name.name == "optional"))
                .map(|method| method.signature.name.name.clone())
                .collect(),
            abstracts: methods
                .iter()
                .filter(|method| method.is_abstract)
                .map(|method| method.signature.name.name.clone())
                .collect(),
        });
        // Entered first, so that methods may name the type.
        self.declare(name, Symbol::Type(TypeSymbol::Extern(id)));
        self.scopes.push();
        let type_vars = self.type_params(type_params);
        let (mut constructors, mut made) = (Vec::new(), Vec::new());
        for method in methods {
            let s = &method.signature;
            let ret = if method.is_constructor { None } else { Some(&s.return_type) };
            let sig = self.signature(&s.name.name, s.name.span, &s.type_params, &s.params, ret);
            self.no_modules_for_extern(&sig, &s.params);
            self.no_own_object(id, &sig, &s.params);
            if method.is_constructor { constructors.push(sig) } else { made.push(sig) }
        }
        self.check_overloads(&constructors);
        self.check_overloads(&made);
        self.scopes.pop();
        if let Some(ext) = self.hir.externs.get_mut(id.index()) {
            ext.type_vars = type_vars;
            ext.constructors = constructors;
            ext.methods = made;
        }
    }
}
