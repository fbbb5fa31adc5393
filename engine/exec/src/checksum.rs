//! Checksums and hashes of v1model, as BMv2 computes them.
//!
//! Input is a byte string followed by a payload whose tail may be zeros that are not stored.

use p4cc_ir::{CustomCrc, CustomCrcId, HashAlgorithm};

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

/// A check with its table. The register is kept in the high bits, or reflected in the low ones.
#[derive(Clone, Debug)]
pub(crate) struct Crc {
    params: CrcParams,
    width: u32,
    table: Box<[u32; 256]>,
}

impl Crc {
    /// `width` is 16 or 32.
    pub fn new(width: u32, params: CrcParams) -> Self {
        let mut table = Box::new([0; 256]);
        let reflected = params.polynomial.reverse_bits() >> (32 - width);
        for (byte, entry) in (0u32..).zip(table.iter_mut()) {
            *entry = if params.reflect_data {
                (0..8).fold(byte, |rest, _| if rest & 1 == 1 { rest >> 1 ^ reflected } else { rest >> 1 })
            } else {
                let top = 1 << (width - 1);
                (0..8).fold(byte << (width - 8), |rest, _| {
                    if rest & top != 0 { rest << 1 ^ params.polynomial } else { rest << 1 }
                })
            };
        }
        Self { params, width, table }
    }

    /// The check over some bytes and a payload.
    pub fn compute(&self, bytes: &[u8], payload: PacketView<'_>) -> u32 {
        let mask = u32::MAX >> (32 - self.width);
        let initial = self.params.initial & mask;
        let start =
            if self.params.reflect_data { initial.reverse_bits() >> (32 - self.width) } else { initial };
        let mut register = self.feed(start, bytes);
        register = self.feed(register, payload.bytes);
        for _ in 0..payload.zeros {
            register = self.feed(register, &[0]);
        }
        if self.params.reflect_data != self.params.reflect_result {
            register = register.reverse_bits() >> (32 - self.width);
        }
        (register ^ self.params.final_xor) & mask
    }

    #[inline]
    fn feed(&self, register: u32, bytes: &[u8]) -> u32 {
        if self.params.reflect_data {
            bytes.iter().fold(register, |register, &byte| {
                register >> 8 ^ self.table[((register ^ u32::from(byte)) & 0xff) as usize]
            })
        } else {
            let mask = u32::MAX >> (32 - self.width);
            bytes.iter().fold(register, |register, &byte| {
                let index = (register >> (self.width - 8) ^ u32::from(byte)) & 0xff;
                (register << 8 ^ self.table[index as usize]) & mask
            })
        }
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
    /// Custom checks start as the standard ones of their width, as in BMv2.
    pub fn new(custom: &[CustomCrc]) -> Self {
        let (crc16, crc32) = (Crc::new(16, CrcParams::CRC16), Crc::new(32, CrcParams::CRC32));
        let of = |one: &CustomCrc| if one.width == 16 { crc16.clone() } else { crc32.clone() };
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
            HashAlgorithm::Random => 0,
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
