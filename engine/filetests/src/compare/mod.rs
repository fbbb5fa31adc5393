//! A program from source beside the BMv2 JSON that p4c wrote of it: two switches with one P4Info, the same
//! writes and the same packets. What leaves them, and what they count, must be the same.
//!
//! Entries are drawn by the P4Info ([`entries`]) and packets along the document's parser ([`packets`]), both
//! of values of one [`pool`]; keys that missed get entries later on. [`Report::reached`] says how far packets
//! came.

pub mod entries;
pub mod packets;
pub mod pool;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use p4cc_ir::Bits;
use p4cc_p4runtime::proto::p4::config::v1::P4Info;
use p4cc_p4runtime::proto::p4::v1 as p4;
use p4cc_p4runtime::{Devices, Local, NoSuchDevice};
use p4cc_switch::{ExecChoice, Packet, Step, Stream, Switch, SwitchConfig};
use p4cc_units::Time;
use parking_lot::Mutex;
use prost::Message;

use self::entries::Controller;
use self::packets::Drawer;
use self::pool::{BitString, Pool};
use crate::bench;

const DEVICE: u64 = 1;
/// Time from packet to packet.
const GAP_NS: u64 = 1_000_000;
/// Packets that one packet may become before the rest waits for the next one.
const MAX_SENT: usize = 256;
/// After each of so many parts of the packets, entries for keys that missed are written.
const ROUNDS: usize = 6;
/// Keys that missed, kept of each table and round.
const MISSED: usize = 12;
/// Of so many packets one comes from the controller.
const PACKET_OUT_ONE_OF: u64 = 16;

/// What is compared, and how.
pub struct Comparison<'a> {
    /// P4-16 source, preprocessed.
    pub source: &'a str,
    /// BMv2 JSON of the same program.
    pub document: &'a str,
    /// P4Info that p4c wrote with it; without one, that of the source.
    pub info: &'a P4Info,
    /// The port whose packets go to the controller.
    pub cpu_port: u32,
    /// What runs the document. The interpreter runs the source: it traces which keys miss.
    pub exec: ExecChoice,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Report {
    /// The first difference of each kind.
    pub differences: Vec<String>,
    /// Writes that both took, and writes that both refused.
    pub taken: usize,
    /// As above.
    pub refused: usize,
    /// Entries with a meter's configuration that only the document takes: JSON does not say which actions
    /// execute a direct meter, so every action of the table does.
    pub unsaid: usize,
    /// Packets sent, and packets that left on ports or to the controller.
    pub sent: usize,
    /// As above.
    pub left: usize,
    /// States, hits and misses of tables, and actions that packets came to, and how often.
    pub reached: BTreeMap<String, u64>,
}

struct One(Mutex<(Switch, Time)>);

impl Devices for One {
    fn ids(&self) -> Vec<u64> {
        vec![DEVICE]
    }

    fn with_device(&self, device_id: u64, f: &mut dyn FnMut(&mut Switch, Time)) -> Result<(), NoSuchDevice> {
        if device_id != DEVICE {
            return Err(NoSuchDevice(device_id));
        }
        let (switch, now) = &mut *self.0.lock();
        f(switch, *now);
        Ok(())
    }

    fn packet_out(&self, device_id: u64, packet: Packet) -> Result<(), NoSuchDevice> {
        self.with_device(device_id, &mut |switch, now| switch.packet_out(now, packet.clone()))
    }
}

/// One of the two switches with its server.
struct Side {
    device: Arc<One>,
    server: Local,
    stream: usize,
}

fn election() -> Option<p4::Uint128> {
    Some(p4::Uint128 { high: 0, low: 1 })
}

