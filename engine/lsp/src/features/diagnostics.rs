//! What the compiler says, by document.

use crate::view::View;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, NumberOrString, Position,
    Range,
};
use p4cc_syntax::{Diagnostic as Finding, Severity};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Name of the server in what it reports.
pub const SOURCE: &str = "p4cc";

/// Findings by the path of their file. One in a file that comes with p4cc stands at the program's beginning.
pub fn by_file(view: &View<'_>, findings: &[Finding]) -> BTreeMap<PathBuf, Vec<Diagnostic>> {
    let mut found: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
    let root = &view.analysis.root;
    for finding in findings {
        let place = view.analysis.place(finding.span);
        let own = place.filter(|place| !view.analysis.files[place.file].is_builtin);
        let (path, range) = match own {
            Some(place) => (&view.analysis.files[place.file].path, view.range(place.file, place.range)),
            None => (root, Range::default()),
        };
        let diagnostic = diagnostic(view, finding, range);
        let there = found.entry(path.clone()).or_default();
        // A file that is included twice is wrong once.
        if !there.contains(&diagnostic) {
            there.push(diagnostic);
        }
    }
    if let Some(problem) = &view.analysis.config.problem {
        let range = Range::new(Position::new(0, 0), Position::new(0, 0));
        let told =
            Diagnostic { range, severity: Some(DiagnosticSeverity::WARNING), ..plain(problem.clone()) };
        found.entry(root.clone()).or_default().push(told);
    }
    found
}

fn plain(message: String) -> Diagnostic {
    Diagnostic { source: Some(SOURCE.to_owned()), message, ..Diagnostic::default() }
}

fn diagnostic(view: &View<'_>, finding: &Finding, range: Range) -> Diagnostic {
    let mut message = finding.message.clone();
    if !finding.label.is_empty() {
        message.push_str(&format!(" ({})", finding.label));
    }
    if let Some(help) = &finding.help {
        message.push_str(&format!("\nhelp: {help}"));
    }
    let related = finding.related.iter().filter_map(|(span, message)| {
        let location = view.location_of(*span)?;
        Some(DiagnosticRelatedInformation { location, message: message.clone() })
    });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    let severity = match finding.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
    };
    Diagnostic {
        range,
        severity: Some(severity),
        code: (!finding.name.is_empty()).then(|| NumberOrString::String(finding.name.to_owned())),
        related_information: (!related.is_empty()).then_some(related),
        tags: (finding.name == "unreachable").then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..plain(message)
    }
}
