//! Compiles generated programs that ask for too much, to native code too, and prints what they take:
//!
//! ```text
//! cargo run --release -p p4cc-filetests --features p4info --bin bombs -- 500
//! cargo run --release -p p4cc-filetests --features p4info --bin bombs -- FILE.p4...
//! ```
//!
//! Without the feature P4Info is left out. Each program is compiled by a process of its own: what an
//! allocator keeps of one is not counted with the next. The sums come last: the longest, the largest, and
//! how many programs ended with which error.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use p4cc_filetests::bombs::{bomb, cost};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let programs: Vec<String> = match args.as_slice() {
        [] => {
            eprintln!("usage: bombs COUNT | bombs FILE...");
            return ExitCode::from(2);
        }
        [flag, program] if flag == cost::SINGLE => return single(program, false),
        [flag, program] if flag == cost::SINGLE_NATIVE => return single(program, true),
        [count] if count.parse::<u64>().is_ok() => {
            (0..count.parse::<u64>().unwrap_or(0)).map(|at| at.to_string()).collect()
        }
        files => files.to_vec(),
    };
    let (mut longest, mut largest) = ((Duration::ZERO, String::new()), (0, String::new()));
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    let mut all_ended = true;
    for program in programs {
        let measured =
            std::env::current_exe().ok().and_then(|this| cost::in_own_process(&this, &program, true));
        let Some((name, cost)) = measured else {
            println!("{program}: the process that compiled it died");
            all_ended = false;
            continue;
        };
        let (seconds, mib) = (cost.processor_time.as_secs_f64(), cost.peak_bytes >> 20);
        let outcome = cost.refused.map_or_else(|| "compiled".to_owned(), |message| kind_of(&message));
        println!("{seconds:6.3} s {mib:4} MiB {name}: {outcome}");
        longest = longest.max((cost.processor_time, name.clone()));
        largest = largest.max((mib, name));
        *outcomes.entry(outcome).or_default() += 1;
    }
    println!("\nlongest {:.3} s: {}", longest.0.as_secs_f64(), longest.1);
    println!("largest {} MiB: {}", largest.0, largest.1);
    for (outcome, count) in outcomes {
        println!("{count:5} {outcome}");
    }
    if all_ended { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compiles the program of a seed or a file, and prints the line that `cost::in_own_process` reads.
fn single(program: &str, with_native: bool) -> ExitCode {
    let (name, text) = match program.parse() {
        Ok(seed) => {
            let bomb = bomb(seed);
            (bomb.name, bomb.text)
        }
        Err(_) => (program.to_owned(), std::fs::read_to_string(program).unwrap_or_default()),
    };
    println!("{}", cost::of(&text, with_native).line(&name));
    ExitCode::SUCCESS
}

/// A message without its names and numbers.
fn kind_of(message: &str) -> String {
    let unquoted = message.split('`').step_by(2).collect::<Vec<_>>().join("_");
    unquoted.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("N")
}
