//! Ids and aliases of control-plane objects, by p4c's rules.
//!
//! An id is the resource's prefix in the top 8 bits and, in the low 24, the `@id` or the one-at-a-time hash
//! of the fully qualified name. Names are hashed in sorted order and a taken id moves to the next free one,
//! so ids do not depend on the order of declarations. An alias is the shortest suffix of the name, in whole
//! components, that no other object of the program has.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_ir::ControlPlaneName;

use super::P4InfoError;

/// Resource type: the top 8 bits of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Prefix {
    Action = 0x01,
    Table = 0x02,
    ValueSet = 0x03,
    ControllerHeader = 0x04,
    ActionProfile = 0x11,
    Counter = 0x12,
    DirectCounter = 0x13,
    Meter = 0x14,
    DirectMeter = 0x15,
    Register = 0x16,
    Digest = 0x17,
    ChipProfile = 0x81,
    ChipSelector = 0x82,
    ChipCounter = 0x83,
    ChipDirectCounter = 0x84,
    ChipMeter = 0x85,
    ChipDirectMeter = 0x86,
    ChipWred = 0x87,
    ChipDirectWred = 0x88,
    ChipLpf = 0x89,
    ChipDirectLpf = 0x8a,
    ChipRegister = 0x8b,
    ChipDirectRegister = 0x8c,
    ChipRegisterParam = 0x8d,
    ChipDigest = 0x8e,
    ChipHash = 0x8f,
    ChipPortMetadata = 0x90,
    ChipSnapshot = 0x91,
    ChipValueSet = 0xfe,
}

impl Prefix {
    pub(super) const fn bits(self) -> u32 {
        (self as u32) << 24
    }
}

#[derive(Default)]
pub(super) struct Assigner<'a> {
    /// By type, then name in sorted order; `None` until assigned.
    symbols: BTreeMap<Prefix, BTreeMap<&'a str, Option<u32>>>,
    taken: BTreeSet<u32>,
}

impl<'a> Assigner<'a> {
    /// Takes in an object, and its `@id` at once. Objects of one type and name are one object.
    pub(super) fn declare(&mut self, prefix: Prefix, cp: &'a ControlPlaneName) -> Result<(), P4InfoError> {
        let symbols = self.symbols.entry(prefix).or_default();
        if symbols.contains_key(cp.name.as_str()) {
            return Ok(());
        }
        let id = match cp.explicit_id {
            None => None,
            Some(id) => {
                if id & 0xff00_0000 != 0 && id & 0xff00_0000 != prefix.bits() {
                    let expected = prefix as u8;
                    return Err(P4InfoError::WrongPrefix { name: cp.name.clone(), id, expected });
                }
                let id = id | prefix.bits();
                if !self.taken.insert(id) {
                    return Err(P4InfoError::DuplicateId { name: cp.name.clone(), id });
                }
                Some(id)
            }
        };
        symbols.insert(&cp.name, id);
        Ok(())
    }

    pub(super) fn assign(&mut self) -> Result<(), P4InfoError> {
        for (prefix, symbols) in &mut self.symbols {
            for (name, id) in symbols.iter_mut().filter(|(_, id)| id.is_none()) {
                let hash = one_at_a_time(name.as_bytes());
                let free = (0..1 << 24)
                    .map(|step| prefix.bits() | (hash.wrapping_add(step) & 0x00ff_ffff))
                    .find(|id| self.taken.insert(*id))
                    .ok_or_else(|| P4InfoError::NoFreeId { name: (*name).to_owned() })?;
                *id = Some(free);
            }
        }
        Ok(())
    }

    pub(super) fn id(&self, prefix: Prefix, cp: &ControlPlaneName) -> u32 {
        let id = self.symbols.get(&prefix).and_then(|symbols| symbols.get(cp.name.as_str()));
        id.copied().flatten().unwrap_or(0)
    }
}

