//! Parameters of a sender in the layout of `law/p4cc_types.h`, from the configuration that scenarios use.
//!
//! Names, defaults and ranges are those of the registry of `p4cc-cc`, which also checks them. The initial
//! window and its ceiling have no row there.

use p4cc_cc::{
    AlgorithmConfig, AlgorithmSpec, ConfigError, Domain, InitialWindow, Kind, ParamValue, build, registry,
};

/// The fields of `struct p4cc_params`, in order.
pub const FIELDS: [&str; 27] = [
    "sender",
    "slow_start",
    "growth_by_segment",
    "initial_window",
    "initial_ssthresh",
    "ceiling",
    "g",
    "alpha0",
    "cwnd_min",
    "cwr_freeze",
    "d_min",
    "d_max",
    "d_late",
    "d_step",
    "w_max",
    "w_min",
    "s1",
    "s2",
    "k",
    "k_dc",
    "gst_literal",
    "gst_entry",
    "delta",
    "rtt_max_ns",
    "rtt_ns",
    "max_ssthresh",
    "watch",
];

/// Congestion avoidances in the order of their numbers.
pub const SENDERS: [&str; 4] = ["reno_ecn", "dctcp", "d2tcp", "l2tcp"];

/// Slow starts in the order of their numbers.
pub const SLOW_STARTS: [&str; 6] = ["standard", "gst", "rfb_ss", "limited", "smooth", "p_start"];

/// What an ACK of several segments grows the window by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// As one segment, as `p4cc-cc` does; for networks with an ACK per packet.
    ByAck,
    /// As its number of segments, as Linux does; one ACK often covers several there.
    BySegment,
}

/// One sender's parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Params {
    words: [u64; FIELDS.len()],
}

impl Params {
    /// The parameters of `config`, for flows that begin with `initial`.
    ///
    /// # Errors
    /// An algorithm that the kernel does not have, or a parameter that `p4cc-cc` refuses.
    pub fn new(
        config: &AlgorithmConfig,
        initial: InitialWindow,
        growth: Growth,
    ) -> Result<Self, ConfigError> {
        build(config, initial)?;
        let (avoidance, slow_start) = (&config.congestion_avoidance, &config.slow_start);
        let mut params = Self { words: [0; FIELDS.len()] };
        params.set("sender", number_of("congestion_avoidance", &avoidance.name, &SENDERS)?);
        params.set("slow_start", number_of("slow_start", &slow_start.name, &SLOW_STARTS)?);
        params.set("growth_by_segment", u64::from(growth == Growth::BySegment));
        params.set("initial_window", fixed(initial.cwnd_segments, 32));
        params.set("initial_ssthresh", fixed(initial.ssthresh_segments, 32));
        params.set("ceiling", fixed(initial.ceiling_segments, 32));
        params.set_all(Kind::CongestionAvoidance, avoidance)?;
        params.set_all(Kind::SlowStart, slow_start)?;
        Ok(params)
    }

    /// The same parameters, with the first window that the kernel gives a connection.
    #[must_use]
    pub fn with_kernel_window(mut self) -> Self {
        self.set("initial_window", 0);
        self
    }

    /// The same parameters, with a record of each ACK for `p4cc-hosts watch`.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.set("watch", 1);
        self
    }

    /// Whether they ask for records.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.words.iter().zip(FIELDS).any(|(word, field)| field == "watch" && *word == 1)
    }

    /// The words in the order of [`FIELDS`].
    #[must_use]
    pub const fn words(&self) -> &[u64; FIELDS.len()] {
        &self.words
    }

    /// The bytes of `struct p4cc_params`.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn set(&mut self, field: &str, word: u64) {
        self.words
            .iter_mut()
            .zip(FIELDS)
            .filter(|(_, name)| *name == field)
            .for_each(|(slot, _)| *slot = word);
    }

    fn set_all(&mut self, kind: Kind, spec: &AlgorithmSpec) -> Result<(), ConfigError> {
        let rows = registry().iter().filter(|row| row.kind == kind && row.name == spec.name);
        for info in rows.flat_map(|row| row.parameters) {
            match (spec.parameters.get(info.name), info.domain) {
                (Some(ParamValue::Text(word)), _) => self.set_choice(kind, info.name, word)?,
                (Some(ParamValue::Number(value)), _) => self.set_number(info.name, *value),
                (None, Domain::Choice { default, .. }) => self.set_choice(kind, info.name, default)?,
                (None, Domain::Number { default, .. }) => self.set_number(info.name, default.unwrap_or(0.0)),
            }
        }
        Ok(())
    }

    fn set_number(&mut self, name: &str, value: f64) {
        let bits = match name {
            "g" | "alpha0" => 62,
            "s1" | "s2" => 16,
            "rtt_max_ns" | "rtt_ns" => 0,
            _ => 32,
        };
        self.set(name, fixed(value, bits));
    }

    fn set_choice(&mut self, kind: Kind, name: &str, word: &str) -> Result<(), ConfigError> {
        match (name, word) {
            ("cwr_freeze", _) => self.set(name, position(&["off", "first_mark", "on"], word)),
            ("delta", _) => self.set("gst_literal", u64::from(word == "literal")),
            ("entry", _) => {
                self.set("gst_entry", position(&["hold", "stop", "per_ack", "window_close"], word))
            }
            (_, "packets") => {}
            _ => {
                let place = format!("{}.{name}", kind.key());
                let cause = format!("the kernel's senders have no {word:?}");
                return Err(ConfigError::new(place, cause, "leave it out: the kernel counts packets"));
            }
        }
        Ok(())
    }
}

