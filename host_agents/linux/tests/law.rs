//! Law by law: the senders of the kernel and those of `p4cc-cc` get the same ACKs, losses and timeouts. After
//! each event their windows differ by less than fixed point may.

use std::path::Path;
use std::sync::{LazyLock, Mutex};

use p4cc_cc::{
    AckSample, AlgorithmConfig, Controller, FlowProgress, InitialWindow, Mark, ParamValue, Phase, build,
};
use p4cc_fixed::{Program, include_folder};
use p4cc_linux::{Growth, Params, law_folder};
use p4cc_units::{Span, Time};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

static PROGRAM: LazyLock<Mutex<Program>> = LazyLock::new(|| {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/law.c");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    Mutex::new(Program::build(&source, &[include_folder(), law_folder()], folder).expect("cc"))
});

/// The relative error that a window may have after any number of events.
const TOLERANCE: f64 = 1e-3;

/// What may happen to a flow.
#[derive(Clone, Copy, Debug)]
enum Input {
    Ack { segments: u64, mark: Mark, is_unvalidated: bool, rtt_us: u64 },
    FastRetransmit,
    Timeout,
}

/// What a flow is like.
#[derive(Clone, Copy, Debug)]
struct Case {
    first_byte: u64,
    iw: f64,
    ssthresh: f64,
    rtt_us: u64,
    deadline_us: Option<u64>,
    size_segments: Option<u64>,
}

const SEGMENT_BYTES: u64 = 1_000;
const WINDOW_BITS: f64 = 4_294_967_296.0;

/// Differences that a slow start compares with zero, by window, threshold and its own limit.
type Bounds = fn(f64, f64, f64) -> Vec<f64>;

/// Both senders, and the flow as its transport sees it.
struct Pair {
    control: Controller,
    words: Vec<u64>,
    wanted: Vec<[f64; 5]>,
    case: Case,
    una: u64,
    nxt: u64,
    recover: Option<u64>,
    step: u64,
    bounds: Bounds,
    limit: f64,
    is_tied: bool,
}

impl Pair {
    fn new(config: &AlgorithmConfig, case: Case) -> Self {
        let number = |name| match config.slow_start.parameters.get(name) {
            Some(ParamValue::Number(number)) => *number,
            _ => 2.0,
        };
        let (bounds, limit): (Bounds, f64) = match config.slow_start.name.as_str() {
            "limited" => (
                |cwnd, _, most| {
                    let steps = cwnd / (0.5 * most);
                    vec![cwnd - most, steps - steps.round()]
                },
                number("max_ssthresh"),
            ),
            "rfb_ss" | "smooth" | "p_start" => (
                |cwnd, ssthresh, delta| vec![cwnd - ssthresh / 2.0, ssthresh - cwnd - delta],
                number("delta"),
            ),
            _ => (|_, _, _| Vec::new(), 0.0),
        };
        let (cwnd_segments, ssthresh_segments) = (case.iw, case.ssthresh);
        let initial = InitialWindow { cwnd_segments, ssthresh_segments, ..InitialWindow::default() };
        let mut control = build(config, initial).expect("a valid configuration");
        control.start(case.first_byte);
        let params = Params::new(config, initial, Growth::ByAck).expect("a sender of the kernel");
        let mut words = vec![0];
        words.extend(params.words());
        words.push(case.first_byte);
        let (una, nxt) = (case.first_byte, case.first_byte);
        let mut pair = Self {
            control,
            words,
            wanted: Vec::new(),
            case,
            una,
            nxt,
            recover: None,
            step: 0,
            bounds,
            limit,
            is_tied: false,
        };
        pair.note();
        pair
    }

    /// What the kernel's sender must say after this event.
    fn note(&mut self) {
        let window = self.control.window();
        let phase = match self.control.phase() {
            Phase::SlowStart => 0.0,
            Phase::Smoothing => 1.0,
            Phase::Avoidance => 2.0,
            Phase::Recovery => 3.0,
        };
        let (alpha, delta) = (self.control.alpha(), self.control.delta());
        let nothing = f64::NAN;
        self.wanted.push([
            window.cwnd(),
            window.ssthresh(),
            alpha.unwrap_or(nothing),
            delta.unwrap_or(nothing),
            phase,
        ]);
        self.nxt = self.nxt.max(self.una + window.whole_segments() * SEGMENT_BYTES);
        let (cwnd, ssthresh) = (window.cwnd(), window.ssthresh());
        let differences = (self.bounds)(cwnd, ssthresh, self.limit);
        let is_near = |difference: f64| difference != 0.0 && difference.abs() < 1e-4;
        self.is_tied = phase < 2.0 && (is_near(cwnd - ssthresh) || differences.into_iter().any(is_near));
        if self.is_tied
            && let Some(last) = self.wanted.last_mut()
        {
            last[4] = nothing;
        }
    }

