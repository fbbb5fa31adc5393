//! Walks a syntax tree.
//!
//! A [`Visitor`] overrides the methods of the nouns it cares about and calls the
//! `walk_*` function of the same name to go on below them. Nothing else in the
//! tree is skipped, so a check written once holds wherever its noun may stand.

use crate::ast::{
    ActionRef, Annotation, AnnotationBody, Argument, Block, Decl, DeclKind, Expr, ExprKind, ForRange,
    FunctionSignature, Param, ParserState, Program, Stmt, StmtKind, TableDecl, TableEntry, TableProperty,
    TablePropertyKind, Transition, Type, TypeKind,
};

/// What to do at the nouns of a tree; each method goes on below its noun unless overridden.
pub trait Visitor {
    /// A declaration, wherever it stands.
    fn decl(&mut self, decl: &Decl) {
        walk_decl(self, decl);
    }
    /// A parser state.
    fn state(&mut self, state: &ParserState) {
        walk_state(self, state);
    }
    /// A table, after the declaration that holds it.
    fn table(&mut self, table: &TableDecl) {
        walk_table(self, table);
    }
    /// A block of statements.
    fn block(&mut self, block: &Block) {
        walk_block(self, block);
    }
    /// A statement.
    fn stmt(&mut self, stmt: &Stmt) {
        walk_stmt(self, stmt);
    }
    /// An expression.
    fn expr(&mut self, expr: &Expr) {
        walk_expr(self, expr);
    }
    /// A type.
    fn ty(&mut self, ty: &Type) {
        walk_type(self, ty);
    }
    /// A parameter.
    fn param(&mut self, param: &Param) {
        walk_param(self, param);
    }
    /// The annotations of one noun, in order; often none.
    fn annotations(&mut self, annotations: &[Annotation]) {
        walk_annotations(self, annotations);
    }
}

/// Walks all declarations.
pub fn walk_program<V: Visitor + ?Sized>(v: &mut V, program: &Program) {
    program.decls.iter().for_each(|decl| v.decl(decl));
}

/// Walks what a declaration is made of.
pub fn walk_decl<V: Visitor + ?Sized>(v: &mut V, decl: &Decl) {
    v.annotations(&decl.annotations);
    match &decl.kind {
        DeclKind::Const { ty, value, .. } => {
            v.ty(ty);
            v.expr(value);
        }
        DeclKind::Variable { ty, init, .. } => {
            v.ty(ty);
            init.iter().for_each(|init| v.expr(init));
        }
        DeclKind::Instance { ty, args, body, .. } => {
            v.ty(ty);
            walk_args(v, args);
            body.iter().flatten().for_each(|decl| v.decl(decl));
        }
        DeclKind::Error { .. } | DeclKind::MatchKind { .. } => {}
        DeclKind::Aggregate { fields, .. } => {
            for field in fields {
                v.annotations(&field.annotations);
                v.ty(&field.ty);
            }
        }
        DeclKind::Enum { underlying, members, .. } => {
            underlying.iter().for_each(|ty| v.ty(ty));
            members.iter().filter_map(|member| member.value.as_ref()).for_each(|value| v.expr(value));
        }
        DeclKind::Typedef { ty, .. } | DeclKind::NewType { ty, .. } => v.ty(ty),
        DeclKind::ParserType { params, .. }
        | DeclKind::ControlType { params, .. }
        | DeclKind::PackageType { params, .. } => params.iter().for_each(|param| v.param(param)),
        DeclKind::Parser(parser) => {
            parser.params.iter().chain(&parser.constructor_params).for_each(|param| v.param(param));
            parser.locals.iter().for_each(|decl| v.decl(decl));
            parser.states.iter().for_each(|state| v.state(state));
        }
        DeclKind::Control(control) => {
            control.params.iter().chain(&control.constructor_params).for_each(|param| v.param(param));
            control.locals.iter().for_each(|decl| v.decl(decl));
            v.block(&control.apply);
        }
        DeclKind::ExternObject { methods, .. } => {
            for method in methods {
                v.annotations(&method.annotations);
                walk_signature(v, &method.signature);
            }
        }
        DeclKind::ExternFunction(signature) => walk_signature(v, signature),
        DeclKind::Function { signature, body } => {
            walk_signature(v, signature);
            v.block(body);
        }
        DeclKind::Action { params, body, .. } => {
            params.iter().for_each(|param| v.param(param));
            v.block(body);
        }
        DeclKind::Table(table) => v.table(table),
        DeclKind::ValueSet { ty, size, .. } => {
            v.ty(ty);
            v.expr(size);
        }
    }
}

