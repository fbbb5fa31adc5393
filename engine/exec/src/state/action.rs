//! Actions with arguments, ready to run.

use p4cc_ir::{ActionCall, ActionId, Bits, Program, TableId};
use smallvec::SmallVec;

/// An action with the words of its arguments, in the order of its parameters' words.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub action: ActionId,
    /// Place in the table's action list; 0 for members, which several tables share.
    pub position: u32,
    pub args: SmallVec<[u64; 3]>,
}

impl Resolved {
    /// Resolves a call that has been validated.
    pub fn new(call: &ActionCall, position: u32) -> Self {
        let args = call.args.iter().flat_map(Bits::words).copied().collect();
        Self { action: call.action, position, args }
    }
}

/// Place of an action in a table's list; the length of the list if it is not there.
pub(crate) fn position(program: &Program, table: TableId, action: ActionId) -> u32 {
    let actions = &program.tables[table.index()].actions;
    actions.iter().position(|other| other.action == action).unwrap_or(actions.len()) as u32
}
