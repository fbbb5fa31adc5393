//! The rate family: the base that users' classes derive from, and the rate control around an object.

use p4cc_cc::{
    FlowIdentity, FlowRemainder, HeaderField, IntEncoding, PacketSize, QueueNotice, RateAck, RateControl,
    RateEnvironment, RateRequest,
};
use p4cc_units::{Bytes, Span, Time};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::acks::{PacedAck, headers, ns};
use super::algorithm::{AckHook, Class, Object};

/// What the engine reads and sets of a user's object.
#[pyclass(subclass, module = "p4cc._engine")]
#[derive(Default)]
pub(crate) struct RateBase {
    rate_bps: f64,
    window_bytes: Option<f64>,
    timer_ns: Option<f64>,
    flow: FlowIdentity,
    line_rate_bps: f64,
    base_rtt: Span,
    packet: Option<PacketSize>,
}

#[pymethods]
impl RateBase {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyAny>>) -> Self {
        Self::default()
    }

    #[getter]
    fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    #[setter]
    fn set_rate_bps(&mut self, value: f64) -> PyResult<()> {
        if !value.is_finite() || value < 0.0 {
            return Err(PyValueError::new_err(format!(
                "rate_bps = {value}; give a number from 0 on, in bit/s"
            )));
        }
        self.rate_bps = value.min(self.line_rate_bps);
        Ok(())
    }

    #[getter]
    fn window_bytes(&self) -> Option<f64> {
        self.window_bytes
    }

    #[setter]
    fn set_window_bytes(&mut self, value: Option<f64>) -> PyResult<()> {
        if value.is_some_and(|value| !value.is_finite() || value < 1.0) {
            let value = value.unwrap_or_default();
            let remedy = "give a number from 1 on, in bytes, or None for no window";
            return Err(PyValueError::new_err(format!("window_bytes = {value}; {remedy}")));
        }
        self.window_bytes = value;
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

    #[getter]
    fn flow_id(&self) -> u32 {
        self.flow.flow_id
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.flow.seed
    }

    #[getter]
    fn line_rate_bps(&self) -> f64 {
        self.line_rate_bps
    }

    /// Payload of a full packet.
    #[getter]
    fn payload_bytes(&self) -> u64 {
        self.packet.map_or(0, |packet| packet.payload.0)
    }

    /// Its IP length as it leaves.
    #[getter]
    fn packet_bytes(&self) -> u64 {
        self.packet.map_or(0, |packet| packet.ip.0)
    }

    #[getter]
    fn base_rtt_ns(&self) -> f64 {
        ns(self.base_rtt)
    }

    #[getter]
    fn bdp_bytes(&self) -> f64 {
        self.line_rate_bps * self.base_rtt.as_ps() as f64 / 8e12
    }
}

/// What the object has set, as the pacer reads it for each packet.
#[derive(Clone, Copy, Debug)]
struct Set {
    rate_bps: f64,
    window_bytes: Option<f64>,
    timer: Option<Time>,
}

/// Rate control by an object of a user's class.
#[derive(Debug)]
pub(super) struct PythonRate {
    object: Object,
    base: Py<RateBase>,
    ack: Py<PacedAck>,
    on_ack: Option<AckHook>,
    on_cnp: Option<Py<PyAny>>,
    on_notice: Option<Py<PyAny>>,
    on_loss: Option<Py<PyAny>>,
    on_timeout: Option<Py<PyAny>>,
    on_sent: Option<Py<PyAny>>,
    on_timer: Option<Py<PyAny>>,
    request_rate: Option<Py<PyAny>>,
    int: IntEncoding,
    now: Time,
    set: Set,
}

impl PythonRate {
    pub fn new(
        py: Python<'_>,
        object: Object,
        class: &Class,
        environment: &RateEnvironment,
    ) -> PyResult<Self> {
        let hook = |name: &str| class.hook(py, &object, name);
        let base: Py<RateBase> = object.object.extract(py)?;
        {
            let mut base = base.borrow_mut(py);
            base.flow = object.flow;
            base.line_rate_bps = environment.line_rate.as_bps() as f64;
            base.rate_bps = base.line_rate_bps;
            base.base_rtt = environment.base_rtt;
            base.packet = Some(environment.packet);
        }
        if let Some(start) = hook("start")? {
            object.kept(Time::ZERO, start.call0(py));
        }
        let ack = Py::new(py, PacedAck::default())?;
        let on_ack = class.ack_hook(py, &object, "on_ack", ack.as_any())?;
        let mut made = Self {
            on_ack,
            on_cnp: hook("on_cnp")?,
            on_notice: hook("on_notice")?,
            on_loss: hook("on_loss")?,
            on_timeout: hook("on_timeout")?,
            on_sent: hook("on_sent")?,
            on_timer: hook("on_timer")?,
            request_rate: hook("request_rate")?,
            object,
            base,
            ack,
            int: environment.int,
            now: Time::ZERO,
            set: Set { rate_bps: 0.0, window_bytes: None, timer: None },
        };
        let taken = made.take(py);
        made.object.kept(Time::ZERO, taken);
        Ok(made)
    }

