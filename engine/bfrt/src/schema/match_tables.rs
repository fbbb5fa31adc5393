//! Match tables, and the members and groups of their action profiles.

use p4cc_ir::{ChipMatch, CountUnit, MatchKind, Program, SelectorView, Table as Source_};
use p4cc_p4runtime::p4info::{chip::ChipObject, field_ids};

use super::fields::{self, UINT32, UINT64, annotations, choices, field, id, key, table};
use super::{
    Action, ActionScope, Annotation, Data, Key, KeyKind, Means, MeterPart, Object, Schema, Source, Table,
    Type,
};

/// Default offset of a selector's members in the action table: none.
const NO_OFFSET: u64 = 0xdead_beef;

/// All match tables that a controller sees, in the order in which it is told of them.
pub fn tables(source: &Source<'_>) -> Vec<Table> {
    let program = source.program;
    let mut shown: Vec<usize> =
        (0..program.tables.len()).filter(|&at| !program.tables[at].cp.hidden).collect();
    shown.sort_by_key(|&at| program.tables[at].cp.rank);
    shown.into_iter().map(|at| match_table(source, at)).collect()
}

/// The action profiles, then the selectors, of which tables they are for.
pub fn add_profiles(source: &Source<'_>, schema: &mut Schema) {
    for at in by_rank(source.program.profiles.iter().map(|profile| profile.cp.rank)) {
        let users = users(source, at);
        let first = users.first().copied();
        let object = &source.objects.profiles[at];
        if let Some(first) = first {
            let first_id = source.objects.tables[first].id;
            if let Some(user) = schema.tables.iter_mut().find(|table| table.id == first_id) {
                depend(user, object.id);
            }
        }
        schema.tables.push(members(source, at, object, first));
    }
    for (view, object) in source.view.selectors.iter().zip(&source.objects.selectors) {
        schema.tables.push(groups(source, view, object));
        schema.tables.push(get_member(view, object));
    }
}

/// Positions in the order of ranks.
pub fn by_rank(ranks: impl Iterator<Item = u32>) -> Vec<usize> {
    let ranks: Vec<u32> = ranks.collect();
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_by_key(|&at| ranks[at]);
    order
}

fn match_table(source: &Source<'_>, at: usize) -> Table {
    let of = &source.program.tables[at];
    let object = &source.objects.tables[at];
    let mut made = table(
        object.name.as_str(),
        object.id,
        "MatchAction_Direct",
        Object::Match(table_id(at)),
        of.size.into(),
    );
    made.annotations = annotations(&of.cp.annotations);
    made.has_const_default = Some(of.const_default);
    made.key = keys(source, at);
    let mut next_id = 1;
    match of.profile {
        None => {
            made.actions = actions(source, of);
            let params = made.actions.iter().flat_map(|action| &action.data).flat_map(|data| &data.fields);
            next_id += params.map(|field| field.id).max().unwrap_or(0);
        }
        Some(profile) => {
            let selector = source.view.selectors.iter().position(|of| of.profile == profile);
            let member = field(id::ACTION_MEMBER, "$ACTION_MEMBER_ID", UINT32, Means::Member);
            match selector {
                Some(selector) => {
                    made.kind = "MatchAction_Indirect_Selector";
                    made.depends_on.push(source.objects.selectors[selector].id);
                    let group = field(id::SELECTOR_GROUP, "$SELECTOR_GROUP_ID", UINT32, Means::Group);
                    made.data.push(Data { mandatory: true, read_only: false, fields: vec![member, group] });
                }
                None => {
                    made.kind = "MatchAction_Indirect";
                    made.depends_on.push(source.objects.profiles[profile.index()].id);
                    made.data.push(member.mandatory());
                }
            }
        }
    }
    super::externs::add_direct(source, of, next_id, &mut made);
    made.attributes.push("EntryScope");
    if made.annotations.iter().any(|of| of.name == "@dynamic_table_key_masks(1)") {
        made.attributes.push("DynamicKeyMask");
    }
    if of.const_entries {
        made.attributes.push("ConstTable");
    }
    if of.idle_timeout {
        made.operations.push("UpdateHitState");
        made.attributes.push("IdleTimeout");
        let states = choices(&["ENTRY_IDLE", "ENTRY_ACTIVE"], None);
        made.data.push(field(id::ENTRY_HIT_STATE, "$ENTRY_HIT_STATE", states, Means::HitState).optional());
        // A table that keeps one bit of time for an entry can be asked only.
        if !made.annotations.iter().any(|of| of.name == "@idletime_precision(1)") {
            let ttl = Type::Int("uint32", Some(0));
            made.data.push(field(id::ENTRY_TTL, "$ENTRY_TTL", ttl, Means::Ttl).optional());
        }
    }
    made
}

fn table_id(at: usize) -> p4cc_ir::TableId {
    p4cc_ir::TableId::from_index(at)
}

