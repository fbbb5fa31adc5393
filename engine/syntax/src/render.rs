//! Diagnostics for people (source line, caret, help) and for programs.

use crate::diag::{Diagnostic, Severity};
use crate::source::{MAX_SHOWN_BYTES, PhysicalRange, Source, SourceFile};
use crate::span::Span;
use codespan_reporting::diagnostic as report;
use codespan_reporting::files::{Error, Files};
use codespan_reporting::term::{self, Config};
use std::ops::Range;

/// A diagnostic as plain values, for an editor or a gRPC answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineDiagnostic {
    /// File as the user names it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// How bad.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What to do about it; empty if not known.
    pub help: String,
}

impl std::fmt::Display for MachineDiagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(f, "{}:{}:{}: {severity}: {}", self.file, self.line, self.column, self.message)?;
        if !self.help.is_empty() {
            // What the terminal shows below each other stands on one line here.
            let lines: Vec<&str> = self.help.lines().map(str::trim).collect();
            write!(f, " (help: {})", lines.join("; "))?;
        }
        Ok(())
    }
}

impl Source {
    /// The diagnostics with source lines and carets, coloured by ANSI sequences if `colour`.
    pub fn render(&self, diagnostics: &[Diagnostic], colour: bool) -> String {
        let config = Config::default();
        let mut out = String::new();
        for diagnostic in diagnostics {
            let rendered = if !self.showable(diagnostic) {
                Ok(format!("{}\n", self.machine(diagnostic)))
            } else {
                let report = self.report(diagnostic);
                if colour {
                    self.coloured(&config, &report)
                } else {
                    term::emit_into_string(&config, &Shown(self), &report)
                }
            };
            // A place that cannot be shown must not swallow the message.
            out.push_str(&rendered.unwrap_or_else(|_| format!("{}\n", self.machine(diagnostic))));
        }
        out
    }

    /// All its places are on lines short enough to be shown.
    fn showable(&self, diagnostic: &Diagnostic) -> bool {
        let spans = std::iter::once(diagnostic.span).chain(diagnostic.related.iter().map(|(span, _)| *span));
        spans.into_iter().all(|span| {
            self.physical(span).is_some_and(|PhysicalRange { file, start, end }| {
                let file = &self.files[file];
                let short = |at| file.line_bytes(file.line_index(at)).len() <= MAX_SHOWN_BYTES;
                short(start) && short(end)
            })
        })
    }

    fn coloured(&self, config: &Config, report: &report::Diagnostic<FileId>) -> Result<String, Error> {
        let mut writer = term::termcolor::Ansi::new(Vec::new());
        term::emit_to_write_style(&mut writer, config, &Shown(self), report)?;
        Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
    }

    /// The diagnostic as plain values.
    pub fn machine(&self, diagnostic: &Diagnostic) -> MachineDiagnostic {
        let place = self.locate(diagnostic.span);
        MachineDiagnostic {
            file: place.file,
            line: place.line,
            column: place.column,
            severity: diagnostic.severity,
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone().unwrap_or_default(),
        }
    }

    fn report(&self, diagnostic: &Diagnostic) -> report::Diagnostic<FileId> {
        let severity = match diagnostic.severity {
            Severity::Warning => report::Severity::Warning,
            Severity::Error => report::Severity::Error,
        };
        let mut labels = Vec::new();
        if let Some((file, range)) = self.file_range(diagnostic.span) {
            labels.push(report::Label::primary(file, range).with_message(&diagnostic.label));
        }
        for (span, text) in &diagnostic.related {
            if let Some((file, range)) = self.file_range(*span) {
                labels.push(report::Label::secondary(file, range).with_message(text));
            }
        }
        let notes = diagnostic.help.iter().map(|help| format!("help: {help}")).collect();
        let report = report::Diagnostic::new(severity).with_message(&diagnostic.message);
        let report = if diagnostic.name.is_empty() { report } else { report.with_code(diagnostic.name) };
        report.with_labels(labels).with_notes(notes)
    }

    fn file_range(&self, span: Span) -> Option<(FileId, Range<usize>)> {
        let PhysicalRange { file, start, end } = self.physical(span)?;
        let line = self.files[file].line_index(start);
        let marker = self.files[file].markers.partition_point(|marker| marker.line_index <= line);
        Some((FileId { file, marker }, start..end))
    }
}

/// A physical file, and how many `#line` markers stand before the place (they decide the name shown).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    file: usize,
    marker: usize,
}

/// A source as the renderer reads it.
struct Shown<'s>(&'s Source);

impl Shown<'_> {
    fn file(&self, id: FileId) -> Result<&SourceFile, Error> {
        self.0.files.get(id.file).ok_or(Error::FileMissing)
    }
}

impl<'a> Files<'a> for Shown<'_> {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        let file = self.file(id)?;
        let marker = id.marker.checked_sub(1).and_then(|marker| file.markers.get(marker));
        Ok(marker.map_or(&file.name, |marker| &marker.name))
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        Ok(&self.file(id)?.text)
    }

    fn line_index(&'a self, id: FileId, byte_index: usize) -> Result<usize, Error> {
        Ok(self.file(id)?.line_index(byte_index))
    }

    fn line_number(&'a self, id: FileId, line_index: usize) -> Result<usize, Error> {
        // `#line 0` may say 0, whose digits the renderer cannot count.
        Ok(self.file(id)?.presumed_line(line_index).max(1) as usize)
    }

    fn line_range(&'a self, id: FileId, line_index: usize) -> Result<Range<usize>, Error> {
        Ok(self.file(id)?.line_bytes(line_index))
    }
}