    /// Takes over what the object set.
    fn take(&mut self, py: Python<'_>) -> PyResult<()> {
        let base = self.base.borrow(py);
        let timer = base.timer_ns.map(|at_ns| Time::from_ps((at_ns * 1_000.0) as u64));
        // A timer that is due at once would be due for ever.
        if let Some(at) = timer.filter(|at| *at <= self.now && self.set.timer != Some(*at)) {
            let (at, now) = (at.as_ps() as f64 / 1_000.0, self.now.as_ps() as f64 / 1_000.0);
            return Err(PyValueError::new_err(format!(
                "timer_ns = {at}, and it is {now} ns; give a later time"
            )));
        }
        self.set = Set { rate_bps: base.rate_bps, window_bytes: base.window_bytes, timer };
        Ok(())
    }

    /// Calls a method that takes the virtual time, and what else there is.
    fn call(&mut self, now: Time, method: impl Fn(&Self) -> Option<&Py<PyAny>>, more: Option<u64>) {
        if method(self).is_none() || self.object.has_failed() {
            return;
        }
        self.now = now;
        let now_ns = now.as_ps() as f64 / 1_000.0;
        Python::attach(|py| {
            let Some(method) = method(self) else { return };
            let done = match more {
                Some(more) => method.call1(py, (now_ns, more)),
                None => method.call1(py, (now_ns,)),
            };
            let taken = done.and_then(|_| self.take(py));
            self.object.kept(now, taken);
        });
    }
}

impl RateControl for PythonRate {
    fn on_ack(&mut self, ack: &RateAck<'_>) {
        if self.object.has_failed() {
            return;
        }
        self.now = ack.now;
        Python::attach(|py| {
            let Some(on_ack) = &self.on_ack else { return };
            let shown = self.ack.borrow_mut(py).show(py, ack, self.int);
            let done = shown.and_then(|()| on_ack.call(py));
            let taken = done.map(drop).and_then(|()| self.take(py));
            self.object.kept(ack.now, taken);
            self.ack.borrow_mut(py).headers = None;
        });
    }

    fn on_headers(&mut self, fields: &[HeaderField<'_>]) {
        Python::attach(|py| {
            let found = self.object.kept(self.now, headers(py, fields));
            self.ack.borrow_mut(py).headers = found;
        });
    }

    fn reads_headers(&self) -> bool {
        !self.object.has_failed()
    }

    fn on_cnp(&mut self, now: Time) {
        self.call(now, |this| this.on_cnp.as_ref(), None);
    }

    fn on_notice(&mut self, notice: &QueueNotice) {
        if self.object.has_failed() {
            return;
        }
        self.now = notice.now;
        Python::attach(|py| {
            let Some(method) = &self.on_notice else { return };
            let now_ns = notice.now.as_ps() as f64 / 1_000.0;
            let told = (now_ns, ns(notice.elapsed), notice.queue.0, notice.link_rate.as_bps() as f64);
            let taken = method.call1(py, told).and_then(|_| self.take(py));
            self.object.kept(notice.now, taken);
        });
    }

    fn on_loss(&mut self, now: Time) {
        self.call(now, |this| this.on_loss.as_ref(), None);
    }

    fn on_timeout(&mut self, now: Time) {
        self.call(now, |this| this.on_timeout.as_ref(), None);
    }

    fn on_sent(&mut self, now: Time, size: Bytes) {
        self.call(now, |this| this.on_sent.as_ref(), Some(size.0));
    }

    fn next_timer(&self) -> Option<Time> {
        self.set.timer.filter(|_| self.on_timer.is_some() && !self.object.has_failed())
    }

    fn on_timer(&mut self, now: Time) {
        if self.next_timer().is_some_and(|at| at <= now) {
            Python::attach(|py| self.base.borrow_mut(py).timer_ns = None);
            self.set.timer = None;
            self.call(now, |this| this.on_timer.as_ref(), None);
        }
    }

    fn request_rate(&mut self, remainder: &FlowRemainder) -> RateRequest {
        let Some(request) = self.request_rate.as_ref().filter(|_| !self.object.has_failed()) else {
            return RateRequest::Rate(0.0);
        };
        self.now = remainder.now;
        let asked = Python::attach(|py| {
            let deadline_ns = remainder.deadline.map(|at| at.as_ps() as f64 / 1_000.0);
            let now_ns = remainder.now.as_ps() as f64 / 1_000.0;
            let asked = request.call1(py, (now_ns, remainder.left_bytes, deadline_ns, ns(remainder.rtt)));
            let asked =
                asked.and_then(|asked| asked.extract::<Option<f64>>(py)).and_then(|asked| match asked {
                    Some(bps) if !bps.is_finite() || bps < 0.0 => Err(PyValueError::new_err(format!(
                        "request_rate returned {bps}; return a rate from 0 on, in bit/s, or None to give up"
                    ))),
                    asked => Ok(asked),
                });
            self.object.kept(remainder.now, asked)
        });
        match asked {
            Some(Some(bps)) => RateRequest::Rate(bps),
            Some(None) => RateRequest::Quench,
            // The run ends.
            None => RateRequest::Rate(0.0),
        }
    }

    fn rate_bps(&self) -> f64 {
        self.set.rate_bps
    }

    fn cwnd_bytes(&self) -> Option<f64> {
        self.set.window_bytes
    }

    fn state(&self, name: &str) -> Option<f64> {
        self.object.state(name)
    }
}
