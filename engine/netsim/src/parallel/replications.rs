//! Replications: one network run with many seeds, several runs at a time.
//!
//! Results come in the order of the seeds and do not depend on the number of threads: runs share only what
//! they read.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::network::Blueprint;
use crate::{Network, Results, RunError, RunOptions};

/// Most threads.
pub const MAX_JOBS: usize = 256;

/// Runs a fork of the network for each seed, `jobs` at a time (at
/// least one). `done` is told how many are finished, from any thread.
///
/// A run that fails does not stop the others; its error stands at its place.
pub fn run_many(
    network: &Network,
    seeds: &[u64],
    jobs: usize,
    cancel: &AtomicBool,
    done: &(dyn Fn(usize) + Sync),
) -> Vec<Result<Results, RunError>> {
    let blueprint = network.blueprint();
    let next = AtomicUsize::new(0);
    let finished = AtomicUsize::new(0);
    let places: Vec<Mutex<Option<Result<Results, RunError>>>> =
        seeds.iter().map(|_| Mutex::new(None)).collect();
    let jobs = jobs.clamp(1, MAX_JOBS).min(seeds.len());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(seed), Some(result)) = (seeds.get(place), places.get(place)) else { break };
                    let outcome = run_one(&blueprint, *seed, cancel);
                    *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                    done(finished.fetch_add(1, Ordering::Relaxed) + 1);
                }
            });
        }
    });
    let taken = places.into_iter().map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner));
    // Every place was filled: the threads have ended, and each place was taken by one of them.
    taken.map(|result| result.unwrap_or(Err(RunError::Cancelled { at_ns: 0 }))).collect()
}

fn run_one(blueprint: &Blueprint<'_>, seed: u64, cancel: &AtomicBool) -> Result<Results, RunError> {
    let mut run = blueprint.fork(seed)?;
    run.run(RunOptions { cancel: Some(cancel), ..RunOptions::default() })?;
    Ok(run.results())
}
