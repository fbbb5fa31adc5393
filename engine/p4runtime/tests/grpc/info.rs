//! BMv2 JSON and source with a P4Info that another compiler made.

use p4cc_p4runtime::proto::p4::config::v1 as p4info;
use p4cc_p4runtime::proto::p4::v1 as p4;
use p4info::match_field::{Match, MatchType};
use tonic::Code;

use crate::lab::exact;
use crate::pushed::{Pushed, action, id, optional, own_info};

const JSON: &str = include_str!("../../../filetests/cases/bmv2/tables.json");
const SOURCE: &str = include_str!("../../../../tests/p4runtime/everything.p4");

const TABLE: u32 = 0x0200_0011;
const ACTION: u32 = 0x0100_0022;

/// The JSON's P4Info as `@id`s, other field ids, an optional key and a size would make it.
fn other_info() -> p4info::P4Info {
    let mut info = own_info(JSON);
    let old_action = id(info.actions.iter().map(|one| &one.preamble), "set");
    for one in &mut info.actions {
        let preamble = one.preamble.as_mut().expect("a preamble");
        if preamble.id == old_action {
            (preamble.id, preamble.alias) = (ACTION, "put".to_owned());
            one.params[0].id = 9;
        }
    }
    let table = info.tables.iter_mut().find(|table| table.match_fields.len() == 5).expect("the table");
    let preamble = table.preamble.as_mut().expect("a preamble");
    (preamble.id, preamble.alias) = (TABLE, "routes".to_owned());
    table.size = 2;
    for (field, id) in table.match_fields.iter_mut().zip([50, 40, 30, 20, 10]) {
        field.id = id;
    }
    table.match_fields[2].r#match = Some(Match::MatchType(MatchType::Optional.into()));
    table.initial_default_action = None;
    table.action_refs.retain(|listed| listed.id == old_action);
    table.action_refs[0].id = ACTION;
    info
}

