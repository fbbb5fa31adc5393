//! The run loop: takes events in their order until the run ends.
//!
//! Virtual time moves only inside [`Network::run_until`] and its siblings. Between two calls the control
//! plane may change any switch, so results do not depend on how long it takes. Where the network allows it,
//! the loop leaves a region to threads or to batches (`parallel`); everything else is handled here, event by
//! event.

use std::sync::atomic::{AtomicBool, Ordering};

use p4cc_units::{Span, Time};

use crate::{Network, Progress, RunError};

/// Events between two looks at the cancel flag.
const EVENTS_PER_CHECK: u64 = 1 << 16;

impl Network {
    /// Runs all events up to and including `until`, or to the end of the run if that comes first.
    ///
    /// # Errors
    /// The limit of events.
    pub fn run_until(&mut self, until: Time) -> Result<(), RunError> {
        self.run(until, 1, &AtomicBool::new(false), &mut |_| {})
    }

    /// As [`Self::run_until`]; ends soon after `cancel` is set.
    ///
    /// # Errors
    /// The limit of events, or the cancellation.
    pub fn run_until_or_cancelled(&mut self, until: Time, cancel: &AtomicBool) -> Result<(), RunError> {
        self.run(until, 1, cancel, &mut |_| {})
    }

    /// Runs to the end: all flows with a size complete (unless the description says otherwise), or the stop
    /// time. `progress` is called now and then; the run ends soon after `cancel` is set.
    ///
    /// # Errors
    /// The limit of events, or the cancellation.
    pub fn run_to_end(
        &mut self,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        self.run(Time::MAX, 1, cancel, progress)
    }

    /// As [`Self::run_to_end`], on a number of threads, with the same results. Where
    /// [`Self::one_thread_reason`] gives a reason, it runs on one thread.
    ///
    /// # Errors
    /// The limit of events, or the cancellation.
    pub fn run_to_end_on(
        &mut self,
        threads: usize,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        self.run(Time::MAX, threads, cancel, progress)
    }

    fn run(
        &mut self,
        until: Time,
        threads: usize,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        if self.ended {
            return Ok(());
        }
        let done = self.run_events(until, threads, cancel, progress);
        self.nodes.take_workspace_back();
        done
    }

    fn run_events(
        &mut self,
        until: Time,
        threads: usize,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        let stop = Time::from_ns(self.spec.stop_ns);
        let until = until.min(stop);
        for switch in 0..self.nodes.switches.len() {
            // The control plane may have sent packets meanwhile, or loaded a program.
            self.send_pause_frames(switch);
            self.nodes.lend_workspace(switch);
            self.start_ready_ports(switch);
        }
        let mut partitions = self.partitions(threads);
        let mut batches = if partitions.is_none() { self.batches() } else { None };
        let max_events = self.spec.limits.max_events;
        loop {
            if let Some(partitions) = &mut partitions {
                self.run_partitions(partitions, until, cancel, progress);
            }
            if let Some(batches) = &mut batches {
                self.run_batches(batches, until, cancel, progress);
            }
            if (partitions.is_some() || batches.is_some()) && cancel.load(Ordering::Relaxed) {
                return Err(RunError::Cancelled { at_ns: self.schedule.now.as_ns() });
            }
            let Some(event) = self.schedule.calendar.pop_until(until) else { break };
            if self.observers.recorder.is_due_before(event.time()) {
                self.sample_before(event.time());
            }
            self.schedule.now = event.time();
            self.schedule.order.advance(&event);
            self.dispatch(&event);
            self.schedule.events += 1;
            if self.is_complete() {
                self.ended = true;
                self.sample_before(self.schedule.now + Span::from_ps(1));
                return Ok(());
            }
            if self.schedule.events >= max_events {
                return Err(RunError::EventLimit { limit: max_events, at_ns: self.schedule.now.as_ns() });
            }
            if self.schedule.events.is_multiple_of(EVENTS_PER_CHECK) {
                progress(self.progress());
                if cancel.load(Ordering::Relaxed) {
                    return Err(RunError::Cancelled { at_ns: self.schedule.now.as_ns() });
                }
            }
        }
        self.schedule.now = until;
        self.sample_before(until + Span::from_ps(1));
        self.ended = until == stop;
        Ok(())
    }

    #[inline]
    fn is_complete(&self) -> bool {
        self.observers.are_flows_complete() && self.spec.stop_when_complete
    }
}
