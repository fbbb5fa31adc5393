//! The program: variables, headers, code, tables and externs.

use crate::{
    ActionId, Architecture, Bits, BlockId, CounterId, DataType, DataTypes, Filter, FilterId, FuncId,
    HashObject, HeaderId, HeaderTypeId, Inst, MeterId, ProfileId, RegisterId, Terminator, UnionId, VarId,
};

/// Type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VarType {
    /// One bit.
    Bool,
    /// Unsigned, 1 to [`crate::limits::MAX_WIDTH`] bits. Enums and errors are 32 bits wide.
    Bit(u32),
    /// Two's complement, stored masked to its width.
    Int(u32),
    /// Up to this many bits, with a length of its own.
    Varbit(u32),
}

impl VarType {
    /// Width in bits; for a varbit, the largest.
    pub const fn width(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Bit(width) | Self::Int(width) | Self::Varbit(width) => width,
        }
    }
}

/// A scalar with a static place in the frame. All are zero when a packet enters the parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Var {
    /// For people: `hdr.ipv4.ttl`, `meta.level`, `ingress.tmp`.
    pub name: String,
    /// Type.
    pub ty: VarType,
    /// Where it belongs.
    pub kind: VarKind,
}

/// What a variable belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// Field of a header instance, by position.
    Field {
        /// Header instance.
        header: HeaderId,
        /// Position of the field in its header type.
        field: u32,
    },
    /// User or standard metadata: lives from parser to deparser.
    Metadata,
    /// Local variable, parameter or temporary of a function.
    Local,
}

/// A header type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderType {
    /// Name in the source.
    pub name: String,
    /// Fields in wire order; at most one is a varbit.
    pub fields: Vec<HeaderField>,
}

/// A field of a header type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderField {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: VarType,
}

/// A header instance: its own, an element of a stack or a member of a union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// For people: `hdr.vlan[1]`.
    pub name: String,
    /// Type.
    pub ty: HeaderTypeId,
    /// One variable per field.
    pub fields: Vec<VarId>,
    /// The union it is a member of.
    pub union: Option<UnionId>,
}

/// A header stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// For people.
    pub name: String,
    /// Elements in order, all of one type.
    pub elements: Vec<HeaderId>,
}

/// A header union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Union {
    /// For people.
    pub name: String,
    /// Members; at most one is valid at a time.
    pub members: Vec<HeaderId>,
}

/// A function: blocks, entered at block 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Func {
    /// For people.
    pub name: String,
    /// Blocks; the first is the entry.
    pub blocks: Vec<Block>,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Label for people and traces: a parser state's name, or empty.
    pub label: String,
    /// Instructions in order.
    pub insts: Vec<Inst>,
    /// How it ends.
    pub terminator: Terminator,
}

impl Func {
    /// The entry block.
    pub const ENTRY: BlockId = BlockId(0);
}

/// What the control plane sees of an object: P4Info's preamble but for the id, which is computed from this.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlPlaneName {
    /// Fully qualified, `@name` applied: `ingress.ipv4_lpm`.
    pub name: String,
    /// Value of an `@id`.
    pub explicit_id: Option<u32>,
    /// Annotations that P4Info carries, as source text (`@brief("...")`), in source order.
    pub annotations: Vec<String>,
    /// `@hidden`, or made by the compiler: not in P4Info.
    pub hidden: bool,
    /// Type of a key, parameter or field, where the source tells; of an array, the type of its index.
    pub data_type: Option<DataType>,
    /// Place among objects of its kind, from 1, when the control
    /// plane is told of them; 0 keeps the program's order.
    pub rank: u32,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// Control-plane parameters in order.
    pub params: Vec<ActionParam>,
    /// Body.
    pub body: FuncId,
}

/// A control-plane parameter of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionParam {
    /// Name, explicit id and annotations (`name` is not qualified).
    pub cp: ControlPlaneName,
    /// Where the argument goes.
    pub var: VarId,
}

/// How a key matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// Equal.
    Exact,
    /// Longest prefix.
    Lpm,
    /// Value and mask.
    Ternary,
    /// Low and high.
    Range,
    /// Equal or anything.
    Optional,
    /// Not matched: input of an action selector's hash.
    Selector,
}

