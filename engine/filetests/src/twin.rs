//! Switches with one program, one for each mode: what runs the program, whether packets may bypass empty
//! queues, whether somebody traces. All must give the same packets, counters and cells.

use std::fmt::Write as _;
use std::sync::Arc;

use p4cc_exec::control::{CounterCell, EntryAction, TableEntry};
use p4cc_exec::{
    FilterConfig, LpfConfig, MeterConfig, NativeError, Pipeline, RandomSource, State, WredConfig,
};
use p4cc_ir::{
    ActionCall, Bits, CounterId, FilterId, FilterKind, HashFunction, HashId, MatchKind, MatchValue, MeterId,
    Program, RegisterId, TableId, VarType,
};
use p4cc_switch::{CloneSession, MulticastGroup, Packet, Replica, Switch, Transmission};
use p4cc_units::Time;

use crate::bench::{self, Setup};
use crate::runner::{MODES, Mode};

/// Packets that one packet may become before the rest waits for the next one.
const MAX_SENT: usize = 256;
/// Entries tried for each table.
const ENTRIES: u32 = 12;
/// Cells of each array that get a value.
const CELLS: u32 = 4;

/// The port whose packets go to the controller.
const CPU_PORT: u32 = 64;
/// A tight switch is served after one of so many packets.
const SERVED: u64 = 12;
/// Sessions and groups have the numbers below it.
const REPLICATED: u32 = 16;

/// The switches.
pub struct Twin {
    program: Arc<Program>,
    switches: [Switch; MODES.len()],
    is_tight: bool,
}

impl Twin {
    /// Switches that run a program. Whether room is tight, and what finds none is deflected, is drawn.
    ///
    /// # Errors
    /// Why there is no native code.
    pub fn new(pipeline: &Arc<Pipeline>, random: &mut impl RandomSource) -> Result<Self, NativeError> {
        pipeline.native().map_err(Clone::clone)?;
        let mut drawn = || random.next_u64().is_multiple_of(2);
        let setup = Setup { cpu_port: Some(CPU_PORT), deflect_on_drop: drawn(), is_tight: drawn() };
        let switches = core::array::from_fn(|at| {
            let Mode { exec, traces, .. } = MODES[at];
            let mut switch = bench::switch_with(pipeline, exec, setup);
            switch.control().set_logging(true);
            switch.control().set_tracing(traces);
            switch
        });
        Ok(Self { program: Arc::clone(pipeline.program()), switches, is_tight: setup.is_tight })
    }

    /// Sends a packet to all and empties their queues, those of a tight switch now and then.
    ///
    /// # Errors
    /// What differs.
    pub fn send(
        &mut self,
        now: Time,
        port: u32,
        packet: &Packet,
        random: &mut impl RandomSource,
    ) -> Result<(), String> {
        let serves = !self.is_tight || random.next_u64().is_multiple_of(SERVED);
        let mut ways = MODES.iter().zip(&mut self.switches).map(|(mode, switch)| {
            let mut seen = receive(switch, now, port, packet, mode.ports_are_idle && serves);
            if serves {
                serve(switch, now, &mut seen);
            }
            describe(switch, &mut seen);
            (mode.name, seen, switch.observation().state())
        });
        let Some((way, seen, state)) = ways.next() else { return Ok(()) };
        for (other_way, other, other_state) in ways {
            let name = &self.program.name;
            if other != seen {
                return Err(format!("{name}: by {way}\n{seen}by {other_way}\n{other}"));
            }
            let (Some(state), Some(other_state)) = (state, other_state) else { continue };
            if !state.has_same_cells(other_state) {
                return Err(format!(
                    "{name}: counters, meters, registers or times of hits differ by {other_way}"
                ));
            }
        }
        Ok(())
    }

