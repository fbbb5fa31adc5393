//! Objects that only TNA has: filters, hash functions that the control plane sets, math units.

use crate::ControlPlaneName;

/// What a filter gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterKind {
    /// `Lpf`: a moving average, or a moving sum.
    Lpf,
    /// `Wred`: one of two numbers, by the moving average and chance.
    Wred {
        /// Given to a packet that is to be dropped.
        drop_value: u8,
        /// Given to all others.
        no_drop_value: u8,
    },
}

/// An array of filters, or a table's direct one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// What it gives.
    pub kind: FilterKind,
    /// Number of cells; `None` for a direct filter.
    pub size: Option<u32>,
    /// Bits of what it is given, and of what an `Lpf` gives.
    pub width: u32,
}

/// A cyclic redundancy check of any width to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrcFunction {
    /// Bits of the register, 1 to 64.
    pub width: u32,
    /// Generator polynomial, highest power left out.
    pub polynomial: u64,
    /// Register at the start.
    pub initial: u64,
    /// Exclusive-or at the end.
    pub final_xor: u64,
    /// Bytes go in lowest bit first, and the result is reversed.
    pub reversed: bool,
}

/// How a message is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashKind {
    /// The lowest bits of the message.
    Identity,
    /// A fixed linear function, whose bits look random.
    Random,
    /// Exclusive-or of the message's words, from its first bit on; the last is filled with zeros.
    Xor {
        /// Bits of a word.
        width: u32,
    },
    /// A cyclic redundancy check.
    Crc(CrcFunction),
}

/// A hash function of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashFunction {
    /// How the message is hashed.
    pub kind: HashKind,
    /// A result that is narrower takes the highest bits of the check, not the lowest.
    pub msb: bool,
    /// A result that is wider repeats the check; otherwise zeros stand above it.
    pub extend: bool,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashField {
    /// As P4Info names keys; empty for a constant.
    pub name: String,
    /// Bits.
    pub width: u32,
}

/// A `Hash`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashObject {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// What it starts with.
    pub function: HashFunction,
    /// Bits of the result, 1 to 64.
    pub width: u32,
    /// Bits of the result that the program uses; the chip computes no others.
    pub used: u64,
    /// The message of its first `get`, in order, the first in its highest bits.
    pub fields: Vec<HashField>,
    /// Pairs of fields that the program makes symmetric: both are replaced by their exclusive-or.
    pub symmetric: Vec<(usize, usize)>,
}

impl HashObject {
    /// Whether the control plane may set it: no fields of it are symmetric in the program.
    pub fn is_dynamic(&self) -> bool {
        self.symmetric.is_empty()
    }
}

/// A math unit: a number is made a mantissa of four bits and an exponent, which become one of eight bits from
/// a table and another exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MathUnit {
    /// The exponent changes its sign.
    pub invert: bool,
    /// -1 halves the exponent, 1 doubles it.
    pub shift: i8,
    /// Added to the exponent of the result.
    pub scale: i8,
    /// Result by mantissa.
    pub table: [u8; 16],
}

const fn crc(width: u32, polynomial: u64, reversed: bool, initial: u64, final_xor: u64) -> HashFunction {
    let check = CrcFunction { width, polynomial, initial, final_xor, reversed };
    HashFunction { kind: HashKind::Crc(check), msb: false, extend: false }
}

impl HashFunction {
    /// The lowest bits of the message.
    pub const IDENTITY: Self = Self { kind: HashKind::Identity, msb: false, extend: false };
    /// A fixed function that looks random.
    pub const RANDOM: Self = Self { kind: HashKind::Random, msb: false, extend: false };
    /// CRC-8.
    pub const CRC8: Self = crc(8, 0x07, false, 0, 0);
    /// CRC-16/ARC.
    pub const CRC16: Self = crc(16, 0x8005, true, 0, 0);
    /// CRC-32 of Ethernet.
    pub const CRC32: Self = crc(32, 0x04c1_1db7, true, 0xffff_ffff, 0xffff_ffff);
    /// CRC-64 of ECMA-182.
    pub const CRC64: Self = crc(64, 0x42f0_e1eb_a9ea_3693, false, 0, 0);

    /// Exclusive-or of words.
    pub const fn xor(width: u32) -> Self {
        Self { kind: HashKind::Xor { width }, msb: false, extend: false }
    }

    /// Bits that it computes by itself; `None` if as many as asked for.
    pub const fn bits(&self) -> Option<u32> {
        match self.kind {
            HashKind::Identity | HashKind::Random => None,
            HashKind::Xor { width } => Some(width),
            HashKind::Crc(check) => Some(check.width),
        }
    }

