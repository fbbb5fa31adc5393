//! The packet replication engine: multicast groups and clone sessions, as the control plane sets them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use p4cc_exec::control::{ControlError, PortForm};

use crate::config::PRIORITIES;

/// Largest multicast group id: v1model's `mcast_grp` has 16 bits and 0 means none.
pub const MAX_GROUP_ID: u32 = 65_535;
/// Largest clone session id.
pub const MAX_SESSION_ID: u32 = 32_767;
/// Most replicas of a group or session, backups counted.
pub const MAX_REPLICAS: usize = 1_024;
/// Most groups and most sessions.
pub const MAX_GROUPS: usize = 4_096;

/// One copy to make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replica {
    /// Where to, while that port is up.
    pub first: Target,
    /// How the port was written; backups have byte strings.
    pub form: PortForm,
    /// Where to otherwise: the first whose port is up. While none is, the copy goes to the first target.
    pub backups: Vec<Target>,
}

/// Where a copy goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// The port.
    pub port: u32,
    /// Value of `egress_rid`.
    pub instance: u16,
}

impl Replica {
    /// A copy without backups.
    pub fn new(port: u32, instance: u16) -> Self {
        Self { first: Target { port, instance }, form: PortForm::default(), backups: Vec::new() }
    }
}

/// Where the copies of replicas go while some ports are down.
pub(crate) fn targets(replicas: &[Replica], ports_down: &BTreeSet<u32>) -> Vec<Target> {
    let is_up = |target: &&Target| !ports_down.contains(&target.port);
    let choose = |replica: &Replica| {
        let mut all = core::iter::once(&replica.first).chain(&replica.backups);
        all.find(is_up).copied().unwrap_or(replica.first)
    };
    replicas.iter().map(choose).collect()
}

/// A multicast group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MulticastGroup {
    /// Value of `mcast_grp`, from 1.
    pub id: u32,
    /// Copies in order.
    pub replicas: Vec<Replica>,
    /// Opaque to the switch, given back on read.
    pub metadata: Vec<u8>,
}

/// A clone session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CloneSession {
    /// The program's session number, from 1.
    pub id: u32,
    /// Copies in order.
    pub replicas: Vec<Replica>,
    /// Priority of the copies in their queues.
    pub class_of_service: u32,
    /// Length that copies are cut to; 0 for whole packets.
    pub packet_length_bytes: u32,
}

/// Groups and sessions by id.
#[derive(Clone, Debug, Default)]
pub struct ReplicationEngine {
    groups: BTreeMap<u32, MulticastGroup>,
    sessions: BTreeMap<u32, CloneSession>,
}

impl ReplicationEngine {
    /// Adds a group.
    ///
    /// # Errors
    /// It exists, there are too many, or a value is out of range.
    pub fn insert_group(&mut self, group: MulticastGroup) -> Result<(), ControlError> {
        check_group(&group)?;
        insert("multicast group", &mut self.groups, group.id, group)
    }

    /// Replaces a group.
    ///
    /// # Errors
    /// It does not exist, or a value is out of range.
    pub fn modify_group(&mut self, group: MulticastGroup) -> Result<(), ControlError> {
        check_group(&group)?;
        modify("multicast group", &mut self.groups, group.id, group)
    }

    /// Removes a group.
    ///
    /// # Errors
    /// It does not exist.
    pub fn delete_group(&mut self, id: u32) -> Result<(), ControlError> {
        check_id("multicast group", id, MAX_GROUP_ID)?;
        delete("multicast group", &mut self.groups, id)
    }

    /// All groups by id.
    pub fn groups(&self) -> impl Iterator<Item = &MulticastGroup> {
        self.groups.values()
    }

    /// One group.
    pub fn group(&self, id: u32) -> Option<&MulticastGroup> {
        self.groups.get(&id)
    }

    /// Adds a session.
    ///
    /// # Errors
    /// It exists, there are too many, or a value is out of range.
    pub fn insert_session(&mut self, session: CloneSession) -> Result<(), ControlError> {
        check_session(&session)?;
        insert("clone session", &mut self.sessions, session.id, session)
    }

    /// Replaces a session.
    ///
    /// # Errors
    /// It does not exist, or a value is out of range.
    pub fn modify_session(&mut self, session: CloneSession) -> Result<(), ControlError> {
        check_session(&session)?;
        modify("clone session", &mut self.sessions, session.id, session)
    }

    /// Removes a session.
    ///
    /// # Errors
    /// It does not exist.
    pub fn delete_session(&mut self, id: u32) -> Result<(), ControlError> {
        check_id("clone session", id, MAX_SESSION_ID)?;
        delete("clone session", &mut self.sessions, id)
    }

    /// All sessions by id.
    pub fn sessions(&self) -> impl Iterator<Item = &CloneSession> {
        self.sessions.values()
    }

    /// One session.
    pub fn session(&self, id: u32) -> Option<&CloneSession> {
        self.sessions.get(&id)
    }
}

fn check_group(group: &MulticastGroup) -> Result<(), ControlError> {
    check_id("multicast group", group.id, MAX_GROUP_ID)?;
    check_replicas("multicast group", group.id, &group.replicas)
}

fn check_session(session: &CloneSession) -> Result<(), ControlError> {
    check_id("clone session", session.id, MAX_SESSION_ID)?;
    check_replicas("clone session", session.id, &session.replicas)?;
    if session.class_of_service as usize >= PRIORITIES {
        return Err(ControlError::InvalidArgument(format!(
            "clone session {}: class of service {} is not a priority from 0 to 7",
            session.id, session.class_of_service
        )));
    }
    Ok(())
}

