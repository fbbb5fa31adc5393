//! The language of the Simple Test Framework: one command on each line, `#` starts a comment.

/// A number as written, with its base and its wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Bits of a digit: 4, 3 or 1; 0 for a decimal number.
    pub digit_bits: u32,
    /// Digits from the most significant; `None` is a `*`.
    pub digits: Vec<Option<u8>>,
}

/// A key's value: a number, and the length after a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue {
    /// The number.
    pub literal: Literal,
    /// Length of a prefix.
    pub prefix: Option<u32>,
}

/// An action with named arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionText {
    /// Name, perhaps only its end.
    pub name: String,
    /// Names and values.
    pub args: Vec<(String, Literal)>,
}

/// How a counter's value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A cell of a counter: an index, or the entry of an `add ... = $name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// By index.
    Index(u32),
    /// By the name of an entry.
    Entry(String),
}

/// Committed and peak rate, each with its burst: `rate:burst
/// rate:burst`, rates in units for each microsecond.
pub type MeterRates = Vec<(f64, u32)>;

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// `add table [priority] key:value... action(name:value, ...) [= name]`
    Add {
        /// Table.
        table: String,
        /// Larger wins.
        priority: Option<u32>,
        /// Keys by name.
        keys: Vec<(String, KeyValue)>,
        /// What it runs.
        action: ActionText,
        /// Name of the entry.
        name: Option<String>,
    },
    /// `setdefault table action(...)`
    SetDefault {
        /// Table.
        table: String,
        /// What a miss runs.
        action: ActionText,
    },
    /// `remove all`, or `remove name` of an entry that was named.
    Remove(Option<String>),
    /// `packet port data`
    Packet {
        /// Comes in there.
        port: u32,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// `expect port [data][$]`
    Expect {
        /// Goes out there.
        port: u32,
        /// Half bytes, `None` for any. No data at all matches every packet.
        nibbles: Vec<Option<u8>>,
        /// The packet ends where the data does.
        exact: bool,
    },
    /// `no_packet`: nothing is waited for.
    NoPacket,
    /// `wait`
    Wait,
    /// `check_counter name(cell) [packets|bytes relation number]`
    CheckCounter {
        /// Counter.
        name: String,
        /// Cell.
        cell: Cell,
        /// Bytes are compared, not packets.
        bytes: bool,
        /// How.
        relation: Relation,
        /// With what.
        value: u64,
    },
    /// `mirroring_add session port`, or with `group`, `mirroring_add_mc session group`
    MirroringAdd {
        /// Clone session.
        session: u32,
        /// Port or multicast group.
        target: u32,
        /// The target is a group.
        group: bool,
    },
    /// `mirroring_delete session`
    MirroringDelete(u32),
    /// `mc_mgrp_create group`
    GroupCreate(u32),
    /// `mc_node_create rid port...`; nodes get handles from 0
    NodeCreate(u16, Vec<u32>),
    /// `mc_node_update handle port...`
    NodeUpdate(u32, Vec<u32>),
    /// `mc_node_associate group handle`
    NodeAssociate(u32, u32),
    /// `register_write name index value`
    RegisterWrite(String, u32, Literal),
    /// `register_reset name`
    RegisterReset(String),
    /// `counter_write name index packets bytes`
    CounterWrite(String, u32, u64, u64),
    /// `meter_set_rates name index rates`, or for all cells `meter_array_set_rates name rates`
    MeterSetRates(String, Option<u32>, MeterRates),
    /// `register_read name index`, which prints the cell.
    RegisterRead(String, u32),
    /// `counter_read name index`, which prints the cell.
    CounterRead(String, u32),
    /// `meter_get_rates name index`, which prints the rates.
    MeterGetRates(String, u32),
    /// `mirroring_get session`, which prints where clones go.
    MirroringGet(u32),
}

/// Why a text is not a test: line from 1, and the cause.
pub type ParseError = (u32, String);

type Outcome<T> = Result<T, String>;

/// Parses a test.
///
/// # Errors
/// The first line that is not a command.
pub fn parse(text: &str) -> Result<Vec<(u32, Command)>, ParseError> {
    let mut commands = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line_number = u32::try_from(number + 1).unwrap_or(u32::MAX);
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        match command(line) {
            Ok(command) => commands.push((line_number, command)),
            Err(cause) => return Err((line_number, cause)),
        }
    }
    Ok(commands)
}

