//! The command line: simple_switch_grpc's options, and the daemon's own for what BMv2 leaves to the kernel.
//!
//! `p4cc-switch [options] [program] [-- target options]`, as in BMv2. Options of BMv2's that have no meaning
//! here are accepted, so that scripts run unchanged; [`Options::without_effect`] names those that were given.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, CommandFactory, FromArgMatches, Parser, ValueEnum};
use p4cc_compile::Strict;
use p4cc_p4runtime::Rule;
use p4cc_switch::config::{DEFAULT_DROP_PORT, PRIORITIES};
use p4cc_switch::{
    BufferConfig, DEFAULT_PASS_LIMIT, ExecChoice, MAX_PASS_LIMIT, PortConfig, QdepthUnit, TimestampUnit,
};
use p4cc_units::{Rate, Span};

use crate::listeners::DEFAULT_HOST;
use crate::packet_io::Io;
use crate::queue_option::{QueueOption, TurnsOption};
use crate::wire::Loss;

/// BMv2's capacity of a queue, in packets.
pub const DEFAULT_QUEUE_PKTS: u32 = 64;
/// Where P4Runtime is served when nobody says otherwise: on BMv2's port, for this machine only.
pub const DEFAULT_GRPC: &str = "127.0.0.1:9559";

/// Ports of a switch whose packets come over a socket.
const PACKET_IN_PORTS: u32 = 64;

/// Something for one port, or for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForPorts<T> {
    /// None for all ports.
    pub port: Option<u32>,
    /// What it is.
    pub value: T,
}

impl<T: FromStr> FromStr for ForPorts<T>
where
    T::Err: std::fmt::Display,
{
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (port, value) = match text.split_once('@') {
            Some((port, value)) => (Some(parse_port(port)?), value),
            None => (None, text),
        };
        let value = value.parse().map_err(|error: T::Err| format!("`{value}`: {error}"))?;
        Ok(Self { port, value })
    }
}

fn parse_port(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a port number; write PORT@VALUE, such as 1@s1-eth1"))
}

/// An interface and its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceOption {
    /// Number that the program sees.
    pub port: u32,
    /// Name of the interface.
    pub interface: String,
}

impl FromStr for InterfaceOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // p4c's test runner passes `-i 0@pcap0` as one word.
        let (port, interface) =
            text.trim().split_once('@').ok_or("write PORT@INTERFACE, such as 1@s1-eth1".to_owned())?;
        Ok(Self { port: parse_port(port)?, interface: interface.to_owned() })
    }
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "named as BMv2 names them")]
pub enum LogLevel {
    Trace,
    Debug,
    Info,
    Warn,
    Error,
    Off,
}

/// Unit of v1model's timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Timestamps {
    Us,
    Ns,
}

/// Unit of the depths that the program sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Depths {
    Auto,
    Packets,
    Cells80,
    Cells176,
    Bytes80,
}

