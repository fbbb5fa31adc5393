//! From a call's name to the function that answers it.

use std::collections::BTreeMap;
use std::sync::Arc;

use p4cc_exec::control::TableEntry;
use p4cc_exec::{Pipeline, State};
use p4cc_ir::{Program, TableId};
use p4cc_switch::Switch;
use p4cc_units::Time;

use crate::calls;
use crate::config::Names;
use crate::fault::{Fault, Outcome};
use crate::handles::Handles;
use crate::learning;
use crate::message::{ApplicationError, Kind, Message, application_exception};
use crate::server::Held;
use crate::value::{Fields, Value};

/// A port and its interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortInfo {
    /// Number that the program sees.
    pub port: u32,
    /// Name of the interface.
    pub interface: String,
    /// Whether it has a link.
    pub up: bool,
    /// Why it has none, or what is wrong with it; may be empty.
    pub remark: String,
}

/// The switch as its owner lends it.
pub trait Target: Send + Sync + 'static {
    /// Lends the switch, with the time.
    fn with_switch(&self, f: &mut dyn FnMut(&mut Switch, Time));
    /// The program that runs, as it was given: BMv2 JSON or P4-16 source.
    fn config(&self) -> Option<String>;
    /// The state of the program that runs.
    ///
    /// # Errors
    /// There is no program.
    fn save(&self) -> Result<Vec<u8>, String>;
    /// Loads another program with fresh state.
    ///
    /// # Errors
    /// Why it cannot be used; the old one goes on.
    fn load(&self, config: String) -> Result<(), String>;
    /// The ports and their interfaces.
    fn ports(&self) -> Vec<PortInfo>;
    /// Attaches an interface as a port, capturing it to a folder unless that is empty.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn add_port(&self, port: u32, interface: &str, pcap: &str) -> Result<(), String>;
    /// Detaches a port.
    ///
    /// # Errors
    /// There is no such port.
    fn remove_port(&self, port: u32) -> Result<(), String>;
    /// The TCP port that calls come in on.
    fn thrift_port(&self) -> u16;
    /// Where notifications are published, if they are.
    fn notifications_socket(&self) -> Option<String>;
    /// Delay of a port's link in nanoseconds, set from now on.
    ///
    /// # Errors
    /// There is no such port.
    fn set_delay_ns(&self, port: u32, delay_ns: u64) -> Result<(), String>;
}

/// What the service remembers between calls.
#[derive(Default)]
pub(crate) struct Memory {
    /// The program that handles belong to.
    pipeline: Option<Arc<Pipeline>>,
    pub handles: Handles,
    pub multicast: calls::multicast::Nodes,
    /// A program that waits for `bm_swap_configs`.
    pub loaded: Option<String>,
    /// What BMv2's tools call the program's objects, once somebody asked.
    names: Option<Names>,
    /// Ageing notifications so far.
    pub aged: u64,
}

/// What a call works on.
pub(crate) struct Context<'a> {
    pub switch: &'a mut Switch,
    pub memory: &'a mut Memory,
    pub now: Time,
}

impl Context<'_> {
    /// The program that runs.
    pub fn program(&self) -> Outcome<Arc<Program>> {
        let pipeline = self.switch.observation().pipeline().ok_or_else(no_program)?;
        Ok(Arc::clone(pipeline.program()))
    }

    /// Its tables, to read.
    pub fn state(&self) -> Outcome<&State> {
        self.switch.observation().state().ok_or_else(no_program)
    }

    /// Its tables, to change.
    pub fn state_mut(&mut self) -> Outcome<&mut State> {
        self.switch.control().state_mut().ok_or_else(no_program)
    }
}

fn no_program() -> Fault {
    Fault::Internal("the switch has no program yet".to_owned())
}

/// Arguments of a call by their ids.
pub(crate) struct Args<'a>(pub &'a Fields);

