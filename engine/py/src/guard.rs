//! Ends the process where a user's code keeps the interpreter's lock for ever: C code that never returns.
//!
//! Python hears nothing then, Ctrl-C included: its handler runs when the interpreter does. This thread never
//! asks for the lock. The interpreter says from time to time that it runs; Ctrl-C comes through a socket,
//! into which Python's handler in C writes the number of each signal (`signal.set_wakeup_fd`).

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use pyo3::prelude::*;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(100);
/// How long an interpreter that was interrupted may say nothing; one that runs speaks twenty times in it.
const SILENCE: Duration = Duration::from_secs(2);
/// How long it may say nothing beyond the limit of a call.
const SLACK: Duration = Duration::from_secs(2);
const SIGINT: u8 = 2;
const WRONG: i32 = 2;
const INTERRUPTED: i32 = 130;

/// What the interpreter said last.
struct Told {
    at: Instant,
    /// Of one call of a user's code; none where the process must not be ended.
    limit: Option<Duration>,
    /// Files of users, as Python names them.
    files: Vec<String>,
    /// Folders that nobody needs when the process has ended.
    left: Vec<PathBuf>,
}

/// Watches the interpreter from a thread of its own.
#[pyclass(frozen, module = "p4cc._engine")]
pub(crate) struct Guard {
    told: Arc<Mutex<Told>>,
    interrupts: Arc<AtomicU64>,
    /// Python writes into it.
    signals: UnixStream,
}

#[pymethods]
impl Guard {
    /// `stacks` is a file into which `faulthandler` writes where all threads are when the interpreter is
    /// silent.
    #[new]
    fn new(stacks: PathBuf) -> PyResult<Self> {
        let (signals, heard) = UnixStream::pair()?;
        signals.set_nonblocking(true)?;
        heard.set_read_timeout(Some(LOOK))?;
        let told = Told { at: Instant::now(), limit: None, files: Vec::new(), left: Vec::new() };
        let guard =
            Self { told: Arc::new(Mutex::new(told)), interrupts: Arc::new(AtomicU64::new(0)), signals };
        let (told, interrupts) = (Arc::clone(&guard.told), Arc::clone(&guard.interrupts));
        std::thread::Builder::new()
            .name("p4cc guard".into())
            .spawn(move || watch(&told, &interrupts, heard, &stacks))?;
        Ok(guard)
    }

    /// For `signal.set_wakeup_fd`.
    fn fileno(&self) -> i32 {
        self.signals.as_raw_fd()
    }

    /// How many times Ctrl-C came.
    #[getter]
    fn interrupts(&self) -> u64 {
        self.interrupts.load(Ordering::Relaxed)
    }

    /// The interpreter runs.
    fn alive(&self, limit_s: Option<f64>, files: Vec<String>, left: Vec<PathBuf>) {
        let limit = limit_s.and_then(|limit_s| Duration::try_from_secs_f64(limit_s).ok());
        *self.told.lock() = Told { at: Instant::now(), limit, files, left };
    }
}

fn watch(told: &Mutex<Told>, interrupts: &AtomicU64, mut heard: UnixStream, stacks: &std::path::Path) {
    let mut interrupted: Option<Instant> = None;
    loop {
        let mut bytes = [0; 64];
        // Nothing in time, or nobody there any more.
        let count = heard.read(&mut bytes).unwrap_or(0);
        if count == 0 {
            std::thread::sleep(LOOK / 10);
        }
        let new = bytes[..count].iter().filter(|&&signal| signal == SIGINT).count() as u64;
        if new > 0 {
            interrupts.fetch_add(new, Ordering::Relaxed);
            interrupted.get_or_insert_with(Instant::now);
        }
        let told = told.lock();
        let Some(limit) = told.limit else { continue };
        // What it said after Ctrl-C says that it hears of it.
        interrupted = interrupted.filter(|at| told.at <= *at);
        if interrupted.is_some_and(|at| at.elapsed() >= SILENCE) {
            end(&told, stacks, INTERRUPTED, "interrupted; no results were written");
        }
        if told.at.elapsed() >= limit.saturating_add(SLACK) {
            let limit_s = limit.as_secs_f64();
            let cause = format!("Python code took longer than {limit_s} s and lets nothing else run");
            end(&told, stacks, WRONG, &cause);
        }
    }
}

/// Says where the user's code is, removes what nobody needs, and ends the process.
fn end(told: &Told, stacks: &std::path::Path, code: i32, cause: &str) -> ! {
    let text = std::fs::read_to_string(stacks).unwrap_or_default();
    let mut error = std::io::stderr().lock();
    // A progress bar may have hidden the cursor.
    let shown = if error.is_terminal() { "\n\x1b[?25h" } else { "" };
    // Nobody is left to hear that nothing can be written.
    let _ = writeln!(error, "{shown}error: {cause}");
    let is_theirs = |line: &&str| told.files.iter().any(|file| line.contains(&format!("\"{file}\"")));
    for line in text.lines().filter(is_theirs).take(8) {
        let _ = writeln!(error, "{line}");
    }
    let remedy = "look for a call that does not return, or raise control.handler_limit_s";
    let _ = writeln!(error, "  remedy: {remedy}");
    for folder in &told.left {
        let _ = std::fs::remove_dir_all(folder);
    }
    exit(code)
}

/// Ends the process without what others want to do at its end: that would wait for the interpreter.
#[expect(unsafe_code, reason = "a system call")]
fn exit(code: i32) -> ! {
    // SAFETY: `_exit` takes a number and touches no memory of this process; it does not return.
    unsafe { libc::_exit(code) }
}
