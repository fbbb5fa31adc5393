//! The link behind a port: serialisation at its rate, then its delay.
//!
//! A packet leaves when its last bit has: at the end of its transmission, plus the link's delay. A
//! transmission that follows on another starts when that one ended, not when the thread woke up, so that the
//! rate holds over time however late single wake-ups are; after a pause of the thread itself at most
//! [`MAX_CATCH_UP`] is made up for. A link that loses packets does so behind their transmission, by a random
//! stream of its own.

use std::collections::VecDeque;

use p4cc_switch::{Packet, Stream, Switch, Transmission};
use p4cc_units::{Span, Time};

/// Most time that a port makes up for when its thread could not run.
const MAX_CATCH_UP: Span = Span::from_ms(5);
/// The clock counts nanoseconds.
const CLOCK_TICK: Span = Span::from_ns(1);
/// Most packets on one link; more are lost and counted.
const MAX_IN_FLIGHT: usize = 1 << 16;

/// Which packets a link loses, in one direction.
#[derive(Debug)]
pub(crate) struct Loss {
    /// A number below this loses the packet.
    below: u64,
    stream: Stream,
    /// Packets lost so far.
    pub lost: u64,
}

impl Loss {
    /// Loses this share of packets; `name` is that of the stream.
    pub fn new(share: f64, seed: u64, name: &str) -> Self {
        // 2^64 as a float: shares are below 1, and the conversion saturates.
        let below = (share * 18_446_744_073_709_551_616.0) as u64;
        Self { below, stream: Stream::named(seed, name), lost: 0 }
    }

    /// Whether the next packet is lost.
    #[inline]
    pub fn takes(&mut self) -> bool {
        let taken = self.below > 0 && self.stream.next_u64() < self.below;
        self.lost += u64::from(taken);
        taken
    }
}

/// How much one round of the data plane may do: a bound on
/// the passes and copies that the switch has counted by then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share(u64);

/// Passes and copies of one round. With the limit of a
/// received packet, it is what others may have to wait for.
const CAUSED_IN_A_ROUND: u64 = 16_384;

impl Share {
    /// Of a round that begins now.
    pub fn begin(switch: &Switch) -> Self {
        Self(switch.observation().counters().caused() + CAUSED_IN_A_ROUND)
    }

    /// Whether others are to have their turn.
    #[inline]
    pub fn is_used_up(self, switch: &Switch) -> bool {
        switch.observation().counters().caused() >= self.0
    }
}

/// The link behind one port.
#[derive(Debug)]
pub(crate) struct Wire {
    port: u32,
    delay: Span,
    loss: Loss,
    /// When the transmission that goes on, or went on last, ends.
    free_at: Time,
    /// Whether the port has not been without work since then.
    busy: bool,
    /// When a queue that waits for its rate may go on.
    held_until: Option<Time>,
    /// Packets on their way, by the time at which they arrive, which never goes back.
    flying: VecDeque<(Time, Packet)>,
    /// Packets lost because too many were on the link.
    pub(crate) lost: u64,
}

impl Wire {
    pub(crate) fn new(port: u32, delay: Span, loss: Loss) -> Self {
        Self {
            port,
            delay,
            loss,
            free_at: Time::ZERO,
            busy: false,
            held_until: None,
            flying: VecDeque::new(),
            lost: 0,
        }
    }

    /// Sets the delay for packets from now on; none overtakes another.
    pub(crate) fn set_delay(&mut self, delay: Span) {
        self.delay = delay;
    }

    /// Starts the transmissions that are due. Packets that have arrived already go to `out`. Where packets
    /// have caused enough work for now, the rest is due at once.
    #[inline]
    pub(crate) fn start(&mut self, switch: &mut Switch, now: Time, share: Share, out: &mut Vec<Packet>) {
        while self.is_free(now) {
            if share.is_used_up(switch) {
                (self.busy, self.free_at) = (true, if self.busy { self.free_at } else { now });
                return;
            }
            let Some(sent) = switch.transmit(now, self.port) else {
                self.busy = false;
                self.held_until = switch.next_allowed(self.port);
                return;
            };
            self.carry(now, sent, out);
        }
    }

    /// Whether a transmission may start.
    #[inline]
    pub(crate) fn is_free(&self, now: Time) -> bool {
        !self.busy || self.free_at <= now
    }

    /// Starts the transmission of a packet that is there, on a link that is free.
    /// A packet that has arrived already goes to `out`.
    #[inline]
    pub(crate) fn carry(&mut self, now: Time, sent: Transmission, out: &mut Vec<Packet>) {
        self.held_until = None;
        let missed = now.since(self.free_at);
        let begin = if self.busy && missed <= MAX_CATCH_UP { self.free_at } else { now };
        self.busy = true;
        // What is shorter than the clock's tick takes no time: a link without a rate is never busy.
        self.free_at = if sent.duration < CLOCK_TICK { begin } else { begin + sent.duration };
        if self.loss.takes() {
            return;
        }
        let arrival = self.free_at + self.delay;
        if arrival <= now && self.flying.is_empty() {
            out.push(sent.packet);
        } else if self.flying.len() < MAX_IN_FLIGHT {
            self.flying.push_back((arrival, sent.packet));
        } else {
            self.lost += 1;
        }
    }

