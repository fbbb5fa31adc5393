//! Links that go down and come up again.
//!
//! Each end of a link hears of it by an event of its own, at the same instant: what it sends from then on is
//! lost, a switch's port is down ([`p4cc_switch::Switch::set_port_up`]), and pauses that were under way at
//! the port are over, as they are where a link is lost in earnest. What was on the way arrives.

use std::collections::BTreeMap;

use p4cc_switch::config::PRIORITIES;
use p4cc_units::Time;

use crate::SpecError;
use crate::describe::spec::{FaultSpec, MAX_FAULTS, MAX_TIME_NS, NetworkSpec, in_range};
use crate::describe::topology::Topology;
use crate::events::event::Kind;
use crate::network::state::{LINK_TIMER, Network};

/// A channel goes down or comes up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultPlan {
    pub at: Time,
    pub channel: u32,
    pub up: bool,
}

/// The changes of a description, in its order.
pub(crate) fn plans(spec: &NetworkSpec) -> Result<Vec<FaultPlan>, SpecError> {
    if spec.faults.len() > MAX_FAULTS {
        let cause = format!("{} faults", spec.faults.len());
        return Err(SpecError::new("faults", cause, format!("use at most {MAX_FAULTS}")));
    }
    let mut plans = Vec::new();
    // By link: when it is down, and which fault says so.
    let mut down: BTreeMap<usize, Vec<(u64, u64, usize)>> = BTreeMap::new();
    for (i, fault) in spec.faults.iter().enumerate() {
        check_times(i, fault)?;
        for link in links_between(spec, i, fault)? {
            down.entry(link).or_default().push((fault.down_ns, fault.up_ns.unwrap_or(u64::MAX), i));
            for channel in [2 * link as u32, 2 * link as u32 + 1] {
                plans.push(FaultPlan { at: Time::from_ns(fault.down_ns), channel, up: false });
                plans.extend(fault.up_ns.map(|up_ns| FaultPlan {
                    at: Time::from_ns(up_ns),
                    channel,
                    up: true,
                }));
            }
        }
    }
    for times in down.values_mut() {
        times.sort_unstable();
        if let Some(pair) = times.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
            let (first, second) = (pair[0].2, pair[1].2);
            let cause = format!("the link is down already, by faults[{first}]");
            return Err(SpecError::new(
                format!("faults[{second}].down_ns"),
                cause,
                "make one fault of the two",
            ));
        }
    }
    Ok(plans)
}

fn check_times(index: usize, fault: &FaultSpec) -> Result<(), SpecError> {
    in_range(&format!("faults[{index}].down_ns"), fault.down_ns, 0, MAX_TIME_NS)?;
    match fault.up_ns {
        Some(up_ns) => in_range(&format!("faults[{index}].up_ns"), up_ns, fault.down_ns + 1, MAX_TIME_NS),
        None => Ok(()),
    }
}

/// Places of the links between the two nodes of a fault.
fn links_between(spec: &NetworkSpec, index: usize, fault: &FaultSpec) -> Result<Vec<usize>, SpecError> {
    let [a, b] = &fault.between;
    let is_between = |(near, far): (&String, &String)| near == a && far == b || near == b && far == a;
    let links = spec.links.iter().enumerate().filter(|(_, link)| is_between((&link.a.node, &link.b.node)));
    let links: Vec<usize> = links.map(|(link, _)| link).collect();
    if links.is_empty() {
        let cause = format!("there is no link between {a:?} and {b:?}");
        return Err(SpecError::new(format!("faults[{index}].between"), cause, "name the two ends of a link"));
    }
    Ok(links)
}

impl Network {
    /// Schedules the faults of a run, at its start.
    pub(crate) fn schedule_faults(&mut self) {
        let topology = std::sync::Arc::clone(&self.topology);
        for FaultPlan { at, channel, up } in topology.faults.iter().copied() {
            let node = topology.channels[channel as usize].from;
            self.schedule(at, Kind::Timer, node, LINK_TIMER, subject(channel, up));
        }
    }

    /// The link behind a channel, which leaves this node, went down or came up.
    pub(crate) fn on_link_timer(&mut self, node: u32, subject: u32) {
        let (channel, up) = (subject >> 1, subject & 1 == 1);
        self.channels[channel as usize].set_down(!up);
        let port = near_port(&self.topology, channel);
        if let Some(node) = self.switches.get_mut(node as usize) {
            node.switch.set_port_up(port, up);
        }
        if !up {
            self.end_pauses(node, port);
        }
    }

    /// Pauses that a node obeys at a port, and those that it asked for there, end with the link.
    fn end_pauses(&mut self, node: u32, port: u32) {
        for priority in 0..PRIORITIES as u8 {
            if let Some(node) = self.switches.get_mut(node as usize) {
                node.switch.lapse_pause(port, priority);
            }
            self.obey(node, port, priority, false);
        }
    }
}

fn subject(channel: u32, up: bool) -> u32 {
    channel << 1 | u32::from(up)
}

/// The port of the node at the start of a channel.
fn near_port(topology: &Topology, channel: u32) -> u32 {
    // The two directions of a link are neighbours in number.
    topology.channels[(channel ^ 1) as usize].to_port
}
