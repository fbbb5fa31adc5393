//! A client's StreamChannel: its subscription, and what it hears.

use p4cc_exec::DigestMessage;
use p4cc_exec::control::TableEntry;
use p4cc_ir::{Bits, TableId};
use p4cc_p4runtime::errors::Failure;
use p4cc_switch::Switch;
use tonic::Streaming;

use super::clients::Sender;
use super::device::{Device, Loaded};
use super::service::Service;
use crate::fields;
use crate::proto::bfrt_proto as wire;
use crate::schema::Object;
use crate::tables::ageing::Change;
use crate::tables::profiles::GroupChange;
use crate::tables::{matching, parts};
use crate::target::{DeviceState, Scope, Target};
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
            Err(stops) = stream.service.stopping().unless(std::future::pending::<()>()) => {
                stream.sender.end(stops.status()).await;
                break;
            }
        };
        let Ok(Some(message)) = message else { break };
        if let Err(failure) = stream.handle(message).await {
            stream.sender.end(failure.status()).await;
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
        self.service.with_clients(|clients| clients.subscribe(id, link, given)).await??;
        self.client = Some(id);
        let status = Some(crate::proto::google::rpc::Status::default());
        let reply = Reply::Subscribe(wire::Subscribe { status, ..Default::default() });
        // A client that is gone at once is noticed by the stream's end.
        self.sender.send(wire::StreamMessageResponse { update: Some(reply) });
        Ok(())
    }

    /// Forgets the client.
    pub(super) async fn close(&self) {
        let Some(id) = self.client else { return };
        let session = self.session;
        // A server that ends has no clients left.
        let _ = self.service.with_clients(|clients| clients.close(id, session)).await;
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

/// Members that came into groups or left them since clients were last told.
pub(super) fn group_changes(kept: &mut DeviceState) -> Vec<Reply> {
    let changes = std::mem::take(&mut kept.changes).into_iter();
    let update = |change: GroupChange| {
        Reply::SelectorUpdateChangeNotification(wire::SelectorUpdateChgNotification {
            sel_group_id: change.group,
            act_member_id: change.member,
            logical_entry_index: change.place,
            is_add: change.is_add,
        })
    };
    changes.map(update).collect()
}

/// Ports that went up or down since clients were last told, where they asked to be.
pub(super) fn port_changes(device: &mut Device, loaded: &Loaded, switch: &Switch) -> Vec<Reply> {
    let Some(table) = loaded.schema.tables.iter().find(|table| table.name == "$PORT") else {
        return Vec::new();
    };
    let Some(key) = table.key.first() else { return Vec::new() };
    if !device.kept.attributes.notifies_changes(table.id) {
        device.kept.ports_up.clear();
        return Vec::new();
    }
    let mut changes = Vec::new();
    for port in switch.config().ports.iter().map(|port| port.port) {
        let port_up = switch.observation().is_port_up(port);
        // The state at the beginning is no change.
        if device.kept.ports_up.insert(port, port_up).is_none_or(|was_up| was_up == port_up) {
            continue;
        }
        let value = fields::Match::Exact(Bits::from_u128(key.ty.width(), port.into()));
        let fields = vec![fields::key_field(key.id, value)];
        let table_entry = wire::TableEntry {
            table_id: table.id,
            value: Some(wire::table_entry::Value::Key(wire::TableKey { fields })),
            ..Default::default()
        };
        let notification = wire::PortStatusChgNotification { table_entry: Some(table_entry), port_up };
        changes.push(Reply::PortStatusChangeNotification(notification));
    }
    changes
}
