//! A switch with one of the project's programs, and the control plane's side of it by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use p4cc_exec::control::{EntryAction, Group, GroupMember, Member, TableEntry};
use p4cc_exec::{FilterConfig, Pipeline, State, WredConfig};
use p4cc_ir::{
    ActionCall, ActionId, Bits, CounterId, FilterId, MatchKind, MatchValue, ProfileId, Program, RegisterId,
    TableId,
};
use p4cc_switch::config::DEFAULT_DROP_PORT;
use p4cc_switch::{
    BufferConfig, DEFAULT_PASS_LIMIT, ExecChoice, Packet, PortConfig, QdepthUnit, Switch, SwitchConfig,
    SwitchCounters, TimestampUnit,
};
use p4cc_syntax::{Options, Severity, Source};
use p4cc_units::{Rate, Span, Time};

/// Every packet goes out here.
pub const OUT: u32 = 2;
/// Packets come in here.
pub const IN: u32 = 1;
/// Of every port.
pub const RATE_BPS: u64 = 10_000_000_000;

/// A switch whose only route leads to [`OUT`].
#[derive(Clone)]
pub struct Bench {
    program: Arc<Program>,
    pub switch: Switch,
    packets: u32,
}

/// A port before it has its number.
fn port() -> PortConfig {
    PortConfig { rate: Rate::from_bps(RATE_BPS), capacity_pkts: 4096, ..PortConfig::default() }
}

/// Packets of a bench that all ways are compared for.
const COMPARED: u32 = 12;

/// Compiles a program of `p4src/v1model`, or of `p4src/tna` where the name begins with that folder.
///
/// Where P4CC_JSON_DIR is set, reads what another compiler made of it there (`NAME.json`, BMv2's format), so
/// that the same tests hold both to the same packets. P4CC_P4SRC_DIR names another folder than `p4src`: a
/// copy with a mutant (docs/how-to/mutation-testing.md).
pub fn compile(name: &str) -> Arc<Program> {
    let below = if name.contains('/') { String::from(name) } else { format!("v1model/{name}") };
    if let Some(folder) = std::env::var_os("P4CC_JSON_DIR").filter(|_| !name.contains('/')) {
        let path = Path::new(&folder).join(format!("{name}.json"));
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (program, errors) = p4cc_bmv2json::read(&text);
        return Arc::new(program.unwrap_or_else(|| panic!("{}: {errors:?}", path.display())));
    }
    let sources = std::env::var_os("P4CC_P4SRC_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4src"), PathBuf::from);
    let path = sources.join(format!("{below}.p4"));
    let (source, mut found) = Source::load(&path, &Options::default());
    let (tree, syntax) = p4cc_syntax::parse(&source);
    let (program, checks) = p4cc_compile::compile(&tree);
    found.extend(syntax.into_iter().chain(checks));
    found.retain(|diagnostic| diagnostic.severity == Severity::Error);
    Arc::new(program.unwrap_or_else(|| panic!("{}", source.render(&found, false))))
}

/// The same ready to run, made once for all tests, as its native code is.
fn pipeline(name: &str) -> Arc<Pipeline> {
    static MADE: Mutex<BTreeMap<String, Arc<Pipeline>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let new = || Arc::new(Pipeline::compile(compile(name)).expect("a checked program"));
    Arc::clone(made.entry(name.to_owned()).or_insert_with(new))
}

impl Bench {
    pub fn new(name: &str, qdepth_unit: QdepthUnit) -> Self {
        Self::with(name, PortConfig { qdepth_unit, ..port() }, false, None)
    }

    /// Queues hold so many bytes on the link; what finds one full runs through ingress once more.
    pub fn deflecting(name: &str, capacity_bytes: u64) -> Self {
        Self::with(name, PortConfig { capacity_bytes: Some(capacity_bytes), ..port() }, true, None)
    }

    /// Queues share so many bytes, and are full before their own capacity is.
    pub fn deflecting_with_buffer(name: &str, bytes: u64) -> Self {
        let buffer = BufferConfig { bytes, reserve_bytes: 0, resume_offset_bytes: 0, lossless: 0 };
        Self::with(name, port(), true, Some(buffer))
    }

