//! Random times, each drawn from a named stream of the run's seed.

use p4cc_switch::Stream;
use p4cc_units::Span;

/// A time from 0 to `max`, uniform, both ends included, to the picosecond.
pub(crate) fn uniform(stream: &mut Stream, max: Span) -> Span {
    Span::from_ps(stream.below(max.as_ps() + 1))
}

/// An exponential time by inversion: `-ln(1 - U)` times the mean (docs/algorithms/traffic.md#uniform).
pub(crate) fn exponential(stream: &mut Stream, mean: Span) -> Span {
    let units = -libm::log(1.0 - stream.unit());
    // U is below 1 by at least 2^-53: at most 36.7 means, far
    // below the range of a span for any mean that is allowed.
    Span::from_ps((units * mean.as_ps() as f64) as u64)
}

/// A standard normal number (Box and Muller); each takes two numbers of the stream.
pub(crate) fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - stream.unit()));
    radius * libm::cos(2.0 * core::f64::consts::PI * stream.unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_times_have_their_mean_and_spread() {
        let mut stream = Stream::named(5, "test");
        let (count, mean) = (200_000, Span::from_us(7));
        let times: Vec<f64> =
            (0..count).map(|_| exponential(&mut stream, mean).as_ps() as f64 / mean.as_ps() as f64).collect();
        let average = times.iter().sum::<f64>() / f64::from(count);
        let second = times.iter().map(|time| time * time).sum::<f64>() / f64::from(count);
        // Mean 1 and second moment 2; their standard errors here are 0.0022 and 0.01.
        assert!((average - 1.0).abs() < 0.01, "{average}");
        assert!((second - 2.0).abs() < 0.05, "{second}");
    }

    #[test]
    fn uniform_times_reach_both_ends() {
        let mut stream = Stream::named(5, "test");
        let drawn: Vec<u64> = (0..200).map(|_| uniform(&mut stream, Span::from_ps(2)).as_ps()).collect();
        assert!((0..=2).all(|value| drawn.contains(&value)) && drawn.iter().all(|value| *value <= 2));
        assert_eq!(uniform(&mut stream, Span::ZERO), Span::ZERO);
    }
}
