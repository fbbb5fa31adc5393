//! Whether the programs find all they read in a kernel that does not run, by its BTF.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use libbpf_rs::{AsRawLibbpf, ObjectBuilder, PrintLevel, libbpf_sys, set_print};

use crate::error::{Context, Failure, Outcome};
use crate::{feedback, profile, sender};

/// Fields that are read behind `bpf_core_field_exists` only (bpf/p4cc_watch.h): kernels without IPv6 lack
/// them.
const GUARDED: [&str; 2] = ["sock_common.skc_v6_daddr", "sock_common.skc_v6_rcv_saddr"];

/// What libbpf says of relocations.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Relocates every program against the BTF of a kernel, as a load does, and loads none.
pub fn run(btf: &Path) -> Outcome<()> {
    if !btf.exists() {
        return Err(Failure::new(btf.display(), "there is no such file", "give a kernel's BTF"));
    }
    for (name, object) in [
        ("window senders", sender::WINDOW_OBJECT),
        ("senders by rate", sender::PACED_OBJECT),
        ("option", feedback::OBJECT),
        ("profile", profile::OBJECT),
    ] {
        println!("{name}: {} programs find all their fields", relocate(object, btf)?);
    }
    Ok(())
}

/// The number of programs in an object.
#[expect(unsafe_code, reason = "libbpf-rs has no call that stops before the load")]
fn relocate(object: &[u8], btf: &Path) -> Outcome<usize> {
    let mut builder = ObjectBuilder::default();
    let open =
        builder.btf_custom_path(btf).context(btf.display())?.open_memory(object).context(btf.display())?;
    SAID.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let before = set_print(Some((PrintLevel::Debug, note)));
    // SAFETY: the object is open, and this function has it alone.
    let status = unsafe { libbpf_sys::bpf_object__prepare(open.as_libbpf_object().as_ptr()) };
    set_print(before);
    if status != 0 {
        let error = std::io::Error::from_raw_os_error(-status);
        return Err(error).context(format!("{}: relocating", btf.display()));
    }
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(field) = missing(&said).find(|field| !GUARDED.contains(field)) {
        let cause = format!("a program reads {field}, which is not there");
        return Err(Failure::new(btf.display(), cause, "the programs need another kernel"));
    }
    Ok(open.progs().count())
}

/// Keeps what libbpf says of relocations, and prints what it warns of.
fn note(level: PrintLevel, text: String) {
    if text.contains(": relo #") {
        SAID.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    } else if matches!(level, PrintLevel::Warn) {
        crate::print_end(level, text);
    }
}

/// The fields whose instructions libbpf replaced by a call of a function that no kernel has. It says each
/// field once, as in `prog 'f': relo #3: <byte_off> [7] struct sock.sk_x (0:1 @ offset 8)`, and then what
/// became of it.
fn missing(said: &[String]) -> impl Iterator<Item = &str> {
    let mut field = "a field";
    said.iter().filter_map(move |line| {
        if line.contains(" w/ invalid insn") {
            return Some(field);
        }
        if let (false, Some((_, named))) = (line.contains(" candidate #"), line.split_once(" struct ")) {
            field = named.split(' ').next().unwrap_or(named).trim_end();
        }
        None
    })
}
