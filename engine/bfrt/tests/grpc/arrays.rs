//! Counters, meters, registers, value sets.

use p4cc_bfrt::proto::bfrt_proto as wire;
use tonic::Code;
use wire::data_field::Value;
use wire::key_field::MatchType;
use wire::update::Type;

use crate::lab::{Lab, entry, exact, number_of, stream};

fn cell(lab: &Lab, table: &str, index: &str, at: u16, fields: Vec<wire::DataField>) -> wire::TableEntry {
    let at = u32::from(at).to_be_bytes();
    entry(lab.id(table), vec![exact(lab.key_id(table, index), at)], 0, fields)
}

fn asked(entry: &wire::TableEntry) -> wire::TableEntry {
    wire::TableEntry { data: None, ..entry.clone() }
}

#[test]
fn counters_count_packets_and_are_set() {
    let (mut lab, _stream) = Lab::new();
    lab.packet(5, &[0; 64]);
    let packets = lab.data_id("ports", "$COUNTER_SPEC_PKTS");
    let five = cell(&lab, "ports", "$COUNTER_INDEX", 5, vec![]);
    assert_eq!(number_of(&lab.entries(asked(&five)).expect("a cell")[0], packets), 1);
    let set = cell(&lab, "ports", "$COUNTER_INDEX", 5, vec![stream(packets, 300_u64.to_be_bytes())]);
    lab.one(Type::Insert, set).expect("a count");
    let read = lab.entries(asked(&five)).expect("a cell");
    assert_eq!(number_of(&read[0], packets), 300);
    assert!(
        number_of(&read[0], lab.data_id("ports", "$COUNTER_SPEC_BYTES")) >= 64,
        "what is not given stays"
    );
    let past = cell(&lab, "ports", "$COUNTER_INDEX", 512, vec![]);
    let status = lab.entries(asked(&past)).unwrap_err();
    assert!(crate::lab::details(&status)[0].message.contains("512"));
    let all = wire::TableEntry { table_id: lab.id("ports"), ..Default::default() };
    assert_eq!(lab.entries(all.clone()).expect("cells").len(), 512);
    lab.one(Type::Delete, all.clone()).expect("a clearance");
    assert!(lab.entries(all).expect("cells").iter().all(|one| number_of(one, packets) == 0));
}

#[test]
fn meters_have_the_chips_highest_rates_until_they_are_configured() {
    let (mut lab, _stream) = Lab::new();
    let numbers = ["CIR_PPS", "PIR_PPS", "CBS_PKTS", "PBS_PKTS"];
    let ids = numbers.map(|name| lab.data_id("shares", &format!("$METER_SPEC_{name}")));
    let two = cell(&lab, "shares", "$METER_INDEX", 2, vec![]);
    let read = |lab: &mut Lab| {
        let read = lab.entries(asked(&two)).expect("a cell");
        ids.map(|id| number_of(&read[0], id))
    };
    assert_eq!(read(&mut lab), [5_195_848_221, 5_195_848_221, 4_380_866_642, 4_380_866_642]);
    let given = |values: [u64; 4]| {
        let fields = ids.iter().zip(values).map(|(id, value)| stream(*id, value.to_be_bytes())).collect();
        cell(&lab, "shares", "$METER_INDEX", 2, fields)
    };
    let (set, wrong) = (given([10, 20, 3, 4]), given([20, 10, 3, 4]));
    lab.one(Type::Modify, set).expect("rates");
    assert_eq!(read(&mut lab), [10, 20, 3, 4]);
    let (code, message) = lab.one(Type::Modify, wrong).unwrap_err();
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("20"), "{message}");
}

#[test]
fn registers_have_two_halves_and_a_value_for_each_pipe() {
    let (mut lab, _stream) = Lab::new();
    let high = lab.data_id("pairs", "I.pairs.high");
    let low = lab.data_id("pairs", "I.pairs.low");
    let given = vec![stream(high, 5_u32.to_be_bytes()), stream(low, 6_u32.to_be_bytes())];
    let one = cell(&lab, "pairs", "$REGISTER_INDEX", 1, given);
    lab.one(Type::Insert, one.clone()).expect("a cell");
    lab.packet(0, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x09, 0]);
    let read = lab.entries(asked(&one)).expect("a cell");
    let fields = &read[0].data.as_ref().expect("data").fields;
    let of = |id: u32| -> Vec<u8> {
        let values = fields.iter().filter(|field| field.field_id == id);
        values
            .map(|field| match &field.value {
                Some(Value::Stream(bytes)) => bytes[3],
                other => panic!("{other:?}"),
            })
            .collect()
    };
    assert_eq!((of(high)[0], of(low)[0]), (5, 7), "the packet counted");
    assert_eq!((of(high).len(), of(low).len()), (4, 4));
    // A field that is left out stays.
    let only = cell(&lab, "pairs", "$REGISTER_INDEX", 1, vec![stream(high, 9_u32.to_be_bytes())]);
    lab.one(Type::Modify, only).expect("a field");
    let read = lab.entries(asked(&one)).expect("a cell");
    assert_eq!((number_of(&read[0], high), number_of(&read[0], low)), (9, 7));
}

