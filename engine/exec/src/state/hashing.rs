//! Hash functions of a TNA program, and what the control plane makes of them.
//!
//! A message is a number: its first field stands in its highest bits. Where it does not fill its first byte,
//! zeros stand in front. A check takes the message byte by byte from the front. The control plane may give
//! another function, and other parts of the fields in another order; parts of one order are symmetric: both
//! are replaced by their exclusive-or, so that exchanging them changes nothing.

use p4cc_ir::{Bits, CrcFunction, HashFunction, HashId, HashKind, HashObject};

use super::State;
use super::filter::split_mix;
use super::validate::unknown;
use crate::control::ControlError;

/// A part of a field, as the control plane gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashSlice {
    /// Position of the field in [`HashObject::fields`].
    pub field: usize,
    /// Its lowest bit.
    pub start_bit: u32,
    /// Bits; those past the end of the field do not count.
    pub length: u32,
    /// Place in the message, from 1; 0 leaves the part out.
    pub order: u32,
}

/// Steps of a check by byte, its register at the top of a word.
type Steps = Box<[u64; 256]>;

/// A hash function as it is now.
#[derive(Clone, Debug)]
pub(crate) struct HashState {
    function: HashFunction,
    width: u32,
    /// Bits that the result is turned left by.
    rotation: u32,
    steps: Steps,
    /// Bits of the fields.
    widths: Vec<u32>,
    slices: Vec<HashSlice>,
    /// The slices as runs of bits of the message.
    plan: Vec<Run>,
    /// Other than zero where it is no more what the program says: native code looks at this.
    pub(super) is_changed: u64,
}

/// Bits of the message from a position on, counted from its lowest.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: u32,
    bits: u32,
    /// The bits that they are combined with.
    sibling: Option<u32>,
}

/// Bits of a message, the highest first.
struct Message<'a> {
    bytes: &'a [u8],
    /// Zeros at its front that are no part of it.
    front: u32,
}

impl Message<'_> {
    fn len(&self) -> u32 {
        (8 * self.bytes.len() as u32).saturating_sub(self.front)
    }

    /// A bit by its place from the lowest.
    fn bit(&self, at: u32) -> u64 {
        let byte = (at / 8) as usize;
        let place = self.bytes.len().checked_sub(byte + 1);
        place.and_then(|place| self.bytes.get(place)).map_or(0, |byte| u64::from(byte >> (at % 8) & 1))
    }

    /// The lowest bits.
    fn low(&self) -> u64 {
        let rest = self.bytes.len().saturating_sub(8);
        self.bytes.iter().skip(rest).fold(0, |value, &byte| value << 8 | u64::from(byte))
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}

fn steps(function: &HashFunction) -> Steps {
    let mut steps = Box::new([0; 256]);
    if let HashKind::Crc(check) = function.kind {
        let polynomial = (check.polynomial & mask(check.width)) << (64 - check.width.clamp(1, 64));
        for (byte, step) in (0u64..).zip(steps.iter_mut()) {
            *step = (0..8).fold(
                byte << 56,
                |rest, _| {
                    if rest >> 63 == 1 { rest << 1 ^ polynomial } else { rest << 1 }
                },
            );
        }
    }
    steps
}

/// The check of whole bytes.
fn check(check: &CrcFunction, steps: &Steps, bytes: &[u8]) -> u64 {
    let width = check.width.clamp(1, 64);
    let start = (check.initial & mask(width)) << (64 - width);
    let take = |register: u64, byte: u8| register << 8 ^ steps[((register >> 56) as u8 ^ byte) as usize];
    let register = match check.reversed {
        true => bytes.iter().fold(start, |register, byte| take(register, byte.reverse_bits())),
        false => bytes.iter().fold(start, |register, &byte| take(register, byte)),
    };
    let sum = register >> (64 - width) ^ check.final_xor & mask(width);
    if check.reversed { sum.reverse_bits() >> (64 - width) } else { sum }
}

