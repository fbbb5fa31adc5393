//! The daemon as the Thrift calls see it.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use p4cc_p4runtime::{Devices, Server};
use p4cc_switch::Switch;
use p4cc_thrift::{PortInfo, Target};
use p4cc_units::{Span, Time};
use parking_lot::Mutex;

use crate::capture::Capture;
use crate::options::{General, InterfaceOption, Links};
use crate::packet_io::Interface;
use crate::port::Port;
use crate::shared::{PortChange, PortState, Shared};

/// Longest wait for the data plane to close an interface.
const MAX_CLOSING: Duration = Duration::from_secs(5);

/// What a port that is added gets: the links' options for all ports.
pub(crate) struct ThriftTarget {
    shared: Arc<Shared>,
    server: Arc<Server>,
    device_id: u64,
    thrift_port: u16,
    links: Links,
    ports: Mutex<Vec<InterfaceOption>>,
    notifications_socket: Option<String>,
}

impl ThriftTarget {
    pub fn new(
        shared: Arc<Shared>,
        server: Arc<Server>,
        general: &General,
        thrift_port: u16,
        notifications_socket: Option<String>,
    ) -> Self {
        Self {
            shared,
            server,
            device_id: general.device_id,
            thrift_port,
            links: general.links.clone(),
            ports: Mutex::new(general.interfaces.clone()),
            notifications_socket,
        }
    }

    fn place(&self, port: u32) -> Result<usize, String> {
        let place = self.ports.lock().iter().position(|one| one.port == port);
        place.ok_or_else(|| format!("there is no port {port}"))
    }
}

impl Target for ThriftTarget {
    fn with_switch(&self, f: &mut dyn FnMut(&mut Switch, Time)) {
        // The device of this daemon is always there.
        let _ = self.shared.with_device(self.device_id, f);
    }

    fn config(&self) -> Option<String> {
        self.server.device_config(self.device_id)
    }

    fn save(&self) -> Result<Vec<u8>, String> {
        self.server.save(self.device_id)
    }

    fn load(&self, config: String) -> Result<(), String> {
        self.server.install(self.device_id, config.into_bytes())
    }

    fn ports(&self) -> Vec<PortInfo> {
        let info = |one: &InterfaceOption| {
            let PortState { up, remark } = self.shared.port_state(one.port);
            PortInfo { port: one.port, interface: one.interface.clone(), up, remark }
        };
        self.ports.lock().iter().map(info).collect()
    }

    fn add_port(&self, port: u32, interface: &str, pcap: &str) -> Result<(), String> {
        let opened = Interface::open(interface, self.links.ring_frames, self.links.io);
        let opened = opened.map_err(|error| error.to_string())?;
        let watch = opened.watch().map_err(|error| error.to_string())?;
        tracing::info!(port, interface, io = opened.way(), "port attached");
        let capture = (!pcap.is_empty()).then(|| Capture::create(Path::new(pcap), interface)).transpose();
        let capture = capture.map_err(|error| format!("{pcap}: {error}"))?;
        let mut added = Ok(());
        self.with_switch(&mut |switch, _| added = switch.control().add_port(self.links.port(port)));
        added.map_err(|error| error.to_string())?;
        self.ports.lock().push(InterfaceOption { port, interface: interface.to_owned() });
        self.shared.has_port(port, watch);
        let port = Port::new(port, opened, &self.links, capture);
        self.shared.change(PortChange::Attach(Box::new(port)));
        Ok(())
    }

    fn remove_port(&self, port: u32) -> Result<(), String> {
        let place = self.place(port)?;
        self.ports.lock().remove(place);
        self.with_switch(&mut |switch, _| {
            switch.control().remove_port(port);
        });
        let (closed, is_closed) = mpsc::channel();
        self.shared.change(PortChange::Detach(port, closed));
        // Who adds the interface again at once is not to find it taken.
        match is_closed.recv_timeout(MAX_CLOSING) {
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("port {port} is removed, but its interface is still closing"))
            }
            _ => Ok(()),
        }
    }

    fn thrift_port(&self) -> u16 {
        self.thrift_port
    }

    fn notifications_socket(&self) -> Option<String> {
        self.notifications_socket.clone()
    }

    fn set_delay_ns(&self, port: u32, delay_ns: u64) -> Result<(), String> {
        self.place(port)?;
        self.shared.change(PortChange::Delay(port, Span::from_ns(delay_ns)));
        Ok(())
    }
}