fn entry(a: u8, c: Option<u8>) -> p4::TableEntry {
    let mut r#match = vec![exact(50, &[a])];
    r#match.extend(c.map(|c| optional(30, &[c])));
    let action = action(ACTION, &[(9, &[7])]);
    p4::TableEntry { table_id: TABLE, r#match, action, priority: 1, ..Default::default() }
}

#[test]
fn ids_match_types_and_sizes_are_those_of_the_clients_p4info() {
    let info = other_info();
    let lab = Pushed::with(JSON, &info);
    assert_eq!(lab.info(), info, "the client's P4Info is given back");
    lab.insert(entry(1, Some(5))).expect("an entry with the client's ids");
    lab.insert(entry(1, None)).expect("an optional field may be left out");
    let read = lab.entries(TABLE);
    assert!(
        read.len() == 2 && read.contains(&entry(1, Some(5))) && read.contains(&entry(1, None)),
        "{read:?}"
    );
    let (code, message) = lab.insert(entry(2, None)).expect_err("a third entry");
    assert_eq!(code, Code::ResourceExhausted, "{message}");
    let own = own_info(JSON).tables[0].preamble.as_ref().map_or(0, |preamble| preamble.id);
    let old = p4::TableEntry { table_id: own, ..entry(3, None) };
    assert_eq!(lab.insert(old).expect_err("the program's own id").0, Code::NotFound);
}

#[test]
fn an_entry_of_an_optional_field_matches_packets() {
    let lab = Pushed::with(JSON, &other_info());
    let mut ternary = entry(1, None);
    let mask = p4::field_match::Ternary { value: vec![5], mask: vec![0xff] };
    ternary.r#match.push(crate::lab::field(30, p4::field_match::FieldMatchType::Ternary(mask)));
    assert_eq!(lab.insert(ternary).expect_err("the field is optional").0, Code::InvalidArgument);
    let mut wide = entry(1, None);
    wide.r#match.push(optional(30, &[1, 0]));
    assert_eq!(lab.insert(wide).expect_err("the field has 8 bits").0, Code::OutOfRange);
}

/// Changes a P4Info; what the refusal must name.
type Change = (&'static str, fn(&mut p4info::P4Info));

#[test]
fn what_names_nothing_in_the_program_is_refused_by_name() {
    fn rename(preamble: &mut Option<p4info::Preamble>, name: &str) {
        preamble.as_mut().expect("a preamble").name = name.to_owned();
    }
    let changes: &[Change] = &[
        ("no.such_table", |info| rename(&mut info.tables[0].preamble, "no.such_table")),
        ("no.such_action", |info| rename(&mut info.actions[0].preamble, "no.such_action")),
        ("no.such_profile", |info| rename(&mut info.action_profiles[0].preamble, "no.such_profile")),
        ("no.such_counter", |info| rename(&mut info.counters[0].preamble, "no.such_counter")),
        ("no.such_direct", |info| rename(&mut info.direct_counters[0].preamble, "no.such_direct")),
        ("no.such_meter", |info| rename(&mut info.meters[0].preamble, "no.such_meter")),
        ("no.such_register", |info| rename(&mut info.registers[0].preamble, "no.such_register")),
        ("no.such_digest", |info| rename(&mut info.digests[0].preamble, "no.such_digest")),
        ("no_such_field", |info| info.tables[0].match_fields[0].name = "no_such_field".to_owned()),
        ("no_such_param", |info| {
            let action = info.actions.iter_mut().find(|action| !action.params.is_empty());
            action.expect("an action with parameters").params[0].name = "no_such_param".to_owned();
        }),
        ("no_such_metadata", |info| {
            info.controller_packet_metadata[0].metadata[0].name = "no_such_metadata".to_owned();
        }),
    ];
    let own = own_info(SOURCE);
    let lab = Pushed::with(SOURCE, &own);
    for (name, change) in changes {
        let mut info = own.clone();
        change(&mut info);
        let status = lab.push(SOURCE, &info).expect_err(name);
        assert_eq!(status.code(), Code::InvalidArgument, "{name}");
        assert!(status.message().contains(name), "{name}: {}", status.message());
    }
    assert_eq!(lab.info(), own, "what was refused changed nothing");
}

#[test]
fn what_the_program_has_otherwise_is_refused() {
    let changes: &[Change] = &[
        ("31", |info| info.tables[0].match_fields[0].bitwidth = 31),
        ("RANGE", |info| {
            info.tables[0].match_fields[0].r#match = Some(Match::MatchType(MatchType::Range.into()));
        }),
        ("leaves out", |info| {
            info.tables[0].match_fields.remove(0);
        }),
        ("another object", |info| {
            let id = info.tables[0].preamble.as_ref().map_or(0, |preamble| preamble.id);
            info.tables[1].preamble.as_mut().expect("a preamble").id = id;
        }),
        ("implementation", |info| {
            let implemented = info.tables.iter_mut().find(|table| table.implementation_id != 0);
            implemented.expect("a table with a profile").implementation_id = 0;
        }),
    ];
    let own = own_info(SOURCE);
    let lab = Pushed::with(SOURCE, &own);
    for (words, change) in changes {
        let mut info = own.clone();
        change(&mut info);
        let status = lab.push(SOURCE, &info).expect_err(words);
        assert_eq!(status.code(), Code::InvalidArgument, "{words}");
        assert!(status.message().contains(words), "{words}: {}", status.message());
    }
}

#[test]
fn what_the_p4info_leaves_out_is_not_there() {
    let mut info = own_info(SOURCE);
    let gone = info.registers.remove(0);
    let lab = Pushed::with(SOURCE, &info);
    let register_id = gone.preamble.map_or(0, |preamble| preamble.id);
    let entry = p4::RegisterEntry { register_id, ..Default::default() };
    let written = lab.update(p4::update::Type::Modify, p4::entity::Entity::RegisterEntry(entry));
    assert_eq!(written.expect_err("it is not in the P4Info").0, Code::NotFound);
}

/// JSON does not say which header is the controller's, and JSON
/// of an old p4c not what the struct around headers is called.
#[test]
fn headers_for_the_controller_and_short_names_of_fields_are_found_in_json() {
    let mut info = other_info();
    let table = info.tables.iter_mut().find(|table| table.match_fields.len() == 5).expect("the table");
    assert_eq!(table.match_fields[0].name, "hdr.data.a");
    table.match_fields[0].name = "headers.hdr.data.a".to_owned();
    let metadata = |(id, name, bitwidth): (u32, &str, i32)| p4info::controller_packet_metadata::Metadata {
        id,
        name: name.to_owned(),
        bitwidth,
        ..Default::default()
    };
    let header = |fields: [(u32, &str, i32); 4]| p4info::ControllerPacketMetadata {
        preamble: Some(p4info::Preamble { id: 7, name: "packet_out".to_owned(), ..Default::default() }),
        metadata: fields.map(metadata).to_vec(),
    };
    info.controller_packet_metadata = vec![header([(4, "a", 8), (3, "b", 8), (2, "c", 16), (1, "d", 32)])];
    let lab = Pushed::with(JSON, &info);
    lab.insert(entry(1, None)).expect("an entry");
    info.controller_packet_metadata = vec![header([(4, "a", 9), (3, "b", 8), (2, "c", 16), (1, "d", 32)])];
    let status = lab.push(JSON, &info).expect_err("a is 8 bits wide");
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("packet_out, metadata a"), "{}", status.message());
}