impl HashState {
    pub fn new(object: &HashObject) -> Self {
        let mut state = Self {
            function: object.function,
            width: object.width,
            rotation: 0,
            steps: steps(&object.function),
            widths: object.fields.iter().map(|field| field.width).collect(),
            slices: Vec::new(),
            plan: Vec::new(),
            is_changed: 0,
        };
        if !object.is_dynamic() {
            state.plan = state.symmetric(&object.symmetric);
        }
        state
    }

    /// All fields in order, those of a pair combined.
    fn symmetric(&self, pairs: &[(usize, usize)]) -> Vec<Run> {
        let below = |field: usize| self.widths.iter().skip(field + 1).sum::<u32>();
        let run = |(field, &bits): (usize, &u32)| {
            let pair = pairs.iter().find(|(a, b)| *a == field || *b == field);
            let sibling = pair.map(|&(a, b)| below(if a == field { b } else { a }));
            Run { from: below(field), bits, sibling }
        };
        self.widths.iter().enumerate().map(run).collect()
    }

    fn set_function(&mut self, function: HashFunction) {
        self.steps = steps(&function);
        self.function = function;
    }

    /// Compares it with what the program says.
    fn compare(&mut self, object: &HashObject) {
        let is_same = self.function == object.function && self.rotation == 0 && self.plan.is_empty();
        self.is_changed = u64::from(!is_same);
    }

    /// The hash of a message.
    pub fn hash(&self, bytes: &[u8], front: u32) -> u64 {
        let value = self.unturned(bytes, front);
        match self.rotation {
            0 => value,
            by => (value << by | value >> (self.width - by)) & mask(self.width),
        }
    }

    fn unturned(&self, bytes: &[u8], front: u32) -> u64 {
        let message = Message { bytes, front };
        if self.plan.is_empty() || message.len() != self.widths.iter().sum::<u32>() {
            return self.result(&message);
        }
        let picked = self.picked(&message);
        let bits: u32 = self.plan.iter().map(|run| run.bits).sum();
        self.result(&Message { bytes: &picked, front: bits.next_multiple_of(8) - bits })
    }

    /// The parts of the message that count, one behind the other.
    fn picked(&self, message: &Message<'_>) -> Vec<u8> {
        let bits: u32 = self.plan.iter().map(|run| run.bits).sum();
        let mut picked = vec![0; bits.div_ceil(8) as usize];
        let mut left = bits;
        for run in &self.plan {
            for at in (0..run.bits).rev() {
                left -= 1;
                let sibling = run.sibling.map_or(0, |from| message.bit(from + at));
                let bit = message.bit(run.from + at) ^ sibling;
                let place = picked.len() - 1 - (left / 8) as usize;
                picked[place] |= (bit as u8) << (left % 8);
            }
        }
        picked
    }

    fn result(&self, message: &Message<'_>) -> u64 {
        let sum = match &self.function.kind {
            HashKind::Identity => return message.low() & mask(self.width),
            HashKind::Random => return random(message) & mask(self.width),
            HashKind::Xor { width } => exclusive_or(message, *width),
            HashKind::Crc(function) => check(function, &self.steps, message.bytes),
        };
        let bits = self.function.bits().unwrap_or(self.width);
        if self.width <= bits {
            let unused = if self.function.msb { bits - self.width } else { 0 };
            return sum >> unused & mask(self.width);
        }
        if !self.function.extend {
            return sum;
        }
        let repeated = (0..self.width.div_ceil(bits)).fold(0, |value, at| value | sum << (at * bits));
        repeated & mask(self.width)
    }

