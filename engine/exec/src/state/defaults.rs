//! Default entries that are members or groups of the table's profile.
//!
//! A member's row says that an entry was hit. So what runs on a miss has rows of its own, without that mark:
//! the row of the default entry for a member, a list of copies for a group. They are made anew when a member,
//! the group or a port changes.

use std::sync::Arc;

use p4cc_ir::{ProfileId, Table, TableId};

use super::State;
use super::profile::ProfileState;
use super::row::{Head, position};
use crate::control::{ControlError, EntryAction};

/// What of its profile a table runs on a miss.
#[derive(Clone, Debug)]
pub(crate) struct ProfileDefault {
    entry: EntryAction,
    /// List and rows that belong to it.
    list: Option<u32>,
    rows: Vec<u32>,
}

impl State {
    /// What is run on a miss: an action, or a member or group of the table's profile.
    ///
    /// # Errors
    /// The program has no such table.
    pub fn default_entry(&self, id: TableId) -> Result<EntryAction, ControlError> {
        self.table_of(id)?;
        let default = &self.tables[id.index()].default;
        let of_profile = default.of_profile.as_ref().map(|default| default.entry.clone());
        Ok(of_profile.unwrap_or_else(|| EntryAction::Direct(default.call.clone())))
    }

    /// Sets what is run on a miss.
    ///
    /// # Errors
    /// The default action is `const`, the table has no profile, or that has no such member or group.
    pub fn set_default_entry(&mut self, id: TableId, entry: EntryAction) -> Result<(), ControlError> {
        if let EntryAction::Direct(call) = entry {
            return self.set_default_action(id, call);
        }
        let table = self.table_of(id)?;
        let name = &table.cp.name;
        if table.const_default {
            return Err(ControlError::PermissionDenied(format!(
                "the default action of table `{name}` is `const` in the program and cannot be changed"
            )));
        }
        let Some(profile) = table.profile else {
            return Err(ControlError::InvalidArgument(format!(
                "table `{name}` has no action profile; give an action"
            )));
        };
        let (declared, state) = (&self.program.profiles[profile.index()], &self.profiles[profile.index()]);
        match &entry {
            EntryAction::Member(member) => drop(state.member_head(declared, *member)?),
            EntryAction::Group(group) => drop(state.group_head(declared, *group)?),
            _ => {
                return Err(ControlError::InvalidArgument(format!(
                    "the default entry of table `{name}` has no actions; give a member or a group"
                )));
            }
        }
        self.use_in_profile(profile, &entry, true);
        self.drop_profile_default(id);
        let default = ProfileDefault { entry, list: None, rows: Vec::new() };
        self.tables[id.index()].default.of_profile = Some(default);
        self.refresh_default(id);
        Ok(())
    }

    fn use_in_profile(&mut self, profile: ProfileId, entry: &EntryAction, more: bool) {
        let state = &mut self.profiles[profile.index()];
        match entry {
            EntryAction::Member(member) => state.use_member(*member, more),
            EntryAction::Group(group) => state.use_group(*group, more),
            _ => {}
        }
    }

    /// Lets go of what a table ran of its profile on a miss.
    pub(super) fn drop_profile_default(&mut self, id: TableId) {
        let Some(default) = self.tables[id.index()].default.of_profile.take() else { return };
        let Some(profile) = self.program.tables[id.index()].profile else { return };
        self.use_in_profile(profile, &default.entry, false);
        self.profiles[profile.index()].release_copies(default.list, &default.rows);
    }

    /// Makes the default entries of a profile's tables anew.
    pub(super) fn refresh_defaults(&mut self, of: impl Fn(&Table) -> bool) {
        let program = Arc::clone(&self.program);
        for (id, _) in program.tables.iter().enumerate().filter(|(_, table)| of(table)) {
            self.refresh_default(TableId::from_index(id));
        }
    }

    fn refresh_default(&mut self, id: TableId) {
        let program = Arc::clone(&self.program);
        let Some(profile) = program.tables[id.index()].profile else { return };
        let state: &mut ProfileState = &mut self.profiles[profile.index()];
        let table = &mut self.tables[id.index()];
        let Some(default) = &mut table.default.of_profile else { return };
        state.release_copies(default.list.take(), &core::mem::take(&mut default.rows));
        match default.entry {
            EntryAction::Member(member) => {
                let call = state.member_call(member);
                let head = call.map_or(Head::NOTHING, |call| {
                    Head::miss(call.action, position(&program, id, call.action))
                });
                table.path.rows.set(0, head, call);
            }
            EntryAction::Group(group) => {
                let (list, rows) = state.copy_group(group);
                (default.list, default.rows) = (Some(list), rows);
                table.path.rows.set(0, Head::list(list).missed(), None);
            }
            _ => {}
        }
    }
}
