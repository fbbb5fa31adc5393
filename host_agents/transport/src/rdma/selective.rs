//! What a sender knows of each of its packets, where the receiver keeps what comes out of order
//! (docs/algorithms/substrate.md#selective-repeat).
//!
//! Invariants: a packet keeps its bounds however often it is sent; one that arrived is never sent again; a
//! packet is found lost by what arrived beyond it once, and as often as they come by its header alone and by
//! timeouts.

use std::collections::VecDeque;

use p4cc_units::Time;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Flying,
    Arrived,
    /// And not sent again since.
    Lost,
}

/// A packet above the first unacknowledged byte.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    len: u32,
    fate: Fate,
    was_resent: bool,
    /// When it left last.
    at: Time,
}

impl Sent {
    fn bytes_if(&self, fate: Fate) -> u64 {
        if self.fate == fate { u64::from(self.len) } else { 0 }
    }
}

/// The packets of one flow between the first unacknowledged byte and the last one sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Selective {
    packets: VecDeque<Sent>,
    /// Number of the first of them.
    first: u64,
    /// Numbers of packets found lost, in the order in which they leave again; some arrived since.
    lost: VecDeque<u64>,
    lost_bytes: u64,
    flight_bytes: u64,
    /// Arrived above the first unacknowledged byte.
    above_bytes: u64,
    /// Number of the packet that is to be found lost next, and bytes that arrived beyond it.
    edge: u64,
    beyond_bytes: u64,
    /// One past the last byte that was sent when a loss was last told of.
    recover: u64,
}

/// What an ACK showed to be lost.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Losses {
    pub bytes: u64,
    /// One of them was sent after the last loss that was told of: it is of another round trip.
    pub is_new: bool,
}

impl Selective {
    /// A new packet leaves.
    pub fn sent(&mut self, now: Time, start: u64, len: u32) {
        self.flight_bytes += u64::from(len);
        self.packets.push_back(Sent { start, len, fate: Fate::Flying, was_resent: false, at: now });
    }

    /// Believed to be in the network.
    pub fn flight_bytes(&self) -> u64 {
        self.flight_bytes
    }

    /// Known to have arrived above the first unacknowledged byte.
    pub fn above_bytes(&self) -> u64 {
        self.above_bytes
    }

