//! A receiver driven by scripted arrivals, without a network: checks of a class are made of this.

use std::sync::Arc;

use p4cc_cc::{
    AlgorithmSpec, Arrival, FlowIdentity, PacketSize, ReceiverAction, ReceiverAlgorithm, ReceiverEnvironment,
    build_receiver,
};
use p4cc_units::{Bytes, Rate, Span, Time};
use parking_lot::Mutex;
use pyo3::prelude::*;

use super::algorithm::{OwnAlgorithm, brought};
use super::failures::Failures;
use crate::errors;

/// Payload of a full packet, its IP length, and what it takes of the line.
const PACKET: [u64; 3] = [1_000, 1_064, 1_088];

/// Data: its flow, its first byte, its bytes, whether it is a header alone, what the flow has beyond it,
/// whether it has a mark, its class.
type Data = (u32, u64, u32, bool, Option<u64>, bool, u8);
/// What the receiver does, a flow, bytes or the byte that it may send up to, a class.
type Done = (&'static str, u32, u64, Option<u8>);

/// One receiver, its host's number 1.
#[pyclass(module = "p4cc._engine")]
pub(crate) struct ScriptedReceiver {
    /// Any thread may drop it: the watch of users' calls holds frames.
    algorithm: Mutex<Box<dyn ReceiverAlgorithm>>,
    failures: Arc<Failures>,
}

impl ScriptedReceiver {
    /// What a call of the receiver did; raises what a user's method raised.
    fn call(
        &mut self,
        py: Python<'_>,
        called: impl FnOnce(&mut dyn ReceiverAlgorithm, &mut Vec<ReceiverAction>),
    ) -> PyResult<Vec<Done>> {
        let mut actions = Vec::new();
        called(&mut **self.algorithm.get_mut(), &mut actions);
        if let Some(failure) = self.failures.take() {
            return Err(errors::algorithm(py, failure));
        }
        Ok(actions.into_iter().map(done).collect())
    }
}

const fn done(action: ReceiverAction) -> Done {
    match action {
        ReceiverAction::Acknowledge => ("acknowledge", 0, 0, None),
        ReceiverAction::Pull { flow, bytes } => ("pull", flow, bytes as u64, None),
        ReceiverAction::Grant { flow, up_to, class } => ("grant", flow, up_to, class),
    }
}

#[pymethods]
impl ScriptedReceiver {
    #[new]
    fn new(
        py: Python<'_>,
        config_json: &str,
        line_rate_bps: u64,
        base_rtt_ns: u64,
        own: Vec<Py<OwnAlgorithm>>,
        seed: u64,
    ) -> PyResult<Self> {
        let mut spec: AlgorithmSpec =
            serde_json::from_str(config_json).map_err(|error| errors::json(py, "$", &error.to_string()))?;
        let failures = Arc::new(Failures::default());
        let [payload, ip, line_bytes] = PACKET.map(Bytes);
        let environment = ReceiverEnvironment {
            line_rate: Rate::from_bps(line_rate_bps),
            base_rtt: Span::from_ns(base_rtt_ns),
            packet: PacketSize { payload, ip },
            line_bytes,
        };
        let made = spec.bring_receiver(&brought(py, &own, &failures)).and_then(|()| {
            spec.for_flow(FlowIdentity { flow_id: 1, seed });
            build_receiver(&spec, &environment)
        });
        let algorithm = made.map_err(|error| errors::config(py, &error))?;
        match failures.take() {
            Some(failure) => Err(errors::algorithm(py, failure)),
            None => Ok(Self { algorithm: Mutex::new(algorithm), failures }),
        }
    }

    /// What a flow may send before it hears of the receiver.
    #[getter]
    fn unasked_bytes(&self) -> u64 {
        self.algorithm.lock().unasked_bytes()
    }

    /// When `on_timer` is to be called.
    #[getter]
    fn next_timer_ps(&self) -> Option<u64> {
        self.algorithm.lock().next_timer().map(Time::as_ps)
    }

    fn on_arrival(&mut self, py: Python<'_>, now_ps: u64, data: Data) -> PyResult<Vec<Done>> {
        let (flow, start, bytes, is_trimmed, beyond_bytes, is_marked, class) = data;
        let now = Time::from_ps(now_ps);
        let arrival =
            Arrival { now, flow, start, bytes, is_trimmed, beyond_bytes, wanted: None, is_marked, class };
        self.call(py, |algorithm, actions| algorithm.on_arrival(&arrival, actions))
    }

    fn on_complete(&mut self, py: Python<'_>, now_ps: u64, flow: u32) -> PyResult<Vec<Done>> {
        self.call(py, |algorithm, actions| algorithm.on_complete(Time::from_ps(now_ps), flow, actions))
    }

    fn on_timer(&mut self, py: Python<'_>, now_ps: u64) -> PyResult<Vec<Done>> {
        self.call(py, |algorithm, actions| algorithm.on_timer(Time::from_ps(now_ps), actions))
    }
}
