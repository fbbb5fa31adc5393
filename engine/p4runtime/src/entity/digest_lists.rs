//! Which digests the controller asked for, and the lists that are on their way to it.
//!
//! A digest is sent only after its configuration was inserted. Data waits until a list is full or its oldest
//! has waited for `max_timeout_ns`, of which 0 means not at all; no list holds the same data twice. With an
//! acknowledgement timeout, data that is in a list the controller has not acknowledged is not sent again
//! until the timeout is over (P4Runtime "DigestEntry"). Time is the time of the network, given by the caller;
//! nothing is sent but when the owner delivers.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_exec::DigestMessage;
use p4cc_units::{Span, Time};
use prost::Message;

use crate::catalog::Catalog;
use crate::proto::p4::v1 as p4;

/// Most messages that wait for an acknowledgement; the oldest lists are forgotten.
const MAX_UNACKNOWLEDGED: usize = 1 << 16;
/// Longest list, also when the controller sets no limit or a higher one.
const MAX_LIST: usize = 1_024;

/// Digest configurations of one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct DigestConfigs {
    pub(super) configs: BTreeMap<u32, p4::digest_entry::Config>,
    waiting: BTreeMap<u32, Waiting>,
    /// Lists that were not acknowledged, by id.
    sent: BTreeMap<u64, Sent>,
    /// What is in them, by digest and bytes.
    unacknowledged: BTreeSet<(u32, Vec<u8>)>,
    last_list_id: u64,
}

/// Data of one digest that is not sent yet: less than a list.
#[derive(Clone, Debug)]
struct Waiting {
    since: Time,
    data: Vec<p4::P4Data>,
    /// The same as bytes.
    known: BTreeSet<Vec<u8>>,
}

#[derive(Clone, Debug)]
struct Sent {
    digest_id: u32,
    at: Time,
    data: BTreeSet<Vec<u8>>,
}

/// When lists are made: the network's time, and what they are stamped with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant {
    pub(crate) now: Time,
    pub(crate) timestamp_ns: i64,
}

impl DigestConfigs {
    /// Makes lists of messages, leaving out what waits to be sent or acknowledged.
    pub(crate) fn lists(
        &mut self,
        catalog: &Catalog,
        messages: &[DigestMessage],
        at: Instant,
    ) -> Vec<p4::DigestList> {
        self.forget(at.now);
        let mut lists = Vec::new();
        for message in messages {
            let digest_id = catalog.ids.digests[message.digest.index()];
            let Some(config) = self.configs.get(&digest_id).copied() else { continue };
            let Some(data) = catalog.digest_data(digest_id, &message.values) else { continue };
            let bytes = data.encode_to_vec();
            if self.unacknowledged.contains(&(digest_id, bytes.clone())) {
                continue;
            }
            let waiting = self.waiting.entry(digest_id).or_insert_with(|| Waiting {
                since: at.now,
                data: Vec::new(),
                known: BTreeSet::new(),
            });
            if !waiting.known.insert(bytes) {
                continue;
            }
            waiting.data.push(data);
            if waiting.data.len() >= longest(&config) {
                lists.extend(self.list(digest_id, &config, at));
            }
        }
        for (digest_id, config) in self.configs.clone() {
            let timeout_ns = u64::try_from(config.max_timeout_ns).unwrap_or_default();
            let due = |waiting: &Waiting| {
                at.now.since(waiting.since).as_ns() >= timeout_ns || waiting.data.len() >= longest(&config)
            };
            if self.waiting.get(&digest_id).is_some_and(due) {
                lists.extend(self.list(digest_id, &config, at));
            }
        }
        lists
    }

    /// What waits as a list, which waits for its acknowledgement if the controller wants that.
    fn list(
        &mut self,
        digest_id: u32,
        config: &p4::digest_entry::Config,
        at: Instant,
    ) -> Option<p4::DigestList> {
        let Waiting { data, known, .. } = self.waiting.remove(&digest_id)?;
        self.last_list_id += 1;
        let list_id = self.last_list_id;
        if config.ack_timeout_ns > 0 {
            self.unacknowledged.extend(known.iter().map(|bytes| (digest_id, bytes.clone())));
            self.sent.insert(list_id, Sent { digest_id, at: at.now, data: known });
            while self.unacknowledged.len() > MAX_UNACKNOWLEDGED
                && let Some(&oldest) = self.sent.keys().next()
            {
                self.remove(oldest);
            }
        }
        Some(p4::DigestList { digest_id, list_id, data, timestamp: at.timestamp_ns })
    }

    fn remove(&mut self, list_id: u64) {
        let Some(Sent { digest_id, data, .. }) = self.sent.remove(&list_id) else { return };
        for bytes in data {
            self.unacknowledged.remove(&(digest_id, bytes));
        }
    }

    fn forget(&mut self, now: Time) {
        let old = |sent: &Sent| {
            let config = self.configs.get(&sent.digest_id);
            let timeout_ns = config.and_then(|config| u64::try_from(config.ack_timeout_ns).ok()).unwrap_or(0);
            now.since(sent.at).as_ns() >= timeout_ns
        };
        let old: Vec<u64> = self.sent.iter().filter(|(_, sent)| old(sent)).map(|(&id, _)| id).collect();
        old.into_iter().for_each(|list_id| self.remove(list_id));
    }

    /// When the oldest data that waits has waited long enough.
    pub(crate) fn next_due(&self) -> Option<Time> {
        let due = self.waiting.iter().filter_map(|(digest_id, waiting)| {
            let timeout_ns = u64::try_from(self.configs.get(digest_id)?.max_timeout_ns).unwrap_or_default();
            Some(waiting.since + Span::from_ns(timeout_ns))
        });
        due.min()
    }

    /// Takes in an acknowledgement.
    pub(crate) fn acknowledge(&mut self, ack: &p4::DigestListAck) {
        if self.sent.get(&ack.list_id).is_some_and(|sent| sent.digest_id == ack.digest_id) {
            self.remove(ack.list_id);
        }
    }

    /// Lets what was sent come again: another controller is to hear of it.
    pub(crate) fn forget_sent(&mut self) {
        self.sent.clear();
        self.unacknowledged.clear();
    }

    /// Stops a digest: neither what waits nor what was sent counts any more.
    pub(super) fn stop(&mut self, digest_id: u32) {
        self.configs.remove(&digest_id);
        self.waiting.remove(&digest_id);
        let lists: Vec<u64> =
            self.sent.iter().filter(|(_, sent)| sent.digest_id == digest_id).map(|(&id, _)| id).collect();
        lists.into_iter().for_each(|list_id| self.remove(list_id));
    }
}

/// The length at which a list is sent.
fn longest(config: &p4::digest_entry::Config) -> usize {
    let asked = usize::try_from(config.max_list_size).ok().filter(|size| *size > 0);
    asked.map_or(MAX_LIST, |size| size.min(MAX_LIST))
}