    /// Moves the packets that have arrived to `out`.
    #[inline]
    pub(crate) fn land(&mut self, now: Time, out: &mut Vec<Packet>) {
        while self.flying.front().is_some_and(|(at, _)| *at <= now) {
            if let Some((_, packet)) = self.flying.pop_front() {
                out.push(packet);
            }
        }
    }

    /// Whether the transmission that goes on has ended, or a queue may go on.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        if self.busy { self.free_at <= now } else { self.held_until.is_some_and(|at| at <= now) }
    }

    /// Packets that the link lost, as it was asked to.
    pub(crate) fn lost_by_chance(&self) -> u64 {
        self.loss.lost
    }

    /// When there is something to do next.
    pub(crate) fn next(&self) -> Option<Time> {
        let landing = self.flying.front().map(|(at, _)| *at);
        let free = if self.busy { Some(self.free_at) } else { self.held_until };
        landing.into_iter().chain(free).min()
    }
}

#[cfg(test)]
mod tests {
    use p4cc_switch::config::DEFAULT_DROP_PORT;
    use p4cc_switch::{DEFAULT_PASS_LIMIT, PortConfig, SwitchConfig, TimestampUnit};
    use p4cc_units::Rate;

    use super::*;
    use crate::program;

    /// A switch that sends everything out of port 1 at this
    /// rate, with this many packets of 1,014 bytes in its queue.
    fn switch(rate: Rate, packets: usize) -> Switch {
        let ports = [0, 1].map(|port| PortConfig { port, rate, capacity_pkts: 100, ..PortConfig::default() });
        let mut switch = Switch::new(SwitchConfig {
            device_id: 0,
            ports: ports.to_vec(),
            buffer: None,
            timestamp_unit: TimestampUnit::Us,
            cpu_port: None,
            drop_port: DEFAULT_DROP_PORT,
            seed: 0,
            pass_limit: DEFAULT_PASS_LIMIT,
            deflect_on_drop: false,
        })
        .expect("a good configuration");
        switch.control().set_pipeline(program::testing::to_port(1));
        for _ in 0..packets {
            switch.receive(Time::ZERO, 0, Packet::new(&[0; 14], 1_000));
        }
        switch
    }

    fn start(wire: &mut Wire, switch: &mut Switch, now: Time, out: &mut Vec<Packet>) {
        wire.start(switch, now, Share::begin(switch), out);
    }

    fn no_loss() -> Loss {
        Loss::new(0.0, 0, "loss")
    }

    #[test]
    fn a_link_loses_its_share_and_the_same_packets_for_a_seed() {
        let lost = |seed, share| {
            let mut switch = switch(Rate::from_bps(u64::MAX), 100);
            let mut wire = Wire::new(1, Span::ZERO, Loss::new(share, seed, "loss"));
            let mut out = Vec::new();
            start(&mut wire, &mut switch, Time::from_ns(1), &mut out);
            assert_eq!(out.len() as u64 + wire.lost_by_chance(), 100);
            wire.lost_by_chance()
        };
        assert_eq!((lost(1, 0.0), lost(1, 0.999_999_999)), (0, 100));
        assert_eq!(lost(1, 0.3), lost(1, 0.3));
        assert!((15..45).contains(&lost(1, 0.3)), "{}", lost(1, 0.3));
    }

    const MBPS: Rate = Rate::from_bps(8_000_000);

    #[test]
    fn packets_arrive_when_their_last_bit_does_and_the_delay_is_over() {
        let mut switch = switch(MBPS, 2);
        let mut wire = Wire::new(1, Span::from_ms(5), no_loss());
        let mut out = Vec::new();
        start(&mut wire, &mut switch, Time::ZERO, &mut out);
        // 1,000 bytes at 8 Mbit/s take a millisecond.
        assert_eq!(wire.next(), Some(Time::from_ms(1)));
        start(&mut wire, &mut switch, Time::from_us(1_900), &mut out);
        wire.land(Time::from_us(5_999), &mut out);
        assert!(out.is_empty());
        wire.land(Time::from_ms(6), &mut out);
        assert_eq!(out.len(), 1);
        // The second started when the first ended, though the thread came late.
        wire.land(Time::from_ms(7), &mut out);
        assert_eq!(out.len(), 2);
    }

    #[test]
    fn late_wake_ups_do_not_lower_the_rate_and_a_long_pause_is_not_made_up_for() {
        let mut switch = switch(MBPS, 60);
        let mut wire = Wire::new(1, Span::ZERO, no_loss());
        let mut out = Vec::new();
        let mut now = Time::ZERO;
        while now <= Time::from_ms(20) {
            start(&mut wire, &mut switch, now, &mut out);
            wire.land(now, &mut out);
            now += Span::from_us(1_700);
        }
        // The last look was at 18.7 ms.
        assert_eq!(out.len(), 18);
        let before = out.len();
        start(&mut wire, &mut switch, Time::from_ms(100), &mut out);
        wire.land(Time::from_ms(100), &mut out);
        assert!(out.len() - before <= 2, "{} packets at once", out.len() - before);
    }

    #[test]
    fn a_link_without_a_rate_passes_packets_at_once() {
        let mut switch = switch(Rate::from_bps(u64::MAX), 40);
        let mut wire = Wire::new(1, Span::ZERO, no_loss());
        let mut out = Vec::new();
        start(&mut wire, &mut switch, Time::from_ns(1), &mut out);
        wire.land(Time::from_ns(2), &mut out);
        assert_eq!(out.len(), 40);
    }
}
