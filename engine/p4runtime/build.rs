//! Compiles the P4Runtime .proto files without protoc. No .proto is committed: finsy's wheel ships them, and
//! `P4CC_PROTO_DIR` says where they are.

use std::error::Error;
use std::path::{Path, PathBuf};

use prost::Message;

const ENTRY: &str = "p4/v1/p4runtime.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=P4CC_PROTO_DIR");
    println!("cargo::rerun-if-changed=build.rs");
    let dir = proto_dir()?;
    println!("cargo::rerun-if-changed={}", dir.join(ENTRY).display());

    let descriptors = protox::compile([ENTRY, "google/rpc/status.proto"], [&dir])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .build_client(false)
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
        return match dir.join(ENTRY).is_file() {
            true => Ok(dir),
            false => Err(missing(&format!("P4CC_PROTO_DIR is {}, which holds no {ENTRY}", dir.display()))),
        };
    }
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
    let mut pythons: Vec<PathBuf> =
        std::fs::read_dir(&lib).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    pythons.sort();
    pythons
        .into_iter()
        .map(|python| python.join("site-packages/finsy/proto"))
        .find(|dir| dir.join(ENTRY).is_file())
        .ok_or_else(|| missing("P4CC_PROTO_DIR is not set and .venv holds no finsy"))
}

fn missing(cause: &str) -> String {
    format!(
        "the P4Runtime .proto files are missing: {cause}.\n  remedy: run `make setup`, which installs them with finsy"
    )
}
