//! Runs a case's commands on a switch.
//!
//! Time is zero unless `time` says another: ports are served at once after each packet, so
//! that outputs come in order of ports. Every output must be expected
//! before the next command that is not an expectation, and before the end.
//!
//! A case runs once for each of [`MODES`]: nothing that it expects depends on what runs the program, on
//! whether a packet bypasses its queue, or on whether somebody traces.

use crate::bench::{self, Setup};
use crate::chip::ChipCommand;
use crate::script::{Action, Command, Key, Runs, parse};
use crate::{Failure, compile};
use p4cc_exec::control::{EntryAction, Group, GroupMember, Member, TableEntry};
use p4cc_exec::{DigestMessage, Pipeline, State};
use p4cc_ir::{
    ActionCall, ActionId, Bits, CounterId, MatchKind, MatchValue, ProfileId, Program, RegisterId, TableId,
    ValueSetId,
};
use p4cc_switch::{CloneSession, ExecChoice, MulticastGroup, Packet, Replica, Switch, Transmission};
use p4cc_units::Time;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// Runs a case.
///
/// # Errors
/// The first command that did not go as it says, or the compiler's diagnostics.
pub fn run(path: &Path) -> Result<(), Failure> {
    let compiled = compile(path);
    let Some(program) = compiled.program else {
        let message = compiled.source.render(&compiled.diagnostics, false);
        return Err(Failure { file: path.display().to_string(), line: 1, message });
    };
    run_program(path, program)
}

/// Runs a case's commands on a program that was read from elsewhere.
///
/// # Errors
/// The first command that did not go as it says.
pub fn run_program(path: &Path, program: Program) -> Result<(), Failure> {
    let file = path.display().to_string();
    let fail = |line: u32, message: String| Failure { file: file.clone(), line, message };
    let text = std::fs::read_to_string(path).map_err(|error| fail(1, error.to_string()))?;
    let commands = parse(&text).map_err(|(line, cause)| fail(line, cause))?;
    if !commands.iter().any(|(_, command)| matches!(command, Command::Packet { .. })) {
        return Err(fail(1, "the case sends no packet".to_owned()));
    }
    let violations = p4cc_ir::verify::verify(&program);
    if !violations.is_empty() {
        return Err(fail(1, format!("{violations:#?}\n{}", p4cc_ir::text::to_text(&program))));
    }
    let program = Arc::new(program);
    let pipeline = Pipeline::compile(program).map(Arc::new).map_err(|error| fail(1, error.to_string()))?;
    let cpu_port = commands.iter().find_map(|(_, command)| match command {
        Command::CpuPort(port) => Some(*port),
        _ => None,
    });
    let deflect_on_drop = commands.iter().any(|(_, command)| *command == Command::DeflectOnDrop);
    let setup = Setup { cpu_port, deflect_on_drop, is_tight: false };
    for mode in &MODES {
        let fail = |line: u32, cause: String| fail(line, format!("by {}: {cause}", mode.name));
        let mut bench = Bench::new(&pipeline, mode, setup).map_err(|cause| fail(1, cause))?;
        for (line, command) in &commands {
            bench.step(command).map_err(|cause| fail(*line, cause))?;
        }
        bench.settled().map_err(|cause| fail(text.lines().count() as u32, cause))?;
    }
    Ok(())
}

/// How a switch runs a program; no result depends on it.
pub(crate) struct Mode {
    /// As messages call it.
    pub name: &'static str,
    /// What runs the program.
    pub exec: ExecChoice,
    /// Ports are idle, so that packets may bypass empty queues, as in the simulator and the daemon.
    pub ports_are_idle: bool,
    /// Each step is kept, as the daemon does it at the log levels `debug` and `trace`.
    pub traces: bool,
}

impl Mode {
    const fn new(name: &'static str, exec: ExecChoice, ports_are_idle: bool, traces: bool) -> Self {
        Self { name, exec, ports_are_idle, traces }
    }
}

/// All that may differ. What traces runs the interpreter whatever is chosen, and its packets never bypass a
/// queue; its ports are idle all the same, as the daemon's are.
pub(crate) const MODES: [Mode; 5] = [
    Mode::new("the interpreter", ExecChoice::Interp, false, false),
    Mode::new("the interpreter with bypass", ExecChoice::Interp, true, false),
    Mode::new("native code", ExecChoice::Native, false, false),
    Mode::new("native code with bypass", ExecChoice::Native, true, false),
    Mode::new("native code with a trace", ExecChoice::Native, true, true),
];