impl<'a> Args<'a> {
    pub fn value(&self, id: i16) -> Outcome<&'a Value> {
        self.0.get(&id).ok_or_else(|| Fault::Arguments(format!("argument {id} is missing")))
    }

    fn wrong<T>(id: i16, wanted: &str) -> Outcome<T> {
        Err(Fault::Arguments(format!("argument {id} is not of type {wanted}")))
    }

    pub fn i32(&self, id: i16) -> Outcome<i32> {
        match self.value(id)? {
            Value::I32(value) => Ok(*value),
            _ => Self::wrong(id, "i32"),
        }
    }

    /// A number that is not negative.
    pub fn u32(&self, id: i16) -> Outcome<u32> {
        u32::try_from(self.i32(id)?).or_else(|_| Self::wrong(id, "number from 0"))
    }

    pub fn i64(&self, id: i16) -> Outcome<i64> {
        match self.value(id)? {
            Value::I64(value) => Ok(*value),
            _ => Self::wrong(id, "i64"),
        }
    }

    pub fn u64(&self, id: i16) -> Outcome<u64> {
        u64::try_from(self.i64(id)?).or_else(|_| Self::wrong(id, "number from 0"))
    }

    pub fn bool(&self, id: i16) -> Outcome<bool> {
        match self.value(id)? {
            Value::Bool(value) => Ok(*value),
            _ => Self::wrong(id, "bool"),
        }
    }

    pub fn bytes(&self, id: i16) -> Outcome<&'a [u8]> {
        match self.value(id)? {
            Value::String(value) => Ok(value),
            _ => Self::wrong(id, "string"),
        }
    }

    pub fn text(&self, id: i16) -> Outcome<&'a str> {
        std::str::from_utf8(self.bytes(id)?).or_else(|_| Self::wrong(id, "text"))
    }

    pub fn list(&self, id: i16) -> Outcome<&'a [Value]> {
        match self.value(id)? {
            Value::List(_, values) => Ok(values),
            _ => Self::wrong(id, "list"),
        }
    }

    pub fn fields(&self, id: i16) -> Outcome<Args<'a>> {
        match self.value(id)? {
            Value::Struct(fields) => Ok(Args(fields)),
            _ => Self::wrong(id, "struct"),
        }
    }

    /// Whether an optional argument is there.
    pub fn has(&self, id: i16) -> bool {
        self.0.contains_key(&id)
    }
}

/// What a call gives: nothing, or a value.
pub(crate) type Answer = Outcome<Option<Value>>;

/// A call that works on the switch.
pub(crate) type Call = fn(&mut Context<'_>, &Args<'_>) -> Answer;

