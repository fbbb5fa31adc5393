//! Where the kernel keeps what outlives the command: pins in the BPF file system.
//!
//! ```text
//! <root>/sockets                      marks of each socket, for all programs
//! <root>/records/<map>                the ring of watched senders and its count of lost records
//! <root>/senders/<name>/<map>, link   one sender; it is registered while `link` exists
//! <root>/feedback/<map>               counters of the option
//! <root>/feedback/<cgroup id>/<link>  programs attached to this control group
//! <root>/profiles/<interface>/<link>  programs that translate code points at namespace-index-name
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::statfs::{BPF_FS_MAGIC, statfs};

use crate::error::{Context, Failure, Outcome};

/// The folder of pins.
#[derive(Clone, Debug)]
pub struct Pins(PathBuf);

impl Pins {
    /// The pins below `root`.
    pub fn new(root: &Path) -> Self {
        Self(root.to_owned())
    }

    /// Refuses a root outside of the BPF file system.
    pub fn check(&self) -> Outcome<()> {
        check(&self.0)
    }

    /// The storage of sockets.
    pub fn sockets(&self) -> PathBuf {
        self.0.join("sockets")
    }

    /// The folder of the ring of records.
    pub fn records(&self) -> PathBuf {
        self.0.join("records")
    }

    /// The folder of one sender.
    pub fn sender(&self, name: &str) -> PathBuf {
        self.0.join("senders").join(name)
    }

    /// Whether the last pin of a sender is there; a command that was killed leaves others.
    pub fn is_complete(&self, name: &str) -> bool {
        self.sender(name).join("link").exists()
    }

    /// The folder of the option's programs.
    pub fn feedback(&self) -> PathBuf {
        self.0.join("feedback")
    }

    /// The names of the senders, in order.
    pub fn senders(&self) -> Vec<String> {
        names(&self.0.join("senders"))
    }

    /// The ids of the control groups with the option, in order.
    pub fn cgroups(&self) -> Vec<u64> {
        names(&self.feedback()).iter().filter_map(|name| name.parse().ok()).collect()
    }

    /// The folder of the interfaces with a profile of their own.
    pub fn profiles(&self) -> PathBuf {
        self.0.join("profiles")
    }

    /// The folders of these interfaces, in order.
    pub fn interfaces(&self) -> Vec<String> {
        names(&self.profiles())
    }

    /// Removes the storage of sockets, the ring of records, and the folders that are empty.
    pub fn remove_rest(&self) -> Outcome<()> {
        if !self.0.exists() {
            return Ok(());
        }
        check(&self.0)?;
        if self.sockets().exists() {
            fs::remove_file(self.sockets()).context(self.sockets().display())?;
        }
        remove(&self.records())?;
        for folder in [self.0.join("senders"), self.0.clone()] {
            // What is left belongs to others.
            if fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_none()) {
                fs::remove_dir(&folder).context(folder.display())?;
            }
        }
        Ok(())
    }
}

/// Refuses a place outside of the BPF file system, where files are not pins.
fn check(folder: &Path) -> Outcome<()> {
    let existing = folder.ancestors().find(|above| above.exists()).unwrap_or(folder);
    let kind = statfs(existing).context(existing.display())?.filesystem_type();
    if kind == BPF_FS_MAGIC {
        return Ok(());
    }
    let remedy = "give --pins a folder below /sys/fs/bpf";
    Err(Failure::new(folder.display(), "is not in a BPF file system", remedy))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Creates a folder of pins and those above it.
pub fn create(folder: &Path) -> Outcome<()> {
    check(folder)?;
    fs::create_dir_all(folder).context(folder.display())
}

/// Removes a folder of pins, if it exists: the kernel lets go of what nothing else uses.
pub fn remove(folder: &Path) -> Outcome<()> {
    if !folder.exists() {
        return Ok(());
    }
    check(folder)?;
    fs::remove_dir_all(folder).context(folder.display())
}
