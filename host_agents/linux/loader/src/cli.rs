//! The command line.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use p4cc_cc::{
    AlgorithmConfig, AlgorithmSpec, InitialWindow, IntEncoding, PacketSize, ParamValue, RateEnvironment,
    Window,
};
use p4cc_linux::{DELAY_SENDERS, DelayParams, Growth, Params, SENDERS};
use p4cc_units::{Bytes, Rate, Span};
use serde_json::{Map, json};

use crate::error::{Failure, Outcome};
use crate::pins::Pins;
use crate::sender::Rules;
use crate::{check, feedback, kernel, profile, route, sender, watch};

/// p4cc's senders in the Linux kernel.
#[derive(Debug, Parser)]
#[command(name = "p4cc-hosts", version)]
struct Cli {
    /// Folder of pins in the BPF file system.
    #[arg(long, default_value = "/sys/fs/bpf/p4cc", global = true)]
    pins: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Load a sender, or all four with their defaults, and the option for control groups.
    Load(Load),
    /// Give the sockets of one control group their own parameters of a loaded sender.
    Set(Set),
    /// Show what this kernel lacks and what is loaded.
    Status,
    /// Show all counters, and the last connections that closed, as JSON.
    Stats,
    /// Write the records of watched senders until SIGINT or SIGTERM
    #[command(long_about = WATCH)]
    Watch {
        /// Sockets in this control group (not those below it) only; repeatable.
        #[arg(long)]
        cgroup: Vec<PathBuf>,
        /// File for the lines, in place of standard output.
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Look whether the programs would find all their fields in another kernel
    Check {
        /// The kernel's BTF: a file like /sys/kernel/btf/vmlinux, or an uncompressed vmlinux.
        #[arg(long)]
        btf: PathBuf,
    },
    /// Unload one sender, or all senders, the option and profiles; sockets change to the system's default.
    Unload {
        /// Name of the sender; all without it.
        name: Option<String>,
    },
    /// Set the code points on the wire of interfaces: `gst` (11, 10, 01) or `sce` (10, 01, 11), the kernel's
    Profile {
        /// `gst` or `sce`.
        profile: String,
        /// An Ethernet interface of this network namespace; repeatable.
        #[arg(long, required = true)]
        dev: Vec<String>,
    },
    /// Let the connections of a route use a sender (`none`: the system's default).
    Route {
        /// Destination of a route that exists, as in `ip route`.
        prefix: String,
        /// Name of a loaded sender.
        name: String,
    },
}

const WATCH: &str = "\
Write the records of senders that were loaded with --watch, one JSON object a line, until SIGINT or SIGTERM.

