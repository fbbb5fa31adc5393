//! Subscriptions, programs, and messages that nobody asked for.

use p4cc_bfrt::proto::bfrt_proto as wire;
use p4cc_units::Span;
use tonic::Code;
use wire::set_forwarding_pipeline_config_request::Action;
use wire::stream_message_response::Update as Told;
use wire::update::Type;
use wire::{SetForwardingPipelineConfigRequest, SetForwardingPipelineConfigResponseType as Phase};

use crate::lab::{Lab, NAME, all, entry, exact, stream};

#[test]
fn a_client_has_a_number_of_its_own_until_its_stream_ends() {
    let mut lab = Lab::bare();
    let stream = lab.subscribe(7).expect("a subscription");
    let taken = lab.subscribe(7).map(|_| ()).unwrap_err();
    assert_eq!(taken.code(), Code::InvalidArgument);
    assert!(taken.message().contains("client id 7"), "{taken}");
    drop(stream);
    // The server hears of the end a little later.
    let again = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        lab.subscribe(7).ok()
    });
    assert!(again.is_some(), "the number is free again");
}

#[test]
fn a_device_that_is_not_there_is_refused() {
    let mut lab = Lab::bare();
    let request = SetForwardingPipelineConfigRequest { device_id: 9, ..Default::default() };
    assert_eq!(lab.set(request).unwrap_err().code(), Code::NotFound);
}

#[test]
fn clients_bind_to_the_program_that_runs() {
    let mut lab = Lab::bare();
    assert_eq!(lab.bind(3, NAME).unwrap_err().code(), Code::Unavailable, "who is not subscribed");
    let _first = lab.subscribe(3).expect("a subscription");
    let _second = lab.subscribe(4).expect("a subscription");
    let other = lab.bind(3, "switch").unwrap_err();
    assert_eq!(other.code(), Code::NotFound);
    assert!(other.message().contains(NAME), "{other}");
    lab.bind(3, NAME).expect("it is taken");
    lab.bind(3, NAME).expect("it is taken");
    assert_eq!(lab.bind(4, NAME).unwrap_err().code(), Code::AlreadyExists);
}

#[test]
fn only_bound_clients_and_those_that_name_the_program_read_and_write() {
    let mut lab = Lab::bare();
    let table_usage = wire::TableUsage { table_id: lab.id("forward"), ..Default::default() };
    let usage = crate::lab::entity(wire::entity::Entity::TableUsage(table_usage));
    let mut request = wire::ReadRequest { target: Some(all()), entities: vec![usage], ..Default::default() };
    let refused = lab.read_request(tonic::Request::new(request.clone())).unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    assert!(refused.message().contains("p4_name"), "{refused}");
    request.p4_name = NAME.to_owned();
    lab.read_request(tonic::Request::new(request.clone())).expect("a usage");
    request.p4_name = "other".to_owned();
    assert_eq!(lab.read_request(tonic::Request::new(request)).unwrap_err().code(), Code::NotFound);
}

#[test]
fn both_lists_of_tables_are_json() {
    let mut lab = Lab::bare();
    let (program, chip) = lab.info();
    let names = |json: &serde_json::Value| -> Vec<String> {
        let tables = json["tables"].as_array().expect("tables").iter();
        tables.map(|table| table["name"].as_str().expect("a name").to_owned()).collect()
    };
    for name in ["pipe.I.forward", "pipe.I.groups", "pipe.I.members", "pipe.I.ports", "pipe.IP.kinds"] {
        assert!(names(&program).iter().any(|one| one == name), "{name} in {:?}", names(&program));
    }
    for name in ["$PORT", "$pre.mgid", "$mirror.cfg"] {
        assert!(names(&chip).iter().any(|one| one == name), "{name} in {:?}", names(&chip));
    }
}

#[test]
fn a_device_starts_anew_and_all_are_told() {
    let (mut lab, mut told) = Lab::new();
    let forward = lab.id("forward");
    let key = vec![exact(lab.key_id("forward", "hdr.eth.dst"), [0, 0, 0, 0, 0, 1])];
    let send = lab.action("forward", "send");
    let port = stream(lab.data_id("forward", "port"), [0, 3]);
    lab.one(Type::Insert, entry(forward, key, send, vec![port])).expect("an entry");
    let config = vec![wire::ForwardingPipelineConfig { p4_name: NAME.to_owned(), ..Default::default() }];
    let request =
        |action: Action, config: &[wire::ForwardingPipelineConfig]| SetForwardingPipelineConfigRequest {
            action: action.into(),
            config: config.to_vec(),
            ..Default::default()
        };
    let early = lab.set(request(Action::WarmInitEnd, &[])).unwrap_err();
    assert_eq!(early.code(), Code::Unavailable);
    let mut other = config.clone();
    other[0].p4_name = "other".to_owned();
    assert_eq!(lab.set(request(Action::Verify, &other)).unwrap_err().code(), Code::Unimplemented);
    lab.set(request(Action::Verify, &config)).expect("it is taken");
    lab.set(request(Action::VerifyAndWarmInitBegin, &config)).expect("it is taken");
    lab.set(request(Action::WarmInitEnd, &[])).expect("it is taken");
    for phase in [Phase::WarmInitStarted, Phase::WarmInitFinished] {
        let update = lab.next(&mut told).expect("a message").update;
        let Some(Told::SetForwardingPipelineConfigResponse(response)) = update else {
            panic!("a phase, not {update:?}");
        };
        assert_eq!(response.set_forwarding_pipeline_config_response_type(), phase);
    }
    let left = lab.entries(wire::TableEntry { table_id: forward, ..Default::default() }).expect("a read");
    assert!(left.iter().all(|entry| entry.is_default_entry), "{left:?}");
}

