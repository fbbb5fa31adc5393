//! What the server keeps of one device: its controllers, its program, a program saved but not yet committed.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_switch::Switch;
use p4cc_units::Time;
use tokio::sync::mpsc;
use tonic::Status;

use super::arbitration::{Notify, SessionId};
use super::roles::{MAX_ROLES, Role, RoleConfig};
use crate::device_config::Loaded;
use crate::entity::Target;
use crate::entity::digest::DigestConfigs;
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;
use p4::stream_message_response::Update;

/// Messages that wait for a slow controller; more are dropped, and a controller that misses an arbitration message is
/// disconnected.
pub(super) const MAX_WAITING_MESSAGES: usize = 4_096;

/// The way to a controller.
pub(super) type Sender = mpsc::Sender<Result<p4::StreamMessageResponse, Status>>;

/// A program as the controller gave it.
#[derive(Clone)]
pub(super) struct Installed {
    pub(super) loaded: Arc<Loaded>,
    pub(super) config: p4::ForwardingPipelineConfig,
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
    /// By name; the default role has none.
    roles: BTreeMap<String, Role>,
    /// Live controllers, with their roles.
    senders: BTreeMap<SessionId, (String, Sender)>,
    pub(super) installed: Option<Installed>,
    pub(super) saved: Option<Saved>,
    pub(super) digests: DigestConfigs,
}

impl Device {
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
            return f(&mut Target { catalog: &loaded.catalog, switch, digests, now });
        }
        let installed = self.running(switch)?;
        let loaded = Arc::clone(&installed.loaded);
        f(&mut Target { catalog: &loaded.catalog, switch, digests: &mut self.digests, now })
    }

    /// The program that the switch runs.
    pub(super) fn running(&self, switch: &Switch) -> Result<&Installed, Failure> {
        let runs = |installed: &&Installed| {
            switch.pipeline().is_some_and(|pipeline| Arc::ptr_eq(pipeline, &installed.loaded.pipeline))
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
    pub(super) fn role(&mut self, name: &str) -> Result<&Role, Failure> {
        if name.is_empty() {
            return Ok(self.roles.entry(String::new()).or_default());
        }
        self.roles.get(name).ok_or_else(|| {
            Failure::not_found(format!(
                "the device has no role {name}; arbitrate for it on a StreamChannel first"
            ))
        })
    }

    /// Takes in a controller's arbitration and tells whom it concerns.
    ///
    /// # Errors
    /// The stream is to be closed: the id is taken, there is too much of something, or the config does not do.
    pub(super) fn arbitrate(
        &mut self,
        device_id: u64,
        session: SessionId,
        sender: Sender,
        (name, election_id, config): (&str, Option<u128>, Option<RoleConfig>),
    ) -> Result<(), Failure> {
        if let Some(config) = &config {
            for (other, role) in self.roles.iter().filter(|(other, _)| other.as_str() != name) {
                role.check_beside(other, config)?;
            }
        }
        if !self.roles.contains_key(name) && self.roles.len() >= MAX_ROLES {
            return Err(Failure::exhausted(format!("the device has {MAX_ROLES} roles already")));
        }
        let role = self.roles.entry(name.to_owned()).or_default();
        let whom = role.arbitration.update(session, election_id)?;
        if role.arbitration.primary() == Some(session) {
            role.config = config;
        }
        self.senders.entry(session).or_insert_with(|| (name.to_owned(), sender));
        self.notify(device_id, name, whom);
        Ok(())
    }

    /// Forgets a controller.
    pub(super) fn close(&mut self, device_id: u64, session: SessionId) {
        let Some((name, _)) = self.senders.remove(&session) else { return };
        if self.roles.get_mut(&name).is_some_and(|role| role.arbitration.close(session)) {
            self.notify(device_id, &name, Notify::All);
        }
    }

    /// Whether a stream is that of its role's primary.
    pub(super) fn is_primary(&self, session: SessionId) -> bool {
        let role = self.senders.get(&session).and_then(|(name, _)| self.roles.get(name));
        role.is_some_and(|role| role.arbitration.primary() == Some(session))
    }

    /// Tells controllers of a role who is primary.
    fn notify(&mut self, device_id: u64, name: &str, whom: Notify) {
        let Some(role) = self.roles.get(name) else { return };
        let mut lost = Vec::new();
        for (&session, (of, sender)) in &self.senders {
            if of != name || matches!(whom, Notify::Only(only) if only != session) {
                continue;
            }
            let mut message = role.arbitration.message(device_id, session);
            message.role = role.message(name);
            if !send(sender, Update::Arbitration(message)) {
                lost.push(session);
            }
        }
        for session in lost {
            self.senders.remove(&session);
        }
    }

    /// Sends a message to the primary of each role that is to have it.
    pub(super) fn send_to_primaries(&self, update: &Update, has: impl Fn(&Role) -> bool) {
        for role in self.roles.values().filter(|role| has(role)) {
            let primary = role.arbitration.primary().and_then(|primary| self.senders.get(&primary));
            if let Some((_, sender)) = primary {
                send(sender, update.clone());
            }
        }
    }

    /// Sends each role's primary the idle entries of the role's tables, a message for each table.
    pub(super) fn send_idle(&self, idle: &[p4::TableEntry], now: Time) {
        let timestamp = i64::try_from(now.as_ns()).unwrap_or(i64::MAX);
        for table_entry in idle.chunk_by(|a, b| a.table_id == b.table_id) {
            let Some(table_id) = table_entry.first().map(|entry| entry.table_id) else { continue };
            let notification = p4::IdleTimeoutNotification { table_entry: table_entry.to_vec(), timestamp };
            self.send_to_primaries(&Update::IdleTimeoutNotification(notification), |role| role.has(table_id));
        }
    }
}

/// Sends a message; false if the controller is gone or too slow.
pub(super) fn send(sender: &Sender, update: Update) -> bool {
    sender.try_send(Ok(p4::StreamMessageResponse { update: Some(update) })).is_ok()
}
