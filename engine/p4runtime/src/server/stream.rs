//! One controller's StreamChannel: arbitration first, then packet-outs and acknowledgements.
//!
//! A message that breaks the rules of arbitration closes the stream; any other failure is reported on it, as
//! is a message that is empty or of a kind that this version does not know.

#![expect(deprecated, reason = "numbers of roles are honoured")]

use p4cc_switch::{MAX_PACKET_BYTES, Packet, Switch};
use tonic::{Code, Streaming};

use super::arbitration::SessionId;
use super::device::{Device, Link, send};
use super::roles::{RoleConfig, RoleKey};
use super::service::Service;
use crate::codec::uint128;
use crate::errors::Failure;
use crate::packet_io::encode_packet_out;
use crate::proto::p4::v1 as p4;
use p4::stream_error::Details;
use p4::stream_message_request::Update;
use p4::stream_message_response::Update as Reply;

/// Serves a stream until either side ends it.
pub(super) async fn serve(
    service: Service,
    session: SessionId,
    link: Link,
    mut requests: Streaming<p4::StreamMessageRequest>,
) {
    let mut controller = Controller::new(service, session, link);
    loop {
        let message = tokio::select! {
            message = requests.message() => message,
            () = controller.link.sender.closed() => break,
            () = controller.link.released.notified() => break,
            Err(stops) = controller.service.stopping().unless(std::future::pending::<()>()) => {
                controller.link.sender.end(stops.status()).await;
                break;
            }
        };
        let Ok(Some(message)) = message else { break };
        if let Err(failure) = controller.handle(message.update).await {
            controller.link.sender.end(failure.status()).await;
            break;
        }
    }
    controller.close().await;
}

/// A controller as its stream knows it.
pub(super) struct Controller {
    service: Service,
    session: SessionId,
    link: Link,
    /// Set by the first arbitration.
    device_id: Option<u64>,
    /// Set by the first arbitration.
    role: Option<RoleKey>,
}

impl Controller {
    pub(super) fn new(service: Service, session: SessionId, link: Link) -> Self {
        Self { service, session, link, device_id: None, role: None }
    }

    /// Takes one message; a failure ends the stream.
    pub(super) async fn handle(&mut self, update: Option<Update>) -> Result<(), Failure> {
        match update {
            Some(Update::Arbitration(arbitration)) => return self.arbitrate(arbitration).await,
            Some(Update::Packet(packet)) => {
                let sent = self.packet_out(&packet).await;
                self.report(sent, || Details::PacketOut(p4::PacketOutError { packet_out: Some(packet) }));
            }
            Some(Update::DigestAck(ack)) => {
                let taken = self.acknowledge(ack).await;
                let digest_list_ack = Some(ack);
                self.report(taken, || Details::DigestListAck(p4::DigestListAckError { digest_list_ack }));
            }
            Some(Update::Other(other)) => {
                let asked = self.ask_epoch(&other).await;
                self.report(asked, || Details::Other(p4::StreamOtherError { other: Some(other) }));
            }
            None => {
                let refused = Failure::invalid(
                    "the stream message is empty, or of a kind that this version of P4Runtime does not know",
                );
                self.report(Err(refused), || Details::Other(p4::StreamOtherError { other: None }));
            }
        }
        Ok(())
    }

    /// The device that the stream was opened for.
    fn device(&self) -> Result<u64, Failure> {
        self.device_id.ok_or_else(|| {
            Failure::precondition("the first message of a stream must be a MasterArbitrationUpdate")
        })
    }

    async fn arbitrate(&mut self, given: p4::MasterArbitrationUpdate) -> Result<(), Failure> {
        let device_id = given.device_id;
        if let Some(assigned) = self.device_id.filter(|assigned| *assigned != device_id) {
            return Err(Failure::precondition(format!(
                "the stream belongs to device {assigned}; open another stream for device {device_id}"
            )));
        }
        let role = given.role.unwrap_or_default();
        let key = RoleKey::new(&role.name, role.id)?;
        if let Some(assigned) = self.role.as_ref().filter(|assigned| **assigned != key) {
            return Err(Failure::precondition(format!(
                "the stream has the role `{assigned}`; open another stream for the role `{key}`"
            )));
        }
        let (session, link) = (self.session, self.link.clone());
        let election_id = given.election_id.as_ref().map(uint128);
        let updated = self.service.apply(device_id, |device, _, _| {
            let config = role.config.as_ref().map(RoleConfig::parse).transpose()?;
            device.arbitrate(device_id, session, link, &key, election_id, config)
        });
        updated.await?;
        self.device_id = Some(device_id);
        self.role = Some(key);
        Ok(())
    }

    async fn packet_out(&self, packet: &p4::PacketOut) -> Result<(), Failure> {
        let (session, device_id) = (self.session, self.device()?);
        let bytes = self.service.apply(device_id, |device, switch, _| {
            check_primary(device, session)?;
            if switch.config().cpu_port.is_none() {
                return Err(Failure::precondition("the device has no CPU port, so it takes no packet-outs"));
            }
            packet_bytes(device, switch, packet)
        });
        let packet = Packet::new(&bytes.await?, 0);
        let devices = self.service.devices();
        let given = tokio::task::block_in_place(|| devices.packet_out(device_id, packet));
        given.map_err(|missing| Failure::not_found(missing.to_string()))
    }

    async fn ask_epoch(&self, other: &prost_types::Any) -> Result<(), Failure> {
        let span = self.service.epochs().span(other)?;
        let (session, device_id) = (self.session, self.device()?);
        self.service.apply(device_id, |device, _, _| check_primary(device, session)).await?;
        self.service.epochs().ask(span, &self.link)
    }

    async fn acknowledge(&self, ack: p4::DigestListAck) -> Result<(), Failure> {
        let (session, device_id) = (self.session, self.device()?);
        let taken = self.service.apply(device_id, |device, switch, now| {
            check_primary(device, session)?;
            device.with_target(switch, now, |target| {
                target.catalog.digest(ack.digest_id).map_err(|unknown| Failure::invalid(unknown.message))?;
                target.digests.acknowledge(&ack);
                Ok(())
            })
        });
        taken.await
    }

    fn report(&self, result: Result<(), Failure>, details: impl FnOnce() -> Details) {
        let Err(failure) = result else { return };
        let error = p4::StreamError {
            canonical_code: failure.code as i32,
            message: failure.message,
            details: Some(details()),
            ..Default::default()
        };
        // Error reports are the first to be left out when a controller does not keep up.
        let _ = send(&self.link.sender, Reply::Error(error));
    }

    /// Forgets the controller.
    pub(super) async fn close(&self) {
        let Some(device_id) = self.device_id else { return };
        let session = self.session;
        self.service.with_controllers(device_id, |device| device.close(device_id, session)).await;
    }
}

fn check_primary(device: &Device, session: SessionId) -> Result<(), Failure> {
    if device.is_primary(session) {
        return Ok(());
    }
    Err(Failure::new(Code::PermissionDenied, "only the primary controller may send this"))
}

fn packet_bytes(device: &Device, switch: &Switch, packet: &p4::PacketOut) -> Result<Vec<u8>, Failure> {
    let running = device.running(switch)?;
    let bytes = encode_packet_out(&running.loaded.catalog, packet)?;
    if bytes.len() > MAX_PACKET_BYTES as usize {
        let len = bytes.len();
        return Err(Failure::invalid(format!(
            "the packet-out has {len} bytes, the most is {MAX_PACKET_BYTES}"
        )));
    }
    Ok(bytes)
}
