//! Receivers: the base that users' classes derive from, what a method is shown of data that arrives, and the
//! receiver around an object.

use std::collections::BTreeSet;

use p4cc_cc::{Arrival as Arrived, FlowIdentity, ReceiverAction, ReceiverAlgorithm, ReceiverEnvironment};
use p4cc_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::acks::ns;
use super::algorithm::{AckHook, Class, Object};

/// Most that one action lets be sent, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// Data that arrives. One object serves all that reaches a host: what a method keeps of it, it copies.
#[pyclass(module = "p4cc._engine")]
#[derive(Default)]
pub(crate) struct Arrival {
    shown: Arrived,
}

#[pymethods]
impl Arrival {
    #[getter]
    fn now_ns(&self) -> f64 {
        self.shown.now.as_ps() as f64 / 1_000.0
    }

    #[getter]
    fn flow(&self) -> u32 {
        self.shown.flow
    }

    #[getter]
    fn start(&self) -> u64 {
        self.shown.start
    }

    #[getter]
    fn end(&self) -> u64 {
        self.shown.end()
    }

    #[getter]
    fn bytes(&self) -> u32 {
        self.shown.bytes
    }

    #[getter]
    fn is_trimmed(&self) -> bool {
        self.shown.is_trimmed
    }

    #[getter]
    fn beyond_bytes(&self) -> Option<u64> {
        self.shown.beyond_bytes
    }

    #[getter]
    fn is_marked(&self) -> bool {
        self.shown.is_marked
    }

    #[getter]
    fn priority(&self) -> u8 {
        self.shown.class
    }
}

/// What the engine reads and sets of a user's object.
#[pyclass(subclass, module = "p4cc._engine")]
#[derive(Default)]
pub(crate) struct ReceiverBase {
    unasked_bytes: u64,
    /// Flows begin with what `start` left: a later `unasked_bytes` would change nothing.
    has_started: bool,
    timer_ns: Option<f64>,
    host: FlowIdentity,
    environment: Option<ReceiverEnvironment>,
    /// Flows of which something arrived.
    known: BTreeSet<u32>,
    actions: Vec<ReceiverAction>,
}

impl ReceiverBase {
    fn check(&self, flow: u32) -> PyResult<()> {
        if self.known.contains(&flow) {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("flow {flow} has not arrived here; name a flow of an arrival")))
    }
}

#[pymethods]
impl ReceiverBase {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyAny>>) -> Self {
        Self::default()
    }

    /// What a flow sends before it hears of the receiver.
    #[getter]
    fn unasked_bytes(&self) -> u64 {
        self.unasked_bytes
    }

    #[setter]
    fn set_unasked_bytes(&mut self, value: u64) -> PyResult<()> {
        if self.has_started {
            let text = "unasked_bytes is fixed when the run has begun; set it in start";
            return Err(PyValueError::new_err(text));
        }
        if !(1..=MAX_BYTES).contains(&value) {
            let remedy = format!("give bytes from 1 to {MAX_BYTES}");
            return Err(PyValueError::new_err(format!("unasked_bytes = {value}; {remedy}")));
        }
        self.unasked_bytes = value;
        Ok(())
    }

    /// When `on_timer` is to be called.
    #[getter]
    fn timer_ns(&self) -> Option<f64> {
        self.timer_ns
    }

    #[setter]
    fn set_timer_ns(&mut self, value: Option<f64>) -> PyResult<()> {
        // Later than the longest run is never.
        if value.is_some_and(|value| !(0.0..=1e16).contains(&value)) {
            let value = value.unwrap_or_default();
            let remedy = "give a virtual time from 0 on, in nanoseconds, or None for no timer";
            return Err(PyValueError::new_err(format!("timer_ns = {value}; {remedy}")));
        }
        self.timer_ns = value;
        Ok(())
    }

    /// The data that just arrived is answered at once.
    fn acknowledge(&mut self) {
        self.actions.push(ReceiverAction::Acknowledge);
    }

    /// The flow may send so many bytes more.
    fn pull(&mut self, flow: u32, bytes: u64) -> PyResult<()> {
        self.check(flow)?;
        let taken = u32::try_from(bytes).ok().filter(|_| (1..=MAX_BYTES).contains(&bytes));
        let Some(bytes) = taken else {
            return Err(PyValueError::new_err(format!("pull of {bytes} bytes; give 1 to {MAX_BYTES}")));
        };
        self.actions.push(ReceiverAction::Pull { flow, bytes });
        Ok(())
    }

    /// The flow may send up to a byte, at most `MAX_BYTES` ahead of what is there, in a traffic class.
    #[pyo3(signature = (flow, up_to, priority = None))]
    fn grant(&mut self, flow: u32, up_to: u64, priority: Option<u8>) -> PyResult<()> {
        self.check(flow)?;
        if let Some(priority) = priority.filter(|priority| *priority > 7) {
            return Err(PyValueError::new_err(format!("priority {priority}; give 0 to 7, or None")));
        }
        self.actions.push(ReceiverAction::Grant { flow, up_to, class: priority });
        Ok(())
    }

    /// The host's number, and the run's seed.
    #[getter]
    fn host(&self) -> u32 {
        self.host.flow_id
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.host.seed
    }

    #[getter]
    fn line_rate_bps(&self) -> f64 {
        self.environment.map_or(0.0, |one| one.line_rate.as_bps() as f64)
    }

    #[getter]
    fn base_rtt_ns(&self) -> f64 {
        self.environment.map_or(0.0, |one| ns(one.base_rtt))
    }

    #[getter]
    fn bdp_bytes(&self) -> f64 {
        self.environment.map_or(0.0, |one| one.line_rate.as_bps() as f64 * one.base_rtt.as_ps() as f64 / 8e12)
    }

    /// Payload of a full packet, and what it takes of the line.
    #[getter]
    fn payload_bytes(&self) -> u64 {
        self.environment.map_or(0, |one| one.packet.payload.0)
    }

    #[getter]
    fn line_bytes(&self) -> u64 {
        self.environment.map_or(0, |one| one.line_bytes.0)
    }
}

