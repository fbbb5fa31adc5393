//! The first exception of a user's algorithm, until the run that it ends has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use p4cc_cc::FlowIdentity;
use p4cc_units::Time;
use parking_lot::Mutex;
use pyo3::prelude::*;

/// Where a user's code failed.
pub(crate) struct Failure {
    pub error: PyErr,
    pub algorithm: String,
    /// What the number is of: a flow, or the host of a receiver.
    pub of: &'static str,
    pub flow: FlowIdentity,
    pub at: Time,
}

/// The first failure of a network's algorithms.
#[derive(Default)]
pub(crate) struct Failures {
    first: Mutex<Option<Failure>>,
    is_set: Arc<AtomicBool>,
}

impl Failures {
    /// Whether there is one: no user's code runs any more.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    /// What is set with the first one; whoever sets it ends the run, too.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.is_set
    }

    /// Keeps the first one.
    pub fn keep(&self, failure: Failure) {
        self.first.lock().get_or_insert(failure);
        self.is_set.store(true, Ordering::Relaxed);
    }

    /// Takes it; further runs begin without.
    pub fn take(&self) -> Option<Failure> {
        let first = self.first.lock().take();
        self.is_set.store(false, Ordering::Relaxed);
        first
    }
}

impl core::fmt::Debug for Failures {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Failures").field("is_set", &self.is_set()).finish_non_exhaustive()
    }
}