    /// Checks slices and makes them a plan.
    fn plan(&self, slices: &[HashSlice]) -> Result<Vec<Run>, String> {
        let mut parts = Vec::new();
        for slice in slices.iter().filter(|slice| slice.order > 0) {
            let Some(&width) = self.widths.get(slice.field) else {
                return Err(format!("there is no field {}", slice.field));
            };
            if slice.start_bit >= width {
                return Err(format!("a part starts at bit {} of a field of {width} bits", slice.start_bit));
            }
            let below: u32 = self.widths.iter().skip(slice.field + 1).sum();
            let bits = slice.length.min(width - slice.start_bit);
            if bits == 0 {
                return Err("a part has no bits".to_owned());
            }
            parts.push((slice.order, below + slice.start_bit, bits));
        }
        let mut places: Vec<(u32, u32)> = parts.iter().map(|&(_, from, bits)| (from, bits)).collect();
        places.sort_unstable();
        if places.windows(2).any(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
            return Err("two parts of a field overlap".to_owned());
        }
        parts.sort_by_key(|&(order, _, _)| order);
        let runs = parts.iter().enumerate().map(|(at, &(order, from, bits))| {
            let same = parts.iter().enumerate().filter(|(other, part)| *other != at && part.0 == order);
            let same: Vec<(u32, u32)> = same.map(|(_, part)| (part.1, part.2)).collect();
            match same[..] {
                [] => Ok(Run { from, bits, sibling: None }),
                [(sibling, other)] if other == bits => Ok(Run { from, bits, sibling: Some(sibling) }),
                [_] => Err(format!("the parts of order {order} differ in length")),
                _ => Err(format!("more than two parts have order {order}")),
            }
        });
        runs.collect()
    }
}

/// Exclusive-or of the message's words from its first bit on, the last filled with zeros.
fn exclusive_or(message: &Message<'_>, width: u32) -> u64 {
    let width = width.clamp(1, 64);
    if message.front == 0 && width.is_multiple_of(8) {
        let words = message.bytes.chunks((width / 8) as usize);
        return words.fold(0, |sum, word| {
            let value = word.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
            sum ^ value << (width - 8 * word.len() as u32)
        });
    }
    let len = message.len();
    let missing = len.next_multiple_of(width) - len;
    (0..len).fold(0, |sum, at| sum ^ message.bit(at) << ((at + missing) % width))
}

/// A linear function with columns drawn from a fixed stream.
fn random(message: &Message<'_>) -> u64 {
    let mut stream = 0x7a6e_2d68_6173_6821;
    let start = split_mix(&mut stream);
    (0..message.len()).fold(start, |sum, at| {
        let column = split_mix(&mut stream);
        if message.bit(at) == 1 { sum ^ column } else { sum }
    })
}

impl State {
    /// The hash of a message that stands in whole bytes.
    pub(crate) fn hash_message(&self, id: HashId, bytes: &[u8], front: u32) -> u64 {
        self.hash_objects.get(id.index()).map_or(0, |hash| hash.hash(bytes, front))
    }

    fn hash_of(&self, id: HashId) -> Result<&HashState, ControlError> {
        self.hash_objects.get(id.index()).ok_or_else(|| unknown("hash function", id))
    }

    /// A hash function that the control plane may change.
    fn dynamic(&mut self, id: HashId) -> Result<(&HashObject, &mut HashState), ControlError> {
        let object = self.program.hashes.get(id.index()).ok_or_else(|| unknown("hash function", id))?;
        if !object.is_dynamic() {
            return Err(ControlError::FailedPrecondition(format!(
                "hash `{}` is fixed: fields of it are symmetric in the program",
                object.cp.name
            )));
        }
        let state = self.hash_objects.get_mut(id.index()).ok_or_else(|| unknown("hash function", id))?;
        Ok((object, state))
    }

    /// How messages are hashed now.
    ///
    /// # Errors
    /// The program has no such hash function.
    pub fn hash_function(&self, id: HashId) -> Result<&HashFunction, ControlError> {
        self.hash_of(id).map(|hash| &hash.function)
    }

