//! What compiling one program takes: processor time and the peak of the process's memory.

use crate::{Compiled, compile_source};
use p4cc_exec::Pipeline;
use p4cc_syntax::{Memory, Options, Severity, Source};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Arguments of the program `bombs` that make it compile one program and print its cost as one line.
pub const SINGLE: &str = "--single";
/// As [`SINGLE`], native code included.
pub const SINGLE_NATIVE: &str = "--single-native";

/// What one program took.
#[derive(Clone, Debug)]
pub struct Cost {
    /// Of the thread that compiled.
    pub processor_time: Duration,
    /// Peak of the process while it compiled; 0 where the system does not say.
    pub peak_bytes: u64,
    /// The first error, if there was one.
    pub refused: Option<String>,
}

/// Compiles a program as far as it can be, to native code if that is asked for, and measures.
pub fn of(text: &str, with_native: bool) -> Cost {
    let started = processor_time();
    // Linux begins the peak anew; elsewhere it stays that of the process.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (source, found) = Source::from_text("bomb.p4", text, &Memory::default(), &Options::default());
    let compiled = compile_source(source, found);
    let rendered = compiled.source.render(&compiled.diagnostics, false);
    let refused = first_error(&compiled);
    if let Some(program) = compiled.program {
        #[cfg(feature = "p4info")]
        drop(p4cc_p4runtime::p4info(&program));
        if let Ok(pipeline) = Pipeline::compile(Arc::new(program))
            && with_native
        {
            let _ = pipeline.native();
        }
    }
    drop(rendered);
    Cost {
        processor_time: processor_time().saturating_sub(started),
        peak_bytes: status_bytes("VmHWM:").unwrap_or(0),
        refused,
    }
}

impl Cost {
    /// One line for another process, which [`in_own_process`] reads.
    pub fn line(&self, name: &str) -> String {
        let refused = self.refused.as_ref().map(|message| message.replace(['\t', '\n'], " "));
        let (nanoseconds, outcome) = (self.processor_time.as_nanos(), refused.unwrap_or_default());
        format!("{nanoseconds}\t{}\t{name}\t{outcome}", self.peak_bytes)
    }

    fn parse(line: &str) -> Option<(String, Self)> {
        let mut parts = line.trim_end_matches('\n').splitn(4, '\t');
        let (nanoseconds, peak_bytes) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let (name, refused) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        let refused = (!refused.is_empty()).then_some(refused);
        Some((name, Self { processor_time: Duration::from_nanos(nanoseconds), peak_bytes, refused }))
    }
}

/// Name and cost of a program (a seed or a file) that a process of its own compiles: neither threads beside
/// it nor what an allocator kept of other programs counts. None if that process dies.
///
/// `bombs` is the path of the program of that name.
pub fn in_own_process(bombs: &Path, program: &str, with_native: bool) -> Option<(String, Cost)> {
    let flag = if with_native { SINGLE_NATIVE } else { SINGLE };
    let output = Command::new(bombs).args([flag, program]).output().ok()?;
    Cost::parse(&String::from_utf8(output.stdout).ok()?)
}

fn first_error(compiled: &Compiled) -> Option<String> {
    let error = compiled.diagnostics.iter().find(|one| one.severity == Severity::Error)?;
    Some(error.message.clone())
}

/// Processor time of this thread; zero where the system does not say.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let spent = text.split_whitespace().next().and_then(|nanoseconds| nanoseconds.parse().ok());
    Duration::from_nanos(spent.unwrap_or(0))
}

/// A line of the process's status that is a number of KiB.
fn status_bytes(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}