    fn flight(&self) -> u64 {
        (self.nxt - self.una) / SEGMENT_BYTES
    }

    /// Takes an event, unless the rounding of floating point would decide what follows: a window that ends
    /// some 1e-15 below a bound of its slow start has reached it in real numbers and in fixed point.
    fn take(&mut self, input: Input) {
        if self.is_tied {
            return;
        }
        self.step += 1;
        match input {
            Input::Ack { segments, mark, is_unvalidated, rtt_us } => {
                self.on_ack(segments, mark, is_unvalidated, rtt_us);
            }
            Input::FastRetransmit if self.recover.is_some() => {}
            Input::FastRetransmit => {
                let flight = self.flight();
                self.control.on_fast_retransmit(flight, 0, &mut Vec::new());
                self.recover = Some(self.nxt);
                self.words.extend([2, flight]);
                self.note();
            }
            Input::Timeout => {
                let flight = self.flight();
                self.control.on_timeout(flight, self.una, &mut Vec::new());
                self.recover = None;
                self.words.extend([4, flight, self.una]);
                self.note();
            }
        }
    }

    /// An ACK has a sample of the round-trip time unless `rtt_us` is zero.
    fn on_ack(&mut self, segments: u64, mark: Mark, is_unvalidated: bool, rtt_us: u64) {
        let new_segments = segments.min(self.flight());
        self.una += new_segments * SEGMENT_BYTES;
        let now_ns = self.step * 10_000;
        let sent_segments = (self.nxt - self.case.first_byte) / SEGMENT_BYTES;
        let segments_left = self.case.size_segments.map(|size| size.saturating_sub(sent_segments));
        let srtt = (self.step > 3).then(|| Span::from_us(self.case.rtt_us));
        let ack = AckSample {
            now: Time::from_ns(now_ns),
            new_segments,
            ack: self.una,
            snd_nxt: self.nxt,
            mark,
            rtt: (rtt_us > 0).then(|| Span::from_us(rtt_us)),
            srtt,
            is_unvalidated,
            flow: FlowProgress {
                sent_segments,
                segments_left: segments_left.map(|left| left as f64),
                deadline: self.case.deadline_us.map(Time::from_us),
            },
        };
        self.control.on_ack(&ack, &mut Vec::new());
        let counted = ack.counted_segments();
        self.words.extend([
            1,
            now_ns,
            srtt.map_or(0, Span::as_ns),
            sent_segments,
            segments_left.map_or(u64::MAX, |left| left << 16),
            self.case.deadline_us.map_or(0, |deadline| deadline * 1_000),
            self.una,
            self.nxt,
            new_segments,
            if mark == Mark::K { counted } else { 0 },
            if mark == Mark::Kdc { counted } else { 0 },
            u64::from(is_unvalidated),
            rtt_us * 1_000,
        ]);
        self.note();
        if self.recover.is_some_and(|recover| self.una >= recover) {
            self.recover = None;
            self.control.on_recovery_exit(&mut Vec::new());
            self.words.push(3);
            self.note();
        }
    }

    /// Runs the kernel's sender on all that happened and compares.
    fn judge(mut self) -> Result<(), TestCaseError> {
        self.words.push(5);
        let count = 5 * self.wanted.len();
        let got =
            PROGRAM.lock().expect("not poisoned").call(&self.words, count).expect("the program answers");
        for (step, (got, want)) in got.chunks(5).zip(&self.wanted).enumerate() {
            let fraction = WINDOW_BITS * WINDOW_BITS / 4.0;
            let scales = [WINDOW_BITS, WINDOW_BITS, fraction, fraction, 1.0];
            let got: Vec<f64> = got.iter().zip(scales).map(|(word, scale)| *word as f64 / scale).collect();
            for (name, got, want) in [("cwnd", got[0], want[0]), ("ssthresh", got[1], want[1])] {
                prop_assert!(
                    (got - want).abs() <= TOLERANCE * want,
                    "event {step}: {name} {got}, not {want}"
                );
            }
            for (name, got, want) in [("alpha", got[2], want[2]), ("delta", got[3], want[3])] {
                // A sender without this value has no number to compare.
                let differs = (got - want).abs() > TOLERANCE * want.max(1e-6);
                prop_assert!(!differs, "event {step}: {name} {got}, not {want}");
            }
            if !want[4].is_nan() && got[4] != want[4] {
                let is_tie = (want[0] - want[1]).abs() <= TOLERANCE * want[1];
                prop_assert!(is_tie, "event {step}: phase {}, not {}", got[4], want[4]);
                // A window that rounding puts on either side of its threshold: what follows differs rightly.
                return Ok(());
            }
        }
        Ok(())
    }
}