/// Runs a P4 program on network interfaces; the command line is that of BMv2's simple_switch_grpc.
#[derive(Parser, Debug)]
#[command(name = "p4cc-switch", version, disable_version_flag = true)]
#[command(
    after_help = "Options for P4Runtime and for the target follow after `--`: see `p4cc-switch -- --help`."
)]
pub struct General {
    /// BMv2 JSON or P4-16 source to start with; a controller can push another program
    pub program: Option<PathBuf>,
    /// Include directory of the program; repeatable
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    pub include: Vec<PathBuf>,
    /// Preprocessor macro; repeatable
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
    /// Reject the program for what these rules refuse: `tofino` for what
    /// the chip rejects, `course` for warnings
    #[arg(long, value_name = "RULES", default_value = "off")]
    pub strict: Strict,
    /// Attach an interface as a port; repeatable
    #[arg(short = 'i', long = "interface", value_name = "PORT@INTERFACE")]
    pub interfaces: Vec<InterfaceOption>,
    /// Receive packets of ports 0 to 63 from this socket instead, ipc://PATH
    /// or tcp://HOST:PORT, as sent by PTF's nanomsg platform
    #[arg(long, value_name = "ADDRESS")]
    pub packet_in: Option<String>,
    /// Receive the packets of each port from INTERFACE_in.pcap, and write what it
    /// sends to INTERFACE_out.pcap; starts after this number of seconds
    #[arg(long, value_name = "SECONDS", conflicts_with = "packet_in", allow_negative_numbers = true)]
    use_files: Option<i64>,
    /// Execution engine: `interp` is the interpreter,
    /// `native` compiles to native code where supported
    #[arg(long, value_name = "BACK-END", default_value = "native")]
    pub exec: ExecChoice,
    /// Which controller becomes primary: with `spec`, one whose election id is at least
    /// the highest ever seen; with `bmv2`, the one with the highest id among those connected
    #[arg(long, value_name = "RULE", default_value = "spec")]
    pub arbitration: Rule,
    /// End with exit code 1 when an assert or assume of the program fails, as BMv2 does;
    /// --use-files implies it
    #[arg(long)]
    stop_on_assertion: bool,
    /// Device id of P4Runtime
    #[arg(long, default_value_t = 0)]
    pub device_id: u64,
    /// Start without a program
    #[arg(long)]
    no_p4: bool,
    /// Capture the packets of each interface into pcap files in this folder
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true, default_missing_value = ".")]
    pub pcap: Option<PathBuf>,
    /// Log to standard output, including packet traces
    #[arg(long)]
    pub log_console: bool,
    /// Log to FILE.txt, including packet traces
    #[arg(long, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
    /// Log level; packet events are `debug`, the blocks that a packet passes are `trace`
    #[arg(short = 'L', long, value_enum, value_name = "LEVEL", default_value = "trace")]
    pub log_level: LogLevel,
    /// Serve BF Runtime on this address, for Tofino control planes; requires a TNA program
    #[arg(long, value_name = "HOST:PORT")]
    pub bfrt_addr: Option<String>,
    /// Serve BMv2's Thrift calls on this TCP port
    #[arg(long, value_name = "PORT")]
    pub thrift_port: Option<u16>,
    /// With --thrift-port: address to listen on
    #[arg(long, value_name = "HOST", default_value_t = DEFAULT_HOST, requires = "thrift_port")]
    pub thrift_addr: IpAddr,
    /// Start with the state that simple_switch_CLI's serialize_state saved for this program
    #[arg(long, value_name = "FILE", requires = "program")]
    pub restore_state: Option<PathBuf>,
    /// With --thrift-port: publish digests and idle entries here, as
    /// BMv2 does [default: ipc:///tmp/bmv2-ID-notifications.ipc]
    #[arg(long, value_name = "ADDRESS")]
    pub notifications_addr: Option<String>,
    /// Answer each line `look` on this Unix socket with one line
    /// of JSON: depth, drops and pauses of every port
    #[arg(long, value_name = "PATH")]
    pub looks: Option<PathBuf>,
    /// Print the version
    #[arg(short = 'v', long, action = clap::ArgAction::Version)]
    version: Option<bool>,
    #[allow(missing_docs, reason = "a comment here would replace the help's heading")]
    #[command(flatten)]
    pub links: Links,
    #[command(flatten)]
    unused: Unused,
}

