//! What a program and the chip offer to BF Runtime: tables with the ids and types of their fields, learn
//! filters. The service finds everything a request names here; [`json`] writes it as bf-rt.json.

mod chip;
mod externs;
mod fields;
pub mod json;
mod match_tables;
mod snapshot;

pub use chip::{Chip, fixed};
pub use snapshot::MASK as SNAPSHOT_MASK;

use p4cc_ir::{
    ActionId, CounterId, DigestId, MeterId, ProfileId, Program, RegisterId, TableId, TofinoChip, ValueSetId,
};
use p4cc_p4runtime::P4InfoError;
use p4cc_p4runtime::p4info::chip::{ChipObjects, view};

/// Why a program has no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Not a program of the chip.
    #[error("BF Runtime serves TNA programs; this one is for {0}: serve it by P4Runtime")]
    Architecture(&'static str),
    /// An id that cannot be given.
    #[error(transparent)]
    Id(#[from] P4InfoError),
}

/// What a program offers, in the order in which p4c's back end for the chip writes it.
///
/// # Errors
/// The program is not for the chip, or has an `@id` that cannot be given.
pub fn of_program(program: &Program, chip: Chip) -> Result<Schema, SchemaError> {
    let view = view(program).ok_or(SchemaError::Architecture(program.architecture.name()))?;
    let objects = ChipObjects::new(program, view)?;
    let source = Source { program, view, objects: &objects, chip };
    let mut schema = Schema { tables: match_tables::tables(&source), learn_filters: Vec::new() };
    externs::add(&source, &mut schema);
    snapshot::add(&source, &mut schema);
    externs::add_port_metadata(&source, &mut schema);
    schema.tables.push(snapshot::debug_counters(chip));
    Ok(schema)
}

/// The chip that a program is for.
pub fn chip_of(program: &Program) -> Chip {
    match program.architecture.chip() {
        Some(TofinoChip::Tofino2) => Chip::Tofino2,
        Some(TofinoChip::Tofino1) | None => Chip::Tofino1,
    }
}

/// What a schema is made of.
struct Source<'a> {
    program: &'a Program,
    view: &'a p4cc_ir::TnaView,
    objects: &'a ChipObjects,
    chip: Chip,
}

/// Everything that clients of one program see.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// Tables in the order of the JSON.
    pub tables: Vec<Table>,
    /// Messages that packets send to the controller.
    pub learn_filters: Vec<LearnFilter>,
}

/// One table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// As clients call it, with the pipe in front: `pipe.Ingress.forward`, `$PORT`.
    pub name: String,
    /// Number on the wire.
    pub id: u32,
    /// `table_type` of the JSON.
    pub kind: &'static str,
    /// What it stands for.
    pub object: Object,
    /// Most entries.
    pub size: u64,
    /// As source text.
    pub annotations: Vec<Annotation>,
    /// Tables that must be filled before this one.
    pub depends_on: Vec<u32>,
    /// `has_const_default_action`; match tables have it.
    pub has_const_default: Option<bool>,
    /// Key fields in order.
    pub key: Vec<Key>,
    /// Actions; a table has them or has data only.
    pub actions: Vec<Action>,
    /// Data fields that go with every action.
    pub data: Vec<Data>,
    /// `supported_operations`: `SyncCounters`...
    pub operations: Vec<&'static str>,
    /// `attributes`: `EntryScope`...
    pub attributes: Vec<&'static str>,
}

/// What a table stands for. Pipes and externs are numbered by their place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// A match table.
    Match(TableId),
    /// Members of an action profile or selector (`Action`).
    Members(ProfileId),
    /// Groups of a selector (`Selector`).
    Groups(ProfileId),
    /// The member that a hash value chooses (`SelectorGetMember`).
    GetMember(ProfileId),
    /// An indirect counter.
    Counter(CounterId),
    /// An indirect meter.
    Meter(MeterId),
    /// An indirect low-pass filter, by its place in the program's list.
    Lpf(u32),
    /// An indirect WRED, by its place in the program's list.
    Wred(u32),
    /// A register array.
    Register(RegisterId),
    /// A `RegisterParam`: a register of one cell.
    RegisterParam(RegisterId),
    /// Members of a parser value set.
    ValueSet(ValueSetId),
    /// What the switch puts in front of packets, by port; of a pipe.
    PortMetadata(u32),
    /// Algorithm of a hash that can be changed at run time, by its place in the program's list.
    HashAlgorithm(u32),
    /// Fields of such a hash.
    HashConfigure(u32),
    /// Its value for given fields.
    HashCompute(u32),
    /// A table that programs do not change or that the chip has beside them; `fixed` finds it by its name.
    Fixed,
}

/// An annotation: its name with the `@`, and the value if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// `@defaultonly`, `$bfrt_field_class`.
    pub name: String,
    /// What stands in parentheses.
    pub value: Option<String>,
}

/// A key field.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Number on the wire.
    pub id: u32,
    /// `hdr.ipv4.dst_addr`, `$MATCH_PRIORITY`.
    pub name: String,
    /// How it matches.
    pub kind: KeyKind,
    /// Type.
    pub ty: Type,
    /// Must be given.
    pub mandatory: bool,
    /// An array.
    pub repeated: bool,
    /// Bits that the program compares, as it writes them, where it names a mask.
    pub mask: Option<String>,
    /// `isFieldSlice` and the like.
    pub annotations: Vec<Annotation>,
    /// What it means.
    pub means: Means,
}