/// What stands before the comment; a `#` in a quoted name starts none.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let comment = line.find(|c: char| {
        quoted ^= c == '"';
        c == '#' && !quoted
    });
    &line[..comment.unwrap_or(line.len())]
}

fn command(line: &str) -> Outcome<Command> {
    let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let keyword = keyword.to_ascii_lowercase();
    match keyword.as_str() {
        "packet" => {
            let (port, data) = port_and_data(rest)?;
            return Ok(Command::Packet { port, bytes: bytes(&data)? });
        }
        "expect" => return expect(rest),
        _ => {}
    }
    let mut words = Words { tokens: tokens(rest)?, at: 0 };
    let command = match keyword.as_str() {
        "add" => words.add()?,
        "setdefault" => Command::SetDefault { table: words.name()?, action: words.action()? },
        "remove" => match words.name()?.as_str() {
            all if all.eq_ignore_ascii_case("all") => Command::Remove(None),
            name => Command::Remove(Some(name.to_owned())),
        },
        "no_packet" => Command::NoPacket,
        "wait" => Command::Wait,
        "check_counter" => words.check_counter()?,
        "mirroring_add" | "mirroring_add_mc" => Command::MirroringAdd {
            session: words.number()?,
            target: words.number()?,
            group: keyword == "mirroring_add_mc",
        },
        "mirroring_delete" => Command::MirroringDelete(words.number()?),
        "mc_mgrp_create" => Command::GroupCreate(words.number()?),
        "mc_node_create" => {
            let rid = u16::try_from(words.number()?).map_err(|_| "a rid has 16 bits".to_owned())?;
            Command::NodeCreate(rid, words.numbers()?)
        }
        "mc_node_update" => Command::NodeUpdate(words.number()?, words.numbers()?),
        "mc_node_associate" => Command::NodeAssociate(words.number()?, words.number()?),
        "register_write" => Command::RegisterWrite(words.name()?, words.number()?, words.literal()?),
        "register_reset" => Command::RegisterReset(words.name()?),
        "counter_write" => Command::CounterWrite(
            words.name()?,
            words.number()?,
            words.number()?.into(),
            words.number()?.into(),
        ),
        "meter_set_rates" => {
            Command::MeterSetRates(words.name()?, Some(words.number()?), words.meter_rates()?)
        }
        "meter_array_set_rates" => Command::MeterSetRates(words.name()?, None, words.meter_rates()?),
        "register_read" => Command::RegisterRead(words.name()?, words.number()?),
        "counter_read" => Command::CounterRead(words.name()?, words.number()?),
        "meter_get_rates" => Command::MeterGetRates(words.name()?, words.number()?),
        "mirroring_get" => Command::MirroringGet(words.number()?),
        other => return Err(format!("`{other}` is not a command; p4cc stf --help lists them")),
    };
    words.end()?;
    Ok(command)
}

/// A port, then the rest without blanks.
fn port_and_data(rest: &str) -> Outcome<(u32, String)> {
    let (port, data) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    let port = port.parse().map_err(|_| format!("`{port}` is not a port"))?;
    Ok((port, data.split_whitespace().collect()))
}

fn bytes(data: &str) -> Outcome<Vec<u8>> {
    let digits: Option<Vec<u32>> = data.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits.ok_or_else(|| format!("`{data}` is not hexadecimal"))?;
    if digits.len() % 2 != 0 {
        return Err("an odd number of hexadecimal digits".to_owned());
    }
    Ok(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}

fn expect(rest: &str) -> Outcome<Command> {
    let (port, data) = port_and_data(rest)?;
    let (data, exact) = data.strip_suffix('$').map_or((data.as_str(), false), |data| (data, true));
    let nibble = |digit: char| match digit {
        '*' => Ok(None),
        digit => match digit.to_digit(16) {
            Some(value) => Ok(Some(value as u8)),
            None => Err(format!("`{digit}` is neither hexadecimal nor `*`")),
        },
    };
    Ok(Command::Expect { port, nibbles: data.chars().map(nibble).collect::<Outcome<_>>()?, exact })
}

/// Splits into words and single characters; words in double quotes lose them.
fn tokens(text: &str) -> Outcome<Vec<String>> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let len = if first == '"' {
            let end = rest[1..].find('"').ok_or("a quoted name has no end")?;
            tokens.push(rest[1..=end].to_owned());
            end + 2
        } else {
            let two = ["==", "!=", "<=", ">="].iter().any(|sign| rest.starts_with(sign));
            let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '*');
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let len = if two { 2 } else { word.max(first.len_utf8()) };
            tokens.push(rest[..len].to_owned());
            len
        };
        rest = rest[len..].trim_start();
    }
    Ok(tokens)
}

