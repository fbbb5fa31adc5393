//! Match keys, action data and entries between BMv2's structs and the engine's.

use p4cc_exec::control::{EntryAction, TableEntry};
use p4cc_ir::{ActionCall, ActionId, Bits, MatchKind, MatchValue, Program, Table, TableId};
use p4cc_units::Time;

use crate::fault::{Fault, Outcome, table};
use crate::handles::Identity;
use crate::service::{Args, Context};
use crate::value::{Fields, Type, Value};

/// `BmMatchParamType`, and the field of `BmMatchParam` that holds each.
const EXACT: i32 = 0;
const LPM: i32 = 1;
const TERNARY: i32 = 2;
const RANGE: i32 = 4;

/// BMv2's priorities are better the lower they are, P4Runtime's the higher.
const PRIORITY_SUM: i32 = i32::MAX;

/// A big-endian number of a key's or parameter's width.
pub(crate) fn bits(bytes: &[u8], width: u32, code: i32, what: &str) -> Outcome<Bits> {
    let significant = bytes.iter().position(|byte| *byte != 0).map_or(0, |at| {
        let zeros = bytes[at].leading_zeros() as usize;
        (bytes.len() - at) * 8 - zeros
    });
    if significant > width as usize {
        return Err(Fault::new(code, format!("{what} has {significant} bits, the program's has {width}")));
    }
    Ok(Bits::from_be_bytes(width, bytes))
}

fn and(a: &Bits, b: &Bits) -> Bits {
    let words: Vec<u64> = a.words().iter().zip(b.words()).map(|(a, b)| a & b).collect();
    Bits::from_words(a.width(), &words)
}

/// Ones in the highest `len` bits.
fn prefix_mask(width: u32, len: u32) -> Bits {
    let mut words = vec![0; p4cc_ir::bits::words_for(width)];
    for bit in width.saturating_sub(len)..width {
        words[(bit / 64) as usize] |= 1 << (bit % 64);
    }
    Bits::from_words(width, &words)
}

fn ones(width: u32) -> Bits {
    prefix_mask(width, width)
}

/// What BMv2 calls the kind of a key.
fn param_type(kind: MatchKind) -> i32 {
    match kind {
        MatchKind::Exact | MatchKind::Selector => EXACT,
        MatchKind::Lpm => LPM,
        // BMv2 has no optional keys; p4c makes them ternary.
        MatchKind::Ternary | MatchKind::Optional => TERNARY,
        MatchKind::Range => RANGE,
    }
}

/// One key of an entry.
fn parse_match(given: &Value, kind: MatchKind, width: u32, name: &str) -> Outcome<MatchValue> {
    let bad = |cause: String| Fault::new(table::BAD_MATCH_KEY, format!("key {name}: {cause}"));
    let Value::Struct(given) = given else { return Err(bad("is not a BmMatchParam".to_owned())) };
    let given = Args(given);
    let wanted = param_type(kind);
    if given.i32(1)? != wanted {
        return Err(bad(format!("has the type {}, the table's is {wanted}", given.i32(1)?)));
    }
    let value = |args: &Args<'_>, id: i16| bits(args.bytes(id)?, width, table::BAD_MATCH_KEY, name);
    Ok(match kind {
        MatchKind::Exact | MatchKind::Selector => MatchValue::Exact(value(&given.fields(2)?, 1)?),
        MatchKind::Lpm => {
            let lpm = given.fields(3)?;
            let len = lpm.u32(2)?;
            if len > width {
                return Err(bad(format!("a prefix of {len} bits does not fit {width}")));
            }
            match len {
                0 => MatchValue::Any,
                len => MatchValue::Lpm { value: and(&value(&lpm, 1)?, &prefix_mask(width, len)), len },
            }
        }
        MatchKind::Ternary | MatchKind::Optional => {
            let ternary = given.fields(4)?;
            let mask = value(&ternary, 2)?;
            let key = and(&value(&ternary, 1)?, &mask);
            match kind {
                _ if mask.is_zero() => MatchValue::Any,
                MatchKind::Optional if mask == ones(width) => MatchValue::Exact(key),
                MatchKind::Optional => return Err(bad("is optional: all of it, or nothing".to_owned())),
                _ => MatchValue::Ternary { value: key, mask },
            }
        }
        MatchKind::Range => {
            let range = given.fields(6)?;
            let (low, high) = (value(&range, 1)?, value(&range, 2)?);
            if low.is_zero() && high == ones(width) {
                MatchValue::Any
            } else {
                MatchValue::Range { low, high }
            }
        }
    })
}

