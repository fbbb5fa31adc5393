//! Packets that are followed, resolved.

use std::collections::BTreeMap;

use crate::describe::limits::{MAX_TRACED_PACKETS, MAX_TRACED_STEPS, in_range};
use crate::describe::names::{Node, node};
use crate::describe::spec::{TraceSpec, TracedSpec};
use crate::error::{SpecError, refuse};

/// Which packets are followed, and how many.
#[derive(Clone, Debug)]
pub(crate) struct TracePlan {
    pub packets: Vec<Traced>,
    pub max_packets: u64,
    pub max_steps: usize,
}

/// Packets by who sends them, numbered from 1 as they leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traced {
    pub sender: TracedSender,
    first: u64,
    last: u64,
}

/// Who sends packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TracedSender {
    /// A flow by its number on the wire: its data packets, or its ACKs.
    Flow(u32, bool),
    Host(u32),
}

impl Traced {
    /// Whether the packet with this number is followed.
    pub fn has(&self, number: u64) -> bool {
        (self.first..=self.last).contains(&number)
    }
}

impl TracePlan {
    /// The plan of a description.
    ///
    /// # Errors
    /// A bound out of range, or a host that is not there.
    pub fn new(spec: &TraceSpec, names: &BTreeMap<&str, Node>) -> Result<Self, SpecError> {
        in_range("record.trace.packets", spec.packets.len() as u64, 1, MAX_TRACED_PACKETS)?;
        in_range("record.trace.max_packets", spec.max_packets, 1, MAX_TRACED_PACKETS)?;
        in_range("record.trace.max_steps", spec.max_steps, 1, MAX_TRACED_STEPS)?;
        let packets = spec.packets.iter().enumerate().map(|(i, one)| traced(i, one, names));
        Ok(Self {
            packets: packets.collect::<Result<_, _>>()?,
            max_packets: spec.max_packets,
            max_steps: spec.max_steps as usize,
        })
    }

    /// Refuses a flow that a run does not have.
    pub fn check_flows(&self, has_flow: impl Fn(u32) -> bool) -> Result<(), SpecError> {
        let flows = self.packets.iter().enumerate().filter_map(|(i, one)| match one.sender {
            TracedSender::Flow(flow, _) => Some((i, flow)),
            TracedSender::Host(_) => None,
        });
        match flows.into_iter().find(|(_, flow)| !has_flow(*flow)) {
            None => Ok(()),
            Some((i, flow)) => refuse(
                format!("record.trace.packets[{i}].flow"),
                format!("there is no flow {flow} in this run"),
                "name one of the table `flows`",
            ),
        }
    }
}

fn traced(index: usize, spec: &TracedSpec, names: &BTreeMap<&str, Node>) -> Result<Traced, SpecError> {
    let path = |key: &str| format!("record.trace.packets[{index}].{key}");
    in_range(&path("first"), spec.first, 1, u64::MAX)?;
    in_range(&path("last"), spec.last, spec.first, u64::MAX)?;
    let sender = match (spec.flow, &spec.host) {
        (Some(flow), None) => TracedSender::Flow(flow, spec.acks),
        (None, Some(host)) => match node(names, &path("host"), host)? {
            Node::Host(host) => TracedSender::Host(host as u32),
            Node::Switch(_) => {
                let cause = format!("{host:?} is a switch");
                return refuse(path("host"), cause, "packets are followed from the host that sends them");
            }
        },
        _ => {
            return refuse(path("flow"), "it names no sender, or two", "give either flow or host");
        }
    };
    Ok(Traced { sender, first: spec.first, last: spec.last })
}
