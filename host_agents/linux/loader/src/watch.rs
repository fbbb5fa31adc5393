//! `p4cc-hosts watch`: the records of watched senders as lines of JSON.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle, RingBufferBuilder};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::error::{Context, Failure, Outcome};
use crate::kernel;
use crate::pins::Pins;
use crate::record;

/// How often the ring is read. It holds some 20,000 records, a thousand for each millisecond of this.
const PAUSE: Duration = Duration::from_millis(20);

/// Where lines go, and what became of the records.
struct Output {
    to: Box<dyn Write>,
    cgroups: Vec<u64>,
    written: u64,
    failure: Option<io::Error>,
    /// What is in the ring from before the command began is not for it.
    is_open: bool,
}

impl Output {
    fn take(&mut self, bytes: &[u8]) -> i32 {
        if !self.is_open {
            return 0;
        }
        let Some((cgroup, line)) = record::line(bytes) else { return 0 };
        if !self.cgroups.is_empty() && !self.cgroups.contains(&cgroup) {
            return 0;
        }
        match writeln!(self.to, "{line}") {
            Ok(()) => self.written += 1,
            Err(error) => self.failure = Some(error),
        }
        // A number below zero ends the reading.
        -i32::from(self.failure.is_some())
    }
}

/// Writes records until SIGINT or SIGTERM.
pub fn run(pins: &Pins, cgroups: &[PathBuf], output: Option<&Path>) -> Outcome<()> {
    let (ring, lost) = (pins.records().join("records"), pins.records().join("lost"));
    if !ring.exists() {
        return Err(Failure::new("watch", "no sender is watched", "load one with --watch"));
    }
    let is_over = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&is_over)).context("signals")?;
    }
    let ring = MapHandle::from_pinned_path(&ring).context(ring.display())?;
    let lost = MapHandle::from_pinned_path(&lost).context(lost.display())?;
    let to: Box<dyn Write> = match output {
        Some(path) => Box::new(BufWriter::new(File::create(path).context(path.display())?)),
        None => Box::new(BufWriter::new(io::stdout())),
    };
    let cgroups = cgroups.iter().map(|folder| kernel::cgroup_id(folder)).collect::<Outcome<_>>()?;
    let out = RefCell::new(Output { to, cgroups, written: 0, failure: None, is_open: false });
    let mut builder = RingBufferBuilder::new();
    builder.add(&ring, |bytes| out.borrow_mut().take(bytes)).context("the ring of records")?;
    let records = builder.build().context("the ring of records")?;
    records.consume_raw();
    let lost_before = lost_of(&lost)?;
    out.borrow_mut().is_open = true;
    eprintln!("p4cc-hosts: watching");
    loop {
        let was_over = is_over.load(Ordering::Relaxed);
        records.consume_raw();
        let mut out = out.borrow_mut();
        let flushed = out.to.flush();
        if let Some(error) = out.failure.take().or(flushed.err()) {
            // A reader like `head` has enough.
            let is_closed = error.kind() == io::ErrorKind::BrokenPipe;
            return if is_closed { Ok(()) } else { Err(error).context("writing records") };
        }
        if was_over {
            eprintln!("p4cc-hosts: {} records, {} lost", out.written, lost_of(&lost)? - lost_before);
            return Ok(());
        }
        drop(out);
        thread::sleep(PAUSE);
    }
}

fn lost_of(map: &MapHandle) -> Outcome<u64> {
    let value = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).context("lost records")?;
    Ok(crate::counters::word(&value.unwrap_or_default(), 0))
}
