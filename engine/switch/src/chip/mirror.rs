//! Mirror sessions of the chip: where copies go that a deparser's `Mirror` asks for, and how long they are.

use std::collections::BTreeMap;

use p4cc_exec::control::ControlError;

use super::bounds::check_port;
use super::multicast::MAX_L2_XID;
use crate::pre::{delete, insert, modify};

/// Greatest number of a session, Tofino 1's.
pub const MAX_SESSION: u16 = 1_023;
/// Greatest number of a queue, Tofino 2's.
const MAX_QUEUE: u32 = 127;

/// Which deparser may use a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MirrorDirection {
    /// Ingress.
    Ingress,
    /// Egress.
    Egress,
    /// Both.
    #[default]
    Both,
}

/// A session.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MirrorSession {
    /// Its number.
    pub id: u16,
    /// It makes copies.
    pub enabled: bool,
    /// For which deparser.
    pub direction: MirrorDirection,
    /// Port of a copy.
    pub unicast_port: u32,
    /// Whether there is a copy for that port.
    pub unicast_valid: bool,
    /// Queue of the copies.
    pub queue: u32,
    /// Class of ingress. Kept: nothing here depends on it.
    pub ingress_cos: u8,
    /// Colour, from 0 for green. Kept: nothing here depends on it.
    pub color: u8,
    /// `level1_mcast_hash` of the copies.
    pub level1_hash: u16,
    /// `level2_mcast_hash` of the copies.
    pub level2_hash: u16,
    /// `mcast_grp_a` and `mcast_grp_b`, each with whether it holds.
    pub groups: [(u16, bool); 2],
    /// `level1_exclusion_id` of the copies.
    pub l1_xid: u16,
    /// `level2_exclusion_id` of the copies.
    pub l2_xid: u16,
    /// `rid` of the copies.
    pub rid: u16,
    /// Class of the copy for the CPU. Kept: nothing here depends on it.
    pub cpu_cos: u8,
    /// A copy goes to the CPU.
    pub copy_to_cpu: bool,
    /// Length that copies are cut to, mirror header included; 0 for whole packets.
    pub max_length_bytes: u16,
}

impl MirrorSession {
    /// A session that makes no copies yet.
    pub fn new(id: u16) -> Self {
        Self { id, ..Self::default() }
    }

    fn check(&self) -> Result<(), ControlError> {
        let (id, wrong) = (self.id, |what: String| Err(ControlError::InvalidArgument(what)));
        check_id(id)?;
        check_port(&format!("mirror session {id}"), self.unicast_port)?;
        if self.queue > MAX_QUEUE {
            return wrong(format!(
                "mirror session {id}: queue {} is not one from 0 to {MAX_QUEUE}",
                self.queue
            ));
        }
        if self.l2_xid > MAX_L2_XID {
            let xid = self.l2_xid;
            return wrong(format!("mirror session {id}: level-2 exclusion {xid} is above {MAX_L2_XID}"));
        }
        Ok(())
    }

    /// The session as a packet wants it that says parts of it itself.
    pub(crate) fn with(&self, says: MirrorOverride) -> Self {
        let mut made = self.clone();
        if let Some(hash) = says.hash {
            (made.level1_hash, made.level2_hash) = (hash, hash);
        }
        if let Some(port) = says.port {
            (made.unicast_port, made.unicast_valid) = (port, true);
        }
        made.queue = says.queue.unwrap_or(made.queue);
        if let Some(multicast) = says.multicast {
            made.groups = made.groups.map(|(group, _)| (group, multicast && group != 0));
        }
        made
    }

    /// Whether a deparser may use it.
    pub(crate) fn serves(&self, is_egress: bool) -> bool {
        let other = if is_egress { MirrorDirection::Ingress } else { MirrorDirection::Egress };
        self.enabled && self.direction != other
    }
}

/// What a packet says of its mirrored copies itself (Tofino 2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MirrorOverride {
    /// Both hashes of the replication engine.
    pub hash: Option<u16>,
    /// Port of the copy.
    pub port: Option<u32>,
    /// Queue of the copies.
    pub queue: Option<u32>,
    /// Whether copies go to the session's groups.
    pub multicast: Option<bool>,
    /// A copy whose queue is full goes where such packets go.
    pub deflects: bool,
}

