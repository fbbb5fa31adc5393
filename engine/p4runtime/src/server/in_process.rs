//! Calls of a gRPC service without a socket: messages go in and answers come out as bytes, one at a time.

use prost::Message;
use tokio::runtime::Runtime;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status};

use super::outbox::Outgoing;
use super::{MAX_REQUEST_BYTES, StartError};

/// The thread that calls run on.
pub struct Calls(Runtime);

impl Calls {
    /// # Errors
    /// No thread can be made.
    pub fn start() -> Result<Self, StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
        runtime.map(Self).map_err(StartError::Threads)
    }

    /// What a future gives.
    pub fn wait<T>(&self, call: impl Future<Output = T>) -> T {
        self.0.block_on(call)
    }

    /// The one answer of a method to the bytes of its message.
    ///
    /// # Errors
    /// The method's status, or `InvalidArgument` where the bytes are no such message.
    pub fn unary<M, A, F>(
        &self,
        message: &[u8],
        call: impl FnOnce(Request<M>) -> F,
    ) -> Result<Vec<Vec<u8>>, Status>
    where
        M: Message + Default,
        A: Message,
        F: Future<Output = Result<Response<A>, Status>>,
    {
        let request = Request::new(decode(message)?);
        let answer = self.wait(call(request))?;
        Ok(vec![answer.into_inner().encode_to_vec()])
    }

    /// All answers of a method that streams them.
    ///
    /// # Errors
    /// As [`Self::unary`].
    pub fn stream<M, A, S, F>(
        &self,
        message: &[u8],
        call: impl FnOnce(Request<M>) -> F,
    ) -> Result<Vec<Vec<u8>>, Status>
    where
        M: Message + Default,
        A: Message,
        S: Stream<Item = Result<A, Status>> + Unpin,
        F: Future<Output = Result<Response<S>, Status>>,
    {
        let request = Request::new(decode(message)?);
        self.wait(async {
            let mut answers = call(request).await?.into_inner();
            let mut read = Vec::new();
            while let Some(answer) = answers.next().await {
                read.push(answer?.encode_to_vec());
            }
            Ok(read)
        })
    }
}

/// A message of its bytes.
///
/// # Errors
/// `InvalidArgument` where they are none, `OutOfRange` where they are more than a connection takes.
pub fn decode<M: Message + Default>(message: &[u8]) -> Result<M, Status> {
    if message.len() > MAX_REQUEST_BYTES {
        let (bytes, most) = (message.len(), MAX_REQUEST_BYTES);
        return Err(Status::out_of_range(format!("the message has {bytes} B; send at most {most} B")));
    }
    M::decode(message).map_err(|error| Status::invalid_argument(error.to_string()))
}

/// What has come on a stream so far.
///
/// # Errors
/// The status with which it ended.
pub fn replies<R: Message>(stream: &mut Outgoing<R>) -> Result<Vec<R>, Status> {
    std::iter::from_fn(|| stream.try_next()).collect()
}
