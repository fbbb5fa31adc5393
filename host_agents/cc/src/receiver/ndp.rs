//! NDP's receiver (docs/algorithms/ndp.md): a pull for each packet and each header that arrives, paced at the
//! rate of the line that all flows of the host share, fair between them.
//!
//! Invariants: pulls leave at most one in the time of a full packet; a flow is pulled only what it still has
//! to send, as far as its sender said.

use std::collections::{BTreeMap, VecDeque};

use p4cc_units::{Span, Time};

use super::control::{Arrival, ReceiverAction, ReceiverAlgorithm, ReceiverEnvironment};
use crate::error::ConfigError;
use crate::info::{AlgorithmInfo, Make};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{ParamInfo, Params};

/// What the registry says about this algorithm.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "ndp",
    kind: Kind::Receiver,
    summary: "NDP: a pull for each packet and each trimmed header, paced at the line rate, fair between flows",
    parameters: &[
        ParamInfo::number(
            "first_window_packets",
            "packets",
            "what a flow sends unasked; 0 for what a base round trip holds at the line rate",
            (Some(0.0), 0.0, 100_000.0),
            "docs/algorithms/ndp.md#ndp-parameters",
        ),
        ParamInfo::number(
            "pull_rate",
            "ratio",
            "rate of what is pulled over the rate of the line",
            (Some(1.0), 0.01, 1.0),
            "docs/algorithms/ndp.md#ndp-parameters",
        ),
    ],
    switch_needs: SwitchNeed::None,
    source: "docs/algorithms/ndp.md",
    make: Make::Receiver(|params, environment| Ok(Box::new(Ndp::new(params, environment)?))),
};

/// What the receiver knows of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Flow {
    /// What its sender may have sent, first window included.
    given_bytes: u64,
    /// End of the flow, as its sender said last; the largest number until it does.
    end: u64,
    /// What arrived as headers, to be sent again.
    again_bytes: u64,
    /// Pulls that wait for their turn.
    pulls: u32,
}

impl Flow {
    const fn wants_more(&self) -> bool {
        self.given_bytes < self.end.saturating_add(self.again_bytes)
    }
}

/// The receiver of one host.
#[derive(Clone, Debug)]
struct Ndp {
    window_bytes: u64,
    packet_bytes: u32,
    /// From one pull to the next.
    spacing: Span,
    flows: BTreeMap<u32, Flow>,
    /// Flows with waiting pulls; each has one entry, and is in `flows`.
    turns: VecDeque<u32>,
    /// When the next pull may leave.
    free_at: Time,
}

impl Ndp {
    fn new(params: &Params<'_>, environment: &ReceiverEnvironment) -> Result<Self, ConfigError> {
        let packets = match params.whole("first_window_packets")? {
            0 => environment.bdp_packets(),
            packets => packets,
        };
        let payload = environment.packet.payload.0;
        let time = environment.line_rate.time_to_send(environment.line_bytes);
        Ok(Self {
            window_bytes: packets * payload,
            packet_bytes: u32::try_from(payload).unwrap_or(u32::MAX),
            spacing: Span::from_ps((time.as_ps() as f64 / params.number("pull_rate")?) as u64),
            flows: BTreeMap::new(),
            turns: VecDeque::new(),
            free_at: Time::ZERO,
        })
    }

    /// The next pull leaves, if one may.
    fn serve(&mut self, now: Time, actions: &mut Vec<ReceiverAction>) {
        if now < self.free_at {
            return;
        }
        while let Some(number) = self.turns.pop_front()
            && let Some(flow) = self.flows.get_mut(&number)
        {
            if !flow.wants_more() {
                flow.pulls = 0;
                continue;
            }
            flow.pulls -= 1;
            flow.given_bytes += u64::from(self.packet_bytes);
            if flow.pulls > 0 {
                self.turns.push_back(number);
            }
            actions.push(ReceiverAction::Pull { flow: number, bytes: self.packet_bytes });
            self.free_at = now + self.spacing;
            return;
        }
    }
}

impl ReceiverAlgorithm for Ndp {
    fn unasked_bytes(&self) -> u64 {
        self.window_bytes
    }