/// Why a session that collects parts of packets is refused.
pub fn no_coalescing(id: u16) -> ControlError {
    ControlError::Unimplemented(format!(
        "mirror session {id}: coalescing sessions, which collect parts of packets, are not done; make a normal one"
    ))
}

fn check_id(id: u16) -> Result<(), ControlError> {
    if id <= MAX_SESSION {
        return Ok(());
    }
    let text = format!("mirror session {id} is not a number from 0 to {MAX_SESSION}");
    Err(ControlError::InvalidArgument(text))
}

/// Sessions by number.
#[derive(Clone, Debug, Default)]
pub struct MirrorSessions(BTreeMap<u16, MirrorSession>);

const SESSION: &str = "mirror session";

impl MirrorSessions {
    /// Adds a session, or replaces it.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn put(&mut self, session: MirrorSession) -> Result<(), ControlError> {
        session.check()?;
        self.0.insert(session.id, session);
        Ok(())
    }

    /// Adds a session.
    ///
    /// # Errors
    /// It exists, or a value is out of range.
    pub fn insert(&mut self, session: MirrorSession) -> Result<(), ControlError> {
        session.check()?;
        insert(SESSION, &mut self.0, session.id, session)
    }

    /// Replaces a session.
    ///
    /// # Errors
    /// It does not exist, or a value is out of range.
    pub fn modify(&mut self, session: MirrorSession) -> Result<(), ControlError> {
        session.check()?;
        modify(SESSION, &mut self.0, session.id, session)
    }

    /// Removes a session.
    ///
    /// # Errors
    /// It does not exist.
    pub fn delete(&mut self, id: u16) -> Result<(), ControlError> {
        check_id(id)?;
        delete(SESSION, &mut self.0, id)
    }

    /// A session.
    pub fn get(&self, id: u16) -> Option<&MirrorSession> {
        self.0.get(&id)
    }

    /// All sessions by number.
    pub fn iter(&self) -> impl Iterator<Item = &MirrorSession> {
        self.0.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_checked_and_serve_their_direction() {
        let mut sessions = MirrorSessions::default();
        let session = MirrorSession { enabled: true, ..MirrorSession::new(5) };
        assert!(matches!(sessions.modify(session.clone()), Err(ControlError::NotFound(_))));
        sessions.insert(session.clone()).expect("a right session");
        assert!(matches!(sessions.insert(session.clone()), Err(ControlError::AlreadyExists(_))));
        let bad = [
            MirrorSession { id: 1_024, ..session.clone() },
            MirrorSession { unicast_port: 512, ..session.clone() },
            MirrorSession { queue: 128, ..session.clone() },
            MirrorSession { l2_xid: 512, ..session.clone() },
        ];
        for bad in bad {
            assert!(matches!(sessions.put(bad), Err(ControlError::InvalidArgument(_))));
        }
        assert!(session.serves(true) && session.serves(false));
        let of_groups = MirrorSession { groups: [(3, true), (0, false)], queue: 2, ..session.clone() };
        assert_eq!(of_groups.with(MirrorOverride::default()), of_groups);
        let says = MirrorOverride {
            hash: Some(9),
            port: Some(4),
            queue: Some(5),
            multicast: Some(false),
            ..MirrorOverride::default()
        };
        let made = of_groups.with(says);
        assert_eq!((made.level1_hash, made.level2_hash, made.queue), (9, 9, 5));
        assert_eq!((made.unicast_port, made.unicast_valid), (4, true));
        assert_eq!(made.groups, [(3, false), (0, false)]);
        let ingress = MirrorSession { direction: MirrorDirection::Ingress, ..session.clone() };
        assert!(!ingress.serves(true) && ingress.serves(false));
        assert!(!MirrorSession { enabled: false, ..session }.serves(false));
        sessions.delete(5).expect("it is there");
        assert!(matches!(sessions.delete(5), Err(ControlError::NotFound(_))));
    }
}
