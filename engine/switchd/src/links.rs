//! Which ports have a link: asked for now and then, told to the switch when it changes.
//!
//! An interface that is deleted takes its sockets along, and one of the same name that is made later knows
//! nothing of them. So its port goes down, and is attached again as soon as there is such an interface. A
//! port whose interface's MTU has outgrown its rings is attached again too.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::packet_io::{Finding, Interface, InterfaceError, Io, Watch};
use crate::shared::{PortChange, PortState, Shared};

/// How often the state of links is asked for: the requests for each interface cost a few microseconds.
const INTERVAL: Duration = Duration::from_millis(20);
/// How often an interface that could not be attached is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// Longest wait for the data plane to close an interface.
const MAX_CLOSING: Duration = Duration::from_secs(5);

/// How interfaces are attached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attaching {
    pub ring_frames: u32,
    pub io: Io,
}

/// The thread that looks after the links of a switch's ports. What has
/// no interface of the kernel's, such as a port on a socket, is always up.
pub(crate) struct Links {
    shared: Arc<Shared>,
    attaching: Attaching,
    /// Ports that are to be attached again, and when that is tried next.
    closed: BTreeMap<u32, Instant>,
}

impl Links {
    /// Starts the thread, which ends with the daemon.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(shared: Arc<Shared>, attaching: Attaching) -> io::Result<JoinHandle<()>> {
        let mut links = Self { shared, attaching, closed: BTreeMap::new() };
        std::thread::Builder::new().name("links".to_owned()).spawn(move || {
            while !links.shared.is_stopping() {
                links.look();
                std::thread::park_timeout(INTERVAL);
            }
        })
    }

    fn look(&mut self) {
        let interfaces = self.shared.interfaces();
        self.closed.retain(|port, _| interfaces.contains_key(port));
        for (port, watch) in interfaces {
            let state = match self.closed.get(&port) {
                Some(at) if *at > Instant::now() => continue,
                Some(_) => self.attach(port, watch.name()),
                None => self.look_at(port, &watch),
            };
            if let Some(state) = state {
                self.tell(port, watch.name(), &state);
            }
        }
    }

    /// What is to be told of a port whose interface is attached.
    fn look_at(&mut self, port: u32, watch: &Watch) -> Option<PortState> {
        let (up, remark) = match watch.look(self.attaching.io) {
            Finding::Up => (true, String::new()),
            Finding::UpCut(remark) => (true, remark),
            Finding::Down(remark) => (false, remark),
            Finding::Outgrown(mtu) => {
                tracing::info!(port, interface = watch.name(), mtu, "attaching again for a larger MTU");
                return self.close(port).and_then(|()| self.attach(port, watch.name()));
            }
            Finding::Gone => {
                tracing::info!(port, interface = watch.name(), "the interface was deleted");
                return self.close(port).and_then(|()| self.attach(port, watch.name()));
            }
        };
        Some(PortState { up, remark })
    }

    /// Has the data plane let go of an interface: its AF_XDP socket keeps others from the receive queue.
    fn close(&mut self, port: u32) -> Option<()> {
        let (closed, is_closed) = mpsc::channel();
        self.shared.change(PortChange::Close(port, closed));
        let end = Instant::now() + MAX_CLOSING;
        while is_closed.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            // A data plane that is at work is asked again by the next look.
            if self.shared.is_stopping() || Instant::now() > end {
                return None;
            }
        }
        self.closed.insert(port, Instant::now());
        Some(())
    }

    /// Attaches an interface again; what is to be told of its port, unless the next look finds it.
    fn attach(&mut self, port: u32, name: &str) -> Option<PortState> {
        let Attaching { ring_frames, io } = self.attaching;
        let opened = Interface::open(name, ring_frames, io);
        let opened = opened.and_then(|interface| Ok((interface.watch()?, interface)));
        match opened {
            Ok((watch, interface)) => {
                tracing::info!(port, interface = name, io = interface.way(), "port attached again");
                self.shared.has_port(port, watch);
                self.shared.change(PortChange::Reopen(port, Box::new(interface)));
                self.closed.remove(&port);
                None
            }
            Err(InterfaceError::Missing(_)) => {
                let remark =
                    format!("interface {name} is gone; the port will be attached again when it returns");
                Some(PortState { up: false, remark })
            }
            Err(error) => {
                self.closed.insert(port, Instant::now() + RETRY);
                Some(PortState { up: false, remark: error.to_string() })
            }
        }
    }

    /// Tells switch and log what is new of a port.
    fn tell(&self, port: u32, interface: &str, state: &PortState) {
        let before = self.shared.port_state(port).up;
        if !self.shared.set_port_state(port, state) {
            return;
        }
        let PortState { up, remark } = state;
        if before != *up {
            let mut switch = self.shared.switch.lock();
            switch.control().set_port_up(port, *up);
            let generates = switch.next_generated().is_some();
            drop(switch);
            if generates {
                self.shared.wake();
            }
        }
        match (before == *up, up) {
            (true, true) if remark.is_empty() => {}
            (true, _) => tracing::warn!(port, interface, "{remark}"),
            (false, true) => tracing::info!(port, interface, "port up"),
            (false, false) => tracing::info!(port, interface, reason = remark, "port down"),
        }
    }
}
