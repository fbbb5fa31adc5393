//! Places of groups' members in the memory of a Tofino selector, and the bit of each.
//!
//! The chip keeps a bit for each member of each group, 128 in a line, of which 120 hold members. A packet
//! clears or sets the bit of a place: the member there is out of the choice until the bit is set again. The
//! control plane learns the place of each member as it adds it.
//!
//! Invariants: a member keeps its place while it stays in its group. Two groups never share a line.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_ir::{Profile, SELECTOR_LINE_BITS, SELECTOR_LINE_MEMBERS};

use crate::control::Group;

/// The places of one group.
#[derive(Clone, Debug)]
struct GroupPlaces {
    /// Which run of lines the group has.
    run: u32,
    /// The member at each place.
    members: Vec<Option<u32>>,
}

/// Places of a selector's groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Lines of a group; none where members have no places.
    lines: u32,
    groups: BTreeMap<u32, GroupPlaces>,
    /// Places of members whose bit a packet or the control plane cleared.
    cleared: BTreeSet<u32>,
}

/// A place and its new bit.
pub(crate) type PlaceBit = (u32, bool);

impl Places {
    /// Of a selector that has such memory, or none.
    pub fn new(profile: &Profile) -> Self {
        Self { lines: profile.group_lines, ..Self::default() }
    }

    fn number(&self, run: u32, at: usize) -> u32 {
        let (line, bit) = (at as u32 / SELECTOR_LINE_MEMBERS, at as u32 % SELECTOR_LINE_MEMBERS);
        run.saturating_mul(self.lines)
            .saturating_add(line)
            .saturating_mul(SELECTOR_LINE_BITS)
            .saturating_add(bit)
    }

    /// Places of a group's members, in order.
    pub fn of(&self, group: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let places = self.groups.get(&group);
        places.into_iter().flat_map(move |places| {
            let members = places.members.iter().enumerate();
            members.filter_map(move |(at, member)| Some((self.number(places.run, at), (*member)?)))
        })
    }

    /// How many places of a member may be chosen.
    pub fn usable(&self, group: u32, member: u32, weight: u32) -> u32 {
        if self.cleared.is_empty() {
            return weight;
        }
        let cleared = self.of(group).filter(|(place, of)| *of == member && self.cleared.contains(place));
        weight.saturating_sub(cleared.count() as u32)
    }

    /// Gives a group's members their places, and says which bits change.
    pub fn put(&mut self, group: &Group) -> Vec<PlaceBit> {
        if self.lines == 0 {
            return Vec::new();
        }
        let run = self.groups.get(&group.id).map_or_else(|| self.free_run(), |places| places.run);
        let old = self.groups.remove(&group.id).map(|places| places.members).unwrap_or_default();
        let mut missing: BTreeMap<u32, u32> =
            group.members.iter().map(|member| (member.member_id, member.weight)).collect();
        let mut members = old.clone();
        for place in &mut members {
            let left = place.and_then(|member| missing.get_mut(&member)).filter(|left| **left > 0);
            match left {
                Some(left) => *left -= 1,
                None => *place = None,
            }
        }
        let more: Vec<u32> = group
            .members
            .iter()
            .flat_map(|member| {
                let more = missing.get(&member.member_id).copied().unwrap_or(0);
                core::iter::repeat_n(member.member_id, more as usize)
            })
            .collect();
        let free: Vec<usize> = (0..members.len()).filter(|&at| members[at].is_none()).collect();
        let behind = members.len()..;
        let places: Vec<usize> = free.into_iter().chain(behind).take(more.len()).collect();
        for (at, member) in places.into_iter().zip(more) {
            match members.get_mut(at) {
                Some(place) => *place = Some(member),
                None => members.push(Some(member)),
            }
        }
        while members.last() == Some(&None) {
            members.pop();
        }
        let changed = self.changes(run, &old, &members);
        self.groups.insert(group.id, GroupPlaces { run, members });
        changed
    }

    /// Takes a group's places away, and says which bits change.
    pub fn remove(&mut self, group: u32) -> Vec<PlaceBit> {
        let Some(places) = self.groups.remove(&group) else { return Vec::new() };
        self.changes(places.run, &places.members, &[])
    }

    fn changes(&mut self, run: u32, old: &[Option<u32>], new: &[Option<u32>]) -> Vec<PlaceBit> {
        let at = |members: &[Option<u32>], at: usize| members.get(at).copied().flatten();
        let differs = (0..old.len().max(new.len())).filter(|&place| at(old, place) != at(new, place));
        let changed: Vec<PlaceBit> =
            differs.map(|place| (self.number(run, place), at(new, place).is_some())).collect();
        for (place, _) in &changed {
            self.cleared.remove(place);
        }
        changed
    }

