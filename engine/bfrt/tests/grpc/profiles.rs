//! Action profiles and selectors.

use p4cc_bfrt::proto::bfrt_proto as wire;
use tonic::Code;
use wire::data_field::{BoolArray, IntArray, Value};
use wire::update::Type;

use crate::lab::{Lab, entry, exact, stream};

fn member(lab: &Lab, table: &str, id: u8, kind: u8) -> wire::TableEntry {
    let key = vec![exact(lab.key_id(table, "$ACTION_MEMBER_ID"), [0, 0, 0, id])];
    entry(
        lab.id(table),
        key,
        lab.action(table, "set_kind"),
        vec![stream(lab.data_id(table, "kind"), [5, kind])],
    )
}

fn group(lab: &Lab, id: u8, members: &[(u32, bool)]) -> wire::TableEntry {
    let key = vec![exact(lab.key_id("groups", "$SELECTOR_GROUP_ID"), [0, 0, 0, id])];
    let ids = IntArray { val: members.iter().map(|(id, _)| *id).collect() };
    let status = BoolArray { val: members.iter().map(|(_, status)| *status).collect() };
    let fields = vec![
        wire::DataField {
            field_id: lab.data_id("groups", "$ACTION_MEMBER_ID"),
            value: Some(Value::IntArrVal(ids)),
        },
        wire::DataField {
            field_id: lab.data_id("groups", "$ACTION_MEMBER_STATUS"),
            value: Some(Value::BoolArrVal(status)),
        },
        stream(lab.data_id("groups", "$MAX_GROUP_SIZE"), [0, 0, 0, 8]),
    ];
    entry(lab.id("groups"), key, 0, fields)
}

