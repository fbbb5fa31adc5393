//! Where the log goes: the standard output, a file, or warnings only to the standard error.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Mutex;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::options::{General, LogLevel};

/// Starts logging as the command line says.
///
/// # Errors
/// The file cannot be made.
pub fn start(options: &General) -> Result<(), String> {
    let level = match options.log_level {
        LogLevel::Trace => LevelFilter::TRACE,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Off => LevelFilter::OFF,
    };
    // The gRPC library's own events are of no use to who runs a switch.
    let ours = |level: LevelFilter| Targets::new().with_target("p4cc", level).with_default(LevelFilter::OFF);
    let console = options.log_console.then(|| {
        fmt::layer().with_ansi(io::stdout().is_terminal()).with_target(false).with_filter(ours(level))
    });
    let file = options.log_file.as_deref().map(create).transpose()?;
    let file = file.map(|file| {
        fmt::layer()
            .with_ansi(false)
            .with_target(false)
            .with_writer(Mutex::new(file))
            .with_filter(ours(level))
    });
    let warnings = (!options.log_console).then(|| {
        let level = level.min(LevelFilter::WARN);
        fmt::layer()
            .with_ansi(io::stderr().is_terminal())
            .with_target(false)
            .with_writer(io::stderr)
            .with_filter(ours(level))
    });
    tracing_subscriber::registry().with(console).with(file).with(warnings).init();
    Ok(())
}

/// Whether what each packet does is to be written.
pub(crate) fn wants_trace(options: &General) -> bool {
    let somewhere = options.log_console || options.log_file.is_some();
    somewhere && matches!(options.log_level, LogLevel::Trace | LogLevel::Debug)
}

/// BMv2 adds `.txt` to the name that it is given, and scripts look for it there.
fn create(path: &Path) -> Result<File, String> {
    let mut name = path.as_os_str().to_owned();
    name.push(".txt");
    File::create(&name).map_err(|error| format!("--log-file {}: {error}", Path::new(&name).display()))
}
