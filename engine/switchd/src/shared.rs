//! The switch behind one lock, and what others may ask of the thread that moves its packets.
//!
//! The data plane holds the lock for one batch of packets at a time; requests
//! of controllers take it in between, in arrival order (the lock is fair).

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use p4cc_p4runtime::{Devices, NoSuchDevice};
use p4cc_switch::{Packet, Switch};
use p4cc_units::{Span, Time};
use parking_lot::{FairMutex, Mutex};

use crate::clock::Clock;
use crate::packet_io::{Interface, Watch};
use crate::port::Port;

/// A change of the ports, made by the data plane between two batches.
pub(crate) enum PortChange {
    /// A port that the switch has from now on.
    Attach(Box<Port>),
    /// Number of a port that is gone. What is dropped afterwards says that its interface is closed.
    Detach(u32, Sender<()>),
    /// Number of a port that lets go of its interface, as in `Detach`, and stays.
    Close(u32, Sender<()>),
    /// Number of a port that was closed, and its interface, attached again.
    Reopen(u32, Box<Interface>),
    /// A port, and the delay of its link from now on.
    Delay(u32, Span),
}

/// Whether a port is up, as the switch was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PortState {
    pub up: bool,
    /// Why it is down, or what is wrong with it; may be empty.
    pub remark: String,
}

impl Default for PortState {
    fn default() -> Self {
        Self { up: true, remark: String::new() }
    }
}

/// What the threads of the daemon share.
pub struct Shared {
    pub(crate) switch: FairMutex<Switch>,
    pub(crate) clock: Clock,
    device_id: u64,
    waker: UnixDatagram,
    changes: Mutex<VecDeque<PortChange>>,
    /// By port: interfaces of the kernel's, whose links may go down.
    interfaces: Mutex<BTreeMap<u32, Arc<Watch>>>,
    /// Of these ports.
    states: Mutex<BTreeMap<u32, PortState>>,
    stopping: AtomicBool,
    /// An assertion did not hold, where that ends the switch.
    failed: AtomicBool,
}

impl Shared {
    /// The shared state, and what the data plane waits for beside packets.
    ///
    /// # Errors
    /// The system has no pair of sockets left.
    pub(crate) fn new(switch: Switch) -> io::Result<(Self, UnixDatagram)> {
        let (waker, woken) = UnixDatagram::pair()?;
        waker.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let device_id = switch.device_id();
        let shared = Self {
            switch: FairMutex::new(switch),
            clock: Clock::start(),
            device_id,
            waker,
            changes: Mutex::default(),
            interfaces: Mutex::default(),
            states: Mutex::default(),
            stopping: AtomicBool::new(false),
            failed: AtomicBool::new(false),
        };
        Ok((shared, woken))
    }

    /// Makes the data plane look at the switch now.
    pub(crate) fn wake(&self) {
        // When its socket is full, the data plane has reason enough to wake up.
        let _ = self.waker.send(&[0]);
    }

    /// Says that a port is there, for its link to be looked at.
    pub(crate) fn has_port(&self, port: u32, watch: Option<Watch>) {
        if let Some(watch) = watch {
            self.interfaces.lock().insert(port, Arc::new(watch));
        }
    }

    /// Interfaces whose links are to be looked at, by port.
    pub(crate) fn interfaces(&self) -> BTreeMap<u32, Arc<Watch>> {
        self.interfaces.lock().clone()
    }

    /// Whether a port is up. One that was never looked at is.
    pub(crate) fn port_state(&self, port: u32) -> PortState {
        self.states.lock().get(&port).cloned().unwrap_or_default()
    }

    /// Keeps what was found of a port; whether that is news.
    pub(crate) fn set_port_state(&self, port: u32, state: &PortState) -> bool {
        let before = self.states.lock().insert(port, state.clone()).unwrap_or_default();
        before != *state
    }

    /// Asks the data plane to change its ports.
    pub(crate) fn change(&self, change: PortChange) {
        if let PortChange::Detach(port, _) = &change {
            self.interfaces.lock().remove(port);
            self.states.lock().remove(port);
        }
        self.changes.lock().push_back(change);
        self.wake();
    }

    pub(crate) fn take_change(&self) -> Option<PortChange> {
        self.changes.lock().pop_front()
    }

    /// Asks all threads to end.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
        self.wake();
    }

    /// Notes that the switch is to end because of its program.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Release);
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    fn check(&self, device_id: u64) -> Result<(), NoSuchDevice> {
        if device_id == self.device_id { Ok(()) } else { Err(NoSuchDevice(device_id)) }
    }
}

impl Devices for Shared {
    fn ids(&self) -> Vec<u64> {
        vec![self.device_id]
    }

    fn with_device(&self, device_id: u64, f: &mut dyn FnMut(&mut Switch, Time)) -> Result<(), NoSuchDevice> {
        self.check(device_id)?;
        let mut switch = self.switch.lock();
        let due = switch.next_generated();
        f(&mut switch, self.clock.now());
        let is_changed = switch.next_generated() != due;
        drop(switch);
        if is_changed {
            self.wake();
        }
        Ok(())
    }

    fn since_epoch_ns(&self, now: Time) -> u64 {
        self.clock.since_epoch_ns(now)
    }

    fn packet_out(&self, device_id: u64, packet: Packet) -> Result<(), NoSuchDevice> {
        self.check(device_id)?;
        self.switch.lock().packet_out(self.clock.now(), packet);
        self.wake();
        Ok(())
    }
}