impl Side {
    fn new(comparison: &Comparison<'_>, config: &str, exec: ExecChoice) -> Result<Self, String> {
        let switch =
            SwitchConfig { device_id: DEVICE, cpu_port: Some(comparison.cpu_port), ..bench::config() };
        let mut switch = Switch::new(switch).map_err(|error| error.to_string())?;
        switch.control().set_exec(exec);
        switch.control().set_tracing(matches!(exec, ExecChoice::Interp));
        let device = Arc::new(One(Mutex::new((switch, Time::ZERO))));
        let mut server =
            Local::new(Arc::clone(&device) as Arc<dyn Devices>).map_err(|error| error.to_string())?;
        let stream = server.open();
        let arbitration =
            p4::MasterArbitrationUpdate { device_id: DEVICE, election_id: election(), ..Default::default() };
        let arbitration = p4::stream_message_request::Update::Arbitration(arbitration);
        let hello = p4::StreamMessageRequest { update: Some(arbitration) };
        server.send(stream, &hello.encode_to_vec()).map_err(|status| status.message().to_owned())?;
        let request = p4::SetForwardingPipelineConfigRequest {
            device_id: DEVICE,
            election_id: election(),
            action: p4::set_forwarding_pipeline_config_request::Action::VerifyAndCommit as i32,
            config: Some(p4::ForwardingPipelineConfig {
                p4info: Some(comparison.info.clone()),
                p4_device_config: config.as_bytes().to_vec(),
                ..Default::default()
            }),
            ..Default::default()
        };
        server
            .call("SetForwardingPipelineConfig", &request.encode_to_vec())
            .map_err(|status| status.message().to_owned())?;
        Ok(Self { device, server, stream })
    }

    /// Writes; the status where it is refused.
    fn write(&self, update: &p4::Update) -> Result<(), String> {
        let request = p4::WriteRequest {
            device_id: DEVICE,
            election_id: election(),
            updates: vec![update.clone()],
            ..Default::default()
        };
        let answer = self.server.call("Write", &request.encode_to_vec());
        // A refused update is in the details, with a code of its own.
        answer.map(drop).map_err(|status| {
            let text = String::from_utf8_lossy(status.details());
            let printable = text.chars().filter(|one| !one.is_control()).collect::<String>();
            format!("{:?} {} {printable}", status.code(), status.message())
        })
    }

    /// What leaves the switch for a packet, as text, and how many packets.
    fn send(&mut self, now: Time, way: &Way, packet: &[u8]) -> (String, usize) {
        let mut seen = String::new();
        self.device.0.lock().1 = now;
        match way {
            Way::Port(port) => {
                let (switch, _) = &mut *self.device.0.lock();
                switch.receive(now, *port, Packet::new(packet, 0));
            }
            Way::Controller(metadata) => {
                let out = p4::PacketOut { payload: packet.to_vec(), metadata: metadata.clone() };
                let update = Some(p4::stream_message_request::Update::Packet(out));
                let message = p4::StreamMessageRequest { update };
                if let Err(status) = self.server.send(self.stream, &message.encode_to_vec()) {
                    // Writing to a string does not fail.
                    let _ = writeln!(seen, "  packet-out: {}", status.message());
                }
            }
        }
        let (switch, _) = &mut *self.device.0.lock();
        let mut left = 0;
        while let Some(port) = switch.next_ready() {
            while let Some(out) = switch.transmit(now, port) {
                left += 1;
                if left > MAX_SENT {
                    break;
                }
                let _ = writeln!(seen, "  port {}: {}", out.port, hex(&out.packet));
            }
        }
        for packet in switch.take_packet_ins() {
            left += 1;
            let _ = writeln!(seen, "  controller: {}", hex(&packet));
        }
        for digest in switch.take_digests() {
            let values: Vec<String> = digest.values.iter().map(ToString::to_string).collect();
            let _ = writeln!(seen, "  digest {values:?}");
        }
        (seen, left)
    }

    /// All that can be read, one text an entity, in order.
    fn read(&self, entity: p4::entity::Entity) -> Result<Vec<String>, String> {
        let entities = vec![p4::Entity { entity: Some(entity) }];
        let request = p4::ReadRequest { device_id: DEVICE, entities, ..Default::default() };
        let answers = self
            .server
            .call("Read", &request.encode_to_vec())
            .map_err(|status| format!("{:?}", status.code()))?;
        let mut read = Vec::new();
        for answer in answers {
            let answer = p4::ReadResponse::decode(&answer[..]).map_err(|error| error.to_string())?;
            read.extend(answer.entities.iter().map(|entity| format!("{entity:?}")));
        }
        read.sort();
        Ok(read)
    }
}

