//! The option: programs that are attached to control groups.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsRawFd;
use std::path::Path;

use libbpf_rs::{MapCore, MapFlags, MapHandle, ObjectBuilder};
use serde_json::{Map, Value, json};

use crate::counters;
use crate::error::{Context, Outcome};
use crate::kernel;
use crate::pins::{self, Pins};

/// The compiled programs.
pub const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/feedback.bpf.o"));
const MAPS: [&str; 2] = ["counters", "closed"];
const PROGRAMS: [&str; 3] = ["count_marks", "feedback_option", "set_deadline"];
const COUNTERS: [&str; 7] = ["negotiated", "plain", "packets", "k_marks", "kdc_marks", "accepted", "refused"];

/// Attaches the option's programs to a control group; nothing changes where all are attached.
pub fn attach(pins: &Pins, cgroup: &Path) -> Outcome<()> {
    let folder = pins.feedback().join(kernel::cgroup_id(cgroup)?.to_string());
    if PROGRAMS.iter().all(|name| folder.join(name).exists()) {
        return Ok(());
    }
    // A command that was killed here has left some of them.
    pins::remove(&folder)?;
    attach_to(pins, cgroup, &folder).inspect_err(|_| {
        // The message is about the first failure.
        let _ = pins::remove(&folder);
    })
}

fn attach_to(pins: &Pins, cgroup: &Path, folder: &Path) -> Outcome<()> {
    let mut open = ObjectBuilder::default().open_memory(OBJECT).context("the option's object")?;
    let pin_of = |name: &str| {
        if name == "sockets" { pins.sockets() } else { pins.feedback().join(name) }
    };
    let is_shared = |name: &str| name == "sockets" || MAPS.contains(&name);
    for mut map in open.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if is_shared(&name) && pin_of(&name).exists() {
            map.reuse_pinned_map(pin_of(&name)).context(name)?;
        }
    }
    let mut object = open.load().context("the kernel refuses the option's programs")?;
    pins::create(&pins.feedback())?;
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if is_shared(&name) && !pin_of(&name).exists() {
            map.pin(pin_of(&name)).context(name)?;
        }
    }
    pins::create(folder)?;
    let group = File::open(cgroup).context(cgroup.display())?;
    for program in object.progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        let mut link = program.attach_cgroup(group.as_raw_fd()).context(&name)?;
        link.pin(folder.join(&name)).context(name)?;
    }
    Ok(())
}

/// Detaches the option's programs from all control groups.
pub fn detach(pins: &Pins) -> Outcome<()> {
    pins::remove(&pins.feedback())
}

/// Whether the option has counters: since its programs were first attached, until they are detached.
pub fn has_counters(pins: &Pins) -> bool {
    MAPS.iter().all(|name| pins.feedback().join(name).exists())
}

/// The option's counters.
pub fn describe(pins: &Pins) -> Outcome<Map<String, Value>> {
    counters::read(&pins.feedback().join("counters"), &COUNTERS)
}

/// The last connections that closed, with what each end counted.
pub fn closed(pins: &Pins) -> Outcome<Vec<Value>> {
    let pin = pins.feedback().join("closed");
    let map = MapHandle::from_pinned_path(&pin).context(pin.display())?;
    let mut connections = Vec::new();
    for key in map.keys() {
        if let Some(value) = map.lookup(&key, MapFlags::ANY).context(pin.display())? {
            connections.push(connection(&key, &value));
        }
    }
    Ok(connections)
}

/// `struct connection` and `struct p4cc_feedback` in words.
fn connection(key: &[u8], value: &[u8]) -> Value {
    let port = |at: usize| key.get(at..at + 2).map_or(0, |two| u16::from_ne_bytes([two[0], two[1]]));
    let number = |at: usize| {
        let four = value.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        four.map_or(0, u32::from_ne_bytes)
    };
    json!({
        "local": format!("{}:{}", address(key, 0), port(32)),
        "remote": format!("{}:{}", address(key, 16), port(34)),
        "received": number(8),
        "received_k": number(12),
        "received_kdc": number(16),
        "reported_k": number(20),
        "reported_kdc": number(24),
        "accepted": number(28),
        "refused": number(32),
    })
}

fn address(key: &[u8], at: usize) -> IpAddr {
    let bytes: [u8; 16] = key.get(at..at + 16).and_then(|all| all.try_into().ok()).unwrap_or_default();
    if key.get(36) == Some(&2) {
        IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]))
    } else {
        // A socket of both families has IPv4 addresses in IPv6's form.
        IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
    }
}
