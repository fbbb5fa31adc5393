//! Compiles generated programs that ask for too much, to native code too, and prints what they take:
//!
//! ```text
//! cargo run --release -p p4cc-filetests --features p4info --example bombs -- 500
//! cargo run --release -p p4cc-filetests --features p4info --example bombs -- FILE.p4...
//! ```
//!
//! Without the feature P4Info is left out. Each program is compiled by a process of its own: what an
//! allocator keeps of one is not counted with the next. The sums come last: the longest, the largest, and
//! how many programs ended with which error.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use p4cc_filetests::bombs::{bomb, cost};
use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

/// Compiles one program and prints one line for the process that asked.
const SINGLE: &str = "--single";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let programs: Vec<String> = match args.as_slice() {
        [] => {
            eprintln!("usage: bombs COUNT | bombs FILE...");
            return ExitCode::from(2);
        }
        [flag, program] if flag == SINGLE => return single(program),
        [count] if count.parse::<u64>().is_ok() => {
            (0..count.parse::<u64>().unwrap_or(0)).map(|at| at.to_string()).collect()
        }
        files => files.to_vec(),
    };
    let (mut longest, mut largest) = ((0.0, String::new()), (0, String::new()));
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    let mut all_ended = true;
    for program in programs {
        let Some((seconds, mib, name, outcome)) = measured(&program) else {
            println!("{program}: the process that compiled it died");
            all_ended = false;
            continue;
        };
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
    if all_ended { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Seconds, MiB, name and outcome of a program that another process compiles.
fn measured(program: &str) -> Option<(f64, u64, String, String)> {
    let output = Command::new(std::env::current_exe().ok()?).args([SINGLE, program]).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    let mut parts = line.trim_end_matches('\n').splitn(4, '\t');
    let (seconds, mib) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((seconds, mib, parts.next()?.to_owned(), parts.next()?.to_owned()))
}

/// Compiles the program of a number or a file.
fn single(program: &str) -> ExitCode {
    let (name, text) = match program.parse() {
        Ok(number) => {
            let bomb = bomb(number);
            (bomb.name, bomb.text)
        }
        Err(_) => (program.to_owned(), std::fs::read_to_string(program).unwrap_or_default()),
    };
    let cost = cost::of(&text, true);
    let outcome = cost.refused.map_or_else(|| "compiled".to_owned(), |message| kind_of(&message));
    let outcome = outcome.replace(['\t', '\n'], " ");
    println!("{}\t{}\t{name}\t{outcome}", cost.processor_time.as_secs_f64(), cost.peak_bytes >> 20);
    ExitCode::SUCCESS
}

/// A message without its names and numbers.
fn kind_of(message: &str) -> String {
    let unquoted = message.split('`').step_by(2).collect::<Vec<_>>().join("_");
    unquoted.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("N")
}
