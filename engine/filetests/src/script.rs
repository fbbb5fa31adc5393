//! Commands of a run case, one per comment line:
//!
//! ```text
//! // packet PORT HEX            a packet arrives (blanks in HEX are ignored)
//! // expect PORT HEX            it leaves there; * is any digit
//! // expect nothing             nothing left
//! // add TABLE KEY... => ACTION(ARG, ...) [priority N]
//! // default TABLE ACTION(ARG, ...)
//! // member PROFILE ID ACTION(ARG, ...)
//! // group PROFILE ID MEMBER...
//! // add TABLE KEY... => member ID | group ID
//! // register NAME INDEX VALUE  writes a cell
//! // expect_register NAME INDEX VALUE
//! // expect_counter NAME INDEX PACKETS
//! // expect_digest NAME VALUE...
//! // expect_log TEXT           the next line of log_msg
//! // multicast GROUP PORT...
//! // session ID PORT            a clone session
//! // cpu_port PORT              what leaves there goes to the controller; the whole case has it
//! // deflect_on_drop           v1model: what finds its queue full runs through ingress once more
//! // stop                      ports send nothing; `start` lets them go on
//! // chip ...                   what a Tofino chip has beside the program ([`crate::tofino`])
//! // time NS                    the clock; what the packet generator sends until then leaves
//! // set NAME VALUE...          members of a value set, one behind the other, a value for each key
//! ```
//!
//! Those of [`crate::chip`] are on TNA's objects. A key is `VALUE`, `VALUE/LEN`, `VALUE&&&MASK`,
//! `LOW..HIGH` or `*`. Numbers are decimal or `0x` hexadecimal. Names are fully qualified, as the control
//! plane has them. Other comments are comments.

use crate::chip::ChipCommand;

/// A key of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// `*`
    Any,
    /// One value.
    Value(u128),
    /// A prefix.
    Prefix(u128, u32),
    /// Value and mask.
    Mask(u128, u128),
    /// Low and high.
    Range(u128, u128),
}

/// An action with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Fully qualified name.
    pub name: String,
    /// Arguments in order.
    pub args: Vec<u128>,
}

/// What an entry runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    /// An action.
    Action(Action),
    /// A member of the table's profile.
    Member(u32),
    /// A group of the table's selector.
    Group(u32),
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A packet arrives.
    Packet {
        /// Where.
        port: u32,
        /// All of it.
        bytes: Vec<u8>,
    },
    /// A packet leaves.
    Expect {
        /// Where.
        port: u32,
        /// Its hexadecimal digits; none is any digit.
        nibbles: Vec<Option<u8>>,
    },
    /// No packet is left.
    ExpectNothing,
    /// An entry of a table.
    Add {
        /// The table.
        table: String,
        /// Its keys in order.
        keys: Vec<Key>,
        /// What it runs.
        runs: Runs,
        /// 0 where the table takes none.
        priority: u32,
    },
    /// The default action of a table.
    Default {
        /// The table.
        table: String,
        /// The action.
        action: Action,
    },
    /// A member of an action profile.
    Member {
        /// The profile.
        profile: String,
        /// Its number.
        id: u32,
        /// What it runs.
        action: Action,
    },
    /// A group of an action selector.
    Group {
        /// The selector.
        profile: String,
        /// Its number.
        id: u32,
        /// Numbers of its members.
        members: Vec<u32>,
    },
    /// A cell of a register is written.
    Register {
        /// The register.
        name: String,
        /// The cell.
        index: u32,
        /// What it holds then.
        value: u128,
    },
    /// A cell of a register holds a value.
    ExpectRegister {
        /// The register.
        name: String,
        /// The cell.
        index: u32,
        /// What it holds.
        value: u128,
    },
    /// A cell of a counter has counted packets.
    ExpectCounter {
        /// The counter.
        name: String,
        /// The cell.
        index: u32,
        /// How many.
        packets: u64,
    },
    /// A digest was sent.
    ExpectDigest {
        /// The digest.
        name: String,
        /// Its fields.
        values: Vec<u128>,
    },
    /// The next line of `log_msg`.
    ExpectLog(String),
    /// When packets arrive, in nanoseconds.
    Time(u64),
    /// On an object of TNA.
    Chip(ChipCommand),
    /// A multicast group.
    Multicast {
        /// Its number.
        group: u32,
        /// Where copies go.
        ports: Vec<u32>,
    },
    /// A clone session.
    Session {
        /// Its number.
        id: u32,
        /// Where copies go.
        port: u32,
    },
    /// The port whose packets go to the controller.
    CpuPort(u32),
    /// What finds its queue full runs through ingress once more; the whole case has it.
    DeflectOnDrop,
    /// Ports send nothing from here on, or go on.
    Stop(bool),
    /// What a Tofino chip has beside the program.
    Tofino(crate::tofino::Command),
    /// Members of a value set.
    Set {
        /// The value set.
        name: String,
        /// A value for each key, members one behind the other.
        values: Vec<u128>,
    },
}

