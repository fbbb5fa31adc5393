//! Code points of interfaces: profile `gst` by two programs at the interface, `sce` without them.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use libbpf_rs::query::{LinkTypeInfo, TcxLinkInfo};
use libbpf_rs::{AsRawLibbpf, Link, ObjectBuilder, ProgramMut, libbpf_sys};

use crate::error::{Context, Failure, Outcome};
use crate::pins::{self, Pins};

/// The compiled programs.
pub const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/profile.bpf.o"));

/// An interface of the command's network namespace.
struct Interface {
    name: String,
    index: i32,
    namespace: u64,
}

impl Interface {
    fn find(name: &str) -> Outcome<Self> {
        let namespace = fs::metadata("/proc/self/ns/net").context("the network namespace")?.ino();
        let interface = nix::net::if_::if_nametoindex(name);
        let index =
            interface.map_err(|_| Failure::new(name, "there is no such interface", "see `ip link`"))?;
        let index = i32::try_from(index).context(name)?;
        Ok(Self { name: name.to_owned(), index, namespace })
    }

    fn pins(&self, pins: &Pins) -> PathBuf {
        // The BPF file system allows no dot in a name, Linux no colon in an interface's.
        let name = self.name.replace('.', ":");
        pins.profiles().join(format!("{}-{}-{name}", self.namespace, self.index))
    }
}

/// Gives the packets of an interface the code points of a profile.
pub fn set(pins: &Pins, profile: &str, name: &str) -> Outcome<()> {
    let interface = Interface::find(name)?;
    let folder = interface.pins(pins);
    match profile {
        "sce" => pins::remove(&folder),
        "gst" => {
            check_kind(name)?;
            // Programs that a killed command left would translate twice.
            pins::remove(&folder)?;
            attach(&interface, &folder).inspect_err(|_| {
                // The message is about the first failure.
                let _ = pins::remove(&folder);
            })
        }
        _ => Err(Failure::new("profile", format!("there is no {profile:?}"), "give gst or sce")),
    }
}

/// Refuses interfaces without Ethernet's header, behind which the programs look for that of IP.
fn check_kind(name: &str) -> Outcome<()> {
    let shown = Command::new("ip").args(["-o", "link", "show", "dev", name]).output().context("ip")?;
    if String::from_utf8_lossy(&shown.stdout).contains("link/ether") {
        return Ok(());
    }
    Err(Failure::new(name, "has no Ethernet header", "give the Ethernet interface below it"))
}

fn attach(interface: &Interface, folder: &Path) -> Outcome<()> {
    let open = ObjectBuilder::default().open_memory(OBJECT).context("the profile's object")?;
    let object = open.load().context("the kernel refuses the profile's programs")?;
    pins::create(folder)?;
    for program in object.progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        let mut link = attach_to(&program, interface.index).context(format!(
            "{}: {name} (an interface takes links of programs from Linux 6.6 on)",
            interface.name
        ))?;
        link.pin(folder.join(&name)).context(name)?;
    }
    Ok(())
}

/// libbpf's own call, which `libbpf-rs` 0.26 does not wrap. Other than a filter of `tc`, a link ends with
/// its pin, from whichever namespace that is removed.
#[expect(unsafe_code, reason = "libbpf-rs has no call for links at interfaces")]
fn attach_to(program: &ProgramMut<'_>, index: i32) -> Result<Link, libbpf_rs::Error> {
    // SAFETY: the program is loaded and outlives the call, and no options are given.
    let link = unsafe {
        libbpf_sys::bpf_program__attach_tcx(program.as_libbpf_object().as_ptr(), index, std::ptr::null())
    };
    let link = std::ptr::NonNull::new(link)
        .ok_or_else(|| libbpf_rs::Error::from(std::io::Error::last_os_error()))?;
    // SAFETY: libbpf made this link, and nobody else owns it.
    Ok(unsafe { Link::from_ptr(link) })
}

/// Whether a pinned link is at an interface; the pin remains when the interface has gone.
fn is_attached(pin: &Path) -> bool {
    let info = Link::open(pin).and_then(|link| link.info());
    !matches!(info.map(|info| info.info), Ok(LinkTypeInfo::Tcx(TcxLinkInfo { ifindex: 0, .. })))
}

/// The interfaces with profile `gst`, as `name (network namespace N)`.
pub fn describe(pins: &Pins) -> Vec<String> {
    let mut pinned = pins.interfaces();
    pinned.retain(|entry| {
        let links = fs::read_dir(pins.profiles().join(entry)).into_iter().flatten().flatten();
        links.map(|link| link.path()).any(|pin| is_attached(&pin))
    });
    let words = pinned.iter().filter_map(|entry| {
        let mut words = entry.splitn(3, '-');
        let (namespace, _, name) = (words.next()?, words.next()?, words.next()?);
        let name = name.replace(':', ".");
        Some(format!("{name} (network namespace {namespace})"))
    });
    words.collect()
}

/// Removes the programs from all interfaces.
pub fn remove_all(pins: &Pins) -> Outcome<()> {
    pins::remove(&pins.profiles())
}
