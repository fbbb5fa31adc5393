//! The order in which the control plane hears of objects, and which actions it hears of.
//!
//! p4c lists what a program declares after it has taken calls of controls apart: block by block of the
//! pipeline, what an instance brings at the place of the instance (a direct application counts as an instance
//! behind all others), actions declared outside of controls first, in the order in which tables list them.
//! Actions that only other actions call are gone by then.

use super::Lowerer;
use super::env::DirectCall;
use super::object::TnaObject;
use super::object::{EnvId, GLOBAL, Object};
use p4cc_ir::{ActionId, ControlPlaneName, TableId, ValueSetId};
use p4cc_types::ids::ActId;
use std::collections::BTreeSet;

/// An object of the program.
#[derive(Clone, Copy, Debug)]
enum Item {
    Action(ActId, EnvId),
    Table(TableId),
    Extern(Object),
    ValueSet(ValueSetId),
}

impl Lowerer<'_> {
    /// Notes a call of an action from a control's own statements.
    pub(super) fn note_call(&mut self, action: ActId) {
        if self.flow.within_action {
            return;
        }
        let global = self.hir.actions.get(action.index()).is_some_and(|action| action.global);
        let declared = if global { GLOBAL } else { self.env };
        let call = DirectCall { action, declared, caller: self.env };
        if !self.called.contains(&call) {
            self.called.push(call);
        }
    }

    /// Gives every object its rank, and takes actions that
    /// the control plane does not hear of out of its sight.
    pub(super) fn rank_objects(&mut self, blocks: &[EnvId]) {
        let mut items = Vec::new();
        let mut global = Vec::new();
        self.items(GLOBAL, &mut global);
        // Global instances come first, global actions with the first block that uses them.
        items.extend(global.into_iter().filter(|item| matches!(item, Item::Extern(_))));
        for &block in blocks {
            let mut local = Vec::new();
            let envs = self.items(block, &mut local);
            items.extend(self.global_actions(&envs, &local));
            items.extend(local);
        }
        self.give_ranks(&items);
    }

    /// What an environment declares and what its instances
    /// bring, in the order of the source; all environments seen.
    fn items(&self, env: EnvId, items: &mut Vec<Item>) -> BTreeSet<EnvId> {
        let mut seen = BTreeSet::from([env]);
        let Some(this) = self.envs.get(env.0) else { return seen };
        let mut found: Vec<(u32, Result<Item, EnvId>)> = Vec::new();
        let actions = this.actions.keys().copied();
        let called = self.called.iter().filter(|call| call.declared == env).map(|call| call.action);
        let actions: BTreeSet<ActId> = actions.chain(called).chain(self.listed_in(env)).collect();
        for id in actions {
            let start = self.hir.actions.get(id.index()).map_or(0, |action| action.span.start);
            found.push((start, Ok(Item::Action(id, env))));
        }
        for (id, made) in &this.tables {
            let start = self.hir.tables.get(id.index()).map_or(0, |table| table.span.start);
            found.push((start, Ok(Item::Table(*made))));
        }
        for (id, made) in &this.sets {
            found.push((id.index() as u32, Ok(Item::ValueSet(*made))));
        }
        for (id, object) in &this.instances {
            let start = self.hir.instances.get(id.index()).map_or(0, |instance| instance.span.start);
            found.push((
                start,
                match object {
                    Object::Block(inner) => Err(*inner),
                    object => Ok(Item::Extern(*object)),
                },
            ));
        }
        found.sort_by_key(|(start, _)| *start);
        for (_, one) in found {
            match one {
                Ok(item) => items.push(item),
                Err(inner) => seen.extend(self.items(inner, items)),
            }
        }
        seen
    }

    /// Actions of an environment that its tables list with bound arguments.
    fn listed_in(&self, env: EnvId) -> impl Iterator<Item = ActId> {
        let tables = self.envs.get(env.0).into_iter().flat_map(|env| env.tables.keys());
        let tables = tables.filter_map(|id| self.hir.tables.get(id.index()));
        let listed = tables.flat_map(|table| &table.actions).map(|listed| listed.action);
        listed.filter(move |id| {
            env != GLOBAL && self.hir.actions.get(id.index()).is_some_and(|action| !action.global)
        })
    }

    /// Global actions that a block uses: those of its tables in their order, then those that it calls.
    fn global_actions(&self, envs: &BTreeSet<EnvId>, local: &[Item]) -> Vec<Item> {
        let mut used: Vec<ActId> = Vec::new();
        for item in local {
            let Item::Table(table) = item else { continue };
            let Some(table) = self.out.tables.get(table.index()) else { continue };
            for listed in &table.actions {
                let Some(action) = self.out.actions.get(listed.action.index()) else { continue };
                let named = self.hir.actions.iter().position(|known| {
                    known.global
                        && Self::cp_name_in("", &known.name, &known.annotations).name == action.cp.name
                });
                used.extend(named.map(ActId::from_index));
            }
        }
        let calls = self.called.iter().filter(|call| call.declared == GLOBAL && envs.contains(&call.caller));
        used.extend(calls.map(|call| call.action));
        used.into_iter().map(|id| Item::Action(id, GLOBAL)).collect()
    }

    fn give_ranks(&mut self, items: &[Item]) {
        let listed: BTreeSet<ActionId> =
            self.out.tables.iter().flat_map(|table| &table.actions).map(|listed| listed.action).collect();
        let mut heard: BTreeSet<String> = BTreeSet::new();
        for (rank, item) in (1_u32..).zip(items) {
            match item {
                Item::Table(id) => {
                    let Some(table) = self.out.tables.get_mut(id.index()) else { continue };
                    set_rank(Some(&mut table.cp), rank);
                    // One that the table's property makes has no other place.
                    let profile = table.profile.and_then(|id| self.out.profiles.get_mut(id.index()));
                    set_rank(profile.map(|profile| &mut profile.cp), rank);
                }
                Item::ValueSet(id) => {
                    set_rank(self.out.value_sets.get_mut(id.index()).map(|set| &mut set.cp), rank);
                }
                Item::Extern(object) => self.rank_extern(*object, rank),
                Item::Action(id, env) => {
                    let Some(cp) = self.action_cp(*id, *env) else { continue };
                    let direct = self.called.iter().any(|call| (call.action, call.declared) == (*id, *env));
                    let made =
                        self.out.actions.iter_mut().enumerate().filter(|(_, made)| made.cp.name == cp.name);
                    for (index, made) in made {
                        set_rank(Some(&mut made.cp), rank);
                        if direct || listed.contains(&ActionId::from_index(index)) {
                            heard.insert(cp.name.clone());
                        }
                    }
                }
            }
        }
        for action in &mut self.out.actions {
            action.cp.hidden |= !heard.contains(&action.cp.name);
        }
    }

    fn action_cp(&self, id: ActId, env: EnvId) -> Option<ControlPlaneName> {
        let action = self.hir.actions.get(id.index())?;
        let prefix = self.envs.get(env.0).map_or("", |env| env.prefix.as_str());
        Some(Self::cp_name_in(if action.global { "" } else { prefix }, &action.name, &action.annotations))
    }

    fn rank_extern(&mut self, object: Object, rank: u32) {
        let out = &mut self.out;
        let cp = match object {
            Object::Register(id) => out.registers.get_mut(id.index()).map(|one| &mut one.cp),
            Object::Counter(id) | Object::DirectCounter(id) => {
                out.counters.get_mut(id.index()).map(|one| &mut one.cp)
            }
            Object::Meter(id) | Object::DirectMeter(id) => {
                out.meters.get_mut(id.index()).map(|one| &mut one.cp)
            }
            Object::Profile(id) => out.profiles.get_mut(id.index()).map(|one| &mut one.cp),
            Object::Tna(TnaObject::Hash(id)) => out.hashes.get_mut(id.index()).map(|one| &mut one.cp),
            Object::Tna(TnaObject::Filter(id)) => out.filters.get_mut(id.index()).map(|one| &mut one.cp),
            Object::Tna(TnaObject::RegisterParam(id) | TnaObject::DirectRegister(id)) => {
                out.registers.get_mut(id.index()).map(|one| &mut one.cp)
            }
            _ => None,
        };
        set_rank(cp, rank);
    }
}

/// The first rank counts: an action of several blocks is listed with the first.
fn set_rank(cp: Option<&mut ControlPlaneName>, rank: u32) {
    if let Some(cp) = cp
        && cp.rank == 0
    {
        cp.rank = rank;
    }
}
