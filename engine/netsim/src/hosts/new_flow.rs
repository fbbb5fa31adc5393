//! A flow at the start of a run: its sender and its receiver, and the random values drawn for it.

use p4cc_cc::FlowIdentity;
use p4cc_switch::Stream;
use p4cc_transport::rdma::{Entropy, RdmaConfig, RdmaReceiver, RdmaSender, ReadSource};
use p4cc_transport::wire::TrafficClass;
use p4cc_transport::{EcnProfile, IpVersion, Receiver, WindowSender};
use p4cc_units::Span;

use crate::describe::spec::NetworkSpec;
use crate::describe::{FlowPlan, Topology};
use crate::error::{SpecError, refuse};
use crate::hosts::flow::{Ends, Flow, RdmaEnds, ReadEnd};
use crate::hosts::kernel::Kernel;
use crate::hosts::nic::AnswerTimes;
use crate::hosts::round_robin::Position;
use crate::hosts::rtt_noise::RttNoise;
use crate::random::uniform;

/// A flow that has not begun.
pub(crate) fn new_flow(
    spec: &NetworkSpec,
    topology: &Topology,
    plan: &FlowPlan,
    seed: u64,
) -> Result<Flow, SpecError> {
    let (ends, profile) = new_ends(spec, topology, plan, seed)?;
    let config = spec.algorithms.values().nth(plan.algorithm as usize);
    let host_delay = config.map_or(Span::ZERO, |config| Span::from_ns(config.host_delay_exp_ns));
    let stream = |what: &str| Stream::named(seed, &format!("flow.{}.{what}", plan.id));
    let jitter = match plan.start_jitter {
        Span::ZERO => Span::ZERO,
        most => uniform(&mut stream("start"), most),
    };
    Ok(Flow {
        ends,
        acks_in_kernel: Kernel::new(host_delay, || stream("sender_kernel")),
        data_in_kernel: Kernel::new(host_delay, || stream("receiver_kernel")),
        profile,
        start: (!plan.is_triggered).then_some(plan.start + jitter),
        has_begun: false,
        deadline: plan.deadline.map(|deadline| deadline.draw(|| stream("deadline"))),
        timer: None,
        finish: None,
        quenched: None,
        received: None,
        echo: None,
        data_pkts: 0,
        marks: [0; 2],
        is_ipv6: config.is_some_and(|config| config.ip == IpVersion::V6),
        tcp: None,
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
        return refuse("flows", "an algorithm is missing", "report this as a defect");
    };
    let sender = if config.cc.has_own() {
        let mut config = config.clone();
        config.cc.for_flow(FlowIdentity { flow_id: plan.id, seed });
        WindowSender::new(&config, plan.size_bytes)
    } else {
        WindowSender::new(config, plan.size_bytes)
    };
    let mut sender = sender.map_err(|error| {
        SpecError::new(format!("algorithms.{name}.{}", error.place), error.cause, error.remedy)
    })?;
    if plan.piece_bytes > 0 {
        sender.await_supply();
    }
    Ok((Ends::Window { sender, receiver: Receiver::new(&config.receiver()) }, config.ecn_profile))
}

/// Both ends of an RDMA-like flow on the host's link.
fn rdma_ends(
    name: &str,
    config: &RdmaConfig,
    topology: &Topology,
    plan: &FlowPlan,
    seed: u64,
) -> Result<Ends, SpecError> {
    let uplink = topology.hosts[plan.src as usize].uplink;
    let line_rate = topology.channels[uplink as usize].rate;
    let of_pair;
    let config = match &topology.pair_rtts {
        None => config,
        Some(pairs) => {
            let (src, dst) = (topology.interfaces.host(plan.src), topology.interfaces.host(plan.dst));
            of_pair = RdmaConfig { base_rtt_ns: pairs.between(src, dst).as_ns(), ..config.clone() };
            &of_pair
        }
    };
    let refused = |place: &str, cause: String, remedy: String| {
        SpecError::new(format!("rdma.{name}.{place}"), cause, remedy)
    };
    let sender = if config.cc.own.is_some() {
        let mut config = config.clone();
        config.cc.for_flow(FlowIdentity { flow_id: plan.id, seed });
        RdmaSender::new(&config, line_rate, plan.size_bytes)
    } else {
        RdmaSender::new(config, line_rate, plan.size_bytes)
    };
    let mut sender = sender.map_err(|error| refused(&error.place, error.cause, error.remedy))?;
    if plan.piece_bytes > 0 {
        sender.await_supply();
    }
    if config.entropy != Entropy::Flow {
        sender.choose_paths(config, Stream::named(seed, &format!("flow.{}.entropy", plan.id)).next_u64());
    }
    if config.pint.as_ref().is_some_and(|pint| pint.share < 1.0) {
        sender.choose_pint(Stream::named(seed, &format!("flow.{}.pint", plan.id)).next_u64());
    }
    let ack_class = TrafficClass::new(config.ack_class)
        .ok_or_else(|| refused("ack_class", "there is no such class".to_owned(), "give 0 to 7".to_owned()))?;
    let noise = RttNoise::new(config, seed, plan.id);
    // A reader hears of every packet that it takes itself.
    let (ack_every, ack_bytes) = if config.reads { (1, None) } else { (config.ack_every, config.ack_bytes) };
    let receiver = RdmaReceiver::new(&RdmaConfig { ack_every, ack_bytes, ..config.clone() });
    let nic = AnswerTimes::new(config);
    let read = config.reads.then(|| ReadEnd { source: ReadSource::new(config), position: None });
    let position = Position::default();
    Ok(Ends::Rdma(Box::new(RdmaEnds { sender, receiver, ack_class, noise, position, read, nic })))
}
