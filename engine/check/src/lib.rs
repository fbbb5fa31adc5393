//! Checks that need no more than the shape of a program: passes beside the typing walk.
//!
//! Three entry points: [`syntax`] looks at the syntax tree and runs on every program, also on one with type
//! errors; [`typed`] looks at the typed tree and runs only on one without; [`strict`] holds
//! that to the rules of a chip. Each pass is a file with one
//! subject and adds findings only: no pass changes a tree, and none relies on another.

mod annotations;
mod core_calls;
mod defaults;
mod entries;
mod flow;
mod headers;
mod params;
mod parsers;
mod placement;
mod shadow;
mod silence;
pub mod strict;
mod tables;
mod twice;

use p4cc_syntax::{Diagnostic, ast};
use p4cc_types::hir;
pub use silence::silence;

/// Checks the syntax tree.
pub fn syntax(tree: &ast::Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    placement::check(tree, &mut found);
    params::check(tree, &mut found);
    tables::check(tree, &mut found);
    annotations::check(tree, &mut found);
    shadow::check(tree, &mut found);
    found
}

/// Checks the typed tree of a program without errors.
pub fn typed(program: &hir::Program) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    core_calls::check(program, &mut found);
    parsers::check(program, &mut found);
    defaults::check(program, &mut found);
    entries::check(program, &mut found);
    flow::check(program, &mut found);
    headers::check(program, &mut found);
    twice::check(program, &mut found);
    found
}
