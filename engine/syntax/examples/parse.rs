//! Preprocesses and parses P4 files and prints the diagnostics: `parse [-I folder] [-D NAME=value] file...`
//!
//! It also prints each tree, parses the text again, does the same with
//! the self-contained form, and says if a tree came out different.

use p4cc_syntax::{Memory, Options, Severity, Source, parse, print};
use std::io::Write;

/// Printed tree of a text that needs no file.
fn tree_of(text: &str) -> String {
    let (source, _) = Source::from_text("again.p4", text, &Memory::default(), &Options::default());
    print(&parse(&source).0)
}

fn check(path: &str, options: &Options, out: &mut impl Write) -> std::io::Result<bool> {
    let (source, mut diagnostics) = Source::load(path, options);
    let (program, more) = parse(&source);
    diagnostics.extend(more);
    let bad = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let printed = print(&program);
    let verdict = if bad {
        "errors"
    } else if tree_of(&printed) != printed {
        "printed tree differs"
    } else if tree_of(&source.to_self_contained()) != printed {
        "self-contained form differs"
    } else {
        "ok"
    };
    writeln!(out, "{path}: {verdict}, {} declarations", program.decls.len())?;
    write!(out, "{}", source.render(&diagnostics, false))?;
    Ok(verdict == "ok")
}

fn main() -> std::io::Result<()> {
    let mut options = Options::default();
    let mut args = std::env::args().skip(1);
    let mut all_ok = true;
    let mut out = std::io::stdout().lock();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-I" => options.include_dirs.extend(args.next().map(Into::into)),
            "-D" => {
                let text = args.next().unwrap_or_default();
                let (name, value) = text.split_once('=').unwrap_or((&text, "1"));
                options.defines.push((name.to_owned(), value.to_owned()));
            }
            path => all_ok &= check(path, &options, &mut out)?,
        }
    }
    std::process::exit(i32::from(!all_ok))
}
