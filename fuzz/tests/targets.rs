//! Every target on its inputs to start from and on changed
//! ones, the same each time: what CI runs of the fuzz targets.
//!
//! The number of changed inputs is fixed, so that a slow machine and a fast one try
//! the same. With `P4CC_FUZZ_SECONDS` each target goes on for so long. An input
//! that fails is written to the folder of the build, whose path the message says.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use p4cc_fuzz::{Mutator, Target, target};

/// Changed inputs of each target: about two seconds.
const INPUTS: usize = 200;

/// How long each target shall go on, where somebody asks for it.
fn time() -> Option<Duration> {
    let text = std::env::var("P4CC_FUZZ_SECONDS").ok()?;
    Some(Duration::from_secs(text.parse().expect("P4CC_FUZZ_SECONDS is a whole number")))
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
    let (start, time) = (Instant::now(), time());
    let mut mutator = Mutator::new(1);
    let mut tried = 0;
    while time.map_or(tried < INPUTS, |time| start.elapsed() < time) {
        run(target, &mutator.input(&seeds));
        tried += 1;
    }
}

#[test]
fn cpp() {
    holds("cpp");
}

#[test]
fn source() {
    holds("source");
}

#[test]
fn editor() {
    holds("editor");
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

#[test]
fn segment() {
    holds("segment");
}