    fn free_run(&self) -> u32 {
        let taken: BTreeSet<u32> = self.groups.values().map(|places| places.run).collect();
        (0..).find(|run| !taken.contains(run)).unwrap_or(u32::MAX)
    }

    /// Notes the bit of a place: gives the group whose choice changes, if there is one.
    pub fn set(&mut self, place: u32, bit: bool) -> Option<u32> {
        let run = (place / SELECTOR_LINE_BITS).checked_div(self.lines)?;
        let mut groups = self.groups.iter();
        let (&group, _) = groups.find(|(_, places)| places.run == run)?;
        self.of(group).find(|(of, _)| *of == place)?;
        let changed = if bit { self.cleared.remove(&place) } else { self.cleared.insert(place) };
        changed.then_some(group)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::control::GroupMember;

    fn places(lines: u32) -> Places {
        Places { lines, ..Places::default() }
    }

    fn group(id: u32, members: &[(u32, u32)]) -> Group {
        let member = |&(member_id, weight): &(u32, u32)| GroupMember { member_id, weight, watch_port: None };
        Group { id, max_size: 0, members: members.iter().map(member).collect() }
    }

    #[test]
    fn members_keep_their_places() {
        let mut places = places(1);
        assert_eq!(
            places.put(&group(5, &[(1, 1), (2, 2), (3, 1)])),
            [(0, true), (1, true), (2, true), (3, true)]
        );
        assert_eq!(places.put(&group(6, &[(1, 1)])), [(128, true)], "a line of its own");
        assert_eq!(places.put(&group(5, &[(1, 1), (3, 1)])), [(1, false), (2, false)]);
        assert_eq!(places.put(&group(5, &[(9, 1), (1, 1), (3, 1)])), [(1, true)], "the first free place");
        assert_eq!(places.of(5).collect::<Vec<_>>(), [(0, 1), (1, 9), (3, 3)]);
        assert_eq!(places.remove(5).len(), 3);
        assert_eq!(places.put(&group(7, &[(4, 1)])), [(0, true)]);
    }

    #[test]
    fn a_long_group_goes_on_in_the_next_line() {
        let mut places = places(2);
        let members: Vec<(u32, u32)> = (0..121).map(|member| (member, 1)).collect();
        let put = places.put(&group(1, &members));
        assert_eq!(put[119..], [(119, true), (128, true)]);
        assert_eq!(places.put(&group(2, &[(1, 1)])), [(256, true)]);
    }

    #[test]
    fn a_cleared_bit_takes_its_member_out_until_the_place_is_anothers() {
        let mut places = places(1);
        places.put(&group(5, &[(1, 2), (2, 1)]));
        assert_eq!(places.set(1, false), Some(5));
        assert_eq!((places.set(1, false), places.set(7, false), places.set(900, false)), (None, None, None));
        assert_eq!((places.usable(5, 1, 2), places.usable(5, 2, 1)), (1, 1));
        places.put(&group(5, &[(2, 1)]));
        places.put(&group(5, &[(2, 1), (1, 2)]));
        assert_eq!(places.usable(5, 1, 2), 2, "a new place may be chosen");
    }

    proptest! {
        #[test]
        fn the_bits_are_those_of_the_members(
            groups in prop::collection::vec((0u32..4, prop::collection::btree_map(0u32..6, 1u32..4, 0..5), any::<bool>()), 1..20)
        ) {
            let mut places = places(1);
            let mut bits: BTreeSet<u32> = BTreeSet::new();
            for (id, members, stays) in groups {
                let members: Vec<(u32, u32)> = members.into_iter().collect();
                let changed = if stays { places.put(&group(id, &members)) } else { places.remove(id) };
                for (place, bit) in changed {
                    // A place that goes from one member to another has its bit already.
                    let flips = if bit { bits.insert(place) } else { bits.remove(&place) };
                    prop_assert!(flips || bit, "{}", place);
                }
                let held: BTreeSet<u32> = (0..4).flat_map(|id| places.of(id).map(|(place, _)| place).collect::<Vec<_>>()).collect();
                prop_assert_eq!(&held, &bits);
                if stays {
                    let weight: u32 = members.iter().map(|(_, weight)| weight).sum();
                    prop_assert_eq!(places.of(id).count() as u32, weight);
                }
            }
        }
    }
}