/// Walks a return type and parameters.
pub fn walk_signature<V: Visitor + ?Sized>(v: &mut V, signature: &FunctionSignature) {
    v.ty(&signature.return_type);
    signature.params.iter().for_each(|param| v.param(param));
}

/// Walks what a parameter is made of.
pub fn walk_param<V: Visitor + ?Sized>(v: &mut V, param: &Param) {
    v.annotations(&param.annotations);
    v.ty(&param.ty);
    param.default.iter().for_each(|default| v.expr(default));
}

/// Walks the values of structured annotations.
pub fn walk_annotations<V: Visitor + ?Sized>(v: &mut V, annotations: &[Annotation]) {
    for annotation in annotations {
        match &annotation.body {
            AnnotationBody::Empty | AnnotationBody::Tokens(_) => {}
            AnnotationBody::Expressions(exprs) => exprs.iter().for_each(|expr| v.expr(expr)),
            AnnotationBody::KeyValues(pairs) => pairs.iter().for_each(|(_, value)| v.expr(value)),
        }
    }
}

/// Walks what a parser state is made of.
pub fn walk_state<V: Visitor + ?Sized>(v: &mut V, state: &ParserState) {
    v.annotations(&state.annotations);
    state.body.iter().for_each(|stmt| v.stmt(stmt));
    if let Some(Transition::Select { keys, cases, .. }) = &state.transition {
        keys.iter().for_each(|key| v.expr(key));
        cases.iter().for_each(|case| v.expr(&case.keyset));
    }
}

/// Walks what a table is made of.
pub fn walk_table<V: Visitor + ?Sized>(v: &mut V, table: &TableDecl) {
    table.properties.iter().for_each(|property| walk_property(v, property));
}

fn walk_property<V: Visitor + ?Sized>(v: &mut V, property: &TableProperty) {
    v.annotations(&property.annotations);
    match &property.kind {
        TablePropertyKind::Key(keys) => {
            for key in keys {
                v.annotations(&key.annotations);
                v.expr(&key.expr);
            }
        }
        TablePropertyKind::Actions(actions) => actions.iter().for_each(|action| walk_action_ref(v, action)),
        TablePropertyKind::Entries { entries, .. } => entries.iter().for_each(|entry| walk_entry(v, entry)),
        TablePropertyKind::Other { value, .. } => v.expr(value),
    }
}

fn walk_action_ref<V: Visitor + ?Sized>(v: &mut V, action: &ActionRef) {
    v.annotations(&action.annotations);
    walk_args(v, &action.args);
}

fn walk_entry<V: Visitor + ?Sized>(v: &mut V, entry: &TableEntry) {
    v.annotations(&entry.annotations);
    entry.priority.iter().for_each(|priority| v.expr(priority));
    v.expr(&entry.keyset);
    walk_action_ref(v, &entry.action);
}

/// Walks the statements of a block.
pub fn walk_block<V: Visitor + ?Sized>(v: &mut V, block: &Block) {
    v.annotations(&block.annotations);
    block.stmts.iter().for_each(|stmt| v.stmt(stmt));
}

