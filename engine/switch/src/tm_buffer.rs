//! The shared buffer of a switch: admission by dynamic thresholds, and PFC (IEEE 802.1Qbb), as
//! docs/algorithms/pfc.md#pfc has it.
//!
//! A packet of a lossless priority is charged to its ingress port: first to the port's reserve, then to the
//! shared pool up to a dynamic threshold, then to the headroom. The headroom holds the packets that were
//! under way when the pause frame was sent. A packet of any other priority is charged to the shared pool
//! while its egress queue is below the threshold. Priority 7 (ACKs, CNPs) is neither counted nor paused, like
//! queue 0 of the ns-3 simulator. The capacity of its queue bounds it.
//!
//! Invariants: charges and credits are equal, so the counters of an empty switch are zero. Shared bytes never
//! exceed the pool, nor headroom bytes the headroom.

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
    /// Number of the port that the packet waits for which asked for the pause; none with a resume.
    pub towards: Option<u32>,
}

/// What is charged to one ingress port and priority, with what bounds it: a line of the processor's cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub(crate) struct Charge {
    /// In reserve and shared pool.
    pub ingress_bytes: u64,
    pub headroom_bytes: u64,
    /// Most of both at once, and most of the headroom.
    pub peak_ingress_bytes: u64,
    pub peak_headroom_bytes: u64,
    headroom_limit_bytes: u64,
    /// Of the port's dynamic threshold, be it that of the ingress or of an egress port.
    alpha_log2: i8,
    /// A pause was sent and no resume since.
    pub paused: bool,
}

impl Charge {
    fn new(port: &PortConfig) -> Self {
        Self {
            ingress_bytes: 0,
            headroom_bytes: 0,
            peak_ingress_bytes: 0,
            peak_headroom_bytes: 0,
            headroom_limit_bytes: port.headroom_bytes,
            alpha_log2: port.alpha_log2,
            paused: false,
        }
    }

    /// "thr(p) = (buffer - sum headroom - sum reserve -
    /// shared_used) >> shift[p]", the shift being -log2 of alpha.
    #[inline]
    fn threshold(&self, free_bytes: u64) -> u64 {
        let by = u32::from(self.alpha_log2.unsigned_abs());
        if self.alpha_log2 >= 0 { free_bytes.saturating_mul(1 << by) } else { free_bytes >> by }
    }

    /// "su(p,k) = max(0, ingress[p][k] - reserve)".
    #[inline]
    fn shared_use(&self, reserve_bytes: u64) -> u64 {
        self.ingress_bytes.saturating_sub(reserve_bytes)
    }
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
#[repr(C)]
pub(crate) struct SharedBuffer {
    shared_bytes: u64,
    /// What reserves and headrooms leave.
    pub(crate) pool_bytes: u64,
    config: BufferConfig,
    /// Eight for each port position, by priority.
    charges: Vec<Charge>,
}

impl SharedBuffer {
    pub fn new(config: &BufferConfig, ports: &[PortConfig]) -> Self {
        let of_port = |port| core::iter::repeat_n(Charge::new(port), PRIORITIES);
        Self {
            config: *config,
            pool_bytes: config.pool_bytes(ports).unwrap_or(0),
            shared_bytes: 0,
            charges: ports.iter().flat_map(of_port).collect(),
        }
    }

    #[inline]
    fn free_bytes(&self) -> u64 {
        self.pool_bytes.saturating_sub(self.shared_bytes)
    }

    /// The ingress port against which a packet is counted, if its priority is lossless.
    #[inline]
    fn lossless(&self, packet: &Charged) -> Option<usize> {
        let is_lossless = self.config.lossless & (1 << packet.priority) != 0;
        packet.ingress.filter(|_| is_lossless)
    }

    /// Takes in a packet for a queue that holds `queue_bytes` at an egress port, if it fits, and charges it;
    /// whether its ingress port and priority are to pause now.
    ///
    /// # Errors
    /// Why it does not fit.
    #[inline]
    pub fn admit(&mut self, packet: &Charged, egress: usize, queue_bytes: u64) -> Result<bool, DropCause> {
        if packet.priority == CONTROL_PRIORITY {
            return Ok(false);
        }
        match self.lossless(packet) {
            Some(ingress) => self.admit_lossless(ingress, packet.priority, packet.bytes),
            None => self.admit_lossy(packet, egress, queue_bytes).map(|()| false),
        }
    }

