//! A barrier: threads wait here for each other, twice in each epoch.
//!
//! An epoch takes microseconds, so a thread that waits spins first. Then it yields the processor, and at last
//! it sleeps: with more threads than processors, threads that spin would take the time of those that work.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Checks before a waiting thread sleeps.
const CHECKS: u32 = 2_200;
/// Checks of these in which it keeps the processor.
const SPINS: u32 = 2_000;

/// A barrier that a fixed number of threads pass again and again.
pub(crate) struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    is_broken: AtomicBool,
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    wakeup: Condvar,
}

impl Barrier {
    /// A barrier for a number of threads.
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            is_broken: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            lock: Mutex::default(),
            wakeup: Condvar::new(),
        }
    }

    /// Waits until all threads are here; false if one of them will never be.
    pub fn wait(&self) -> bool {
        let round = self.round.load(Ordering::SeqCst);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Release);
            self.round.store(round.wrapping_add(1), Ordering::SeqCst);
            self.ring();
        }
        for check in 0..CHECKS {
            if !self.waits(round) {
                break;
            }
            if check < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        if self.waits(round) {
            self.sleep(round);
        }
        !self.is_broken.load(Ordering::SeqCst)
    }

    /// Ends all waiting, as a thread has panicked.
    pub fn break_up(&self) {
        self.is_broken.store(true, Ordering::SeqCst);
        self.ring();
    }

    fn waits(&self, round: usize) -> bool {
        self.round.load(Ordering::SeqCst) == round && !self.is_broken.load(Ordering::SeqCst)
    }

    /// Wakes sleeping threads. A thread that is about to sleep counts itself before its last check, so either
    /// that check succeeds or the thread is counted here; it holds the lock from that check until it sleeps.
    fn ring(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.wakeup.notify_all();
        }
    }

    #[cold]
    fn sleep(&self, round: usize) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let lock =
            self.wakeup.wait_while(lock, |()| self.waits(round)).unwrap_or_else(PoisonError::into_inner);
        drop(lock);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More threads than a machine has processors, some late, so that others fall asleep.
    #[test]
    fn nobody_goes_on_before_all_are_there() {
        const THREADS: usize = 5;
        const ROUNDS: usize = 300;
        let (barrier, done) = (Barrier::new(THREADS), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (barrier, done) = (&barrier, &done);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        for _ in 0..if round % THREADS == thread { 20_000 } else { 0 } {
                            std::hint::spin_loop();
                        }
                        done.fetch_add(1, Ordering::SeqCst);
                        assert!(barrier.wait());
                        let all = done.load(Ordering::SeqCst);
                        assert!(all >= THREADS * (round + 1), "{all} in round {round}");
                        assert!(barrier.wait());
                    }
                });
            }
        });
        assert_eq!(done.load(Ordering::SeqCst), THREADS * ROUNDS);
        assert_eq!(barrier.sleepers.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn who_sleeps_is_woken_if_somebody_will_never_come() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| barrier.wait());
            while barrier.sleepers.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            barrier.break_up();
            assert!(!waiting.join().expect("it only waits"));
        });
        assert!(!barrier.wait());
    }
}
