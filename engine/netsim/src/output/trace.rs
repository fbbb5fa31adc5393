//! The trace: what every switch did with packets that are followed, a line of JSON for each step.
//!
//! Switches keep the steps of packets that they expect (`p4cc_switch::Step`); this file tells them which, and
//! puts the steps of all together: packet by packet, in the order of time.

use p4cc_switch::{FollowedStep, Step, TracedStep};
use p4cc_units::Time;
use serde::Serialize;

use crate::output::view::View;
use crate::record::{FollowedPacket, LinkStep, PacketTrace};

/// What was kept of packets that are followed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// A JSON object for each step, packet by packet.
    pub lines: Vec<String>,
    /// For each part of what was asked for, how many packets its sender sent.
    pub sent: Vec<u64>,
    /// Packets that were asked for and are too many.
    pub packets_left_out: u64,
    /// Steps that did not fit.
    pub steps_left_out: u64,
}

/// A line; its keys stand in this order.
#[derive(Serialize)]
struct Line<'a> {
    packet: u64,
    time_ns: u64,
    node: &'a str,
    #[serde(flatten)]
    step: LineStep<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum LineStep<'a> {
    Switch(&'a Step),
    Explained(&'a TracedStep),
    Network(Hop<'a>),
}

/// A step outside of switches.
#[derive(Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
enum Hop<'a> {
    LeavesHost { flow_id: Option<u32>, kind: Option<&'static str>, number: u64, bytes: u32 },
    Lost { link: &'a str },
    Delivered,
}

/// What a line is sorted by: packet, time, and the place in the order of one instant.
type Key = (u64, Time, usize);

impl View<'_> {
    /// What was kept so far; nothing where no packets are followed.
    pub(crate) fn trace(&self, trace: Option<&PacketTrace>) -> Option<Trace> {
        let trace = trace?;
        let mut lines: Vec<(Key, &str, LineStep<'_>)> = Vec::new();
        for (number, packet) in (1..).zip(&trace.packets) {
            let host = self.host_name(packet.host);
            lines.push(((number, packet.at, 0), host, leaves(packet)));
        }
        let switches = || self.switches.nodes().iter().zip(&self.spec.switches).enumerate();
        for (place, (node, spec)) in switches() {
            let steps = node
                .switch
                .observation()
                .trace()
                .map(|event| ((event.packet, event.at, 1 + place), &event.step));
            lines.extend(steps.map(|(key, step)| (key, spec.name.as_str(), LineStep::Switch(step))));
        }
        for (number, channel, time, step) in trace.link_steps.iter().filter(|step| step.2 <= self.now) {
            let (node, step) = self.link_step(*channel, *step);
            lines.push(((*number, *time, usize::MAX), node, step));
        }
        // Stable: the steps of a switch at one instant stay in their order.
        lines.sort_by_key(|(key, ..)| *key);
        let text = |((packet, at, _), node, step): (Key, _, _)| line(packet, at, node, step);
        Some(Trace {
            lines: lines.into_iter().map(text).collect(),
            sent: trace.sent(),
            packets_left_out: trace.left_out,
            steps_left_out: switches().map(|(_, (node, _))| node.switch.observation().trace_left_out()).sum(),
        })
    }

    fn link_step(&self, channel: u32, step: LinkStep) -> (&str, LineStep<'_>) {
        let plan = &self.topology.channels[channel as usize];
        match step {
            LinkStep::Lost => {
                (self.node_name(plan.from as usize), LineStep::Network(Hop::Lost { link: &plan.name }))
            }
            LinkStep::Delivered => (self.node_name(plan.to as usize), LineStep::Network(Hop::Delivered)),
        }
    }
}

fn line(packet: u64, at: Time, node: &str, step: LineStep<'_>) -> String {
    let line = Line { packet, time_ns: at.as_ns(), node, step };
    // It has texts for keys and no value that JSON has not.
    serde_json::to_string(&line).unwrap_or_default()
}

/// The line of a step in a switch with what its table held.
pub(crate) fn followed_line(node: &str, FollowedStep { packet, at, step }: &FollowedStep) -> String {
    line(*packet, *at, node, LineStep::Explained(step))
}

fn leaves(packet: &FollowedPacket) -> LineStep<'_> {
    let kind = packet.flow.map(|(_, is_ack)| if is_ack { "ack" } else { "data" });
    let flow_id = packet.flow.map(|(flow, _)| flow);
    LineStep::Network(Hop::LeavesHost { flow_id, kind, number: packet.number, bytes: packet.bytes })
}