/// What BMv2 leaves to the kernel and to its Thrift calls.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Links and queues")]
pub struct Links {
    /// Rate of the link of a port, or of all ports; default: unlimited
    #[arg(long, value_name = "[PORT@]BPS")]
    rate_bps: Vec<ForPorts<u64>>,
    /// Delay of the link of a port, or of all ports
    #[arg(long, value_name = "[PORT@]NS")]
    delay_ns: Vec<ForPorts<u64>>,
    /// Capacity of each queue of a port in packets [default: 64, as in BMv2]
    #[arg(long, value_name = "[PORT@]PACKETS")]
    queue_pkts: Vec<ForPorts<u32>>,
    /// Capacity of each queue of a port in bytes [default: unlimited]
    #[arg(long, value_name = "[PORT@]BYTES")]
    queue_bytes: Vec<ForPorts<u64>>,
    /// Order and rate of a queue of a port, or of all ports: QUEUE:level=N,weight=N,rate-bps=N,burst-bytes=N.
    /// Higher levels go first, queues of one level take turns [default: strict priority by number]
    #[arg(long = "queue", value_name = "[PORT@]QUEUE:KEY=VALUE,...")]
    queues: Vec<ForPorts<QueueOption>>,
    /// What turns of a port's queues count: `bytes` (deficit round robin) or `packets` (weighted round robin)
    /// [default: bytes]
    #[arg(long, value_name = "[PORT@]UNIT")]
    turns: Vec<ForPorts<TurnsOption>>,
    /// Bytes that a turn of weight 1 may send on a port, or on all ports [default: 1538]
    #[arg(long, value_name = "[PORT@]BYTES")]
    quantum_bytes: Vec<ForPorts<u32>>,
    /// Link-layer overhead per packet beyond its IP length; 24 or 38 for Ethernet
    #[arg(long, value_name = "[PORT@]BYTES")]
    framing_bytes: Vec<ForPorts<u32>>,
    /// Loss probability of packets sent on a port, or on any port
    #[arg(long, value_name = "[PORT@]SHARE")]
    loss: Vec<ForPorts<f64>>,
    /// Loss probability of packets received on a port, or on any port,
    /// for neighbours that cannot emulate losses
    #[arg(long, value_name = "[PORT@]SHARE")]
    loss_in: Vec<ForPorts<f64>>,
    /// Size of a buffer that all ports share, with dynamic thresholds
    #[arg(long, value_name = "BYTES")]
    buffer_bytes: Option<u64>,
    /// Log2 of the dynamic threshold's alpha for queues of a port, or of all ports [default: 0]
    #[arg(long, value_name = "[PORT@]LOG2", allow_hyphen_values = true, requires = "buffer_bytes")]
    buffer_alpha_log2: Vec<ForPorts<i8>>,
    /// Unit of the timestamps that the program sees
    #[arg(long, value_enum, default_value = "us")]
    timestamps: Timestamps,
    /// Unit of the queue depths that the program sees; `auto` means packets,
    /// or the chip's cells for TNA and T2NA programs
    #[arg(long, value_enum, default_value = "auto")]
    qdepth_unit: Depths,
    /// Maximum number of copies, resubmissions, recirculations and deflections per
    /// received packet, including those of its copies; further ones are dropped and counted
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PASS_LIMIT, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PASS_LIMIT)))]
    pub pass_limit: u32,
    /// A packet of a v1model program whose queue is full runs through ingress once
    /// more with instance_type 9; the program may truncate it and choose another queue.
    /// TNA and T2NA: packets for which the program sets deflect_on_drop go to port 0 of
    /// their pipe, until BF Runtime names another (tm.pipe.cfg)
    #[arg(long)]
    pub deflect_on_drop: bool,
    /// Seed of the program's random numbers
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Poll without sleeping, which reduces latency but occupies a processor
    #[arg(long)]
    pub busy_poll: bool,
    /// Processor that handles packets
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// How packets are received from and sent to interfaces
    #[arg(long, value_enum, value_name = "METHOD", default_value_t)]
    pub io: Io,
    /// Receive ring of each port, in packets
    #[arg(long, value_name = "FRAMES", default_value_t = 2_048, value_parser = clap::value_parser!(u32).range(32..=65_536))]
    pub ring_frames: u32,
}

/// Options of BMv2 that have no meaning here.
#[derive(Args, Debug)]
#[command(next_help_heading = "Accepted for compatibility, without effect")]
struct Unused {
    #[arg(long, value_name = "SOCKET", help = "Events go to the log")]
    nanolog: Option<String>,
    #[arg(long, help = "The log is written line by line")]
    log_flush: bool,
    #[arg(long, value_name = "BYTES", help = "The log is a single file")]
    log_file_max_size: Option<u64>,
    #[arg(long, value_name = "N", help = "The log is a single file")]
    log_file_max_files: Option<u64>,
    #[arg(long, value_name = "BYTES", help = "Use --pcap")]
    dump_packet_data: Option<u64>,
    #[arg(long, value_name = "N", help = "There are 512 ports")]
    max_port_count: Option<u64>,
    #[arg(long, help = "Use --log-console for packet traces")]
    debugger: bool,
    #[arg(long, value_name = "SOCKET", help = "Use --log-console for packet traces")]
    debugger_addr: Option<String>,
}

