//! Tables: keys, actions, default, entries.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_budget::Resource;
use serde_json::Value;

use super::Reader;
use super::json::{
    NOT_P4C, Res, fault, flag, get, items, list, name_of, number, number_to, opt, text, tuple,
};
use super::names::{KeyPlan, MeterPlan, TableInfo, named};
use super::number::ones;
use super::objects::visible;
use super::term::HeaderRef;
use p4cc_ir::{
    ActionCall, ActionId, ActionScope, Bits, ControlPlaneName, Key, MatchKind, MatchValue, SourceEntry,
    Table, TableAction, TableId, VarType, limits,
};

/// Priorities of entries: the format counts from the most important one.
const MAX_PRIORITY: u32 = (1 << 31) - 1;

impl<'j> Reader<'j> {
    /// Direct meters of a table, before its actions are lowered.
    pub(super) fn table_meter(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let plan = match self.objects.direct_meters.get(name).copied() {
            None => {
                if let Some(meter) = opt(item, "direct_meters") {
                    return fault(meter, "no direct meter is bound to this table", NOT_P4C);
                }
                None
            }
            Some((meter, target)) => {
                let target = self.plain_field(target)?;
                if matches!(self.b.ty(target), VarType::Varbit(_)) {
                    return fault(item, "a meter's colour goes into a varbit", NOT_P4C);
                }
                let hit = self.b.local(format!("{name}.$hit"), 1);
                self.meter_hits.insert(name, hit);
                Some(MeterPlan { meter, hit, target })
            }
        };
        for id in items(item, "action_ids")? {
            let known = *self.actions.meters.entry(number(id)?).or_insert(plan);
            if known != plan {
                let remedy = "give each table with a direct meter actions of its own";
                return fault(id, "an action is shared by tables with different direct meters", remedy);
            }
        }
        Ok(())
    }

    pub(super) fn table(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let (actions, mut positions) = self.table_actions(item)?;
        let profile = match opt(item, "action_profile") {
            Some(profile) => Some((text(profile)?, named(profile, "profile", &self.objects.profiles)?)),
            None => None,
        };
        let (mut keys, mut plans) = (Vec::new(), Vec::new());
        for key in items(item, "key")? {
            if !self.b.charge(Resource::TableKeys, 1) {
                return self.faults.over(key);
            }
            keys.push(self.key(key, name, &mut plans)?);
        }
        let has_keys = !keys.is_empty();
        if let Some(input) = profile.and_then(|(name, _)| self.objects.selector_inputs.get(name).copied()) {
            if !self.b.charge(Resource::TableKeys, input.len()) {
                return self.faults.over(item);
            }
            for (field, var) in input.iter().zip(self.selector_vars(input)?) {
                let cp = visible(&joined(get(field, "value")?)?);
                keys.push(Key { cp, var, kind: MatchKind::Selector });
            }
        }
        let mut table = Table {
            cp: visible(name),
            keys,
            actions,
            default_action: ActionCall { action: ActionId(0), args: Vec::new() },
            const_default: false,
            entries: Vec::new(),
            const_entries: false,
            size: opt(item, "max_size").map_or(Ok(1_024), |size| number_to(size, limits::MAX_TABLE_SIZE))?,
            profile: profile.map(|(_, id)| id),
            counter: self.objects.direct_counters.get(name).copied(),
            meter: self.objects.direct_meters.get(name).map(|&(meter, _)| meter),
            register: None,
            filter: None,
            idle_timeout: opt(item, "support_timeout").map_or(Ok(false), flag)?,
        };
        self.default_entry(item, &mut table, &mut positions)?;
        self.entries(item, &mut table)?;
        // p4c wraps code between tables into tables of its own, named without the control they stand in.
        table.cp.hidden = !has_keys && table.const_default && name.starts_with("tbl_") && !name.contains('.');
        let id = TableId::from_index(self.program.tables.len());
        self.program.tables.push(table);
        let info = TableInfo { id, keys: plans, positions, hit: self.meter_hits.get(name).copied() };
        if self.tables.insert(name, info).is_some() {
            return fault(item, format!("two tables are named `{name:.60}`"), NOT_P4C);
        }
        Ok(())
    }

