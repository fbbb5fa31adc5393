//! The way of each packet of a test, step by step: what changed, which entry matched, or which came nearest.

use p4cc_exec::State;
use p4cc_exec::control::{EntryAction, TableEntry};
use p4cc_ir::{ActionCall, Bits, MatchValue, Program, Table, TableId};
use p4cc_switch::{Step, TraceEvent, digits};
use serde::Serialize;

/// Most entries of a table that are compared with a packet that misses.
const MAX_ENTRIES: usize = 1 << 16;

/// What the packets of a test did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Traced {
    /// Packets in the order of the test.
    pub packets: Vec<TracedPacket>,
    /// Commands that could not be carried out, by line.
    pub problems: Vec<(u32, String)>,
}

/// A packet and all that came of it.
#[derive(Clone, Debug, Serialize)]
pub struct TracedPacket {
    /// Line of the test.
    pub line: u32,
    /// Port that it came in on.
    pub port: u32,
    /// Its bytes in hexadecimal digits.
    pub bytes: String,
    /// What it did.
    pub steps: Vec<TracedStep>,
    /// Steps behind these.
    pub steps_left_out: u64,
    /// What came out.
    pub sent: Vec<SentPacket>,
}

/// A packet that came out.
#[derive(Clone, Debug, Serialize)]
pub struct SentPacket {
    /// Port.
    pub port: u32,
    /// Its bytes in hexadecimal digits.
    pub bytes: String,
}

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

