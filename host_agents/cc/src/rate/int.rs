//! Telemetry as a header carries it: counters that wrap, in units (docs/algorithms/int.md#hpcc-int).

/// How switches write hop records: widths and units of their fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntEncoding {
    /// Nanoseconds of one tick of the timestamp.
    pub tick_ns: u32,
    /// Bits of the timestamp.
    pub timestamp_bits: u32,
    /// Bytes of one unit of the sent bytes.
    pub tx_unit_bytes: u32,
    /// Bits of the sent bytes.
    pub tx_bits: u32,
    /// Bytes of one unit of the queue.
    pub queue_unit_bytes: u32,
}

impl IntEncoding {
    /// The ns-3 simulator's header with `INT_MULTI` = `multiple` (docs/algorithms/int.md#hpcc-int): 24 bits
    /// of nanoseconds, 20 bits of 128 B and a queue in units of 80 B, the last two times `multiple`.
    pub const fn hs_fixed(multiple: u32) -> Self {
        let multiple = if multiple == 0 { 1 } else { multiple };
        Self {
            tick_ns: 1,
            timestamp_bits: 24,
            tx_unit_bytes: 128_u32.saturating_mul(multiple),
            tx_bits: 20,
            queue_unit_bytes: 80_u32.saturating_mul(multiple),
        }
    }

    /// Nanoseconds from one timestamp to a later one, less than a wrap apart.
    #[inline]
    pub fn elapsed_ns(&self, earlier: u32, later: u32) -> f64 {
        f64::from(wrapped(earlier, later, self.timestamp_bits)) * f64::from(self.tick_ns)
    }

    /// Bytes sent between two counts, less than a wrap apart.
    #[inline]
    pub fn sent_bytes(&self, earlier: u32, later: u32) -> f64 {
        f64::from(wrapped(earlier, later, self.tx_bits)) * f64::from(self.tx_unit_bytes)
    }

    /// Bytes that a queue field stands for.
    #[inline]
    pub fn queue_bytes(&self, units: u32) -> f64 {
        f64::from(units) * f64::from(self.queue_unit_bytes)
    }
}

/// `later - earlier` of a counter with so many bits.
#[inline]
const fn wrapped(earlier: u32, later: u32, bits: u32) -> u32 {
    let mask = if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
    later.wrapping_sub(earlier) & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/algorithms/int.md#hpcc-int, #number-hpcc-int: 24 bits of
    /// nanoseconds wrap after 16.78 ms, 20 bits of 128 B after 134 MB.
    #[test]
    fn counters_wrap() {
        let int = IntEncoding::hs_fixed(1);
        assert_eq!(int.elapsed_ns((1 << 24) - 5, 3), 8.0);
        assert_eq!(int.sent_bytes((1 << 20) - 1, 1), 256.0);
        assert_eq!(int.queue_bytes(3), 240.0);
        assert_eq!(IntEncoding::hs_fixed(4).sent_bytes(0, 1), 512.0);
        assert_eq!(IntEncoding { tick_ns: 8, ..int }.elapsed_ns(4, 7), 24.0);
        assert_eq!(wrapped(u32::MAX, 1, 32), 2);
    }
}
