//! The window family: the base that users' classes derive from, and congestion avoidance by an object.

use p4cc_cc::{
    AckSample, CongestionAvoidance, CutCause, Echo, Event, FlowIdentity, HeaderField, Loss, Mark, Publisher,
    Reaction, Window,
};
use p4cc_units::Time;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::acks::{WindowAck, headers};
use super::algorithm::{AckHook, Class, Object};

/// What the engine reads and sets of a user's object, slow starts included.
#[pyclass(subclass, module = "p4cc._engine")]
#[derive(Default)]
pub(crate) struct WindowBase {
    pub cwnd: f64,
    pub ssthresh: f64,
    pub flow: FlowIdentity,
    pub alpha: Option<f64>,
    pub delta: Option<f64>,
    pub smoothing: bool,
    /// Events since the last call.
    pub events: Vec<Event>,
}

/// A window or threshold in segments; an error names the attribute.
fn segments(name: &str, value: f64) -> PyResult<f64> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(PyValueError::new_err(format!("{name} = {value} segments; give a number above 0")))
}

/// A ratio; an error names the attribute.
fn ratio(name: &str, value: Option<f64>) -> PyResult<Option<f64>> {
    match value {
        Some(value) if !(0.0..=1.0).contains(&value) => {
            Err(PyValueError::new_err(format!("{name} = {value}; give a number from 0 to 1")))
        }
        value => Ok(value),
    }
}

#[pymethods]
impl WindowBase {
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyAny>>) -> Self {
        Self { cwnd: Window::MIN_SEGMENTS, ssthresh: Window::MAX_SEGMENTS, ..Self::default() }
    }

    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, value: f64) -> PyResult<()> {
        self.cwnd = segments("cwnd", value)?;
        Ok(())
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, value: f64) -> PyResult<()> {
        self.ssthresh = segments("ssthresh", value)?;
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
    fn alpha(&self) -> Option<f64> {
        self.alpha
    }

    #[setter]
    fn set_alpha(&mut self, value: Option<f64>) -> PyResult<()> {
        self.alpha = ratio("alpha", value)?;
        Ok(())
    }

    #[getter]
    fn delta(&self) -> Option<f64> {
        self.delta
    }

    #[setter]
    fn set_delta(&mut self, value: Option<f64>) -> PyResult<()> {
        self.delta = ratio("delta", value)?;
        Ok(())
    }

    #[getter]
    fn smoothing(&self) -> bool {
        self.smoothing
    }

    #[setter]
    fn set_smoothing(&mut self, value: bool) {
        self.smoothing = value;
    }

    /// An event `alpha` of the recorded events.
    fn publish_alpha(&mut self, marked_fraction: f64) {
        if let Some(alpha) = self.alpha {
            self.events.push(Event::AlphaUpdated { alpha, marked_fraction });
        }
    }

    /// An event `delta` of the recorded events.
    #[pyo3(signature = (queue_pkts = None))]
    fn publish_delta(&mut self, queue_pkts: Option<f64>) {
        if let Some(delta) = self.delta {
            self.events.push(Event::DeltaUpdated { delta, queue_pkts });
        }
    }

    /// An event of the first echo of a mark.
    fn publish_first_mark(&mut self, mark: u8) {
        let mark = if mark == 1 { Mark::K } else { Mark::Kdc };
        self.events.push(Event::FirstMark { mark });
    }
}

/// An object of the window family, and what it is shown.
#[derive(Debug)]
pub(super) struct WindowObject {
    pub object: Object,
    pub base: Py<WindowBase>,
    pub ack: Py<WindowAck>,
    pub now: Time,
}

impl WindowObject {
    pub fn new(py: Python<'_>, object: Object) -> PyResult<Self> {
        let base: Py<WindowBase> = object.object.extract(py)?;
        base.borrow_mut(py).flow = object.flow;
        Ok(Self { object, base, ack: Py::new(py, WindowAck::default())?, now: Time::ZERO })
    }

    /// Shows the object a window.
    pub fn show_window(&self, py: Python<'_>, window: &Window) {
        let mut base = self.base.borrow_mut(py);
        (base.cwnd, base.ssthresh) = (window.cwnd(), window.ssthresh());
    }

    /// Shows the object an ACK.
    pub fn show_ack(&mut self, py: Python<'_>, ack: &AckSample) {
        self.now = ack.now;
        self.ack.borrow_mut(py).sample = *ack;
    }

    /// Takes over what the object set.
    pub fn take_window(&self, py: Python<'_>, window: &mut Window) {
        let base = self.base.borrow(py);
        if base.cwnd != window.cwnd() {
            window.set_cwnd(base.cwnd);
        }
        if base.ssthresh != window.ssthresh() {
            window.set_ssthresh(base.ssthresh);
        }
    }

    /// Hands on what the object published.
    pub fn take_events(&self, py: Python<'_>, publisher: &mut dyn Publisher) {
        let mut base = self.base.borrow_mut(py);
        base.events.drain(..).for_each(|event| publisher.publish(event));
    }

    /// A method that takes the ACK, if the class overrides it.
    pub fn hook(&self, py: Python<'_>, class: &Class, name: &str) -> PyResult<Option<AckHook>> {
        class.ack_hook(py, &self.object, name, self.ack.as_any())
    }

    /// Calls a method with the ACK; none after an exception.
    pub fn call<'py>(&self, py: Python<'py>, method: &AckHook) -> Option<Bound<'py, PyAny>> {
        self.object.kept(self.now, method.call(py))
    }
}

