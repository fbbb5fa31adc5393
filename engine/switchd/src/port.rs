//! A port of the daemon: an interface, the link behind it, what is captured.

use p4cc_switch::{Packet, PacketPool, Switch, Transmission};
use p4cc_units::{Span, Time};

use crate::capture::Capture;
use crate::options::Links;
use crate::packet_io::Interface;
use crate::wire::{Loss, Share, Wire};

/// A port.
pub(crate) struct Port {
    pub number: u32,
    pub interface: Interface,
    wire: Wire,
    /// What the link loses of the packets that come in.
    loss_in: Loss,
    out: Vec<Packet>,
    capture: Option<Capture>,
}

impl Port {
    /// The port of this number, with the link that the options give it.
    pub fn new(number: u32, interface: Interface, links: &Links, capture: Option<Capture>) -> Self {
        let [out, loss_in] = links.losses(number);
        let wire = Wire::new(number, links.delay(number), out);
        Self { number, interface, wire, loss_in, out: Vec::new(), capture }
    }

    /// Sets the delay of the link.
    pub fn set_delay(&mut self, delay: Span) {
        self.wire.set_delay(delay);
    }

    /// The next packet that came in.
    #[inline]
    pub fn receive(&mut self, pool: &mut PacketPool) -> Option<Packet> {
        let packet = loop {
            let packet = self.interface.receive(pool)?;
            if !self.loss_in.takes() {
                break packet;
            }
            pool.give(packet);
        };
        if let Some(capture) = &mut self.capture {
            capture.received(&packet);
        }
        Some(packet)
    }

    /// Whether a packet that leaves would start at once.
    #[inline]
    pub fn is_free(&self, now: Time) -> bool {
        self.wire.is_free(now)
    }

    /// Starts a packet that bypassed its queue.
    #[inline]
    pub fn carry(&mut self, now: Time, sent: Transmission) {
        self.wire.carry(now, sent, &mut self.out);
    }

    /// Starts what is due on the link.
    #[inline]
    pub fn start(&mut self, switch: &mut Switch, now: Time, share: Share) {
        self.wire.start(switch, now, share, &mut self.out);
    }

    /// Starts and ends what is due on the link.
    #[inline]
    pub fn advance(&mut self, switch: &mut Switch, now: Time, share: Share) {
        if self.wire.is_due(now) {
            self.wire.start(switch, now, share, &mut self.out);
        }
        self.wire.land(now, &mut self.out);
    }

    /// Gives the packets that have arrived to the interface; how many there were.
    #[inline]
    pub fn flush(&mut self, pool: &mut PacketPool) -> usize {
        let count = self.out.len();
        if count > 0 {
            if let Some(capture) = &mut self.capture {
                self.out.iter().for_each(|packet| capture.sent(packet));
            }
            self.interface.send(&mut self.out, pool);
        }
        count
    }

    /// Writes out what was captured.
    pub fn flush_capture(&mut self) {
        if let Some(capture) = &mut self.capture {
            capture.flush();
        }
    }

    /// When there is something to do next.
    pub fn next(&self) -> Option<Time> {
        self.wire.next()
    }

    /// Packets that the link lost, as it was asked to, in both directions.
    pub fn lost_by_chance(&self) -> u64 {
        self.wire.lost_by_chance() + self.loss_in.lost
    }

    /// Packets lost because too many were on the link.
    pub fn lost_on_link(&self) -> u64 {
        self.wire.lost
    }
}
