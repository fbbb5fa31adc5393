//! Lookups against a linear scan, and what the control plane may and may not do.

use p4cc_exec::control::{ControlError, EntryAction, TableEntry};
use p4cc_exec::testing::{ProgramBuilder, Rig, constant, var};
use p4cc_ir::{
    ActionCall, ActionId, ActionScope, Bits, Inst, MatchKind, MatchValue, SourceEntry, TableId, VarId,
};
use p4cc_units::Time;
use proptest::prelude::*;

/// A table whose action writes its argument to `out`; a miss writes 0xffff_ffff.
struct OneTable {
    rig: Rig,
    table: TableId,
    set: ActionId,
    keys: Vec<VarId>,
    out: VarId,
    hit: VarId,
    action: VarId,
}

fn one_table(
    keys: &[(u32, MatchKind)],
    bend: impl FnOnce(&mut ProgramBuilder, TableId, ActionId),
) -> OneTable {
    let mut b = ProgramBuilder::new();
    let vars: Vec<VarId> = keys.iter().map(|&(width, _)| b.bits("key", width)).collect();
    let (out, hit, action) = (b.bits("out", 32), b.bits("hit", 1), b.bits("action", 32));
    let set = b.action("set", &[32], |p| vec![Inst::Assign { dst: out, src: var(p[0]) }]);
    let miss = b.action("miss", &[], |_| vec![Inst::Assign { dst: out, src: constant(32, 0xffff_ffff) }]);
    let pairs: Vec<_> = vars.iter().copied().zip(keys.iter().map(|key| key.1)).collect();
    let table = b.table("t", &pairs, &[set, miss]);
    bend(&mut b, table, set);
    b.ingress(vec![Inst::Apply { table, hit: Some(hit), action: Some(action) }]);
    OneTable { rig: Rig::new(b.compile()), table, set, keys: vars, out, hit, action }
}

impl OneTable {
    fn call(&self, value: u32) -> EntryAction {
        EntryAction::Direct(ActionCall { action: self.set, args: vec![Bits::from_u128(32, value.into())] })
    }

    fn entry(&self, matches: Vec<MatchValue>, priority: u32, value: u32) -> TableEntry {
        let action = self.call(value);
        TableEntry {
            matches,
            priority,
            action,
            metadata: vec![7],
            controller_metadata: 0,
            idle_timeout_ns: 0,
            is_const: false,
        }
    }

    fn insert(&mut self, matches: Vec<MatchValue>, priority: u32, value: u32) -> Result<(), ControlError> {
        let entry = self.entry(matches, priority, value);
        self.rig.state.table_insert(self.table, entry)
    }

    fn apply(&mut self, keys: &[u128]) -> Option<u32> {
        for (i, &key) in keys.iter().enumerate() {
            let width = self.rig.bits(self.keys[i]).width();
            self.rig.set_bits(self.keys[i], &Bits::from_u128(width, key));
        }
        self.rig.ingress();
        let out = self.rig.get(self.out) as u32;
        assert_eq!(self.rig.get(self.hit) == 1, out != 0xffff_ffff);
        assert_eq!(self.rig.get(self.action), u64::from(out == 0xffff_ffff));
        (self.rig.get(self.hit) == 1).then_some(out)
    }
}

fn exact(width: u32, value: u128) -> MatchValue {
    MatchValue::Exact(Bits::from_u128(width, value))
}

/// Whether a value matches, by definition; keys are at most 128 bits.
fn matches(value: &MatchValue, width: u32, key: u128) -> bool {
    let number = |bits: &Bits| bits.to_u128().unwrap_or_default();
    match value {
        MatchValue::Any => true,
        MatchValue::Exact(bits) => number(bits) == key,
        MatchValue::Lpm { value, len } => (number(value) ^ key) >> (width - len) == 0,
        MatchValue::Ternary { value, mask } => key & number(mask) == number(value),
        MatchValue::Range { low, high } => (number(low)..=number(high)).contains(&key),
    }
}

fn match_value(width: u32, kind: MatchKind, value: u128, shape: u32) -> MatchValue {
    let full = u128::MAX >> (128 - width);
    let value = value & full;
    let bits = |value: u128| Bits::from_u128(width, value);
    match kind {
        MatchKind::Exact => MatchValue::Exact(bits(value)),
        _ if shape.is_multiple_of(5) => MatchValue::Any,
        MatchKind::Lpm => {
            let len = shape % width + 1;
            MatchValue::Lpm { value: bits(value >> (width - len) << (width - len)), len }
        }
        MatchKind::Ternary => {
            let mask = (full << (shape % width)) & full & !(1 << (shape % 7 % width)) | 1 << (width - 1);
            MatchValue::Ternary { value: bits(value & mask), mask: bits(mask) }
        }
        MatchKind::Range => {
            let high = value.saturating_add(u128::from(shape)).min(full - 1);
            MatchValue::Range { low: bits(value.min(high)), high: bits(high) }
        }
        MatchKind::Optional | MatchKind::Selector => MatchValue::Exact(bits(value)),
    }
}

