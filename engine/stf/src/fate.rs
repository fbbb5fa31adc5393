//! Where the packets of a test ended, as the switch's counters know it. A test whose packets did not all come
//! out runs once more for it, by the interpreter, which sees where a program drops a packet.

use std::collections::BTreeMap;

use p4cc_ir::Architecture;
use p4cc_switch::{DropCause, DropRow, Step, TraceEvent};

use super::difference::{Ended, PacketProblem};
use super::{Cause, Problem};

/// Most ways in which one packet's copies ended that are told apart.
const MAX_WAYS: usize = 6;

/// What became of one packet of a test.
#[derive(Clone, Debug, Default)]
pub(super) struct Fate {
    /// Line of the test that sends it.
    pub line: u32,
    /// Where it came in.
    pub port: u32,
    /// Errors that parsers ended with.
    pub parser_errors: Vec<String>,
    /// The port that egress last ran for.
    last_egress: Option<u32>,
    /// What was dropped, and how many.
    pub drops: Vec<(String, u64)>,
    /// Packets that left, by port.
    pub sent: BTreeMap<u32, u64>,
}

impl Fate {
    /// Of the packet that a line sends.
    pub fn of(line: u32, port: u32) -> Self {
        Self { line, port, ..Self::default() }
    }

    /// Takes in what was traced of the packet.
    pub fn follow(&mut self, steps: &[TraceEvent]) {
        let mut state = "";
        for event in steps {
            match &event.step {
                Step::State { state: name } => state = name,
                Step::ParserError { error } => {
                    let text = format!("parser error {error} in state {state}");
                    if !self.parser_errors.contains(&text) {
                        self.parser_errors.push(text);
                    }
                }
                Step::Dequeued { port, .. } => self.last_egress = Some(*port),
                Step::Sent { port, .. } => *self.sent.entry(*port).or_default() += 1,
                _ => {}
            }
        }
    }

    /// Adds packets that were dropped.
    pub fn dropped(&mut self, row: &DropRow<'_>, architecture: &Architecture, pass_limit: u32) {
        let place = &row.place;
        let text = match row.cause {
            DropCause::Ingress | DropCause::Egress => dropped_by_program(row, architecture),
            DropCause::NoSuchPort => match self.last_egress {
                Some(port) => format!("sent to port {port}, which the switch does not have"),
                None => format!("came in on port {}, which the switch does not have", self.port),
            },
            DropCause::NoReplicas => {
                "dropped: its multicast group does not exist or has no copies (mc_mgrp_create)".to_owned()
            }
            DropCause::PassLimit => format!(
                "dropped at the limit of {pass_limit} copies and passes that one packet may cause: the program \
                 recirculates, resubmits or copies it without end"
            ),
            DropCause::TailDrop => "dropped: its queue was full".to_owned(),
            DropCause::TooLong => "dropped: it is longer than the switch takes".to_owned(),
            DropCause::SharedBuffer | DropCause::Headroom => "dropped: the buffer was full".to_owned(),
            DropCause::ControllerQueue => "dropped: too many packets wait for the controller".to_owned(),
            DropCause::NoPipeline => "dropped: the switch has no program".to_owned(),
        };
        let after = (!place.parser_error.is_empty() && self.parser_errors.is_empty())
            .then(|| format!("parser error {}", place.parser_error));
        self.parser_errors.extend(after);
        self.drops.push((text, row.dropped.packets));
    }

    /// Whether something of it was lost.
    fn is_lost(&self) -> bool {
        !self.drops.is_empty() || !self.parser_errors.is_empty() || self.sent.is_empty()
    }

    fn ended(&self) -> Ended {
        let mut ways = self.parser_errors.clone();
        ways.extend(self.drops.iter().map(|(text, count)| counted(text, *count)));
        ways.extend(
            self.sent.iter().map(|(port, count)| counted(&format!("came out of port {port}"), *count)),
        );
        if ways.is_empty() {
            ways.push("neither came out nor was dropped: the program keeps it".to_owned());
        }
        if ways.len() > MAX_WAYS {
            let more = ways.len() - MAX_WAYS;
            ways.truncate(MAX_WAYS);
            ways.push(format!("{more} more"));
        }
        Ended { line: self.line, port: self.port, ways }
    }
}