    /// Sets how messages are hashed; `None` goes back to what the program says.
    ///
    /// # Errors
    /// The program has no such hash function, or the check is none that the chip has.
    pub fn set_hash_function(
        &mut self,
        id: HashId,
        function: Option<HashFunction>,
    ) -> Result<(), ControlError> {
        let (object, state) = self.dynamic(id)?;
        let wrong =
            |what: &str| Err(ControlError::InvalidArgument(format!("hash `{}`: {what}", object.cp.name)));
        let function = function.unwrap_or(object.function);
        match function.kind {
            HashKind::Crc(check) if !(1..=64).contains(&check.width) => {
                return wrong("a check has 1 to 64 bits");
            }
            HashKind::Crc(check) if check.polynomial & 1 == 0 => {
                return wrong("the polynomial is even: its lowest bit must be 1");
            }
            HashKind::Crc(check)
                if (check.polynomial | check.initial | check.final_xor) & !mask(check.width) != 0 =>
            {
                return wrong("a parameter of the check has more bits than the check");
            }
            HashKind::Xor { width } if !(1..=64).contains(&width) => {
                return wrong("words have 1 to 64 bits");
            }
            _ => {}
        }
        state.set_function(function);
        state.compare(object);
        Ok(())
    }

    /// Bits that the result is turned left by.
    ///
    /// # Errors
    /// The program has no such hash function.
    pub fn hash_rotation(&self, id: HashId) -> Result<u32, ControlError> {
        self.hash_of(id).map(|hash| hash.rotation)
    }

    /// Turns the result left by some bits, modulo its width.
    ///
    /// # Errors
    /// The program has no such hash function.
    pub fn set_hash_rotation(&mut self, id: HashId, bits: u32) -> Result<(), ControlError> {
        let (object, state) = self.dynamic(id)?;
        state.rotation = bits % object.width.max(1);
        state.compare(object);
        Ok(())
    }

    /// The parts of the fields that are hashed; none for all of them as the program has them.
    ///
    /// # Errors
    /// The program has no such hash function.
    pub fn hash_slices(&self, id: HashId) -> Result<&[HashSlice], ControlError> {
        self.hash_of(id).map(|hash| &hash.slices[..])
    }

    /// Sets the parts of the fields that are hashed, and their order.
    ///
    /// # Errors
    /// The program has no such hash function, or a part does not fit.
    pub fn set_hash_slices(&mut self, id: HashId, slices: Vec<HashSlice>) -> Result<(), ControlError> {
        let (object, state) = self.dynamic(id)?;
        let name = &object.cp.name;
        let plan = state.plan(&slices);
        state.plan = plan.map_err(|what| ControlError::InvalidArgument(format!("hash `{name}`: {what}")))?;
        state.slices = slices;
        state.compare(object);
        Ok(())
    }

    /// The hash of given fields, as far as the program uses its bits.
    ///
    /// # Errors
    /// The program has no such hash function, or other fields.
    pub fn hash_compute(&self, id: HashId, fields: &[Bits]) -> Result<Bits, ControlError> {
        let hash = self.hash_of(id)?;
        if !fields.iter().map(Bits::width).eq(hash.widths.iter().copied()) {
            return Err(ControlError::InvalidArgument(format!(
                "hash `{}` takes {} fields of {:?} bits",
                self.program.hashes[id.index()].cp.name,
                hash.widths.len(),
                hash.widths
            )));
        }
        let total: u32 = hash.widths.iter().sum();
        let mut bytes = vec![0u8; total.div_ceil(8) as usize];
        let mut left = total;
        for field in fields {
            for at in (0..field.width()).rev() {
                left -= 1;
                let word = field.words().get((at / 64) as usize).copied().unwrap_or(0);
                let place = bytes.len() - 1 - (left / 8) as usize;
                bytes[place] |= ((word >> (at % 64) & 1) as u8) << (left % 8);
            }
        }
        let value = hash.hash(&bytes, total.next_multiple_of(8) - total);
        let used = self.program.hashes.get(id.index()).map_or(u64::MAX, |object| object.used);
        Ok(Bits::from_u128(hash.width, (value & used).into()))
    }
}