    /// Takes in a packet for a queue that is empty, and gives it back, as far as that changes nothing but a
    /// peak: whether that is so. If it does not fit, or starts or ends a pause, nothing is done.
    #[inline]
    pub fn try_bypass(&mut self, packet: &Charged, egress: usize) -> bool {
        if packet.priority == CONTROL_PRIORITY {
            return true;
        }
        let Some(ingress) = self.lossless(packet) else {
            let fits_pool = self.shared_bytes + packet.bytes <= self.pool_bytes;
            let charge = &self.charges[place(egress, packet.priority)];
            return fits_pool && packet.bytes <= charge.threshold(self.free_bytes());
        };
        let charge = &mut self.charges[place(ingress, packet.priority)];
        let new = charge.ingress_bytes + packet.bytes;
        let above_reserve = new.saturating_sub(self.config.reserve_bytes);
        let shared = self.shared_bytes + above_reserve.min(packet.bytes);
        // Below the threshold that is left behind it, the packet is below the one before it.
        let is_plain = !charge.paused
            && charge.headroom_bytes == 0
            && shared <= self.pool_bytes
            && above_reserve < charge.threshold(self.pool_bytes - shared);
        if is_plain {
            charge.peak_ingress_bytes = charge.peak_ingress_bytes.max(new);
        }
        is_plain
    }

    fn admit_lossy(&mut self, packet: &Charged, egress: usize, queue_bytes: u64) -> Result<(), DropCause> {
        let fits_pool = self.shared_bytes + packet.bytes <= self.pool_bytes;
        let threshold = self.charges[place(egress, packet.priority)].threshold(self.free_bytes());
        if !fits_pool || queue_bytes + packet.bytes > threshold {
            return Err(DropCause::SharedBuffer);
        }
        self.shared_bytes += packet.bytes;
        Ok(())
    }

    /// docs/algorithms/pfc.md#pfc-rules: "drop iff len + hdrm >
    /// headroom and len + su > thr", and the charge on enqueue.
    fn admit_lossless(&mut self, ingress: usize, priority: u8, bytes: u64) -> Result<bool, DropCause> {
        let reserve = self.config.reserve_bytes;
        let free_bytes = self.free_bytes();
        let charge = &mut self.charges[place(ingress, priority)];
        let new = charge.ingress_bytes + bytes;
        let above_reserve = new.saturating_sub(reserve);
        let share = above_reserve.min(bytes);
        let fits_pool = self.shared_bytes + share <= self.pool_bytes;
        let fits_threshold = above_reserve == 0 || above_reserve <= charge.threshold(free_bytes);
        if fits_pool && fits_threshold {
            charge.ingress_bytes = new;
            self.shared_bytes += share;
        } else if charge.headroom_bytes + bytes <= charge.headroom_limit_bytes {
            charge.headroom_bytes += bytes;
        } else {
            return Err(DropCause::Headroom);
        }
        let held = charge.ingress_bytes + charge.headroom_bytes;
        charge.peak_ingress_bytes = charge.peak_ingress_bytes.max(held);
        charge.peak_headroom_bytes = charge.peak_headroom_bytes.max(charge.headroom_bytes);
        // "not paused and (hdrm > 0 or su >= thr)".
        let threshold = charge.threshold(self.pool_bytes.saturating_sub(self.shared_bytes));
        let due = !charge.paused && (charge.headroom_bytes > 0 || charge.shared_use(reserve) >= threshold);
        charge.paused |= due;
        Ok(due)
    }

    /// "Credit on dequeue: headroom first, then shared, then reserve";
    /// whether the packet's ingress port and priority may go on now.
    #[inline]
    pub fn release(&mut self, packet: &Charged) -> bool {
        if packet.priority == CONTROL_PRIORITY {
            return false;
        }
        let Some(ingress) = self.lossless(packet) else {
            self.shared_bytes -= packet.bytes;
            return false;
        };
        let reserve = self.config.reserve_bytes;
        let charge = &mut self.charges[place(ingress, packet.priority)];
        let from_headroom = charge.headroom_bytes.min(packet.bytes);
        let rest = packet.bytes - from_headroom;
        let shared_use = charge.shared_use(reserve);
        charge.headroom_bytes -= from_headroom;
        charge.ingress_bytes -= rest;
        self.shared_bytes -= rest.min(shared_use);
        if !charge.paused {
            return false;
        }
        // "paused and hdrm = 0 and (su = 0 or su + 3072 <= thr)".
        let shared_use = charge.shared_use(reserve);
        let threshold = charge.threshold(self.pool_bytes.saturating_sub(self.shared_bytes));
        let is_low = shared_use == 0 || shared_use + self.config.resume_offset_bytes <= threshold;
        charge.paused = charge.headroom_bytes > 0 || !is_low;
        !charge.paused
    }