/// Reads the commands of a file with their lines.
///
/// # Errors
/// Line and cause of the first command that cannot be read.
pub fn parse(text: &str) -> Result<Vec<(u32, Command)>, (u32, String)> {
    let mut commands = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let Some(rest) = line.strip_prefix("// ") else { continue };
        let at = at as u32 + 1;
        if let Some(command) = command(rest).map_err(|cause| (at, cause))? {
            commands.push((at, command));
        }
    }
    Ok(commands)
}

fn command(line: &str) -> Result<Option<Command>, String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = rest.trim();
    let words: Vec<&str> = rest.split_whitespace().collect();
    let made = match (word, words.as_slice()) {
        ("packet", [port, hex @ ..]) => Command::Packet { port: small(port)?, bytes: bytes(&hex.concat())? },
        ("expect", ["nothing"]) => Command::ExpectNothing,
        ("expect", [port, hex @ ..]) => {
            Command::Expect { port: small(port)?, nibbles: nibbles(&hex.concat())? }
        }
        ("add", _) => add(rest)?,
        ("default", [table, ..]) => {
            let action = action(rest.trim_start_matches(*table).trim())?;
            Command::Default { table: (*table).to_owned(), action }
        }
        ("member", [profile, id, ..]) => {
            let call = rest.splitn(3, ' ').nth(2).unwrap_or("");
            Command::Member { profile: (*profile).to_owned(), id: small(id)?, action: action(call)? }
        }
        ("group", [profile, id, members @ ..]) => Command::Group {
            profile: (*profile).to_owned(),
            id: small(id)?,
            members: members.iter().map(|member| small(member)).collect::<Result<_, _>>()?,
        },
        ("register", [name, index, value]) => {
            Command::Register { name: (*name).to_owned(), index: small(index)?, value: number(value)? }
        }
        ("expect_register", [name, index, value]) => {
            Command::ExpectRegister { name: (*name).to_owned(), index: small(index)?, value: number(value)? }
        }
        ("expect_counter", [name, index, packets]) => Command::ExpectCounter {
            name: (*name).to_owned(),
            index: small(index)?,
            packets: u64::from(small(packets)?),
        },
        ("expect_digest", [name, values @ ..]) => {
            let values = values.iter().map(|value| number(value)).collect::<Result<_, _>>()?;
            Command::ExpectDigest { name: (*name).to_owned(), values }
        }
        ("expect_log", _) => Command::ExpectLog(rest.to_owned()),
        ("multicast", [group, ports @ ..]) => Command::Multicast {
            group: small(group)?,
            ports: ports.iter().map(|port| small(port)).collect::<Result<_, _>>()?,
        },
        ("session", [id, port]) => Command::Session { id: small(id)?, port: small(port)? },
        ("cpu_port", [port]) => Command::CpuPort(small(port)?),
        ("deflect_on_drop", []) => Command::DeflectOnDrop,
        ("stop", []) => Command::Stop(true),
        ("start", []) => Command::Stop(false),
        ("chip", words) if !words.is_empty() => Command::Tofino(crate::tofino::Command::new(words)),
        ("set", [name, values @ ..]) => {
            let values = values.iter().map(|value| number(value)).collect::<Result<_, _>>()?;
            Command::Set { name: (*name).to_owned(), values }
        }
        ("time", [ns]) => Command::Time(small(ns)?.into()),
        _ => return Ok(crate::chip::parse(word, &words, rest)?.map(Command::Chip)),
    };
    Ok(Some(made))
}