    fn with(name: &str, port: PortConfig, deflect_on_drop: bool, buffer: Option<BufferConfig>) -> Self {
        let config = SwitchConfig {
            device_id: 1,
            ports: vec![PortConfig { port: IN, ..port }, PortConfig { port: OUT, ..port }],
            timestamp_unit: TimestampUnit::Ns,
            buffer,
            cpu_port: None,
            drop_port: DEFAULT_DROP_PORT,
            seed: 7,
            pass_limit: DEFAULT_PASS_LIMIT,
            deflect_on_drop,
        };
        let mut switch = Switch::new(config).expect("a right configuration");
        let pipeline = pipeline(name);
        let program = Arc::clone(pipeline.program());
        switch.control().set_pipeline(pipeline);
        let mut bench = Self { program, switch, packets: 0 };
        bench.route();
        bench
    }

    fn route(&mut self) {
        let action =
            self.call("ingress.forward.set_next_hop", &[u128::from(OUT), super::frame::NEXT_HOP.into()]);
        let profile = ProfileId::from_index(
            position(&self.program.profiles, |profile| profile.cp.name == "ingress.forward.ecmp")
                .expect("the program forwards"),
        );
        let table = self.table("ingress.forward.ipv4_lpm");
        let state = self.state();
        state.member_insert(profile, Member { id: 1, action }).expect("an empty profile");
        let member = GroupMember { member_id: 1, weight: 1, watch_port: None };
        state.group_insert(profile, Group { id: 1, max_size: 0, members: vec![member] }).expect("one group");
        let everything = MatchValue::Lpm { value: Bits::from_u128(32, 0x0a00_0000), len: 8 };
        state.table_insert(table, entry(vec![everything], EntryAction::Group(1))).expect("one route");
    }

    /// The route's group has these next hops in place of the one, told apart by their addresses.
    pub fn spread(&mut self, next_hops: &[u64]) {
        let profile = ProfileId::from_index(0);
        let mut members = Vec::new();
        for (id, mac) in (2..).zip(next_hops) {
            let action = self.call("ingress.forward.set_next_hop", &[u128::from(OUT), (*mac).into()]);
            self.state().member_insert(profile, Member { id, action }).expect("room for a member");
            members.push(GroupMember { member_id: id, weight: 1, watch_port: None });
        }
        self.state().group_modify(profile, Group { id: 1, max_size: 0, members }).expect("the route's group");
    }

    /// Member `id` of the route's group, as [`Self::spread`] numbers them from 2 on, watches port `100 + id`.
    pub fn watch_ports(&mut self) {
        let state = self.state();
        let mut group = state.groups(ProfileId::from_index(0)).next().expect("the route's group").clone();
        for member in &mut group.members {
            member.watch_port = Some((100 + member.member_id).into());
        }
        state.group_modify(ProfileId::from_index(0), group).expect("the route's group");
    }

    /// The route leads to its one next hop without a group.
    pub fn route_to_member(&mut self) {
        let table = self.table("ingress.forward.ipv4_lpm");
        let everything = MatchValue::Lpm { value: Bits::from_u128(32, 0x0a00_0000), len: 8 };
        let changed = entry(vec![everything], EntryAction::Member(1));
        self.state().table_modify(table, changed).expect("the route is there");
    }

    fn state(&mut self) -> &mut State {
        self.switch.control().state_mut().expect("a program is loaded")
    }

    fn table(&self, name: &str) -> TableId {
        let at = position(&self.program.tables, |table| table.cp.name == name);
        TableId::from_index(at.unwrap_or_else(|| panic!("no table {name}")))
    }