/// A call that works on the daemon around it.
pub(crate) type DaemonCall = fn(&dyn Target, &mut Memory, &Args<'_>) -> Answer;

/// One call by its kind.
#[derive(Clone, Copy)]
pub(crate) enum Method {
    Switch(Call),
    Daemon(DaemonCall),
}

/// All calls, by service and name.
pub(crate) struct Service {
    target: Arc<dyn Target>,
    methods: BTreeMap<(&'static str, &'static str), Method>,
}

impl Service {
    pub fn new(target: Arc<dyn Target>) -> Self {
        Self { target, methods: calls::all().into_iter().collect() }
    }

    pub fn target(&self) -> &dyn Target {
        &*self.target
    }

    /// Answers a call; none to a call that wants no answer.
    pub fn answer(&self, memory: &mut Memory, message: &Message) -> Option<Message> {
        let outcome = match message.kind {
            Kind::Call | Kind::Oneway => self.call(memory, &message.name, &message.fields),
            Kind::Reply | Kind::Exception => Err(Fault::Arguments("this is not a call".to_owned())),
        };
        if message.kind == Kind::Oneway {
            return None;
        }
        let (kind, fields) = match outcome {
            Ok(value) => (Kind::Reply, value.map(|value| (0, value)).into_iter().collect()),
            Err(fault) => {
                tracing::warn!(call = message.name, "{fault:?}");
                failed(fault)
            }
        };
        // A multiplexed reply names the method alone.
        let name = message.name.rsplit(':').next().unwrap_or_default().to_owned();
        Some(Message { kind, name, sequence: message.sequence, fields })
    }

    fn call(&self, memory: &mut Memory, name: &str, fields: &Fields) -> Answer {
        let unknown = || Fault::UnknownMethod(format!("p4cc-switch does not know the call {name}"));
        let (service, method) = name.split_once(':').unwrap_or(("standard", name));
        let method = self.methods.iter().find(|(known, _)| **known == (service, method));
        let method = *method.ok_or_else(unknown)?.1;
        let args = Args(fields);
        match method {
            Method::Daemon(call) => call(&*self.target, memory, &args),
            Method::Switch(call) => {
                let mut answer = Err(Fault::Internal("the switch was not lent".to_owned()));
                self.target.with_switch(&mut |switch, now| {
                    memory.follow(switch);
                    answer = call(&mut Context { switch, memory, now }, &args);
                });
                answer
            }
        }
    }
}

impl Memory {
    /// What BMv2's tools call the objects of the program that runs.
    pub fn names(&mut self, target: &dyn Target) -> Outcome<&mut Names> {
        target.with_switch(&mut |switch, _| self.follow(switch));
        if self.names.is_none() {
            let text = calls::daemon::config(target)?;
            let config = serde_json::from_str(&text).map_err(|error| Fault::Internal(error.to_string()))?;
            self.names = Some(Names::new(&config));
        }
        self.names.as_mut().ok_or_else(no_program)
    }

    /// The same, if somebody has asked already.
    pub fn known_names(&mut self) -> Option<&mut Names> {
        self.names.as_mut()
    }

    /// Adds digests to their lists; gives the notifications of idle entries.
    pub fn take_in(
        &mut self,
        target: &dyn Target,
        device_id: u64,
        now: Time,
        held: &Held<'_>,
    ) -> Outcome<Vec<Vec<u8>>> {
        let names = self.names(target)?;
        for message in held.digests {
            if let Some(&list) = names.digest_lists.get(message.digest.index()) {
                names.lists.add(list, message, now).map_err(|_| no_program())?;
            }
        }
        let mut due = Vec::new();
        for idle in held.idle.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(table, _)) = idle.first() else { continue };
            let of = &held.pipeline.program().tables[table.index()];
            let Some(id) = self.names(target)?.table(&of.cp.name) else { continue };
            let handle = |(_, entry): &(TableId, TableEntry)| {
                self.handles.of(table, &(entry.matches.clone(), entry.priority))
            };
            let handles: Vec<i32> = idle.iter().map(handle).collect();
            due.push(learning::ageing(device_id, self.aged, id, &handles));
            self.aged += 1;
        }
        Ok(due)
    }

    /// The program that handles belong to.
    pub fn pipeline(&self) -> Option<&Arc<Pipeline>> {
        self.pipeline.as_ref()
    }

    /// Forgets what belonged to another program.
    pub fn follow(&mut self, switch: &Switch) {
        let runs = switch.observation().pipeline();
        let same = match (&self.pipeline, runs) {
            (Some(known), Some(runs)) => Arc::ptr_eq(known, runs),
            (None, None) => true,
            _ => false,
        };
        if !same {
            let loaded = self.loaded.take();
            *self = Self { pipeline: runs.cloned(), loaded, ..Self::default() };
        }
    }
}

fn failed(fault: Fault) -> (Kind, Fields) {
    match fault {
        Fault::Declared(code, _) => {
            let exception = Value::structure([(1, Value::I32(code))]);
            (Kind::Reply, Fields::from([(1, exception)]))
        }
        Fault::UnknownMethod(text) => {
            (Kind::Exception, application_exception(ApplicationError::UnknownMethod, &text))
        }
        Fault::Arguments(text) => {
            (Kind::Exception, application_exception(ApplicationError::ProtocolError, &text))
        }
        Fault::Internal(text) => {
            (Kind::Exception, application_exception(ApplicationError::InternalError, &text))
        }
    }
}
