//! A host whose kernel takes time between the interface and the transport
//! (docs/algorithms/window.md#kernel-sender).
//!
//! Data and ACKs wait at the end of the flow that they are for. The first one that comes waits a random time;
//! all that came until then is taken up with it, in order.

use p4cc_switch::Stream;
use p4cc_units::Span;

use crate::random::exponential;

/// What waits at one end of one flow.
#[derive(Clone, Debug)]
pub(crate) struct Kernel<T> {
    mean: Span,
    stream: Stream,
    waiting: Vec<T>,
}

impl<T: Copy> Kernel<T> {
    /// None where the kernel takes no time, which then draws nothing.
    pub fn new(mean: Span, stream: impl FnOnce() -> Stream) -> Option<Box<Self>> {
        (mean > Span::ZERO).then(|| Box::new(Self { mean, stream: stream(), waiting: Vec::new() }))
    }

    /// Something arrived. The time until it is taken up, if it is the first that waits.
    pub fn arrived(&mut self, what: &T) -> Option<Span> {
        self.waiting.push(*what);
        (self.waiting.len() == 1).then(|| exponential(&mut self.stream, self.mean))
    }

    /// All that waits, in order; nothing waits any more.
    pub fn take(&mut self) -> Vec<T> {
        core::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_that_waits_draws_a_time() {
        let stream = || Stream::named(3, "test");
        assert!(Kernel::<u8>::new(Span::ZERO, stream).is_none());
        let mut kernel = Kernel::new(Span::from_us(50), stream).expect("it takes time");
        let waits: Vec<f64> = (0..20_000_u32)
            .map(|number| {
                let wait = kernel.arrived(&number).expect("the first waits");
                assert_eq!(kernel.arrived(&number), None);
                assert_eq!(kernel.take(), [number, number]);
                wait.as_ps() as f64 / 1e6
            })
            .collect();
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        assert!((mean / 50.0 - 1.0).abs() < 0.03, "{mean} us");
    }
}
