//! Every target on its inputs to start from and on changed ones, the same each time: what CI runs of the fuzz targets.
//!
//! `P4CC_FUZZ_SECONDS` says how long each target goes on; without it two seconds, with 0 only the inputs to start from.
//! An input that fails is written to the folder of the build, whose path the message says.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use p4cc_fuzz::{Mutator, Target, target};

fn seconds() -> u64 {
    std::env::var("P4CC_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

fn run(target: &Target, input: &[u8]) {
    let ran = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    if ran.is_err() {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-failed", target.name));
        std::fs::write(&file, input).expect("the folder of the build can be written to");
        panic!("target {} fails on the input in {}", target.name, file.display());
    }
}

fn holds(name: &str) {
    let target = target(name).expect("a target");
    let seeds = (target.seeds)();
    assert!(!seeds.is_empty(), "{name} has no inputs to start from");
    seeds.iter().for_each(|seed| run(target, seed));
    let (start, time) = (Instant::now(), Duration::from_secs(seconds()));
    let mut mutator = Mutator::new(1);
    while start.elapsed() < time {
        run(target, &mutator.input(&seeds));
    }
}

#[test]
fn source() {
    holds("source");
}

#[test]
fn bmv2_json() {
    holds("bmv2_json");
}

#[test]
fn packet() {
    holds("packet");
}

#[test]
fn exec() {
    holds("exec");
}

#[test]
fn grpc() {
    holds("grpc");
}

#[test]
fn stf() {
    holds("stf");
}

#[test]
fn scenario() {
    holds("scenario");
}
