//! Scalability Protocols, as nanomsg and NNG speak them over Unix sockets
//! and TCP: addresses, the greeting, the length in front of a message.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::listeners::{self, Proof};

/// A peer that does not greet is given up.
const GREETING_TIMEOUT: Duration = Duration::from_secs(2);
/// What precedes the length of a message on a Unix socket.
pub(crate) const IPC_MESSAGE: u8 = 1;

/// What an end of a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Protocol {
    /// Either sends to the other.
    Pair = 0x10,
    /// Sends to all.
    Publish = 0x20,
    /// Is sent to.
    Subscribe = 0x21,
}

impl Protocol {
    /// The greeting of an end that speaks it.
    pub const fn greeting(self) -> [u8; 8] {
        let [high, low] = (self as u16).to_be_bytes();
        [0, b'S', b'P', 0, high, low, 0, 0]
    }
}

/// A socket's file, removed with its owner.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl SocketFile {
    /// The file of a socket that was bound to this path.
    pub fn of(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody else may have removed it.
        let _ = fs::remove_file(&self.0);
    }
}

/// An address that peers connect to.
#[derive(Debug)]
pub(crate) enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Listens at `ipc://PATH` or `tcp://HOST:PORT`; a file that a dead process left is taken over.
    ///
    /// # Errors
    /// It is no such address, or is taken.
    pub fn bind(address: &str) -> io::Result<(Self, Option<SocketFile>)> {
        if let Some(path) = address.strip_prefix("ipc://") {
            let path = PathBuf::from(path);
            let is_left_over = fs::symlink_metadata(&path).is_ok_and(|data| data.file_type().is_socket())
                && UnixStream::connect(&path).is_err();
            if is_left_over {
                fs::remove_file(&path)?;
            }
            return Ok((Self::Unix(UnixListener::bind(&path)?), Some(SocketFile(path))));
        }
        if let Some(host) = address.strip_prefix("tcp://") {
            return Ok((Self::Tcp(TcpListener::bind(host)?), None));
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "give ipc://PATH or tcp://HOST:PORT"))
    }

    /// Warns where peers of other machines reach it; `harm` is what they can do.
    pub fn warn_if_open(&self, server: &str, harm: &str) {
        if let Self::Tcp(listener) = self
            && let Ok(address) = listener.local_addr()
        {
            listeners::warn_if_open(server, address, Proof::Never, harm);
        }
    }

    /// Waits for a peer and greets it.
    ///
    /// # Errors
    /// The peer speaks another protocol, or is gone.
    pub fn accept(&self, own: Protocol, theirs: Protocol) -> io::Result<Connection> {
        let mut connection = match self {
            Self::Unix(listener) => Connection::Unix(listener.accept()?.0),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Connection::Tcp(stream)
            }
        };
        connection.set_read_timeout(Some(GREETING_TIMEOUT))?;
        connection.write_all(&own.greeting())?;
        let mut greeting = [0; 8];
        connection.read_exact(&mut greeting)?;
        if greeting != theirs.greeting() {
            let cause = format!("the peer does not speak {theirs:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, cause));
        }
        connection.set_read_timeout(None)?;
        Ok(connection)
    }
}

/// A connection to a peer.
#[derive(Debug)]
pub(crate) enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Connection {
    /// A message as it goes over this kind of connection.
    pub fn frame(&self, parts: &[&[u8]]) -> Vec<u8> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let mut message = Vec::with_capacity(9 + length);
        if self.is_ipc() {
            message.push(IPC_MESSAGE);
        }
        message.extend((length as u64).to_be_bytes());
        parts.iter().for_each(|part| message.extend(*part));
        message
    }

    pub const fn is_ipc(&self) -> bool {
        matches!(self, Self::Unix(_))
    }

    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
        })
    }

    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(timeout),
            Self::Tcp(stream) => stream.set_read_timeout(timeout),
        }
    }

    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_write_timeout(timeout),
            Self::Tcp(stream) => stream.set_write_timeout(timeout),
        }
    }

    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(nonblocking),
            Self::Tcp(stream) => stream.set_nonblocking(nonblocking),
        }
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
