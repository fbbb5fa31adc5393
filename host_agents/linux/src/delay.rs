//! Parameters of Swift and TIMELY in the layout of `law/p4cc_delay.h`.

use p4cc_cc::{AlgorithmSpec, ConfigError, Domain, Kind, ParamValue, RateEnvironment, build_rate, registry};

/// The fields of `struct p4cc_delay_params`, in order.
pub const DELAY_FIELDS: [&str; 32] = [
    "sender",
    "line_rate",
    "min_rate",
    "base_rtt_ns",
    "packet_bits",
    "ai",
    "beta",
    "max_mdf",
    "base_target_fine",
    "hop_fine",
    "fs_range_fine",
    "fs_scale_fine",
    "fs_offset_fine",
    "min_cwnd",
    "max_cwnd",
    "initial_cwnd",
    "retx_reset_threshold",
    "ewma",
    "t_low_ns",
    "t_high_ns",
    "min_rtt_ns",
    "step_rate",
    "hyper_step_rate",
    "hai_trigger",
    "hai_counts",
    "scale_by_time",
    "max_cut",
    "patched",
    "once_per_window",
    "app_limit",
    "start_rate",
    "window_max",
];

/// Senders by delay in the order of their numbers.
pub const DELAY_SENDERS: [&str; 2] = ["swift", "timely"];

const SEGMENT_BITS: i32 = 32;
const FRACTION_BITS: i32 = 62;
const FINE_BITS: i32 = 16;
/// docs/algorithms/timely.md#timely-parameters: steps are given for a line rate of 10 Gbit/s.
const STEP_LINE_BPS: f64 = 10e9;

/// One sender's parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DelayParams {
    words: [u64; DELAY_FIELDS.len()],
}

/// What a configuration says, with the registry's defaults.
struct Given<'a>(&'a AlgorithmSpec);

impl Given<'_> {
    fn domain(&self, name: &str) -> Option<Domain> {
        let mut rows =
            registry().iter().filter(|row| row.kind == Kind::RateControl && row.name == self.0.name);
        let row = rows.next()?;
        row.parameters.iter().find(|param| param.name == name).map(|param| param.domain)
    }

    /// 0 for an algorithm that has no such parameter: its rules do not read the field.
    fn number(&self, name: &str) -> f64 {
        match (self.0.parameters.get(name), self.domain(name)) {
            (Some(ParamValue::Number(value)), _) => *value,
            (_, Some(Domain::Number { default, .. })) => default.unwrap_or(0.0),
            _ => 0.0,
        }
    }

    fn is(&self, name: &str, word: &str) -> bool {
        match (self.0.parameters.get(name), self.domain(name)) {
            (Some(ParamValue::Text(given)), _) => given == word,
            (_, Some(Domain::Choice { default, .. })) => default == word,
            _ => false,
        }
    }
}

impl DelayParams {
    /// The parameters of `spec` on a host's link.
    ///
    /// # Errors
    /// An algorithm that the kernel does not have, or a parameter that `p4cc-cc` refuses.
    pub fn new(spec: &AlgorithmSpec, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let Some(sender) = DELAY_SENDERS.iter().position(|known| *known == spec.name) else {
            let cause = format!("the kernel's senders have no {:?}", spec.name);
            return Err(ConfigError::new(
                "rate_control.name",
                cause,
                format!("known: {}", DELAY_SENDERS.join(", ")),
            ));
        };
        build_rate(spec, environment)?;
        let mut params = Self { words: [0; DELAY_FIELDS.len()] };
        params.set("sender", sender as u64);
        params.set_network(&Given(spec), environment);
        params.set_swift(&Given(spec), environment);
        params.set_timely(&Given(spec), environment);
        Ok(params)
    }

    /// The words in the order of [`DELAY_FIELDS`].
    #[must_use]
    pub const fn words(&self) -> &[u64; DELAY_FIELDS.len()] {
        &self.words
    }