    /// Actions in order; a name is kept for each, as next nodes are given by name.
    fn table_actions(&mut self, item: &'j Value) -> Res<'j, (Vec<TableAction>, Vec<Option<&'j str>>)> {
        let names = list(get(item, "actions")?)?;
        let ids = opt(item, "action_ids").map(list).transpose()?;
        let (mut actions, mut positions, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (number, name) in names.iter().enumerate() {
            let action = match ids {
                Some(ids) => match ids.get(number) {
                    Some(id) => self.action_by_id(id)?,
                    None => return fault(item, "there are more actions than action ids", NOT_P4C),
                },
                None => named(name, "action", &self.actions.by_name)?,
            };
            if seen.insert(action) {
                let scope = ActionScope::TableAndDefault;
                actions.push(TableAction { action, scope, annotations: Vec::new() });
                positions.push(Some(text(name)?));
            }
        }
        Ok((actions, positions))
    }

    pub(super) fn action_by_id(&self, id: &'j Value) -> Res<'j, ActionId> {
        match self.actions.by_id.get(&number(id)?) {
            Some(&action) => Ok(action),
            None => fault(id, format!("there is no action with id {id}, or it has errors"), NOT_P4C),
        }
    }

    fn key(&mut self, key: &'j Value, table: &str, plans: &mut Vec<KeyPlan<'j>>) -> Res<'j, Key> {
        let kind = match text(get(key, "match_type")?)? {
            "exact" | "valid" => MatchKind::Exact,
            "lpm" => MatchKind::Lpm,
            "ternary" => MatchKind::Ternary,
            "range" => MatchKind::Range,
            "optional" => MatchKind::Optional,
            other => return fault(key, format!("the match type `{other:.40}` is unknown"), NOT_P4C),
        };
        let target = get(key, "target")?;
        let name = match opt(key, "name") {
            Some(name) => text(name)?.to_owned(),
            None => joined(target)?,
        };
        let validity = match target {
            Value::String(header) => Some(HeaderRef::Named(header)),
            Value::Object(_) => return self.computed_key(target, name, kind, plans),
            pair => {
                let [header, field] = tuple::<2>(pair)?;
                (text(field)? == "$valid$").then_some(HeaderRef::Named(text(header)?))
            }
        };
        let mask = opt(key, "mask").map(|mask| self.number(mask)).transpose()?;
        let var = if let Some(header) = validity {
            let dst = self.b.local(format!("{table}.{name}"), 1);
            plans.push(KeyPlan::Valid { dst, header: self.fixed_header(target, &header)? });
            dst
        } else {
            let src = self.plain_field(target)?;
            let ty = self.b.ty(src);
            if matches!(ty, VarType::Varbit(_)) {
                return fault(target, "a varbit is a key", NOT_P4C);
            }
            match mask.map(|mask| mask.low(ty.width())) {
                Some(mask) if mask != ones(ty.width()) => {
                    let dst = self.b.local(format!("{table}.{name}"), ty.width());
                    plans.push(KeyPlan::Masked { dst, src, mask });
                    dst
                }
                _ => src,
            }
        };
        let cp = ControlPlaneName { name, ..ControlPlaneName::default() };
        Ok(Key { cp, var, kind })
    }

    /// A key that is an expression.
    fn computed_key(
        &mut self,
        from: &'j Value,
        name: String,
        kind: MatchKind,
        plans: &mut Vec<KeyPlan<'j>>,
    ) -> Res<'j, Key> {
        // Its width is known when it is lowered; the code is made where the table is applied.
        self.b.begin();
        let width = self.exact(from)?.width;
        let dst = self.b.local(name.clone(), width);
        plans.push(KeyPlan::Computed { dst, from });
        Ok(Key { cp: visible(&name), var: dst, kind })
    }

    /// An action with arguments written in the program.
    fn action_call(&mut self, item: &'j Value, table: &Table) -> Res<'j, ActionCall> {
        let id = get(item, "action_id")?;
        let action = self.action_by_id(id)?;
        let data = items(item, "action_data")?;
        let params = &self.program.actions[action.index()].params;
        if params.len() != data.len() {
            let cause = format!("{} arguments for {} parameters", data.len(), params.len());
            return fault(item, cause, NOT_P4C);
        }
        let mut args = Vec::with_capacity(data.len());
        for (value, param) in data.iter().zip(params) {
            args.push(self.bits_of(value, self.b.ty(param.var).width())?);
        }
        if table.actions.iter().all(|listed| listed.action != action) {
            return fault(id, "this is not one of the table's actions", NOT_P4C);
        }
        Ok(ActionCall { action, args })
    }

    /// A constant that fits a width.
    fn bits_of(&self, value: &'j Value, width: u32) -> Res<'j, Bits> {
        match self.number(value)?.exactly(width) {
            Some(bits) => Ok(bits),
            None => fault(value, format!("does not fit {width} bits"), NOT_P4C),
        }
    }

    fn default_entry(
        &mut self,
        item: &'j Value,
        table: &mut Table,
        positions: &mut Vec<Option<&'j str>>,
    ) -> Res<'j, ()> {
        if let Some(entry) = opt(item, "default_entry") {
            let action = self.action_by_id(get(entry, "action_id")?)?;
            if table.actions.iter().all(|listed| listed.action != action) {
                let scope = ActionScope::DefaultOnly;
                table.actions.push(TableAction { action, scope, annotations: Vec::new() });
                positions.push(None);
            }
            table.default_action = self.action_call(entry, table)?;
            let constant = |key: &str| opt(entry, key).map_or(Ok(false), flag);
            table.const_default = constant("action_entry_const")?;
            return Ok(());
        }
        // Without a default nothing runs on a miss.
        let nothing = |reader: &Self, action: ActionId| {
            let action = &reader.program.actions[action.index()];
            action.params.is_empty() && action.cp.name == "NoAction"
        };
        let listed = table.actions.iter().map(|listed| listed.action).find(|&action| nothing(self, action));
        let action = match listed {
            Some(action) => action,
            None => {
                let action = self.no_action();
                let scope = ActionScope::DefaultOnly;
                table.actions.push(TableAction { action, scope, annotations: Vec::new() });
                positions.push(None);
                action
            }
        };
        table.default_action = ActionCall { action, args: Vec::new() };
        Ok(())
    }

    fn entries(&mut self, item: &'j Value, table: &mut Table) -> Res<'j, ()> {
        let entries = items(item, "entries")?;
        if entries.is_empty() {
            return Ok(());
        }
        if table.profile.is_some() {
            return fault(item, "entries of a table with an action profile", NOT_P4C);
        }
        let ranked = table
            .keys
            .iter()
            .any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional));
        for (number, entry) in entries.iter().enumerate() {
            if !self.b.charge(Resource::Steps, table.keys.len() + table.actions.len()) {
                return self.faults.over(entry);
            }
            let values = list(get(entry, "match_key")?)?;
            if values.len() != table.keys.len() {
                let cause = format!("{} match values for {} keys", values.len(), table.keys.len());
                return fault(entry, cause, NOT_P4C);
            }
            let mut matches = Vec::with_capacity(values.len());
            for (value, key) in values.iter().zip(&table.keys) {
                matches.push(self.match_value(value, key)?);
            }
            let rank = opt(entry, "priority")
                .map_or(Ok(number as u32 + 1), |rank| number_to(rank, MAX_PRIORITY - 1))?;
            let priority = if ranked { MAX_PRIORITY - rank } else { 0 };
            let action = self.action_call(get(entry, "action_entry")?, table)?;
            table.entries.push(SourceEntry { matches, priority, action, is_const: true });
        }
        table.const_entries = true;
        table.size = table.size.max(u32::try_from(entries.len()).unwrap_or(u32::MAX));
        Ok(())
    }

    fn match_value(&self, value: &'j Value, key: &Key) -> Res<'j, MatchValue> {
        let width = self.b.ty(key.var).width();
        let bits = |name: &str| self.bits_of(get(value, name)?, width);
        let ty = text(get(value, "match_type")?)?;
        Ok(match (ty, key.kind) {
            ("valid", MatchKind::Exact) => {
                MatchValue::Exact(Bits::from_u128(1, u128::from(flag(get(value, "key")?)?)))
            }
            ("exact", MatchKind::Exact) | ("optional", MatchKind::Optional) => {
                MatchValue::Exact(bits("key")?)
            }
            ("lpm", MatchKind::Lpm) => {
                let len = number_to(get(value, "prefix_length")?, width)?;
                let mask = prefix(width, len);
                MatchValue::Lpm { value: and(&bits("key")?, &mask), len }
            }
            ("ternary", MatchKind::Ternary) => {
                let mask = bits("mask")?;
                MatchValue::Ternary { value: and(&bits("key")?, &mask), mask }
            }
            ("ternary", MatchKind::Optional) => {
                let mask = bits("mask")?;
                if mask.is_zero() { MatchValue::Any } else { MatchValue::Exact(bits("key")?) }
            }
            ("range", MatchKind::Range) => MatchValue::Range { low: bits("start")?, high: bits("end")? },
            _ => {
                let cause = format!("a value of match type `{ty:.40}` for a key of kind {:?}", key.kind);
                return fault(value, cause, NOT_P4C);
            }
        })
    }

    /// Actions that only hidden tables use are the compiler's own.
    pub(super) fn hide_actions(&mut self) {
        let mut seen = BTreeMap::new();
        for table in &self.program.tables {
            for listed in &table.actions {
                let hidden = seen.entry(listed.action).or_insert(true);
                *hidden &= table.cp.hidden;
            }
        }
        for (action, hidden) in seen {
            self.program.actions[action.index()].cp.hidden = hidden;
        }
    }
}

fn and(value: &Bits, mask: &Bits) -> Bits {
    let words: Vec<u64> = value.words().iter().zip(mask.words()).map(|(value, mask)| value & mask).collect();
    Bits::from_words(value.width(), &words)
}

/// A mask of the `len` highest of `width` bits.
fn prefix(width: u32, len: u32) -> Bits {
    let low = ones(width - len.min(width));
    let mut words = ones(width).words().to_vec();
    for (word, low) in words.iter_mut().zip(low.words()) {
        *word &= !low;
    }
    Bits::from_words(width, &words)
}

/// A name for a field reference: `header.field`.
fn joined(target: &Value) -> Res<'_, String> {
    match target {
        Value::String(name) => Ok(name.clone()),
        Value::Object(_) => fault(target, "a key that is an expression needs a name", NOT_P4C),
        pair => {
            let [header, field] = tuple::<2>(pair)?;
            Ok(format!("{}.{}", text(header)?, text(field)?))
        }
    }
}
