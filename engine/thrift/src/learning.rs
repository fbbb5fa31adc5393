//! BMv2's notifications: digests as samples of learning lists, and entries that were not hit.
//!
//! A list is sent when it is full or its oldest sample has waited for the list's timeout. A sample that was
//! sent is not sent again until its list is acknowledged. A notification is 32 bytes of little-endian numbers
//! and what they count (the packed structs `msg_hdr_t` of BMv2's learning.h and ageing.h).
//!
//! Invariants: reads no clock and opens no socket; what waits
//! for an acknowledgement is bounded, the oldest is forgotten.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_exec::DigestMessage;
use p4cc_units::{Span, Time};

/// Samples in a list, and how long the first waits, unless a controller says otherwise (BMv2's P4Objects).
const DEFAULT_SAMPLES: usize = 16;
const DEFAULT_TIMEOUT: Span = Span::from_ms(1_000);
/// Most samples of one digest that wait for an acknowledgement.
const MAX_KNOWN: usize = 65_536;
/// Most samples in a list.
const MAX_SAMPLES: usize = 4_096;

/// The values of a digest's fields, each in whole bytes.
type Sample = Vec<u8>;

/// One digest's list.
#[derive(Clone, Debug)]
struct List {
    max_samples: usize,
    /// None waits until the list is full.
    timeout: Option<Span>,
    pending: Vec<Sample>,
    /// When the first of `pending` came.
    since: Time,
    /// Samples sent or about to be, and not acknowledged.
    known: BTreeSet<Sample>,
    /// Those sent, by the number of the list; a sample that was acknowledged alone leaves a gap.
    sent: BTreeMap<u64, Vec<Option<Sample>>>,
    next: u64,
}

impl Default for List {
    fn default() -> Self {
        Self {
            max_samples: DEFAULT_SAMPLES,
            timeout: Some(DEFAULT_TIMEOUT),
            pending: Vec::new(),
            since: Time::ZERO,
            known: BTreeSet::new(),
            sent: BTreeMap::new(),
            next: 0,
        }
    }
}

impl List {
    fn add(&mut self, sample: Sample, now: Time) {
        if !self.known.insert(sample.clone()) {
            return;
        }
        if self.pending.is_empty() {
            self.since = now;
        }
        self.pending.push(sample);
    }

    /// The next list that is due: its number and samples.
    fn take(&mut self, now: Time) -> Option<(u64, Vec<Sample>)> {
        let waited = self.timeout.is_some_and(|timeout| now.since(self.since) >= timeout);
        let count = match self.pending.len() {
            0 => return None,
            some if some >= self.max_samples => self.max_samples,
            some if waited => some,
            _ => return None,
        };
        let samples: Vec<Sample> = self.pending.drain(..count).collect();
        self.since = now;
        let number = self.next;
        self.next += 1;
        self.sent.insert(number, samples.iter().cloned().map(Some).collect());
        while self.known.len() > MAX_KNOWN {
            let Some((_, oldest)) = self.sent.pop_first() else { break };
            for sample in oldest.iter().flatten() {
                self.known.remove(sample);
            }
        }
        Some((number, samples))
    }

    /// Samples of a list are known to the controller: all, or those at these positions.
    fn acknowledge(&mut self, number: u64, positions: Option<&[usize]>) {
        // A list that is not there was acknowledged already.
        let Some(samples) = self.sent.get_mut(&number) else { return };
        for (position, sample) in samples.iter_mut().enumerate() {
            if positions.is_none_or(|positions| positions.contains(&position))
                && let Some(sample) = sample.take()
            {
                self.known.remove(&sample);
            }
        }
        if samples.iter().all(Option::is_none) {
            self.sent.remove(&number);
        }
    }
}

/// The lists of a program's digests, by BMv2's numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    lists: BTreeMap<i32, List>,
}

/// There is no list of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoSuchList;

impl Lists {
    pub fn new(numbers: impl IntoIterator<Item = i32>) -> Self {
        Self { lists: numbers.into_iter().map(|number| (number, List::default())).collect() }
    }

    fn list(&mut self, number: i32) -> Result<&mut List, NoSuchList> {
        self.lists.get_mut(&number).ok_or(NoSuchList)
    }

    pub fn add(&mut self, number: i32, message: &DigestMessage, now: Time) -> Result<(), NoSuchList> {
        let sample = message.values.iter().flat_map(|value| value.to_be_bytes()).collect();
        self.list(number)?.add(sample, now);
        Ok(())
    }

