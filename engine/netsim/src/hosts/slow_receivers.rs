//! Slow receivers: a host that takes packets from its network card at a rate below its link's
//! (docs/algorithms/pfc.md#slow-receivers).
//!
//! Packets wait in the card in the order of their arrival, and their flow hears of each when the host has
//! taken it. Where a priority is lossless by PFC (IEEE 802.1Qbb), the card pauses its neighbour before it is
//! full; other packets find room below that threshold only, so what is on the way then has room.

use p4cc_switch::Packet;
use p4cc_units::Span;

use crate::context::Context;
use crate::events::Timer;
use crate::hosts::special::class_of;
use crate::hosts::state::Hosts;
use crate::links::PauseWord;

impl Hosts {
    /// A packet reaches the card of a slow receiver. Gives it back if the host takes it at once.
    pub(super) fn queue_in_card(
        &mut self,
        cx: &mut Context<'_>,
        host: u32,
        packet: Packet,
    ) -> Option<Packet> {
        let now = cx.now();
        let Some(card) = &mut self.hosts[host as usize].slow else { return Some(packet) };
        card.counters.arrived_pkts += 1;
        if card.waiting.is_empty() && !card.is_slow(now) {
            card.counters.taken_pkts += 1;
            card.counters.taken_bytes += card.bytes_of(&packet);
            return Some(packet);
        }
        if !card.has_room(&packet, class_of(cx.topology, &packet)) {
            card.counters.dropped_pkts += 1;
            cx.pool.give(packet);
            return None;
        }
        card.bytes += card.bytes_of(&packet);
        card.counters.peak_bytes = card.counters.peak_bytes.max(card.bytes);
        card.waiting.push_back(packet);
        if card.waiting.len() == 1 {
            card.busy_since = Some(now);
            if let Some(at) = card.taken_at(now) {
                cx.schedule.timer(at, cx.topology.host_node(host), Timer::Taken { host });
            }
        }
        if card.bytes > card.plan.xoff_bytes && card.paused_since.is_none() {
            self.pause_neighbour(cx, host, true);
        }
        None
    }

    /// The host has taken the first packet of its card; after the slow time it takes all that waits.
    pub fn on_taken(&mut self, cx: &mut Context<'_>, host: u32) {
        let now = cx.now();
        while let Some(card) = &mut self.hosts[host as usize].slow {
            let Some(packet) = card.waiting.pop_front() else { break };
            let bytes = card.bytes_of(&packet);
            card.bytes -= bytes;
            card.counters.taken_pkts += 1;
            card.counters.taken_bytes += bytes;
            let is_slow = card.is_slow(now);
            if card.waiting.is_empty() {
                let busy = card.busy_since.take().map_or(Span::ZERO, |since| now.since(since));
                card.counters.busy = card.counters.busy + busy;
            } else if is_slow && let Some(at) = card.taken_at(now) {
                cx.schedule.timer(at, cx.topology.host_node(host), Timer::Taken { host });
            }
            if card.bytes <= card.plan.xon_bytes && card.paused_since.is_some() {
                self.pause_neighbour(cx, host, false);
            }
            if let Some(unused) = self.take_special(cx, host, packet) {
                cx.pool.give(unused);
            }
            if is_slow {
                break;
            }
        }
    }

    /// Pauses the neighbour in all lossless priorities, or resumes it.
    fn pause_neighbour(&mut self, cx: &mut Context<'_>, host: u32, pause: bool) {
        let now = cx.now();
        let Some(card) = &mut self.hosts[host as usize].slow else { return };
        let lossless = card.plan.lossless;
        if lossless == 0 || cx.is_down(cx.topology.hosts[host as usize].uplink) {
            return;
        }
        if pause {
            card.paused_since = Some(now);
            card.counters.pauses += 1;
        } else {
            card.forget_pauses(now);
            card.counters.resumes += 1;
        }
        for priority in (0..8).filter(|priority| lossless & (1 << priority) != 0) {
            self.send_pause_frame(cx, host, PauseWord { priority, pause, quanta: None });
        }
    }
}
