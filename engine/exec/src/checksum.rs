//! Checksums and hashes of v1model, as BMv2 computes them.
//!
//! The input is a byte string, then a payload. The payload's tail may be zeros that are not stored.

use p4cc_ir::{
    CrcFunction, CrcStart, CustomCrc, CustomCrcId, HashAlgorithm, HashFunction, HashKind, HashObject,
};

use crate::env::PacketView;

/// Parameters of a cyclic redundancy check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrcParams {
    /// Generator polynomial, highest power left out.
    pub polynomial: u32,
    /// Register at the start.
    pub initial: u32,
    /// Exclusive-or at the end.
    pub final_xor: u32,
    /// Bytes go in lowest bit first.
    pub reflect_data: bool,
    /// The result is reversed.
    pub reflect_result: bool,
}

impl CrcParams {
    /// CRC-16/ARC, BMv2's `crc16`.
    pub const CRC16: Self =
        Self { polynomial: 0x8005, initial: 0, final_xor: 0, reflect_data: true, reflect_result: true };
    /// CRC-32/ISO-HDLC, BMv2's `crc32`.
    pub const CRC32: Self = Self {
        polynomial: 0x04c1_1db7,
        initial: 0xffff_ffff,
        final_xor: 0xffff_ffff,
        reflect_data: true,
        reflect_result: true,
    };
}

impl From<&CrcStart> for CrcParams {
    fn from(start: &CrcStart) -> Self {
        Self {
            polynomial: start.polynomial,
            initial: start.initial,
            final_xor: start.final_xor,
            reflect_data: start.reversed,
            reflect_result: start.reversed,
        }
    }
}

/// Tables that take bytes in, lowest bit first: entry `k` of `byte` is the
/// register after that byte and `k` bytes of zeros. Checks are linear, so that
/// what eight bytes do is the exclusive-or of what each does at its place.
pub(crate) type Reflected = [[u32; 256]; 8];

/// The tables of the standard checks, the same for all switches.
static CRC16_TABLES: Reflected = reflected(16, CrcParams::CRC16);
static CRC32_TABLES: Reflected = reflected(32, CrcParams::CRC32);

const fn reflected(width: u32, params: CrcParams) -> Reflected {
    let mut tables = [[0; 256]; 8];
    let polynomial = params.polynomial.reverse_bits() >> (32 - width);
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 == 1 { rest >> 1 ^ polynomial } else { rest >> 1 };
            bit += 1;
        }
        tables[0][byte] = rest;
        byte += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[k - 1][byte];
            tables[k][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        k += 1;
    }
    tables
}

/// Where a check looks up what a byte does.
#[derive(Clone, Debug)]
enum Tables {
    /// Of a standard check.
    Fixed(&'static Reflected),
    /// Of a check with parameters of its own; by the bits of the byte in its own order.
    Own(Box<[u32; 256]>),
}

/// A check with its tables. The register is kept in the high bits, or reflected in the low ones.
#[derive(Clone, Debug)]
pub(crate) struct Crc {
    params: CrcParams,
    width: u32,
    tables: Tables,
}

impl Crc {
    /// `width` is 16 or 32.
    pub fn new(width: u32, params: CrcParams) -> Self {
        let mut table = Box::new([0; 256]);
        if params.reflect_data {
            *table = reflected(width, params)[0];
        } else {
            let top = 1 << (width - 1);
            for (byte, entry) in (0u32..).zip(table.iter_mut()) {
                *entry = (0..8).fold(byte << (width - 8), |rest, _| {
                    if rest & top != 0 { rest << 1 ^ params.polynomial } else { rest << 1 }
                });
            }
        }
        Self { params, width, tables: Tables::Own(table) }
    }

    fn crc16() -> Self {
        Self { params: CrcParams::CRC16, width: 16, tables: Tables::Fixed(&CRC16_TABLES) }
    }

    fn crc32() -> Self {
        Self { params: CrcParams::CRC32, width: 32, tables: Tables::Fixed(&CRC32_TABLES) }
    }