fn kinds() -> impl Strategy<Value = Vec<(u32, MatchKind)>> {
    let width = prop_oneof![2u32..9, 20u32..64, Just(64), 65u32..128];
    let any = prop_oneof![
        Just(MatchKind::Exact),
        Just(MatchKind::Ternary),
        Just(MatchKind::Range),
        Just(MatchKind::Optional)
    ];
    let mixed = proptest::collection::vec((width.clone(), any), 1..4);
    let lpm = (proptest::collection::vec(width.clone(), 0..3), width).prop_map(|(exact, lpm)| {
        let exact = exact.into_iter().map(|width| (width, MatchKind::Exact));
        exact.chain([(lpm, MatchKind::Lpm)]).collect()
    });
    prop_oneof![mixed, lpm]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn lookups_agree_with_a_linear_scan(
        kinds in kinds(),
        // Enough for every form that an index takes.
        seeds in proptest::collection::vec((any::<u128>(), any::<u32>()), 1..40),
        keys in proptest::collection::vec((any::<u128>(), 0usize..40), 12),
    ) {
        let mut table = one_table(&kinds, |_, _, _| {});
        let ranked =
            kinds.iter().any(|key| !matches!(key.1, MatchKind::Exact | MatchKind::Lpm));
        let mut model: Vec<(Vec<MatchValue>, u32, u32)> = Vec::new();
        for (number, &(value, shape)) in (0u32..).zip(&seeds) {
            let small = value >> 60 & 0x7 | value << 100;
            let values: Vec<MatchValue> = kinds
                .iter()
                .map(|&(width, kind)| match_value(width, kind, small.rotate_left(shape % 3), shape))
                .collect();
            let priority = if ranked { number + 1 } else { 0 };
            // Two entries run the same, as routes over one next hop do.
            let number = number / 2;
            let known = model.iter().any(|entry| entry.0 == values && entry.1 == priority);
            let result = table.insert(values.clone(), priority, number);
            prop_assert_eq!(result.is_ok(), !known, "{:?}", result);
            if !known {
                model.push((values, priority, number));
            }
        }
        // Every fourth entry changes what it runs.
        for entry in model.iter_mut().step_by(4) {
            entry.2 += 1_000;
            let changed = table.entry(entry.0.clone(), entry.1, entry.2);
            prop_assert_eq!(table.rig.state.table_modify(table.table, changed), Ok(()));
        }
        // Every third entry goes again, so that removal is part of what is checked.
        let mut place = 0;
        model.retain(|entry| {
            place += 1;
            place % 3 != 0 || table.rig.state.table_delete(table.table, &entry.0, entry.1).is_err()
        });
        for (key, like) in keys {
            let (value, shape) = seeds[like % seeds.len()];
            let near = (value >> 60 & 0x7 | value << 100).rotate_left(shape % 3) ^ (key & key >> 64 & 0x3);
            let wanted: Vec<u128> =
                kinds.iter().map(|&(width, _)| near & (u128::MAX >> (128 - width))).collect();
            let rank = |entry: &&(Vec<MatchValue>, u32, u32)| {
                let prefix = entry.0.iter().find_map(|value| match value {
                    MatchValue::Lpm { len, .. } => Some(*len),
                    _ => None,
                });
                if ranked { entry.1 } else { prefix.unwrap_or(0) }
            };
            let best = model
                .iter()
                .filter(|entry| {
                    let values = entry.0.iter().zip(&kinds).zip(&wanted);
                    values.into_iter().all(|((value, &(width, _)), &key)| matches(value, width, key))
                })
                .max_by_key(rank);
            prop_assert_eq!(table.apply(&wanted), best.map(|entry| entry.2));
        }
    }
}

#[test]
fn a_small_key_is_found_by_position_and_can_be_changed() {
    let mut table = one_table(&[(4, MatchKind::Exact), (2, MatchKind::Exact)], |_, _, _| {});
    assert_eq!(table.apply(&[3, 1]), None);
    assert_eq!(table.insert(vec![exact(4, 3), exact(2, 1)], 0, 10), Ok(()));
    assert_eq!(table.apply(&[3, 1]), Some(10));
    let changed = table.entry(vec![exact(4, 3), exact(2, 1)], 0, 11);
    assert_eq!(table.rig.state.table_modify(table.table, changed.clone()), Ok(()));
    assert_eq!(table.apply(&[3, 1]), Some(11));
    assert_eq!(table.rig.state.table_entries(table.table).collect::<Vec<_>>(), [&changed]);
    let snapshot = table.rig.state.clone();
    assert_eq!(table.rig.state.table_delete(table.table, &changed.matches, 0), Ok(()));
    assert_eq!(table.apply(&[3, 1]), None);
    table.rig.state = snapshot;
    assert_eq!(table.apply(&[3, 1]), Some(11));
}

