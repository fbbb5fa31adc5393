//! The virtual-time network and its P4Runtime server.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use p4cc_netsim::{NetworkSpec, RealClock, Results, RunError, RunOptions, TableSink, run_many};
use p4cc_p4runtime::{Devices, Epoch, NoSuchDevice, Server};
use p4cc_switch::{Packet, Switch};
use p4cc_units::Time;
use parking_lot::{FairMutex, Mutex};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::calls::P4RuntimeCalls;
use crate::look::{Look, news};
use crate::own::{Failures, OwnAlgorithm, brought};
use crate::result::RunResult;
use crate::stream::PythonSink;
use crate::{errors, interrupt};

/// The network behind one lock: a run holds it from start to end, requests of controllers take it in between.
struct Shared(FairMutex<p4cc_netsim::Network>);

impl Devices for Shared {
    fn ids(&self) -> Vec<u64> {
        self.0.lock().device_ids().collect()
    }

    fn with_device(&self, device_id: u64, f: &mut dyn FnMut(&mut Switch, Time)) -> Result<(), NoSuchDevice> {
        let mut network = self.0.lock();
        let now = network.now();
        f(network.switch_mut(device_id).ok_or(NoSuchDevice(device_id))?, now);
        Ok(())
    }

    fn packet_out(&self, device_id: u64, packet: Packet) -> Result<(), NoSuchDevice> {
        let mut network = self.0.lock();
        let now = network.now();
        network.switch_mut(device_id).ok_or(NoSuchDevice(device_id))?.packet_out(now, packet);
        Ok(())
    }
}

/// The JSON Schema of a network's description.
#[pyfunction]
pub(crate) fn network_schema() -> String {
    NetworkSpec::json_schema()
}

/// A virtual-time network.
#[pyclass(frozen, module = "p4cc._engine")]
pub(crate) struct Network {
    shared: Arc<Shared>,
    server: Mutex<Option<Server>>,
    /// BF Runtime over the same switches, where they are Tofino's.
    bfrt_server: Mutex<Option<p4cc_bfrt::Server>>,
    /// The epoch that a controller waits for the end of.
    epoch: Mutex<Option<Epoch>>,
    /// Exceptions of algorithms in Python; none where there are none.
    failures: Option<Arc<Failures>>,
}

/// An address that a server is to listen on; raises ServerError.
fn socket_address(py: Python<'_>, address: &str) -> PyResult<SocketAddr> {
    address.parse().map_err(|_| {
        errors::server(py, &format!("{address:?} is not an address"), "give IP:PORT, such as 127.0.0.1:9559")
    })
}

/// Runs `work` with the interpreter's lock where algorithms are in Python: each call of them finds it held.
fn attached<T>(failures: Option<&Failures>, work: impl FnOnce() -> T) -> T {
    match failures {
        Some(_) => Python::attach(|_| work()),
        None => work(),
    }
}

/// Where algorithms are in Python, lets others have the interpreter's lock, and ends a run that failed.
fn breathe(failures: Option<&Failures>, cancel: &AtomicBool) {
    let Some(failures) = failures else { return };
    if failures.is_set() {
        cancel.store(true, Ordering::Relaxed);
    }
    Python::attach(|py| py.detach(std::thread::yield_now));
}

impl Network {
    fn new(network: p4cc_netsim::Network, failures: Option<Arc<Failures>>) -> Self {
        Self {
            shared: Arc::new(Shared(FairMutex::new(network))),
            server: Mutex::new(None),
            bfrt_server: Mutex::new(None),
            epoch: Mutex::new(None),
            failures,
        }
    }

