//! Compiles the eBPF programs with clang; the command embeds the objects.

use std::env;
use std::path::PathBuf;
use std::process::{Command, exit};

const PROGRAMS: [&str; 3] = ["sender", "feedback", "profile"];

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    for name in ["bpf", "law", "../fixed/include"] {
        println!("cargo:rerun-if-changed={}", folder.join(name).display());
    }
    for name in PROGRAMS {
        let mut clang = Command::new("clang");
        clang.args(["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]);
        clang.args(["-target", "bpf", "-mcpu=v3", "-c", "-o"]).arg(out.join(name).with_extension("bpf.o"));
        clang.arg(folder.join("bpf").join(name).with_extension("bpf.c"));
        clang.arg("-I").arg(folder.join("law")).arg("-I").arg(folder.join("../fixed/include"));
        // Debian's headers of this machine: `asm` is below the name of the architecture.
        clang.arg(format!("-I/usr/include/{arch}-linux-gnu"));
        match clang.status() {
            Ok(status) if status.success() => {}
            Ok(_) => exit(1),
            Err(error) => {
                println!("cargo:warning=clang: {error}; apt-get install clang libbpf-dev");
                exit(1);
            }
        }
    }
}
