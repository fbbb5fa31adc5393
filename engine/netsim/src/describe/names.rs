//! Names of a description: nodes, senders' configurations and traffic classes by name.

use std::collections::BTreeMap;

use p4cc_transport::wire::TrafficClass;

use crate::error::{SpecError, refuse};

/// What a name stands for.
#[derive(Clone, Copy)]
pub(crate) enum Node {
    Switch(usize),
    Host(usize),
}

/// Names of the description to what they stand for.
pub(crate) struct Resolver<'a> {
    pub names: &'a BTreeMap<&'a str, Node>,
    pub algorithms: Vec<&'a str>,
}

impl Resolver<'_> {
    /// A host by name.
    pub fn host(&self, path: &str, name: &str) -> Result<u32, SpecError> {
        match node(self.names, path, name)? {
            Node::Host(host) => Ok(host as u32),
            Node::Switch(_) => refuse(path, format!("{name:?} is a switch"), "flows go from host to host"),
        }
    }

    /// An algorithm's place by name.
    pub fn algorithm(&self, path: &str, name: &str) -> Result<u32, SpecError> {
        let found = self.algorithms.iter().position(|known| *known == name).ok_or_else(|| {
            let cause = format!("there is no algorithm {name:?}");
            SpecError::new(path, cause, format!("name one of: {}", self.algorithms.join(", ")))
        })?;
        Ok(found as u32)
    }

    /// A traffic class.
    pub fn priority(&self, path: &str, priority: u8) -> Result<TrafficClass, SpecError> {
        TrafficClass::new(priority).ok_or_else(|| {
            let cause = format!("{priority} is out of range");
            SpecError::new(path, cause, "give a number from 0 to 7")
        })
    }
}

/// The node of a name.
///
/// # Errors
/// There is none.
pub(crate) fn node(names: &BTreeMap<&str, Node>, path: &str, name: &str) -> Result<Node, SpecError> {
    names.get(name).copied().ok_or_else(|| {
        SpecError::new(path, format!("there is no switch or host {name:?}"), "name one that is listed")
    })
}
