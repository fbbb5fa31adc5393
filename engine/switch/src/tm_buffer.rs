//! The shared buffer of a switch and the pauses it asks for (spec 13).
//!
//! A packet of a lossless priority is charged to the port it came in on: first to the port's reserve, then to the shared
//! pool as far as a dynamic threshold allows, then to the headroom, which takes what was on its way when the pause was
//! sent. A packet of any other priority is charged to the shared pool as long as its egress queue is below the
//! threshold. Priority 7 (ACKs, CNPs) is neither counted nor paused, as queue 0 of the ns-3 simulator is not; its queue's
//! own capacity bounds it.
//!
//! Invariants: charges and credits are equal, so an empty switch has counters of zero; shared bytes never exceed the
//! pool, nor headroom bytes the headroom.

use crate::config::{BufferConfig, CONTROL_PRIORITY, PRIORITIES, PortConfig};
use crate::counters::DropCause;

/// A pause or resume frame to send: on the port that the packets came in on, to the neighbour there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PauseFrame {
    /// Port number.
    pub port: u32,
    /// Priority.
    pub priority: u8,
    /// Stop, or go on.
    pub pause: bool,
}

/// What is charged to one ingress port and priority.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Charge {
    /// In reserve and shared pool.
    pub ingress_bytes: u64,
    pub headroom_bytes: u64,
    /// A pause was sent and no resume since.
    pub paused: bool,
}

/// A packet for the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charged {
    /// Position of the port that it came in on; none if it came from elsewhere.
    pub ingress: Option<usize>,
    pub priority: u8,
    pub bytes: u64,
}

/// State of a shared buffer.
#[derive(Clone, Debug)]
pub(crate) struct SharedBuffer {
    config: BufferConfig,
    /// What reserves and headrooms leave.
    pool_bytes: u64,
    shared_bytes: u64,
    /// By port position and priority.
    charges: Vec<[Charge; PRIORITIES]>,
    headrooms: Vec<u64>,
    alphas_log2: Vec<i8>,
}

impl SharedBuffer {
    pub fn new(config: &BufferConfig, ports: &[PortConfig]) -> Self {
        Self {
            config: *config,
            pool_bytes: config.pool_bytes(ports).unwrap_or(0),
            shared_bytes: 0,
            charges: vec![[Charge::default(); PRIORITIES]; ports.len()],
            headrooms: ports.iter().map(|port| port.headroom_bytes).collect(),
            alphas_log2: ports.iter().map(|port| port.alpha_log2).collect(),
        }
    }

    /// "thr(p) = (buffer - sum headroom - sum reserve - shared_used) >> shift[p]", the shift being -log2 of alpha.
    fn threshold(&self, port: usize) -> u64 {
        let free = self.pool_bytes.saturating_sub(self.shared_bytes);
        let log2 = self.alphas_log2[port];
        let by = u32::from(log2.unsigned_abs());
        if log2 >= 0 { free.saturating_mul(1 << by) } else { free >> by }
    }

    /// The ingress port against which a packet is counted, if its priority is lossless.
    fn lossless(&self, packet: &Charged) -> Option<usize> {
        let is_lossless = self.config.lossless & (1 << packet.priority) != 0;
        packet.ingress.filter(|_| is_lossless)
    }

    /// "su(p,k) = max(0, ingress[p][k] - reserve)".
    fn shared_use(&self, port: usize, priority: u8) -> u64 {
        let charge = &self.charges[port][usize::from(priority)];
        charge.ingress_bytes.saturating_sub(self.config.reserve_bytes)
    }

    /// Whether a packet for a queue that holds `queue_bytes` at an egress port fits; charges it if so.
    pub fn admit(&mut self, packet: &Charged, egress: usize, queue_bytes: u64) -> Result<(), DropCause> {
        if packet.priority == CONTROL_PRIORITY {
            return Ok(());
        }
        match self.lossless(packet) {
            Some(ingress) => self.admit_lossless(packet, ingress),
            None => self.admit_lossy(packet, egress, queue_bytes),
        }
    }

    fn admit_lossy(&mut self, packet: &Charged, egress: usize, queue_bytes: u64) -> Result<(), DropCause> {
        let fits_pool = self.shared_bytes + packet.bytes <= self.pool_bytes;
        if !fits_pool || queue_bytes + packet.bytes > self.threshold(egress) {
            return Err(DropCause::SharedBuffer);
        }
        self.shared_bytes += packet.bytes;
        Ok(())
    }

