//! What waits on a stream for a client to take it: so many messages and bytes, and no more.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tonic::Status;

/// Messages that wait for a slow client.
pub const MAX_WAITING_MESSAGES: usize = 4_096;
/// Bytes that wait for a slow client.
pub const MAX_WAITING_BYTES: usize = 4 << 20;

/// An outbox, and what the client takes of it.
pub fn outbox<T: Message>() -> (Outbox<T>, Outgoing<T>) {
    let (sender, receiver) = mpsc::channel(MAX_WAITING_MESSAGES);
    let held = Arc::new(AtomicUsize::new(0));
    (Outbox { sender, held: Arc::clone(&held) }, Outgoing { receiver, held })
}

/// The way to a client.
#[derive(Debug)]
pub struct Outbox<T> {
    sender: mpsc::Sender<Result<T, Status>>,
    /// Bytes that wait.
    held: Arc<AtomicUsize>,
}

impl<T> Clone for Outbox<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), held: Arc::clone(&self.held) }
    }
}

impl<T: Message> Outbox<T> {
    /// Sends a message; false if the client is gone or too slow. A message that is alone is never too long.
    pub fn send(&self, message: T) -> bool {
        let bytes = message.encoded_len();
        let before = self.held.fetch_add(bytes, Ordering::Relaxed);
        let fits = before == 0 || before + bytes <= MAX_WAITING_BYTES;
        let is_sent = fits && self.sender.try_send(Ok(message)).is_ok();
        if !is_sent {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
        }
        is_sent
    }

    /// Ends the stream with a status, once there is room for it.
    pub async fn end(&self, status: Status) {
        // The client may be gone already; then nobody is there to be told.
        let _ = self.sender.send(Err(status)).await;
    }

    /// Waits until the client is gone.
    pub async fn closed(&self) {
        self.sender.closed().await;
    }

    /// Whether the client is gone.
    pub fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

/// The other end of an outbox.
#[derive(Debug)]
pub struct Outgoing<T> {
    receiver: mpsc::Receiver<Result<T, Status>>,
    held: Arc<AtomicUsize>,
}

impl<T: Message> Outgoing<T> {
    /// The next message, if one waits.
    pub fn try_next(&mut self) -> Option<Result<T, Status>> {
        let next = self.receiver.try_recv().ok();
        self.took(next.as_ref());
        next
    }

    fn took(&self, next: Option<&Result<T, Status>>) {
        if let Some(Ok(message)) = next {
            self.held.fetch_sub(message.encoded_len(), Ordering::Relaxed);
        }
    }
}

impl<T: Message> Stream for Outgoing<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.receiver.poll_recv(cx);
        if let Poll::Ready(next) = &next {
            self.took(next.as_ref());
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::p4::v1 as p4;

    fn packet(bytes: usize) -> p4::PacketIn {
        p4::PacketIn { payload: vec![0; bytes], metadata: Vec::new() }
    }

    #[test]
    fn what_waits_is_bounded_in_messages_and_in_bytes() {
        let (outbox, mut outgoing) = outbox();
        let sent = (0..MAX_WAITING_MESSAGES * 2).filter(|_| outbox.send(packet(9))).count();
        assert_eq!(sent, MAX_WAITING_MESSAGES);
        while outgoing.try_next().is_some() {}
        let sent = (0..1_000).filter(|_| outbox.send(packet(60_000))).count();
        assert!((60..70).contains(&sent), "{sent} of 60 kB each");
        assert!(outgoing.try_next().is_some());
        assert!(outbox.send(packet(60_000)), "what is taken makes room");
    }

    #[test]
    fn a_long_message_goes_alone() {
        let (outbox, mut outgoing) = outbox();
        assert!(outbox.send(packet(MAX_WAITING_BYTES + 1)));
        assert!(!outbox.send(packet(1)));
        assert!(outgoing.try_next().is_some());
        assert!(outbox.send(packet(1)));
    }
}