    /// A function of the chip's catalogue, such as `crc_32_bzip2`; letters of either size, underscores and
    /// hyphens left out or not.
    pub fn by_name(name: &str) -> Option<Self> {
        let plain = |text: &str| -> String {
            text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
        };
        let wanted = plain(name);
        CATALOGUE.iter().find(|(name, _)| plain(name) == wanted).map(|(_, function)| *function)
    }

    /// Names of the catalogue, in its order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        CATALOGUE.iter().map(|(name, _)| *name)
    }
}

/// The checks that the chip's driver knows by name, with the parameters of docs/sources.md#crc-catalogue.
const CATALOGUE: &[(&str, HashFunction)] = &[
    ("identity", HashFunction::IDENTITY),
    ("random", HashFunction::RANDOM),
    ("xor8", HashFunction::xor(8)),
    ("xor16", HashFunction::xor(16)),
    ("xor32", HashFunction::xor(32)),
    ("crc_8", HashFunction::CRC8),
    ("crc_8_darc", crc(8, 0x39, true, 0, 0)),
    ("crc_8_i_code", crc(8, 0x1d, false, 0xfd, 0)),
    ("crc_8_itu", crc(8, 0x07, false, 0x55, 0x55)),
    ("crc_8_maxim", crc(8, 0x31, true, 0, 0)),
    ("crc_8_rohc", crc(8, 0x07, true, 0xff, 0)),
    ("crc_8_wcdma", crc(8, 0x9b, true, 0, 0)),
    ("crc_16", HashFunction::CRC16),
    ("crc_16_bypass", crc(16, 0x8005, false, 0, 0)),
    ("crc_16_dds_110", crc(16, 0x8005, false, 0x800d, 0)),
    ("crc_16_dect", crc(16, 0x0589, false, 1, 1)),
    ("crc_16_dect_r", crc(16, 0x0589, false, 0, 1)),
    ("crc_16_dect_x", crc(16, 0x0589, false, 0, 0)),
    ("crc_16_dnp", crc(16, 0x3d65, true, 0, 0xffff)),
    ("crc_16_en_13757", crc(16, 0x3d65, false, 0, 0xffff)),
    ("crc_16_genibus", crc(16, 0x1021, false, 0xffff, 0xffff)),
    ("crc_16_maxim", crc(16, 0x8005, true, 0, 0xffff)),
    ("crc_16_mcrf4xx", crc(16, 0x1021, true, 0xffff, 0)),
    ("crc_16_riello", crc(16, 0x1021, true, 0xb2aa, 0)),
    ("crc_16_t10_dif", crc(16, 0x8bb7, false, 0, 0)),
    ("crc_16_teledisk", crc(16, 0xa097, false, 0, 0)),
    ("crc_16_usb", crc(16, 0x8005, true, 0xffff, 0xffff)),
    ("x_25", crc(16, 0x1021, true, 0xffff, 0xffff)),
    ("xmodem", crc(16, 0x1021, false, 0, 0)),
    ("modbus", crc(16, 0x8005, true, 0xffff, 0)),
    ("kermit", crc(16, 0x1021, true, 0, 0)),
    ("crc_ccitt_false", crc(16, 0x1021, false, 0xffff, 0)),
    ("crc_aug_ccitt", crc(16, 0x1021, false, 0x1d0f, 0)),
    ("crc_32", HashFunction::CRC32),
    ("crc_32_bzip2", crc(32, 0x04c1_1db7, false, 0xffff_ffff, 0xffff_ffff)),
    ("crc_32c", crc(32, 0x1edc_6f41, true, 0xffff_ffff, 0xffff_ffff)),
    ("crc_32d", crc(32, 0xa833_982b, true, 0xffff_ffff, 0xffff_ffff)),
    ("crc_32_mpeg", crc(32, 0x04c1_1db7, false, 0xffff_ffff, 0)),
    ("posix", crc(32, 0x04c1_1db7, false, 0, 0xffff_ffff)),
    ("crc_32q", crc(32, 0x8141_41ab, false, 0, 0)),
    ("jamcrc", crc(32, 0x04c1_1db7, true, 0xffff_ffff, 0)),
    ("xfer", crc(32, 0x0000_00af, false, 0, 0)),
    ("crc_64", HashFunction::CRC64),
    ("crc_64_go_iso", crc(64, 0x1b, true, u64::MAX, u64::MAX)),
    ("crc_64_we", crc(64, 0x42f0_e1eb_a9ea_3693, false, u64::MAX, u64::MAX)),
    ("crc_64_jones", crc(64, 0xad93_d235_94c9_35a9, true, u64::MAX, 0)),
];