#[test]
fn refusals_name_the_table_the_key_and_the_value() {
    let mut table = one_table(&[(9, MatchKind::Exact), (32, MatchKind::Lpm)], |b, table, _| {
        b.program.tables[table.index()].size = 1;
    });
    let lpm = |value, len| MatchValue::Lpm { value: Bits::from_u128(32, value), len };
    let text = |result: Result<(), ControlError>| match result {
        Err(ControlError::InvalidArgument(text)) => text,
        other => panic!("{other:?}"),
    };
    let wide = text(table.insert(vec![exact(10, 1), MatchValue::Any], 0, 1));
    assert!(wide.contains("`t`") && wide.contains("9 bits") && wide.contains("10w0x1"), "{wide}");
    let bits = text(table.insert(vec![exact(9, 1), lpm(0x0a00_0001, 8)], 0, 1));
    assert!(bits.contains("past its prefix of 8"), "{bits}");
    assert!(text(table.insert(vec![exact(9, 1), lpm(0, 0)], 0, 1)).contains("leave the key out"));
    assert!(text(table.insert(vec![MatchValue::Any, MatchValue::Any], 0, 1)).contains("needs a value"));
    assert!(text(table.insert(vec![exact(9, 1)], 0, 1)).contains("2 keys"));
    assert!(text(table.insert(vec![exact(9, 1), MatchValue::Any], 3, 1)).contains("priority must be 0"));
    let kind = MatchValue::Range { low: Bits::zero(9), high: Bits::zero(9) };
    assert!(text(table.insert(vec![kind, MatchValue::Any], 0, 1)).contains("matches by exact"));
    let mut entry = table.entry(vec![exact(9, 1), MatchValue::Any], 0, 1);
    entry.action = EntryAction::Member(4);
    assert!(text(table.rig.state.table_insert(table.table, entry.clone())).contains("no action profile"));
    entry.action = EntryAction::Direct(ActionCall { action: table.set, args: vec![Bits::zero(31)] });
    assert!(text(table.rig.state.table_insert(table.table, entry.clone())).contains("32 bits wide"));
    entry.action = EntryAction::Direct(ActionCall { action: table.set, args: Vec::new() });
    assert!(text(table.rig.state.table_insert(table.table, entry.clone())).contains("takes 1 arguments"));
    entry.action = EntryAction::Direct(ActionCall { action: ActionId(99), args: Vec::new() });
    text(table.rig.state.table_insert(table.table, entry.clone()));
    entry.action = table.call(1);
    entry.idle_timeout_ns = 5;
    assert!(text(table.rig.state.table_insert(table.table, entry)).contains("idle timeouts"));
    let missing = table.rig.state.table_delete(table.table, &[exact(9, 1), MatchValue::Any], 0);
    assert!(matches!(missing, Err(ControlError::NotFound(_))), "{missing:?}");
    assert_eq!(table.insert(vec![exact(9, 1), MatchValue::Any], 0, 1), Ok(()));
    let again = table.insert(vec![exact(9, 1), MatchValue::Any], 0, 2);
    assert!(matches!(again, Err(ControlError::AlreadyExists(_))), "{again:?}");
    let full = table.insert(vec![exact(9, 2), MatchValue::Any], 0, 1);
    assert!(
        matches!(&full, Err(ControlError::ResourceExhausted(text)) if text.contains("1 entries")),
        "{full:?}"
    );
    assert!(table.rig.state.table_insert(TableId(9), table.entry(Vec::new(), 0, 1)).is_err());
}

#[test]
fn ranked_tables_need_priorities() {
    let mut table = one_table(&[(8, MatchKind::Ternary)], |_, _, _| {});
    let ternary = |value, mask| MatchValue::Ternary {
        value: Bits::from_u128(8, value),
        mask: Bits::from_u128(8, mask),
    };
    assert!(table.insert(vec![ternary(1, 1)], 0, 1).is_err());
    assert!(table.insert(vec![ternary(2, 1)], 1, 1).is_err());
    assert!(table.insert(vec![ternary(0, 0)], 1, 1).is_err());
    assert_eq!(table.insert(vec![ternary(1, 1)], 1, 1), Ok(()));
    assert_eq!(table.insert(vec![ternary(1, 1)], 2, 2), Ok(()));
    assert_eq!(table.insert(vec![MatchValue::Any], 1, 3), Ok(()));
    assert_eq!((table.apply(&[1]), table.apply(&[2])), (Some(2), Some(3)));
}

