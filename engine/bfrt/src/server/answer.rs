//! The answer of a Read, each of whose messages is made when the client is ready to take it. A message shows
//! the device at one moment; other requests and packets may come between two messages.

use std::mem;
use std::sync::Arc;

use p4cc_p4runtime::errors::{Failure, Outcomes, UpdateError};
use p4cc_p4runtime::server::answers::{Ends, Next, Source};
use parking_lot::Mutex;
use prost::Message;
use tonic::Status;

use super::batches::Told;
use super::reads::{self, Cursor};
use super::service::{Service, Who, Wishes};
use crate::proto::bfrt_proto as wire;
use crate::target::{Scope, Target};

/// Encoded bytes after which a message goes out; a part of a table may be longer.
const MESSAGE_BYTES: usize = 128 << 10;
/// Entities of a request after which packets and other requests have their turn.
const TURN: usize = 1_024;

/// One read under way.
pub(super) struct OpenRead {
    service: Service,
    request: wire::ReadRequest,
    scope: Scope,
    wishes: Wishes,
    how_far: Mutex<HowFar>,
}

/// How far a read is.
#[derive(Default)]
struct HowFar {
    /// Place of the entity of the request that is read.
    entity: usize,
    cursor: Cursor,
    outcomes: Outcomes,
    /// What became of the entities, where the answer is to say it.
    told: Told,
    /// The last message has gone, or the answer was given up.
    end: Option<Result<(), Status>>,
}

impl OpenRead {
    pub(super) fn new(service: Service, request: wire::ReadRequest, scope: Scope, wishes: Wishes) -> Self {
        Self { service, request, scope, wishes, how_far: Mutex::default() }
    }

    fn who(&self) -> Who<'_> {
        Who { client: self.request.client_id, p4_name: &self.request.p4_name, scope: self.scope }
    }

    /// Reads on, until there is enough for a message or others have their turn.
    fn read_on(&self, how_far: &mut HowFar, target: &mut Target<'_>, out: &mut Vec<wire::Entity>) {
        let (mut bytes, mut counted) = (0, 0);
        for _ in 0..TURN {
            let Some(wanted) = self.request.entities.get(how_far.entity) else { break };
            match reads::read(target, wanted, &mut how_far.cursor, out) {
                Ok(true) => {}
                Ok(false) => self.finish_entity(how_far, Ok(())),
                Err(failure) => self.finish_entity(how_far, Err(failure)),
            }
            bytes += out[counted..].iter().map(Message::encoded_len).sum::<usize>();
            counted = out.len();
            if bytes >= MESSAGE_BYTES {
                break;
            }
        }
    }

    fn finish_entity(&self, how_far: &mut HowFar, outcome: Result<(), Failure>) {
        how_far.entity += 1;
        how_far.cursor = Cursor::default();
        if self.wishes.errors_in_answer {
            how_far.told.push(match &outcome {
                Ok(()) => wire::Error::default(),
                Err(failure) => UpdateError::new(failure.code as i32, failure.message.clone()),
            });
            return;
        }
        how_far.outcomes.push(outcome);
    }

    async fn next(&self) -> Option<Result<wire::ReadResponse, Status>> {
        loop {
            if let Some(end) = &self.how_far.lock().end {
                return end.clone().err().map(Err);
            }
            let done = self.how_far.lock().entity;
            if let Err(late) = self.wishes.check_time(done) {
                return Some(Err(late.status()));
            }
            let mut entities = Vec::new();
            let read = self.service.with_target(self.who(), |target| {
                self.read_on(&mut self.how_far.lock(), target, &mut entities);
            });
            if let Err(failure) = read.await {
                return Some(Err(failure.status()));
            }
            let how_far = &mut *self.how_far.lock();
            if how_far.end.is_none() && how_far.entity == self.request.entities.len() {
                // The last message has what became of the entities.
                how_far.end = Some(how_far.outcomes.status::<wire::Error>(self.wishes.metadata));
                let status = mem::take(&mut how_far.told).list;
                return Some(Ok(wire::ReadResponse { entities, status }));
            }
            if !entities.is_empty() {
                return Some(Ok(wire::ReadResponse { entities, status: Vec::new() }));
            }
        }
    }
}

impl Ends for OpenRead {
    fn end(&self, end: Result<(), Status>) {
        let how_far = &mut *self.how_far.lock();
        *how_far = HowFar { end: Some(end), ..HowFar::default() };
    }
}

impl Source<wire::ReadResponse> for OpenRead {
    fn next(self: Arc<Self>) -> Next<wire::ReadResponse> {
        Box::pin(async move { Self::next(&self).await })
    }
}
