//! Low-pass filters and WRED: their numbers between requests and the engine.

use p4cc_exec::{FilterConfig, LpfConfig, WredConfig};
use p4cc_ir::{Bits, FilterKind};

use crate::fields::{GivenField, Value};
use crate::schema::{Field, LpfPart, Means, WredPart};

/// The two kinds of low-pass filters, as `$LPF_SPEC_TYPE` has them.
const RATE: &str = "RATE";
const SAMPLE: &str = "SAMPLE";
/// Thresholds of a WRED that nobody configured: no queue is so deep.
const NO_THRESHOLD: u32 = 0xff00_0000;

/// A cell that nobody configured.
fn first(kind: FilterKind) -> FilterConfig {
    match kind {
        FilterKind::Lpf => {
            FilterConfig::Lpf(LpfConfig { rate: false, gain_time_ns: 0.0, decay_time_ns: 0.0, scale_down: 0 })
        }
        FilterKind::Wred { .. } => FilterConfig::Wred(WredConfig {
            time_ns: 0.0,
            min_threshold: NO_THRESHOLD,
            max_threshold: NO_THRESHOLD,
            max_probability: 0.0,
        }),
    }
}

/// Whether a request says something of a filter.
pub fn is_given(data: &[GivenField<'_>]) -> bool {
    data.iter().any(|one| matches!(one.field.means, Means::Lpf(_) | Means::Wred(_)))
}

/// The configuration that a request gives; what it leaves out stays as it was.
pub fn config(kind: FilterKind, data: &[GivenField<'_>], old: Option<FilterConfig>) -> FilterConfig {
    let mut config = old.unwrap_or_else(|| first(kind));
    let number = |value: &Value| match value {
        Value::Number(bits) => u32::try_from(bits.low_u64()).unwrap_or(u32::MAX),
        _ => 0,
    };
    let real = |value: &Value| match value {
        Value::Float(value) => f64::from(*value),
        _ => 0.0,
    };
    for one in data {
        match (&mut config, one.field.means) {
            (FilterConfig::Lpf(lpf), Means::Lpf(part)) => match part {
                LpfPart::Type => lpf.rate = one.value == Value::Text(RATE.to_owned()),
                LpfPart::GainTimeConstantNs => lpf.gain_time_ns = real(&one.value),
                LpfPart::DecayTimeConstantNs => lpf.decay_time_ns = real(&one.value),
                LpfPart::OutScaleDownFactor => lpf.scale_down = number(&one.value),
            },
            (FilterConfig::Wred(wred), Means::Wred(part)) => match part {
                WredPart::TimeConstantNs => wred.time_ns = real(&one.value),
                WredPart::MinThreshCells => wred.min_threshold = number(&one.value),
                WredPart::MaxThreshCells => wred.max_threshold = number(&one.value),
                WredPart::MaxProbability => wred.max_probability = real(&one.value),
            },
            _ => {}
        }
    }
    config
}

/// A number of a filter.
pub fn value(kind: FilterKind, config: Option<FilterConfig>, field: &Field) -> Option<Value> {
    let number = |value: u32| Value::Number(Bits::from_u128(field.ty.width(), value.into()));
    // BF Runtime's numbers with a point are of 32 bits; those of a request come back as they were given.
    let real = |value: f64| Value::Float(value as f32);
    Some(match (config.unwrap_or_else(|| first(kind)), field.means) {
        (FilterConfig::Lpf(lpf), Means::Lpf(part)) => match part {
            LpfPart::Type => Value::Text(if lpf.rate { RATE } else { SAMPLE }.to_owned()),
            LpfPart::GainTimeConstantNs => real(lpf.gain_time_ns),
            LpfPart::DecayTimeConstantNs => real(lpf.decay_time_ns),
            LpfPart::OutScaleDownFactor => number(lpf.scale_down),
        },
        (FilterConfig::Wred(wred), Means::Wred(part)) => match part {
            WredPart::TimeConstantNs => real(wred.time_ns),
            WredPart::MinThreshCells => number(wred.min_threshold),
            WredPart::MaxThreshCells => number(wred.max_threshold),
            WredPart::MaxProbability => real(wred.max_probability),
        },
        _ => return None,
    })
}
