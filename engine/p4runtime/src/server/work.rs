//! Work that takes long, off the threads that serve and outside of every lock: compiling what a client
//! pushes.
//!
//! So many threads compile at once, whichever device it is for; further work waits in the order of arrival. A
//! call that ends early, because its client went away or its deadline passed, cancels its work.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use p4cc_budget::Budget;
use parking_lot::Mutex as Quick;
use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore, oneshot};
use tonic::Code;

use crate::errors::Failure;

/// Programs that are compiled at once.
const MAX_AT_ONCE: usize = 2;
/// Programs that wait to be compiled, or for the program before them to be installed.
const MAX_WAITING: usize = 64;
/// Compilers go as deep as expressions are nested.
const STACK_BYTES: usize = 16 << 20;

/// Whether somebody still waits for the result of some work, and what a compilation of it may take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel {
    is_cancelled: Arc<AtomicBool>,
    budget: Budget,
}

impl Cancel {
    /// Ends the work at its next look.
    pub(crate) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.budget.cancel();
    }

    /// For the compiler.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// # Errors
    /// Nobody waits any more.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.is_cancelled.load(Ordering::Relaxed) {
            return Err(Failure::new(Code::Cancelled, "the call ended before its program was compiled"));
        }
        Ok(())
    }
}

/// Cancels when the call that waits is dropped.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Order among the pushes to one device.
type Turn = Arc<Mutex<()>>;

/// The threads that compile, and who waits for them; clones share everything.
#[derive(Clone)]
pub(super) struct Workers {
    at_once: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    turns: Arc<Quick<BTreeMap<u64, Turn>>>,
}

impl Default for Workers {
    fn default() -> Self {
        Self {
            at_once: Arc::new(Semaphore::new(MAX_AT_ONCE)),
            waiting: Arc::new(Semaphore::new(MAX_WAITING)),
            turns: Arc::default(),
        }
    }
}

impl Workers {
    /// Waits until the pushes to a device that came before are through. The device is pushed to by nobody
    /// else while the guard is held.
    ///
    /// # Errors
    /// Too many wait.
    pub(super) async fn turn(&self, device_id: u64) -> Result<OwnedMutexGuard<()>, Failure> {
        let _waits = self.waiting.try_acquire().map_err(|_| {
            Failure::new(Code::Unavailable, format!("{MAX_WAITING} programs wait already; push again later"))
        })?;
        let turn = Arc::clone(self.turns.lock().entry(device_id).or_default());
        Ok(turn.lock_owned().await)
    }

    /// Does some work on a thread of its own, when its turn comes. Dropping the future cancels the work.
    ///
    /// # Errors
    /// What the work says, or that there is no thread for it.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Cancel) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let internal = |cause: &str| Failure::new(Code::Internal, cause);
        let permit = Arc::clone(&self.at_once).acquire_owned().await;
        let permit = permit.map_err(|_| internal("the server stops"))?;
        let cancel = Cancel::default();
        let waits = CancelOnDrop(cancel.clone());
        let (done, result) = oneshot::channel();
        let thread = std::thread::Builder::new().name("compile".to_owned()).stack_size(STACK_BYTES);
        let spawned = thread.spawn(move || {
            let result = work(&cancel);
            drop(permit);
            // The call may have ended; then the result goes here, on this thread.
            let _ = done.send(result);
        });
        spawned.map_err(|error| internal(&format!("no thread to compile on: {error}")))?;
        let result = result.await.unwrap_or_else(|_| Err(internal("the compiler ended without a result")));
        drop(waits);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
    }

    #[test]
    fn a_call_that_is_dropped_cancels_its_work() {
        let workers = Workers::default();
        let (started, has_started) = std::sync::mpsc::channel();
        let (ended, has_ended) = std::sync::mpsc::channel();
        runtime().block_on(async {
            let work = workers.run(move |cancel| {
                let _ = started.send(());
                while cancel.check().is_ok() {
                    std::thread::yield_now();
                }
                let _ = ended.send(());
                cancel.check()
            });
            let mut work = Box::pin(work);
            // Polled once, so that the thread is there.
            tokio::select! {
                biased;
                _ = &mut work => panic!("the work lasts until it is cancelled"),
                () = tokio::task::yield_now() => {}
            }
            has_started.recv().unwrap();
            drop(work);
        });
        has_ended.recv().expect("the thread saw it");
    }

    #[test]
    fn work_that_panics_is_an_internal_failure_and_gives_its_place_back() {
        let workers = Workers::default();
        runtime().block_on(async {
            for _ in 0..=MAX_AT_ONCE {
                let failed = workers.run(|_| -> Result<(), Failure> { panic!("meant to") }).await;
                assert_eq!(failed.unwrap_err().code, Code::Internal);
            }
            assert_eq!(workers.run(|_| Ok(7)).await, Ok(7));
        });
    }

    #[test]
    fn pushes_to_one_device_take_turns_and_others_do_not_wait() {
        let workers = Workers::default();
        runtime().block_on(async {
            let first = workers.turn(1).await.unwrap();
            let mut second = Box::pin(workers.turn(1));
            tokio::select! {
                biased;
                _ = &mut second => panic!("the first has not ended"),
                () = tokio::task::yield_now() => {}
            }
            drop(workers.turn(2).await.unwrap());
            drop(first);
            second.await.unwrap();
        });
    }
}
