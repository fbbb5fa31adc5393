//! The incast of docs/algorithms/reproductions.md#gst-base: DCTCP
//! and GST over N senders, five seeds each, one line for each point.
//!
//! `cargo run --release -p p4cc-netsim --example incast [N ...]`

#[path = "../tests/support/mod.rs"]
mod support;

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;

use p4cc_netsim::run_many;
use support::{Incast, incast};

/// docs/algorithms/reproductions.md#execution.
const GRID: [u32; 19] = [1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 25, 30, 40, 50, 60, 66, 70, 72];
const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];

fn main() -> io::Result<()> {
    let chosen: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let grid = if chosen.is_empty() { &GRID[..] } else { &chosen };
    let mut out = io::stdout().lock();
    for (name, slow_start, buffer_pkts, k) in [
        ("dctcp B=150", r#"{"name":"standard"}"#, 150, 65),
        ("gst B=150 K=33", r#"{"name":"gst","k":33,"k_dc":65,"entry":"window_close"}"#, 150, 33),
        ("gst B=150 K=25", r#"{"name":"gst","k":25,"k_dc":65,"entry":"window_close"}"#, 150, 25),
        ("dctcp B=100", r#"{"name":"standard"}"#, 100, 65),
        ("gst B=100 K=8", r#"{"name":"gst","k":8,"k_dc":65,"entry":"window_close"}"#, 100, 8),
        ("gst B=100 K=45", r#"{"name":"gst","k":45,"k_dc":65,"entry":"window_close"}"#, 100, 45),
    ] {
        let algorithm = format!(
            r#"{{"rto_init_ns":200000000,"cc":{{"congestion_avoidance":{{"name":"dctcp","cwnd_min":1}},
                "slow_start":{slow_start}}}}}"#
        );
        for &senders in grid {
            let network = incast(&Incast {
                senders,
                size_bytes: 524_288,
                start_jitter_ns: 10_000,
                buffer_pkts,
                k,
                k_dc: 65,
                algorithm: &algorithm,
                record: "{}",
            });
            write!(out, "{name:15} N={senders:2} flows timed out / drops / goodput_gbps:")?;
            for result in run_many(&network, &SEEDS, 2, &AtomicBool::new(false), &|_| {}) {
                let summary = result.map_err(io::Error::other)?.summary;
                let (flows, drops) = (summary.flows_timed_out, summary.drops);
                write!(out, "  {flows}/{drops}/{:.2}", summary.goodput_bps / 1e9)?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}
