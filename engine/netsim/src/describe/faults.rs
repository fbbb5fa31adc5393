//! Faults of a description, resolved: which channel goes down or comes up, which switch goes down, and when.

use std::collections::BTreeMap;

use p4cc_units::Time;

use crate::describe::limits::{MAX_FAULTS, MAX_TIME_NS, in_range};
use crate::describe::spec::{FaultSpec, NetworkSpec};
use crate::error::{SpecError, refuse};

/// A channel goes down or comes up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultPlan {
    pub at: Time,
    pub channel: u32,
    pub up: bool,
}

/// What fails in a run.
#[derive(Clone, Default, Debug)]
pub(crate) struct Faults {
    /// The changes of all links, in the order of the description.
    pub links: Vec<FaultPlan>,
    /// When a switch loses all that it has, and its index.
    pub power_offs: Vec<(Time, u32)>,
}

/// A time during which a link is down.
#[derive(Clone, Copy, Debug)]
struct Down {
    from_ns: u64,
    /// The largest number: it stays down.
    until_ns: u64,
    fault: usize,
    of_switch: bool,
}

/// What fails in a run of this description.
///
/// # Errors
/// A fault that names no link and no switch, or that overlaps another one.
pub(crate) fn plans(spec: &NetworkSpec) -> Result<Faults, SpecError> {
    if spec.faults.len() > MAX_FAULTS {
        return refuse(
            "faults",
            format!("{} faults", spec.faults.len()),
            format!("use at most {MAX_FAULTS}"),
        );
    }
    let mut faults = Faults::default();
    let mut by_link: BTreeMap<usize, Vec<Down>> = BTreeMap::new();
    let mut by_switch: BTreeMap<usize, Vec<Down>> = BTreeMap::new();
    for (i, fault) in spec.faults.iter().enumerate() {
        check_times(i, fault)?;
        let (switch, links) = concerned(spec, i, fault)?;
        let until_ns = fault.up_ns.unwrap_or(u64::MAX);
        let down = Down { from_ns: fault.down_ns, until_ns, fault: i, of_switch: switch.is_some() };
        links.into_iter().for_each(|link| by_link.entry(link).or_default().push(down));
        if let Some(switch) = switch {
            by_switch.entry(switch).or_default().push(down);
            faults.power_offs.push((Time::from_ns(fault.down_ns), switch as u32));
        }
    }
    for times in by_switch.values_mut() {
        check_overlap(times, "switch", |_, _| false)?;
    }
    let mut downs = Vec::new();
    for (link, times) in &mut by_link {
        // A link may be down for several reasons, but not twice for one.
        check_overlap(times, "link", |one, other| one.of_switch || other.of_switch)?;
        downs.extend(merged(times).into_iter().map(|down| (down.fault, *link, down)));
    }
    downs.sort_unstable_by_key(|&(fault, link, _)| (fault, link));
    for (_, link, down) in downs {
        for channel in [2 * link as u32, 2 * link as u32 + 1] {
            faults.links.push(FaultPlan { at: Time::from_ns(down.from_ns), channel, up: false });
            if down.until_ns != u64::MAX {
                faults.links.push(FaultPlan { at: Time::from_ns(down.until_ns), channel, up: true });
            }
        }
    }
    Ok(faults)
}

/// Sorts times by their start.
///
/// # Errors
/// Two of them overlap that may not.
fn check_overlap(
    times: &mut [Down],
    what: &str,
    may_overlap: impl Fn(&Down, &Down) -> bool,
) -> Result<(), SpecError> {
    times.sort_unstable_by_key(|down| (down.from_ns, down.until_ns, down.fault));
    let overlaps = |pair: &&[Down]| pair[1].from_ns <= pair[0].until_ns && !may_overlap(&pair[0], &pair[1]);
    let Some(pair) = times.windows(2).find(overlaps) else { return Ok(()) };
    let cause = format!("the {what} is down already, by faults[{}]", pair[0].fault);
    let path = format!("faults[{}].down_ns", pair[1].fault);
    refuse(path, cause, "make one fault of the two")
}

/// Sorted times as times that do not overlap.
fn merged(times: &[Down]) -> Vec<Down> {
    let mut merged: Vec<Down> = Vec::with_capacity(times.len());
    for down in times {
        match merged.last_mut() {
            Some(last) if down.from_ns <= last.until_ns => last.until_ns = last.until_ns.max(down.until_ns),
            _ => merged.push(*down),
        }
    }
    merged
}

fn check_times(index: usize, fault: &FaultSpec) -> Result<(), SpecError> {
    in_range(&format!("faults[{index}].down_ns"), fault.down_ns, 0, MAX_TIME_NS)?;
    match fault.up_ns {
        Some(up_ns) => in_range(&format!("faults[{index}].up_ns"), up_ns, fault.down_ns + 1, MAX_TIME_NS),
        None => Ok(()),
    }
}

/// The switch of a fault, if it is one's, and indices of the links that go down.
fn concerned(
    spec: &NetworkSpec,
    index: usize,
    fault: &FaultSpec,
) -> Result<(Option<usize>, Vec<usize>), SpecError> {
    match (&fault.between, &fault.switch) {
        (Some(between), None) => Ok((None, links_between(spec, index, between)?)),
        (None, Some(name)) => {
            let Some(switch) = spec.switches.iter().position(|switch| switch.name == *name) else {
                let path = format!("faults[{index}].switch");
                return refuse(path, format!("there is no switch {name:?}"), "name one that is");
            };
            let links = spec.links.iter().enumerate();
            let ends_there = links.filter(|(_, link)| link.a.node == *name || link.b.node == *name);
            Ok((Some(switch), ends_there.map(|(link, _)| link).collect()))
        }
        _ => {
            let (path, cause) = (format!("faults[{index}]"), "it is a link's or a switch's");
            refuse(path, cause, "give between or switch")
        }
    }
}

/// Indices of the links between two nodes.
fn links_between(spec: &NetworkSpec, index: usize, [a, b]: &[String; 2]) -> Result<Vec<usize>, SpecError> {
    let is_between = |(near, far): (&String, &String)| near == a && far == b || near == b && far == a;
    let links = spec.links.iter().enumerate().filter(|(_, link)| is_between((&link.a.node, &link.b.node)));
    let links: Vec<usize> = links.map(|(link, _)| link).collect();
    if links.is_empty() {
        let cause = format!("there is no link between {a:?} and {b:?}");
        return refuse(format!("faults[{index}].between"), cause, "name the two ends of a link");
    }
    Ok(links)
}