fn counted(text: &str, count: u64) -> String {
    if count == 1 { text.to_owned() } else { format!("{count} packets: {text}") }
}

fn dropped_by_program(row: &DropRow<'_>, architecture: &Architecture) -> String {
    let place = &row.place;
    let control = if place.control.is_empty() { "the program" } else { &place.control };
    if place.marked {
        let of_table = match place.table.as_str() {
            "" => String::new(),
            table => format!(" of table {table}"),
        };
        return match place.action.as_str() {
            "" => format!("dropped by mark_to_drop in {control}"),
            action => format!("dropped by mark_to_drop in action {action}{of_table}"),
        };
    }
    format!("dropped after {control}: {}", architecture.dropping())
}

/// Says of every packet that did not come where one ended that the test had
/// sent before it: the nearest that was lost, each once as long as there are others.
pub(super) fn explain(problems: &mut [Problem], fates: &[Fate]) {
    let mut told = vec![false; fates.len()];
    // From the back, so that the last expectation takes the last packet.
    for problem in problems.iter_mut().rev() {
        let line = problem.line;
        let Cause::Packet(packet) = &mut problem.cause else { continue };
        let PacketProblem { expected: Some(_), got: None, ended, .. } = packet.as_mut() else { continue };
        let before = (0..fates.len()).rev().filter(|at| fates[*at].line < line);
        let order: Vec<usize> = before.chain((0..fates.len()).filter(|at| fates[*at].line >= line)).collect();
        let lost = |at: &&usize| fates[**at].is_lost();
        let found = order.iter().filter(lost).find(|at| !told[**at]);
        let found = found.or_else(|| order.iter().find(lost)).or(order.first());
        if let Some(&at) = found {
            told[at] = true;
            *ended = Some(fates[at].ended());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use p4cc_switch::ExecChoice;
    use p4cc_syntax::{Memory, Options, Source};

    use crate::{Cause, Report, run};

    /// What the first byte asks for happens to a packet.
    const PROGRAM: &str = "
        #include <core.p4>
        #include <v1model.p4>
        header h_t { bit<8> a; bit<8> b; }
        struct hs { h_t h; } struct m { }
        parser p(packet_in b, out hs x, inout m y, inout standard_metadata_t s) {
            state start { b.extract(x.h); transition select(x.h.a) { 9: check; default: accept; } }
            state check { verify(false, error.NoMatch); transition accept; } }
        control v(inout hs x, inout m y) { apply {} }
        control i(inout hs x, inout m y, inout standard_metadata_t s) {
            action drop() { mark_to_drop(s); }
            table acl { key = { x.h.a: exact; } actions = { drop; NoAction; } const entries = { 1: drop(); } }
            apply {
                s.egress_spec = 2;
                acl.apply();
                if (x.h.a == 3) { mark_to_drop(s); }
                if (x.h.a == 4) { s.egress_spec = 511; }
                if (x.h.a == 5) { s.mcast_grp = 7; }
                assume(x.h.a != 7);
                assert(x.h.a != 7 && x.h.a != 8);
            }
        }
        control e(inout hs x, inout m y, inout standard_metadata_t s) {
            apply { if (x.h.a == 6) { recirculate_preserving_field_list(0); }
                    if (x.h.a == 10) { mark_to_drop(s); } } }
        control d(packet_out b, in hs x) { apply { b.emit(x.h); } }
        V1Switch(p(), v(), i(), e(), v(), d()) main;
    ";

    fn report(test: &str, exec: ExecChoice) -> Report {
        report_of(PROGRAM, test, exec)
    }

    fn report_of(program: &str, test: &str, exec: ExecChoice) -> Report {
        let (source, found) = Source::from_text("fates.p4", program, &Memory::default(), &Options::default());
        assert!(found.is_empty(), "{}", source.render(&found, false));
        let (tree, found) = p4cc_syntax::parse(&source);
        assert!(found.is_empty(), "{}", source.render(&found, false));
        run(&Arc::new(p4cc_compile::compile(&tree).0.expect("a right program")), test, exec)
    }

    /// Where the packets ended that did not come, as the test is told.
    fn ends(test: &str, exec: ExecChoice) -> Vec<String> {
        let problems = report(test, exec).problems;
        let of_packets = problems.iter().filter(|problem| matches!(problem.cause, Cause::Packet(_)));
        let texts: Vec<String> = of_packets.map(ToString::to_string).collect();
        texts.iter().filter_map(|text| Some(text.split_once("\n  the packet of ")?.1.to_owned())).collect()
    }

    #[test]
    fn a_packet_that_does_not_come_is_followed_to_its_end() {
        for exec in [ExecChoice::Interp, ExecChoice::Native] {
            for (packet, wanted) in [
                ("01 00", "dropped by mark_to_drop in action i.drop of table i.acl"),
                ("03 00", "dropped by mark_to_drop in i"),
                ("04 00", "dropped after i: egress_spec is the drop port"),
                ("05 00", "dropped: its multicast group does not exist or has no copies (mc_mgrp_create)"),
                (
                    "06 00",
                    "dropped at the limit of 4096 copies and passes that one packet may cause: the program \
                     recirculates, resubmits or copies it without end",
                ),
                ("09 00", "parser error NoMatch in state check; came out of port 2"),
                ("0a 00", "dropped by mark_to_drop in e"),
                ("0b", "parser error PacketTooShort in state start; came out of port 2"),
                ("0c 00", "came out of port 2"),
            ] {
                let found = ends(&format!("packet 0 {packet}\nexpect 1 {packet}\n"), exec);
                assert_eq!(found, [format!("line 1, into port 0: {wanted}")]);
            }
            let found = ends("packet 600 0c 00\nexpect 1 0c 00\n", exec);
            assert_eq!(found, ["line 1, into port 600: came in on port 600, which the switch does not have"]);
        }
    }

    #[test]
    fn each_packet_that_was_lost_answers_for_one_that_did_not_come() {
        let test = "packet 0 01 00\npacket 0 03 00\npacket 0 0c 00\nexpect 2 0c 00\nexpect 1 01 00\nexpect 1 03 00\n";
        let found = ends(test, ExecChoice::Interp);
        let starts: Vec<_> = found.iter().map(|text| &text[..6]).collect();
        assert_eq!(starts, ["line 1", "line 2"], "{found:?}");
        // What a test expects first is explained by what it sends later.
        let found = ends("expect 1 01 00\npacket 0 01 00\n", ExecChoice::Interp);
        assert!(found[0].starts_with("line 2"), "{found:?}");
        assert!(report("packet 0 0c 00\nexpect 2 0c 00\n", ExecChoice::Interp).problems.is_empty());
    }

    #[test]
    fn a_loop_that_is_cut_off_fails_the_test() {
        let endless = "for (bit<32> at = 0; at <= 0xffffffff; at = at + 1) { x.h.b = x.h.b + 1; }";
        let program = PROGRAM.replace("s.egress_spec = 2;", &format!("s.egress_spec = 2; {endless}"));
        for exec in [ExecChoice::Interp, ExecChoice::Native] {
            let report = report_of(&program, "packet 0 0c 00\n", exec);
            let found: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
            assert_eq!(found, ["line 1: a control's bound of 1048576 steps did not hold"]);
        }
    }

    #[test]
    fn an_assertion_that_does_not_hold_fails_the_test_and_names_its_line() {
        for exec in [ExecChoice::Interp, ExecChoice::Native] {
            let report = report("packet 0 07 00\nexpect 2 07 00\npacket 0 08 00\nexpect 2 08 00\n", exec);
            let found: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
            let wanted = [
                "line 1: assert at fates.p4:20 did not hold",
                "line 1: assume at fates.p4:19 did not hold",
                "line 3: assert at fates.p4:20 did not hold",
            ];
            assert_eq!(found, wanted, "the packets themselves come");
        }
    }
}
