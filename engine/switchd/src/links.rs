//! Which ports have a link: asked for now and then, told to the switch when it changes.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::packet_io::sys;
use crate::shared::Shared;

/// How often the state of links is asked for: a request for each interface costs about a microsecond.
const INTERVAL: Duration = Duration::from_millis(20);

/// The links of a switch's ports. What has no interface of
/// the kernel's, such as a port on a socket, is always up.
pub(crate) struct Links {
    socket: OwnedFd,
    asked: Option<Instant>,
    /// As the switch was told last, by port.
    told: BTreeMap<u32, bool>,
}

impl Links {
    /// # Errors
    /// The system has no socket left.
    pub fn new() -> io::Result<Self> {
        Ok(Self { socket: sys::asking_socket()?, asked: None, told: BTreeMap::new() })
    }

    /// Tells the switch of links that came or went since the last time, if it is time to ask.
    pub fn look(&mut self, shared: &Shared) {
        if self.asked.is_some_and(|asked| asked.elapsed() < INTERVAL) {
            return;
        }
        self.asked = Some(Instant::now());
        let interfaces = shared.interfaces();
        self.told.retain(|port, _| interfaces.contains_key(port));
        for (port, interface) in interfaces {
            // An interface that is gone has no link.
            let up = sys::interface_runs(&self.socket, &interface).unwrap_or(false);
            let before = self.told.insert(port, up).unwrap_or(true);
            if before == up {
                continue;
            }
            let mut switch = shared.switch.lock();
            switch.set_port_up(port, up);
            let generates = switch.next_generated().is_some();
            drop(switch);
            if generates {
                shared.wake();
            }
            tracing::info!(port, interface, "port {}", if up { "up" } else { "down" });
        }
    }
}
