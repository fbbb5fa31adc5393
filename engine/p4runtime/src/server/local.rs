//! The service without a socket: messages go in and results come out within one process, one at a time.
//!
//! What a request does is the same as through gRPC. The controller of a network in virtual time uses it, as
//! it makes requests to very many switches, and so do tests and fuzz targets.

use std::sync::Arc;

use tokio_stream::StreamExt;
use tonic::{Request, Status};

use super::arbitration::Rule;
use super::connections::Peer;
use super::device::Link;
use super::in_process::{self, Calls};
use super::outbox::{Outgoing, outbox};
use super::service::Service;
use super::stream::Controller;
use super::{Delivered, Devices, MAX_REQUEST_BYTES, StartError};
use crate::errors::MetadataLimit;
use crate::proto::p4::v1 as p4;
use p4::p4_runtime_server::P4Runtime;
use p4cc_units::Time;

type Replies = Outgoing<p4::StreamMessageResponse>;

/// What a status may take: nothing carries it, so it may say what became of each update of a request.
const METADATA_BYTES: usize = MAX_REQUEST_BYTES;

/// A P4Runtime server that nothing connects to, or a direct client of one that also has connections.
pub struct Local {
    service: Service,
    calls: Calls,
    peer: Peer,
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
            peer: Peer::default(),
            streams: Vec::new(),
        })
    }

    /// A client of a service that others may be connected to.
    pub(super) fn of(service: Service) -> Result<Self, StartError> {
        let peer = Peer::announcing(MetadataLimit::Bytes(METADATA_BYTES));
        Ok(Self { service, calls: Calls::start()?, peer, streams: Vec::new() })
    }

    /// The call of a method of the service by its name and the
    /// bytes of its message; the messages that it answers.
    ///
    /// # Errors
    /// The service's status, or `InvalidArgument` where the bytes are no such message.
    pub fn call(&self, method: &str, message: &[u8]) -> Result<Vec<Vec<u8>>, Status> {
        let service = &self.service;
        match method {
            "Write" => self.calls.unary(message, |request| service.write(self.with_peer(request))),
            "SetForwardingPipelineConfig" => {
                self.calls.unary(message, |request| service.set_forwarding_pipeline_config(request))
            }
            "GetForwardingPipelineConfig" => {
                self.calls.unary(message, |request| service.get_forwarding_pipeline_config(request))
            }
            "Capabilities" => self.calls.unary(message, |request| service.capabilities(request)),
            "Read" => self.calls.stream(message, |request| service.read(self.with_peer(request))),
            other => Err(Status::unimplemented(format!("the service has no method {other}"))),
        }
    }

    /// The entities that a `ReadRequest` gets, which [`Self::call`] answers in messages.
    ///
    /// # Errors
    /// As there.
    pub fn read(&self, message: &[u8]) -> Result<Vec<p4::Entity>, Status> {
        let request = self.with_peer(Request::new(in_process::decode(message)?));
        self.calls.wait(async {
            let mut answers = self.service.read(request).await?.into_inner();
            let mut entities = Vec::new();
            while let Some(answer) = answers.next().await {
                entities.append(&mut answer?.entities);
            }
            Ok(entities)
        })
    }

    fn with_peer<M>(&self, mut request: Request<M>) -> Request<M> {
        request.extensions_mut().insert(self.peer.clone());
        request
    }

    /// Opens a stream; its number.
    pub fn open(&mut self) -> usize {
        let (sender, replies) = outbox();
        let controller = Controller::new(
            self.service.clone(),
            self.service.next_session(),
            Link { sender, released: Arc::default() },
        );
        let stream = self.streams.iter().position(Option::is_none).unwrap_or(self.streams.len());
        if stream == self.streams.len() {
            self.streams.push(None);
        }
        self.streams[stream] = Some((controller, replies));
        stream
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