    /// To be sent again.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    pub fn has_lost(&self) -> bool {
        self.lost_bytes > 0
    }

    /// The packet to send again, its first byte and its length; it counts as sent.
    pub fn take_lost(&mut self, now: Time) -> Option<(u64, u32)> {
        while let Some(number) = self.lost.pop_front() {
            let index = number.checked_sub(self.first).map(|index| index as usize);
            let packet = index.and_then(|index| self.packets.get_mut(index));
            if let Some(packet) = packet.filter(|packet| packet.fate == Fate::Lost) {
                (packet.fate, packet.was_resent, packet.at) = (Fate::Flying, true, now);
                self.lost_bytes -= u64::from(packet.len);
                self.flight_bytes += u64::from(packet.len);
                return Some((packet.start, packet.len));
            }
        }
        None
    }

    /// All bytes below `una` arrived.
    pub fn advance(&mut self, una: u64) {
        while let Some(packet) =
            self.packets.front().filter(|packet| packet.start + u64::from(packet.len) <= una)
        {
            self.flight_bytes -= packet.bytes_if(Fate::Flying);
            self.lost_bytes -= packet.bytes_if(Fate::Lost);
            self.above_bytes -= packet.bytes_if(Fate::Arrived);
            self.packets.pop_front();
            self.first += 1;
            if self.edge < self.first {
                self.move_edge();
            }
        }
    }

    /// The packet that begins at this byte arrived.
    pub fn arrived(&mut self, start: u64) {
        let Ok(index) = self.packets.binary_search_by_key(&start, |packet| packet.start) else { return };
        let packet = &mut self.packets[index];
        self.flight_bytes -= packet.bytes_if(Fate::Flying);
        self.lost_bytes -= packet.bytes_if(Fate::Lost);
        if packet.fate != Fate::Arrived {
            packet.fate = Fate::Arrived;
            self.above_bytes += u64::from(packet.len);
            if self.first + index as u64 > self.edge {
                self.beyond_bytes += u64::from(packet.len);
            }
        }
    }

    /// Finds the packets lost beyond which `reordering_bytes` arrived; `snd_nxt` is the next new byte.
    pub fn find_lost(&mut self, reordering_bytes: u64, snd_nxt: u64) -> Losses {
        let mut losses = Losses::default();
        while self.beyond_bytes >= reordering_bytes.max(1) {
            let Some(packet) = self.packets.get_mut((self.edge - self.first) as usize) else { break };
            if packet.fate == Fate::Flying && !packet.was_resent {
                packet.fate = Fate::Lost;
                self.flight_bytes -= u64::from(packet.len);
                self.lost_bytes += u64::from(packet.len);
                self.lost.push_back(self.edge);
                losses.bytes += u64::from(packet.len);
                losses.is_new |= packet.start >= self.recover;
            }
            self.move_edge();
        }
        if losses.is_new {
            self.recover = snd_nxt;
        }
        losses
    }

    /// Of the packet that begins at this byte only the header arrived; `snd_nxt` is the next new byte.
    pub fn trimmed(&mut self, start: u64, snd_nxt: u64) -> Losses {
        let mut losses = Losses::default();
        let Ok(index) = self.packets.binary_search_by_key(&start, |packet| packet.start) else {
            return losses;
        };
        let packet = &mut self.packets[index];
        if packet.fate == Fate::Flying {
            packet.fate = Fate::Lost;
            self.flight_bytes -= u64::from(packet.len);
            self.lost_bytes += u64::from(packet.len);
            self.lost.push_back(self.first + index as u64);
            losses = Losses { bytes: packet.len.into(), is_new: packet.start >= self.recover };
        }
        if losses.is_new {
            self.recover = snd_nxt;
        }
        losses
    }

    /// A timeout: whatever did not arrive is lost.
    pub fn on_timeout(&mut self) {
        self.lost.clear();
        for (number, packet) in (self.first..).zip(&mut self.packets) {
            if packet.fate != Fate::Arrived {
                packet.fate = Fate::Lost;
                self.lost.push_back(number);
            }
        }
        self.lost_bytes += core::mem::take(&mut self.flight_bytes);
    }

    /// Packets that left by then and of which nothing was heard since are lost; how many bytes those are.
    pub fn time_out(&mut self, left_by: Time) -> u64 {
        let mut bytes = 0;
        for (number, packet) in (self.first..).zip(&mut self.packets) {
            if packet.fate == Fate::Flying && packet.at <= left_by {
                packet.fate = Fate::Lost;
                self.lost.push_back(number);
                bytes += u64::from(packet.len);
            }
        }
        self.flight_bytes -= bytes;
        self.lost_bytes += bytes;
        bytes
    }

    /// When the first of the packets left that are believed to be in the network.
    pub fn oldest(&self) -> Option<Time> {
        self.packets.iter().filter(|packet| packet.fate == Fate::Flying).map(|packet| packet.at).min()
    }

    fn move_edge(&mut self) {
        self.edge += 1;
        let next = self.packets.get((self.edge - self.first) as usize);
        self.beyond_bytes -= next.map_or(0, |packet| packet.bytes_if(Fate::Arrived));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sent(packets: u64) -> Selective {
        let mut selective = Selective::default();
        (0..packets).for_each(|n| selective.sent(Time::from_us(n), 100 * n, 100));
        selective
    }

    #[test]
    fn a_packet_is_lost_when_enough_arrived_beyond_it() {
        let mut selective = sent(8);
        selective.arrived(300);
        selective.arrived(200);
        assert_eq!(selective.find_lost(300, 800), Losses::default());
        selective.arrived(400);
        // Behind 0 and 100 three packets arrived; behind 200 and later fewer.
        assert_eq!(selective.find_lost(300, 800), Losses { bytes: 200, is_new: true });
        assert_eq!((selective.flight_bytes(), selective.above_bytes()), (300, 300));
        assert_eq!(
            [0, 1, 2].map(|_| selective.take_lost(Time::ZERO)),
            [Some((0, 100)), Some((100, 100)), None]
        );
        selective.arrived(600);
        selective.arrived(700);
        selective.arrived(0);
        // 500 has two beyond it, which is enough now; 0 and 100 were sent again.
        assert_eq!(selective.find_lost(200, 900), Losses { bytes: 100, is_new: false });
        selective.advance(500);
        assert_eq!((selective.flight_bytes(), selective.above_bytes()), (0, 200));
        assert_eq!(selective.take_lost(Time::ZERO), Some((500, 100)));
        selective.on_timeout();
        assert_eq!([0, 1].map(|_| selective.take_lost(Time::ZERO)), [Some((500, 100)), None]);
        selective.advance(800);
        assert_eq!((selective.flight_bytes(), selective.above_bytes(), selective.has_lost()), (0, 0, false));
    }

    #[test]
    fn a_trimmed_packet_leaves_again_each_time() {
        let mut selective = sent(3);
        assert_eq!(selective.trimmed(100, 300), Losses { bytes: 100, is_new: true });
        assert_eq!(selective.trimmed(100, 300), Losses::default(), "it is known");
        assert_eq!(selective.trimmed(150, 300), Losses::default(), "no packet begins there");
        assert_eq!((selective.flight_bytes(), selective.take_lost(Time::ZERO)), (200, Some((100, 100))));
        // The copy, too.
        assert_eq!(selective.trimmed(100, 300), Losses { bytes: 100, is_new: false });
        assert_eq!([0, 1].map(|_| selective.take_lost(Time::ZERO)), [Some((100, 100)), None]);
        selective.arrived(100);
        assert_eq!(selective.trimmed(100, 300), Losses::default(), "it arrived");
        assert_eq!((selective.flight_bytes(), selective.has_lost()), (200, false));
    }

    /// The same, by looking at every packet every time.
    #[derive(Default)]
    struct Plain {
        packets: Vec<(Fate, bool)>,
        una: usize,
    }

    impl Plain {
        fn bytes(&self, fate: Fate) -> u64 {
            10 * self.packets[self.una..].iter().filter(|packet| packet.0 == fate).count() as u64
        }

        fn find_lost(&mut self, most: u64) -> u64 {
            let mut lost = 0;
            for index in self.una..self.packets.len() {
                let beyond =
                    self.packets[index + 1..].iter().filter(|packet| packet.0 == Fate::Arrived).count();
                if 10 * beyond as u64 >= most && self.packets[index] == (Fate::Flying, false) {
                    self.packets[index].0 = Fate::Lost;
                    lost += 10;
                }
            }
            lost
        }
    }

    proptest! {
        #[test]
        fn agrees_with_looking_at_every_packet(
            steps in prop::collection::vec((0_u8..6, 0_usize..40), 0..300),
            most in 1_u64..8,
        ) {
            let (mut selective, mut plain) = (Selective::default(), Plain::default());
            for (step, which) in steps {
                match step {
                    0 | 1 => {
                        selective.sent(Time::ZERO, 10 * plain.packets.len() as u64, 10);
                        plain.packets.push((Fate::Flying, false));
                    }
                    2 | 3 => {
                        let index = plain.una + which;
                        selective.arrived(10 * index as u64);
                        if let Some(packet) = plain.packets.get_mut(index) {
                            packet.0 = Fate::Arrived;
                        }
                        prop_assert_eq!(selective.find_lost(10 * most, 0).bytes, plain.find_lost(10 * most));
                    }
                    4 => {
                        let lowest = (plain.una..plain.packets.len()).find(|at| plain.packets[*at].0 == Fate::Lost);
                        prop_assert_eq!(selective.take_lost(Time::ZERO), lowest.map(|at| (10 * at as u64, 10)));
                        if let Some(at) = lowest {
                            plain.packets[at] = (Fate::Flying, true);
                        }
                    }
                    _ if which < 36 => {
                        let arrived = plain.packets[plain.una..].iter().take_while(|packet| packet.0 == Fate::Arrived);
                        plain.una = (plain.una + arrived.count().max(which / 30)).min(plain.packets.len());
                        selective.advance(10 * plain.una as u64);
                    }
                    _ => {
                        selective.on_timeout();
                        let open = plain.packets[plain.una..].iter_mut().filter(|packet| packet.0 == Fate::Flying);
                        open.for_each(|packet| packet.0 = Fate::Lost);
                    }
                }
                prop_assert_eq!(selective.flight_bytes(), plain.bytes(Fate::Flying));
                prop_assert_eq!(selective.above_bytes(), plain.bytes(Fate::Arrived));
                prop_assert_eq!(selective.has_lost(), plain.bytes(Fate::Lost) > 0);
            }
        }
    }
}
