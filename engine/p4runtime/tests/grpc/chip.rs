//! P4Info of TNA, and one that p4c's back end for the chip wrote.

use config::match_field::Match;
use p4::entity::Entity as Of;
use p4::field_match::FieldMatchType;
use p4cc_p4runtime::proto::p4::config::v1 as config;
use p4cc_p4runtime::proto::p4::v1 as p4;

use crate::pushed::{Pushed, action, id, own_info};

const PROGRAM: &str = include_str!("chip.p4");

fn exact(field_id: u32, value: &[u8]) -> p4::FieldMatch {
    let exact = p4::field_match::Exact { value: value.to_vec() };
    p4::FieldMatch { field_id, field_match_type: Some(FieldMatchType::Exact(exact)) }
}

#[test]
fn ids_are_of_the_names_with_the_pipe_in_front() {
    let info = own_info(PROGRAM);
    let table = &info.tables[0];
    let preamble = table.preamble.as_ref().expect("a preamble");
    assert_eq!((preamble.name.as_str(), preamble.alias.as_str()), ("I.forward", "forward"));
    let hashed = |name: &str| {
        let step = |hash: u32, byte: u8| {
            let hash = hash.wrapping_add(u32::from(byte));
            let hash = hash.wrapping_add(hash << 10);
            hash ^ hash >> 6
        };
        let hash = name.bytes().fold(0, step);
        let hash = hash.wrapping_add(hash << 3);
        let hash = hash ^ hash >> 11;
        hash.wrapping_add(hash << 15) & 0x00ff_ffff
    };
    assert_eq!(preamble.id, 0x0200_0000 | hashed("pipe.I.forward"));
    let counter = &info.counters[0];
    assert_eq!(counter.preamble.as_ref().map(|one| one.id), Some(0x1200_0000 | hashed("pipe.I.ports")));
    assert_eq!(counter.index_type_name, None);
    let action = info.actions.iter().filter_map(|one| one.preamble.as_ref()).find(|one| one.alias == "send");
    assert_eq!(action.map(|one| one.id), Some(0x0100_0000 | hashed("I.send")));
    assert_eq!(
        table.match_fields[1].r#match,
        Some(Match::OtherMatchType("atcam_partition_index".to_owned()))
    );
    assert_eq!(info.externs[0].extern_type_name, "PortMetadata");
}

#[test]
fn one_of_p4cs_back_end_is_taken_and_its_table_and_value_set_can_be_written() {
    let mut info = own_info(PROGRAM);
    // That back end says no more of a value set than its size.
    info.value_sets.iter_mut().for_each(|set| set.r#match.clear());
    let pushed = Pushed::with(PROGRAM, &info);
    let table_id = id(info.tables.iter().map(|table| &table.preamble), "forward");
    let send = id(info.actions.iter().map(|action| &action.preamble), "send");
    let entry = p4::TableEntry {
        table_id,
        r#match: vec![exact(2, &[1])],
        action: action(send, &[(1, &[3])]),
        priority: 1,
        ..Default::default()
    };
    pushed.insert(entry).expect("an entry");
    let value_set_id = id(info.value_sets.iter().map(|set| &set.preamble), "kinds");
    let member = p4::ValueSetMember { r#match: vec![exact(1, &[7])] };
    let set = p4::ValueSetEntry { value_set_id, members: vec![member] };
    pushed.update(p4::update::Type::Modify, Of::ValueSetEntry(set)).expect("a member");
    pushed.receive(0, &[7, 0, 0, 0]);
    assert_eq!(pushed.sent(3), Some(vec![7, 0, 0, 0]));
    pushed.receive(0, &[8, 0, 0, 0]);
    assert_eq!(pushed.sent(3), None, "it is none of the value set");
    info.externs[0].extern_type_id = 0x99;
    let refused = pushed.push(PROGRAM, &info).unwrap_err();
    assert!(refused.message().contains("$PORT_METADATA"), "{refused:?}");
}
