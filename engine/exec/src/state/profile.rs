//! Action profiles and selectors: members, groups, and which member a hash chooses.
//!
//! Entries may bring sets of actions of their own (P4Runtime's one-shot programming). A set is stored as a group whose
//! members nobody else sees; a profile holds either sets or members and groups.
//!
//! Invariants: every group's member exists; a member or group used by an entry or group is never deleted; the choice
//! depends on ids, weights and port states only, not on the order of requests.

use std::collections::BTreeMap;

use p4cc_ir::Profile;

use super::action::Resolved;
use super::validate;
use crate::control::{ControlError, Group, GroupMember, Member, SetMember};

/// Largest sum of the weights of one group.
const MAX_WEIGHT_SUM: u64 = 1 << 16;

/// A member and what it runs.
#[derive(Clone, Debug)]
struct StoredMember {
    member: Member,
    resolved: Resolved,
    /// Entries and groups that use it.
    uses: u32,
}

#[derive(Clone, Debug)]
struct StoredGroup {
    group: Group,
    /// Usable members, as places in `slots`, each as often as its weight says, in the order of their ids.
    choices: Vec<u32>,
    uses: u32,
}

/// Actions that belong to one entry, and those of them that can be used now, each as often as its weight says.
#[derive(Clone, Debug)]
struct StoredSet {
    members: Vec<(SetMember, Resolved)>,
    /// Positions in `members`.
    choices: Vec<u32>,
}

impl StoredSet {
    fn weight(&self) -> u64 {
        self.members.iter().map(|(member, _)| u64::from(member.weight)).sum()
    }

    fn choose(&mut self, is_up: impl Fn(u32) -> bool) {
        let usable =
            self.members.iter().zip(0..).filter(|((member, _), _)| member.watch_port.is_none_or(&is_up));
        let repeated = usable.flat_map(|((member, _), at)| core::iter::repeat_n(at, member.weight as usize));
        self.choices = repeated.collect();
    }
}

/// Contents of a profile. Members and groups keep their place while they live, so that entries hold places.
#[derive(Clone, Debug)]
pub(crate) struct ProfileState {
    members: Vec<Option<StoredMember>>,
    groups: Vec<Option<StoredGroup>>,
    member_places: BTreeMap<u32, u32>,
    group_places: BTreeMap<u32, u32>,
    sets: Vec<Option<StoredSet>>,
    /// Mask of the hash.
    hash_mask: u64,
}

/// Puts a value in the first free place.
fn place<V>(list: &mut Vec<Option<V>>, value: V) -> u32 {
    let free = list.iter().position(Option::is_none).unwrap_or(list.len());
    if free == list.len() {
        list.push(None);
    }
    list[free] = Some(value);
    free as u32
}

impl ProfileState {
    pub fn new(profile: &Profile) -> Self {
        let width = profile.selector.map_or(64, |(_, width)| width);
        Self {
            members: Vec::new(),
            groups: Vec::new(),
            member_places: BTreeMap::new(),
            group_places: BTreeMap::new(),
            sets: Vec::new(),
            hash_mask: if width == 0 { 0 } else { u64::MAX >> (64 - width.min(64)) },
        }
    }

    /// What a member at a place runs.
    #[inline]
    pub fn member_action(&self, place: u32) -> Option<&Resolved> {
        self.members.get(place as usize)?.as_ref().map(|stored| &stored.resolved)
    }

    /// What the group at a place runs for a hash; `None` if it has no usable member.
    #[inline]
    pub fn group_action(&self, place: u32, hash: u64) -> Option<&Resolved> {
        let group = self.groups.get(place as usize)?.as_ref()?;
        let choice = (hash & self.hash_mask).checked_rem(group.choices.len() as u64)?;
        self.member_action(*group.choices.get(choice as usize)?)
    }

    /// What the set at a place runs for a hash; `None` if none of its actions is usable.
    #[inline]
    pub fn set_action(&self, place: u32, hash: u64) -> Option<&Resolved> {
        let set = self.sets.get(place as usize)?.as_ref()?;
        let choice = (hash & self.hash_mask).checked_rem(set.choices.len() as u64)?;
        let member = *set.choices.get(choice as usize)?;
        set.members.get(member as usize).map(|(_, resolved)| resolved)
    }

