//! The gRPC server: its threads, its bounds, and what it needs from the owner of the switches.

pub mod answers;
mod arbitration;
mod carry;
pub mod connections;
mod device;
mod epochs;
pub mod frame;
pub mod in_process;
mod local;
pub mod outbox;
mod pipeline;
mod reads;
mod requests;
mod roles;
mod service;
mod snapshot;
pub mod stopping;
mod stream;
pub mod whole;
pub(crate) mod work;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use p4cc_exec::control::TableEntry;
use p4cc_exec::{DigestMessage, Pipeline};
use p4cc_ir::TableId;
use p4cc_switch::{Packet, Switch};
use p4cc_units::Time;

use crate::proto::p4::v1::p4_runtime_server::P4RuntimeServer;
use frame::Frame;
use service::Service;

pub use arbitration::Rule;
pub use epochs::Epoch;
pub use frame::{StartError, Tls};
pub use local::Local;

/// Largest request: a program's source, a P4Info or a batch of updates.
pub const MAX_REQUEST_BYTES: usize = 64 << 20;
/// Largest response.
const MAX_RESPONSE_BYTES: usize = 64 << 20;

/// No device has this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no device with id {0}")]
pub struct NoSuchDevice(pub u64);

/// Where the devices are. The server calls with requests in arrival order, one at a time; a call may wait
/// until the owner has a moment at which control requests may be applied.
pub trait Devices: Send + Sync + 'static {
    /// Ids of all devices.
    fn ids(&self) -> Vec<u64>;

    /// Lends a device, and says the network's time.
    ///
    /// # Errors
    /// No device has this id.
    fn with_device(&self, device_id: u64, f: &mut dyn FnMut(&mut Switch, Time)) -> Result<(), NoSuchDevice>;

    /// Nanoseconds from the Epoch to an instant of the network: what digests and idle notifications are
    /// stamped with. A network in virtual time counts from its own zero.
    fn since_epoch_ns(&self, now: Time) -> u64 {
        now.as_ns()
    }

    /// Gives a packet of the controller to a device, which has a CPU port, at the network's time.
    ///
    /// # Errors
    /// No device has this id.
    fn packet_out(&self, device_id: u64, packet: Packet) -> Result<(), NoSuchDevice>;
}

/// What a device held for its controllers.
#[derive(Clone, Debug)]
pub struct Held {
    /// The device.
    pub device_id: u64,
    /// Its program.
    pub pipeline: Arc<Pipeline>,
    /// Digests in the order in which packets made them.
    pub digests: Vec<DigestMessage>,
    /// Entries that were not hit for as long as their timeout.
    pub idle: Vec<(TableId, TableEntry)>,
}

/// What a delivery did.
#[derive(Clone, Debug, Default)]
pub struct Delivered {
    /// Digests and idle entries of each device that had some, for those who hear of them in other ways.
    pub held: Vec<Held>,
    /// Messages that were sent to controllers, by device.
    pub sent: Vec<(u64, usize)>,
}

/// What a server is told beside its address.
#[derive(Clone)]
pub struct Options {
    /// Keys, for serving over TLS.
    pub tls: Option<Tls>,
    /// Who becomes primary.
    pub arbitration: Rule,
    /// How long a client may take nothing of the answer of a read before that ends; after twice the time the
    /// client's connection is cut.
    pub read_patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { tls: None, arbitration: Rule::default(), read_patience: answers::PATIENCE }
    }
}

/// A running P4Runtime server; stops when dropped.
pub struct Server {
    service: Service,
    frame: Frame,
}

impl Server {
    /// Starts serving the devices on an address; port 0 takes any free port.
    ///
    /// # Errors
    /// The address is taken or not of this machine, or no thread can be started.
    pub fn start(addr: SocketAddr, devices: Arc<dyn Devices>) -> Result<Self, StartError> {
        Self::start_with(addr, devices, Options::default())
    }

