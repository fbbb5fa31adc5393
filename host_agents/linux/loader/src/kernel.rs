//! What the running kernel lacks, before anything is loaded.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Context, Failure, Outcome};

const BTF: &str = "/sys/kernel/btf/vmlinux";
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The reasons why no sender can be loaded here; none if one can.
pub fn lacks() -> Vec<&'static str> {
    let btf = fs::read(BTF).unwrap_or_default();
    let has = |name: &[u8]| btf.windows(name.len()).any(|window| window == name);
    let mut reasons = Vec::new();
    if btf.is_empty() {
        reasons.push("the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)");
    } else if !has(b"bpf_struct_ops_tcp_congestion_ops\0") {
        reasons.push("the kernel has no struct_ops for TCP (CONFIG_BPF_JIT, CONFIG_INET, Linux 5.6)");
    } else if !has(b"bpf_struct_ops_link\0") {
        reasons.push("the kernel has no links for struct_ops (Linux 6.4)");
    }
    if cgroup_root().is_none() {
        reasons.push("cgroup v2 is not mounted (mount -t cgroup2 none /sys/fs/cgroup)");
    }
    reasons
}

/// Where cgroup v2 is mounted.
pub fn cgroup_root() -> Option<PathBuf> {
    mounted("cgroup2")
}

fn mounted(kind: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, found) = (words.next()?, words.next()?);
        (found == kind).then(|| PathBuf::from(place))
    })
}

/// The file system of pins, mounted if it is not.
pub fn mount_bpffs() -> Outcome<()> {
    if mounted("bpf").is_some() {
        return Ok(());
    }
    let place = "/sys/fs/bpf";
    let status = Command::new("mount").args(["-t", "bpf", "bpf", place]).status().context("mount")?;
    if status.success() { Ok(()) } else { Err(Failure::new(place, "cannot be mounted", "run as root")) }
}

/// The congestion control of sockets that name none.
pub fn default_control() -> String {
    fs::read_to_string(DEFAULT).map_or_else(|_| "cubic".to_owned(), |name| name.trim().to_owned())
}

/// Whether a congestion control of this name is registered.
pub fn is_registered(name: &str) -> bool {
    fs::read_to_string(AVAILABLE).is_ok_and(|names| names.split_whitespace().any(|known| known == name))
}

/// The id of a control group: the inode of its folder.
pub fn cgroup_id(folder: &Path) -> Outcome<u64> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(folder).context(folder.display())?.ino())
}
