//! The receiver algorithm of a host, and whose hosts have one.

use p4cc_cc::{FlowIdentity, ReceiverAction, ReceiverAlgorithm, ReceiverEnvironment};
use p4cc_units::Time;

use crate::describe::spec::NetworkSpec;
use crate::describe::{FlowPlan, Topology};
use crate::error::{SpecError, refuse};

/// The receiver of a host.
#[derive(Debug)]
pub(crate) struct HostReceiver {
    pub(super) algorithm: Box<dyn ReceiverAlgorithm>,
    /// The configuration that it is of, by its place.
    config: u32,
    /// What it was told of its host and its flows.
    environment: ReceiverEnvironment,
    /// What a flow sends before it hears of it.
    pub(super) unasked_bytes: u64,
    /// What it wants done; kept for its memory.
    pub(super) actions: Vec<ReceiverAction>,
    /// When its timer is due; timer events of other times are void.
    pub(super) wake: Option<Time>,
}

/// The setting of senders in which what one receiver is told would differ.
fn differing(one: &ReceiverEnvironment, other: &ReceiverEnvironment) -> Option<&'static str> {
    if one == other {
        None
    } else if one.packet == other.packet {
        Some("base_rtt_ns")
    } else {
        Some("mss_bytes")
    }
}

/// The receivers of all hosts, where some flow that ends there has one.
pub(super) fn receivers(
    spec: &NetworkSpec,
    topology: &Topology,
    plans: &[FlowPlan],
    seed: u64,
) -> Result<Vec<Option<Box<HostReceiver>>>, SpecError> {
    let mut receivers: Vec<Option<Box<HostReceiver>>> = topology.hosts.iter().map(|_| None).collect();
    for plan in plans.iter().filter(|plan| topology.driven[plan.algorithm as usize]) {
        let slot = &mut receivers[plan.dst as usize];
        let host = &topology.hosts[plan.dst as usize];
        let named = spec.rdma.iter().nth(plan.algorithm as usize - spec.algorithms.len());
        let Some((name, config)) = named else {
            return refuse("flows", "an algorithm is missing", "report this as a defect");
        };
        let place = format!("rdma.{name}.receiver");
        let environment = config.receiver_environment(host.rate, host.framing_bytes);
        if let Some(receiver) = slot {
            let other = spec.rdma.values().nth(receiver.config as usize - spec.algorithms.len());
            if receiver.config != plan.algorithm
                && other.is_none_or(|other| other.receiver != config.receiver)
            {
                let cause =
                    format!("flows to {:?} have another receiver, too", spec.hosts[plan.dst as usize].name);
                return refuse(place, cause, "give all flows to a host the same receiver");
            }
            if let Some(setting) = differing(&receiver.environment, &environment) {
                let host = &spec.hosts[plan.dst as usize].name;
                let cause = format!("flows to {host:?} have another {setting}, too");
                return refuse(place, cause, format!("give all flows to a host the same {setting}"));
            }
            continue;
        }
        let mut config = config.clone();
        if let Some(receiver) = &mut config.receiver {
            receiver.for_flow(FlowIdentity { flow_id: plan.dst, seed });
        }
        let made = config.receiver(host.rate, host.framing_bytes);
        let made = made.map_err(|error| SpecError::new(place, error.cause, error.remedy))?;
        *slot = made.map(|algorithm| {
            Box::new(HostReceiver {
                unasked_bytes: algorithm.unasked_bytes(),
                algorithm,
                config: plan.algorithm,
                environment,
                actions: Vec::new(),
                wake: None,
            })
        });
    }
    Ok(receivers)
}
