//! "Default Entry", "Constant Tables" and "Direct Resources"; what a controller keeps with an entry.

#![expect(deprecated, reason = "controller_metadata is tried too")]

use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::{Lab, exact};
use p4::entity::Entity as Of;

fn default_of(lab: &Lab, table: &str) -> p4::TableEntry {
    p4::TableEntry { table_id: lab.table(table), is_default_action: true, ..Default::default() }
}

fn counted(packet_count: i64, byte_count: i64) -> Option<p4::CounterData> {
    Some(p4::CounterData { byte_count, packet_count })
}

fn one(found: Vec<Of>) -> p4::TableEntry {
    match found.as_slice() {
        [Of::TableEntry(entry)] => entry.clone(),
        other => panic!("not one entry: {other:?}"),
    }
}

#[test]
fn a_default_entry_keeps_metadata_until_it_is_reset() {
    let (lab, _stream) = Lab::with_primary();
    let asked = default_of(&lab, "hosts");
    let written = p4::TableEntry {
        action: lab.forwards(5),
        metadata: vec![1, 2, 3],
        controller_metadata: 77,
        ..asked.clone()
    };
    lab.modify(Of::TableEntry(written.clone())).expect("a default entry");
    assert_eq!(one(lab.read(Of::TableEntry(asked.clone())).expect("it is there")), written);
    let mut other = asked.clone();
    other.controller_metadata = 78;
    assert_eq!(lab.read(Of::TableEntry(other)).expect("no error"), []);
    lab.modify(Of::TableEntry(asked.clone())).expect("a reset");
    let reset = p4::TableEntry { action: lab.forwards(3), ..asked.clone() };
    assert_eq!(one(lab.read(Of::TableEntry(asked)).expect("it is there")), reset);
}

#[test]
fn the_counter_of_a_default_entry_counts_misses() {
    let (lab, _stream) = Lab::with_primary();
    let asked = p4::TableEntry { counter_data: counted(0, 0), ..default_of(&lab, "hosts") };
    let count = || one(lab.read(Of::TableEntry(asked.clone())).expect("it is there")).counter_data;
    assert_eq!(count(), counted(0, 0));
    let entry = p4::TableEntry {
        table_id: asked.table_id,
        r#match: vec![exact(1, &[7])],
        action: lab.forwards(1),
        ..Default::default()
    };
    lab.insert(Of::TableEntry(entry)).expect("an entry");
    for address in [7, 8, 9] {
        lab.receive(0, 0, address);
    }
    assert_eq!(count(), counted(2, 10));
    let set = p4::TableEntry { action: lab.forwards(5), counter_data: counted(40, 400), ..asked.clone() };
    lab.modify(Of::TableEntry(set)).expect("a default entry");
    lab.receive(0, 0, 8);
    assert_eq!(count(), counted(41, 405));
    let other = p4::TableEntry { action: lab.forwards(6), ..default_of(&lab, "hosts") };
    lab.modify(Of::TableEntry(other)).expect("a default entry");
    assert_eq!(count(), counted(41, 405), "a counter that is not given stays");
    let table_entry = Some(default_of(&lab, "hosts"));
    let direct =
        |data| Of::DirectCounterEntry(p4::DirectCounterEntry { table_entry: table_entry.clone(), data });
    lab.modify(direct(counted(3, 4))).expect("a counter");
    assert_eq!(lab.read(direct(None)).expect("it is there"), [direct(counted(3, 4))]);
}