/// Options of the target and of P4Runtime, after `--`.
#[derive(Parser, Debug)]
#[command(name = "p4cc-switch ... --")]
pub struct Target {
    /// Address on which to serve P4Runtime [default: 127.0.0.1:9559]
    #[arg(long, value_name = "HOST:PORT")]
    pub grpc_server_addr: Option<String>,
    /// Serve P4Runtime over TLS
    #[arg(long, requires_all = ["grpc_server_cert", "grpc_server_key"])]
    pub grpc_server_ssl: bool,
    /// PEM file of the certificate authority for client certificates
    #[arg(long, value_name = "FILE")]
    pub grpc_server_cacert: Option<PathBuf>,
    /// PEM file of the server's certificate
    #[arg(long, value_name = "FILE")]
    pub grpc_server_cert: Option<PathBuf>,
    /// PEM file of the server's private key
    #[arg(long, value_name = "FILE")]
    pub grpc_server_key: Option<PathBuf>,
    /// Reject clients without a certificate
    #[arg(long, requires = "grpc_server_cacert")]
    pub grpc_server_with_client_auth: bool,
    /// CPU port, for packets to and from the controller
    #[arg(long, value_name = "PORT")]
    pub cpu_port: Option<u32>,
    /// Value of `egress_spec` that drops
    #[arg(long, value_name = "PORT", default_value_t = DEFAULT_DROP_PORT)]
    pub drop_port: u32,
    /// Number of priority queues; there are always 8
    #[arg(long, value_name = "N")]
    priority_queues: Option<usize>,
    #[arg(long, help = "Without effect")]
    disable_swap: bool,
    #[arg(long, value_name = "FILES", help = "Without effect")]
    load_modules: Option<String>,
    #[arg(long, value_name = "HOST:PORT", help = "Without effect")]
    dp_grpc_server_addr: Option<String>,
    #[arg(long, value_name = "N", help = "Without effect")]
    max_mc_groups: Option<u64>,
    #[arg(long, value_name = "N", help = "Without effect")]
    max_l1_entries: Option<u64>,
    #[arg(long, value_name = "N", help = "Without effect")]
    max_l2_entries: Option<u64>,
}

/// The whole command line.
#[derive(Debug)]
pub struct Options {
    /// Before `--`.
    pub general: General,
    /// After `--`.
    pub target: Target,
    /// Called as BMv2's simple_switch or psa_switch, which serve no P4Runtime: the default port of
    /// simple_switch_grpc is left to switches of that name.
    pub without_p4runtime: bool,
    /// Started under a BMv2 name without --thrift-port: Thrift uses 9090 if it is free.
    pub thrift_unasked: bool,
}

/// Where BMv2's programs serve Thrift if nobody says otherwise.
const BMV2_THRIFT_PORT: u16 = 9_090;

/// BMv2's programs.
const BMV2: [&str; 3] = ["simple_switch", "simple_switch_grpc", "psa_switch"];
/// Those without P4Runtime.
const WITHOUT_P4RUNTIME: [&str; 2] = ["simple_switch", "psa_switch"];

