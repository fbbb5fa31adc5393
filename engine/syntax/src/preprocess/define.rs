//! `#define`, and the messages of macros that cannot be expanded.

use super::Job;
use super::directive::Line;
use super::expand::ExpandError;
use super::file::FileJob;
use super::macros::{Definition, Macro};
use crate::diag::Diagnostic;
use std::rc::Rc;

impl Job<'_> {
    pub(super) fn define(&mut self, job: &FileJob, line: &Line) {
        let Some(name) = self.macro_name(job, line) else { return };
        let place = line.place(0);
        let mut definition = match Definition::read(&line.tokens[1..]) {
            Ok(definition) => definition,
            Err((at, message)) => {
                let (start, end) = line.place(at + 1);
                return self.error(job.index, start, end, message, None);
            }
        };
        definition.place = Some((job.index, place.0, place.1));
        let definition = Rc::new(definition);
        let old = self.macros.insert(name.clone(), Macro::User(definition.clone()));
        let before = match old {
            Some(Macro::User(old)) if !old.same_as(&definition) => old.place,
            Some(Macro::BuiltIn(_)) => None,
            _ => return,
        };
        let span = self.out.anchor(job.index, place.0, place.1);
        let message = format!("macro `{name}` is redefined with another value");
        let diag = Diagnostic::warning(span, message).with_help("`#undef` it first if this is intended");
        let diag = match before {
            Some((file, start, end)) => {
                let span = self.out.anchor(file, start, end);
                diag.with_related(span, "first defined here")
            }
            None => diag,
        };
        self.report(diag);
    }

    pub(super) fn expand_error(&mut self, file: usize, start: usize, end: usize, cause: ExpandError) {
        let (message, help) = match cause {
            ExpandError::Over(overrun) => {
                self.stopped = true;
                return self.error(file, start, end, overrun.cause(), overrun.remedy());
            }
            ExpandError::TooManyTokens => {
                self.stopped = true;
                let (tokens, bytes) = (self.options.limits.macro_tokens, self.limit_bytes());
                (
                    format!("macros have more than {tokens} tokens, or expand to more than {bytes} bytes"),
                    "look for macros that expand one another".to_owned(),
                )
            }
            ExpandError::TooDeep(name) => {
                let limit = self.options.limits.macro_depth;
                (
                    format!("`{name}` is nested in the arguments of {limit} macros"),
                    "nest fewer macros".to_owned(),
                )
            }
            ExpandError::Unclosed(name) => {
                (format!("unterminated argument list of macro `{name}`"), "add `)`".to_owned())
            }
            ExpandError::HashLine(name) => (
                format!("a line in the arguments of macro `{name}` begins with `#` but is not a directive"),
                "write `//` before a comment".to_owned(),
            ),
            ExpandError::Arguments(name, expected, found) => (
                format!("macro `{name}` takes {expected} arguments, but {found} are given"),
                "see its `#define`".to_owned(),
            ),
            ExpandError::Pragma => {
                ("`_Pragma` takes a string in parentheses".to_owned(), "write `_Pragma(\"...\")`".to_owned())
            }
            ExpandError::HasInclude(what) => {
                (format!("`__has_include` {what}"), "write `#if __has_include(\"file.p4\")`".to_owned())
            }
        };
        self.error(file, start, end, message, Some(&help));
    }
}
