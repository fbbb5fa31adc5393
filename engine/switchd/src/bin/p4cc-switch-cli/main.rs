//! `p4cc-switch-cli`: looks into a running switch, fills its tables and sets its queues, with the verbs of
//! BMv2's simple_switch_CLI; called by that name, it answers as that does.
//!
//! One command on the command line, or one for each line of the standard
//! input. Exit code 1 if a command failed, 2 if the switch cannot be reached.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "answers are for whoever asked")]

mod commands;
mod entries;
mod number;
mod program;

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

use clap::Parser;
use p4cc_thrift::Client;

use program::Program;

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
  port_add INTERFACE PORT / port_remove PORT  attach or detach an interface
  show_tables                                 tables, their keys
  table_add TABLE ACTION KEY... => DATA... [PRIORITY]
  table_set_default TABLE ACTION DATA... / table_reset_default TABLE
  table_modify TABLE ACTION HANDLE DATA... / table_delete TABLE HANDLE
  table_indirect_add TABLE KEY... => MEMBER [PRIORITY]
  table_indirect_add_with_group TABLE KEY... => GROUP [PRIORITY]
  act_prof_create_member PROFILE ACTION DATA... / act_prof_create_group PROFILE
  act_prof_add_member_to_group PROFILE MEMBER GROUP
  mc_mgrp_create GROUP / mc_mgrp_destroy GROUP
  mc_node_create RID PORT... [| LAG...] / mc_node_destroy NODE
  mc_node_associate GROUP NODE / mc_node_dissociate GROUP NODE
  meter_set_rates NAME INDEX RATE:BURST RATE:BURST / meter_array_set_rates NAME RATE:BURST RATE:BURST
  table_dump TABLE / table_num_entries TABLE  entries of a table
  table_clear TABLE                           delete all entries
  counter_read NAME INDEX / counter_reset NAME
  register_read NAME [INDEX] / register_write NAME INDEX VALUE / register_reset NAME
  mirroring_add ID PORT / mirroring_delete ID / mirroring_get ID
  switch_info / get_time_elapsed / reset_state";

type Outcome = Result<String, String>;

/// A connection, and the program of the switch once a command asked for it.
struct Session {
    client: Client,
    program: Option<Rc<Program>>,
}

impl Session {
    fn program(&mut self) -> Result<Rc<Program>, String> {
        if let Some(program) = &self.program {
            return Ok(Rc::clone(program));
        }
        let program = Rc::new(Program::of(self)?);
        self.program = Some(Rc::clone(&program));
        Ok(program)
    }
}

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
        if name == "simple_switch_CLI" { Self::Bmv2 } else { Self::Own }
    }

    /// Says what a command came to; whether it failed.
    fn answer(self, words: &[&str], outcome: Outcome) -> bool {
        match (self, outcome) {
            (_, Ok(text)) => {
                if !text.is_empty() {
                    println!("{}", text.trim_end());
                }
                return false;
            }
            (Self::Own, Err(cause)) => eprintln!("p4cc-switch-cli: {}: {cause}", words.join(" ")),
            (Self::Bmv2, Err(cause)) => println!("Error: {cause}"),
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
}

fn main() -> ExitCode {
    let options = Options::parse();
    let addr = (options.thrift_ip.as_str(), options.thrift_port);
    let client = match Client::connect(addr) {
        Ok(client) => client,
        Err(error) => {
            let (ip, port) = addr;
            eprintln!("p4cc-switch-cli: no switch answers at {ip}:{port}: {error}; see --thrift-port");
            return ExitCode::from(2);
        }
    };
    let mut switch = Session { client, program: None };
    let manner = Manner::of_name();
    let mut ok = true;
    if !options.command.is_empty() {
        let words: Vec<&str> = options.command.iter().flat_map(|word| word.split_whitespace()).collect();
        ok = !manner.answer(&words, commands::command(&mut switch, &words));
    } else {
        manner.prompt();
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
            match *words {
                [] => {}
                ["EOF" | "exit" | "quit"] => break,
                _ => ok &= !manner.answer(&words, commands::command(&mut switch, &words)),
            }
            manner.prompt();
        }
        if manner == Manner::Bmv2 {
            println!();
        }
    }
    if ok || manner == Manner::Bmv2 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
