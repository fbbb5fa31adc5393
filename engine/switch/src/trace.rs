//! Traces: the steps of packets, recorded for whoever traces. Tracing is off by default, since it takes time.
//!
//! Either all packets are traced, and the newest steps are kept, or packets that are expected by port and
//! number of arrival, and the first steps are kept. What descends from such a packet is traced with it; its
//! lineage leads from ingress to egress.

use std::collections::{BTreeMap, VecDeque};

use p4cc_exec::{COLOR_GREEN, COLOR_YELLOW, Pipeline, RegisterAccess, Trace, Values};
use p4cc_ir::{ActionId, ActionParam, Bits, BlockId, FuncId, MatchKind, MeterId, RegisterId, TableId};
use p4cc_units::Time;
use serde::{Serialize, Serializer};

use crate::counters::DropCause;
use crate::lineage::Lineage;
use crate::trace_values::{Changed, ValueTrace, digits, optional};
use crate::watch::DropLog;

/// Most steps that wait for whoever traces; the oldest yield.
pub const MAX_TRACE_STEPS: usize = 8_192;

/// One step of a packet. Written by serde, `step` names it; values are hexadecimal texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// It came in.
    Received {
        /// On this port.
        port: u32,
        /// With this many bytes.
        bytes: u32,
    },
    /// It left its queue for egress.
    Dequeued {
        /// The queue's port.
        port: u32,
        /// The queue's priority.
        priority: u8,
        /// Depth when it was added, in the port's unit.
        enq_qdepth: u32,
        /// Depth when it left.
        deq_qdepth: u32,
    },
    /// A parser or control starts.
    Entered {
        /// Its name.
        block: String,
    },
    /// A parser took a state.
    State {
        /// The state's name.
        state: String,
    },
    /// A parser rejected it.
    ParserError {
        /// The error's name.
        error: String,
    },
    /// A table was applied.
    Table {
        /// The table's name.
        table: String,
        /// Names and values of its keys.
        #[serde(serialize_with = "named")]
        key: Vec<(String, Bits)>,
        /// Whether an entry matched.
        hit: bool,
        /// Its number within the table.
        #[serde(skip)]
        entry: Option<u32>,
    },
    /// An action runs.
    Action {
        /// Its name.
        action: String,
        /// Names and values of its parameters.
        #[serde(serialize_with = "named")]
        args: Vec<(String, Bits)>,
    },
    /// A meter gave a colour.
    Meter {
        /// The meter's name.
        meter: String,
        /// The cell; none of a direct meter.
        #[serde(skip_serializing_if = "Option::is_none")]
        index: Option<u64>,
        /// `green`, `yellow` or `red`; none behind the last cell.
        color: Option<&'static str>,
    },
    /// A register was read or written.
    Register {
        /// The register's name.
        register: String,
        /// The cell.
        index: u64,
        /// It was written.
        writes: bool,
        /// The cell's value, before or after; none behind the last cell.
        #[serde(serialize_with = "optional")]
        value: Option<Bits>,
    },
    /// What the step before changed, if values are traced.
    Changed(Changed),
    /// It was put into a queue.
    Enqueued {
        /// The queue's port.
        port: u32,
        /// The queue's priority.
        priority: u8,
    },
    /// Its queue was full, so it runs through ingress once more.
    Deflected {
        /// The queue's port.
        port: u32,
        /// The queue's priority.
        priority: u8,
    },
    /// It was dropped.
    Dropped {
        /// Why.
        #[serde(serialize_with = "cause_name")]
        cause: DropCause,
        /// The port that it is counted against: the one that it came in on, or that of the queue.
        port: u32,
        /// The priority there.
        priority: u8,
    },
    /// It went to the controller.
    ToController {
        /// The controller's port.
        port: u32,
    },
    /// It was sent.
    Sent {
        /// Out of this port.
        port: u32,
        /// With this many bytes.
        bytes: u32,
    },
}

fn named<S: Serializer>(values: &[(String, Bits)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().map(|(name, value)| (name, digits(value))))
}