/// A switch with the program, and what it gave so far.
struct Bench {
    program: Arc<Program>,
    switch: Switch,
    ports_are_idle: bool,
    /// Nothing is served.
    is_stopped: bool,
    cpu_port: Option<u32>,
    outputs: VecDeque<(u32, Vec<u8>)>,
    digests: VecDeque<DigestMessage>,
    logs: VecDeque<String>,
    now: Time,
}

type Outcome<T> = Result<T, String>;

impl Bench {
    fn new(pipeline: &Arc<Pipeline>, mode: &Mode, setup: Setup) -> Outcome<Self> {
        let cpu_port = setup.cpu_port;
        let mut switch = bench::switch_with(pipeline, mode.exec, setup);
        if let Some(error) = switch.observation().native_error() {
            return Err(error.to_string());
        }
        switch.control().set_logging(true);
        switch.control().set_tracing(mode.traces);
        let program = Arc::clone(pipeline.program());
        let ports_are_idle = mode.ports_are_idle;
        let (outputs, digests, logs) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        let (now, is_stopped) = (Time::ZERO, false);
        Ok(Self { program, switch, ports_are_idle, is_stopped, cpu_port, now, outputs, digests, logs })
    }

    fn state(&mut self) -> Outcome<&mut State> {
        self.switch.control().state_mut().ok_or_else(|| "the switch has no pipeline".to_owned())
    }

    fn settled(&self) -> Outcome<()> {
        match (self.outputs.front(), self.digests.front()) {
            (Some((port, bytes)), _) => Err(format!("not expected: port {port} {}", hex(bytes))),
            (None, Some(digest)) => Err(format!("not expected: {digest:?}")),
            (None, None) => Ok(()),
        }
    }

    fn step(&mut self, command: &Command) -> Outcome<()> {
        match command {
            Command::Expect { port, nibbles } => self.expect(*port, nibbles),
            Command::ExpectNothing => self.settled(),
            Command::ExpectRegister { name, index, value } => {
                let id = self.register(name)?;
                let read = self.state()?.register_read(id, *index).map_err(|error| error.to_string())?;
                same(&format!("{name}[{index}]"), read.to_u128(), Some(*value))
            }
            Command::ExpectCounter { name, index, packets } => {
                let id = self.counter(name)?;
                let read = self.state()?.counter_read(id, *index).map_err(|error| error.to_string())?;
                same(&format!("{name}[{index}]"), read.packets, *packets)
            }
            Command::ExpectDigest { name, values } => self.expect_digest(name, values),
            Command::ExpectLog(text) => {
                self.logs.extend(self.switch.control().take_logs().into_iter().map(|line| line.text));
                same("log line", self.logs.pop_front().as_ref(), Some(text))
            }
            Command::Chip(command) if command.expects() => self.chip(command),
            _ => {
                self.settled()?;
                self.act(command)
            }
        }
    }

    fn act(&mut self, command: &Command) -> Outcome<()> {
        match command {
            Command::Packet { port, bytes } => self.packet(*port, bytes),
            Command::Add { table, keys, runs, priority } => self.add(table, keys, runs, *priority),
            Command::Default { table, action } => {
                let id = self.table(table)?;
                let call = self.action(Some(id), action)?;
                self.state()?.set_default_action(id, call).map_err(|error| error.to_string())
            }
            Command::Member { profile, id, action } => {
                let action = self.action(None, action)?;
                let profile = self.profile(profile)?;
                let member = Member { id: *id, action };
                self.state()?.member_insert(profile, member).map_err(|error| error.to_string())
            }
            Command::Group { profile, id, members } => {
                let profile = self.profile(profile)?;
                let member = |id: &u32| GroupMember { member_id: *id, weight: 1, watch_port: None };
                let group = Group { id: *id, max_size: 0, members: members.iter().map(member).collect() };
                self.state()?.group_insert(profile, group).map_err(|error| error.to_string())
            }
            Command::Register { name, index, value } => {
                let id = self.register(name)?;
                let width = self.program.registers[id.index()].ty.width();
                let value = Bits::from_u128(width, *value);
                self.state()?.register_write(id, *index, &value).map_err(|error| error.to_string())
            }
            Command::Multicast { group, ports } => {
                let replicas = ports.iter().map(|port| replica(*port)).collect();
                let group = MulticastGroup { id: *group, replicas, metadata: Vec::new() };
                self.switch.control().pre_mut().insert_group(group).map_err(|error| error.to_string())
            }
            Command::Session { id, port } => {
                let session = CloneSession {
                    id: *id,
                    replicas: vec![replica(*port)],
                    class_of_service: 0,
                    packet_length_bytes: 0,
                };
                self.switch.control().pre_mut().insert_session(session).map_err(|error| error.to_string())
            }
            Command::CpuPort(_) | Command::DeflectOnDrop => Ok(()),
            Command::Stop(stops) => {
                self.is_stopped = *stops;
                self.serve();
                Ok(())
            }
            Command::Chip(command) => self.chip(command),
            Command::Set { name, values } => self.set(name, values),
            Command::Tofino(command) => {
                command.run(&mut self.switch, self.now)?;
                // A port that went down may have started the packet generator.
                self.switch.generate(self.now);
                self.serve();
                Ok(())
            }
            Command::Time(ns) => {
                let until = Time::from_ns(*ns);
                while let Some(due) = self.switch.next_generated().filter(|due| *due <= until) {
                    self.now = self.now.max(due);
                    self.switch.generate(self.now);
                    self.serve();
                }
                self.now = until;
                Ok(())
            }
            _ => Err("an expectation is no action".to_owned()),
        }
    }