impl Options {
    /// Reads a command line, the program's name first.
    ///
    /// # Errors
    /// It cannot be understood, or asks for help or the version; the error prints itself.
    pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        let name = args.first().and_then(|name| Path::new(name).file_name()?.to_str());
        let is_bmv2 = name.is_some_and(|name| BMV2.contains(&name));
        let without_p4runtime = name.is_some_and(|name| WITHOUT_P4RUNTIME.contains(&name));
        let target_args = match args.iter().position(|arg| arg == "--") {
            Some(at) => args.split_off(at),
            None => vec!["--".into()],
        };
        join_pcap_folder(&mut args);
        let mut general = General::from_arg_matches(&General::command().try_get_matches_from(args)?)?;
        if let Some(address) = &general.packet_in {
            let port = |port| InterfaceOption { port, interface: address.clone() };
            general.interfaces = (0..PACKET_IN_PORTS).map(port).collect();
        }
        // Pipes are opened in the order in which BMv2 opens them, as their writers expect.
        general.interfaces.sort_by_key(|one| if general.use_files.is_some() { one.port } else { 0 });
        // The place of the program's name is taken by the dashes.
        let target = Target::from_arg_matches(&Target::command().try_get_matches_from(target_args)?)?;
        let thrift_unasked = is_bmv2 && general.thrift_port.is_none();
        if thrift_unasked {
            general.thrift_port = Some(BMV2_THRIFT_PORT);
        }
        let options = Self { general, target, without_p4runtime, thrift_unasked };
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<(), clap::Error> {
        let refuse =
            |message: String| Err(General::command().error(clap::error::ErrorKind::ValueValidation, message));
        let general = &self.general;
        if general.program.is_none() && !general.no_p4 {
            return refuse(
                "give a program (BMv2 JSON or P4-16 source), or --no-p4 to start without one".into(),
            );
        }
        for (name, ports) in general.links.named_ports() {
            let unknown = ports.into_iter().find(|port| !general.interfaces.iter().any(|i| i.port == *port));
            if let Some(port) = unknown {
                return refuse(format!("{name}: there is no port {port}; add -i {port}@INTERFACE"));
            }
        }
        for (name, shares) in [("--loss", &general.links.loss), ("--loss-in", &general.links.loss_in)] {
            if let Some(wrong) = shares.iter().find(|share| !(0.0..1.0).contains(&share.value)) {
                return refuse(format!("{name} {}: give a probability from 0 to below 1", wrong.value));
            }
        }
        Ok(())
    }

    /// How long to wait before packets are read from files, where `--use-files` asks for it; a negative
    /// number is no wait.
    pub fn files_after(&self) -> Option<Duration> {
        self.general.use_files.map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
    }

    /// Whether a failed assertion ends the switch: who drives it through files is a test.
    pub fn stops_on_assertion(&self) -> bool {
        self.general.stop_on_assertion || self.general.use_files.is_some()
    }

    /// Where to serve P4Runtime, and whether it was asked for.
    ///
    /// # Errors
    /// It is no address.
    pub fn grpc_addr(&self) -> Result<(SocketAddr, bool), String> {
        let given = self.target.grpc_server_addr.as_deref();
        Ok((address("--grpc-server-addr", given.unwrap_or(DEFAULT_GRPC))?, given.is_some()))
    }

    /// Where to serve BF Runtime, if it is asked for.
    ///
    /// # Errors
    /// It is no address.
    pub fn bfrt_addr(&self) -> Result<Option<SocketAddr>, String> {
        self.general.bfrt_addr.as_deref().map(|text| address("--bfrt-addr", text)).transpose()
    }

    /// What was given and has no effect, each with its reason.
    pub fn without_effect(&self) -> Vec<String> {
        let (unused, target) = (&self.general.unused, &self.target);
        let unheard = self.general.notifications_addr.is_some() && self.general.thrift_port.is_none();
        let named = [
            ("--nanolog", unused.nanolog.is_some(), "events go to the log"),
            ("--log-file-max-size", unused.log_file_max_size.is_some(), "the log is a single file"),
            ("--log-file-max-files", unused.log_file_max_files.is_some(), "the log is a single file"),
            (
                "--pcap",
                self.general.pcap.is_some() && self.general.use_files.is_some(),
                "packets are in files",
            ),
            ("--dump-packet-data", unused.dump_packet_data.is_some(), "use --pcap"),
            (
                "--notifications-addr",
                unheard,
                "digests are published for Thrift controllers only: give --thrift-port",
            ),
            ("--debugger", unused.debugger || unused.debugger_addr.is_some(), "use --log-console"),
            ("--max-port-count", unused.max_port_count.is_some(), "there are 512 ports"),
            ("--load-modules", target.load_modules.is_some(), "externs are built in"),
            (
                "--dp-grpc-server-addr",
                target.dp_grpc_server_addr.is_some(),
                "packets are received from interfaces",
            ),
            ("--max-mc-groups", target.max_mc_groups.is_some(), "there are 4096 groups"),
            ("--max-l1-entries", target.max_l1_entries.is_some(), "groups hold 1024 copies"),
            ("--max-l2-entries", target.max_l2_entries.is_some(), "groups hold 1024 copies"),
        ];
        let given = named.into_iter().filter(|(_, given, _)| *given);
        let mut found: Vec<String> =
            given.map(|(name, _, why)| format!("{name} has no effect: {why}")).collect();
        if target.priority_queues.is_some_and(|queues| queues > PRIORITIES) {
            found.push(format!("--priority-queues: each port has {PRIORITIES}"));
        }
        found
    }
}