/// Digits of a number.
fn literal(text: &str) -> Outcome<Literal> {
    let wrong = || format!("`{text}` is not a number");
    let lower = text.to_ascii_lowercase();
    let (digit_bits, radix, digits) = match lower.get(..2) {
        Some("0x") => (4, 16, &lower[2..]),
        Some("0b") => (1, 2, &lower[2..]),
        Some("0o") => (3, 8, &lower[2..]),
        _ => (0, 10, lower.as_str()),
    };
    let digit = |c: char| match c {
        '*' if digit_bits > 0 => Ok(None),
        c => c.to_digit(radix).map(|value| Some(value as u8)).ok_or_else(wrong),
    };
    let digits = digits.chars().map(digit).collect::<Outcome<Vec<_>>>()?;
    if digits.is_empty() { Err(wrong()) } else { Ok(Literal { digit_bits, digits }) }
}

impl Literal {
    /// The value as a number; wildcards are zero.
    ///
    /// # Errors
    /// It does not fit 64 bits.
    pub fn to_u64(&self) -> Result<u64, String> {
        let radix = if self.digit_bits == 0 { 10 } else { 1 << self.digit_bits };
        let step = |value: u64, digit: &Option<u8>| {
            value.checked_mul(radix)?.checked_add(u64::from(digit.unwrap_or(0)))
        };
        self.digits.iter().try_fold(0, step).ok_or_else(|| "a number does not fit 64 bits".to_owned())
    }
}

struct Words {
    tokens: Vec<String>,
    at: usize,
}

impl Words {
    fn peek(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", String::as_str)
    }

    fn next(&mut self) -> Outcome<String> {
        let token = self.tokens.get(self.at).cloned().ok_or("the line ends too early")?;
        self.at += 1;
        Ok(token)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.peek(0) == wanted;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: &str) -> Outcome<()> {
        if self.take(wanted) {
            Ok(())
        } else {
            Err(format!("`{wanted}` is missing before `{}`", self.peek(0)))
        }
    }

    fn end(&self) -> Outcome<()> {
        if self.at >= self.tokens.len() { Ok(()) } else { Err(format!("`{}` is too much", self.peek(0))) }
    }

    /// A name with dots and indices: `hdr.vlan[1].id`.
    fn name(&mut self) -> Outcome<String> {
        let mut name = self.next()?;
        loop {
            if self.take(".") {
                name = format!("{name}.{}", self.next()?);
            } else if self.take("[") {
                name = format!("{name}[{}]", self.next()?);
                self.expect("]")?;
            } else {
                return Ok(name);
            }
        }
    }

    fn literal(&mut self) -> Outcome<Literal> {
        literal(&self.next()?)
    }

    fn number(&mut self) -> Outcome<u32> {
        let value = self.literal()?.to_u64()?;
        u32::try_from(value).map_err(|_| format!("{value} does not fit 32 bits"))
    }

    fn numbers(&mut self) -> Outcome<Vec<u32>> {
        let mut numbers = Vec::new();
        while self.at < self.tokens.len() {
            numbers.push(self.number()?);
        }
        Ok(numbers)
    }

    fn meter_rates(&mut self) -> Outcome<MeterRates> {
        let mut rates = Vec::new();
        while self.at < self.tokens.len() {
            let mut rate = self.next()?;
            if self.take(".") {
                rate = format!("{rate}.{}", self.next()?);
            }
            let rate = rate.parse().map_err(|_| format!("`{rate}` is not a rate"))?;
            self.expect(":")?;
            rates.push((rate, self.number()?));
        }
        Ok(rates)
    }

    fn action(&mut self) -> Outcome<ActionText> {
        let name = self.name()?;
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.take(")") {
            if !args.is_empty() {
                self.expect(",")?;
            }
            let name = self.next()?;
            self.expect(":")?;
            args.push((name, self.literal()?));
        }
        Ok(ActionText { name, args })
    }