    fn chip(&mut self, command: &ChipCommand) -> Outcome<()> {
        let program = Arc::clone(&self.program);
        crate::chip::run(&program, self.state()?, command)
    }

    fn packet(&mut self, port: u32, bytes: &[u8]) -> Outcome<()> {
        let is_idle = self.ports_are_idle && !self.is_stopped;
        let sent = self.switch.receive_with_bypass(self.now, port, Packet::new(bytes, 0), |_| is_idle);
        self.serve_after(sent);
        // What the packet started in the packet generator.
        while self.switch.next_generated().is_some_and(|due| due <= self.now) {
            self.switch.generate(self.now);
            self.serve();
        }
        Ok(())
    }

    /// Empties the queues.
    fn serve(&mut self) {
        self.serve_after(None);
    }

    /// The same after a packet that bypassed its queue. What goes to the controller comes out of its port.
    fn serve_after(&mut self, bypassed: Option<Transmission>) {
        let sent = |sent: Transmission| (sent.port, sent.packet.to_vec());
        let mut out: Vec<(u32, Vec<u8>)> = bypassed.into_iter().map(sent).collect();
        while !self.is_stopped
            && let Some(port) = self.switch.next_ready()
        {
            out.extend(core::iter::from_fn(|| self.switch.transmit(self.now, port)).map(sent));
        }
        let packet_ins = self.switch.take_packet_ins().into_iter();
        out.extend(packet_ins.filter_map(|packet| Some((self.cpu_port?, packet.to_vec()))));
        out.sort_by_key(|(port, _)| *port);
        self.outputs.extend(out);
        self.digests.extend(self.switch.take_digests());
    }

    fn expect(&mut self, port: u32, nibbles: &[Option<u8>]) -> Outcome<()> {
        let wanted: String = nibbles
            .iter()
            .map(|n| n.map_or('*', |n| char::from_digit(u32::from(n), 16).unwrap_or('?')))
            .collect();
        let Some((left, bytes)) = self.outputs.pop_front() else {
            return Err(format!("nothing left, but port {port} should send {wanted}"));
        };
        let given: Vec<u8> = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
        let fits = given.len() == nibbles.len()
            && given.iter().zip(nibbles).all(|(given, wanted)| wanted.is_none_or(|wanted| wanted == *given));
        if left == port && fits {
            return Ok(());
        }
        Err(format!("port {left} sent {}\n  but port {port} should send {wanted}", hex(&bytes)))
    }

    fn expect_digest(&mut self, name: &str, values: &[u128]) -> Outcome<()> {
        let Some(digest) = self.digests.pop_front() else {
            return Err(format!("no digest came, but {name} should"));
        };
        let sent = self.program.digests.get(digest.digest.index()).map(|digest| digest.cp.name.as_str());
        same("digest", sent, Some(name))?;
        let data: Vec<Option<u128>> = digest.values.iter().map(Bits::to_u128).collect();
        same(name, data, values.iter().map(|value| Some(*value)).collect())
    }

    fn add(&mut self, table: &str, keys: &[Key], runs: &Runs, priority: u32) -> Outcome<()> {
        let id = self.table(table)?;
        let kinds: Vec<(MatchKind, u32)> = self.program.tables[id.index()]
            .keys
            .iter()
            .filter(|key| key.kind != MatchKind::Selector)
            .map(|key| (key.kind, self.program.vars[key.var.index()].ty.width()))
            .collect();
        same("number of keys", keys.len(), kinds.len())?;
        let matches = keys
            .iter()
            .zip(&kinds)
            .map(|(key, (kind, width))| match_value(key, *kind, *width))
            .collect::<Outcome<Vec<MatchValue>>>()?;
        let action = match runs {
            Runs::Action(action) => EntryAction::Direct(self.action(Some(id), action)?),
            Runs::Member(id) => EntryAction::Member(*id),
            Runs::Group(id) => EntryAction::Group(*id),
        };
        let entry = TableEntry {
            matches,
            priority,
            action,
            metadata: Vec::new(),
            controller_metadata: 0,
            idle_timeout_ns: 0,
            is_const: false,
        };
        self.state()?.table_insert(id, entry).map_err(|error| error.to_string())
    }

