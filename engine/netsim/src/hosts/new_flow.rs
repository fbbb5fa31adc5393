//! Flows as a run begins: their two ends, and what is drawn for them.

use p4cc_switch::Stream;
use p4cc_transport::{EcnProfile, Receiver, WindowSender};
use p4cc_units::Span;

use crate::SpecError;
use crate::describe::spec::NetworkSpec;
use crate::describe::topology::{FlowPlan, Topology};
use crate::hosts::host::{Ends, Flow};
use crate::hosts::rdma::rdma_ends;
use crate::traffic::uniform;

/// A flow that has not begun.
pub(crate) fn new_flow(
    spec: &NetworkSpec,
    topology: &Topology,
    plan: &FlowPlan,
    seed: u64,
) -> Result<Flow, SpecError> {
    let (ends, profile) = new_ends(spec, topology, plan, seed)?;
    let stream = |what: &str| Stream::named(seed, &format!("flow.{}.{what}", plan.id));
    let jitter = match plan.start_jitter {
        Span::ZERO => Span::ZERO,
        most => uniform(&mut stream("start"), most),
    };
    Ok(Flow {
        ends,
        profile,
        start: (!plan.is_triggered).then_some(plan.start + jitter),
        has_begun: false,
        deadline: plan.deadline.map(|deadline| deadline.draw(|| stream("deadline"))),
        timer: None,
        finish: None,
        quenched: None,
        received: None,
        data_pkts: 0,
        marks: [0; 2],
    })
}

/// Both ends of a flow, and how its marks are read.
fn new_ends(
    spec: &NetworkSpec,
    topology: &Topology,
    plan: &FlowPlan,
    seed: u64,
) -> Result<(Ends, Option<EcnProfile>), SpecError> {
    let place = plan.algorithm as usize;
    if let Some((name, config)) = spec.rdma.iter().nth(place.wrapping_sub(spec.algorithms.len())) {
        return Ok((rdma_ends(name, config, topology, plan, seed)?, Some(EcnProfile::Rfc3168)));
    }
    let Some((name, config)) = spec.algorithms.iter().nth(place) else {
        return Err(SpecError::new("flows", "an algorithm is missing", "report this as a defect"));
    };
    let mut sender = WindowSender::new(config, plan.size_bytes).map_err(|error| {
        SpecError::new(format!("algorithms.{name}.{}", error.place), error.cause, error.remedy)
    })?;
    if plan.piece_bytes > 0 {
        sender.await_supply();
    }
    Ok((Ends::Window { sender, receiver: Receiver::new(&config.receiver()) }, config.ecn_profile))
}
