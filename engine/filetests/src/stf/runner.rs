//! Runs commands on a switch and compares packets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use p4cc_exec::control::{CounterCell, EntryAction, TableEntry};
use p4cc_exec::{MeterConfig, Pipeline, State};
use p4cc_ir::{Bits, CounterId, MatchKind, MatchValue, MeterId, Program, RegisterId, TableId};
use p4cc_switch::{
    CloneSession, MulticastGroup, Packet, PortConfig, QdepthUnit, Replica, Switch, SwitchConfig,
    TimestampUnit,
};
use p4cc_units::{Rate, Span, Time};

use super::Problem;
use super::entry::{action, bits, find, matches, table};
use super::parse::{Cell, Command, Relation};

/// Time between two packets.
const STEP: Span = Span::from_us(1_000);
/// Packets that may wait in a queue while another is taken through the switch.
const QUEUE_PKTS: u32 = 1_024;

type Outcome<T> = Result<T, String>;

/// A packet that a test waits for.
struct Expected {
    line: u32,
    nibbles: Vec<Option<u8>>,
    exact: bool,
}

/// A node of a multicast group.
struct Node {
    rid: u16,
    ports: Vec<u32>,
}

/// A switch under test.
struct Bench {
    program: Arc<Program>,
    switch: Switch,
    ports: BTreeSet<u32>,
    now: Time,
    outputs: BTreeMap<u32, Vec<Vec<u8>>>,
    expected: BTreeMap<u32, Vec<Expected>>,
    /// Entries that were given names.
    entries: BTreeMap<String, (TableId, Vec<MatchValue>, u32)>,
    nodes: Vec<Node>,
    groups: BTreeMap<u32, Vec<u32>>,
}

/// Runs commands; empty when all went as they say.
pub(super) fn run(program: Program, commands: &[(u32, Command)]) -> Vec<Problem> {
    let mut bench = match Bench::new(program, commands) {
        Ok(bench) => bench,
        Err(message) => return vec![Problem { line: 0, message }],
    };
    let mut problems = Vec::new();
    for (line, command) in commands {
        if let Err(message) = bench.step(*line, command) {
            problems.push(Problem { line: *line, message });
        }
    }
    bench.compare(&mut problems);
    problems
}

impl Bench {
    fn new(program: Program, commands: &[(u32, Command)]) -> Outcome<Self> {
        let named = commands.iter().filter_map(|(_, command)| match command {
            Command::Packet { port, .. } | Command::Expect { port, .. } => Some(*port),
            _ => None,
        });
        let ports: BTreeSet<u32> = named.collect();
        // All ports are there, as egress runs for each; what leaves on one that is not named is not looked at.
        let port = |port: u32| PortConfig {
            port,
            rate: Rate::from_bps(1_000_000_000_000),
            capacity_pkts: QUEUE_PKTS,
            framing_bytes: 0,
            qdepth_unit: QdepthUnit::default(),
        };
        let config = SwitchConfig {
            device_id: 1,
            ports: (0..p4cc_exec::DEFAULT_DROP_PORT).map(port).collect(),
            timestamp_unit: TimestampUnit::default(),
            cpu_port: None,
            drop_port: p4cc_exec::DEFAULT_DROP_PORT,
            seed: 1,
        };
        let mut switch = Switch::new(config).map_err(|error| error.to_string())?;
        let program = Arc::new(program);
        let pipeline = Pipeline::compile(Arc::clone(&program)).map_err(|error| error.to_string())?;
        switch.set_pipeline(Arc::new(pipeline));
        Ok(Self {
            program,
            switch,
            ports,
            now: Time::ZERO,
            outputs: BTreeMap::new(),
            expected: BTreeMap::new(),
            entries: BTreeMap::new(),
            nodes: Vec::new(),
            groups: BTreeMap::new(),
        })
    }

    fn state(&mut self) -> Outcome<&mut State> {
        self.switch.state_mut().ok_or_else(|| "the switch has no pipeline".to_owned())
    }

