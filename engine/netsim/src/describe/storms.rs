//! Storms of PFC (IEEE 802.1Qbb) of a description, resolved.

use p4cc_units::Time;

use crate::describe::interfaces::Interfaces;
use crate::describe::limits::{MAX_FAULTS, MAX_TIME_NS, in_range};
use crate::describe::spec::{NetworkSpec, StormSpec, WatchdogSpec};
use crate::error::{SpecError, refuse};

/// A frame of 64 bytes and its framing is sent again after half of the pause: those of all eight priorities
/// take a fifth of the link then.
const MIN_PAUSE_QUANTA: u64 = 128;

/// A host pauses its neighbour without need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StormPlan {
    /// The interface that pauses.
    pub host: u32,
    pub priority: u8,
    pub start: Time,
    pub end: Option<Time>,
    pub quanta: Option<u16>,
}

/// The storms of this description, one for each interface of a host.
///
/// # Errors
/// A storm that names no host, or whose times or numbers are out of bounds.
pub(crate) fn plans(spec: &NetworkSpec, interfaces: &Interfaces) -> Result<Vec<StormPlan>, SpecError> {
    if spec.storms.len() > MAX_FAULTS {
        let cause = format!("{} storms", spec.storms.len());
        return refuse("storms", cause, format!("use at most {MAX_FAULTS}"));
    }
    let storms = spec.storms.iter().enumerate();
    let plans: Vec<_> = storms.map(|(index, storm)| plan(spec, index, storm)).collect::<Result<_, _>>()?;
    check_overlap(&plans)?;
    let everywhere = plans.iter().flat_map(|plan| {
        interfaces.of(plan.host).into_iter().map(|interface| StormPlan { host: interface, ..*plan })
    });
    Ok(everywhere.collect())
}

/// Storms of one host and priority follow one another: the resume frame of one would end the other.
///
/// # Errors
/// Two of them overlap.
fn check_overlap(plans: &[StormPlan]) -> Result<(), SpecError> {
    let mut order: Vec<_> = plans.iter().enumerate().collect();
    order.sort_by_key(|(_, plan)| (plan.host, plan.priority, plan.start));
    for pair in order.windows(2) {
        let [(first, one), (second, other)] = [pair[0], pair[1]];
        let is_same = (one.host, one.priority) == (other.host, other.priority);
        if is_same && one.end.is_none_or(|end| other.start <= end) {
            let cause = format!("storms[{first}] of this host and priority has not ended");
            return refuse(format!("storms[{second}].start_ns"), cause, "make one storm of the two");
        }
    }
    Ok(())
}

fn plan(spec: &NetworkSpec, index: usize, storm: &StormSpec) -> Result<StormPlan, SpecError> {
    let path = |key: &str| format!("storms[{index}].{key}");
    let Some(host) = spec.hosts.iter().position(|host| host.name == storm.host) else {
        let cause = format!("there is no host {:?}", storm.host);
        return refuse(path("host"), cause, "name one that is");
    };
    in_range(&path("priority"), storm.priority.into(), 0, 7)?;
    in_range(&path("start_ns"), storm.start_ns, 0, MAX_TIME_NS)?;
    if let Some(end_ns) = storm.end_ns {
        in_range(&path("end_ns"), end_ns, storm.start_ns + 1, MAX_TIME_NS)?;
    }
    if let Some(quanta) = storm.pause_quanta {
        in_range(&path("pause_quanta"), quanta.into(), MIN_PAUSE_QUANTA, u16::MAX.into())?;
    }
    Ok(StormPlan {
        host: host as u32,
        priority: storm.priority,
        start: Time::from_ns(storm.start_ns),
        end: storm.end_ns.map(Time::from_ns),
        quanta: storm.pause_quanta,
    })
}

/// Checks the times of all watchdogs.
///
/// # Errors
/// A time that is zero or too long.
pub(crate) fn check_watchdogs(spec: &NetworkSpec) -> Result<(), SpecError> {
    for (index, switch) in spec.switches.iter().enumerate() {
        let watchdog = switch.buffer.as_ref().and_then(|buffer| buffer.watchdog);
        let Some(WatchdogSpec { detection_ns, restoration_ns, .. }) = watchdog else { continue };
        let path = format!("switches[{index}].buffer.watchdog");
        in_range(&format!("{path}.detection_ns"), detection_ns, 1, MAX_TIME_NS)?;
        in_range(&format!("{path}.restoration_ns"), restoration_ns, 1, MAX_TIME_NS)?;
    }
    Ok(())
}