fn keys(source: &Source<'_>, at: usize) -> Vec<Key> {
    let of = &source.program.tables[at];
    let seen: Vec<usize> =
        (0..of.keys.len()).filter(|&key| of.keys[key].kind != MatchKind::Selector).collect();
    let ids = field_ids(seen.iter().map(|&key| &of.keys[key].cp));
    let mut made: Vec<Key> = seen
        .iter()
        .zip(ids)
        .map(|(&at_key, id)| {
            let key = &of.keys[at_key];
            let chip = source.view.match_kinds.iter();
            let chip = chip.filter(|(table, ..)| table.index() == at);
            let chip = chip.filter(|(_, position, _)| *position == at_key).map(|(.., kind)| *kind).next();
            let width = source.program.vars[key.var.index()].ty.width();
            match_key(key, id, kind(key.kind, chip), width, at_key)
        })
        .collect();
    let by_priority = |key: &Key| matches!(key.kind, KeyKind::Ternary | KeyKind::Range | KeyKind::Optional);
    if made.iter().any(by_priority) {
        let priority = key(id::MATCH_PRIORITY, "$MATCH_PRIORITY", UINT32, Means::Priority);
        made.push(Key { mandatory: false, ..priority });
    }
    made
}

fn kind(kind: MatchKind, chip: Option<ChipMatch>) -> KeyKind {
    match (chip, kind) {
        (Some(ChipMatch::AtcamPartition), _) => KeyKind::Atcam,
        (Some(ChipMatch::DleftHash), _) => KeyKind::DleftHash,
        (None, MatchKind::Exact | MatchKind::Selector) => KeyKind::Exact,
        (None, MatchKind::Lpm) => KeyKind::Lpm,
        (None, MatchKind::Ternary) => KeyKind::Ternary,
        (None, MatchKind::Range) => KeyKind::Range,
        (None, MatchKind::Optional) => KeyKind::Optional,
    }
}

fn match_key(of: &p4cc_ir::Key, id: u32, kind: KeyKind, width: u32, at: usize) -> Key {
    let mut annotations = annotations(&of.cp.annotations);
    if has_slice(&of.cp.name) {
        annotations.push(Annotation { name: "isFieldSlice".to_owned(), value: Some("true".to_owned()) });
    }
    let name = key_name(&of.cp.name);
    let mask = match (kind, of.cp.name.split_once('&')) {
        (KeyKind::Exact, Some((_, mask))) if mask.trim().starts_with("0x") && name == of.cp.name => {
            Some(mask.trim().to_owned())
        }
        _ => None,
    };
    Key {
        id,
        name,
        kind,
        ty: Type::Bytes(width, None),
        // One that is not given is 0, or matches anything.
        mandatory: false,
        repeated: false,
        mask,
        annotations,
        means: Means::Key(at),
    }
}

/// A key's name for BF Runtime: `$valid` without the `$` behind, elements of stacks as `hdr.vlan$1`.
fn key_name(name: &str) -> String {
    let name = if name.contains(".$valid") { &name[..name.len() - 1] } else { name };
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(open) = rest.find('[') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let close = rest.find(']').unwrap_or(rest.len() - 1);
        let inside = rest.get(1..close).unwrap_or("");
        if !inside.is_empty() && inside.bytes().all(|byte| byte.is_ascii_digit()) {
            out.push('$');
            out.push_str(inside);
        } else {
            out.push_str(&rest[..=close]);
        }
        rest = &rest[close + 1..];
    }
    out + rest
}

/// Whether a name ends in bits of a field: `hdr.ipv4.dst_addr[15:0]`.
fn has_slice(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.split('[').skip(1).any(|part| {
        let inside = part.split(']').next().and_then(|inside| inside.split_once(':'));
        part.contains(']') && inside.is_some_and(|(high, low)| digits(high) && digits(low))
    })
}

fn actions(source: &Source<'_>, of: &Source_) -> Vec<Action> {
    let program = source.program;
    let listed = of.actions.iter().filter(|action| !program.actions[action.action.index()].cp.hidden);
    listed
        .map(|listed| {
            let at = listed.action.index();
            let object = &source.objects.actions[at];
            Action {
                id: object.id,
                name: object.name.clone(),
                action: Some(listed.action),
                scope: match listed.scope {
                    p4cc_ir::ActionScope::TableAndDefault => ActionScope::TableAndDefault,
                    p4cc_ir::ActionScope::TableOnly => ActionScope::TableOnly,
                    p4cc_ir::ActionScope::DefaultOnly => ActionScope::DefaultOnly,
                },
                annotations: annotations(&listed.annotations),
                data: params(program, at),
            }
        })
        .collect()
}

fn params(program: &Program, action: usize) -> Vec<Data> {
    let params = &program.actions[action].params;
    let ids = field_ids(params.iter().map(|param| &param.cp));
    let param = |((at, param), id): ((usize, &p4cc_ir::ActionParam), u32)| {
        let ty = Type::Bytes(program.vars[param.var.index()].ty.width(), None);
        let mut made = field(id, param.cp.name.as_str(), ty, Means::Param(at));
        made.annotations = annotations(&param.cp.annotations);
        made.mandatory()
    };
    params.iter().enumerate().zip(ids).map(param).collect()
}

