//! A slow start by an object of a user's class.

use p4cc_cc::{AckSample, Phase, Publisher, SlowStart, Window};
use pyo3::prelude::*;

use super::algorithm::{AckHook, Class, Object};
use super::window::WindowObject;

#[derive(Debug)]
pub(super) struct PythonSlowStart {
    of: WindowObject,
    start: Option<Py<PyAny>>,
    on_ack: Option<AckHook>,
    grow_after_cut: Option<AckHook>,
}

impl PythonSlowStart {
    pub fn new(py: Python<'_>, object: Object, class: &Class) -> PyResult<Self> {
        let of = WindowObject::new(py, object)?;
        Ok(Self {
            start: class.hook(py, &of.object, "start")?,
            on_ack: of.hook(py, class, "on_ack")?,
            grow_after_cut: of.hook(py, class, "grow_after_cut")?,
            of,
        })
    }
}

impl SlowStart for PythonSlowStart {
    fn enter(&mut self, snd_nxt: u64, window: &Window) {
        let Some(start) = self.start.as_ref().filter(|_| !self.of.object.has_failed()) else { return };
        Python::attach(|py| {
            self.of.show_window(py, window);
            self.of.object.kept(self.of.now, start.call1(py, (snd_nxt,)))
        });
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window, publisher: &mut dyn Publisher) -> bool {
        if self.of.object.has_failed() {
            return true;
        }
        let Some(on_ack) = &self.on_ack else { return true };
        Python::attach(|py| {
            self.of.now = ack.now;
            self.of.ack.borrow_mut(py).sample = *ack;
            self.of.show_window(py, window);
            let Some(goes_on) = self.of.call(py, on_ack) else { return true };
            self.of.take_window(py, window);
            self.of.take_events(py, publisher);
            // Nothing returned means that it goes on.
            !goes_on.is(pyo3::types::PyBool::new(py, false))
        })
    }

    fn grow_after_cut(&self, ack: &AckSample, window: &mut Window) -> bool {
        let Some(grow) = self.grow_after_cut.as_ref().filter(|_| !self.of.object.has_failed()) else {
            return false;
        };
        Python::attach(|py| {
            self.of.ack.borrow_mut(py).sample = *ack;
            self.of.show_window(py, window);
            let grown = self.of.call(py, grow).is_some();
            if grown {
                self.of.take_window(py, window);
            }
            grown
        })
    }

    fn phase(&self) -> Phase {
        let smooths = Python::attach(|py| self.of.base.borrow(py).smoothing);
        if smooths { Phase::Smoothing } else { Phase::SlowStart }
    }

    fn delta(&self) -> Option<f64> {
        Python::attach(|py| self.of.base.borrow(py).delta)
    }

    fn state(&self, name: &str) -> Option<f64> {
        self.of.object.state(name)
    }
}