/// The steps of one packet with what tables held.
pub(super) fn steps(events: Vec<TraceEvent>, program: &Program, state: Option<&State>) -> Vec<TracedStep> {
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
    use std::sync::Arc;

    use p4cc_syntax::{Memory, Options, Source};

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
    /// Routes by prefix, and marks what comes in on one port.
    const PROGRAM: &str = "
        #include <core.p4>
        #include <v1model.p4>
        header h_t { bit<8> ttl; bit<32> dst; }
        struct hs { h_t h; } struct m { bit<8> level; }
        parser p(packet_in b, out hs x, inout m y, inout standard_metadata_t s) {
            state start { b.extract(x.h); transition accept; } }
        control v(inout hs x, inout m y) { apply {} }
        control i(inout hs x, inout m y, inout standard_metadata_t s) {
            action forward(bit<9> port) { s.egress_spec = port; x.h.ttl = x.h.ttl - 1; }
            table routes { key = { x.h.dst: lpm; } actions = { forward; NoAction; } }
            apply { routes.apply(); }
        }
        control e(inout hs x, inout m y, inout standard_metadata_t s) {
            apply { if (s.egress_port == 2) { y.level = 3; x.h.setInvalid(); } } }
        control d(packet_out b, in hs x) { apply { b.emit(x.h); } }
        V1Switch(p(), v(), i(), e(), v(), d()) main;
    ";

    fn traced(test: &str) -> Traced {
        traced_by(PROGRAM, test)
    }

    fn traced_by(program: &str, test: &str) -> Traced {
        let (source, found) =
            Source::from_text("routes.p4", program, &Memory::default(), &Options::default());
        assert!(found.is_empty(), "{}", source.render(&found, false));
        let (tree, found) = p4cc_syntax::parse(&source);
        assert!(found.is_empty(), "{}", source.render(&found, false));
        crate::trace(&Arc::new(p4cc_compile::compile(&tree).0.expect("a right program")), test)
            .expect("a test")
    }

    fn changes(packet: &TracedPacket) -> Vec<String> {
        let mut texts = Vec::new();
        for step in &packet.steps {
            let Step::Changed(changed) = &step.step else { continue };
            texts.extend(changed.headers.iter().map(|one| format!("{} {}", one.header, one.valid)));
            let named = changed.values.iter().filter(|one| !one.name.starts_with("s."));
            texts.extend(named.map(|one| format!("{}={}", one.name, digits(&one.after))));
        }
        texts
    }

    fn entries(packet: &TracedPacket) -> Vec<&EntryText> {
        packet.steps.iter().filter_map(|step| step.entry.as_ref()).collect()
    }

    const ROUTES: &str = "add routes x.h.dst:0x0a000000/8 forward(port:1)
        add routes x.h.dst:0x0a000100/24 forward(port:2)\n";

    #[test]
    fn a_packet_shows_what_it_changes_and_the_entry_that_it_hits() {
        let traced = traced(&format!("{ROUTES}packet 0 09 0a000103"));
        let [packet] = &traced.packets[..] else { panic!("{traced:?}") };
        assert_eq!((packet.line, packet.bytes.as_str()), (3, "090a000103"));
        let wanted = ["x.h true", "x.h.ttl=0x9", "x.h.dst=0xa000103", "x.h.ttl=0x8", "x.h false"];
        assert_eq!(changes(packet), [&wanted[..], &["y.level=0x3"]].concat());
        let [entry] = entries(packet)[..] else { panic!("{packet:?}") };
        assert_eq!(entry.keys, ["0xa000100/24"]);
        assert_eq!((entry.action.as_str(), &entry.differs[..]), ("i.forward(port = 0x2)", &[][..]));
        let sent: Vec<_> = packet.sent.iter().map(|sent| (sent.port, sent.bytes.as_str())).collect();
        assert_eq!(sent, [(2, "")]);
    }

    #[test]
    fn of_entries_that_both_match_the_one_is_shown_whose_action_runs() {
        let program = PROGRAM.replace("x.h.dst: lpm", "x.h.dst: ternary");
        let rows = [
            "add routes x.h.dst:0x0a****** forward(port:1)",
            "add routes x.h.dst:0x0a00**** forward(port:3)",
        ];
        for order in [[0, 1], [1, 0]] {
            let entries = order.map(|at| rows[at]).join("\n");
            let traced = traced_by(&program, &format!("{entries}\npacket 0 09 0a000103"));
            let packet = &traced.packets[0];
            let [entry] = self::entries(packet)[..] else { panic!("{packet:?}") };
            assert_eq!(entry.action, format!("i.forward(port = {:#x})", packet.sent[0].port));
        }
    }

    #[test]
    fn a_packet_that_goes_round_is_compared_with_its_own_pass() {
        let once = "if (s.egress_port == 2) { y.level = 3; x.h.setInvalid(); }";
        let again = "if (x.h.ttl > 7) { recirculate_preserving_field_list(0); }";
        let traced = traced_by(&PROGRAM.replace(once, again), &format!("{ROUTES}packet 0 09 0a000103"));
        let ttl: Vec<_> = changes(&traced.packets[0]).into_iter().filter(|one| one.contains("ttl")).collect();
        assert_eq!(ttl, ["x.h.ttl=0x9", "x.h.ttl=0x8", "x.h.ttl=0x8", "x.h.ttl=0x7"]);
    }

    #[test]
    fn the_first_steps_of_a_long_way_are_kept_and_the_others_counted() {
        let often = "for (bit<16> at = 0; at < 9000; at = at + 1) { routes.apply(); }";
        let program = PROGRAM.replace("routes.apply();", often);
        let traced = traced_by(&program, "packet 0 09 0a000103");
        let packet = &traced.packets[0];
        assert!(packet.steps_left_out > 9_000, "{}", packet.steps_left_out);
        assert!(
            packet.steps.iter().any(|step| matches!(&step.step, Step::State { state } if state == "start"))
        );
    }

    #[test]
    fn a_miss_shows_the_nearest_entry_and_the_bits_that_differ() {
        let traced = traced(&format!("{ROUTES}packet 0 09 0b000103\nremove all\npacket 0 09 0b000103"));
        let [packet, without] = &traced.packets[..] else { panic!("{traced:?}") };
        let [entry] = entries(packet)[..] else { panic!("{packet:?}") };
        assert_eq!(entry.keys, ["0xa000000/8"]);
        assert_eq!(entry.differs, [Difference { key: "x.h.dst".to_owned(), bits: vec![24] }]);
        assert!(entries(without).is_empty(), "the table is empty");
        let counts: Vec<_> = without.steps.iter().filter_map(|step| step.entries).collect();
        assert_eq!(counts, [0]);
    }

    #[test]
    fn commands_that_fail_are_named_and_the_rest_goes_on() {
        let traced = traced("add nowhere x:1 forward(port:1)\npacket 0 09 0b000103");
        assert_eq!(traced.problems, [(1, "there is no table `nowhere`".to_owned())]);
        assert_eq!(traced.packets.len(), 1);
    }
}
