//! Native code, made beside the thread that moves packets: that interprets a new program until its code is
//! there, and takes the code between two packets, with tables, counters and registers as they are.

use std::cell::RefCell;
use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Weak};
use std::time::Instant;

use p4cc_exec::Pipeline;
use p4cc_switch::ExecChoice;

use crate::shared::Shared;

/// The choice under which the thread that moves packets never makes code itself.
pub(crate) fn beside_packets(asked: ExecChoice) -> ExecChoice {
    match asked {
        ExecChoice::Interp => ExecChoice::Interp,
        ExecChoice::Native | ExecChoice::NativeWhenMade | ExecChoice::NativeWhenBusy => {
            ExecChoice::NativeWhenMade
        }
    }
}

/// Has native code made for each program that the switch runs. The thread is not waited for when the daemon
/// ends: one function may take a while.
pub(crate) struct Translator {
    programs: Sender<Weak<Pipeline>>,
    /// What it was told of last.
    current: Weak<Pipeline>,
}

impl Translator {
    /// # Errors
    /// There is no thread for it.
    pub fn start() -> io::Result<Self> {
        let (programs, asked) = channel();
        std::thread::Builder::new().name("translator".to_owned()).spawn(move || translate(&asked))?;
        Ok(Self { programs, current: Weak::new() })
    }

    /// Asks for the code of the program that the switch runs now, if that is another than before.
    pub fn look(&mut self, shared: &Shared) {
        let program = {
            let switch = shared.switch.lock();
            if switch.observation().exec() != ExecChoice::NativeWhenMade {
                return;
            }
            switch.observation().pipeline().map(Arc::downgrade)
        };
        let program = program.unwrap_or_default();
        if !program.ptr_eq(&self.current) {
            self.current = program.clone();
            // The thread ends with this sender, not before.
            let _ = self.programs.send(program);
        }
    }
}

fn translate(asked: &Receiver<Weak<Pipeline>>) {
    let mut next = None;
    while let Some(program) = next.take().or_else(|| asked.recv().ok()) {
        let Some(pipeline) = program.upgrade() else { continue };
        let started = Instant::now();
        let newer = RefCell::new(None);
        // A program that is no longer run is given up, and so is the work when the daemon ends.
        let is_cancelled = || {
            let mut newer = newer.borrow_mut();
            loop {
                match asked.try_recv() {
                    Ok(program) => *newer = Some(program),
                    Err(TryRecvError::Empty) => return newer.is_some(),
                    Err(TryRecvError::Disconnected) => return true,
                }
            }
        };
        let is_made = pipeline.make_native(&is_cancelled);
        next = newer.into_inner();
        let program = &pipeline.program().name;
        match pipeline.native_error() {
            Some(error) => tracing::warn!("the interpreter runs the program: {error}"),
            None if is_made => {
                tracing::info!(
                    program,
                    ms = started.elapsed().as_millis() as u64,
                    "native code runs the program"
                );
            }
            None => tracing::debug!(program, "native code is no longer wanted"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use p4cc_switch::{DEFAULT_PASS_LIMIT, Packet, Switch, SwitchConfig, TimestampUnit};
    use p4cc_units::Time;

    use super::*;

    fn switch() -> Switch {
        let config = SwitchConfig {
            device_id: 1,
            ports: Vec::new(),
            timestamp_unit: TimestampUnit::Us,
            buffer: None,
            cpu_port: None,
            drop_port: 511,
            seed: 0,
            pass_limit: DEFAULT_PASS_LIMIT,
            deflect_on_drop: false,
        };
        let mut switch = Switch::new(config).expect("a right configuration");
        switch.control().set_exec(beside_packets(ExecChoice::Native));
        switch
    }

    #[test]
    fn packets_are_interpreted_until_the_code_is_there() {
        let pipeline = crate::program::testing::to_port(1);
        let mut switch = switch();
        switch.control().set_pipeline(Arc::clone(&pipeline));
        switch.receive(Time::ZERO, 1, Packet::new(&[0; 64], 0));
        assert!(!pipeline.has_native(), "nobody has made it");
        let (shared, _woken) = Shared::new(switch).expect("a pair of sockets");
        let mut translator = Translator::start().expect("a thread");
        translator.look(&shared);
        let patience = Instant::now() + Duration::from_secs(60);
        while !pipeline.has_native() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(pipeline.has_native());
        shared.switch.lock().receive(Time::ZERO, 1, Packet::new(&[0; 64], 0));
        assert_eq!(shared.switch.lock().observation().counters().received, 2, "counters stay");
    }

    #[test]
    fn code_that_is_no_longer_wanted_is_not_made() {
        let pipeline = crate::program::testing::to_port(1);
        assert!(!pipeline.make_native(&|| true));
        assert!(!pipeline.has_native() && pipeline.native_error().is_none(), "it may be asked for again");
        assert!(pipeline.make_native(&|| false));
    }
}
