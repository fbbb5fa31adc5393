//! `p4cc-agent`: runs a host's flows of a plan, or one flow, or receives whatever comes.
//!
//! Exit codes: 0 when all flows are complete, 1 when the time
//! was up or a signal came before, 2 when it cannot start.

#![allow(clippy::print_stderr, reason = "why a start failed is for whoever started it")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Args, Parser, Subcommand};
use p4cc_agent::launch::Launch;
use p4cc_agent::plan::{FlowEntry, HostPlan, MAX_PLAN_BYTES, Plan, Transport};
use p4cc_transport::SenderConfig;
use p4cc_units::Rate;

/// Exit code when flows are not complete.
const INCOMPLETE: u8 = 1;
/// Exit code of a start that failed.
const CANNOT_START: u8 = 2;

const EXAMPLES: &str = "Examples:
  p4cc-agent receive --bind 10.0.0.2
  p4cc-agent send --bind 10.0.0.1 --to 10.0.0.2 --bytes 1000000 --metrics -
  p4cc-agent send --bind 10.0.0.1 --to 10.0.0.2 --bytes 1000000 --sender '{\"cc\": {\"congestion_avoidance\": {\"name\": \"dctcp\"}}}'
  p4cc-agent run --plan plan.json --host h1 --metrics h1.jsonl";

/// Senders and receivers of the p4cc host stack on UDP sockets.
#[derive(Parser)]
#[command(name = "p4cc-agent", version, after_help = EXAMPLES)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the flows of one host of a plan.
    Run {
        /// The plan, JSON; - for the standard input.
        #[arg(long)]
        plan: PathBuf,
        /// Name of the host.
        #[arg(long)]
        host: String,
        #[command(flatten)]
        common: Common,
    },
    /// Send one flow.
    Send {
        /// Own address.
        #[arg(long)]
        bind: Ipv4Addr,
        /// Address of the receiver.
        #[arg(long)]
        to: Ipv4Addr,
        /// Payload bytes; without it the flow has no end.
        #[arg(long)]
        bytes: Option<u64>,
        /// Number on the wire.
        #[arg(long, default_value_t = 1)]
        flow_id: u32,
        /// Traffic class, 0 (lowest) to 7.
        #[arg(long, default_value_t = 0)]
        priority: u8,
        /// Configuration of the sender, JSON.
        #[arg(long, default_value = "{}")]
        sender: String,
        #[command(flatten)]
        common: Common,
    },
    /// Receive every flow that comes, until a signal.
    Receive {
        /// Own address.
        #[arg(long)]
        bind: Ipv4Addr,
        /// Configuration of the senders, JSON: their receiver window and what ACKs they expect.
        #[arg(long, default_value = "{\"rwnd\": 65536}")]
        sender: String,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Args)]
struct Common {
    /// Write what happens as JSON lines here; - for the standard output.
    #[arg(long)]
    metrics: Option<PathBuf>,
    /// Note the state of senders so often.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    sample_ms: Option<u64>,
    /// Serve gauges for Prometheus at this address.
    #[arg(long, value_name = "ADDRESS:PORT")]
    prometheus: Option<SocketAddr>,
    /// Stop after so long, complete or not.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    duration_ms: Option<u64>,
    /// Start then, in nanoseconds since 1970, together with other agents that are told the same.
    #[arg(long, value_name = "NS")]
    start_at: Option<u64>,
    /// Answer for so long after everything is complete: an ACK may have been lost.
    #[arg(long, value_name = "MS", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(0..=3_600_000))]
    linger_ms: u64,
    /// Rate of the interface; overrides the plan's.
    #[arg(long, value_name = "BPS", value_parser = clap::value_parser!(u64).range(1..=16_000_000_000_000))]
    line_rate_bps: Option<u64>,
    /// Never sleep: packets leave within microseconds of their time, at the cost of a processor.
    #[arg(long)]
    busy_poll: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(INCOMPLETE),
        Err(cause) => {
            eprintln!("p4cc-agent: {cause}");
            ExitCode::from(CANNOT_START)
        }
    }
}

fn run(options: Options) -> Result<bool, String> {
    let (mut host, accepts, common) = match options.command {
        Command::Run { plan, host, common } => {
            (read_plan(&plan)?.host(&host).map_err(|error| error.to_string())?, None, common)
        }
        Command::Send { bind, to, bytes, flow_id, priority, sender, common } => {
            let flow = FlowEntry {
                id: flow_id,
                src: "here".to_owned(),
                dst: "there".to_owned(),
                size_bytes: bytes,
                start_ns: 0,
                algorithm: "sender".to_owned(),
                priority,
                deadline_ns: None,
            };
            let plan = Plan {
                hosts: BTreeMap::from([("here".to_owned(), bind), ("there".to_owned(), to)]),
                algorithms: BTreeMap::from([("sender".to_owned(), read_sender(&sender)?)]),
                rdma: BTreeMap::new(),
                seed: 0,
                flows: vec![flow],
                line_rate_bps: None,
            };
            (plan.host("here").map_err(|error| error.to_string())?, None, common)
        }
        Command::Receive { bind, sender, common } => {
            let accepts = Transport::Window(Box::new(read_sender(&sender)?));
            let host = HostPlan { address: bind, line_rate: None, sends: Vec::new(), receives: Vec::new() };
            (host, Some(accepts), common)
        }
    };
    if let Some(bps) = common.line_rate_bps {
        host.line_rate = Some(Rate::from_bps(bps));
    }
    start(host, accepts, &common)
}

fn start(host: HostPlan, accepts: Option<Transport>, common: &Common) -> Result<bool, String> {
    let launch = Launch {
        metrics: common.metrics.clone(),
        prometheus: common.prometheus,
        sample_ms: common.sample_ms,
        duration_ms: common.duration_ms,
        start_at_ns: common.start_at,
        linger_ms: common.linger_ms,
        busy_poll: common.busy_poll,
    };
    launch.run(host, accepts, &Arc::new(AtomicBool::new(false)))
}

fn read_plan(path: &Path) -> Result<Plan, String> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().take(MAX_PLAN_BYTES).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(MAX_PLAN_BYTES).read_to_string(&mut text))
    };
    read.map_err(|error| format!("{}: {error}", path.display()))?;
    Plan::read(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn read_sender(text: &str) -> Result<SenderConfig, String> {
    serde_json::from_str(text).map_err(|error| format!("--sender: {error}"))
}
