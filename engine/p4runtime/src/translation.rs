//! What a controller gives for a value of the program: the value's own bits, a
//! number or string that stands for it (`@p4runtime_translation`), or a name.
//!
//! P4Runtime leaves the mapping of translated values to the switch. Here a number stands for itself where the
//! program's width holds it, a string of decimal digits for that number; the mapping that the program writes
//! (`@p4runtime_translation_mappings`) comes first. Every other value gets a number of its own when it is
//! first seen, from the highest but one downwards, and keeps it as long as the program runs. Types with one
//! URI have one mapping.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_ir::{Bits, VarType};
use parking_lot::Mutex;

use crate::codec::{canonical, hex, parse, parse_int};
use crate::errors::Failure;
use crate::proto::p4::config::v1 as p4;
use p4::p4_new_type_spec::Representation;
use p4::p4_new_type_translation::SdnType;

/// Widths up to which numbers are given out, and stand for themselves where the controller's are wider.
const MAX_GIVEN_BITS: u32 = 63;
/// Most values of one translation.
const MAX_PAIRS: usize = 1 << 20;

/// How a value of the program is given.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// Bits of the program's value.
    pub(crate) width: u32,
    repr: Repr,
}

#[derive(Clone, Debug)]
enum Repr {
    Bits,
    /// Bits of a signed number.
    Int,
    Translated(Arc<Mapping>),
    /// By name; the value is the position.
    Names(Arc<Vec<String>>),
}

impl Form {
    /// The own bits of a value of a built-in type.
    pub(crate) fn own(ty: VarType) -> Self {
        let repr = if matches!(ty, VarType::Int(_)) { Repr::Int } else { Repr::Bits };
        Self { width: ty.width(), repr }
    }

    /// One of these names.
    pub(crate) fn names(width: u32, names: Vec<String>) -> Self {
        Self { width, repr: Repr::Names(Arc::new(names)) }
    }

    /// By a mapping.
    fn translated(width: u32, mapping: &Arc<Mapping>) -> Self {
        mapping.holds(width);
        let same = mapping.sdn_bitwidth == Some(width);
        let repr = if same { Repr::Bits } else { Repr::Translated(Arc::clone(mapping)) };
        Self { width, repr }
    }

    /// Bits of what the controller gives; none for strings and names.
    pub(crate) fn sdn_width(&self) -> Option<u32> {
        match &self.repr {
            Repr::Bits | Repr::Int => Some(self.width),
            Repr::Translated(mapping) => mapping.sdn_bitwidth,
            Repr::Names(_) => None,
        }
    }

    /// Whether what is given is the value itself, so that masks and prefixes mean the same for both.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.repr, Repr::Bits | Repr::Int)
    }

    /// The program's value for what the controller gives.
    pub(crate) fn parse(&self, given: &[u8], what: impl Fn() -> String) -> Result<Bits, Failure> {
        match &self.repr {
            Repr::Bits => parse(given, self.width, what),
            Repr::Int => parse_int(given, self.width, what),
            Repr::Translated(mapping) => mapping.parse(given, self.width, what),
            Repr::Names(names) => {
                let at = names.iter().position(|name| name.as_bytes() == given);
                let at = at.ok_or_else(|| {
                    let (what, given) = (what(), shown(given));
                    Failure::invalid(format!("{what}: {given} is none of {}", names.join(", ")))
                })?;
                Ok(Bits::from_u128(self.width, at as u128))
            }
        }
    }

    /// What the controller is given for a value of the program.
    pub(crate) fn given(&self, value: &Bits) -> Vec<u8> {
        match &self.repr {
            Repr::Bits | Repr::Int => canonical(value),
            Repr::Translated(mapping) => mapping.given(value),
            Repr::Names(names) => {
                let at = usize::try_from(value.low_u64()).ok();
                let name = at.and_then(|at| names.get(at));
                name.map_or_else(|| canonical(value), |name| name.as_bytes().to_vec())
            }
        }
    }
}

/// One translation: what controllers give, and the numbers that stand for it in the program.
#[derive(Debug)]
struct Mapping {
    /// For messages.
    name: String,
    /// Bits of what controllers give; `None` for strings.
    sdn_bitwidth: Option<u32>,
    pairs: Mutex<Pairs>,
}

#[derive(Debug, Default)]
struct Pairs {
    /// Bits of the narrowest place that values of this translation stand in.
    width: Option<u32>,
    /// By what controllers give, without leading zeros where it is a number.
    numbers: BTreeMap<Vec<u8>, u64>,
    given: BTreeMap<u64, Vec<u8>>,
    /// Numbers from here on, but for the highest, were tried.
    tried: Option<u64>,
}

impl Pairs {
    fn bind(&mut self, given: &[u8], number: u64) {
        self.numbers.insert(given.to_vec(), number);
        self.given.insert(number, given.to_vec());
    }

