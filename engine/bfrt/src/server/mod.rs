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

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use p4cc_p4runtime::server::requests::Counted;
use p4cc_p4runtime::server::{answers, connections};
use p4cc_p4runtime::{Devices, Held};
use p4cc_units::Time;
use tokio::runtime::Runtime;

use crate::proto::bfrt_proto::bf_runtime_server::BfRuntimeServer;
use service::Service;

pub use local::Local;

/// Largest request: some millions of keys.
pub const MAX_REQUEST_BYTES: usize = 256 << 20;
/// Largest response: as many entries or errors.
const MAX_RESPONSE_BYTES: usize = 512 << 20;
/// Requests of one connection that wait or run at once; further ones wait in the connection.
const MAX_REQUESTS_IN_FLIGHT: usize = 64;
/// Open calls of one connection.
const MAX_CALLS: u32 = 256;
/// Silent connections are probed after this time, so that a client that is gone is noticed.
const KEEPALIVE: Duration = Duration::from_secs(20);
/// Requests are applied one at a time; a second thread keeps streams alive meanwhile.
const THREADS: usize = 2;
/// How long stopping waits for a request that is being applied until its next look.
const STOP_TIMEOUT: Duration = Duration::from_millis(300);

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}: {cause}; choose another address, or port 0 for any free port")]
    Listen {
        /// Address asked for.
        addr: SocketAddr,
        /// What the system said.
        cause: std::io::Error,
    },
    /// No threads.
    #[error("cannot start the server's threads: {0}")]
    Threads(std::io::Error),
}

/// What a server is told beside its address.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What clients call the program; without it the name of its file, less `.p4`.
    pub p4_name: Option<String>,
}

/// A running BF Runtime server; stops when dropped.
pub struct Server {
    local_addr: SocketAddr,
    service: Service,
    runtime: Option<Runtime>,
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
        let listen = |cause| StartError::Listen { addr, cause };
        let listener = TcpListener::bind(addr).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let local_addr = listener.local_addr().map_err(listen)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("bfrt")
            .enable_all()
            .build()
            .map_err(StartError::Threads)?;
        let incoming = {
            let _in_runtime = runtime.enter();
            connections::incoming(listener).map_err(listen)?
        };
        let service = Service::new(devices, options);
        let server = BfRuntimeServer::new(service.clone())
            .max_decoding_message_size(MAX_REQUEST_BYTES)
            .max_encoding_message_size(MAX_RESPONSE_BYTES);
        let serve = tonic::transport::Server::builder()
            .concurrency_limit_per_connection(MAX_REQUESTS_IN_FLIGHT)
            .max_concurrent_streams(MAX_CALLS)
            .http2_keepalive_interval(Some(KEEPALIVE))
            .add_service(Counted::new(server))
            .serve_with_incoming(incoming);
        runtime.spawn(serve);
        runtime.spawn(service.room().clone().end_stalled(answers::PATIENCE));
        Ok(Self { local_addr, service, runtime: Some(runtime) })
    }

    /// The address it listens on, the port resolved.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
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
    pub fn stop(mut self) {
        self.shut_down();
    }

    fn shut_down(&mut self) {
        self.begin_stop();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(STOP_TIMEOUT);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shut_down();
    }
}
