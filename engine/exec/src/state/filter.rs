//! TNA's low-pass filters and WRED.
//!
//! Of an interval `dt` a time constant `tau` leaves `exp(-dt / tau)`. With `left` for that,
//!
//! - a filter of samples is the moving average `x + (average - x) * left`;
//! - a filter of rates is the moving sum `sum * left + x`: at a steady rate it is the rate times `tau`;
//! - WRED drops by the moving average of samples: never below its lower threshold, always from its upper one
//!   on, between them with a chance that rises from 0 to the greatest.
//!
//! The chip has the same curves from a few bits. Time is the switch's, and chance comes from a stream that
//! belongs to the filter and depends on its name and the switch's seed only.

use p4cc_ir::state_bytes::FILTER_CELL_BYTES;
use p4cc_ir::{Filter, FilterId, FilterKind, MatchValue, Program, TableId};
use p4cc_units::Time;

use super::State;
use super::validate::{past_end, unknown};
use crate::control::ControlError;

// The bound on a program's state is checked with it.
const _: () = assert!(size_of::<FilterCell>() as u64 <= FILTER_CELL_BYTES);

/// Most bits that a result is shifted by.
const MAX_SCALE: u32 = 31;

/// How a cell of a low-pass filter works.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LpfConfig {
    /// It sums a rate; otherwise it averages samples.
    pub rate: bool,
    /// Time constant while the value rises, in nanoseconds.
    pub gain_time_ns: f64,
    /// Time constant while it falls, and of rates.
    pub decay_time_ns: f64,
    /// Bits that the result is shifted right by.
    pub scale_down: u32,
}

/// How a cell of a WRED works.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WredConfig {
    /// Time constant of the average, in nanoseconds.
    pub time_ns: f64,
    /// Below it nothing is dropped.
    pub min_threshold: u32,
    /// From it on everything is dropped.
    pub max_threshold: u32,
    /// Chance just below the upper threshold.
    pub max_probability: f64,
}

/// How a cell of a filter works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FilterConfig {
    /// Of an `Lpf`.
    Lpf(LpfConfig),
    /// Of a `Wred`.
    Wred(WredConfig),
}

impl FilterConfig {
    /// Says what is wrong with it for a filter.
    fn check(&self, filter: &Filter) -> Result<(), ControlError> {
        let name = &filter.cp.name;
        let wrong = |what: String| Err(ControlError::InvalidArgument(format!("filter `{name}`: {what}")));
        let time = |ns: f64| ns.is_finite() && ns >= 0.0;
        match (self, filter.kind) {
            (Self::Lpf(lpf), FilterKind::Lpf) => {
                if !time(lpf.gain_time_ns) || !time(lpf.decay_time_ns) {
                    return wrong("a time constant is not a number of nanoseconds from 0 on".to_owned());
                }
                if lpf.scale_down > MAX_SCALE {
                    return wrong(format!(
                        "it scales down by {}, more than {MAX_SCALE} bits",
                        lpf.scale_down
                    ));
                }
            }
            (Self::Wred(red), FilterKind::Wred { .. }) => {
                if !time(red.time_ns) {
                    return wrong("the time constant is not a number of nanoseconds from 0 on".to_owned());
                }
                if !(0.0..=1.0).contains(&red.max_probability) {
                    return wrong(format!("the chance {} is not between 0 and 1", red.max_probability));
                }
                if red.min_threshold > red.max_threshold {
                    let (min, max) = (red.min_threshold, red.max_threshold);
                    return wrong(format!("the lower threshold {min} is above the upper one, {max}"));
                }
            }
            (Self::Lpf(_), _) => {
                return wrong("it is a WRED, and is given what a low-pass filter has".into());
            }
            (Self::Wred(_), _) => return wrong("it is a low-pass filter, and is given what WRED has".into()),
        }
        Ok(())
    }
}

/// A cell: how it works, and its average or sum since when.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FilterCell {
    config: Option<FilterConfig>,
    value: f64,
    since: Option<Time>,
}

impl FilterCell {
    /// What is left of the value after the time since then, by a time constant.
    fn left(&self, tau_ns: f64, now: Time) -> f64 {
        let Some(since) = self.since else { return 0.0 };
        if tau_ns <= 0.0 {
            return 0.0;
        }
        const PS_PER_NS: f64 = 1_000.0;
        libm::exp(-(now.since(since).as_ps() as f64) / PS_PER_NS / tau_ns)
    }

    fn average(&mut self, x: f64, tau_ns: f64, now: Time) -> f64 {
        let left = self.left(tau_ns, now);
        self.value = x + (self.value - x) * left;
        self.since = Some(now);
        self.value
    }

    fn low_pass(&mut self, config: LpfConfig, x: f64, now: Time) -> f64 {
        if config.rate {
            self.value = self.value * self.left(config.decay_time_ns, now) + x;
            self.since = Some(now);
            return self.value;
        }
        let rises = self.since.is_none() || x > self.value;
        self.average(x, if rises { config.gain_time_ns } else { config.decay_time_ns }, now)
    }
}