    /// Runs `work` on the network without the interpreter's lock.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut p4cc_netsim::Network) -> T + Send) -> T {
        py.detach(|| work(&mut self.shared.0.lock()))
    }

    /// The place of a switch among switches; raises ValueError where there is none.
    fn place(&self, py: Python<'_>, device_id: u64) -> PyResult<usize> {
        let place = self.with(py, |network| network.switch_place(device_id));
        place.ok_or_else(|| PyValueError::new_err(format!("there is no switch with device id {device_id}")))
    }

    /// Hands what the switches hold for controllers to the server, if there is one.
    fn deliver(&self, now: Time) {
        if let Some(server) = &*self.server.lock() {
            server.deliver(now);
        }
    }

    /// Runs, and delivers what the switches hold for their controllers.
    fn run_and_deliver(
        &self,
        py: Python<'_>,
        options: RunOptions<'_>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let ran = self.run_reported(py, options, progress);
        let now = self.with(py, |network| network.now());
        py.detach(|| self.deliver(now));
        ran.map(|_| ())
    }

    /// Runs, and leaves what the switches hold for their controllers where it is; whether the news is there
    /// that the options stop at.
    fn run_reported(
        &self,
        py: Python<'_>,
        options: RunOptions<'_>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let failures = self.failures.as_deref();
        let ran = interrupt::run(
            py,
            |cancel, sender| {
                // Before the interpreter's lock, which whoever waits for this one does not hold.
                let mut network = self.shared.0.lock();
                let mut report = |at| {
                    breathe(failures, cancel);
                    // Nobody listens any more only when the caller has gone.
                    let _ = sender.send(at);
                };
                let RunOptions { until, stop_at_message, stop_at_news, threads, .. } = options;
                let started = Instant::now();
                let now_ns = || u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
                let clock = RealClock { now_ns: &now_ns, stretch_events: RealClock::STRETCH_EVENTS };
                let (cancel, progress) = (Some(cancel), Some(&mut report as _));
                let options = RunOptions {
                    until,
                    stop_at_message,
                    stop_at_news,
                    cancel,
                    progress,
                    threads,
                    clock: Some(clock),
                };
                attached(failures, || network.run(options))
            },
            |_, at: p4cc_netsim::Progress| {
                let report = (at.now_ns, at.stop_ns, at.packet_hops, at.flows_completed, at.flows_finite);
                progress.map_or(Ok(()), |progress| progress.call1(report).map(|_| ()))
            },
        )?;
        if let Some(failure) = failures.and_then(Failures::take) {
            return Err(errors::algorithm(py, failure));
        }
        ran.map_err(|error| errors::run(py, &error))
    }
}

#[pymethods]
impl Network {
    #[new]
    #[pyo3(signature = (spec_json, seed = 0, own = Vec::new()))]
    fn py_new(py: Python<'_>, spec_json: &str, seed: u64, own: Vec<Py<OwnAlgorithm>>) -> PyResult<Self> {
        let failures = Arc::new(Failures::default());
        let algorithms = brought(py, &own, &failures);
        let built = py.detach(|| {
            let mut spec = NetworkSpec::from_json(spec_json)?;
            spec.bring(&algorithms)?;
            p4cc_netsim::Network::build(spec, seed)
        });
        if let Some(failure) = failures.take() {
            return Err(errors::algorithm(py, failure));
        }
        let failures = (!own.is_empty()).then_some(failures);
        built.map(|network| Self::new(network, failures)).map_err(|error| errors::spec(py, &error))
    }

    #[getter]
    fn seed(&self, py: Python<'_>) -> u64 {
        self.with(py, |network| network.seed())
    }

    #[getter]
    fn now_ns(&self, py: Python<'_>) -> u64 {
        self.with(py, |network| network.now().as_ns())
    }

    #[getter]
    fn now_ps(&self, py: Python<'_>) -> u64 {
        self.with(py, |network| network.now().as_ps())
    }

    #[getter]
    fn has_ended(&self, py: Python<'_>) -> bool {
        self.with(py, |network| network.has_ended())
    }

    #[getter]
    fn device_ids(&self, py: Python<'_>) -> Vec<u64> {
        self.with(py, |network| network.device_ids().collect())
    }