impl Links {
    /// The configuration of a port; of two values the one for the port itself counts, then the later one.
    pub fn port(&self, port: u32) -> PortConfig {
        let mut made = PortConfig {
            port,
            rate: Rate::from_bps(pick(&self.rate_bps, port).unwrap_or(crate::UNSHAPED_BPS)),
            capacity_pkts: pick(&self.queue_pkts, port).unwrap_or(DEFAULT_QUEUE_PKTS),
            capacity_bytes: pick(&self.queue_bytes, port),
            framing_bytes: pick(&self.framing_bytes, port).unwrap_or_default(),
            alpha_log2: pick(&self.buffer_alpha_log2, port).unwrap_or_default(),
            qdepth_unit: match self.qdepth_unit {
                Depths::Auto => QdepthUnit::Auto,
                Depths::Packets => QdepthUnit::Packets,
                Depths::Cells80 => QdepthUnit::Cells80,
                Depths::Cells176 => QdepthUnit::Cells176,
                Depths::Bytes80 => QdepthUnit::Bytes80,
            },
            ..PortConfig::default()
        };
        let scheduler = &mut made.scheduler;
        scheduler.quantum_bytes = pick(&self.quantum_bytes, port).unwrap_or(scheduler.quantum_bytes);
        scheduler.unit = pick(&self.turns, port).map_or(scheduler.unit, |turns| turns.0);
        for of in [None, Some(port)] {
            self.queues
                .iter()
                .filter(|queue| queue.port == of)
                .for_each(|queue| queue.value.apply(&mut made));
        }
        made
    }

    /// The delay of a port's link.
    pub fn delay(&self, port: u32) -> Span {
        Span::from_ns(pick(&self.delay_ns, port).unwrap_or_default())
    }

    /// What a port's link loses, leaving and coming in.
    pub(crate) fn losses(&self, port: u32) -> [Loss; 2] {
        [(&self.loss, "out"), (&self.loss_in, "in")].map(|(shares, way)| {
            Loss::new(pick(shares, port).unwrap_or_default(), self.seed, &format!("link-loss/{port}/{way}"))
        })
    }

    /// The buffer that ports share. Nobody is paused here, so nothing is set aside for it.
    pub fn buffer(&self) -> Option<BufferConfig> {
        let buffer = |bytes| BufferConfig { bytes, reserve_bytes: 0, resume_offset_bytes: 0, lossless: 0 };
        self.buffer_bytes.map(buffer)
    }

    /// Unit of timestamps.
    pub fn timestamp_unit(&self) -> TimestampUnit {
        match self.timestamps {
            Timestamps::Us => TimestampUnit::Us,
            Timestamps::Ns => TimestampUnit::Ns,
        }
    }

