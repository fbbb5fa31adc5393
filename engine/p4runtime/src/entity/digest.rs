//! Which digests the controller asked for, and the lists that are on their way to it.
//!
//! A digest is sent only after its configuration was inserted. With an acknowledgement timeout, data that is in a list
//! the controller has not acknowledged is not sent again until the timeout is over (P4Runtime "DigestEntry"). Data waits
//! until a list is full or its oldest has waited for `max_timeout_ns`, of which 0 means not at all. Time is the time of
//! the network, given by the caller; nothing is sent but when the owner delivers.

use std::collections::{BTreeMap, VecDeque};

use p4cc_exec::DigestMessage;
use p4cc_units::Time;

use super::{Target, Verb, push};
use crate::catalog::Catalog;
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::entity::Entity as Of;

/// Most messages that wait for an acknowledgement; the oldest are forgotten.
const MAX_UNACKNOWLEDGED: usize = 4_096;
/// Longest list, also when the controller sets no limit or a higher one.
const MAX_LIST: usize = 1_024;

/// Digest configurations of one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct DigestConfigs {
    configs: BTreeMap<u32, p4::digest_entry::Config>,
    unacknowledged: VecDeque<Sent>,
    waiting: BTreeMap<u32, Waiting>,
    last_list_id: u64,
}

/// Data of one digest that is not sent yet: less than a list.
#[derive(Clone, Debug)]
struct Waiting {
    since: Time,
    data: Vec<p4::P4Data>,
}

#[derive(Clone, Debug)]
struct Sent {
    digest_id: u32,
    list_id: u64,
    at: Time,
    data: p4::P4Data,
}

impl DigestConfigs {
    /// Makes lists of messages, leaving out what waits for an acknowledgement.
    pub(crate) fn lists(
        &mut self,
        catalog: &Catalog,
        messages: &[DigestMessage],
        now: Time,
    ) -> Vec<p4::DigestList> {
        self.forget(now);
        for message in messages {
            let digest_id = catalog.ids.digests[message.digest.index()];
            let Some(config) = self.configs.get(&digest_id) else { continue };
            let Some(data) = catalog.digest_data(digest_id, &message.values) else { continue };
            let waiting = self.waiting.entry(digest_id).or_insert(Waiting { since: now, data: Vec::new() });
            let sent = |sent: &Sent| sent.digest_id == digest_id && sent.data == data;
            let known = config.ack_timeout_ns > 0
                && (waiting.data.contains(&data) || self.unacknowledged.iter().any(sent));
            if !known {
                waiting.data.push(data);
            }
        }
        let mut lists = Vec::new();
        for (digest_id, Waiting { since, mut data }) in std::mem::take(&mut self.waiting) {
            // What waited for a configuration that is gone is not wanted any more.
            let Some(config) = self.configs.get(&digest_id).copied() else { continue };
            let longest = usize::try_from(config.max_list_size).ok().filter(|size| *size > 0);
            let longest = longest.map_or(MAX_LIST, |size| size.min(MAX_LIST));
            let timeout_ns = u64::try_from(config.max_timeout_ns).unwrap_or_default();
            let due = now.since(since).as_ns() >= timeout_ns;
            while data.len() >= longest || (due && !data.is_empty()) {
                let rest = data.split_off(data.len().min(longest));
                lists.push(self.list(digest_id, &config, std::mem::replace(&mut data, rest), now));
            }
            if !data.is_empty() {
                self.waiting.insert(digest_id, Waiting { since, data });
            }
        }
        let excess = self.unacknowledged.len().saturating_sub(MAX_UNACKNOWLEDGED);
        self.unacknowledged.drain(..excess);
        lists
    }

    /// A list, which waits for its acknowledgement if the controller wants that.
    fn list(
        &mut self,
        digest_id: u32,
        config: &p4::digest_entry::Config,
        data: Vec<p4::P4Data>,
        now: Time,
    ) -> p4::DigestList {
        self.last_list_id += 1;
        let list_id = self.last_list_id;
        if config.ack_timeout_ns > 0 {
            let sent = |data: &p4::P4Data| Sent { digest_id, list_id, at: now, data: data.clone() };
            self.unacknowledged.extend(data.iter().map(sent));
        }
        let timestamp = i64::try_from(now.as_ns()).unwrap_or(i64::MAX);
        p4::DigestList { digest_id, list_id, data, timestamp }
    }

    fn forget(&mut self, now: Time) {
        let configs = &self.configs;
        self.unacknowledged.retain(|sent| {
            let timeout =
                configs.get(&sent.digest_id).and_then(|config| u64::try_from(config.ack_timeout_ns).ok());
            timeout.is_some_and(|timeout_ns| now.as_ns().saturating_sub(sent.at.as_ns()) < timeout_ns)
        });
    }

    /// Takes in an acknowledgement.
    pub(crate) fn acknowledge(&mut self, ack: &p4::DigestListAck) {
        self.unacknowledged.retain(|sent| (sent.digest_id, sent.list_id) != (ack.digest_id, ack.list_id));
    }
}

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
            target.digests.configs.remove(&id);
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
    out: &mut Vec<p4::Entity>,
) -> Result<(), Failure> {
    if entry.digest_id != 0 {
        target.catalog.digest(entry.digest_id)?;
    }
    let configs = target.digests.configs.iter();
    for (&digest_id, config) in configs.filter(|(id, _)| entry.digest_id == 0 || **id == entry.digest_id) {
        push(out, Of::DigestEntry(p4::DigestEntry { digest_id, config: Some(*config) }))?;
    }
    Ok(())
}