    fn on_arrival(&mut self, arrival: &Arrival, actions: &mut Vec<ReceiverAction>) {
        actions.push(ReceiverAction::Acknowledge);
        let new = Flow { given_bytes: self.window_bytes, end: u64::MAX, again_bytes: 0, pulls: 0 };
        let flow = self.flows.entry(arrival.flow).or_insert(new);
        if let Some(beyond_bytes) = arrival.beyond_bytes {
            flow.end = arrival.end() + beyond_bytes;
        }
        if arrival.is_trimmed {
            flow.again_bytes += u64::from(arrival.bytes);
        }
        flow.pulls += 1;
        if flow.pulls == 1 {
            self.turns.push_back(arrival.flow);
        }
        self.serve(arrival.now, actions);
    }

    fn on_complete(&mut self, _now: Time, flow: u32, _actions: &mut Vec<ReceiverAction>) {
        if self.flows.remove(&flow).is_some_and(|flow| flow.pulls > 0) {
            self.turns.retain(|other| *other != flow);
        }
    }

    fn next_timer(&self) -> Option<Time> {
        (!self.turns.is_empty()).then_some(self.free_at)
    }

    fn on_timer(&mut self, now: Time, actions: &mut Vec<ReceiverAction>) {
        self.serve(now, actions);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::build_receiver;
    use crate::receiver::testing::{environment, made};

    fn arrival(now_ns: u64, flow: u32, number: u64, of: u64, is_trimmed: bool) -> Arrival {
        Arrival {
            now: Time::from_ns(now_ns),
            flow,
            start: 1_000 * number,
            bytes: 1_000,
            is_trimmed,
            beyond_bytes: Some(1_000 * (of - number - 1)),
            ..Arrival::default()
        }
    }

    fn pulled(actions: &mut Vec<ReceiverAction>) -> Vec<u32> {
        let flow = |action| match action {
            ReceiverAction::Pull { flow, bytes: 1_000 } => Some(flow),
            _ => None,
        };
        actions.drain(..).filter_map(flow).collect()
    }

    #[test]
    fn the_first_window_is_a_round_trip_unless_given() {
        // 10 us hold 12500 bytes: eleven full packets and a part of the twelfth.
        assert_eq!(made(r#"{"name":"ndp"}"#).unasked_bytes(), 12_000);
        assert_eq!(made(r#"{"name":"ndp","first_window_packets":3}"#).unasked_bytes(), 3_000);
    }

    #[test]
    fn pulls_are_paced_and_flows_take_turns() {
        let mut ndp = made(r#"{"name":"ndp","first_window_packets":2,"pull_rate":0.5}"#);
        let mut actions = Vec::new();
        for (flow, number) in [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (3, 0)] {
            ndp.on_arrival(&arrival(0, flow, number, 9, false), &mut actions);
        }
        assert_eq!(actions.iter().filter(|one| **one == ReceiverAction::Acknowledge).count(), 6);
        assert_eq!(pulled(&mut actions), [1], "the first at once");
        let mut order = Vec::new();
        while let Some(at) = ndp.next_timer() {
            // 1250 bytes at half of 10 Gbit/s.
            assert_eq!(at, Time::from_us(2 * (order.len() as u64 + 1)));
            ndp.on_timer(at, &mut actions);
            order.append(&mut pulled(&mut actions));
        }
        assert_eq!(order, [1, 2, 3, 1, 2]);
    }

    #[test]
    fn nothing_is_pulled_that_is_not_there() {
        let mut ndp = made(r#"{"name":"ndp","first_window_packets":2}"#);
        let mut actions = Vec::new();
        let mut all = Vec::new();
        for number in 0..2 {
            ndp.on_arrival(&arrival(number, 7, number, 3, false), &mut actions);
        }
        all.append(&mut pulled(&mut actions));
        assert_eq!(all, [7], "a third packet, and no fourth");
        ndp.on_timer(Time::from_us(1), &mut actions);
        assert_eq!((pulled(&mut actions), ndp.next_timer()), (vec![], None));
        // The third arrives as a header, and is pulled again.
        ndp.on_arrival(&arrival(5_000, 7, 2, 3, true), &mut actions);
        assert_eq!(pulled(&mut actions), [7]);
    }

    #[test]
    fn a_flow_without_end_is_pulled_for_ever_and_a_complete_one_no_more() {
        let mut ndp = made(r#"{"name":"ndp","first_window_packets":1}"#);
        let mut actions = Vec::new();
        for number in 0..5 {
            let arrival = Arrival { beyond_bytes: None, ..arrival(2_000 * number, 1, number, 9, false) };
            ndp.on_arrival(&arrival, &mut actions);
            assert_eq!(pulled(&mut actions), [1]);
        }
        ndp.on_arrival(&Arrival { beyond_bytes: None, ..arrival(8_001, 1, 5, 9, false) }, &mut actions);
        assert!(ndp.next_timer().is_some());
        ndp.on_complete(Time::from_ns(8_002), 1, &mut actions);
        assert_eq!((pulled(&mut actions), ndp.next_timer()), (vec![], None));
    }

    #[test]
    fn a_part_of_a_packet_is_no_first_window() {
        let spec = serde_json::from_str(r#"{"name":"ndp","first_window_packets":0.5}"#).expect("valid JSON");
        let error = build_receiver(&spec, &environment()).expect_err("refused").to_string();
        assert!(
            error.ends_with(
                "first_window_packets: 0.5 is not a whole number; give a whole number from 0 to 100000"
            ),
            "{error}"
        );
    }

    /// Senders say what is left up to 4 GiB: a longer flow has no known end first, and one later.
    #[test]
    fn the_end_counts_from_when_it_is_known() {
        let mut ndp = made(r#"{"name":"ndp","first_window_packets":2}"#);
        let mut actions = Vec::new();
        ndp.on_arrival(&Arrival { beyond_bytes: None, ..arrival(0, 1, 0, 3, false) }, &mut actions);
        ndp.on_arrival(&arrival(2_000, 1, 1, 3, false), &mut actions);
        assert_eq!(pulled(&mut actions), [1], "the third packet is the last");
        // One that was overtaken by what knew the end changes nothing.
        ndp.on_arrival(&Arrival { beyond_bytes: None, ..arrival(4_000, 1, 0, 3, false) }, &mut actions);
        assert_eq!((pulled(&mut actions), ndp.next_timer()), (vec![], None));
    }

    proptest! {
        /// Whatever arrives: pulls keep their distance, each flow is let send what it has and what was cut,
        /// less than a packet more, and nobody who has a pull waits while another gets two.
        #[test]
        fn pulls_are_paced_fair_and_enough(
            window in 1_u64..4,
            steps in prop::collection::vec((0_u64..3_000, 0_u32..4, 0_u64..20, any::<bool>()), 1..200),
        ) {
            let mut ndp = made(&format!(r#"{{"name":"ndp","first_window_packets":{window}}}"#));
            let (mut now, mut actions) = (0, Vec::new());
            let mut given = [1_000 * window; 4];
            let mut cut = [0; 4];
            let mut arrived = [0_u64; 4];
            let mut times: Vec<Time> = Vec::new();
            for (later, flow, number, is_trimmed) in steps {
                let until = now + later;
                while let Some(at) = ndp.next_timer().filter(|at| at.as_ns() <= until) {
                    prop_assert!(times.last().is_none_or(|last| at > *last));
                    ndp.on_timer(at, &mut actions);
                    for flow in pulled(&mut actions) {
                        given[flow as usize] += 1_000;
                        times.push(at);
                    }
                }
                now = until;
                arrived[flow as usize] += 1;
                cut[flow as usize] += if is_trimmed { 1_000 } else { 0 };
                ndp.on_arrival(&arrival(now, flow, number, 20, is_trimmed), &mut actions);
                for flow in pulled(&mut actions) {
                    given[flow as usize] += 1_000;
                    times.push(Time::from_ns(now));
                }
            }
            while let Some(at) = ndp.next_timer() {
                ndp.on_timer(at, &mut actions);
                for flow in pulled(&mut actions) {
                    given[flow as usize] += 1_000;
                    times.push(at);
                }
            }
            prop_assert!(times.windows(2).all(|pair| pair[1].since(pair[0]) >= Span::from_us(1)));
            for flow in 0..4 {
                let most = (1_000 * window).max(20_000 + cut[flow]);
                // One pull for each arrival, and no more than there is.
                let expected = most.min(1_000 * (window + arrived[flow]));
                prop_assert_eq!(given[flow], if arrived[flow] == 0 { 1_000 * window } else { expected });
            }
        }
    }
}
