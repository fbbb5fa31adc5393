//! "DigestEntry": lists, acknowledgements, timestamps; idle notifications beside them.

#![expect(deprecated, reason = "controller_metadata is tried too")]

use p4cc_p4runtime::proto::p4::v1 as p4;

use crate::lab::{EPOCH_NS, Lab, Stream, exact};
use p4::entity::Entity as Of;
use p4::stream_message_request::Update as Said;
use p4::stream_message_response::Update as Told;
use p4::update::Type;

const LEARN: u8 = 1;

fn config(max_timeout_ns: i64, max_list_size: i32, ack_timeout_ns: i64) -> p4::digest_entry::Config {
    p4::digest_entry::Config { max_timeout_ns, max_list_size, ack_timeout_ns }
}

fn entry(lab: &Lab, config: p4::digest_entry::Config) -> Of {
    Of::DigestEntry(p4::DigestEntry { digest_id: lab.digest(), config: Some(config) })
}

fn list(lab: &Lab, stream: &mut Stream) -> p4::DigestList {
    match lab.hear(stream) {
        Ok(Told::Digest(list)) => list,
        other => panic!("no digest list: {other:?}"),
    }
}

/// Addresses in a list.
fn addresses(list: &p4::DigestList) -> Vec<Vec<u8>> {
    use p4::p4_data::Data;
    let first = |data: &p4::P4Data| match &data.data {
        Some(Data::Struct(members)) => match &members.members[0].data {
            Some(Data::Bitstring(bytes)) => bytes.clone(),
            other => panic!("no bit string: {other:?}"),
        },
        other => panic!("no struct: {other:?}"),
    };
    list.data.iter().map(first).collect()
}

#[test]
fn no_list_holds_the_same_data_twice() {
    let (lab, mut stream) = Lab::with_primary();
    lab.insert(entry(&lab, config(0, 0, 0))).expect("a digest is configured");
    for address in [7, 8, 7, 7, 8] {
        lab.receive(0, LEARN, address);
    }
    lab.deliver_at(10);
    assert_eq!(addresses(&list(&lab, &mut stream)), [vec![7], vec![8]]);
    // Without a timeout for acknowledgements nothing keeps it from coming again.
    lab.receive(0, LEARN, 7);
    lab.deliver_at(20);
    assert_eq!(addresses(&list(&lab, &mut stream)), [vec![7]]);
}

#[test]
fn a_list_counts_distinct_messages() {
    let (lab, mut stream) = Lab::with_primary();
    lab.insert(entry(&lab, config(1_000, 2, 0))).expect("a digest is configured");
    for address in [7, 7, 7] {
        lab.receive(0, LEARN, address);
    }
    lab.deliver_at(10);
    lab.receive(0, LEARN, 9);
    lab.deliver_at(20);
    let full = list(&lab, &mut stream);
    assert_eq!((addresses(&full), full.timestamp), (vec![vec![7], vec![9]], (EPOCH_NS + 20) as i64));
    lab.receive(0, LEARN, 7);
    lab.deliver_at(30);
    lab.deliver_at(1_030);
    let late = list(&lab, &mut stream);
    assert_eq!((addresses(&late), late.timestamp), (vec![vec![7]], (EPOCH_NS + 1_030) as i64));
}

#[test]
fn lists_of_one_come_for_each_message() {
    let (lab, mut stream) = Lab::with_primary();
    lab.insert(entry(&lab, config(1_000, 1, 0))).expect("a digest is configured");
    lab.receive(0, LEARN, 7);
    lab.receive(0, LEARN, 7);
    lab.deliver_at(10);
    let ids = [list(&lab, &mut stream), list(&lab, &mut stream)].map(|list| list.list_id);
    assert!(ids[0] < ids[1]);
}

#[test]
fn what_is_not_acknowledged_waits_for_its_timeout() {
    let (lab, mut stream) = Lab::with_primary();
    lab.insert(entry(&lab, config(0, 0, 100))).expect("a digest is configured");
    let mut learn = |at: u64, address: u32| {
        lab.receive(0, LEARN, address);
        lab.deliver_at(at);
        // Each other list shows that none came before it.
        lab.receive(1, LEARN, 1_000 + at as u32);
        lab.deliver_at(at);
        list(&lab, &mut stream)
    };
    let first = learn(10, 7);
    assert_eq!(addresses(&first), [vec![7]]);
    assert_ne!(addresses(&learn(20, 7)), [vec![7]], "the first list's second half");
    let ack = p4::DigestListAck { digest_id: first.digest_id, list_id: first.list_id };
    lab.say(&stream, Some(Said::DigestAck(ack)));
    // The server answers an acknowledgement of nothing that
    // it knows, which shows that it took the one before.
    let unknown = p4::DigestListAck { digest_id: 1, list_id: 1 };
    lab.say(&stream, Some(Said::DigestAck(unknown)));
    let mut heard = Vec::new();
    loop {
        match lab.hear(&mut stream) {
            Ok(Told::Error(_)) => break,
            Ok(Told::Digest(list)) => heard.extend(addresses(&list)),
            other => panic!("{other:?}"),
        }
    }
    assert!(!heard.contains(&vec![7]), "{heard:?}");
    lab.receive(0, LEARN, 7);
    lab.deliver_at(30);
    assert_eq!(addresses(&list(&lab, &mut stream)), [vec![7]]);
    lab.receive(0, LEARN, 7);
    lab.deliver_at(129);
    lab.receive(0, LEARN, 7);
    lab.deliver_at(130);
    let again = list(&lab, &mut stream);
    assert_eq!((addresses(&again), again.timestamp), (vec![vec![7]], (EPOCH_NS + 130) as i64));
}