    #[pyo3(signature = (address = "127.0.0.1:0", beside = None))]
    fn serve(&self, py: Python<'_>, address: &str, beside: Option<&Self>) -> PyResult<String> {
        let addr = socket_address(py, address)?;
        let devices: Arc<dyn Devices> = Arc::clone(&self.shared) as Arc<dyn Devices>;
        let started = py.detach(|| {
            let mut running = self.server.lock();
            if let Some(server) = &*running {
                return Err(format!("the server runs already at {}", server.local_addr()));
            }
            let other = match beside {
                Some(network) if Arc::ptr_eq(&network.shared, &self.shared) => None,
                other => other.map(|network| network.server.lock()),
            };
            let server = match other.as_deref() {
                Some(Some(other)) => other.start_beside(addr, devices),
                _ => Server::start(addr, devices),
            };
            let server = server.map_err(|error| error.to_string())?;
            let local_addr = server.local_addr();
            *running = Some(server);
            Ok(local_addr.to_string())
        });
        started.map_err(|cause| errors::server(py, &cause, ""))
    }

    /// A client of the P4Runtime server within this process.
    fn calls(&self, py: Python<'_>) -> PyResult<P4RuntimeCalls> {
        let local = py.detach(|| match &*self.server.lock() {
            Some(server) => server.local().map_err(|error| error.to_string()),
            None => Err("the server does not run".to_owned()),
        });
        local.map(P4RuntimeCalls::new).map_err(|cause| errors::server(py, &cause, ""))
    }

    #[pyo3(signature = (address = "127.0.0.1:0"))]
    fn serve_bfrt(&self, py: Python<'_>, address: &str) -> PyResult<String> {
        let addr = socket_address(py, address)?;
        let started = py.detach(|| {
            let mut running = self.bfrt_server.lock();
            if let Some(server) = &*running {
                return Err(format!("the server runs already at {}", server.local_addr()));
            }
            let devices = Arc::clone(&self.shared) as Arc<dyn Devices>;
            let server = p4cc_bfrt::Server::start(addr, devices, p4cc_bfrt::Options::default());
            let server = server.map_err(|error| error.to_string())?;
            let local_addr = server.local_addr();
            *running = Some(server);
            Ok(local_addr.to_string())
        });
        started.map_err(|cause| errors::server(py, &cause, ""))
    }

    fn stop_bfrt_server(&self, py: Python<'_>) {
        py.detach(|| drop(self.bfrt_server.lock().take()));
    }

    fn stop_server(&self, py: Python<'_>) {
        py.detach(|| {
            let server = self.server.lock().take();
            if let Some(server) = server {
                server.stop();
            }
        });
    }

    fn fork(&self, py: Python<'_>, seed: u64) -> PyResult<Self> {
        let forked = self.with(py, |network| network.fork(seed));
        let failures = self.failures.clone();
        if let Some(failure) = failures.as_deref().and_then(Failures::take) {
            return Err(errors::algorithm(py, failure));
        }
        forked.map(|network| Self::new(network, failures)).map_err(|error| errors::spec(py, &error))
    }

    /// Chooses what runs the programs of all switches, from now on and in forks: `interp` or `native`.
    fn set_exec(&self, py: Python<'_>, back_end: &str) -> PyResult<()> {
        let choice = back_end.parse().map_err(PyValueError::new_err)?;
        self.with(py, |network| network.set_exec(choice));
        Ok(())
    }

    /// Why some switch's program has no native code, once that was asked for.
    fn native_error(&self, py: Python<'_>) -> Option<String> {
        self.with(py, |network| network.native_error())
    }

    /// Puts the state of a fork behind this network's server:
    /// the pipeline is the same, so controllers stay connected.
    fn exchange(&self, py: Python<'_>, fork: &Self) -> PyResult<()> {
        if Arc::ptr_eq(&self.shared, &fork.shared) {
            return Err(PyValueError::new_err(
                "fork: a network cannot be exchanged with itself; give a fork of it",
            ));
        }
        // Always in the order of addresses, so that two exchanges cannot wait for each other.
        let (first, second) = if Arc::as_ptr(&self.shared) < Arc::as_ptr(&fork.shared) {
            (&self.shared, &fork.shared)
        } else {
            (&fork.shared, &self.shared)
        };
        py.detach(|| std::mem::swap(&mut *first.0.lock(), &mut *second.0.lock()));
        Ok(())
    }

