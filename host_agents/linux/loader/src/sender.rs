//! Senders: each is a copy of one object with its own name and parameters.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle, ObjectBuilder, OpenMapMut};
use p4cc_linux::Params;
use serde_json::{Map, Value};

use crate::counters;
use crate::error::{Context, Failure, Outcome};
use crate::kernel;
use crate::pins::{self, Pins};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sender.bpf.o"));
/// The kernel's limit with the zero at the end.
const NAME_BYTES: usize = 16;
/// Maps that the command reads and writes later, besides the parameters.
const MAPS: [&str; 3] = ["by_cgroup", "counters", "retired"];
/// Maps that all watched senders share.
const RECORDS: [&str; 2] = ["records", "lost"];
/// How often, and how long apart, an unloaded name is looked for.
const UNLOAD_TRIES: u32 = 500;
const UNLOAD_PAUSE: Duration = Duration::from_millis(10);
const COUNTERS: [&str; 9] =
    ["flows", "acks", "segments", "k_marks", "kdc_marks", "cuts", "recoveries", "timeouts", "plain_acks"];

/// Refuses what the kernel takes for no name; a path would lead out of the folder of pins.
fn check_name(name: &str) -> Outcome<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !name.is_empty() && name.len() < NAME_BYTES && name.bytes().all(is_plain) {
        return Ok(());
    }
    let cause = format!("{name:?} has {} characters", name.len());
    Err(Failure::new("name", cause, "give 1 to 15 letters, digits or underscores"))
}

/// The folder of a sender that is loaded, at least in part.
fn folder_of(pins: &Pins, name: &str) -> Outcome<PathBuf> {
    check_name(name)?;
    let folder = pins.sender(name);
    if folder.exists() {
        return Ok(folder);
    }
    Err(Failure::new(name, "is not loaded", "see `p4cc-hosts status`"))
}

/// Loads a sender and registers it under `name`; the registration is the last step.
pub fn load(pins: &Pins, name: &str, params: &Params) -> Outcome<()> {
    check_name(name)?;
    if kernel::is_registered(name) {
        let cause = format!("{name:?} is a congestion control of this kernel already");
        return Err(Failure::new("name", cause, "give another name, or unload it"));
    }
    let folder = pins.sender(name);
    pins::remove(&folder)?;
    register(pins, name, params).inspect_err(|_| {
        // The message is about the first failure.
        let _ = pins::remove(&folder);
    })
}

fn register(pins: &Pins, name: &str, params: &Params) -> Outcome<()> {
    let folder = pins.sender(name);
    let mut open = ObjectBuilder::default().open_memory(OBJECT).context("the sender's object")?;
    for mut map in open.maps_mut() {
        let known = map.name().to_string_lossy().into_owned();
        match known.as_str() {
            "sender" => write_initial(&mut map, &padded(name))?,
            ".rodata.settings" => {
                let words = [padded(name).as_slice(), &u32::from(params.is_watched()).to_ne_bytes()].concat();
                write_initial(&mut map, &words)?;
            }
            "sockets" if pins.sockets().exists() => map.reuse_pinned_map(pins.sockets()).context(known)?,
            _ if RECORDS.contains(&known.as_str()) => share_records(pins, &mut map, &known, params)?,
            _ => {}
        }
    }
    let mut object = open.load().context("the kernel refuses the sender")?;
    pins::create(&folder)?;
    let mut sender = None;
    for mut map in object.maps_mut() {
        let known = map.name().to_string_lossy().into_owned();
        match known.as_str() {
            "sockets" if !pins.sockets().exists() => map.pin(pins.sockets()).context("sockets")?,
            "sender" => sender = Some(map),
            _ if RECORDS.contains(&known.as_str()) => {
                let pin = pins.records().join(&known);
                if params.is_watched() && !pin.exists() {
                    pins::create(&pins.records())?;
                    map.pin(pin).context(known)?;
                }
            }
            "parameters" => {
                map.update(&0_u32.to_ne_bytes(), &params.bytes(), MapFlags::ANY).context(&known)?;
                map.pin(folder.join(&known)).context(known)?;
            }
            _ if MAPS.contains(&known.as_str()) => map.pin(folder.join(&known)).context(known)?,
            _ => {}
        }
    }
    let mut sender = sender.ok_or_else(|| Failure::new("sender", "is not in the object", "rebuild"))?;
    let mut link = sender.attach_struct_ops().context("the kernel does not register the sender")?;
    link.pin(folder.join("link")).context("link")
}

