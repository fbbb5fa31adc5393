//! One message with place, cause and remedy.

use std::error::Error;
use std::fmt;

/// What went wrong, as people read it.
#[derive(Debug)]
pub struct Failure(String);

/// A result whose error is printed as it is.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// An error at `place`.
    pub fn new(place: impl fmt::Display, cause: impl fmt::Display, remedy: &str) -> Self {
        Self(format!("{place}: {cause}; {remedy}"))
    }

    /// An error of the system or of libbpf while doing something.
    pub fn while_doing(what: impl fmt::Display, error: &dyn Error) -> Self {
        let cause = std::iter::successors(error.source(), |cause| (*cause).source())
            .fold(error.to_string(), |text, cause| format!("{text}: {cause}"));
        Self(format!("{what}: {cause}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<p4cc_cc::ConfigError> for Failure {
    fn from(error: p4cc_cc::ConfigError) -> Self {
        Self(error.to_string())
    }
}

/// Names what was being done when an error occurred.
pub trait Context<T> {
    /// The same result, its error with `what` in front.
    fn context(self, what: impl fmt::Display) -> Outcome<T>;
}

impl<T, E: Error + 'static> Context<T> for Result<T, E> {
    fn context(self, what: impl fmt::Display) -> Outcome<T> {
        self.map_err(|error| Failure::while_doing(what, &error))
    }
}
