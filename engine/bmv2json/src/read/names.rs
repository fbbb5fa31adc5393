//! What names and ids of a document stand for, as far as it was read.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use super::json::{NOT_P4C, Res, fault, text};

use p4cc_ir::{
    ActionId, Bits, CounterId, DigestId, HashAlgorithm, HeaderField, HeaderId, HeaderTypeId, MeterId,
    ProfileId, RegisterId, StackId, TableId, UnionId, ValueSetId, VarId,
};

/// A header type of the format.
#[derive(Debug)]
pub(super) struct TypeInfo {
    pub ir: HeaderTypeId,
    /// Places of fields by name.
    pub places: BTreeMap<String, usize>,
    pub fields: Vec<HeaderField>,
}

/// A header instance of the format.
#[derive(Clone, Debug)]
pub(super) struct Slot<'j> {
    pub type_name: &'j str,
    /// `None` for metadata, which is always valid.
    pub header: Option<HeaderId>,
    /// One for each field.
    pub vars: Rc<[VarId]>,
}

/// A stack of header unions.
#[derive(Clone, Debug)]
pub(super) struct UnionStack {
    pub unions: Vec<UnionId>,
    /// Number of elements extracted.
    pub next: VarId,
    /// Names of the members.
    pub members: Vec<String>,
}

/// What names stand for.
#[derive(Default)]
pub(super) struct Shapes<'j> {
    pub types: BTreeMap<&'j str, TypeInfo>,
    pub slots: BTreeMap<&'j str, Slot<'j>>,
    pub slot_ids: BTreeMap<u32, &'j str>,
    pub stacks: BTreeMap<&'j str, StackId>,
    pub unions: BTreeMap<&'j str, UnionId>,
    pub union_ids: BTreeMap<u32, UnionId>,
    pub union_stacks: BTreeMap<&'j str, UnionStack>,
    pub union_types: BTreeMap<&'j str, Vec<String>>,
    /// Elements of stacks.
    pub stacked: BTreeSet<HeaderId>,
}

/// A named calculation: what is hashed is lowered where it is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calculation<'j> {
    pub algorithm: HashAlgorithm,
    pub input: &'j [Value],
}

/// A value set; its keys are known where it is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetInfo<'j> {
    pub id: ValueSetId,
    pub at: &'j Value,
    pub width: u32,
    /// Its keys were taken from a transition key.
    pub used: bool,
}

/// An instance of an extern.
#[derive(Clone, Debug)]
pub(super) enum Instance {
    Counter(CounterId),
    Meter(MeterId),
    Hash(HashAlgorithm),
    /// The least and the greatest number.
    Random(Bits, Bits),
    /// The running sum.
    Checksum(VarId),
}

/// What names and ids stand for.
#[derive(Default)]
pub(super) struct Objects<'j> {
    pub counters: BTreeMap<&'j str, CounterId>,
    pub meters: BTreeMap<&'j str, MeterId>,
    pub registers: BTreeMap<&'j str, RegisterId>,
    pub profiles: BTreeMap<&'j str, ProfileId>,
    /// Fields that feed each selector.
    pub selector_inputs: BTreeMap<&'j str, &'j [Value]>,
    pub sets: BTreeMap<&'j str, SetInfo<'j>>,
    /// Instances of psa_switch's externs.
    pub instances: BTreeMap<&'j str, Instance>,
    pub calculations: BTreeMap<&'j str, Calculation<'j>>,
    /// Digest and elements by id.
    pub learn_lists: BTreeMap<u32, (DigestId, &'j [Value])>,
    /// Direct counters by table.
    pub direct_counters: BTreeMap<&'j str, CounterId>,
    /// Direct meters, and where their colours go, by table.
    pub direct_meters: BTreeMap<&'j str, (MeterId, &'j Value)>,
    /// Codes of the format that are not the IR's, with the IR's.
    pub error_codes: BTreeMap<u32, u32>,
}

/// A direct meter that runs before an action when its table was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeterPlan {
    pub meter: MeterId,
    /// Set by the table when it was hit.
    pub hit: VarId,
    /// Takes the colour.
    pub target: VarId,
}

/// Actions by what the format calls them.
#[derive(Default)]
pub(super) struct Actions<'j> {
    pub by_id: BTreeMap<u32, ActionId>,
    pub by_name: BTreeMap<&'j str, ActionId>,
    /// Meters of the tables that use an action, by the action's id.
    pub meters: BTreeMap<u32, Option<MeterPlan>>,
    /// Actions by all that they do.
    pub same: BTreeMap<String, ActionId>,
}

/// What has to be computed before a table is applied.
#[derive(Clone, Debug)]
pub(super) enum KeyPlan<'j> {
    Computed { dst: VarId, from: &'j Value },
    Masked { dst: VarId, src: VarId, mask: Bits },
    Valid { dst: VarId, header: Option<HeaderId> },
}

/// What the control flow needs to know of a table.
#[derive(Clone, Debug)]
pub(super) struct TableInfo<'j> {
    pub id: TableId,
    pub keys: Vec<KeyPlan<'j>>,
    /// Name of the action at each position; `None` for one that was added here.
    pub positions: Vec<Option<&'j str>>,
    /// Takes whether the table was hit, when a direct meter needs it.
    pub hit: Option<VarId>,
}

/// Looks a name up.
pub(super) fn named<'j, T: Copy>(value: &'j Value, what: &str, map: &BTreeMap<&'j str, T>) -> Res<'j, T> {
    let name = text(value)?;
    match map.get(name) {
        Some(&found) => Ok(found),
        None => fault(value, format!("there is no {what} `{name:.60}`"), NOT_P4C),
    }
}

/// Fails when the insertion of a name replaced something.
pub(super) fn once<'j>(item: &'j Value, name: &str, replaced: bool) -> Res<'j, ()> {
    if replaced { fault(item, format!("`{name}` is declared twice"), NOT_P4C) } else { Ok(()) }
}