  time_ns            the kernel's monotonic clock (Python: time.monotonic_ns())
  event              ack, recovery, timeout, exit (of a recovery) or undo (of a spurious one); the rest is
                     the state after it
  name               the sender's name
  local, remote      address:port of both ends
  netns              cookie of the socket's network namespace
  cgroup             id of its control group: the inode of its folder
  started_ns         when the flow began; tells connections with equal addresses and ports apart
  acked_bytes        payload acknowledged since then
  new_segments       segments that this ACK acknowledged
  flight_segments    segments in flight, before what the ACK lets go
  cwnd_segments      window, with its fraction
  ssthresh_segments  slow start threshold; null: none yet
  alpha              DCTCP's estimate; null: the sender has none
  delta              GST's exponent; null: the slow start has none
  srtt_ns            smoothed round-trip time; null: no sample yet
  k_marks, kdc_marks marks above K and K_dc that the sender has counted since the flow began
  phase              slow_start, smoothing, avoidance or recovery

\"p4cc-hosts: watching\" on standard error says that records count from now on; at the end it says how many
were written, and how many were lost because the ring was full.";

#[derive(Debug, Args)]
struct Load {
    #[command(flatten)]
    sender: SenderArgs,
    /// Name for `setsockopt(TCP_CONGESTION)` and routes; `p4cc_` and the sender's name by default.
    #[arg(long)]
    name: Option<String>,
    /// Control groups (folders of cgroup v2) whose sockets use the option.
    #[arg(long)]
    cgroup: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct Set {
    /// Name of a loaded sender.
    name: String,
    /// The control group.
    #[arg(long)]
    cgroup: PathBuf,
    #[command(flatten)]
    sender: SenderArgs,
}

#[derive(Debug, Args)]
struct SenderArgs {
    /// By window: `reno_ecn`, `dctcp`, `d2tcp` or `l2tcp`; by rate: swift or timely. For `set`, by default
    /// the loaded one.
    #[arg(long)]
    sender: Option<String>,
    /// Slow start: standard, gst, `rfb_ss`, limited, smooth, `p_start` or hystart; by default standard, for
    /// `set` the loaded one.
    #[arg(long)]
    slow_start: Option<String>,
    /// A parameter of either, as in scenarios: `k=25`, `cwr_freeze=on`.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// First window in segments; the kernel's (10) by default.
    #[arg(long)]
    iw: Option<f64>,
    /// First slow-start threshold in segments; none by default.
    #[arg(long)]
    ssthresh: Option<f64>,
    /// Grow by ACK as simulations do, not by acknowledged segment as Linux does.
    #[arg(long)]
    growth_by_ack: bool,
    /// Rate of the interface, for senders by rate.
    #[arg(long)]
    line_mbps: Option<u32>,
    /// Largest round-trip time without queues, for senders by rate.
    #[arg(long)]
    base_rtt_us: Option<u32>,
    /// Write a record of each ACK for `p4cc-hosts watch`; for `set`, the sender must be loaded with it.
    #[arg(long)]
    watch: bool,
}

/// Payload and IP length of a full packet with TCP's timestamps on Ethernet.
const PACKET: PacketSize = PacketSize { payload: Bytes(1_448), ip: Bytes(1_500) };

impl SenderArgs {
    fn rules(&self, algorithm: &str, slow_start: &str) -> Outcome<Rules> {
        if !DELAY_SENDERS.contains(&algorithm) {
            return Ok(Rules::Window(self.params(algorithm, slow_start)?));
        }
        let (Some(line_mbps), Some(base_rtt_us)) = (self.line_mbps, self.base_rtt_us) else {
            let cause = "a sender by rate must know its link";
            return Err(Failure::new(algorithm, cause, "give --line-mbps and --base-rtt-us"));
        };
        let of_window = self.slow_start.is_some() || self.iw.is_some() || self.ssthresh.is_some();
        if of_window || self.growth_by_ack || self.watch {
            let cause = "a sender by rate has no slow start, first window, threshold, growth or records";
            return Err(Failure::new(algorithm, cause, "leave them out"));
        }
        let mut spec = AlgorithmSpec::named(algorithm);
        self.each_parameter(|name, value| {
            spec.parameters.insert(name, value);
        })?;
        let environment = RateEnvironment {
            line_rate: Rate::from_bps(u64::from(line_mbps) * 1_000_000),
            base_rtt: Span::from_us(base_rtt_us.into()),
            // No sender here reads telemetry.
            int: IntEncoding::hs_fixed(1),
            packet: PACKET,
        };
        Ok(Rules::Paced(DelayParams::new(&spec, &environment)?))
    }

    fn each_parameter(&self, mut take: impl FnMut(String, ParamValue)) -> Outcome<()> {
        for given in &self.parameters {
            let Some((name, value)) = given.split_once('=') else {
                return Err(Failure::new("--set", format!("{given:?} has no value"), "write NAME=VALUE"));
            };
            let value = value.parse().map_or_else(|_| ParamValue::Text(value.to_owned()), ParamValue::Number);
            take(name.to_owned(), value);
        }
        Ok(())
    }

