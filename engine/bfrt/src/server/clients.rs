//! Clients: each has a number of its own and lives as long as its stream.

use std::collections::BTreeMap;

use p4cc_p4runtime::errors::Failure;
use p4cc_p4runtime::server::outbox::Outbox;
use tonic::Code;

use crate::proto::bfrt_proto as wire;
use wire::subscribe::Notifications;

/// Clients that are subscribed at once.
const MAX_CLIENTS: usize = 64;
/// What stands for the chip's own tables in the place of a program's name.
pub(super) const SHARED: &str = "$SHARED";

/// The way to a client. What does not fit is dropped.
pub(super) type Sender = Outbox<wire::StreamMessageResponse>;

/// A client that is subscribed.
pub(super) struct Client {
    /// Number of its stream.
    session: u64,
    pub(super) device_id: u64,
    sender: Sender,
    pub(super) wants: Notifications,
    /// The program that it speaks of.
    pub(super) bound: Option<String>,
    /// It began to start the device anew, and has not ended it.
    pub(super) is_starting: bool,
}

impl Client {
    /// Sends a message; false if the client is gone or too slow.
    pub(super) fn send(&self, update: wire::stream_message_response::Update) -> bool {
        self.sender.send(wire::StreamMessageResponse { update: Some(update) })
    }
}

/// All clients by their numbers.
#[derive(Default)]
pub(super) struct Clients {
    all: BTreeMap<u32, Client>,
}

impl Clients {
    /// Takes in a client.
    ///
    /// # Errors
    /// The number is taken, or there are too many.
    pub(super) fn subscribe(
        &mut self,
        id: u32,
        (session, sender): (u64, Sender),
        given: &wire::Subscribe,
    ) -> Result<(), Failure> {
        // A stream whose client is gone may not have been noticed yet.
        self.all.retain(|_, client| !client.sender.is_closed());
        if self.all.contains_key(&id) {
            return Err(Failure::invalid(format!(
                "client id {id} is taken; each client needs a different one"
            )));
        }
        if self.all.len() >= MAX_CLIENTS {
            return Err(Failure::exhausted(format!("{MAX_CLIENTS} clients are subscribed already")));
        }
        let client = Client {
            session,
            device_id: given.device_id.into(),
            sender,
            wants: given.notifications.unwrap_or_default(),
            bound: None,
            is_starting: false,
        };
        self.all.insert(id, client);
        Ok(())
    }

    /// Forgets the client of a stream.
    pub(super) fn close(&mut self, id: u32, session: u64) {
        if self.all.get(&id).is_some_and(|client| client.session == session) {
            self.all.remove(&id);
        }
    }

    /// A client that is subscribed.
    pub(super) fn get(&self, id: u32) -> Option<&Client> {
        self.all.get(&id)
    }

    /// The same to be changed.
    ///
    /// # Errors
    /// No such client is subscribed.
    pub(super) fn get_mut(&mut self, id: u32) -> Result<&mut Client, Failure> {
        self.all.get_mut(&id).ok_or_else(|| {
            Failure::new(
                Code::Unavailable,
                format!("client {id} is not subscribed; send Subscribe on a StreamChannel first"),
            )
        })
    }

    /// Binds a client to a program.
    ///
    /// # Errors
    /// It is not subscribed, or another client has the program.
    pub(super) fn bind(&mut self, id: u32, name: &str) -> Result<(), Failure> {
        let has = |client: &Client| client.bound.as_deref() == Some(name);
        if let Some((other, _)) = self.all.iter().find(|(other, client)| **other != id && has(client)) {
            return Err(Failure::new(
                Code::AlreadyExists,
                format!("client {other} is bound to {name} already; a program has one client"),
            ));
        }
        self.get_mut(id)?.bound = Some(name.to_owned());
        Ok(())
    }

    /// Sends a message to the clients of a device that are to have it; to how many.
    pub(super) fn send(
        &self,
        device_id: u64,
        update: &wire::stream_message_response::Update,
        has: impl Fn(&Client) -> bool,
    ) -> usize {
        let wanted = self.all.values().filter(|client| client.device_id == device_id && has(client));
        wanted.filter(|client| client.send(update.clone())).count()
    }
}
