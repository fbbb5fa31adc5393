//! Where all threads of the interpreter are: their frames, walked without a step of Python code between.
//!
//! A walk in Python (`frame.f_back`) may lose the lock between two frames. The other thread then leaves the
//! frames that are looked at, which ends CPython 3.11 with a segmentation fault now and then
//! (python/cpython#111363). Here nothing gives the lock away: no Python code runs, and no garbage is
//! collected, whose callbacks are Python code.

use std::collections::HashMap;

use pyo3::prelude::*;

/// Most frames of one thread that are walked; Python's own limit is 1,000.
const MAX_FRAMES: usize = 100_000;

/// The frames of each thread by its number, the innermost first.
#[pyfunction]
pub(crate) fn thread_frames(py: Python<'_>) -> PyResult<HashMap<u64, Vec<Py<PyAny>>>> {
    let collector = py.import("gc")?;
    let collects: bool = collector.call_method0("isenabled")?.extract()?;
    collector.call_method0("disable")?;
    let found = walk(py);
    if collects {
        collector.call_method0("enable")?;
    }
    found
}

fn walk(py: Python<'_>) -> PyResult<HashMap<u64, Vec<Py<PyAny>>>> {
    let innermost = py.import("sys")?.call_method0("_current_frames")?;
    let innermost: HashMap<u64, Bound<'_, PyAny>> = innermost.extract()?;
    let mut found = HashMap::with_capacity(innermost.len());
    for (thread, frame) in innermost {
        let (mut frames, mut next) = (Vec::new(), Some(frame));
        while let Some(frame) = next.take()
            && frames.len() < MAX_FRAMES
        {
            let back = frame.getattr("f_back")?;
            frames.push(frame.unbind());
            next = (!back.is_none()).then_some(back);
        }
        found.insert(thread, frames);
    }
    Ok(found)
}