/// Jenkins's one-at-a-time hash.
fn one_at_a_time(bytes: &[u8]) -> u32 {
    let mut hash = 0_u32;
    for &byte in bytes {
        hash = hash.wrapping_add(u32::from(byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// Suffixes of a name in whole components, the shortest first.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    name.rmatch_indices('.').map(|(dot, _)| &name[dot + 1..]).chain(std::iter::once(name))
}

pub(super) fn aliases<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let names: BTreeSet<&str> = names.collect();
    let mut holders: BTreeMap<&str, u32> = BTreeMap::new();
    for suffix in names.iter().flat_map(|name| suffixes(name)) {
        *holders.entry(suffix).or_default() += 1;
    }
    let shortest = |name: &'a str| suffixes(name).find(|suffix| holders[suffix] == 1).unwrap_or(name);
    names.iter().map(|name| ((*name).to_owned(), shortest(name).to_owned())).collect()
}

/// Ids of fields or parameters: `@id` first, the others from 1 on
/// in order. A field with an `@id` uses up a number, as in p4c.
pub fn field_ids<'a>(fields: impl Iterator<Item = &'a ControlPlaneName> + Clone) -> Vec<u32> {
    let mut taken: BTreeSet<u32> = fields.clone().filter_map(|cp| cp.explicit_id).collect();
    let mut next = 1_u32;
    fields
        .map(|cp| {
            if let Some(id) = cp.explicit_id {
                next = next.saturating_add(1);
                return id;
            }
            while !taken.insert(next) {
                next = next.saturating_add(1);
            }
            next
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, explicit_id: Option<u32>) -> ControlPlaneName {
        ControlPlaneName { name: name.to_owned(), explicit_id, ..ControlPlaneName::default() }
    }

    fn assign(names: &[ControlPlaneName]) -> Result<Vec<u32>, P4InfoError> {
        let mut assigner = Assigner::default();
        names.iter().try_for_each(|cp| assigner.declare(Prefix::Table, cp))?;
        assigner.assign()?;
        Ok(names.iter().map(|cp| assigner.id(Prefix::Table, cp)).collect())
    }

    /// Ids that p4c 1.2.5 printed for these names.
    #[test]
    fn ids_are_p4cs() {
        let of = |prefix: Prefix, name: &str| prefix.bits() | one_at_a_time(name.as_bytes()) & 0x00ff_ffff;
        assert_eq!(of(Prefix::Action, "NoAction"), 21_257_015);
        assert_eq!(of(Prefix::Table, "ingress.forward.ipv4_lpm"), 36_839_364);
        assert_eq!(of(Prefix::ActionProfile, "ingress.forward.ecmp"), 289_361_465);
        assert_eq!(of(Prefix::Counter, "egress.ecn.level_packets"), 317_436_569);
    }

    #[test]
    fn an_explicit_id_gets_the_prefix_and_pushes_a_hash_aside() {
        let hashed = 0x0200_0000 | one_at_a_time(b"b") & 0x00ff_ffff;
        let ids = assign(&[named("a", Some(hashed & 0x00ff_ffff)), named("b", None)]).unwrap();
        assert_eq!(ids, [hashed, 0x0200_0000 | ((hashed + 1) & 0x00ff_ffff)]);
    }

    #[test]
    fn bad_explicit_ids_are_errors() {
        let wrong = assign(&[named("a", Some(0x0100_0001))]).unwrap_err();
        assert!(wrong.to_string().contains("0x01000001"), "{wrong}");
        let twice = assign(&[named("a", Some(7)), named("b", Some(7))]).unwrap_err();
        assert!(twice.to_string().contains("@id"), "{twice}");
    }

    #[test]
    fn aliases_are_the_shortest_unique_suffixes() {
        let found = aliases(["s.c1.t", "s.c2.t", "s.u", "t2", "NoAction", "s.NoAction"].into_iter());
        let alias = |name: &str| found[name].as_str();
        assert_eq!(alias("s.c1.t"), "c1.t");
        assert_eq!(alias("s.c2.t"), "c2.t");
        assert_eq!(alias("s.u"), "u");
        assert_eq!(alias("t2"), "t2");
        assert_eq!(alias("NoAction"), "NoAction", "no suffix of its own is unique, so the whole name");
        assert_eq!(alias("s.NoAction"), "s.NoAction");
    }

    #[test]
    fn field_ids_fill_the_gaps_of_explicit_ones() {
        let fields = [named("a", None), named("b", Some(1)), named("c", None)];
        assert_eq!(field_ids(fields.iter()), [2, 1, 3]);
    }
}
