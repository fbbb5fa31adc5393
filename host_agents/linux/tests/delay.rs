//! Law by law: Swift and TIMELY of the kernel and those of `p4cc-cc` get the same ACKs, losses and timeouts.
//! After each event window and rate differ by less than fixed point may.

use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

use p4cc_cc::{
    AlgorithmSpec, IntEncoding, PacketSize, ParamValue, RateAck, RateControl, RateEnvironment, build_rate,
};
use p4cc_fixed::{Program, include_folder};
use p4cc_linux::{DelayParams, law_folder};
use p4cc_units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

static PROGRAM: LazyLock<Mutex<Program>> = LazyLock::new(|| {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/delay.c");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    Mutex::new(Program::build(&source, &[include_folder(), law_folder()], folder).expect("cc"))
});

/// The relative error that a window or a rate may have after any number of events.
const TOLERANCE: f64 = 1e-3;
const SEGMENT_BYTES: u64 = 1_000;
const IP_BYTES: u64 = 1_064;
/// Where rounding decides between two branches: relative distances below this end a sequence.
const NEAR: f64 = 1e-5;

/// What may happen to a flow.
#[derive(Clone, Copy, Debug)]
enum Input {
    Ack { segments: u64, rtt_ns: u64, hops: u8, sent_share: Option<u8>, later_ns: u64 },
    Loss,
    Timeout,
}

/// What the sender of `p4cc-cc` compares, computed once more, to see whether rounding would decide.
struct Mirror {
    number: Box<dyn Fn(&str) -> f64>,
    srtt_ns: Option<f64>,
    decreased_ns: Option<u64>,
    previous_ns: Option<f64>,
    difference_ns: f64,
}

impl Mirror {
    fn new(spec: &AlgorithmSpec) -> Self {
        let parameters = spec.parameters.clone();
        let number = move |name: &str| match parameters.get(name) {
            Some(ParamValue::Number(number)) => *number,
            _ => panic!("{name} is not given"),
        };
        Self {
            number: Box::new(number),
            srtt_ns: None,
            decreased_ns: None,
            previous_ns: None,
            difference_ns: 0.0,
        }
    }

    /// Whether an ACK is next to a bound of Swift: the target, or the end of a round trip since the last cut.
    fn swift_is_near(&self, cwnd: f64, rtt_ns: f64, hops: u8, now_ns: u64) -> bool {
        let number = &self.number;
        let (low, high) = (number("fs_min_cwnd"), number("fs_max_cwnd"));
        let scale = number("fs_range_ns") / (1.0 / low.sqrt() - 1.0 / high.sqrt());
        let of_window = (scale / cwnd.sqrt() - scale / high.sqrt()).clamp(0.0, number("fs_range_ns"));
        let target = number("base_target_ns") + f64::from(hops) * number("hop_ns") + of_window;
        near(rtt_ns, target) || self.round_is_near(now_ns)
    }

    fn round_is_near(&self, now_ns: u64) -> bool {
        let since = self.decreased_ns.map(|at| (now_ns - at) as f64);
        since.zip(self.srtt_ns).is_some_and(|(since, srtt)| near(since, srtt))
    }

    fn sample(&mut self, rtt_ns: f64) {
        self.srtt_ns = Some(self.srtt_ns.map_or(rtt_ns, |srtt| (7.0 * srtt + rtt_ns) / 8.0));
    }

    /// Takes a sample of TIMELY; whether the smoothed difference is next to zero.
    fn gradient_is_near(&mut self, rtt_ns: f64) -> bool {
        let ewma = (self.number)("ewma");
        let Some(previous) = self.previous_ns.replace(rtt_ns) else { return false };
        self.difference_ns = (1.0 - ewma) * self.difference_ns + ewma * (rtt_ns - previous);
        self.difference_ns != 0.0 && self.difference_ns.abs() < 1e-4
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= NEAR * b
}

/// Both senders.
struct Pair {
    control: Box<dyn RateControl>,
    mirror: Mirror,
    is_swift: bool,
    environment: RateEnvironment,
    words: Vec<u64>,
    wanted: Vec<[f64; 2]>,
    now_ns: u64,
    acked: u64,
    is_tied: bool,
}

impl Pair {
    fn new(spec: &AlgorithmSpec, environment: RateEnvironment) -> Self {
        let control = build_rate(spec, &environment).expect("a valid configuration");
        let params = DelayParams::new(spec, &environment).expect("a sender of the kernel");
        let mut words = vec![0];
        words.extend(params.words());
        words.push(0);
        let mut pair = Self {
            control,
            mirror: Mirror::new(spec),
            is_swift: spec.name == "swift",
            environment,
            words,
            wanted: Vec::new(),
            now_ns: 1_000_000,
            acked: 0,
            is_tied: false,
        };
        pair.note();
        pair
    }

