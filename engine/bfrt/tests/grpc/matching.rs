//! Match tables: keys of every kind, default entries, what goes with an entry.

use p4cc_bfrt::proto::bfrt_proto as wire;
use tonic::Code;
use wire::key_field::MatchType;
use wire::update::Type;

use crate::lab::{Lab, entity, entry, exact, number_of, stream};

fn whole(table_id: u32) -> wire::TableEntry {
    wire::TableEntry { table_id, ..Default::default() }
}

/// An entry of `forward`.
pub fn forward(lab: &Lab, dst: u8, port: u8) -> wire::TableEntry {
    let key = vec![exact(lab.key_id("forward", "hdr.eth.dst"), [0, 0, 0, 0, 0, dst])];
    let port = stream(lab.data_id("forward", "port"), [0, port]);
    entry(lab.id("forward"), key, lab.action("forward", "send"), vec![port])
}

fn frame(dst: u8) -> [u8; 14] {
    [0, 0, 0, 0, 0, dst, 9, 9, 9, 9, 9, 9, 8, 0]
}

#[test]
fn entries_are_added_changed_and_deleted_and_packets_follow() {
    let (mut lab, _stream) = Lab::new();
    lab.one(Type::Insert, forward(&lab, 1, 3)).expect("an entry");
    assert_eq!(lab.packet(0, &frame(1)), [(3, frame(1).to_vec())]);
    let (code, message) = lab.one(Type::Insert, forward(&lab, 1, 4)).unwrap_err();
    assert_eq!(code, Code::AlreadyExists, "{message}");
    lab.one(Type::Modify, forward(&lab, 1, 4)).expect("a change");
    assert_eq!(lab.packet(0, &frame(1))[0].0, 4);
    assert_eq!(lab.one(Type::Modify, forward(&lab, 2, 4)).unwrap_err().0, Code::NotFound);
    lab.one(Type::Delete, forward(&lab, 1, 4)).expect("a deletion");
    assert_eq!(lab.one(Type::Delete, forward(&lab, 1, 4)).unwrap_err().0, Code::NotFound);
    assert_eq!(lab.packet(0, &frame(1)), []);
}

#[test]
fn a_long_table_comes_in_parts_each_row_once_in_their_order() {
    let (mut lab, _stream) = Lab::new();
    let key = |lab: &Lab, at: u16| {
        let [high, low] = at.to_be_bytes();
        vec![exact(lab.key_id("forward", "hdr.eth.dst"), [0, 0, 0, 0, high, low])]
    };
    // Not in the order of their keys.
    let added: Vec<u16> = (1..=1_000).rev().collect();
    let updates = added.iter().map(|&at| {
        crate::lab::update(
            Type::Insert,
            wire::TableEntry {
                value: Some(wire::table_entry::Value::Key(wire::TableKey { fields: key(&lab, at) })),
                ..forward(&lab, 0, 3)
            },
        )
    });
    let updates = updates.collect();
    lab.write(updates).expect("entries");
    let mut all = lab.entries(whole(lab.id("forward"))).expect("entries");
    assert!(all.pop().is_some_and(|last| last.is_default_entry), "the default entry is the last");
    let keys = all.iter().map(|entry| entry.value.clone());
    let wanted = added.iter().map(|&at| wire::TableKey { fields: key(&lab, at) });
    assert!(keys.eq(wanted.map(|key| Some(wire::table_entry::Value::Key(key)))));
}

#[test]
fn insert_or_modify_tells_which_it_was() {
    let (mut lab, _stream) = Lab::new();
    let update = |entry| vec![crate::lab::update(Type::InsertOrModify, entry)];
    let first = lab.write(update(forward(&lab, 1, 3))).expect("an insertion");
    assert_eq!(first.status, []);
    let second = lab.write(update(forward(&lab, 1, 5))).expect("a change");
    assert_eq!(second.status[0].code, Code::AlreadyExists as i32);
    assert_eq!(second.status[0].canonical_code, 0);
    assert_eq!(lab.packet(0, &frame(1))[0].0, 5);
}

