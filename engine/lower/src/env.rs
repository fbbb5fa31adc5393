//! Environments: what the names of one instance stand for.

use super::object::{EnvId, Object};
use super::storage::Binding;
use p4cc_ir::{ActionId, TableId, ValueSetId};
use p4cc_types::ids::{ActId, ControlId, InstId, LocalId, ParserId, SetId, TabId};
use std::collections::{BTreeMap, BTreeSet};

/// What an environment belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The program, or a function that is being inlined.
    None,
    /// An instance of a control.
    Control(ControlId),
    /// An instance of a parser.
    Parser(ParserId),
}

/// Names of one instance.
#[derive(Debug)]
pub struct Env {
    /// What it belongs to.
    pub owner: Owner,
    /// Fully qualified name for the control plane.
    pub prefix: String,
    /// Variables and parameters.
    pub locals: BTreeMap<LocalId, Binding>,
    /// Instances.
    pub instances: BTreeMap<InstId, Object>,
    /// Tables.
    pub tables: BTreeMap<TabId, TableId>,
    /// Actions.
    pub actions: BTreeMap<ActId, ActionId>,
    /// Value sets.
    pub sets: BTreeMap<SetId, ValueSetId>,
    /// Parameters with storage of their own.
    pub owned: BTreeSet<LocalId>,
    /// Its code was made once, so that its parameters are bound.
    pub bound: bool,
    /// It is applied at one place of the source.
    pub single_site: bool,
}

impl Env {
    /// An empty one.
    pub fn new(owner: Owner, prefix: String) -> Self {
        Self {
            owner,
            prefix,
            locals: BTreeMap::new(),
            instances: BTreeMap::new(),
            tables: BTreeMap::new(),
            actions: BTreeMap::new(),
            sets: BTreeMap::new(),
            owned: BTreeSet::new(),
            bound: false,
            single_site: true,
        }
    }
}

/// An action that is called where no table runs it: which, where it is declared, and from where it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DirectCall {
    pub(super) action: ActId,
    pub(super) declared: EnvId,
    pub(super) caller: EnvId,
}
