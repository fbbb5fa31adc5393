//! From a parsed P4-16 program to one that a switch can run: types, checks, lowering, verifier.

pub use p4cc_check::strict::Strict;

use p4cc_budget::Budget;
use p4cc_ir::{Library, Program, limits, verify};
pub use p4cc_lower::known_architectures;
use p4cc_lower::{is_known_name, is_known_package, known_packages};
use p4cc_syntax::{Diagnostic, Severity, Span, ast};
use p4cc_types::hir::{self, Constructed};

/// What a source without errors is made into.
#[derive(Clone, Debug)]
pub enum Unit {
    /// A program that a switch can run.
    Program(Box<Program>),
    /// Declarations for an architecture, without `main`.
    Library(Box<Library>),
    /// A source for no architecture that is known here: it was checked, and nothing is made of it.
    Checked(Lacking),
}

/// Why nothing is made of a source without errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lacking {
    /// It has no `main`, and includes no architecture that is known here.
    Main,
    /// `main` is an instance of this package, which is none of the known ones.
    Architecture(String),
}

/// Compiles a parsed program that is to run: checks it, and lowers it if the checks found no error.
///
/// All findings are returned, warnings included; the program is there exactly if none of them is an error.
/// Spans are those of the syntax tree. Never panics on any tree that the parser can give.
///
/// The findings stand in the order of the source; past
/// [`limits::MAX_SHOWN`] errors or warnings the rest is left out.
pub fn compile(tree: &ast::Program) -> (Option<Program>, Vec<Diagnostic>) {
    compile_within(tree, Strict::Off, &Budget::default())
}

/// As [`compile`]; what `strict` does not let pass is an error, too.
///
/// `budget` is the one that the tree was parsed with. Its limits are errors, and so is [`Budget::cancel`],
/// which any thread may call on a clone: the compilation then ends within milliseconds.
pub fn compile_within(
    tree: &ast::Program,
    strict: Strict,
    budget: &Budget,
) -> (Option<Program>, Vec<Diagnostic>) {
    finished(compile_all(tree, false, strict, budget), |unit| match unit {
        Unit::Program(program) => Some(*program),
        Unit::Library(_) | Unit::Checked(_) => None,
    })
}

/// As [`compile`], for who asks whether a source is right and what it declares: one without
/// `main`, or with a package that is not known here, is no error then but a warning.
pub fn compile_unit(tree: &ast::Program) -> (Option<Unit>, Vec<Diagnostic>) {
    compile_unit_within(tree, Strict::Off, &Budget::default())
}

/// As [`compile_unit`], with the arguments of [`compile_within`].
pub fn compile_unit_within(
    tree: &ast::Program,
    strict: Strict,
    budget: &Budget,
) -> (Option<Unit>, Vec<Diagnostic>) {
    finished(compile_all(tree, true, strict, budget), Some)
}

fn finished<T>(
    (unit, mut diagnostics): (Option<Unit>, Vec<Diagnostic>),
    made: impl FnOnce(Unit) -> Option<T>,
) -> (Option<T>, Vec<Diagnostic>) {
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    (unit.and_then(made), bounded(diagnostics))
}

/// The first findings of each severity, and a last one that says how many more there are.
fn bounded(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut shown = Vec::with_capacity(diagnostics.len().min(2 * limits::MAX_SHOWN));
    let (mut errors, mut warnings) = (0usize, 0usize);
    let mut last = Span::default();
    for diagnostic in diagnostics {
        let count = if diagnostic.severity == Severity::Error { &mut errors } else { &mut warnings };
        *count += 1;
        if *count <= limits::MAX_SHOWN {
            last = diagnostic.span;
            shown.push(diagnostic);
        }
    }
    let left = |count: usize| count.saturating_sub(limits::MAX_SHOWN);
    if left(errors) > 0 {
        shown.push(Diagnostic::error(last, format!("{} more errors are not shown", left(errors))));
    }
    if left(warnings) > 0 {
        shown.push(Diagnostic::warning(last, format!("{} more warnings are not shown", left(warnings))));
    }
    shown
}

fn compile_all(
    tree: &ast::Program,
    libraries: bool,
    strict: Strict,
    budget: &Budget,
) -> (Option<Unit>, Vec<Diagnostic>) {
    let (unit, mut diagnostics) = compile_loudly(tree, libraries, strict, budget);
    p4cc_check::silence(tree, &mut diagnostics);
    strict.enforce(&mut diagnostics);
    (unit.filter(|_| !failed(&diagnostics)), diagnostics)
}