    fn note(&mut self) {
        let window = self.control.cwnd_bytes().map_or(f64::NAN, |bytes| bytes / SEGMENT_BYTES as f64);
        // At a window of one packet, rounding decides whether Swift paces.
        let is_at_one = self.is_swift && near(window, 1.0);
        let rate = if is_at_one { f64::NAN } else { self.control.rate_bps() };
        self.wanted.push([window, rate]);
    }

    fn take(&mut self, input: Input) {
        if self.is_tied {
            return;
        }
        let before = self.control.cwnd_bytes();
        match input {
            Input::Ack { segments, rtt_ns, hops, sent_share, later_ns } => {
                self.now_ns += later_ns;
                if !self.on_ack(segments, rtt_ns, hops, sent_share) {
                    return;
                }
            }
            Input::Loss | Input::Timeout if self.is_swift && self.mirror.round_is_near(self.now_ns) => {
                self.is_tied = true;
                return;
            }
            Input::Loss => {
                self.control.on_loss(Time::from_ns(self.now_ns));
                self.words.extend([2, self.now_ns]);
            }
            Input::Timeout => {
                self.control.on_timeout(Time::from_ns(self.now_ns));
                self.words.extend([3, self.now_ns]);
            }
        }
        if self.control.cwnd_bytes() < before {
            self.mirror.decreased_ns = Some(self.now_ns);
        }
        self.note();
    }

    /// Whether both senders took it.
    fn on_ack(&mut self, segments: u64, rtt_ns: u64, hops: u8, sent_share: Option<u8>) -> bool {
        if rtt_ns > 0 && self.is_swift {
            let cwnd = self.control.cwnd_bytes().unwrap_or(0.0) / SEGMENT_BYTES as f64;
            self.is_tied = self.mirror.swift_is_near(cwnd, rtt_ns as f64, hops, self.now_ns);
            self.mirror.sample(rtt_ns as f64);
        } else if rtt_ns > 0 {
            self.is_tied = self.mirror.gradient_is_near(rtt_ns as f64);
        }
        if self.is_tied {
            return false;
        }
        // Sixteenths of the line rate, which no limit of the strategies is next to.
        let sent_bps =
            sent_share.map(|share| f64::from(share) / 16.0 * self.environment.line_rate.as_bps() as f64);
        self.acked += segments * SEGMENT_BYTES;
        let snd_nxt = self.acked + 5 * SEGMENT_BYTES;
        self.control.on_ack(&RateAck {
            now: Time::from_ns(self.now_ns),
            ack: self.acked,
            snd_nxt,
            rtt: (rtt_ns > 0).then(|| Span::from_ns(rtt_ns)),
            sent_bps,
            hop_count: hops,
            ..RateAck::default()
        });
        let sent = sent_bps.map_or(u64::MAX, |bps| (bps * 65_536.0) as u64);
        self.words.extend([1, self.now_ns, rtt_ns, sent, self.acked, snd_nxt, segments, u64::from(hops)]);
        true
    }