#[test]
fn constants_stay() {
    let source = |b: &mut ProgramBuilder, table: TableId, set| {
        let table = &mut b.program.tables[table.index()];
        let action = |value| ActionCall { action: set, args: vec![Bits::from_u128(32, value)] };
        table.const_default = true;
        for (key, is_const) in [(1, true), (2, false)] {
            let matches = vec![exact(16, key)];
            table.entries.push(SourceEntry { matches, priority: 0, action: action(key), is_const });
        }
    };
    let mut table = one_table(&[(16, MatchKind::Exact)], source);
    assert_eq!((table.apply(&[1]), table.apply(&[2]), table.apply(&[3])), (Some(1), Some(2), None));
    let denied = |result| assert!(matches!(result, Err(ControlError::PermissionDenied(_))), "{result:?}");
    denied(table.rig.state.table_delete(table.table, &[exact(16, 1)], 0));
    let change = table.entry(vec![exact(16, 1)], 0, 5);
    denied(table.rig.state.table_modify(table.table, change));
    let call = ActionCall { action: table.set, args: vec![Bits::zero(32)] };
    denied(table.rig.state.set_default_action(table.table, call));
    assert_eq!(table.rig.state.table_delete(table.table, &[exact(16, 2)], 0), Ok(()));
    let mut all = one_table(&[(16, MatchKind::Exact)], |b, table, set| {
        source(b, table, set);
        b.program.tables[table.index()].const_entries = true;
    });
    denied(all.insert(vec![exact(16, 9)], 0, 1));
    denied(all.rig.state.table_delete(all.table, &[exact(16, 2)], 0));
}

#[test]
fn scopes_and_defaults_are_kept() {
    let mut table = one_table(&[(16, MatchKind::Exact)], |b, table, _| {
        b.program.tables[table.index()].actions[0].scope = ActionScope::TableOnly;
        b.program.tables[table.index()].actions[1].scope = ActionScope::DefaultOnly;
    });
    let call = ActionCall { action: table.set, args: vec![Bits::zero(32)] };
    assert!(table.rig.state.set_default_action(table.table, call.clone()).is_err());
    let mut entry = table.entry(vec![exact(16, 1)], 0, 1);
    entry.action = EntryAction::Direct(ActionCall { action: ActionId(1), args: Vec::new() });
    assert!(table.rig.state.table_insert(table.table, entry).is_err());
    let mut table = one_table(&[(16, MatchKind::Exact)], |_, _, _| {});
    assert_eq!(table.rig.state.set_default_action(table.table, call.clone()), Ok(()));
    assert_eq!(table.rig.state.default_action(table.table), Ok(&call));
    table.rig.ingress();
    assert_eq!((table.rig.get(table.hit), table.rig.get(table.out)), (0, 0));
    assert_eq!(table.rig.state.reset_default_action(table.table), Ok(()));
    assert_eq!(table.apply(&[1]), None);
}

#[test]
fn hits_are_counted_metered_and_dated() {
    let mut table = one_table(&[(16, MatchKind::Exact)], |b, table, _| {
        let counter = b.counter("hits", None);
        let table = &mut b.program.tables[table.index()];
        table.counter = Some(counter);
        table.idle_timeout = true;
    });
    let key = [exact(16, 4)];
    assert_eq!(table.insert(key.to_vec(), 0, 1), Ok(()));
    table.rig.now = Time::from_ns(50);
    table.apply(&[4]);
    table.apply(&[5]);
    table.apply(&[4]);
    let cell = table.rig.state.direct_counter_read(table.table, &key, 0);
    assert_eq!(cell.map(|cell| (cell.packets, cell.bytes)), Ok((2, 200)));
    assert_eq!(table.rig.state.last_hit(table.table, &key, 0), Ok(Time::from_ns(50)));
    assert_eq!(table.rig.state.direct_counter_write(table.table, &key, 0, Default::default()), Ok(()));
    let cell = table.rig.state.direct_counter_read(table.table, &key, 0);
    assert_eq!(cell.map(|cell| cell.packets), Ok(0));
    assert!(table.rig.state.direct_meter_read(table.table, &key, 0).is_err());
}

#[test]
fn a_table_without_key_runs_its_default_only() {
    let mut table = one_table(&[], |_, _, _| {});
    assert_eq!(table.apply(&[]), None);
    let refused = table.insert(Vec::new(), 0, 1);
    assert!(matches!(&refused, Err(ControlError::InvalidArgument(text)) if text.contains("no key")));
}
