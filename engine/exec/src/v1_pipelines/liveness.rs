//! Liveness across the queues: the variables that the egress pipeline reads, and the requests that it makes.

use std::collections::BTreeSet;

use p4cc_ir::{ActionId, FuncId, Program, VarId, VarKind};

use crate::accesses::{OpAccess, accesses};
use crate::op::{Code, ExternOp, Op};

/// What is live at the entry of some functions: the words that they, or functions they reach, read.
pub(crate) struct LiveVars<'a> {
    program: &'a Program,
    code: &'a Code,
    words: BTreeSet<u32>,
    seen: BTreeSet<FuncId>,
    /// Something clones or recirculates with a field list.
    keeps_lists: bool,
    /// A function makes a request to the architecture.
    pub makes_requests: bool,
}

impl<'a> LiveVars<'a> {
    pub fn new(program: &'a Program, code: &'a Code) -> Self {
        let (words, seen) = Default::default();
        Self { program, code, words, seen, keeps_lists: false, makes_requests: false }
    }

    /// Whether a variable is read.
    pub fn contains(&self, var: VarId) -> bool {
        let place = self.code.layout.var(var);
        self.words.range(place.slot..place.slot + place.words()).next().is_some()
    }

    /// Metadata that has to be kept, in the order of its variables, except what the architecture sets again.
    pub fn kept(&self, set_anew: &[VarId]) -> Vec<VarId> {
        let listed: BTreeSet<VarId> = if self.keeps_lists {
            self.program.field_lists.iter().flat_map(|list| &list.vars).copied().collect()
        } else {
            BTreeSet::new()
        };
        let vars = (0..self.program.vars.len()).map(VarId::from_index);
        let is_metadata = |var: &VarId| self.program.vars[var.index()].kind == VarKind::Metadata;
        let is_read = |var: &VarId| listed.contains(var) || self.contains(*var);
        vars.filter(|var| is_metadata(var) && !set_anew.contains(var) && is_read(var)).collect()
    }

    /// Adds what a function, and the actions that it runs, read.
    pub fn func(&mut self, id: FuncId) {
        if !self.seen.insert(id) {
            return;
        }
        let (program, code) = (self.program, self.code);
        for op in code.ops_of(id.index()) {
            accesses(code, op, &mut |access| {
                if let OpAccess::Words { first, words, access, .. } = access
                    && access.reads()
                {
                    self.words.extend(first..first + words);
                }
            });
            match op {
                Op::Apply { table, .. } => {
                    let table = &program.tables[*table as usize];
                    let actions = table.actions.iter().map(|action| action.action);
                    for action in actions.chain([table.default_action.action]) {
                        self.func(program.actions[action.index()].body);
                    }
                }
                Op::Call { action } => self.func(program.actions[ActionId(*action).index()].body),
                Op::Extern(index) => self.request(&code.externs[*index as usize]),
                _ => {}
            }
        }
    }

    fn request(&mut self, op: &ExternOp) {
        let answers_from_lists =
            matches!(op, ExternOp::Clone { .. } | ExternOp::Resubmit { .. } | ExternOp::Recirculate { .. });
        self.keeps_lists |= answers_from_lists;
        self.makes_requests |= op.is_request();
    }
}
