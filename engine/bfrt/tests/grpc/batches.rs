//! Batches: what fails stops nothing, or undoes everything; wishes in a request's metadata.

use p4cc_bfrt::proto::bfrt_proto as wire;
use tonic::{Code, Request};
use wire::update::Type;
use wire::write_request::Atomicity;

use crate::lab::{Lab, all, codes, entity, entry, exact, stream, update};

fn forward(lab: &Lab, dst: u8) -> wire::TableEntry {
    let key = vec![exact(lab.key_id("forward", "hdr.eth.dst"), [0, 0, 0, 0, 0, dst])];
    let port = stream(lab.data_id("forward", "port"), [0, 1]);
    entry(lab.id("forward"), key, lab.action("forward", "send"), vec![port])
}

fn count(lab: &mut Lab) -> usize {
    let all = wire::TableEntry { table_id: lab.id("forward"), ..Default::default() };
    lab.entries(all).expect("entries").iter().filter(|entry| !entry.is_default_entry).count()
}

#[test]
fn what_fails_stops_nothing() {
    let (mut lab, _stream) = Lab::new();
    let updates = [1, 2, 1, 3].map(|dst| update(Type::Insert, forward(&lab, dst))).to_vec();
    let status = lab.write(updates).unwrap_err();
    assert_eq!(codes(&status), [Code::Ok, Code::Ok, Code::AlreadyExists, Code::Ok]);
    assert_eq!(count(&mut lab), 3);
}

#[test]
fn a_whole_batch_ends_with_its_first_failure_and_leaves_everything_as_it_was() {
    let (mut lab, _stream) = Lab::new();
    lab.one(Type::Insert, forward(&lab, 9)).expect("an entry");
    for atomicity in [Atomicity::RollbackOnError, Atomicity::DataplaneAtomic] {
        let updates = [1, 2, 1, 3, 3].map(|dst| update(Type::Insert, forward(&lab, dst))).to_vec();
        let status = lab.write_atomic(updates, atomicity).unwrap_err();
        assert_eq!(codes(&status), [Code::Ok, Code::Ok, Code::AlreadyExists]);
        assert_eq!(count(&mut lab), 1);
    }
    let updates = [1, 2].map(|dst| update(Type::Insert, forward(&lab, dst))).to_vec();
    lab.write_atomic(updates, Atomicity::RollbackOnError).expect("a batch");
    assert_eq!(count(&mut lab), 3);
}

fn with<T>(message: T, names: &[(&'static str, &str)]) -> Request<T> {
    let mut request = Request::new(message);
    for (name, value) in names {
        request.metadata_mut().insert(*name, value.parse().expect("text"));
    }
    request
}

#[test]
fn errors_come_in_the_answer_where_they_are_wished_there() {
    let (mut lab, _stream) = Lab::new();
    let write = wire::WriteRequest {
        target: Some(all()),
        updates: [1, 1].map(|dst| update(Type::Insert, forward(&lab, dst))).to_vec(),
        ..Default::default()
    };
    // A call that writes fails all the same, as the driver's does, and its error has them.
    let refused = lab.write_request(with(write, &[("error_in_resp", "1")])).unwrap_err();
    let codes: Vec<i32> = crate::lab::details(&refused).iter().map(|error| error.canonical_code).collect();
    assert_eq!(codes, [0, Code::AlreadyExists as i32]);
    let entities = [1, 7].map(|dst| {
        entity(wire::entity::Entity::TableEntry(wire::TableEntry { data: None, ..forward(&lab, dst) }))
    });
    let read = wire::ReadRequest { target: Some(all()), entities: entities.to_vec(), ..Default::default() };
    let (found, status) = lab.read_request(with(read.clone(), &[("error_in_resp", "1")])).expect("an answer");
    assert_eq!(found.len(), 1);
    let codes: Vec<i32> = status.iter().map(|error| error.canonical_code).collect();
    assert_eq!(codes, [0, Code::NotFound as i32]);
    // Told both ways, it is the same text.
    let other = lab.read_request(Request::new(read)).unwrap_err();
    assert_eq!(crate::lab::details(&other)[1].message, status[1].message);
}

#[test]
fn deleting_what_is_not_there_is_no_failure_where_it_is_wished() {
    let (mut lab, _stream) = Lab::new();
    lab.one(Type::Insert, forward(&lab, 1)).expect("an entry");
    let write = wire::WriteRequest {
        target: Some(all()),
        atomicity: Atomicity::RollbackOnError.into(),
        updates: [1, 2].map(|dst| update(Type::Delete, forward(&lab, dst))).to_vec(),
        ..Default::default()
    };
    let answer = lab.write_request(with(write, &[("error_in_resp", "1"), ("ignore_not_found", "1")]));
    let status = answer.expect("an answer").status;
    assert_eq!((status[0].code, status[0].canonical_code), (0, 0));
    assert_eq!((status[1].code, status[1].canonical_code), (Code::NotFound as i32, 0));
    assert_eq!(count(&mut lab), 0);
}

#[test]
fn a_request_ends_with_its_time() {
    let (mut lab, _stream) = Lab::new();
    let write = wire::WriteRequest {
        target: Some(all()),
        updates: vec![update(Type::Insert, forward(&lab, 1))],
        ..Default::default()
    };
    let late = lab.write_request(with(write, &[("deadline_sec", "0"), ("deadline_nsec", "0")])).unwrap_err();
    assert_eq!(late.code(), Code::DeadlineExceeded);
    assert_eq!(count(&mut lab), 0);
}