    fn run_until(&self, py: Python<'_>, time_ns: u64) -> PyResult<()> {
        let until = Time::from_ns(time_ns.min(p4cc_netsim::spec::MAX_TIME_NS));
        self.run_and_deliver(py, RunOptions::until(until), None)
    }

    #[pyo3(signature = (progress = None, threads = 1))]
    fn run(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>, threads: usize) -> PyResult<()> {
        if threads == 0 {
            return Err(PyValueError::new_err("threads: 0 runs nothing; give 1 or more"));
        }
        self.run_and_deliver(py, RunOptions { threads, ..RunOptions::default() }, progress)
    }

    /// Runs to an instant, or no further than to the end of the one at which a switch holds something for its
    /// controllers.
    #[pyo3(signature = (until_ps, to_message, progress = None))]
    fn advance(
        &self,
        py: Python<'_>,
        until_ps: u64,
        to_message: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let until = Time::from_ps(until_ps);
        let options = RunOptions { stop_at_message: to_message, ..RunOptions::until(until) };
        self.run_reported(py, options, progress).map(|_| ())
    }

    /// Hands a packet to the interface of a host, now.
    #[pyo3(signature = (host, packet, priority = 0))]
    fn inject(&self, py: Python<'_>, host: &str, packet: &[u8], priority: u8) -> PyResult<()> {
        self.with(py, |network| network.inject(host, packet, priority))
            .map_err(|error| errors::spec(py, &error))
    }

    /// Lets a packet come in at a port of a switch, now.
    fn inject_at_port(&self, py: Python<'_>, device_id: u64, port: u32, packet: &[u8]) -> PyResult<()> {
        let done = self.with(py, |network| network.inject_at_port(device_id, port, packet));
        done.map_err(|error| errors::spec(py, &error))
    }

    /// As `advance`, but also no further than to the end of the instant of some news; whether there was.
    #[pyo3(signature = (until_ps, to_message, name, progress = None, followed = None))]
    fn advance_to_news(
        &self,
        py: Python<'_>,
        until_ps: u64,
        to_message: bool,
        name: &str,
        progress: Option<&Bound<'_, PyAny>>,
        followed: Option<(u64, usize)>,
    ) -> PyResult<bool> {
        let followed = followed.map(|(id, packets)| Ok::<_, PyErr>((self.place(py, id)?, packets)));
        let options = RunOptions {
            stop_at_message: to_message,
            stop_at_news: Some(news(name, followed.transpose()?)?),
            ..RunOptions::until(Time::from_ps(until_ps))
        };
        self.run_reported(py, options, progress)
    }

    /// The run now, with flows by their numbers and the first active ones.
    #[pyo3(signature = (flows = Vec::new(), first_active = 0))]
    fn look(&self, py: Python<'_>, flows: Vec<u32>, first_active: usize) -> Look {
        self.with(py, |network| Look::new(network.now().as_ps(), network.look(&flows, first_active)))
    }

    /// Lets a switch follow the next packets of each port, up to a count; whether it does.
    fn follow_next(&self, py: Python<'_>, device_id: u64, packets: usize) -> PyResult<bool> {
        let place = self.place(py, device_id)?;
        Ok(self.with(py, |network| network.follow_next(place, packets)))
    }

    /// What a switch did with packets that it followed, a line of JSON for each step.
    fn take_followed(&self, py: Python<'_>, device_id: u64, packets: usize) -> PyResult<Vec<String>> {
        let place = self.place(py, device_id)?;
        Ok(self.with(py, |network| network.take_followed(place, packets)))
    }

    /// As `result`, with the table `flows` alone.
    fn flow_result(&self, py: Python<'_>) -> RunResult {
        RunResult::new(self.with(py, |network| network.flow_results()))
    }

    /// Hands what the switches hold to their controllers: how many messages each device sent.
    fn deliver_messages(&self, py: Python<'_>) -> Vec<(u64, usize)> {
        let now = self.with(py, |network| network.now());
        py.detach(|| self.server.lock().as_ref().map(|server| server.deliver(now).sent).unwrap_or_default())
    }

