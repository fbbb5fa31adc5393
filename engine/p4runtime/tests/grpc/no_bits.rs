//! Members of no bits in digests and registers: they are zero, and no bits of what the program packs.

use p4cc_p4runtime::proto::p4::config::v1 as p4info;
use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::exact;
use crate::pushed::{Pushed, action, id, own_info};
use p4::entity::Entity as Of;
use p4::p4_data::Data;
use p4::stream_message_response::Update as Told;
use p4::update::Type;

const PROGRAM: &str = include_str!("no_bits.p4");

/// The P4Info as p4c makes it, which lists a header's fields without bits too.
fn full_info() -> p4info::P4Info {
    use p4info::p4_bitstring_like_type_spec::TypeSpec;
    let mut info = own_info(PROGRAM);
    let types = info.type_info.as_mut().expect("types");
    let header = types.headers.get_mut("data_h").expect("the header");
    if header.members.iter().all(|member| member.name != "none") {
        let bit = TypeSpec::Bit(p4info::P4BitTypeSpec { bitwidth: 0 });
        let type_spec = p4info::P4BitstringLikeTypeSpec { type_spec: Some(bit), ..Default::default() };
        let none =
            p4info::p4_header_type_spec::Member { name: "none".to_owned(), type_spec: Some(type_spec) };
        header.members.insert(1, none);
    }
    info
}

fn bits(bytes: &[u8]) -> p4::P4Data {
    p4::P4Data { data: Some(Data::Bitstring(bytes.to_vec())) }
}

fn members(members: Vec<p4::P4Data>) -> p4::P4StructLike {
    p4::P4StructLike { members }
}

/// What a packet of kind 7 and length 0x102 gives.
fn seen(none: u8) -> p4::P4Data {
    let inner = p4::P4Data { data: Some(Data::Struct(members(vec![bits(&[none])]))) };
    let pair = p4::P4Data { data: Some(Data::Tuple(members(vec![bits(&[0]), bits(&[1, 2])]))) };
    p4::P4Data { data: Some(Data::Struct(members(vec![bits(&[7]), inner, bits(&[0]), pair]))) }
}

fn held() -> p4::P4Data {
    let header = p4::P4Header { is_valid: true, bitstrings: vec![vec![7], vec![0], vec![1, 2]] };
    let header = p4::P4Data { data: Some(Data::Header(header)) };
    p4::P4Data { data: Some(Data::Struct(members(vec![header, bits(&[7])]))) }
}

#[test]
fn digests_and_registers_hold_members_of_no_bits() {
    let info = full_info();
    let lab = Pushed::with(PROGRAM, &info);
    let config = p4::digest_entry::Config { max_timeout_ns: 0, max_list_size: 1, ack_timeout_ns: 0 };
    for (alias, data) in [("seen_t", seen(0)), ("held_t", held())] {
        let digest_id = id(info.digests.iter().map(|one| &one.preamble), alias);
        let entry = p4::DigestEntry { digest_id, config: Some(config) };
        lab.update(Type::Insert, Of::DigestEntry(entry)).expect("a digest");
        lab.receive(0, &[7, 1, 2]);
        lab.deliver();
        match lab.hear() {
            Told::Digest(list) => assert_eq!((list.digest_id, list.data), (digest_id, vec![data])),
            other => panic!("no digest: {other:?}"),
        }
        lab.update(Type::Delete, Of::DigestEntry(p4::DigestEntry { digest_id, config: None }))
            .expect("its end");
    }
    for (alias, data) in [("last", seen(0)), ("kept", held())] {
        let register_id = id(info.registers.iter().map(|one| &one.preamble), alias);
        let cell = |index: i64, data: Option<p4::P4Data>| {
            let index = Some(p4::Index { index });
            Of::RegisterEntry(p4::RegisterEntry { register_id, index, data })
        };
        assert_eq!(lab.read(cell(1, None)), [cell(1, Some(data.clone()))], "{alias}: what the packet left");
        lab.update(Type::Modify, cell(0, Some(data.clone()))).expect(alias);
        assert_eq!(lab.read(cell(0, None)), [cell(0, Some(data))], "{alias}: what was written");
    }
    let register_id = id(info.registers.iter().map(|one| &one.preamble), "last");
    let index = Some(p4::Index { index: 0 });
    let entry = p4::RegisterEntry { register_id, index, data: Some(seen(1)) };
    let (code, message) = lab.update(Type::Modify, Of::RegisterEntry(entry)).expect_err("no bits hold a one");
    assert_eq!(code, Code::InvalidArgument, "{message}");
}

/// A program whose table and action have a key and a parameter without bits, and the P4Info that lists them as
/// p4c does.
fn with_key_and_param() -> (String, p4info::P4Info) {
    let program = include_str!("registers.p4").replace("bit<32> value;", "bit<32> value; bit<0> none;");
    let program =
        program.replace("hdr.address.address: exact;", "hdr.address.address: exact; meta.none: exact;");
    let program = program.replace("forward(bit<9> port)", "forward(bit<9> port, bit<0> nothing)");
    let mut info = own_info(&program);
    let key = p4info::MatchField {
        id: 2,
        name: "meta.none".to_owned(),
        r#match: Some(p4info::match_field::Match::MatchType(p4info::match_field::MatchType::Exact.into())),
        ..Default::default()
    };
    let table = &mut info.tables[0];
    assert_eq!(table.match_fields.len(), 1, "the program's own P4Info does without");
    table.match_fields.push(key);
    let forward = id(info.actions.iter().map(|one| &one.preamble), "forward");
    let actions = info.actions.iter_mut();
    let action = actions.into_iter().find(|one| one.preamble.as_ref().is_some_and(|one| one.id == forward));
    let param = p4info::action::Param { id: 2, name: "nothing".to_owned(), ..Default::default() };
    action.expect("it is in the program").params.push(param);
    (program, info)
}

#[test]
fn keys_and_parameters_of_no_bits_are_zero() {
    let (program, info) = with_key_and_param();
    let lab = Pushed::with(&program, &info);
    let table_id = id(info.tables.iter().map(|one| &one.preamble), "hosts");
    let forward = id(info.actions.iter().map(|one| &one.preamble), "forward");
    let entry = |none: &[u8], nothing: &[u8]| p4::TableEntry {
        table_id,
        r#match: vec![exact(1, &[7]), exact(2, none)],
        action: action(forward, &[(1, &[3]), (2, nothing)]),
        ..Default::default()
    };
    for wrong in [entry(&[1], &[0]), entry(&[0], &[1])] {
        let (code, message) = lab.insert(wrong).expect_err("only zero has no bits");
        assert_eq!(code, Code::OutOfRange, "{message}");
    }
    lab.insert(entry(&[0], &[0])).expect("a right entry");
    assert_eq!(lab.entries(table_id), [entry(&[0], &[0])], "it is read as it was written");
    let without = p4::TableEntry { r#match: vec![exact(1, &[8])], ..entry(&[0], &[0]) };
    assert_eq!(lab.insert(without).expect_err("an exact field must be given").0, Code::InvalidArgument);
    lab.receive(1, &[0, 0, 0, 7]);
    assert!(lab.sent(3).is_some(), "the entry is hit");
    lab.update(Type::Delete, Of::TableEntry(entry(&[0], &[0]))).expect("it is there");
}