/// Tables of a profile, by their names.
fn users(source: &Source<'_>, profile: usize) -> Vec<usize> {
    let tables = source.program.tables.iter().enumerate();
    let uses = |table: &Source_| table.profile.is_some_and(|of| of.index() == profile) && !table.cp.hidden;
    let mut users: Vec<usize> = tables.filter(|(_, table)| uses(table)).map(|(at, _)| at).collect();
    users.sort_by(|a, b| source.objects.tables[*a].name.cmp(&source.objects.tables[*b].name));
    users
}

fn depend(table: &mut Table, id: u32) {
    if !table.depends_on.contains(&id) {
        table.depends_on.push(id);
    }
}

fn members(source: &Source<'_>, at: usize, object: &ChipObject, user: Option<usize>) -> Table {
    let of = &source.program.profiles[at];
    let means = Object::Members(p4cc_ir::ProfileId::from_index(at));
    let mut made = table(object.name.as_str(), object.id, "Action", means, of.size.into());
    made.annotations = annotations(&of.cp.annotations);
    made.key.push(key(id::ACTION_MEMBER, "$ACTION_MEMBER_ID", UINT32, Means::Member));
    made.actions = user.map_or_else(Vec::new, |user| actions(source, &source.program.tables[user]));
    made
}

fn groups(source: &Source<'_>, view: &SelectorView, object: &ChipObject) -> Table {
    let means = Object::Groups(view.profile);
    let mut made = table(object.name.as_str(), object.id, "Selector", means, view.groups.into());
    made.annotations = annotations(&view.cp.annotations);
    made.depends_on.push(source.objects.profiles[view.profile.index()].id);
    made.key.push(key(id::SELECTOR_GROUP, "$SELECTOR_GROUP_ID", UINT32, Means::Group));
    let most = Type::Int("uint32", Some(view.max_group_size.into()));
    let offset = Type::Int("uint32", Some(NO_OFFSET));
    made.data = vec![
        field(id::ACTION_MEMBER, "$ACTION_MEMBER_ID", UINT32, Means::Member).repeated().optional(),
        field(id::MEMBER_STATUS, "$ACTION_MEMBER_STATUS", Type::Bool(None), Means::MemberStatus)
            .repeated()
            .optional(),
        field(id::MAX_GROUP_SIZE, "$MAX_GROUP_SIZE", most, Means::MaxGroupSize).optional(),
        field(id::ADT_OFFSET, "$ADT_OFFSET", offset, Means::Named).optional(),
    ];
    made
}

fn get_member(view: &SelectorView, object: &ChipObject) -> Table {
    const GET_MEMBER: u32 = 0x9a;
    let number = GET_MEMBER << 24 | object.id & 0x00ff_ffff;
    let name = format!("{}_get_member", object.name);
    let mut made = table(name, number, "SelectorGetMember", Object::GetMember(view.profile), 1);
    made.annotations = annotations(&view.cp.annotations);
    made.depends_on.push(object.id);
    made.key = vec![
        key(id::CHOSEN_GROUP, "$SELECTOR_GROUP_ID", UINT64, Means::Group),
        key(id::HASH_VALUE, "hash_value", UINT64, Means::Named),
    ];
    made.data = vec![field(id::CHOSEN_MEMBER, "$ACTION_MEMBER_ID", UINT64, Means::Member).optional()];
    made
}

/// Data fields of a counter.
pub fn counter_data(unit: CountUnit) -> Vec<Data> {
    let number = || Type::Int("uint64", Some(0));
    let bytes = field(id::COUNTER_BYTES, "$COUNTER_SPEC_BYTES", number(), Means::CounterBytes).optional();
    let packets =
        field(id::COUNTER_PACKETS, "$COUNTER_SPEC_PKTS", number(), Means::CounterPackets).optional();
    match unit {
        CountUnit::Bytes => vec![bytes],
        CountUnit::Packets => vec![packets],
        CountUnit::Both => vec![bytes, packets],
    }
}

/// Data fields of a meter. Without a configuration it marks all packets green.
pub fn meter_data(unit: CountUnit) -> Vec<Data> {
    let (first, rate, burst) = match unit {
        CountUnit::Bytes => (id::METER_KBPS, "KBPS", "KBITS"),
        CountUnit::Packets | CountUnit::Both => (id::METER_PPS, "PPS", "PKTS"),
    };
    let parts = [
        ("CIR", rate, MeterPart::Cir),
        ("PIR", rate, MeterPart::Pir),
        ("CBS", burst, MeterPart::Cbs),
        ("PBS", burst, MeterPart::Pbs),
    ];
    let part = |(id, (name, unit, part)): (u32, (&str, &str, MeterPart))| {
        let ty = Type::Int("uint64", Some(u64::MAX));
        fields::field(id, format!("$METER_SPEC_{name}_{unit}"), ty, Means::Meter(part)).optional()
    };
    (first..).zip(parts).map(part).collect()
}
