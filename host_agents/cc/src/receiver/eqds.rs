//! The receiver of EQDS and of UET's RCCC (docs/algorithms/eqds.md): credit for what senders ask for, paced
//! at the rate of the line that all flows of the host share, fair between them.
//!
//! Invariants: credit leaves no faster than the line takes what it lets leave; a flow is given no more than
//! it asked for, what arrived as headers, and, while nobody wants more, a window of what it has to send.

use std::collections::{BTreeMap, VecDeque};

use p4cc_units::{Span, Time};

use super::control::{Arrival, ReceiverAction, ReceiverAlgorithm, ReceiverEnvironment};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{ParamInfo, Params};

const SOURCE: &str = "docs/algorithms/eqds.md";
const PARAMETERS: &str = "docs/algorithms/eqds.md#eqds-parameters";
const RATE: ParamInfo = ParamInfo::number(
    "pull_rate",
    "ratio",
    "rate of what credit lets leave over the rate of the line",
    (Some(0.99), 0.01, 1.0),
    PARAMETERS,
);

const fn first_window(text: &'static str) -> ParamInfo {
    ParamInfo::number("first_window_packets", "packets", text, (Some(0.0), 0.0, 100_000.0), PARAMETERS)
}

const fn credit(default_packets: f64) -> ParamInfo {
    let range = (Some(default_packets), 1.0, 1_000.0);
    ParamInfo::number("credit_packets", "packets", "what a pull lets a flow send", range, PARAMETERS)
}

/// What the registry says about EQDS.
pub(crate) const EQDS: AlgorithmInfo = AlgorithmInfo {
    name: "eqds",
    kind: Kind::Receiver,
    summary: "EQDS: credit for a packet at a time for what senders ask for, trimmed packets first",
    parameters: &[
        first_window(
            "what a flow sends unasked, and asks for at most; 0 for what a base round trip holds at the line rate",
        ),
        credit(1.0),
        RATE,
    ],
    switch_needs: SwitchNeed::None,
    source: SOURCE,
    make: Make::Receiver(|params, environment| Ok(Box::new(Eqds::new(params, environment, &OF_EQDS)?))),
};

/// What the registry says about RCCC.
pub(crate) const RCCC: AlgorithmInfo = AlgorithmInfo {
    name: "rccc",
    kind: Kind::Receiver,
    summary: "UET's RCCC: credit for four packets at a time for what senders ask for, flows in turn",
    parameters: &[
        first_window(
            "what a flow sends unasked, and asks for at most; 0 for one and a half times what a base round trip holds",
        ),
        credit(4.0),
        RATE,
    ],
    switch_needs: SwitchNeed::None,
    source: SOURCE,
    make: Make::Receiver(|params, environment| Ok(Box::new(Eqds::new(params, environment, &OF_RCCC)?))),
};

/// In what the two differ beside their numbers.
#[derive(Debug)]
struct Scheme {
    /// The window over what a base round trip holds.
    window_bdps: f64,
    /// Flows of which headers arrived come first.
    trimmed_first: bool,
}

const OF_EQDS: Scheme = Scheme { window_bdps: 1.0, trimmed_first: true };
const OF_RCCC: Scheme = Scheme { window_bdps: 1.5, trimmed_first: false };

/// What the receiver knows of a flow, in bytes since it began.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Flow {
    given: u64,
    /// The most that its sender asked for.
    wanted: u64,
    /// What arrived as headers.
    again: u64,
    /// What it may get beyond that while no flow wants more.
    spare: u64,
    /// Credit for headers that waits for its turn in front of others.
    again_pulls: u32,
    is_in_turn: bool,
    is_idle: bool,
}

impl Flow {
    const fn open(&self) -> u64 {
        self.wanted.saturating_add(self.again).saturating_sub(self.given)
    }

    const fn open_when_idle(&self) -> u64 {
        self.wanted.saturating_add(self.again).saturating_add(self.spare).saturating_sub(self.given)
    }
}

/// The receiver of one host.
#[derive(Clone, Debug)]
struct Eqds {
    window_bytes: u64,
    packet_bytes: u32,
    credit_bytes: u32,
    trimmed_first: bool,
    /// What the line needs for a full packet, at the configured share of its rate.
    packet_time: Span,
    flows: BTreeMap<u32, Flow>,
    /// Flows that are to get credit; each has one entry, and is in `flows`.
    turns: VecDeque<u32>,
    /// Flows with `again_pulls`; each has one entry, and is in `flows`.
    again_turns: VecDeque<u32>,
    /// Flows that have got what they want, and have more to send; each has one entry, and is in `flows`.
    idle_turns: VecDeque<u32>,
    /// When the next credit may leave.
    free_at: Time,
}

