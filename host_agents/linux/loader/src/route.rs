//! Routes whose connections use a sender.

use std::process::{Command, Output};

use crate::error::{Context, Failure, Outcome};

/// States that `ip route show` prints after a route and that `ip route change` does not take.
const STATES: [&str; 9] = [
    "dead",
    "linkdown",
    "unresolved",
    "offload",
    "trap",
    "notify",
    "rt_offload",
    "rt_trap",
    "rt_offload_failed",
];

/// Names the congestion control of a route that exists; `none` removes the name.
pub fn set(prefix: &str, name: &str) -> Outcome<()> {
    let shown = Command::new("ip").args(["route", "show", "exact", prefix]).output().context("ip")?;
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    if !shown.status.success() {
        return Err(Failure::new(prefix, said(&shown), "give the prefix as `ip route` shows it"));
    }
    let Some(line) = text.lines().next() else {
        return Err(Failure::new(prefix, "there is no such route", "see `ip route`"));
    };
    let mut words = line.split_whitespace();
    let mut route: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        if word == "congctl" {
            words.next();
        } else if !STATES.contains(&word) {
            route.push(word);
        }
    }
    let name = if name == "none" { Vec::new() } else { vec!["congctl", name] };
    let changed =
        Command::new("ip").args(["route", "change"]).args(route).args(name).output().context("ip")?;
    if changed.status.success() {
        return Ok(());
    }
    Err(Failure::new(prefix, said(&changed), "the name must be loaded, and the command run as root"))
}

/// What `ip` says of its failure.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}
