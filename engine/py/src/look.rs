//! A look at a run on its way, as Python values.

use p4cc_netsim::News;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A run at an instant.
#[pyclass(frozen, module = "p4cc._engine")]
pub(crate) struct Look {
    now_ps: u64,
    look: p4cc_netsim::Look,
}

impl Look {
    pub(crate) fn new(now_ps: u64, look: p4cc_netsim::Look) -> Self {
        Self { now_ps, look }
    }
}

/// Number of a flow, whether it has begun and ended, window, rate, bytes acknowledged.
type Flow = (u32, bool, bool, Option<f64>, Option<f64>, u64);

#[pymethods]
impl Look {
    #[getter]
    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    #[getter]
    fn packet_hops(&self) -> u64 {
        self.look.packet_hops
    }

    /// Flows with a size, those complete, those under way, and timeouts of all.
    #[getter]
    fn flow_counts(&self) -> (u64, u64, u64, u64) {
        let look = &self.look;
        (look.flows_finite, look.flows_completed, look.flows_active, look.timeouts)
    }

    #[getter]
    fn first_active(&self) -> Vec<u32> {
        self.look.first_active.clone()
    }

    #[getter]
    fn marks(&self) -> (u64, u64) {
        self.look.marks.into()
    }

    #[getter]
    fn drops(&self) -> u64 {
        self.look.drops
    }

    #[getter]
    fn pauses(&self) -> u64 {
        self.look.pauses
    }

    #[getter]
    fn digests(&self) -> u64 {
        self.look.digests
    }

    #[getter]
    fn depth_pkts(&self) -> Vec<u32> {
        self.look.depth_pkts.clone()
    }

    #[getter]
    fn dropped_pkts(&self) -> Vec<u64> {
        self.look.dropped_pkts.clone()
    }

    /// Places of the ports that are held.
    #[getter]
    fn paused_ports(&self) -> Vec<usize> {
        (0..).zip(&self.look.is_paused).filter(|(_, is_paused)| **is_paused).map(|(place, _)| place).collect()
    }

    #[getter]
    fn link_bytes(&self) -> Vec<u64> {
        self.look.link_bytes.clone()
    }

    #[getter]
    fn flows(&self) -> Vec<Flow> {
        let flows = self.look.flows.iter();
        flows
            .map(|flow| {
                (flow.id, flow.has_begun, flow.has_ended, flow.cwnd_segments, flow.rate_bps, flow.acked_bytes)
            })
            .collect()
    }
}

/// What to wait for, by its name; a switch is through with packets that it follows: place and count.
pub(crate) fn news(name: &str, followed: Option<(usize, usize)>) -> PyResult<News> {
    match (name, followed) {
        ("drop", None) => Ok(News::Drop),
        ("mark", None) => Ok(News::Mark),
        ("pause", None) => Ok(News::Pause),
        ("followed", Some((place, packets))) => Ok(News::Followed(place, packets)),
        _ => Err(PyValueError::new_err(format!(
            "news {name:?}: give drop, mark or pause, or followed with a switch"
        ))),
    }
}
