//! Multicast groups and clone sessions.

#![expect(deprecated, reason = "deprecated fields are read, to be honoured or refused")]

use p4cc_exec::control::PortForm;
use p4cc_switch::{CloneSession, MulticastGroup, Replica, Target as CopyTarget};

use super::piece::{Cursor, Piece, Progress};
use super::{Target, Verb};
use crate::codec::{canonical, parse};
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::entity::Entity as Of;
use p4::packet_replication_engine_entry::Type;
use p4::replica::PortKind;

/// Ports are 32-bit numbers to the controller.
const PORT_BITS: u32 = 32;

fn parse_replicas(what: &str, given: &[p4::Replica]) -> Result<Vec<Replica>, Failure> {
    given.iter().map(|replica| parse_replica(what, replica)).collect()
}

fn parse_replica(what: &str, given: &p4::Replica) -> Result<Replica, Failure> {
    let (port, form) = match &given.port_kind {
        Some(PortKind::EgressPort(port)) => (*port, PortForm::Number),
        Some(PortKind::Port(bytes)) => {
            (parse_port(bytes, &format!("{what}, replica port"))?, PortForm::Bytes)
        }
        None => return Err(Failure::invalid(format!("{what}: a replica has no port"))),
    };
    let backups = given.backup_replicas.iter().map(|backup| {
        let port = parse_port(&backup.port, &format!("{what}, backup replica port"))?;
        Ok(CopyTarget { port, instance: parse_instance(what, backup.instance)? })
    });
    let backups = backups.collect::<Result<_, Failure>>()?;
    let first = CopyTarget { port, instance: parse_instance(what, given.instance)? };
    Ok(Replica { first, form, backups })
}

fn parse_instance(what: &str, given: u32) -> Result<u16, Failure> {
    u16::try_from(given).map_err(|_| {
        Failure::invalid(format!("{what}: instance {given} is above 65535, the most of egress_rid"))
    })
}

/// Reads a port number.
pub(super) fn parse_port(bytes: &[u8], what: &str) -> Result<u32, Failure> {
    let port = parse(bytes, PORT_BITS, || what.to_owned())?;
    u32::try_from(port.low_u64()).map_err(|_| Failure::out_of_range(format!("{what}: not a port")))
}

/// A port number's byte string.
pub(super) fn port_bytes(port: u32) -> Vec<u8> {
    canonical(&p4cc_ir::Bits::from_u128(PORT_BITS, port.into()))
}

fn replicas(of: &[Replica]) -> Vec<p4::Replica> {
    let backup = |backup: &CopyTarget| p4::BackupReplica {
        port: port_bytes(backup.port),
        instance: backup.instance.into(),
    };
    let replica = |replica: &Replica| p4::Replica {
        port_kind: Some(match replica.form {
            PortForm::Bytes => PortKind::Port(port_bytes(replica.first.port)),
            PortForm::Number => PortKind::EgressPort(replica.first.port),
        }),
        instance: replica.first.instance.into(),
        backup_replicas: replica.backups.iter().map(backup).collect(),
    };
    of.iter().map(replica).collect()
}

/// Inserts, replaces or removes a group or session.
pub(super) fn write(
    target: &mut Target<'_>,
    verb: Verb,
    entry: &p4::PacketReplicationEngineEntry,
) -> Result<(), Failure> {
    let engine = target.switch.control().pre_mut();
    match &entry.r#type {
        Some(Type::MulticastGroupEntry(group)) => {
            let id = group.multicast_group_id;
            if verb == Verb::Delete {
                return Ok(engine.delete_group(id)?);
            }
            let replicas = parse_replicas(&format!("multicast group {id}"), &group.replicas)?;
            let group = MulticastGroup { id, replicas, metadata: group.metadata.clone() };
            Ok(if verb == Verb::Insert { engine.insert_group(group) } else { engine.modify_group(group) }?)
        }
        Some(Type::CloneSessionEntry(session)) => {
            let id = session.session_id;
            if verb == Verb::Delete {
                return Ok(engine.delete_session(id)?);
            }
            let what = format!("clone session {id}");
            let length = session.packet_length_bytes;
            let packet_length_bytes = u32::try_from(length)
                .map_err(|_| Failure::invalid(format!("{what}: packet length {length} is negative")))?;
            let session = CloneSession {
                id,
                replicas: parse_replicas(&what, &session.replicas)?,
                class_of_service: session.class_of_service,
                packet_length_bytes,
            };
            Ok(if verb == Verb::Insert {
                engine.insert_session(session)
            } else {
                engine.modify_session(session)
            }?)
        }
        None => Err(Failure::invalid("the replication engine entry names neither a group nor a session")),
    }
}

/// Reads one group or session, or all of either; one that is not there gives nothing.
pub(super) fn read(
    target: &Target<'_>,
    entry: &p4::PacketReplicationEngineEntry,
    cursor: &mut Cursor,
    piece: &mut Piece,
) -> Result<Progress, Failure> {
    let engine = target.switch.observation().pre();
    match &entry.r#type {
        Some(Type::MulticastGroupEntry(p4::MulticastGroupEntry { multicast_group_id: id, .. })) => {
            let groups = engine.groups().filter(|group| *id == 0 || group.id == *id);
            Ok(read_some(groups, cursor, piece, |group| {
                Type::MulticastGroupEntry(p4::MulticastGroupEntry {
                    multicast_group_id: group.id,
                    replicas: replicas(&group.replicas),
                    metadata: group.metadata.clone(),
                })
            }))
        }
        Some(Type::CloneSessionEntry(p4::CloneSessionEntry { session_id: id, .. })) => {
            let sessions = engine.sessions().filter(|session| *id == 0 || session.id == *id);
            Ok(read_some(sessions, cursor, piece, |session| {
                Type::CloneSessionEntry(p4::CloneSessionEntry {
                    session_id: session.id,
                    replicas: replicas(&session.replicas),
                    class_of_service: session.class_of_service,
                    packet_length_bytes: i32::try_from(session.packet_length_bytes).unwrap_or(i32::MAX),
                })
            }))
        }
        None => Err(Failure::invalid("the replication engine entry names neither a group nor a session")),
    }
}

/// Reads on in the groups, or in the sessions.
fn read_some<T>(
    all: impl Iterator<Item = T>,
    cursor: &mut Cursor,
    piece: &mut Piece,
    message: impl Fn(T) -> Type,
) -> Progress {
    for one in all.skip(cursor.at()) {
        if piece.is_full() {
            return Progress::More;
        }
        cursor.advance();
        let entry = p4::PacketReplicationEngineEntry { r#type: Some(message(one)) };
        piece.push(Of::PacketReplicationEngineEntry(entry));
    }
    Progress::Done
}
