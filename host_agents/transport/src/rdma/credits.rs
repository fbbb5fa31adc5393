//! What a receiver lets a sender send, and the packets that say so (docs/algorithms/receivers.md#credit).
//!
//! Credit is a number of bytes since the flow began, so a lost packet is made good by the next one, and
//! packets may overtake each other. What leaves again counts as what leaves for the first time.
//!
//! The wire has 32 bits of it, so that it reaches at most [`MAX_AHEAD_BYTES`] beyond what has arrived: what
//! the sender heard last is then near enough for [`seq::unwrap`], whatever was lost since.

use p4cc_units::{Span, Time};

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

/// What a sender tells the receiver that it wants (docs/algorithms/receivers.md#asking).
#[derive(Clone, Copy, Debug)]
struct Asking {
    /// The most that it asks for at once.
    most_bytes: u64,
    /// Nothing was heard yet: what is left of the first window may leave.
    speculates: bool,
    /// The most that a packet said.
    said: u64,
    /// Of packets that came back as headers: the receiver counts those itself.
    trimmed_bytes: u64,
    /// A request is to leave.
    is_due: bool,
    /// Requests after silence since credit came last.
    tries: u32,
}

/// The time between requests doubles so often.
const MOST_TRIES: u32 = 6;

/// What a sender may still send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credits {
    given_bytes: u64,
    spent_bytes: u64,
    class: Option<u8>,
    asking: Option<Asking>,
    /// When it last heard of its receiver; before, when it began.
    pub heard: Time,
}

impl Credits {
    pub const fn new(unasked_bytes: u64) -> Self {
        Self { given_bytes: unasked_bytes, spent_bytes: 0, class: None, asking: None, heard: Time::ZERO }
    }

    /// The sender asks for what it wants, at most so much at once.
    pub const fn ask_up_to(&mut self, most_bytes: u64) {
        self.asking =
            Some(Asking { most_bytes, speculates: true, said: 0, trimmed_bytes: 0, is_due: false, tries: 0 });
    }

    /// Whether senders ask.
    pub const fn asks(&self) -> bool {
        self.asking.is_some()
    }

    /// Whether a request is to leave.
    #[inline]
    pub fn is_request_due(&self) -> bool {
        self.asking.is_some_and(|asking| asking.is_due)
    }

    /// The receiver was heard: what is left of the first window is void.
    pub fn stop_speculating(&mut self) {
        if let Some(asking) = self.asking.as_mut().filter(|asking| asking.speculates) {
            asking.speculates = false;
            self.spent_bytes = self.spent_bytes.max(self.given_bytes);
        }
    }

    /// Packets came back as headers.
    pub fn trimmed(&mut self, bytes: u64) {
        if let Some(asking) = &mut self.asking {
            asking.trimmed_bytes += bytes;
        }
    }

    /// What a packet that leaves says of what the flow wants: `backlog` is what there is to send, of which
    /// the sender's window lets `window` leave.
    pub fn say(&mut self, backlog: u64, window: u64) -> Option<u64> {
        let wanted = self.wanted(backlog, window)?;
        let asking = self.asking.as_mut()?;
        asking.is_due = false;
        asking.said = asking.said.max(wanted);
        Some(asking.said)
    }

    fn wanted(&self, backlog: u64, window: u64) -> Option<u64> {
        let asking = self.asking?;
        let more = backlog.min(asking.most_bytes).min(window);
        Some((self.spent_bytes + more).saturating_sub(asking.trimmed_bytes))
    }

    /// Without credit, and with data to send: a request leaves if no packet has told the receiver.
    pub fn ask_if_untold(&mut self) {
        if self.has_left() {
            return;
        }
        if let Some(asking) = &mut self.asking {
            asking.is_due |= asking.said + asking.trimmed_bytes <= self.given_bytes;
        }
    }

    /// Nothing was heard for too long: a request leaves, if there is no credit.
    pub fn ask_again(&mut self) {
        let is_due = !self.has_left();
        if let Some(asking) = &mut self.asking {
            asking.is_due |= is_due;
            asking.tries = (asking.tries + u32::from(is_due)).min(MOST_TRIES);
        }
    }

    /// How long to wait for the receiver before the next request, or packet that nobody asked for.
    pub fn patience(&self, rto: Span) -> Span {
        let tries = self.asking.map_or(0, |asking| asking.tries);
        Span::from_ps(rto.as_ps().saturating_mul(1 << tries))
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
            if let Some(asking) = self.asking.as_mut().filter(|_| given > self.given_bytes) {
                asking.tries = 0;
            }
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
    fn a_sender_asks_for_its_backlog_up_to_a_window() {
        let mut credits = Credits::new(3_000);
        assert_eq!(credits.say(9_000, u64::MAX), None, "nobody wants to know");
        credits.ask_up_to(3_000);
        credits.spend(1_000);
        assert_eq!(credits.say(9_000, u64::MAX), Some(4_000));
        assert_eq!(credits.say(9_000, 2_000), Some(4_000), "it said so already");
        credits.stop_speculating();
        assert!(!credits.has_left(), "what was left of the first window is void");
        credits.ask_if_untold();
        assert!(!credits.is_request_due(), "1000 bytes are to come");
        heard(&mut credits, &to_wire(4_000, None));
        credits.stop_speculating();
        assert!(credits.has_left(), "only once");
        credits.spend(1_000);
        credits.ask_if_untold();
        assert!(credits.is_request_due());
        assert_eq!((credits.say(1_000, u64::MAX), credits.is_request_due()), (Some(5_000), false));
        // A packet came back as its header, which the receiver has seen, too.
        credits.trimmed(1_000);
        assert_eq!(credits.say(2_000, u64::MAX), Some(5_000));
        credits.ask_if_untold();
        assert!(!credits.is_request_due(), "the receiver lets it send 2000 bytes");
        credits.ask_again();
        assert!(credits.is_request_due());
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