impl Eqds {
    fn new(
        params: &Params<'_>,
        environment: &ReceiverEnvironment,
        scheme: &Scheme,
    ) -> Result<Self, ConfigError> {
        let packets = match params.whole("first_window_packets")? {
            0 => ((scheme.window_bdps * environment.bdp_packets() as f64) as u64).max(1),
            packets => packets,
        };
        let payload = environment.packet.payload.0;
        let credit = payload.saturating_mul(params.whole("credit_packets")?);
        let time = environment.line_rate.time_to_send(environment.line_bytes);
        Ok(Self {
            window_bytes: packets * payload,
            packet_bytes: u32::try_from(payload).unwrap_or(u32::MAX),
            credit_bytes: u32::try_from(credit).unwrap_or(u32::MAX),
            trimmed_first: scheme.trimmed_first,
            packet_time: Span::from_ps((time.as_ps() as f64 / params.number("pull_rate")?) as u64),
            flows: BTreeMap::new(),
            turns: VecDeque::new(),
            again_turns: VecDeque::new(),
            idle_turns: VecDeque::new(),
            free_at: Time::ZERO,
        })
    }

    /// The next credit leaves, if some may.
    fn serve(&mut self, now: Time, actions: &mut Vec<ReceiverAction>) {
        if now < self.free_at {
            return;
        }
        while let Some(number) = self.again_turns.pop_front() {
            let Some(flow) = self.flows.get_mut(&number) else { continue };
            flow.again_pulls -= 1;
            if flow.again_pulls > 0 {
                self.again_turns.push_back(number);
            }
            let open = flow.open();
            if self.give(now, number, open.min(u64::from(self.packet_bytes)), actions) {
                return;
            }
        }
        while let Some(number) = self.turns.pop_front() {
            let open = self.flows.get(&number).map_or(0, Flow::open);
            let gave = self.give(now, number, open.min(u64::from(self.credit_bytes)), actions);
            self.take_turn(number);
            if gave {
                return;
            }
        }
        // docs/algorithms/eqds.md#eqds-idle
        while let Some(number) = self.idle_turns.pop_front() {
            let Some(flow) = self.flows.get_mut(&number) else { continue };
            let open = flow.open_when_idle();
            flow.is_idle = false;
            let gave = self.give(now, number, open.min(u64::from(self.credit_bytes)), actions);
            self.take_turn(number);
            if gave {
                return;
            }
        }
    }

    /// A flow takes its turn among those that want credit, or among the idle ones, if it may get some.
    fn take_turn(&mut self, number: u32) {
        let Some(flow) = self.flows.get_mut(&number) else { return };
        flow.is_in_turn = flow.open() > 0;
        if flow.is_in_turn {
            self.turns.push_back(number);
        } else if !flow.is_idle && flow.open_when_idle() > 0 {
            flow.is_idle = true;
            self.idle_turns.push_back(number);
        }
    }

    /// Gives a flow so many bytes; whether that is something.
    fn give(&mut self, now: Time, number: u32, bytes: u64, actions: &mut Vec<ReceiverAction>) -> bool {
        let Some(flow) = self.flows.get_mut(&number) else { return false };
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        if bytes == 0 {
            return false;
        }
        flow.given += u64::from(bytes);
        let packets = f64::from(bytes) / f64::from(self.packet_bytes.max(1));
        self.free_at = now + Span::from_ps((packets * self.packet_time.as_ps() as f64) as u64);
        actions.push(ReceiverAction::Pull { flow: number, bytes });
        true
    }
}

impl ReceiverAlgorithm for Eqds {
    fn unasked_bytes(&self) -> u64 {
        self.window_bytes
    }

    fn asks_up_to(&self) -> Option<u64> {
        Some(self.window_bytes)
    }

    fn on_arrival(&mut self, arrival: &Arrival, actions: &mut Vec<ReceiverAction>) {
        actions.push(ReceiverAction::Acknowledge);
        let new = Flow { given: self.window_bytes, ..Flow::default() };
        let flow = self.flows.entry(arrival.flow).or_insert(new);
        if let Some(wanted) = arrival.wanted.filter(|wanted| *wanted > flow.wanted) {
            flow.wanted = wanted;
            // What it has to send beyond the window that it asks for.
            let beyond = arrival.beyond_bytes.unwrap_or(u64::MAX);
            flow.spare = beyond.saturating_sub(self.window_bytes).min(self.window_bytes);
        }
        if arrival.is_trimmed {
            flow.again += u64::from(arrival.bytes);
            if self.trimmed_first {
                flow.again_pulls += 1;
                if flow.again_pulls == 1 {
                    self.again_turns.push_back(arrival.flow);
                }
            }
        }
        if !flow.is_in_turn {
            self.take_turn(arrival.flow);
        }
        self.serve(arrival.now, actions);
    }