/// An event; ACKs have fewer than `most` new segments.
fn input(most: u64) -> impl Strategy<Value = Input> {
    let mark = prop_oneof![6 => Just(Mark::None), 3 => Just(Mark::K), 2 => Just(Mark::Kdc)];
    let rtt_us = prop_oneof![1 => Just(0), 6 => 100_u64..130, 1 => 1_u64..1_000];
    prop_oneof![
        60 => (0..most, mark, prop::bool::weighted(0.05), rtt_us)
            .prop_map(|(segments, mark, is_unvalidated, rtt_us)| Input::Ack {
                segments,
                mark,
                is_unvalidated,
                rtt_us,
            }),
        1 => Just(Input::FastRetransmit),
        1 => Just(Input::Timeout),
    ]
}

/// Runs of one kind of ACK: a flow in which windows grow large, with and without marks.
fn inputs(most: u64) -> impl Strategy<Value = Vec<Input>> {
    let run = (input(most), 1_usize..40).prop_map(|(input, times)| match input {
        Input::Ack { .. } => vec![input; times],
        Input::FastRetransmit | Input::Timeout => vec![input],
    });
    let mixed = prop::collection::vec(input(most), 1..20);
    prop::collection::vec(prop_oneof![run, mixed], 1..12).prop_map(|runs| runs.concat())
}

fn case() -> impl Strategy<Value = Case> {
    (
        prop_oneof![Just(0), (1_u64 << 32) - 50_000..1 << 32],
        1_u32..12,
        prop_oneof![Just(1e9), (2_u32..200).prop_map(f64::from)],
        1_u64..800_000,
        prop::option::of(0_u64..10_000),
        prop::option::of(0_u64..3_000),
    )
        .prop_map(|(first_byte, iw, ssthresh, rtt_us, deadline_us, size_segments)| Case {
            first_byte,
            iw: f64::from(iw),
            ssthresh,
            rtt_us,
            deadline_us,
            size_segments,
        })
}

