//! What the next events will touch is asked of the memory early.
//!
//! A network of hundreds of switches is larger than the processor's near caches, and an event's way to what it needs is a
//! chain: channel, packet, switch, port. While one event is handled, the places of the next but one are read, and the
//! packet of the next one, which then stands behind a place that is near. Nothing is done with what is read, so results
//! cannot depend on it; where little fits in the caches anyway, or all of it, it is not worth its instructions.

use std::hint::black_box;

use crate::event::{Event, Kind};
use crate::network::Network;

/// Fewer switches fit the caches as they are.
const FEWEST_SWITCHES: usize = 32;

impl Network {
    /// Reads what the two events behind the present one begin with.
    #[inline(always)]
    pub(crate) fn look_ahead(&self) {
        if self.switches.len() >= FEWEST_SWITCHES {
            self.look_at_next();
        }
    }

    fn look_at_next(&self) {
        if let Some(event) = self.queue.upcoming(1) {
            black_box(self.touch_place(event));
        }
        if let Some(event) = self.queue.upcoming(0) {
            black_box(self.touch_packet(event));
        }
    }

    /// Reads the place of an event: channel, switch and port.
    fn touch_place(&self, event: &Event) -> u64 {
        let node = self.switches.get(event.node() as usize);
        let place = || node.map_or(0, |node| node.touch(event.port()));
        match event.kind() {
            Kind::Arrival => self.channels[event.subject as usize].bytes ^ place(),
            Kind::Dequeue => place(),
            Kind::Timer | Kind::Start => 0,
        }
    }

    /// Reads the packet of an event.
    fn touch_packet(&self, event: &Event) -> u64 {
        let packet = match event.kind() {
            Kind::Arrival => self.channels[event.subject as usize].first_packet(),
            Kind::Dequeue => {
                let node = self.switches.get(event.node() as usize);
                node.and_then(|node| node.switch.next_packet(event.port()))
            }
            Kind::Timer | Kind::Start => None,
        };
        packet.map_or(0, |packet| packet.touch())
    }
}
