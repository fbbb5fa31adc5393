//! Deadlines of flows, relative to their start.

use p4cc_switch::Stream;
use p4cc_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe::{MAX_TIME_NS, in_range};
use crate::error::{SpecError, refuse};
use crate::random::exponential;

/// The larger of `min_ns` and `offset_ns` plus an exponential time of mean `exp_mean_ns`. It covers a fixed
/// deadline (offset alone), the stand-in for the GST paper's D2TCP runs (exponential of 20 ms, at least 3 ms;
/// docs/algorithms/window.md#d2tcp, #choice-d2tcp-deadlines) and the D3 benchmark (3 ms plus exponential;
/// docs/algorithms/traffic.md#workloads).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeadlineSpec {
    /// Fixed part.
    pub offset_ns: u64,
    /// Mean of the random part; 0 for none.
    pub exp_mean_ns: u64,
    /// Least deadline.
    pub min_ns: u64,
    /// What it becomes while the flow is under way; none if absent.
    pub change: Option<DeadlineChangeSpec>,
}

/// Another deadline for a flow that is under way (D3 2011: an application may change its mind).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadlineChangeSpec {
    /// When, from the start of the flow.
    pub after_ns: u64,
    /// The deadline from then on, from the start of the flow.
    pub offset_ns: u64,
}

impl DeadlineSpec {
    pub(crate) fn check(&self, path: &str) -> Result<(), SpecError> {
        for (key, value) in
            [("offset_ns", self.offset_ns), ("exp_mean_ns", self.exp_mean_ns), ("min_ns", self.min_ns)]
        {
            in_range(&format!("{path}.{key}"), value, 0, MAX_TIME_NS)?;
        }
        if let Some(change) = self.change {
            in_range(&format!("{path}.change.after_ns"), change.after_ns, 1, MAX_TIME_NS)?;
            in_range(&format!("{path}.change.offset_ns"), change.offset_ns, 1, MAX_TIME_NS)?;
        }
        if (Self { change: None, ..*self }) == Self::default() {
            let remedy = "give offset_ns, exp_mean_ns or min_ns, or leave the deadline out";
            return refuse(path, "a deadline of 0 is not a deadline", remedy);
        }
        Ok(())
    }

    /// A flow's deadline after its start; draws from the stream only if there is a random part.
    pub(crate) fn draw(&self, stream: impl FnOnce() -> Stream) -> Span {
        let random = match self.exp_mean_ns {
            0 => Span::ZERO,
            mean_ns => exponential(&mut stream(), Span::from_ns(mean_ns)),
        };
        (Span::from_ns(self.offset_ns) + random).max(Span::from_ns(self.min_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_holds_and_a_fixed_deadline_draws_nothing() {
        let fixed = DeadlineSpec { offset_ns: 7, ..DeadlineSpec::default() };
        assert_eq!(fixed.draw(|| unreachable!("no random part")), Span::from_ns(7));
        let random = DeadlineSpec { exp_mean_ns: 20_000_000, min_ns: 3_000_000, ..DeadlineSpec::default() };
        let drawn: Vec<Span> =
            (0..500).map(|i| random.draw(|| Stream::named(i, "flow.1.deadline"))).collect();
        // 1 - exp(-3/20) = 14 % of them lie below the floor.
        let at_floor = drawn.iter().filter(|one| **one == Span::from_ns(3_000_000)).count();
        assert!((35..110).contains(&at_floor), "{at_floor}");
        assert!(drawn.iter().all(|one| *one >= Span::from_ns(3_000_000)));
    }
}
