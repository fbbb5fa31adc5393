//! Action profiles and selectors: members, groups, and the choice of a member by a hash.
//!
//! An entry may bring an action set of its own (P4Runtime's one-shot programming). A set is stored as a group
//! whose members are invisible elsewhere. A profile holds either sets, or members and groups. Both choose
//! from a list of rows.
//!
//! Invariants: every group's member exists. A member or group in use is never deleted. The choice depends on
//! ids, weights and port states only, not on the order of requests.

use std::collections::BTreeMap;

use p4cc_ir::{ActionCall, ActionId, Profile, ProfileId, Program, TableId};

use super::places::{PlaceBit, Places};
use super::row::{Head, Rows, position};
use super::taken::Taken;
use super::validate;
use crate::control::{ActionSet, ControlError, Group, GroupMember, Member, SetMember, WatchPort};

/// Largest sum of the weights of all groups and sets of a selector.
const MAX_WEIGHT_SUM: u64 = 1 << 16;

/// A member and the row of what it runs.
#[derive(Clone, Debug)]
struct StoredMember {
    member: Member,
    row: u32,
    /// Entries and groups that use it.
    uses: u32,
}

#[derive(Clone, Debug)]
struct StoredGroup {
    group: Group,
    list: u32,
    uses: u32,
}

/// Contents of a profile.
#[derive(Clone, Debug)]
pub(crate) struct ProfileState {
    /// What members run, with places in the list of the first table that
    /// uses the profile; row 0 is for lists without a usable member.
    rows: Rows,
    /// For each group and set the rows that can be used now,
    /// each as often as its weight says, in the order of ids.
    lists: Vec<Vec<u32>>,
    /// Mask of the hash.
    hash_mask: u64,
    resilient: bool,
    first_table: Option<TableId>,
    members: BTreeMap<u32, StoredMember>,
    groups: BTreeMap<u32, StoredGroup>,
    /// Actions that belong to one entry, by their list, and their rows.
    sets: BTreeMap<u32, Vec<(SetMember, u32)>>,
    free_lists: Vec<u32>,
    /// What all groups and sets take.
    taken: Taken,
    /// Places of groups' members in the memory of a Tofino selector.
    places: Places,
}

/// Most rows of a list in which other members stand in for those that are down.
const MAX_SPREAD: u64 = 1 << 14;

/// A row, how often it stands in a list, and whether it can be used.
type Slot = (u32, u32, bool);

/// Whether a member can be used.
fn is_usable(watched: Option<WatchPort>, is_up: &impl Fn(u32) -> bool) -> bool {
    watched.is_none_or(|watched| watched != WatchPort::DOWN && is_up(watched.port))
}

impl ProfileState {
    /// Place of the rows.
    pub const ROWS: usize = core::mem::offset_of!(Self, rows);
    /// Place of the lists.
    pub const LISTS: usize = core::mem::offset_of!(Self, lists);

    pub fn new(program: &Program, id: ProfileId, profile: &Profile) -> Self {
        let mut tables = program.tables.iter().filter(|table| table.profile == Some(id));
        let none = tables.next().map_or(0, |table| table.actions.len() as u32);
        Self {
            rows: Rows::new(program, Self::actions(program, id), Head::idle(none)),
            lists: Vec::new(),
            hash_mask: Self::hash_mask(profile),
            resilient: profile.resilient,
            first_table: Self::first_table(program, id),
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            sets: BTreeMap::new(),
            free_lists: Vec::new(),
            taken: Taken::default(),
            places: Places::new(profile),
        }
    }

    /// Actions that its rows may name.
    pub fn actions(program: &Program, id: ProfileId) -> impl Iterator<Item = ActionId> {
        let tables = program.tables.iter().filter(move |table| table.profile == Some(id));
        tables.flat_map(|table| table.actions.iter().map(|listed| listed.action))
    }

    /// The table whose list the rows name places in.
    pub fn first_table(program: &Program, id: ProfileId) -> Option<TableId> {
        let first = program.tables.iter().position(|table| table.profile == Some(id));
        first.map(TableId::from_index)
    }

    /// Bits of a hash that count.
    pub fn hash_mask(profile: &Profile) -> u64 {
        let width = profile.selector.map_or(64, |(_, width)| width);
        if width == 0 { 0 } else { u64::MAX >> (64 - width.min(64)) }
    }

