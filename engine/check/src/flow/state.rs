//! What is known of the variables at one point of a program.

use super::layout::Region;
use p4cc_types::ids::LocalId;
use std::collections::BTreeMap;

/// Whether a header is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    Valid,
    Invalid,
    /// Valid on one way here and invalid on another.
    Either,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Var {
    /// Leaves that may have no value yet.
    unset: Vec<bool>,
    valid: Vec<Validity>,
}

/// The variables that are followed; of one that is not, every leaf is set and every header valid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    vars: BTreeMap<LocalId, Var>,
}

impl State {
    /// A variable comes into being.
    pub fn declare(&mut self, whole: &Region, unset: bool, valid: Validity) {
        let var = Var { unset: vec![unset; whole.leaves.end], valid: vec![valid; whole.headers.end] };
        self.vars.insert(whole.local, var);
    }

    /// Whether a leaf of a variable may have no value.
    pub fn is_unset(&self, local: LocalId, leaf: usize) -> bool {
        self.vars.get(&local).and_then(|var| var.unset.get(leaf)).copied().unwrap_or(false)
    }

    /// Validity of a header of a variable.
    pub fn validity(&self, local: LocalId, header: usize) -> Validity {
        let found = self.vars.get(&local).and_then(|var| var.valid.get(header));
        found.copied().unwrap_or(Validity::Valid)
    }

    /// A part gets a value.
    pub fn set(&mut self, region: &Region) {
        if let Some(leaves) =
            self.vars.get_mut(&region.local).and_then(|var| var.unset.get_mut(region.leaves.clone()))
        {
            leaves.fill(false);
        }
    }

    /// The headers of a part become valid or invalid.
    pub fn set_validity(&mut self, region: &Region, valid: Validity) {
        if let Some(headers) =
            self.vars.get_mut(&region.local).and_then(|var| var.valid.get_mut(region.headers.clone()))
        {
            headers.fill(valid);
        }
    }

    /// What holds where two ways meet.
    pub fn join(&mut self, other: &State) {
        for (local, var) in &other.vars {
            let Some(mine) = self.vars.get_mut(local) else {
                self.vars.insert(*local, var.clone());
                continue;
            };
            for (a, b) in mine.unset.iter_mut().zip(&var.unset) {
                *a |= *b;
            }
            for (a, b) in mine.valid.iter_mut().zip(&var.valid) {
                if a != b {
                    *a = Validity::Either;
                }
            }
        }
    }
}

/// Joins two ways, each of which may never be gone.
pub(super) fn join(a: Option<State>, b: Option<State>) -> Option<State> {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            a.join(&b);
            Some(a)
        }
        (a, b) => a.or(b),
    }
}
