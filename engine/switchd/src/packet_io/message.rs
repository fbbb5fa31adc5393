//! All ports on one socket, for packet tests without privilege: BMv2's `--packet-in`, PTF's nanomsg platform.
//!
//! The socket speaks Scalability Protocols' Pair0. A message is three little-endian numbers (type, port, one
//! more) and, for a packet, its bytes. One peer at a time; another waits until the first has gone.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::time::Duration;

use p4cc_switch::{MAX_PACKET_BYTES, Packet, PacketPool};
use parking_lot::Mutex;

use crate::scalability::{Connection, IPC_MESSAGE, Listener, Protocol, SocketFile};

/// Type, port and one more number.
const HEADER_BYTES: usize = 12;
const MAX_MESSAGE_BYTES: u64 = HEADER_BYTES as u64 + MAX_PACKET_BYTES as u64;
/// A peer that does not read is given up.
const PEER_TIMEOUT: Duration = Duration::from_secs(2);

const PACKET_IN: i32 = 3;
const PACKET_OUT: i32 = 4;
const INFO_REQUEST: i32 = 5;
const INFO_REPLY: i32 = 6;
const INFO_NOT_SUPPORTED: i32 = 1;

/// The sending half of a connection.
struct Peer(Connection);

impl Peer {
    fn send(&mut self, kind: i32, port: i32, more: i32, content: &[u8]) -> io::Result<()> {
        let header: Vec<u8> = [kind, port, more].iter().flat_map(|number| number.to_le_bytes()).collect();
        let message = self.0.frame(&[&header, content]);
        self.0.write_all(&message)
    }
}

type Shared = Arc<Mutex<Option<Peer>>>;

/// One port.
pub(crate) struct MessagePort {
    port: u32,
    inbox: UnixDatagram,
    peer: Shared,
    buffer: Vec<u8>,
    _file: Option<Arc<SocketFile>>,
}

impl MessagePort {
    pub fn raw_fd(&self) -> RawFd {
        self.inbox.as_raw_fd()
    }

    pub fn receive(&mut self, pool: &mut PacketPool) -> Option<Packet> {
        let length = self.inbox.recv(&mut self.buffer).ok()?;
        Some(pool.take_with(self.buffer.get(..length)?))
    }

    /// Sends a packet; false if nobody took it.
    pub fn send(&self, packet: &Packet) -> bool {
        let mut peer = self.peer.lock();
        let Some(open) = peer.as_mut() else { return false };
        let bytes = packet.to_vec();
        let sent = open.send(PACKET_OUT, self.port as i32, bytes.len() as i32, &bytes);
        if sent.is_err() {
            // Half a message may be out: the connection is of no use any more.
            *peer = None;
        }
        sent.is_ok()
    }
}

/// Listens at `ipc://PATH` or `tcp://HOST:PORT` for the peer of these ports.
///
/// # Errors
/// It is no such address, or is taken.
pub(crate) fn listen(address: &str, ports: &[u32]) -> io::Result<Vec<MessagePort>> {
    let (listener, file) = Listener::bind(address)?;
    listener.warn_if_open("--packet-in", "send it packets and read what it sends");
    let file = file.map(Arc::new);
    let peer = Shared::default();
    let (mut found, mut outlets) = (Vec::new(), Vec::new());
    for &port in ports {
        let (inbox, outlet) = UnixDatagram::pair()?;
        inbox.set_nonblocking(true)?;
        outlets.push((port, outlet));
        let buffer = vec![0; MAX_PACKET_BYTES as usize];
        found.push(MessagePort { port, inbox, peer: Arc::clone(&peer), buffer, _file: file.clone() });
    }
    std::thread::Builder::new().name("packet-in".to_owned()).spawn(move || {
        loop {
            // What is wrong with one peer ends that peer's connection only.
            if let Err(error) = serve(&listener, &peer, &outlets) {
                tracing::warn!(%error, "packet-in connection ended");
                std::thread::sleep(Duration::from_millis(10));
            }
            *peer.lock() = None;
        }
    })?;
    Ok(found)
}

/// Serves one peer until it goes.
fn serve(listener: &Listener, peer: &Mutex<Option<Peer>>, outlets: &[(u32, UnixDatagram)]) -> io::Result<()> {
    let mut reader = listener.accept(Protocol::Pair, Protocol::Pair)?;
    let writer = reader.try_clone()?;
    writer.set_write_timeout(Some(PEER_TIMEOUT))?;
    let is_ipc = reader.is_ipc();
    *peer.lock() = Some(Peer(writer));
    while let Some(message) = read_message(&mut reader, is_ipc)? {
        handle(&message, peer, outlets)?;
    }
    Ok(())
}

