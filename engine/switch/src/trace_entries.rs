//! Entries of tables in a trace: the one that matched, or the one that came nearest.

use p4cc_exec::State;
use p4cc_exec::control::{EntryAction, TableEntry};
use p4cc_ir::{ActionCall, Bits, MatchValue, Program, Table, TableId};
use serde::Serialize;

use crate::trace::{Step, TraceEvent};
use crate::trace_values::digits;

/// Most entries of a table that are compared with a packet that misses.
const MAX_ENTRIES: usize = 1 << 16;

/// A step, and of a table's the entry.
#[derive(Clone, Debug, Serialize)]
pub struct TracedStep {
    /// What happened.
    #[serde(flatten)]
    pub step: Step,
    /// The entry that matched, or on a miss the nearest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryText>,
    /// Entries that the table holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<usize>,
}

/// An entry in P4's words, compared with a packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryText {
    /// One per key: `0x0a000100/24`.
    pub keys: Vec<String>,
    /// Larger wins; 0 where the table has none.
    pub priority: u32,
    /// What it runs: `ingress.forward(port = 0x2)`.
    pub action: String,
    /// Keys that do not match.
    pub differs: Vec<Difference>,
}

/// A key of an entry that a packet does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The key's name.
    pub key: String,
    /// Bits that differ, 0 being the lowest; none for a range.
    pub bits: Vec<u32>,
}

/// Steps with what tables hold.
pub fn explained(events: Vec<TraceEvent>, program: &Program, state: Option<&State>) -> Vec<TracedStep> {
    let explained = events.into_iter().map(|event| {
        let found = match (&event.step, state) {
            (Step::Table { table, key, entry, .. }, Some(state)) => {
                compared(program, state, table, key, *entry)
            }
            _ => None,
        };
        let (entries, entry) = found.unzip();
        TracedStep { step: event.step, entry: entry.flatten(), entries }
    });
    explained.collect()
}

/// How many entries a table has, and the one to show.
fn compared(
    program: &Program,
    state: &State,
    name: &str,
    key: &[(String, Bits)],
    hit: Option<u32>,
) -> Option<(usize, Option<EntryText>)> {
    let at = program.tables.iter().position(|table| table.cp.name == name)?;
    let (id, table) = (TableId::from_index(at), &program.tables[at]);
    let shown = match hit {
        Some(number) => state.entry_of_number(id, number).map(|entry| (Vec::new(), entry)),
        None => {
            let entries = state.table_entries(id).take(MAX_ENTRIES);
            let bits = |differs: &[Difference]| differs.iter().map(|one| one.bits.len()).sum::<usize>();
            entries
                .map(|entry| (differences(entry, key), entry))
                .min_by_key(|(differs, _)| (differs.len(), bits(differs)))
        }
    };
    let text = |(differs, entry): (Vec<Difference>, &TableEntry)| EntryText {
        keys: entry.matches.iter().map(match_text).collect(),
        priority: entry.priority,
        action: action_text(program, table, &entry.action),
        differs,
    };
    Some((state.table_entries(id).count(), shown.map(text)))
}

fn differences(entry: &TableEntry, key: &[(String, Bits)]) -> Vec<Difference> {
    let pairs = entry.matches.iter().zip(key);
    let differs = pairs.filter_map(|(wanted, (name, value))| {
        let bits = differing(wanted, value)?;
        Some(Difference { key: name.clone(), bits })
    });
    differs.collect()
}

/// The bits in which a value is not what an entry wants; none if it matches.
fn differing(wanted: &MatchValue, value: &Bits) -> Option<Vec<u32>> {
    let width = value.width();
    let bit = |bits: &Bits, at: u32| {
        bits.words().get((at / 64) as usize).is_some_and(|word| word >> (at % 64) & 1 == 1)
    };
    let (bits, compared): (&Bits, &dyn Fn(u32) -> bool) = match wanted {
        MatchValue::Any => return None,
        MatchValue::Range { low, high } => {
            let order = |bits: &Bits| bits.to_be_bytes();
            return (order(value) < order(low) || order(value) > order(high)).then(Vec::new);
        }
        MatchValue::Exact(bits) => (bits, &|_| true),
        MatchValue::Lpm { value: bits, len } => (bits, &|at| at >= width.saturating_sub(*len)),
        MatchValue::Ternary { value: bits, mask } => (bits, &|at| bit(mask, at)),
    };
    let differs: Vec<u32> =
        (0..width).filter(|at| compared(*at) && bit(bits, *at) != bit(value, *at)).collect();
    (!differs.is_empty()).then_some(differs)
}

fn match_text(value: &MatchValue) -> String {
    match value {
        MatchValue::Any => "_".to_owned(),
        MatchValue::Exact(bits) => digits(bits),
        MatchValue::Lpm { value, len } => format!("{}/{len}", digits(value)),
        MatchValue::Ternary { value, mask } => format!("{} &&& {}", digits(value), digits(mask)),
        MatchValue::Range { low, high } => format!("{}..{}", digits(low), digits(high)),
    }
}

fn action_text(program: &Program, table: &Table, action: &EntryAction) -> String {
    match action {
        EntryAction::Direct(call) => call_text(program, call),
        _ => match table.profile {
            Some(profile) => format!("an action of {}", program.profiles[profile.index()].cp.name),
            None => "one of several actions".to_owned(),
        },
    }
}

fn call_text(program: &Program, call: &ActionCall) -> String {
    let action = &program.actions[call.action.index()];
    let args = action.params.iter().zip(&call.args);
    let args: Vec<String> =
        args.map(|(param, value)| format!("{} = {}", param.cp.name, digits(value))).collect();
    format!("{}({})", action.cp.name, args.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(value: u128) -> Bits {
        Bits::from_u128(32, value)
    }

    #[test]
    fn a_value_differs_where_an_entry_looks() {
        let value = bits(0x0a00_0103);
        let lpm = |value, len| MatchValue::Lpm { value: bits(value), len };
        let ternary = MatchValue::Ternary { value: bits(0x2), mask: bits(0xf) };
        for (wanted, differs) in [
            (MatchValue::Any, None),
            (MatchValue::Exact(value.clone()), None),
            (MatchValue::Exact(bits(0x0a00_0100)), Some(vec![0, 1])),
            (lpm(0x0a00_0100, 24), None),
            (lpm(0x0a00_0000, 24), Some(vec![8])),
            (lpm(0, 0), None),
            (ternary, Some(vec![0])),
            (MatchValue::Range { low: bits(0), high: bits(0x0a00_0103) }, None),
            (MatchValue::Range { low: bits(0), high: bits(0x0a00_0102) }, Some(vec![])),
        ] {
            assert_eq!(differing(&wanted, &value), differs, "{wanted:?}");
        }
    }
}