    fn named_ports(&self) -> [(&'static str, Vec<u32>); 11] {
        fn ports<T>(values: &[ForPorts<T>]) -> Vec<u32> {
            values.iter().filter_map(|value| value.port).collect()
        }
        [
            ("--rate-bps", ports(&self.rate_bps)),
            ("--delay-ns", ports(&self.delay_ns)),
            ("--queue-pkts", ports(&self.queue_pkts)),
            ("--queue-bytes", ports(&self.queue_bytes)),
            ("--queue", ports(&self.queues)),
            ("--turns", ports(&self.turns)),
            ("--quantum-bytes", ports(&self.quantum_bytes)),
            ("--framing-bytes", ports(&self.framing_bytes)),
            ("--loss", ports(&self.loss)),
            ("--loss-in", ports(&self.loss_in)),
            ("--buffer-alpha-log2", ports(&self.buffer_alpha_log2)),
        ]
    }
}

fn address(option: &str, text: &str) -> Result<SocketAddr, String> {
    use std::net::ToSocketAddrs;
    let mut found =
        text.to_socket_addrs().map_err(|error| format!("{option} {text}: {error}; give HOST:PORT"))?;
    found.next().ok_or_else(|| format!("{option} {text}: unknown host"))
}

fn pick<T: Copy>(values: &[ForPorts<T>], port: u32) -> Option<T> {
    let own = values.iter().rev().find(|value| value.port == Some(port));
    own.or_else(|| values.iter().rev().find(|value| value.port.is_none())).map(|found| found.value)
}

/// Takes `--pcap FOLDER` as `--pcap=FOLDER`, as scripts for
/// BMv2 write either: what follows is the folder if it is one.
fn join_pcap_folder(args: &mut Vec<OsString>) {
    let Some(at) = args.iter().position(|arg| arg == "--pcap") else { return };
    let Some(folder) = args.get(at + 1).filter(|next| Path::new(next).is_dir()).cloned() else { return };
    let mut joined = OsString::from("--pcap=");
    joined.push(folder);
    args.splice(at..=at + 1, [joined]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        let args = std::iter::once("p4cc-switch").chain(line.split_whitespace());
        Options::parse(args.map(OsString::from)).map_err(|error| error.to_string())
    }

    #[test]
    fn by_bmv2s_names_thrift_has_bmv2s_port() {
        let port = |words: &[&str]| {
            let options = Options::parse(words.iter().map(OsString::from)).expect("a good line");
            (options.general.thrift_port, options.thrift_unasked)
        };
        assert_eq!(port(&["simple_switch", "x.json"]), (Some(9_090), true));
        assert_eq!(port(&["/bin/simple_switch_grpc", "x.json", "--thrift-port", "7"]), (Some(7), false));
        assert_eq!(port(&["p4cc-switch", "x.json"]), (None, false));
    }

    #[test]
    fn simple_switch_leaves_p4runtimes_port_to_others() {
        let named = |name: &str| {
            let args = [name, "x.json", "--thrift-port", "9090"];
            Options::parse(args.map(OsString::from)).expect("a good line").without_p4runtime
        };
        assert!(named("/usr/bin/simple_switch") && named("psa_switch"));
        assert!(!named("simple_switch_grpc") && !named("p4cc-switch"));
    }

    #[test]
    fn a_line_of_the_tutorials_is_understood() {
        let options = parse(
            "-i 1@s1-eth1 -i 2@s1-eth2 --pcap /tmp --nanolog ipc:///tmp/bm-0-log.ipc --device-id 7 build/basic.json \
             --log-console --thrift-port 9090 -- --grpc-server-addr 0.0.0.0:50051 --cpu-port 255",
        )
        .expect("a good line");
        let general = &options.general;
        assert_eq!(general.interfaces[1], InterfaceOption { port: 2, interface: "s1-eth2".into() });
        assert_eq!(general.pcap.as_deref(), Some(Path::new("/tmp")));
        assert_eq!((general.device_id, general.thrift_port), (7, Some(9_090)));
        assert_eq!(general.program.as_deref(), Some(Path::new("build/basic.json")));
        assert_eq!(options.target.cpu_port, Some(255));
        assert_eq!(options.grpc_addr(), Ok(("0.0.0.0:50051".parse().unwrap(), true)));
        assert_eq!(options.without_effect(), ["--nanolog has no effect: events go to the log"]);
    }

    #[test]
    fn a_line_of_p4cs_test_runner_is_understood() {
        let words = "simple_switch --log-file switch.log --log-flush --use-files 0 --dump-packet-data 10240 \
                     --thrift-port 9913 --device-id 823";
        // The runner passes each interface as one word.
        let words = words.split_whitespace().chain(["-i 2@pcap2", "-i 0@pcap0", "/tmp/arith.json"]);
        let options = Options::parse(words.map(OsString::from)).expect("a good line");
        assert_eq!(options.files_after(), Some(Duration::ZERO));
        let interfaces: Vec<_> =
            options.general.interfaces.iter().map(|one| one.interface.as_str()).collect();
        assert_eq!(interfaces, ["pcap0", "pcap2"]);
        let wait = |line| parse(line).expect("a good line").files_after();
        assert_eq!(wait("x.json --use-files 3"), Some(Duration::from_secs(3)));
        assert_eq!(wait("x.json --use-files=-1"), Some(Duration::ZERO));
        assert_eq!(wait("x.json"), None);
        let stops = |line| parse(line).expect("a good line").stops_on_assertion();
        assert!(stops("x.json --use-files 0") && stops("x.json --stop-on-assertion") && !stops("x.json"));
    }

    #[test]
    fn servers_are_for_this_machine_unless_the_line_says_otherwise() {
        let options = parse("--no-p4 --thrift-port 9090").unwrap();
        assert_eq!(options.grpc_addr().map(|(addr, _)| addr), Ok("127.0.0.1:9559".parse().unwrap()));
        assert_eq!(options.general.thrift_addr, IpAddr::from([127, 0, 0, 1]));
        let options = parse("--no-p4 --thrift-port 9090 --thrift-addr ::").unwrap();
        assert_eq!(options.general.thrift_addr.to_string(), "::");
    }

    #[test]
    fn pcap_without_a_folder_means_this_one() {
        for line in ["--pcap x.json", "x.json --pcap", "--pcap --no-p4"] {
            assert_eq!(parse(line).unwrap().general.pcap.as_deref(), Some(Path::new(".")), "{line}");
        }
        assert_eq!(parse("x.json --pcap=pcaps").unwrap().general.pcap.as_deref(), Some(Path::new("pcaps")));
    }

    #[test]
    fn a_ports_own_value_beats_that_of_all() {
        let options = parse(
            "--no-p4 -i 1@a -i 2@b --rate-bps 2@5 --rate-bps 7 --queue-pkts 9 --delay-ns 1@1000 --timestamps ns",
        )
        .unwrap();
        let links = &options.general.links;
        assert_eq!(links.port(1).rate, Rate::from_bps(7));
        assert_eq!(links.port(2).rate, Rate::from_bps(5));
        assert_eq!(links.port(2).capacity_pkts, 9);
        assert_eq!((links.delay(1), links.delay(2)), (Span::from_ns(1_000), Span::ZERO));
        assert_eq!(links.timestamp_unit(), TimestampUnit::Ns);
    }

    #[test]
    fn a_socket_for_packets_takes_the_place_of_interfaces() {
        let options = parse("--no-p4 -i 1@eth0 --packet-in ipc:///tmp/x.ipc --rate-bps 63@5").unwrap();
        let interfaces = &options.general.interfaces;
        assert_eq!(interfaces.len(), 64);
        assert_eq!(interfaces[63], InterfaceOption { port: 63, interface: "ipc:///tmp/x.ipc".into() });
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, wanted) in [
            ("", "--no-p4"),
            ("--no-p4 -i s1-eth1", "PORT@INTERFACE"),
            ("--no-p4 --rate-bps 1@5", "there is no port 1"),
            ("--no-p4 --rate-bps 1@fast", "`fast`"),
            ("--no-p4 --loss 1.5", "below 1"),
            ("--no-p4 --use-files 0 --packet-in ipc:///tmp/x.ipc", "--packet-in"),
            ("--no-p4 --buffer-alpha-log2 1", "--buffer-bytes"),
            ("--no-p4 --thrift-addr 0.0.0.0", "--thrift-port"),
            ("--no-p4 --thrift-port 1 --thrift-addr nowhere", "nowhere"),
            ("--no-p4 -- --grpc-server-ssl", "--grpc-server-cert"),
            ("--no-p4 -- --frobnicate", "--frobnicate"),
        ] {
            let error = parse(line).map(|_| ()).unwrap_err();
            assert!(error.contains(wanted), "{line}: {error}");
        }
    }
}