impl MatchKind {
    /// Its name in P4.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Lpm => "lpm",
            Self::Ternary => "ternary",
            Self::Range => "range",
            Self::Optional => "optional",
            Self::Selector => "selector",
        }
    }
}

/// A key of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Name, explicit id and annotations (`name` as P4Info prints it: `hdr.ipv4.dst_addr`).
    pub cp: ControlPlaneName,
    /// Holds the key's value when the table is applied.
    pub var: VarId,
    /// How it matches.
    pub kind: MatchKind,
}

/// An action of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAction {
    /// Which action.
    pub action: ActionId,
    /// Where it may stand.
    pub scope: ActionScope,
    /// Annotations of the reference, as source text.
    pub annotations: Vec<String>,
}

/// Where an action of a table may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionScope {
    /// Entries and default.
    TableAndDefault,
    /// `@tableonly`
    TableOnly,
    /// `@defaultonly`
    DefaultOnly,
}

/// An action with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionCall {
    /// Which action.
    pub action: ActionId,
    /// One value per parameter, of the parameter's width.
    pub args: Vec<Bits>,
}

/// One key's value in an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchValue {
    /// Anything: ternary, range, optional or lpm left out.
    Any,
    /// Exact, or optional with a value.
    Exact(Bits),
    /// Prefix of `len` bits; the rest of `value` is zero.
    Lpm {
        /// The prefix in the high bits.
        value: Bits,
        /// Bits of the prefix.
        len: u32,
    },
    /// Ternary; bits of `value` outside `mask` are zero.
    Ternary {
        /// Bits wanted.
        value: Bits,
        /// Bits compared.
        mask: Bits,
    },
    /// Range, both ends included.
    Range {
        /// Lowest key that matches.
        low: Bits,
        /// Highest key that matches.
        high: Bits,
    },
}

/// An entry written in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceEntry {
    /// One per key.
    pub matches: Vec<MatchValue>,
    /// Larger wins, as in P4Runtime; 0 where the table needs none.
    pub priority: u32,
    /// What it runs.
    pub action: ActionCall,
    /// Cannot be changed.
    pub is_const: bool,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// Keys in order.
    pub keys: Vec<Key>,
    /// Actions in order.
    pub actions: Vec<TableAction>,
    /// Run on a miss.
    pub default_action: ActionCall,
    /// The default action cannot be changed.
    pub const_default: bool,
    /// `entries` of the source.
    pub entries: Vec<SourceEntry>,
    /// The whole table cannot be changed (`const entries`).
    pub const_entries: bool,
    /// Most entries it holds.
    pub size: u32,
    /// Action profile or selector behind it.
    pub profile: Option<ProfileId>,
    /// Direct counter.
    pub counter: Option<CounterId>,
    /// Direct meter.
    pub meter: Option<MeterId>,
    /// Direct register.
    pub register: Option<RegisterId>,
    /// Direct filter.
    pub filter: Option<FilterId>,
    /// `support_timeout = true`
    pub idle_timeout: bool,
}

/// Unit of counters and meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountUnit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Both (counters only).
    Both,
}

/// A counter array, or a table's direct counter (`direct` names no size).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// Unit.
    pub unit: CountUnit,
    /// Number of cells; `None` for a direct counter.
    pub size: Option<u32>,
}

/// A meter array, or a table's direct meter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meter {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// Unit.
    pub unit: CountUnit,
    /// Number of cells; `None` for a direct meter.
    pub size: Option<u32>,
}

/// A struct or tuple as the control plane sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composite {
    /// Name of the struct type; empty for a tuple.
    pub name: String,
    /// Fields in order, the first in the highest bits where they are packed; those of a tuple have no names.
    pub fields: Vec<HeaderField>,
}

/// What a register is to the control plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RegisterKind {
    /// An array.
    #[default]
    Array,
    /// TNA's `RegisterParam`: one cell, which only the control plane writes.
    Param,
    /// TNA's `DirectRegister`: a cell for each entry of a table.
    Direct,
}