    /// The rows that a list chooses among.
    #[inline]
    pub fn listed(&self, list: u32) -> &[u32] {
        self.lists.get(list as usize).map_or(&[], Vec::as_slice)
    }

    /// What a member, or the member of a list that a hash chooses, runs.
    #[inline]
    pub fn run(&self, head: Head, hash: u64) -> (Head, &[u64]) {
        let row = if head.is_list() { self.choose(head.place(), hash) } else { head.place() };
        self.rows.get(row)
    }

    #[inline]
    fn choose(&self, list: u32, hash: u64) -> u32 {
        let list = self.listed(list);
        let (hash, choices) = (hash & self.hash_mask, list.len() as u64);
        // A division takes longer than the rest of the lookup.
        let choice = if choices.is_power_of_two() {
            hash & (choices - 1)
        } else {
            hash.checked_rem(choices).unwrap_or(0)
        };
        list.get(choice as usize).copied().unwrap_or(0)
    }

    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.members.values().map(|stored| &stored.member)
    }

    pub fn stored_member(&self, id: u32) -> Option<&Member> {
        self.members.get(&id).map(|stored| &stored.member)
    }

    pub fn stored_group(&self, id: u32) -> Option<&Group> {
        self.groups.get(&id).map(|stored| &stored.group)
    }

    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values().map(|stored| &stored.group)
    }

    /// What entries of a member run.
    pub fn member_head(&self, profile: &Profile, id: u32) -> Result<Head, ControlError> {
        let row = self.member(profile, id)?.row;
        Ok(Head::member(row))
    }

    fn member(&self, profile: &Profile, id: u32) -> Result<&StoredMember, ControlError> {
        self.members.get(&id).ok_or_else(|| {
            ControlError::NotFound(format!(
                "action profile `{}` has no member {id}; insert the member first",
                profile.cp.name
            ))
        })
    }

    /// What entries of a group run.
    pub fn group_head(&self, profile: &Profile, id: u32) -> Result<Head, ControlError> {
        let list = self.group(profile, id)?.list;
        Ok(Head::list(list))
    }

    fn group(&self, profile: &Profile, id: u32) -> Result<&StoredGroup, ControlError> {
        self.groups.get(&id).ok_or_else(|| {
            ControlError::NotFound(format!(
                "action selector `{}` has no group {id}; insert the group first",
                profile.cp.name
            ))
        })
    }

    /// Counts an entry's use of a member.
    pub fn use_member(&mut self, id: u32, more: bool) {
        if let Some(stored) = self.members.get_mut(&id) {
            stored.uses = if more { stored.uses + 1 } else { stored.uses.saturating_sub(1) };
        }
    }

    /// Counts an entry's use of a group.
    pub fn use_group(&mut self, id: u32, more: bool) {
        if let Some(stored) = self.groups.get_mut(&id) {
            stored.uses = if more { stored.uses + 1 } else { stored.uses.saturating_sub(1) };
        }
    }

    fn take_list(&mut self, choices: Vec<u32>) -> u32 {
        if let Some(list) = self.free_lists.pop() {
            self.lists[list as usize] = choices;
            return list;
        }
        self.lists.push(choices);
        self.lists.len() as u32 - 1
    }

    fn release_list(&mut self, list: u32) {
        self.lists[list as usize] = Vec::new();
        self.free_lists.push(list);
    }

    fn set_row(&mut self, program: &Program, row: u32, call: &ActionCall) {
        let position = self.first_table.map_or(0, |table| position(program, table, call.action));
        self.rows.set(row, Head::hit(call.action, position), Some(call));
    }

    /// Checks a set that replaces another, which took `old`.
    pub fn check_set(&self, profile: &Profile, set: &ActionSet, old: Taken) -> Result<(), ControlError> {
        if !self.members.is_empty() {
            return Err(ControlError::InvalidArgument(format!(
                "action selector `{}` is programmed with members and groups; delete those before giving action sets",
                profile.cp.name
            )));
        }
        validate::set(profile, set)?;
        self.check_room(profile, Taken::of_set(profile, set), old, "the action set")
    }

    /// Stores a set that was checked, and gives what its entry runs.
    pub fn insert_set(
        &mut self,
        program: &Program,
        profile: &Profile,
        set: &ActionSet,
        is_up: impl Fn(u32) -> bool,
    ) -> Head {
        let mut rows = Vec::with_capacity(set.members.len());
        for member in &set.members {
            let row = self.rows.take();
            self.set_row(program, row, &member.action);
            rows.push((member.clone(), row));
        }
        self.taken = self.taken.plus(Taken::of_set(profile, set));
        let choices = self.set_choices(&rows, &is_up);
        let list = self.take_list(choices);
        self.sets.insert(list, rows);
        Head::list(list)
    }

    /// Forgets a set.
    pub fn remove_set(&mut self, profile: &Profile, set: &ActionSet, head: Head) {
        for (_, row) in self.sets.remove(&head.place()).unwrap_or_default() {
            self.rows.release(row);
        }
        self.taken = self.taken.minus(Taken::of_set(profile, set));
        self.release_list(head.place());
    }

    fn no_sets(&self, profile: &Profile) -> Result<(), ControlError> {
        if self.sets.is_empty() {
            return Ok(());
        }
        Err(ControlError::InvalidArgument(format!(
            "action selector `{}` is programmed with action sets; delete those entries before giving members and groups",
            profile.cp.name
        )))
    }

    pub fn insert_member(
        &mut self,
        program: &Program,
        profile: &Profile,
        member: Member,
    ) -> Result<(), ControlError> {
        self.no_sets(profile)?;
        if self.members.contains_key(&member.id) {
            return Err(ControlError::AlreadyExists(format!(
                "action profile `{}` has member {} already; modify it, or choose another id",
                profile.cp.name, member.id
            )));
        }
        // A selector's size bounds the members over all groups, checked there; its members are bounded alike.
        if self.members.len() >= profile.size as usize {
            return Err(ControlError::ResourceExhausted(format!(
                "action profile `{}` is full: it holds {} members; delete one or raise its size",
                profile.cp.name, profile.size
            )));
        }
        let row = self.rows.take();
        self.set_row(program, row, &member.action);
        self.members.insert(member.id, StoredMember { member, row, uses: 0 });
        Ok(())
    }

    pub fn modify_member(
        &mut self,
        program: &Program,
        profile: &Profile,
        member: Member,
    ) -> Result<(), ControlError> {
        let row = self.member(profile, member.id)?.row;
        self.set_row(program, row, &member.action);
        if let Some(stored) = self.members.get_mut(&member.id) {
            stored.member = member;
        }
        Ok(())
    }

    /// The action of a member.
    pub fn member_call(&self, id: u32) -> Option<&ActionCall> {
        self.members.get(&id).map(|stored| &stored.member.action)
    }

    pub fn delete_member(&mut self, profile: &Profile, id: u32) -> Result<(), ControlError> {
        let stored = self.member(profile, id)?;
        let (row, uses) = (stored.row, stored.uses);
        if uses > 0 {
            return Err(ControlError::FailedPrecondition(format!(
                "member {id} of action profile `{}` is used by {uses} groups or entries; delete those first",
                profile.cp.name
            )));
        }
        self.members.remove(&id);
        self.rows.release(row);
        Ok(())
    }

    /// Checks a group; `old` is what it replaces.
    fn check_group(&self, profile: &Profile, group: &Group, old: Option<&Group>) -> Result<(), ControlError> {
        validate::group(profile, group)?;
        for member in &group.members {
            self.member(profile, member.member_id)?;
        }
        let of = |group| Taken::of_group(profile, group);
        self.check_room(profile, of(group), old.map(of).unwrap_or_default(), &format!("group {}", group.id))
    }

    /// Checks that what is new fits beside what is there, but for what it replaces.
    fn check_room(&self, profile: &Profile, new: Taken, old: Taken, what: &str) -> Result<(), ControlError> {
        let together = self.taken.minus(old).plus(new);
        let (name, size) = (&profile.cp.name, u64::from(profile.size));
        if together.weight > MAX_WEIGHT_SUM {
            return Err(ControlError::ResourceExhausted(format!(
                "action selector `{name}` holds members of a total weight of {MAX_WEIGHT_SUM} over all groups; {what} \
                 would make it {}; use smaller weights",
                together.weight
            )));
        }
        if together.size > size {
            return Err(ControlError::ResourceExhausted(format!(
                "action selector `{name}` has a size of {size} over all groups; {what} would make it {}; use fewer \
                 members, smaller weights or raise the selector's size",
                together.size
            )));
        }
        Ok(())
    }

    pub fn insert_group(
        &mut self,
        profile: &Profile,
        group: Group,
        is_up: impl Fn(u32) -> bool,
    ) -> Result<Vec<PlaceBit>, ControlError> {
        if self.groups.contains_key(&group.id) {
            return Err(ControlError::AlreadyExists(format!(
                "action selector `{}` has group {} already; modify it, or choose another id",
                profile.cp.name, group.id
            )));
        }
        self.check_group(profile, &group, None)?;
        self.use_members(&group.members, true);
        self.taken = self.taken.plus(Taken::of_group(profile, &group));
        let bits = self.places.put(&group);
        let list = self.take_list(self.choices(&group, &is_up));
        self.groups.insert(group.id, StoredGroup { group, list, uses: 0 });
        Ok(bits)
    }

    pub fn modify_group(
        &mut self,
        profile: &Profile,
        group: Group,
        is_up: impl Fn(u32) -> bool,
    ) -> Result<Vec<PlaceBit>, ControlError> {
        let stored = self.group(profile, group.id)?;
        let (old, list) = (stored.group.clone(), stored.list);
        self.check_group(profile, &group, Some(&old))?;
        self.use_members(&old.members, false);
        self.use_members(&group.members, true);
        let of = |group| Taken::of_group(profile, group);
        self.taken = self.taken.minus(of(&old)).plus(of(&group));
        let bits = self.places.put(&group);
        self.lists[list as usize] = self.choices(&group, &is_up);
        if let Some(stored) = self.groups.get_mut(&group.id) {
            stored.group = group;
        }
        Ok(bits)
    }

    pub fn delete_group(&mut self, profile: &Profile, id: u32) -> Result<Vec<PlaceBit>, ControlError> {
        let stored = self.group(profile, id)?;
        if stored.uses > 0 {
            return Err(ControlError::FailedPrecondition(format!(
                "group {id} of action selector `{}` is used by {} entries; delete those first",
                profile.cp.name, stored.uses
            )));
        }
        if let Some(StoredGroup { group, list, .. }) = self.groups.remove(&id) {
            self.use_members(&group.members, false);
            self.taken = self.taken.minus(Taken::of_group(profile, &group));
            self.release_list(list);
        }
        Ok(self.places.remove(id))
    }

    /// Places of a group's members in the selector's memory, in order.
    pub fn places_of(&self, group: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.places.of(group)
    }

    /// Notes the bit of a place in the selector's memory, and says whether a group chooses otherwise now.
    pub fn set_place(&mut self, place: u32, bit: bool, is_up: impl Fn(u32) -> bool) -> bool {
        let group = self.places.set(place, bit).and_then(|group| self.groups.get(&group));
        let Some(StoredGroup { group, list, .. }) = group else { return false };
        let (list, choices) = (*list as usize, self.choices(group, &is_up));
        self.lists[list] = choices;
        true
    }

    fn use_members(&mut self, members: &[GroupMember], more: bool) {
        members.iter().for_each(|member| self.use_member(member.member_id, more));
    }

    fn choices(&self, group: &Group, is_up: &impl Fn(u32) -> bool) -> Vec<u32> {
        let mut members: Vec<&GroupMember> = group.members.iter().collect();
        members.sort_by_key(|member| member.member_id);
        let slots = members.into_iter().flat_map(|member| {
            let stored = self.members.get(&member.member_id);
            let usable = self.places.usable(group.id, member.member_id, member.weight);
            stored.into_iter().flat_map(move |stored| {
                let on = (stored.row, usable, is_usable(member.watch_port, is_up));
                [on, (stored.row, member.weight - usable, false)]
            })
        });
        self.listed_slots(slots)
    }

    fn set_choices(&self, set: &[(SetMember, u32)], is_up: &impl Fn(u32) -> bool) -> Vec<u32> {
        let slot =
            |(member, row): &(SetMember, u32)| (*row, member.weight, is_usable(member.watch_port, is_up));
        self.listed_slots(set.iter().map(slot))
    }

    /// Rows that can be used, each as often as its weight says. A resilient selector leaves those where they
    /// are, and spreads the places of the others among them: the list is repeated, so that each repetition of
    /// such a place goes to another one.
    fn listed_slots(&self, slots: impl Iterator<Item = Slot>) -> Vec<u32> {
        let places: Vec<(u32, bool)> =
            slots.flat_map(|(row, weight, up)| core::iter::repeat_n((row, up), weight as usize)).collect();
        let up: Vec<u32> = places.iter().filter(|(_, up)| *up).map(|(row, _)| *row).collect();
        if !self.resilient || up.len() == places.len() || up.is_empty() {
            return up;
        }
        let most = MAX_SPREAD.min(self.hash_mask) / places.len() as u64;
        let copies = up.len().min(most.max(1) as usize);
        let copy = |copy: usize| {
            let other = up.get(copy * up.len() / copies).copied().unwrap_or(0);
            places.iter().map(move |&(row, up)| if up { row } else { other })
        };
        (0..copies).flat_map(copy).collect()
    }

    /// A list of what a group chooses among, in copies that say that nothing was hit.
    pub fn copy_group(&mut self, group: u32) -> (u32, Vec<u32>) {
        let choices = self.groups.get(&group).map_or(&[][..], |stored| self.listed(stored.list)).to_vec();
        let mut copies = BTreeMap::new();
        // Row 0 is for lists without a usable member.
        for row in choices.iter().copied().chain(choices.is_empty().then_some(0)) {
            copies.entry(row).or_insert_with(|| self.rows.copy_missed(row));
        }
        let rows: Vec<u32> = copies.values().copied().collect();
        let list = match choices.is_empty() {
            true => rows.clone(),
            false => choices.iter().filter_map(|row| copies.get(row).copied()).collect(),
        };
        (self.take_list(list), rows)
    }

    /// Gives such copies back.
    pub fn release_copies(&mut self, list: Option<u32>, rows: &[u32]) {
        rows.iter().for_each(|&row| self.rows.release(row));
        if let Some(list) = list {
            self.release_list(list);
        }
    }

    /// Computes all choices anew after a port changed its state.
    pub fn refresh(&mut self, is_up: impl Fn(u32) -> bool) {
        for (&list, set) in &self.sets {
            self.lists[list as usize] = self.set_choices(set, &is_up);
        }
        let choices = |stored: &StoredGroup| (stored.list, self.choices(&stored.group, &is_up));
        let choices: Vec<_> = self.groups.values().map(choices).collect();
        for (list, choices) in choices {
            self.lists[list as usize] = choices;
        }
    }
}

