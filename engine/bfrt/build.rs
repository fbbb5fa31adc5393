//! Compiles `proto/bfruntime.proto` without protoc. `google/rpc/status.proto`, which it imports, stands
//! beside P4Runtime's in finsy's wheel; `P4CC_PROTO_DIR` says where.

use std::error::Error;
use std::path::{Path, PathBuf};

const OWN: &str = "bfruntime.proto";
const SHARED: &str = "google/rpc/status.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=P4CC_PROTO_DIR");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=proto/{OWN}");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let descriptors = protox::compile([OWN, SHARED], [own, proto_dir()?])?;
    tonic_prost_build::configure()
        .btree_map(".")
        .disable_comments(["."])
        .include_file("proto.rs")
        .compile_fds(descriptors)?;
    Ok(())
}

/// The folder named by the environment, else the one of the repository's virtual environment.
fn proto_dir() -> Result<PathBuf, String> {
    if let Some(dir) = std::env::var_os("P4CC_PROTO_DIR").filter(|dir| !dir.is_empty()) {
        let dir = PathBuf::from(dir);
        return match dir.join(SHARED).is_file() {
            true => Ok(dir),
            false => Err(missing(&format!("P4CC_PROTO_DIR is {}, which holds no {SHARED}", dir.display()))),
        };
    }
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
    let mut pythons: Vec<PathBuf> =
        std::fs::read_dir(&lib).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    pythons.sort();
    pythons
        .into_iter()
        .map(|python| python.join("site-packages/finsy/proto"))
        .find(|dir| dir.join(SHARED).is_file())
        .ok_or_else(|| missing("P4CC_PROTO_DIR is not set and .venv holds no finsy"))
}

fn missing(cause: &str) -> String {
    format!("{SHARED} is missing: {cause}.\n  remedy: run `make setup`, which installs it with finsy")
}
