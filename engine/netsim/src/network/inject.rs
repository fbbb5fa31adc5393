//! Packets that the caller of a run injects between two steps: a host sends one, or one arrives at a port of
//! a switch.
//!
//! The bytes are sent as they are. A host's packet takes its turn behind what waits at the interface already,
//! and PFC (IEEE 802.1Qbb) may hold it there. The traffic of the run is another afterwards: the same packets
//! at the same times give the same run again.

use p4cc_switch::{MAX_PACKET_BYTES, Packet};
use p4cc_transport::wire::TrafficClass;

use crate::describe::in_range;
use crate::error::{SpecError, refuse};
use crate::hosts::MAX_WAITING_INJECTED;
use crate::network::Network;

impl Network {
    /// Hands a packet to the interface of a host, now; `priority` is the class that PFC pauses it by, 0 to 7.
    ///
    /// # Errors
    /// No such host, a packet or priority that cannot be, too many that wait, or a run that is over.
    pub fn inject(&mut self, host: &str, bytes: &[u8], priority: u8) -> Result<(), SpecError> {
        let packet = self.injected_packet(bytes)?;
        let index = self.spec.hosts.iter().position(|spec| spec.name == host).ok_or_else(|| {
            SpecError::new("host", format!("there is no host {host:?}"), "name one of the network's hosts")
        })?;
        let class = TrafficClass::new(priority).ok_or_else(|| {
            SpecError::new("priority", format!("{priority} is out of range"), "give a number from 0 to 7")
        })?;
        let (hosts, _, mut cx) = self.components();
        if !hosts.inject(&mut cx, index as u32, packet, class) {
            let cause = format!("{MAX_WAITING_INJECTED} packets wait at the interface of {host} already");
            return refuse("host", cause, "run on before more are sent");
        }
        Ok(())
    }

    /// A packet arrives at a port of a switch, now, as though its link had brought it.
    ///
    /// # Errors
    /// No such switch or port, a packet that cannot be, or a run that is over.
    pub fn inject_at_port(&mut self, device_id: u64, port: u32, bytes: &[u8]) -> Result<(), SpecError> {
        let packet = self.injected_packet(bytes)?;
        let place = self.switches.place(device_id).ok_or_else(|| {
            SpecError::new("switch", format!("there is no device {device_id}"), "name one of the switches")
        })?;
        let config = self.switches.nodes()[place].switch.config();
        if !config.ports.iter().any(|known| known.port == port) {
            return refuse("port", format!("the switch has no port {port}"), "give a port that has a link");
        }
        self.packet_hops += 1;
        let (_, switches, mut cx) = self.components();
        switches.inject(&mut cx, place, port, packet);
        Ok(())
    }

    fn injected_packet(&mut self, bytes: &[u8]) -> Result<Packet, SpecError> {
        if self.has_ended() {
            let remedy = "send before the flows are complete and the stop time is there";
            return refuse("run", "it is over: nothing would carry the packet", remedy);
        }
        in_range("packet", bytes.len() as u64, 1, MAX_PACKET_BYTES.into())
            .map_err(|error| SpecError { cause: format!("it has {} bytes", bytes.len()), ..error })?;
        Ok(self.pool.take_with(bytes))
    }
}