    /// A number that nothing stands for: neither zero, which is what metadata holds before it is set, nor the
    /// highest, which is v1model's port to drop at, as long as there are others.
    fn free(&mut self) -> Option<u64> {
        let width = self.width.unwrap_or(0).min(MAX_GIVEN_BITS);
        let highest = (1_u64 << width) - 1;
        let mut next = self.tried.unwrap_or(highest);
        while next > 1 {
            next -= 1;
            self.tried = Some(next);
            if !self.given.contains_key(&next) {
                return Some(next);
            }
        }
        [highest, 0].into_iter().find(|last| !self.given.contains_key(last))
    }
}

impl Mapping {
    fn holds(&self, width: u32) {
        let mut pairs = self.pairs.lock();
        pairs.width = Some(pairs.width.map_or(width, |least| least.min(width)));
    }

    /// The number that a value stands for without a mapping: itself, or its decimal digits.
    fn own_number(&self, given: &[u8]) -> Option<u64> {
        match self.sdn_bitwidth {
            Some(_) if given.len() <= 8 => {
                Some(given.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
            }
            Some(_) => None,
            None => {
                let text = std::str::from_utf8(given).ok()?;
                let plain = text == "0" || !text.starts_with(['0', '+']);
                text.parse().ok().filter(|_| plain)
            }
        }
    }

    fn parse(&self, given: &[u8], width: u32, what: impl Fn() -> String) -> Result<Bits, Failure> {
        let given = match self.sdn_bitwidth {
            Some(bits) => canonical(&parse(given, bits, &what)?),
            None => given.to_vec(),
        };
        let mut pairs = self.pairs.lock();
        let least = pairs.width.unwrap_or(width);
        if self.sdn_bitwidth.is_some_and(|bits| bits <= least) {
            return Ok(Bits::from_be_bytes(width, &given));
        }
        if let Some(&number) = pairs.numbers.get(&given) {
            return Ok(Bits::from_u128(width, number.into()));
        }
        let own = self.own_number(&given).filter(|own| *own >> least.min(MAX_GIVEN_BITS) == 0);
        let own = own.filter(|own| !pairs.given.contains_key(own));
        let room = pairs.given.len() < MAX_PAIRS;
        let number = own.or_else(|| pairs.free()).filter(|_| room).ok_or_else(|| {
            let (what, name, given) = (what(), &self.name, shown(&given));
            Failure::exhausted(format!(
                "{what}: there is no number left for {given}: all of {least} bits, or {MAX_PAIRS}, stand for other values of {name}"
            ))
        })?;
        pairs.bind(&given, number);
        Ok(Bits::from_u128(width, number.into()))
    }

    fn given(&self, value: &Bits) -> Vec<u8> {
        let number = value.to_u128().and_then(|number| u64::try_from(number).ok());
        let known = number.and_then(|number| self.pairs.lock().given.get(&number).cloned());
        match (known, self.sdn_bitwidth, number) {
            (Some(given), ..) => given,
            (None, None, Some(number)) => number.to_string().into_bytes(),
            (None, ..) => canonical(value),
        }
    }
}

/// The translated types of a P4Info.
#[derive(Debug, Default)]
pub(crate) struct Translations {
    by_type: BTreeMap<String, Arc<Mapping>>,
}

impl Translations {
    /// Reads `new_types`.
    pub(crate) fn new(info: &p4::P4Info) -> Self {
        let mut by_uri: BTreeMap<(String, Option<u32>), Arc<Mapping>> = BTreeMap::new();
        let mut by_type = BTreeMap::new();
        for (name, spec) in info.type_info.iter().flat_map(|types| &types.new_types) {
            let Some(Representation::TranslatedType(translation)) = &spec.representation else { continue };
            let sdn_bitwidth = match &translation.sdn_type {
                Some(SdnType::SdnBitwidth(bits)) => Some(u32::try_from(*bits).unwrap_or(0)),
                Some(SdnType::SdnString(_)) | None => None,
            };
            // Without a URI nothing says that two types are translated alike.
            let key = if translation.uri.is_empty() { format!(" {name}") } else { translation.uri.clone() };
            let mapping = by_uri.entry((key, sdn_bitwidth)).or_insert_with(|| {
                Arc::new(Mapping { name: name.clone(), sdn_bitwidth, pairs: Mutex::default() })
            });
            let written = spec.annotations.iter().flat_map(|text| written_pairs(text));
            for (given, number) in written.filter(|_| sdn_bitwidth.is_none()) {
                mapping.pairs.lock().bind(&given, number);
            }
            by_type.insert(name.clone(), Arc::clone(mapping));
        }
        Self { by_type }
    }

    /// Whether there is anything to keep for a device of its own.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_type.is_empty()
    }

    /// The form of a value of a translated type.
    pub(crate) fn form(&self, type_name: &str, width: u32) -> Option<Form> {
        self.by_type.get(type_name).map(|mapping| Form::translated(width, mapping))
    }
}