    /// When a switch will next hold something that no packet causes.
    #[getter]
    fn next_due_ps(&self, py: Python<'_>) -> Option<u64> {
        py.detach(|| self.server.lock().as_ref().and_then(Server::next_due).map(Time::as_ps))
    }

    /// Lets controllers lead the time: `take_epoch` has what they ask for.
    fn lead_by_epochs(&self) {
        self.server.lock().iter().for_each(Server::lead_by_epochs);
    }

    /// The next epoch that a controller asks for, in picoseconds; none if nobody does within a time.
    fn take_epoch(&self, py: Python<'_>, timeout_ms: u64) -> Option<u64> {
        py.detach(|| {
            let epoch = self.server.lock().as_ref()?.take_epoch(Duration::from_millis(timeout_ms))?;
            let span_ps = epoch.span().as_ps();
            *self.epoch.lock() = Some(epoch);
            Some(span_ps)
        })
    }

    /// Tells the controller whose epoch was taken how far virtual time is.
    fn end_epoch(&self, py: Python<'_>) {
        let now = self.with(py, |network| network.now());
        if let Some(epoch) = self.epoch.lock().take() {
            epoch.end(now);
        }
    }

    /// Whether a controller is primary at some switch.
    #[getter]
    fn has_primary(&self, py: Python<'_>) -> bool {
        py.detach(|| self.server.lock().as_ref().is_some_and(Server::has_primary))
    }

    /// Where every packet went so far: how many left hosts or came from elsewhere, and how many ended where.
    fn packet_balance(&self, py: Python<'_>) -> BTreeMap<&'static str, u64> {
        let balance = self.with(py, |network| network.packet_balance());
        BTreeMap::from([
            ("sent", balance.sent),
            ("injected", balance.injected),
            ("copies", balance.copies),
            ("packet_outs", balance.packet_outs),
            ("generated", balance.generated),
            ("delivered", balance.delivered),
            ("refused", balance.refused),
            ("dropped", balance.dropped),
            ("lost", balance.lost),
            ("on_way", balance.on_way),
            ("waiting", balance.waiting),
            ("packet_ins", balance.packet_ins),
        ])
    }

    fn one_thread_reason(&self, py: Python<'_>) -> Option<&'static str> {
        self.with(py, |network| network.one_thread_reason())
    }

    #[pyo3(signature = (seeds, jobs = 1, progress = None))]
    fn run_many(
        &self,
        py: Python<'_>,
        seeds: Vec<u64>,
        jobs: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<RunResult>> {
        if jobs == 0 {
            return Err(PyValueError::new_err("jobs: 0 runs nothing; give 1 or more"));
        }
        let outcomes: Vec<Result<Results, RunError>> = interrupt::run(
            py,
            |cancel, sender| {
                let network = self.shared.0.lock();
                let sender = Mutex::new(sender);
                run_many(&network, &seeds, jobs, cancel, &|done| {
                    // As above.
                    let _ = sender.lock().send(done);
                })
            },
            |_, done| progress.map_or(Ok(()), |progress| progress.call1((done,)).map(|_| ())),
        )?;
        if let Some(failure) = self.failures.as_deref().and_then(Failures::take) {
            return Err(errors::algorithm(py, failure));
        }
        let results = outcomes.into_iter().map(|outcome| outcome.map(RunResult::new));
        results.map(|result| result.map_err(|error| errors::run(py, &error))).collect()
    }

    /// Hands parts of long tables to a function as soon as they have so many rows, in place of keeping them;
    /// with none all is kept.
    #[pyo3(signature = (sink, part_rows = 1))]
    fn stream_tables(&self, py: Python<'_>, sink: Option<Py<PyAny>>, part_rows: usize) -> PyResult<()> {
        if part_rows == 0 {
            return Err(PyValueError::new_err("part_rows: a part of 0 rows is none; give 1 or more"));
        }
        let sink = sink.map(|function| Arc::new(PythonSink { function, part_rows }) as Arc<dyn TableSink>);
        self.with(py, |network| network.stream_tables(sink));
        Ok(())
    }

    fn result(&self, py: Python<'_>) -> RunResult {
        RunResult::new(self.with(py, |network| network.results()))
    }
}
