//! Connections: one thread each, few of them, one call at a time over all.

use std::io::{self, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use crate::message::Message;
use crate::service::{Memory, Service, Target};

/// Most connections at once; further ones are closed.
const MAX_CONNECTIONS: usize = 64;

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {addr}: {cause}; choose another --thrift-port")]
pub struct StartError {
    addr: SocketAddr,
    cause: io::Error,
}

struct Shared {
    service: Service,
    memory: Mutex<Memory>,
    connections: AtomicUsize,
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
            connections: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
        });
        let of = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("thrift".to_owned());
        let thread = thread.spawn(move || accept(&of, &listener)).map_err(failed)?;
        Ok(Self { shared, local_addr, thread: Some(thread) })
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
        if own.ip().is_unspecified() {
            own.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        let woken = TcpStream::connect(own);
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            // A thread that panicked has said so itself.
            let _ = thread.join();
        }
    }
}

fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if shared.connections.fetch_add(1, Ordering::AcqRel) >= MAX_CONNECTIONS {
            shared.connections.fetch_sub(1, Ordering::AcqRel);
            tracing::warn!("a Thrift connection was closed: there are {MAX_CONNECTIONS} already");
            continue;
        }
        let of = Arc::clone(shared);
        let thread = std::thread::Builder::new().name("thrift-client".to_owned());
        let spawned = thread.spawn(move || {
            // A client that goes away or sends rubbish ends its own connection only.
            let _ = serve(&of, stream);
            of.connections.fetch_sub(1, Ordering::AcqRel);
        });
        if spawned.is_err() {
            shared.connections.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn serve(shared: &Shared, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut to = stream.try_clone()?;
    let mut from = BufReader::new(stream);
    while let Some((message, framed)) = Message::read(&mut from)? {
        let answer = shared.service.answer(&mut shared.memory.lock(), &message);
        if let Some(answer) = answer {
            answer.write(framed, &mut to)?;
        }
    }
    Ok(())
}
