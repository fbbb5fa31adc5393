//! Routes whose connections use a sender.

use std::process::Command;

use crate::error::{Context, Failure, Outcome};

/// Names the congestion control of a route that exists; `none` removes the name.
pub fn set(prefix: &str, name: &str) -> Outcome<()> {
    let shown = Command::new("ip").args(["route", "show", "exact", prefix]).output().context("ip")?;
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let Some(line) = text.lines().next() else {
        return Err(Failure::new(prefix, "there is no such route", "see `ip route`"));
    };
    let mut words = line.split_whitespace();
    let mut route: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        if word == "congctl" {
            words.next();
        } else {
            route.push(word);
        }
    }
    let name = if name == "none" { Vec::new() } else { vec!["congctl", name] };
    let changed =
        Command::new("ip").args(["route", "change"]).args(route).args(name).output().context("ip")?;
    if changed.status.success() {
        return Ok(());
    }
    let cause = String::from_utf8_lossy(&changed.stderr).trim().to_owned();
    Err(Failure::new(prefix, cause, "the name must be loaded, and the command run as root"))
}
