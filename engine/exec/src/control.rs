//! What the control plane reads and writes (entries, members, groups, cells), and the errors of its requests.

use p4cc_ir::{ActionCall, MatchValue};

/// What an entry runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// An action with its arguments.
    Direct(ActionCall),
    /// A member of the table's action profile.
    Member(u32),
    /// A group of the table's action selector.
    Group(u32),
    /// Members of the table's action selector that belong to this
    /// entry alone (P4Runtime "One Shot Action Selector Programming").
    Set(ActionSet),
}

/// An entry's own members of an action selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionSet {
    /// In the order given.
    pub members: Vec<SetMember>,
    /// Whether it asks for the choice by hash that the selector makes anyway; kept to be given back.
    pub by_hash: bool,
    /// How its size counts.
    pub size: SizeSemantics,
}

impl From<Vec<SetMember>> for ActionSet {
    fn from(members: Vec<SetMember>) -> Self {
        Self { members, ..Self::default() }
    }
}

/// How the size of a group or set counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SizeSemantics {
    /// As the selector declares it.
    #[default]
    Declared,
    /// The sum of the weights.
    Weights,
    /// The number of members.
    Members,
}

/// How a controller wrote a port; it reads it alike (P4Runtime "Read-Write Symmetry").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortForm {
    /// A byte string.
    #[default]
    Bytes,
    /// A number, as before P4Runtime 1.4.
    Number,
}

/// A port whose state says whether a member is usable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchPort {
    /// Its number.
    pub port: u32,
    /// How it was written.
    pub form: PortForm,
}

impl WatchPort {
    /// A port that is never up: its member stands in the group, but is not chosen.
    pub const DOWN: Self = Self { port: u32::MAX, form: PortForm::Bytes };
}

impl From<u32> for WatchPort {
    fn from(port: u32) -> Self {
        Self { port, form: PortForm::default() }
    }
}

/// One action of an entry's own set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetMember {
    /// What it runs.
    pub action: ActionCall,
    /// Share of the hash space, at least 1.
    pub weight: u32,
    /// Port whose state says whether the action is usable, if the controller named one.
    pub watch_port: Option<WatchPort>,
}

/// An entry of a table. `matches` and `priority` are its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableEntry {
    /// One per key, in key order.
    pub matches: Vec<MatchValue>,
    /// Larger wins; 0 exactly when the table has no ternary, range or optional key.
    pub priority: u32,
    /// What it runs.
    pub action: EntryAction,
    /// Opaque to the switch, given back on read.
    pub metadata: Vec<u8>,
    /// The same as a number, as controllers gave it before P4Runtime 1.4.
    pub controller_metadata: u64,
    /// Idle time after which a notification is sent, in nanoseconds; 0 for never.
    pub idle_timeout_ns: u64,
    /// Written in the program as `const`: cannot be changed.
    pub is_const: bool,
}

/// A member of an action profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Identity within the profile.
    pub id: u32,
    /// What it runs.
    pub action: ActionCall,
}

/// A group of an action selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Identity within the profile.
    pub id: u32,
    /// Largest size, 0 for no limit of its own.
    pub max_size: u32,
    /// Members with their weights (at least 1), in the order given.
    pub members: Vec<GroupMember>,
}

/// A member's place in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// Which member.
    pub member_id: u32,
    /// Share of the hash space.
    pub weight: u32,
    /// Port whose state says whether the member is usable, if the controller named one.
    pub watch_port: Option<WatchPort>,
}

/// A counter cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterCell {
    /// Packets counted.
    pub packets: u64,
    /// Bytes counted.
    pub bytes: u64,
}

/// Why the control plane's request was refused. The P4Runtime server maps each kind to the code its
/// specification names; the text says which value was wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// Something of the request is malformed.
    #[error("{0}")]
    InvalidArgument(String),
    /// What it names is not there.
    #[error("{0}")]
    NotFound(String),
    /// What it would create is there already.
    #[error("{0}")]
    AlreadyExists(String),
    /// It may not be changed (`const`), or is still in use.
    #[error("{0}")]
    PermissionDenied(String),
    /// A table, profile or group is full.
    #[error("{0}")]
    ResourceExhausted(String),
    /// An index past the end of an array.
    #[error("{0}")]
    OutOfRange(String),
    /// Valid, but in the wrong state (a member in use by a group or entry is deleted).
    #[error("{0}")]
    FailedPrecondition(String),
    /// The target cannot do it.
    #[error("{0}")]
    Unimplemented(String),
}
