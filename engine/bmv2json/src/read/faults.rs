//! What is wrong with a document, as far as it was read.

use core::fmt;

use p4cc_budget::{Budget, Overrun};
use serde_json::Value;

use super::json::{self, Fault, Res};

/// Most errors that are reported for one document.
pub const MAX_ERRORS: usize = 100;

/// Something of a document that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Where in the document: `pipelines[0].tables[2].key[0]`.
    pub path: String,
    /// What is wrong.
    pub cause: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.path, self.cause, self.remedy)
    }
}

impl core::error::Error for ReadError {}

impl ReadError {
    /// A budget that is over at a place.
    pub(super) fn over(path: String, overrun: Overrun) -> Self {
        let remedy = overrun.remedy().unwrap_or("read the document again").to_owned();
        Self { path, cause: overrun.cause(), remedy }
    }
}

/// Faults so far; once the budget is over, none is added.
pub(super) struct Faults<'j> {
    all: Vec<Fault<'j>>,
    budget: Budget,
    /// What was read when the budget was over.
    over_at: Option<&'j Value>,
}

impl<'j> Faults<'j> {
    pub fn new(budget: &Budget) -> Self {
        Self { all: Vec::new(), budget: budget.clone(), over_at: None }
    }

    /// Whether the budget is over while something is read, which is then the place that errors name.
    pub fn is_over(&mut self, at: &'j Value) -> bool {
        let is_over = self.budget.over().is_some();
        if is_over {
            self.over_at.get_or_insert(at);
        }
        is_over
    }

    /// # Errors
    /// The budget is over.
    pub fn check_budget(&self, at: &'j Value) -> Res<'j, ()> {
        if self.budget.over().is_some() { self.over(at) } else { Ok(()) }
    }

    /// The budget is over.
    pub fn over<T>(&self, at: &'j Value) -> Res<'j, T> {
        let overrun = self.budget.over();
        let cause = overrun.map_or_else(String::new, Overrun::cause);
        json::fault(at, cause, overrun.and_then(Overrun::remedy).unwrap_or_default())
    }

    pub fn report(&mut self, fault: Fault<'j>) {
        if self.is_over(fault.at) {
            return;
        }
        if self.all.len() < MAX_ERRORS {
            self.all.push(fault);
        }
    }

    pub fn complain(&mut self, at: &'j Value, cause: String, remedy: &'static str) {
        self.report(Fault { at, cause, remedy });
    }

    /// The errors with their paths in the document; that the budget is over is the only one then.
    pub fn errors(&self, root: &'j Value) -> Vec<ReadError> {
        if let Some(overrun) = self.budget.over() {
            let path = json::paths_of(root, self.over_at.into_iter()).pop();
            return vec![ReadError::over(path.unwrap_or_else(|| "document".to_owned()), overrun)];
        }
        let paths = json::paths_of(root, self.all.iter().map(|fault| fault.at));
        let error = |(fault, path): (&Fault<'_>, String)| ReadError {
            path,
            cause: fault.cause.clone(),
            remedy: fault.remedy.to_owned(),
        };
        self.all.iter().zip(paths).map(error).collect()
    }
}