/// Congestion avoidance by an object of a user's class.
#[derive(Debug)]
pub(super) struct PythonWindow {
    of: WindowObject,
    start: Option<Py<PyAny>>,
    observe: Option<AckHook>,
    on_round: Option<AckHook>,
    on_mark: Option<AckHook>,
    on_ack: Option<AckHook>,
    on_loss: Option<Py<PyAny>>,
    on_timeout: Option<Py<PyAny>>,
    echo: Echo,
    grows_after_cut: bool,
    /// A round ends with the first ACK above this byte.
    round_end: u64,
    /// Whether the object has seen the window as this ACK finds it.
    has_seen: bool,
    /// Whether this ACK came with headers of the user's program.
    has_headers: bool,
}

impl PythonWindow {
    pub fn new(py: Python<'_>, object: Object, class: &Class) -> PyResult<Self> {
        let of = WindowObject::new(py, object)?;
        let hook = |name: &str| class.hook(py, &of.object, name);
        Ok(Self {
            start: hook("start")?,
            observe: of.hook(py, class, "observe")?,
            on_round: of.hook(py, class, "on_round")?,
            on_mark: of.hook(py, class, "on_mark")?,
            on_ack: of.hook(py, class, "on_ack")?,
            on_loss: hook("on_loss")?,
            on_timeout: hook("on_timeout")?,
            echo: class.echo,
            grows_after_cut: class.grows_after_cut,
            round_end: 0,
            has_seen: false,
            has_headers: false,
            of,
        })
    }
}

impl CongestionAvoidance for PythonWindow {
    fn start(&mut self, snd_nxt: u64) {
        self.round_end = snd_nxt;
        let Some(start) = &self.start else { return };
        if !self.of.object.has_failed() {
            Python::attach(|py| self.of.object.kept(Time::ZERO, start.call0(py)));
        }
    }

    fn observe(&mut self, ack: &AckSample, window: &Window, publisher: &mut dyn Publisher) {
        let ends_round = ack.ack > self.round_end;
        if ends_round {
            self.round_end = ack.snd_nxt;
        }
        let round = self.on_round.as_ref().filter(|_| ends_round);
        self.has_seen = false;
        if self.of.object.has_failed() {
            return;
        }
        // Headers came just before their ACK, or not at all.
        let is_bare = !core::mem::take(&mut self.has_headers);
        Python::attach(|py| {
            self.of.show_ack(py, ack);
            if is_bare && self.of.ack.borrow(py).headers.is_some() {
                self.of.ack.borrow_mut(py).headers = None;
            }
            if self.observe.is_none() && round.is_none() {
                return;
            }
            self.has_seen = true;
            self.of.show_window(py, window);
            for method in self.observe.iter().chain(round) {
                if self.of.call(py, method).is_none() {
                    return;
                }
            }
            self.of.take_events(py, publisher);
        });
    }

    fn react(&mut self, ack: &AckSample, window: &mut Window, publisher: &mut dyn Publisher) -> Reaction {
        let on_mark = self.on_mark.as_ref().filter(|_| ack.mark == Mark::Kdc);
        if !self.has_seen && on_mark.is_none() || self.of.object.has_failed() {
            return Reaction::None;
        }
        let from_segments = window.cwnd();
        Python::attach(|py| {
            if self.has_seen {
                self.of.take_window(py, window);
            }
            let Some(on_mark) = on_mark else { return };
            self.of.show_window(py, window);
            if self.of.call(py, on_mark).is_some() {
                self.of.take_window(py, window);
                self.of.take_events(py, publisher);
            }
        });
        let to_segments = window.cwnd();
        if to_segments < from_segments {
            publisher.publish(Event::WindowCut { from_segments, to_segments, cause: CutCause::Mark });
            return Reaction::Cut;
        }
        Reaction::None
    }

    fn grow(&mut self, _ack: &AckSample, window: &mut Window) {
        let Some(on_ack) = self.on_ack.as_ref().filter(|_| !self.of.object.has_failed()) else { return };
        Python::attach(|py| {
            self.of.show_window(py, window);
            if self.of.call(py, on_ack).is_some() {
                self.of.take_window(py, window);
            }
        });
    }

    fn grows_after_cut(&self, _ack: &AckSample) -> bool {
        self.grows_after_cut
    }

    fn ssthresh_after_loss(&mut self, loss: &Loss) -> f64 {
        let hook = match loss.cause {
            CutCause::Timeout => self.on_timeout.as_ref().or(self.on_loss.as_ref()),
            CutCause::FastRetransmit | CutCause::Mark => self.on_loss.as_ref(),
        };
        let Some(hook) = hook.filter(|_| !self.of.object.has_failed()) else { return loss.half_of_flight() };
        let asked = Python::attach(|py| {
            self.of.base.borrow_mut(py).cwnd = loss.cwnd_segments;
            let given = hook.call1(py, (loss.flight_segments,)).and_then(|value| {
                let name = "the threshold after a loss";
                let number = value.extract::<f64>(py);
                let number =
                    number.map_err(|_| PyTypeError::new_err(format!("{name} is {value}; return segments")));
                segments(name, number?)
            });
            self.of.object.kept(self.of.now, given)
        });
        asked.unwrap_or_else(|| loss.half_of_flight())
    }

    fn echo(&self) -> Echo {
        self.echo
    }

    fn reads_progress(&self) -> bool {
        true
    }

    fn on_headers(&mut self, fields: &[HeaderField<'_>]) {
        Python::attach(|py| {
            let found = self.of.object.kept(self.of.now, headers(py, fields));
            self.of.ack.borrow_mut(py).headers = found;
        });
        self.has_headers = true;
    }

    fn reads_headers(&self) -> bool {
        !self.of.object.has_failed()
    }

    fn alpha(&self) -> Option<f64> {
        Python::attach(|py| self.of.base.borrow(py).alpha)
    }

    fn state(&self, name: &str) -> Option<f64> {
        self.of.object.state(name)
    }
}
