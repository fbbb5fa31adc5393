//! Work that Python waits for: it runs on a thread of its
//! own while this one looks for Ctrl-C and reports progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use parking_lot::Mutex;
use pyo3::prelude::*;

/// Time between two looks for a signal.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `work` without the interpreter's lock. What it sends is handed to `report` on the calling thread, so
/// that Python code never runs on a thread of the engine; of values that came together only the last is
/// reported. A signal or an error of `report` sets the flag that `work` looks at; its exception is raised
/// when the work has ended.
pub(crate) fn run<T: Send, P: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool, Sender<P>) -> T + Send,
    mut report: impl FnMut(Python<'_>, P) -> PyResult<()>,
) -> PyResult<T> {
    let cancel = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    // A lock only because a receiver cannot be shared; nobody else takes it.
    let receiver = Mutex::new(receiver);
    let mut failed: PyResult<()> = Ok(());
    let done = std::thread::scope(|scope| {
        let worker = scope.spawn(|| work(&cancel, sender));
        // The channel closes when the work has ended.
        loop {
            let received = py.detach(|| next(&receiver.lock()));
            let ended = matches!(received, Err(RecvTimeoutError::Disconnected));
            if failed.is_ok() {
                failed = py.check_signals();
            }
            if let (Ok(value), Ok(())) = (received, &failed) {
                failed = report(py, value);
            }
            if failed.is_err() {
                cancel.store(true, Ordering::Relaxed);
            }
            if ended {
                break;
            }
        }
        py.detach(|| worker.join())
    });
    failed?;
    done.map_err(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map_or_else(|| "the engine failed".to_owned(), |text| (*text).to_owned());
        pyo3::exceptions::PyRuntimeError::new_err(text)
    })
}

/// The last of the values that are there, or the first that comes in time.
fn next<P>(receiver: &Receiver<P>) -> Result<P, RecvTimeoutError> {
    let first = receiver.recv_timeout(LOOK)?;
    Ok(receiver.try_iter().last().unwrap_or(first))
}
