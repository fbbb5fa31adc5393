//! Preprocesses and parses P4 files and prints the diagnostics: `parse [-I folder] [-D NAME=value] file...`

use p4cc_syntax::{Options, Severity, Source, parse};
use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut options = Options::default();
    let mut args = std::env::args().skip(1);
    let mut failed = 0;
    let mut out = std::io::stdout().lock();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-I" => options.include_dirs.extend(args.next().map(Into::into)),
            "-D" => {
                let text = args.next().unwrap_or_default();
                let (name, value) = text.split_once('=').unwrap_or((&text, "1"));
                options.defines.push((name.to_owned(), value.to_owned()));
            }
            path => {
                let (source, mut diagnostics) = Source::load(path, &options);
                let (program, more) = parse(&source);
                diagnostics.extend(more);
                let bad = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
                failed += i32::from(bad);
                let verdict = if bad { "errors" } else { "ok" };
                writeln!(out, "{path}: {verdict}, {} declarations", program.decls.len())?;
                write!(out, "{}", source.render(&diagnostics, false))?;
            }
        }
    }
    std::process::exit(i32::from(failed > 0))
}
