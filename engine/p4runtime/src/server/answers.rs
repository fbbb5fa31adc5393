//! Answers of many messages, each made when its client is ready to take it; room for those of all clients;
//! and the end of those that nobody takes. BF Runtime's server has its answers from here too.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_stream::Stream;
use tonic::{Code, Status};

use super::connections::Peer;
use crate::errors::Failure;

/// Answers of all clients that are under way; further ones wait.
const MAX_OPEN: usize = 1_024;
/// The longest request of a read, and what those of all reads under way take, in KiB.
const MAX_REQUEST_KIB: u32 = 4_096;
const MAX_REQUESTS_KIB: usize = 64 << 10;
/// What all long answers together take, in KiB; further ones wait. One that is longer goes alone.
pub(super) const MAX_WHOLE_KIB: usize = 128 << 10;
/// What all answers together may hold of messages that nobody has taken yet, in bytes.
const MAX_HELD: usize = 16 << 20;
/// How long a client may take nothing of an answer; after twice the time its connection is cut.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Looks for clients that do not take their answers within that time.
const LOOKS_PER_PATIENCE: u32 = 8;

/// The next message of an answer; none at its end.
pub type Next<M> = Pin<Box<dyn Future<Output = Option<Result<M, Status>>> + Send>>;

/// What can be ended before its time.
pub trait Ends: Send + Sync {
    /// Gives up the rest. A client that asks again is told the status.
    fn end(&self, end: Result<(), Status>);
}

/// Where the messages of an answer come from.
pub trait Source<M>: Ends {
    /// Makes the next message.
    fn next(self: Arc<Self>) -> Next<M>;
}

/// Room for answers; clones share it.
#[derive(Clone)]
pub struct Room(Arc<Shared>);

struct Shared {
    open: Mutex<Vec<Weak<Taker>>>,
    slots: Arc<Semaphore>,
    requests_kib: Arc<Semaphore>,
    whole_kib: Arc<Semaphore>,
    held: AtomicUsize,
}

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Shared {
            open: Mutex::default(),
            slots: Arc::new(Semaphore::new(MAX_OPEN)),
            requests_kib: Arc::new(Semaphore::new(MAX_REQUESTS_KIB)),
            whole_kib: Arc::new(Semaphore::new(MAX_WHOLE_KIB)),
            held: AtomicUsize::new(0),
        }))
    }
}

/// A place among the answers that are under way.
pub struct Place {
    room: Room,
    peer: Peer,
    permits: [OwnedSemaphorePermit; 3],
}

impl Room {
    /// Waits for a place.
    ///
    /// # Errors
    /// The request is too long.
    pub async fn enter(&self, peer: Peer, request_bytes: usize) -> Result<Place, Failure> {
        let kib = u32::try_from(request_bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        if kib > MAX_REQUEST_KIB {
            return Err(Failure::exhausted(format!(
                "the request has {kib} KiB, a read takes {MAX_REQUEST_KIB}; read in several requests, or whole tables"
            )));
        }
        let closed = |_| Failure::new(Code::Unavailable, "the server stops");
        let of_peer = Arc::clone(peer.reads()).acquire_owned().await.map_err(closed)?;
        let of_all = Arc::clone(&self.0.slots).acquire_owned().await.map_err(closed)?;
        let of_requests = Arc::clone(&self.0.requests_kib).acquire_many_owned(kib).await.map_err(closed)?;
        Ok(Place { room: self.clone(), peer, permits: [of_peer, of_all, of_requests] })
    }

    /// Counts what an answer holds; `counted` is what it held when it was last counted. False if all answers
    /// together hold too much.
    pub fn account(&self, counted: &mut usize, held: usize) -> bool {
        let total = self.0.held.fetch_add(held, Ordering::Relaxed) + held - *counted;
        self.0.held.fetch_sub(*counted, Ordering::Relaxed);
        *counted = held;
        total <= MAX_HELD
    }

    /// Room for answers that are one long message.
    pub(super) fn whole(&self) -> &Arc<Semaphore> {
        &self.0.whole_kib
    }

    /// Looks after who takes an answer, as long as he is there.
    pub(super) fn watch(&self, peer: Peer, answer: Option<Weak<dyn Ends>>) -> Arc<Taker> {
        let taker = Arc::new(Taker { peer, answer, taken_at: Mutex::new(Some(Instant::now())) });
        self.0.open.lock().push(Arc::downgrade(&taker));
        taker
    }

    /// Ends answers whose clients have taken nothing for long, again and again.
    pub async fn end_stalled(self, patience: Duration) {
        loop {
            tokio::time::sleep(patience / LOOKS_PER_PATIENCE).await;
            let open: Vec<_> = {
                let mut open = self.0.open.lock();
                open.retain(|taker| taker.strong_count() > 0);
                open.iter().filter_map(Weak::upgrade).collect()
            };
            open.iter().for_each(|taker| taker.look(patience));
        }
    }
}

/// Who takes an answer.
pub(super) struct Taker {
    peer: Peer,
    /// What can be ended of it before its connection is cut.
    answer: Option<Weak<dyn Ends>>,
    /// When it last took a message; none while it waits for one.
    taken_at: Mutex<Option<Instant>>,
}

impl Taker {
    /// The client took something.
    pub(super) fn took(&self) {
        *self.taken_at.lock() = Some(Instant::now());
    }

    fn look(&self, patience: Duration) {
        let Some(idle) = self.taken_at.lock().map(|taken| taken.elapsed()) else { return };
        if idle >= patience * 2 {
            self.peer.cut();
        }
        if idle >= patience
            && let Some(answer) = self.answer.as_ref().and_then(Weak::upgrade)
        {
            let seconds = patience.as_secs_f32();
            let stalled = format!("the client took nothing of the answer for {seconds} s; read again");
            answer.end(Err(Status::deadline_exceeded(stalled)));
        }
    }
}

/// An answer, whose messages are made as they are taken.
pub struct Answer<M> {
    source: Arc<dyn Source<M>>,
    taker: Arc<Taker>,
    next: Option<Next<M>>,
    is_over: bool,
    _permits: [OwnedSemaphorePermit; 3],
}

impl<M> Answer<M> {
    /// An answer in a place of its own.
    pub fn new<S: Source<M> + 'static>(place: Place, source: Arc<S>) -> Self {
        let Place { room, peer, permits } = place;
        let answer: Weak<S> = Arc::downgrade(&source);
        let taker = room.watch(peer, Some(answer));
        Self { source, taker, next: None, is_over: false, _permits: permits }
    }
}

impl<M> Stream for Answer<M> {
    type Item = Result<M, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        *self.taker.taken_at.lock() = None;
        let source = Arc::clone(&self.source);
        let next = self.next.get_or_insert_with(|| source.next());
        let message = ready!(next.as_mut().poll(cx));
        self.next = None;
        self.is_over = !matches!(message, Some(Ok(_)));
        self.taker.took();
        Poll::Ready(message)
    }
}

impl<M> Drop for Answer<M> {
    fn drop(&mut self) {
        self.source.end(Ok(()));
    }
}