#[test]
fn digests_come_on_the_stream() {
    let (lab, mut told) = Lab::new();
    lab.packet(2, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x09, 0]);
    assert_eq!(lab.pass(Span::from_ns(1_000)), 1);
    let update = lab.next(&mut told).expect("a message").update;
    let Some(Told::Digest(list)) = update else { panic!("a digest, not {update:?}") };
    let fields = &list.data[0].fields;
    assert_eq!(fields[0].value, stream(0, [2; 6]).value);
    assert_eq!(fields[1].value, stream(0, [0, 2]).value);
    let filters = lab.tables["learn_filters"].as_array().expect("digests");
    assert_eq!(filters[0]["id"].as_u64(), Some(list.digest_id.into()));
    told.say(wire::StreamMessageRequest {
        client_id: 0,
        update: Some(wire::stream_message_request::Update::DigestAck(wire::DigestListAck {
            digest_id: list.digest_id,
            list_id: list.list_id,
        })),
    });
}

fn set_attribute(lab: &mut Lab, table_id: u32, attribute: wire::table_attribute::Attribute) {
    let attribute = wire::TableAttribute { table_id, attribute: Some(attribute) };
    let entity = Some(crate::lab::entity(wire::entity::Entity::TableAttribute(attribute)));
    lab.write(vec![wire::Update { r#type: Type::Insert.into(), entity }]).expect("an attribute");
}

#[test]
fn ports_that_go_down_are_told_of_where_a_client_asks() {
    let (mut lab, mut told) = Lab::new();
    let (_, chip) = lab.info();
    let ports = chip["tables"].as_array().expect("tables").iter().find(|table| table["name"] == "$PORT");
    let id = u32::try_from(ports.expect("a table")["id"].as_u64().expect("an id")).expect("32 bits");
    let second = Span::from_ns(1_000_000_000);
    lab.switch(|switch| switch.control().set_port_up(4, false));
    assert_eq!(lab.pass(second), 0, "nobody asked");
    set_attribute(
        &mut lab,
        id,
        wire::table_attribute::Attribute::PortStatusNotify(wire::PortStatusChg { enable: true }),
    );
    assert_eq!(lab.pass(second), 0, "as it was");
    lab.switch(|switch| switch.control().set_port_up(4, true));
    assert_eq!(lab.pass(second), 1);
    let update = lab.next(&mut told).expect("a message").update;
    let Some(Told::PortStatusChangeNotification(change)) = update else { panic!("{update:?}") };
    assert!(change.port_up);
    let Some(wire::table_entry::Value::Key(key)) = change.table_entry.expect("an entry").value else {
        panic!()
    };
    assert_eq!(key.fields[0], exact(key.fields[0].field_id, [0, 0, 0, 4]));
}

#[test]
fn entries_that_nobody_hits_are_told_of_once_and_again_when_they_are_hit() {
    let (mut lab, mut told) = Lab::new();
    let forward = lab.id("forward");
    let idle = wire::IdleTable {
        ttl_query_interval: 1_000,
        idle_table_mode: wire::idle_table::IdleTableMode::IdleTableNotifyMode.into(),
        enable: true,
        ..Default::default()
    };
    set_attribute(&mut lab, forward, wire::table_attribute::Attribute::IdleTable(idle));
    let key = vec![exact(lab.key_id("forward", "hdr.eth.dst"), [0, 0, 0, 0, 0, 1])];
    let fields = vec![
        stream(lab.data_id("forward", "port"), [0, 3]),
        stream(lab.data_id("forward", "$ENTRY_TTL"), 2_000_u32.to_be_bytes()),
    ];
    let entry = entry(forward, key, lab.action("forward", "send"), fields);
    lab.one(Type::Insert, entry.clone()).expect("an entry");
    let second = Span::from_ns(1_000_000_000);
    assert_eq!((lab.pass(second), lab.pass(second), lab.pass(second)), (0, 1, 0));
    let read = lab.entries(wire::TableEntry { data: None, ..entry.clone() }).expect("the entry");
    assert_eq!(crate::lab::number_of(&read[0], lab.data_id("forward", "$ENTRY_TTL")), 0);
    lab.packet(0, &[0, 0, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 8, 0]);
    assert_eq!(lab.pass(second), 1);
    for kind in ["EntryIdle", "EntryActive"] {
        let update = lab.next(&mut told).expect("a message").update;
        let Some(Told::IdleTimeoutNotification(notification)) = update else { panic!("{update:?}") };
        assert_eq!(format!("{:?}", notification.r#type()), kind);
        let value = notification.table_entry.expect("an entry").value;
        assert_eq!(value, entry.value);
    }
}
