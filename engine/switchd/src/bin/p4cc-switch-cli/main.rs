//! `p4cc-switch-cli`: looks into a running switch, fills its tables and sets its queues, with the commands
//! and the answers of BMv2's simple_switch_CLI; called by that name or psa_switch_CLI, it also prompts as
//! that does.
//!
//! One command on the command line, or one for each line of the standard
//! input. Exit code 1 if a command failed, 2 if the switch cannot be reached.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "answers are for whoever asked")]

mod arrays;
mod entries;
mod failure;
mod multicast;
mod number;
mod ports;
mod profiles;
mod program;
mod session;
mod tables;

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use p4cc_thrift::Client;

use failure::Failure;
use session::{Outcome, Session};

/// Looks into a running p4cc-switch and sets its queues.
#[derive(Parser)]
#[command(version, after_help = HELP)]
struct Options {
    /// Address of the switch
    #[arg(long, default_value = "127.0.0.1")]
    thrift_ip: String,
    /// The switch's --thrift-port
    #[arg(long, default_value_t = 9090)]
    thrift_port: u16,
    /// simple_switch_CLI's: the switch gives its program itself
    #[arg(long, value_name = "FILE", hide = true)]
    json: Option<String>,
    /// simple_switch_CLI's: every replication engine has the same commands
    #[arg(long, value_name = "ENGINE", hide = true)]
    pre: Option<String>,
    /// A command with its arguments; without one, commands are read from the standard input, one a line
    #[arg(trailing_var_arg = true)]
    command: Vec<String>,
}

const HELP: &str = "Commands:
  show_ports                                  ports, their interfaces
  port_counters PORT                          packets, bytes, depths, drops by cause
  set_queue_depth PACKETS [PORT [PRIORITY]]   capacity of a queue, or of all queues without a port
  set_queue_rate PPS [PORT [PRIORITY]]        packets per second; 0 for no limit
  set_queue_rate_bps BPS PORT                 rate of the port's link in bit/s; 0 for no limit
  set_link_delay_ns NS PORT                   delay of the port's link
  port_add INTERFACE PORT [PCAP] / port_remove PORT
  show_tables / show_actions / table_info TABLE / table_show_actions TABLE
  table_add TABLE ACTION KEY... => DATA... [PRIORITY]
  table_set_default TABLE ACTION DATA... / table_reset_default TABLE
  table_modify TABLE ACTION HANDLE DATA... / table_delete TABLE HANDLE / table_clear TABLE
  table_set_timeout TABLE HANDLE MS
  table_dump TABLE / table_num_entries TABLE / table_dump_entry TABLE HANDLE
  table_dump_entry_from_key TABLE KEY... [PRIORITY]
  table_indirect_add TABLE KEY... => MEMBER [PRIORITY]
  table_indirect_add_with_group TABLE KEY... => GROUP [PRIORITY]
  table_indirect_delete TABLE HANDLE
  table_indirect_set_default TABLE MEMBER / table_indirect_set_default_with_group TABLE GROUP
  table_indirect_reset_default TABLE
  act_prof_create_member PROFILE ACTION DATA... / act_prof_delete_member PROFILE MEMBER
  act_prof_modify_member PROFILE ACTION MEMBER DATA...
  act_prof_create_group PROFILE / act_prof_delete_group PROFILE GROUP
  act_prof_add_member_to_group PROFILE MEMBER GROUP / act_prof_remove_member_from_group PROFILE MEMBER GROUP
  act_prof_dump PROFILE / act_prof_dump_member PROFILE MEMBER / act_prof_dump_group PROFILE GROUP
  table_indirect_create_member TABLE ACTION DATA... / table_indirect_delete_member TABLE MEMBER
  table_indirect_modify_member TABLE ACTION MEMBER DATA...
  table_indirect_create_group TABLE / table_indirect_delete_group TABLE GROUP
  table_indirect_add_member_to_group TABLE MEMBER GROUP
  table_indirect_remove_member_from_group TABLE MEMBER GROUP
  table_dump_member TABLE MEMBER / table_dump_group TABLE GROUP
  mc_mgrp_create GROUP / mc_mgrp_destroy GROUP / mc_dump
  mc_node_create RID PORT... [| LAG...] / mc_node_update NODE PORT... [| LAG...] / mc_node_destroy NODE
  mc_node_associate GROUP NODE / mc_node_dissociate GROUP NODE / mc_set_lag_membership LAG PORT...
  meter_set_rates NAME INDEX RATE:BURST RATE:BURST / meter_array_set_rates NAME RATE:BURST RATE:BURST
  meter_get_rates NAME INDEX
  counter_read NAME INDEX / counter_write NAME INDEX PACKETS BYTES / counter_reset NAME
  register_read NAME [INDEX] / register_write NAME INDEX VALUE / register_reset NAME
  show_pvs / pvs_add SET VALUE / pvs_remove SET VALUE / pvs_get SET / pvs_clear SET
  set_crc16_parameters NAME POLYNOMIAL INITIAL XOR REFLECT_DATA REFLECT_REMAINDER / set_crc32_parameters ...
  set_toeplitz_hash_key NAME HEX
  mirroring_add ID PORT / mirroring_add_mc ID GROUP / mirroring_delete ID / mirroring_get ID
  load_new_config_file FILE / swap_configs / write_config_to_file FILE / serialize_state FILE / reset_state
  switch_info / get_time_elapsed / get_time_since_epoch";

