//! Faults of a description, resolved: which channel goes down or comes up, and when.

use std::collections::BTreeMap;

use p4cc_units::Time;

use crate::SpecError;
use crate::describe::limits::{MAX_FAULTS, MAX_TIME_NS, in_range};
use crate::describe::spec::{FaultSpec, NetworkSpec};

/// A channel goes down or comes up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultPlan {
    pub at: Time,
    pub channel: u32,
    pub up: bool,
}

/// The changes of all links, in the order of the description.
///
/// # Errors
/// A fault that names no link, or that overlaps another one.
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

/// Indices of the links between the two nodes of a fault.
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