#[test]
fn entries_come_back_in_the_order_in_which_they_were_added_with_the_default_entry() {
    let (mut lab, _stream) = Lab::new();
    for dst in [9, 4, 7] {
        lab.one(Type::Insert, forward(&lab, dst, dst)).expect("an entry");
    }
    let read = lab.entries(whole(lab.id("forward"))).expect("entries");
    let (default, entries): (Vec<_>, Vec<_>) = read.into_iter().partition(|entry| entry.is_default_entry);
    assert_eq!(entries.len(), 3);
    for (entry, dst) in entries.iter().zip([9, 4, 7]) {
        assert_eq!(entry.value, forward(&lab, dst, dst).value);
        assert_eq!(number_of(entry, lab.data_id("forward", "port")), u64::from(dst));
        assert_eq!(entry.data.as_ref().map(|data| data.action_id), Some(lab.action("forward", "send")));
    }
    assert_eq!(default[0].data.as_ref().map(|data| data.action_id), Some(lab.action("forward", "NoAction")));
    let usage = wire::TableUsage { table_id: lab.id("forward"), ..Default::default() };
    let read = lab.read(vec![entity(wire::entity::Entity::TableUsage(usage))]).expect("a usage");
    let Some(wire::entity::Entity::TableUsage(usage)) = &read[0].entity else { panic!("{read:?}") };
    assert_eq!(usage.usage, 3);
    // Without a key all of the table goes.
    lab.one(Type::Delete, whole(lab.id("forward"))).expect("a clearance");
    assert_eq!(lab.entries(whole(lab.id("forward"))).expect("entries").len(), 1);
}

#[test]
fn p4runtime_sees_the_same_entries() {
    use p4cc_p4runtime::proto::p4::v1 as p4;
    use prost::Message;
    let (mut lab, _stream) = Lab::new();
    lab.one(Type::Insert, forward(&lab, 1, 3)).expect("an entry");
    let entry = p4::entity::Entity::TableEntry(p4::TableEntry::default());
    let request = p4::ReadRequest {
        device_id: 0,
        entities: vec![p4::Entity { entity: Some(entry) }],
        ..Default::default()
    };
    let answers = lab.p4runtime.call("Read", &request.encode_to_vec()).expect("a read");
    let read = p4::ReadResponse::decode(answers[0].as_slice()).expect("an answer");
    let entries = read.entities.iter().filter(|entity| match &entity.entity {
        Some(p4::entity::Entity::TableEntry(entry)) => !entry.is_const,
        _ => false,
    });
    assert_eq!(entries.count(), 1, "{read:?}");
}

#[test]
fn default_entries_are_set_and_given_back() {
    let (mut lab, _stream) = Lab::new();
    let port = stream(lab.data_id("forward", "port"), [0, 6]);
    let mut entry = entry(lab.id("forward"), Vec::new(), lab.action("forward", "send"), vec![port]);
    (entry.value, entry.is_default_entry) = (None, true);
    assert_eq!(lab.one(Type::Insert, entry.clone()).unwrap_err().0, Code::Unimplemented);
    lab.one(Type::Modify, entry.clone()).expect("a default entry");
    assert_eq!(lab.packet(0, &frame(1))[0].0, 6);
    let default = wire::TableEntry { is_default_entry: true, ..whole(lab.id("forward")) };
    let read = lab.entries(default.clone()).expect("the default entry");
    assert_eq!(number_of(&read[0], lab.data_id("forward", "port")), 6);
    assert_eq!(number_of(&read[0], lab.data_id("forward", "$COUNTER_SPEC_PKTS")), 1);
    lab.one(Type::Delete, default.clone()).expect("the first default entry");
    assert_eq!(lab.packet(0, &frame(1)), []);
    // A constant default entry cannot be set, but given back.
    let mut constant = default;
    constant.table_id = lab.id("route");
    lab.one(Type::Delete, constant.clone()).expect("as it was");
    constant.data = Some(wire::TableData {
        action_id: lab.action("route", "set_kind"),
        fields: vec![stream(lab.data_id("route", "kind"), [0, 6])],
    });
    assert!(lab.one(Type::Modify, constant).is_err());
}