/// The cells of a filter; of a direct one, by the numbers of entries.
#[derive(Clone, Debug)]
pub(crate) struct FilterState {
    pub cells: Vec<FilterCell>,
    random: u64,
}

/// 64-bit FNV-1a, as for all named streams.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The next number of a SplitMix64 stream.
pub(super) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(super::hash::MULTIPLIER);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl FilterState {
    /// Whether a packet is to be dropped.
    fn drops(&mut self, index: usize, config: WredConfig, x: f64, now: Time) -> bool {
        let Some(cell) = self.cells.get_mut(index) else { return false };
        let average = cell.average(x, config.time_ns, now);
        let (min, max) = (f64::from(config.min_threshold), f64::from(config.max_threshold));
        if average >= max {
            return true;
        }
        if average < min {
            return false;
        }
        let chance = config.max_probability * (average - min) / (max - min);
        const BITS: u32 = 53;
        let drawn = (split_mix(&mut self.random) >> (64 - BITS)) as f64 / (1u64 << BITS) as f64;
        drawn < chance
    }
}

pub(super) fn filters(program: &Program) -> Vec<FilterState> {
    // Of a direct filter the default entry's cell is there from the start.
    let cells = |filter: &Filter| vec![FilterCell::default(); filter.size.unwrap_or(1) as usize];
    let of = |filter| FilterState { cells: cells(filter), random: fnv1a(filter.cp.name.as_bytes()) };
    program.filters.iter().map(of).collect()
}

impl State {
    /// Sets what the filters' streams of chance start from, apart from their names.
    pub fn set_seed(&mut self, seed: u64) {
        for (filter, state) in self.program.filters.iter().zip(&mut self.filters) {
            state.random = seed ^ fnv1a(filter.cp.name.as_bytes());
        }
    }

    /// What a filter makes of a value. Without a configuration an `Lpf` gives it back and a `Wred` drops
    /// nothing; past the end it is the same.
    pub(crate) fn filter_execute(&mut self, id: FilterId, index: u64, value: u64, now: Time) -> u64 {
        let program = &self.program;
        let Some(filter) = program.filters.get(id.index()) else { return 0 };
        let (Some(state), Ok(index)) = (self.filters.get_mut(id.index()), usize::try_from(index)) else {
            return 0;
        };
        let config = state.cells.get(index).and_then(|cell| cell.config);
        match (filter.kind, config) {
            (FilterKind::Lpf, Some(FilterConfig::Lpf(lpf))) => {
                let Some(cell) = state.cells.get_mut(index) else { return value };
                let result = cell.low_pass(lpf, value as f64, now) as u64 >> lpf.scale_down;
                result.min(u64::MAX >> (64 - filter.width.clamp(1, 64)))
            }
            (FilterKind::Lpf, _) => value,
            (FilterKind::Wred { drop_value, no_drop_value }, config) => {
                let drops = match config {
                    Some(FilterConfig::Wred(red)) => state.drops(index, red, value as f64, now),
                    _ => false,
                };
                u64::from(if drops { drop_value } else { no_drop_value })
            }
        }
    }

    fn filter_of(&self, id: FilterId) -> Result<&Filter, ControlError> {
        self.program.filters.get(id.index()).ok_or_else(|| unknown("filter", id))
    }

    /// Cells of a filter array.
    pub fn filter_size(&self, id: FilterId) -> usize {
        self.program.filters.get(id.index()).and_then(|filter| filter.size).unwrap_or(0) as usize
    }

    /// Reads how a cell works; `None` when it was not configured.
    pub fn filter_read(&self, id: FilterId, index: u32) -> Result<Option<FilterConfig>, ControlError> {
        let (filter, size) = (self.filter_of(id)?, self.filter_size(id));
        let cell = self.filters[id.index()].cells.get(index as usize).filter(|_| (index as usize) < size);
        cell.map(|cell| cell.config).ok_or_else(|| past_end("filter", &filter.cp.name, index.into(), size))
    }

    /// Configures a cell, whose average starts anew; `None` lets everything pass.
    pub fn filter_write(
        &mut self,
        id: FilterId,
        index: u32,
        config: Option<FilterConfig>,
    ) -> Result<(), ControlError> {
        self.filter_read(id, index)?;
        self.configure_filter(id, index as usize, config)
    }

    fn configure_filter(
        &mut self,
        id: FilterId,
        at: usize,
        config: Option<FilterConfig>,
    ) -> Result<(), ControlError> {
        if let Some(config) = &config {
            config.check(self.filter_of(id)?)?;
        }
        let cells = &mut self.filters[id.index()].cells;
        if at >= cells.len() {
            cells.resize(at + 1, FilterCell::default());
        }
        cells[at] = FilterCell { config, ..FilterCell::default() };
        Ok(())
    }

    fn direct_filter(&self, id: TableId) -> Result<FilterId, ControlError> {
        let table = self.table_of(id)?;
        table.filter.ok_or_else(|| {
            let message = format!("table `{}` has no direct filter", table.cp.name);
            ControlError::InvalidArgument(message)
        })
    }