    fn step(&mut self, line: u32, command: &Command) -> Outcome<()> {
        match command {
            Command::Packet { port, bytes } => {
                self.packet(*port, bytes);
                Ok(())
            }
            Command::Expect { port, nibbles, exact } => {
                let expected = Expected { line, nibbles: nibbles.clone(), exact: *exact };
                self.expected.entry(*port).or_default().push(expected);
                Ok(())
            }
            Command::Add { .. } => self.add(command),
            Command::SetDefault { table: name, action: text } => {
                let id = table(&self.program, name)?;
                let call = action(&self.program, &self.program.tables[id.index()], text)?;
                self.state()?.set_default_action(id, call).map_err(|error| error.to_string())
            }
            Command::Remove(name) => self.remove(name.as_deref()),
            Command::NoPacket | Command::Wait | Command::Print => Ok(()),
            Command::CheckCounter { name, cell, bytes, relation, value } => {
                self.check_counter(name, cell, *bytes, *relation, *value)
            }
            Command::RegisterWrite(name, index, value) => {
                let id = self.register(name)?;
                let width = self.program.registers[id.index()].ty.width();
                let value = bits(value, width)?;
                self.state()?.register_write(id, *index, &value).map_err(|error| error.to_string())
            }
            Command::RegisterReset(name) => self.register_reset(name),
            Command::CounterWrite(name, index, packets, bytes) => {
                let id = self.counter(name)?;
                let cell = CounterCell { packets: *packets, bytes: *bytes };
                self.state()?.counter_write(id, *index, cell).map_err(|error| error.to_string())
            }
            Command::MeterSetRates(name, index, rates) => self.meter_rates(name, *index, rates),
            _ => self.replication(command),
        }
    }

    /// Takes a packet in, and everything out that comes of it.
    fn packet(&mut self, port: u32, bytes: &[u8]) {
        self.now += STEP;
        self.switch.receive(self.now, port, Packet::new(bytes, 0));
        while let Some(port) = self.switch.next_ready() {
            while let Some(sent) = self.switch.transmit(self.now, port) {
                self.outputs.entry(port).or_default().push(sent.packet.to_vec());
            }
        }
    }

