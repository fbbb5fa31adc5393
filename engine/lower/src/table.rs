//! Tables: what the control plane sees of one, and applying it.

use super::Lowerer;
use super::object::Object;
use super::object::TnaObject;
use super::storage::{Rvalue, StaticStorage};
use p4cc_budget::Resource;
use p4cc_ir::limits::MAX_TABLE_SIZE;
use p4cc_ir::{
    ActionCall, ActionId, ActionScope, Bits, ChipMatch, Inst, Key, MatchKind, MatchValue, Operand,
    SourceEntry, Table, TableAction, TableId, VarId, VarKind,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::hir::{self, ActionRef, Annotations, Attached, Expr, ExprKind};
use p4cc_types::ids::TabId;
use p4cc_types::ty::Ty;
use p4cc_types::walk::has_call;
use std::collections::BTreeSet;

/// Entries of a table that does not say how many it holds, as p4c has it.
const DEFAULT_SIZE: u32 = 1024;
/// The same for the chip.
const CHIP_SIZE: u32 = 512;

impl Lowerer<'_> {
    /// `table.apply()`
    pub(super) fn apply_table(
        &mut self,
        id: TabId,
        hit: Option<VarId>,
        action: Option<VarId>,
        span: Span,
    ) -> Option<()> {
        let hir = self.hir;
        let declared = hir.tables.get(id.index())?;
        self.placed_table(&declared.name, span)?;
        let table = self.within("table", declared.span, |this| this.table(id))?;
        let keys: Vec<VarId> = self.out.tables.get(table.index())?.keys.iter().map(|key| key.var).collect();
        let source = self.hir.tables.get(id.index())?;
        let mut vars = keys.into_iter();
        for key in &source.keys {
            if !self.is_matched(source, key) {
                // What is found there may still do something.
                if has_call(&key.expr) {
                    self.rvalue(&key.expr)?;
                }
                continue;
            }
            let var = vars.next()?;
            // A key that is a variable is read where it lies.
            if self.static_place(&key.expr) != Some(StaticStorage::Scalar(var)) {
                let src = self.operand(&key.expr)?;
                self.emit(Inst::Assign { dst: var, src });
            }
        }
        self.emit(Inst::Apply { table, hit, action });
        let actions: Vec<ActionId> =
            self.out.tables.get(table.index())?.actions.iter().map(|action| action.action).collect();
        self.pass_exit_on(&actions, span)
    }

    /// A table of the current environment, made on first use.
    fn table(&mut self, id: TabId) -> Option<TableId> {
        if let Some(made) = self.envs.get(self.env.0).and_then(|env| env.tables.get(&id)) {
            return Some(*made);
        }
        let source = self.hir.tables.get(id.index())?;
        let cp = self.cp_name(&source.name, &source.annotations);
        let matched: Vec<(usize, &hir::Key)> =
            source.keys.iter().enumerate().filter(|(_, key)| self.is_matched(source, key)).collect();
        // Behind the last key with a call nothing changes what a key gives.
        let acting = source.keys.iter().rposition(|key| has_call(&key.expr)).map_or(0, |last| last + 1);
        let acting = source.keys.get(..acting).unwrap_or_default();
        let make = |&(at, key): &(usize, &hir::Key)| {
            let later = acting.get(at + 1..).unwrap_or_default();
            self.charge(Resource::Steps, later.len() as u64 + 1, key.expr.span)?;
            self.within("key", key.expr.span, |this| this.key(&cp.name, key, later))
        };
        let keys: Option<Vec<Key>> = matched.iter().map(make).collect();
        let keys = keys?;
        let mut prefixes = keys.iter().zip(&matched).filter(|(key, _)| key.kind == MatchKind::Lpm);
        if let Some((_, (_, second))) = prefixes.nth(1) {
            let message = format!("table `{}` has a second lpm key", source.name);
            self.misplaced(second.expr.span, message, "make one of them ternary")?;
        }
        let mut actions = Vec::with_capacity(source.actions.len() + 1);
        for listed in &source.actions {
            let action = self.listed_action(listed)?;
            let scope = scope(&listed.annotations);
            actions.push(TableAction { action, scope, annotations: listed.annotations.texts.clone() });
        }
        let default_action = self.default_action(source, &mut actions)?;
        let size = match &source.size {
            Some(size) => self.bounded_number(size, "size of the table", 0, MAX_TABLE_SIZE, source.span)?,
            None if self.is_tofino() => CHIP_SIZE,
            None => DEFAULT_SIZE,
        };
        let mut table = Table {
            cp,
            keys,
            actions,
            default_action,
            const_default: source.const_default,
            entries: Vec::new(),
            const_entries: source.const_entries,
            // A size of 0 says nothing; p4c takes its default then.
            size: if size == 0 { DEFAULT_SIZE } else { size },
            profile: None,
            counter: None,
            meter: None,
            register: None,
            filter: None,
            idle_timeout: source.support_timeout,
        };
        self.attach(source, &mut table)?;
        table.entries = self.entries(source, &table)?;
        let made = TableId::from_index(self.out.tables.len());
        let kinds = matched.iter().enumerate();
        let kinds = kinds.filter_map(|(at, (_, key))| Some((made, at, ChipMatch::by_name(&key.match_kind)?)));
        self.notes.view.match_kinds.extend(kinds);
        self.out.tables.push(table);
        if let Some(env) = self.envs.get_mut(self.env.0) {
            env.tables.insert(id, made);
        }
        Some(made)
    }

    /// Whether a key is one that entries match: what has no bits has one value
    /// only, and where nothing selects a selector's keys choose nothing.
    fn is_matched(&self, table: &hir::Table, key: &hir::Key) -> bool {
        !self.is_empty(&key.expr.ty) && (key.match_kind != "selector" || self.selects(table))
    }

    fn selects(&self, table: &hir::Table) -> bool {
        let Some(Ty::Extern(id, _)) = table.implementation.as_ref().map(|attached| &attached.object.ty)
        else {
            return false;
        };
        let name = self.hir.externs.get(id.index()).map(|ext| ext.name.as_str());
        matches!(name, Some("action_selector" | "ActionSelector"))
    }

    fn key(&mut self, table: &str, key: &hir::Key, later: &[hir::Key]) -> Option<Key> {
        let kind = match key.match_kind.as_str() {
            // The partition of a table that the chip keeps in memory, whose keys say which one it is.
            "exact" | "atcam_partition_index" => MatchKind::Exact,
            "lpm" => MatchKind::Lpm,
            "ternary" => MatchKind::Ternary,
            "range" => MatchKind::Range,
            "optional" => MatchKind::Optional,
            "selector" => MatchKind::Selector,
            other => {
                self.not_supported(key.expr.span, format!("match kind `{other}`"));
                return None;
            }
        };
        let cp = Self::cp_name_in("", &key.name, &key.annotations);
        let cp = if kind == MatchKind::Selector { cp } else { self.typed(cp, &key.expr.ty) };
        // Each key is evaluated before the next one (P4-16 14.2.3): one that a later key changes has a copy.
        let later: Vec<&Expr> = later.iter().map(|key| &key.expr).collect();
        let var = match self.static_place(&key.expr) {
            Some(StaticStorage::Scalar(var))
                if !self.value_changes(&Rvalue::Scalar(Operand::Var(var)), &later) =>
            {
                var
            }
            _ => {
                let ty = self.var_type(&key.expr.ty)?;
                self.new_var(&format!("{table}.{}", cp.name), ty, VarKind::Local)
            }
        };
        Some(Key { cp, var, kind })
    }

    /// The default action; without one the table does nothing on a miss, by an action that is listed for it.
    fn default_action(&mut self, source: &hir::Table, actions: &mut Vec<TableAction>) -> Option<ActionCall> {
        if let Some(default) = &source.default_action {
            let at = source.actions.iter().position(|listed| listed.action == default.action)?;
            return self.action_call(default, actions.get(at)?.action);
        }
        // `check::defaults` refuses a program without it.
        let Some(no_action) = self.hir.no_action else { return self.shape_error(source.span) };
        if let Some(at) = source.actions.iter().position(|listed| listed.action == no_action) {
            return Some(ActionCall { action: actions.get(at)?.action, args: Vec::new() });
        }
        let action = self.action(no_action, source.span)?;
        let annotations = vec!["@defaultonly".to_owned()];
        actions.push(TableAction { action, scope: ActionScope::DefaultOnly, annotations });
        Some(ActionCall { action, args: Vec::new() })
    }

    fn action_call(&mut self, call: &ActionRef, action: p4cc_ir::ActionId) -> Option<ActionCall> {
        let args = self.action_data(call.action, &call.args)?;
        Some(ActionCall { action, args })
    }

    /// Action profile, counter and meter.
    fn attach(&mut self, source: &hir::Table, table: &mut Table) -> Option<()> {
        if let Some(attached) = &source.implementation {
            let expr = &attached.object;
            match self.attached(attached, &table.cp.name, "implementation")? {
                Object::Profile(id) => table.profile = Some(id),
                Object::Tna(TnaObject::Storage) => {}
                _ => {
                    return self.wrong_property(
                        expr,
                        "implementation",
                        "an action_profile or action_selector",
                    );
                }
            }
        }
        if let Some(attached) = &source.counters {
            let expr = &attached.object;
            match self.attached(attached, &table.cp.name, "counters")? {
                Object::DirectCounter(id) => {
                    let taken = self.out.tables.iter().any(|other| other.counter == Some(id));
                    self.of_one_table(taken, "direct counter", expr.span)?;
                    table.counter = Some(id);
                }
                _ => return self.wrong_property(expr, "counters", "a direct_counter"),
            }
        }
        if let Some(attached) = &source.meters {
            let expr = &attached.object;
            match self.attached(attached, &table.cp.name, "meters")? {
                Object::DirectMeter(id) => {
                    let taken = self.out.tables.iter().any(|other| other.meter == Some(id));
                    self.of_one_table(taken, "direct meter", expr.span)?;
                    table.meter = Some(id);
                }
                _ => return self.wrong_property(expr, "meters", "a direct_meter"),
            }
        }
        self.attach_chip(source, table)?;
        if source.keys.iter().any(|key| key.match_kind == "selector") && !self.selects(source) {
            let warning = format!("table `{}` has selector keys but no action_selector", source.name);
            self.push(
                Diagnostic::warning(source.span, warning)
                    .with_label("the keys select nothing")
                    .with_help("add `implementation = ...;` with an action_selector"),
            );
        }
        if table.profile.is_some() && !source.entries.is_empty() {
            self.not_supported(source.span, "entries in the source of a table with an implementation");
            return None;
        }
        Some(())
    }

    /// Register and filter of TNA. Arrays may be named too, which changes nothing.
    fn attach_chip(&mut self, source: &hir::Table, table: &mut Table) -> Option<()> {
        if let Some(attached) = &source.registers {
            let expr = &attached.object;
            match self.attached(attached, &table.cp.name, "registers")? {
                Object::Register(_) => {}
                Object::Tna(TnaObject::DirectRegister(id)) => {
                    let taken = self.out.tables.iter().any(|other| other.register == Some(id));
                    self.of_one_table(taken, "direct register", expr.span)?;
                    table.register = Some(id);
                }
                _ => return self.wrong_property(expr, "registers", "a register"),
            }
        }
        if let Some(attached) = &source.filters {
            let expr = &attached.object;
            match self.attached(attached, &table.cp.name, "filters")? {
                Object::Tna(TnaObject::Filter(id)) => {
                    if self.out.filters.get(id.index())?.size.is_none() {
                        let taken = self.out.tables.iter().any(|other| other.filter == Some(id));
                        self.of_one_table(taken, "direct filter", expr.span)?;
                        table.filter = Some(id);
                    }
                }
                _ => return self.wrong_property(expr, "filters", "a filter"),
            }
        }
        Some(())
    }

    fn of_one_table(&mut self, taken: bool, what: &str, span: Span) -> Option<()> {
        if !taken {
            return Some(());
        }
        let message = format!("this {what} already belongs to another table");
        self.misplaced(span, message, "declare one per table")
    }

    /// The object of a property. One that is made in the property has the property's `@name` as it stands, as
    /// p4c has it; without one it is named after the table.
    fn attached(&mut self, attached: &Attached, table: &str, property: &str) -> Option<Object> {
        let ExprKind::Construct(construct) = &attached.object.kind else {
            return self.object(&attached.object);
        };
        let prefix = if attached.annotations.name.is_some() { "" } else { table };
        let cp = Self::cp_name_in(prefix, property, &attached.annotations);
        self.make(construct, cp, &attached.annotations, 2, attached.object.span)
    }

    fn wrong_property<T>(&mut self, expr: &Expr, property: &str, wanted: &str) -> Option<T> {
        self.push(Diagnostic::error(expr.span, format!("`{property}` names {wanted}")));
        None
    }

    fn entries(&mut self, source: &hir::Table, table: &Table) -> Option<Vec<SourceEntry>> {
        let (given, size) = (source.entries.len(), table.size as usize);
        if given > size {
            let message = format!("table `{}` has size {size}, but {given} entries are given", source.name);
            self.push(
                Diagnostic::warning(source.span, message)
                    .with_label("it holds the given entries, and no more")
                    .with_help("set `size` to the intended number of entries"),
            );
        }
        if given > 0 && table.keys.is_empty() {
            self.push(
                Diagnostic::error(source.span, format!("entries of table `{}` match no bits", source.name))
                    .with_help("its keys have only one value: make the entry's action the default action"),
            );
            return None;
        }
        let priorities = priorities(source);
        let mut made: Vec<SourceEntry> = Vec::with_capacity(source.entries.len());
        let mut seen: BTreeSet<(Vec<MatchValue>, u32)> = BTreeSet::new();
        for (entry, priority) in source.entries.iter().zip(priorities) {
            let mut matches = Vec::with_capacity(entry.keysets.len());
            let keysets = entry.keysets.iter().zip(&source.keys);
            let keysets = keysets.filter(|(_, key)| self.is_matched(source, key)).map(|(keyset, _)| keyset);
            for (keyset, key) in keysets.collect::<Vec<_>>().into_iter().zip(&table.keys) {
                matches.push(self.match_value(keyset, key.kind)?);
            }
            self.charge(Resource::Steps, source.actions.len() as u64 / 4 + 1, entry.span)?;
            let at = source.actions.iter().position(|listed| listed.action == entry.action.action)?;
            let action = self.action_call(&entry.action, table.actions.get(at)?.action)?;
            if !seen.insert((matches.clone(), priority)) {
                self.push(Diagnostic::error(entry.span, "another entry matches exactly the same values"));
                return None;
            }
            made.push(SourceEntry { matches, priority, action, is_const: entry.is_const });
        }
        Some(made)
    }

    fn match_value(&mut self, keyset: &Expr, kind: MatchKind) -> Option<MatchValue> {
        let width = self.width(&keyset.ty)?;
        let wrong = |this: &mut Self, what: &str| {
            this.push(Diagnostic::error(keyset.span, format!("a key of this kind cannot match {what}")));
            None
        };
        match (&keyset.kind, kind) {
            (ExprKind::Any, MatchKind::Exact) => wrong(self, "anything"),
            (ExprKind::Any, _) => Some(MatchValue::Any),
            (ExprKind::Mask(value, mask), MatchKind::Lpm | MatchKind::Ternary) => {
                let value = self.const_bits(value, width)?;
                let mask = self.const_bits(mask, width)?;
                self.masked(value, mask, kind, keyset.span)
            }
            (ExprKind::Mask(..), _) => wrong(self, "a mask"),
            (ExprKind::Range(low, high), MatchKind::Range) => {
                let low = self.const_bits(low, width)?;
                let high = self.const_bits(high, width)?;
                Some(MatchValue::Range { low, high })
            }
            (ExprKind::Range(..), _) => wrong(self, "a range"),
            (_, MatchKind::Exact | MatchKind::Optional) => {
                self.const_bits(keyset, width).map(MatchValue::Exact)
            }
            (_, MatchKind::Lpm) => {
                let value = self.const_bits(keyset, width)?;
                Some(MatchValue::Lpm { value, len: width })
            }
            (_, MatchKind::Ternary) => {
                let value = self.const_bits(keyset, width)?;
                Some(MatchValue::Ternary { value, mask: ones(width) })
            }
            (_, MatchKind::Range) => {
                let value = self.const_bits(keyset, width)?;
                Some(MatchValue::Range { low: value.clone(), high: value })
            }
            (_, MatchKind::Selector) => wrong(self, "a value"),
        }
    }

    fn masked(&mut self, value: Bits, mask: Bits, kind: MatchKind, span: Span) -> Option<MatchValue> {
        let width = value.width();
        let words: Vec<u64> = value.words().iter().zip(mask.words()).map(|(v, m)| v & m).collect();
        let value = Bits::from_words(width, &words);
        if mask.is_zero() {
            return Some(MatchValue::Any);
        }
        if kind == MatchKind::Ternary {
            return Some(MatchValue::Ternary { value, mask });
        }
        let len: u32 = mask.words().iter().map(|word| word.count_ones()).sum();
        let all = p4cc_types::value::bits_to_int(&ones(width), false);
        let prefix = (&all >> (width - len)) << (width - len);
        if p4cc_types::value::bits_to_int(&mask, false) != prefix {
            self.push(Diagnostic::error(span, "the mask of an lpm key must be a prefix: ones, then zeros"));
            return None;
        }
        Some(MatchValue::Lpm { value, len })
    }

    /// The bits of a compile-time value.
    pub(super) fn const_bits(&mut self, expr: &Expr, width: u32) -> Option<Bits> {
        Some(self.const_value(expr)?.to_bits(width))
    }
}

