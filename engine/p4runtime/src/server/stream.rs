//! One controller's StreamChannel: arbitration first, then packet-outs and acknowledgements.
//!
//! A message that breaks the rules of arbitration closes the stream; any other failure is reported on it.

#![expect(deprecated, reason = "the numeric role must be seen to be refused")]

use p4cc_switch::{MAX_PACKET_BYTES, Packet, Switch};
use tonic::{Code, Streaming};

use super::arbitration::SessionId;
use super::device::{Device, Sender, send};
use super::roles::RoleConfig;
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
    sender: Sender,
    mut requests: Streaming<p4::StreamMessageRequest>,
) {
    let mut controller = Controller::new(service, session, sender);
    loop {
        let message = tokio::select! {
            message = requests.message() => message,
            () = controller.sender.closed() => break,
        };
        let Ok(Some(message)) = message else { break };
        if let Err(failure) = controller.handle(message.update).await {
            // The client may be gone already; then nobody is there to be told.
            let _ = controller.sender.send(Err(failure.status())).await;
            break;
        }
    }
    controller.close().await;
}

/// A controller as its stream knows it.
pub(super) struct Controller {
    service: Service,
    session: SessionId,
    sender: Sender,
    /// Set by the first arbitration.
    device_id: Option<u64>,
    /// Set by the first arbitration.
    role: Option<String>,
}

impl Controller {
    pub(super) fn new(service: Service, session: SessionId, sender: Sender) -> Self {
        Self { service, session, sender, device_id: None, role: None }
    }

    /// Takes one message; a failure ends the stream.
    pub(super) async fn handle(&mut self, update: Option<Update>) -> Result<(), Failure> {
        match (update, self.device_id) {
            (Some(Update::Arbitration(arbitration)), _) => self.arbitrate(arbitration).await,
            (_, None) => {
                Err(Failure::precondition("the first message of a stream must be a MasterArbitrationUpdate"))
            }
            (Some(Update::Packet(packet)), Some(device_id)) => {
                let sent = self.packet_out(device_id, &packet).await;
                self.report(sent, || Details::PacketOut(p4::PacketOutError { packet_out: Some(packet) }));
                Ok(())
            }
            (Some(Update::DigestAck(ack)), Some(device_id)) => {
                let taken = self.acknowledge(device_id, ack).await;
                self.report(taken, || {
                    Details::DigestListAck(p4::DigestListAckError { digest_list_ack: Some(ack) })
                });
                Ok(())
            }
            (Some(Update::Other(other)), Some(_)) => {
                let refused =
                    Failure::unimplemented(format!("v1model has no stream message {}", other.type_url));
                self.report(Err(refused), || Details::Other(p4::StreamOtherError { other: Some(other) }));
                Ok(())
            }
            (None, Some(_)) => Err(Failure::invalid("the stream message is empty")),
        }
    }

    async fn arbitrate(&mut self, given: p4::MasterArbitrationUpdate) -> Result<(), Failure> {
        let device_id = given.device_id;
        if let Some(assigned) = self.device_id.filter(|assigned| *assigned != device_id) {
            return Err(Failure::precondition(format!(
                "the stream belongs to device {assigned}; open another stream for device {device_id}"
            )));
        }
        let role = given.role.unwrap_or_default();
        if role.id != 0 {
            return Err(Failure::unimplemented("role.id is deprecated and not known here; name the role"));
        }
        if let Some(assigned) = self.role.as_ref().filter(|assigned| **assigned != role.name) {
            return Err(Failure::precondition(format!(
                "the stream has the role `{assigned}`; open another stream for the role `{}`",
                role.name
            )));
        }
        let config = role.config.as_ref().map(RoleConfig::parse).transpose()?;
        let (session, sender) = (self.session, self.sender.clone());
        let election_id = given.election_id.as_ref().map(uint128);
        let updated = self.service.apply(device_id, |device, _, _| {
            device.arbitrate(device_id, session, sender, (&role.name, election_id, config))
        });
        updated.await?;
        self.device_id = Some(device_id);
        self.role = Some(role.name);
        Ok(())
    }

    async fn packet_out(&self, device_id: u64, packet: &p4::PacketOut) -> Result<(), Failure> {
        let session = self.session;
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

    async fn acknowledge(&self, device_id: u64, ack: p4::DigestListAck) -> Result<(), Failure> {
        let session = self.session;
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
        let _ = send(&self.sender, Reply::Error(error));
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
