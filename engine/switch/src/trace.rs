//! Traces: the steps of packets, recorded for whoever traces. Tracing is off by default, since it takes time.

use std::collections::VecDeque;

use p4cc_exec::{Pipeline, Trace, Values};
use p4cc_ir::{ActionId, Bits, BlockId, FuncId, MatchKind, TableId};
use p4cc_units::Time;

use crate::counters::DropCause;

/// Most steps that wait for whoever traces; the oldest yield.
pub const MAX_TRACE_STEPS: usize = 8_192;

/// One step of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// A table was applied.
    Table {
        /// The table's name.
        table: String,
        /// Names and values of its keys.
        key: Vec<(String, Bits)>,
        /// Whether an entry matched.
        hit: bool,
    },
    /// An action runs.
    Action {
        /// Its name.
        action: String,
    },
    /// It was put into a queue.
    Enqueued {
        /// The queue's port.
        port: u32,
        /// The queue's priority.
        priority: u8,
    },
    /// It was dropped.
    Dropped {
        /// Why.
        cause: DropCause,
    },
    /// It was sent.
    Sent {
        /// Out of this port.
        port: u32,
        /// With this many bytes.
        bytes: u32,
    },
}

/// A step and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// When.
    pub at: Time,
    /// What.
    pub step: Step,
}

/// Steps that wait, if anybody wants them. As a rule nobody does, so it is one word.
#[derive(Clone, Debug, Default)]
pub(crate) struct TraceLog(Option<Box<Steps>>);

#[derive(Clone, Debug, Default)]
struct Steps {
    now: Time,
    events: VecDeque<TraceEvent>,
}

impl TraceLog {
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub fn set(&mut self, on: bool) {
        self.0 = on.then(Box::default);
    }

    /// The time of the steps from here on.
    #[inline]
    pub fn set_time(&mut self, now: Time) {
        if let Some(steps) = &mut self.0 {
            steps.now = now;
        }
    }

    /// Keeps a step, which is made only if somebody wants it.
    #[inline]
    pub fn keep(&mut self, step: impl FnOnce() -> Step) {
        if self.is_on() {
            self.push(step());
        }
    }

    #[cold]
    fn push(&mut self, step: Step) {
        let Some(steps) = &mut self.0 else { return };
        if steps.events.len() == MAX_TRACE_STEPS {
            steps.events.pop_front();
        }
        steps.events.push_back(TraceEvent { at: steps.now, step });
    }

    pub fn take(&mut self) -> impl Iterator<Item = TraceEvent> + '_ {
        self.0.iter_mut().flat_map(|steps| steps.events.drain(..))
    }
}

/// Keeps the steps of one run of the executor.
pub(crate) struct Tracer<'a> {
    pub pipeline: &'a Pipeline,
    pub log: &'a mut TraceLog,
}

impl Trace for Tracer<'_> {
    fn block(&mut self, func: FuncId, block: BlockId) {
        let func = &self.pipeline.program().funcs[func.index()];
        let label = func.blocks.get(block.0 as usize).map_or("", |block| block.label.as_str());
        let step = if block.0 == 0 && label.is_empty() {
            Step::Entered { block: func.name.clone() }
        } else if label.is_empty() {
            return;
        } else {
            Step::State { state: label.to_owned() }
        };
        self.log.push(step);
    }

    fn table(&mut self, table: TableId, hit: bool, values: Values<'_>) {
        let table = &self.pipeline.program().tables[table.index()];
        let keys = table.keys.iter().filter(|key| key.kind != MatchKind::Selector);
        let key = keys.map(|key| (key.cp.name.clone(), values.get(self.pipeline, key.var))).collect();
        self.log.push(Step::Table { table: table.cp.name.clone(), key, hit });
    }

    fn action(&mut self, action: ActionId) {
        let action = self.pipeline.program().actions[action.index()].cp.name.clone();
        self.log.push(Step::Action { action });
    }
}
