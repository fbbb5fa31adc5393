//! The random part of round-trip times, which timestamps add to the time in the network
//! (docs/algorithms/reproductions.md#y-rtt, #y-noise).

use p4cc_switch::Stream;
use p4cc_transport::rdma::RdmaConfig;
use p4cc_units::Span;

use crate::random::{exponential, uniform};

/// The noise of one flow, from its own stream.
#[derive(Clone, Debug)]
pub(crate) struct RttNoise {
    uniform: Span,
    exponential: Span,
    stream: Stream,
}

impl RttNoise {
    /// That of a flow with this number; none where the configuration has none, which then draws nothing.
    pub fn new(config: &RdmaConfig, seed: u64, flow_id: u32) -> Option<Self> {
        let noise = Self {
            uniform: Span::from_ns(config.rtt_noise_uniform_ns),
            exponential: Span::from_ns(config.rtt_noise_exp_ns),
            stream: Stream::named(seed, &format!("flow.{flow_id}.rtt_noise")),
        };
        (noise.uniform > Span::ZERO || noise.exponential > Span::ZERO).then_some(noise)
    }

    /// The noise of the next ACK.
    pub fn draw(&mut self) -> Span {
        let mut noise = Span::ZERO;
        if self.uniform > Span::ZERO {
            noise = noise + uniform(&mut self.stream, self.uniform);
        }
        if self.exponential > Span::ZERO {
            noise = noise + exponential(&mut self.stream, self.exponential);
        }
        noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(uniform_ns: u64, exp_ns: u64) -> Option<RttNoise> {
        let json = format!(
            r#"{{"base_rtt_ns":1,"rtt_noise_uniform_ns":{uniform_ns},"rtt_noise_exp_ns":{exp_ns},
                "cc":{{"name":"timely"}}}}"#
        );
        RttNoise::new(&serde_json::from_str(&json).expect("valid JSON"), 1, 7)
    }

    #[test]
    fn noise_has_the_mean_of_its_parts() {
        assert!(noise(0, 0).is_none());
        for (uniform_ns, exp_ns, mean_ns) in
            [(1_000, 0, 500.0), (0, 50_000, 50_000.0), (1_000, 2_000, 2_500.0)]
        {
            let mut noise = noise(uniform_ns, exp_ns).expect("some noise");
            let drawn: Vec<f64> = (0..50_000).map(|_| noise.draw().as_ps() as f64 / 1e3).collect();
            let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
            assert!((mean / mean_ns - 1.0).abs() < 0.02, "{mean} of {mean_ns}");
            assert!(exp_ns > 0 || drawn.iter().all(|ns| *ns <= uniform_ns as f64));
        }
    }
}