/// Compiles with all warnings, those that `@noWarn` silences too.
fn compile_loudly(
    tree: &ast::Program,
    libraries: bool,
    strict: Strict,
    budget: &Budget,
) -> (Option<Unit>, Vec<Diagnostic>) {
    let mut diagnostics = p4cc_check::syntax(tree);
    let (hir, found) = p4cc_types::check(tree, budget);
    diagnostics.extend(found);
    if !failed(&diagnostics) {
        diagnostics.extend(p4cc_check::typed(&hir));
    }
    if !failed(&diagnostics) {
        diagnostics.extend(p4cc_check::strict::check(&hir, strict));
    }
    if failed(&diagnostics) {
        return (None, diagnostics);
    }
    if let Some(lacking) = lacking(&hir, !libraries) {
        let library = lacking == Lacking::Main && includes_architecture(tree);
        diagnostics.push(lacks(tree, &hir, &lacking, libraries, library));
        if !libraries {
            return (None, diagnostics);
        }
        if !library {
            return (Some(Unit::Checked(lacking)), diagnostics);
        }
        let (made, found) = p4cc_lower::library(&hir, budget);
        diagnostics.extend(found);
        return (made.map(|library| Unit::Library(Box::new(library))), diagnostics);
    }
    let (program, found) = p4cc_lower::lower(&hir, "main", budget);
    diagnostics.extend(found);
    // What the verifier refuses would run wrongly: an error of the compiler is an error for its user.
    if let Some(violation) = program.as_ref().and_then(|program| verify::verify(program).into_iter().next()) {
        let end = program_end(tree);
        let message = format!("error of the compiler itself: {}: {}", violation.place, violation.message);
        diagnostics.push(Diagnostic::error(end, message).with_help("please report it with the program"));
        return (None, diagnostics);
    }
    (program.map(|program| Unit::Program(Box::new(program))), diagnostics)
}

fn failed(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Whether a source includes (or declares) an architecture
/// that is known here, which says what P4Info is made of.
fn includes_architecture(tree: &ast::Program) -> bool {
    let known = |name: &ast::Ident| is_known_name(&name.name);
    tree.decls.iter().any(|decl| matches!(&decl.kind, ast::DeclKind::PackageType { name, .. } if known(name)))
}

/// What keeps a program from being run by a switch.
fn lacking(hir: &hir::Program, to_run: bool) -> Option<Lacking> {
    let Some(main) = hir.main.and_then(|id| hir.instances.get(id.index())) else {
        return Some(Lacking::Main);
    };
    match &main.construct.what {
        // Of a package by a known name that is to run, the lowering says what it lacks.
        Constructed::Package(package)
            if !is_known_name(package) || (!to_run && !is_known_package(hir, main)) =>
        {
            Some(Lacking::Architecture(package.clone()))
        }
        _ => None,
    }
}

/// Says what a program lacks: an error where it is to run, else a warning.
fn lacks(
    tree: &ast::Program,
    hir: &hir::Program,
    lacking: &Lacking,
    is_warning: bool,
    library: bool,
) -> Diagnostic {
    let main = hir.main.and_then(|id| hir.instances.get(id.index()));
    let (span, message, help) = match lacking {
        Lacking::Main => (
            program_end(tree),
            "the program has no `main`".to_owned(),
            "end the program with an instance of the architecture's package: `V1Switch(...) main;`"
                .to_owned(),
        ),
        Lacking::Architecture(package) => (
            main.map_or_else(|| program_end(tree), |main| main.span),
            match is_known_name(package) {
                true => format!("package `{package}` of the program's own is not supported"),
                false => format!("architecture `{package}` is not supported"),
            },
            known_packages(),
        ),
    };
    let so = match library {
        true => "no switch can run it, and its P4Info has no tables or actions",
        false => "it was checked, and no switch can run it",
    };
    match is_warning {
        true => Diagnostic::warning(span, format!("{message}: {so}")).with_help(help),
        false => Diagnostic::error(span, message).with_help(help),
    }
}

/// Where a program ends, for what concerns all of it.
fn program_end(tree: &ast::Program) -> Span {
    tree.decls.last().map_or_else(Span::default, |decl| decl.span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_counted() {
        let errors = (0..limits::MAX_SHOWN as u32 + 7).map(|at| Diagnostic::error(Span::new(at, at), "e"));
        let warnings = (0..3).map(|at| Diagnostic::warning(Span::new(at, at), "w"));
        let shown = bounded(errors.chain(warnings).collect());
        assert_eq!(shown.len(), limits::MAX_SHOWN + 3 + 1);
        assert_eq!(shown.last().map(|last| last.message.as_str()), Some("7 more errors are not shown"));
    }
}