    /// The bytes of `struct p4cc_delay_params`.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn set(&mut self, field: &str, word: u64) {
        let slots = self.words.iter_mut().zip(DELAY_FIELDS);
        slots.filter(|(_, name)| *name == field).for_each(|(slot, _)| *slot = word);
    }

    fn set_number(&mut self, field: &str, value: f64, bits: i32) {
        self.set(field, fixed(value, bits));
    }

    fn set_network(&mut self, given: &Given<'_>, environment: &RateEnvironment) {
        let line_bps = environment.line_rate.as_bps() as f64;
        let least = given.number("r_min_mbps") * 1e6;
        let least = if least > 0.0 { least } else { given.number("r_min_share") * line_bps };
        self.set_number("line_rate", line_bps, FINE_BITS);
        self.set_number("min_rate", least, FINE_BITS);
        self.set("base_rtt_ns", environment.base_rtt.as_ns());
        self.set("packet_bits", 8 * environment.packet.ip.0);
        self.set_number("beta", given.number("beta"), FRACTION_BITS);
    }

    fn set_swift(&mut self, given: &Given<'_>, environment: &RateEnvironment) {
        let most = given.number("max_cwnd");
        let most = if most > 0.0 { most } else { bdp_segments(environment).max(1.0) };
        let first = given.number("initial_cwnd");
        let least = given.number("min_cwnd").min(most);
        let first = if first > 0.0 { first.clamp(least, most) } else { most };
        let (low, high) = (given.number("fs_min_cwnd"), given.number("fs_max_cwnd"));
        let range = given.number("fs_range_ns");
        let scale = if low < high { range / (1.0 / low.sqrt() - 1.0 / high.sqrt()) } else { 0.0 };
        for (field, value, bits) in [
            ("ai", given.number("ai"), SEGMENT_BITS),
            ("max_mdf", given.number("max_mdf"), FRACTION_BITS),
            ("base_target_fine", given.number("base_target_ns"), FINE_BITS),
            ("hop_fine", given.number("hop_ns"), FINE_BITS),
            ("fs_range_fine", range, FINE_BITS),
            ("fs_scale_fine", scale, FINE_BITS),
            ("fs_offset_fine", if scale > 0.0 { scale / high.sqrt() } else { 0.0 }, FINE_BITS),
            ("min_cwnd", least, SEGMENT_BITS),
            ("max_cwnd", most, SEGMENT_BITS),
            ("initial_cwnd", first, SEGMENT_BITS),
            ("retx_reset_threshold", given.number("retx_reset_threshold"), 0),
        ] {
            self.set_number(field, value, bits);
        }
    }

    fn set_timely(&mut self, given: &Given<'_>, environment: &RateEnvironment) {
        let line_bps = environment.line_rate.as_bps() as f64;
        let step = given.number("delta_mbps") * 1e6 * line_bps / STEP_LINE_BPS;
        let window = if given.is("window", "vwin") { bdp_segments(environment) } else { 0.0 };
        for (field, value, bits) in [
            ("ewma", given.number("ewma"), FRACTION_BITS),
            ("t_low_ns", given.number("t_low_ns"), 0),
            ("t_high_ns", given.number("t_high_ns"), 0),
            ("min_rtt_ns", given.number("min_rtt_ns"), 0),
            ("step_rate", step, FINE_BITS),
            ("hyper_step_rate", step * given.number("hai_factor"), FINE_BITS),
            ("hai_trigger", given.number("hai_trigger").ceil(), 0),
            ("max_cut", given.number("max_cut"), FRACTION_BITS),
            ("app_limit", given.number("app_limit"), FRACTION_BITS),
            ("start_rate", given.number("start_share") * line_bps, FINE_BITS),
            ("window_max", window, SEGMENT_BITS),
        ] {
            self.set_number(field, value, bits);
        }
        let counts = ["gradient", "every_branch", "every", "raw"];
        let counted = counts.iter().position(|word| given.is("hai_counts", word)).unwrap_or(0);
        self.set("hai_counts", counted as u64);
        self.set("scale_by_time", u64::from(given.is("scale_by_time", "on")));
        self.set("patched", u64::from(given.is("patched", "on")));
        self.set("once_per_window", u64::from(given.is("update", "window")));
    }
}

/// Segments that fit a base round trip at the line rate.
fn bdp_segments(environment: &RateEnvironment) -> f64 {
    let bits = environment.line_rate.as_bps() as f64 * environment.base_rtt.as_ps() as f64 / 1e12;
    bits / 8.0 / environment.packet.payload.0 as f64
}

/// The nearest fixed-point number with so many bits behind the point; beyond the format its largest.
fn fixed(value: f64, bits: i32) -> u64 {
    (value * f64::from(2.0_f32).powi(bits)).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table names the fields of the C structure in its order.
    #[test]
    fn the_fields_are_those_of_the_header() {
        let header = std::fs::read_to_string(crate::law_folder().join("p4cc_delay.h")).expect("the header");
        let (_, rest) = header.split_once("struct p4cc_delay_params {").expect("the structure");
        let (body, _) = rest.split_once("};").expect("its end");
        let fields = body.lines().filter_map(|line| line.trim().strip_prefix("__u64 "));
        let names: Vec<&str> = fields.filter_map(|line| line.split(';').next()).collect();
        assert_eq!(names, DELAY_FIELDS);
    }
}