/// How a key field matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the JSON")]
pub enum KeyKind {
    Exact,
    Ternary,
    Lpm,
    Range,
    Optional,
    Atcam,
    DleftHash,
}

/// An action of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Number on the wire.
    pub id: u32,
    /// `Ingress.set_port`.
    pub name: String,
    /// The program's action; none in fixed tables.
    pub action: Option<ActionId>,
    /// Where it may stand.
    pub scope: ActionScope,
    /// Annotations of its place in the table.
    pub annotations: Vec<Annotation>,
    /// Parameters, or what a fixed table's action holds.
    pub data: Vec<Data>,
}

/// Where an action may stand; `Any` is not written (fixed tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the JSON")]
pub enum ActionScope {
    TableAndDefault,
    TableOnly,
    DefaultOnly,
    Any,
}

/// A data field, or several of which one is given (`oneof`).
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Must be given.
    pub mandatory: bool,
    /// Cannot be written.
    pub read_only: bool,
    /// One, or the alternatives.
    pub fields: Vec<Field>,
}

/// A data field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Number on the wire.
    pub id: u32,
    /// `port`, `$COUNTER_SPEC_BYTES`.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// An array.
    pub repeated: bool,
    /// As the JSON has them.
    pub annotations: Vec<Annotation>,
    /// What it means.
    pub means: Means,
}

/// What a key or data field stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// A key of the program's table or value set, by position.
    Key(usize),
    /// A parameter of the action, by position.
    Param(usize),
    /// `$MATCH_PRIORITY`: the smallest wins.
    Priority,
    /// `$ACTION_MEMBER_ID`
    Member,
    /// `$SELECTOR_GROUP_ID`
    Group,
    /// `$ACTION_MEMBER_STATUS`
    MemberStatus,
    /// `$MAX_GROUP_SIZE`
    MaxGroupSize,
    /// `$COUNTER_INDEX`, `$METER_INDEX`, `$REGISTER_INDEX`...: a cell of an array.
    Index,
    /// `$COUNTER_SPEC_BYTES`
    CounterBytes,
    /// `$COUNTER_SPEC_PKTS`
    CounterPackets,
    /// A number of a meter.
    Meter(MeterPart),
    /// A number of a low-pass filter.
    Lpf(LpfPart),
    /// A number of a WRED.
    Wred(WredPart),
    /// `$ENTRY_TTL`
    Ttl,
    /// `$ENTRY_HIT_STATE`
    HitState,
    /// A field of a register's cell, by position, indirect or direct.
    Cell(RegisterId, usize),
    /// Known by its name.
    Named,
}

/// Numbers of a meter: committed and peak rate (kbit/s or packets/s), committed and peak burst (kbit or
/// packets).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "as named above")]
pub enum MeterPart {
    Cir,
    Pir,
    Cbs,
    Pbs,
}

/// Numbers of a low-pass filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the JSON: $LPF_SPEC_...")]
pub enum LpfPart {
    Type,
    GainTimeConstantNs,
    DecayTimeConstantNs,
    OutScaleDownFactor,
}

/// Numbers of a WRED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the JSON: $WRED_SPEC_...")]
pub enum WredPart {
    TimeConstantNs,
    MinThreshCells,
    MaxThreshCells,
    MaxProbability,
}

/// Type of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `uint8` to `uint64`, `int32`, `int64`, by the JSON's name, and the default.
    Int(&'static str, Option<u64>),
    /// Bits of this width, and the default.
    Bytes(u32, Option<u64>),
    /// And the default.
    Bool(Option<bool>),
    /// And the default.
    Float(Option<f32>),
    /// Choices (none: any text), and the default.
    Text(Vec<String>, Option<String>),
    /// Fields within.
    Container(Vec<Data>),
}

impl Type {
    /// Width of a number in bits; 0 of others.
    pub fn width(&self) -> u32 {
        match self {
            Self::Int(name, _) => name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0),
            Self::Bytes(width, _) => *width,
            _ => 0,
        }
    }
}

/// Fields that packets send together: a digest.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnFilter {
    /// `pipe.IngressDeparser.digest`
    pub name: String,
    /// Number on the wire.
    pub id: u32,
    /// The program's digest.
    pub digest: DigestId,
    /// As source text.
    pub annotations: Vec<Annotation>,
    /// Fields in order.
    pub fields: Vec<Field>,
}

impl Schema {
    /// A table by its number.
    pub fn table(&self, id: u32) -> Option<&Table> {
        self.tables.iter().find(|table| table.id == id)
    }
}

impl Table {
    /// A key field by its number.
    pub fn key(&self, id: u32) -> Option<&Key> {
        self.key.iter().find(|key| key.id == id)
    }

    /// An action by its number.
    pub fn action(&self, id: u32) -> Option<&Action> {
        self.actions.iter().find(|action| action.id == id)
    }

    /// A data field by its number: one of the action's, or one that goes with every action.
    pub fn field<'a>(&'a self, action: Option<&'a Action>, id: u32) -> Option<(&'a Data, &'a Field)> {
        let all = action.into_iter().flat_map(|action| &action.data).chain(&self.data);
        all.flat_map(|data| data.fields.iter().map(move |field| (data, field)))
            .find(|(_, field)| field.id == id)
    }
}
