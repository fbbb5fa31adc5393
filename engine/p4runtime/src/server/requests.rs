//! Requests as they come in: what all that are being received or applied hold is bounded.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use http_body::Frame;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Body as IsBody, BoxFuture, Bytes, Service, http};
use tonic::server::NamedService;

use super::whole;

/// Bytes of requests that are being received or applied, of all clients.
const MAX_BYTES: usize = 256 << 20;
/// The method whose requests are a stream without end, message by message.
const STREAM: &str = "/StreamChannel";

/// A service whose requests are counted while they are there; clones share the count.
#[derive(Clone)]
pub struct Counted<S> {
    inner: S,
    all: Arc<AtomicUsize>,
}

impl<S> Counted<S> {
    /// Counts the requests of a service.
    pub fn new(inner: S) -> Self {
        Self { inner, all: Arc::default() }
    }
}

impl<S: NamedService> NamedService for Counted<S> {
    const NAME: &'static str = S::NAME;
}

impl<S> Service<http::Request<Body>> for Counted<S>
where
    S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let held = Arc::new(Held { bytes: AtomicUsize::new(0), all: Arc::clone(&self.all) });
        let is_stream = request.uri().path().ends_with(STREAM);
        let of_body = Arc::clone(&held);
        let request = match is_stream {
            true => request,
            false => request.map(|body| Body::new(CountedBody { body, held: of_body })),
        };
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await;
            drop(held);
            answer.map(whole::keep)
        })
    }
}

/// What one request holds.
struct Held {
    bytes: AtomicUsize,
    all: Arc<AtomicUsize>,
}

impl Held {
    /// # Errors
    /// All requests together hold too much.
    fn add(&self, bytes: usize) -> Result<(), Status> {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.all.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_BYTES {
            return Ok(());
        }
        let mib = MAX_BYTES >> 20;
        Err(Status::resource_exhausted(format!(
            "requests of all clients hold {mib} MiB already; send it again later"
        )))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// The body of a request, counted as it comes in.
struct CountedBody {
    body: Body,
    held: Arc<Held>,
}

impl IsBody for CountedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let counted = frame.map(|frame| {
            let frame = frame?;
            self.held.add(frame.data_ref().map_or(0, Bytes::len))?;
            Ok(frame)
        });
        Poll::Ready(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_requests_hold_is_bounded_and_given_back() {
        let all = Arc::new(AtomicUsize::new(0));
        let held = || Held { bytes: AtomicUsize::new(0), all: Arc::clone(&all) };
        let (first, second) = (held(), held());
        assert!(first.add(MAX_BYTES - 10).is_ok() && second.add(10).is_ok());
        let refused = held().add(1).expect_err("there is no room");
        assert_eq!(refused.code(), tonic::Code::ResourceExhausted);
        drop(first);
        assert!(held().add(1).is_ok());
        drop(second);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
