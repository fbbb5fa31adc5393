//! Which names are types at a place of the program.
//!
//! The grammar needs no more than this: a name declared as
//! a type and not hidden by a later object of that name.

use std::collections::BTreeMap;

/// Names by scope, the outermost first.
#[derive(Debug)]
pub(super) struct Scopes {
    levels: Vec<BTreeMap<String, bool>>,
}

impl Scopes {
    pub(super) fn new() -> Self {
        Self { levels: vec![BTreeMap::new()] }
    }

    pub(super) fn push(&mut self) {
        self.levels.push(BTreeMap::new());
    }

    /// Leaves the innermost scope; the outermost stays.
    pub(super) fn pop(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Leaves scopes until `depth` are open (after an error).
    pub(super) fn truncate(&mut self, depth: usize) {
        self.levels.truncate(depth.max(1));
    }

    pub(super) fn declare_type(&mut self, name: &str) {
        self.declare(name, true);
    }

    /// A variable, parameter, constant, function, instance, action or table hides a type of the same name.
    pub(super) fn declare_object(&mut self, name: &str) {
        self.declare(name, false);
    }

    fn declare(&mut self, name: &str, is_type: bool) {
        if let Some(level) = self.levels.last_mut() {
            level.insert(name.to_owned(), is_type);
        }
    }

    pub(super) fn is_type(&self, name: &str) -> bool {
        self.levels.iter().rev().find_map(|level| level.get(name).copied()).unwrap_or(false)
    }

    pub(super) fn is_global_type(&self, name: &str) -> bool {
        self.levels.first().and_then(|level| level.get(name).copied()).unwrap_or(false)
    }
}
