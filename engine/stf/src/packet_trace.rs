//! The way of each packet of a test, step by step: what changed, which entry matched, or which came nearest.

use p4cc_switch::TracedStep;
use serde::Serialize;

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use p4cc_switch::{Difference, EntryText, Step, digits};
    use p4cc_syntax::{Memory, Options, Source};

    use super::*;

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
    fn registers_and_meters_are_steps() {
        let with = "register<bit<8>>(4) seen; meter(2, MeterType.packets) rate;
            direct_meter<bit<8>>(MeterType.packets) each;
            action forward(bit<9> port) { each.read(y.level); s.egress_spec = port; }";
        let applied = "routes.apply(); rate.execute_meter(1, y.level); seen.read(y.level, 2);
            seen.write(2, y.level + 5); seen.write(9, 1);";
        let old = "action forward(bit<9> port) { s.egress_spec = port; x.h.ttl = x.h.ttl - 1; }";
        let program = PROGRAM.replace(old, with).replace("routes.apply();", applied);
        let program = program.replace("actions = {", "meters = each; actions = {");
        let traced = traced_by(&program, &format!("{ROUTES}packet 0 09 0a000103"));
        let told = traced.packets[0].steps.iter().filter_map(|step| match &step.step {
            Step::Meter { meter, index, color } => Some(format!("{meter} {index:?} {color:?}")),
            Step::Register { register, index, writes, value } => {
                Some(format!("{register}[{index}] {writes} {:?}", value.as_ref().map(digits)))
            }
            _ => None,
        });
        let wanted = [
            "i.each None Some(\"green\")",
            "i.rate Some(1) Some(\"green\")",
            "i.seen[2] false Some(\"0x0\")",
            "i.seen[2] true Some(\"0x5\")",
            "i.seen[9] true None",
        ];
        assert_eq!(told.collect::<Vec<_>>(), wanted);
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