    /// As [`Self::start`], for devices that are copies of this server's, as forks of a network are: they run
    /// the programs that controllers pushed here, and send the digests that controllers asked for. Not to be
    /// called while lending a device.
    ///
    /// # Errors
    /// As there.
    pub fn start_beside(&self, addr: SocketAddr, devices: Arc<dyn Devices>) -> Result<Self, StartError> {
        Self::start_service(addr, self.service.beside(devices), Options::default())
    }

    /// As [`Self::start`], with more than an address.
    ///
    /// # Errors
    /// As there, or a key or certificate cannot be used.
    pub fn start_with(
        addr: SocketAddr,
        devices: Arc<dyn Devices>,
        options: Options,
    ) -> Result<Self, StartError> {
        Self::start_service(addr, Service::new(devices, options.arbitration), options)
    }

    fn start_service(addr: SocketAddr, service: Service, options: Options) -> Result<Self, StartError> {
        let server = P4RuntimeServer::new(service.clone())
            .max_decoding_message_size(MAX_REQUEST_BYTES)
            .max_encoding_message_size(MAX_RESPONSE_BYTES);
        let frame = Frame::start(addr, options.tls, server)?;
        frame.spawn(service.reads().room.clone().end_stalled(options.read_patience));
        Ok(Self { service, frame })
    }

    /// A client within this process: its calls and streams are the service's as those of any connection are.
    ///
    /// # Errors
    /// No thread can be made.
    pub fn local(&self) -> Result<Local, StartError> {
        Local::of(self.service.clone())
    }

    /// The address it listens on, the port resolved.
    pub fn local_addr(&self) -> SocketAddr {
        self.frame.local_addr()
    }

    /// Installs a program before any controller does: BMv2 JSON or P4-16 source. Controllers find it as if it
    /// had been pushed, with its P4Info and without a cookie. Not to be called while lending a device.
    ///
    /// # Errors
    /// Why the program cannot be used, with the compiler's diagnostics; the device is as before.
    pub fn install(&self, device_id: u64, device_config: Vec<u8>) -> Result<(), String> {
        self.service.install(device_id, device_config).map_err(|failure| failure.message)
    }

    /// The program that a device runs, as it was given: P4-16 source or BMv2 JSON, out of its envelope. None
    /// without a program. Not to be called while lending a device.
    pub fn device_config(&self, device_id: u64) -> Option<String> {
        self.service.device_config(device_id)
    }

    /// Everything that controllers have set in a device, and its counters, as
    /// bytes for [`Self::restore`]. Not to be called while lending a device.
    ///
    /// # Errors
    /// It has no program, or too much state for one answer.
    pub fn save(&self, device_id: u64) -> Result<Vec<u8>, String> {
        self.service.save(device_id).map_err(|failure| failure.message)
    }

    /// Puts a device that runs the same program into a state that
    /// [`Self::save`] gave. Not to be called while lending a device.
    ///
    /// # Errors
    /// The bytes do not fit; the device is as before.
    pub fn restore(&self, device_id: u64, state: &[u8]) -> Result<(), String> {
        self.service.restore(device_id, state).map_err(|failure| failure.message)
    }

    /// Sends what the switches hold for their controllers: packet-ins, digests and idle
    /// notifications. `now` is the network's time. Not to be called while lending a device.
    pub fn deliver(&self, now: Time) -> Delivered {
        self.service.deliver(now)
    }

    /// When a digest list or an idle entry will be due that no packet makes due: the time of the next
    /// delivery. Not to be called while lending a device.
    pub fn next_due(&self) -> Option<Time> {
        self.service.next_due()
    }

    /// Lets controllers lead the time from now on: [`Self::take_epoch`] has what they ask for.
    pub fn lead_by_epochs(&self) {
        self.service.epochs().open();
    }

    /// The next epoch that a controller asks for; none if nobody does within this time.
    pub fn take_epoch(&self, timeout: Duration) -> Option<Epoch> {
        self.service.epochs().take(timeout)
    }

    /// Whether a controller is primary at some device. Not to be called while lending a device.
    pub fn has_primary(&self) -> bool {
        self.service.has_primary()
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