    /// Fills tables, registers and meters, groups and sessions of all alike with what the source gives.
    pub fn fill(&mut self, random: &mut impl RandomSource) {
        let program = Arc::clone(&self.program);
        for (id, table) in program.tables.iter().enumerate() {
            let id = TableId::from_index(id);
            for _ in 0..ENTRIES {
                if let Some(entry) = entry(&program, id, random) {
                    // A second entry with the same match is refused by all.
                    self.states(|state| drop(state.table_insert(id, entry.clone())));
                }
            }
            let actions = &table.actions;
            if random.next_u64().is_multiple_of(2) && !actions.is_empty() {
                let action = actions[random.next_u64() as usize % actions.len()].action;
                let call = action_call(&program, action, random);
                self.states(|state| drop(state.set_default_action(id, call.clone())));
            }
        }
        for (id, register) in program.registers.iter().enumerate() {
            let id = RegisterId::from_index(id);
            for index in 0..CELLS {
                let value = bits(register.ty.width(), random);
                self.states(|state| drop(state.register_write(id, index, &value)));
            }
        }
        for id in 0..program.meters.len() {
            let config = MeterConfig { cir: 1_000, cburst: 200, pir: 2_000, pburst: 600 };
            self.states(|state| drop(state.meter_write(MeterId::from_index(id), 0, Some(config))));
        }
        for (id, filter) in program.filters.iter().enumerate() {
            let config = filter_config(filter.kind);
            self.states(|state| drop(state.filter_write(FilterId::from_index(id), 0, Some(config))));
            for (id, _) in program.tables.iter().enumerate() {
                let id = TableId::from_index(id);
                self.states(|state| drop(state.direct_filter_write(id, &[], 0, Some(config))));
            }
        }
        for id in 0..program.hashes.len() {
            let names: Vec<&str> = HashFunction::names().collect();
            let name = names[random.next_u64() as usize % names.len()];
            let function = HashFunction::by_name(name);
            self.states(|state| drop(state.set_hash_function(HashId::from_index(id), function)));
        }
        for id in 0..program.counters.len() {
            let cell = CounterCell { packets: u64::MAX, bytes: 1 };
            self.states(|state| drop(state.counter_write(CounterId::from_index(id), 0, cell)));
        }
        for switch in &mut self.switches {
            replicate(switch);
        }
    }

    fn states(&mut self, mut change: impl FnMut(&mut State)) {
        for switch in &mut self.switches {
            if let Some(state) = switch.control().state_mut() {
                change(state);
            }
        }
    }
}

/// Multicast groups and clone sessions, which programs of the cases use by small numbers.
fn replicate(switch: &mut Switch) {
    let replicas = vec![Replica::new(1, 0), Replica::new(3, 7), Replica::new(CPU_PORT, 9)];
    for id in 1..REPLICATED {
        let group = MulticastGroup { id, replicas: replicas.clone(), metadata: Vec::new() };
        let session =
            CloneSession { id, replicas: replicas.clone(), class_of_service: 0, packet_length_bytes: 40 };
        // All refuse what one refuses.
        drop(switch.control().pre_mut().insert_group(group));
        drop(switch.control().pre_mut().insert_session(session));
    }
}

/// What leaves a switch, as text.
fn see(seen: &mut String, out: &Transmission) {
    let (port, packet) = (out.port, &out.packet);
    // Writing to a string does not fail.
    let _ = writeln!(seen, "  port {port}: {:02x?} and {} zeros", &packet.head[..], packet.zeros);
}

/// What bypasses its queue when a packet arrives.
fn receive(switch: &mut Switch, now: Time, port: u32, packet: &Packet, is_free: bool) -> String {
    let mut seen = String::new();
    if let Some(out) = &switch.receive_with_bypass(now, port, packet.clone(), |_| is_free) {
        see(&mut seen, out);
    }
    seen
}

/// Empties a switch's queues.
fn serve(switch: &mut Switch, now: Time, seen: &mut String) {
    let mut sent = 0;
    while let Some(port) = switch.next_ready() {
        while let Some(out) = switch.transmit(now, port) {
            sent += 1;
            if sent > MAX_SENT {
                break;
            }
            see(seen, &out);
        }
    }
}

/// What a switch tells of itself and its packets.
fn describe(switch: &mut Switch, seen: &mut String) {
    let _ = writeln!(seen, "  {:?}", switch.observation().counters());
    for packet in switch.take_packet_ins() {
        let _ = writeln!(seen, "  controller: {:02x?} and {} zeros", &packet.head[..], packet.zeros);
    }
    for digest in switch.take_digests() {
        let _ = writeln!(seen, "  {digest:?}");
    }
    for line in switch.control().take_logs() {
        let _ = writeln!(seen, "  log: {}", line.text);
    }
}

