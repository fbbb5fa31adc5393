//! "Translation of ..." in the P4Runtime text: values of types declared with `@p4runtime_translation`.

use p4::entity::Entity as Of;
use p4::field_match::{FieldMatchType, Ternary};
use p4::p4_data::Data;
use p4::stream_message_request::Update as Said;
use p4::stream_message_response::Update as Told;
use p4::update::Type;
use p4cc_p4runtime::proto::p4::config::v1::P4Info;
use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::{exact, field};
use crate::pushed::{Pushed, action, id, optional, own_info};

const PROGRAM: &str = include_str!("../../../../tests/p4runtime/types.p4");
/// A packet: source, destination, ethertype, level.
const PACKET: [u8; 12] = [10, 0, 0, 1, 10, 0, 0, 2, 0x08, 0x00, 0, 77];

struct Ids {
    route: u32,
    classify: u32,
    forward: u32,
    learn: u32,
    punt: u32,
}

fn lab() -> (Pushed, P4Info, Ids) {
    let info = own_info(PROGRAM);
    let table = |alias| id(info.tables.iter().map(|one| &one.preamble), alias);
    let action = |alias| id(info.actions.iter().map(|one| &one.preamble), alias);
    let ids = Ids {
        route: table("route"),
        classify: table("classify"),
        forward: action("forward"),
        learn: action("learn"),
        punt: action("punt"),
    };
    (Pushed::with(PROGRAM, &info), info, ids)
}

/// Packets to 10.0.0.2 from a port go to another, in a VRF.
fn route(ids: &Ids, from: &[u8], to: &[u8], vrf: &[u8], mode: &[u8]) -> p4::TableEntry {
    let from = Ternary { value: from.to_vec(), mask: vec![0xff; 4] };
    p4::TableEntry {
        table_id: ids.route,
        r#match: vec![exact(1, &[10, 0, 0, 2]), field(2, FieldMatchType::Ternary(from))],
        action: action(ids.forward, &[(1, to), (7, vrf), (2, mode)]),
        priority: 1,
        ..Default::default()
    }
}

fn classify(ids: &Ids, vrf: &[u8], action_id: u32) -> p4::TableEntry {
    p4::TableEntry {
        table_id: ids.classify,
        r#match: vec![exact(1, &[0x08, 0x00]), exact(2, &[1]), optional(3, vrf), exact(5, b"NoError")],
        action: action(action_id, &[]),
        priority: 1,
        ..Default::default()
    }
}

#[test]
fn entries_are_read_back_as_the_controller_gave_them() {
    let (lab, _, ids) = lab();
    // A port that 9 bits hold, one that they do not, names of VRFs, members of enums and errors.
    let entries = [
        route(&ids, &[3], &[5], b"blue", b"PASS"),
        route(&ids, &[0xff, 0xff, 0xff, 0xfd], &[1, 0, 0, 0], b"", b"DROP"),
    ];
    for entry in &entries {
        lab.insert(entry.clone()).expect("an entry");
    }
    assert_eq!(lab.entries(ids.route), entries);
    let classified = classify(&ids, b"blue", ids.learn);
    lab.insert(classified.clone()).expect("an entry");
    assert_eq!(lab.entries(ids.classify), [classified]);
}

#[test]
fn values_that_no_mapping_can_take_are_refused() {
    let (lab, _, ids) = lab();
    let refused = |entry: p4::TableEntry| lab.insert(entry).expect_err("a wrong value");
    let (code, message) = refused(route(&ids, &[3], &[1, 0, 0, 0, 0], b"blue", b"PASS"));
    assert_eq!(code, Code::OutOfRange, "the controller's ports have 32 bits");
    assert!(message.contains("port"), "{message}");
    let (code, message) = refused(route(&ids, &[3], &[5], b"blue", b"MAYBE"));
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.contains("MAYBE") && message.contains("PASS, DROP"), "{message}");
    let mut masked = route(&ids, &[3], &[5], b"blue", b"PASS");
    let part = Ternary { value: vec![2], mask: vec![0x0f] };
    masked.r#match[1] = field(2, FieldMatchType::Ternary(part));
    let (code, message) = refused(masked);
    assert_eq!(code, Code::InvalidArgument, "a mask over part of a translated value");
    assert!(message.contains("translated"), "{message}");
    let mut failed = classify(&ids, b"blue", ids.learn);
    failed.r#match[3] = exact(5, b"NoSuchError");
    assert_eq!(refused(failed).0, Code::InvalidArgument);
}