/// A register array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// Type of a cell.
    pub ty: VarType,
    /// What a cell packs, if it is no scalar.
    pub composite: Option<Composite>,
    /// The cell as the control plane sees it.
    pub data_type: DataType,
    /// Number of cells; 0 for a direct register.
    pub size: u32,
    /// What it is to the control plane.
    pub kind: RegisterKind,
    /// What the cells hold at the start, if not zero.
    pub initial: Option<Bits>,
}

/// An action profile, or a selector if `selector` is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// Most members (profile) or most members over all groups (selector).
    pub size: u32,
    /// Selector: hash algorithm and bits kept of it.
    pub selector: Option<(crate::HashAlgorithm, u32)>,
    /// Selector: `@max_group_size`, 0 when not given.
    pub max_group_size: u32,
    /// Selector: packets of members that stay keep them when another one goes down (TNA's
    /// `SelectorMode_t.RESILIENT`).
    pub resilient: bool,
    /// TNA's selector: lines of its memory for each group, of [`SELECTOR_LINE_BITS`] bits; 0 where the
    /// selector has no such memory.
    pub group_lines: u32,
    /// TNA's selector: the register whose cells are the bits of that memory, if packets write them.
    pub bits: Option<RegisterId>,
}

/// Bits in a line of a selector's memory.
pub const SELECTOR_LINE_BITS: u32 = 128;
/// Members in a line of a selector's memory.
pub const SELECTOR_LINE_MEMBERS: u32 = 120;

impl Profile {
    /// A profile of a given name and size, without a selector.
    pub fn plain(cp: ControlPlaneName, size: u32) -> Self {
        let (selector, bits) = (None, None);
        Self { cp, size, selector, max_group_size: 0, resilient: false, group_lines: 0, bits }
    }

    /// Largest weight of one member where sizes count members
    /// (`@selector_size_semantics`), 0 for any; none where they count weights.
    pub fn member_weight_limit(&self) -> Option<u64> {
        let body = |name: &str| {
            self.cp.annotations.iter().find_map(|text| {
                let rest = text.strip_prefix('@')?.strip_prefix(name)?.trim_start().strip_prefix('(')?;
                Some(rest.strip_suffix(')')?.trim().trim_matches('"'))
            })
        };
        (body("selector_size_semantics")? == "sum_of_members")
            .then(|| body("max_member_weight").and_then(|number| number.parse().ok()).unwrap_or(0))
    }
}

/// A digest message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// For the control plane; in v1model `name` is that of the struct type.
    pub cp: ControlPlaneName,
    /// Name of the struct type; empty for a tuple.
    pub type_name: String,
    /// Fields in order; those of a tuple have no names.
    pub fields: Vec<HeaderField>,
    /// The message as the control plane sees it.
    pub data_type: DataType,
}

/// A `crc16_custom` or `crc32_custom`: each calculation has parameters of its own, as in BMv2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomCrc {
    /// BMv2's name of the calculation; of a program given as
    /// source, the name that p4c gives (`calc`, `calc_0`, ...).
    pub name: String,
    /// 16 or 32 bits.
    pub width: u32,
    /// What it starts with, where the program says so (TNA's `CRCPolynomial`).
    pub start: Option<CrcStart>,
}

/// A parser value set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueSet {
    /// For the control plane.
    pub cp: ControlPlaneName,
    /// Most members.
    pub size: u32,
    /// Keys of a member.
    pub keys: Vec<(ControlPlaneName, VarType, MatchKind)>,
}

/// A `@controller_header`: `packet_in` or `packet_out`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerHeader {
    /// The annotation's value is the name.
    pub cp: ControlPlaneName,
    /// The header type that carries it.
    pub ty: HeaderTypeId,
    /// Names and ids of the fields.
    pub fields: Vec<(ControlPlaneName, VarType)>,
}

/// Where a function runs, and so what may stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Extracts.
    Parser,
    /// Applies tables and calls externs.
    Control,
    /// Emits, and calls externs that keep no state.
    Deparser,
    /// Emits, applies tables and calls externs.
    CallingDeparser,
}