    pub fn members(&self) -> impl Iterator<Item = &Member> {
        let stored = self.member_places.values().filter_map(|&place| self.members[place as usize].as_ref());
        stored.map(|stored| &stored.member)
    }

    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        let stored = self.group_places.values().filter_map(|&place| self.groups[place as usize].as_ref());
        stored.map(|stored| &stored.group)
    }

    /// Place of a member, for entries.
    pub fn member_place(&self, profile: &Profile, id: u32) -> Result<u32, ControlError> {
        self.member_places.get(&id).copied().ok_or_else(|| {
            ControlError::NotFound(format!(
                "action profile `{}` has no member {id}; insert the member first",
                profile.cp.name
            ))
        })
    }

    /// Place of a group, for entries.
    pub fn group_place(&self, profile: &Profile, id: u32) -> Result<u32, ControlError> {
        self.group_places.get(&id).copied().ok_or_else(|| {
            ControlError::NotFound(format!(
                "action selector `{}` has no group {id}; insert the group first",
                profile.cp.name
            ))
        })
    }

    fn stored_member(&mut self, place: u32) -> Option<&mut StoredMember> {
        self.members.get_mut(place as usize)?.as_mut()
    }

    /// Counts an entry's use of a member.
    pub fn use_member(&mut self, place: u32, more: bool) {
        if let Some(stored) = self.stored_member(place) {
            stored.uses = if more { stored.uses + 1 } else { stored.uses.saturating_sub(1) };
        }
    }

    /// Counts an entry's use of a group.
    pub fn use_group(&mut self, place: u32, more: bool) {
        if let Some(Some(stored)) = self.groups.get_mut(place as usize) {
            stored.uses = if more { stored.uses + 1 } else { stored.uses.saturating_sub(1) };
        }
    }

    /// Checks a set that replaces another of the weight `old`.
    pub fn check_set(&self, profile: &Profile, members: &[SetMember], old: u64) -> Result<(), ControlError> {
        if !self.member_places.is_empty() {
            return Err(ControlError::InvalidArgument(format!(
                "action selector `{}` is programmed with members and groups; delete those before giving action sets",
                profile.cp.name
            )));
        }
        validate::set(profile, members)?;
        let weight = members.iter().map(|member| u64::from(member.weight)).sum::<u64>();
        self.check_weight(profile, weight, old, "the action set")
    }

    /// Stores a set that was checked, and gives its place.
    pub fn insert_set(&mut self, members: Vec<(SetMember, Resolved)>, is_up: impl Fn(u32) -> bool) -> u32 {
        let mut set = StoredSet { members, choices: Vec::new() };
        set.choose(is_up);
        place(&mut self.sets, set)
    }

    /// Forgets a set.
    pub fn remove_set(&mut self, place: u32) {
        if let Some(set) = self.sets.get_mut(place as usize) {
            *set = None;
        }
    }

    /// Sum of the weights of a set.
    pub fn set_weight(&self, place: u32) -> u64 {
        self.sets.get(place as usize).and_then(Option::as_ref).map_or(0, StoredSet::weight)
    }

    fn no_sets(&self, profile: &Profile) -> Result<(), ControlError> {
        if self.sets.iter().all(Option::is_none) {
            return Ok(());
        }
        Err(ControlError::InvalidArgument(format!(
            "action selector `{}` is programmed with action sets; delete those entries before giving members and groups",
            profile.cp.name
        )))
    }

    pub fn insert_member(
        &mut self,
        profile: &Profile,
        member: Member,
        resolved: Resolved,
    ) -> Result<(), ControlError> {
        self.no_sets(profile)?;
        if self.member_places.contains_key(&member.id) {
            return Err(ControlError::AlreadyExists(format!(
                "action profile `{}` has member {} already; modify it, or choose another id",
                profile.cp.name, member.id
            )));
        }
        // A selector's size bounds the members over all groups, checked there; its members are bounded alike.
        if self.member_places.len() >= profile.size as usize {
            return Err(ControlError::ResourceExhausted(format!(
                "action profile `{}` is full: it holds {} members; delete one or raise its size",
                profile.cp.name, profile.size
            )));
        }
        let id = member.id;
        let place = place(&mut self.members, StoredMember { member, resolved, uses: 0 });
        self.member_places.insert(id, place);
        Ok(())
    }

    pub fn modify_member(
        &mut self,
        profile: &Profile,
        member: Member,
        resolved: Resolved,
    ) -> Result<(), ControlError> {
        let place = self.member_place(profile, member.id)?;
        if let Some(stored) = self.stored_member(place) {
            stored.member = member;
            stored.resolved = resolved;
        }
        Ok(())
    }

    pub fn delete_member(&mut self, profile: &Profile, id: u32) -> Result<(), ControlError> {
        let place = self.member_place(profile, id)?;
        let uses = self.stored_member(place).map_or(0, |stored| stored.uses);
        if uses > 0 {
            return Err(ControlError::FailedPrecondition(format!(
                "member {id} of action profile `{}` is used by {uses} groups or entries; delete those first",
                profile.cp.name
            )));
        }
        self.members[place as usize] = None;
        self.member_places.remove(&id);
        Ok(())
    }

    /// Checks a group; `old` is what it replaces.
    fn check_group(&self, profile: &Profile, group: &Group, old: Option<&Group>) -> Result<(), ControlError> {
        validate::group(profile, group)?;
        for member in &group.members {
            self.member_place(profile, member.member_id)?;
        }
        let weight = |group: &Group| group.members.iter().map(|member| u64::from(member.weight)).sum::<u64>();
        self.check_weight(profile, weight(group), old.map_or(0, weight), &format!("group {}", group.id))
    }

    /// Checks that a weight fits beside what is there, but for what it replaces.
    fn check_weight(&self, profile: &Profile, weight: u64, old: u64, what: &str) -> Result<(), ControlError> {
        let of = |group: &Group| group.members.iter().map(|member| u64::from(member.weight)).sum::<u64>();
        let sets = self.sets.iter().flatten().map(StoredSet::weight).sum::<u64>();
        let others = (self.groups().map(of).sum::<u64>() + sets).saturating_sub(old);
        let limit = u64::from(profile.size).min(MAX_WEIGHT_SUM);
        if others + weight > limit {
            return Err(ControlError::ResourceExhausted(format!(
                "action selector `{}` holds members of a total weight of {limit} over all groups; {what} would make \
                 it {}; use smaller weights or raise the selector's size",
                profile.cp.name,
                others + weight
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
        if self.group_places.contains_key(&group.id) {
            return Err(ControlError::AlreadyExists(format!(
                "action selector `{}` has group {} already; modify it, or choose another id",
                profile.cp.name, group.id
            )));
        }
        self.check_group(profile, &group, None)?;
        self.use_members(&group.members, true);
        let choices = self.choices(&group, &is_up);
        let id = group.id;
        let place = place(&mut self.groups, StoredGroup { group, choices, uses: 0 });
        self.group_places.insert(id, place);
        Ok(())
    }

    pub fn modify_group(
        &mut self,
        profile: &Profile,
        group: Group,
        is_up: impl Fn(u32) -> bool,
    ) -> Result<(), ControlError> {
        let place = self.group_place(profile, group.id)?;
        let Some(Some(stored)) = self.groups.get(place as usize) else { return Ok(()) };
        let (old, uses) = (stored.group.clone(), stored.uses);
        self.check_group(profile, &group, Some(&old))?;
        self.use_members(&old.members, false);
        self.use_members(&group.members, true);
        let choices = self.choices(&group, &is_up);
        self.groups[place as usize] = Some(StoredGroup { group, choices, uses });
        Ok(())
    }

    pub fn delete_group(&mut self, profile: &Profile, id: u32) -> Result<(), ControlError> {
        let place = self.group_place(profile, id)?;
        let Some(Some(stored)) = self.groups.get(place as usize) else { return Ok(()) };
        if stored.uses > 0 {
            return Err(ControlError::FailedPrecondition(format!(
                "group {id} of action selector `{}` is used by {} entries; delete those first",
                profile.cp.name, stored.uses
            )));
        }
        let members = stored.group.members.clone();
        self.use_members(&members, false);
        self.groups[place as usize] = None;
        self.group_places.remove(&id);
        Ok(())
    }

    fn use_members(&mut self, members: &[GroupMember], more: bool) {
        for member in members {
            if let Some(&place) = self.member_places.get(&member.member_id) {
                self.use_member(place, more);
            }
        }
    }

    fn choices(&self, group: &Group, is_up: &impl Fn(u32) -> bool) -> Vec<u32> {
        let mut usable: Vec<&GroupMember> =
            group.members.iter().filter(|member| member.watch_port.is_none_or(is_up)).collect();
        usable.sort_by_key(|member| member.member_id);
        let placed = usable.into_iter().filter_map(|member| {
            let place = self.member_places.get(&member.member_id)?;
            Some(core::iter::repeat_n(*place, member.weight as usize))
        });
        placed.flatten().collect()
    }

    /// Computes all choices anew after a port changed its state.
    pub fn refresh(&mut self, is_up: impl Fn(u32) -> bool) {
        self.sets.iter_mut().flatten().for_each(|set| set.choose(&is_up));
        for place in 0..self.groups.len() {
            if let Some(stored) = &self.groups[place] {
                let choices = self.choices(&stored.group, &is_up);
                if let Some(stored) = &mut self.groups[place] {
                    stored.choices = choices;
                }
            }
        }
    }
}