    fn call(&self, name: &str, args: &[u128]) -> ActionCall {
        let at = position(&self.program.actions, |action| action.cp.name == name);
        let at = at.unwrap_or_else(|| panic!("no action {name}"));
        let params = &self.program.actions[at].params;
        assert_eq!(params.len(), args.len(), "arguments of {name}");
        let width = |var: p4cc_ir::VarId| self.program.vars[var.index()].ty.width();
        let args = params.iter().zip(args).map(|(param, arg)| {
            let bits = Bits::from_u128(width(param.var), *arg);
            assert_eq!(bits.to_u128(), Some(*arg), "{name}: the argument fits its parameter");
            bits
        });
        ActionCall { action: ActionId::from_index(at), args: args.collect() }
    }

    /// Adds an entry to a table with exact keys only.
    pub fn add(&mut self, table: &str, keys: &[u128], action: &str, args: &[u128]) {
        let call = self.call(action, args);
        let id = self.table(table);
        let matches = self.program.tables[id.index()].keys.iter().zip(keys).map(|(key, value)| {
            assert_eq!(key.kind, MatchKind::Exact);
            MatchValue::Exact(Bits::from_u128(self.program.vars[key.var.index()].ty.width().max(1), *value))
        });
        let matches = matches.collect();
        let added = self.state().table_insert(id, entry(matches, EntryAction::Direct(call)));
        added.unwrap_or_else(|error| panic!("{table}: {error}"));
    }

    /// Gives an entry of a table with exact keys only another action.
    pub fn change(&mut self, table: &str, keys: &[u128], action: &str, args: &[u128]) {
        let call = self.call(action, args);
        let id = self.table(table);
        let matches = self.program.tables[id.index()].keys.iter().zip(keys).map(|(key, value)| {
            MatchValue::Exact(Bits::from_u128(self.program.vars[key.var.index()].ty.width().max(1), *value))
        });
        let changed = entry(matches.collect(), EntryAction::Direct(call));
        self.state().table_modify(id, changed).unwrap_or_else(|error| panic!("{table}: {error}"));
    }

    /// Adds an entry of priority 1 to a table by an exact key and a range.
    pub fn add_range(&mut self, table: &str, exact: u128, ends: [u128; 2], action: &str, args: &[u128]) {
        let call = self.call(action, args);
        let id = self.table(table);
        let bits = |at: usize, value| {
            let key = &self.program.tables[id.index()].keys[at];
            Bits::from_u128(self.program.vars[key.var.index()].ty.width(), value)
        };
        let [low, high] = ends.map(|end| bits(1, end));
        let matches = vec![MatchValue::Exact(bits(0, exact)), MatchValue::Range { low, high }];
        let added = TableEntry { priority: 1, ..entry(matches, EntryAction::Direct(call)) };
        self.state().table_insert(id, added).unwrap_or_else(|error| panic!("{table}: {error}"));
    }

