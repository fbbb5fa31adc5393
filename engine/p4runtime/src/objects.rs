//! Objects of a program as the protocol names them: by ids and forms of a P4Info.

use std::collections::BTreeMap;

use p4cc_ir::{ActionId, ActionScope, Bits, MatchKind, TableId, VarType};

use crate::data_form::DataForm;
use crate::proto::p4::v1::P4Data;
use crate::translation::Form;

/// A key of a table as the protocol names it.
#[derive(Clone, Debug)]
pub(crate) struct KeyInfo {
    pub(crate) id: u32,
    /// Position among the keys that entries match; none for one without bits, which has one value only.
    pub(crate) position: Option<usize>,
    pub(crate) name: String,
    pub(crate) ty: VarType,
    /// How the controller matches.
    pub(crate) kind: MatchKind,
    /// How the program does.
    pub(crate) own: MatchKind,
    pub(crate) form: Form,
}

/// A table as the protocol names it.
#[derive(Clone, Debug)]
pub(crate) struct TableInfo {
    pub(crate) table: TableId,
    pub(crate) id: u32,
    pub(crate) keys: Vec<KeyInfo>,
    /// Some key is ternary, range or optional, so entries have priorities.
    pub(crate) has_priority: bool,
    /// By id, where each may stand.
    pub(crate) actions: BTreeMap<u32, (ActionId, ActionScope)>,
}

/// A parameter of an action as the protocol names it.
#[derive(Clone, Debug)]
pub(crate) struct ParamInfo {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) form: Form,
}

/// An action as the protocol names it.
#[derive(Clone, Debug)]
pub(crate) struct ActionInfo {
    pub(crate) id: u32,
    /// In the program's order.
    pub(crate) params: Vec<ParamInfo>,
    /// Those without bits, which the program does without.
    pub(crate) no_bits: Vec<ParamInfo>,
}

/// What a register's cell or a digest's message holds.
#[derive(Clone, Debug)]
pub(crate) struct CellInfo {
    pub(crate) form: DataForm,
    /// The scalars that the program packs, the first in the highest bits.
    pub(crate) leaves: Vec<VarType>,
}

impl CellInfo {
    /// The data of a packed value.
    pub(crate) fn data(&self, value: &Bits) -> P4Data {
        self.form.packed_data(value, &self.leaves)
    }
}

/// A field of a header between controller and switch.
#[derive(Clone, Debug)]
pub(crate) struct HeaderPart {
    /// None for one that the controller does not see.
    pub(crate) id: Option<u32>,
    pub(crate) name: String,
    pub(crate) form: Form,
}
