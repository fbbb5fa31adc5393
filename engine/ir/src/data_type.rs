//! Types as the control plane sees them: P4Info's `type_info`, and what refers to it.
//!
//! The engine itself knows scalars only. What a value is called, and what a controller gives in its place, is
//! kept here beside the program and changes nothing of how packets are processed.

use std::collections::BTreeMap;

use crate::{Bits, VarType};

/// Type of a value that a controller reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataType {
    /// A built-in type, or one declared by `typedef`.
    Scalar(VarType),
    /// A tuple, by its members.
    Tuple(Vec<DataType>),
    /// A struct, by its name.
    Struct(String),
    /// A header, by its name.
    Header(String),
    /// A stack of headers: name of the header, number of elements.
    Stack(String, u32),
    /// A header union, by its name.
    Union(String),
    /// A stack of header unions: name of the union, number of elements.
    UnionStack(String, u32),
    /// A type declared by `type`, by its name.
    NewType(String),
    /// An enum without values, by its name.
    Enum(String),
    /// An enum with values, by its name.
    SerializableEnum(String),
    /// `error`
    Error,
}

/// What a controller gives for a value of a type declared with `@p4runtime_translation`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// Which translation.
    pub uri: String,
    /// Bits of what the controller gives; `None` for a string.
    pub sdn_bitwidth: Option<u32>,
}

/// A type declared by `type`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewType {
    /// The built-in type or enum at the end of the chain of declarations.
    pub original: DataType,
    /// What the controller gives instead, if it is translated.
    pub translation: Option<Translation>,
    /// Annotations of the declaration, as source text.
    pub annotations: Vec<String>,
}

/// Types that a program's objects name, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataTypes {
    /// Structs with their members.
    pub structs: BTreeMap<String, Vec<(String, DataType)>>,
    /// Headers with their fields, those of structs inside among them.
    pub headers: BTreeMap<String, Vec<(String, VarType)>>,
    /// Header unions: names of the members and of their header types.
    pub unions: BTreeMap<String, Vec<(String, String)>>,
    /// Enums without values: their members.
    pub enums: BTreeMap<String, Vec<String>>,
    /// Enums with values, of the type that they are stored in.
    pub serializable_enums: BTreeMap<String, (VarType, Vec<(String, Bits)>)>,
    /// Types declared by `type`.
    pub new_types: BTreeMap<String, NewType>,
    /// Something is of type `error`.
    pub has_errors: bool,
}

impl DataTypes {
    /// Bits of what a controller gives for a value of this named type;
    /// 0 for a string. None for a type of the program's own width.
    pub fn sdn_bitwidth(&self, name: &str) -> Option<u32> {
        let translation = self.new_types.get(name)?.translation.as_ref()?;
        Some(translation.sdn_bitwidth.unwrap_or(0))
    }
}