/// Pairs of `@p4runtime_translation_mappings({ {"given", 7}, ... })`.
fn written_pairs(annotation: &str) -> Vec<(Vec<u8>, u64)> {
    let Some(rest) = annotation.strip_prefix("@p4runtime_translation_mappings") else { return Vec::new() };
    let mut pairs = Vec::new();
    let mut parts = rest.split('"').skip(1);
    while let (Some(given), Some(after)) = (parts.next(), parts.next()) {
        let digits = after.trim_start().trim_start_matches(',').trim_start();
        let end = digits.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(digits.len());
        if let Some(number) = number(&digits[..end]) {
            pairs.push((given.as_bytes().to_vec(), number));
        }
    }
    pairs
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A value for messages: text where it is some.
fn shown(given: &[u8]) -> String {
    match std::str::from_utf8(given) {
        Ok(text) if text.chars().all(|c| !c.is_control()) => format!("{text:.40?}"),
        _ => hex(given),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::Code;

    fn info(name: &str, uri: &str, sdn_type: SdnType, annotations: &[&str]) -> p4::P4Info {
        let translation = p4::P4NewTypeTranslation { uri: uri.to_owned(), sdn_type: Some(sdn_type) };
        let spec = p4::P4NewTypeSpec {
            representation: Some(Representation::TranslatedType(translation)),
            annotations: annotations.iter().map(|text| (*text).to_owned()).collect(),
            ..Default::default()
        };
        let mut types = p4::P4TypeInfo::default();
        types.new_types.insert(name.to_owned(), spec);
        p4::P4Info { type_info: Some(types), ..Default::default() }
    }

    fn form(sdn_type: SdnType, width: u32) -> Form {
        Translations::new(&info("t", "", sdn_type, &[])).form("t", width).unwrap()
    }

    fn strings(width: u32) -> Form {
        form(SdnType::SdnString(p4::p4_new_type_translation::SdnString {}), width)
    }

    fn value(form: &Form, given: &[u8]) -> Result<u64, Failure> {
        form.parse(given, || "f".to_owned()).map(|bits| bits.low_u64())
    }

    #[test]
    fn numbers_stand_for_themselves_where_they_fit() {
        let ports = form(SdnType::SdnBitwidth(32), 9);
        assert_eq!(value(&ports, &[0, 0, 1, 2]).unwrap(), 0x102);
        let far = value(&ports, &[0xff, 0xff, 0xff, 0xfd]).unwrap();
        assert_eq!(far, 510, "the highest is kept free");
        assert_eq!(value(&ports, &[0xff, 0xff, 0xff, 0xfd]).unwrap(), far);
        assert_eq!(ports.given(&Bits::from_u128(9, 510)), [0xff, 0xff, 0xff, 0xfd]);
        assert_eq!(ports.given(&Bits::from_u128(9, 3)), [3]);
        assert_eq!(value(&ports, &[1, 0, 0, 0, 0]).unwrap_err().code, Code::OutOfRange);
        assert_ne!(value(&ports, &[1, 0xfe]).unwrap(), 510, "another value has this number");
    }

    #[test]
    fn strings_get_numbers_and_are_given_back() {
        let vrfs = strings(4);
        assert_eq!(value(&vrfs, b"7").unwrap(), 7);
        let blue = value(&vrfs, b"blue").unwrap();
        assert_eq!((blue, value(&vrfs, b"blue").unwrap()), (14, 14));
        assert_eq!(vrfs.given(&Bits::from_u128(4, 14)), b"blue");
        assert_eq!(vrfs.given(&Bits::from_u128(4, 3)), b"3");
        assert_ne!(value(&vrfs, b"14").unwrap(), 14, "another value has this number");
        assert_ne!(value(&vrfs, b"07").unwrap(), 7, "only one way to write a number");
    }

    #[test]
    fn every_number_is_given_once_and_then_no_more() {
        let tiny = strings(3);
        let mut seen: Vec<u64> =
            (0..8).map(|at| value(&tiny, format!("x{at}").as_bytes()).unwrap()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..8).collect::<Vec<_>>());
        let failure = value(&tiny, b"one more").unwrap_err();
        assert_eq!(failure.code, Code::ResourceExhausted);
        assert!(failure.message.contains("one more"), "{}", failure.message);
    }

    #[test]
    fn written_mappings_come_first_and_one_uri_is_one_mapping() {
        let text = "@p4runtime_translation_mappings({ { \"\" , 0 } , { \"drop\" , 0x1ff } , })";
        let string = || SdnType::SdnString(p4::p4_new_type_translation::SdnString {});
        let mut all = info("a", "u", string(), &[text]);
        let other = info("b", "u", string(), &[]).type_info.unwrap();
        all.type_info.as_mut().unwrap().new_types.extend(other.new_types);
        let types = Translations::new(&all);
        let (a, b) = (types.form("a", 9).unwrap(), types.form("b", 32).unwrap());
        assert_eq!((value(&a, b"").unwrap(), value(&b, b"drop").unwrap()), (0, 0x1ff));
        let eth = value(&b, b"eth0").unwrap();
        assert_eq!((eth, value(&a, b"eth0").unwrap()), (510, 510), "the narrower type holds it");
    }
}
