//! The plan of a flow: what the description, or a traffic model for one seed, says about it.

use std::sync::Arc;

use p4cc_transport::wire::TrafficClass;
use p4cc_units::{Span, Time};

use crate::traffic::deadline::DeadlineSpec;

/// A flow between hosts: by host index in a description, by interface in a run (`interfaces`).
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowPlan {
    pub id: u32,
    pub src: u32,
    pub dst: u32,
    pub size_bytes: Option<u64>,
    /// Bytes that its application gives at a time; 0 if all at the start.
    pub piece_bytes: u64,
    /// Earliest start; of a flow that waits for another, the start of its group.
    pub start: Time,
    pub start_jitter: Span,
    /// When its application closes it.
    pub close: Option<Time>,
    /// Whether what another flow delivers starts it.
    pub is_triggered: bool,
    pub algorithm: u32,
    pub priority: TrafficClass,
    pub class: Arc<str>,
    pub deadline: Option<DeadlineSpec>,
    pub src_port: Option<u16>,
    /// Port of the interface that its data leaves by, if the user names it.
    pub interface: Option<u8>,
    /// The data goes from `dst` to `src`, which asks for it.
    pub is_read: bool,
    pub member: Option<RoundMember>,
    pub step: Option<StepMember>,
    /// The send of a job that it carries.
    pub operation: Option<u32>,
    /// The source of a closed loop whose next flow waits for its end.
    pub loop_source: Option<u32>,
}

impl FlowPlan {
    /// Whether the run is about this flow: it has a size and is no request.
    pub fn is_counted(&self) -> bool {
        self.size_bytes.is_some() && !self.is_request()
    }

    /// Whether it has a size and its application gives all of it at the start.
    pub fn is_given_whole(&self) -> bool {
        self.size_bytes.is_some() && self.piece_bytes == 0
    }

    /// The host that the data comes from, and the one that it goes to.
    pub fn data_hosts(&self) -> (u32, u32) {
        if self.is_read { (self.dst, self.src) } else { (self.src, self.dst) }
    }

    pub fn is_request(&self) -> bool {
        self.member.is_some_and(|member| member.is_request)
    }
}

/// The part of a flow in a collective: a connection of two ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StepMember {
    pub job: u32,
    pub connection: u32,
}

/// The part of a flow in a group of rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RoundMember {
    pub group: u32,
    pub server: u32,
    pub is_request: bool,
}

impl RoundMember {
    /// The group, if this member's request is the first of a round to leave.
    pub fn asks_first(self) -> Option<u32> {
        (self.is_request && self.server == 0).then_some(self.group)
    }
}

/// Index of the flow with an id among plans by rising id.
pub(crate) fn flow_index(plans: &[FlowPlan], id: u32) -> Option<usize> {
    let first = plans.first()?.id;
    // Ids without gaps, as a description has as nearly always, need no search.
    let guess = id.checked_sub(first)? as usize;
    if plans.get(guess).is_some_and(|plan| plan.id == id) {
        return Some(guess);
    }
    plans.binary_search_by_key(&id, |plan| plan.id).ok()
}