    fn params(&self, avoidance: &str, slow_start: &str) -> Outcome<Params> {
        if self.line_mbps.is_some() || self.base_rtt_us.is_some() {
            let cause = "a sender by window does not use its link's rate or round-trip time";
            return Err(Failure::new(avoidance, cause, "leave out --line-mbps and --base-rtt-us"));
        }
        let mut config = AlgorithmConfig {
            congestion_avoidance: AlgorithmSpec::named(avoidance),
            slow_start: AlgorithmSpec::named(slow_start),
        };
        self.each_parameter(|name, value| {
            // A name that the slow start does not have is the sender's, or an error that names it.
            let spec = if has_parameter(slow_start, &name) {
                &mut config.slow_start
            } else {
                &mut config.congestion_avoidance
            };
            spec.parameters.insert(name, value);
        })?;
        let initial = InitialWindow {
            cwnd_segments: self.iw.unwrap_or(1.0),
            ssthresh_segments: self.ssthresh.unwrap_or(Window::MAX_SEGMENTS),
            ..InitialWindow::default()
        };
        let growth = if self.growth_by_ack { Growth::ByAck } else { Growth::BySegment };
        let mut params = Params::new(&config, initial, growth)?;
        if self.watch {
            params = params.watched();
        }
        Ok(if self.iw.is_some() { params } else { params.with_kernel_window() })
    }
}

fn has_parameter(algorithm: &str, name: &str) -> bool {
    let rows = p4cc_cc::registry().iter().filter(|row| row.name == algorithm);
    rows.flat_map(|row| row.parameters).any(|param| param.name == name)
}

/// Runs the command.
pub fn run() -> Outcome<()> {
    let cli = Cli::parse();
    let pins = Pins::new(&cli.pins);
    match cli.command {
        Command::Load(load) => run_load(&pins, &load),
        Command::Set(set) => run_set(&pins, &set),
        Command::Status => status(&pins),
        Command::Stats => stats(&pins),
        Command::Check { btf } => check::run(&btf),
        Command::Watch { cgroup, output } => watch::run(&pins, &cgroup, output.as_deref()),
        Command::Unload { name: Some(name) } => sender::unload(&pins, &name),
        Command::Unload { name: None } => unload_all(&pins),
        Command::Profile { profile, dev } => run_profile(&pins, &profile, &dev),
        Command::Route { prefix, name } => route::set(&prefix, &name),
    }
}

fn run_load(pins: &Pins, load: &Load) -> Outcome<()> {
    let lacks = kernel::lacks();
    if !lacks.is_empty() {
        return Err(Failure::new("this kernel", lacks.join(", "), "see docs/how-to/linux-hosts.md"));
    }
    kernel::mount_bpffs()?;
    pins.check()?;
    let senders: Vec<&str> = load.sender.sender.as_deref().map_or_else(|| SENDERS.to_vec(), |one| vec![one]);
    if senders.len() > 1 && (load.name.is_some() || !load.sender.parameters.is_empty()) {
        return Err(Failure::new("load", "a name or a parameter needs one sender", "add --sender"));
    }
    let slow_start = load.sender.slow_start.as_deref().unwrap_or("standard");
    for avoidance in senders {
        let rules = load.sender.rules(avoidance, slow_start)?;
        let name = load.name.clone().unwrap_or_else(|| format!("p4cc_{avoidance}"));
        sender::load(pins, &name, &rules)?;
        let slow_start = matches!(rules, Rules::Window(_)).then(|| slow_start.to_owned());
        println!("{}", said(&name, avoidance, slow_start));
    }
    load.cgroup.iter().try_for_each(|cgroup| attach(pins, cgroup))
}

/// A sender in words.
fn said(name: &str, algorithm: &str, slow_start: Option<String>) -> String {
    let slow_start = slow_start.map(|slow_start| format!(" with slow start {slow_start}"));
    format!("{name}: {algorithm}{}", slow_start.unwrap_or_default())
}

fn run_set(pins: &Pins, set: &Set) -> Outcome<()> {
    let (avoidance, Some(slow_start)) = sender::algorithms(pins, &set.name)? else {
        let remedy = "load another sender under another name";
        return Err(Failure::new(&set.name, "a sender by rate has one set of parameters", remedy));
    };
    let avoidance = set.sender.sender.as_deref().unwrap_or(&avoidance);
    let slow_start = set.sender.slow_start.as_deref().unwrap_or(&slow_start);
    let params = set.sender.params(avoidance, slow_start)?;
    if params.is_watched() && !sender::is_watched(pins, &set.name)? {
        return Err(Failure::new(
            &set.name,
            "was loaded without --watch",
            "unload it and load it with --watch",
        ));
    }
    sender::set_for_cgroup(pins, &set.name, kernel::cgroup_id(&set.cgroup)?, &params)?;
    println!("{}: {avoidance} with slow start {slow_start} for {}", set.name, set.cgroup.display());
    Ok(())
}

fn attach(pins: &Pins, cgroup: &Path) -> Outcome<()> {
    feedback::attach(pins, cgroup)?;
    println!("{}: sockets opened from now on use the option", cgroup.display());
    Ok(())
}

fn run_profile(pins: &Pins, profile: &str, interfaces: &[String]) -> Outcome<()> {
    kernel::mount_bpffs()?;
    pins.check()?;
    for interface in interfaces {
        profile::set(pins, profile, interface)?;
        println!("{interface}: code points of profile {profile}");
    }
    Ok(())
}

fn status(pins: &Pins) -> Outcome<()> {
    let lacks = kernel::lacks();
    if lacks.is_empty() {
        println!("this kernel can load senders");
    }
    lacks.iter().for_each(|reason| println!("cannot load: {reason}"));
    for name in pins.senders() {
        if !pins.is_complete(&name) {
            println!("{name}: incomplete; p4cc-hosts unload {name}");
            continue;
        }
        let (algorithm, slow_start) = sender::algorithms(pins, &name)?;
        println!("{}", said(&name, &algorithm, slow_start));
    }
    pins.cgroups().iter().for_each(|id| println!("option: control group {id}"));
    profile::describe(pins).iter().for_each(|interface| println!("profile gst: {interface}"));
    Ok(())
}

fn stats(pins: &Pins) -> Outcome<()> {
    let mut senders = Map::new();
    for name in pins.senders().into_iter().filter(|name| pins.is_complete(name)) {
        senders.insert(name.clone(), sender::describe(pins, &name)?.into());
    }
    let (option, closed) = if !feedback::has_counters(pins) {
        (Map::new(), Vec::new())
    } else {
        (feedback::describe(pins)?, feedback::closed(pins)?)
    };
    println!("{:#}", json!({ "senders": senders, "option": option, "closed": closed }));
    Ok(())
}

fn unload_all(pins: &Pins) -> Outcome<()> {
    for name in pins.senders() {
        sender::unload(pins, &name)?;
    }
    feedback::detach(pins)?;
    profile::remove_all(pins)?;
    pins.remove_rest()
}
