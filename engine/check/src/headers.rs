//! Headers that a program extracts and never emits, and such that nothing ever makes valid.
//!
//! Both are about fields of structs in the whole program: which instance of a struct is meant does not
//! matter, so that parsers, controls and deparsers that hand it on are one. A header that is passed to
//! anything whose body is not known, or that is a type of the architecture, is left alone.

use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{Builtin, Call, Callee, Expr, ExprKind, Program, Stmt, StmtKind, Transition};
use p4cc_types::ids::AggId;
use p4cc_types::ty::Ty;
use p4cc_types::walk::{each_part, stmt_parts};
use std::collections::{BTreeMap, BTreeSet};

/// A field of a struct that is a header.
type Place = (AggId, usize);

/// Runs the pass.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let mut pass = Headers {
        program,
        extracted: BTreeMap::new(),
        emitted: BTreeSet::new(),
        emits: false,
        valid: BTreeSet::new(),
        tested: BTreeSet::new(),
        dropped: BTreeSet::new(),
        read: BTreeMap::new(),
    };
    pass.program();
    if pass.emits {
        pass.never_emitted(found);
        pass.never_valid(found);
    }
}

struct Headers<'a> {
    program: &'a Program,
    /// First extraction of each.
    extracted: BTreeMap<Place, Span>,
    /// Types of headers that some deparser emits.
    emitted: BTreeSet<AggId>,
    /// Some deparser emits something.
    emits: bool,
    /// Headers that something may make valid.
    valid: BTreeSet<Place>,
    /// Headers that `isValid` is asked of.
    tested: BTreeSet<Place>,
    /// Headers that `setInvalid` is called on: not to emit them is meant.
    dropped: BTreeSet<Place>,
    /// First read of a field of each.
    read: BTreeMap<Place, Span>,
}

