//! Compiles `proto/bfruntime.proto` without protoc. `google/rpc/status.proto`, which it imports, stands
//! beside P4Runtime's in finsy's wheel; `P4CC_PROTO_DIR` says where.

#[path = "../p4runtime/proto_dir.rs"]
mod proto_dir;

use std::error::Error;
use std::path::Path;

const OWN: &str = "bfruntime.proto";
const SHARED: &str = "google/rpc/status.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=P4CC_PROTO_DIR");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../p4runtime/proto_dir.rs");
    println!("cargo::rerun-if-changed=proto/{OWN}");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto");
    let descriptors = protox::compile([OWN, SHARED], [own, proto_dir::proto_dir(SHARED)?])?;
    tonic_prost_build::configure()
        .btree_map(".")
        .disable_comments(["."])
        .include_file("proto.rs")
        .compile_fds(descriptors)?;
    Ok(())
}
