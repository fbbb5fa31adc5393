//! P-start (docs/algorithms/slow-start.md#p-start): RFB-SS with
//! half of what is missing per round for every round-trip time.

use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::rfb_ss::{ConcaveRise, DELTA};
use crate::{AckSample, Phase, Publisher, SlowStart, Window};

/// What the registry says about this module.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "p_start",
    kind: Kind::SlowStart,
    summary: "doubles up to ssthresh/2, then adds half of the remaining distance per round",
    parameters: &[DELTA],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/slow-start.md#p-start",
    make: Make::SlowStart(|params| Ok(Box::new(PStart { rise: ConcaveRise::new(params)? }))),
};

/// docs/algorithms/slow-start.md#p-start: "each round adds (ssthresh-cwnd)/2".
const SHARE: f64 = 0.5;

/// State of one P-start.
#[derive(Clone, Copy, Debug)]
struct PStart {
    rise: ConcaveRise,
}

impl SlowStart for PStart {
    fn enter(&mut self, snd_nxt: u64, _window: &Window) {
        self.rise.enter(snd_nxt);
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window, _publisher: &mut dyn Publisher) -> bool {
        self.rise.on_ack(ack, window, SHARE);
        true
    }

    fn phase(&self) -> Phase {
        self.rise.phase()
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Span;

    use crate::testing::windows_by_round;

    /// docs/algorithms/slow-start.md#p-start: "Equals RFB-SS with k = 1/2 for every RTT, cwnd0 = 1".
    #[test]
    fn it_is_rfb_ss_at_the_longest_round_trip() {
        let longest = windows_by_round(r#"{"name":"rfb_ss"}"#, 1.0, 64.0, Span::from_ms(560), 40);
        assert_eq!(longest, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 48.0, 56.0, 60.0, 62.0, 64.0]);
        for rtt_ms in [560, 280, 140] {
            assert_eq!(
                windows_by_round(r#"{"name":"p_start"}"#, 1.0, 64.0, Span::from_ms(rtt_ms), 40),
                longest
            );
        }
    }
}