/// Positions and kinds of the keys that entries match.
fn keys<'a>(program: &'a Program, of: &'a Table) -> impl Iterator<Item = (&'a str, MatchKind, u32)> {
    let matched = of.keys.iter().filter(|key| key.kind != MatchKind::Selector);
    matched.map(|key| (key.cp.name.as_str(), key.kind, program.vars[key.var.index()].ty.width()))
}

/// Whether entries of a table have priorities of their own.
fn has_priority(of: &Table) -> bool {
    of.keys.iter().any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional))
}

/// A key and its priority.
pub(crate) fn identity(
    program: &Program,
    id: TableId,
    given: &[Value],
    options: &Args<'_>,
) -> Outcome<Identity> {
    let of = &program.tables[id.index()];
    let wanted = keys(program, of).count();
    if given.len() != wanted {
        let cause = format!("table {} has {wanted} keys, not {}", of.cp.name, given.len());
        return Err(Fault::new(table::BAD_MATCH_KEY, cause));
    }
    let values = given.iter().zip(keys(program, of));
    let matches: Outcome<Vec<MatchValue>> =
        values.map(|(given, (name, kind, width))| parse_match(given, kind, width, name)).collect();
    if !has_priority(of) {
        return Ok((matches?, 0));
    }
    let priority = if options.has(1) { options.i32(1)? } else { 0 };
    if !(0..PRIORITY_SUM).contains(&priority) {
        return Err(Fault::new(table::ERROR, format!("there is no priority {priority}; give 0 to 2^31 - 2")));
    }
    Ok((matches?, (PRIORITY_SUM - priority) as u32))
}

/// An action with its data.
pub(crate) fn call(program: &Program, action: ActionId, data: &[Value]) -> Outcome<ActionCall> {
    let of = &program.actions[action.index()];
    let bad = |cause: String| Fault::new(table::BAD_ACTION_DATA, format!("action {}: {cause}", of.cp.name));
    if data.len() != of.params.len() {
        return Err(bad(format!("takes {} values, not {}", of.params.len(), data.len())));
    }
    let args = of.params.iter().zip(data).map(|(param, given)| match given {
        Value::String(bytes) => {
            let width = program.vars[param.var.index()].ty.width();
            bits(bytes, width, table::BAD_ACTION_DATA, &param.cp.name)
        }
        _ => Err(bad("its data is not a list of strings".to_owned())),
    });
    Ok(ActionCall { action, args: args.collect::<Outcome<_>>()? })
}

fn bytes(value: &Bits) -> Value {
    Value::String(value.to_be_bytes())
}