fn hex(packet: &Packet) -> String {
    packet.to_vec().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Where a packet comes from.
enum Way {
    Port(u32),
    Controller(Vec<p4::PacketMetadata>),
}

/// Both switches.
pub struct Pair {
    source: Side,
    document: Side,
    report: Report,
    /// Keys that missed in the last round, by table.
    missed: BTreeMap<String, BTreeSet<Vec<BitString>>>,
}

impl Comparison<'_> {
    /// Sends so many packets to both.
    ///
    /// # Errors
    /// One of the programs cannot be used.
    pub fn run(&self, packets: usize, seed: u64) -> Result<Report, String> {
        let document: serde_json::Value =
            serde_json::from_str(self.document).map_err(|error| format!("document: {error}"))?;
        let pool = Pool::new(&document, bench::PORTS);
        let drawer = Drawer::new(&document).ok_or("document: it has no parser")?;
        let mut pair = Pair {
            source: Side::new(self, self.source, ExecChoice::Interp)
                .map_err(|error| format!("source: {error}"))?,
            document: Side::new(self, self.document, self.exec)
                .map_err(|error| format!("document: {error}"))?,
            report: Report::default(),
            missed: BTreeMap::new(),
        };
        let controller =
            Controller { info: self.info, pool: &pool, ports: bench::PORTS, cpu_port: self.cpu_port };
        for update in controller.updates(&mut Stream::named(seed, "updates")) {
            pair.write(&update);
        }
        let (random, learned) = (&mut Stream::named(seed, "packets"), &mut Stream::named(seed, "missed"));
        for at in 0..packets {
            if (at + 1) % packets.div_ceil(ROUNDS) == 0 {
                for (table, keys) in core::mem::take(&mut pair.missed) {
                    for update in keys.iter().filter_map(|key| controller.entry_for(&table, key, learned)) {
                        pair.write(&update);
                    }
                }
            }
            let way = self.way(&pool, random);
            let packet = drawer.packet(&pool, random);
            pair.send(Time::from_ns((at as u64 + 1) * GAP_NS), &way, &packet);
        }
        pair.read();
        Ok(pair.report)
    }

    fn way(&self, pool: &Pool, random: &mut Stream) -> Way {
        let out = self
            .info
            .controller_packet_metadata
            .iter()
            .find(|one| one.preamble.as_ref().is_some_and(|preamble| preamble.name == "packet_out"));
        match out {
            Some(out) if random.below(PACKET_OUT_ONE_OF) == 0 => {
                let field =
                    |field: &p4cc_p4runtime::proto::p4::config::v1::controller_packet_metadata::Metadata| {
                        let value = pool::bytes(&pool.value(field.bitwidth.max(0) as usize, random));
                        p4::PacketMetadata { metadata_id: field.id, value }
                    };
                Way::Controller(out.metadata.iter().map(field).collect())
            }
            _ => match random.below(u64::from(bench::PORTS) * 8) {
                0 => Way::Port(self.cpu_port),
                port => Way::Port((port % u64::from(bench::PORTS)) as u32),
            },
        }
    }
}

impl Pair {
    fn write(&mut self, update: &p4::Update) {
        match (self.source.write(update), self.document.write(update)) {
            (Ok(()), Ok(())) => self.report.taken += 1,
            (Err(_), Err(_)) => self.report.refused += 1,
            (Ok(()), Err(error)) => {
                undo(&self.source, update);
                self.differ(format!("only the source takes {update:?}: {error}"));
            }
            (Err(error), Ok(())) => {
                undo(&self.document, update);
                if is_metered(update) {
                    self.report.unsaid += 1;
                } else {
                    self.differ(format!("only the document takes {update:?}: {error}"));
                }
            }
        }
    }

