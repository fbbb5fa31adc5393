//! Who may write: arbitration between the controllers of one device, as
//! the P4Runtime specification's section on client arbitration rules it.
//!
//! ```text
//!  backup ──(election id >= the highest ever seen)──► primary
//!    ▲                                                   │
//!    └──(a lower id or none, or another takes over)──────┘
//!
//!  a closed stream: no primary until one asks again
//! ```
//!
//! Invariant: at most one primary, and its election id is the highest ever seen.

use std::collections::BTreeMap;

use tonic::Code;

use crate::codec::to_uint128;
use crate::errors::Failure;
use crate::proto::google::rpc;
use crate::proto::p4::v1 as p4;

/// Most controllers connected to one device.
pub(crate) const MAX_SESSIONS: usize = 64;

/// A stream of a controller.
pub(crate) type SessionId = u64;

/// Who is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notify {
    All,
    Only(SessionId),
}

/// The controllers of one device.
#[derive(Debug, Default)]
pub(crate) struct Arbitration {
    /// Election id of each live controller; without one it can never be primary.
    sessions: BTreeMap<SessionId, Option<u128>>,
    highest: Option<u128>,
    primary: Option<SessionId>,
}

impl Arbitration {
    /// Takes in a controller's (new) election id and says whom to tell.
    ///
    /// # Errors
    /// The id is another live controller's, or there are too many controllers; the stream is to be closed.
    pub(crate) fn update(
        &mut self,
        session: SessionId,
        election_id: Option<u128>,
    ) -> Result<Notify, Failure> {
        let taken = self
            .sessions
            .iter()
            .any(|(&id, &other)| id != session && other.is_some() && other == election_id);
        if let (true, Some(election_id)) = (taken, election_id) {
            return Err(Failure::invalid(format!(
                "election id {election_id} is used by another controller of this device; choose another"
            )));
        }
        if !self.sessions.contains_key(&session) && self.sessions.len() >= MAX_SESSIONS {
            return Err(Failure::exhausted(format!(
                "the device has {MAX_SESSIONS} controllers already; close one"
            )));
        }
        self.sessions.insert(session, election_id);
        let was_primary = self.primary == Some(session);
        if election_id.is_some() && election_id >= self.highest {
            self.highest = election_id;
            self.primary = Some(session);
            return Ok(Notify::All);
        }
        if was_primary {
            self.primary = None;
            return Ok(Notify::All);
        }
        Ok(Notify::Only(session))
    }

    /// Forgets a controller; true if the others must be told.
    pub(crate) fn close(&mut self, session: SessionId) -> bool {
        self.sessions.remove(&session);
        let was_primary = self.primary == Some(session);
        if was_primary {
            self.primary = None;
        }
        was_primary
    }

    /// The primary's stream.
    pub(crate) fn primary(&self) -> Option<SessionId> {
        self.primary
    }

    /// Checks that a request comes from the primary.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn check_primary(&self, election_id: Option<u128>) -> Result<(), Failure> {
        let Some(&primary) = self.primary.and_then(|primary| self.sessions.get(&primary)) else {
            return Err(Failure::denied(
                "the device has no primary controller; open a StreamChannel and arbitrate first",
            ));
        };
        if election_id.is_some() && election_id == primary {
            return Ok(());
        }
        let given = election_id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        let primary = primary.unwrap_or(0);
        Err(Failure::denied(format!(
            "not the primary controller: election id {given}, the primary's is {primary}"
        )))
    }

    /// The message that tells a controller how things stand.
    pub(crate) fn message(&self, device_id: u64, session: SessionId) -> p4::MasterArbitrationUpdate {
        let (code, message) = match self.primary {
            Some(primary) if primary == session => (Code::Ok, "you are the primary"),
            Some(_) => (Code::AlreadyExists, "another controller is the primary"),
            None => (Code::NotFound, "there is no primary"),
        };
        p4::MasterArbitrationUpdate {
            device_id,
            role: None,
            election_id: self.highest.map(to_uint128),
            status: Some(rpc::Status { code: code as i32, message: message.to_owned(), details: Vec::new() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(arbitration: &Arbitration, session: SessionId) -> Code {
        Code::from(arbitration.message(1, session).status.unwrap().code)
    }

    #[test]
    fn the_highest_election_id_is_primary() {
        let mut a = Arbitration::default();
        assert_eq!(a.update(1, Some(10)), Ok(Notify::All));
        assert_eq!(a.update(2, Some(9)), Ok(Notify::Only(2)));
        assert_eq!((code(&a, 1), code(&a, 2)), (Code::Ok, Code::AlreadyExists));
        assert_eq!(a.update(2, Some(u128::MAX)), Ok(Notify::All));
        assert_eq!((code(&a, 1), code(&a, 2)), (Code::AlreadyExists, Code::Ok));
        assert!(a.check_primary(Some(10)).is_err());
        assert!(a.check_primary(Some(u128::MAX)).is_ok());
    }

    #[test]
    fn nobody_is_promoted_without_asking() {
        let mut a = Arbitration::default();
        a.update(1, Some(10)).unwrap();
        a.update(2, Some(9)).unwrap();
        assert!(a.close(1));
        assert_eq!((a.primary(), code(&a, 2)), (None, Code::NotFound));
        assert!(a.check_primary(Some(10)).is_err(), "the id of a closed stream writes nothing");
        assert_eq!(a.update(2, Some(9)), Ok(Notify::Only(2)), "lower than the highest ever seen");
        assert_eq!(a.update(2, Some(10)), Ok(Notify::All));
        assert_eq!(code(&a, 2), Code::Ok);
        assert!(!a.close(1), "closing twice tells nobody");
    }

    #[test]
    fn a_primary_may_step_down() {
        let mut a = Arbitration::default();
        a.update(1, Some(10)).unwrap();
        assert_eq!(a.update(1, Some(5)), Ok(Notify::All));
        assert_eq!(a.primary(), None);
        assert_eq!(a.message(1, 1).election_id, Some(to_uint128(10)));
    }

    #[test]
    fn an_id_in_use_is_refused_and_an_unset_one_never_wins() {
        let mut a = Arbitration::default();
        assert_eq!(a.update(1, None), Ok(Notify::Only(1)));
        assert_eq!(a.update(2, None), Ok(Notify::Only(2)), "unset ids do not collide");
        assert_eq!(a.message(1, 1).election_id, None);
        assert!(a.check_primary(None).is_err());
        assert_eq!(a.update(3, Some(0)), Ok(Notify::All), "zero is an id like any other");
        assert_eq!(a.update(4, Some(0)).unwrap_err().code, Code::InvalidArgument);
    }
}