/// A value; small ones, which packets hold more often, half of the time.
fn bits(width: u32, random: &mut impl RandomSource) -> Bits {
    if random.next_u64().is_multiple_of(2) {
        return Bits::from_words(width, &[random.next_u64() % 8]);
    }
    let words: Vec<u64> = (0..width.div_ceil(64)).map(|_| random.next_u64()).collect();
    Bits::from_words(width, &words)
}

fn action_call(program: &Program, action: p4cc_ir::ActionId, random: &mut impl RandomSource) -> ActionCall {
    let params = &program.actions[action.index()].params;
    let args = params.iter().map(|param| bits(program.vars[param.var.index()].ty.width(), random)).collect();
    ActionCall { action, args }
}

/// An entry with any match values; none for a table whose actions come from a profile or that has no keys.
fn entry(program: &Program, id: TableId, random: &mut impl RandomSource) -> Option<TableEntry> {
    let table = &program.tables[id.index()];
    if table.actions.is_empty() || table.keys.is_empty() {
        return None;
    }
    let action = table.actions[random.next_u64() as usize % table.actions.len()].action;
    let call = action_call(program, action, random);
    let action = match table.profile {
        Some(_) => {
            let member = p4cc_exec::control::SetMember { action: call, weight: 1, watch_port: None };
            EntryAction::Set(vec![member].into())
        }
        None => EntryAction::Direct(call),
    };
    let keys = table.keys.iter().filter(|key| key.kind != MatchKind::Selector);
    let matches = keys.map(|key| match_value(key.kind, program.vars[key.var.index()].ty, random)).collect();
    let ranked = |kind| matches!(kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional);
    let priority =
        if table.keys.iter().any(|key| ranked(key.kind)) { 1 + random.next_u64() as u32 % 5 } else { 0 };
    Some(TableEntry {
        matches,
        priority,
        action,
        metadata: Vec::new(),
        controller_metadata: 0,
        idle_timeout_ns: 0,
        is_const: false,
    })
}

fn match_value(kind: MatchKind, ty: VarType, random: &mut impl RandomSource) -> MatchValue {
    let width = ty.width();
    let value = bits(width, random);
    let and = |a: &Bits, b: &Bits| {
        let words: Vec<u64> = a.words().iter().zip(b.words()).map(|(a, b)| a & b).collect();
        Bits::from_words(width, &words)
    };
    match kind {
        MatchKind::Exact | MatchKind::Selector => MatchValue::Exact(value),
        MatchKind::Optional if random.next_u64().is_multiple_of(2) => MatchValue::Any,
        MatchKind::Optional => MatchValue::Exact(value),
        MatchKind::Lpm => {
            let len = random.next_u64() as u32 % (width + 1);
            let mut mask = vec![0; width.div_ceil(64) as usize];
            (width - len..width).for_each(|bit| mask[(bit / 64) as usize] |= 1 << (bit % 64));
            let value = and(&value, &Bits::from_words(width, &mask));
            if len == 0 { MatchValue::Any } else { MatchValue::Lpm { value, len } }
        }
        MatchKind::Ternary => {
            let mask = bits(width, random);
            if mask.is_zero() {
                MatchValue::Any
            } else {
                MatchValue::Ternary { value: and(&value, &mask), mask }
            }
        }
        MatchKind::Range => {
            let other = bits(width, random);
            let below = value.words().iter().rev().le(other.words().iter().rev());
            let (low, high) = if below { (value, other) } else { (other, value) };
            MatchValue::Range { low, high }
        }
    }
}

/// Averages that move with each packet, and chance.
fn filter_config(kind: FilterKind) -> FilterConfig {
    match kind {
        FilterKind::Lpf => FilterConfig::Lpf(LpfConfig {
            rate: false,
            gain_time_ns: 500.0,
            decay_time_ns: 900.0,
            scale_down: 1,
        }),
        FilterKind::Wred { .. } => FilterConfig::Wred(WredConfig {
            time_ns: 300.0,
            min_threshold: 1,
            max_threshold: 1 << 20,
            max_probability: 0.5,
        }),
    }
}
