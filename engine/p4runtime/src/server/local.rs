//! The service without a socket: messages go in and results come out within one process, one at a time.
//!
//! What a request does is the same as through gRPC. Tests and fuzz targets use it, which make many requests.

use std::sync::Arc;

use tonic::Status;

use super::arbitration::Rule;
use super::device::Link;
use super::in_process::{self, Calls};
use super::outbox::{Outgoing, outbox};
use super::service::Service;
use super::stream::Controller;
use super::{Delivered, Devices, StartError};
use crate::proto::p4::v1 as p4;
use p4::p4_runtime_server::P4Runtime;
use p4cc_units::Time;

type Replies = Outgoing<p4::StreamMessageResponse>;

/// A P4Runtime server that nothing connects to.
pub struct Local {
    service: Service,
    calls: Calls,
    streams: Vec<Option<(Controller, Replies)>>,
}

impl Local {
    /// A server for some devices.
    ///
    /// # Errors
    /// No threads can be made.
    pub fn new(devices: Arc<dyn Devices>) -> Result<Self, StartError> {
        Ok(Self {
            service: Service::new(devices, Rule::default()),
            calls: Calls::start()?,
            streams: Vec::new(),
        })
    }

    /// The call of a method of the service by its name and the
    /// bytes of its message; the messages that it answers.
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
            "Capabilities" => self.calls.unary(message, |request| service.capabilities(request)),
            "Read" => self.calls.stream(message, |request| service.read(request)),
            other => Err(Status::unimplemented(format!("the service has no method {other}"))),
        }
    }

    /// Opens a stream; its number.
    pub fn open(&mut self) -> usize {
        let (sender, replies) = outbox();
        let controller = Controller::new(
            self.service.clone(),
            self.service.next_session(),
            Link { sender, released: Arc::default() },
        );
        self.streams.push(Some((controller, replies)));
        self.streams.len() - 1
    }

    /// Sends a message on a stream; what has come on it so far.
    ///
    /// # Errors
    /// The status with which the stream ended, or `InvalidArgument` where the bytes are no such message.
    pub fn send(&mut self, stream: usize, message: &[u8]) -> Result<Vec<p4::StreamMessageResponse>, Status> {
        let message = in_process::decode::<p4::StreamMessageRequest>(message)?;
        let Some(Some((controller, replies))) = self.streams.get_mut(stream) else {
            return Err(Status::failed_precondition("the stream has ended"));
        };
        let handled = self.calls.wait(controller.handle(message.update));
        if let Err(failure) = handled {
            self.close(stream);
            return Err(failure.status());
        }
        in_process::replies(replies)
    }

    /// Ends a stream.
    pub fn close(&mut self, stream: usize) {
        if let Some((controller, _)) = self.streams.get_mut(stream).and_then(Option::take) {
            self.calls.wait(controller.close());
        }
    }

    /// As [`super::Server::install`].
    ///
    /// # Errors
    /// As there.
    pub fn install(&self, device_id: u64, device_config: Vec<u8>) -> Result<(), String> {
        self.service.install(device_id, device_config).map_err(|failure| failure.message)
    }

    /// As [`super::Server::deliver`].
    pub fn deliver(&self, now: Time) -> Delivered {
        self.service.deliver(now)
    }
}
