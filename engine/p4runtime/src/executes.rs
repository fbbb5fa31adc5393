//! Which actions execute the direct counter and meter of their table (P4Runtime "Direct Resources", 9.1.7).
//!
//! In v1model the hit itself counts and measures, whether or not the action says so. There an action is taken
//! to leave a resource out where others of the program call it; where none does, all execute it.

use std::collections::{BTreeMap, BTreeSet};

use p4cc_ir::{ActionId, CounterId, ExternCall, Inst, MeterId, Program, Table};

/// Actions that call direct resources.
#[derive(Debug, Default)]
pub(crate) struct Executes {
    counters: BTreeMap<CounterId, BTreeSet<ActionId>>,
    meters: BTreeMap<MeterId, BTreeSet<ActionId>>,
    /// Hits execute nothing by themselves.
    only_calls: bool,
}

impl Executes {
    pub(crate) fn of(program: &Program) -> Self {
        let only_calls = program.architecture.chip().is_some();
        let mut made = Self { only_calls, ..Self::default() };
        for (at, action) in program.actions.iter().enumerate() {
            let blocks = program.funcs.get(action.body.index()).into_iter().flat_map(|func| &func.blocks);
            for inst in blocks.flat_map(|block| &block.insts) {
                if let Inst::Extern(call) = inst {
                    made.add(ActionId::from_index(at), call);
                }
            }
        }
        made
    }

    fn add(&mut self, action: ActionId, call: &ExternCall) {
        match call {
            ExternCall::DirectCounterCount { counter }
            | ExternCall::CounterAdd { counter, index: None, .. } => {
                self.counters.entry(*counter).or_default().insert(action);
            }
            ExternCall::DirectMeterRead { meter, .. }
            | ExternCall::MeterMeasure { meter, index: None, .. } => {
                self.meters.entry(*meter).or_default().insert(action);
            }
            _ => {}
        }
    }

    /// Whether an action executes the direct counter of a table that has one.
    pub(crate) fn counts(&self, table: &Table, action: ActionId) -> bool {
        let by = table.counter.map(|counter| self.counters.get(&counter));
        by.flatten().map_or(!self.only_calls, |actions| actions.contains(&action))
    }

    /// Whether an action executes the direct meter of a table that has one.
    pub(crate) fn measures(&self, table: &Table, action: ActionId) -> bool {
        let by = table.meter.map(|meter| self.meters.get(&meter));
        by.flatten().map_or(!self.only_calls, |actions| actions.contains(&action))
    }
}
