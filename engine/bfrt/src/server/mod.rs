//! The gRPC server: its threads, its bounds, and what it needs from the owner of the switches.

mod answer;
mod batches;
mod clients;
mod device;
mod local;
mod pipeline;
mod reads;
mod requests;
mod service;
mod streams;

use std::net::SocketAddr;
use std::sync::Arc;

use p4cc_p4runtime::server::answers;
use p4cc_p4runtime::server::frame::Frame;
use p4cc_p4runtime::{Devices, Held, StartError};
use p4cc_units::Time;

use crate::proto::bfrt_proto::bf_runtime_server::BfRuntimeServer;
use service::Service;

pub use local::Local;

/// Largest request: some millions of keys.
pub const MAX_REQUEST_BYTES: usize = 256 << 20;
/// Largest response: as many entries or errors.
const MAX_RESPONSE_BYTES: usize = 512 << 20;

/// What a server is told beside its address.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What clients call the program; without it the name of its file, less `.p4`.
    pub p4_name: Option<String>,
}

/// A running BF Runtime server; stops when dropped.
pub struct Server {
    service: Service,
    frame: Frame,
}

impl Server {
    /// Starts serving the devices on an address; port 0 takes any free port.
    ///
    /// # Errors
    /// The address is taken or not of this machine, or no thread can be started.
    pub fn start(addr: SocketAddr, devices: Arc<dyn Devices>, options: Options) -> Result<Self, StartError> {
        for id in devices.ids() {
            // A device that goes away meanwhile needs no pipes.
            let _ = devices
                .with_device(id, &mut |switch, _| switch.control().split_pipes(crate::pipes::PIPES as u8));
        }
        let service = Service::new(devices, options);
        let server = BfRuntimeServer::new(service.clone())
            .max_decoding_message_size(MAX_REQUEST_BYTES)
            .max_encoding_message_size(MAX_RESPONSE_BYTES);
        let frame = Frame::start(addr, None, server)?;
        frame.spawn(service.room().clone().end_stalled(answers::PATIENCE));
        Ok(Self { service, frame })
    }

    /// The address it listens on, the port resolved.
    pub fn local_addr(&self) -> SocketAddr {
        self.frame.local_addr()
    }

    /// Sends digests and idle entries that switches held to the clients that asked for them; how many
    /// messages went out. Not to be called while lending a device.
    pub fn deliver(&self, now: Time, held: &[Held]) -> usize {
        self.service.deliver(now, held)
    }

    /// Has requests that wait end with UNAVAILABLE, and those under way give up at their next look. None is
    /// taken from now on; [`Self::stop`] does the rest.
    pub fn begin_stop(&self) {
        self.service.stopping().stop();
    }

    /// Closes all streams and stops serving.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.begin_stop();
    }
}
