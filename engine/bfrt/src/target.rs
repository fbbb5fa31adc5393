//! A device as one request sees it, and what BF Runtime keeps of a program beside the switch's own state.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_exec::State;
use p4cc_ir::Program;
use p4cc_p4runtime::errors::Failure;
use p4cc_switch::chip::Chip;
use p4cc_switch::{PortConfig, ReplicationEngine, Switch};
use p4cc_units::Time;

use crate::fields::{GivenField, GivenKey};
use crate::fixed;
use crate::proto::bfrt_proto as wire;
use crate::schema::{Action, Schema, Table};
use crate::tables::{
    ageing::Ageing,
    attributes::Attributes,
    handles::Handles,
    matching::Identity,
    profiles::{GroupChange, Groups},
    shadow::Shadow,
};

/// Every pipe of a target.
pub const ALL_PIPES: u32 = 0xffff;
/// Queues of a port here, whatever the chip has.
pub const QUEUES: usize = 8;

/// The part of a device that a request or an entry is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The device.
    pub device_id: u32,
    /// A pipe, or [`ALL_PIPES`].
    pub pipe: u32,
    /// 0 ingress, 1 egress, others both.
    pub direction: u32,
    /// A parser, or 0xff for all.
    pub parser: u32,
}

impl From<&wire::TargetDevice> for Scope {
    fn from(given: &wire::TargetDevice) -> Self {
        let wire::TargetDevice { device_id, pipe_id, direction, prsr_id } = *given;
        Self { device_id, pipe: pipe_id, direction, parser: prsr_id }
    }
}

impl From<Scope> for wire::TargetDevice {
    fn from(scope: Scope) -> Self {
        Self {
            device_id: scope.device_id,
            pipe_id: scope.pipe,
            direction: scope.direction,
            prsr_id: scope.parser,
        }
    }
}

/// What BF Runtime keeps of a program beside the switch's state; gone with the program.
#[derive(Clone, Debug, Default)]
pub struct DeviceState {
    /// Numbers of entries, by table. What stands here up to the ages is of the pipe that is written or read
    /// ([`Target::enter`]).
    pub handles: BTreeMap<u32, Handles>,
    /// Groups with the members that are switched off, which the switch does not see.
    pub groups: Groups,
    /// Copies of counters and registers.
    pub shadow: Shadow,
    /// Idle timeouts.
    pub ageing: Ageing,
    /// Attributes of tables.
    pub attributes: Attributes,
    /// Changes of groups that clients are still to be told of.
    pub changes: Vec<GroupChange>,
    /// Ports that were up when clients were last told, where they asked to be.
    pub ports_up: BTreeMap<u32, bool>,
    /// Names of hash algorithms that clients chose, by the hash's place in the program.
    pub hash_names: BTreeMap<u32, String>,
    /// Of the chip's own tables.
    pub fixed: fixed::FixedState,
    /// What is kept of the other pipes; in the place of the one that stands above is nothing.
    parked: Vec<OfPipe>,
    /// The pipe that stands above.
    pipe: usize,
}

/// What is kept of one pipe.
#[derive(Clone, Debug, Default)]
struct OfPipe {
    handles: BTreeMap<u32, Handles>,
    groups: Groups,
    shadow: Shadow,
    ageing: Ageing,
}

impl DeviceState {
    /// Changes to what is kept of a pipe.
    pub fn enter(&mut self, pipe: usize) {
        if pipe == self.pipe {
            return;
        }
        if self.parked.len() <= pipe.max(self.pipe) {
            self.parked.resize_with(pipe.max(self.pipe) + 1, OfPipe::default);
        }
        self.exchange(self.pipe);
        self.exchange(pipe);
        self.pipe = pipe;
    }

    fn exchange(&mut self, pipe: usize) {
        let OfPipe { handles, groups, shadow, ageing } = &mut self.parked[pipe];
        std::mem::swap(handles, &mut self.handles);
        std::mem::swap(groups, &mut self.groups);
        std::mem::swap(shadow, &mut self.shadow);
        std::mem::swap(ageing, &mut self.ageing);
    }
}

/// What of a table a read gives.
#[derive(Clone, Debug, Default)]
pub enum Window {
    /// All of it.
    #[default]
    All,
    /// So many cells, members or groups from a place on.
    Part {
        /// The place.
        from: usize,
        /// How many.
        most: usize,
    },
    /// These entries of a match table, and its default entry.
    Entries {
        /// The entries.
        entries: Arc<Vec<Identity>>,
        /// Whether the default entry follows.
        is_last: bool,
    },
}

impl Window {
    /// The part of what a table has.
    pub fn of<T>(&self, all: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        let (from, most) = match self {
            Self::Part { from, most } => (*from, *most),
            Self::All | Self::Entries { .. } => (0, usize::MAX),
        };
        all.skip(from).take(most)
    }
}

/// A device as one request sees it.
pub struct Target<'a> {
    /// All tables by their numbers.
    pub schema: &'a Schema,
    /// The program that the device runs.
    pub program: &'a Program,
    /// The device.
    pub switch: &'a mut Switch,
    /// What is kept beside it.
    pub kept: &'a mut DeviceState,
    /// The network's time.
    pub now: Time,
    /// The part of the device in question.
    pub scope: Scope,
    /// What reads of whole tables give.
    pub window: Window,
}

