//! What the tests of the receivers share.

use p4cc_units::{Bytes, Rate, Span};

use super::control::{ReceiverAlgorithm, ReceiverEnvironment};
use crate::rate::PacketSize;
use crate::{AlgorithmSpec, build_receiver};

/// A full packet of 1000 bytes takes a microsecond.
pub(crate) fn environment() -> ReceiverEnvironment {
    ReceiverEnvironment {
        line_rate: Rate::from_bps(10_000_000_000),
        base_rtt: Span::from_us(10),
        packet: PacketSize { payload: Bytes(1_000), ip: Bytes(1_064) },
        line_bytes: Bytes(1_250),
    }
}

pub(crate) fn made(json: &str) -> Box<dyn ReceiverAlgorithm> {
    let spec: AlgorithmSpec = serde_json::from_str(json).expect("valid JSON");
    build_receiver(&spec, &environment()).expect("valid parameters")
}
