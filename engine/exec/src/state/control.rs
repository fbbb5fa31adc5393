//! Reads and writes by the control plane: entries, default actions, members, groups.

use p4cc_ir::{ActionCall, MatchValue, Profile, ProfileId, Table, TableId};
use p4cc_units::{Span, Time};

use super::profile::ProfileState;
use super::row::{Head, position};
use super::table::{Cells, Stored};
use super::taken::Taken;
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

    /// Row of an entry by its identity, checked.
    pub(super) fn place(
        &self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<u32, ControlError> {
        let table = self.table_of(id)?;
        validate::identity(&self.program, table, matches, priority)?;
        self.tables[id.index()].place(matches, priority).ok_or_else(|| {
            ControlError::NotFound(format!(
                "table `{}` has no entry with these match values and priority {priority}",
                table.cp.name
            ))
        })
    }

    pub(super) fn gone(id: TableId) -> ControlError {
        ControlError::NotFound(format!("{id} has no such entry"))
    }

    fn stored(&self, id: TableId, matches: &[MatchValue], priority: u32) -> Result<&Stored, ControlError> {
        let row = self.place(id, matches, priority)?;
        self.tables[id.index()].get(row).ok_or_else(|| Self::gone(id))
    }

    /// Row of an entry, or 0 of the default entry, which has no match values: entries have one for each key.
    pub(super) fn any_place(
        &self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<u32, ControlError> {
        if matches.is_empty() && priority == 0 {
            return self.table_of(id).map(|_| 0);
        }
        self.place(id, matches, priority)
    }

    /// What hits of an entry changed, or misses where no match
    /// values are given; nothing yet where hits change nothing.
    pub(super) fn cells(
        &self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<Cells, ControlError> {
        let row = self.any_place(id, matches, priority)?;
        Ok(self.tables[id.index()].cells(row).cloned().unwrap_or_default())
    }

    pub(super) fn cells_mut(
        &mut self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<&mut Cells, ControlError> {
        let row = self.any_place(id, matches, priority)?;
        self.tables[id.index()].cells_mut(row).ok_or_else(|| Self::gone(id))
    }

    /// Checks what an entry runs and makes it ready; none for a set of actions, which has yet to be stored.
    /// `replaced` is what the set took whose place it takes.
    fn head(&self, id: TableId, entry: &TableEntry, replaced: Taken) -> Result<Option<Head>, ControlError> {
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
                let head = state.member_head(declared, *member)?;
                if let Some(action) = state.member_call(*member) {
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
                Ok(Some(head))
            }
            (EntryAction::Group(group), Some((declared, state))) => {
                Ok(Some(state.group_head(declared, *group)?))
            }
            (EntryAction::Set(set), Some((declared, state))) => {
                state.check_set(declared, set, replaced)?;
                Ok(None)
            }
            (EntryAction::Direct(call), _) => {
                Ok(Some(Head::hit(call.action, position(&self.program, id, call.action))))
            }
            (_, None) => Err(ControlError::InvalidArgument(format!(
                "table `{}` has no action profile; give an action",
                table.cp.name
            ))),
        }
    }

    /// The profile of a table: as declared, and its contents.
    fn profile_state(&mut self, id: TableId) -> Option<(&Profile, &mut ProfileState)> {
        let profile = self.program.tables[id.index()].profile?;
        Some((&self.program.profiles[profile.index()], self.profiles.get_mut(profile.index())?))
    }

    /// Takes into use what an entry runs, and stores the entry's own set if that is it.
    fn take(&mut self, id: TableId, entry: &TableEntry, head: Option<Head>) -> Head {
        let (program, down) = (&self.program, &self.ports_down);
        let profile = program.tables[id.index()].profile;
        let profile = profile.and_then(|profile| {
            Some((&program.profiles[profile.index()], self.profiles.get_mut(profile.index())?))
        });
        match (&entry.action, profile) {
            (EntryAction::Set(set), Some((declared, profile))) => {
                return profile.insert_set(program, declared, set, |port| !down.contains(&port));
            }
            (EntryAction::Member(member), Some((_, profile))) => profile.use_member(*member, true),
            (EntryAction::Group(group), Some((_, profile))) => profile.use_group(*group, true),
            _ => {}
        }
        head.unwrap_or(Head::NOTHING)
    }

    /// Lets go of what an entry ran.
    fn release(&mut self, id: TableId, entry: &TableEntry, head: Head) {
        match (&entry.action, self.profile_state(id)) {
            (EntryAction::Member(member), Some((_, state))) => state.use_member(*member, false),
            (EntryAction::Group(group), Some((_, state))) => state.use_group(*group, false),
            (EntryAction::Set(set), Some((declared, state))) => state.remove_set(declared, set, head),
            _ => {}
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

    fn changeable_entry(&self, id: TableId, row: u32) -> Result<(), ControlError> {
        let is_const = self.tables[id.index()].get(row).is_some_and(|stored| stored.entry.is_const);
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
        let head = self.head(id, &entry, Taken::default())?;
        let state = &self.tables[id.index()];
        if state.place(&entry.matches, entry.priority).is_some() {
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
        let head = self.take(id, &entry, head);
        let number = self.tables[id.index()].insert(TableEntry { is_const: false, ..entry }, head);
        self.start_direct_cells(id, number);
        Ok(())
    }

    /// Changes what an entry runs, its metadata and its idle timeout. Its direct counter goes on counting.
    pub fn table_modify(&mut self, id: TableId, entry: TableEntry) -> Result<(), ControlError> {
        Self::changeable(self.table_of(id)?, "modifying an entry")?;
        let row = self.place(id, &entry.matches, entry.priority)?;
        self.changeable_entry(id, row)?;
        let profile = self.program.tables[id.index()].profile;
        let replaced = match (profile, self.tables[id.index()].get(row).map(|stored| &stored.entry.action)) {
            (Some(profile), Some(EntryAction::Set(set))) => {
                Taken::of_set(&self.program.profiles[profile.index()], set)
            }
            _ => Taken::default(),
        };
        let head = self.head(id, &entry, replaced)?;
        let head = self.take(id, &entry, head);
        let old = self.tables[id.index()].modify(row, TableEntry { is_const: false, ..entry }, head);
        if let Some((old, head)) = old {
            self.release(id, &old, head);
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
        let row = self.place(id, matches, priority)?;
        self.changeable_entry(id, row)?;
        if let Some((entry, head)) = self.tables[id.index()].remove(row) {
            self.release(id, &entry, head);
        }
        Ok(())
    }

    /// All entries, ordered by match values and priority.
    pub fn table_entries(&self, id: TableId) -> impl Iterator<Item = &TableEntry> {
        self.tables.get(id.index()).into_iter().flat_map(|table| table.entries().map(|stored| &stored.entry))
    }

    /// Numbers of all entries, in the same order.
    pub fn entry_numbers(&self, id: TableId) -> Vec<u32> {
        self.tables.get(id.index()).map(|table| table.numbers()).unwrap_or_default()
    }

    /// The entry of a number, if there still is one.
    pub fn entry_of_number(&self, id: TableId, number: u32) -> Option<&TableEntry> {
        Some(&self.tables.get(id.index())?.get(number)?.entry)
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
        Ok(self.cells(id, matches, priority)?.last_hit)
    }

    /// Lets an entry's idle time start now: when it was written, for instance.
    pub fn start_timer(
        &mut self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
        now: Time,
    ) -> Result<(), ControlError> {
        let row = self.place(id, matches, priority)?;
        let stored = self.tables[id.index()].get_mut(row).ok_or_else(|| Self::gone(id))?;
        (stored.written, stored.timer) = (now, now);
        stored.idle_since = None;
        Ok(())
    }

    /// How long ago an entry was hit, or written if it was not hit since.
    pub fn idle_time(
        &self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
        now: Time,
    ) -> Result<Span, ControlError> {
        let (written, last_hit) =
            (self.stored(id, matches, priority)?.written, self.cells(id, matches, priority)?.last_hit);
        Ok(now.since(last_hit.max(written)))
    }

    /// Takes the entries that were not hit for as long as their timeout. Their
    /// timers start anew, so that each comes again after another timeout.
    pub fn take_idle(&mut self, now: Time) -> Vec<(TableId, TableEntry)> {
        let mut idle = Vec::new();
        for (index, table) in self.tables.iter_mut().enumerate() {
            if !self.program.tables[index].idle_timeout {
                continue;
            }
            for (stored, last_hit) in table.timers() {
                let timeout_ns = stored.entry.idle_timeout_ns;
                let since = last_hit.max(stored.timer);
                if timeout_ns > 0 && now.since(since).as_ns() >= timeout_ns {
                    stored.timer = now;
                    idle.push((TableId::from_index(index), stored.entry.clone()));
                }
            }
        }
        idle
    }

    /// When [`Self::take_idle`] may find something next, if no packet hits an entry until then.
    pub fn next_idle(&self) -> Option<Time> {
        let timed = self.program.tables.iter().zip(&self.tables).filter(|(table, _)| table.idle_timeout);
        let entries = timed.flat_map(|(_, table)| table.last_hits());
        let due = entries.filter(|(stored, _)| stored.entry.idle_timeout_ns > 0).map(|(stored, last_hit)| {
            last_hit.max(stored.timer) + Span::from_ns(stored.entry.idle_timeout_ns)
        });
        due.min()
    }

    /// Number of entries.
    pub fn table_len(&self, id: TableId) -> usize {
        self.tables.get(id.index()).map_or(0, super::TableState::len)
    }

    /// The action run on a miss.
    pub fn default_action(&self, id: TableId) -> Result<&ActionCall, ControlError> {
        self.table_of(id)?;
        Ok(&self.tables[id.index()].default.call)
    }

    /// What the controller keeps with a table's default entry: metadata, and the same as a number.
    pub fn default_metadata(&self, id: TableId) -> Result<(&[u8], u64), ControlError> {
        self.table_of(id)?;
        let default = &self.tables[id.index()].default;
        Ok((&default.metadata, default.controller_metadata))
    }

    /// Sets what the controller keeps with a table's default entry.
    pub fn set_default_metadata(
        &mut self,
        id: TableId,
        metadata: Vec<u8>,
        controller_metadata: u64,
    ) -> Result<(), ControlError> {
        self.table_of(id)?;
        let default = &mut self.tables[id.index()].default;
        (default.metadata, default.controller_metadata) = (metadata, controller_metadata);
        Ok(())
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
        let position = position(&self.program, id, call.action);
        self.drop_profile_default(id);
        self.tables[id.index()].set_default(call, position);
        Ok(())
    }

    /// Sets the action run on a miss back to the program's; the controller's metadata goes with it.
    pub fn reset_default_action(&mut self, id: TableId) -> Result<(), ControlError> {
        let call = self.table_of(id)?.default_action.clone();
        let position = position(&self.program, id, call.action);
        self.drop_profile_default(id);
        self.tables[id.index()].set_default(call, position);
        self.set_default_metadata(id, Vec::new(), 0)
    }

    /// Checks a member's action: some table of the profile must list it.
    fn check_member(&self, id: ProfileId, member: &Member) -> Result<(), ControlError> {
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
        Ok(())
    }

    /// Adds a member.
    pub fn member_insert(&mut self, id: ProfileId, member: Member) -> Result<(), ControlError> {
        self.check_member(id, &member)?;
        let program = &self.program;
        self.profiles[id.index()].insert_member(program, &program.profiles[id.index()], member)
    }

    /// Changes what a member runs, at once for all entries and groups that use it.
    pub fn member_modify(&mut self, id: ProfileId, member: Member) -> Result<(), ControlError> {
        self.check_member(id, &member)?;
        let program = &self.program;
        self.profiles[id.index()].modify_member(program, &program.profiles[id.index()], member)?;
        self.refresh_defaults(|table| table.profile == Some(id));
        Ok(())
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

    /// One member of a profile.
    pub fn member(&self, id: ProfileId, member: u32) -> Option<&Member> {
        self.profiles.get(id.index())?.stored_member(member)
    }

    /// One group of a profile.
    pub fn group(&self, id: ProfileId, group: u32) -> Option<&Group> {
        self.profiles.get(id.index())?.stored_group(group)
    }

    /// Adds a group.
    pub fn group_insert(&mut self, id: ProfileId, group: Group) -> Result<(), ControlError> {
        self.profile_of(id)?;
        let down = &self.ports_down;
        let profile = &self.program.profiles[id.index()];
        let bits = self.profiles[id.index()].insert_group(profile, group, |port| !down.contains(&port))?;
        self.write_places(id, &bits);
        Ok(())
    }

    /// Replaces a group's members.
    pub fn group_modify(&mut self, id: ProfileId, group: Group) -> Result<(), ControlError> {
        self.profile_of(id)?;
        let down = &self.ports_down;
        let profile = &self.program.profiles[id.index()];
        let bits = self.profiles[id.index()].modify_group(profile, group, |port| !down.contains(&port))?;
        self.write_places(id, &bits);
        self.refresh_defaults(|table| table.profile == Some(id));
        Ok(())
    }

    /// Deletes a group that no entry uses.
    pub fn group_delete(&mut self, id: ProfileId, group: u32) -> Result<(), ControlError> {
        self.profile_of(id)?;
        let bits = self.profiles[id.index()].delete_group(&self.program.profiles[id.index()], group)?;
        self.write_places(id, &bits);
        Ok(())
    }

    /// All groups, by id.
    pub fn groups(&self, id: ProfileId) -> impl Iterator<Item = &Group> {
        self.profiles.get(id.index()).into_iter().flat_map(ProfileState::groups)
    }
}
