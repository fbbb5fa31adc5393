//! Snapshots: a trigger waits for a packet, and keeps its values behind the control.

use p4cc_bfrt::proto::bfrt_proto as wire;
use tonic::Code;
use wire::data_field::{StrArray, Value};
use wire::update::Type;

use crate::lab::{Lab, entry, exact, number_of, stream};

const DST: [u8; 6] = [2, 0, 0, 0, 0, 9];

fn number(value: u32) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

fn configuration(lab: &Lab, (start, end): (u32, u32), fields: Vec<wire::DataField>) -> wire::TableEntry {
    let table = "snapshot.cfg";
    let key = [("start_stage", start), ("end_stage", end)];
    let key = key.map(|(name, stage)| exact(lab.key_id(table, name), number(stage))).to_vec();
    let text = Some(Value::StrVal("INGRESS".to_owned()));
    let mut data = vec![wire::DataField { field_id: lab.data_id(table, "thread"), value: text }];
    data.extend(fields);
    entry(lab.id(table), key, 0, data)
}

/// Waits for a packet to an address, in the bits of a mask.
fn trigger(lab: &Lab, stage: u32, enable: bool, mask: [u8; 6]) -> wire::TableEntry {
    let table = "snapshot.ingress_trigger";
    let field = |name: &str, value: &[u8]| stream(lab.data_id(table, name), value);
    let data = vec![
        wire::DataField { field_id: lab.data_id(table, "enable"), value: Some(Value::BoolVal(enable)) },
        field("trig.hdr.eth.dst", &DST),
        field("trig.hdr.eth.dst_mask", &mask),
        field("trig.hdr.eth.$valid", &[1]),
        field("trig.hdr.eth.$valid_mask", &[1]),
    ];
    entry(lab.id(table), vec![exact(lab.key_id(table, "stage"), number(stage))], 0, data)
}

fn asked(lab: &Lab, table: &str, stage: u32) -> wire::TableEntry {
    let key = vec![exact(lab.key_id(table, "stage"), number(stage))];
    wire::TableEntry { data: None, ..entry(lab.id(table), key, 0, Vec::new()) }
}

fn states(lab: &mut Lab) -> Vec<String> {
    let table = "snapshot.ingress_trigger";
    let read = lab.entries(asked(lab, table, 0)).expect("a trigger");
    let id = lab.data_id(table, "trigger_state");
    let found = read[0].data.as_ref().expect("data").fields.iter().find(|field| field.field_id == id);
    match &found.expect("a state").value {
        Some(Value::StrArrVal(StrArray { val })) => val.clone(),
        other => panic!("states, not {other:?}"),
    }
}

fn packet(dst: [u8; 6], src: u8) -> Vec<u8> {
    [dst.as_slice(), &[1, 1, 1, 1, 1, src, 8, 0]].concat()
}

#[test]
fn the_first_packet_that_fits_is_kept_until_the_trigger_is_armed_anew() {
    let (mut lab, _stream) = Lab::new();
    let add = configuration(&lab, (0, 2), Vec::new());
    lab.one(Type::Insert, add).expect("a snapshot");
    let arm = trigger(&lab, 0, true, [0xff; 6]);
    lab.one(Type::Insert, arm.clone()).expect("a trigger");
    assert_eq!(states(&mut lab), ["ARMED"; 4]);
    let data = |lab: &Lab, stage| asked(lab, "snapshot.ingress_data", stage);
    let nothing = data(&lab, 0);
    assert!(lab.entries(nothing).is_err(), "no packet came");
    lab.packet(0, &packet([2, 0, 0, 0, 0, 8], 1));
    assert_eq!(states(&mut lab), ["ARMED"; 4], "another address");
    lab.packet(0, &packet(DST, 2));
    lab.packet(0, &packet(DST, 3));
    assert_eq!(states(&mut lab), ["FULL", "ARMED", "ARMED", "ARMED"], "in the pipe of port 0");
    for stage in 0..3 {
        let read = lab.entries(data(&lab, stage)).expect("values");
        let value = |name: &str| number_of(&read[0], lab.data_id("snapshot.ingress_data", name));
        assert_eq!(value("hdr.eth.dst"), 0x0200_0000_0009);
        assert_eq!(value("hdr.eth.src"), 0x0101_0101_0102, "the first one");
        assert_eq!(value("hdr.eth.$valid"), 1);
    }
    let beyond = data(&lab, 3);
    assert!(lab.entries(beyond).is_err(), "no stage of the snapshot");
    lab.one(Type::Modify, arm).expect("a trigger");
    assert_eq!(states(&mut lab), ["ARMED"; 4]);
    lab.packet(0, &packet(DST, 4));
    let read = lab.entries(data(&lab, 1)).expect("values");
    assert_eq!(number_of(&read[0], lab.data_id("snapshot.ingress_data", "hdr.eth.src")), 0x0101_0101_0104);
    let off = trigger(&lab, 0, false, [0; 6]);
    lab.one(Type::Modify, off).expect("a trigger");
    assert_eq!(states(&mut lab), ["PASSIVE"; 4]);
    let gone = data(&lab, 1);
    assert!(lab.entries(gone).is_err());
}

#[test]
fn a_snapshot_is_refused_where_it_could_keep_nothing() {
    let (mut lab, _stream) = Lab::new();
    let code = |lab: &mut Lab, verb, entry| lab.one(verb, entry).unwrap_err().0;
    let early = trigger(&lab, 0, true, [0; 6]);
    assert_eq!(code(&mut lab, Type::Insert, early), Code::NotFound, "no snapshot begins there");
    let (backwards, beyond) =
        (configuration(&lab, (2, 1), Vec::new()), configuration(&lab, (0, 99), Vec::new()));
    assert_eq!(code(&mut lab, Type::Insert, backwards), Code::InvalidArgument);
    assert_eq!(code(&mut lab, Type::Insert, beyond), Code::InvalidArgument);
    let timer = wire::DataField {
        field_id: lab.data_id("snapshot.cfg", "timer_enable"),
        value: Some(Value::BoolVal(true)),
    };
    let timed = configuration(&lab, (0, 1), vec![timer]);
    assert_eq!(code(&mut lab, Type::Insert, timed), Code::Unimplemented);
    let (first, second) = (configuration(&lab, (0, 1), Vec::new()), configuration(&lab, (1, 2), Vec::new()));
    lab.one(Type::Insert, first.clone()).expect("a snapshot");
    assert_eq!(code(&mut lab, Type::Insert, second), Code::InvalidArgument, "shares a stage");
    let arm = trigger(&lab, 0, true, [0; 6]);
    lab.one(Type::Insert, arm.clone()).expect("a trigger");
    assert_eq!(code(&mut lab, Type::Delete, first.clone()), Code::FailedPrecondition);
    lab.one(Type::Delete, arm).expect("it goes");
    lab.one(Type::Delete, first).expect("it goes");
    let name =
        Some(wire::key_field::MatchType::Exact(wire::key_field::Exact { value: b"hdr.eth.src".to_vec() }));
    let table = "snapshot.ingress_liveness";
    let key = vec![wire::KeyField { field_id: lab.key_id(table, "field_name"), match_type: name }];
    let read = lab.entries(wire::TableEntry { data: None, ..entry(lab.id(table), key, 0, Vec::new()) });
    assert_eq!(read.expect("stages").len(), 1);
}
