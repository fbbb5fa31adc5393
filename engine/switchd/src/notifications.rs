//! BMv2's notifications socket: whoever subscribes hears of digests and of entries that were not hit.
//!
//! The socket speaks Scalability Protocols' Pub0 (nanomsg, NNG): everything goes to every subscriber, which
//! chooses by itself. A subscriber that does not keep up is disconnected; its library connects again.

use std::io::{self, Read, Write};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::scalability::{Connection, Listener, Protocol, SocketFile};

/// Most subscribers at once.
const MAX_SUBSCRIBERS: usize = 64;

/// Publishes messages at an address.
pub(crate) struct Publisher {
    subscribers: Arc<Mutex<Vec<Connection>>>,
    address: String,
    _file: Option<SocketFile>,
}

impl Publisher {
    /// Listens at `ipc://PATH` or `tcp://HOST:PORT`.
    ///
    /// # Errors
    /// It is no such address, or is taken.
    pub fn open(address: &str) -> io::Result<Self> {
        let (listener, file) = Listener::bind(address)?;
        listener.warn_if_open("--notifications-addr", "read its digests");
        let subscribers = Arc::<Mutex<Vec<Connection>>>::default();
        let to = Arc::clone(&subscribers);
        std::thread::Builder::new().name("notifications".to_owned()).spawn(move || {
            loop {
                // What is wrong with one peer concerns no other.
                if let Err(error) = admit(&listener, &to) {
                    tracing::debug!(%error, "a subscriber was refused");
                }
            }
        })?;
        Ok(Self { subscribers, address: address.to_owned(), _file: file })
    }

    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether anybody listens.
    pub fn is_heard(&self) -> bool {
        let mut subscribers = self.subscribers.lock();
        subscribers.retain_mut(is_there);
        !subscribers.is_empty()
    }

    /// Sends a message to every subscriber.
    pub fn publish(&self, message: &[u8]) {
        self.subscribers.lock().retain_mut(|subscriber| {
            let framed = subscriber.frame(&[message]);
            // Part of a message leaves nothing to go on with.
            matches!(subscriber.write(&framed), Ok(written) if written == framed.len())
        });
    }
}

fn admit(listener: &Listener, subscribers: &Mutex<Vec<Connection>>) -> io::Result<()> {
    let connection = match listener.accept(Protocol::Publish, Protocol::Subscribe) {
        Ok(connection) => connection,
        Err(error) => {
            // Out of file descriptors, accepting fails at once.
            std::thread::sleep(std::time::Duration::from_millis(10));
            return Err(error);
        }
    };
    connection.set_nonblocking(true)?;
    let mut subscribers = subscribers.lock();
    subscribers.retain_mut(is_there);
    if subscribers.len() >= MAX_SUBSCRIBERS {
        return Err(io::Error::other(format!("there are {MAX_SUBSCRIBERS} subscribers already")));
    }
    subscribers.push(connection);
    Ok(())
}

/// A subscriber has nothing to say; the end of its stream is its going.
fn is_there(subscriber: &mut Connection) -> bool {
    let mut ignored = [0; 64];
    match subscriber.read(&mut ignored) {
        Ok(count) => count > 0,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    fn subscribe(path: &std::path::Path, own: Protocol) -> UnixStream {
        let mut stream = UnixStream::connect(path).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        stream.write_all(&own.greeting()).expect("it reads");
        let mut greeting = [0; 8];
        stream.read_exact(&mut greeting).expect("it greets");
        assert_eq!(greeting, Protocol::Publish.greeting());
        stream
    }

    fn wait_until(mut holds: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(10);
        while !holds() {
            assert!(Instant::now() < end, "it does not come about");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn all_subscribers_hear_and_those_that_are_slow_or_gone_hold_nobody_up() {
        let path = std::env::temp_dir().join(format!("p4cc-notifications-{}.ipc", std::process::id()));
        let publisher = Publisher::open(&format!("ipc://{}", path.display())).expect("it listens");
        assert!(!publisher.is_heard());
        drop(subscribe(&path, Protocol::Pair));
        let (mut first, mut second) =
            (subscribe(&path, Protocol::Subscribe), subscribe(&path, Protocol::Subscribe));
        wait_until(|| publisher.subscribers.lock().len() == 2);
        publisher.publish(b"digest");
        for stream in [&mut first, &mut second] {
            let mut message = [0; 15];
            stream.read_exact(&mut message).expect("it publishes");
            assert_eq!(&message, b"\x01\0\0\0\0\0\0\0\x06digest");
        }
        drop(first);
        wait_until(|| publisher.is_heard() && publisher.subscribers.lock().len() == 1);
        // The other reads nothing until it is given up.
        wait_until(|| {
            publisher.publish(&[0; 65_536]);
            publisher.subscribers.lock().is_empty()
        });
        drop(publisher);
        assert!(!path.exists(), "the socket's file is gone");
    }
}
