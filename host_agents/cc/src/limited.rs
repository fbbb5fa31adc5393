//! Limited slow start (docs/algorithms/slow-start.md#limited, RFC3742): above a window of `max_ssthresh` a
//! round adds about half of it, not the whole window.
//!
//! Invariant: above the limit a round of one ACK per segment adds at least half of `max_ssthresh`
//! (docs/algorithms/slow-start.md#number-slow-start-rounds).

use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{Domain, ParamInfo, Params};
use crate::{AckSample, Phase, Publisher, SlowStart, Window};

/// What the registry says about this module.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "limited",
    kind: Kind::SlowStart,
    summary: "limited slow start: doubles up to max_ssthresh, then adds about half of it per round",
    parameters: &[ParamInfo {
        name: "max_ssthresh",
        unit: "segments",
        summary: "window above which growth is limited; with 32 it takes effect below the RFB-SS paper's \
            threshold of 64",
        domain: Domain::Number { default: Some(100.0), min: 2.0, max: Window::MAX_SEGMENTS },
        source: "docs/algorithms/slow-start.md#limited, RFC3742",
    }],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/slow-start.md#limited, RFC3742",
    make: Make::SlowStart(|params| Ok(Box::new(Limited::new(params)?))),
};

/// State of one limited slow start.
#[derive(Clone, Copy, Debug)]
struct Limited {
    max_ssthresh: f64,
    is_limited: bool,
}

impl Limited {
    fn new(params: &Params<'_>) -> Result<Self, ConfigError> {
        Ok(Self { max_ssthresh: params.number("max_ssthresh")?, is_limited: false })
    }
}

impl SlowStart for Limited {
    fn enter(&mut self, _snd_nxt: u64, window: &Window) {
        self.is_limited = window.cwnd() > self.max_ssthresh;
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window, _publisher: &mut dyn Publisher) -> bool {
        if ack.new_segments == 0 {
            return true;
        }
        let cwnd = window.cwnd();
        self.is_limited = cwnd > self.max_ssthresh;
        // docs/algorithms/slow-start.md#limited: "cwnd <= max_ssthresh:
        // +1; else K = int(cwnd/(0.5 max_ssthresh)), cwnd += 1/K".
        let divisor = if self.is_limited { libm::floor(cwnd / (0.5 * self.max_ssthresh)) } else { 1.0 };
        window.set_cwnd(cwnd + 1.0 / divisor);
        true
    }

    fn phase(&self) -> Phase {
        if self.is_limited { Phase::Smoothing } else { Phase::SlowStart }
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Span;
    use proptest::prelude::*;

    use super::*;
    use crate::Mark;
    use crate::testing::{ack, slow_start, windows_by_round};

    #[test]
    fn it_doubles_below_the_limit() {
        let windows =
            windows_by_round(r#"{"name":"limited","max_ssthresh":32}"#, 1.0, 64.0, Span::from_ms(1), 40);
        assert_eq!(windows[..6], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        // From 32 on half a segment per ACK: 16 more per round.
        assert!((windows[6] - 48.5).abs() < 1.0 && windows.len() == 8, "{windows:?}");
    }

    /// docs/algorithms/slow-start.md#limited: "cwnd <= max_ssthresh" is slow start, from the first ACK on and
    /// before it.
    #[test]
    fn the_phase_begins_above_the_limit() {
        for (cwnd, entered, after) in [
            (99.0, Phase::SlowStart, Phase::SlowStart),
            (100.0, Phase::SlowStart, Phase::SlowStart),
            (100.5, Phase::Smoothing, Phase::Smoothing),
        ] {
            let mut module = slow_start(r#"{"name":"limited"}"#);
            let mut window = Window::new(cwnd, 1e9);
            module.enter(0, &window);
            assert_eq!(module.phase(), entered, "{cwnd}");
            module.on_ack(&ack(1, 1, 2, Mark::None), &mut window, &mut Vec::new());
            assert_eq!(module.phase(), after, "{cwnd}");
        }
    }

    #[test]
    fn the_divisor_is_truncated() {
        for (cwnd, want) in
            [(99.0, 1.0), (100.0, 1.0), (100.5, 0.5), (149.0, 0.5), (150.0, 1.0 / 3.0), (1e4, 0.005)]
        {
            let mut module = slow_start(r#"{"name":"limited"}"#);
            let mut window = Window::new(cwnd, 1e9);
            module.enter(0, &window);
            module.on_ack(&ack(1, 1, 2, Mark::None), &mut window, &mut Vec::new());
            assert!((window.cwnd() - cwnd - want).abs() < 1e-9, "{cwnd}: {}", window.cwnd());
        }
    }

    proptest! {
        /// docs/algorithms/slow-start.md#number-slow-start-rounds: growth per round
        /// above the limit lies between 0.5 and 0.75 of max_ssthresh, because of the
        /// truncation. The rate is that of the window at the start of the round.
        #[test]
        fn growth_per_round_above_the_limit(max_ssthresh in 50_u32..500, times in 1.01_f64..20.0) {
            let max = f64::from(max_ssthresh);
            let cwnd = max * times;
            let mut module = slow_start(&format!(r#"{{"name":"limited","max_ssthresh":{max_ssthresh}}}"#));
            let mut window = Window::new(cwnd, 1e9);
            module.enter(0, &window);
            module.on_ack(&ack(1, 1, 2, Mark::None), &mut window, &mut Vec::new());
            let per_round = (window.cwnd() - cwnd) * cwnd;
            prop_assert!(per_round >= 0.5 * max - 1e-3 && per_round <= 0.75 * max + 1e-3, "{per_round}");
        }
    }
}
