//! A client's StreamChannel: its subscription, and what it hears.

use p4cc_exec::DigestMessage;
use p4cc_exec::control::TableEntry;
use p4cc_ir::TableId;
use p4cc_p4runtime::errors::Failure;
use tonic::Streaming;

use super::clients::Sender;
use super::device::Loaded;
use super::service::Service;
use crate::fields;
use crate::proto::bfrt_proto as wire;
use crate::schema::Object;
use crate::tables::ageing::Change;
use crate::tables::{matching, parts};
use crate::target::{Scope, Target};
use wire::idle_timeout_notification::NotificationType;
use wire::stream_message_request::Update;
use wire::stream_message_response::Update as Reply;

/// Serves a stream until either side ends it.
pub(super) async fn serve(
    service: Service,
    session: u64,
    sender: Sender,
    mut requests: Streaming<wire::StreamMessageRequest>,
) {
    let mut stream = Stream { service, session, sender, client: None };
    loop {
        let message = tokio::select! {
            message = requests.message() => message,
            () = stream.sender.closed() => break,
        };
        let Ok(Some(message)) = message else { break };
        if let Err(failure) = stream.handle(message).await {
            // The client may be gone already; then nobody is there to be told.
            let _ = stream.sender.send(Err(failure.status())).await;
            break;
        }
    }
    stream.close().await;
}

/// A stream and its client.
pub(super) struct Stream {
    pub(super) service: Service,
    pub(super) session: u64,
    pub(super) sender: Sender,
    /// Set by the subscription.
    pub(super) client: Option<u32>,
}

impl Stream {
    /// Takes one message; a failure ends the stream.
    pub(super) async fn handle(&mut self, message: wire::StreamMessageRequest) -> Result<(), Failure> {
        match message.update {
            // Clients ask again while they wait for the answer.
            Some(Update::Subscribe(_)) if self.client.is_some() => Ok(()),
            Some(Update::Subscribe(subscribe)) => self.subscribe(message.client_id, &subscribe).await,
            // A list counts as taken when it is sent: the chip's driver knows no other way.
            Some(Update::DigestAck(_)) => Ok(()),
            None => Err(Failure::invalid("the stream message is empty; send Subscribe first")),
        }
    }

    async fn subscribe(&mut self, id: u32, given: &wire::Subscribe) -> Result<(), Failure> {
        self.service.check_device(given.device_id.into())?;
        let link = (self.session, self.sender.clone());
        self.service.with_clients(|clients| clients.subscribe(id, link, given)).await?;
        self.client = Some(id);
        let status = Some(crate::proto::google::rpc::Status::default());
        let reply = Reply::Subscribe(wire::Subscribe { status, ..Default::default() });
        // A client that is gone at once is noticed by the stream's end.
        let _ = self.sender.try_send(Ok(wire::StreamMessageResponse { update: Some(reply) }));
        Ok(())
    }

    /// Forgets the client.
    pub(super) async fn close(&self) {
        let Some(id) = self.client else { return };
        let session = self.session;
        self.service.with_clients(|clients| clients.close(id, session)).await;
    }
}

/// A digest as clients hear of it; none where the schema does not have it.
pub(super) fn digest(loaded: &Loaded, target: Scope, message: &DigestMessage) -> Option<Reply> {
    let filter = loaded.schema.learn_filters.iter().find(|filter| filter.digest == message.digest)?;
    let mut fields = Vec::with_capacity(filter.fields.len());
    for (field, value) in filter.fields.iter().zip(&message.values) {
        let stream = fields::Value::Number(parts::widened(field, value));
        fields::data_fields(field.id, stream, &mut fields);
    }
    Some(Reply::Digest(wire::DigestList {
        digest_id: filter.id,
        list_id: 0,
        data: vec![wire::TableData { action_id: 0, fields }],
        target: Some(target.into()),
    }))
}

/// An entry that fell idle, or is hit again, as clients hear of it.
pub(super) fn idle(
    target: &Target<'_>,
    table: TableId,
    entry: &TableEntry,
    change: Change,
) -> Option<(Change, Reply)> {
    let of = target.schema.tables.iter().find(|one| one.object == Object::Match(table))?;
    let key = matching::key_values(target, of, table, entry);
    let fields = key.into_iter().map(|(id, value)| fields::key_field(id, value)).collect();
    let table_entry = wire::TableEntry {
        table_id: of.id,
        value: Some(wire::table_entry::Value::Key(wire::TableKey { fields })),
        ..Default::default()
    };
    let kind = match change {
        Change::Idle => NotificationType::EntryIdle,
        Change::Active => NotificationType::EntryActive,
    };
    let notification = wire::IdleTimeoutNotification {
        target: Some(target.scope.into()),
        table_entry: Some(table_entry),
        r#type: kind.into(),
    };
    Some((change, Reply::IdleTimeoutNotification(notification)))
}