fn check_id(what: &str, id: u32, max: u32) -> Result<(), ControlError> {
    if (1..=max).contains(&id) {
        return Ok(());
    }
    Err(ControlError::InvalidArgument(format!("{what} id {id} is not a number from 1 to {max}")))
}

fn check_replicas(what: &str, id: u32, replicas: &[Replica]) -> Result<(), ControlError> {
    let count: usize = replicas.iter().map(|replica| 1 + replica.backups.len()).sum();
    if count > MAX_REPLICAS {
        return Err(ControlError::ResourceExhausted(format!(
            "{what} {id} has {count} replicas; the most is {MAX_REPLICAS}"
        )));
    }
    for replica in replicas {
        let port = replica.first.port;
        if replica.backups.iter().any(|backup| backup.port == port) {
            return Err(ControlError::InvalidArgument(format!(
                "{what} {id} names port {port} as a backup of itself; give a backup another port"
            )));
        }
    }
    let targets =
        replicas.iter().flat_map(|replica| core::iter::once(&replica.first).chain(&replica.backups));
    let mut seen: Vec<(u32, u16)> = targets.map(|target| (target.port, target.instance)).collect();
    seen.sort_unstable();
    if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
        let (port, instance) = twice[0];
        return Err(ControlError::InvalidArgument(format!(
            "{what} {id} names port {port} with instance {instance} twice; give each copy a different instance"
        )));
    }
    Ok(())
}

pub(crate) fn insert<K: Ord + Display, V>(
    what: &str,
    map: &mut BTreeMap<K, V>,
    id: K,
    value: V,
) -> Result<(), ControlError> {
    if map.contains_key(&id) {
        return Err(ControlError::AlreadyExists(format!("{what} {id} exists already; modify it instead")));
    }
    if map.len() >= MAX_GROUPS {
        return Err(ControlError::ResourceExhausted(format!(
            "there are {MAX_GROUPS} already: no room for {what} {id}"
        )));
    }
    map.insert(id, value);
    Ok(())
}

pub(crate) fn modify<K: Ord + Display, V>(
    what: &str,
    map: &mut BTreeMap<K, V>,
    id: K,
    value: V,
) -> Result<(), ControlError> {
    match map.get_mut(&id) {
        Some(old) => {
            *old = value;
            Ok(())
        }
        None => Err(ControlError::NotFound(format!("there is no {what} {id}; insert it first"))),
    }
}

pub(crate) fn delete<K: Ord + Display, V>(
    what: &str,
    map: &mut BTreeMap<K, V>,
    id: K,
) -> Result<(), ControlError> {
    match map.remove(&id) {
        Some(_) => Ok(()),
        None => Err(ControlError::NotFound(format!("there is no {what} {id}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(id: u32, ports: &[(u32, u16)]) -> MulticastGroup {
        let replicas = ports.iter().map(|&(port, instance)| Replica::new(port, instance)).collect();
        MulticastGroup { id, replicas, metadata: Vec::new() }
    }

    #[test]
    fn groups_obey_insert_modify_and_delete() {
        let mut pre = ReplicationEngine::default();
        assert!(matches!(pre.modify_group(group(1, &[])), Err(ControlError::NotFound(_))));
        assert_eq!(pre.insert_group(group(1, &[(1, 0)])), Ok(()));
        assert!(matches!(pre.insert_group(group(1, &[])), Err(ControlError::AlreadyExists(_))));
        assert_eq!(pre.modify_group(group(1, &[(1, 0), (1, 1)])), Ok(()));
        assert_eq!(pre.group(1).map(|group| group.replicas.len()), Some(2));
        assert_eq!(pre.delete_group(1), Ok(()));
        assert!(matches!(pre.delete_group(1), Err(ControlError::NotFound(_))));
    }

    #[test]
    fn values_out_of_range_are_refused() {
        let mut pre = ReplicationEngine::default();
        for bad in [group(0, &[]), group(65_536, &[]), group(1, &[(4, 2), (5, 2), (4, 2)])] {
            assert!(matches!(pre.insert_group(bad), Err(ControlError::InvalidArgument(_))));
        }
        let session =
            CloneSession { id: 1, replicas: Vec::new(), class_of_service: 8, packet_length_bytes: 0 };
        assert!(matches!(pre.insert_session(session), Err(ControlError::InvalidArgument(_))));
        assert!(matches!(pre.delete_session(0), Err(ControlError::InvalidArgument(_))));
    }

    #[test]
    fn a_copy_goes_to_the_first_port_that_is_up() {
        let target = |port| Target { port, instance: port as u16 };
        let replicas = vec![Replica { backups: vec![target(2), target(3)], ..Replica::new(1, 1) }];
        let chosen = |down: &[u32]| targets(&replicas, &down.iter().copied().collect())[0].port;
        assert_eq!([chosen(&[]), chosen(&[1]), chosen(&[1, 2]), chosen(&[2])], [1, 2, 3, 1]);
        assert_eq!(chosen(&[1, 2, 3]), 1, "nowhere else is better");
    }

    #[test]
    fn backups_are_distinct() {
        let mut pre = ReplicationEngine::default();
        let backup =
            |port, instance| Replica { backups: vec![Target { port, instance }], ..Replica::new(1, 1) };
        for replicas in [vec![backup(1, 2)], vec![backup(2, 2), Replica::new(2, 2)]] {
            let group = MulticastGroup { id: 1, replicas, metadata: Vec::new() };
            assert!(matches!(pre.insert_group(group), Err(ControlError::InvalidArgument(_))));
        }
    }
}