#[test]
fn packets_meet_entries_by_the_programs_values_and_digests_give_the_controllers() {
    let (lab, info, ids) = lab();
    let digest_id = info.digests[0].preamble.as_ref().map_or(0, |preamble| preamble.id);
    let config = Some(p4::digest_entry::Config { max_list_size: 1, ..Default::default() });
    lab.update(Type::Insert, Of::DigestEntry(p4::DigestEntry { digest_id, config })).expect("a digest");
    lab.insert(route(&ids, &[3], &[5], b"blue", b"PASS")).expect("an entry");
    lab.insert(classify(&ids, b"blue", ids.learn)).expect("an entry");
    lab.receive(3, &PACKET);
    assert_eq!(lab.sent(5).as_deref(), Some(&PACKET[..]), "the port that the controller gave");
    lab.deliver();
    let Told::Digest(list) = lab.hear() else { panic!("no digest") };
    let of = |data| Some(data);
    let members: Vec<Option<Data>> = match &list.data[0].data {
        Some(Data::Struct(message)) => message.members.iter().map(|member| member.data.clone()).collect(),
        other => panic!("no struct: {other:?}"),
    };
    let expected = [
        of(Data::Bitstring(vec![3])),
        of(Data::Bitstring(b"blue".to_vec())),
        of(Data::EnumValue(vec![0x08, 0x00])),
        of(Data::Bitstring(vec![77])),
    ];
    assert_eq!(members, expected);
    registers_hold(&lab, &info, &members);
}

/// What the packet left in registers is given in the controller's form, and taken in it.
fn registers_hold(lab: &Pushed, info: &P4Info, report: &[Option<Data>]) {
    let cell = |alias: &str, data: Option<Data>| {
        let register_id = id(info.registers.iter().map(|one| &one.preamble), alias);
        let data = data.map(|data| p4::P4Data { data: Some(data) });
        Of::RegisterEntry(p4::RegisterEntry { register_id, index: Some(p4::Index { index: 0 }), data })
    };
    for (alias, data) in [("kinds", &report[2]), ("vrfs", &report[1])] {
        assert_eq!(lab.read(cell(alias, None)), [cell(alias, data.clone())]);
    }
    let members = report.iter().map(|data| p4::P4Data { data: data.clone() }).collect();
    let whole = Some(Data::Struct(p4::P4StructLike { members }));
    assert_eq!(lab.read(cell("reports", None)), [cell("reports", whole.clone())]);
    let drop = Some(Data::Bitstring(b"drop".to_vec()));
    lab.update(Type::Modify, cell("vrfs", drop.clone())).expect("a value of the written mapping");
    assert_eq!(lab.read(cell("vrfs", None)), [cell("vrfs", drop)]);
    lab.update(Type::Modify, cell("reports", whole.clone())).expect("a struct of translated values");
    assert_eq!(lab.read(cell("reports", None)), [cell("reports", whole)]);
    let wrong = lab.update(Type::Modify, cell("kinds", Some(Data::Bitstring(vec![1]))));
    assert_eq!(wrong.expect_err("an enum has values of its own").0, Code::InvalidArgument);
}

#[test]
fn packet_metadata_is_in_the_controllers_form() {
    let (lab, info, ids) = lab();
    let metadata = |given: &[(u32, &[u8])]| {
        let one = |(metadata_id, value): &(u32, &[u8])| p4::PacketMetadata {
            metadata_id: *metadata_id,
            value: value.to_vec(),
        };
        given.iter().map(one).collect::<Vec<_>>()
    };
    let out = p4::PacketOut { payload: PACKET.to_vec(), metadata: metadata(&[(1, &[6])]) };
    lab.say(Said::Packet(out));
    lab.insert(route(&ids, &[3], &[5], b"blue", b"PASS")).expect("an entry");
    lab.insert(classify(&ids, b"blue", ids.punt)).expect("an entry");
    assert_eq!(
        lab.sent_soon(6).as_deref(),
        Some(&PACKET[..]),
        "the port of the metadata, without the header"
    );
    lab.receive(3, &PACKET);
    lab.deliver();
    let Told::Packet(packet) = lab.hear() else { panic!("no packet-in") };
    assert_eq!(packet.metadata, metadata(&[(1, &[3]), (2, &[0]), (3, b"blue"), (4, &[0])]));
    assert_eq!(info.controller_packet_metadata[0].metadata.len(), 4);
}
