//! The daemon from start to stop: interfaces, switch, servers, threads.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use p4cc_p4runtime::{Options as ServerOptions, Server, Tls};
use p4cc_switch::{ConfigError, DropCause, Switch, SwitchConfig};
use p4cc_thrift::Notifier;

use crate::capture::Capture;
use crate::dataplane::{Dataplane, Manner};
use crate::links::{Attaching, Links};
use crate::listeners::{DEFAULT_HOST, Proof, announce};
use crate::looks::Looks;
use crate::native::{self, Translator};
use crate::notifications::Publisher;
use crate::options::{General, Options, Target};
use crate::packet_io::{Interface, InterfaceError};
use crate::port::Port;
use crate::program;
use crate::shared::Shared;
use crate::thrift::ThriftTarget;

/// How often timeouts of digests and entries are looked at.
const TICK: Duration = Duration::from_millis(10);
/// Any free port of this machine, for itself only.
const ANY_LOCAL: SocketAddr = SocketAddr::new(DEFAULT_HOST, 0);

/// Why the daemon did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Ports, rates or queues.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An interface.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// The P4Runtime server.
    #[error("P4Runtime: {0}")]
    Server(#[from] p4cc_p4runtime::StartError),
    /// The BF Runtime server.
    #[error("BF Runtime: {0}")]
    Bfrt(p4cc_p4runtime::StartError),
    /// The Thrift server.
    #[error("Thrift: {0}")]
    Thrift(#[from] p4cc_thrift::StartError),
    /// The program, with the compiler's diagnostics.
    #[error("{0}")]
    Program(String),
    /// An address or a file of the command line.
    #[error("{0}")]
    Option(String),
    /// The system.
    #[error("{0}: {1}")]
    System(&'static str, io::Error),
}

/// A running switch.
pub struct Daemon {
    shared: Arc<Shared>,
    server: Arc<Server>,
    thrift: Option<p4cc_thrift::Server>,
    bfrt: Option<Arc<p4cc_bfrt::Server>>,
    dataplane: JoinHandle<Vec<Port>>,
    messenger: JoinHandle<()>,
    links: JoinHandle<()>,
    looks: Option<Looks>,
}

impl Daemon {
    /// Starts everything that the command line asks for. Packets are taken
    /// from the moment at which the program, if one is given, is installed.
    ///
    /// # Errors
    /// What could not be had; nothing is left running.
    pub fn start(options: &Options) -> Result<Self, StartError> {
        let general = &options.general;
        for notice in options.without_effect() {
            tracing::warn!("{notice}");
        }
        let mut switch = Switch::new(switch_config(options))?;
        switch.control().set_exec(native::beside_packets(general.exec));
        // Read before anything is opened: compiling takes a while.
        let source = program::options(&general.include, &general.define);
        let read = |path| program::device_config(path, &source, general.strict);
        let program = general.program.as_deref().map(read).transpose();
        let program = program.map_err(StartError::Program)?;
        let ports = open_ports(options)?;
        let (shared, woken) =
            Shared::new(switch).map_err(|error| StartError::System("cannot start", error))?;
        let shared = Arc::new(shared);
        for port in &ports {
            shared.has_port(port.number, port.interface.watch()?);
        }
        let server = Arc::new(start_server(options, &shared)?);
        if let Some(program) = program {
            install(&server, general, program)?;
            warn_of_deflection(general.links.deflect_on_drop, &shared);
        }
        let bfrt = start_bfrt(options, &shared)?;
        let trace = crate::log::wants_trace(general);
        let looks = looks(general, &shared, trace)?;
        let publisher = publisher(general)?;
        let thrift = start_thrift(options, &shared, &server, publisher.as_ref())?;
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let failed = |error| StartError::System("cannot start a thread", error);
        let (of, to, bfrt_to) = (Arc::clone(&shared), Arc::clone(&server), bfrt.clone());
        let heard = publisher.zip(thrift.as_ref().map(p4cc_thrift::Server::notifier));
        let translator = Translator::start().map_err(failed)?;
        let messenger = move || deliver(&of, &to, bfrt_to.as_deref(), heard, translator);
        let messenger = thread("messenger").spawn(messenger).map_err(failed)?;
        let stop_on_assertion = options.stops_on_assertion();
        let (busy_poll, cpu) = (general.links.busy_poll, general.links.cpu);
        let manner = Manner { busy_poll, trace, cpu, stop_on_assertion };
        if trace {
            shared.switch.lock().control().set_tracing(true);
        }
        let dataplane = Dataplane::new(Arc::clone(&shared), woken, manner, ports, messenger.thread().clone());
        let dataplane = thread("dataplane").spawn(move || dataplane.run()).map_err(failed)?;
        let attaching = Attaching { ring_frames: general.links.ring_frames, io: general.links.io };
        let links = Links::start(Arc::clone(&shared), attaching).map_err(failed)?;
        tracing::info!(device_id = general.device_id, ports = general.interfaces.len(), "switch runs");
        Ok(Self { shared, server, thrift, bfrt, dataplane, messenger, links, looks })
    }

    /// Whether an assertion of the program did not hold, where that ends the switch.
    pub fn has_failed(&self) -> bool {
        self.shared.has_failed()
    }

    /// Stops in order: no more packets, then no more controllers. Says what was lost. Requests that wait for
    /// the switch leave first, for the threads that end here would wait behind them.
    pub fn stop(self) {
        self.server.begin_stop();
        if let Some(bfrt) = &self.bfrt {
            bfrt.begin_stop();
        }
        self.shared.stop();
        let ports = self.dataplane.join().unwrap_or_default();
        self.messenger.thread().unpark();
        self.links.thread().unpark();
        // A thread that panicked has said so itself.
        let _ = self.messenger.join();
        let _ = self.links.join();
        if let Some(looks) = self.looks {
            looks.join();
        }
        drop(self.thrift);
        if let Some(server) = self.bfrt.and_then(Arc::into_inner) {
            server.stop();
        }
        if let Some(server) = Arc::into_inner(self.server) {
            server.stop();
        }
        for mut port in ports {
            let lost = port.interface.losses();
            let (number, interface) = (port.number, port.interface.name());
            let on_link = port.lost_on_link();
            let by_chance = port.lost_by_chance();
            tracing::info!(
                port = number,
                interface,
                ring_full = lost.ring_full,
                too_long = lost.too_long,
                not_sent = lost.not_sent,
                on_link,
                by_chance,
                "port closed"
            );
        }
        let counters = *self.shared.switch.lock().observation().counters();
        let (received, sent, dropped) = (counters.received, counters.sent, counters.drops.total());
        let pass_limit = counters.drops.of(DropCause::PassLimit);
        tracing::info!(received, sent, dropped, pass_limit, "switch stopped");
    }
}

fn switch_config(options: &Options) -> SwitchConfig {
    let General { interfaces, links, device_id, .. } = &options.general;
    SwitchConfig {
        device_id: *device_id,
        ports: interfaces.iter().map(|one| links.port(one.port)).collect(),
        buffer: links.buffer(),
        timestamp_unit: links.timestamp_unit(),
        cpu_port: options.target.cpu_port,
        drop_port: options.target.drop_port,
        seed: links.seed,
        pass_limit: links.pass_limit,
        deflect_on_drop: links.deflect_on_drop,
    }
}

/// Says so if `--deflect-on-drop` does nothing for the program.
fn warn_of_deflection(is_asked: bool, shared: &Shared) {
    let switch = shared.switch.lock();
    let Some(pipeline) = switch.observation().pipeline() else { return };
    let of = &pipeline.program().architecture;
    if is_asked && !matches!(of, p4cc_ir::Architecture::V1Model(_) | p4cc_ir::Architecture::Tna(_)) {
        tracing::warn!(
            "--deflect-on-drop has no effect: it applies only to programs for v1model, TNA and T2NA"
        );
    }
}

fn open_ports(options: &Options) -> Result<Vec<Port>, StartError> {
    let general = &options.general;
    let opened = if let Some(address) = &general.packet_in {
        let numbers: Vec<_> = general.interfaces.iter().map(|one| one.port).collect();
        Interface::listen(address, &numbers)?
    } else if let Some(wait) = options.files_after() {
        let named: Vec<_> = general.interfaces.iter().map(|one| (one.port, one.interface.as_str())).collect();
        Interface::files(&named, wait)?
    } else {
        Vec::new()
    };
    let mut opened = opened.into_iter();
    let open = |one: &crate::options::InterfaceOption| {
        let interface = match opened.next() {
            Some(interface) => interface,
            None => Interface::open(&one.interface, general.links.ring_frames, general.links.io)?,
        };
        tracing::info!(port = one.port, interface = one.interface, io = interface.way(), "port attached");
        let capture = if options.files_after().is_some() { None } else { capture(general, &one.interface)? };
        Ok(Port::new(one.port, interface, &general.links, capture))
    };
    general.interfaces.iter().map(open).collect()
}

fn capture(general: &General, interface: &str) -> Result<Option<Capture>, StartError> {
    let Some(folder) = &general.pcap else { return Ok(None) };
    let capture = Capture::create(folder, interface);
    capture.map(Some).map_err(|error| {
        StartError::Option(format!("--pcap {}: {error}; give a writable folder", folder.display()))
    })
}

/// Starts P4Runtime. Where nobody asked for an address and BMv2's is taken, a switch with Thrift takes any
/// other: labs for simple_switch, which has no P4Runtime, run many on one machine.
fn start_server(options: &Options, shared: &Arc<Shared>) -> Result<Server, StartError> {
    let (default, asked) = options.grpc_addr().map_err(StartError::Option)?;
    let addr = if options.without_p4runtime && !asked { ANY_LOCAL } else { default };
    let arbitration = options.general.arbitration;
    let tls = tls(&options.target)?;
    let proof = match &tls {
        None => Proof::None,
        Some(tls) if tls.client_certificate_required => Proof::Certificate,
        Some(_) => Proof::Encrypted,
    };
    let of_server = ServerOptions { tls, arbitration, ..ServerOptions::default() };
    let server = match Server::start_with(addr, Arc::clone(shared) as _, of_server.clone()) {
        Err(error) if !asked && options.general.thrift_port.is_some() && !options.thrift_unasked => {
            tracing::warn!("P4Runtime: {error}");
            Server::start_with(ANY_LOCAL, Arc::clone(shared) as _, of_server)?
        }
        started => started?,
    };
    announce("P4Runtime", server.local_addr(), proof);
    Ok(server)
}

/// What the command line's files hold for TLS, if it is asked for.
fn tls(target: &Target) -> Result<Option<Tls>, StartError> {
    if !target.grpc_server_ssl {
        return Ok(None);
    }
    let read = |name: &str, path: &Option<PathBuf>| match path {
        None => Ok(None),
        Some(path) => std::fs::read_to_string(path)
            .map(Some)
            .map_err(|error| StartError::Option(format!("{name} {}: {error}", path.display()))),
    };
    Ok(Some(Tls {
        certificate: read("--grpc-server-cert", &target.grpc_server_cert)?.unwrap_or_default(),
        key: read("--grpc-server-key", &target.grpc_server_key)?.unwrap_or_default(),
        client_authority: read("--grpc-server-cacert", &target.grpc_server_cacert)?,
        client_certificate_required: target.grpc_server_with_client_auth,
    }))
}

/// Starts BF Runtime, where it is asked for. Clients call the program by the name of its file.
fn start_bfrt(options: &Options, shared: &Arc<Shared>) -> Result<Option<Arc<p4cc_bfrt::Server>>, StartError> {
    let Some(addr) = options.bfrt_addr().map_err(StartError::Option)? else { return Ok(None) };
    let file = options.general.program.as_deref().and_then(std::path::Path::file_stem);
    let p4_name = file.map(|stem| stem.to_string_lossy().into_owned());
    let server = p4cc_bfrt::Server::start(addr, Arc::clone(shared) as _, p4cc_bfrt::Options { p4_name })
        .map_err(StartError::Bfrt)?;
    announce("BF Runtime", server.local_addr(), Proof::Never);
    Ok(Some(Arc::new(server)))
}

fn start_thrift(
    options: &Options,
    shared: &Arc<Shared>,
    server: &Arc<Server>,
    publisher: Option<&Publisher>,
) -> Result<Option<p4cc_thrift::Server>, StartError> {
    let general = &options.general;
    let Some(port) = general.thrift_port else { return Ok(None) };
    let socket = publisher.map(|publisher| publisher.address().to_owned());
    let target = ThriftTarget::new(Arc::clone(shared), Arc::clone(server), general, port, socket);
    let started = match p4cc_thrift::Server::start((general.thrift_addr, port).into(), Arc::new(target)) {
        Err(error) if options.thrift_unasked => {
            tracing::warn!("no Thrift: {error}; give another --thrift-port");
            return Ok(None);
        }
        started => started?,
    };
    announce("Thrift", started.local_addr(), Proof::Never);
    Ok(Some(started))
}

fn install(server: &Server, general: &General, program: String) -> Result<(), StartError> {
    let name = general.program.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    server
        .install(general.device_id, program.into_bytes())
        .map_err(|cause| StartError::Program(format!("program {name}: {cause}")))?;
    tracing::info!(program = name, "program installed");
    let Some(path) = &general.restore_state else { return Ok(()) };
    let restored = std::fs::read_to_string(path).map_err(|error| error.to_string()).and_then(|text| {
        let program = server.device_config(general.device_id).unwrap_or_default();
        server.restore(general.device_id, &p4cc_thrift::state_file::decode(&program, &text)?)
    });
    restored.map_err(|cause| StartError::Option(format!("--restore-state {}: {cause}", path.display())))
}

/// Who answers looks at the ports, where somebody is to.
fn looks(general: &General, shared: &Arc<Shared>, traces_all: bool) -> Result<Option<Looks>, StartError> {
    let Some(path) = &general.looks else { return Ok(None) };
    let opened = Looks::open(path, Arc::clone(shared), traces_all);
    opened.map(Some).map_err(|error| {
        StartError::Option(format!("--looks {}: {error}; give a path that can be created", path.display()))
    })
}

/// Where notifications go for controllers that use Thrift. BMv2's address, when nobody asked for it, may be
/// another switch's of the same device id; then this one has none.
fn publisher(general: &General) -> Result<Option<Publisher>, StartError> {
    if general.thrift_port.is_none() {
        return Ok(None);
    }
    let default = || format!("ipc:///tmp/bmv2-{}-notifications.ipc", general.device_id);
    let address = general.notifications_addr.clone().unwrap_or_else(default);
    match Publisher::open(&address) {
        Ok(publisher) => Ok(Some(publisher)),
        Err(error) if general.notifications_addr.is_some() => {
            Err(StartError::Option(format!("--notifications-addr {address}: {error}")))
        }
        Err(error) => {
            tracing::warn!("no digests over nanomsg: {address}: {error}; give another --notifications-addr");
            Ok(None)
        }
    }
}

/// Hands what the switch holds to its controllers, whenever there is something and once every tick.
fn deliver(
    shared: &Shared,
    server: &Server,
    bfrt: Option<&p4cc_bfrt::Server>,
    heard: Option<(Publisher, Notifier)>,
    mut translator: Translator,
) {
    while !shared.is_stopping() {
        std::thread::park_timeout(TICK);
        translator.look(shared);
        let now = shared.clock.now();
        let delivered = server.deliver(now);
        if let Some(bfrt) = bfrt {
            bfrt.deliver(now, &delivered.held);
        }
        let Some((publisher, notifier)) = &heard else { continue };
        // While nobody listens nothing is kept: a digest that is
        // lost would not come again before it is acknowledged.
        if publisher.is_heard() {
            let held = delivered.held.iter().map(|held| p4cc_thrift::Held {
                pipeline: &held.pipeline,
                digests: &held.digests,
                idle: &held.idle,
            });
            let held: Vec<_> = held.collect();
            notifier.notifications(now, &held).iter().for_each(|message| publisher.publish(message));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use p4cc_switch::{DEFAULT_PASS_LIMIT, MulticastGroup, Replica};

    use super::*;

    /// A packet for a port as PTF's nanomsg platform sends it: greeting
    /// of Pair0, kind and length of the message, three numbers, bytes.
    fn send(stream: &mut UnixStream, port: i32, bytes: &[u8]) {
        let mut message = vec![1];
        message.extend((12 + bytes.len() as u64).to_be_bytes());
        for number in [3, port, bytes.len() as i32] {
            message.extend(number.to_le_bytes());
        }
        message.extend(bytes);
        stream.write_all(&message).expect("it reads");
    }

    #[test]
    fn packets_that_multiply_without_end_stop_neither_requests_nor_the_end() {
        let folder = std::env::temp_dir().join(format!("p4cc-endless-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let socket = folder.join("packets.ipc");
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/endless.p4");
        let packet_in = format!("ipc://{}", socket.display());
        let args =
            ["p4cc-switch", "--packet-in", &packet_in, program, "--", "--grpc-server-addr", "127.0.0.1:0"];
        let options = Options::parse(args.map(Into::into)).expect("a right command line");
        let daemon = Daemon::start(&options).expect("it starts");
        let replicas = (0..4).map(|port| Replica::new(port, 1)).collect();
        let group = MulticastGroup { id: 1, replicas, metadata: Vec::new() };
        daemon.shared.switch.lock().control().pre_mut().insert_group(group).expect("a right group");
        let mut stream = UnixStream::connect(&socket).expect("it listens");
        stream.write_all(b"\0SP\0\0\x10\0\0").expect("it reads");
        stream.read_exact(&mut [0; 8]).expect("it greets");
        for _ in 0..200 {
            send(&mut stream, 0, &[0; 60]);
        }
        // What a request takes is the lock, and it comes soon however busy the data plane is.
        let started = Instant::now();
        let (mut longest, mut limited) = (Duration::ZERO, 0);
        while limited == 0 || started.elapsed() < Duration::from_millis(300) {
            let asked = Instant::now();
            limited = daemon.shared.switch.lock().observation().counters().drops.of(DropCause::PassLimit);
            longest = longest.max(asked.elapsed());
            assert!(started.elapsed() < Duration::from_secs(20), "no packet reached the limit");
        }
        assert!(longest < Duration::from_secs(5), "a request waited {longest:?}");
        let (asked, shared) = (Instant::now(), Arc::clone(&daemon.shared));
        daemon.stop();
        assert!(asked.elapsed() < Duration::from_secs(5), "it ended after {:?}", asked.elapsed());
        let counters = *shared.switch.lock().observation().counters();
        let made = counters.recirculated + counters.copies
            - counters.drops.of(DropCause::PassLimit).min(counters.copies);
        assert!(made <= counters.received * u64::from(DEFAULT_PASS_LIMIT), "{counters:?}");
        std::fs::remove_dir_all(&folder).expect("it is there");
    }
}
