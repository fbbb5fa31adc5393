//! Runs commands on a switch and compares packets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use p4cc_exec::control::{CounterCell, EntryAction, TableEntry};
use p4cc_exec::{MeterConfig, Pipeline, State};
use p4cc_ir::{Bits, CounterId, MatchKind, MatchValue, MeterId, Program, RegisterId, TableId};
use p4cc_switch::{
    CloneSession, DEFAULT_PASS_LIMIT, ExecChoice, MulticastGroup, Packet, PortConfig, Replica, Switch,
    SwitchConfig, TimestampUnit, Watch,
};
use p4cc_units::{Rate, Span, Time};

use super::difference::{Expected, PacketProblem, hex};
use super::entry::{action, bits, find, matches, table};
use super::fate::{Fate, explain};
use super::packet_trace::{SentPacket, Traced, TracedPacket};
use super::parse::{ActionText, Cell, Command, Literal, Relation};
use super::{Cause, Problem, Report};

/// Time between two packets.
const STEP: Span = Span::from_us(1_000);
/// Most drops that are told apart.
const MAX_DROP_ROWS: usize = 1 << 16;
/// Packets that may wait in a queue while another is taken through the switch.
const QUEUE_PKTS: u32 = 1_024;

type Outcome<T> = Result<T, String>;

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
    /// With the line of the test.
    expected: BTreeMap<u32, Vec<(u32, Expected)>>,
    /// Entries that were given names.
    entries: BTreeMap<String, (TableId, Vec<MatchValue>, u32)>,
    nodes: Vec<Node>,
    groups: BTreeMap<u32, Vec<u32>>,
    /// What became of each packet, where that is looked at.
    fates: Option<Vec<Fate>>,
    /// What each packet did, where that is looked at.
    traced: Option<Vec<TracedPacket>>,
    report: Report,
}

/// Runs commands and compares what came out.
pub(super) fn run(program: &Arc<Program>, commands: &[(u32, Command)], exec: ExecChoice) -> Report {
    let mut bench = match Bench::new(program, commands, exec) {
        Ok(bench) => bench,
        Err(message) => {
            let problems = vec![Problem { line: 0, cause: Cause::Command(message) }];
            return Report { problems, ..Report::default() };
        }
    };
    bench.steps(commands);
    bench.compare();
    let mut report = bench.report;
    let is_missing = |cause: &Cause| matches!(cause, Cause::Packet(packet) if packet.got.is_none());
    if report.problems.iter().any(|problem| is_missing(&problem.cause)) {
        explain(&mut report.problems, &fates(program, commands));
    }
    report
}

/// What the packets of a test do, step by step.
pub(super) fn trace(program: &Arc<Program>, commands: &[(u32, Command)]) -> Outcome<Traced> {
    let mut bench = Bench::new(program, commands, ExecChoice::Interp)?;
    bench.switch.control().set_tracing_values();
    bench.traced = Some(Vec::new());
    bench.steps(commands);
    let problem = |problem: Problem| (problem.line, Problem { line: 0, ..problem }.to_string());
    let problems = bench.report.problems.into_iter().map(problem).collect();
    Ok(Traced { packets: bench.traced.unwrap_or_default(), problems })
}

/// Where the packets of a test end.
fn fates(program: &Arc<Program>, commands: &[(u32, Command)]) -> Vec<Fate> {
    // The same was made before.
    let Ok(mut bench) = Bench::new(program, commands, ExecChoice::Interp) else { return Vec::new() };
    let drops = Some((STEP, MAX_DROP_ROWS));
    bench.switch.control().watch(Watch { drops, ..Watch::default() });
    bench.switch.control().set_tracing(true);
    bench.fates = Some(Vec::new());
    bench.steps(commands);
    let mut fates = bench.fates.unwrap_or_default();
    let pass_limit = bench.switch.config().pass_limit;
    for row in bench.switch.observation().watched_drops() {
        // The first packet comes one step after the start.
        let at = (row.at.as_ps() / STEP.as_ps()).checked_sub(1).and_then(|at| usize::try_from(at).ok());
        if let Some(fate) = at.and_then(|at| fates.get_mut(at)) {
            fate.dropped(&row, &program.architecture, pass_limit);
        }
    }
    fates
}

