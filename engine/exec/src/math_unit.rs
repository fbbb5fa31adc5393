//! The math unit of TNA's register actions: multiplication by a constant, squares, roots and reciprocals by a
//! table of sixteen numbers.
//!
//! The operand is a mantissa of four bits, in eighths, times a power of two; lower bits are lost. For roots
//! the power is even, so that the mantissa lies between 4 and 15, otherwise between 8 and 15.

use p4cc_ir::MathUnit;

/// Where the highest bit of a mantissa stands.
const TOP: i32 = 3;

/// The result in so many bits; what lies above them is lost.
pub(crate) fn execute(unit: &MathUnit, x: u64, width: u32) -> u64 {
    let mask = u64::MAX >> (64 - width.clamp(1, 64));
    if x == 0 {
        return shifted(unit.table[0], unit.scale.into()) & mask;
    }
    let mut exponent = 63 - x.leading_zeros() as i32;
    if unit.shift < 0 {
        exponent += exponent & 1;
    }
    let mantissa =
        if exponent >= TOP { x >> (exponent - TOP).min(63) } else { x << (TOP - exponent) } as usize;
    let scaled = match unit.shift {
        ..0 => exponent / 2,
        0 => exponent,
        1.. => exponent * 2,
    };
    let scaled = if unit.invert { -scaled } else { scaled };
    let entry = unit.table.get(mantissa).copied().unwrap_or(0);
    shifted(entry, scaled + i32::from(unit.scale)) & mask
}

fn shifted(value: u8, by: i32) -> u64 {
    match by {
        0..=63 => u64::from(value) << by,
        64.. => 0,
        -7..0 => u64::from(value) >> -by,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(table: impl Fn(usize) -> u8, shift: i8, invert: bool, scale: i8) -> MathUnit {
        MathUnit { invert, shift, scale, table: core::array::from_fn(table) }
    }

    #[test]
    fn a_number_times_one_keeps_its_four_highest_bits() {
        // 128 * i / 8, scaled back by 2^7.
        let unit = of(|i| if i < 8 { 0 } else { 16 * i as u8 }, 0, false, -7);
        for (x, result) in [(0, 0), (1, 1), (5, 5), (15, 15), (16, 16), (17, 16), (31, 30), (0xffff, 0xf000)]
        {
            assert_eq!(execute(&unit, x, 32), result, "{x}");
        }
    }

    #[test]
    fn squares_roots_and_reciprocals() {
        // i^2 of eighths is at most 225 of 64ths.
        let square = of(|i| (i * i).min(255) as u8, 1, false, -6);
        let root = of(
            |i| if i < 4 { 0 } else { (f64::from(i as u32) / 8.0).sqrt().mul_add(128.0, 0.5) as u8 },
            -1,
            false,
            -7,
        );
        let inverse = of(|i| if i < 8 { 0 } else { (1024 / i) as u8 }, 0, true, 5);
        for (x, result) in [(1, 1), (3, 9), (7, 49), (12, 144), (1 << 10, 1 << 20)] {
            assert_eq!(execute(&square, x, 32), result, "{x} squared");
        }
        for (x, result) in [(1, 1), (4, 2), (16, 4), (64, 8), (1 << 20, 1 << 10)] {
            assert_eq!(execute(&root, x, 32), result, "root of {x}");
        }
        // Of 9 four bits of mantissa, with an even exponent, are 8.
        assert_eq!(execute(&root, 9, 32), 2);
        // 4096 / x.
        for (x, result) in [(1, 4096), (2, 2048), (4, 1024), (1 << 12, 1), (1 << 13, 0)] {
            assert_eq!(execute(&inverse, x, 32), result, "4096 / {x}");
        }
        assert_eq!(execute(&square, 1 << 16, 32), 0, "the bits above are lost");
    }
}
