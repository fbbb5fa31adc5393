//! Digest entries: which digests the controller asks for.

use super::piece::{Cursor, Piece, Progress};
use super::{Target, Verb};
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::entity::Entity as Of;

/// Starts, changes or stops the sending of a digest.
pub(super) fn write(target: &mut Target<'_>, verb: Verb, entry: &p4::DigestEntry) -> Result<(), Failure> {
    let id = entry.digest_id;
    let digest = target.catalog.digest(id)?;
    let name = &target.catalog.program.digests[digest.index()].cp.name;
    let exists = target.digests.configs.contains_key(&id);
    match (verb, exists) {
        (Verb::Insert, true) => {
            let message = format!("digest {name} is configured already; modify it instead");
            return Err(Failure::new(tonic::Code::AlreadyExists, message));
        }
        (Verb::Modify | Verb::Delete, false) => {
            return Err(Failure::not_found(format!("digest {name} is not configured; insert it first")));
        }
        (Verb::Delete, true) => {
            target.digests.stop(id);
            return Ok(());
        }
        _ => {}
    }
    let config = entry.config.unwrap_or_default();
    if config.max_timeout_ns < 0 || config.ack_timeout_ns < 0 || config.max_list_size < 0 {
        return Err(Failure::invalid(format!("digest {name}: a timeout or list size is negative")));
    }
    target.digests.configs.insert(id, config);
    Ok(())
}

/// Reads one digest's configuration, or all.
pub(super) fn read(
    target: &Target<'_>,
    entry: &p4::DigestEntry,
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    if entry.digest_id != 0 {
        target.catalog.digest(entry.digest_id)?;
    }
    let configs = target.digests.configs.iter();
    let wanted = configs.filter(|(id, _)| entry.digest_id == 0 || **id == entry.digest_id);
    for (&digest_id, config) in wanted.skip(cursor.at()) {
        if piece.is_full() {
            return Ok(Progress::More);
        }
        cursor.advance();
        piece.push(Of::DigestEntry(p4::DigestEntry { digest_id, config: Some(*config) }));
    }
    Ok(Progress::Done)
}
