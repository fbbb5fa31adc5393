//! What the server keeps of one device: its controllers, its program, a program saved but not yet committed.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_switch::Switch;
use p4cc_units::Time;
use tokio::sync::Notify as Signal;

use super::arbitration::{Notify, Rule, SessionId};
use super::outbox::Outbox;
use super::roles::{MAX_ROLES, Role, RoleConfig, RoleKey};
use crate::device_config::Loaded;
use crate::entity::Target;
use crate::entity::digest_lists::DigestConfigs;
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::stream_message_response::Update;

/// The way to a controller. What does not fit is dropped, and
/// a controller that misses an arbitration message is disconnected.
pub(super) type Sender = Outbox<p4::StreamMessageResponse>;

/// A controller's stream.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) sender: Sender,
    /// Rung when the device has let go of the controller, which the stream is to end with.
    pub(super) released: Arc<Signal>,
}

/// A program as the controller gave it.
#[derive(Clone)]
pub(super) struct Installed {
    pub(super) loaded: Arc<Loaded>,
    pub(super) config: Arc<p4::ForwardingPipelineConfig>,
}

/// A program that is saved but not committed. Requests go to a switch of its own until then.
pub(super) struct Saved {
    pub(super) installed: Installed,
    pub(super) switch: Switch,
    pub(super) digests: DigestConfigs,
}

/// One device.
#[derive(Default)]
pub(super) struct Device {
    rule: Rule,
    roles: BTreeMap<RoleKey, Role>,
    /// Live controllers, with their roles.
    links: BTreeMap<SessionId, (RoleKey, Link)>,
    pub(super) installed: Option<Installed>,
    pub(super) saved: Option<Saved>,
    pub(super) digests: DigestConfigs,
}

impl Device {
    /// A device that nobody has used.
    pub(super) fn new(rule: Rule) -> Self {
        Self { rule, ..Self::default() }
    }

    /// A device in the same state that no controller is connected to.
    pub(super) fn without_controllers(&self) -> Self {
        let (installed, digests) = (self.installed.clone(), self.digests.clone());
        Self { installed, digests, ..Self::new(self.rule) }
    }