    /// Spec 13.2: "drop iff len + hdrm > headroom and len + su > thr", and the charge on enqueue.
    fn admit_lossless(&mut self, packet: &Charged, ingress: usize) -> Result<(), DropCause> {
        let (bytes, reserve) = (packet.bytes, self.config.reserve_bytes);
        let charge = &self.charges[ingress][usize::from(packet.priority)];
        let new = charge.ingress_bytes + bytes;
        let above_reserve = new.saturating_sub(reserve);
        let share = above_reserve.min(bytes);
        let fits_pool = self.shared_bytes + share <= self.pool_bytes;
        let fits_threshold = above_reserve == 0 || above_reserve <= self.threshold(ingress);
        let fits_headroom = charge.headroom_bytes + bytes <= self.headrooms[ingress];
        let charge = &mut self.charges[ingress][usize::from(packet.priority)];
        if fits_pool && fits_threshold {
            charge.ingress_bytes = new;
            self.shared_bytes += share;
        } else if fits_headroom {
            charge.headroom_bytes += bytes;
        } else {
            return Err(DropCause::Headroom);
        }
        Ok(())
    }

    /// "Credit on dequeue: headroom first, then shared, then reserve."
    pub fn release(&mut self, packet: &Charged) {
        if packet.priority == CONTROL_PRIORITY {
            return;
        }
        let Some(ingress) = self.lossless(packet) else {
            self.shared_bytes -= packet.bytes;
            return;
        };
        let shared_use = self.shared_use(ingress, packet.priority);
        let charge = &mut self.charges[ingress][usize::from(packet.priority)];
        let from_headroom = charge.headroom_bytes.min(packet.bytes);
        let rest = packet.bytes - from_headroom;
        charge.headroom_bytes -= from_headroom;
        charge.ingress_bytes -= rest;
        self.shared_bytes -= rest.min(shared_use);
    }

    /// After an enqueue: whether to pause the ingress port and priority of this packet now.
    pub fn pause_due(&mut self, packet: &Charged) -> Option<usize> {
        let ingress = self.lossless(packet)?;
        let shared_use = self.shared_use(ingress, packet.priority);
        let threshold = self.threshold(ingress);
        let charge = &mut self.charges[ingress][usize::from(packet.priority)];
        // "not paused and (hdrm > 0 or su >= thr)".
        let due = !charge.paused && (charge.headroom_bytes > 0 || shared_use >= threshold);
        charge.paused |= due;
        due.then_some(ingress)
    }

    /// After a dequeue: whether to let the ingress port and priority of this packet go on now.
    pub fn resume_due(&mut self, packet: &Charged) -> Option<usize> {
        let ingress = self.lossless(packet)?;
        let shared_use = self.shared_use(ingress, packet.priority);
        let threshold = self.threshold(ingress);
        let charge = &mut self.charges[ingress][usize::from(packet.priority)];
        // "paused and hdrm = 0 and (su = 0 or su + 3072 <= thr)".
        let is_low = shared_use == 0 || shared_use + self.config.resume_offset_bytes <= threshold;
        let due = charge.paused && charge.headroom_bytes == 0 && is_low;
        charge.paused &= !due;
        due.then_some(ingress)
    }

    /// A pause that was asked for is over without a resume.
    pub fn lapse(&mut self, port: usize, priority: u8) {
        self.charges[port][usize::from(priority) % PRIORITIES].paused = false;
    }

    /// What is charged to a port and priority.
    pub fn charge(&self, port: usize, priority: u8) -> Charge {
        self.charges[port][usize::from(priority)]
    }

    /// Forgets all charges; gives the port positions and priorities that were paused.
    pub fn clear(&mut self) -> Vec<(usize, u8)> {
        self.shared_bytes = 0;
        let mut paused = Vec::new();
        for (port, charges) in self.charges.iter_mut().enumerate() {
            for (priority, charge) in charges.iter_mut().enumerate() {
                if core::mem::take(charge).paused {
                    paused.push((port, priority as u8));
                }
            }
        }
        paused
    }
}

#[cfg(test)]
mod tests {
    use p4cc_units::Rate;
    use proptest::prelude::*;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn buffer(ports: u32, config: BufferConfig, headroom_bytes: u64, alpha_log2: i8) -> SharedBuffer {
        let port = |port| PortConfig {
            port,
            rate: Rate::from_bps(100_000_000_000),
            capacity_pkts: 1,
            headroom_bytes,
            alpha_log2,
            ..PortConfig::default()
        };
        SharedBuffer::new(&config, &(0..ports).map(port).collect::<Vec<_>>())
    }

    fn config(bytes: u64) -> BufferConfig {
        BufferConfig { bytes, reserve_bytes: 4_096, resume_offset_bytes: 3_072, lossless: 1 << 3 }
    }

