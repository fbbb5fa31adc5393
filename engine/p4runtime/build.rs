//! Compiles the P4Runtime .proto files without protoc. No .proto is committed: finsy's wheel ships them, and
//! `P4CC_PROTO_DIR` says where they are.

#[path = "proto_dir.rs"]
mod proto_dir;

use std::error::Error;
use std::path::PathBuf;

use prost::Message;

const ENTRY: &str = "p4/v1/p4runtime.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=P4CC_PROTO_DIR");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=proto_dir.rs");
    let dir = proto_dir::proto_dir(ENTRY)?;
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