    /// Runs the kernel's sender on all that happened and compares.
    fn judge(mut self) -> Result<(), TestCaseError> {
        self.words.push(4);
        let mut program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
        let got = program.call(&self.words, 2 * self.wanted.len()).expect("the program answers");
        for (step, (got, want)) in got.chunks(2).zip(&self.wanted).enumerate() {
            let (window, rate) = (got[0] as f64 / f64::from(1_u32 << 16).powi(2), got[1] as f64 / 65_536.0);
            for (name, got, want) in [("window", window, want[0]), ("rate", rate, want[1])] {
                // A sender without a window has no number to compare; p4cc-cc's has a byte at least.
                let differs = (got - want).abs() > (TOLERANCE * want).max(1.5 / SEGMENT_BYTES as f64);
                prop_assert!(!differs, "event {step}: {name} {got}, not {want}");
            }
        }
        Ok(())
    }
}

fn input() -> impl Strategy<Value = Input> {
    let rtt = prop_oneof![
        1 => Just(0),
        4 => 10_000_u64..40_000,
        4 => 40_000_u64..700_000,
        1 => 1_u64..10_000_000,
    ];
    let ack = (0_u64..4, rtt, 0_u8..8, prop::option::weighted(0.2, 0_u8..16), 100_u64..100_000);
    prop_oneof![
        40 => ack.prop_map(|(segments, rtt_ns, hops, sent_share, later_ns)| Input::Ack {
            segments, rtt_ns, hops, sent_share, later_ns
        }),
        1 => Just(Input::Loss),
        2 => Just(Input::Timeout),
    ]
}

/// Runs of one kind of event, in which windows and rates reach their bounds.
fn inputs() -> impl Strategy<Value = Vec<Input>> {
    let run = (input(), 1_usize..30).prop_map(|(input, times)| vec![input; times]);
    let mixed = prop::collection::vec(input(), 1..20);
    prop::collection::vec(prop_oneof![run, mixed], 1..10).prop_map(|runs| runs.concat())
}

fn environment() -> impl Strategy<Value = RateEnvironment> {
    (prop::sample::select(vec![10_u64, 1_000, 40_000, 400_000]), 5_u64..200).prop_map(|(mbps, rtt_us)| {
        RateEnvironment {
            line_rate: Rate::from_bps(mbps * 1_000_000),
            base_rtt: Span::from_us(rtt_us),
            int: IntEncoding::hs_fixed(1),
            packet: PacketSize { payload: Bytes(SEGMENT_BYTES), ip: Bytes(IP_BYTES) },
        }
    })
}

fn agrees(json: &str, environment: RateEnvironment, inputs: &[Input]) -> Result<(), TestCaseError> {
    let spec: AlgorithmSpec = serde_json::from_str(json).expect("valid JSON");
    let mut pair = Pair::new(&spec, environment);
    inputs.iter().for_each(|input| pair.take(*input));
    pair.judge()
}

/// 2^48 ns are 78 hours; shifted by the 16 bits of finer times, they are nothing in 64 bits.
#[test]
fn a_cut_long_after_the_last_one_counts() -> Result<(), TestCaseError> {
    let json = r#"{"name":"swift","ai":1,"beta":0.8,"max_mdf":0.5,"base_target_ns":25000,"hop_ns":0,
        "fs_range_ns":0,"fs_min_cwnd":1,"fs_max_cwnd":100,"max_cwnd":1000,"initial_cwnd":100,
        "retx_reset_threshold":5}"#;
    let environment = RateEnvironment {
        line_rate: Rate::from_bps(10_000_000_000),
        base_rtt: Span::from_us(20),
        int: IntEncoding::hs_fixed(1),
        packet: PacketSize { payload: Bytes(SEGMENT_BYTES), ip: Bytes(IP_BYTES) },
    };
    let later = |later_ns| Input::Ack { segments: 1, rtt_ns: 0, hops: 0, sent_share: None, later_ns };
    agrees(json, environment, &[Input::Loss, later((1 << 48) + 1_000), Input::Loss])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn swift(
        (ai, beta, mdf) in (1_u32..40, 1_u32..=10, 1_u32..10),
        (base, hop, range) in (1_000_u64..100_000, 0_u64..5_000, 0_u64..200_000),
        (low, high) in (1_u32..50, 6_u32..200),
        (most, first, reset) in (1_u32..2_000, 0_u32..200, 1_u32..6),
        environment in environment(),
        inputs in inputs(),
    ) {
        let (ai, beta, mdf, low) =
            (f64::from(ai) / 10.0, f64::from(beta) / 10.0, f64::from(mdf) / 10.0, f64::from(low) / 10.0);
        let json = format!(
            r#"{{"name":"swift","ai":{ai},"beta":{beta},"max_mdf":{mdf},"base_target_ns":{base},"hop_ns":{hop},
            "fs_range_ns":{range},"fs_min_cwnd":{low},"fs_max_cwnd":{high},"max_cwnd":{most},"initial_cwnd":{first},
            "retx_reset_threshold":{reset}}}"#
        );
        agrees(&json, environment, &inputs)?;
    }

    #[test]
    fn timely(
        (ewma, beta, cut) in (1_u32..=64, 0_u32..=10, 1_u32..=10),
        (low, more, least) in (0_u64..100_000, 0_u64..500_000, 1_000_u64..100_000),
        (factor, trigger) in (1_u32..10, 1_u32..8),
        counts in prop::sample::select(vec!["gradient", "every_branch", "every", "raw"]),
        (time, patched, window, update) in any::<[bool; 4]>().prop_map(|on| (on[0], on[1], on[2], on[3])),
        (start, limit) in (1_u32..=8, 0_u32..=8),
        environment in environment(),
        inputs in inputs(),
    ) {
        let word = |on: bool, yes: &'static str, no: &'static str| if on { yes } else { no };
        let (time, patched) = (word(time, "on", "off"), word(patched, "on", "off"));
        let (window, update) = (word(window, "vwin", "none"), word(update, "window", "sample"));
        let (ewma, beta, cut) = (f64::from(ewma) / 64.0, f64::from(beta) / 10.0, f64::from(cut) / 10.0);
        let (start, limit, high) = (f64::from(start) / 8.0, f64::from(limit) / 8.0 + 0.01, low + more + 1);
        let limit = limit.min(1.0);
        let json = format!(
            r#"{{"name":"timely","ewma":{ewma},"beta":{beta},"t_low_ns":{low},"t_high_ns":{high},"min_rtt_ns":{least},
            "hai_factor":{factor},"hai_trigger":{trigger},"hai_counts":"{counts}","scale_by_time":"{time}",
            "max_cut":{cut},"patched":"{patched}","start_share":{start},"update":"{update}","app_limit":{limit},
            "window":"{window}"}}"#
        );
        agrees(&json, environment, &inputs)?;
    }
}