#[test]
fn actions_stand_where_the_program_lets_them() {
    let (mut lab, _stream) = Lab::new();
    let mut only_default = forward(&lab, 1, 3);
    only_default.data =
        Some(wire::TableData { action_id: lab.action("forward", "NoAction"), fields: Vec::new() });
    assert!(lab.one(Type::Insert, only_default).is_err());
    let mut fixed = entry(
        lab.id("fixed"),
        vec![exact(lab.key_id("fixed", "hdr.eth.kind"), [8, 5])],
        lab.action("fixed", "set_kind"),
        vec![stream(lab.data_id("fixed", "kind"), [8, 6])],
    );
    assert!(lab.one(Type::Insert, fixed.clone()).is_err(), "the entries are constant");
    fixed.value = None;
    fixed.data = None;
    assert!(lab.one(Type::Delete, fixed).is_err());
    let read = lab.entries(whole(lab.id("fixed"))).expect("entries");
    assert_eq!(read.iter().filter(|entry| !entry.is_default_entry).count(), 1);
}

fn ternary(field_id: u32, value: [u8; 6], mask: [u8; 6]) -> wire::KeyField {
    let ternary = wire::key_field::Ternary { value: value.to_vec(), mask: mask.to_vec() };
    wire::KeyField { field_id, match_type: Some(MatchType::Ternary(ternary)) }
}

#[test]
fn the_smallest_priority_wins_and_values_come_back_masked() {
    let (mut lab, _stream) = Lab::new();
    lab.one(Type::Insert, forward(&lab, 1, 3)).expect("an entry");
    let (src, priority) = (lab.key_id("filter", "hdr.eth.src"), lab.key_id("filter", "$MATCH_PRIORITY"));
    let kind = lab.data_id("filter", "kind");
    let with = |lab: &Lab, mask: [u8; 6], priority_value: u8, mark: u8| {
        let key = vec![ternary(src, [9; 6], mask), exact(priority, [0, 0, 0, priority_value])];
        entry(lab.id("filter"), key, lab.action("filter", "mark"), vec![stream(kind, [7, mark])])
    };
    let loose = with(&lab, [0xf0, 0, 0, 0, 0, 0], 1, 1);
    let tight = with(&lab, [0xff; 6], 5, 2);
    for one in [loose.clone(), tight] {
        lab.one(Type::Insert, one).expect("an entry");
    }
    assert_eq!(lab.packet(0, &frame(1))[0].1[12..], [7, 1]);
    let read = lab.entries(wire::TableEntry { data: None, ..loose }).expect("the entry");
    let Some(wire::table_entry::Value::Key(key)) = &read[0].value else { panic!("{read:?}") };
    // Fields in the order of the schema, those left out as wildcards.
    let port = lab.key_id("filter", "meta.port");
    let range = wire::key_field::Range { low: vec![0, 0], high: vec![1, 0xff] };
    let wanted = vec![
        ternary(src, [0; 6], [0xf0, 0, 0, 0, 0, 0]),
        wire::KeyField { field_id: port, match_type: Some(MatchType::Range(range)) },
        exact(lab.key_id("filter", "meta.kind"), [0, 0]),
        exact(priority, [0, 0, 0, 1]),
    ];
    assert_eq!(key.fields, wanted);
    // A meter that nobody configured has the chip's highest rates.
    assert_eq!(number_of(&read[0], lab.data_id("filter", "$METER_SPEC_CIR_KBPS")), 5_195_848_221);
}