fn write_initial(map: &mut OpenMapMut<'_>, bytes: &[u8]) -> Outcome<()> {
    let value = map.initial_value_mut().filter(|value| value.len() >= bytes.len());
    let value = value.ok_or_else(|| Failure::new("the sender's object", "has no such value", "rebuild"))?;
    value[..bytes.len()].copy_from_slice(bytes);
    Ok(())
}

/// A sender that is not watched has no ring, a watched one that of the others.
fn share_records(pins: &Pins, map: &mut OpenMapMut<'_>, name: &str, params: &Params) -> Outcome<()> {
    let pin = pins.records().join(name);
    if !params.is_watched() {
        map.set_autocreate(false).context(name)
    } else if pin.exists() {
        map.reuse_pinned_map(pin).context(name)
    } else {
        Ok(())
    }
}

/// A name as the kernel keeps it, with a zero at its end.
fn padded(name: &str) -> [u8; NAME_BYTES] {
    let mut bytes = [0; NAME_BYTES];
    bytes.iter_mut().zip(name.bytes()).take(NAME_BYTES - 1).for_each(|(slot, byte)| *slot = byte);
    bytes
}

/// Gives the sockets of one control group their own parameters.
pub fn set_for_cgroup(pins: &Pins, name: &str, cgroup: u64, params: &Params) -> Outcome<()> {
    let pin = folder_of(pins, name)?.join("by_cgroup");
    let map = MapHandle::from_pinned_path(&pin).context(pin.display())?;
    map.update(&cgroup.to_ne_bytes(), &params.bytes(), MapFlags::ANY).context(pin.display())
}

/// Unregisters a sender. Its sockets change to the system's default with their next ACK.
pub fn unload(pins: &Pins, name: &str) -> Outcome<()> {
    let folder = folder_of(pins, name)?;
    if let Ok(map) = MapHandle::from_pinned_path(folder.join("retired")) {
        let default = kernel::default_control();
        // Reno is in every kernel.
        let successor = if default == name { "reno" } else { &default };
        map.update(&0_u32.to_ne_bytes(), &padded(successor), MapFlags::ANY).context("retired")?;
    }
    pins::remove(&folder)?;
    // The kernel unregisters it a moment after its last pin has gone.
    let is_gone = (0..UNLOAD_TRIES).any(|_| {
        let is_gone = !kernel::is_registered(name);
        if !is_gone {
            thread::sleep(UNLOAD_PAUSE);
        }
        is_gone
    });
    if is_gone {
        return Ok(());
    }
    Err(Failure::new(name, "is still registered", "another program holds it: see `bpftool link show`"))
}

/// Whether a loaded sender has a ring for its records.
pub fn is_watched(pins: &Pins, name: &str) -> Outcome<bool> {
    let pin = folder_of(pins, name)?.join("parameters");
    let map = MapHandle::from_pinned_path(pin).context(name)?;
    let value = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).context(name)?.unwrap_or_default();
    let place = p4cc_linux::FIELDS.iter().position(|field| *field == "watch").unwrap_or(0);
    Ok(counters::word(&value, 8 * place) == 1)
}

/// The names of a loaded sender's congestion avoidance and slow start.
pub fn algorithms(pins: &Pins, name: &str) -> Outcome<(String, String)> {
    let pin = folder_of(pins, name)?.join("parameters");
    let map = MapHandle::from_pinned_path(pin).context(name)?;
    let value = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).context(name)?.unwrap_or_default();
    let named = |words: &[&str], field: usize| {
        let number = counters::word(&value, 8 * field) as usize;
        words.get(number).copied().unwrap_or("unknown").to_owned()
    };
    Ok((named(&p4cc_linux::SENDERS, 0), named(&p4cc_linux::SLOW_STARTS, 1)))
}

/// A sender's algorithms and counters.
pub fn describe(pins: &Pins, name: &str) -> Outcome<Map<String, Value>> {
    let (avoidance, slow_start) = algorithms(pins, name)?;
    let mut text = Map::new();
    text.insert("sender".to_owned(), avoidance.into());
    text.insert("slow_start".to_owned(), slow_start.into());
    let counters = counters::read(&pins.sender(name).join("counters"), &COUNTERS)?;
    text.insert("counters".to_owned(), counters.into());
    Ok(text)
}