/// A receiver by an object of a user's class.
#[derive(Debug)]
pub(super) struct PythonReceiver {
    object: Object,
    base: Py<ReceiverBase>,
    arrival: Py<Arrival>,
    on_arrival: Option<AckHook>,
    on_complete: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    now: Time,
    unasked_bytes: u64,
    timer: Option<Time>,
    /// What `start` wanted done; the first call hands it over.
    early: Vec<ReceiverAction>,
}

impl PythonReceiver {
    pub fn new(
        py: Python<'_>,
        object: Object,
        class: &Class,
        environment: &ReceiverEnvironment,
    ) -> PyResult<Self> {
        let hook = |name: &str| class.hook(py, &object, name);
        let base: Py<ReceiverBase> = object.object.extract(py)?;
        {
            let mut base = base.borrow_mut(py);
            base.host = object.flow;
            base.environment = Some(*environment);
            base.unasked_bytes = (base.bdp_bytes() as u64).clamp(base.payload_bytes().max(1), MAX_BYTES);
        }
        if let Some(start) = hook("start")? {
            object.kept(Time::ZERO, start.call0(py));
        }
        base.borrow_mut(py).has_started = true;
        let arrival = Py::new(py, Arrival::default())?;
        let on_arrival = class.ack_hook(py, &object, "on_arrival", arrival.as_any())?;
        let mut made = Self {
            on_arrival,
            on_complete: hook("on_complete")?,
            on_timer: hook("on_timer")?,
            object,
            base,
            arrival,
            now: Time::ZERO,
            unasked_bytes: 0,
            timer: None,
            early: Vec::new(),
        };
        let mut early = Vec::new();
        let taken = made.take(py, &mut early);
        made.early = early;
        made.object.kept(Time::ZERO, taken);
        Ok(made)
    }

    /// Takes over what the object set and wants done.
    fn take(&mut self, py: Python<'_>, actions: &mut Vec<ReceiverAction>) -> PyResult<()> {
        let mut base = self.base.borrow_mut(py);
        actions.append(&mut self.early);
        actions.append(&mut base.actions);
        let timer = base.timer_ns.map(|at_ns| Time::from_ps((at_ns * 1_000.0).round() as u64));
        // A timer that is due at once would be due for ever.
        if let Some(at) = timer.filter(|at| *at <= self.now && self.timer != Some(*at)) {
            let (at, now) = (at.as_ps() as f64 / 1_000.0, self.now.as_ps() as f64 / 1_000.0);
            return Err(PyValueError::new_err(format!(
                "timer_ns = {at}, and it is {now} ns; give a later time"
            )));
        }
        (self.unasked_bytes, self.timer) = (base.unasked_bytes, timer);
        Ok(())
    }

    /// Calls a method that takes the virtual time, and a flow's number if there is one.
    fn call(
        &mut self,
        now: Time,
        method: impl Fn(&Self) -> Option<&Py<PyAny>>,
        flow: Option<u32>,
        actions: &mut Vec<ReceiverAction>,
    ) {
        if method(self).is_none() || self.object.has_failed() {
            return;
        }
        self.now = now;
        let now_ns = now.as_ps() as f64 / 1_000.0;
        Python::attach(|py| {
            let Some(method) = method(self) else { return };
            let done = match flow {
                Some(flow) => method.call1(py, (now_ns, flow)),
                None => method.call1(py, (now_ns,)),
            };
            let taken = done.and_then(|_| self.take(py, actions));
            self.object.kept(now, taken);
        });
    }
}

impl ReceiverAlgorithm for PythonReceiver {
    fn unasked_bytes(&self) -> u64 {
        self.unasked_bytes
    }

    fn on_arrival(&mut self, arrival: &Arrived, actions: &mut Vec<ReceiverAction>) {
        if self.object.has_failed() {
            return;
        }
        self.now = arrival.now;
        Python::attach(|py| {
            let Some(on_arrival) = &self.on_arrival else { return };
            self.base.borrow_mut(py).known.insert(arrival.flow);
            self.arrival.borrow_mut(py).shown = *arrival;
            let done = on_arrival.call(py).map(drop);
            let taken = done.and_then(|()| self.take(py, actions));
            self.object.kept(arrival.now, taken);
        });
    }

    fn on_complete(&mut self, now: Time, flow: u32, actions: &mut Vec<ReceiverAction>) {
        self.call(now, |this| this.on_complete.as_ref(), Some(flow), actions);
    }

    fn next_timer(&self) -> Option<Time> {
        self.timer.filter(|_| self.on_timer.is_some() && !self.object.has_failed())
    }

    fn on_timer(&mut self, now: Time, actions: &mut Vec<ReceiverAction>) {
        if self.next_timer().is_some_and(|at| at <= now) {
            Python::attach(|py| self.base.borrow_mut(py).timer_ns = None);
            self.timer = None;
            self.call(now, |this| this.on_timer.as_ref(), None, actions);
        }
    }
}
