//! Connections: one thread each, few of them, one call at a time over all.
//!
//! Invariant: clients that say nothing never shut others out. Where all connections are taken, a new one ends
//! the one that has been idle for longest.

use std::io::{self, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use p4cc_exec::control::TableEntry;
use p4cc_exec::{DigestMessage, Pipeline};
use p4cc_ir::TableId;
use p4cc_units::Time;
use parking_lot::Mutex;

use crate::connections::{Busy, Connections, MAX_CONNECTIONS};
use crate::message::Message;
use crate::service::{Memory, Service, Target};

/// Longest silence of a client: long enough for a person at a prompt.
const MAX_IDLE: Duration = Duration::from_secs(3_600);
/// Longest wait for a client to read its answer.
const MAX_WRITE: Duration = Duration::from_secs(30);
/// Pause before the next connection where one could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {addr}: {cause}; choose another --thrift-port or --thrift-addr")]
pub struct StartError {
    addr: SocketAddr,
    cause: io::Error,
}

struct Shared {
    service: Service,
    memory: Mutex<Memory>,
    connections: Mutex<Connections>,
    stopping: AtomicBool,
}

/// A running server; stops when dropped.
pub struct Server {
    shared: Arc<Shared>,
    local_addr: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts serving on an address.
    ///
    /// # Errors
    /// The address is taken or not of this machine.
    pub fn start(addr: SocketAddr, target: Arc<dyn Target>) -> Result<Self, StartError> {
        let failed = |cause| StartError { addr, cause };
        let listener = TcpListener::bind(addr).map_err(failed)?;
        let local_addr = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared {
            service: Service::new(target),
            memory: Mutex::default(),
            connections: Mutex::default(),
            stopping: AtomicBool::new(false),
        });
        let of = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("thrift".to_owned());
        let thread = thread.spawn(move || accept(&of, &listener)).map_err(failed)?;
        Ok(Self { shared, local_addr, thread: Some(thread) })
    }

    /// Makes notifications of what the switch holds.
    pub fn notifier(&self) -> Notifier {
        Notifier(Arc::clone(&self.shared))
    }

    /// The address it listens on.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        // The listener wakes up by a connection; its own address may be that of all interfaces.
        let mut own = self.local_addr;
        match own.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => own.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => own.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        let woken = TcpStream::connect(own);
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            // A thread that panicked has said so itself.
            let _ = thread.join();
        }
    }
}

/// What the switch held for its controllers.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// The program that it belongs to.
    pub pipeline: &'a Arc<Pipeline>,
    /// Digests in the order in which packets made them.
    pub digests: &'a [DigestMessage],
    /// Entries that were not hit for as long as their timeout.
    pub idle: &'a [(TableId, TableEntry)],
}

/// Makes BMv2's notifications of what a switch holds for its controllers.
#[derive(Clone)]
pub struct Notifier(Arc<Shared>);

impl Notifier {
    /// Takes in what the switch held; gives the notifications that are due. To be called every few
    /// milliseconds, by a thread that holds neither the switch nor its program.
    pub fn notifications(&self, now: Time, held: &[Held<'_>]) -> Vec<Vec<u8>> {
        let target = self.0.service.target();
        let memory = &mut *self.0.memory.lock();
        let mut due = Vec::new();
        let mut device_id = 0;
        target.with_switch(&mut |switch, _| {
            memory.follow(switch);
            device_id = switch.device_id();
        });
        for held in held {
            // What an earlier program left is of no use any more.
            if memory.pipeline().is_some_and(|runs| Arc::ptr_eq(runs, held.pipeline)) {
                due.extend(memory.take_in(target, device_id, now, held).unwrap_or_default());
            }
        }
        if let Some(names) = memory.known_names() {
            due.extend(names.lists.take(device_id, now));
        }
        due
    }
}

fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::Acquire) {
            return;
        }
        match stream {
            Ok(stream) => admit(shared, stream),
            Err(error) => {
                tracing::debug!(%error, "a Thrift connection failed");
                // Out of file descriptors, accepting fails at once.
                std::thread::sleep(ACCEPT_PAUSE);
            }
        }
    }
}

/// Gives a connection its thread; where there are too many, the one that has been idle for longest ends.
fn admit(shared: &Arc<Shared>, stream: TcpStream) {
    let Ok(handle) = stream.try_clone() else { return };
    let number = match shared.connections.lock().add(handle) {
        Ok((number, None)) => number,
        Ok((number, Some(ended))) => {
            let idle_s = ended.as_secs();
            tracing::warn!(
                idle_s,
                "there are {MAX_CONNECTIONS} Thrift connections: the longest idle one was ended for a new one"
            );
            number
        }
        Err(Busy) => {
            tracing::warn!("a Thrift connection was refused: all {MAX_CONNECTIONS} wait for calls of theirs");
            return;
        }
    };
    let of = Arc::clone(shared);
    let thread = std::thread::Builder::new().name("thrift-client".to_owned());
    let spawned = thread.spawn(move || {
        // A client that goes away or sends rubbish ends its own connection only.
        let _ = serve(&of, stream, number);
        of.connections.lock().remove(number);
    });
    if spawned.is_err() {
        shared.connections.lock().remove(number);
    }
}

fn serve(shared: &Shared, stream: TcpStream, number: u64) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(MAX_IDLE))?;
    stream.set_write_timeout(Some(MAX_WRITE))?;
    let mut to = stream.try_clone()?;
    let mut from = BufReader::new(stream);
    while let Some((message, framed)) = Message::read(&mut from)? {
        shared.connections.lock().set_busy(number, true);
        let answer = shared.service.answer(&mut shared.memory.lock(), &message);
        shared.connections.lock().set_busy(number, false);
        if let Some(answer) = answer {
            answer.write(framed, &mut to)?;
        }
    }
    Ok(())
}
