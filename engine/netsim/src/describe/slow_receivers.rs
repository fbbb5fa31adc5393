//! Hosts that take packets from their network card more slowly than the link brings them, resolved.

use p4cc_units::{Rate, Time};

use crate::describe::limits::{MAX_FAULTS, MAX_TIME_NS, in_range};
use crate::describe::spec::{NetworkSpec, SlowReceiverSpec};
use crate::error::{SpecError, refuse};

const MAX_BUFFER_BYTES: u64 = 1 << 30;
const MAX_RATE_BPS: u64 = 10_000_000_000_000;

/// How a host takes packets from its card.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowReceiverPlan {
    pub host: u32,
    /// None of a host that takes nothing.
    pub rate: Option<Rate>,
    pub start: Time,
    pub end: Option<Time>,
    pub buffer_bytes: u64,
    /// Bit `p` is set where packets of priority `p` are paused rather than dropped.
    pub lossless: u8,
    /// Bytes in the card above which it pauses its neighbour, and down to which it resumes it.
    pub xoff_bytes: u64,
    pub xon_bytes: u64,
}

/// The slow receivers of this description.
///
/// # Errors
/// One that names no host, or a host that is named twice, has several links or pauses its neighbour by a
/// storm, or whose numbers are out of bounds.
pub(crate) fn plans(spec: &NetworkSpec) -> Result<Vec<SlowReceiverPlan>, SpecError> {
    if spec.slow_receivers.len() > MAX_FAULTS {
        let cause = format!("{} slow receivers", spec.slow_receivers.len());
        return refuse("slow_receivers", cause, format!("use at most {MAX_FAULTS}"));
    }
    let mut plans: Vec<SlowReceiverPlan> = Vec::new();
    for (index, receiver) in spec.slow_receivers.iter().enumerate() {
        let plan = plan(spec, index, receiver)?;
        if plans.iter().any(|other| other.host == plan.host) {
            let cause = format!("{:?} comes twice", receiver.host);
            return refuse(format!("slow_receivers[{index}].host"), cause, "name each host once");
        }
        plans.push(plan);
    }
    Ok(plans)
}

fn plan(
    spec: &NetworkSpec,
    index: usize,
    receiver: &SlowReceiverSpec,
) -> Result<SlowReceiverPlan, SpecError> {
    let path = |key: &str| format!("slow_receivers[{index}].{key}");
    let Some(host) = spec.hosts.iter().position(|host| host.name == receiver.host) else {
        let cause = format!("there is no host {:?}", receiver.host);
        return refuse(path("host"), cause, "name one that is");
    };
    if !spec.hosts[host].interfaces.is_empty() {
        let cause = format!("{:?} has several links, and slow receivers have one", receiver.host);
        return refuse(path("host"), cause, "name a host with one link");
    }
    if spec.storms.iter().any(|storm| storm.host == receiver.host) {
        let cause = format!("{:?} has a storm, whose pauses the card would end", receiver.host);
        return refuse(path("host"), cause, "leave out one of the two");
    }
    in_range(&path("rate_bps"), receiver.rate_bps, 0, MAX_RATE_BPS)?;
    in_range(&path("start_ns"), receiver.start_ns, 0, MAX_TIME_NS)?;
    if let Some(end_ns) = receiver.end_ns {
        in_range(&path("end_ns"), end_ns, receiver.start_ns + 1, MAX_TIME_NS)?;
    }
    in_range(&path("buffer_bytes"), receiver.buffer_bytes, 1, MAX_BUFFER_BYTES)?;
    in_range(&path("xoff_bytes"), receiver.xoff_bytes, 0, receiver.buffer_bytes)?;
    in_range(&path("xon_bytes"), receiver.xon_bytes, 0, receiver.xoff_bytes)?;
    let mut lossless = 0;
    for &priority in &receiver.lossless_priorities {
        in_range(&path("lossless_priorities"), priority.into(), 0, 7)?;
        lossless |= 1 << priority;
    }
    Ok(SlowReceiverPlan {
        host: host as u32,
        rate: (receiver.rate_bps > 0).then(|| Rate::from_bps(receiver.rate_bps)),
        start: Time::from_ns(receiver.start_ns),
        end: receiver.end_ns.map(Time::from_ns),
        buffer_bytes: receiver.buffer_bytes,
        lossless,
        xoff_bytes: receiver.xoff_bytes,
        xon_bytes: receiver.xon_bytes,
    })
}
