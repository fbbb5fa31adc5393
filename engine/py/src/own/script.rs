//! A sender's algorithm fed with made-up ACKs, without a network: what checks of a class are made of.

use std::sync::Arc;

use p4cc_cc::{
    AckSample, FlowIdentity, FlowProgress, HopRecord, InitialWindow, IntEncoding, Mark, PacketSize, RateAck,
    RateEnvironment, build, build_rate,
};
use p4cc_units::{Bytes, Rate, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::algorithm::{OwnAlgorithm, brought};
use super::failures::Failures;
use crate::errors;

/// The bytes of a segment here.
const SEGMENT: u64 = 1_000;
/// What is in flight beyond an ACK here.
const FLIGHT: u64 = 20;

/// What happens to a window sender: its name, segments that it is about, a mark, nanoseconds since the last
/// step, a round-trip time.
type WindowStep = (String, u64, u8, u64, Option<u64>);

/// The window and the threshold in segments after each step.
#[pyfunction]
pub(crate) fn script_window(
    py: Python<'_>,
    config_json: &str,
    own: Vec<Py<OwnAlgorithm>>,
    seed: u64,
    ssthresh_segments: f64,
    steps: Vec<WindowStep>,
) -> PyResult<Vec<(f64, f64)>> {
    let mut config: p4cc_cc::AlgorithmConfig =
        serde_json::from_str(config_json).map_err(|error| errors::json(py, "$", &error.to_string()))?;
    let failures = Arc::new(Failures::default());
    let made = config.bring(&brought(py, &own, &failures)).and_then(|()| {
        config.for_flow(FlowIdentity { flow_id: 1, seed });
        build(&config, InitialWindow { cwnd_segments: 10.0, ssthresh_segments, ..InitialWindow::default() })
    });
    let mut control = made.map_err(|error| errors::config(py, &error))?;
    let (mut una, mut now, mut events, mut windows) = (0, Time::ZERO, Vec::new(), Vec::new());
    for (kind, n, mark, later_ns, rtt_ns) in steps {
        now += Span::from_ns(later_ns);
        let rtt = rtt_ns.map(Span::from_ns);
        match kind.as_str() {
            "ack" => {
                una += n;
                let mark = [Mark::None, Mark::K, Mark::Kdc][usize::from(mark.min(2))];
                control.on_ack(
                    &AckSample {
                        now,
                        new_segments: n,
                        ack: una * SEGMENT,
                        snd_nxt: (una + FLIGHT) * SEGMENT,
                        mark,
                        rtt,
                        srtt: rtt,
                        is_unvalidated: false,
                        flow: FlowProgress {
                            sent_segments: una + FLIGHT,
                            segments_left: None,
                            deadline: None,
                        },
                    },
                    &mut events,
                );
            }
            "fast_retransmit" => control.on_fast_retransmit(n, 3, &mut events),
            "partial_ack" => control.on_partial_ack(n),
            "recovery_exit" => control.on_recovery_exit_newreno(n, &mut events),
            "timeout" => control.on_timeout(n, una * SEGMENT, &mut events),
            other => return Err(PyValueError::new_err(format!("no step {other:?}"))),
        }
        events.clear();
        windows.push((control.window().cwnd(), control.window().ssthresh()));
        if let Some(failure) = failures.take() {
            return Err(errors::algorithm(py, failure));
        }
    }
    Ok(windows)
}

/// What happens to a paced sender: nanoseconds since the last step, a round-trip time, a notification,
/// bytes acknowledged, and the timestamp, sent bytes and queue of one switch's record.
type RateStep = (u64, Option<u64>, bool, u64, Option<(u32, u32, u32)>);

/// The rate in bit/s and the window in bytes after each step.
#[pyfunction]
pub(crate) fn script_rate(
    py: Python<'_>,
    config_json: &str,
    line_rate_bps: u64,
    own: Vec<Py<OwnAlgorithm>>,
    seed: u64,
    steps: Vec<RateStep>,
) -> PyResult<Vec<(f64, Option<f64>)>> {
    let mut spec: p4cc_cc::AlgorithmSpec =
        serde_json::from_str(config_json).map_err(|error| errors::json(py, "$", &error.to_string()))?;
    let failures = Arc::new(Failures::default());
    let line_rate = Rate::from_bps(line_rate_bps);
    let base_rtt = Span::from_us(13);
    let environment = RateEnvironment {
        line_rate,
        base_rtt,
        int: IntEncoding::hs_fixed(4),
        packet: PacketSize { payload: Bytes(SEGMENT), ip: Bytes(SEGMENT + 64) },
    };
    let made = spec.bring_rate(&brought(py, &own, &failures)).and_then(|()| {
        spec.for_flow(FlowIdentity { flow_id: 1, seed });
        build_rate(&spec, &environment)
    });
    let mut control = made.map_err(|error| errors::config(py, &error))?;
    let (mut now, mut ack, mut rates) = (Time::ZERO, 0, Vec::new());
    for (later_ns, rtt_ns, cnp, bytes, hop) in steps {
        now += Span::from_ns(later_ns);
        ack += bytes;
        while let Some(at) = control.next_timer().filter(|at| *at <= now) {
            control.on_timer(at);
        }
        control.on_sent(now, Bytes(SEGMENT));
        let hop = hop.map(|(timestamp, tx, queue)| HopRecord { line_rate, timestamp, tx, queue });
        control.on_ack(&RateAck {
            now,
            ack,
            snd_nxt: ack + FLIGHT * SEGMENT,
            rtt: rtt_ns.map(Span::from_ns),
            cnp,
            hops: hop.as_slice(),
            ..RateAck::default()
        });
        if cnp {
            control.on_cnp(now);
        }
        if let Some(failure) = failures.take() {
            return Err(errors::algorithm(py, failure));
        }
        rates.push((control.rate_bps(), control.cwnd_bytes()));
    }
    Ok(rates)
}
