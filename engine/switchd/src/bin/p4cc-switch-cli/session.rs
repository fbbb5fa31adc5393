//! A connection, what a command says, and the words of its line.

use std::rc::Rc;
use std::str::FromStr;

use p4cc_thrift::Client;
use p4cc_thrift::value::{Fields, Value};

use crate::failure::Failure;
use crate::program::Program;

/// BMv2's contexts: there is one.
pub(crate) const CONTEXT: Value = Value::I32(0);

/// What a command comes to; what it says on the way is the session's.
pub(crate) type Outcome = Result<(), Failure>;

/// A connection, and the program of the switch once a command asked for it.
pub(crate) struct Session {
    client: Client,
    program: Option<Rc<Program>>,
    said: String,
}

impl Session {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, program: None, said: String::new() }
    }

    /// The program that runs.
    pub(crate) fn program(&mut self) -> Result<Rc<Program>, Failure> {
        if let Some(program) = &self.program {
            return Ok(Rc::clone(program));
        }
        let text = self.ask("standard:bm_get_config", [])?;
        self.follow(&show(&text))
    }

    /// Reads commands by another program from now on.
    pub(crate) fn follow(&mut self, text: &str) -> Result<Rc<Program>, Failure> {
        let program = Rc::new(Program::of(text).map_err(Failure::error)?);
        self.program = Some(Rc::clone(&program));
        Ok(program)
    }

    /// Adds a line to what the command says.
    pub(crate) fn say(&mut self, line: impl AsRef<str>) {
        self.said.push_str(line.as_ref());
        self.said.push('\n');
    }

    /// What the command said.
    pub(crate) fn take_said(&mut self) -> String {
        std::mem::take(&mut self.said)
    }

    /// A call by its arguments in order.
    pub(crate) fn call<const N: usize>(
        &mut self,
        name: &str,
        args: [Value; N],
    ) -> Result<Option<Value>, Failure> {
        let mut id = 0;
        let args = args.map(|value| {
            id += 1;
            (id, value)
        });
        self.client.call(name, args).map_err(|error| Failure::of_call(name, error))
    }

    /// A call without a result.
    pub(crate) fn tell<const N: usize>(&mut self, name: &str, args: [Value; N]) -> Outcome {
        self.call(name, args).map(|_| ())
    }

    /// A call with a result.
    pub(crate) fn ask<const N: usize>(&mut self, name: &str, args: [Value; N]) -> Result<Value, Failure> {
        self.call(name, args)?.ok_or_else(|| Failure::error("the switch gave no answer"))
    }

    /// A call that gives structs.
    pub(crate) fn rows<const N: usize>(
        &mut self,
        name: &str,
        args: [Value; N],
    ) -> Result<Vec<Fields>, Failure> {
        Ok(structs(&self.ask(name, args)?))
    }

    /// A setting of simple_switch's, which answers 0 if it was taken.
    pub(crate) fn set<const N: usize>(&mut self, name: &str, args: [Value; N]) -> Outcome {
        match self.call(name, args)? {
            None | Some(Value::I32(0)) => Ok(()),
            _ => Err(Failure::error("there is no such port")),
        }
    }
}

/// The structs of a list.
pub(crate) fn structs(value: &Value) -> Vec<Fields> {
    let Value::List(_, values) = value else { return Vec::new() };
    let fields = |value: &Value| if let Value::Struct(fields) = value { Some(fields.clone()) } else { None };
    values.iter().filter_map(fields).collect()
}

/// A field of a struct as text; empty where it is missing.
pub(crate) fn field(row: &Fields, id: i16) -> String {
    row.get(&id).map(show).unwrap_or_default()
}

/// A value as text.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Byte(value) => value.to_string(),
        // Python gives whole numbers a decimal, too.
        Value::Double(value) => format!("{value:?}"),
        Value::I16(value) => value.to_string(),
        Value::I32(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::String(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Struct(fields) => fields.values().map(show).collect::<Vec<_>>().join(" "),
        Value::Map(_, _, pairs) => {
            pairs.iter().map(|(key, value)| format!("{} {}\n", show(key), show(value))).collect()
        }
        Value::Set(_, values) | Value::List(_, values) => {
            values.iter().map(show).collect::<Vec<_>>().join(", ")
        }
    }
}

/// The words behind a command, so many and no others.
pub(crate) fn exactly<'w, const N: usize>(words: &[&'w str]) -> Result<[&'w str; N], Failure> {
    <[&str; N]>::try_from(words)
        .map_err(|_| Failure::error(format!("Wrong number of args, expected {N} but got {}", words.len())))
}

/// The words behind a command, so many and perhaps others.
pub(crate) fn at_least<'a, 'w, const N: usize>(
    words: &'a [&'w str],
) -> Result<([&'w str; N], &'a [&'w str]), Failure> {
    let (first, rest) =
        words.split_first_chunk::<N>().ok_or_else(|| Failure::error("Insufficient number of args"))?;
    Ok((*first, rest))
}

/// A number, or what is said of one that is none.
pub(crate) fn number<T: FromStr>(word: &str, wrong: &str) -> Result<T, Failure> {
    word.parse().map_err(|_| Failure::error(wrong))
}

/// The number of an entry, a member, a cell, as a call's argument.
pub(crate) fn handle(word: &str, what: &str) -> Result<Value, Failure> {
    number(word, &format!("Bad format for {what}")).map(Value::I32)
}

/// The number of a command's argument by its name.
pub(crate) fn argument<T: FromStr>(word: &str, name: &str) -> Result<T, Failure> {
    number(word, &format!("Bad format for {name}, expected integer"))
}
