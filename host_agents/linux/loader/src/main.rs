//! `p4cc-hosts`: p4cc's senders in the Linux kernel, for unmodified applications.

mod cli;
mod counters;
mod error;
mod feedback;
mod kernel;
mod pins;
mod profile;
mod record;
mod route;
mod sender;
mod watch;

use std::process::ExitCode;

use libbpf_rs::PrintLevel;

fn print_end(_: PrintLevel, text: String) {
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().skip(lines.len().saturating_sub(12)).for_each(|line| eprintln!("{line}"));
}

fn main() -> ExitCode {
    // libbpf prints the verifier's whole log, thousands of lines; its last ones name the cause.
    libbpf_rs::set_print(Some((PrintLevel::Warn, print_end)));
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("p4cc-hosts: {error}");
            ExitCode::FAILURE
        }
    }
}
