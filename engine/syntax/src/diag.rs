//! Diagnostics: what is wrong, where, why, and what to do about it.

use crate::span::Span;
use p4cc_budget::Overrun;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program is valid but likely not what was meant.
    Warning,
    /// The program is refused.
    Error,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// One sentence: what is wrong.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Text beside the caret, may be empty.
    pub label: String,
    /// Other places that matter ("declared here").
    pub related: Vec<(Span, String)>,
    /// What to do about it, if known.
    pub help: Option<String>,
    /// Name by which `@noWarn("...")` silences a warning, as in p4c; empty if it cannot be silenced.
    pub name: &'static str,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            related: Vec::new(),
            help: None,
            name: "",
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message) }
    }

    /// A construct of the language that the engine does not run yet.
    pub fn not_supported(span: Span, what: impl core::fmt::Display) -> Self {
        Self::error(span, format!("not supported yet: {what}"))
    }

    /// The error at the place that asked for more than the compilation's budget has left.
    pub fn over_budget(span: Span, overrun: Overrun) -> Self {
        Self { help: overrun.remedy().map(str::to_owned), ..Self::error(span, overrun.cause()) }
    }

    /// Adds the text beside the caret.
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Names a warning for `@noWarn`.
    pub fn with_name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Adds another place.
    pub fn with_related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push((span, text.into()));
        self
    }

    /// Adds the remedy.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