#[test]
fn the_meter_of_a_default_entry_is_set_and_reset() {
    let (lab, _stream) = Lab::with_primary();
    let config = p4::MeterConfig { cir: 1, cburst: 1, pir: 1, pburst: 1, eburst: 0 };
    let asked = p4::TableEntry {
        meter_config: Some(p4::MeterConfig::default()),
        meter_counter_data: Some(p4::MeterCounterData::default()),
        ..default_of(&lab, "policed")
    };
    let read = || one(lab.read(Of::TableEntry(asked.clone())).expect("it is there"));
    assert_eq!(read().meter_config, None);
    let table_entry = Some(default_of(&lab, "policed"));
    let direct =
        Of::DirectMeterEntry(p4::DirectMeterEntry { table_entry, config: Some(config), counter_data: None });
    lab.modify(direct.clone()).expect("a meter");
    assert_eq!(lab.read(direct.clone()).expect("it is there"), [direct]);
    for _ in 0..3 {
        lab.receive(0, 0, 9);
    }
    let counts = read().meter_counter_data.expect("asked for");
    assert_eq!((counts.green, counts.red), (counted(1, 5), counted(2, 10)));
    assert_eq!(read().meter_config, Some(config));
    lab.modify(Of::TableEntry(default_of(&lab, "policed"))).expect("a reset");
    assert_eq!(read().meter_config, None);
}

#[test]
fn direct_resources_that_a_table_has_not_are_refused() {
    let (lab, _stream) = Lab::with_primary();
    let entry = p4::TableEntry {
        table_id: lab.table("policed"),
        r#match: vec![exact(1, &[7])],
        action: None,
        ..Default::default()
    };
    let counter = p4::TableEntry { counter_data: counted(1, 1), ..default_of(&lab, "policed") };
    let meter =
        p4::TableEntry { meter_config: Some(p4::MeterConfig::default()), ..default_of(&lab, "hosts") };
    let colours = p4::TableEntry {
        meter_counter_data: Some(p4::MeterCounterData::default()),
        ..default_of(&lab, "hosts")
    };
    let of_entry =
        Of::DirectCounterEntry(p4::DirectCounterEntry { table_entry: Some(entry), data: counted(1, 1) });
    for entity in [Of::TableEntry(counter), Of::TableEntry(meter), Of::TableEntry(colours), of_entry] {
        let (code, message) = lab.modify(entity).expect_err("the table has none");
        assert_eq!(code, Code::InvalidArgument, "{message}");
        assert!(message.contains("has no direct"), "{message}");
    }
    // Read, such a field is left out.
    let asked = p4::TableEntry { counter_data: counted(0, 0), ..default_of(&lab, "policed") };
    assert_eq!(one(lab.read(Of::TableEntry(asked)).expect("it is there")).counter_data, None);
}

#[test]
fn what_the_program_fixes_stays() {
    let (lab, _stream) = Lab::with_primary();
    let reset = default_of(&lab, "plain");
    let kept = p4::TableEntry { metadata: vec![1], ..reset.clone() };
    let constant = p4::TableEntry {
        table_id: lab.table("fixed"),
        r#match: vec![exact(1, &[200])],
        metadata: vec![1],
        ..Default::default()
    };
    let cookie = p4::TableEntry { metadata: Vec::new(), controller_metadata: 1, ..constant.clone() };
    for entry in [reset, kept, constant, cookie] {
        let (code, message) = lab.modify(Of::TableEntry(entry)).expect_err("it is constant");
        assert_eq!(code, Code::PermissionDenied, "{message}");
    }
}

#[test]
fn both_kinds_of_metadata_come_back_and_choose() {
    let (lab, _stream) = Lab::with_primary();
    let entry = |address: u8, controller_metadata| p4::TableEntry {
        table_id: lab.table("hosts"),
        r#match: vec![exact(1, &[address])],
        action: lab.forwards(1),
        controller_metadata,
        ..Default::default()
    };
    for one in [entry(7, 5), entry(8, u64::MAX), entry(9, 0)] {
        lab.insert(Of::TableEntry(one)).expect("an entry");
    }
    let of = |controller_metadata| p4::TableEntry {
        table_id: lab.table("hosts"),
        controller_metadata,
        ..Default::default()
    };
    assert_eq!(one(lab.read(Of::TableEntry(of(u64::MAX))).expect("no error")), entry(8, u64::MAX));
    assert_eq!(lab.read(Of::TableEntry(of(0))).expect("no error").len(), 3);
    lab.modify(Of::TableEntry(entry(7, 6))).expect("it is there");
    assert_eq!(one(lab.read(Of::TableEntry(of(6))).expect("no error")), entry(7, 6));
}