    /// Notifications that are due.
    pub fn take(&mut self, device_id: u64, now: Time) -> Vec<Vec<u8>> {
        let mut due = Vec::new();
        for (&list_id, list) in &mut self.lists {
            while let Some((number, samples)) = list.take(now) {
                let mut bytes = header(b"LEA|", device_id);
                bytes.extend(list_id.to_le_bytes());
                bytes.extend(number.to_le_bytes());
                bytes.extend((samples.len() as u32).to_le_bytes());
                bytes.extend(samples.iter().flatten());
                due.push(bytes);
            }
        }
        due
    }

    pub fn acknowledge(
        &mut self,
        list: i32,
        number: u64,
        positions: Option<&[usize]>,
    ) -> Result<(), NoSuchList> {
        self.list(list)?.acknowledge(number, positions);
        Ok(())
    }

    /// How long the first sample of a list waits; 0 until the list is full.
    pub fn set_timeout_ms(&mut self, list: i32, timeout_ms: u64) -> Result<(), NoSuchList> {
        self.list(list)?.timeout = (timeout_ms > 0).then(|| Span::from_ms(timeout_ms));
        Ok(())
    }

    pub fn set_max_samples(&mut self, list: i32, samples: usize) -> Result<(), NoSuchList> {
        self.list(list)?.max_samples = samples.clamp(1, MAX_SAMPLES);
        Ok(())
    }
}

/// The first 16 bytes of every notification: its kind, the device, context 0.
fn header(kind: &[u8; 4], device_id: u64) -> Vec<u8> {
    let mut bytes = kind.to_vec();
    bytes.extend(device_id.to_le_bytes());
    bytes.extend(0i32.to_le_bytes());
    bytes
}

/// The notification of entries of one table that were not hit.
pub(crate) fn ageing(device_id: u64, number: u64, table_id: i32, handles: &[i32]) -> Vec<u8> {
    let mut bytes = header(b"AGE|", device_id);
    bytes.extend(number.to_le_bytes());
    bytes.extend(table_id.to_le_bytes());
    bytes.extend((handles.len() as u32).to_le_bytes());
    bytes.extend(handles.iter().flat_map(|handle| handle.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use p4cc_ir::{Bits, DigestId};

    fn message(value: u64) -> DigestMessage {
        DigestMessage {
            digest: DigestId(0),
            values: vec![Bits::from_u128(48, value.into()), Bits::from_u128(9, 0x102)],
            pipe: 0,
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn a_list_is_sent_when_it_is_full_or_has_waited() {
        let mut lists = Lists::new([3]);
        assert_eq!(lists.add(4, &message(1), at(0)), Err(NoSuchList));
        lists.add(3, &message(0x0a0b), at(0)).expect("it is there");
        assert!(lists.take(7, at(999)).is_empty());
        let due = lists.take(7, at(1_000));
        let wanted = [
            &b"LEA|"[..],
            &[7, 0, 0, 0, 0, 0, 0, 0],
            &[0; 4],
            &[3, 0, 0, 0],
            &[0; 8],
            &[1, 0, 0, 0],
            &[0, 0, 0, 0, 0x0a, 0x0b],
            &[1, 2],
        ];
        assert_eq!(due, [wanted.concat()]);
        lists.set_max_samples(3, 2).expect("it is there");
        for value in 1..=5 {
            lists.add(3, &message(value), at(1_001)).expect("it is there");
        }
        assert_eq!(lists.take(7, at(1_001)).len(), 2);
        lists.set_timeout_ms(3, 0).expect("it is there");
        assert!(lists.take(7, at(9_999)).is_empty(), "without a timeout a list waits until it is full");
    }

    #[test]
    fn a_sample_comes_again_after_its_acknowledgement_only() {
        let mut lists = Lists::new([1]);
        lists.set_max_samples(1, 2).expect("it is there");
        let add = |lists: &mut Lists, values: [u64; 2]| {
            values.iter().for_each(|&value| lists.add(1, &message(value), at(0)).expect("it is there"));
            lists.take(0, at(0)).len()
        };
        assert_eq!(add(&mut lists, [1, 2]), 1);
        assert_eq!(add(&mut lists, [1, 2]), 0);
        lists.acknowledge(1, 0, Some(&[1, 9])).expect("it is there");
        assert_eq!(add(&mut lists, [1, 2]), 0, "one of two waits for its list to fill");
        assert_eq!(add(&mut lists, [2, 3]), 1);
        lists.acknowledge(1, 0, None).expect("it is there");
        lists.acknowledge(1, 1, None).expect("it is there");
        lists.acknowledge(1, 1, None).expect("again does nothing");
        assert_eq!(add(&mut lists, [1, 2]), 1);
    }
}
