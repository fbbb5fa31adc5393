//! Reads that are under way.
//!
//! Invariants: an answer shows the state before or after each Write and each change of the program, never
//! parts of both (P4Runtime "Parallelism of Read and Write Requests"): what changes the device first has the
//! reads that began before it make the rest of their answers. Such answers wait encoded and within bounds; a
//! read that does not fit ends with ABORTED. What packets change, counters for instance, is of the moment at
//! which the message with it was made.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use p4cc_switch::Switch;
use p4cc_units::Time;
use parking_lot::Mutex;
use prost::Message;
use tonic::{Code, Status};

use super::answers::{Ends, Next, Room, Source};
use super::device::Device;
use super::roles::RoleKey;
use super::service::Service;
use crate::entity::piece::{Cursor, Piece, Progress};
use crate::errors::{Failure, MetadataLimit, Outcomes};
use crate::proto::p4::v1 as p4;

/// What one read may hold of its answer while a change waits, in bytes.
const MAX_HELD: usize = 4 << 20;

/// All reads under way; clones share everything.
#[derive(Clone, Default)]
pub(super) struct Reads {
    pub(super) room: Room,
    open: Arc<Mutex<Vec<Weak<OpenRead>>>>,
}

/// One read under way.
pub(super) struct OpenRead {
    service: Service,
    device_id: u64,
    role: RoleKey,
    entities: Vec<p4::Entity>,
    metadata: MetadataLimit,
    how_far: Mutex<HowFar>,
}

/// How far a read is.
#[derive(Default)]
struct HowFar {
    /// Place of the entity of the request that is read.
    entity: usize,
    cursor: Cursor,
    outcomes: Outcomes,
    /// Messages that were made before the client took them, encoded.
    ready: VecDeque<Vec<u8>>,
    /// Bytes that count for the bound on all reads.
    held: usize,
    /// Whether the first message was made: from then on changes matter.
    has_begun: bool,
    /// How it ends, once that is known.
    end: Option<Result<(), Status>>,
}

impl HowFar {
    fn finish(&mut self, end: Result<(), Status>) {
        self.end = Some(end);
        self.cursor = Cursor::default();
    }

    /// Counts what waits; false if all reads together hold too much.
    fn account(&mut self, room: &Room) -> bool {
        let waiting: usize = self.ready.iter().map(Vec::len).sum();
        room.account(&mut self.held, waiting + self.cursor.bytes())
    }
}

impl OpenRead {
    /// Makes the next message; none if the read is through, or found nothing yet. The caller keeps the lock
    /// until the message is where the client finds it: an end that shows before its last message cuts the
    /// answer short.
    fn make(
        &self,
        how_far: &mut HowFar,
        device: &mut Device,
        switch: &mut Switch,
        now: Time,
    ) -> Option<p4::ReadResponse> {
        if how_far.end.is_some() {
            return None;
        }
        how_far.has_begun = true;
        let mut piece = Piece::default();
        let made = self.read_on(how_far, &mut piece, device, switch, now);
        let end = match made {
            Err(failure) => Some(Err(failure.status())),
            Ok(()) if how_far.entity == self.entities.len() => {
                Some(how_far.outcomes.status::<p4::Error>(self.metadata))
            }
            Ok(()) => None,
        };
        if let Some(end) = end {
            how_far.finish(end);
        }
        let Piece { entities, .. } = piece;
        (!entities.is_empty()).then_some(p4::ReadResponse { entities })
    }

    fn read_on(
        &self,
        how_far: &mut HowFar,
        piece: &mut Piece,
        device: &mut Device,
        switch: &mut Switch,
        now: Time,
    ) -> Result<(), Failure> {
        let HowFar { entity, cursor, outcomes, .. } = how_far;
        device.with_target(switch, now, |target| {
            while !piece.is_full()
                && let Some(wanted) = self.entities.get(*entity)
            {
                piece.look();
                let outcome = target.read(wanted, cursor, piece);
                if outcome == Ok(Progress::More) {
                    break;
                }
                outcomes.push(outcome.map(|_| ()));
                *entity += 1;
                *cursor = Cursor::default();
            }
            Ok(())
        })?;
        let role = device.role(&self.role)?;
        piece.entities.retain(|entity| role.has_entity(entity));
        Ok(())
    }

