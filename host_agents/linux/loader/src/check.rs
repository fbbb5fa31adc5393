//! Whether the programs find all they read in a kernel that does not run, by its BTF.

use std::path::Path;

use libbpf_rs::{AsRawLibbpf, ObjectBuilder, libbpf_sys};

use crate::error::{Context, Failure, Outcome};
use crate::{feedback, profile, sender};

/// What libbpf writes in place of an instruction whose field is in no structure of the kernel: a call of this
/// function, which no kernel has.
const MISSING: (u8, i32) = (0x85, 195_896_080);

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
    // SAFETY: the object is open, and this function has it alone.
    let status = unsafe { libbpf_sys::bpf_object__prepare(open.as_libbpf_object().as_ptr()) };
    if status != 0 {
        let error = std::io::Error::from_raw_os_error(-status);
        return Err(error).context(format!("{}: relocating", btf.display()));
    }
    for program in open.progs() {
        let missing = program.insns().iter().filter(|insn| (insn.code, insn.imm) == MISSING).count();
        if missing > 0 {
            let cause =
                format!("{} reads {missing} fields that are not there", program.name().to_string_lossy());
            return Err(Failure::new(btf.display(), cause, "the programs need another kernel"));
        }
    }
    Ok(open.progs().count())
}
