//! The description of a network: what a user gives, and its resolved and checked form.

mod captures;
mod faults;
mod flow_plan;
mod host_spec;
mod interfaces;
mod limits;
mod names;
mod slow_receivers;
pub mod spec;
mod storms;
mod topology;
mod traced;

pub(crate) use captures::{CaptureLimits, CapturePlan};
pub(crate) use faults::FaultPlan;
pub(crate) use flow_plan::{FlowPlan, RoundMember, StepMember, flow_index};
pub(crate) use limits::{MAX_FLOW_BYTES, MAX_FLOWS, MAX_TIME_NS, in_range};
pub(crate) use names::Resolver;
pub(crate) use slow_receivers::SlowReceiverPlan;
pub(crate) use storms::StormPlan;
pub(crate) use topology::{ChannelPlan, HostPlan, Topology};
pub(crate) use traced::{TracePlan, TracedSender};