/// Everything that writes change, to go back to.
pub struct Before {
    /// Of each pipe.
    states: Vec<State>,
    pre: ReplicationEngine,
    chip: Chip,
    ports: Vec<PortBefore>,
    kept: DeviceState,
}

/// A port, to go back to. Rates in packets are not part of the configuration.
struct PortBefore {
    config: PortConfig,
    rates_pps: [Option<u64>; QUEUES],
}

impl PortBefore {
    fn of(switch: &Switch, config: &PortConfig) -> Self {
        let rate = |queue| switch.queue_rate_pps(config.port, queue as u8);
        Self { config: *config, rates_pps: std::array::from_fn(rate) }
    }
}

impl<'a> Target<'a> {
    /// The program's state.
    ///
    /// # Errors
    /// The device runs no program.
    pub fn state(&self) -> Result<&State, Failure> {
        self.switch.observation().state_of(self.kept.pipe).ok_or_else(no_program)
    }

    /// The same to be changed.
    ///
    /// # Errors
    /// The device runs no program.
    pub fn state_mut(&mut self) -> Result<&mut State, Failure> {
        self.switch.control().state_of_mut(self.kept.pipe).ok_or_else(no_program)
    }

    /// Changes to another pipe: its state, and what is kept of it.
    pub fn enter(&mut self, pipe: usize) {
        self.kept.enter(pipe);
    }

    /// The pipe that is written or read.
    pub fn pipe(&self) -> usize {
        self.kept.pipe
    }

    /// A table by its number.
    ///
    /// # Errors
    /// There is none.
    pub fn table(&self, id: u32) -> Result<&'a Table, Failure> {
        let schema: &'a Schema = self.schema;
        schema.table(id).ok_or_else(|| {
            Failure::not_found(format!("there is no table with id {id}; bf-rt.json lists the ids"))
        })
    }

    /// What stands before a batch that is applied as a whole or not at all.
    pub fn before(&self) -> Before {
        Before {
            states: (0..self.switch.observation().pipes())
                .filter_map(|pipe| self.switch.observation().state_of(pipe).cloned())
                .collect(),
            pre: self.switch.observation().pre().clone(),
            chip: self.switch.observation().chip().clone(),
            ports: self.switch.config().ports.iter().map(|port| PortBefore::of(self.switch, port)).collect(),
            kept: self.kept.clone(),
        }
    }

    /// Goes back to what stood before.
    pub fn restore(&mut self, before: Before) {
        for (pipe, old) in before.states.into_iter().enumerate() {
            if let Some(state) = self.switch.control().state_of_mut(pipe) {
                *state = old;
            }
        }
        *self.switch.control().pre_mut() = before.pre;
        *self.switch.control().chip_mut() = before.chip;
        before.ports.iter().for_each(|port| self.restore_port(port));
        *self.kept = before.kept;
    }

    /// Rate of a port, order and greatest rates of its queues.
    fn restore_port(&mut self, before: &PortBefore) {
        let (old, ports) = (&before.config, &self.switch.config().ports);
        let Some(now) = ports.iter().find(|port| port.port == old.port) else { return };
        let PortBefore { config: now, rates_pps } = PortBefore::of(self.switch, now);
        let mut control = self.switch.control();
        if now.rate != old.rate {
            control.set_port_rate(old.port, old.rate);
        }
        if now.scheduler != old.scheduler {
            let done = control.set_scheduler(old.port, old.scheduler);
            debug_assert!(done.is_ok(), "{done:?}");
        }
        let is = rates_pps.into_iter().zip(now.shapers);
        let was = before.rates_pps.into_iter().zip(old.shapers);
        for (queue, (is, was)) in (0..).zip(is.zip(was)) {
            match was {
                _ if is == was => continue,
                (Some(rate), _) => control.set_queue_rate_pps(old.port, Some(queue), Some(rate)),
                (None, shaper) => control.set_queue_shaper(old.port, Some(queue), shaper),
            };
        }
    }
}

/// The device runs no program.
pub fn no_program() -> Failure {
    Failure::precondition("the device runs no program; push one over P4Runtime or start p4cc-switch with one")
}

/// What a write does to an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// It must not be there.
    Insert,
    /// It must be there.
    Modify,
    /// Adds to its lists.
    Add,
    /// Takes from its lists.
    Remove,
    /// It goes; without a key all of the table.
    Delete,
    /// Either.
    InsertOrModify,
    /// Back to how it began.
    Reset,
}

/// An entry of a request, read by the schema.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Its table.
    pub table: &'a Table,
    /// Its key, where one is given.
    pub key: Option<Vec<GivenKey<'a>>>,
    /// Its number, where one is given in the key's place.
    pub handle: Option<u32>,
    /// The table's default entry.
    pub is_default: bool,
    /// The action; what a read is to be limited to.
    pub action: Option<&'a Action>,
    /// What a write gives.
    pub data: Vec<GivenField<'a>>,
    /// Reads: from the chip, where a copy is kept beside it.
    pub from_hw: bool,
    /// Reads: the key alone.
    pub key_only: bool,
    /// Modifications start the idle time anew.
    pub reset_ttl: bool,
    /// Modifications start counters anew.
    pub reset_stats: bool,
}