/// Any slow start with parameters that act on windows of this size.
fn slow_start() -> impl Strategy<Value = String> {
    let entry = prop::sample::select(vec!["hold", "stop", "per_ack", "window_close"]);
    prop_oneof![
        Just(r#"{"name":"standard"}"#.to_owned()),
        (0_u32..40, entry, prop::bool::ANY).prop_map(|(k, entry, literal)| {
            let delta = if literal { "literal" } else { "text" };
            format!(r#"{{"name":"gst","k":{k},"k_dc":40,"entry":"{entry}","delta":"{delta}"}}"#)
        }),
        (1_u32..5).prop_map(|delta| format!(r#"{{"name":"rfb_ss","delta":{delta}}}"#)),
        (2_u32..60).prop_map(|most| format!(r#"{{"name":"limited","max_ssthresh":{most}}}"#)),
        hystart(),
        Just(r#"{"name":"smooth"}"#.to_owned()),
        Just(r#"{"name":"p_start"}"#.to_owned()),
    ]
}

/// HyStart++ with bounds near the samples of [`input`].
fn hystart() -> impl Strategy<Value = String> {
    (0_u32..20, 0_u32..40, 1_u32..20, 1_u32..10, 1_u32..8, (1_u32..7, 1_u32..12)).prop_map(
        |(low_us, more_us, divisor, samples, growth, (rounds, limit))| {
            let (low, high) = (low_us * 1_000, (low_us + more_us) * 1_000);
            format!(
                r#"{{"name":"hystart","min_rtt_thresh_ns":{low},"max_rtt_thresh_ns":{high},
                "min_rtt_divisor":{divisor},"n_rtt_sample":{samples},"css_growth_divisor":{growth},
                "css_rounds":{rounds},"limit":{limit}}}"#
            )
        },
    )
}

fn agrees(avoidance: &str, slow_start: &str, case: Case, inputs: &[Input]) -> Result<(), TestCaseError> {
    let json = format!(r#"{{"congestion_avoidance":{avoidance},"slow_start":{slow_start}}}"#);
    let config: AlgorithmConfig = serde_json::from_str(&json).expect("valid JSON");
    let mut pair = Pair::new(&config, case);
    inputs.iter().for_each(|input| pair.take(*input));
    pair.judge()
}

/// DCTCP's parameters.
fn share() -> impl Strategy<Value = String> {
    let freeze = prop::sample::select(vec!["off", "first_mark", "on"]);
    (1_u32..65, 0_u32..=16, 1_u32..4, freeze).prop_map(|(g, alpha0, cwnd_min, freeze)| {
        let (g, alpha0) = (f64::from(g) / 64.0, f64::from(alpha0) / 16.0);
        format!(r#""g":{g},"alpha0":{alpha0},"cwnd_min":{cwnd_min},"cwr_freeze":"{freeze}""#)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn reno_ecn(slow in slow_start(), case in case(), inputs in inputs(4)) {
        agrees(r#"{"name":"reno_ecn"}"#, &slow, case, &inputs)?;
    }

    #[test]
    fn dctcp(share in share(), slow in slow_start(), case in case(), inputs in inputs(4)) {
        agrees(&format!(r#"{{"name":"dctcp",{share}}}"#), &slow, case, &inputs)?;
    }

    #[test]
    fn hystart_with_any_sender(
        avoidance in prop::sample::select(vec!["reno_ecn", "dctcp"]),
        slow in hystart(),
        case in case(),
        inputs in inputs(12),
    ) {
        agrees(&format!(r#"{{"name":"{avoidance}"}}"#), &slow, case, &inputs)?;
    }

    #[test]
    fn d2tcp(
        share in share(),
        (late, step) in (1_u32..3, prop::sample::select(vec![0.0, 0.0078125])),
        slow in slow_start(),
        case in case(),
        inputs in inputs(4),
    ) {
        let own = format!(r#""d_late":{late},"d_step":{step}"#);
        agrees(&format!(r#"{{"name":"d2tcp",{share},{own}}}"#), &slow, case, &inputs)?;
    }

    #[test]
    fn l2tcp(share in share(), s1 in 0_u32..300, slow in slow_start(), case in case(), inputs in inputs(4)) {
        agrees(&format!(r#"{{"name":"l2tcp",{share},"s1":{s1}}}"#), &slow, case, &inputs)?;
    }

    /// ACKs of up to 2^32 segments and as many marks, by segment as in the kernel: no overflow, no division
    /// by zero, and every bound holds.
    #[test]
    fn bounds_hold_at_any_size(
        avoidance in prop::sample::select(vec!["reno_ecn", "dctcp", "d2tcp", "l2tcp"]),
        slow in slow_start(),
        acks in prop::collection::vec(any::<[u32; 6]>().prop_map(|words| words.map(u64::from)), 1..40),
        exponents in prop::collection::vec(0_u32..32, 6),
    ) {
        let json = format!(r#"{{"congestion_avoidance":{{"name":"{avoidance}"}},"slow_start":{slow}}}"#);
        let config: AlgorithmConfig = serde_json::from_str(&json).expect("valid JSON");
        let params = Params::new(&config, InitialWindow::default(), Growth::BySegment).expect("a sender");
        let mut words = vec![0];
        words.extend(params.words());
        words.push(7);
        for ack in &acks {
            let [una, nxt, new, k, kdc, time] =
                std::array::from_fn(|place| ack[place] >> exponents[place]);
            words.extend([1, time << 20, time << 8, nxt << 16, new << 30, time << 24, una, nxt, new, k, kdc, 0, time << 12]);
        }
        words.push(5);
        let count = 5 * (acks.len() + 1);
        let got = PROGRAM.lock().expect("not poisoned").call(&words, count).expect("the program answers");
        for state in got.chunks(5) {
            prop_assert!((1 << 32..=1 << 62).contains(&state[0]), "cwnd {}", state[0]);
            prop_assert!((1 << 32..=1 << 62).contains(&state[1]), "ssthresh {}", state[1]);
            prop_assert!(state[2] <= 1 << 62 && state[3] <= 1 << 62, "alpha {}, delta {}", state[2], state[3]);
        }
    }
}
