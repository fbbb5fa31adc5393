//! What a Tofino chip has beside the program, as its control plane sets it: the two-level replication tree,
//! mirror sessions, the packet generator, port metadata, looped ports. Programs of TNA and T2NA use it.
//!
//! Invariant: nothing here exceeds the chip's own numbers, which are bounds of every table.

mod bounds;
pub(crate) mod flow_control;
pub mod mirror;
pub mod multicast;
pub mod pktgen;
pub mod snapshot;

use std::collections::{BTreeMap, BTreeSet};

use p4cc_exec::control::ControlError;

pub use bounds::PIPES;
use bounds::check_port;
pub use mirror::{MirrorDirection, MirrorSession, MirrorSessions};
pub use multicast::{
    Ecmp, Group, L1Node, Lag, Member, MulticastConfig, MulticastPort, MulticastTree, PacketOfGroup,
};
pub use pktgen::{App, GeneratorPort, PacketGenerator, Trigger};
pub use snapshot::{SnapshotCondition, SnapshotId, SnapshotState, Snapshots};

/// Bytes of port metadata at most, Tofino 2's.
pub const MAX_PORT_METADATA_BYTES: usize = 24;

/// The tables of the chip.
#[derive(Clone, Debug)]
pub struct Chip {
    /// Multicast groups of two levels, beside those of P4Runtime.
    pub multicast: MulticastTree,
    /// Mirror sessions, beside the clone sessions of P4Runtime.
    pub mirrors: MirrorSessions,
    /// The packet generator.
    pub generator: PacketGenerator,
    /// Values of packets that meet a condition.
    pub snapshots: Snapshots,
    port_metadata: BTreeMap<u32, [u8; MAX_PORT_METADATA_BYTES]>,
    loopbacks: BTreeSet<u32>,
    deflections: BTreeMap<u8, Deflection>,
    /// Whether pipes without a setting of their own deflect.
    deflects: bool,
}

/// Where packets with `deflect_on_drop` go whose queue is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deflection {
    /// The port.
    pub port: u32,
    /// Its queue.
    pub queue: u32,
    /// Whether they go there, or are dropped.
    pub enabled: bool,
}

impl Chip {
    /// Empty tables; jitter of generated packets comes from the switch's seed. `deflects`: whether pipes
    /// deflect, to the first queue of their first port, until the control plane says otherwise.
    pub(crate) fn new(seed: u64, device_id: u64, deflects: bool) -> Self {
        Self {
            multicast: MulticastTree::default(),
            mirrors: MirrorSessions::default(),
            generator: PacketGenerator::new(seed, device_id),
            snapshots: Snapshots::default(),
            port_metadata: BTreeMap::new(),
            loopbacks: BTreeSet::new(),
            deflections: BTreeMap::new(),
            deflects,
        }
    }

    /// Sets what the ingress parser finds in front of packets of a port, or takes it away; zeros follow bytes
    /// that are given.
    ///
    /// # Errors
    /// The port is none of the chip's, or there are more bytes than the chip has.
    pub fn set_port_metadata(&mut self, port: u32, bytes: Option<&[u8]>) -> Result<(), ControlError> {
        check_port("port metadata", port)?;
        let Some(bytes) = bytes else {
            self.port_metadata.remove(&port);
            return Ok(());
        };
        let mut all = [0; MAX_PORT_METADATA_BYTES];
        let Some(front) = all.get_mut(..bytes.len()) else {
            return Err(ControlError::InvalidArgument(format!(
                "port {port} is given {} bytes of metadata; the chip has {MAX_PORT_METADATA_BYTES} at most",
                bytes.len()
            )));
        };
        front.copy_from_slice(bytes);
        self.port_metadata.insert(port, all);
        Ok(())
    }

    /// Metadata of a port, zeros where none are set.
    #[inline]
    pub fn port_metadata(&self, port: u32) -> &[u8; MAX_PORT_METADATA_BYTES] {
        const NONE: [u8; MAX_PORT_METADATA_BYTES] = [0; MAX_PORT_METADATA_BYTES];
        if self.port_metadata.is_empty() {
            return &NONE;
        }
        self.port_metadata.get(&port).unwrap_or(&NONE)
    }

    /// Ports that have metadata, with them.
    pub fn ports_with_metadata(&self) -> impl Iterator<Item = (u32, &[u8; MAX_PORT_METADATA_BYTES])> {
        self.port_metadata.iter().map(|(port, bytes)| (*port, bytes))
    }

    /// Where packets from a pipe go that deflect.
    pub fn deflection(&self, pipe: u8) -> Deflection {
        let first = Deflection { port: u32::from(pipe) << 7, queue: 0, enabled: self.deflects };
        self.deflections.get(&pipe).copied().unwrap_or(first)
    }

    /// Sets where packets from a pipe go that deflect (negative mirrors of the traffic manager); none for
    /// what the switch started with.
    ///
    /// # Errors
    /// Pipe or port is none of the chip's.
    pub fn set_deflection(&mut self, pipe: u8, to: Option<Deflection>) -> Result<(), ControlError> {
        if pipe >= PIPES {
            let text = format!("deflection: pipe {pipe} is not a number from 0 to {}", PIPES - 1);
            return Err(ControlError::InvalidArgument(text));
        }
        match to {
            Some(to) => {
                check_port("deflection", to.port)?;
                self.deflections.insert(pipe, to);
            }
            None => drop(self.deflections.remove(&pipe)),
        }
        Ok(())
    }

    /// Whether what a port sends comes back in on it.
    #[inline]
    pub fn loops_back(&self, port: u32) -> bool {
        !self.loopbacks.is_empty() && self.loopbacks.contains(&port)
    }

    /// Sets whether what a port sends comes back in on it (a loop in the MAC or below).
    ///
    /// # Errors
    /// The port is none of the chip's.
    pub fn set_loopback(&mut self, port: u32, on: bool) -> Result<(), ControlError> {
        check_port("loopback", port)?;
        if on {
            self.loopbacks.insert(port);
        } else {
            self.loopbacks.remove(&port);
        }
        Ok(())
    }
}