    fn add(&mut self) -> Outcome<Command> {
        let table = self.name()?;
        let is_number = self.peek(0).chars().all(|c| c.is_ascii_digit()) && !self.peek(0).is_empty();
        let priority = if is_number { Some(self.number()?) } else { None };
        let mut keys = Vec::new();
        loop {
            let start = self.at;
            let name = self.name()?;
            if !self.take(":") {
                self.at = start;
                break;
            }
            let literal = self.literal()?;
            let prefix = if self.take("/") { Some(self.number()?) } else { None };
            keys.push((name, KeyValue { literal, prefix }));
        }
        let action = self.action()?;
        let name = if self.take("=") { Some(self.next()?) } else { None };
        Ok(Command::Add { table, priority, keys, action, name })
    }

    fn check_counter(&mut self) -> Outcome<Command> {
        let name = self.name()?;
        self.expect("(")?;
        let cell = self.next()?;
        let cell = match literal(&cell) {
            Ok(index) => Cell::Index(u32::try_from(index.to_u64()?).map_err(|error| error.to_string())?),
            Err(_) => Cell::Entry(cell.trim_start_matches('$').to_owned()),
        };
        self.expect(")")?;
        if self.at >= self.tokens.len() {
            let (bytes, relation, value) = (false, Relation::GreaterOrEqual, 0);
            return Ok(Command::CheckCounter { name, cell, bytes, relation, value });
        }
        let bytes = match self.next()?.to_ascii_lowercase().as_str() {
            "bytes" => true,
            "packets" => false,
            other => return Err(format!("`{other}` is neither packets nor bytes")),
        };
        let relation = match self.next()?.as_str() {
            "==" => Relation::Equal,
            "!=" => Relation::NotEqual,
            "<" => Relation::Less,
            "<=" => Relation::LessOrEqual,
            ">" => Relation::Greater,
            ">=" => Relation::GreaterOrEqual,
            other => return Err(format!("`{other}` compares nothing")),
        };
        let value = self.literal()?.to_u64()?;
        Ok(Command::CheckCounter { name, cell, bytes, relation, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_have_their_parts() {
        let text = "# a comment\nadd ingress.t 7 hdr.v[1].f:0x0*F h.$valid$:1 d:0x0a00/8 act(p:3, q:0b1) = $e\n\
                    EXPECT 2 0a*b $\nexpect 3\npacket 0 0A 0b\ncheck_counter c($e) bytes >= 10";
        let commands =
            parse(text).map(|commands| commands.into_iter().map(|(line, _)| line).collect::<Vec<_>>());
        assert_eq!(commands, Ok(vec![2, 3, 4, 5, 6]));
        let parsed = parse(text).unwrap_or_default();
        let Command::Add { table, priority, keys, action, name } = &parsed[0].1 else { panic!("{parsed:?}") };
        assert_eq!((table.as_str(), *priority, name.as_deref()), ("ingress.t", Some(7), Some("$e")));
        assert_eq!(keys[0].0, "hdr.v[1].f");
        assert_eq!(keys[0].1.literal.digits, [Some(0), None, Some(15)]);
        assert_eq!(keys[2].1.prefix, Some(8));
        assert_eq!(action.args.len(), 2);
        let nibbles = vec![Some(0), Some(10), None, Some(11)];
        assert_eq!(parsed[1].1, Command::Expect { port: 2, nibbles, exact: true });
        assert_eq!(parsed[2].1, Command::Expect { port: 3, nibbles: Vec::new(), exact: false });
        assert_eq!(parsed[3].1, Command::Packet { port: 0, bytes: vec![10, 11] });
    }

    #[test]
    fn a_quoted_name_may_hold_the_sign_of_a_comment() {
        let parsed = parse("setdefault \"!@#$%^-t\" \"a#b\"() # \"a comment\"").unwrap_or_default();
        let Some((1, Command::SetDefault { table, action })) = parsed.first() else { panic!("{parsed:?}") };
        assert_eq!((table.as_str(), action.name.as_str()), ("!@#$%^-t", "a#b"));
    }

    #[test]
    fn what_is_not_a_command_names_its_line() {
        for bad in
            ["frob 1", "packet 0 abc", "packet x 00", "expect 1 zz", "add t k:1", "wait 3", "add t a(x:\"b)"]
        {
            let (line, cause) = parse(&format!("wait\n{bad}")).err().unwrap_or_default();
            assert!(line == 2 && !cause.is_empty(), "{bad}");
        }
    }
}