    /// Sets a WRED filter's curve: depths, and the chance at the upper one; the queue of this moment counts.
    pub fn set_wred(&mut self, name: &str, index: u32, depths: [u32; 2], chance: f64) {
        let at = position(&self.program.filters, |filter| filter.cp.name == name);
        let id = FilterId::from_index(at.unwrap_or_else(|| panic!("no filter {name}")));
        let [min_threshold, max_threshold] = depths;
        let config = WredConfig { time_ns: 0.0, min_threshold, max_threshold, max_probability: chance };
        let written = self.state().filter_write(id, index, Some(FilterConfig::Wred(config)));
        written.unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    fn register_id(&self, name: &str) -> RegisterId {
        let at = position(&self.program.registers, |register| register.cp.name == name);
        RegisterId::from_index(at.unwrap_or_else(|| panic!("no register {name}")))
    }

    /// A cell of a register.
    pub fn register(&self, name: &str, index: u32) -> u64 {
        let state = self.switch.observation().state().expect("a program is loaded");
        let bits = state.register_read(self.register_id(name), index).expect("the cell is there");
        bits.to_u128().and_then(|value| u64::try_from(value).ok()).expect("at most 64 bits")
    }

    /// Writes a cell of a register.
    pub fn set_register(&mut self, name: &str, index: u32, value: u64) {
        let id = self.register_id(name);
        let width = self.program.registers[id.index()].ty.width();
        let bits = Bits::from_u128(width, value.into());
        self.state().register_write(id, index, &bits).expect("the cell is there");
    }

    /// Packets counted in a cell.
    pub fn counter(&self, name: &str, index: u32) -> u64 {
        let at = position(&self.program.counters, |counter| counter.cp.name == name);
        let id = CounterId::from_index(at.unwrap_or_else(|| panic!("no counter {name}")));
        self.switch
            .observation()
            .state()
            .expect("a program")
            .counter_read(id, index)
            .expect("the cell is there")
            .packets
    }

    /// A packet arrives on [`IN`].
    pub fn receive(&mut self, now_ns: u64, packet: Packet) {
        self.switch.receive(Time::from_ns(now_ns), IN, packet);
        while self.switch.next_ready().is_some() {}
    }

    /// What the switch counted.
    pub fn counters(&self) -> SwitchCounters {
        *self.switch.observation().counters()
    }

    /// The next packet leaves [`OUT`], with the time it takes on the link.
    pub fn transmit(&mut self, now_ns: u64) -> Option<(Packet, Span)> {
        let sent = self.switch.transmit(Time::from_ns(now_ns), OUT)?;
        Some((sent.packet, sent.duration))
    }

    /// Whether a packet bypasses its empty queue on a back end. The first packet sizes the frame's buffers,
    /// so the second one tells.
    pub fn bypasses(&self, exec: ExecChoice, packet: Packet) -> bool {
        let mut switch = self.switch.clone();
        switch.control().set_exec(exec);
        switch.receive(Time::ZERO, IN, packet.clone());
        let ready = switch.next_ready().expect("the packet is forwarded");
        assert!(switch.transmit(Time::ZERO, ready).is_some(), "its port is idle");
        switch.receive_with_bypass(Time::ZERO, IN, packet, |_| true).is_some()
    }

    /// A packet through the empty switch: through its queue, and for the first packets of a bench also with
    /// [`Switch::receive_with_bypass`] on each back end. Counters, cells and the packet that leaves are the
    /// same for all.
    pub fn forward(&mut self, now_ns: u64, packet: Packet) -> Option<Packet> {
        self.packets += 1;
        let execs = [ExecChoice::Interp, ExecChoice::Native].into_iter().filter(|_| self.packets <= COMPARED);
        let bypassing = execs.map(|exec| {
            let mut switch = self.switch.clone();
            switch.control().set_exec(exec);
            let now = Time::from_ns(now_ns);
            let bypassed = switch.receive_with_bypass(now, IN, packet.clone(), |_| true);
            let sent = bypassed.or_else(|| switch.next_ready().and_then(|port| switch.transmit(now, port)));
            (exec, switch, sent.map(|sent| (sent.packet, sent.duration)))
        });
        let bypassing: Vec<_> = bypassing.collect();
        self.receive(now_ns, packet);
        let sent = self.transmit(now_ns);
        assert!(self.transmit(now_ns).is_none(), "only one packet was waiting");
        for (exec, switch, left) in bypassing {
            assert_eq!(left, sent, "bypass, {exec:?}");
            assert_eq!(
                switch.observation().counters(),
                self.switch.observation().counters(),
                "bypass, {exec:?}"
            );
            for port in [IN, OUT] {
                assert_eq!(
                    switch.observation().port_counters(port),
                    self.switch.observation().port_counters(port),
                    "bypass, {exec:?}"
                );
            }
            let [state, other] =
                [&switch, &self.switch].map(|switch| switch.observation().state().expect("a program"));
            assert!(state.has_same_cells(other), "bypass, {exec:?}");
        }
        sent.map(|(packet, _)| packet)
    }
}

fn entry(matches: Vec<MatchValue>, action: EntryAction) -> TableEntry {
    TableEntry {
        matches,
        priority: 0,
        action,
        metadata: Vec::new(),
        controller_metadata: 0,
        idle_timeout_ns: 0,
        is_const: false,
    }
}

fn position<T>(list: &[T], is: impl Fn(&T) -> bool) -> Option<usize> {
    list.iter().position(is)
}