    /// Makes the rest of the answer, which then waits for the client.
    fn complete(&self, room: &Room, lend: &mut Lend<'_>) {
        while self.how_far.lock().end.is_none() {
            if let Err(stops) = self.service.stopping().check() {
                self.end(Err(stops.status()));
                break;
            }
            let lent = lend(&mut |device, switch, now| {
                let how_far = &mut *self.how_far.lock();
                if let Some(message) = self.make(how_far, device, switch, now) {
                    how_far.ready.push_back(message.encode_to_vec());
                }
            });
            let how_far = &mut *self.how_far.lock();
            if let Err(gone) = lent {
                how_far.finish(Err(gone.status()));
            }
            let fits = how_far.account(room);
            if !fits || how_far.held > MAX_HELD {
                how_far.ready.clear();
                how_far.finish(Err(overtaken().status()));
                how_far.account(room);
            }
        }
    }

    async fn next(&self) -> Option<Result<p4::ReadResponse, Status>> {
        loop {
            {
                let how_far = &mut *self.how_far.lock();
                if let Some(waiting) = how_far.ready.pop_front() {
                    how_far.account(&self.service.reads().room);
                    let decoded = p4::ReadResponse::decode(waiting.as_slice());
                    return Some(decoded.map_err(|error| Status::internal(error.to_string())));
                }
                if let Some(end) = &how_far.end {
                    return end.clone().err().map(Err);
                }
            }
            let made = self.service.apply(self.device_id, |device, switch, now| {
                let how_far = &mut *self.how_far.lock();
                let made = self.make(how_far, device, switch, now);
                how_far.account(&self.service.reads().room);
                Ok(made)
            });
            match made.await {
                Ok(None) => {}
                Ok(Some(message)) => return Some(Ok(message)),
                Err(failure) => return Some(Err(failure.status())),
            }
        }
    }
}

/// Lends the device for one message.
pub(super) type Lend<'a> =
    dyn FnMut(&mut dyn FnMut(&mut Device, &mut Switch, Time)) -> Result<(), Failure> + 'a;

impl Reads {
    /// Takes in a read that waits for its client.
    pub(super) fn open(
        &self,
        service: &Service,
        device_id: u64,
        role: RoleKey,
        entities: Vec<p4::Entity>,
        metadata: MetadataLimit,
    ) -> Arc<OpenRead> {
        let (service, how_far) = (service.clone(), Mutex::default());
        let read = Arc::new(OpenRead { service, device_id, role, entities, metadata, how_far });
        let mut open = self.open.lock();
        open.retain(|read| read.strong_count() > 0);
        open.push(Arc::downgrade(&read));
        read
    }

    /// Lets the reads of a device that have begun make the rest of their answers, since the device is about
    /// to change.
    pub(super) fn complete(&self, device_id: u64, lend: &mut Lend<'_>) {
        let open: Vec<_> = self.open.lock().iter().filter_map(Weak::upgrade).collect();
        for read in open {
            if read.device_id == device_id && read.how_far.lock().has_begun {
                read.complete(&self.room, lend);
            }
        }
    }
}

fn overtaken() -> Failure {
    let mib = MAX_HELD >> 20;
    Failure::new(
        Code::Aborted,
        format!(
            "the device was written while the client took the answer, of which more than {mib} MiB were left; read again, \
             or in parts"
        ),
    )
}

impl Ends for OpenRead {
    fn end(&self, end: Result<(), Status>) {
        let how_far = &mut *self.how_far.lock();
        how_far.ready.clear();
        how_far.finish(end);
        how_far.account(&self.service.reads().room);
    }
}

impl Source<p4::ReadResponse> for OpenRead {
    fn next(self: Arc<Self>) -> Next<p4::ReadResponse> {
        Box::pin(async move { Self::next(&self).await })
    }
}
