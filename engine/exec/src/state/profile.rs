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

use super::row::{Head, Rows, position};
use super::validate;
use crate::control::{ActionSet, ControlError, Group, GroupMember, Member, SetMember, SizeSemantics};

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
    first_table: Option<TableId>,
    members: BTreeMap<u32, StoredMember>,
    groups: BTreeMap<u32, StoredGroup>,
    /// Actions that belong to one entry, by their list, and their rows.
    sets: BTreeMap<u32, Vec<(SetMember, u32)>>,
    free_lists: Vec<u32>,
    /// What all groups and sets take.
    taken: Taken,
}

/// What a group or set takes of its selector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Sum of the weights.
    weight: u64,
    /// What counts against the selector's size.
    size: u64,
}

impl Taken {
    /// Of members with these weights.
    fn of(profile: &Profile, semantics: SizeSemantics, weights: impl Iterator<Item = u32>) -> Self {
        let (mut members, mut weight) = (0, 0);
        for one in weights {
            members += 1;
            weight += u64::from(one);
        }
        let counts_members = match semantics {
            SizeSemantics::Declared => profile.member_weight_limit().is_some(),
            SizeSemantics::Weights => false,
            SizeSemantics::Members => true,
        };
        Self { weight, size: if counts_members { members } else { weight } }
    }

    /// Of a group.
    pub fn of_group(profile: &Profile, group: &Group) -> Self {
        Self::of(profile, SizeSemantics::Declared, group.members.iter().map(|member| member.weight))
    }

    /// Of a set.
    pub fn of_set(profile: &Profile, set: &ActionSet) -> Self {
        Self::of(profile, set.size, set.members.iter().map(|member| member.weight))
    }

    /// What counts against the selector's size.
    pub fn size(self) -> u64 {
        self.size
    }

    fn plus(self, other: Self) -> Self {
        Self { weight: self.weight + other.weight, size: self.size + other.size }
    }

    fn minus(self, other: Self) -> Self {
        Self { weight: self.weight.saturating_sub(other.weight), size: self.size.saturating_sub(other.size) }
    }
}

/// Rows that can be used, each as often as its weight says.
fn usable<'a>(rows: impl Iterator<Item = (&'a SetMember, u32)>, is_up: impl Fn(u32) -> bool) -> Vec<u32> {
    let usable = rows.filter(|(member, _)| member.watch_port.is_none_or(|watched| is_up(watched.port)));
    usable.flat_map(|(member, row)| core::iter::repeat_n(row, member.weight as usize)).collect()
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
            first_table: Self::first_table(program, id),
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            sets: BTreeMap::new(),
            free_lists: Vec::new(),
            taken: Taken::default(),
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
        let list = self.take_list(usable(rows.iter().map(|(member, row)| (member, *row)), is_up));
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
    ) -> Result<(), ControlError> {
        if self.groups.contains_key(&group.id) {
            return Err(ControlError::AlreadyExists(format!(
                "action selector `{}` has group {} already; modify it, or choose another id",
                profile.cp.name, group.id
            )));
        }
        self.check_group(profile, &group, None)?;
        self.use_members(&group.members, true);
        self.taken = self.taken.plus(Taken::of_group(profile, &group));
        let list = self.take_list(self.choices(&group, &is_up));
        self.groups.insert(group.id, StoredGroup { group, list, uses: 0 });
        Ok(())
    }

    pub fn modify_group(
        &mut self,
        profile: &Profile,
        group: Group,
        is_up: impl Fn(u32) -> bool,
    ) -> Result<(), ControlError> {
        let stored = self.group(profile, group.id)?;
        let (old, list) = (stored.group.clone(), stored.list);
        self.check_group(profile, &group, Some(&old))?;
        self.use_members(&old.members, false);
        self.use_members(&group.members, true);
        let of = |group| Taken::of_group(profile, group);
        self.taken = self.taken.minus(of(&old)).plus(of(&group));
        self.lists[list as usize] = self.choices(&group, &is_up);
        if let Some(stored) = self.groups.get_mut(&group.id) {
            stored.group = group;
        }
        Ok(())
    }

    pub fn delete_group(&mut self, profile: &Profile, id: u32) -> Result<(), ControlError> {
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
        Ok(())
    }

    fn use_members(&mut self, members: &[GroupMember], more: bool) {
        members.iter().for_each(|member| self.use_member(member.member_id, more));
    }

    fn choices(&self, group: &Group, is_up: &impl Fn(u32) -> bool) -> Vec<u32> {
        let mut usable: Vec<&GroupMember> = group
            .members
            .iter()
            .filter(|member| member.watch_port.is_none_or(|watched| is_up(watched.port)))
            .collect();
        usable.sort_by_key(|member| member.member_id);
        let rows = usable.into_iter().filter_map(|member| {
            let row = self.members.get(&member.member_id)?.row;
            Some(core::iter::repeat_n(row, member.weight as usize))
        });
        rows.flatten().collect()
    }

    /// Computes all choices anew after a port changed its state.
    pub fn refresh(&mut self, is_up: impl Fn(u32) -> bool) {
        for (&list, set) in &self.sets {
            let rows = set.iter().map(|(member, row)| (member, *row));
            self.lists[list as usize] = usable(rows, &is_up);
        }
        let choices = |stored: &StoredGroup| (stored.list, self.choices(&stored.group, &is_up));
        let choices: Vec<_> = self.groups.values().map(choices).collect();
        for (list, choices) in choices {
            self.lists[list as usize] = choices;
        }
    }
}
