//! Random processing time of a host, which ends phase effects (docs/algorithms/README.md#host-jitter).
//!
//! A segment, an ACK or a packet of the user's that finds the interface idle waits for it; what comes
//! meanwhile leaves behind it. A packet behind another one is processed while that one is sent. A paced
//! packet leaves when its flow says so: to wait on top would lower the rate.

use p4cc_switch::Stream;
use p4cc_units::Span;

/// Processing times of one host, from its own stream.
#[derive(Clone, Debug)]
pub(crate) struct Jitter {
    below: Span,
    stream: Stream,
}

impl Jitter {
    /// Times below a span, uniform, of the host of this name; none where the span is zero, which then draws
    /// nothing.
    pub fn new(below: Span, seed: u64, host: &str) -> Option<Box<Self>> {
        let stream = || Stream::named(seed, &format!("host.{host}.jitter"));
        (below > Span::ZERO).then(|| Box::new(Self { below, stream: stream() }))
    }

    /// The time for the next packet that finds the interface idle.
    pub fn draw(&mut self) -> Span {
        Span::from_ps(self.stream.below(self.below.as_ps()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_uniform_below_the_span_and_of_the_host() {
        assert!(Jitter::new(Span::ZERO, 1, "h1").is_none());
        let drawn = |seed, host| {
            let mut jitter = Jitter::new(Span::from_ns(1_200), seed, host).expect("some jitter");
            (0..50_000).map(|_| jitter.draw().as_ps()).collect::<Vec<u64>>()
        };
        let times = drawn(1, "h1");
        let mean = times.iter().sum::<u64>() / times.len() as u64;
        assert!((590_000..610_000).contains(&mean), "{mean} ps");
        assert!(times.iter().all(|time| *time < 1_200_000));
        assert!(times.iter().any(|time| *time < 100) && times.iter().any(|time| *time > 1_199_900));
        assert_ne!(times, drawn(1, "h2"));
        assert_ne!(times, drawn(2, "h1"));
    }
}
