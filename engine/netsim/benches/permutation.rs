//! A permutation of the hosts of a fat-tree: every host sends to one other, HPCC, the P4 program at every hop.
//!
//! `cargo bench -p p4cc-netsim --bench permutation -- K BYTES [RECORD]` runs one, results on (`RECORD` is JSON), and
//! prints one JSON object: hosts, packet-hops, events, seconds, packet-hops per second, bytes of a flow that has not begun.
//! Without arguments it runs K = 8 and K = 12 with 2 MB a host. It asserts nothing.

#[path = "../tests/support/mod.rs"]
mod support;

#[path = "../tests/support/counting.rs"]
mod counting;
#[path = "../tests/support/fat_tree.rs"]
mod fat_tree;

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use counting::in_use;
use fat_tree::FatTree;
use serde_json::{Value, json};

/// Flows that wait for their start, to see what one takes.
const IDLE_FLOWS: usize = 1_000;
const SIZE_BYTES: u64 = 2_000_000;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let record: Value = serde_json::from_str(arguments.get(2).map_or("{}", String::as_str))?;
    let run = |k, size_bytes| permutation(&FatTree { k, size_bytes, idle_flows: 0, record: record.clone() });
    let figures = match arguments.as_slice() {
        [k, size_bytes, ..] => vec![run(parse(k)? as usize, parse(size_bytes)?)?],
        _ => vec![run(8, SIZE_BYTES)?, run(12, SIZE_BYTES)?],
    };
    writeln!(io::stdout().lock(), "{}", Value::Array(figures))
}

fn parse(argument: &str) -> io::Result<u64> {
    argument.parse().map_err(|_| io::Error::other(format!("{argument:?} is no number")))
}

/// One run and its figures.
fn permutation(tree: &FatTree) -> io::Result<Value> {
    let base = tree.build();
    let before = in_use();
    let mut run = base.fork(1).map_err(io::Error::other)?;
    let fork_bytes = in_use() - before;
    let start = Instant::now();
    run.run_to_end(&AtomicBool::new(false), &mut |_| {}).map_err(io::Error::other)?;
    let results = run.results();
    let seconds = start.elapsed().as_secs_f64();
    drop(base);
    let with_idle = FatTree { idle_flows: IDLE_FLOWS, record: json!({}), ..*tree }.build();
    let before = in_use();
    let idle = with_idle.fork(1).map_err(io::Error::other)?;
    let idle_bytes = (in_use() - before).saturating_sub(fork_bytes) as f64 / IDLE_FLOWS as f64;
    drop(idle);
    let summary = results.summary;
    Ok(json!({
        "hosts": tree.k.pow(3) / 4,
        "packet_hops": summary.packet_hops,
        "events": summary.events,
        "end_ns": summary.end_ns,
        "seconds": seconds,
        "hops_per_s": summary.packet_hops as f64 / seconds,
        "idle_flow_bytes": idle_bytes,
    }))
}
