//! What a controller writes, drawn by a P4Info: entries, members, groups, meters, value sets, replication.

use p4cc_p4runtime::proto::p4::config::v1 as info;
use p4cc_p4runtime::proto::p4::v1 as p4;
use p4cc_switch::Stream;

use super::pool::{BitString, Pool, bits, bytes};
use info::action_ref::Scope;
use info::match_field::{Match, MatchType};
use p4::entity::Entity;
use p4::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};
use p4::update::Type;

/// Entries tried for each table, members for each profile.
const ENTRIES: u64 = 40;
const MEMBERS: u32 = 8;
const GROUPS: u32 = 4;
/// Cells of meters that get a configuration.
const METERS: i64 = 16;
/// Groups and sessions with numbers up to it, and the document's own up to the other.
const REPLICATED: u32 = 16;
const MOST_SESSION: u64 = 1_023;
/// Of so many tables one gets another default action.
const DEFAULT_ONE_OF: u64 = 3;

/// Draws updates.
pub struct Controller<'a> {
    /// What the program has.
    pub info: &'a info::P4Info,
    /// Where values come from.
    pub pool: &'a Pool,
    /// Ports of the switch.
    pub ports: u32,
    /// The port whose packets go to the controller.
    pub cpu_port: u32,
}

/// A value as P4Runtime writes it: no zero bytes in front.
fn canonical(value: &[bool]) -> Vec<u8> {
    let bytes = bytes(value);
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    match bytes.get(zeros..) {
        Some(rest) if !rest.is_empty() => rest.to_vec(),
        _ => vec![0],
    }
}

fn id(preamble: Option<&info::Preamble>) -> u32 {
    preamble.map_or(0, |preamble| preamble.id)
}

