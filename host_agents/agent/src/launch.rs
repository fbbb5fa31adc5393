//! A run of an agent from its start to its end: signals, the clock, the metrics.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use p4cc_units::{Span, Time};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::agent::{Agent, Manner};
use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::plan::{HostPlan, Transport};

/// How an agent runs.
#[derive(Clone, Default, Debug)]
pub struct Launch {
    /// Where what happens goes as JSON lines; `-` for the standard output.
    pub metrics: Option<PathBuf>,
    /// Where gauges are served.
    pub prometheus: Option<SocketAddr>,
    /// Time between notes of senders' state.
    pub sample_ms: Option<u64>,
    /// It stops after so long.
    pub duration_ms: Option<u64>,
    /// It starts then, in nanoseconds since 1970.
    pub start_at_ns: Option<u64>,
    /// It answers for so long after everything is complete.
    pub linger_ms: u64,
    /// Whether it never sleeps.
    pub busy_poll: bool,
}

impl Launch {
    /// Runs a host's flows to their end, or until a signal or somebody else sets `stop`. Whether all are
    /// complete.
    ///
    /// # Errors
    /// What keeps it from starting, for people.
    pub fn run(
        &self,
        host: HostPlan,
        accepts: Option<Transport>,
        stop: &Arc<AtomicBool>,
    ) -> Result<bool, String> {
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(stop))
                .map_err(|error| format!("cannot watch for signals: {error}"))?;
        }
        // Sleeps are otherwise up to 50 us too long; where it cannot be set, they are.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let manner = Manner {
            busy_poll: self.busy_poll,
            stop_at: self.duration_ms.map(Time::from_ms),
            linger: Span::from_ms(self.linger_ms),
            sample: self.sample_ms.or(self.prometheus.map(|_| 1_000)).map(Span::from_ms),
        };
        let metrics = Metrics::open(self.metrics.as_deref(), self.prometheus)
            .map_err(|error| format!("cannot open the metrics: {error}"))?;
        let clock = self.start_at_ns.map_or_else(Clock::start, Clock::start_at);
        let agent = Agent::new(host, accepts, manner, metrics, clock).map_err(|error| error.to_string())?;
        agent.run(stop).map_err(|error| error.to_string())
    }
}