    /// The check over some bytes and a payload.
    pub fn compute(&self, bytes: &[u8], payload: PacketView<'_>) -> u32 {
        const ZEROS: [u8; 64] = [0; 64];
        let mask = u32::MAX >> (32 - self.width);
        let initial = self.params.initial & mask;
        let start =
            if self.params.reflect_data { initial.reverse_bits() >> (32 - self.width) } else { initial };
        let mut register = self.feed(start, bytes);
        if !payload.is_empty() {
            register = self.feed(register, payload.bytes);
            let mut left = payload.zeros as usize;
            while left > 0 {
                let zeros = &ZEROS[..left.min(ZEROS.len())];
                register = self.feed(register, zeros);
                left -= zeros.len();
            }
        }
        if self.params.reflect_data != self.params.reflect_result {
            register = register.reverse_bits() >> (32 - self.width);
        }
        (register ^ self.params.final_xor) & mask
    }

    #[inline]
    fn feed(&self, register: u32, bytes: &[u8]) -> u32 {
        match &self.tables {
            Tables::Fixed(tables) => feed_reflected(tables, register, bytes),
            Tables::Own(table) if self.params.reflect_data => {
                bytes.iter().fold(register, |register, &byte| {
                    register >> 8 ^ table[((register ^ u32::from(byte)) & 0xff) as usize]
                })
            }
            Tables::Own(table) => {
                let mask = u32::MAX >> (32 - self.width);
                bytes.iter().fold(register, |register, &byte| {
                    let index = (register >> (self.width - 8) ^ u32::from(byte)) & 0xff;
                    (register << 8 ^ table[index as usize]) & mask
                })
            }
        }
    }
}

/// What bytes of a word do, from the highest down, one table for each.
#[inline(always)]
fn look_up<const BYTES: usize>(tables: &Reflected, word: u64) -> u32 {
    (0..BYTES).fold(0, |sum, k| sum ^ tables[k][(word >> (56 - 8 * k) & 0xff) as usize])
}

/// Takes eight bytes at once, the first lowest: what a byte does does not wait for the byte before.
#[inline(always)]
fn feed_eight(tables: &Reflected, register: u32, word: u64) -> u32 {
    look_up::<8>(tables, word ^ u64::from(register))
}

/// Takes fewer than eight bytes, the first lowest.
#[inline(always)]
fn feed_few<const BYTES: usize>(tables: &Reflected, register: u32, word: u64) -> u32 {
    let taken = look_up::<BYTES>(tables, (word ^ u64::from(register)) << (64 - 8 * BYTES));
    if BYTES < 4 { taken ^ register >> (8 * BYTES) } else { taken }
}

/// The same for a number that is not known before.
#[inline(always)]
fn feed_rest(tables: &Reflected, register: u32, word: u64, bytes: usize) -> u32 {
    match bytes {
        1 => feed_few::<1>(tables, register, word),
        2 => feed_few::<2>(tables, register, word),
        3 => feed_few::<3>(tables, register, word),
        4 => feed_few::<4>(tables, register, word),
        5 => feed_few::<5>(tables, register, word),
        6 => feed_few::<6>(tables, register, word),
        7 => feed_few::<7>(tables, register, word),
        _ => register,
    }
}

fn feed_reflected(tables: &Reflected, mut register: u32, bytes: &[u8]) -> u32 {
    let (eights, rest) = bytes.as_chunks::<8>();
    for eight in eights {
        register = feed_eight(tables, register, u64::from_le_bytes(*eight));
    }
    let word = rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    feed_rest(tables, register, word, rest.len())
}

/// A reflected check, for who takes bytes in by himself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReflectedCrc<'a> {
    /// Entry `k` of a byte is the register after that byte and `k` bytes of zeros, from a register of zero.
    pub tables: &'a Reflected,
    /// Bits of the register.
    pub width: u32,
    /// Register at the start, reflected.
    initial: u32,
    /// Exclusive-or at the end, reflected.
    final_xor: u32,
}

impl ReflectedCrc<'static> {
    /// The tables of an algorithm, if it is a standard check.
    pub fn standard(algorithm: HashAlgorithm) -> Option<Self> {
        let (tables, width, params) = match algorithm {
            HashAlgorithm::Crc16 => (&CRC16_TABLES, 16, CrcParams::CRC16),
            HashAlgorithm::Crc32 => (&CRC32_TABLES, 32, CrcParams::CRC32),
            _ => return None,
        };
        // All bits of both are alike.
        let initial = params.initial & (u32::MAX >> (32 - width));
        Some(Self { tables, width, initial, final_xor: params.final_xor })
    }
}

