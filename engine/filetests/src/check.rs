//! Cases of diagnostics: `//~ ERROR text` stands beside the
//! line that is wrong, `//~^ ERROR text` on the line below it.
//!
//! The text must occur in the diagnostic's message. Every
//! diagnostic must be announced and every announcement come true.

use crate::{Compiled, Failure, compile};
use p4cc_syntax::Severity;
use std::path::Path;

/// An announced diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Announced {
    line: u32,
    severity: Severity,
    text: String,
}

/// Runs a case.
///
/// # Errors
/// What differs from the announcements.
pub fn run(path: &Path) -> Result<(), Vec<Failure>> {
    let file = path.display().to_string();
    let fail = |line: u32, message: String| Failure { file: file.clone(), line, message };
    let text = std::fs::read_to_string(path).map_err(|error| vec![fail(1, error.to_string())])?;
    let announced = announcements(&text).map_err(|(line, message)| vec![fail(line, message)])?;
    let compiled = compile(path);
    let accepted = compiled.accepted();
    let Compiled { source, diagnostics, .. } = compiled;
    let mut open = announced.clone();
    let mut failures = Vec::new();
    for diagnostic in &diagnostics {
        let place = source.locate(diagnostic.span);
        let met = open.iter().position(|one| {
            one.line == place.line
                && one.severity == diagnostic.severity
                && diagnostic.message.contains(&one.text)
                && place.file == file
        });
        match met {
            Some(at) => {
                open.remove(at);
            }
            None => failures.push(fail(
                place.line,
                format!("not announced:\n{}", source.render(std::slice::from_ref(diagnostic), false)),
            )),
        }
    }
    for missing in open {
        failures.push(fail(missing.line, format!("no {:?} with `{}` came", missing.severity, missing.text)));
    }
    let errors = announced.iter().any(|one| one.severity == Severity::Error);
    if errors == accepted {
        failures.push(fail(1, "a program is made exactly if there is no error".to_owned()));
    }
    if failures.is_empty() { Ok(()) } else { Err(failures) }
}

fn announcements(text: &str) -> Result<Vec<Announced>, (u32, String)> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let at = at as u32 + 1;
        let Some((_, rest)) = line.split_once("//~") else { continue };
        let above = rest.chars().take_while(|c| *c == '^').count() as u32;
        let rest = rest.trim_start_matches('^').trim();
        let (severity, text) = match rest.split_once(' ') {
            Some(("ERROR", text)) => (Severity::Error, text),
            Some(("WARN", text)) => (Severity::Warning, text),
            _ => return Err((at, "write `//~ ERROR text` or `//~ WARN text`".to_owned())),
        };
        let line = at.checked_sub(above).ok_or((at, "`^` leads above the file".to_owned()))?;
        found.push(Announced { line, severity, text: text.trim().to_owned() });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_are_read_with_their_lines() {
        let found = announcements("a\nb //~ ERROR bad thing\n//~^ WARN odd\n").unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[0].text.as_str()), (2, "bad thing"));
        assert_eq!((found[1].line, found[1].severity), (2, Severity::Warning));
        assert!(announcements("//~ NOTE x").is_err());
    }
}