fn cause_name<S: Serializer>(cause: &DropCause, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(cause.column().trim_start_matches("dropped_"))
}

fn color_name(color: u64) -> &'static str {
    match color {
        COLOR_GREEN => "green",
        COLOR_YELLOW => "yellow",
        _ => "red",
    }
}

/// A step and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// When.
    pub at: Time,
    /// Which packet, as it was expected; 0 where all are traced.
    pub packet: u64,
    /// What.
    pub step: Step,
}

/// Steps that wait, if anybody wants them. As a rule nobody does, so it is one word.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceLog(Option<Box<Steps>>);

#[derive(Clone, Debug, Default)]
struct Steps {
    /// Drops by place, if anybody wants them.
    drops: Option<DropLog>,
    now: Time,
    /// The packet at hand, if its steps are kept.
    at_hand: Option<u64>,
    events: VecDeque<TraceEvent>,
    expected: Option<Expected>,
    /// Follows what packets change, each by its number, if anybody wants it; the first steps are kept then.
    values: Option<BTreeMap<u64, ValueTrace>>,
    /// Steps that did not fit since they were last taken.
    left_out: u64,
}

/// What is traced where not all packets are.
#[derive(Clone, Debug, Default)]
struct Expected {
    /// Most steps.
    most: usize,
    left_out: u64,
    /// Packets that arrived at each port.
    arrived: BTreeMap<u32, u64>,
    /// Packets by port and number of arrival there, from 1.
    packets: BTreeMap<(u32, u64), u64>,
    /// Packets within the switch.
    inside: BTreeMap<Lineage, u64>,
}