/// Parameters that a CRC starts with, if not those of the standard one of its width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrcStart {
    /// Generator polynomial, highest power left out.
    pub polynomial: u32,
    /// Register at the start.
    pub initial: u32,
    /// Exclusive-or at the end.
    pub final_xor: u32,
    /// Bytes go in lowest bit first, and the result is reversed.
    pub reversed: bool,
}

/// A field list of `@field_list(n)`: what a clone, resubmit or recirculation keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldList {
    /// The annotation's number.
    pub index: u32,
    /// Metadata kept.
    pub vars: Vec<VarId>,
}

/// What the control plane sees of a source without `main`: it has no pipeline, and so no tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Library {
    /// Headers of packets to and from the controller.
    pub controller_headers: Vec<ControllerHeader>,
    /// Types of these headers, indexed by [`HeaderTypeId`].
    pub header_types: Vec<HeaderType>,
    /// Types that the headers' fields name.
    pub data_types: DataTypes,
    /// Members of `error`.
    pub errors: Vec<String>,
}

/// A whole program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// For people.
    pub name: String,
    /// Entry points.
    pub architecture: Architecture,
    /// Variables, by [`VarId`].
    pub vars: Vec<Var>,
    /// Header types, by [`HeaderTypeId`].
    pub header_types: Vec<HeaderType>,
    /// Header instances, by [`HeaderId`].
    pub headers: Vec<Header>,
    /// Header stacks, by [`StackId`].
    pub stacks: Vec<Stack>,
    /// Header unions, by [`UnionId`].
    pub unions: Vec<Union>,
    /// Functions, by [`FuncId`].
    pub funcs: Vec<Func>,
    /// Actions, by [`ActionId`].
    pub actions: Vec<Action>,
    /// Tables, by [`TableId`].
    pub tables: Vec<Table>,
    /// Counters, direct ones too, by [`CounterId`].
    pub counters: Vec<Counter>,
    /// Meters, direct ones too, by [`MeterId`].
    pub meters: Vec<Meter>,
    /// Register arrays, by [`RegisterId`].
    pub registers: Vec<Register>,
    /// Action profiles and selectors, by [`ProfileId`].
    pub profiles: Vec<Profile>,
    /// Kinds of digest messages, by [`DigestId`].
    pub digests: Vec<Digest>,
    /// Parser value sets, by [`ValueSetId`].
    pub value_sets: Vec<ValueSet>,
    /// CRCs whose parameters the control plane sets, by [`CustomCrcId`].
    pub custom_crcs: Vec<CustomCrc>,
    /// Filters, direct ones too, by [`FilterId`].
    pub filters: Vec<Filter>,
    /// Hash functions that the control plane sets, by [`crate::HashId`].
    pub hashes: Vec<HashObject>,
    /// Headers of packets to and from the controller.
    pub controller_headers: Vec<ControllerHeader>,
    /// Metadata that clones, resubmissions and recirculations keep, by list.
    pub field_lists: Vec<FieldList>,
    /// Types that the control plane is told of.
    pub data_types: DataTypes,
    /// Names of error codes; an error's value is its position.
    pub errors: Vec<String>,
    /// Annotations of the package instance (`@pkginfo`), as source text.
    pub package_annotations: Vec<String>,
}

impl Program {
    /// Bits of all variables, which a frame holds.
    pub fn frame_bits(&self) -> u64 {
        self.vars.iter().map(|var| u64::from(var.ty.width())).sum()
    }
}

/// Positions of core.p4's errors in [`Program::errors`], which every program starts with.
pub mod core_errors {
    /// `NoError`
    pub const NO_ERROR: u32 = 0;
    /// `PacketTooShort`
    pub const PACKET_TOO_SHORT: u32 = 1;
    /// `NoMatch`
    pub const NO_MATCH: u32 = 2;
    /// `StackOutOfBounds`
    pub const STACK_OUT_OF_BOUNDS: u32 = 3;
    /// `HeaderTooShort`
    pub const HEADER_TOO_SHORT: u32 = 4;
    /// `ParserTimeout`
    pub const PARSER_TIMEOUT: u32 = 5;
    /// `ParserInvalidArgument`
    pub const PARSER_INVALID_ARGUMENT: u32 = 6;
}