#[test]
fn prefixes_match_the_longest() {
    let (mut lab, _stream) = Lab::new();
    lab.one(Type::Insert, forward(&lab, 1, 3)).expect("an entry");
    let src = lab.key_id("route", "hdr.eth.src");
    let with = |lab: &Lab, value: [u8; 6], prefix_len: i32, kind: u8| {
        let lpm = wire::key_field::Lpm { value: value.to_vec(), prefix_len };
        let key = vec![wire::KeyField { field_id: src, match_type: Some(MatchType::Lpm(lpm)) }];
        let kind = stream(lab.data_id("route", "kind"), [6, kind]);
        entry(lab.id("route"), key, lab.action("route", "set_kind"), vec![kind])
    };
    lab.one(Type::Insert, with(&lab, [9, 9, 9, 9, 9, 9], 16, 2)).expect("a prefix");
    lab.one(Type::Insert, with(&lab, [9; 6], 8, 1)).expect("a shorter one");
    assert_eq!(lab.packet(0, &frame(1))[0].1[12..], [6, 2]);
    let read = lab.entries(with(&lab, [9, 9, 1, 1, 1, 1], 16, 0)).expect("by what counts of it");
    let Some(wire::table_entry::Value::Key(key)) = &read[0].value else { panic!("{read:?}") };
    let lpm = wire::key_field::Lpm { value: vec![9, 9, 0, 0, 0, 0], prefix_len: 16 };
    assert_eq!(key.fields[0].match_type, Some(MatchType::Lpm(lpm)));
    let (code, message) = lab.one(Type::Insert, with(&lab, [9; 6], 49, 1)).unwrap_err();
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("49"), "{message}");
}

#[test]
fn counters_go_with_entries() {
    let (mut lab, _stream) = Lab::new();
    lab.one(Type::Insert, forward(&lab, 1, 3)).expect("an entry");
    lab.packet(0, &frame(1));
    // The request's data name fields to be read: the port alone.
    let mut asked = forward(&lab, 1, 3);
    asked.data = None;
    let read = lab.entries(asked.clone()).expect("the entry");
    assert_eq!(number_of(&read[0], lab.data_id("forward", "$COUNTER_SPEC_PKTS")), 1);
    let only = lab.entries(forward(&lab, 1, 3)).expect("the entry");
    assert_eq!(only[0].data.as_ref().map(|data| data.fields.len()), Some(1), "as asked for");
    // Kept, then begun anew, then set.
    lab.one(Type::Modify, forward(&lab, 1, 4)).expect("a change");
    let packets = lab.data_id("forward", "$COUNTER_SPEC_PKTS");
    let read = |lab: &mut Lab| number_of(&lab.entries(asked.clone()).expect("the entry")[0], packets);
    assert_eq!(read(&mut lab), 1);
    let mut reset = forward(&lab, 1, 4);
    reset.table_flags = Some(wire::TableFlags { reset_stats: true, ..Default::default() });
    lab.one(Type::Modify, reset).expect("a change");
    assert_eq!(read(&mut lab), 0);
    let mut set = forward(&lab, 1, 4);
    set.data =
        Some(wire::TableData { action_id: 0, fields: vec![stream(packets, [0, 0, 0, 0, 0, 0, 1, 2])] });
    lab.one(Type::Modify, set).expect("a count");
    assert_eq!(read(&mut lab), 258);
}

