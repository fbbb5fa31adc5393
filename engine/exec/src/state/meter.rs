//! The two-rate three-colour meter (RFC 2698).
//!
//! Invariant: integers only. A bucket counts picounits (a unit is a packet or a byte), so a rate of one unit
//! per second adds exactly one picounit per picosecond.

use p4cc_units::Time;

use crate::control::CounterCell;

/// Picounits in one unit.
const PICO: u128 = 1_000_000_000_000;

/// Colours as v1model numbers them.
pub const COLOR_GREEN: u64 = 0;
/// Above the committed rate.
pub const COLOR_YELLOW: u64 = 1;
/// Above the peak rate.
pub const COLOR_RED: u64 = 2;

/// Rates and bursts of a meter cell, in packets or bytes (and per second).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterConfig {
    /// Committed rate, units/s.
    pub cir: u64,
    /// Committed burst, units.
    pub cburst: u64,
    /// Peak rate, units/s.
    pub pir: u64,
    /// Peak burst, units.
    pub pburst: u64,
}

/// A meter cell. Without a configuration everything is green.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MeterCell {
    config: Option<MeterConfig>,
    committed: u128,
    peak: u128,
    filled_at: Time,
    counts: MeterCounts,
}

/// What a meter coloured, by colour: green, yellow, red.
pub type MeterCounts = [CounterCell; 3];

fn filled(tokens: u128, rate: u64, burst: u64, elapsed_ps: u64) -> u128 {
    tokens.saturating_add(u128::from(rate) * u128::from(elapsed_ps)).min(u128::from(burst) * PICO)
}

impl MeterCell {
    pub fn config(&self) -> Option<MeterConfig> {
        self.config
    }

    /// Sets rates; both buckets start full. It goes on counting.
    pub fn configure(&mut self, config: Option<MeterConfig>) {
        *self = Self { config, counts: self.counts, ..Self::default() };
        if let Some(config) = config {
            self.committed = u128::from(config.cburst) * PICO;
            self.peak = u128::from(config.pburst) * PICO;
        }
    }

    /// What it coloured so far.
    pub fn counts(&self) -> MeterCounts {
        self.counts
    }

    /// Starts counting anew.
    pub fn reset_counts(&mut self) {
        self.counts = MeterCounts::default();
    }

    /// The colour of a packet of `units` and `bytes` arriving now with the colour `before`.
    pub fn execute(&mut self, units: u64, bytes: u32, before: u64, now: Time) -> u64 {
        let color = self.color(units, before.min(COLOR_RED), now);
        let count = &mut self.counts[color as usize];
        count.packets += 1;
        count.bytes += u64::from(bytes);
        color
    }

    /// RFC 2698, section 3: green before is the colour-blind mode.
    fn color(&mut self, units: u64, before: u64, now: Time) -> u64 {
        let Some(config) = self.config else { return before };
        let elapsed = now.since(self.filled_at).as_ps();
        self.filled_at = self.filled_at.max(now);
        self.committed = filled(self.committed, config.cir, config.cburst, elapsed);
        self.peak = filled(self.peak, config.pir, config.pburst, elapsed);
        let need = u128::from(units) * PICO;
        if before == COLOR_RED || self.peak < need {
            return COLOR_RED;
        }
        self.peak -= need;
        if before == COLOR_YELLOW || self.committed < need {
            return COLOR_YELLOW;
        }
        self.committed -= need;
        COLOR_GREEN
    }
}
