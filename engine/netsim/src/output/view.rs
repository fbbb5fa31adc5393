//! The components of a run, to read.

use p4cc_units::Time;

use crate::describe::Topology;
use crate::describe::spec::NetworkSpec;
use crate::hosts::Hosts;
use crate::links::Links;
use crate::switches::Switches;

/// What results are made of, besides what observers recorded.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub spec: &'a NetworkSpec,
    pub topology: &'a Topology,
    pub seed: u64,
    /// Virtual time reached.
    pub now: Time,
    pub hosts: &'a Hosts,
    pub switches: &'a Switches,
    pub links: &'a Links,
}