#[cfg(test)]
mod tests {
    use p4cc_ir::{ControlPlaneName, HashField};
    use proptest::prelude::*;

    use super::*;

    fn object(function: HashFunction, width: u32, fields: &[u32]) -> HashState {
        let fields = fields.iter().map(|&width| HashField { name: String::new(), width }).collect();
        let cp = ControlPlaneName::default();
        HashState::new(&HashObject { cp, function, width, used: u64::MAX, fields, symmetric: Vec::new() })
    }

    /// The published values over `123456789` (docs/sources.md#crc-catalogue).
    #[test]
    fn checks_have_their_check_values() {
        let values: &[(&str, u64)] = &[
            ("crc_8", 0xf4),
            ("crc_8_darc", 0x15),
            ("crc_8_i_code", 0x7e),
            ("crc_8_maxim", 0xa1),
            ("crc_8_rohc", 0xd0),
            ("crc_8_wcdma", 0x25),
            ("crc_16", 0xbb3d),
            ("crc_16_bypass", 0xfee8),
            ("crc_16_dds_110", 0x9ecf),
            ("crc_16_dect_r", 0x007e),
            ("crc_16_dect_x", 0x007f),
            ("crc_16_dnp", 0xea82),
            ("crc_16_en_13757", 0xc2b7),
            ("crc_16_genibus", 0xd64e),
            ("crc_16_maxim", 0x44c2),
            ("crc_16_mcrf4xx", 0x6f91),
            ("crc_16_riello", 0x63d0),
            ("crc_16_t10_dif", 0xd0db),
            ("crc_16_teledisk", 0x0fb3),
            ("crc_16_usb", 0xb4c8),
            ("x_25", 0x906e),
            ("xmodem", 0x31c3),
            ("modbus", 0x4b37),
            ("kermit", 0x2189),
            ("crc_ccitt_false", 0x29b1),
            ("crc_aug_ccitt", 0xe5cc),
            ("crc_32", 0xcbf4_3926),
            ("crc_32_bzip2", 0xfc89_1918),
            ("crc_32c", 0xe306_9283),
            ("crc_32d", 0x8731_5576),
            ("crc_32_mpeg", 0x0376_e6e7),
            ("posix", 0x765e_7680),
            ("crc_32q", 0x3010_bf7f),
            ("jamcrc", 0x340b_c6d9),
            ("xfer", 0xbd0b_e338),
            ("crc_64", 0x6c40_df5f_0b49_7347),
            ("crc_64_go_iso", 0xb909_56c7_75a4_1001),
            ("crc_64_we", 0x62ec_59e3_f1a4_f00a),
        ];
        for &(name, value) in values {
            let function = HashFunction::by_name(name).expect(name);
            let bits = function.bits().expect("a check");
            assert_eq!(object(function, bits, &[]).hash(b"123456789", 0), value, "{name}");
        }
        let named: Vec<_> = HashFunction::names().filter(|name| name.contains("rc")).collect();
        assert!(named.iter().all(|name| HashFunction::by_name(&name.to_uppercase()).is_some()));
    }

    /// The chip's driver has one check with another start than the catalogue: 55 in place of 0.
    #[test]
    fn one_check_is_the_drivers_own() {
        let function = HashFunction::by_name("crc_8_itu").unwrap();
        assert_eq!(object(function, 8, &[]).hash(b"123456789", 0), 0xa4);
    }

    #[test]
    fn results_are_cut_or_extended() {
        let crc = |width, msb, extend| {
            object(HashFunction { msb, extend, ..HashFunction::CRC16 }, width, &[]).hash(b"123456789", 0)
        };
        assert_eq!(crc(8, false, false), 0x3d);
        assert_eq!(crc(8, true, false), 0xbb);
        assert_eq!(crc(24, false, false), 0xbb3d);
        assert_eq!(crc(24, false, true), 0x3d_bb3d);
        assert_eq!(crc(64, false, true), 0xbb3d_bb3d_bb3d_bb3d);
    }