/// All ones.
pub(super) fn ones(width: u32) -> Bits {
    Bits::from_words(width, &vec![u64::MAX; p4cc_ir::bits::words_for(width)])
}

fn scope(annotations: &Annotations) -> ActionScope {
    if annotations.has("tableonly") {
        ActionScope::TableOnly
    } else if annotations.has("defaultonly") {
        ActionScope::DefaultOnly
    } else {
        ActionScope::TableAndDefault
    }
}

/// Priorities of the entries, larger first as in P4Runtime.
/// Those not written follow from the order (P4-16 14.2.1.4).
fn priorities(table: &hir::Table) -> Vec<u32> {
    let count = table.entries.len() as u32;
    if !table.has_priorities() {
        return vec![0; table.entries.len()];
    }
    let unwritten = |entry: &hir::Entry| entry.priority.is_none() && entry.annotated_priority.is_none();
    if table.entries.iter().all(unwritten) {
        let delta = if table.const_entries { 1 } else { table.priority_delta };
        return (0..count).rev().map(|left| left.saturating_mul(delta).saturating_add(1)).collect();
    }
    if table.entries.iter().any(|entry| entry.annotated_priority.is_some()) {
        let ranks = table.entries.iter().zip(1u32..);
        let ranks: Vec<u32> = ranks.map(|(entry, at)| entry.annotated_priority.unwrap_or(at)).collect();
        let last = ranks.iter().copied().max().unwrap_or(0);
        return ranks.into_iter().map(|rank| (last - rank).saturating_add(1)).collect();
    }
    let delta = table.priority_delta;
    let mut written = Vec::with_capacity(table.entries.len());
    let mut next =
        if table.largest_priority_wins { count.saturating_sub(1).saturating_mul(delta) + 1 } else { 1 };
    for entry in &table.entries {
        let priority = entry.priority.unwrap_or(next);
        next = if table.largest_priority_wins {
            priority.saturating_sub(delta)
        } else {
            priority.saturating_add(delta)
        };
        written.push(priority);
    }
    if table.largest_priority_wins {
        return written;
    }
    let top = written.iter().copied().max().unwrap_or(0);
    written.into_iter().map(|priority| top - priority + 1).collect()
}