#[test]
fn a_digest_that_was_deleted_starts_anew() {
    let (lab, mut stream) = Lab::with_primary();
    lab.insert(entry(&lab, config(1_000, 0, 1_000))).expect("a digest is configured");
    lab.receive(0, LEARN, 7);
    lab.deliver_at(10);
    lab.update(Type::Delete, entry(&lab, config(0, 0, 0))).expect("it is there");
    lab.insert(entry(&lab, config(0, 0, 1_000))).expect("a digest is configured");
    lab.receive(0, LEARN, 8);
    lab.deliver_at(20);
    assert_eq!(addresses(&list(&lab, &mut stream)), [vec![8]], "what waited before is not wanted any more");
}

#[test]
fn another_primary_hears_what_the_one_before_was_told() {
    let (lab, mut stream) = Lab::with_primary();
    lab.insert(entry(&lab, config(0, 0, 1_000))).expect("a digest is configured");
    lab.receive(0, LEARN, 7);
    lab.deliver_at(10);
    assert_eq!(addresses(&list(&lab, &mut stream)), [vec![7]]);
    let mut other = lab.open();
    assert_eq!(lab.arbitrate(&mut other, 2, None), tonic::Code::Ok);
    lab.receive(0, LEARN, 7);
    lab.deliver_at(20);
    assert_eq!(addresses(&list(&lab, &mut other)), [vec![7]]);
}

#[test]
fn idle_notifications_count_from_the_epoch_and_name_what_the_controller_keeps() {
    let (lab, mut stream) = Lab::with_primary();
    let entry = p4::TableEntry {
        table_id: lab.table("hosts"),
        r#match: vec![exact(1, &[7])],
        action: lab.forwards(1),
        idle_timeout_ns: 500,
        metadata: vec![1, 2],
        controller_metadata: 99,
        ..Default::default()
    };
    assert_eq!(lab.next_due_ns(), None);
    lab.insert(Of::TableEntry(entry.clone())).expect("an entry");
    assert_eq!(lab.next_due_ns(), Some(500));
    assert_eq!((lab.deliver_at(499), lab.deliver_at(500)), (0, 1));
    assert_eq!(lab.next_due_ns(), Some(1_000), "it comes again");
    let told = match lab.hear(&mut stream) {
        Ok(Told::IdleTimeoutNotification(told)) => told,
        other => panic!("{other:?}"),
    };
    assert_eq!(told.timestamp, (EPOCH_NS + 500) as i64);
    assert_eq!(told.table_entry, [p4::TableEntry { action: None, ..entry }]);
}

#[test]
fn a_list_is_due_when_its_oldest_has_waited() {
    let (lab, mut stream) = Lab::with_primary();
    lab.insert(entry(&lab, config(100, 10, 0))).expect("a digest is configured");
    for (now_ns, address) in [(20, 7), (60, 8)] {
        assert_eq!(lab.deliver_at(now_ns), 0);
        lab.receive(0, LEARN, address);
        assert_eq!(lab.deliver_at(now_ns), 0);
        assert_eq!(lab.next_due_ns(), Some(120));
    }
    assert_eq!(lab.deliver_at(120), 1);
    assert_eq!(addresses(&list(&lab, &mut stream)), [vec![7], vec![8]]);
    assert_eq!(lab.next_due_ns(), None);
}

#[test]
fn a_server_beside_knows_programs_and_digests_and_no_controllers() {
    let (lab, _stream) = Lab::with_primary();
    lab.insert(entry(&lab, config(0, 0, 0))).expect("a digest is configured");
    let other = lab.beside();
    assert_eq!(other.info, lab.info);
    other.receive(0, LEARN, 7);
    assert_eq!(other.deliver_at(10), 0, "nobody is connected there");
    let mut stream = other.open();
    assert_eq!(other.arbitrate(&mut stream, 1, None), tonic::Code::Ok, "the id is free there");
    other.receive(0, LEARN, 8);
    assert_eq!(other.deliver_at(20), 1);
    assert_eq!(addresses(&list(&other, &mut stream)), [vec![8]]);
    lab.receive(0, LEARN, 9);
    assert_eq!(lab.deliver_at(30), 1, "the first has its own switch and its own controller");
}
