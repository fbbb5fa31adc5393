//! The round model: a sender's windows on an ideal path, where every segment is acknowledged by itself one
//! round trip after it left and nothing is lost or marked. What the papers on slow start count in rounds
//! (docs/algorithms/slow-start.md#slow-start-family, docs/algorithms/reproductions.md#rfb-ss) is counted here
//! with the very code that senders run.

use p4cc_units::Span;

use crate::error::ConfigError;
use crate::{AckSample, AlgorithmConfig, InitialWindow, Mark, Phase, build};

/// Windows beyond this, the largest receiver window of a scenario, are
/// not followed: a slow start without threshold would double without end.
const MAX_WINDOW_SEGMENTS: f64 = 65_536.0;

/// The windows, in segments, at the start of each round from the initial one
/// to the end of slow start, at most `max_rounds` of them after the first.
///
/// # Errors
/// What [`build`] refuses.
pub fn windows_by_round(
    config: &AlgorithmConfig,
    initial: InitialWindow,
    rtt: Span,
    max_rounds: usize,
) -> Result<Vec<f64>, ConfigError> {
    let mut control = build(config, initial)?;
    let (mut windows, mut una) = (vec![control.window().cwnd()], 0);
    let mut nxt = control.window().whole_segments();
    while control.phase() != Phase::Avoidance
        && windows.len() <= max_rounds
        && control.window().cwnd() < MAX_WINDOW_SEGMENTS
    {
        let end = nxt;
        while una < end && control.phase() != Phase::Avoidance {
            una += 1;
            let ack = AckSample {
                new_segments: 1,
                ack: una,
                snd_nxt: nxt,
                mark: Mark::None,
                srtt: Some(rtt),
                ..AckSample::default()
            };
            control.on_ack(&ack, &mut Vec::new());
            nxt = nxt.max(una + control.window().whole_segments());
        }
        windows.push(control.window().cwnd());
    }
    Ok(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_slow_start_doubles_until_its_threshold() {
        let initial =
            InitialWindow { cwnd_segments: 1.0, ssthresh_segments: 64.0, ..InitialWindow::default() };
        let windows = windows_by_round(&AlgorithmConfig::default(), initial, Span::from_ms(1), 40);
        assert_eq!(windows.expect("the defaults are valid"), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
    }

    #[test]
    fn rounds_and_windows_are_bounded() {
        let rounds = |most| {
            windows_by_round(&AlgorithmConfig::default(), InitialWindow::default(), Span::from_ms(1), most)
                .expect("the defaults are valid")
                .len()
        };
        assert_eq!(rounds(3), 4);
        assert_eq!(rounds(usize::MAX), 17, "1 to 2^16");
    }
}
