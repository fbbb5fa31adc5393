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
//! Invariant: at most one primary, and its election id is the highest ever seen; by BMv2's rule ([`Rule`]) it
//! is the highest of those that are connected.

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

/// Who becomes primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// The specification's: a controller that asks with the highest election id ever seen, or a higher one.
    #[default]
    Specification,
    /// BMv2's, in P4Runtime's server PI: at any time the controller with the highest election id of those that
    /// are connected, without asking again. No id is 0, and requests without an id are taken while no
    /// controller is connected.
    Bmv2,
}

impl std::str::FromStr for Rule {
    type Err = String;

    /// What an option `--arbitration` asks for.
    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "spec" => Ok(Self::Specification),
            "bmv2" => Ok(Self::Bmv2),
            _ => Err(format!("there is no rule `{name}`; there are spec and bmv2")),
        }
    }
}

/// The controllers of one device, or of one of its roles.
#[derive(Debug, Default)]
pub(crate) struct Arbitration {
    rule: Rule,
    /// Election id of each live controller; without one it can never be primary.
    sessions: BTreeMap<SessionId, Option<u128>>,
    highest: Option<u128>,
    primary: Option<SessionId>,
}

impl Arbitration {
    pub(crate) fn new(rule: Rule) -> Self {
        Self { rule, ..Self::default() }
    }

    /// An election id as the rule has it.
    fn election_id(&self, given: Option<u128>) -> Option<u128> {
        match self.rule {
            Rule::Specification => given,
            Rule::Bmv2 => Some(given.unwrap_or(0)),
        }
    }

    /// Makes the highest of those that are connected primary; whether that changed it or its id.
    fn promote(&mut self) -> bool {
        let highest = self.sessions.iter().max_by_key(|(_, id)| **id);
        let (primary, id) = highest.map_or((None, None), |(session, id)| (Some(*session), *id));
        let before = std::mem::replace(&mut self.primary, primary);
        let id_before = std::mem::replace(&mut self.highest, id);
        (before, id_before) != (primary, id)
    }

    /// Takes in a controller's (new) election id and says whom to tell.
    ///
    /// # Errors
    /// The id is another live controller's, or there are too many controllers; the stream is to be closed.
    pub(crate) fn update(
        &mut self,
        session: SessionId,
        election_id: Option<u128>,
    ) -> Result<Notify, Failure> {
        let election_id = self.election_id(election_id);
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
        if self.rule == Rule::Bmv2 {
            return Ok(if self.promote() { Notify::All } else { Notify::Only(session) });
        }
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
        match self.rule {
            Rule::Specification if was_primary => self.primary = None,
            Rule::Specification => {}
            Rule::Bmv2 => {
                self.promote();
            }
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
        if self.rule == Rule::Bmv2 && self.sessions.is_empty() && election_id.is_none() {
            return Ok(());
        }
        let Some(&primary) = self.primary.and_then(|primary| self.sessions.get(&primary)) else {
            return Err(Failure::denied(format!(
                "the device has no primary controller; {}, on a StreamChannel",
                self.remedy()
            )));
        };
        let election_id = self.election_id(election_id);
        if election_id.is_some() && election_id == primary {
            return Ok(());
        }
        let given = election_id.map_or_else(|| "none".to_owned(), |id| id.to_string());
        let primary = primary.unwrap_or(0);
        Err(Failure::denied(format!(
            "not the primary controller: election id {given}, the primary's is {primary}"
        )))
    }

    /// Which election ids can become primary now.
    fn remedy(&self) -> String {
        match (self.rule, self.highest) {
            (Rule::Specification, Some(highest)) => format!(
                "arbitrate with election id {highest}, the highest so far, or a higher one to become it"
            ),
            _ => "arbitrate with any election id to become it".to_owned(),
        }
    }

    /// The message that tells a controller who is primary.
    pub(crate) fn message(&self, device_id: u64, session: SessionId) -> p4::MasterArbitrationUpdate {
        let (code, message) = match self.primary {
            Some(primary) if primary == session => (Code::Ok, "you are the primary".to_owned()),
            Some(_) => (Code::AlreadyExists, "another controller is the primary".to_owned()),
            None => (Code::NotFound, format!("there is no primary; {}", self.remedy())),
        };
        p4::MasterArbitrationUpdate {
            device_id,
            role: None,
            election_id: self.highest.map(to_uint128),
            status: Some(rpc::Status { code: code as i32, message, details: Vec::new() }),
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

    #[test]
    fn without_a_primary_the_ids_that_can_become_it_are_named() {
        let mut a = Arbitration::default();
        let said = |a: &Arbitration| a.check_primary(Some(1)).unwrap_err().message;
        assert!(said(&a).contains("any election id"), "{}", said(&a));
        a.update(1, Some(1_000)).unwrap();
        a.update(2, Some(999)).unwrap();
        a.close(1);
        assert!(said(&a).contains("election id 1000, the highest so far, or a higher one"), "{}", said(&a));
        let told = a.message(1, 2).status.unwrap().message;
        assert!(told.contains("election id 1000"), "{told}");
    }

    #[test]
    fn by_bmv2s_rule_the_highest_that_is_connected_is_primary() {
        let mut a = Arbitration::new(Rule::Bmv2);
        assert!(a.check_primary(None).is_ok(), "nobody is connected");
        assert!(a.check_primary(Some(0)).is_err());
        assert_eq!(a.update(1, Some(10)), Ok(Notify::All));
        assert_eq!(a.update(2, Some(9)), Ok(Notify::Only(2)));
        assert!(a.check_primary(None).is_err());
        assert!(a.close(1));
        assert_eq!((a.primary(), code(&a, 2)), (Some(2), Code::Ok), "it did not ask");
        assert_eq!(a.message(1, 2).election_id, Some(to_uint128(9)));
        assert!(a.check_primary(Some(9)).is_ok());
        assert_eq!(a.update(3, Some(11)), Ok(Notify::All));
        assert_eq!(a.update(3, Some(1)), Ok(Notify::All), "it steps down");
        assert_eq!(a.primary(), Some(2));
        assert!(!a.close(3));
        a.close(2);
        assert_eq!(a.primary(), None);
        assert_eq!(a.update(4, None), Ok(Notify::All), "no id is 0");
        assert!(a.check_primary(None).is_ok());
        assert_eq!(a.update(5, Some(0)).unwrap_err().code, Code::InvalidArgument);
    }
}