    fn send(&mut self, now: Time, way: &Way, packet: &[u8]) {
        let (own, left) = self.source.send(now, way, packet);
        let (theirs, _) = self.document.send(now, way, packet);
        self.report.sent += 1;
        self.report.left += left;
        let mut steps = String::new();
        for side in [&self.source, &self.document] {
            let trace = side.device.0.lock().0.control().take_trace();
            let _ = writeln!(steps, "way:");
            for event in trace {
                if core::ptr::eq(side, &raw const self.source) {
                    count(&mut self.report.reached, &event.step);
                    note(&mut self.missed, &event.step);
                }
                let _ = writeln!(steps, "  {:?}", event.step);
            }
        }
        if own != theirs {
            let from = match way {
                Way::Port(port) => format!("port {port}"),
                Way::Controller(metadata) => format!("controller {metadata:?}"),
            };
            let sent = hex(&Packet::new(packet, 0));
            self.differ(format!(
                "packet {} from {from}: {sent}\nsource:\n{own}document:\n{theirs}{steps}",
                self.report.sent
            ));
        }
    }

    fn read(&mut self) {
        use p4::entity::Entity;
        let counters = [&self.source, &self.document]
            .map(|side| format!("{:?}", side.device.0.lock().0.observation().counters()));
        if counters[0] != counters[1] {
            self.differ(format!(
                "counts of packets differ:\nsource {}\ndocument {}",
                counters[0], counters[1]
            ));
        }
        let all: [(&str, Entity); 6] = [
            ("counters", Entity::CounterEntry(p4::CounterEntry::default())),
            (
                "direct counters",
                Entity::DirectCounterEntry(p4::DirectCounterEntry {
                    table_entry: Some(p4::TableEntry::default()),
                    ..Default::default()
                }),
            ),
            ("meters", Entity::MeterEntry(p4::MeterEntry::default())),
            ("registers", Entity::RegisterEntry(p4::RegisterEntry::default())),
            ("entries", Entity::TableEntry(p4::TableEntry::default())),
            ("value sets", Entity::ValueSetEntry(p4::ValueSetEntry::default())),
        ];
        for (what, entity) in all {
            let (own, theirs) = (self.source.read(entity.clone()), self.document.read(entity));
            if own != theirs {
                let line = match (&own, &theirs) {
                    (Ok(own), Ok(theirs)) => own
                        .iter()
                        .zip(theirs)
                        .find(|(own, theirs)| own != theirs)
                        .map_or_else(String::new, |(own, theirs)| format!("source {own}\ndocument {theirs}")),
                    _ => format!("source {:?}, document {:?}", own.err(), theirs.err()),
                };
                self.differ(format!("{what} differ: {line}"));
            }
        }
    }

    fn differ(&mut self, text: String) {
        self.report.differences.push(text);
    }
}

/// Takes back what only one side took; a refused modification of a default changed nothing there.
fn undo(side: &Side, update: &p4::Update) {
    let deleted = p4::Update { r#type: p4::update::Type::Delete as i32, entity: update.entity.clone() };
    if update.r#type == p4::update::Type::Insert as i32 {
        // What cannot be taken back shows as a difference of what is read at the end.
        let _ = side.write(&deleted);
    }
}

fn is_metered(update: &p4::Update) -> bool {
    let entity = update.entity.as_ref().and_then(|entity| entity.entity.as_ref());
    matches!(entity, Some(p4::entity::Entity::TableEntry(entry)) if entry.meter_config.is_some())
}

/// Keeps the key of a table that missed.
fn note(missed: &mut BTreeMap<String, BTreeSet<Vec<BitString>>>, step: &Step) {
    let Step::Table { table, key, hit: false, .. } = step else { return };
    let keys = missed.entry(table.clone()).or_default();
    if keys.len() < MISSED {
        let bit = |value: &Bits, at: u32| value.words()[(at / 64) as usize] >> (at % 64) & 1 == 1;
        let bits = |value: &Bits| (0..value.width()).rev().map(|at| bit(value, at)).collect();
        keys.insert(key.iter().map(|(_, value)| bits(value)).collect());
    }
}

fn count(reached: &mut BTreeMap<String, u64>, step: &Step) {
    let name = match step {
        Step::State { state } => format!("state {state}"),
        Step::Table { table, hit: true, .. } => format!("hit {table}"),
        Step::Table { table, hit: false, .. } => format!("miss {table}"),
        Step::Action { action, .. } => format!("action {action}"),
        Step::ParserError { error } => format!("error {error}"),
        _ => return,
    };
    *reached.entry(name).or_default() += 1;
}