    #[test]
    fn a_result_is_turned_within_its_width() {
        let mut hash = object(HashFunction { extend: true, ..HashFunction::CRC32 }, 64, &[]);
        hash.rotation = 2;
        assert_eq!(hash.hash(b"123456789", 0) as u32, 0xcbf4_3926u32.rotate_left(2));
        let mut hash = object(HashFunction::IDENTITY, 12, &[]);
        hash.rotation = 4;
        assert_eq!(hash.hash(&[0xa, 0xbc], 4), 0xbca);
    }

    #[test]
    fn words_are_combined_from_the_first_bit_on() {
        assert_eq!(object(HashFunction::xor(16), 16, &[]).hash(&[0x12, 0x34, 0x56], 0), 0x1234 ^ 0x5600);
        assert_eq!(object(HashFunction::xor(8), 8, &[]).hash(&[0x12, 0x34, 0x56], 0), 0x12 ^ 0x34 ^ 0x56);
        // Twelve bits: 0x123 is 0x12 and 0x30.
        assert_eq!(object(HashFunction::xor(8), 8, &[]).hash(&[0x01, 0x23], 4), 0x12 ^ 0x30);
    }

    proptest! {
        /// Whatever a controller gives is refused, or hashes; identical slices give identical hashes.
        #[test]
        fn any_slices_are_refused_or_hash(
            slices in proptest::collection::vec((0usize..5, any::<u32>(), any::<u32>(), 0u32..5), 0..6),
            near in proptest::collection::vec((0usize..4, 0u32..20, 0u32..20, 0u32..5), 0..6),
            bytes in any::<[u8; 6]>(),
            name in 0usize..40,
        ) {
            let function = HashFunction::names().nth(name).and_then(HashFunction::by_name);
            let mut hash = object(function.unwrap_or(HashFunction::IDENTITY), 37, &[13, 1, 24, 7]);
            for given in [slices, near] {
                let slices: Vec<HashSlice> = given
                    .into_iter()
                    .map(|(field, start_bit, length, order)| HashSlice { field, start_bit, length, order })
                    .collect();
                let Ok(plan) = hash.plan(&slices) else { continue };
                prop_assert!(plan.iter().map(|run| run.bits).sum::<u32>() <= 45);
                hash.plan = plan;
                let value = hash.hash(&bytes, 3);
                prop_assert!(value <= mask(37));
                prop_assert_eq!(value, hash.clone().hash(&bytes, 3));
            }
        }
    }

    #[test]
    fn slices_choose_the_message() {
        let mut hash = object(HashFunction::IDENTITY, 32, &[16, 16]);
        let bytes = [0x12, 0x34, 0x56, 0x78];
        assert_eq!(hash.hash(&bytes, 0), 0x1234_5678);
        let slice = |field, start_bit, length, order| HashSlice { field, start_bit, length, order };
        hash.plan = hash.plan(&[slice(1, 0, 16, 1), slice(0, 4, 8, 2)]).unwrap();
        assert_eq!(hash.hash(&bytes, 0), 0x56_7823);
        hash.plan = hash.plan(&[slice(0, 0, 99, 1), slice(1, 0, 16, 1)]).unwrap();
        let both = 0x1234 ^ 0x5678;
        assert_eq!(hash.hash(&bytes, 0), both << 16 | both, "symmetric parts are combined");
        for (wrong, why) in [
            (vec![slice(2, 0, 1, 1)], "no field"),
            (vec![slice(0, 16, 1, 1)], "starts at bit 16"),
            (vec![slice(0, 0, 5, 1), slice(0, 4, 5, 2)], "overlap"),
            (vec![slice(0, 0, 5, 1), slice(1, 0, 6, 1)], "differ in length"),
            (vec![slice(0, 0, 2, 1), slice(0, 2, 2, 1), slice(0, 4, 2, 1)], "more than two"),
        ] {
            let error = hash.plan(&wrong).expect_err(why);
            assert!(error.contains(why), "{error}");
        }
    }
}