#[test]
fn entries_have_numbers() {
    let (mut lab, _stream) = Lab::new();
    lab.one(Type::Insert, forward(&lab, 1, 3)).expect("an entry");
    lab.one(Type::Insert, forward(&lab, 2, 4)).expect("an entry");
    let handle = |lab: &mut Lab, dst| {
        let key = match forward(lab, dst, 0).value {
            Some(wire::table_entry::Value::Key(key)) => key,
            other => panic!("{other:?}"),
        };
        let value = Some(wire::handle_id::Value::Key(key));
        let asked = wire::HandleId { table_id: lab.id("forward"), value };
        let read = lab.read(vec![entity(wire::entity::Entity::Handle(asked))])?;
        match &read[0].entity {
            Some(wire::entity::Entity::Handle(wire::HandleId {
                value: Some(wire::handle_id::Value::HandleId(handle)),
                ..
            })) => Ok(*handle),
            other => panic!("{other:?}"),
        }
    };
    let second = handle(&mut lab, 2).expect("a number");
    let default =
        wire::TableEntry { value: Some(wire::table_entry::Value::HandleId(1)), ..whole(lab.id("forward")) };
    let read = lab.entries(default).expect("the first number");
    assert!(read[0].value.is_none() && read[0].data.is_some(), "the default entry");
    // Clients leave out what calls itself so, unless they asked for it by that name.
    assert!(!read[0].is_default_entry);
    assert_ne!(handle(&mut lab, 1).expect("a number"), second);
    let status: tonic::Status = handle(&mut lab, 5).unwrap_err();
    assert_eq!(crate::lab::codes(&status), [Code::NotFound]);
    let value = Some(wire::table_entry::Value::HandleId(second));
    let flags = Some(wire::TableFlags { key_only: true, ..Default::default() });
    let asked = wire::TableEntry { value, table_flags: flags, ..whole(lab.id("forward")) };
    let read = lab.entries(asked.clone()).expect("the entry");
    assert_eq!(read[0].value, forward(&lab, 2, 0).value);
    assert_eq!((read[0].data.clone(), read[0].entry_tgt), (None, Some(crate::lab::all())));
    lab.one(Type::Delete, forward(&lab, 2, 0)).expect("a deletion");
    assert!(lab.entries(asked).is_err());
}

#[test]
fn malformed_entries_are_told_place_and_cause() {
    let (mut lab, _stream) = Lab::new();
    let (id, dst) = (lab.id("forward"), lab.key_id("forward", "hdr.eth.dst"));
    let (send, port) = (lab.action("forward", "send"), lab.data_id("forward", "port"));
    let good = || vec![exact(dst, [1; 6])];
    let cases = [
        (entry(id + 1, good(), send, vec![]), Code::NotFound, "no table"),
        (entry(id, vec![exact(dst + 90, [1; 6])], send, vec![]), Code::InvalidArgument, "no key field"),
        (entry(id, vec![exact(dst, [1; 5])], send, vec![]), Code::InvalidArgument, "48 bits"),
        (entry(id, vec![ternary(dst, [1; 6], [1; 6])], send, vec![]), Code::InvalidArgument, "Exact"),
        (entry(id, good(), 77, vec![]), Code::InvalidArgument, "action id 77"),
        (entry(id, good(), send, vec![stream(port, [2, 0])]), Code::InvalidArgument, "wider than"),
        (entry(id, good(), send, vec![stream(99, [2, 0])]), Code::InvalidArgument, "data field with id 99"),
        (entry(id, good(), 0, vec![]), Code::InvalidArgument, "action is missing"),
        (wire::TableEntry { value: None, ..entry(id, good(), send, vec![]) }, Code::InvalidArgument, "key"),
    ];
    for (entry, wanted, part) in cases {
        let (code, message) = lab.one(Type::Insert, entry).unwrap_err();
        assert_eq!(code, wanted, "{message}");
        assert!(message.contains(part), "{part} in {message}");
    }
}

#[test]
fn a_field_that_is_named_without_a_value_is_left_out() {
    let (mut lab, _stream) = Lab::new();
    lab.one(Type::Insert, forward(&lab, 1, 3)).expect("an entry");
    let mut named = forward(&lab, 1, 4);
    let ttl = wire::DataField { field_id: lab.data_id("forward", "$ENTRY_TTL"), value: None };
    named.data.as_mut().expect("data").fields.push(ttl);
    lab.one(Type::Modify, named).expect("a change");
    assert_eq!(lab.packet(0, &frame(1))[0].0, 4);
}