/// How answers are given: simple_switch_CLI has a prompt before each, prints failures among them, and
/// continues to the end with exit code 0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Own,
    Bmv2,
}

impl Manner {
    fn of_name() -> Self {
        let name = std::env::args_os().next().unwrap_or_default();
        let name = Path::new(&name).file_name().map(std::ffi::OsStr::to_owned).unwrap_or_default();
        if name == "simple_switch_CLI" || name == "psa_switch_CLI" { Self::Bmv2 } else { Self::Own }
    }

    /// Says what a command came to; whether it failed.
    fn answer(self, switch: &mut Session, line: &str) -> bool {
        let outcome = run(switch, line);
        print!("{}", switch.take_said());
        match (self, outcome) {
            (_, Ok(())) => return false,
            (Self::Own, Err(failure)) => eprintln!("p4cc-switch-cli: {}: {failure}", line.trim()),
            (Self::Bmv2, Err(failure)) => println!("{failure}"),
        }
        true
    }

    fn prompt(self) {
        if self == Self::Bmv2 {
            print!("RuntimeCmd: ");
            // What cannot be written cannot be said either.
            let _ = std::io::stdout().flush();
        }
    }

    /// Reads commands from the standard input; whether all succeeded.
    fn read(self, switch: &mut Session) -> bool {
        let mut ok = true;
        let mut last = String::new();
        self.prompt();
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            match (self, line.trim()) {
                (_, "EOF" | "exit" | "quit") => break,
                // An empty line repeats the command before it.
                (Self::Bmv2, "") if !last.is_empty() => ok &= !self.answer(switch, &last),
                (_, "") => {}
                (Self::Own, comment) if comment.starts_with('#') => {}
                _ => {
                    ok &= !self.answer(switch, &line);
                    last = line;
                }
            }
            self.prompt();
        }
        ok
    }
}

fn run(switch: &mut Session, line: &str) -> Outcome {
    let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
    let Some((&verb, rest)) = words.split_first() else { return Err(Failure::unknown(line.trim())) };
    if matches!(verb, "help" | "?") {
        let about = |line: &&str| rest.first().is_none_or(|command| line.contains(command));
        HELP.lines().filter(about).for_each(|line| switch.say(line));
        return Ok(());
    }
    let outcome = tables::command(switch, verb, rest)
        .or_else(|| profiles::command(switch, verb, rest))
        .or_else(|| arrays::command(switch, verb, rest))
        .or_else(|| multicast::command(switch, verb, rest))
        .or_else(|| ports::command(switch, verb, rest));
    outcome.unwrap_or_else(|| Err(Failure::unknown(line.trim())))
}

fn main() -> ExitCode {
    let options = Options::parse();
    let manner = Manner::of_name();
    let client = match Client::connect((options.thrift_ip.as_str(), options.thrift_port)) {
        Ok(client) => client,
        Err(_) if manner == Manner::Bmv2 => {
            println!("Could not connect to thrift client on port {}", options.thrift_port);
            println!("Make sure the switch is running and that you have the right port");
            return ExitCode::FAILURE;
        }
        Err(error) => {
            let (ip, port) = (&options.thrift_ip, options.thrift_port);
            eprintln!("p4cc-switch-cli: no switch answers at {ip}:{port}: {error}; see --thrift-port");
            return ExitCode::from(2);
        }
    };
    let mut switch = Session::new(client);
    if !options.command.is_empty() {
        let failed = manner.answer(&mut switch, &options.command.join(" "));
        return if failed && manner == Manner::Own { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    if manner == Manner::Own {
        return if manner.read(&mut switch) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    println!("Obtaining JSON from switch...");
    if switch.program().is_err() {
        println!("Error when requesting JSON config from switch");
        return ExitCode::FAILURE;
    }
    println!("Done\nControl utility for runtime P4 table manipulation");
    manner.read(&mut switch);
    println!();
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::HELP;

    /// The files whose `match verb` says which commands there are.
    const COMMANDS: [&str; 5] = [
        include_str!("arrays.rs"),
        include_str!("multicast.rs"),
        include_str!("ports.rs"),
        include_str!("profiles.rs"),
        include_str!("tables.rs"),
    ];

    /// The verbs of a file: the patterns of its `match verb`.
    fn verbs(source: &str) -> Vec<&str> {
        let arms = source.split("match verb {").skip(1).filter_map(|rest| rest.split("_ =>").next());
        arms.flat_map(str::lines)
            .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" =>"))
            .map(|(verb, _)| verb)
            .collect()
    }

    #[test]
    fn help_names_every_command() {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let named: Vec<&str> = HELP.split(|letter| !is_part(letter)).collect();
        for source in COMMANDS {
            let verbs = verbs(source);
            assert!(!verbs.is_empty());
            let missing: Vec<&&str> = verbs.iter().filter(|verb| !named.contains(verb)).collect();
            assert!(missing.is_empty(), "help lacks {missing:?}");
        }
    }
}
