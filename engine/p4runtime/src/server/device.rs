//! What the server keeps of one device: its controllers, its program, a program saved but not yet committed.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_switch::Switch;
use tokio::sync::mpsc;
use tonic::Status;

use super::arbitration::{Arbitration, Notify, SessionId};
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
    pub(super) arbitration: Arbitration,
    pub(super) senders: BTreeMap<SessionId, Sender>,
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
        f: impl FnOnce(&mut Target<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if let Some(Saved { installed, switch, digests }) = &mut self.saved {
            let loaded = Arc::clone(&installed.loaded);
            return f(&mut Target { catalog: &loaded.catalog, switch, digests });
        }
        let installed = self.running(switch)?;
        let loaded = Arc::clone(&installed.loaded);
        f(&mut Target { catalog: &loaded.catalog, switch, digests: &mut self.digests })
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

    /// Tells controllers who is primary.
    pub(super) fn notify(&mut self, device_id: u64, whom: Notify) {
        let mut lost = Vec::new();
        for (&session, sender) in &self.senders {
            if matches!(whom, Notify::Only(only) if only != session) {
                continue;
            }
            let message = self.arbitration.message(device_id, session);
            if !send(sender, Update::Arbitration(message)) {
                lost.push(session);
            }
        }
        for session in lost {
            self.senders.remove(&session);
        }
    }

    /// Sends a message to the primary, if there is one.
    pub(super) fn send_to_primary(&self, update: Update) {
        let primary = self.arbitration.primary().and_then(|primary| self.senders.get(&primary));
        if let Some(sender) = primary {
            send(sender, update);
        }
    }
}

/// Sends a message; false if the controller is gone or too slow.
pub(super) fn send(sender: &Sender, update: Update) -> bool {
    sender.try_send(Ok(p4::StreamMessageResponse { update: Some(update) })).is_ok()
}
