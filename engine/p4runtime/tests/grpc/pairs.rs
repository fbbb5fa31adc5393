//! BMv2 JSON and the P4Info of the same run of p4c: its middle
//! end drops, copies and renames what P4Info told of before.

use p4cc_p4runtime::proto::p4::config::v1 as p4info;
use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::field;
use crate::pushed::{Pushed, id, own_info};
use p4::entity::Entity as Of;
use p4::field_match::{FieldMatchType, Ternary};
use p4::update::Type;
use p4info::match_field::{Match, MatchType};

const TABLES: &str = include_str!("../../../filetests/cases/bmv2/tables.json");
const DIGEST: &str = include_str!("../../../filetests/cases/bmv2/digest.json");
const VALUE_SETS: &str = include_str!("../../../filetests/cases/bmv2/value_sets.json");

fn preamble(id: u32, name: &str) -> Option<p4info::Preamble> {
    Some(p4info::Preamble { id, name: name.to_owned(), alias: name.to_owned(), ..Default::default() })
}

/// A P4Info with a table of `NoAction` only and a profile of no table, and their ids.
fn with_idle_objects() -> (p4info::P4Info, u32, u32) {
    let (table, no_action, profile) = (0x0200_0077, 0x0100_0077, 0x1100_0077);
    let mut info = own_info(TABLES);
    info.actions.push(p4info::Action { preamble: preamble(no_action, "NoAction"), ..Default::default() });
    info.tables.push(p4info::Table {
        preamble: preamble(table, "I.idle"),
        action_refs: vec![p4info::ActionRef { id: no_action, ..Default::default() }],
        ..Default::default()
    });
    info.action_profiles.push(p4info::ActionProfile {
        preamble: preamble(profile, "I.unused"),
        with_selector: true,
        size: 16,
        ..Default::default()
    });
    (info, table, profile)
}

#[test]
fn what_nothing_can_reach_may_be_missing_from_the_json() {
    let (info, table_id, action_profile_id) = with_idle_objects();
    let lab = Pushed::with(TABLES, &info);
    assert_eq!(lab.info(), info);
    let default = p4::TableEntry { table_id, is_default_action: true, ..Default::default() };
    let member = p4::ActionProfileMember { action_profile_id, member_id: 1, ..Default::default() };
    let writes = [
        ("I.idle", Type::Modify, Of::TableEntry(default)),
        ("I.unused", Type::Insert, Of::ActionProfileMember(member)),
    ];
    for (name, verb, entity) in writes {
        let (code, message) = lab.update(verb, entity).expect_err(name);
        assert_eq!(code, Code::Unimplemented, "{message}");
        assert!(message.contains(name) && message.contains("left it out"), "{message}");
    }
    assert_eq!(lab.entries(0), [], "a read of all tables passes over it");
}

/// A change of the P4Info that makes one of its missing objects do something.
type Change = (&'static str, fn(&mut p4info::P4Info));

#[test]
fn what_could_be_reached_is_still_refused_by_name() {
    fn idle(info: &mut p4info::P4Info) -> &mut p4info::Table {
        info.tables.last_mut().expect("the table")
    }
    let changes: &[Change] = &[
        ("NoAction", |info| idle(info).match_fields.push(p4info::MatchField { id: 1, ..Default::default() })),
        ("I.idle", |info| {
            let set = id(info.actions.iter().map(|one| &one.preamble), "set");
            idle(info).action_refs = vec![p4info::ActionRef { id: set, ..Default::default() }];
        }),
        ("NoAction", |info| idle(info).direct_resource_ids.push(1)),
        ("I.unused", |info| info.action_profiles.last_mut().expect("the profile").table_ids.push(7)),
    ];
    let lab = Pushed::new();
    for (name, change) in changes {
        let mut info = with_idle_objects().0;
        change(&mut info);
        let status = lab.push(TABLES, &info).expect_err(name);
        assert_eq!(status.code(), Code::InvalidArgument, "{name}");
        assert!(status.message().contains(name), "{name}: {}", status.message());
    }
}

#[test]
fn a_copy_of_an_action_may_be_without_parameters() {
    let copy = r#""actions":[{"name":"I.set","id":7,"runtime_data":[],"primitives":[]},"#;
    let json = TABLES.replacen("\"actions\":[", copy, 1);
    assert_ne!(json, TABLES);
    let info = own_info(TABLES);
    let lab = Pushed::with(&json, &info);
    let table_id = id(info.tables.iter().map(|one| &one.preamble), "match");
    let set = id(info.actions.iter().map(|one| &one.preamble), "set");
    let action = crate::pushed::action(set, &[(1, &[0xa1])]);
    let r#match = vec![crate::lab::exact(1, &[1])];
    let entry = p4::TableEntry { table_id, r#match, action, priority: 1, ..Default::default() };
    lab.insert(entry.clone()).expect("an entry with the parameter");
    assert_eq!(lab.entries(table_id), [entry]);
}

#[test]
fn a_message_without_a_type_name_is_found() {
    let mut info = own_info(DIGEST);
    let preamble = info.digests[0].preamble.as_mut().expect("a preamble");
    (preamble.name, preamble.alias) = ("digest_0".to_owned(), "digest_0".to_owned());
    let digest_id = preamble.id;
    let config = Some(p4::digest_entry::Config { max_timeout_ns: 0, max_list_size: 1, ack_timeout_ns: 0 });
    for name in ["tuple_3", "digest"] {
        let json =
            DIGEST.replace("\"name\":\"learn_t\",\"elements\"", &format!("\"name\":\"{name}\",\"elements\""));
        let lab = Pushed::with(&json, &info);
        let entry = Of::DigestEntry(p4::DigestEntry { digest_id, config });
        lab.update(Type::Insert, entry).expect("the digest is there");
    }
    let status = Pushed::new().push(DIGEST, &info).expect_err("another name");
    assert!(status.message().contains("digest_0"), "{}", status.message());
}

#[test]
fn keys_of_a_value_set_match_as_the_p4info_says() {
    let mut info = own_info(VALUE_SETS);
    info.value_sets[0].r#match[0].r#match = Some(Match::MatchType(MatchType::Ternary.into()));
    let lab = Pushed::with(VALUE_SETS, &info);
    let value_set_id = id(info.value_sets.iter().map(|one| &one.preamble), "chosen");
    let of = FieldMatchType::Ternary(Ternary { value: vec![0x10], mask: vec![0xf0] });
    let member = p4::ValueSetMember { r#match: vec![field(info.value_sets[0].r#match[0].id, of)] };
    let entry = p4::ValueSetEntry { value_set_id, members: vec![member] };
    lab.update(Type::Modify, Of::ValueSetEntry(entry.clone())).expect("a member with a mask");
    assert_eq!(
        lab.read(Of::ValueSetEntry(p4::ValueSetEntry { value_set_id, ..Default::default() })),
        [Of::ValueSetEntry(entry)]
    );
    for (kind, port) in [(0x15, 2), (0x25, 1)] {
        lab.receive(0, &[kind, 0, 0, 0, 0, 0, 0, 0]);
        assert!(lab.sent(port).is_some(), "{kind:#x} leaves by port {port}");
    }
}
