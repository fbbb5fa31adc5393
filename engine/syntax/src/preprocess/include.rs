//! Files that others include, and the pragmas.

use super::Job;
use super::directive::Line;
use super::expand::ExpandError;
use super::file::FileJob;
use super::macros::Macro;
use super::scan::Kind;
use super::target::BackEnd;
use super::token::{Token, spelled};
use crate::closest;
use crate::diag::Diagnostic;
use crate::loader::{ARCHITECTURES, builtin, builtin_names, other_architecture};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// How a file is looked for.
#[derive(Clone, Copy, Debug)]
struct Wanted<'p> {
    path: &'p str,
    /// In the folder of the including file first.
    quoted: bool,
    /// Behind the folder in which the including file was found.
    next: bool,
}

impl Job<'_> {
    /// Stops where a file of another back end is included; the program is then read again.
    pub(super) fn back_end_of(&mut self, path: &str) {
        let file = path.rsplit('/').next().unwrap_or(path);
        let chip = match file {
            "t2na.p4" => 2,
            _ if file.starts_with("tofino2") => 2,
            "tna.p4" | "tofino.p4" => 1,
            _ if file.starts_with("tofino1") => 1,
            _ => return,
        };
        if self.back_end == BackEnd::Bmv2 {
            self.again = Some(BackEnd::Tofino(chip));
            self.stopped = true;
        }
    }

    pub(super) fn include_line(&mut self, job: &FileJob, line: &Line) {
        if self.expansion.in_arguments {
            let message = format!("`#{}` is not allowed in the arguments of a macro", line.name);
            return self.line_error(job, line, &message);
        }
        let named = |token: &Token| matches!(token.kind, Kind::Header | Kind::Str);
        let tokens = if line.tokens.first().is_some_and(named) {
            self.extra_tokens(job, line, 1);
            line.tokens.clone()
        } else {
            match self.expand_line(&line.tokens, line.start) {
                Ok(tokens) => tokens,
                Err(cause) => return self.expand_error(job.index, line.start, line.end, cause),
            }
        };
        match file_name(&tokens).filter(|(path, _, _)| !path.is_empty()) {
            Some((path, quoted, _)) => {
                let (start, _) = line.place(0);
                let wanted = Wanted { path: &path, quoted, next: line.name == "include_next" };
                self.include(job, wanted, line.name == "import", (start, line.end));
            }
            None => {
                let message = format!("`#{}` needs a file name", line.name);
                let help = "write `#include \"file.p4\"` or `#include <file.p4>`";
                self.error(job.index, line.start, line.end, message, Some(help));
            }
        }
    }

    /// Reads an included file and runs it; `place` is that of its name.
    fn include(&mut self, job: &FileJob, wanted: Wanted<'_>, once: bool, place: (usize, usize)) {
        let (start, end) = place;
        let limits = self.options.limits;
        self.includes += 1;
        if self.includes > limits.include_count {
            self.stopped = true;
            let message = format!("more than {} files are included", limits.include_count);
            let help = "look for files that include each other";
            return self.error(job.index, start, end, message, Some(help));
        }
        if job.depth + 1 > limits.include_depth {
            let message = format!("includes are nested more than {} deep", limits.include_depth);
            let help = "put `#ifndef NAME`, `#define NAME` and `#endif` around the included file";
            return self.error(job.index, start, end, message, Some(help));
        }
        self.back_end_of(wanted.path);
        if self.stopped {
            return;
        }
        let candidates = self.candidates(wanted);
        let room = u64::from(self.limit_bytes()).saturating_sub(self.read_bytes);
        for (candidate, folder) in &candidates {
            match self.loader.read(candidate, room) {
                Ok(bytes) => {
                    let name = candidate.to_string_lossy().into_owned();
                    let found = (candidate.parent().map(Path::to_owned), *folder);
                    return self.run_included(&name, &bytes, found, job.depth + 1, once);
                }
                Err(cause) if cause.kind() == ErrorKind::NotFound => {}
                Err(cause) if cause.kind() == ErrorKind::FileTooLarge => {
                    return self.too_large(job.index, start, end);
                }
                Err(cause) => {
                    let message = format!("cannot read `{}`: {cause}", candidate.display());
                    return self.error(job.index, start, end, message, None);
                }
            }
        }
        if let Some((name, text)) = builtin(wanted.path) {
            return self.run_included(&name, text.as_bytes(), (None, None), job.depth + 1, once);
        }
        self.not_found(job.index, wanted.path, &candidates, place);
    }

    /// Paths to try, each with its index among the folders of the command line.
    fn candidates(&self, wanted: Wanted<'_>) -> Vec<(PathBuf, Option<usize>)> {
        let path = wanted.path;
        let first = match self.reading.found {
            Some(found) if wanted.next => found + 1,
            _ => 0,
        };
        let beside = wanted.quoted && !wanted.next;
        let own = self
            .reading
            .folder
            .iter()
            .filter(|_| beside)
            .map(|folder| (folder.join(path), self.reading.found));
        let folders = self.options.include_dirs.iter().enumerate().skip(first);
        own.chain(folders.map(|(index, folder)| (folder.join(path), Some(index)))).collect()
    }

    fn not_found(
        &mut self,
        file: usize,
        path: &str,
        candidates: &[(PathBuf, Option<usize>)],
        (start, end): (usize, usize),
    ) {
        let tried: Vec<String> = candidates.iter().map(|(path, _)| format!("`{}`", path.display())).collect();
        let tried = if tried.is_empty() { "no folders".to_owned() } else { tried.join(", ") };
        let (message, help) = match other_architecture(path) {
            Some(what) => (
                format!("included file `{path}` not found: it declares {what}, which is not supported"),
                format!(
                    "p4cc runs programs for {ARCHITECTURES}; given a folder that contains the file (-I; \
                        searched {tried}), it can check the program up to its `main`"
                ),
            ),
            None => {
                let meant = closest(path, builtin_names());
                let meant = meant.map_or_else(String::new, |name| format!("did you mean `{name}`? "));
                (
                    format!("included file `{path}` not found"),
                    format!(
                        "{meant}searched {tried} and the bundled files {}; add a folder with -I",
                        listed(&builtin_names().collect::<Vec<_>>()),
                    ),
                )
            }
        };
        self.error(file, start, end, message, Some(&help));
    }

    fn run_included(
        &mut self,
        name: &str,
        bytes: &[u8],
        found: (Option<PathBuf>, Option<usize>),
        depth: u32,
        once: bool,
    ) {
        if self.once.contains(name) {
            return;
        }
        if once {
            self.once.insert(name.to_owned());
        }
        let index = self.add_file(name.to_owned(), &String::from_utf8_lossy(bytes));
        if !self.stopped {
            self.run_file(index, found, depth);
            self.check_utf8(index, bytes);
        }
    }

    /// Answers `__has_include`, whose operand is read here.
    pub(super) fn has_include(&mut self, next: bool) -> Result<bool, ExpandError> {
        let wrong = Err(ExpandError::HasInclude("needs a file name in parentheses"));
        if !self.next_word()?.is("(") {
            return wrong;
        }
        let mut tokens = vec![self.next_word()?];
        if tokens[0].is("<") {
            loop {
                let token = self.next_word()?;
                let last = token.is(">");
                if token.kind == Kind::End {
                    return wrong;
                }
                tokens.push(token);
                if last {
                    break;
                }
            }
        }
        let Some((path, quoted, _)) = file_name(&tokens) else { return wrong };
        if !self.next_word()?.is(")") {
            return wrong;
        }
        if path.is_empty() {
            return Ok(false);
        }
        let candidates = self.candidates(Wanted { path: &path, quoted, next });
        let room = u64::from(self.limit_bytes()).saturating_sub(self.read_bytes);
        // What cannot be read is there all the same.
        let absent = |cause: std::io::Error| cause.kind() == ErrorKind::NotFound;
        Ok(builtin(&path).is_some()
            || candidates.iter().any(|(path, _)| !self.loader.read(path, room).is_err_and(absent)))
    }

    /// Carries out a pragma; most are for other compilers.
    pub(super) fn pragma(&mut self, text: &str) {
        let words = super::token::tokens_of(text);
        let words: Vec<&str> = words.iter().map(|token| &*token.text).collect();
        let (file, start, end) = self.pragma_at;
        match words[..] {
            ["once"] => {
                let name = self.files[self.reading.index].name.clone();
                self.once.insert(name);
            }
            ["push_macro", "(", name, ")"] => {
                let name = name.trim_matches('"');
                let found = self.macros.get(name).cloned();
                self.pushed.entry(name.into()).or_default().push(found);
            }
            ["pop_macro", "(", name, ")"] => {
                let name = name.trim_matches('"');
                match self.pushed.get_mut(name).and_then(Vec::pop) {
                    Some(Some(found)) => drop(self.macros.insert(name.into(), found)),
                    Some(None) => drop::<Option<Macro>>(self.macros.remove(name)),
                    None => {}
                }
            }
            ["GCC", "error", text] => {
                let message = text.trim_matches('"').to_owned();
                self.error(file, start, end, message, None);
            }
            ["GCC", kind @ ("warning" | "poison"), ..] => {
                let message = match kind {
                    "warning" => words.get(2).map_or("", |text| text.trim_matches('"')).to_owned(),
                    _ => "`#pragma GCC poison` has no effect here".to_owned(),
                };
                let span = self.out.anchor(file, start, end);
                self.report(Diagnostic::warning(span, message));
            }
            _ => {}
        }
    }
}

/// Names in a sentence: `a, b and c`.
fn listed(names: &[&str]) -> String {
    names.split_last().map_or_else(String::new, |(last, others)| format!("{} and {last}", others.join(", ")))
}

/// The file that tokens name, whether in quotes, and how many tokens do.
fn file_name(tokens: &[Token]) -> Option<(String, bool, usize)> {
    let first = tokens.first()?;
    let inner = first.text.get(1..first.text.len().saturating_sub(1)).unwrap_or_default();
    match first.kind {
        Kind::Str => Some((inner.to_owned(), true, 1)),
        Kind::Header => Some((inner.to_owned(), false, 1)),
        Kind::Punct if first.is("<") => {
            let close = tokens.iter().position(|token| token.is(">"))?;
            let mut inside = tokens[1..close].to_vec();
            // GNU cpp keeps the blanks between the tokens, the first one too.
            if inside.first().is_some_and(|token| token.space) {
                inside.insert(0, Token::new(Kind::Punct, "", false));
            }
            Some((spelled(&inside), false, close + 1))
        }
        _ => None,
    }
}
