//! Answers that are one long message: what one client and all clients may hold of them, and how a client
//! takes them piece by piece.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http_body::Frame;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::body::Body;
use tonic::codegen::{Body as IsBody, Bytes, http};
use tonic::{Code, Response, Status};

use super::answers::{self, Room, Taker};
use super::connections::{self, Peer};
use crate::errors::Failure;

/// An answer is long, and counts, from so many bytes on.
const LONG_BYTES: usize = 16 << 10;
/// What a client takes at a time.
const PIECE_BYTES: usize = 64 << 10;

/// Room for one long answer, until its client has taken it; clones are the same.
#[derive(Clone)]
pub struct Held {
    taker: Arc<Taker>,
    _permits: Arc<[OwnedSemaphorePermit; 2]>,
}

impl Room {
    /// Waits until a client and all clients may hold so many bytes more; none for an answer that does not
    /// count.
    ///
    /// # Errors
    /// The server stops.
    pub async fn hold(&self, peer: &Peer, bytes: usize) -> Result<Option<Held>, Failure> {
        if bytes < LONG_BYTES {
            return Ok(None);
        }
        let of_peer = acquire(peer.whole(), bytes, connections::MAX_WHOLE_KIB).await?;
        let of_all = acquire(self.whole(), bytes, answers::MAX_WHOLE_KIB).await?;
        let taker = self.watch(peer.clone(), None);
        Ok(Some(Held { taker, _permits: Arc::new([of_peer, of_all]) }))
    }
}

async fn acquire(
    semaphore: &Arc<Semaphore>,
    bytes: usize,
    most_kib: usize,
) -> Result<OwnedSemaphorePermit, Failure> {
    let kib = u32::try_from(bytes.div_ceil(1 << 10).min(most_kib)).unwrap_or(u32::MAX);
    let permit = Arc::clone(semaphore).acquire_many_owned(kib).await;
    permit.map_err(|_| Failure::new(Code::Unavailable, "the server stops"))
}

/// An answer that counts until it is taken, where [`super::requests::Counted`] serves it.
pub fn answer<M>(message: M, held: Option<Held>) -> Response<M> {
    let mut response = Response::new(message);
    if let Some(held) = held {
        response.extensions_mut().insert(held);
    }
    response
}

/// Has the room of an answer stay with its body.
pub(super) fn keep(mut answer: http::Response<Body>) -> http::Response<Body> {
    match answer.extensions_mut().remove::<Held>() {
        Some(held) => answer.map(|body| Body::new(Taken { body, held, rest: Bytes::new() })),
        None => answer,
    }
}

/// The body of a long answer.
struct Taken {
    body: Body,
    held: Held,
    /// What is left of the frame that the body gave last.
    rest: Bytes,
}

impl IsBody for Taken {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.held.taker.took();
        if self.rest.is_empty() {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => frame,
                other => return Poll::Ready(other),
            };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let length = self.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }
}