/// Walks what a statement is made of.
pub fn walk_stmt<V: Visitor + ?Sized>(v: &mut V, stmt: &Stmt) {
    match &stmt.kind {
        StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Exit | StmtKind::Return(None) => {}
        StmtKind::Decl(decl) => v.decl(decl),
        StmtKind::Assign { target, value, .. } => {
            v.expr(target);
            v.expr(value);
        }
        StmtKind::Call(expr) | StmtKind::Return(Some(expr)) => v.expr(expr),
        StmtKind::DirectApplication { ty, args } => {
            v.ty(ty);
            walk_args(v, args);
        }
        StmtKind::If { cond, then, otherwise } => {
            v.expr(cond);
            v.stmt(then);
            otherwise.iter().for_each(|stmt| v.stmt(stmt));
        }
        StmtKind::Switch { value, cases } => {
            v.expr(value);
            for case in cases {
                case.label.iter().for_each(|label| v.expr(label));
                case.body.iter().for_each(|body| v.block(body));
            }
        }
        StmtKind::For { annotations, init, cond, update, body } => {
            v.annotations(annotations);
            init.iter().for_each(|stmt| v.stmt(stmt));
            v.expr(cond);
            update.iter().for_each(|stmt| v.stmt(stmt));
            v.stmt(body);
        }
        StmtKind::ForIn { annotations, ty, range, body, .. } => {
            v.annotations(annotations);
            v.ty(ty);
            match range {
                ForRange::Range(low, high) => [low, high].into_iter().for_each(|end| v.expr(end)),
                ForRange::Expr(expr) => v.expr(expr),
            }
            v.stmt(body);
        }
        StmtKind::Block(block) => v.block(block),
    }
}

fn walk_args<V: Visitor + ?Sized>(v: &mut V, args: &[Argument]) {
    args.iter().for_each(|arg| v.expr(&arg.value));
}

/// Walks what an expression is made of.
pub fn walk_expr<V: Visitor + ?Sized>(v: &mut V, expr: &Expr) {
    match &expr.kind {
        ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::String(_)
        | ExprKind::Path(_)
        | ExprKind::This
        | ExprKind::Dots
        | ExprKind::InvalidHeader
        | ExprKind::DontCare
        | ExprKind::Default => {}
        ExprKind::List(items) | ExprKind::Tuple(items) => items.iter().for_each(|item| v.expr(item)),
        ExprKind::Struct { fields, .. } => fields.iter().for_each(|(_, value)| v.expr(value)),
        ExprKind::Unary(_, a) | ExprKind::Member(a, _) => v.expr(a),
        ExprKind::Mask(a, b) | ExprKind::Range(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => {
            [a, b].into_iter().for_each(|part| v.expr(part))
        }
        ExprKind::Conditional(a, b, c) | ExprKind::Slice(a, b, c) | ExprKind::PlusSlice(a, b, c) => {
            [a, b, c].into_iter().for_each(|part| v.expr(part));
        }
        ExprKind::Cast(ty, a) => {
            v.ty(ty);
            v.expr(a);
        }
        ExprKind::TypeMember(ty, _) => v.ty(ty),
        ExprKind::Call { callee, type_args, args } => {
            v.expr(callee);
            type_args.iter().for_each(|ty| v.ty(ty));
            walk_args(v, args);
        }
        ExprKind::Construct { ty, args } => {
            v.ty(ty);
            walk_args(v, args);
        }
    }
}

/// Walks what a type is made of.
pub fn walk_type<V: Visitor + ?Sized>(v: &mut V, ty: &Type) {
    match &ty.kind {
        TypeKind::Bit(Some(width)) | TypeKind::Int(width) | TypeKind::Varbit(width) => v.expr(width),
        TypeKind::Specialized(_, args) | TypeKind::Tuple(args) => args.iter().for_each(|arg| v.ty(arg)),
        TypeKind::Stack(elem, size) => {
            v.ty(elem);
            v.expr(size);
        }
        TypeKind::List(elem) => v.ty(elem),
        _ => {}
    }
}