fn members_of(lab: &Lab, read: &wire::TableEntry) -> Vec<(u32, bool)> {
    let fields = &read.data.as_ref().expect("data").fields;
    let of = |name| {
        let id = lab.data_id("groups", name);
        fields.iter().find(|field| field.field_id == id).and_then(|field| field.value.clone())
    };
    match (of("$ACTION_MEMBER_ID"), of("$ACTION_MEMBER_STATUS")) {
        (Some(Value::IntArrVal(ids)), Some(Value::BoolArrVal(status))) => {
            ids.val.into_iter().zip(status.val).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn by(lab: &Lab, table: &str, means: &str, id: u8) -> wire::TableEntry {
    let key = vec![exact(lab.key_id(table, "hdr.eth.kind"), [8, 0])];
    entry(lab.id(table), key, 0, vec![stream(lab.data_id(table, means), [0, 0, 0, id])])
}

/// The kind that a packet leaves with.
fn kind(lab: &Lab) -> Vec<u8> {
    let sent = lab.packet(0, &[0, 0, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 8, 0]);
    sent.first().map(|(_, bytes)| bytes[12..14].to_vec()).unwrap_or_default()
}

fn with_forward() -> (Lab, crate::lab::Stream) {
    let (mut lab, stream_of) = Lab::new();
    let key = vec![exact(lab.key_id("forward", "hdr.eth.dst"), [0, 0, 0, 0, 0, 1])];
    let port = stream(lab.data_id("forward", "port"), [0, 1]);
    lab.one(Type::Insert, entry(lab.id("forward"), key, lab.action("forward", "send"), vec![port]))
        .expect("an entry");
    (lab, stream_of)
}

#[test]
fn entries_run_members_and_members_in_use_stay() {
    let (mut lab, _stream) = with_forward();
    assert!(lab.one(Type::Insert, by(&lab, "by_member", "$ACTION_MEMBER_ID", 3)).is_err(), "no such member");
    lab.one(Type::Insert, member(&lab, "actions", 3, 1)).expect("a member");
    lab.one(Type::Insert, by(&lab, "by_member", "$ACTION_MEMBER_ID", 3)).expect("an entry");
    assert_eq!(kind(&lab), [5, 1]);
    lab.one(Type::Modify, member(&lab, "actions", 3, 2)).expect("a change");
    assert_eq!(kind(&lab), [5, 2]);
    assert!(lab.one(Type::Delete, member(&lab, "actions", 3, 2)).is_err(), "an entry uses it");
    let read = lab.entries(wire::TableEntry { data: None, ..by(&lab, "by_member", "$ACTION_MEMBER_ID", 3) });
    let id = lab.data_id("by_member", "$ACTION_MEMBER_ID");
    assert_eq!(crate::lab::number_of(&read.expect("the entry")[0], id), 3);
    lab.one(Type::Delete, by(&lab, "by_member", "$ACTION_MEMBER_ID", 3)).expect("a deletion");
    lab.one(Type::Delete, member(&lab, "actions", 3, 2)).expect("a deletion");
}

#[test]
fn groups_keep_members_that_are_switched_off() {
    let (mut lab, _stream) = with_forward();
    for id in 1..=3 {
        lab.one(Type::Insert, member(&lab, "members", id, id)).expect("a member");
    }
    let (code, _) = lab.one(Type::Insert, group(&lab, 1, &[(9, true)])).unwrap_err();
    assert_eq!(code, Code::NotFound, "no such member");
    lab.one(Type::Insert, group(&lab, 1, &[(1, false), (2, true), (3, false)])).expect("a group");
    lab.one(Type::Insert, by(&lab, "by_group", "$SELECTOR_GROUP_ID", 1)).expect("an entry");
    assert_eq!(kind(&lab), [5, 2], "the active member");
    let whole = wire::TableEntry { table_id: lab.id("groups"), ..Default::default() };
    let read = lab.entries(whole.clone()).expect("a group");
    assert_eq!(members_of(&lab, &read[0]), [(1, false), (2, true), (3, false)]);
    lab.one(Type::Modify, group(&lab, 1, &[(1, false), (2, false), (3, true)])).expect("a change");
    assert_eq!(kind(&lab), [5, 3]);
    assert!(lab.one(Type::Modify, group(&lab, 1, &[(1, false)])).is_err(), "it would lead nowhere");
    assert!(lab.one(Type::Delete, group(&lab, 1, &[])).is_err(), "an entry uses it");
    // One more, then one less.
    lab.one(Type::ModifyInc, group(&lab, 1, &[(2, true)])).expect("a member more");
    let read = lab.entries(whole.clone()).expect("a group");
    assert_eq!(members_of(&lab, &read[0]), [(1, false), (2, false), (3, true), (2, true)]);
    let mut less = group(&lab, 1, &[(2, true)]);
    less.table_flags = Some(wire::TableFlags { mod_del: true, ..Default::default() });
    lab.one(Type::ModifyInc, less).expect("a member less");
    let read = lab.entries(whole.clone()).expect("a group");
    assert_eq!(members_of(&lab, &read[0]), [(1, false), (3, true), (2, true)]);
    lab.one(Type::Delete, by(&lab, "by_group", "$SELECTOR_GROUP_ID", 1)).expect("a deletion");
    lab.one(Type::Delete, whole.clone()).expect("a clearance");
    assert_eq!(lab.entries(whole).expect("no groups"), []);
}

#[test]
fn default_entries_are_members_or_groups() {
    let (mut lab, _stream) = with_forward();
    let default = |lab: &Lab, table: &str, means: &str, id: u8| wire::TableEntry {
        value: None,
        is_default_entry: true,
        ..by(lab, table, means, id)
    };
    let wrong = default(&lab, "by_member", "$ACTION_MEMBER_ID", 3);
    let (code, message) = lab.one(Type::Modify, wrong).unwrap_err();
    assert_eq!(code, Code::NotFound, "no such member: {message}");
    lab.one(Type::Insert, member(&lab, "actions", 3, 1)).expect("a member");
    lab.one(Type::Modify, default(&lab, "by_member", "$ACTION_MEMBER_ID", 3)).expect("a default entry");
    assert_eq!(kind(&lab), [5, 1]);
    lab.one(Type::Modify, member(&lab, "actions", 3, 2)).expect("a change");
    assert_eq!(kind(&lab), [5, 2], "the default entry follows its member");
    assert!(lab.one(Type::Delete, member(&lab, "actions", 3, 2)).is_err(), "the default entry uses it");
    let asked = wire::TableEntry { data: None, ..default(&lab, "by_member", "$ACTION_MEMBER_ID", 3) };
    let read = lab.entries(asked.clone()).expect("the default entry");
    assert_eq!(crate::lab::number_of(&read[0], lab.data_id("by_member", "$ACTION_MEMBER_ID")), 3);
    lab.one(Type::Delete, asked).expect("the program's own default entry");
    assert_eq!(kind(&lab), [8, 0]);
    lab.one(Type::Delete, member(&lab, "actions", 3, 2)).expect("nothing uses it");

    lab.one(Type::Insert, member(&lab, "members", 1, 7)).expect("a member");
    lab.one(Type::Insert, group(&lab, 1, &[(1, true)])).expect("a group");
    lab.one(Type::Modify, default(&lab, "by_group", "$SELECTOR_GROUP_ID", 1)).expect("a default entry");
    assert_eq!(kind(&lab), [5, 7]);
    let asked = wire::TableEntry { data: None, ..default(&lab, "by_group", "$SELECTOR_GROUP_ID", 1) };
    let read = lab.entries(asked).expect("the default entry");
    assert_eq!(crate::lab::number_of(&read[0], lab.data_id("by_group", "$SELECTOR_GROUP_ID")), 1);
    assert!(lab.one(Type::Delete, group(&lab, 1, &[])).is_err(), "the default entry uses it");
}

#[test]
fn a_group_has_its_size() {
    let (mut lab, _stream) = with_forward();
    lab.one(Type::Insert, member(&lab, "members", 1, 1)).expect("a member");
    let (code, message) = lab.one(Type::Insert, group(&lab, 1, &[(1, true); 9])).unwrap_err();
    assert_eq!(code, Code::ResourceExhausted, "{message}");
    lab.one(Type::Insert, group(&lab, 1, &[(1, true); 8])).expect("as many as it holds");
    let whole = wire::TableEntry { table_id: lab.id("groups"), ..Default::default() };
    let read = lab.entries(whole).expect("a group");
    assert_eq!(members_of(&lab, &read[0]), [(1, true); 8]);
}

#[test]
fn members_that_come_and_go_are_told_of_where_a_client_asks() {
    let (mut lab, mut told) = with_forward();
    for id in 1..=2 {
        lab.one(Type::Insert, member(&lab, "members", id, id)).expect("a member");
    }
    lab.one(Type::Insert, group(&lab, 1, &[(1, true)])).expect("a group");
    let enable = wire::SelectorUpdateCb { enable: true };
    let attribute = Some(wire::table_attribute::Attribute::SelectorUpdateNotify(enable));
    let attribute = wire::TableAttribute { table_id: lab.id("groups"), attribute };
    let entity = Some(crate::lab::entity(wire::entity::Entity::TableAttribute(attribute)));
    lab.write(vec![wire::Update { r#type: Type::Insert.into(), entity }]).expect("an attribute");
    lab.one(Type::Modify, group(&lab, 1, &[(2, true)])).expect("a change");
    for (act_member_id, is_add) in [(1, false), (2, true)] {
        let update = lab.next(&mut told).expect("a message").update;
        let wanted = wire::SelectorUpdateChgNotification {
            sel_group_id: 1,
            act_member_id,
            logical_entry_index: 0,
            is_add,
        };
        let wanted = wire::stream_message_response::Update::SelectorUpdateChangeNotification(wanted);
        assert_eq!(update, Some(wanted));
    }
}

/// What the hash makes of the packet that `kind` sends.
fn hash_of_packet(lab: &mut Lab) -> u16 {
    let key = vec![exact(lab.key_id("mix.compute", "hdr.eth.src"), [9; 6])];
    let asked = entry(lab.id("mix.compute"), key, 0, Vec::new());
    let read = lab.entries(wire::TableEntry { data: None, ..asked }).expect("a hash");
    match &read[0].data.as_ref().expect("data").fields[0].value {
        Some(Value::Stream(bytes)) => bytes.iter().fold(0, |word, byte| word << 8 | u16::from(*byte)),
        other => panic!("{other:?}"),
    }
}

/// Whatever order members were given in.
#[test]
fn the_member_of_a_hash_is_the_one_that_packets_take() {
    let (mut lab, _stream) = with_forward();
    for id in 1..=5 {
        lab.one(Type::Insert, member(&lab, "members", id, id)).expect("a member");
    }
    // The selector's hash is the same function of the same field.
    let [high, low] = hash_of_packet(&mut lab).to_be_bytes();
    let orders: [&[u32]; 3] = [&[5, 1, 4, 2, 3], &[3, 5, 1], &[4, 2]];
    for (at, order) in (1..).zip(orders) {
        let members: Vec<(u32, bool)> = order.iter().map(|&id| (id, true)).collect();
        lab.one(Type::Insert, group(&lab, at, &members)).expect("a group");
        let verb = if at == 1 { Type::Insert } else { Type::Modify };
        lab.one(verb, by(&lab, "by_group", "$SELECTOR_GROUP_ID", at)).expect("an entry");
        let key = vec![
            exact(lab.key_id("groups_get_member", "$SELECTOR_GROUP_ID"), [0, 0, 0, 0, 0, 0, 0, at]),
            exact(lab.key_id("groups_get_member", "hash_value"), [0, 0, 0, 0, 0, 0, high, low]),
        ];
        let asked = entry(lab.id("groups_get_member"), key, 0, Vec::new());
        let read = lab.entries(wire::TableEntry { data: None, ..asked }).expect("a member");
        let told = crate::lab::number_of(&read[0], lab.data_id("groups_get_member", "$ACTION_MEMBER_ID"));
        assert_eq!(kind(&lab), [5, told as u8], "{order:?}");
    }
}

/// Clients write names of algorithms in small letters too.
#[test]
fn hashes_have_an_algorithm_by_its_name_and_are_turned() {
    let (mut lab, _stream) = with_forward();
    let mut set = |algorithm: &str, rotate| {
        let name = Some(Value::StrVal(algorithm.to_owned()));
        let name = wire::DataField { field_id: lab.data_id("mix.algorithm", "algorithm_name"), value: name };
        let rotate = stream(lab.data_id("mix.algorithm", "rotate"), [0, 0, 0, rotate]);
        let action = lab.action("mix.algorithm", "pre_defined");
        let set = entry(lab.id("mix.algorithm"), Vec::new(), action, vec![name, rotate]);
        let set = wire::TableEntry { value: None, is_default_entry: true, ..set };
        lab.one(Type::Modify, set).map(|()| hash_of_packet(&mut lab))
    };
    let plain = set("crc_16", 0).expect("an algorithm");
    assert_eq!(set("CRC_16", 3), Ok(plain.rotate_left(3)));
    assert_eq!(set("identity", 5), Ok(0x0909_u16.rotate_left(5)));
    assert_eq!(set("crc_17", 0).unwrap_err().0, Code::InvalidArgument);
}