    /// A pause is over without a resume.
    pub fn lapse(&mut self, port: usize, priority: u8) {
        self.charges[place(port, priority)].paused = false;
    }

    /// What is charged to a port and priority.
    pub fn charge(&self, port: usize, priority: u8) -> &Charge {
        &self.charges[place(port, priority)]
    }

    /// Forgets all charges, but not their peaks; gives the port positions and priorities that were paused.
    pub fn clear(&mut self) -> Vec<(usize, u8)> {
        self.shared_bytes = 0;
        let mut paused = Vec::new();
        for (place, charge) in self.charges.iter_mut().enumerate() {
            (charge.ingress_bytes, charge.headroom_bytes) = (0, 0);
            if core::mem::take(&mut charge.paused) {
                paused.push((place / PRIORITIES, (place % PRIORITIES) as u8));
            }
        }
        paused
    }
}

/// Place of a port position and priority among charges.
#[inline]
fn place(port: usize, priority: u8) -> usize {
    port * PRIORITIES + usize::from(priority) % PRIORITIES
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

    /// The threshold of the first port.
    fn threshold(buffer: &SharedBuffer) -> u64 {
        buffer.charge(0, 3).threshold(buffer.free_bytes())
    }

    /// What is charged, and whether it is paused.
    fn held_by(charge: &Charge) -> (u64, u64, bool) {
        (charge.ingress_bytes, charge.headroom_bytes, charge.paused)
    }

    #[test]
    fn a_charge_is_a_line_of_the_cache() {
        assert_eq!(size_of::<Charge>(), 64);
    }

    /// docs/algorithms/pfc.md#number-fat-tree-pfc: ten ports at 100 Gbit/s with 37,500 B of headroom:
    /// 4,142,309 B of 32 MiB, 2,045,157 B of 16 MiB.
    #[test]
    fn thresholds_of_the_ns3_simulator() {
        for (mib, want) in [(32, 4_142_309), (16, 2_045_157)] {
            assert_eq!(threshold(&buffer(10, config(mib * MIB), 37_500, -3)), want);
        }
    }

    /// One port fills reserve, shared pool, headroom, in that order, pauses once, and empties to zero.
    #[test]
    fn a_port_fills_and_empties() {
        let mut buffer = buffer(2, config(100_000), 10_000, 0);
        // 100,000 - 2 (10,000 + 4,096) = 71,808 B of pool; with
        // alpha 1 a lone port gets half of it and the reserve.
        assert_eq!(threshold(&buffer), 71_808);
        let one = packet(0, 1_000);
        let mut sent = Vec::new();
        let mut held = 0;
        while let Ok(pauses) = buffer.admit(&one, 1, 0) {
            held += 1;
            if pauses {
                sent.push(held);
            }
        }
        // su >= thr after 40 packets: 35,904 of 71,808 - 35,904; then 10 packets of headroom.
        assert_eq!((sent, held), (vec![40], 50));
        assert_eq!(buffer.admit(&one, 1, 0), Err(DropCause::Headroom));
        let mut resumed = Vec::new();
        for left in (0..held).rev() {
            if buffer.release(&one) {
                resumed.push(left);
            }
        }
        // With 38 left su is 33,904 and thr 37,904: the first state at least 3072 B below.
        assert_eq!(resumed, [38]);
        assert_eq!((buffer.shared_bytes, held_by(buffer.charge(0, 3))), (0, (0, 0, false)));
    }

    /// The dynamic threshold of a lossy queue: with alpha 1 a lone
    /// queue gets half of the pool, and control is not counted.
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
        assert_eq!(buffer.admit(&one, 0, 0), Ok(false), "another queue has room");
        assert_eq!(buffer.admit(&Charged { priority: 7, ..one }, 1, 0), Ok(false));
        assert_eq!(buffer.shared_bytes, 5_100);
    }

    /// With alpha a, a lone queue gets a/(1 + a) of the pool: 2/3, a half, 1/3 of 9,000 B.
    #[test]
    fn a_lone_queue_gets_the_share_of_its_alpha() {
        for (alpha_log2, want) in [(1, 6_000), (0, 4_500), (-1, 3_000)] {
            let lossy = BufferConfig { lossless: 0, reserve_bytes: 0, ..config(9_000) };
            let mut buffer = buffer(2, lossy, 0, alpha_log2);
            let one = Charged { ingress: Some(0), priority: 1, bytes: 100 };
            let mut queue_bytes = 0;
            while buffer.admit(&one, 1, queue_bytes).is_ok() {
                queue_bytes += 100;
            }
            assert_eq!(queue_bytes, want, "alpha 2^{alpha_log2}");
        }
    }