    /// Reads how an entry's direct filter works, or that of
    /// the default entry where no match values are given.
    pub fn direct_filter_read(
        &self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<Option<FilterConfig>, ControlError> {
        let filter = self.direct_filter(id)?;
        let number = self.any_place(id, matches, priority)? as usize;
        Ok(self.filters[filter.index()].cells.get(number).and_then(|cell| cell.config))
    }

    /// Configures an entry's direct filter.
    pub fn direct_filter_write(
        &mut self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
        config: Option<FilterConfig>,
    ) -> Result<(), ControlError> {
        let filter = self.direct_filter(id)?;
        let number = self.any_place(id, matches, priority)? as usize;
        self.configure_filter(filter, number, config)
    }

    /// Gives an entry's direct filter back as it was before anybody configured it.
    pub(super) fn clear_direct_filter(&mut self, id: TableId, number: u32) {
        let filter = self.program.tables[id.index()].filter;
        let state = filter.and_then(|filter| self.filters.get_mut(filter.index()));
        if let Some(cell) = state.and_then(|state| state.cells.get_mut(number as usize)) {
            *cell = FilterCell::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ns: u64) -> Time {
        Time::ZERO + p4cc_units::Span::from_ns(ns)
    }

    #[test]
    fn an_average_goes_to_the_sample_by_its_time_constants() {
        let config = LpfConfig { rate: false, gain_time_ns: 100.0, decay_time_ns: 200.0, scale_down: 0 };
        let mut cell = FilterCell::default();
        assert_eq!(cell.low_pass(config, 50.0, at(0)), 50.0, "the first sample is the average");
        let up = cell.low_pass(config, 150.0, at(100));
        assert!((up - (150.0 - 100.0 * libm::exp(-1.0))).abs() < 1e-9, "{up}");
        let down = cell.low_pass(config, 0.0, at(300));
        assert!((down - up * libm::exp(-1.0)).abs() < 1e-9, "{down}");
    }

    #[test]
    fn a_rate_is_summed_over_its_time_constant() {
        let config = LpfConfig { rate: true, gain_time_ns: 0.0, decay_time_ns: 1000.0, scale_down: 0 };
        let mut cell = FilterCell::default();
        let mut sum = 0.0;
        for packet in 0..30_000 {
            sum = cell.low_pass(config, 5.0, at(packet));
        }
        // 5 a nanosecond, over 1,000 ns; sums of steps are half a step larger than the integral.
        assert!((sum - 5_002.5).abs() < 0.1, "{sum}");
    }

    proptest! {
        /// Whatever a controller gives is refused, or gives numbers within the width.
        #[test]
        fn any_configuration_is_refused_or_works(
            (gain, decay, chance) in (any::<f64>(), any::<f64>(), any::<f64>()),
            (rate, scale_down, min, max) in (any::<bool>(), 0u32..40, any::<u32>(), any::<u32>()),
            packets in proptest::collection::vec((0u64..1 << 40, any::<u64>()), 1..20),
        ) {
            let lpf = FilterConfig::Lpf(LpfConfig { rate, gain_time_ns: gain, decay_time_ns: decay, scale_down });
            let (min_threshold, max_threshold) = (min, max);
            let red = WredConfig { time_ns: gain, min_threshold, max_threshold, max_probability: chance };
            let cp = p4cc_ir::ControlPlaneName::default;
            let lpf_of = Filter { cp: cp(), kind: FilterKind::Lpf, size: Some(1), width: 16 };
            let kind = FilterKind::Wred { drop_value: 1, no_drop_value: 2 };
            let red_of = Filter { cp: cp(), kind, size: Some(1), width: 64 };
            prop_assert!(lpf.check(&red_of).is_err() && FilterConfig::Wred(red).check(&lpf_of).is_err());
            let mut cell = FilterCell::default();
            let mut state = FilterState { cells: vec![FilterCell::default()], random: 1 };
            for (at_ns, value) in packets {
                if let (FilterConfig::Lpf(config), Ok(())) = (lpf, lpf.check(&lpf_of)) {
                    prop_assert!(cell.low_pass(config, (value & 0xffff) as f64, at(at_ns)).is_finite());
                }
                if FilterConfig::Wred(red).check(&red_of).is_ok() {
                    state.drops(0, red, value as f64, at(at_ns));
                    prop_assert!(state.cells[0].value.is_finite());
                }
            }
        }
    }

    #[test]
    fn wred_drops_by_thresholds_and_chance() {
        let config = WredConfig { time_ns: 0.0, min_threshold: 10, max_threshold: 20, max_probability: 0.5 };
        let mut state = FilterState { cells: vec![FilterCell::default()], random: 7 };
        let mut drops = |x: f64| (0..10_000).filter(|_| state.drops(0, config, x, at(0))).count();
        assert_eq!([drops(9.0), drops(10.0), drops(20.0)], [0, 0, 10_000]);
        // Binomial: four standard deviations of 10,000 draws of 0.25.
        let half_way = drops(15.0);
        assert!(half_way.abs_diff(2_500) < 174, "{half_way}");
    }
}
