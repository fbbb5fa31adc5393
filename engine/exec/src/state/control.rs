//! Writes and reads of the control plane: entries, default actions, members, groups.

use p4cc_ir::{ActionCall, MatchValue, Profile, ProfileId, Table, TableId};
use p4cc_units::Time;

use super::action::{Resolved, position};
use super::profile::ProfileState;
use super::table::{Identity, Stored, Target};
use super::{State, validate};
use crate::control::{ControlError, EntryAction, Group, Member, TableEntry};

impl State {
    pub(super) fn table_of(&self, id: TableId) -> Result<&Table, ControlError> {
        let unknown = || ControlError::NotFound(format!("the program has no {id}"));
        self.program.tables.get(id.index()).ok_or_else(unknown)
    }

    fn profile_of(&self, id: ProfileId) -> Result<&Profile, ControlError> {
        let unknown = || ControlError::NotFound(format!("the program has no {id}"));
        self.program.profiles.get(id.index()).ok_or_else(unknown)
    }

    /// Place of an entry by its identity, checked.
    fn place(&self, id: TableId, identity: &Identity) -> Result<u32, ControlError> {
        let table = self.table_of(id)?;
        validate::identity(&self.program, table, &identity.0, identity.1)?;
        self.tables[id.index()].place(identity).ok_or_else(|| {
            ControlError::NotFound(format!(
                "table `{}` has no entry with these match values and priority {}",
                table.cp.name, identity.1
            ))
        })
    }