fn add(rest: &str) -> Result<Command, String> {
    let (head, tail) = rest.split_once("=>").ok_or("`add` needs `=> ACTION(...)`")?;
    let mut words = head.split_whitespace();
    let table = words.next().ok_or("`add` needs a table")?.to_owned();
    let keys = words.map(key).collect::<Result<_, _>>()?;
    let (tail, priority) = match tail.rsplit_once(" priority ") {
        Some((tail, priority)) => (tail, small(priority.trim())?),
        None => (tail, 0),
    };
    let words: Vec<&str> = tail.split_whitespace().collect();
    let runs = match words.as_slice() {
        ["member", id] => Runs::Member(small(id)?),
        ["group", id] => Runs::Group(small(id)?),
        _ => Runs::Action(action(tail.trim())?),
    };
    Ok(Command::Add { table, keys, runs, priority })
}

pub(crate) fn key(text: &str) -> Result<Key, String> {
    if text == "*" {
        return Ok(Key::Any);
    }
    if let Some((value, mask)) = text.split_once("&&&") {
        return Ok(Key::Mask(number(value)?, number(mask)?));
    }
    if let Some((low, high)) = text.split_once("..") {
        return Ok(Key::Range(number(low)?, number(high)?));
    }
    if let Some((value, len)) = text.split_once('/') {
        return Ok(Key::Prefix(number(value)?, small(len)?));
    }
    number(text).map(Key::Value)
}

fn action(text: &str) -> Result<Action, String> {
    let (name, rest) = text.split_once('(').ok_or_else(|| format!("`{text}` is not ACTION(...)"))?;
    let args = rest.strip_suffix(')').ok_or("the `)` is missing")?;
    let args = args.split(',').map(str::trim).filter(|arg| !arg.is_empty());
    Ok(Action { name: name.to_owned(), args: args.map(number).collect::<Result<_, _>>()? })
}

pub(crate) fn number(text: &str) -> Result<u128, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}` is not a number"))
}

pub(crate) fn small(text: &str) -> Result<u32, String> {
    number(text)?.try_into().map_err(|_| format!("`{text}` is too large"))
}

fn nibbles(hex: &str) -> Result<Vec<Option<u8>>, String> {
    hex.chars()
        .map(|c| match c {
            '*' => Ok(None),
            _ => c
                .to_digit(16)
                .map(|digit| Some(digit as u8))
                .ok_or_else(|| format!("`{c}` is not a hex digit")),
        })
        .collect()
}

pub(crate) fn bytes(hex: &str) -> Result<Vec<u8>, String> {
    let digits = nibbles(hex)?;
    if digits.len() % 2 != 0 {
        return Err("a packet has whole bytes".to_owned());
    }
    digits
        .chunks(2)
        .map(|pair| match pair {
            [Some(high), Some(low)] => Ok(high << 4 | low),
            _ => Err("a packet that arrives has no `*`".to_owned()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        let text = "// packet 1 00ff 10\n// prose about packets\n// add I.t 1 0x0a/8 * 1&&&3 => I.a(1, 2) priority 7\n";
        let commands = parse(text).unwrap();
        assert_eq!(commands[0].1, Command::Packet { port: 1, bytes: vec![0, 0xff, 0x10] });
        let keys = vec![Key::Value(1), Key::Prefix(10, 8), Key::Any, Key::Mask(1, 3)];
        let runs = Runs::Action(Action { name: "I.a".to_owned(), args: vec![1, 2] });
        assert_eq!(commands[1].1, Command::Add { table: "I.t".to_owned(), keys, runs, priority: 7 });
        assert_eq!(commands.len(), 2);
        assert!(parse("// packet 1 0").is_err());
    }
}