    fn set(&mut self, name: &str, values: &[u128]) -> Outcome<()> {
        let at = find(&self.program.value_sets, name, |set| &set.cp.name)?;
        let set = &self.program.value_sets[at];
        let keys = set.keys.as_slice();
        if keys.is_empty() || !values.len().is_multiple_of(keys.len()) {
            return Err(format!("{name} has {} keys, {} values are given", keys.len(), values.len()));
        }
        let member = |values: &[u128]| -> Outcome<Vec<MatchValue>> {
            let parts = values.iter().zip(keys);
            parts.map(|(value, (_, ty, kind))| match_value(&Key::Value(*value), *kind, ty.width())).collect()
        };
        let members: Outcome<Vec<Vec<MatchValue>>> = values.chunks(keys.len()).map(member).collect();
        let members = members?;
        self.state()?.value_set_write(ValueSetId::from_index(at), members).map_err(|error| error.to_string())
    }

    /// An action by name: of those that a table lists, since several may share a name, or of all.
    fn action(&self, table: Option<TableId>, action: &Action) -> Outcome<ActionCall> {
        let listed = table.and_then(|table| {
            let mut listed = self.program.tables[table.index()].actions.iter().map(|listed| listed.action);
            listed.find(|listed| self.program.actions[listed.index()].cp.name == action.name)
        });
        let at = match listed {
            Some(listed) => listed.index(),
            None => find(&self.program.actions, &action.name, |action| &action.cp.name)?,
        };
        let params = &self.program.actions[at].params;
        same("number of arguments", action.args.len(), params.len())?;
        let width = |var: p4cc_ir::VarId| self.program.vars[var.index()].ty.width();
        let args = action.args.iter().zip(params).map(|(arg, param)| Bits::from_u128(width(param.var), *arg));
        Ok(ActionCall { action: ActionId::from_index(at), args: args.collect() })
    }

    fn table(&self, name: &str) -> Outcome<TableId> {
        find(&self.program.tables, name, |table| &table.cp.name).map(TableId::from_index)
    }

    fn register(&self, name: &str) -> Outcome<RegisterId> {
        find(&self.program.registers, name, |register| &register.cp.name).map(RegisterId::from_index)
    }

    fn counter(&self, name: &str) -> Outcome<CounterId> {
        find(&self.program.counters, name, |counter| &counter.cp.name).map(CounterId::from_index)
    }

    fn profile(&self, name: &str) -> Outcome<ProfileId> {
        find(&self.program.profiles, name, |profile| &profile.cp.name).map(ProfileId::from_index)
    }
}

fn replica(port: u32) -> Replica {
    Replica::new(port, 0)
}

fn find<T>(list: &[T], name: &str, named: impl Fn(&T) -> &String) -> Outcome<usize> {
    list.iter().position(|one| named(one) == name).ok_or_else(|| {
        let names: Vec<&str> = list.iter().map(|one| named(one).as_str()).collect();
        format!("there is no `{name}`; there are {}", names.join(", "))
    })
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, given: T, wanted: T) -> Outcome<()> {
    if given == wanted { Ok(()) } else { Err(format!("{what} is {given:?}, should be {wanted:?}")) }
}

pub(crate) fn match_value(key: &Key, kind: MatchKind, width: u32) -> Outcome<MatchValue> {
    let bits = |value: u128| Bits::from_u128(width, value);
    Ok(match (key, kind) {
        (Key::Any, _) => MatchValue::Any,
        (Key::Value(value), MatchKind::Exact | MatchKind::Optional) => MatchValue::Exact(bits(*value)),
        (Key::Value(value), MatchKind::Lpm) => MatchValue::Lpm { value: bits(*value), len: width },
        (Key::Prefix(value, len), MatchKind::Lpm) => MatchValue::Lpm { value: bits(*value), len: *len },
        (Key::Value(value), MatchKind::Ternary) => {
            MatchValue::Ternary { value: bits(*value), mask: bits(u128::MAX) }
        }
        (Key::Mask(value, mask), MatchKind::Ternary) => {
            MatchValue::Ternary { value: bits(*value & *mask), mask: bits(*mask) }
        }
        (Key::Value(value), MatchKind::Range) => MatchValue::Range { low: bits(*value), high: bits(*value) },
        (Key::Range(low, high), MatchKind::Range) => MatchValue::Range { low: bits(*low), high: bits(*high) },
        _ => return Err(format!("{key:?} does not fit a {kind:?} key")),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
