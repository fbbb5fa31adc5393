//! Calls of a network's P4Runtime service from this process, without a socket.

use p4cc_p4runtime::Local;
use p4cc_p4runtime::proto::p4::v1::entity::Entity as Of;
use parking_lot::Mutex;
use prost::Message;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;

/// A client of one service.
#[pyclass(frozen, module = "p4cc._engine")]
pub(crate) struct P4RuntimeCalls(Mutex<Local>);

impl P4RuntimeCalls {
    pub(crate) fn new(local: Local) -> Self {
        Self(Mutex::new(local))
    }
}

/// The status of a refused call; a macro, as its type is of a crate that is not named here.
macro_rules! answered {
    ($py:expr, $result:expr) => {
        $result.map_err(|status| errors::call($py, status.code() as i32, status.message(), status.details()))
    };
}

fn to_bytes<'py>(py: Python<'py>, messages: &[impl AsRef<[u8]>]) -> Vec<Bound<'py, PyBytes>> {
    messages.iter().map(|message| PyBytes::new(py, message.as_ref())).collect()
}

#[pymethods]
impl P4RuntimeCalls {
    /// Calls a method with the bytes of its message; the messages of the answer.
    fn call<'py>(&self, py: Python<'py>, method: &str, message: &[u8]) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let answer = py.detach(|| self.0.lock().call(method, message));
        answered!(py, answer).map(|messages| to_bytes(py, &messages))
    }

    /// Reads; the entities of all messages of the answer, each as its bytes.
    fn read<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let entities = py.detach(|| {
            let read = self.0.lock().read(message);
            read.map(|entities| entities.iter().map(Message::encode_to_vec).collect::<Vec<_>>())
        });
        answered!(py, entities).map(|entities| to_bytes(py, &entities))
    }

    /// Reads cells of counters; index and packets of each.
    fn read_packets(&self, py: Python<'_>, message: &[u8]) -> PyResult<Vec<(i64, i64)>> {
        let entities = py.detach(|| self.0.lock().read(message));
        let cell = |entity| match entity {
            Some(Of::CounterEntry(cell)) => {
                Some((cell.index.map_or(0, |at| at.index), cell.data.map_or(0, |data| data.packet_count)))
            }
            _ => None,
        };
        answered!(py, entities).map(|all| all.into_iter().filter_map(|one| cell(one.entity)).collect())
    }

    /// Opens a stream; its number.
    fn open(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.lock().open())
    }

    /// Sends a message on a stream; the messages that have come on it since.
    fn send<'py>(
        &self,
        py: Python<'py>,
        stream: usize,
        message: &[u8],
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let replies = py.detach(|| self.0.lock().send(stream, message));
        let replies = answered!(py, replies)?;
        let messages: Vec<Vec<u8>> = replies.iter().map(Message::encode_to_vec).collect();
        Ok(to_bytes(py, &messages))
    }

    /// Ends a stream.
    fn close(&self, py: Python<'_>, stream: usize) {
        py.detach(|| self.0.lock().close(stream));
    }
}
