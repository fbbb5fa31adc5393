//! Errors of a network: place, cause and remedy.

use core::fmt;

/// A network description that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SpecError {
    /// JSON path of the value, such as `links[3].rate_bps`.
    pub path: String,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

impl SpecError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { path: path.into(), cause: cause.into(), remedy: remedy.into() }
    }
}

/// Refuses the value at `path`.
pub(crate) fn refuse<T>(
    path: impl Into<String>,
    cause: impl Into<String>,
    remedy: impl Into<String>,
) -> Result<T, SpecError> {
    Err(SpecError::new(path, cause, remedy))
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.path, self.cause, self.remedy)
    }
}

impl core::error::Error for SpecError {}

/// Why a run ended before its time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RunError {
    /// The network could not be made again for another seed.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The caller asked for it.
    #[error("the run was cancelled at {at_ns} ns of virtual time")]
    Cancelled {
        /// Virtual time reached.
        at_ns: u64,
    },
    /// What takes tables on their way could not take a part.
    #[error("at {at_ns} ns of virtual time a part of the results could not be kept: {cause}")]
    Results {
        /// Virtual time reached.
        at_ns: u64,
        /// Why, in the words of the one who takes them.
        cause: String,
    },
    /// More events than the description allows.
    #[error(
        "limits.max_events: {limit} events were not enough, virtual time {at_ns} ns was reached; \
         raise the limit or stop earlier"
    )]
    EventLimit {
        /// The limit.
        limit: u64,
        /// Virtual time reached.
        at_ns: u64,
    },
}
