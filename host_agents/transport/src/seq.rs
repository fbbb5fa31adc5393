//! Sequence numbers: 64-bit byte positions inside, their low 32 bits on the wire.

/// The low 32 bits that stand for `position` on the wire.
#[inline]
pub(crate) const fn wrap(position: u64) -> u32 {
    // Truncation is the definition of the wire's sequence number.
    position as u32
}

/// The position nearest to `near` whose low 32 bits are `wire`; none if it would lie before byte zero.
#[inline]
pub(crate) const fn unwrap(wire: u32, near: u64) -> Option<u64> {
    // A difference modulo 2^32 read as signed is the short way round, as in RFC1982.
    let offset = wire.wrapping_sub(wrap(near)) as i32;
    near.checked_add_signed(offset as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wraps_both_ways() {
        let near = (1_u64 << 32) - 10;
        assert_eq!(unwrap(5, near), Some((1 << 32) + 5));
        assert_eq!(unwrap(u32::MAX, (1 << 32) + 2), Some((1 << 32) - 1));
        assert_eq!(unwrap(u32::MAX, 0), None);
    }

    proptest! {
        #[test]
        fn a_near_position_survives_the_wire(near in 0_u64..1 << 62, offset in -(1_i64 << 30)..1 << 30) {
            if let Some(position) = near.checked_add_signed(offset) {
                prop_assert_eq!(unwrap(wrap(position), near), Some(position));
            }
        }
    }
}