#[cfg(test)]
mod tests {
    use p4cc_ir::HashAlgorithm;

    use super::*;
    use crate::testing::ProgramBuilder;

    fn profile(resilient: bool) -> ProfileState {
        let mut builder = ProgramBuilder::new();
        let id = builder.profile("p", 16, Some(HashAlgorithm::Crc16));
        builder.program.profiles[id.index()].resilient = resilient;
        ProfileState::new(&builder.program, id, &builder.program.profiles[id.index()])
    }

    #[test]
    fn a_resilient_selector_moves_only_what_loses_its_member() {
        let slots = [(1, 1, true), (2, 1, false), (3, 2, true)];
        assert_eq!(profile(false).listed_slots(slots.into_iter()), [1, 3, 3]);
        let list = profile(true).listed_slots(slots.into_iter());
        let before = [1, 2, 3, 3];
        assert_eq!(list.len(), 3 * before.len(), "one repetition for each place that is left");
        for (place, &row) in list.iter().enumerate() {
            let old = before[place % before.len()];
            assert!(if old == 2 { [1, 3].contains(&row) } else { row == old }, "{place}: {row}");
        }
        let moved: Vec<u32> = list.iter().skip(1).step_by(before.len()).copied().collect();
        assert_eq!(moved, [1, 3, 3], "by weight");
        assert_eq!(profile(true).listed_slots([(1, 1, false)].into_iter()), [0u32; 0]);
    }

    #[test]
    fn a_member_without_any_port_is_not_chosen() {
        assert!(!is_usable(Some(WatchPort::DOWN), &|_| true));
        assert!(is_usable(None, &|_| false) && is_usable(Some(WatchPort::from(3)), &|port| port == 3));
    }
}
