//! What packets change: values of header fields and metadata between two steps of a trace.
//!
//! A step of [`Changed`] follows the step that caused it. What egress starts with is compared with what
//! ingress ended with, for each copy of a packet; a parser starts from nothing, so all that it finds is a
//! change.

use p4cc_exec::{Pipeline, Values};
use p4cc_ir::{Bits, HeaderId, VarId, VarKind};
use serde::{Serialize, Serializer};

/// What changed since the step before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Headers that became valid (all their fields are listed) or invalid.
    pub headers: Vec<HeaderChange>,
    /// Fields and metadata.
    pub values: Vec<ValueChange>,
}

/// A header that became valid or invalid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeaderChange {
    /// Its name: `hdr.ipv4`.
    pub header: String,
    /// Whether it is valid now.
    pub valid: bool,
}

/// A value that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueChange {
    /// The variable: `hdr.ipv4.ttl`.
    pub name: String,
    /// Its width in bits.
    pub width: u32,
    /// What it was; none where its header was invalid.
    #[serde(serialize_with = "optional")]
    pub before: Option<Bits>,
    /// What it is.
    #[serde(serialize_with = "plain")]
    pub after: Bits,
}

/// A value without the width that P4 puts before it.
pub fn digits(value: &Bits) -> String {
    let value = value.to_string();
    value.split_once('w').map_or(value.as_str(), |(_, digits)| digits).to_owned()
}

fn plain<S: Serializer>(value: &Bits, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&digits(value))
}

pub(crate) fn optional<S: Serializer>(value: &Option<Bits>, serializer: S) -> Result<S::Ok, S::Error> {
    value.as_ref().map(digits).serialize(serializer)
}

/// Values as they were at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Snapshot {
    valid: Vec<bool>,
    values: Vec<Bits>,
}

impl Snapshot {
    fn zero(pipeline: &Pipeline) -> Self {
        let program = pipeline.program();
        let values = program.vars.iter().map(|var| Bits::zero(var.ty.width())).collect();
        Self { valid: vec![false; program.headers.len()], values }
    }

    fn of(pipeline: &Pipeline, values: Values<'_>) -> Self {
        let program = pipeline.program();
        let header = |at| values.is_valid(pipeline, HeaderId::from_index(at));
        let var = |at| values.get(pipeline, VarId::from_index(at));
        Self {
            valid: (0..program.headers.len()).map(header).collect(),
            values: (0..program.vars.len()).map(var).collect(),
        }
    }

    /// What is different in a later snapshot of the same program.
    fn changes(&self, later: &Self, pipeline: &Pipeline) -> Changed {
        let program = pipeline.program();
        let mut changed = Changed::default();
        for (at, header) in program.headers.iter().enumerate() {
            if self.valid[at] != later.valid[at] {
                changed.headers.push(HeaderChange { header: header.name.clone(), valid: later.valid[at] });
            }
        }
        for (at, var) in program.vars.iter().enumerate() {
            let was_there = match var.kind {
                VarKind::Local => continue,
                VarKind::Metadata => true,
                VarKind::Field { header, .. } if later.valid[header.index()] => self.valid[header.index()],
                VarKind::Field { .. } => continue,
            };
            let before = was_there.then(|| self.values[at].clone());
            let after = later.values[at].clone();
            if before.as_ref() != Some(&after) {
                changed.values.push(ValueChange {
                    name: var.name.clone(),
                    width: after.width(),
                    before,
                    after,
                });
            }
        }
        changed
    }
}

/// Follows the values of the packet at hand.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueTrace {
    /// At the last step; none before a packet's first.
    last: Option<Snapshot>,
    /// Where ingress ended.
    ingress_end: Option<Snapshot>,
    /// The packet has left its queue, and egress has not begun.
    is_dequeued: bool,
}

impl ValueTrace {
    /// A parser starts.
    pub fn begin(&mut self) {
        *self = Self::default();
    }

    /// A packet, or a copy of it, left its queue for egress.
    pub fn dequeued(&mut self) {
        if self.ingress_end.is_none() {
            self.ingress_end = self.last.take();
        }
        self.last.clone_from(&self.ingress_end);
        self.is_dequeued = true;
    }

    /// What changed until now.
    pub fn changes(&mut self, pipeline: &Pipeline, values: Values<'_>) -> Option<Changed> {
        let now = Snapshot::of(pipeline, values);
        // Programs with a pipeline of their own for egress have other variables there.
        let last = self
            .last
            .take()
            .filter(|last| last.values.len() == now.values.len() && last.valid.len() == now.valid.len());
        let last = last.unwrap_or_else(|| Snapshot::zero(pipeline));
        let mut changed = last.changes(&now, pipeline);
        self.last = Some(now);
        if core::mem::take(&mut self.is_dequeued) {
            // A queue keeps what egress reads; all else is zero behind it.
            changed.values.retain(|value| !value.after.is_zero());
        }
        (changed != Changed::default()).then_some(changed)
    }
}
