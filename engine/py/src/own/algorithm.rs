//! A user's class as a scenario names it, and the objects that are made of it, one for each flow.

use std::sync::Arc;

use p4cc_cc::{
    ConfigError, CongestionAvoidance, Echo, FlowIdentity, Kind, RateControl, RateEnvironment,
    ReceiverAlgorithm, ReceiverEnvironment, SlowStart, SwitchNeed,
};
use p4cc_units::Time;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use super::failures::{Failure, Failures};
use super::rate::PythonRate;
use super::receiver::PythonReceiver;
use super::slow_start::PythonSlowStart;
use super::window::PythonWindow;

/// An algorithm that a scenario brings along.
#[pyclass(frozen, module = "p4cc._engine")]
pub(crate) struct OwnAlgorithm {
    class: Py<PyType>,
    kind: Kind,
    needs: SwitchNeed,
    echo: Echo,
    name: String,
    hooks: Vec<String>,
    grows_after_cut: bool,
}

#[pymethods]
impl OwnAlgorithm {
    /// `kind`, `needs` and `echo` are the registry's words; `hooks` are the methods that the class overrides.
    #[new]
    fn new(
        class: Py<PyType>,
        name: String,
        kind: &str,
        needs: &str,
        echo: &str,
        hooks: Vec<String>,
        grows_after_cut: bool,
    ) -> PyResult<Self> {
        let (kind, needs) = (word(kind, "kind")?, word(needs, "needs")?);
        let echo = match echo {
            "per_packet" => Echo::PerPacket,
            "until_cwr" => Echo::UntilCwr,
            _ => return Err(PyValueError::new_err(format!("echo: {echo:?}; give per_packet or until_cwr"))),
        };
        Ok(Self { class, kind, needs, echo, name, hooks, grows_after_cut })
    }
}

/// The value that a word of the registry stands for.
fn word<T: serde::de::DeserializeOwned>(text: &str, place: &str) -> PyResult<T> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
        .map_err(|error| PyValueError::new_err(format!("{place}: {error}")))
}

/// The algorithms of a network, and where their exceptions go.
pub(crate) fn brought(
    py: Python<'_>,
    own: &[Py<OwnAlgorithm>],
    failures: &Arc<Failures>,
) -> Vec<Arc<dyn p4cc_cc::OwnAlgorithm>> {
    own.iter()
        .map(|own| {
            let own = own.get();
            let class = Class {
                class: own.class.clone_ref(py),
                kind: own.kind,
                needs: own.needs,
                echo: own.echo,
                name: own.name.clone(),
                hooks: own.hooks.clone(),
                grows_after_cut: own.grows_after_cut,
                failures: Arc::clone(failures),
            };
            Arc::new(class) as Arc<dyn p4cc_cc::OwnAlgorithm>
        })
        .collect()
}

/// A user's class.
#[derive(Debug)]
pub(super) struct Class {
    pub class: Py<PyType>,
    kind: Kind,
    needs: SwitchNeed,
    pub echo: Echo,
    name: String,
    hooks: Vec<String>,
    pub grows_after_cut: bool,
    pub failures: Arc<Failures>,
}

impl Class {
    /// The object of a flow, with what the engine calls of it.
    fn object(&self, flow: FlowIdentity, py: Python<'_>) -> PyResult<Object> {
        Ok(Object {
            object: self.class.call0(py)?,
            name: self.name.clone(),
            of: if self.kind == Kind::Receiver { "host" } else { "flow" },
            flow,
            failures: Arc::clone(&self.failures),
        })
    }

    /// Makes an object and what wraps it.
    fn made<T>(
        &self,
        flow: FlowIdentity,
        wrap: impl FnOnce(Python<'_>, Object, &Self) -> PyResult<T>,
    ) -> Result<T, ConfigError> {
        Python::attach(|py| self.object(flow, py).and_then(|object| wrap(py, object, self))).map_err(
            |error| {
                let cause = format!("{} cannot be made: {error}", self.name);
                ConfigError::new(self.kind.key(), cause, "correct the class")
            },
        )
    }

    /// A method that the class overrides, ready to be called with the ACK that the object is shown. It is
    /// the class's function with a tuple of arguments that every call shares, cheaper than a bound method.
    pub fn ack_hook(
        &self,
        py: Python<'_>,
        object: &Object,
        name: &str,
        ack: &Py<PyAny>,
    ) -> PyResult<Option<AckHook>> {
        if !self.hooks.iter().any(|hook| hook == name) {
            return Ok(None);
        }
        let arguments = PyTuple::new(py, [&object.object, ack])?.unbind();
        Ok(Some(AckHook { function: self.class.getattr(py, name)?, arguments }))
    }

    /// A method that the class overrides.
    pub fn hook(&self, py: Python<'_>, object: &Object, name: &str) -> PyResult<Option<Py<PyAny>>> {
        let is_there = self.hooks.iter().any(|hook| hook == name);
        is_there.then(|| object.object.getattr(py, name)).transpose()
    }
}

impl p4cc_cc::OwnAlgorithm for Class {
    fn kind(&self) -> Kind {
        self.kind
    }

    fn switch_needs(&self) -> SwitchNeed {
        self.needs
    }

    fn slow_start(&self, flow: FlowIdentity) -> Result<Box<dyn SlowStart>, ConfigError> {
        Ok(Box::new(self.made(flow, PythonSlowStart::new)?))
    }

    fn congestion_avoidance(&self, flow: FlowIdentity) -> Result<Box<dyn CongestionAvoidance>, ConfigError> {
        Ok(Box::new(self.made(flow, PythonWindow::new)?))
    }

    fn rate_control(
        &self,
        flow: FlowIdentity,
        environment: &RateEnvironment,
    ) -> Result<Box<dyn RateControl>, ConfigError> {
        Ok(Box::new(self.made(flow, |py, object, class| PythonRate::new(py, object, class, environment))?))
    }

    fn receiver(
        &self,
        host: FlowIdentity,
        environment: &ReceiverEnvironment,
    ) -> Result<Box<dyn ReceiverAlgorithm>, ConfigError> {
        let wrap = |py: Python<'_>, object, class: &Self| PythonReceiver::new(py, object, class, environment);
        Ok(Box::new(self.made(host, wrap)?))
    }
}

/// A method with the object and the ACK that it is called with.
#[derive(Debug)]
pub(super) struct AckHook {
    function: Py<PyAny>,
    arguments: Py<PyTuple>,
}

impl AckHook {
    #[inline]
    pub fn call<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(py).call1(self.arguments.bind(py))
    }
}

/// An object of a user's class: the algorithm of one flow.
#[derive(Debug)]
pub(super) struct Object {
    pub object: Py<PyAny>,
    name: String,
    of: &'static str,
    pub flow: FlowIdentity,
    failures: Arc<Failures>,
}

impl Object {
    /// Whether no user's code runs any more.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.failures.is_set()
    }

    /// What a call gave; none after an exception, which ends the run.
    #[inline]
    pub fn kept<T>(&self, at: Time, result: PyResult<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.fail(at, error);
                None
            }
        }
    }

    #[cold]
    fn fail(&self, at: Time, error: PyErr) {
        let (algorithm, of, flow) = (self.name.clone(), self.of, self.flow);
        self.failures.keep(Failure { error, algorithm, of, flow, at });
    }

    /// The number that an attribute holds; none for what is no number.
    pub fn state(&self, name: &str) -> Option<f64> {
        Python::attach(|py| self.object.getattr(py, name).ok()?.extract(py).ok())
    }
}
