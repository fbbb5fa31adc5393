//! What compiling one program takes: processor time and the peak of the process's memory.

use crate::{Compiled, compile_source};
use p4cc_exec::Pipeline;
use p4cc_syntax::{Memory, Options, Severity, Source};
use std::sync::Arc;
use std::time::Duration;

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
