//! What a user's method is shown: an ACK of the window family, an ACK of the rate family, a hop's record.
//!
//! One object serves all ACKs of a flow: what a method keeps of it, it copies.

use p4cc_cc::{AckSample, HeaderField, HopRecord, IntEncoding, Mark, RateAck};
use p4cc_units::{Span, Time};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// A time in nanoseconds, with the fraction that picoseconds make.
pub(super) fn ns(span: Span) -> f64 {
    span.as_ps() as f64 / 1_000.0
}

/// Headers as a dictionary: by name of the type and place in the stack, values by name of the field.
pub(super) fn headers(py: Python<'_>, fields: &[HeaderField<'_>]) -> PyResult<Py<PyDict>> {
    let found = PyDict::new(py);
    for one in fields {
        let key = (one.header, one.index);
        let header = match found.get_item(key)? {
            Some(header) => header.cast_into::<PyDict>()?,
            None => {
                let header = PyDict::new(py);
                found.set_item(key, &header)?;
                header
            }
        };
        header.set_item(one.name, one.value)?;
    }
    Ok(found.unbind())
}

/// An ACK as window algorithms see it.
#[pyclass(module = "p4cc._engine")]
#[derive(Default)]
pub(crate) struct WindowAck {
    pub sample: AckSample,
    /// Headers of the user's program that it echoes.
    pub headers: Option<Py<PyDict>>,
}

#[pymethods]
impl WindowAck {
    #[getter]
    fn now_ns(&self) -> f64 {
        self.sample.now.as_ps() as f64 / 1_000.0
    }

    #[getter]
    fn now_ps(&self) -> u64 {
        self.sample.now.as_ps()
    }

    #[getter]
    fn headers(&self, py: Python<'_>) -> Py<PyDict> {
        self.headers.as_ref().map_or_else(|| PyDict::new(py).unbind(), |headers| headers.clone_ref(py))
    }

    #[getter]
    fn new_segments(&self) -> u64 {
        self.sample.new_segments
    }

    #[getter]
    fn counted_segments(&self) -> u64 {
        self.sample.counted_segments()
    }

    #[getter]
    fn ack(&self) -> u64 {
        self.sample.ack
    }

    #[getter]
    fn snd_nxt(&self) -> u64 {
        self.sample.snd_nxt
    }

    #[getter]
    fn mark(&self) -> u8 {
        match self.sample.mark {
            Mark::None => 0,
            Mark::K => 1,
            Mark::Kdc => 2,
        }
    }

    #[getter]
    fn rtt_ns(&self) -> Option<f64> {
        self.sample.rtt.map(ns)
    }

    #[getter]
    fn srtt_ns(&self) -> Option<f64> {
        self.sample.srtt.map(ns)
    }

    #[getter]
    fn sent_segments(&self) -> u64 {
        self.sample.flow.sent_segments
    }

    #[getter]
    fn segments_left(&self) -> Option<f64> {
        self.sample.flow.segments_left
    }

    #[getter]
    fn deadline_ns(&self) -> Option<f64> {
        self.sample.flow.deadline.map(|at| at.as_ps() as f64 / 1_000.0)
    }
}

/// A record that one hop wrote into a packet.
#[pyclass(frozen, module = "p4cc._engine")]
pub(crate) struct Hop {
    record: HopRecord,
    int: IntEncoding,
}

#[pymethods]
impl Hop {
    #[getter]
    fn line_rate_bps(&self) -> u64 {
        self.record.line_rate.as_bps()
    }

    #[getter]
    fn timestamp(&self) -> u32 {
        self.record.timestamp
    }

    #[getter]
    fn tx(&self) -> u32 {
        self.record.tx
    }

    #[getter]
    fn queue(&self) -> u32 {
        self.record.queue
    }

    #[getter]
    fn queue_bytes(&self) -> f64 {
        self.int.queue_bytes(self.record.queue)
    }

    fn elapsed_ns(&self, earlier: &Self) -> f64 {
        self.int.elapsed_ns(earlier.record.timestamp, self.record.timestamp)
    }

    fn sent_bytes(&self, earlier: &Self) -> f64 {
        self.int.sent_bytes(earlier.record.tx, self.record.tx)
    }
}

/// An ACK as rate algorithms see it.
#[pyclass(module = "p4cc._engine")]
#[derive(Default)]
pub(crate) struct PacedAck {
    now: Time,
    ack: u64,
    snd_nxt: u64,
    above_bytes: u64,
    flight_bytes: u64,
    lost_bytes: u64,
    rtt: Option<Span>,
    cnp: bool,
    sent_bps: Option<f64>,
    hops: Option<Py<PyTuple>>,
    path: u16,
    utilisation: Option<f64>,
    granted_bps: Option<f64>,
    is_offered: bool,
    /// Headers of the user's program that it echoes.
    pub headers: Option<Py<PyDict>>,
}

impl PacedAck {
    /// Takes over an ACK.
    pub fn show(&mut self, py: Python<'_>, ack: &RateAck<'_>, int: IntEncoding) -> PyResult<()> {
        (self.now, self.ack, self.snd_nxt, self.rtt) = (ack.now, ack.ack, ack.snd_nxt, ack.rtt);
        (self.cnp, self.sent_bps, self.path, self.granted_bps) =
            (ack.cnp, ack.sent_bps, ack.path, ack.granted_bps);
        (self.utilisation, self.is_offered) = (ack.utilisation, ack.is_offered);
        (self.above_bytes, self.flight_bytes, self.lost_bytes) =
            (ack.above_bytes, ack.flight_bytes, ack.lost_bytes);
        self.hops = None;
        if !ack.hops.is_empty() {
            let hops = ack.hops.iter().map(|&record| Py::new(py, Hop { record, int }));
            self.hops = Some(PyTuple::new(py, hops.collect::<PyResult<Vec<_>>>()?)?.unbind());
        }
        Ok(())
    }
}

#[pymethods]
impl PacedAck {
    #[getter]
    fn now_ns(&self) -> f64 {
        self.now.as_ps() as f64 / 1_000.0
    }

    #[getter]
    fn now_ps(&self) -> u64 {
        self.now.as_ps()
    }

    #[getter]
    fn ack(&self) -> u64 {
        self.ack
    }

    #[getter]
    fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    #[getter]
    fn above_bytes(&self) -> u64 {
        self.above_bytes
    }

    #[getter]
    fn flight_bytes(&self) -> u64 {
        self.flight_bytes
    }

    #[getter]
    fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    #[getter]
    fn rtt_ns(&self) -> Option<f64> {
        self.rtt.map(ns)
    }

    #[getter]
    fn headers(&self, py: Python<'_>) -> Py<PyDict> {
        self.headers.as_ref().map_or_else(|| PyDict::new(py).unbind(), |headers| headers.clone_ref(py))
    }

    #[getter]
    fn cnp(&self) -> bool {
        self.cnp
    }

    #[getter]
    fn sent_bps(&self) -> Option<f64> {
        self.sent_bps
    }

    #[getter]
    fn hops(&self, py: Python<'_>) -> Py<PyTuple> {
        self.hops.as_ref().map_or_else(|| PyTuple::empty(py).unbind(), |hops| hops.clone_ref(py))
    }

    #[getter]
    fn path(&self) -> u16 {
        self.path
    }

    #[getter]
    fn utilisation(&self) -> Option<f64> {
        self.utilisation
    }

    #[getter]
    fn granted_bps(&self) -> Option<f64> {
        self.granted_bps
    }

    #[getter]
    fn is_offered(&self) -> bool {
        self.is_offered
    }
}