fn position(words: &[&str], word: &str) -> u64 {
    words.iter().position(|known| *known == word).unwrap_or(0) as u64
}

fn number_of(key: &str, name: &str, known: &[&str]) -> Result<u64, ConfigError> {
    if known.contains(&name) {
        return Ok(position(known, name));
    }
    let cause = format!("the kernel's senders have no {name:?}");
    Err(ConfigError::new(format!("{key}.name"), cause, format!("known: {}", known.join(", "))))
}

/// The nearest fixed-point number with so many bits behind the point; beyond the format its largest.
fn fixed(value: f64, bits: i32) -> u64 {
    (value * f64::from(2.0_f32).powi(bits)).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(json: &str) -> Result<Params, ConfigError> {
        let config = serde_json::from_str(json).expect("valid JSON");
        Params::new(&config, InitialWindow::default(), Growth::BySegment)
    }

    fn word(params: &Params, field: &str) -> u64 {
        params.words()[FIELDS.iter().position(|name| *name == field).expect("a field")]
    }

    /// The table names the fields of the C structure in its order.
    #[test]
    fn the_fields_are_those_of_the_header() {
        let header = std::fs::read_to_string(crate::law_folder().join("p4cc_types.h")).expect("the header");
        let (_, rest) = header.split_once("struct p4cc_params {").expect("the structure");
        let (body, _) = rest.split_once("};").expect("its end");
        let fields = body.lines().filter_map(|line| line.trim().strip_prefix("__u64 "));
        let names: Vec<&str> = fields.filter_map(|line| line.split(';').next()).collect();
        assert_eq!(names, FIELDS);
    }

    #[test]
    fn defaults_are_those_of_the_registry() {
        let gst = params(r#"{"congestion_avoidance":{"name":"dctcp"},"slow_start":{"name":"gst","k":25}}"#);
        let gst = gst.expect("valid parameters");
        for (field, want) in [
            ("sender", 1),
            ("slow_start", 1),
            ("growth_by_segment", 1),
            ("g", 1 << 58),
            ("alpha0", 1 << 62),
            ("cwnd_min", 2 << 32),
            ("k", 25 << 32),
            ("k_dc", 65 << 32),
            ("initial_ssthresh", 1 << 62),
        ] {
            assert_eq!(word(&gst, field), want, "{field}");
        }
        let l2tcp = params(r#"{"congestion_avoidance":{"name":"l2tcp","cwr_freeze":"on"}}"#);
        let l2tcp = l2tcp.expect("valid parameters");
        assert_eq!((word(&l2tcp, "s1"), word(&l2tcp, "w_max")), (200 << 16, 5 << 31));
        assert_eq!((word(&l2tcp, "cwr_freeze"), word(&l2tcp, "slow_start")), (2, 0));
        assert_eq!(l2tcp.bytes().len(), 8 * FIELDS.len());
    }

    #[test]
    fn what_the_kernel_has_not_is_refused() {
        for (json, want) in [
            (
                r#"{"congestion_avoidance":{"name":"cubic"}}"#,
                "congestion_avoidance.name: the kernel's senders have no \"cubic\"; \
                 known: reno_ecn, dctcp, d2tcp, l2tcp",
            ),
            (
                r#"{"congestion_avoidance":{"name":"dctcp","alpha_by":"bytes"}}"#,
                "congestion_avoidance.alpha_by: the kernel's senders have no \"bytes\"; \
                 leave it out: the kernel counts packets",
            ),
            (
                r#"{"congestion_avoidance":{"name":"dctcp"},"slow_start":{"name":"gst","k":70}}"#,
                "slow_start.k: k 70 is greater than k_dc 65; k is the lower threshold: set k <= k_dc",
            ),
        ] {
            assert_eq!(params(json).expect_err("refused").to_string(), want);
        }
    }
}
