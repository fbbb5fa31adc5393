//! The service without a socket: messages go in and results come out within one process, one at a time.
//!
//! What a request does is the same as through gRPC. Tests use it that make many requests.

use std::sync::Arc;

use p4cc_p4runtime::server::outbox::{Outgoing, outbox};
use p4cc_p4runtime::{Devices, Held};
use p4cc_units::Time;
use prost::Message;
use tokio::runtime::Runtime;
use tokio_stream::StreamExt;
use tonic::{Request, Status};

use super::service::Service;
use super::streams::Stream;
use super::{Options, StartError};
use crate::proto::bfrt_proto as wire;
use wire::bf_runtime_server::BfRuntime;

type Replies = Outgoing<wire::StreamMessageResponse>;

/// A BF Runtime server that nothing connects to.
pub struct Local {
    service: Service,
    runtime: Runtime,
    streams: Vec<Option<(Stream, Replies)>>,
}

impl Local {
    /// A server for some devices.
    ///
    /// # Errors
    /// No threads can be made.
    pub fn new(devices: Arc<dyn Devices>, options: Options) -> Result<Self, StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .map_err(StartError::Threads)?;
        Ok(Self { service: Service::new(devices, options), runtime, streams: Vec::new() })
    }

    /// The call of a method of the service by its name and the bytes of its message; the messages that it
    /// answers.
    ///
    /// # Errors
    /// The service's status, or `InvalidArgument` where the bytes are no such message.
    pub fn call(&self, method: &str, message: &[u8]) -> Result<Vec<Vec<u8>>, Status> {
        let service = &self.service;
        match method {
            "Write" => self.unary(message, |request| service.write(request)),
            "SetForwardingPipelineConfig" => {
                self.unary(message, |request| service.set_forwarding_pipeline_config(request))
            }
            "GetForwardingPipelineConfig" => {
                self.unary(message, |request| service.get_forwarding_pipeline_config(request))
            }
            "Read" => {
                let request = Request::new(decode::<wire::ReadRequest>(message)?);
                self.runtime.block_on(async {
                    let mut answers = service.read(request).await?.into_inner();
                    let mut read = Vec::new();
                    while let Some(answer) = answers.next().await {
                        read.push(answer?.encode_to_vec());
                    }
                    Ok(read)
                })
            }
            other => Err(Status::unimplemented(format!("the service has no method {other}"))),
        }
    }

    fn unary<M, A, F>(
        &self,
        message: &[u8],
        call: impl FnOnce(Request<M>) -> F,
    ) -> Result<Vec<Vec<u8>>, Status>
    where
        M: Message + Default,
        A: Message,
        F: Future<Output = Result<tonic::Response<A>, Status>>,
    {
        let request = Request::new(decode(message)?);
        let answer = self.runtime.block_on(call(request))?;
        Ok(vec![answer.into_inner().encode_to_vec()])
    }

    /// Opens a stream; its number.
    pub fn open(&mut self) -> usize {
        let (sender, replies) = outbox();
        let session = self.service.next_session();
        let stream = Stream { service: self.service.clone(), session, sender, client: None };
        self.streams.push(Some((stream, replies)));
        self.streams.len() - 1
    }

    /// Sends a message on a stream; what has come on it so far.
    ///
    /// # Errors
    /// The status with which the stream ended, or `InvalidArgument` where the bytes are no such message.
    pub fn send(
        &mut self,
        stream: usize,
        message: &[u8],
    ) -> Result<Vec<wire::StreamMessageResponse>, Status> {
        let message = decode::<wire::StreamMessageRequest>(message)?;
        let Some(Some((open, replies))) = self.streams.get_mut(stream) else {
            return Err(Status::failed_precondition("the stream has ended"));
        };
        let handled = self.runtime.block_on(open.handle(message));
        if let Err(failure) = handled {
            self.close(stream);
            return Err(failure.status());
        }
        let mut come = Vec::new();
        while let Some(reply) = replies.try_next() {
            come.push(reply?);
        }
        Ok(come)
    }

    /// Ends a stream.
    pub fn close(&mut self, stream: usize) {
        if let Some((open, _)) = self.streams.get_mut(stream).and_then(Option::take) {
            self.runtime.block_on(open.close());
        }
    }

    /// As [`super::Server::deliver`].
    pub fn deliver(&self, now: Time, held: &[Held]) -> usize {
        self.service.deliver(now, held)
    }
}

fn decode<M: Message + Default>(message: &[u8]) -> Result<M, Status> {
    M::decode(message).map_err(|error| Status::invalid_argument(error.to_string()))
}
