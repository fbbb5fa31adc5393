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

#[cfg(test)]
mod tests {
    use crate::testing::{ack, slow_start};
    use crate::{Mark, Window};

    /// docs/algorithms/slow-start.md#standard: an ACK of new data adds a segment, a duplicate none.
    #[test]
    fn only_new_data_grows_the_window() {
        let mut module = slow_start(r#"{"name":"standard"}"#);
        let mut window = Window::new(4.0, 1e9);
        module.enter(0, &window);
        for (new_segments, want) in [(0, 4.0), (1, 5.0), (2, 6.0), (0, 6.0)] {
            module.on_ack(&ack(new_segments, 1, 9, Mark::None), &mut window, &mut Vec::new());
            assert_eq!(window.cwnd(), want, "{new_segments} new");
        }
    }
}
