//! The intermediate representation of a P4 program.
//!
//! One IR, two readers: P4-16 source (checked and lowered from the syntax tree) and, later, BMv2 JSON. All state of a
//! packet is flattened into scalar variables with static places, since P4 has no recursion: controls, actions and
//! functions are inlined or called over one frame. Code is a graph of basic blocks of three-address instructions, so
//! that an interpreter and native code can be made from it alike.
//!
//! Invariants: every reference is its own index type; a program that passed the verifier holds no dangling index, no
//! width mismatch and no block without terminator; nothing here knows of packets, time or the network.

pub mod bits;
pub mod bmv2;
mod check;
pub mod entities;
pub mod inst;
pub mod limits;
mod lower;
pub mod program;
pub mod text;
pub mod types;
pub mod verify;

pub use bits::Bits;
pub use entities::*;
pub use inst::*;
pub use program::*;

use p4cc_syntax::{Diagnostic, Severity, ast};

/// Compiles a parsed program: checks it, and lowers it if the checks found no error.
///
/// All findings are returned, warnings included; the program is there exactly if none of them is an error. Spans are
/// those of the syntax tree. Never panics on any tree that the parser can give.
pub fn compile(tree: &ast::Program) -> (Option<Program>, Vec<Diagnostic>) {
    let mut diagnostics = check::syntax(tree);
    let (hir, found) = types::check(tree);
    diagnostics.extend(found);
    if !failed(&diagnostics) {
        diagnostics.extend(check::typed(&hir));
    }
    if !failed(&diagnostics) && hir.main.is_none() {
        diagnostics.push(no_main(tree));
    }
    if failed(&diagnostics) {
        return (None, diagnostics);
    }
    let (program, found) = lower::lower(&hir, "main");
    diagnostics.extend(found);
    // What the verifier refuses would run wrongly: an error of the compiler is an error for its user.
    if let Some(violation) = program.as_ref().and_then(|program| verify::verify(program).into_iter().next()) {
        let end = program_end(tree);
        let message = format!("error of the compiler itself: {}: {}", violation.place, violation.message);
        diagnostics.push(Diagnostic::error(end, message).with_help("please report it with the program"));
        return (None, diagnostics);
    }
    (program, diagnostics)
}

fn failed(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

fn no_main(tree: &ast::Program) -> Diagnostic {
    Diagnostic::error(program_end(tree), "the program has no `main`")
        .with_help("end the program with an instance of the architecture's package: `V1Switch(...) main;`")
}

/// Where a program ends, for what concerns all of it.
fn program_end(tree: &ast::Program) -> p4cc_syntax::Span {
    tree.decls.last().map_or_else(p4cc_syntax::Span::default, |decl| decl.span)
}
