//! Snapshots: the values of the packet that meets a condition, as they stand behind a control.
//!
//! The chip keeps the packet's values as they enter each stage. Here a control is one step: a snapshot has
//! its values as the control leaves them, and its condition looks at these. Each pipe of the chip keeps one
//! packet, the first, until the control plane arms the snapshot anew.
//!
//! While one is armed, the interpreter runs the packets of the switch: native code does not keep every value.

use std::collections::BTreeMap;

use p4cc_ir::{Bits, ViewPlace};

use super::bounds::PIPES;

/// Which snapshot: the program's pipe, egress or ingress, the first stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SnapshotId {
    /// The program's pipe, by its place.
    pub pipe: u8,
    /// Of egress.
    pub is_egress: bool,
    /// Its first stage.
    pub stage: u32,
}

/// What a value must be, in the bits that its mask has.
#[derive(Clone, Debug)]
pub struct SnapshotCondition {
    /// Where the value stands.
    pub place: ViewPlace,
    /// What it must be.
    pub value: Bits,
    /// The bits that count.
    pub mask: Bits,
}

impl SnapshotCondition {
    fn holds(&self, found: &Bits) -> bool {
        let words = found.words().iter().zip(self.value.words()).zip(self.mask.words());
        words.into_iter().all(|((found, wanted), mask)| (found ^ wanted) & mask == 0)
    }
}

/// What a pipe does for a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SnapshotState {
    /// Nothing.
    #[default]
    Passive,
    /// It waits for a packet.
    Armed,
    /// It has the values of one, in the order of the places that were asked for.
    Full(Vec<Bits>),
}

#[derive(Clone, Debug)]
struct Snapshot {
    conditions: Vec<SnapshotCondition>,
    places: Vec<ViewPlace>,
    pipes: [SnapshotState; PIPES as usize],
}

/// All snapshots.
#[derive(Clone, Debug, Default)]
pub struct Snapshots {
    all: BTreeMap<SnapshotId, Snapshot>,
    is_armed: bool,
}

impl Snapshots {
    /// Whether some pipe waits for a packet.
    #[inline]
    pub fn is_armed(&self) -> bool {
        self.is_armed
    }

    /// Waits in these pipes of the chip for a packet that meets all conditions, to keep the values of places.
    pub fn arm(
        &mut self,
        id: SnapshotId,
        conditions: Vec<SnapshotCondition>,
        places: Vec<ViewPlace>,
        pipes: impl Fn(u8) -> bool,
    ) {
        let state =
            |pipe: usize| if pipes(pipe as u8) { SnapshotState::Armed } else { SnapshotState::Passive };
        let pipes = core::array::from_fn(state);
        self.all.insert(id, Snapshot { conditions, places, pipes });
        self.settle();
    }

    /// Forgets a snapshot and what it kept.
    pub fn disarm(&mut self, id: SnapshotId) {
        self.all.remove(&id);
        self.settle();
    }

    /// What a pipe of the chip does for a snapshot.
    pub fn state(&self, id: SnapshotId, pipe: u8) -> &SnapshotState {
        const PASSIVE: &SnapshotState = &SnapshotState::Passive;
        self.all.get(&id).and_then(|snapshot| snapshot.pipes.get(usize::from(pipe))).unwrap_or(PASSIVE)
    }

    /// Keeps the values of a packet that left a control, wherever a snapshot waits for it.
    pub(crate) fn capture(
        &mut self,
        of_program: u8,
        is_egress: bool,
        pipe: u8,
        read: impl Fn(ViewPlace) -> Bits,
    ) {
        let of_control = |id: &SnapshotId| id.pipe == of_program && id.is_egress == is_egress;
        for (_, snapshot) in self.all.iter_mut().filter(|(id, _)| of_control(id)) {
            let Some(state) = snapshot.pipes.get_mut(usize::from(pipe)) else { continue };
            let meets = |one: &SnapshotCondition| one.holds(&read(one.place));
            if *state == SnapshotState::Armed && snapshot.conditions.iter().all(meets) {
                *state = SnapshotState::Full(snapshot.places.iter().map(|place| read(*place)).collect());
            }
        }
        self.settle();
    }

    fn settle(&mut self) {
        let mut pipes = self.all.values().flat_map(|snapshot| &snapshot.pipes);
        self.is_armed = pipes.any(|state| *state == SnapshotState::Armed);
    }
}