impl Headers<'_> {
    fn program(&mut self) {
        let program = self.program;
        for parser in &program.parsers {
            self.body(&parser.init);
            for state in &parser.states {
                self.body(&state.body);
                if let Transition::Select { keys, .. } = &state.transition {
                    keys.iter().for_each(|key| self.reads(key));
                }
            }
        }
        program.controls.iter().for_each(|control| self.body(&control.body));
        program.actions.iter().for_each(|action| self.body(&action.body));
        program.functions.iter().for_each(|function| self.body(&function.body));
        for table in &program.tables {
            table.keys.iter().for_each(|key| self.reads(&key.expr));
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            let (mut exprs, mut bodies) = (Vec::new(), Vec::new());
            stmt_parts(stmt, &mut exprs, &mut bodies);
            match &stmt.kind {
                StmtKind::Assign(target, _) | StmtKind::Update { target, .. } => {
                    self.may_be_valid(target);
                    exprs.retain(|expr| !std::ptr::eq(*expr, target));
                }
                StmtKind::Call(call) => self.call(call),
                _ => {}
            }
            exprs.into_iter().for_each(|expr| self.reads(expr));
            bodies.into_iter().for_each(|body| self.body(body));
        }
    }

    /// The header or stack that an expression is, as a field of a struct.
    fn place(&self, expr: &Expr) -> Option<Place> {
        match &expr.kind {
            ExprKind::Field(base, at) => match &base.ty {
                Ty::Aggregate(id) if !self.program.is_header(&base.ty) => Some((*id, *at)),
                _ => None,
            },
            ExprKind::Index(base, _) | ExprKind::StackNext(base) | ExprKind::StackLast(base) => {
                self.place(base)
            }
            _ => None,
        }
    }

    /// All headers inside a value may become valid.
    fn may_be_valid(&mut self, expr: &Expr) {
        if let Some(place) = self.place(expr)
            && (self.program.is_header(&expr.ty)
                || self.program.is_stack(&expr.ty)
                || self.program.is_union(&expr.ty))
        {
            self.valid.insert(place);
        }
        self.all_valid(&expr.ty);
    }

    fn all_valid(&mut self, ty: &Ty) {
        let Ty::Aggregate(id) = ty else { return };
        if self.program.is_header(ty) {
            return;
        }
        for at in 0..self.program.fields(ty).len() {
            if self.valid.insert((*id, at)) {
                let field = self.program.fields(ty)[at].ty.clone();
                self.all_valid(&field);
            }
        }
    }

    fn reads(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call(call) => return self.call(call),
            ExprKind::Field(base, _) if self.program.is_header(&base.ty) => {
                if let Some(place) = self.place(base) {
                    self.read.entry(place).or_insert(base.span);
                }
            }
            _ => {}
        }
        each_part(expr, &mut |part| self.reads(part));
    }

    fn call(&mut self, call: &Call) {
        match &call.callee {
            Callee::Builtin(builtin, object) => match (builtin, self.place(object)) {
                (Builtin::IsValid, Some(place)) => drop(self.tested.insert(place)),
                (Builtin::SetInvalid, Some(place)) => drop(self.dropped.insert(place)),
                (Builtin::SetInvalid | Builtin::IsValid, None) => {}
                _ => self.may_be_valid(object),
            },
            Callee::Method { extern_name, name, .. } if extern_name == "packet_in" && name == "extract" => {
                if let Some(Some(arg)) = call.args.first() {
                    self.may_be_valid(arg);
                    if let Some(place) = self.place(arg) {
                        self.extracted.entry(place).or_insert(arg.span);
                    }
                }
            }
            Callee::Method { extern_name, name, .. } if extern_name == "packet_out" && name == "emit" => {
                self.emits = true;
                if let Some(Some(arg)) = call.args.first() {
                    self.emitted_type(&arg.ty, 0);
                }
            }
            // Bodies of the program are walked themselves; what is handed to them whole has their struct.
            Callee::Function(_) | Callee::Action(_) | Callee::Apply(_) | Callee::Table(_) => {
                for arg in call.args.iter().flatten() {
                    if self.program.is_header(&arg.ty) || self.program.is_stack(&arg.ty) {
                        self.may_be_valid(arg);
                        self.emitted_type(&arg.ty, 0);
                    } else {
                        self.reads(arg);
                    }
                }
            }
            Callee::Extern { .. } | Callee::Method { .. } => {
                for arg in call.args.iter().flatten() {
                    self.may_be_valid(arg);
                    self.reads(arg);
                }
            }
        }
    }

    /// Types of headers in what is emitted.
    fn emitted_type(&mut self, ty: &Ty, depth: u32) {
        const MAX_DEPTH: u32 = 16;
        match ty {
            Ty::Stack(elem, _) => self.emitted_type(elem, depth),
            Ty::Aggregate(id) if self.program.is_header(ty) => drop(self.emitted.insert(*id)),
            Ty::Aggregate(_) if depth < MAX_DEPTH => {
                let fields: Vec<Ty> = self.program.fields(ty).iter().map(|field| field.ty.clone()).collect();
                fields.iter().for_each(|field| self.emitted_type(field, depth + 1));
            }
            Ty::Tuple(items) => items.iter().for_each(|item| self.emitted_type(item, depth + 1)),
            _ => {}
        }
    }

    /// The type of the headers at a place, and its name.
    fn header(&self, (owner, at): Place) -> Option<(AggId, &str)> {
        let field = self.program.aggregates.get(owner.index())?.fields.get(at)?;
        let ty = match &field.ty {
            Ty::Stack(elem, _) => elem,
            other => other,
        };
        match ty {
            Ty::Aggregate(id) if self.program.is_header(ty) => Some((*id, &field.name)),
            _ => None,
        }
    }

    fn never_emitted(&self, found: &mut Vec<Diagnostic>) {
        for (place, span) in &self.extracted {
            let Some((header, name)) = self.header(*place) else { continue };
            let Some(ty) = self.program.aggregates.get(header.index()) else { continue };
            let meant = ty.annotations.controller_header.is_some() || self.dropped.contains(place);
            if meant || self.emitted.contains(&header) {
                continue;
            }
            found.push(
                Diagnostic::warning(
                    *span,
                    format!(
                        "header `{name}` is extracted but never emitted by a deparser, so packets leave \
                        without it"
                    ),
                )
                .with_name("missing")
                .with_help(format!(
                    "emit it in the deparser; to remove it, call `{name}.setInvalid()` at that point"
                )),
            );
        }
    }

    fn never_valid(&self, found: &mut Vec<Diagnostic>) {
        for (place, span) in &self.read {
            let Some((_, name)) = self.header(*place) else { continue };
            if self.valid.contains(place) || self.tested.contains(place) {
                continue;
            }
            found.push(
                Diagnostic::warning(
                    *span,
                    format!("a field of header `{name}` is read, but the header is never made valid"),
                )
                .with_name("invalid-header")
                .with_help(format!("extract `{name}` in the parser, or call `{name}.setValid()` first")),
            );
        }
    }
}
