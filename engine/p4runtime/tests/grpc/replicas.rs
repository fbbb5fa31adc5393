//! "PacketReplicationEngineEntry": ports as they were written, backups, entries that are not there.

use p4cc_p4runtime::proto::p4::v1 as p4;
use tonic::Code;

use crate::lab::{Lab, PORTS};
use p4::entity::Entity as Of;
use p4::packet_replication_engine_entry::Type as Kind;
use p4::replica::PortKind;
use p4::update::Type;

const MULTICAST: u8 = 2;

fn of(kind: Kind) -> Of {
    Of::PacketReplicationEngineEntry(p4::PacketReplicationEngineEntry { r#type: Some(kind) })
}

fn group(multicast_group_id: u32, replicas: Vec<p4::Replica>) -> Of {
    of(Kind::MulticastGroupEntry(p4::MulticastGroupEntry { multicast_group_id, replicas, metadata: vec![5] }))
}

fn session(session_id: u32, replicas: Vec<p4::Replica>) -> Of {
    of(Kind::CloneSessionEntry(p4::CloneSessionEntry { session_id, replicas, ..Default::default() }))
}

fn replica(port: u8, instance: u32, backups: &[(u8, u32)]) -> p4::Replica {
    let backup = |&(port, instance): &(u8, u32)| p4::BackupReplica { port: vec![port], instance };
    p4::Replica {
        port_kind: Some(PortKind::Port(vec![port])),
        instance,
        backup_replicas: backups.iter().map(backup).collect(),
    }
}

#[expect(deprecated, reason = "the numeric port is what is tried")]
fn numbered(port: u32) -> p4::Replica {
    p4::Replica { port_kind: Some(PortKind::EgressPort(port)), ..Default::default() }
}

#[test]
fn replicas_read_as_they_were_written() {
    let (lab, _stream) = Lab::with_primary();
    let replicas = || vec![numbered(4), replica(5, 1, &[(7, 2), (6, 3)])];
    for (written, asked) in
        [(group(1, replicas()), group(1, Vec::new())), (session(3, replicas()), session(3, Vec::new()))]
    {
        lab.insert(written.clone()).expect("an entry");
        assert_eq!(lab.read(asked).expect("it is there"), [written]);
    }
}

#[test]
fn a_copy_goes_to_a_backup_while_its_port_is_down() {
    let (lab, _stream) = Lab::with_primary();
    lab.insert(group(1, vec![replica(1, 1, &[(2, 2), (3, 3)]), replica(4, 4, &[])])).expect("a group");
    let sent = |changes: &[(u32, bool)]| {
        lab.switch(|switch| changes.iter().for_each(|&(port, up)| switch.control().set_port_up(port, up)));
        let depths = || -> Vec<u32> {
            PORTS.map(|port| lab.switch(|switch| switch.observation().port_depth_pkts(port))).collect()
        };
        let before = depths();
        lab.receive(0, MULTICAST, 1);
        let after = depths();
        let more = PORTS.zip(before.iter().zip(after)).filter(|(_, (before, after))| **before != *after);
        more.map(|(port, _)| port).collect::<Vec<u32>>()
    };
    assert_eq!(sent(&[]), [1, 4]);
    assert_eq!(sent(&[(1, false)]), [2, 4]);
    assert_eq!(sent(&[(2, false)]), [3, 4]);
    assert_eq!(sent(&[(2, true)]), [2, 4]);
    assert_eq!(sent(&[(1, true)]), [1, 4]);
    assert_eq!(
        sent(&[(1, false), (2, false), (3, false)]),
        [1, 4],
        "one to the first port, as nowhere is better"
    );
}

#[test]
fn backups_are_distinct() {
    let (lab, _stream) = Lab::with_primary();
    for bad in [
        vec![replica(1, 1, &[(1, 2)])],
        vec![replica(1, 1, &[(2, 2), (2, 2)])],
        vec![replica(1, 1, &[(2, 2)]), replica(2, 2, &[])],
        vec![replica(1, 1, &[(2, 70_000)])],
    ] {
        let (code, message) = lab.insert(group(1, bad)).expect_err("they are not distinct");
        assert_eq!(code, Code::InvalidArgument, "{message}");
    }
}

#[test]
fn what_is_not_there_reads_as_nothing() {
    let (lab, _stream) = Lab::with_primary();
    assert_eq!(lab.read(group(9, Vec::new())).expect("no error"), []);
    assert_eq!(lab.read(session(9, Vec::new())).expect("no error"), []);
    for (verb, entity, wanted) in [
        (Type::Delete, group(9, Vec::new()), Code::NotFound),
        (Type::Delete, group(0, Vec::new()), Code::InvalidArgument),
        (Type::Delete, session(0, Vec::new()), Code::InvalidArgument),
        (Type::Modify, session(0, Vec::new()), Code::InvalidArgument),
    ] {
        assert_eq!(lab.update(verb, entity).expect_err("it is not there").0, wanted);
    }
}
