//! Compares a program from source with the BMv2 JSON that p4c wrote of it, by drawn entries and packets.
//!
//! ```text
//! cargo run --release -p p4cc-filetests --features p4info --example compare -- \
//!     PROGRAM.p4 BMV2.json [P4INFO.txt] [-I FOLDER] [-D NAME[=TEXT]] [--cpu-port N] \
//!     [--packets N] [--seeds N] \
//!     [--native] [--reached]
//! ```
//!
//! The interpreter runs both, with `--native` the document runs as native code. Without P4Info both programs
//! take that of the source. Each seed draws other entries. It ends with 1 where something differs;
//! `--reached` shows which states, tables and actions packets came to.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use p4cc_filetests::compare::Comparison;
use p4cc_filetests::compile_source;
use p4cc_p4runtime::proto::p4::config::v1::P4Info;
use p4cc_switch::ExecChoice;
use p4cc_syntax::{Options, Source};

/// Differences shown.
const SHOWN: usize = 3;

struct Arguments {
    files: Vec<PathBuf>,
    options: Options,
    cpu_port: u32,
    packets: usize,
    seeds: u64,
    exec: ExecChoice,
    shows_reached: bool,
}

fn arguments() -> Option<Arguments> {
    let mut given = Arguments {
        files: Vec::new(),
        options: Options::default(),
        cpu_port: 510,
        packets: 3_000,
        seeds: 3,
        exec: ExecChoice::Interp,
        shows_reached: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-I" => given.options.include_dirs.push(args.next()?.into()),
            "-D" => {
                let define = args.next()?;
                let (name, text) = define.split_once('=').unwrap_or((&define, "1"));
                given.options.defines.push((name.to_owned(), text.to_owned()));
            }
            "--cpu-port" => given.cpu_port = args.next()?.parse().ok()?,
            "--packets" => given.packets = args.next()?.parse().ok()?,
            "--seeds" => given.seeds = args.next()?.parse().ok()?,
            "--native" => given.exec = ExecChoice::Native,
            "--reached" => given.shows_reached = true,
            _ => given.files.push(arg.into()),
        }
    }
    (2..=3).contains(&given.files.len()).then_some(given)
}

fn main() -> ExitCode {
    let Some(given) = arguments() else {
        eprintln!("usage: compare PROGRAM.p4 BMV2.json [P4INFO.txt] [-I FOLDER] [-D NAME[=TEXT]] ...");
        return ExitCode::from(2);
    };
    match run(&given) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Whether nothing differs.
fn run(given: &Arguments) -> Result<bool, String> {
    let read = |at: usize| {
        let file = &given.files[at];
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
    };
    let (source, found) = Source::load(&given.files[0], &given.options);
    let text = source.text().to_owned();
    let compiled = compile_source(source, found);
    let Some(program) = compiled.program else {
        return Err(compiled.source.render(&compiled.diagnostics, false));
    };
    let info: P4Info = match given.files.len() {
        2 => p4cc_p4runtime::p4info(&program).map_err(|error| error.to_string())?,
        _ => p4cc_p4runtime::p4info_from_text(&read(2)?).map_err(|error| error.to_string())?,
    };
    let document = read(1)?;
    let comparison = Comparison {
        source: &text,
        document: &document,
        info: &info,
        cpu_port: given.cpu_port,
        exec: given.exec,
    };
    let (mut same, mut reached) = (true, BTreeMap::new());
    for seed in 1..=given.seeds {
        let report = comparison.run(given.packets, seed)?;
        println!(
            "seed {seed}: {} differences; {} writes taken, {} refused by both, {} by the source for a direct meter; \
             {} packets sent, {} left",
            report.differences.len(),
            report.taken,
            report.refused,
            report.unsaid,
            report.sent,
            report.left
        );
        report.differences.iter().take(SHOWN).for_each(|difference| println!("{difference}"));
        same &= report.differences.is_empty();
        for (name, count) in report.reached {
            *reached.entry(name).or_insert(0) += count;
        }
    }
    let of = |kind: &str| reached.keys().filter(|name: &&String| name.starts_with(kind)).count();
    println!(
        "reached: {} states, {} tables with a hit, {} with a miss, {} actions; {} tables and {} actions in the P4Info",
        of("state "),
        of("hit "),
        of("miss "),
        of("action "),
        info.tables.len(),
        info.actions.len()
    );
    if given.shows_reached {
        reached.iter().for_each(|(name, count)| println!("  {count:8} {name}"));
    }
    Ok(same)
}
