//! Epochs of virtual time that controllers ask for, where the owner of the server lets them lead the time.
//!
//! A primary sends the stream message `other` with a `google.protobuf.Duration`: time goes on by so much, or
//! until a switch has a message for its controllers. The answer is `other` with the virtual time reached,
//! after the messages of that instant. Time stands still between an answer and the next such message.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use p4cc_units::{Span, Time};
use prost::Message;
use prost_types::Any;

use super::device::{Link, send};
use crate::errors::Failure;
use crate::proto::p4::v1::stream_message_response::Update;

/// The type of what is asked and answered.
const DURATION: &str = "type.googleapis.com/google.protobuf.Duration";
/// Most epochs that wait.
const MAX_WAITING: usize = 256;

/// An epoch that a controller asked for.
pub struct Epoch {
    span: Span,
    link: Link,
}

impl Epoch {
    /// How long it is.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Tells the controller how far virtual time is.
    pub fn end(self, now: Time) {
        let now_ns = now.as_ns();
        let reached = prost_types::Duration {
            seconds: i64::try_from(now_ns / 1_000_000_000).unwrap_or(i64::MAX),
            nanos: (now_ns % 1_000_000_000) as i32,
        };
        let other = Any { type_url: DURATION.to_owned(), value: reached.encode_to_vec() };
        // A controller that is gone needs no answer.
        let _ = send(&self.link.sender, Update::Other(other));
    }
}

/// Epochs that wait for the owner of the network.
#[derive(Default)]
pub(super) struct Epochs {
    is_open: AtomicBool,
    waiting: Mutex<VecDeque<Epoch>>,
    came: Condvar,
}

impl Epochs {
    /// Takes epochs from now on.
    pub(super) fn open(&self) {
        self.is_open.store(true, Ordering::Relaxed);
    }

    /// How long an epoch a stream message asks for.
    ///
    /// # Errors
    /// It is no epoch, or nobody waits for epochs.
    pub(super) fn span(&self, other: &Any) -> Result<Span, Failure> {
        if self.is_open.load(Ordering::Relaxed) && other.type_url == DURATION {
            return span(&other.value);
        }
        Err(Failure::unimplemented(format!("v1model has no stream message {}", other.type_url)))
    }

    /// Takes in an epoch that a primary asks for.
    ///
    /// # Errors
    /// Too many wait already.
    pub(super) fn ask(&self, span: Span, link: &Link) -> Result<(), Failure> {
        let epoch = Epoch { span, link: link.clone() };
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= MAX_WAITING {
            return Err(Failure::exhausted(format!(
                "{MAX_WAITING} epochs wait already; await their answers"
            )));
        }
        waiting.push_back(epoch);
        self.came.notify_one();
        Ok(())
    }

    /// The next epoch; none if nobody asked for one in this time.
    pub(super) fn take(&self, timeout: Duration) -> Option<Epoch> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.came.wait_timeout_while(waiting, timeout, |waiting| waiting.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.pop_front()
    }
}

fn span(value: &[u8]) -> Result<Span, Failure> {
    let given = prost_types::Duration::decode(value)
        .map_err(|error| Failure::invalid(format!("the epoch is not a Duration: {error}")))?;
    let refused =
        || Failure::invalid(format!("an epoch of {} s and {} ns is not a time", given.seconds, given.nanos));
    let seconds = u64::try_from(given.seconds).map_err(|_| refused())?;
    let nanos = u64::try_from(given.nanos).ok().filter(|nanos| *nanos < 1_000_000_000).ok_or_else(refused)?;
    // The longest run lasts an hour.
    Ok(Span::from_ns(seconds.min(1 << 20) * 1_000_000_000 + nanos))
}
