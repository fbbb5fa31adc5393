//! Parsers: states, transitions, selects, value sets.

use super::generic::BlockDecl;
use super::hir::{LocalKind, Parser, SelectCase, SelectKeyset, State, Stmt, Target, Transition, ValueSet};
use super::ids::{ParserId, SetId};
use super::scope::{Symbol, TypeSymbol};
use super::ty::Ty;
use super::{BlockSigs, Checker, CodeContext, hir};
use p4cc_syntax::Diagnostic;
use p4cc_syntax::ast::{self, Annotation, Decl, DeclKind, Ident, ParserDecl, ParserState};
use p4cc_syntax::closest;
use std::collections::BTreeMap;

impl Checker {
    /// Checks a parser with its body.
    pub(super) fn parser_decl(&mut self, parser: &ParserDecl, annotations: &[Annotation]) {
        if !parser.type_params.is_empty() {
            self.generic_block_decl(BlockDecl::Parser(parser.clone()), annotations);
            return;
        }
        let id = self.parser_body(parser, annotations);
        self.declare(&parser.name, Symbol::Type(TypeSymbol::Parser(id)));
    }

    /// Checks a parser whose type parameters, if any, stand for types already.
    pub(super) fn parser_body(&mut self, parser: &ParserDecl, annotations: &[Annotation]) -> ParserId {
        let (apply, constructor) = self.block_sigs(&parser.name, &parser.params, &parser.constructor_params);
        self.check_brought_modules(true, &constructor, &parser.constructor_params);
        let outer_place = std::mem::replace(&mut self.place, CodeContext::Parser);
        let outer_instances = std::mem::take(&mut self.instances);
        self.scopes.push();
        let constructor_params =
            self.declare_params(&constructor, &parser.constructor_params, |_| LocalKind::Constructor);
        let params = self.declare_params(&apply, &parser.params, LocalKind::Param);
        self.scopes.push();
        let init: Vec<Stmt> = parser.locals.iter().filter_map(|decl| self.parser_local(decl)).collect();
        self.check_state_names(&parser.states);
        let states: Vec<State> =
            parser.states.iter().map(|state| self.state(state, &parser.states)).collect();
        let start = states.iter().position(|state| state.name == "start");
        if start.is_none() {
            self.push(
                Diagnostic::error(
                    parser.name.span,
                    format!("parser `{}` has no state `start`", parser.name.name),
                )
                .with_help("name the first state `start`"),
            );
        }
        let start = start.unwrap_or(0);
        self.warn_unreachable(&states, start);
        self.scopes.pop();
        self.scopes.pop();
        let instances = std::mem::replace(&mut self.instances, outer_instances);
        self.place = outer_place;
        let annotations = self.annotations(annotations);
        let id = ParserId::from_index(self.hir.parsers.len());
        let name = parser.name.name.clone();
        let span = parser.name.span;
        self.hir.parsers.push(Parser {
            name,
            params,
            constructor_params,
            instances,
            init,
            states,
            start,
            annotations,
            span,
        });
        self.parser_sigs.push(BlockSigs { apply, constructor });
        id
    }

    fn parser_local(&mut self, decl: &Decl) -> Option<Stmt> {
        let DeclKind::ValueSet { ty, size, name } = &decl.kind else { return self.local_decl(decl) };
        let written = ty.span;
        let ty = self.resolve_type(ty);
        if !self.fits_value_set(&ty) {
            let shown = self.hir.show(&ty);
            self.error(written, format!("a value set cannot hold values of type `{shown}`"));
        }
        let size = self.expr(size);
        if !self.is_compile_time(&size) {
            self.error(size.span, "the size of a value set must be known at compile time");
        }
        let annotations = self.annotations(&decl.annotations);
        let id = SetId::from_index(self.hir.value_sets.len());
        self.hir.value_sets.push(ValueSet {
            name: name.name.clone(),
            ty,
            size,
            annotations,
            span: name.span,
        });
        self.declare(name, Symbol::ValueSet(id));
        None
    }

    fn check_state_names(&mut self, states: &[ParserState]) {
        let mut first_of: BTreeMap<&str, &ParserState> = BTreeMap::new();
        for state in states {
            let name = &state.name;
            if matches!(name.name.as_str(), "accept" | "reject") {
                self.error(name.span, format!("state `{}` is predefined and cannot be declared", name.name));
            }
            let first = *first_of.entry(&name.name).or_insert(state);
            if first.name.span != name.span {
                self.push(
                    Diagnostic::error(name.span, format!("state `{}` is declared twice", name.name))
                        .with_related(first.name.span, "first declared here"),
                );
            }
        }
    }

    fn state(&mut self, state: &ParserState, states: &[ParserState]) -> State {
        self.scopes.push();
        let body = self.stmts(&state.body);
        let transition = match &state.transition {
            None => {
                self.push(
                    Diagnostic::warning(
                        state.name.span,
                        format!("state `{}` has no `transition`, so it goes to `reject`", state.name.name),
                    )
                    .with_name("parser-transition")
                    .with_help(
                        "end it with `transition accept;`, or with `transition reject;` if that is intended",
                    ),
                );
                Transition::Direct(Target::Reject)
            }
            Some(ast::Transition::Direct(name)) => Transition::Direct(self.target(name, states)),
            Some(ast::Transition::Select { keys, cases, .. }) => self.select(keys, cases, states),
        };
        self.scopes.pop();
        State { name: state.name.name.clone(), body, transition, span: state.span }
    }