impl TraceLog {
    /// Whether anybody looks at the steps of the packet at hand.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.as_ref().is_some_and(|steps| steps.at_hand.is_some() || steps.drops.is_some())
    }

    /// Whether any packets are traced.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.0.is_some()
    }

    /// Traces all packets, or none.
    pub fn set(&mut self, on: bool) {
        let steps = Steps { at_hand: on.then_some(0), drops: self.take_drops(), ..Steps::default() };
        self.0 = (on || steps.drops.is_some()).then(|| Box::new(steps));
    }

    /// Traces what packets change, too. Where all packets are traced they are to come one after the other.
    pub fn set_values(&mut self) {
        self.0.get_or_insert_default().values = Some(BTreeMap::new());
    }

    /// Follows what the packet at hand changes.
    fn values(&mut self) -> Option<&mut ValueTrace> {
        let steps = self.0.as_mut()?;
        Some(steps.values.as_mut()?.entry(steps.at_hand?).or_default())
    }

    /// A parser starts, of a packet that came in or goes round again.
    fn begin_values(&mut self) {
        if let Some(values) = self.values() {
            values.begin();
        }
    }

    /// Keeps what changed up to here.
    fn keep_changes(&mut self, pipeline: &Pipeline, values: Values<'_>) {
        let changed = self.values().and_then(|follows| follows.changes(pipeline, values));
        if let Some(changed) = changed {
            self.push(Step::Changed(changed));
        }
    }

    /// Traces the packets that are expected from here on, so many steps at most.
    pub fn set_expecting(&mut self, most: usize) {
        let expected = Expected { most, ..Expected::default() };
        let drops = self.take_drops();
        self.0 = Some(Box::new(Steps { expected: Some(expected), drops, ..Steps::default() }));
    }

    fn take_drops(&mut self) -> Option<DropLog> {
        self.0.as_mut().and_then(|steps| steps.drops.take())
    }

    /// Adds drops up from here on.
    pub fn set_drops(&mut self, drops: DropLog) {
        self.0.get_or_insert_default().drops = Some(drops);
    }

    pub fn drops(&self) -> Option<&DropLog> {
        self.0.as_ref()?.drops.as_ref()
    }

    #[inline]
    fn drops_mut(&mut self) -> Option<&mut DropLog> {
        self.0.as_mut()?.drops.as_mut()
    }

    /// The packet at hand has this length; 0 where nobody knows it.
    #[inline]
    pub fn begin(&mut self, bytes: u32) {
        if let Some(drops) = self.drops_mut() {
            drops.begin(bytes);
        }
    }

    /// Packets were dropped, against a port if there is one.
    #[inline]
    pub fn dropped(&mut self, port: Option<u32>, cause: DropCause, pkts: u64) {
        if let Some(steps) = &mut self.0
            && let Some(drops) = &mut steps.drops
        {
            drops.add(steps.now, port, cause, pkts);
        }
    }

    /// The parser ended with an error.
    pub fn parser_error(&mut self, pipeline: &Pipeline, error: u32) {
        if let Some(drops) = self.drops_mut() {
            drops.parser_error = pipeline.program().errors.get(error as usize).cloned().unwrap_or_default();
        }
    }

    /// The packet that arrives at a port as the `nth` from here on is to be traced under a number.
    pub fn expect(&mut self, port: u32, nth: u64, packet: u64) {
        if let Some(expected) = self.0.as_mut().and_then(|steps| steps.expected.as_mut()) {
            expected.packets.insert((port, nth), packet);
        }
    }

    /// A packet arrives; whether it was expected.
    #[cold]
    pub fn on_arrival(&mut self, now: Time, port: u32) -> bool {
        let Some(steps) = &mut self.0 else { return false };
        steps.now = now;
        let Some(expected) = &mut steps.expected else { return false };
        let nth = expected.arrived.entry(port).or_default();
        *nth += 1;
        steps.at_hand = expected.packets.remove(&(port, *nth));
        steps.at_hand.is_some()
    }

    /// The packet at hand has this lineage.
    pub fn enters(&mut self, lineage: Lineage) {
        if let Some(steps) = &mut self.0
            && let (Some(expected), Some(packet)) = (&mut steps.expected, steps.at_hand)
        {
            expected.inside.insert(lineage, packet);
        }
    }

    /// A lineage begins anew: whoever had it is gone.
    pub fn forget(&mut self, lineage: Lineage) {
        if let Some(expected) = self.0.as_mut().and_then(|steps| steps.expected.as_mut()) {
            expected.inside.remove(&lineage);
        }
    }

    /// A packet of this lineage is at hand from here on.
    #[inline]
    pub fn follow(&mut self, now: Time, lineage: Lineage) {
        if let Some(steps) = &mut self.0 {
            steps.now = now;
            if let Some(expected) = &steps.expected {
                steps.at_hand = expected.inside.get(&lineage).copied();
            }
        }
    }

    /// The packet at hand, if it was expected.
    pub fn at_hand(&self) -> Option<u64> {
        self.0.as_ref().and_then(|steps| steps.at_hand)
    }

    /// A packet is at hand again.
    pub fn resume(&mut self, packet: Option<u64>) {
        if let Some(steps) = &mut self.0 {
            steps.at_hand = packet;
        }
    }

    /// Keeps a step, which is made only if somebody wants it.
    #[inline]
    pub fn keep(&mut self, step: impl FnOnce() -> Step) {
        if self.at_hand().is_some() {
            self.push(step());
        }
    }

    #[cold]
    fn push(&mut self, step: Step) {
        if let (Step::Dequeued { .. }, Some(values)) = (&step, self.values()) {
            values.dequeued();
        }
        let Some(steps) = &mut self.0 else { return };
        let Some(packet) = steps.at_hand else { return };
        match &mut steps.expected {
            Some(expected) if steps.events.len() >= expected.most => {
                expected.left_out += 1;
                return;
            }
            None if steps.events.len() == MAX_TRACE_STEPS && steps.values.is_some() => {
                steps.left_out += 1;
                return;
            }
            None if steps.events.len() == MAX_TRACE_STEPS => _ = steps.events.pop_front(),
            _ => {}
        }
        steps.events.push_back(TraceEvent { at: steps.now, packet, step });
    }

    /// Takes the steps.
    pub fn take(&mut self) -> impl Iterator<Item = TraceEvent> + '_ {
        self.0.iter_mut().flat_map(|steps| steps.events.drain(..))
    }

    /// The steps, without taking them.
    pub fn events(&self) -> impl Iterator<Item = &TraceEvent> {
        self.0.iter().flat_map(|steps| &steps.events)
    }

    /// Takes the number of steps that did not fit where values are traced.
    pub fn take_left_out(&mut self) -> u64 {
        self.0.as_mut().map_or(0, |steps| core::mem::take(&mut steps.left_out))
    }

    /// Steps of expected packets that did not fit.
    pub fn left_out(&self) -> u64 {
        self.0.as_ref().and_then(|steps| steps.expected.as_ref()).map_or(0, |expected| expected.left_out)
    }
}

