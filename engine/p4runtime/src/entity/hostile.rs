//! No message makes a write or a read panic: random entities,
//! with ids that exist, against every kind of object.

use std::sync::Arc;

use p4cc_switch::{DEFAULT_PASS_LIMIT, Switch, SwitchConfig, TimestampUnit};
use proptest::prelude::*;

use super::digest_lists::DigestConfigs;
use super::{Target, Verb};
use crate::device_config;
use crate::p4info::Ids;
use crate::proto::p4::v1 as p4;
use crate::server::work::Cancel;
use p4::entity::Entity as Of;
use p4::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};

const PROGRAM: &str = include_str!("../../../../tests/p4runtime/everything.p4");

fn switch() -> Switch {
    let timestamp_unit = TimestampUnit::Us;
    let config = SwitchConfig {
        device_id: 1,
        ports: Vec::new(),
        timestamp_unit,
        buffer: None,
        cpu_port: None,
        drop_port: 511,
        seed: 0,
        pass_limit: DEFAULT_PASS_LIMIT,
        deflect_on_drop: false,
    };
    Switch::new(config).expect("the configuration is sound")
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(prop_oneof![Just(0_u8), Just(0xff), any::<u8>()], 0..6)
}

fn small() -> impl Strategy<Value = i32> {
    prop_oneof![0..4_i32, -1..40_i32, any::<i32>()]
}

fn field() -> impl Strategy<Value = p4::FieldMatch> {
    (0..5_u32, 0..6_u32, bytes(), bytes(), small()).prop_map(|(field_id, kind, a, b, prefix_len)| {
        let given = match kind {
            0 => Some(FieldMatchType::Exact(Exact { value: a })),
            1 => Some(FieldMatchType::Lpm(Lpm { value: a, prefix_len })),
            2 => Some(FieldMatchType::Ternary(Ternary { value: a, mask: b })),
            3 => Some(FieldMatchType::Range(Range { low: a, high: b })),
            4 => Some(FieldMatchType::Optional(Optional { value: a })),
            _ => None,
        };
        p4::FieldMatch { field_id, field_match_type: given }
    })
}

/// Ids of the program's objects, and some that are nobody's.
fn id(ids: Vec<u32>) -> impl Strategy<Value = u32> {
    prop_oneof![4 => proptest::sample::select(ids), 1 => Just(0), 1 => any::<u32>()]
}

fn entity(ids: &[u32]) -> impl Strategy<Value = p4::Entity> + use<> {
    let action = (id(ids.to_vec()), proptest::collection::vec((0..3_u32, bytes()), 0..3));
    let numbers = (small(), small(), small(), any::<bool>());
    let fields = proptest::collection::vec(field(), 0..4);
    (0..12_u32, id(ids.to_vec()), action, fields, bytes(), numbers).prop_map(build)
}

type Parts = (u32, u32, (u32, Vec<(u32, Vec<u8>)>), Vec<p4::FieldMatch>, Vec<u8>, (i32, i32, i32, bool));

fn build((kind, id, (action_id, params), r#match, bytes, (a, b, c, flag)): Parts) -> p4::Entity {
    use p4::packet_replication_engine_entry::Type as Replication;
    use p4::table_action::Type;
    let params = params.into_iter().map(|(param_id, value)| p4::action::Param { param_id, value }).collect();
    let direct = p4::Action { action_id, params };
    let of = match b & 3 {
        0 => Type::Action(direct.clone()),
        1 => Type::ActionProfileMemberId(c as u32),
        2 => Type::ActionProfileGroupId(c as u32),
        _ => Type::ActionProfileActionSet(p4::ActionProfileActionSet::default()),
    };
    let index = flag.then_some(p4::Index { index: a.into() });
    let data = Some(p4::CounterData { byte_count: b.into(), packet_count: c.into() });
    let meter =
        p4::MeterConfig { cir: a.into(), pir: b.into(), cburst: c.into(), pburst: a.into(), eburst: 0 };
    let entry = p4::TableEntry {
        table_id: id,
        r#match: r#match.clone(),
        action: (c & 4 == 0).then_some(p4::TableAction { r#type: Some(of) }),
        priority: a,
        is_default_action: flag && b & 8 == 0,
        metadata: bytes.clone(),
        counter_data: flag.then_some(p4::CounterData { byte_count: b.into(), packet_count: c.into() }),
        ..Default::default()
    };
    let member = p4::action_profile_group::Member { member_id: b as u32, weight: c, watch_kind: None };
    let replica =
        p4::Replica { port_kind: Some(p4::replica::PortKind::Port(bytes.clone())), ..Default::default() };
    let bitstring = p4::p4_data::Data::Bitstring(bytes);
    let entity = match kind {
        0..=3 => Of::TableEntry(entry),
        4 => Of::ActionProfileMember(p4::ActionProfileMember {
            action_profile_id: id,
            member_id: a as u32,
            action: Some(direct),
        }),
        5 => Of::ActionProfileGroup(p4::ActionProfileGroup {
            action_profile_id: id,
            group_id: a as u32,
            members: vec![member],
            max_size: b,
        }),
        6 => Of::CounterEntry(p4::CounterEntry { counter_id: id, index, data }),
        7 => Of::DirectCounterEntry(p4::DirectCounterEntry { table_entry: flag.then_some(entry), data }),
        8 => Of::MeterEntry(p4::MeterEntry { meter_id: id, index, config: Some(meter), counter_data: None }),
        9 => Of::RegisterEntry(p4::RegisterEntry {
            register_id: id,
            index,
            data: Some(p4::P4Data { data: Some(bitstring) }),
        }),
        10 => Of::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry {
            r#type: Some(Replication::MulticastGroupEntry(p4::MulticastGroupEntry {
                multicast_group_id: a as u32,
                replicas: vec![replica],
                metadata: Vec::new(),
            })),
        }),
        _ => Of::DigestEntry(p4::DigestEntry { digest_id: id, config: None }),
    };
    p4::Entity { entity: Some(entity) }
}

#[test]
fn no_entity_panics_and_what_was_inserted_is_read() {
    let loaded =
        device_config::load(PROGRAM.as_bytes(), None, &Cancel::default()).expect("the program compiles");
    let ids = Ids::new(&loaded.catalog.program).expect("ids can be given");
    let ids =
        [&ids.tables, &ids.actions, &ids.profiles, &ids.counters, &ids.meters, &ids.registers, &ids.digests];
    let ids: Vec<u32> = ids.into_iter().flatten().copied().collect();
    let verbs = proptest::sample::select(vec![Verb::Insert, Verb::Modify, Verb::Delete]);
    let writes = proptest::collection::vec((verbs, entity(&ids)), 1..40);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let ran = runner.run(&writes, |writes| {
        let (mut switch, mut digests) = (switch(), DigestConfigs::default());
        switch.control().set_pipeline(Arc::clone(&loaded.pipeline));
        let mut target = Target {
            catalog: &loaded.catalog,
            switch: &mut switch,
            digests: &mut digests,
            now: p4cc_units::Time::ZERO,
            is_replay: false,
            pipe: 0,
        };
        for (verb, entity) in writes {
            let update = p4::Update { r#type: verb as i32 + 1, entity: Some(entity.clone()) };
            let written = target.write(&update);
            let read = target.read_all(&entity);
            let is_entry = matches!(&entity.entity, Some(Of::TableEntry(_)));
            if written.is_ok() && is_entry && verb == Verb::Insert {
                prop_assert!(
                    read.is_ok_and(|found| !found.is_empty()),
                    "{entity:?} was inserted and is not there"
                );
            }
        }
        Ok(())
    });
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}