    fn add(&mut self, command: &Command) -> Outcome<()> {
        let Command::Add { table: name, priority, keys, action: text, name: label } = command else {
            return Ok(());
        };
        let id = table(&self.program, name)?;
        let info = &self.program.tables[id.index()];
        let ranked = info
            .keys
            .iter()
            .any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional));
        // Priorities of tests start at 0, those of entries at 1.
        let priority = if ranked { priority.unwrap_or(0).saturating_add(1) } else { 0 };
        let entry = TableEntry {
            matches: matches(&self.program, info, keys)?,
            priority,
            action: EntryAction::Direct(action(&self.program, info, text)?),
            metadata: Vec::new(),
            idle_timeout_ns: 0,
            is_const: false,
        };
        if let Some(label) = label {
            let label = label.trim_start_matches('$').to_owned();
            self.entries.insert(label, (id, entry.matches.clone(), priority));
        }
        self.state()?.table_insert(id, entry).map_err(|error| error.to_string())
    }

    fn remove(&mut self, name: Option<&str>) -> Outcome<()> {
        let mut gone = Vec::new();
        if let Some(name) = name {
            let entry = self.entries.remove(name.trim_start_matches('$'));
            gone.push(entry.ok_or_else(|| format!("there is no entry `{name}`"))?);
        } else {
            for index in 0..self.program.tables.len() {
                let id = TableId::from_index(index);
                let entries = self.state()?.table_entries(id).filter(|entry| !entry.is_const);
                gone.extend(entries.map(|entry| (id, entry.matches.clone(), entry.priority)));
            }
            self.entries.clear();
        }
        for (table, matches, priority) in gone {
            self.state()?.table_delete(table, &matches, priority).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn register(&self, name: &str) -> Outcome<RegisterId> {
        find("register", self.program.registers.iter().map(|item| &item.cp), name).map(RegisterId::from_index)
    }

    fn counter(&self, name: &str) -> Outcome<CounterId> {
        find("counter", self.program.counters.iter().map(|item| &item.cp), name).map(CounterId::from_index)
    }

    fn register_reset(&mut self, name: &str) -> Outcome<()> {
        let id = self.register(name)?;
        let info = &self.program.registers[id.index()];
        let (zero, size) = (Bits::zero(info.ty.width()), info.size);
        for index in 0..size {
            self.state()?.register_write(id, index, &zero).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn check_counter(
        &mut self,
        name: &str,
        cell: &Cell,
        bytes: bool,
        relation: Relation,
        value: u64,
    ) -> Outcome<()> {
        let id = self.counter(name)?;
        let read = match cell {
            Cell::Index(index) => {
                self.state()?.counter_read(id, *index).map_err(|error| error.to_string())?
            }
            Cell::Entry(label) => {
                let entry = self.entries.get(label).cloned();
                let (table, matches, priority) =
                    entry.ok_or_else(|| format!("there is no entry `{label}`"))?;
                let read = self.state()?.direct_counter_read(table, &matches, priority);
                read.map_err(|error| error.to_string())?
            }
        };
        let count = if bytes { read.bytes } else { read.packets };
        let holds = match relation {
            Relation::Equal => count == value,
            Relation::NotEqual => count != value,
            Relation::Less => count < value,
            Relation::LessOrEqual => count <= value,
            Relation::Greater => count > value,
            Relation::GreaterOrEqual => count >= value,
        };
        if holds { Ok(()) } else { Err(format!("{name} is {count}, which is not {relation:?} {value}")) }
    }

    fn meter_rates(&mut self, name: &str, index: Option<u32>, rates: &[(f64, u32)]) -> Outcome<()> {
        let names = self.program.meters.iter().map(|item| &item.cp);
        let id = find("meter", names, name).map(MeterId::from_index)?;
        let [(committed, cburst), (peak, pburst)] = rates else {
            return Err(format!("{} rates where two are needed", rates.len()));
        };
        // BMv2 counts rates in units for each microsecond.
        let per_second = |rate: f64| (rate * 1e6) as u64;
        let config = MeterConfig {
            cir: per_second(*committed),
            cburst: u64::from(*cburst),
            pir: per_second(*peak),
            pburst: u64::from(*pburst),
        };
        let cells = self.program.meters[id.index()].size.ok_or("a direct meter has no array")?;
        let cells = index.map_or(0..cells, |index| index..index.saturating_add(1));
        for cell in cells {
            self.state()?.meter_write(id, cell, Some(config)).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn replication(&mut self, command: &Command) -> Outcome<()> {
        match command {
            Command::MirroringAdd { session, target, group } => {
                let replicas = if *group {
                    self.switch.pre().group(*target).map(|group| group.replicas.clone()).unwrap_or_default()
                } else {
                    vec![Replica { port: *target, instance: 0 }]
                };
                let session =
                    CloneSession { id: *session, replicas, class_of_service: 0, packet_length_bytes: 0 };
                let pre = self.switch.pre_mut();
                let known = pre.session(session.id).is_some();
                let done = if known { pre.modify_session(session) } else { pre.insert_session(session) };
                done.map_err(|error| error.to_string())
            }
            Command::MirroringDelete(session) => {
                self.switch.pre_mut().delete_session(*session).map_err(|error| error.to_string())
            }
            Command::GroupCreate(group) => {
                self.groups.insert(*group, Vec::new());
                Ok(())
            }
            Command::NodeCreate(rid, ports) => {
                self.nodes.push(Node { rid: *rid, ports: ports.clone() });
                Ok(())
            }
            Command::NodeUpdate(handle, ports) => {
                let node = self.nodes.get_mut(*handle as usize);
                node.ok_or_else(|| format!("there is no node {handle}"))?.ports.clone_from(ports);
                let groups: Vec<u32> = self.groups.keys().copied().collect();
                groups.into_iter().try_for_each(|group| self.write_group(group))
            }
            Command::NodeAssociate(group, handle) => {
                if *handle as usize >= self.nodes.len() {
                    return Err(format!("there is no node {handle}"));
                }
                let nodes = self.groups.get_mut(group);
                nodes.ok_or_else(|| format!("there is no group {group}"))?.push(*handle);
                self.write_group(*group)
            }
            _ => Ok(()),
        }
    }

    /// Puts a group as it is now into the switch.
    fn write_group(&mut self, id: u32) -> Outcome<()> {
        let nodes = self.groups.get(&id).map(Vec::as_slice).unwrap_or_default();
        let nodes = nodes.iter().filter_map(|&handle| self.nodes.get(handle as usize));
        let replicas = nodes.flat_map(|node| {
            let replica = |&port: &u32| Replica { port, instance: node.rid };
            node.ports.iter().map(replica).collect::<Vec<_>>()
        });
        let group = MulticastGroup { id, replicas: replicas.collect(), metadata: Vec::new() };
        let pre = self.switch.pre_mut();
        let known = pre.group(id).is_some();
        let done = if known { pre.modify_group(group) } else { pre.insert_group(group) };
        done.map_err(|error| error.to_string())
    }

    /// Compares what came out with what was expected, port by port.
    fn compare(&self, problems: &mut Vec<Problem>) {
        for &port in &self.ports {
            let expected = self.expected.get(&port).map(Vec::as_slice).unwrap_or_default();
            let got = self.outputs.get(&port).map(Vec::as_slice).unwrap_or_default();
            for (number, want) in expected.iter().enumerate() {
                let message = match got.get(number) {
                    Some(got) => difference(want, got),
                    None => Some(format!("did not come\n  expected {}", pattern(want))),
                };
                if let Some(message) = message {
                    let message = format!("port {port}, packet {number}: {message}");
                    problems.push(Problem { line: want.line, message });
                }
            }
            for (number, extra) in got.iter().enumerate().skip(expected.len()) {
                let message =
                    format!("port {port}, packet {number}: not expected\n  got      {}", hex(extra));
                problems.push(Problem { line: 0, message });
            }
        }
    }
}

/// How a packet differs from what was expected, digit by digit.
fn difference(want: &Expected, got: &[u8]) -> Option<String> {
    let digits: Vec<u8> = got.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
    if want.nibbles.is_empty() {
        return None;
    }
    let wrong = |(at, nibble): (usize, &Option<u8>)| match digits.get(at) {
        Some(digit) => nibble.is_some_and(|nibble| nibble != *digit),
        None => true,
    };
    let length = digits.len().max(want.nibbles.len());
    let long = want.exact && digits.len() > want.nibbles.len();
    let marks: Vec<bool> = want.nibbles.iter().enumerate().map(wrong).collect();
    let first = marks.iter().position(|&wrong| wrong).or(long.then_some(want.nibbles.len()))?;
    let mark = |at: usize| {
        let past = long && at >= want.nibbles.len();
        if past || marks.get(at).copied().unwrap_or(false) { '^' } else { ' ' }
    };
    let marks: String = (0..length).map(mark).collect();
    Some(format!(
        "differs from byte {}\n  expected {}\n  got      {}\n           {}",
        first / 2,
        pattern(want),
        hex(got),
        marks.trim_end()
    ))
}

fn pattern(want: &Expected) -> String {
    let digit = |nibble: &Option<u8>| {
        nibble.map_or('*', |nibble| char::from_digit(u32::from(nibble), 16).unwrap_or('?'))
    };
    let end = if want.exact { "$" } else { "" };
    want.nibbles.iter().map(digit).chain(end.chars()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