    fn packet(ingress: usize, bytes: u64) -> Charged {
        Charged { ingress: Some(ingress), priority: 3, bytes }
    }

    /// V-7: ten ports at 100 Gbit/s with 37,500 B of headroom: 4,142,309 B of 32 MiB, 2,045,157 B of 16 MiB.
    #[test]
    fn thresholds_of_the_ns3_simulator() {
        for (mib, want) in [(32, 4_142_309), (16, 2_045_157)] {
            assert_eq!(buffer(10, config(mib * MIB), 37_500, -3).threshold(0), want);
        }
    }

    /// One port fills reserve, shared pool, headroom, in that order, pauses once, and empties to zero.
    #[test]
    fn a_port_fills_and_empties() {
        let mut buffer = buffer(2, config(100_000), 10_000, 0);
        // 100,000 - 2 (10,000 + 4,096) = 71,808 B of pool; with alpha 1 a lone port gets half of it and the reserve.
        assert_eq!(buffer.threshold(0), 71_808);
        let one = packet(0, 1_000);
        let mut sent = Vec::new();
        let mut held = 0;
        while buffer.admit(&one, 1, 0).is_ok() {
            held += 1;
            if buffer.pause_due(&one).is_some() {
                sent.push(held);
            }
        }
        // su >= thr after 40 packets: 35,904 of 71,808 - 35,904; then 10 packets of headroom.
        assert_eq!((sent, held), (vec![40], 50));
        assert_eq!(buffer.admit(&one, 1, 0), Err(DropCause::Headroom));
        let mut resumed = Vec::new();
        for left in (0..held).rev() {
            buffer.release(&one);
            if buffer.resume_due(&one).is_some() {
                resumed.push(left);
            }
        }
        // With 38 left su is 33,904 and thr 37,904: the first state at least 3072 B below.
        assert_eq!(resumed, [38]);
        assert_eq!((buffer.shared_bytes, buffer.charge(0, 3)), (0, Charge::default()));
    }

    /// The dynamic threshold of a lossy queue: with alpha 1 a lone queue gets half of the pool, and control is not counted.
    #[test]
    fn lossy_queues_share_by_the_threshold() {
        let mut buffer = buffer(2, BufferConfig { lossless: 0, reserve_bytes: 0, ..config(10_000) }, 0, 0);
        let one = Charged { ingress: Some(0), priority: 1, bytes: 100 };
        let mut queue_bytes = 0;
        while buffer.admit(&one, 1, queue_bytes).is_ok() {
            queue_bytes += 100;
        }
        assert_eq!(queue_bytes, 5_000);
        assert_eq!(buffer.admit(&one, 1, queue_bytes), Err(DropCause::SharedBuffer));
        assert_eq!(buffer.admit(&one, 0, 0), Ok(()), "another queue has room");
        assert_eq!(buffer.admit(&Charged { priority: 7, ..one }, 1, 0), Ok(()));
        assert_eq!(buffer.shared_bytes, 5_100);
    }

    proptest! {
        /// Whatever comes and goes, bounds hold and charges equal credits (spec 22: "all counters 0 when empty").
        #[test]
        fn charges_and_credits_are_equal(
            steps in prop::collection::vec((0_usize..4, 0_u8..8, 1_u64..9_000, any::<bool>()), 0..600),
            alpha_log2 in -4_i8..4,
        ) {
            let config = BufferConfig { lossless: 0b0001_1000, ..config(120_000) };
            let mut buffer = buffer(4, config, 7_000, alpha_log2);
            let mut held = Vec::new();
            for (port, priority, bytes, leaves) in steps {
                let ingress = (port < 3).then_some(port);
                let packet = Charged { ingress, priority, bytes };
                if leaves && !held.is_empty() {
                    let old: Charged = held.swap_remove(bytes as usize % held.len());
                    buffer.release(&old);
                    buffer.resume_due(&old);
                } else if buffer.admit(&packet, 3, 0).is_ok() {
                    held.push(packet);
                    buffer.pause_due(&packet);
                }
                prop_assert!(buffer.shared_bytes <= buffer.pool_bytes);
                for charges in &buffer.charges {
                    for charge in charges {
                        prop_assert!(charge.headroom_bytes <= 7_000);
                        // Whoever uses headroom has said stop.
                        prop_assert!(charge.paused || charge.headroom_bytes == 0);
                    }
                }
            }
            for old in held {
                buffer.release(&old);
                buffer.resume_due(&old);
            }
            prop_assert_eq!(buffer.shared_bytes, 0);
            prop_assert!(buffer.charges.iter().flatten().all(|charge| *charge == Charge::default()));
        }
    }
}
