//! What a receiver lets a sender send, and the packets that say so (docs/algorithms/receivers.md#credit).
//!
//! Credit is a number of bytes since the flow began, so a lost packet is made good by the next one, and
//! packets may overtake each other. What leaves again counts as what leaves for the first time.
//!
//! The wire has 32 bits of it, so that it reaches at most [`MAX_AHEAD_BYTES`] beyond what has arrived: what
//! the sender heard last is then near enough for [`seq::unwrap`], whatever was lost since.

use p4cc_units::Time;

use crate::seq;
use crate::wire::{Extension, ExtensionType};

/// Class, reserved bits, credit.
pub(super) const CREDIT_BYTES: usize = 8;
/// Most credit beyond what has arrived in order, and as headers.
const MAX_AHEAD_BYTES: u64 = 1 << 30;
/// The flow's own class.
const OWN_CLASS: u8 = 0xff;

/// The bytes of a credit extension.
pub(super) fn to_wire(given_bytes: u64, class: Option<u8>) -> [u8; CREDIT_BYTES] {
    let mut bytes = [0; CREDIT_BYTES];
    bytes[0] = class.unwrap_or(OWN_CLASS);
    bytes[4..].copy_from_slice(&seq::wrap(given_bytes).to_be_bytes());
    bytes
}

/// What a sender may still send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credits {
    given_bytes: u64,
    spent_bytes: u64,
    class: Option<u8>,
    /// When it last heard of its receiver; before, when it began.
    pub heard: Time,
}

impl Credits {
    pub const fn new(unasked_bytes: u64) -> Self {
        Self { given_bytes: unasked_bytes, spent_bytes: 0, class: None, heard: Time::ZERO }
    }

    /// Whether a packet may leave: the last one may take more than there is.
    #[inline]
    pub const fn has_left(&self) -> bool {
        self.spent_bytes < self.given_bytes
    }

    /// The class that the receiver chose for the flow's data.
    pub const fn class(&self) -> Option<u8> {
        self.class
    }

    pub const fn spend(&mut self, bytes: u64) {
        self.spent_bytes += bytes;
    }

    /// Packets of which the receiver never heard leave again unasked.
    pub const fn refund(&mut self, bytes: u64) {
        self.spent_bytes = self.spent_bytes.saturating_sub(bytes);
    }

    /// One packet may leave, though nobody asked for it.
    pub fn probe(&mut self, bytes: u64) {
        self.spent_bytes = self.spent_bytes.min(self.given_bytes.saturating_sub(bytes));
    }

    /// Takes what a receiver says.
    pub fn hear(&mut self, extension: &Extension<'_>) {
        let Some((head, credit)) = extension.bytes.split_first_chunk::<4>() else { return };
        let Some(credit) = credit.first_chunk().filter(|_| extension.kind == ExtensionType::CREDIT) else {
            return;
        };
        let given = seq::unwrap(u32::from_be_bytes(*credit), self.given_bytes);
        if let Some(given) = given.filter(|given| *given >= self.given_bytes) {
            (self.given_bytes, self.class) = (given, Some(head[0]).filter(|class| *class != OWN_CLASS));
        }
    }
}

/// What a receiver let its sender send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    given_bytes: u64,
    /// Of data that arrived as headers.
    again_bytes: u64,
    class: Option<u8>,
}

impl Given {
    pub const fn new(unasked_bytes: u64) -> Self {
        Self { given_bytes: unasked_bytes, again_bytes: 0, class: None }
    }

    /// Data arrived as its header.
    pub const fn trimmed(&mut self, bytes: u64) {
        self.again_bytes = self.again_bytes.saturating_add(bytes);
    }

    /// So many bytes more; `expected` is the end of what has arrived in order.
    pub fn pull(&mut self, expected: u64, bytes: u64) {
        self.given_bytes = self.readable(expected, self.given_bytes.saturating_add(bytes));
    }

    /// Credit of so many bytes, cut to what the sender can read; never less than before.
    fn readable(&self, expected: u64, given: u64) -> u64 {
        let most = expected.saturating_add(self.again_bytes).saturating_add(MAX_AHEAD_BYTES);
        given.min(most).max(self.given_bytes)
    }

    /// Whether this lets more be sent than before, or in another class.
    pub fn grant(&mut self, expected: u64, up_to: u64, class: Option<u8>) -> bool {
        let given = self.readable(expected, up_to.saturating_add(self.again_bytes));
        let is_new = given > self.given_bytes || class != self.class;
        (self.given_bytes, self.class) = (given, class);
        is_new
    }

    pub fn to_wire(self) -> [u8; CREDIT_BYTES] {
        to_wire(self.given_bytes, self.class)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn heard(credits: &mut Credits, bytes: &[u8]) {
        credits.hear(&Extension { kind: ExtensionType::CREDIT, bytes });
    }

    #[test]
    fn a_packet_leaves_while_a_byte_is_left() {
        let mut credits = Credits::new(1_500);
        credits.spend(1_000);
        assert!(credits.has_left());
        credits.spend(1_000);
        assert!(!credits.has_left(), "500 bytes were borrowed");
        heard(&mut credits, &to_wire(2_000, Some(3)));
        assert_eq!((credits.has_left(), credits.class()), (false, Some(3)));
        credits.refund(1_000);
        assert!(credits.has_left());
        credits.spend(1_000);
        credits.probe(1_000);
        assert!(credits.has_left());
        credits.spend(1_000);
        assert!(!credits.has_left());
    }

    #[test]
    fn grants_count_what_has_to_leave_again() {
        let mut given = Given::new(1_000);
        assert!(!given.grant(0, 500, None), "it has more");
        assert!(given.grant(0, 500, Some(1)), "in another class");
        given.trimmed(1_000);
        assert!(given.grant(0, 1_000, Some(1)));
        given.pull(0, 1_000);
        assert_eq!(given.to_wire(), [1, 0, 0, 0, 0, 0, 0x0b, 0xb8]);
    }

    #[test]
    fn other_extensions_and_short_ones_say_nothing() {
        let mut credits = Credits::new(0);
        credits.hear(&Extension { kind: ExtensionType::CNP, bytes: &to_wire(9, None) });
        heard(&mut credits, &[]);
        heard(&mut credits, &to_wire(9, None)[..7]);
        assert!(!credits.has_left());
        heard(&mut credits, &to_wire(9, None));
        assert!(credits.has_left());
    }

    proptest! {
        /// Packets that overtake each other and get lost leave what the newest says, far beyond 32 bits too.
        #[test]
        fn the_newest_counts(
            first in 0_u64..1 << 40,
            more in prop::collection::vec((0_u64..1 << 20, any::<bool>()), 1..50),
        ) {
            let (mut given, mut credits) = (Given::new(first), Credits::new(first));
            let (mut sent, mut newest) = (Vec::new(), 0);
            for (bytes, arrives) in more {
                given.pull(first, bytes);
                if arrives {
                    sent.push(given.to_wire());
                    newest = given.given_bytes;
                }
            }
            sent.iter().rev().for_each(|bytes| heard(&mut credits, bytes));
            prop_assert_eq!(credits.given_bytes, newest.max(first));
        }
    }
}
