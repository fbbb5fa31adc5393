//! What a chip forbids, as errors: `--strict tofino`; and all warnings as errors: `--strict course`.
//!
//! The engine runs more than a Tofino can. These rules are those that p4c's Tofino back end refuses programs
//! for whatever the room on the chip; whether a program fits, only that compiler says. Each finding names its
//! rule, the place and a way round it. Docs: docs/reference/p4-support.md#strict.
//!
//! Bodies of register actions are not looked at but for what they access: the chip's register unit has rules
//! of its own.

mod arithmetic;
mod conditions;
mod deparsers;
mod parsers;
mod registers;
mod sizes;

use std::collections::BTreeSet;
use std::str::FromStr;

use p4cc_syntax::{Diagnostic, Severity, Span};

use p4cc_types::hir::{Constructed, Expr, ExprKind, LocalKind, Program};
use p4cc_types::ids::FnId;

/// The rules that a program is held to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strict {
    /// None: what the engine runs is taken.
    #[default]
    Off,
    /// Tofino 1 and 2.
    Tofino,
    /// Those of a course: a warning is an error, unless `@noWarn` silences it.
    Course,
}

impl Strict {
    /// Makes errors of what these rules do not let pass.
    pub fn enforce(self, diagnostics: &mut [Diagnostic]) {
        if self == Self::Course {
            diagnostics.iter_mut().for_each(|diagnostic| diagnostic.severity = Severity::Error);
        }
    }
}

impl FromStr for Strict {
    type Err = String;

    /// What an option `--strict` asks for.
    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "tofino" => Ok(Self::Tofino),
            "course" => Ok(Self::Course),
            "off" => Ok(Self::Off),
            _ => Err(format!("there are no rules `{name}`; give tofino, course or off")),
        }
    }
}

/// Findings of a typed program without errors, by the rules of a chip.
pub fn check(program: &Program, strict: Strict) -> Vec<Diagnostic> {
    match strict {
        Strict::Off | Strict::Course => Vec::new(),
        Strict::Tofino => tofino(program),
    }
}

fn tofino(program: &Program) -> Vec<Diagnostic> {
    let main = program.main.and_then(|id| program.instances.get(id.index()));
    let Some(main) = main else { return Vec::new() };
    if !matches!(&main.construct.what, Constructed::Package(name) if name == "Switch") {
        let text = "the rules of Tofino apply only to TNA and T2NA programs";
        let help = "include `tna.p4` or `t2na.p4` and instantiate `Switch(...) main`, or remove `--strict`";
        return vec![Diagnostic::error(main.span, text).with_help(help)];
    }
    let mut found = Vec::new();
    let methods = program.instances.iter().flat_map(|instance| instance.methods.iter().copied());
    let methods: BTreeSet<FnId> = methods.collect();
    arithmetic::check(program, &methods, &mut found);
    registers::check(program, &mut found);
    parsers::check(program, &mut found);
    sizes::check(program, &mut found);
    deparsers::check(program, &mut found);
    found
}

/// A finding by a rule.
fn refused(rule: &str, span: Span, what: &str, instead: &str) -> Diagnostic {
    Diagnostic::error(span, format!("Tofino {what} (rule `{rule}`)")).with_help(instead)
}

/// Whether a value is known when the program is compiled.
fn is_constant(program: &Program, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Default => true,
        ExprKind::Cast(inner) | ExprKind::Unary(_, inner) | ExprKind::Slice(inner, _, _) => {
            is_constant(program, inner)
        }
        ExprKind::Binary(_, a, b) => is_constant(program, a) && is_constant(program, b),
        ExprKind::Local(id) => {
            let local = program.locals.get(id.index());
            local.is_some_and(|local| local.kind == LocalKind::Constructor)
        }
        _ => false,
    }
}
