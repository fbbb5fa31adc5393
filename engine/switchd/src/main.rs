//! `p4cc-switch`: starts the daemon, and ends it on SIGINT or SIGTERM.
//!
//! Exit codes: 0 after a signal, 1 when an assertion ended the switch, 2 when the daemon cannot start.

#![allow(clippy::print_stderr, reason = "why a start failed is for whoever started it, whatever the log is")]

use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use p4cc_switchd::options::Options;
use p4cc_switchd::{Daemon, log};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Exit code of a switch that an assertion of its program ended.
const ASSERTION_FAILED: u8 = 1;
/// Exit code of a start that failed.
const CANNOT_START: u8 = 2;
/// How often the daemon is asked whether its program ends it.
const INTERVAL: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args_os()) {
        Ok(options) => options,
        // clap prints help to the standard output with code 0 and errors to the standard error with code 2.
        Err(error) => error.exit(),
    };
    match run(options) {
        Ok(code) => code,
        Err(cause) => {
            eprintln!("p4cc-switch: {cause}");
            ExitCode::from(CANNOT_START)
        }
    }
}

fn run(options: Options) -> Result<ExitCode, String> {
    log::start(&options.general)?;
    // Before anything is opened, so that a signal during the start ends it in order too.
    let mut signals =
        Signals::new([SIGINT, SIGTERM]).map_err(|error| format!("cannot watch for signals: {error}"))?;
    let (events, came) = channel();
    let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
    let failed = |error| format!("cannot start a thread: {error}");
    let of_signals = events.clone();
    let watch = move || {
        signals.forever().next();
        // Nobody waits where the start failed meanwhile.
        let _ = of_signals.send(Event::Signal);
    };
    thread("signals").spawn(watch).map_err(failed)?;
    // A large program takes a while to compile, for which a signal does not wait.
    let start = move || {
        let started = Daemon::start(&options).map(Box::new).map_err(|error| error.to_string());
        // Nobody waits where a signal came first.
        let _ = events.send(Event::Started(started));
    };
    thread("start").spawn(start).map_err(failed)?;
    let Ok(Event::Started(daemon)) = came.recv() else { return Ok(ExitCode::SUCCESS) };
    let daemon = daemon?;
    // Both threads are gone only after a signal.
    while !daemon.has_failed() && matches!(came.recv_timeout(INTERVAL), Err(RecvTimeoutError::Timeout)) {}
    let has_failed = daemon.has_failed();
    daemon.stop();
    Ok(if has_failed { ExitCode::from(ASSERTION_FAILED) } else { ExitCode::SUCCESS })
}

/// What the main thread waits for.
enum Event {
    Started(Result<Box<Daemon>, String>),
    Signal,
}