#[test]
fn value_sets_have_members() {
    let (mut lab, _stream) = Lab::new();
    let table = lab.table("kinds").clone();
    let id = u32::try_from(table["id"].as_u64().expect("an id")).expect("32 bits");
    let key = u32::try_from(table["key"][0]["id"].as_u64().expect("an id")).expect("32 bits");
    let masked = |value: u16, mask: [u8; 2]| {
        let (value, mask) = (value.to_be_bytes().to_vec(), mask.to_vec());
        let ternary = MatchType::Ternary(wire::key_field::Ternary { value, mask });
        let fields = vec![wire::KeyField { field_id: key, match_type: Some(ternary) }];
        let value = Some(wire::table_entry::Value::Key(wire::TableKey { fields }));
        wire::TableEntry { table_id: id, value, ..Default::default() }
    };
    let member = |value: u16| masked(value, [0xff, 0xff]);
    for kind in [0x0800, 0x0806] {
        lab.one(Type::Insert, member(kind)).expect("a member");
    }
    assert_eq!(lab.one(Type::Insert, member(0x0800)).unwrap_err().0, Code::AlreadyExists);
    let all = wire::TableEntry { table_id: id, ..Default::default() };
    assert_eq!(lab.entries(all.clone()).expect("members").len(), 2);
    lab.one(Type::Delete, member(0x0800)).expect("a deletion");
    assert_eq!(lab.one(Type::Delete, member(0x0800)).unwrap_err().0, Code::NotFound);
    assert_eq!(lab.entries(all.clone()).expect("members")[0].value, member(0x0806).value);
    lab.one(Type::Delete, all.clone()).expect("a clearance");
    assert_eq!(lab.entries(all.clone()).expect("members"), []);
    // Masked, as the chip compares them.
    lab.one(Type::Insert, masked(0x0800, [0xff, 0])).expect("a member");
    assert_eq!(lab.entries(all).expect("members")[0].value, masked(0x0800, [0xff, 0]).value);
}

#[test]
fn copies_of_counters_and_registers_follow_a_sync() {
    let (mut lab, _stream) = Lab::new();
    lab.packet(5, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x09, 0]);
    let packets = lab.data_id("ports", "$COUNTER_SPEC_PKTS");
    let low = lab.data_id("pairs", "I.pairs.low");
    let count = asked(&cell(&lab, "ports", "$COUNTER_INDEX", 5, vec![]));
    let pair = asked(&cell(&lab, "pairs", "$REGISTER_INDEX", 1, vec![]));
    let read = |lab: &mut Lab| {
        let count = number_of(&lab.kept_entries(count.clone()).expect("a cell")[0], packets);
        (count, number_of(&lab.kept_entries(pair.clone()).expect("a cell")[0], low))
    };
    assert_eq!(read(&mut lab), (0, 0));
    for table in ["ports", "pairs"] {
        let operation =
            wire::TableOperation { table_id: lab.id(table), table_operations_type: "Sync".to_owned() };
        let entity = Some(crate::lab::entity(wire::entity::Entity::TableOperation(operation)));
        lab.write(vec![wire::Update { r#type: Type::Insert.into(), entity }]).expect("a sync");
    }
    assert_eq!(read(&mut lab), (1, 1));
    let unknown =
        wire::TableOperation { table_id: lab.id("ports"), table_operations_type: "Turn".to_owned() };
    let entity = Some(crate::lab::entity(wire::entity::Entity::TableOperation(unknown)));
    let status = lab.write(vec![wire::Update { r#type: Type::Insert.into(), entity }]).unwrap_err();
    assert_eq!(crate::lab::codes(&status), [Code::Unimplemented]);
}
