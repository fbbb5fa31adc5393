//! What the tests of the algorithms share.

use p4cc_units::Span;
use proptest::prelude::*;

use crate::info::{AlgorithmInfo, Make};
use crate::kind::Kind;
use crate::params::Params;
use crate::registry::registry;
use crate::{AckSample, AlgorithmConfig, AlgorithmSpec, CongestionAvoidance, InitialWindow, Mark, SlowStart};

/// An algorithm's parameters as a configuration gives them.
pub(crate) struct Given {
    info: &'static AlgorithmInfo,
    spec: AlgorithmSpec,
}

impl Given {
    pub(crate) fn params(&self) -> Params<'_> {
        self.info.params(self.info.kind.key(), &self.spec).expect("known parameters")
    }
}

/// `{"name": …, parameter: value, …}` for the algorithm of this registry row.
pub(crate) fn params_of(info: &AlgorithmInfo, json: &str) -> Given {
    let info =
        registry().iter().find(|row| row.name == info.name && row.kind == info.kind).expect("registered");
    Given { info, spec: serde_json::from_str(json).expect("valid JSON") }
}

fn given(json: &str) -> Given {
    let spec: AlgorithmSpec = serde_json::from_str(json).expect("valid JSON");
    let info = registry().iter().find(|row| row.name == spec.name).expect("registered");
    Given { info, spec }
}

/// The congestion avoidance that `json` names.
pub(crate) fn avoidance(json: &str) -> Box<dyn CongestionAvoidance> {
    let given = given(json);
    match given.info.make {
        Make::CongestionAvoidance(make) => make(&given.params()).expect("valid parameters"),
        _ => panic!("{json} is no congestion avoidance"),
    }
}

/// The slow start that `json` names.
pub(crate) fn slow_start(json: &str) -> Box<dyn SlowStart> {
    let given = given(json);
    match given.info.make {
        Make::SlowStart(make) => make(&given.params()).expect("valid parameters"),
        _ => panic!("{json} is no slow start"),
    }
}

/// An ACK at time zero without a round-trip sample.
pub(crate) fn ack(new_segments: u64, ack: u64, snd_nxt: u64, mark: Mark) -> AckSample {
    AckSample { new_segments, ack, snd_nxt, mark, ..AckSample::default() }
}

/// Any mark.
pub(crate) fn mark() -> impl Strategy<Value = Mark> {
    prop_oneof![Just(Mark::None), Just(Mark::K), Just(Mark::Kdc)]
}

/// The windows at the start of each round of an ideal path, with Reno after the slow start.
pub(crate) fn windows_by_round(
    slow_start: &str,
    iw: f64,
    ssthresh: f64,
    rtt: Span,
    max_rounds: usize,
) -> Vec<f64> {
    let slow_start = serde_json::from_str(slow_start).expect("valid JSON");
    let config = AlgorithmConfig { slow_start, ..AlgorithmConfig::default() };
    let initial =
        InitialWindow { cwnd_segments: iw, ssthresh_segments: ssthresh, ..InitialWindow::default() };
    crate::windows_by_round(&config, initial, rtt, max_rounds).expect("a valid configuration")
}

/// The names of a kind, as messages list them.
pub(crate) fn known(kind: Kind) -> String {
    let names: Vec<&str> = registry().iter().filter(|row| row.kind == kind).map(|row| row.name).collect();
    names.join(", ")
}