/// The next message; none at the end of the connection.
fn read_message(reader: &mut dyn Read, is_ipc: bool) -> io::Result<Option<Vec<u8>>> {
    let wrong = |cause: &'static str| Err(io::Error::new(io::ErrorKind::InvalidData, cause));
    let mut first = [0];
    if reader.read(&mut first)? == 0 {
        return Ok(None);
    }
    let mut length = [0; 8];
    if is_ipc {
        if first != [IPC_MESSAGE] {
            return wrong("unknown message type");
        }
        reader.read_exact(&mut length)?;
    } else {
        length[0] = first[0];
        reader.read_exact(&mut length[1..])?;
    }
    let length = u64::from_be_bytes(length);
    if length > MAX_MESSAGE_BYTES {
        return wrong("a message is too long");
    }
    let mut message = vec![0; length as usize];
    reader.read_exact(&mut message)?;
    Ok(Some(message))
}

fn handle(message: &[u8], peer: &Mutex<Option<Peer>>, outlets: &[(u32, UnixDatagram)]) -> io::Result<()> {
    let Some((header, content)) = message.split_first_chunk::<HEADER_BYTES>() else { return Ok(()) };
    let number = |at: usize| i32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let (kind, port, more) = (number(0), number(4), number(8));
    match kind {
        PACKET_IN => {
            let outlet = outlets.iter().find(|(number, _)| i64::from(*number) == i64::from(port));
            if let (Some((_, outlet)), false) = (outlet, content.is_empty()) {
                outlet.send(content)?;
            }
        }
        INFO_REQUEST => {
            if let Some(peer) = peer.lock().as_mut() {
                peer.send(INFO_REPLY, port, more, &INFO_NOT_SUPPORTED.to_le_bytes())?;
            }
        }
        // Ports are always there: adding, removing and their status say nothing new.
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    fn connect(path: &std::path::Path) -> UnixStream {
        let mut stream = UnixStream::connect(path).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        stream.write_all(&Protocol::Pair.greeting()).expect("it reads");
        let mut theirs = [0; 8];
        stream.read_exact(&mut theirs).expect("it greets");
        assert_eq!(theirs, Protocol::Pair.greeting());
        stream
    }

    fn message(kind: i32, port: i32, content: &[u8]) -> Vec<u8> {
        let mut bytes = vec![IPC_MESSAGE];
        bytes.extend(((HEADER_BYTES + content.len()) as u64).to_be_bytes());
        for number in [kind, port, content.len() as i32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(content);
        bytes
    }

    fn wait<T>(mut look: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(Instant::now() < end, "nothing came");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn packets_pass_both_ways_and_a_bad_peer_makes_room_for_the_next() {
        let folder = std::env::temp_dir().join(format!("p4cc-message-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("packets.ipc");
        let mut ports = listen(&format!("ipc://{}", path.display()), &[1, 7]).expect("it listens");
        assert!(listen(&format!("ipc://{}", path.display()), &[1]).is_err(), "it is taken");
        let mut bad = connect(&path);
        bad.write_all(&[9; 40]).expect("it reads");
        drop(bad);
        let mut stream = connect(&path);
        stream.write_all(&message(0, 1, b"")).expect("it reads");
        stream.write_all(&message(PACKET_IN, 99, b"nowhere")).expect("it reads");
        stream.write_all(&message(PACKET_IN, 7, b"hello")).expect("it reads");
        let mut pool = PacketPool::default();
        assert_eq!(wait(|| ports[1].receive(&mut pool)).to_vec(), b"hello");
        assert!(ports[0].receive(&mut pool).is_none());
        assert!(wait(|| ports[0].send(&Packet::new(b"answer", 2)).then_some(true)));
        let mut answer = vec![0; 9 + HEADER_BYTES + 8];
        stream.read_exact(&mut answer).expect("it answers");
        assert_eq!(answer, message(PACKET_OUT, 1, b"answer\0\0"));
        drop(stream);
        wait(|| (!ports[0].send(&Packet::new(b"x", 0))).then_some(()));
        drop(ports);
        assert!(!path.exists(), "the socket's file is gone");
        fs::remove_dir_all(&folder).expect("it is empty");
    }

    #[test]
    fn other_addresses_are_refused() {
        for address in ["", "/tmp/x", "udp://127.0.0.1:1", "tcp://nowhere.invalid:1"] {
            assert!(listen(address, &[1]).is_err(), "{address}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_messages_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..100), is_ipc: bool) {
            let mut rest = &bytes[..];
            while let Ok(Some(message)) = read_message(&mut rest, is_ipc) {
                handle(&message, &Mutex::new(None), &[]).expect("it goes nowhere");
            }
        }
    }
}