impl ReflectedCrc<'_> {
    /// Bytes that the tables take at once.
    pub const STEP: usize = 8;

    /// The check of so many bytes of zeros.
    pub fn of_zeros(&self, bytes: usize) -> u32 {
        feed_reflected(self.tables, self.initial, &vec![0; bytes]) ^ self.final_xor
    }
}

/// The check that a hash function of a TNA program starts with, and what is taken of it.
#[derive(Debug)]
pub(crate) struct HashCrc {
    tables: Box<Reflected>,
    width: u32,
    initial: u32,
    final_xor: u32,
    /// Lowest bits of the check that are left out.
    pub unused: u32,
    /// Bits of the result at most.
    pub bits: u32,
}

impl HashCrc {
    /// None for what is no reflected check of whole bytes up to four, or repeats it.
    pub fn new(object: &HashObject) -> Option<Self> {
        let HashFunction { kind: HashKind::Crc(check), msb, extend } = object.function else { return None };
        let CrcFunction { width, polynomial, initial, final_xor, reversed } = check;
        let plain = reversed && width.is_multiple_of(8) && (8..=32).contains(&width);
        let longer = object.width > width;
        if !plain || !object.is_dynamic() || (longer && extend) {
            return None;
        }
        let reflect = |word: u64| (word as u32).reverse_bits() >> (32 - width);
        let params = CrcParams { polynomial: polynomial as u32, ..CrcParams::CRC32 };
        Some(Self {
            tables: Box::new(reflected(width, params)),
            width,
            initial: reflect(initial),
            final_xor: reflect(final_xor),
            unused: if msb && !longer { width - object.width } else { 0 },
            bits: object.width.min(width),
        })
    }

    /// The check.
    pub fn check(&self) -> ReflectedCrc<'_> {
        let Self { ref tables, width, initial, final_xor, .. } = *self;
        ReflectedCrc { tables, width, initial, final_xor }
    }
}

/// Hash functions of one switch: the custom checks can be set by the control plane.
#[derive(Clone, Debug)]
pub(crate) struct Hashes {
    crc16: Crc,
    crc32: Crc,
    /// By [`p4cc_ir::CustomCrcId`].
    custom: Vec<Crc>,
}

impl Hashes {
    /// Custom checks start as the program says, or else as the standard ones of their width, as in BMv2.
    pub fn new(custom: &[CustomCrc]) -> Self {
        let (crc16, crc32) = (Crc::crc16(), Crc::crc32());
        let of = |one: &CustomCrc| match &one.start {
            Some(start) => Crc::new(one.width, CrcParams::from(start)),
            None if one.width == 16 => crc16.clone(),
            None => crc32.clone(),
        };
        Self { custom: custom.iter().map(of).collect(), crc16, crc32 }
    }

    /// Sets the parameters of a custom check; false if there is none of this id.
    pub fn set_custom(&mut self, id: CustomCrcId, params: CrcParams) -> bool {
        let Some(crc) = self.custom.get_mut(id.index()) else { return false };
        *crc = Crc::new(crc.width, params);
        true
    }

    /// The hash of bytes and payload; the random "hash" needs a source and is the caller's.
    pub fn compute(&self, algorithm: HashAlgorithm, bytes: &[u8], payload: PacketView<'_>) -> u64 {
        match algorithm {
            HashAlgorithm::Crc16 => u64::from(self.crc16.compute(bytes, payload)),
            HashAlgorithm::Crc32 => u64::from(self.crc32.compute(bytes, payload)),
            HashAlgorithm::Crc16Custom(id) | HashAlgorithm::Crc32Custom(id) => {
                u64::from(self.custom[id.index()].compute(bytes, payload))
            }
            HashAlgorithm::Csum16 => {
                let sum = words(bytes, payload).fold(0, |sum, word| sum + u64::from(word));
                u64::from(!fold(sum))
            }
            HashAlgorithm::Xor16 => u64::from(words(bytes, payload).fold(0, |xor, word| xor ^ word)),
            HashAlgorithm::Identity => identity(bytes, payload),
            // Messages of TNA are hashed by the state.
            HashAlgorithm::Random | HashAlgorithm::Object(_) => 0,
        }
    }
}

