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