/// Keeps the steps of one run of the executor.
pub(crate) struct Tracer<'a> {
    pub pipeline: &'a Pipeline,
    pub log: &'a mut TraceLog,
}

impl Trace for Tracer<'_> {
    fn block(&mut self, func: FuncId, block: BlockId, values: Values<'_>) {
        let func = &self.pipeline.program().funcs[func.index()];
        let label = func.blocks.get(block.0 as usize).map_or("", |block| block.label.as_str());
        if label == "start" {
            self.log.begin_values();
        }
        if block.0 == 0 || !label.is_empty() {
            self.log.keep_changes(self.pipeline, values);
        }
        if block.0 == 0 && label.is_empty() {
            if let Some(drops) = self.log.drops_mut() {
                drops.enter(&func.name);
            }
            self.log.keep(|| Step::Entered { block: func.name.clone() });
        } else if !label.is_empty() {
            self.log.keep(|| Step::State { state: label.to_owned() });
        }
    }

    fn table(&mut self, table: TableId, entry: Option<u32>, values: Values<'_>) {
        if let Some(drops) = self.log.drops_mut() {
            drops.table = Some(table);
        }
        self.log.keep_changes(self.pipeline, values);
        let table = &self.pipeline.program().tables[table.index()];
        let keys = table.keys.iter().filter(|key| key.kind != MatchKind::Selector);
        self.log.keep(|| {
            let key = keys.map(|key| (key.cp.name.clone(), values.get(self.pipeline, key.var))).collect();
            Step::Table { table: table.cp.name.clone(), key, hit: entry.is_some(), entry }
        });
    }

    fn action(&mut self, action: ActionId, within: bool, values: Values<'_>) {
        if let Some(drops) = self.log.drops_mut() {
            drops.run(action, within);
        }
        self.log.keep_changes(self.pipeline, values);
        let action = &self.pipeline.program().actions[action.index()];
        let arg = |param: &ActionParam| (param.cp.name.clone(), values.get(self.pipeline, param.var));
        self.log.keep(|| {
            let args = action.params.iter().map(arg).collect();
            Step::Action { action: action.cp.name.clone(), args }
        });
    }

    fn meter(&mut self, meter: MeterId, index: u64, color: Option<u64>, values: Values<'_>) {
        self.log.keep_changes(self.pipeline, values);
        let meter = &self.pipeline.program().meters[meter.index()];
        self.log.keep(|| Step::Meter {
            meter: meter.cp.name.clone(),
            index: Some(index),
            color: color.map(color_name),
        });
    }

    fn direct_meter(&mut self, table: TableId, color: u64) {
        let program = self.pipeline.program();
        let Some(meter) = program.tables[table.index()].meter else { return };
        let meter = &program.meters[meter.index()];
        self.log.keep(|| Step::Meter {
            meter: meter.cp.name.clone(),
            index: None,
            color: Some(color_name(color)),
        });
    }

    fn register(&mut self, register: RegisterId, access: RegisterAccess, values: Values<'_>) {
        self.log.keep_changes(self.pipeline, values);
        let register = &self.pipeline.program().registers[register.index()];
        let RegisterAccess { index, writes, value } = access;
        self.log.keep(|| Step::Register { register: register.cp.name.clone(), index, writes, value });
    }

    fn left(&mut self, values: Values<'_>) {
        self.log.keep_changes(self.pipeline, values);
    }

    fn mark_to_drop(&mut self, in_action: bool) {
        if let Some(drops) = self.log.drops_mut() {
            drops.mark(self.pipeline.program(), in_action);
        }
    }
}
