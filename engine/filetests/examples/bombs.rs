//! Compiles generated programs that ask for too much, to native code too, and prints what they take:
//!
//! ```text
//! cargo run --release -p p4cc-filetests --features p4info --example bombs -- 500
//! cargo run --release -p p4cc-filetests --features p4info --example bombs -- FILE.p4...
//! ```
//!
//! Without the feature P4Info is left out. The sums come last: the longest, the largest, and how many
//! programs ended with which error.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use p4cc_filetests::bombs::{bomb, cost};
use std::collections::BTreeMap;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Made one after the other, so that none is counted with the memory of another.
    let programs: Box<dyn Iterator<Item = (String, String)>> = match args.as_slice() {
        [] => {
            eprintln!("usage: bombs COUNT | bombs FILE...");
            return ExitCode::from(2);
        }
        [count] if count.parse::<u64>().is_ok() => {
            let count = count.parse().unwrap_or(0);
            Box::new((0..count).map(bomb).map(|bomb| (bomb.name, bomb.text)))
        }
        files => {
            let read = |file: &String| (file.clone(), std::fs::read_to_string(file).unwrap_or_default());
            Box::new(files.iter().map(read))
        }
    };
    let (mut longest, mut largest) = ((0.0, String::new()), (0, String::new()));
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for (name, text) in programs {
        let cost = cost::of(&text, true);
        let (seconds, mib) = (cost.processor_time.as_secs_f64(), cost.peak_bytes >> 20);
        let outcome = cost.refused.map_or_else(|| "compiled".to_owned(), |message| kind_of(&message));
        println!("{seconds:6.3} s {mib:4} MiB {name}: {outcome}");
        if seconds > longest.0 {
            longest = (seconds, name.clone());
        }
        if mib > largest.0 {
            largest = (mib, name);
        }
        *outcomes.entry(outcome).or_default() += 1;
    }
    println!("\nlongest {:.3} s: {}\nlargest {} MiB: {}", longest.0, longest.1, largest.0, largest.1);
    for (outcome, count) in outcomes {
        println!("{count:5} {outcome}");
    }
    ExitCode::SUCCESS
}

/// A message without its names and numbers.
fn kind_of(message: &str) -> String {
    let unquoted = message.split('`').step_by(2).collect::<Vec<_>>().join("_");
    unquoted.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("N")
}