/// Bytes that are not stored zeros; zeros change no sum and no exclusive-or.
fn words<'a>(bytes: &'a [u8], payload: PacketView<'a>) -> impl Iterator<Item = u16> + 'a {
    let mut all = bytes.iter().chain(payload.bytes).copied();
    core::iter::from_fn(move || {
        let high = all.next()?;
        Some(u16::from_be_bytes([high, all.next().unwrap_or(0)]))
    })
}

/// The first eight bytes, or all if fewer, as one number.
fn identity(bytes: &[u8], payload: PacketView<'_>) -> u64 {
    let zeros = core::iter::repeat_n(0, payload.zeros as usize);
    let all = bytes.iter().chain(payload.bytes).copied().chain(zeros);
    all.take(8).fold(0, |value, byte| value << 8 | u64::from(byte))
}

/// One's complement sum of 16-bit columns, carries folded in.
#[inline]
pub(crate) fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::state::hashing::HashState;

    /// A byte at a time, by tables made for the parameters.
    #[test]
    fn standard_checks_take_any_number_of_bytes_as_one_by_one() {
        let bytes: Vec<u8> = (0..100u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
        for (fixed, own) in
            [(Crc::crc16(), Crc::new(16, CrcParams::CRC16)), (Crc::crc32(), Crc::new(32, CrcParams::CRC32))]
        {
            for len in 0..bytes.len() {
                let payload = PacketView { bytes: &bytes[len / 2..len], zeros: len as u32 * 3 };
                let (head, none) = (&bytes[..len / 2], PacketView::default());
                assert_eq!(fixed.compute(head, payload), own.compute(head, payload), "{len} bytes");
                assert_eq!(fixed.compute(head, none), own.compute(head, none), "{len} bytes");
            }
        }
    }

    #[test]
    fn a_standard_check_is_what_its_bytes_and_what_zeros_give() {
        let bytes: Vec<u8> = (0..=255).map(|byte: u8| byte.wrapping_mul(151) ^ 0x5a).collect();
        let none = PacketView::default();
        for (algorithm, crc) in [(HashAlgorithm::Crc16, Crc::crc16()), (HashAlgorithm::Crc32, Crc::crc32())] {
            let check = ReflectedCrc::standard(algorithm).expect("a standard check");
            for len in 0..bytes.len() {
                let linear = feed_reflected(check.tables, 0, &bytes[..len]) ^ check.of_zeros(len);
                assert_eq!(linear, crc.compute(&bytes[..len], none), "{len} bytes");
            }
        }
    }

    proptest! {
        /// What inline code works out is what the state gives, for any hash function and message.
        #[test]
        fn an_object_check_is_that_of_the_state(
            width in (1u32..=4).prop_map(|bytes| bytes * 8),
            (polynomial, initial, final_xor) in any::<(u64, u64, u64)>(),
            (msb, extend) in any::<(bool, bool)>(),
            result in 1u32..=40,
            bytes in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let cut = |word: u64| word & (u64::MAX >> (64 - width));
            let (initial, final_xor) = (cut(initial), cut(final_xor));
            let check = CrcFunction { width, polynomial: cut(polynomial) | 1, initial, final_xor, reversed: true };
            let object = HashObject {
                cp: p4cc_ir::ControlPlaneName::default(),
                function: HashFunction { kind: HashKind::Crc(check), msb, extend },
                width: result,
                used: u64::MAX,
                fields: Vec::new(),
                symmetric: Vec::new(),
            };
            let Some(inline) = HashCrc::new(&object) else {
                prop_assert!(extend && result > width);
                return Ok(());
            };
            let check = inline.check();
            let sum = feed_reflected(check.tables, 0, &bytes) ^ check.of_zeros(bytes.len());
            let taken = u64::from(sum) >> inline.unused & (u64::MAX >> (64 - inline.bits));
            prop_assert_eq!(taken, HashState::new(&object).hash(&bytes, 0));
        }
    }

    /// The checks' published values over `123456789`.
    #[test]
    fn standard_checks_have_their_check_values() {
        let none = PacketView::default();
        assert_eq!(Crc::crc16().compute(b"123456789", none), 0xbb3d);
        assert_eq!(Crc::crc32().compute(b"123456789", none), 0xcbf4_3926);
    }
}