    /// The program that reads and writes refer to.
    ///
    /// # Errors
    /// There is none, or the switch was given another program behind the server's back.
    pub(super) fn with_target<T>(
        &mut self,
        switch: &mut Switch,
        now: Time,
        f: impl FnOnce(&mut Target<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(Saved { installed, switch, digests }) = &mut self.saved {
            let loaded = Arc::clone(&installed.loaded);
            return f(&mut Target {
                catalog: &loaded.catalog,
                switch,
                digests,
                now,
                is_replay: false,
                pipe: 0,
            });
        }
        let installed = self.running(switch)?;
        let loaded = Arc::clone(&installed.loaded);
        let digests = &mut self.digests;
        f(&mut Target { catalog: &loaded.catalog, switch, digests, now, is_replay: false, pipe: 0 })
    }

    /// The program that the switch runs.
    pub(super) fn running(&self, switch: &Switch) -> Result<&Installed, Failure> {
        let runs = |installed: &&Installed| {
            switch
                .observation()
                .pipeline()
                .is_some_and(|pipeline| Arc::ptr_eq(pipeline, &installed.loaded.pipeline))
        };
        self.installed.as_ref().filter(runs).ok_or_else(|| {
            Failure::precondition(
                "the device has no forwarding pipeline config; call SetForwardingPipelineConfig first",
            )
        })
    }

    /// A role that controllers have asked for. The default role is always there.
    ///
    /// # Errors
    /// No controller has this role.
    pub(super) fn role(&mut self, key: &RoleKey) -> Result<&Role, Failure> {
        if key.is_default() {
            return Ok(self.roles.entry(key.clone()).or_insert_with(|| Role::new(self.rule)));
        }
        self.roles.get(key).ok_or_else(|| {
            Failure::not_found(format!(
                "the device has no role {key}; arbitrate for it on a StreamChannel first"
            ))
        })
    }

    /// Takes in a controller's arbitration and tells whom it concerns.
    ///
    /// # Errors
    /// The stream is to be closed: the id is taken, there
    /// is too much of something, or the config does not do.
    pub(super) fn arbitrate(
        &mut self,
        device_id: u64,
        session: SessionId,
        link: Link,
        key: &RoleKey,
        election_id: Option<u128>,
        config: Option<RoleConfig>,
    ) -> Result<(), Failure> {
        if let Some(config) = &config {
            for (other, role) in self.roles.iter().filter(|(other, _)| *other != key) {
                role.check_beside(other, config)?;
            }
        }
        if !self.roles.contains_key(key) && self.roles.len() >= MAX_ROLES {
            return Err(Failure::exhausted(format!("the device has {MAX_ROLES} roles already")));
        }
        let role = self.roles.entry(key.clone()).or_insert_with(|| Role::new(self.rule));
        let before = role.arbitration.primary();
        let whom = role.arbitration.update(session, election_id)?;
        if role.arbitration.primary() == Some(session) {
            role.config = config;
            if before != Some(session) {
                // What another was told is news to this one.
                self.digests.forget_sent();
            }
        }
        self.links.entry(session).or_insert_with(|| (key.clone(), link));
        self.notify(device_id, key, whom);
        Ok(())
    }

    /// Forgets a controller.
    pub(super) fn close(&mut self, device_id: u64, session: SessionId) {
        let Some((key, link)) = self.links.remove(&session) else { return };
        link.released.notify_one();
        if self.roles.get_mut(&key).is_some_and(|role| role.arbitration.close(session)) {
            self.notify(device_id, &key, Notify::All);
        }
    }

    /// Whether a stream is that of its role's primary.
    pub(super) fn is_primary(&self, session: SessionId) -> bool {
        let role = self.links.get(&session).and_then(|(key, _)| self.roles.get(key));
        role.is_some_and(|role| role.arbitration.primary() == Some(session))
    }

    /// Whether some role has a primary.
    pub(super) fn has_primary(&self) -> bool {
        self.roles.values().any(|role| role.arbitration.primary().is_some())
    }

    /// Tells controllers of a role who is primary.
    fn notify(&mut self, device_id: u64, key: &RoleKey, whom: Notify) {
        let Some(role) = self.roles.get(key) else { return };
        let mut lost = Vec::new();
        for (&session, (of, link)) in &self.links {
            if of != key || matches!(whom, Notify::Only(only) if only != session) {
                continue;
            }
            let mut message = role.arbitration.message(device_id, session);
            message.role = role.message(key);
            if !send(&link.sender, Update::Arbitration(message)) {
                lost.push(session);
            }
        }
        // Gone, or too slow to know who is primary: either way a controller no more.
        for session in lost {
            self.close(device_id, session);
        }
    }

    /// Sends a message to the primary of each role that is to have it; to how many.
    pub(super) fn send_to_primaries(&self, update: &Update, has: impl Fn(&Role) -> bool) -> usize {
        let primaries = self
            .roles
            .values()
            .filter(|role| has(role))
            .filter_map(|role| role.arbitration.primary().and_then(|primary| self.links.get(&primary)));
        primaries.filter(|(_, link)| send(&link.sender, update.clone())).count()
    }

    /// Sends each role's primary the idle entries of the role's tables, a message for each table; how many.
    pub(super) fn send_idle(&self, idle: &[p4::TableEntry], timestamp: i64) -> usize {
        let mut sent = 0;
        for table_entry in idle.chunk_by(|a, b| a.table_id == b.table_id) {
            let Some(table_id) = table_entry.first().map(|entry| entry.table_id) else { continue };
            let notification = p4::IdleTimeoutNotification { table_entry: table_entry.to_vec(), timestamp };
            let update = Update::IdleTimeoutNotification(notification);
            sent += self.send_to_primaries(&update, |role| role.has(table_id));
        }
        sent
    }
}

/// Sends a message; false if the controller is gone or too slow.
pub(super) fn send(sender: &Sender, update: Update) -> bool {
    sender.send(p4::StreamMessageResponse { update: Some(update) })
}

#[cfg(test)]
mod tests {
    use super::super::outbox::{Outgoing, outbox};
    use super::*;

    fn link() -> (Link, Outgoing<p4::StreamMessageResponse>) {
        let (sender, outgoing) = outbox();
        (Link { sender, released: Arc::default() }, outgoing)
    }

    #[test]
    fn a_controller_that_is_gone_keeps_no_election_id() {
        let (mut device, key) = (Device::default(), RoleKey::default());
        let (gone, receiver) = link();
        device.arbitrate(1, 1, gone, &key, Some(10), None).unwrap();
        drop(receiver);
        // Another arbitrates before the end of the stream is noticed.
        let (other, _receiver) = link();
        device.arbitrate(1, 2, other, &key, Some(11), None).unwrap();
        let (again, _receiver) = link();
        assert_eq!(device.arbitrate(1, 3, again, &key, Some(10), None), Ok(()));
        assert!(device.is_primary(2) && !device.is_primary(1));
    }

    #[test]
    fn a_role_without_a_primary_that_answers_has_none() {
        let (mut device, key) = (Device::default(), RoleKey::default());
        let (gone, receiver) = link();
        device.arbitrate(1, 1, gone, &key, Some(10), None).unwrap();
        drop(receiver);
        let (other, mut told) = link();
        device.arbitrate(1, 2, other, &key, Some(9), None).unwrap();
        device.close(1, 1);
        let codes = std::iter::from_fn(|| told.try_next()?.ok()?.update).map(|update| match update {
            Update::Arbitration(message) => message.status.unwrap_or_default().code,
            _ => -1,
        });
        assert_eq!(
            codes.collect::<Vec<_>>(),
            [tonic::Code::AlreadyExists as i32, tonic::Code::NotFound as i32]
        );
    }
}