/// `BmMatchParam` of one key.
fn match_param(value: &MatchValue, kind: MatchKind, width: u32) -> Value {
    let zero = Bits::zero(width);
    let (field, holds) = match (value, kind) {
        (MatchValue::Exact(value), MatchKind::Optional) => {
            (4, Value::structure([(1, bytes(value)), (2, bytes(&ones(width)))]))
        }
        (MatchValue::Exact(value), _) => (2, Value::structure([(1, bytes(value))])),
        (MatchValue::Lpm { value, len }, _) => {
            (3, Value::structure([(1, bytes(value)), (2, Value::I32(*len as i32))]))
        }
        (MatchValue::Ternary { value, mask }, _) => {
            (4, Value::structure([(1, bytes(value)), (2, bytes(mask))]))
        }
        (MatchValue::Range { low, high }, _) => (6, Value::structure([(1, bytes(low)), (2, bytes(high))])),
        (MatchValue::Any, MatchKind::Lpm) => (3, Value::structure([(1, bytes(&zero)), (2, Value::I32(0))])),
        (MatchValue::Any, MatchKind::Range) => {
            (6, Value::structure([(1, bytes(&zero)), (2, bytes(&ones(width)))]))
        }
        (MatchValue::Any, _) => (4, Value::structure([(1, bytes(&zero)), (2, bytes(&zero))])),
    };
    Value::structure([(1, Value::I32(param_type(kind))), (field, holds)])
}

/// Data of an action. BMv2 keeps numbers, so leading zeros are not given.
pub(crate) fn action_data(call: &ActionCall) -> Value {
    let short = |value: &Bits| {
        let bytes = value.to_be_bytes();
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Value::String(bytes[zeros.min(bytes.len().saturating_sub(1))..].to_vec())
    };
    Value::List(Type::String, call.args.iter().map(short).collect())
}

/// `BmActionEntry` of a miss that does nothing, as BMv2's tables with a profile have it.
pub(crate) fn no_action() -> Value {
    Value::structure([(1, Value::I32(0))])
}

/// `BmActionEntry` of an action.
pub(crate) fn action_entry(program: &Program, call: &ActionCall) -> Value {
    let name = &program.actions[call.action.index()].cp.name;
    Value::structure([(1, Value::I32(1)), (2, Value::text(name)), (3, action_data(call))])
}

/// `BmMtEntry` of an entry.
pub(crate) fn entry(context: &mut Context<'_>, id: TableId, of: &TableEntry) -> Outcome<Value> {
    let program = context.program()?;
    let info = &program.tables[id.index()];
    let identity = (of.matches.clone(), of.priority);
    let handle = context.memory.handles.of(id, &identity);
    let params = of.matches.iter().zip(keys(&program, info));
    let params = params.map(|(value, (_, kind, width))| match_param(value, kind, width)).collect();
    let priority = match has_priority(info) {
        true => PRIORITY_SUM.saturating_sub(i32::try_from(of.priority).unwrap_or(i32::MAX)),
        false => -1,
    };
    let action = match &of.action {
        EntryAction::Direct(call) => action_entry(&program, call),
        EntryAction::Member(member) => {
            Value::structure([(1, Value::I32(2)), (4, Value::I32(*member as i32))])
        }
        EntryAction::Group(group) => Value::structure([(1, Value::I32(3)), (5, Value::I32(*group as i32))]),
        // A one-shot set, which only P4Runtime knows: its first member stands for it.
        EntryAction::Set(set) => match set.members.first() {
            Some(member) => action_entry(&program, &member.action),
            None => no_action(),
        },
    };
    let mut fields = Fields::from([
        (1, Value::structs(params)),
        (2, Value::structure([(1, Value::I32(priority))])),
        (3, Value::I32(handle)),
        (4, action),
    ]);
    if info.idle_timeout && of.idle_timeout_ns > 0 {
        let now = context.now;
        let idle = context.state()?.idle_time(id, &of.matches, of.priority, now).map_err(Fault::of_table)?;
        fields.insert(5, life(of.idle_timeout_ns, Time::from_ps(idle.as_ps())));
    }
    Ok(Value::Struct(fields))
}

/// `BmMtEntryLife`.
fn life(timeout_ns: u64, idle: Time) -> Value {
    let ms = |ns: u64| Value::I32(i32::try_from(ns / 1_000_000).unwrap_or(i32::MAX));
    Value::structure([(1, ms(timeout_ns)), (2, ms(idle.as_ns()))])
}