    pub(super) fn stored(
        &self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<&Stored, ControlError> {
        let place = self.place(id, &(matches.to_vec(), priority))?;
        let gone = || ControlError::NotFound(format!("{id} has no such entry"));
        self.tables[id.index()].get(place).ok_or_else(gone)
    }

    pub(super) fn stored_mut(
        &mut self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<&mut Stored, ControlError> {
        let place = self.place(id, &(matches.to_vec(), priority))?;
        let gone = || ControlError::NotFound(format!("{id} has no such entry"));
        self.tables[id.index()].get_mut(place).ok_or_else(gone)
    }

    /// Checks what an entry runs and makes it ready.
    fn target(&self, id: TableId, entry: &TableEntry) -> Result<Target, ControlError> {
        let table = self.table_of(id)?;
        validate::entry_action(&self.program, table, entry)?;
        if entry.idle_timeout_ns > 0 && !table.idle_timeout {
            return Err(ControlError::InvalidArgument(format!(
                "table `{}` does not support idle timeouts; leave the timeout out or declare \
                 `support_timeout = true`",
                table.cp.name
            )));
        }
        let profile = |table: &Table| {
            let profile = table.profile.map(|id| (&self.program.profiles[id.index()], id));
            profile.map(|(declared, id)| (declared, &self.profiles[id.index()]))
        };
        match (&entry.action, profile(table)) {
            (EntryAction::Member(member), Some((declared, state))) => {
                let place = state.member_place(declared, *member)?;
                if let Some(action) = state.member_action(place) {
                    let listed = table.actions.iter().any(|listed| listed.action == action.action);
                    if !listed {
                        return Err(ControlError::InvalidArgument(format!(
                            "member {member} of `{}` runs `{}`, which table `{}` does not list",
                            declared.cp.name,
                            self.program.actions[action.action.index()].cp.name,
                            table.cp.name
                        )));
                    }
                }
                Ok(Target::Member(place))
            }
            (EntryAction::Group(group), Some((declared, state))) => {
                Ok(Target::Group(state.group_place(declared, *group)?))
            }
            (EntryAction::Direct(call), _) => {
                let position = position(&self.program, id, call.action);
                Ok(Target::Action(Resolved::new(call, position)))
            }
            (_, None) => Err(ControlError::InvalidArgument(format!(
                "table `{}` has no action profile; give an action",
                table.cp.name
            ))),
        }
    }

    /// Counts or uncounts an entry's use of a member or group.
    fn count_use(&mut self, id: TableId, target: &Target, more: bool) {
        let profile = self.program.tables[id.index()].profile;
        if let Some(profile) = profile.and_then(|profile| self.profiles.get_mut(profile.index())) {
            match target {
                Target::Action(_) => {}
                Target::Member(place) => profile.use_member(*place, more),
                Target::Group(place) => profile.use_group(*place, more),
            }
        }
    }

    fn changeable(table: &Table, what: &str) -> Result<(), ControlError> {
        if !table.const_entries {
            return Ok(());
        }
        Err(ControlError::PermissionDenied(format!(
            "table `{}` has `const entries`: {what} is not possible",
            table.cp.name
        )))
    }

    fn changeable_entry(&self, id: TableId, place: u32) -> Result<(), ControlError> {
        let is_const = self.tables[id.index()].get(place).is_some_and(|stored| stored.entry.is_const);
        if !is_const {
            return Ok(());
        }
        Err(ControlError::PermissionDenied(format!(
            "this entry of table `{}` is `const` in the program and cannot be changed",
            self.program.tables[id.index()].cp.name
        )))
    }

    /// Adds an entry. `is_const` is the program's to say and is ignored.
    pub fn table_insert(&mut self, id: TableId, entry: TableEntry) -> Result<(), ControlError> {
        let table = self.table_of(id)?;
        Self::changeable(table, "inserting an entry")?;
        validate::identity(&self.program, table, &entry.matches, entry.priority)?;
        let target = self.target(id, &entry)?;
        let state = &self.tables[id.index()];
        if state.place(&(entry.matches.clone(), entry.priority)).is_some() {
            return Err(ControlError::AlreadyExists(format!(
                "table `{}` has an entry with these match values and priority {} already; modify it instead",
                table.cp.name, entry.priority
            )));
        }
        if state.len() >= state.capacity {
            return Err(ControlError::ResourceExhausted(format!(
                "table `{}` is full: it holds {} entries; delete one or raise its size in the program",
                table.cp.name, state.capacity
            )));
        }
        self.count_use(id, &target, true);
        self.tables[id.index()].insert(TableEntry { is_const: false, ..entry }, target);
        Ok(())
    }

    /// Changes what an entry runs, its metadata and its idle timeout. Its direct counter goes on counting.
    pub fn table_modify(&mut self, id: TableId, entry: TableEntry) -> Result<(), ControlError> {
        Self::changeable(self.table_of(id)?, "modifying an entry")?;
        let place = self.place(id, &(entry.matches.clone(), entry.priority))?;
        self.changeable_entry(id, place)?;
        let target = self.target(id, &entry)?;
        self.count_use(id, &target, true);
        let state = &mut self.tables[id.index()];
        let old = state.targets[place as usize].replace(target);
        if let Some(stored) = state.get_mut(place) {
            stored.entry = TableEntry { is_const: false, ..entry };
        }
        if let Some(old) = old {
            self.count_use(id, &old, false);
        }
        Ok(())
    }

    /// Deletes an entry.
    pub fn table_delete(
        &mut self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<(), ControlError> {
        Self::changeable(self.table_of(id)?, "deleting an entry")?;
        let identity = (matches.to_vec(), priority);
        let place = self.place(id, &identity)?;
        self.changeable_entry(id, place)?;
        if let Some((_, target)) = self.tables[id.index()].remove(&identity) {
            self.count_use(id, &target, false);
        }
        Ok(())
    }

    /// All entries, ordered by match values and priority.
    pub fn table_entries(&self, id: TableId) -> impl Iterator<Item = &TableEntry> {
        self.tables.get(id.index()).into_iter().flat_map(|table| table.entries().map(|stored| &stored.entry))
    }

    /// One entry.
    pub fn table_entry(
        &self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<&TableEntry, ControlError> {
        Ok(&self.stored(id, matches, priority)?.entry)
    }

    /// When an entry was last hit; zero if never, or if its table keeps no time.
    pub fn last_hit(&self, id: TableId, matches: &[MatchValue], priority: u32) -> Result<Time, ControlError> {
        Ok(self.stored(id, matches, priority)?.last_hit)
    }

    /// Number of entries.
    pub fn table_len(&self, id: TableId) -> usize {
        self.tables.get(id.index()).map_or(0, super::TableState::len)
    }

    /// The action run on a miss.
    pub fn default_action(&self, id: TableId) -> Result<&ActionCall, ControlError> {
        self.table_of(id)?;
        Ok(&self.tables[id.index()].default_call)
    }

    /// Sets the action run on a miss.
    pub fn set_default_action(&mut self, id: TableId, call: ActionCall) -> Result<(), ControlError> {
        let table = self.table_of(id)?;
        // Setting a constant default to itself changes nothing and is allowed.
        if table.const_default && call != table.default_action {
            return Err(ControlError::PermissionDenied(format!(
                "the default action of table `{}` is `const` in the program and cannot be changed",
                table.cp.name
            )));
        }
        validate::table_action(&self.program, table, &call, true)?;
        let resolved = Resolved::new(&call, position(&self.program, id, call.action));
        let state = &mut self.tables[id.index()];
        state.default = resolved;
        state.default_call = call;
        Ok(())
    }

    /// Sets the action run on a miss back to the program's.
    pub fn reset_default_action(&mut self, id: TableId) -> Result<(), ControlError> {
        let call = self.table_of(id)?.default_action.clone();
        let resolved = Resolved::new(&call, position(&self.program, id, call.action));
        let state = &mut self.tables[id.index()];
        state.default = resolved;
        state.default_call = call;
        Ok(())
    }

    /// Checks a member's action: some table of the profile must list it.
    fn member_action(&self, id: ProfileId, member: &Member) -> Result<Resolved, ControlError> {
        let profile = self.profile_of(id)?;
        let place = format!("member {} of `{}`", member.id, profile.cp.name);
        validate::call(&self.program, &place, &member.action)?;
        let mut tables = self.program.tables.iter().filter(|table| table.profile == Some(id));
        let listed = |table: &Table| {
            let mut actions = table.actions.iter();
            actions.any(|action| {
                action.action == member.action.action && action.scope != p4cc_ir::ActionScope::DefaultOnly
            })
        };
        if !tables.any(listed) {
            return Err(ControlError::InvalidArgument(format!(
                "{place} runs `{}`, which no table of this profile lists for its entries",
                self.program.actions[member.action.action.index()].cp.name
            )));
        }
        Ok(Resolved::new(&member.action, 0))
    }

    /// Adds a member.
    pub fn member_insert(&mut self, id: ProfileId, member: Member) -> Result<(), ControlError> {
        let resolved = self.member_action(id, &member)?;
        self.profiles[id.index()].insert_member(&self.program.profiles[id.index()], member, resolved)
    }

    /// Changes what a member runs, at once for all entries and groups that use it.
    pub fn member_modify(&mut self, id: ProfileId, member: Member) -> Result<(), ControlError> {
        let resolved = self.member_action(id, &member)?;
        self.profiles[id.index()].modify_member(&self.program.profiles[id.index()], member, resolved)
    }

    /// Deletes a member that nothing uses.
    pub fn member_delete(&mut self, id: ProfileId, member: u32) -> Result<(), ControlError> {
        self.profile_of(id)?;
        self.profiles[id.index()].delete_member(&self.program.profiles[id.index()], member)
    }

    /// All members, by id.
    pub fn members(&self, id: ProfileId) -> impl Iterator<Item = &Member> {
        self.profiles.get(id.index()).into_iter().flat_map(ProfileState::members)
    }

    /// Adds a group.
    pub fn group_insert(&mut self, id: ProfileId, group: Group) -> Result<(), ControlError> {
        self.profile_of(id)?;
        let down = &self.ports_down;
        let profile = &self.program.profiles[id.index()];
        self.profiles[id.index()].insert_group(profile, group, |port| !down.contains(&port))
    }

    /// Replaces a group's members.
    pub fn group_modify(&mut self, id: ProfileId, group: Group) -> Result<(), ControlError> {
        self.profile_of(id)?;
        let down = &self.ports_down;
        let profile = &self.program.profiles[id.index()];
        self.profiles[id.index()].modify_group(profile, group, |port| !down.contains(&port))
    }

    /// Deletes a group that no entry uses.
    pub fn group_delete(&mut self, id: ProfileId, group: u32) -> Result<(), ControlError> {
        self.profile_of(id)?;
        self.profiles[id.index()].delete_group(&self.program.profiles[id.index()], group)
    }

    /// All groups, by id.
    pub fn groups(&self, id: ProfileId) -> impl Iterator<Item = &Group> {
        self.profiles.get(id.index()).into_iter().flat_map(ProfileState::groups)
    }
}
