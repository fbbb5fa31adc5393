//! The service without a socket: messages go in and results come out within one process, one at a time.
//!
//! What a request does is the same as through gRPC. Tests use it that make many requests.

use std::sync::Arc;

use p4cc_p4runtime::server::in_process::{self, Calls};
use p4cc_p4runtime::server::outbox::{Outgoing, outbox};
use p4cc_p4runtime::{Devices, Held, StartError};
use p4cc_units::Time;
use tonic::Status;

use super::Options;
use super::service::Service;
use super::streams::Stream;
use crate::proto::bfrt_proto as wire;
use wire::bf_runtime_server::BfRuntime;

type Replies = Outgoing<wire::StreamMessageResponse>;

/// A BF Runtime server that nothing connects to.
pub struct Local {
    service: Service,
    calls: Calls,
    streams: Vec<Option<(Stream, Replies)>>,
}

impl Local {
    /// A server for some devices.
    ///
    /// # Errors
    /// No threads can be made.
    pub fn new(devices: Arc<dyn Devices>, options: Options) -> Result<Self, StartError> {
        Ok(Self { service: Service::new(devices, options), calls: Calls::start()?, streams: Vec::new() })
    }

    /// The call of a method of the service by its name and the bytes of its message; the messages that it
    /// answers.
    ///
    /// # Errors
    /// The service's status, or `InvalidArgument` where the bytes are no such message.
    pub fn call(&self, method: &str, message: &[u8]) -> Result<Vec<Vec<u8>>, Status> {
        let service = &self.service;
        match method {
            "Write" => self.calls.unary(message, |request| service.write(request)),
            "SetForwardingPipelineConfig" => {
                self.calls.unary(message, |request| service.set_forwarding_pipeline_config(request))
            }
            "GetForwardingPipelineConfig" => {
                self.calls.unary(message, |request| service.get_forwarding_pipeline_config(request))
            }
            "Read" => self.calls.stream(message, |request| service.read(request)),
            other => Err(Status::unimplemented(format!("the service has no method {other}"))),
        }
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
        let message = in_process::decode::<wire::StreamMessageRequest>(message)?;
        let Some(Some((open, replies))) = self.streams.get_mut(stream) else {
            return Err(Status::failed_precondition("the stream has ended"));
        };
        let handled = self.calls.wait(open.handle(message));
        if let Err(failure) = handled {
            self.close(stream);
            return Err(failure.status());
        }
        in_process::replies(replies)
    }

    /// Ends a stream.
    pub fn close(&mut self, stream: usize) {
        if let Some((open, _)) = self.streams.get_mut(stream).and_then(Option::take) {
            self.calls.wait(open.close());
        }
    }

    /// As [`super::Server::deliver`].
    pub fn deliver(&self, now: Time, held: &[Held]) -> usize {
        self.service.deliver(now, held)
    }
}