fn update(kind: Type, entity: Entity) -> p4::Update {
    p4::Update { r#type: kind as i32, entity: Some(p4::Entity { entity: Some(entity) }) }
}

fn meter() -> p4::MeterConfig {
    p4::MeterConfig { cir: 1_000, cburst: 200, pir: 2_000, pburst: 600, eburst: 0 }
}

impl Controller<'_> {
    /// All updates, in an order in which what is referred to comes first.
    pub fn updates(&self, random: &mut Stream) -> Vec<p4::Update> {
        let mut updates = self.replication(random);
        self.info.action_profiles.iter().for_each(|profile| self.profile(profile, &mut updates, random));
        for table in &self.info.tables {
            self.table(table, &mut updates, random);
        }
        for own in &self.info.meters {
            for index in 0..own.size.min(METERS) {
                let entry = p4::MeterEntry {
                    meter_id: id(own.preamble.as_ref()),
                    index: Some(p4::Index { index }),
                    config: Some(meter()),
                    ..Default::default()
                };
                updates.push(update(Type::Modify, Entity::MeterEntry(entry)));
            }
        }
        for set in &self.info.value_sets {
            let count = set.size.clamp(0, 4);
            let members =
                (0..count).map(|_| p4::ValueSetMember { r#match: self.matches(&set.r#match, random) });
            let entry =
                p4::ValueSetEntry { value_set_id: id(set.preamble.as_ref()), members: members.collect() };
            updates.push(update(Type::Modify, Entity::ValueSetEntry(entry)));
        }
        updates
    }

    fn replication(&self, random: &mut Stream) -> Vec<p4::Update> {
        use p4::packet_replication_engine_entry::Type as Kind;
        let mut replicas = |most: u64| -> Vec<p4::Replica> {
            let made = (0..1 + random.below(most)).map(|instance| {
                let port = match random.below(u64::from(self.ports) + 1) {
                    port if port < self.ports.into() => port as u32,
                    _ => self.cpu_port,
                };
                let port = p4::replica::PortKind::Port(canonical(&bits(port.into(), 32)));
                p4::Replica { port_kind: Some(port), instance: instance as u32, ..Default::default() }
            });
            made.collect()
        };
        let entity = |kind| {
            let entry = p4::PacketReplicationEngineEntry { r#type: Some(kind) };
            update(Type::Insert, Entity::PacketReplicationEngineEntry(entry))
        };
        let mut made = Vec::new();
        let own = self.pool.constants_up_to(MOST_SESSION).into_iter().map(|value| value as u32);
        let numbers = (1..=REPLICATED).chain(own.filter(|number| *number > REPLICATED));
        for number in numbers {
            let group = p4::MulticastGroupEntry {
                multicast_group_id: number,
                replicas: replicas(3),
                ..Default::default()
            };
            made.push(entity(Kind::MulticastGroupEntry(group)));
            let session = p4::CloneSessionEntry {
                session_id: number,
                replicas: replicas(1),
                packet_length_bytes: if number % 4 == 0 { 60 } else { 0 },
                ..Default::default()
            };
            made.push(entity(Kind::CloneSessionEntry(session)));
        }
        made
    }

    fn profile(&self, profile: &info::ActionProfile, updates: &mut Vec<p4::Update>, random: &mut Stream) {
        let own = id(profile.preamble.as_ref());
        let tables: Vec<&info::Table> = self
            .info
            .tables
            .iter()
            .filter(|table| profile.table_ids.contains(&id(table.preamble.as_ref())))
            .collect();
        let Some(table) = tables.first() else { return };
        for member in 1..=MEMBERS {
            let entry = p4::ActionProfileMember {
                action_profile_id: own,
                member_id: member,
                action: self.action(table, false, random),
            };
            updates.push(update(Type::Insert, Entity::ActionProfileMember(entry)));
        }
        for group in 1..=(if profile.with_selector { GROUPS } else { 0 }) {
            let members = (0..1 + random.below(4)).map(|_| 1 + random.below(MEMBERS.into()) as u32);
            let members: std::collections::BTreeSet<u32> = members.collect();
            let member =
                |member_id| p4::action_profile_group::Member { member_id, weight: 1, ..Default::default() };
            let entry = p4::ActionProfileGroup {
                action_profile_id: own,
                group_id: group,
                max_size: if profile.max_group_size > 0 { profile.max_group_size } else { 0 },
                members: members.into_iter().map(member).collect(),
            };
            updates.push(update(Type::Insert, Entity::ActionProfileGroup(entry)));
        }
    }

    fn table(&self, table: &info::Table, updates: &mut Vec<p4::Update>, random: &mut Stream) {
        let own = id(table.preamble.as_ref());
        if !table.is_const_table && !table.match_fields.is_empty() {
            let entries = if table.size > 0 { ENTRIES.min(table.size as u64) } else { ENTRIES };
            for _ in 0..entries {
                let Some(action) = self.table_action(table, random) else { continue };
                let has_meter = self.info.direct_meters.iter().any(|meter| meter.direct_table_id == own);
                let entry = p4::TableEntry {
                    table_id: own,
                    r#match: self.matches(&table.match_fields, random),
                    action: Some(action),
                    priority: if needs_priority(table) { 1 + random.below(8) as i32 } else { 0 },
                    meter_config: (has_meter && random.below(2) == 0).then(meter),
                    ..Default::default()
                };
                updates.push(update(Type::Insert, Entity::TableEntry(entry)));
            }
        }
        let is_free = table.const_default_action_id == 0 && table.implementation_id == 0;
        if is_free && random.below(DEFAULT_ONE_OF) == 0 {
            let action = self.action(table, true, random).map(p4::table_action::Type::Action);
            let entry = p4::TableEntry {
                table_id: own,
                action: Some(p4::TableAction { r#type: action }),
                is_default_action: true,
                ..Default::default()
            };
            updates.push(update(Type::Modify, Entity::TableEntry(entry)));
        }
    }

    /// An entry for a key that a packet brought to a table; none where the P4Info says nothing of the table.
    pub fn entry_for(&self, table: &str, key: &[BitString], random: &mut Stream) -> Option<p4::Update> {
        let named = |one: &&info::Table| one.preamble.as_ref().is_some_and(|own| own.name == table);
        let table = self.info.tables.iter().find(named)?;
        let fields = &table.match_fields;
        let fits = fields.len() == key.len()
            && fields.iter().zip(key).all(|(field, value)| field.bitwidth.max(0) as usize == value.len());
        if table.is_const_table || fields.is_empty() || !fits {
            return None;
        }
        let matches = fields.iter().zip(key).filter_map(|(field, value)| self.field_of(field, value, random));
        let entry = p4::TableEntry {
            table_id: id(table.preamble.as_ref()),
            r#match: matches.collect(),
            action: Some(self.table_action(table, random)?),
            priority: if needs_priority(table) { 9 } else { 0 },
            ..Default::default()
        };
        Some(update(Type::Insert, Entity::TableEntry(entry)))
    }

    fn table_action(&self, table: &info::Table, random: &mut Stream) -> Option<p4::TableAction> {
        use p4::table_action::Type as Kind;
        let profile =
            self.info.action_profiles.iter().find(|one| id(one.preamble.as_ref()) == table.implementation_id);
        let kind = match profile {
            Some(profile) if profile.with_selector && random.below(2) == 0 => {
                Kind::ActionProfileGroupId(1 + random.below(GROUPS.into()) as u32)
            }
            Some(_) => Kind::ActionProfileMemberId(1 + random.below(MEMBERS.into()) as u32),
            None => Kind::Action(self.action(table, false, random)?),
        };
        Some(p4::TableAction { r#type: Some(kind) })
    }

    /// An action of a table, for an entry or for its default.
    fn action(&self, table: &info::Table, default: bool, random: &mut Stream) -> Option<p4::Action> {
        let barred = if default { Scope::TableOnly } else { Scope::DefaultOnly };
        let refs: Vec<&info::ActionRef> =
            table.action_refs.iter().filter(|one| one.scope != barred as i32).collect();
        let chosen = refs.get(random.below(refs.len() as u64) as usize)?.id;
        let action = self.info.actions.iter().find(|one| id(one.preamble.as_ref()) == chosen)?;
        let param = |param: &info::action::Param| p4::action::Param {
            param_id: param.id,
            value: canonical(&self.pool.value(param.bitwidth.max(0) as usize, random)),
        };
        Some(p4::Action { action_id: chosen, params: action.params.iter().map(param).collect() })
    }

    fn matches(&self, fields: &[info::MatchField], random: &mut Stream) -> Vec<p4::FieldMatch> {
        fields.iter().filter_map(|field| self.field(field, random)).collect()
    }

    /// A match; none where it takes any value.
    fn field(&self, field: &info::MatchField, random: &mut Stream) -> Option<p4::FieldMatch> {
        let value = self.pool.value(field.bitwidth.max(0) as usize, random);
        self.field_of(field, &value, random)
    }

    /// A match that takes a value.
    fn field_of(
        &self,
        field: &info::MatchField,
        value: &BitString,
        random: &mut Stream,
    ) -> Option<p4::FieldMatch> {
        let width = value.len();
        let masked =
            |mask: &[bool]| canonical(&value.iter().zip(mask).map(|(a, b)| *a && *b).collect::<Vec<_>>());
        let kind = match kind(field) {
            MatchType::Lpm => {
                let len = if random.below(2) == 0 { width } else { random.below(width as u64 + 1) as usize };
                if len == 0 {
                    return None;
                }
                let mask: BitString = (0..width).map(|at| at < len).collect();
                FieldMatchType::Lpm(Lpm { value: masked(&mask), prefix_len: len as i32 })
            }
            MatchType::Ternary => {
                let mask = match random.below(8) {
                    0 => self.pool.value(width, random),
                    1 | 2 => vec![true; width],
                    _ => return None,
                };
                if mask.iter().all(|bit| !bit) {
                    return None;
                }
                FieldMatchType::Ternary(Ternary { value: masked(&mask), mask: canonical(&mask) })
            }
            MatchType::Range => {
                let other = self.pool.value(width, random);
                let (low, high) = if *value <= other { (value, &other) } else { (&other, value) };
                if low.iter().all(|bit| !bit) && high.iter().all(|bit| *bit) {
                    return None;
                }
                FieldMatchType::Range(Range { low: canonical(low), high: canonical(high) })
            }
            MatchType::Optional if random.below(2) == 0 => return None,
            MatchType::Optional => FieldMatchType::Optional(Optional { value: canonical(value) }),
            _ => FieldMatchType::Exact(Exact { value: canonical(value) }),
        };
        Some(p4::FieldMatch { field_id: field.id, field_match_type: Some(kind) })
    }
}

fn kind(field: &info::MatchField) -> MatchType {
    match field.r#match {
        Some(Match::MatchType(kind)) => MatchType::try_from(kind).unwrap_or(MatchType::Exact),
        _ => MatchType::Exact,
    }
}

fn needs_priority(table: &info::Table) -> bool {
    let ranked = [MatchType::Ternary, MatchType::Range, MatchType::Optional];
    table.match_fields.iter().any(|field| ranked.contains(&kind(field)))
}