    /// A reserve of 100 B and a pool of 400 B for each of two ports.
    fn small() -> SharedBuffer {
        let small = BufferConfig { reserve_bytes: 100, resume_offset_bytes: 0, ..config(1_000) };
        buffer(2, small, 200, 0)
    }

    /// What comes and goes at once needs no charge: lossy up to the threshold of an empty pool, lossless up
    /// to where it would pause, at 200 B above the reserve.
    #[test]
    fn a_packet_that_starts_no_pause_bypasses() {
        let lossy = |bytes| Charged { ingress: Some(0), priority: 1, bytes };
        assert!(small().try_bypass(&lossy(400), 1) && !small().try_bypass(&lossy(401), 1));
        assert!(small().try_bypass(&packet(0, 250), 1) && small().try_bypass(&packet(0, 299), 1));
        assert!(!small().try_bypass(&packet(0, 300), 1));
        let mut used = small();
        assert_eq!(used.admit(&packet(0, 100), 1, 0), Ok(false));
        assert!(used.try_bypass(&packet(0, 100), 1) && !used.try_bypass(&packet(0, 200), 1));
        // What the reserve takes needs nothing of the pool.
        let mut little = small();
        assert_eq!(little.admit(&lossy(300), 1, 0), Ok(false));
        assert!(little.try_bypass(&packet(0, 100), 1) && !little.try_bypass(&packet(0, 200), 1));
    }

    /// With 300 B in reserve and pool, 200 of them above the reserve, the threshold is 200 B, too.
    #[test]
    fn a_port_goes_on_at_the_threshold() {
        let mut buffer = small();
        let pauses: Vec<_> = (0..4).map(|_| buffer.admit(&packet(0, 100), 1, 0)).collect();
        assert_eq!(pauses, [Ok(false), Ok(false), Ok(true), Ok(false)]);
        assert_eq!(held_by(buffer.charge(0, 3)), (300, 100, true));
        assert!(buffer.release(&packet(0, 100)), "the headroom is free");
        assert_eq!(held_by(buffer.charge(0, 3)), (300, 0, false));
        let peaks = buffer.charge(0, 3);
        assert_eq!((peaks.peak_ingress_bytes, peaks.peak_headroom_bytes), (400, 100));
    }

    /// The last byte of the pool is taken before the headroom.
    #[test]
    fn a_packet_may_fill_the_pool() {
        let mut buffer = small();
        assert_eq!(buffer.admit(&packet(0, 500), 1, 0), Ok(true));
        assert_eq!(held_by(buffer.charge(0, 3)), (500, 0, true));
        let mut lossy = small();
        assert_eq!(lossy.admit(&Charged { ingress: Some(0), priority: 1, bytes: 400 }, 1, 0), Ok(false));
    }

    proptest! {
        /// Whatever comes and goes, bounds hold and charges equal credits
        /// (docs/algorithms/README.md#properties: "all counters 0 when empty").
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
                let (mut bypassed, mut held_for_none) = (buffer.clone(), buffer.clone());
                if bypassed.try_bypass(&packet, 3) {
                    prop_assert_eq!(held_for_none.admit(&packet, 3, 0), Ok(false));
                    prop_assert!(!held_for_none.release(&packet));
                }
                prop_assert_eq!(bypassed.shared_bytes, held_for_none.shared_bytes);
                prop_assert_eq!(&bypassed.charges, &held_for_none.charges);
                if leaves && !held.is_empty() {
                    let old: Charged = held.swap_remove(bytes as usize % held.len());
                    buffer.release(&old);
                } else if buffer.admit(&packet, 3, 0).is_ok() {
                    held.push(packet);
                }
                prop_assert!(buffer.shared_bytes <= buffer.pool_bytes);
                for charge in &buffer.charges {
                    prop_assert!(charge.headroom_bytes <= 7_000);
                    // Whoever uses headroom has said stop.
                    prop_assert!(charge.paused || charge.headroom_bytes == 0);
                }
            }
            for old in held {
                buffer.release(&old);
            }
            prop_assert_eq!(buffer.shared_bytes, 0);
            prop_assert!(buffer.charges.iter().all(|charge| held_by(charge) == (0, 0, false)));
        }
    }
}
