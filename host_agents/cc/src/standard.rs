//! Standard slow start (docs/algorithms/window.md#reno-rules,
//! RFC5681 without byte counting): doubling per round.

use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::{AckSample, Publisher, SlowStart, Window};

/// What the registry says about this module.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "standard",
    kind: Kind::SlowStart,
    summary: "one segment per ACK of new data: the window doubles every round",
    parameters: &[],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/window.md#reno-rules, RFC5681",
    make: Make::SlowStart(|_| Ok(Box::new(Standard))),
};

/// Standard slow start; it keeps no state.
#[derive(Clone, Copy, Debug)]
struct Standard;

impl SlowStart for Standard {
    fn enter(&mut self, _snd_nxt: u64, _window: &Window) {}

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window, _publisher: &mut dyn Publisher) -> bool {
        // docs/algorithms/window.md#reno-rules: "per ACK of n new segments cwnd += min(n, 1)".
        if ack.new_segments > 0 {
            window.set_cwnd(window.cwnd() + 1.0);
        }
        true
    }
}