    fn target(&mut self, name: &Ident, states: &[ParserState]) -> Target {
        match name.name.as_str() {
            "accept" => return Target::Accept,
            "reject" => return Target::Reject,
            _ => {}
        }
        if self.charge_scan(states.len(), name.span).is_none() {
            return Target::Reject;
        }
        match states.iter().position(|state| state.name.name == name.name) {
            Some(at) => Target::State(at),
            None => {
                let names = states.iter().map(|state| state.name.name.as_str()).chain(["accept", "reject"]);
                let near = closest(&name.name, names).map(str::to_owned);
                self.undeclared_near("state", name, near);
                Target::Reject
            }
        }
    }

    fn select(
        &mut self,
        keys: &[ast::Expr],
        cases: &[ast::SelectCase],
        states: &[ParserState],
    ) -> Transition {
        let keys: Vec<hir::Expr> = keys.iter().map(|key| self.select_key(key)).collect();
        let types: Vec<Ty> = keys.iter().map(|key| key.ty.clone()).collect();
        let mut made = Vec::with_capacity(cases.len());
        let mut default_seen = false;
        for case in cases {
            let target = self.target(&case.state, states);
            if default_seen {
                self.warning(
                    case.span,
                    "parser-transition",
                    "this case is unreachable: an earlier case matches everything",
                );
                continue;
            }
            let set = match &case.keyset.kind {
                ast::ExprKind::Path(path) => match self.scopes.get(&path.name.name, path.absolute) {
                    Some(entry) => match entry.symbol {
                        Symbol::ValueSet(id) => Some(id),
                        _ => None,
                    },
                    None => None,
                },
                _ => None,
            };
            let keyset = match set {
                Some(id) => {
                    self.check_value_set(id, &types, case.keyset.span);
                    SelectKeyset::Set(id)
                }
                None => match self.keysets(&case.keyset, &types, case.span) {
                    Some(each) => SelectKeyset::Each(each),
                    None => continue,
                },
            };
            if let SelectKeyset::Each(each) = &keyset {
                default_seen = each.iter().all(|part| part.kind == hir::ExprKind::Any);
            }
            made.push(SelectCase { keyset, target, span: case.span });
        }
        Transition::Select { keys, cases: made }
    }

    fn select_key(&mut self, key: &ast::Expr) -> hir::Expr {
        let checked = self.expr(key);
        match self.hir.underlying(&checked.ty) {
            Ty::Bit(_) | Ty::Int(_) | Ty::Bool | Ty::Enum(_) | Ty::Error | Ty::Unknown => checked,
            Ty::Integer => self.poison_error(key.span, "a value in `select` needs a width: `8w1`"),
            _ => {
                let shown = self.hir.show(&checked.ty);
                self.poison_error(key.span, format!("a value of type `{shown}` cannot be used in `select`"))
            }
        }
    }

    fn check_value_set(&mut self, id: SetId, keys: &[Ty], span: p4cc_syntax::Span) {
        let Some(set) = self.hir.value_sets.get(id.index()) else { return };
        let members = self.set_members(&set.ty.clone());
        let fits = members.len() == keys.len()
            && members.iter().zip(keys).all(|(a, b)| self.hir.underlying(a) == self.hir.underlying(b));
        if !fits && !keys.contains(&Ty::Unknown) && !members.contains(&Ty::Unknown) {
            let shown = self.hir.show(&set.ty.clone());
            self.error(
                span,
                format!("the value set holds `{shown}`, which does not match the selected values"),
            );
        }
    }

    /// Types of the values that a member of a value set has, those of structs inside among them.
    fn set_members(&self, ty: &Ty) -> Vec<Ty> {
        match ty {
            Ty::Aggregate(_) => {
                self.hir.fields(ty).iter().flat_map(|field| self.set_members(&field.ty)).collect()
            }
            Ty::Tuple(items) => items.iter().flat_map(|item| self.set_members(item)).collect(),
            other => vec![other.clone()],
        }
    }

    fn warn_unreachable(&mut self, states: &[State], start: usize) {
        let mut reached = vec![false; states.len()];
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            let Some(state) = states.get(at) else { continue };
            if std::mem::replace(&mut reached[at], true) {
                continue;
            }
            let targets: Vec<Target> = match &state.transition {
                Transition::Direct(target) => vec![*target],
                Transition::Select { cases, .. } => cases.iter().map(|case| case.target).collect(),
            };
            open.extend(targets.into_iter().filter_map(|target| match target {
                Target::State(next) => Some(next),
                _ => None,
            }));
        }
        for (state, _) in states.iter().zip(&reached).filter(|(_, reached)| !**reached) {
            self.warning(state.span, "unreachable", format!("state `{}` is unreachable", state.name));
        }
    }
}
