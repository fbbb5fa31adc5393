//! The run loop: takes events in their order until the run ends.
//!
//! Virtual time moves only inside [`Network::run_until`] and its siblings. Between two calls the control
//! plane may change any switch, so results do not depend on how long it takes. Where the network allows it,
//! the loop leaves a region to threads or to batches (`parallel`); everything else is handled here, event by
//! event.

use std::sync::atomic::{AtomicBool, Ordering};

use p4cc_units::{Span, Time};

use crate::events::Event;
use crate::output::{News, NewsWatch};
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

    /// As [`Self::run_until`]; `progress` is called now and then, and it ends soon after `cancel` is set.
    ///
    /// # Errors
    /// The limit of events, or the cancellation.
    pub fn run_until_or_cancelled(
        &mut self,
        until: Time,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        self.run(until, 1, cancel, progress)
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

    /// As [`Self::run_until_or_cancelled`], event by event, but no further than the end of the instant at
    /// which a switch holds something for its controllers.
    ///
    /// # Errors
    /// The limit of events, or the cancellation.
    pub fn run_until_message(
        &mut self,
        until: Time,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        self.run_until_either(until, (true, None), cancel, progress).map(|_| ())
    }

    /// As [`Self::run_until_message`], but also no further than to the end of the instant at which there is
    /// news; whether there was. Without `to_message`, switches may hold something for their controllers.
    ///
    /// # Errors
    /// The limit of events, or the cancellation.
    pub fn run_until_news(
        &mut self,
        until: Time,
        (news, to_message): (News, bool),
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<bool, RunError> {
        self.run_until_either(until, (to_message, Some(news)), cancel, progress)
    }

    fn run_until_either(
        &mut self,
        until: Time,
        stops: (bool, Option<News>),
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<bool, RunError> {
        if self.ended {
            return Ok(false);
        }
        let done = self.run_events_until_either(until, stops, cancel, progress);
        self.nodes.take_workspace_back();
        self.are_results_kept().and(done)
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
        self.are_results_kept().and(done)
    }

    fn run_events(
        &mut self,
        until: Time,
        threads: usize,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        let until = self.resume(until);
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
            if partitions.is_some() || batches.is_some() {
                self.may_go_on(cancel)?;
            }
            let Some(event) = self.schedule.calendar.pop_until(until) else { break };
            if self.handle(&event, max_events, cancel, progress)? {
                return Ok(());
            }
        }
        self.pause_at(until);
        Ok(())
    }

    /// Runs event by event; whether there was news.
    fn run_events_until_either(
        &mut self,
        until: Time,
        (to_message, news): (bool, Option<News>),
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<bool, RunError> {
        let mut until = self.resume(until);
        if to_message && self.nodes.switches.iter().any(|node| node.switch.has_messages()) {
            until = self.schedule.now;
        }
        let watch = news.map(|news| NewsWatch::new(self, news));
        let mut is_there = false;
        let max_events = self.spec.limits.max_events;
        while let Some(event) = self.schedule.calendar.pop_until(until) {
            let has_ended = self.handle(&event, max_events, cancel, progress)?;
            // Only the node of the event can have changed.
            let node = self.nodes.switches.get(event.node() as usize);
            if to_message && node.is_some_and(|node| node.switch.has_messages()) {
                until = self.schedule.now;
            }
            if watch.as_ref().is_some_and(|watch| watch.happened(self, event.node())) {
                is_there = true;
                until = self.schedule.now;
            }
            if has_ended {
                return Ok(is_there);
            }
        }
        self.pause_at(until);
        Ok(is_there)
    }

    /// Begins, or goes on after the control plane had its turn; gives until when to run.
    fn resume(&mut self, until: Time) -> Time {
        for switch in 0..self.nodes.switches.len() {
            // The control plane may have sent packets meanwhile, or loaded a program.
            self.send_pause_frames(switch);
            self.nodes.lend_workspace(switch);
            self.start_ready_ports(switch);
            self.look_at_generator(switch);
        }
        until.min(Time::from_ns(self.spec.stop_ns))
    }

    /// All events up to this instant have been handled.
    fn pause_at(&mut self, until: Time) {
        self.schedule.now = until;
        self.sample_before(until + Span::from_ps(1));
        self.ended = until == Time::from_ns(self.spec.stop_ns);
    }

    /// Handles one event; whether the run ends with it.
    #[inline(always)]
    fn handle(
        &mut self,
        event: &Event,
        max_events: u64,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<bool, RunError> {
        if self.observers.recorder.is_due_before(event.time()) {
            self.sample_before(event.time());
        }
        self.schedule.now = event.time();
        self.schedule.order.advance(event);
        self.dispatch(event);
        self.schedule.events += 1;
        if self.is_complete() {
            self.ended = true;
            self.sample_before(self.schedule.now + Span::from_ps(1));
            return Ok(true);
        }
        if self.schedule.events >= max_events {
            return Err(RunError::EventLimit { limit: max_events, at_ns: self.schedule.now.as_ns() });
        }
        if self.schedule.events.is_multiple_of(EVENTS_PER_CHECK) {
            progress(self.progress());
            self.may_go_on(cancel)?;
        }
        Ok(false)
    }

    /// Whether nobody has cancelled the run, and results that left it were taken.
    fn may_go_on(&self, cancel: &AtomicBool) -> Result<(), RunError> {
        if cancel.load(Ordering::Relaxed) {
            return Err(RunError::Cancelled { at_ns: self.schedule.now.as_ns() });
        }
        self.are_results_kept()
    }

    /// Whether results that left the run were taken.
    fn are_results_kept(&self) -> Result<(), RunError> {
        let failure = self.observers.recorder.stream.failure();
        failure.map_or(Ok(()), |cause| {
            Err(RunError::Results { at_ns: self.schedule.now.as_ns(), cause: cause.to_owned() })
        })
    }

    #[inline]
    fn is_complete(&self) -> bool {
        self.observers.are_flows_complete() && self.spec.stop_when_complete
    }
}