    fn on_complete(&mut self, _now: Time, flow: u32, _actions: &mut Vec<ReceiverAction>) {
        if let Some(state) = self.flows.remove(&flow) {
            if state.is_in_turn {
                self.turns.retain(|other| *other != flow);
            }
            if state.again_pulls > 0 {
                self.again_turns.retain(|other| *other != flow);
            }
            if state.is_idle {
                self.idle_turns.retain(|other| *other != flow);
            }
        }
    }

    fn next_timer(&self) -> Option<Time> {
        let is_waiting =
            !self.turns.is_empty() || !self.again_turns.is_empty() || !self.idle_turns.is_empty();
        is_waiting.then_some(self.free_at)
    }

    fn on_timer(&mut self, now: Time, actions: &mut Vec<ReceiverAction>) {
        self.serve(now, actions);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::receiver::testing::made;

    fn asks(now_ns: u64, flow: u32, wanted: u64, is_trimmed: bool) -> Arrival {
        let now = Time::from_ns(now_ns);
        let (wanted, beyond_bytes) = (Some(wanted), Some(0));
        Arrival { now, flow, bytes: 1_000, is_trimmed, wanted, beyond_bytes, ..Arrival::default() }
    }

    fn pulled(actions: &mut Vec<ReceiverAction>) -> Vec<(u32, u32)> {
        let pull = |action| match action {
            ReceiverAction::Pull { flow, bytes } => Some((flow, bytes)),
            _ => None,
        };
        actions.drain(..).filter_map(pull).collect()
    }

    /// All credit that leaves, with its times in ns.
    fn rest(receiver: &mut dyn ReceiverAlgorithm) -> Vec<(u64, u32, u32)> {
        let (mut all, mut actions) = (Vec::new(), Vec::new());
        while let Some(at) = receiver.next_timer() {
            receiver.on_timer(at, &mut actions);
            all.extend(pulled(&mut actions).into_iter().map(|(flow, bytes)| (at.as_ns(), flow, bytes)));
        }
        all
    }

    #[test]
    fn the_window_is_a_round_trip_and_rccc_has_half_as_much_again() {
        // 10 us hold eleven full packets and a part of the twelfth.
        for (json, bytes) in [
            (r#"{"name":"eqds"}"#, 12_000),
            (r#"{"name":"rccc"}"#, 18_000),
            (r#"{"name":"rccc","first_window_packets":3}"#, 3_000),
        ] {
            let receiver = made(json);
            assert_eq!((receiver.unasked_bytes(), receiver.asks_up_to()), (bytes, Some(bytes)), "{json}");
        }
    }

    #[test]
    fn flows_are_given_what_they_ask_for_in_turn_at_the_pace_of_the_line() {
        let mut eqds = made(r#"{"name":"eqds","first_window_packets":2,"pull_rate":0.5}"#);
        let mut actions = Vec::new();
        for (flow, wanted) in [(1, 5_000), (2, 3_500), (3, 2_000)] {
            eqds.on_arrival(&asks(0, flow, wanted, false), &mut actions);
        }
        assert_eq!(pulled(&mut actions), [(1, 1_000)], "at once");
        // 1250 bytes at half of 10 Gbit/s; the first came alone and has taken its turn again.
        let expected = [(2_000, 1, 1_000), (4_000, 2, 1_000), (6_000, 1, 1_000), (8_000, 2, 500)];
        assert_eq!(rest(&mut *eqds), expected);
        // What was asked for once is not asked for again.
        eqds.on_arrival(&asks(20_000, 1, 4_000, false), &mut actions);
        assert_eq!((pulled(&mut actions), eqds.next_timer()), (vec![], None));
    }

    #[test]
    fn trimmed_packets_come_first_in_eqds_and_add_to_what_is_wanted_in_both() {
        let order = |name: &str| {
            let mut receiver = made(&format!(
                r#"{{"name":"{name}","first_window_packets":2,"credit_packets":1,"pull_rate":1}}"#
            ));
            let mut actions = Vec::new();
            receiver.on_arrival(&asks(0, 1, 5_000, false), &mut actions);
            receiver.on_arrival(&asks(1, 2, 2_000, true), &mut actions);
            receiver.on_arrival(&asks(2, 2, 2_000, true), &mut actions);
            pulled(&mut actions);
            rest(&mut *receiver).iter().map(|(_, flow, _)| *flow).collect::<Vec<_>>()
        };
        assert_eq!(order("eqds"), [2, 2, 1, 1]);
        assert_eq!(order("rccc"), [1, 2, 1, 2]);
    }

    #[test]
    fn a_pull_of_rccc_is_four_packets_and_no_more_than_asked() {
        let mut rccc = made(r#"{"name":"rccc","first_window_packets":2,"pull_rate":1}"#);
        let mut actions = Vec::new();
        rccc.on_arrival(&asks(0, 1, 8_500, false), &mut actions);
        assert_eq!(pulled(&mut actions), [(1, 4_000)]);
        assert_eq!(rest(&mut *rccc), [(4_000, 1, 2_500)]);
    }

    #[test]
    fn while_nobody_wants_more_a_flow_gets_a_window_of_what_it_has() {
        let mut eqds = made(r#"{"name":"eqds","first_window_packets":2,"pull_rate":1}"#);
        let mut actions = Vec::new();
        // Behind the window that it asks for there are five packets, and two are another window.
        let arrival = Arrival { beyond_bytes: Some(7_000), ..asks(0, 1, 3_000, false) };
        eqds.on_arrival(&arrival, &mut actions);
        assert_eq!(pulled(&mut actions), [(1, 1_000)], "what it asks for");
        eqds.on_timer(Time::from_us(1), &mut actions);
        assert_eq!(pulled(&mut actions), [(1, 1_000)], "one to spare");
        eqds.on_arrival(&asks(1_500, 2, 3_000, false), &mut actions);
        assert_eq!(rest(&mut *eqds), [(2_000, 2, 1_000), (3_000, 1, 1_000)], "who wants it comes first");
        // It has used that by now, so that the next packet asks for what it has, and no more.
        eqds.on_arrival(&asks(9_000, 1, 5_000, false), &mut actions);
        assert_eq!((pulled(&mut actions), eqds.next_timer()), (vec![], None));
    }

    #[test]
    fn a_complete_flow_gets_no_more() {
        let mut eqds = made(r#"{"name":"eqds","first_window_packets":1}"#);
        let mut actions = Vec::new();
        eqds.on_arrival(&asks(0, 1, 9_000, true), &mut actions);
        assert!(eqds.next_timer().is_some());
        eqds.on_complete(Time::from_ns(1), 1, &mut actions);
        assert_eq!(eqds.next_timer(), None);
    }

    proptest! {
        /// Whatever arrives: credit keeps its distance, and each flow ends with what it asked for and what
        /// was cut, or its first window.
        #[test]
        fn credit_is_paced_and_what_was_asked_for(
            name in prop::sample::select(vec!["eqds", "rccc"]),
            window in 1_u64..4,
            steps in prop::collection::vec((0_u64..3_000, 0_u32..4, 0_u64..30_000, any::<bool>()), 1..200),
        ) {
            let json = format!(r#"{{"name":"{name}","first_window_packets":{window},"pull_rate":1}}"#);
            let mut receiver = made(&json);
            let (mut now, mut actions, mut all) = (0, Vec::new(), Vec::new());
            let (mut wanted, mut cut) = ([0; 4], [0; 4]);
            for (later, flow, bytes, is_trimmed) in steps {
                let until = now + later;
                while let Some(at) = receiver.next_timer().filter(|at| at.as_ns() <= until) {
                    receiver.on_timer(at, &mut actions);
                    all.extend(pulled(&mut actions).into_iter().map(|(flow, bytes)| (at.as_ns(), flow, bytes)));
                }
                now = until;
                wanted[flow as usize] = bytes.max(wanted[flow as usize]);
                cut[flow as usize] += if is_trimmed { 1_000 } else { 0 };
                receiver.on_arrival(&asks(now, flow, bytes, is_trimmed), &mut actions);
                all.extend(pulled(&mut actions).into_iter().map(|(flow, bytes)| (now, flow, bytes)));
            }
            all.extend(rest(&mut *receiver));
            for pair in all.windows(2) {
                // A packet's payload of 1000 bytes takes a microsecond.
                prop_assert!(pair[1].0 + 1 >= pair[0].0 + u64::from(pair[0].2), "{pair:?}");
            }
            for flow in 0..4_u32 {
                let given: u64 = all.iter().filter(|one| one.1 == flow).map(|one| u64::from(one.2)).sum();
                let most = wanted[flow as usize] + cut[flow as usize];
                prop_assert_eq!(given, most.saturating_sub(1_000 * window));
            }
        }
    }
}
