//! Connections as the servers of this crate and of BF Runtime see them: what a client takes, what it holds,
//! and how it is cut off.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_stream::{Stream, StreamExt};
use tonic::Request;
use tonic::transport::server::{Connected, TcpIncoming, TlsConnectInfo};

use crate::errors::MetadataLimit;

/// Reads of one connection whose answers are under way; further ones wait.
const MAX_READS: usize = 16;
/// What its long answers take, in KiB; further ones wait. One that is longer goes alone.
pub(super) const MAX_WHOLE_KIB: usize = 64 << 10;
/// How an HTTP/2 connection begins (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes in front of a frame's payload: length, type, flags, stream (RFC 9113, section 4.1).
const FRAME_HEADER: usize = 9;
/// The type of a SETTINGS frame, the length of a setting, and the one of interest (RFC 9113, section 6.5).
const SETTINGS: u8 = 4;
const SETTING: usize = 6;
const MAX_HEADER_LIST_SIZE: u16 = 6;
/// Most bytes that are looked at for it.
const MAX_PREFACE: usize = 1_024;

/// Connections that come in on a listener.
///
/// # Errors
/// The listener cannot be waited for.
pub fn incoming(listener: std::net::TcpListener) -> io::Result<impl Stream<Item = io::Result<Connection>>> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    Ok(incoming.map(|stream| stream.map(Connection::new)))
}

/// The client at the other end of a connection; clones are the same.
#[derive(Clone, Debug)]
pub struct Peer(Arc<State>);

#[derive(Debug)]
struct State {
    metadata: OnceLock<MetadataLimit>,
    is_cut: AtomicBool,
    /// Of the task that waits for bytes.
    waker: Mutex<Option<Waker>>,
    reads: Arc<Semaphore>,
    whole_kib: Arc<Semaphore>,
}

impl Default for Peer {
    /// A client that is not behind a connection of its own.
    fn default() -> Self {
        Self(Arc::new(State {
            metadata: OnceLock::new(),
            is_cut: AtomicBool::new(false),
            waker: Mutex::default(),
            reads: Arc::new(Semaphore::new(MAX_READS)),
            whole_kib: Arc::new(Semaphore::new(MAX_WHOLE_KIB)),
        }))
    }
}

impl Peer {
    /// A client without a connection that takes so much metadata.
    pub(super) fn announcing(limit: MetadataLimit) -> Self {
        let peer = Self::default();
        // Nobody else has it yet.
        let _ = peer.0.metadata.set(limit);
        peer
    }

    /// Who sent a request.
    pub fn of<T>(request: &Request<T>) -> Self {
        let extensions = request.extensions();
        let plain = extensions.get::<Self>();
        let peer = plain.or_else(|| extensions.get::<TlsConnectInfo<Self>>().map(TlsConnectInfo::get_ref));
        peer.cloned().unwrap_or_default()
    }

    /// How many bytes of metadata the client takes.
    pub fn metadata(&self) -> MetadataLimit {
        self.0.metadata.get().copied().unwrap_or_default()
    }

    /// Room for reads whose answers are under way.
    pub fn reads(&self) -> &Arc<Semaphore> {
        &self.0.reads
    }

    /// Room for answers that are one long message.
    pub(super) fn whole(&self) -> &Arc<Semaphore> {
        &self.0.whole_kib
    }

    /// Ends the connection, with all calls on it.
    pub fn cut(&self) {
        self.0.is_cut.store(true, Ordering::Release);
        if let Some(waker) = self.0.waker.lock().take() {
            waker.wake();
        }
    }

    fn is_cut(&self) -> bool {
        self.0.is_cut.load(Ordering::Acquire)
    }
}

/// A connection.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    peer: Peer,
    /// What came so far, until the client's limit is known.
    begun: Option<Vec<u8>>,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        Self { stream, peer: Peer::default(), begun: Some(Vec::new()) }
    }

    /// Looks for the client's limit in its first bytes.
    fn look(&mut self, bytes: &[u8]) {
        let Some(begun) = &mut self.begun else { return };
        let room = MAX_PREFACE - begun.len();
        begun.extend_from_slice(&bytes[..bytes.len().min(room)]);
        let found = metadata_limit(begun);
        if found.is_some() || begun.len() >= MAX_PREFACE {
            // Nobody else sets it.
            let _ = self.peer.0.metadata.set(found.unwrap_or_default());
            self.begun = None;
        }
    }
}

/// What the first bytes of a connection say of the client's limit; none while there are too few. A connection
/// over TLS says nothing.
fn metadata_limit(begun: &[u8]) -> Option<MetadataLimit> {
    let common = begun.len().min(PREFACE.len());
    if begun[..common] != PREFACE[..common] {
        return Some(MetadataLimit::Standard);
    }
    let frame = begun.get(PREFACE.len()..)?;
    let payload = frame.get(FRAME_HEADER..)?;
    if frame[3] != SETTINGS {
        return Some(MetadataLimit::Standard);
    }
    let length = frame[..3].iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
    let settings = payload.get(..length)?;
    let mut sizes = settings.chunks_exact(SETTING).filter_map(|setting| match *setting {
        [high, low, a, b, c, d] if u16::from_be_bytes([high, low]) == MAX_HEADER_LIST_SIZE => {
            Some(u32::from_be_bytes([a, b, c, d]))
        }
        _ => None,
    });
    Some(sizes.next_back().map_or(MetadataLimit::Advised, |bytes| MetadataLimit::announced(bytes as usize)))
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        {
            let mut waker = self.peer.0.waker.lock();
            if !waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                *waker = Some(cx.waker().clone());
            }
        }
        if self.peer.is_cut() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if self.begun.is_some() {
            self.look(&buf.filled()[before..]);
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.peer.is_cut() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.peer.is_cut() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(settings: &[(u16, u32)]) -> Vec<u8> {
        let mut bytes = PREFACE.to_vec();
        bytes.extend_from_slice(&[0, 0, (settings.len() * SETTING) as u8, SETTINGS, 0, 0, 0, 0, 0]);
        for (id, value) in settings {
            bytes.extend_from_slice(&id.to_be_bytes());
            bytes.extend_from_slice(&value.to_be_bytes());
        }
        bytes
    }

    #[test]
    fn a_client_announces_what_it_takes() {
        let of = |settings: &[(u16, u32)]| metadata_limit(&begin(settings));
        assert_eq!(of(&[(2, 0)]), Some(MetadataLimit::Advised));
        assert_eq!(of(&[(2, 0), (6, 16_384)]), Some(MetadataLimit::Bytes(8_192)), "as gRPC's C core does");
        assert_eq!(of(&[(6, 4_096)]), Some(MetadataLimit::Bytes(4_096)));
        assert_eq!(of(&[(6, 1_000_000)]), Some(MetadataLimit::Bytes(800_000)));
    }

    #[test]
    fn a_beginning_is_waited_for_and_other_protocols_are_not() {
        let whole = begin(&[(1, 7), (6, 100)]);
        for length in 0..whole.len() {
            assert_eq!(metadata_limit(&whole[..length]), None, "{length} bytes");
        }
        assert_eq!(metadata_limit(&[22, 3, 1]), Some(MetadataLimit::Standard), "TLS");
        let mut other = whole;
        other[PREFACE.len() + 3] = 0;
        assert_eq!(metadata_limit(&other), Some(MetadataLimit::Standard));
    }
}
