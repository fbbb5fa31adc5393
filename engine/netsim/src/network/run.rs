//! The run loop: takes events in their order until the run stops.
//!
//! Virtual time moves only inside [`Network::run`]. Between two calls the control plane may change any
//! switch, so results do not depend on how long it takes. Where the network allows it, the loop leaves a
//! region to threads or to batches (`parallel`); everything else is handled here, event by event.

use std::sync::atomic::{AtomicBool, Ordering};

use p4cc_units::{Span, Time};

use crate::events::Event;
use crate::output::{News, NewsWatch, Progress};
use crate::{Network, RunError};

/// Events between two looks at the cancel flag.
const EVENTS_PER_CHECK: u64 = 1 << 16;

/// When a run stops before its end, and who hears of it. By default it runs to its end on one thread: all
/// flows with a size complete (unless the description says otherwise), or the stop time.
pub struct RunOptions<'a> {
    /// Runs all events up to and including this instant.
    pub until: Time,
    /// Stops at the end of the instant at which a switch holds something for its controllers.
    pub stop_at_message: bool,
    /// Stops at the end of the instant at which there is such news.
    pub stop_at_news: Option<News>,
    /// Stops soon after this is set.
    pub cancel: Option<&'a AtomicBool>,
    /// Called now and then.
    pub progress: Option<&'a mut (dyn FnMut(Progress) + Send)>,
    /// Threads to use; results do not depend on it. Where [`Network::one_thread_reason`] gives a reason, and
    /// for a run that stops at messages or news, it is one.
    pub threads: usize,
    /// With it, a run on several threads uses one while that is faster, as on processors that other programs
    /// use, too. Results do not depend on it.
    pub clock: Option<RealClock<'a>>,
}

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self {
            until: Time::MAX,
            stop_at_message: false,
            stop_at_news: None,
            cancel: None,
            progress: None,
            threads: 1,
            clock: None,
        }
    }
}

impl RunOptions<'_> {
    /// Runs up to and including an instant.
    pub fn until(until: Time) -> Self {
        Self { until, ..Self::default() }
    }
}

/// Real time, which the simulator itself never reads.
#[derive(Clone, Copy)]
pub struct RealClock<'a> {
    /// Nanoseconds since some instant.
    pub now_ns: &'a (dyn Fn() -> u64 + Sync),
    /// Events between two looks at it: [`Self::STRETCH_EVENTS`], or fewer in a test.
    pub stretch_events: u64,
}

impl RealClock<'_> {
    /// Some tenths of a second.
    pub const STRETCH_EVENTS: u64 = 1 << 21;
}

/// How the caller controls a run on its way.
pub(crate) struct Control<'a> {
    cancel: Option<&'a AtomicBool>,
    progress: Option<&'a mut (dyn FnMut(Progress) + Send)>,
    clock: Option<RealClock<'a>>,
}

impl Control<'_> {
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Real time by the caller's clock; 0 without one.
    pub fn now_ns(&self) -> u64 {
        self.clock.map_or(0, |clock| (clock.now_ns)())
    }

    pub fn report(&mut self, progress: Progress) {
        self.progress.iter_mut().for_each(|report| report(progress));
    }
}

impl Network {
    /// Runs until the end of the run or what the options stop at; whether the news is there.
    ///
    /// # Errors
    /// The limit of events, the cancellation, or results that nobody took.
    pub fn run(&mut self, options: RunOptions<'_>) -> Result<bool, RunError> {
        if self.ended {
            return Ok(false);
        }
        let done = self.run_events(options);
        self.switches.take_workspace_back();
        self.check_results().and(done)
    }

    fn run_events(&mut self, options: RunOptions<'_>) -> Result<bool, RunError> {
        // Operations that take no time end before any event.
        if self.end_if_complete() {
            return Ok(false);
        }
        let RunOptions { until, stop_at_message, stop_at_news, cancel, progress, threads, clock } = options;
        let mut control = Control { cancel, progress, clock };
        let mut until = until.min(Time::from_ns(self.spec.stop_ns));
        let (_, switches, mut cx) = self.components();
        switches.resume(&mut cx);
        if stop_at_message && self.switches.iter().any(|switch| switch.has_messages()) {
            until = self.schedule.now;
        }
        let watch = stop_at_news.map(|news| NewsWatch::new(self.view(), news));
        let watches = stop_at_message || watch.is_some();
        let mut regions = if watches { None } else { self.regions(threads, clock) };
        let mut has_news = false;
        loop {
            if let Some(regions) = &mut regions {
                regions.run(self, until, &mut control);
                self.check(&control)?;
            }
            let Some(event) = self.schedule.calendar.pop_until(until) else { break };
            let has_ended = self.handle(&event, &mut control)?;
            if watches {
                // Only the node of the event can have changed.
                let node = self.switches.nodes().get(event.node() as usize);
                let has_message = stop_at_message && node.is_some_and(|node| node.switch.has_messages());
                let is_news = watch.as_ref().is_some_and(|watch| watch.happened(self.view(), event.node()));
                has_news |= is_news;
                if has_message || is_news {
                    until = self.schedule.now;
                }
            }
            if has_ended {
                return Ok(has_news);
            }
        }
        // All events up to this instant have been handled.
        self.schedule.now = until;
        self.sample_before(until + Span::from_ps(1));
        self.ended = until == Time::from_ns(self.spec.stop_ns);
        Ok(has_news)
    }

    /// Handles one event; whether the run ends with it.
    #[inline(always)]
    fn handle(&mut self, event: &Event, control: &mut Control<'_>) -> Result<bool, RunError> {
        if self.observers.recorder.next_due() < event.time() {
            self.sample_before(event.time());
        }
        self.schedule.begin(event);
        self.dispatch(event);
        self.schedule.events += 1;
        if self.end_if_complete() {
            return Ok(true);
        }
        let limit = self.spec.limits.max_events;
        if self.schedule.events >= limit {
            return Err(RunError::EventLimit { limit, at_ns: self.schedule.now.as_ns() });
        }
        if self.schedule.events.is_multiple_of(EVENTS_PER_CHECK) {
            control.report(self.progress());
            self.check(control)?;
        }
        Ok(false)
    }

    /// Ends the run at this instant if all flows and operations have ended; whether it did.
    #[inline(always)]
    fn end_if_complete(&mut self) -> bool {
        let is_complete = self.hosts.progress().is_complete() && self.spec.stop_when_complete;
        if is_complete {
            self.ended = true;
            self.sample_before(self.schedule.now + Span::from_ps(1));
        }
        is_complete
    }

    /// Whether nobody has cancelled the run, and results that left it were taken.
    fn check(&self, control: &Control<'_>) -> Result<(), RunError> {
        if control.is_cancelled() {
            return Err(RunError::Cancelled { at_ns: self.schedule.now.as_ns() });
        }
        self.check_results()
    }

    /// Whether results that left the run were taken.
    fn check_results(&self) -> Result<(), RunError> {
        let failure = self.observers.recorder.room.stream.failure();
        failure.map_or(Ok(()), |cause| {
            Err(RunError::Results { at_ns: self.schedule.now.as_ns(), cause: cause.to_owned() })
        })
    }
}