impl Bench {
    fn new(program: &Arc<Program>, commands: &[(u32, Command)], exec: ExecChoice) -> Outcome<Self> {
        let named = commands.iter().filter_map(|(_, command)| match command {
            Command::Packet { port, .. } | Command::Expect { port, .. } => Some(*port),
            _ => None,
        });
        let ports: BTreeSet<u32> = named.collect();
        // All ports are there, as egress runs for each; what
        // leaves on one that is not named is not looked at.
        let port = |port: u32| PortConfig {
            port,
            rate: Rate::from_bps(1_000_000_000_000),
            capacity_pkts: QUEUE_PKTS,
            ..PortConfig::default()
        };
        let config = SwitchConfig {
            device_id: 1,
            ports: (0..p4cc_exec::DEFAULT_DROP_PORT).map(port).collect(),
            timestamp_unit: TimestampUnit::default(),
            buffer: None,
            cpu_port: None,
            drop_port: p4cc_exec::DEFAULT_DROP_PORT,
            seed: 1,
            pass_limit: DEFAULT_PASS_LIMIT,
            deflect_on_drop: false,
        };
        let mut switch = Switch::new(config).map_err(|error| error.to_string())?;
        let program = Arc::clone(program);
        let pipeline = Pipeline::compile(Arc::clone(&program)).map_err(|error| error.to_string())?;
        switch.control().set_exec(exec);
        switch.control().set_pipeline(Arc::new(pipeline));
        switch.control().set_logging(true);
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
            fates: None,
            traced: None,
            report: Report::default(),
        })
    }

    fn steps(&mut self, commands: &[(u32, Command)]) {
        for (line, command) in commands {
            if let Err(cause) = self.step(*line, command) {
                self.report.problems.push(Problem { line: *line, cause });
            }
        }
    }

    fn state(&mut self) -> Outcome<&mut State> {
        self.switch.control().state_mut().ok_or_else(|| "the switch has no pipeline".to_owned())
    }

    fn step(&mut self, line: u32, command: &Command) -> Result<(), Cause> {
        if let Command::CheckCounter { name, cell, bytes, relation, value } = command {
            return self.check_counter(name, cell, *bytes, *relation, *value);
        }
        let done = match command {
            Command::Packet { port, bytes } => {
                self.packet(line, *port, bytes);
                let logs = self.switch.control().take_logs();
                self.report
                    .printed
                    .extend(logs.into_iter().map(|log| (line, format!("log_msg: {}", log.text))));
                Ok(())
            }
            Command::Expect { port, nibbles, exact } => {
                let expected = Expected { nibbles: nibbles.clone(), exact: *exact };
                self.expected.entry(*port).or_default().push((line, expected));
                self.report.packets_expected += 1;
                Ok(())
            }
            Command::Add { .. } => self.add(command),
            Command::SetDefault { table: name, action: text } => self.set_default(name, text),
            Command::Remove(name) => self.remove(name.as_deref()),
            Command::RegisterWrite(name, index, value) => self.register_write(name, *index, value),
            Command::RegisterReset(name) => self.register_reset(name),
            Command::CounterWrite(name, index, packets, bytes) => {
                self.counter_write(name, *index, CounterCell { packets: *packets, bytes: *bytes })
            }
            Command::MeterSetRates(name, index, rates) => self.meter_rates(name, *index, rates),
            Command::RegisterRead(..)
            | Command::CounterRead(..)
            | Command::MeterGetRates(..)
            | Command::MirroringGet(_) => {
                self.print(command).map(|text| self.report.printed.push((line, text)))
            }
            // Every packet has left the switch before the next command, so there is nothing to wait for.
            Command::NoPacket | Command::Wait | Command::CheckCounter { .. } => Ok(()),
            Command::MirroringAdd { .. }
            | Command::MirroringDelete(_)
            | Command::GroupCreate(_)
            | Command::NodeCreate(..)
            | Command::NodeUpdate(..)
            | Command::NodeAssociate(..) => self.replication(command),
        };
        done.map_err(Cause::Command)
    }

    /// What a command that only reads finds.
    fn print(&mut self, command: &Command) -> Outcome<String> {
        match command {
            Command::RegisterRead(name, index) => {
                let id = self.register(name)?;
                let value = self.state()?.register_read(id, *index).map_err(|error| error.to_string())?;
                Ok(format!("{name}[{index}] = 0x{}", hex(&value.to_be_bytes())))
            }
            Command::CounterRead(name, index) => {
                let id = self.counter(name)?;
                let cell = self.state()?.counter_read(id, *index).map_err(|error| error.to_string())?;
                Ok(format!("{name}[{index}] = {} packets, {} bytes", cell.packets, cell.bytes))
            }
            Command::MeterGetRates(name, index) => {
                let id = self.meter(name)?;
                let config = self.state()?.meter_read(id, *index).map_err(|error| error.to_string())?;
                Ok(config.map_or_else(
                    || format!("{name}[{index}] has no rates"),
                    |MeterConfig { cir, cburst, pir, pburst }| {
                        format!("{name}[{index}] = {cir}/s burst {cburst}, {pir}/s burst {pburst}")
                    },
                ))
            }
            Command::MirroringGet(id) => {
                let session = self.switch.observation().pre().session(*id);
                let session = session.ok_or_else(|| format!("there is no clone session {id}"))?;
                let replica = |replica: &Replica| {
                    format!("port {} instance {}", replica.first.port, replica.first.instance)
                };
                let replicas: Vec<String> = session.replicas.iter().map(replica).collect();
                Ok(format!("session {id} = {}", replicas.join(", ")))
            }
            _ => Err("the command reads nothing".to_owned()),
        }
    }

    fn set_default(&mut self, name: &str, text: &ActionText) -> Outcome<()> {
        let id = table(&self.program, name)?;
        let call = action(&self.program, &self.program.tables[id.index()], text)?;
        self.state()?.set_default_action(id, call).map_err(|error| error.to_string())
    }

    fn register_write(&mut self, name: &str, index: u32, value: &Literal) -> Outcome<()> {
        let id = self.register(name)?;
        let width = self.program.registers[id.index()].ty.width();
        let value = bits(value, width)?;
        self.state()?.register_write(id, index, &value).map_err(|error| error.to_string())
    }

    fn counter_write(&mut self, name: &str, index: u32, cell: CounterCell) -> Outcome<()> {
        let id = self.counter(name)?;
        self.state()?.counter_write(id, index, cell).map_err(|error| error.to_string())
    }

    /// Takes a packet in, and everything out that comes of it.
    fn packet(&mut self, line: u32, port: u32, bytes: &[u8]) {
        self.now += STEP;
        self.report.packets_in += 1;
        let failed_before = self.failed_assertions();
        self.switch.receive(self.now, port, Packet::new(bytes, 0));
        let mut came_out = Vec::new();
        while let Some(port) = self.switch.next_ready() {
            while let Some(sent) = self.switch.transmit(self.now, port) {
                came_out.push((port, sent.packet.to_vec()));
            }
        }
        self.note(line, port, bytes, &came_out);
        for (port, packet) in came_out {
            self.outputs.entry(port).or_default().push(packet);
        }
        if self.switch.observation().counters().assertions_failed > failed_before.values().sum() {
            for (place, count) in self.failed_assertions() {
                let times = count - failed_before.get(&place).copied().unwrap_or_default();
                if times > 0 {
                    let times = if times > 1 { format!(" {times} times") } else { String::new() };
                    let cause = Cause::Assertion(format!("{place} did not hold{times}"));
                    self.report.problems.push(Problem { line, cause });
                }
            }
        }
        if let Some(fates) = &mut self.fates {
            let mut fate = Fate::of(line, port);
            fate.follow(&self.switch.control().take_trace());
            fates.push(fate);
        }
    }

    /// Keeps what a packet did, where that is looked at.
    fn note(&mut self, line: u32, port: u32, bytes: &[u8], came_out: &[(u32, Vec<u8>)]) {
        let Some(traced) = &mut self.traced else { return };
        let events = self.switch.control().take_trace();
        let steps = p4cc_switch::explained(events, &self.program, self.switch.observation().state());
        let sent =
            came_out.iter().map(|(port, bytes)| SentPacket { port: *port, bytes: hex(bytes) }).collect();
        let steps_left_out = self.switch.control().take_steps_left_out();
        traced.push(TracedPacket { line, port, bytes: hex(bytes), steps, steps_left_out, sent });
    }

    fn failed_assertions(&self) -> BTreeMap<String, u64> {
        self.switch
            .observation()
            .failed_assertions()
            .map(|(place, count)| (place.to_owned(), count))
            .collect()
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
            controller_metadata: 0,
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
    ) -> Result<(), Cause> {
        let count = self.count(name, cell, bytes).map_err(Cause::Command)?;
        let (holds, sign) = match relation {
            Relation::Equal => (count == value, "=="),
            Relation::NotEqual => (count != value, "!="),
            Relation::Less => (count < value, "<"),
            Relation::LessOrEqual => (count <= value, "<="),
            Relation::Greater => (count > value, ">"),
            Relation::GreaterOrEqual => (count >= value, ">="),
        };
        if holds {
            return Ok(());
        }
        let unit = if bytes { "bytes" } else { "packets" };
        Err(Cause::Counter(format!("{name}: expected {unit} {sign} {value}, got {count}")))
    }

    fn count(&mut self, name: &str, cell: &Cell, bytes: bool) -> Outcome<u64> {
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
        Ok(if bytes { read.bytes } else { read.packets })
    }

    fn meter(&self, name: &str) -> Outcome<MeterId> {
        find("meter", self.program.meters.iter().map(|item| &item.cp), name).map(MeterId::from_index)
    }

    fn meter_rates(&mut self, name: &str, index: Option<u32>, rates: &[(f64, u32)]) -> Outcome<()> {
        let id = self.meter(name)?;
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
                    self.switch
                        .observation()
                        .pre()
                        .group(*target)
                        .map(|group| group.replicas.clone())
                        .unwrap_or_default()
                } else {
                    vec![Replica::new(*target, 0)]
                };
                let session =
                    CloneSession { id: *session, replicas, class_of_service: 0, packet_length_bytes: 0 };
                let pre = self.switch.control().pre_mut();
                let known = pre.session(session.id).is_some();
                let done = if known { pre.modify_session(session) } else { pre.insert_session(session) };
                done.map_err(|error| error.to_string())
            }
            Command::MirroringDelete(session) => {
                self.switch.control().pre_mut().delete_session(*session).map_err(|error| error.to_string())
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
            let replica = |&port: &u32| Replica::new(port, node.rid);
            node.ports.iter().map(replica).collect::<Vec<_>>()
        });
        let group = MulticastGroup { id, replicas: replicas.collect(), metadata: Vec::new() };
        let pre = self.switch.control().pre_mut();
        let known = pre.group(id).is_some();
        let done = if known { pre.modify_group(group) } else { pre.insert_group(group) };
        done.map_err(|error| error.to_string())
    }

    /// Compares what came out with what was expected, port by port.
    fn compare(&mut self) {
        for &port in &self.ports {
            let expected = self.expected.get(&port).map(Vec::as_slice).unwrap_or_default();
            let got = self.outputs.get(&port).map(Vec::as_slice).unwrap_or_default();
            for number in 0..expected.len().max(got.len()) {
                let (want, got) = (expected.get(number), got.get(number));
                if let (Some((_, want)), Some(got)) = (want, got)
                    && want.matches(got)
                {
                    continue;
                }
                let elsewhere = |want: &Expected| {
                    let others = self.outputs.iter().filter(|(other, _)| **other != port);
                    let same = others.filter(|(_, packets)| packets.iter().any(|got| want.matches(got)));
                    same.map(|(other, _)| *other).collect()
                };
                let problem = PacketProblem {
                    port,
                    number,
                    expected: want.map(|(_, want)| want.clone()),
                    got: got.cloned(),
                    seen_on: want
                        .filter(|(_, w)| !w.nibbles.is_empty())
                        .map_or_else(Vec::new, |(_, w)| elsewhere(w)),
                    ended: None,
                };
                let line = want.map_or(0, |(line, _)| *line);
                self.report.problems.push(Problem { line, cause: Cause::Packet(Box::new(problem)) });
            }
        }
    }
}
