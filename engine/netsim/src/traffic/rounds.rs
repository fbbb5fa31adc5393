//! Barrier rounds, as incast is in practice: a client asks all servers, each server answers, and the next
//! requests leave when every answer is complete (docs/algorithms/traffic.md#workloads, #choice-gst-rounds).
//!
//! In an open loop requests leave at random times, whatever the answers do. An open loop with one server is
//! an RPC workload (TIMELY 2015).
//!
//! Requests are packets, as answers are. A group has one request flow to each server, kept over all rounds.
//! Its answer flows are one for each server, kept over all rounds, or new ones for each round. The order of
//! flows is: requests by server, then answers by round (if new) and server.
//!
//! ```text
//! ask all ──► request complete at server i ──► (service time) ──► answer i complete at client
//!    ▲                                                                 │
//!    └──────────────────── all complete: next round ◄──────────────────┘
//! ```

use std::sync::Arc;

use p4cc_switch::Stream;
use p4cc_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::DeadlineSpec;
use crate::describe::{FlowPlan, MAX_FLOW_BYTES, MAX_FLOWS, MAX_TIME_NS, Resolver, RoundMember, in_range};
use crate::error::{SpecError, refuse};
use crate::random::{exponential, uniform};

/// A client and its servers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundsSpec {
    /// Name of the group and of its random streams, unique among rounds.
    pub name: String,
    /// Label of its flows in results; absent: the name.
    #[serde(default)]
    pub label: Option<String>,
    /// Host that asks.
    pub client: String,
    /// Hosts that answer.
    pub servers: Vec<String>,
    /// Payload of a request.
    pub request_bytes: u64,
    /// Payload of an answer, for each server.
    pub response_bytes: Vec<u64>,
    /// Number of rounds.
    pub rounds: u32,
    /// When the first requests leave.
    #[serde(default)]
    pub start_ns: u64,
    /// Pause of the client between the last answer and the next requests.
    #[serde(default)]
    pub think_ns: u64,
    /// A server answers after a random time from 0 to this, uniform, of a stream of its own.
    #[serde(default)]
    pub service_jitter_ns: u64,
    /// Whether answers of one server share a connection and with it window and estimates.
    #[serde(default = "yes")]
    pub persistent: bool,
    /// Open loop: the mean of the exponential time between
    /// two requests; absent: a request waits for the answers.
    #[serde(default)]
    pub mean_gap_ns: Option<f64>,
    /// Whether that time is always the mean: an application that limits itself to a constant rate.
    #[serde(default)]
    pub constant_gap: bool,
    /// The first requests leave after a random time from 0 to this, uniform, of a stream of the group.
    #[serde(default)]
    pub start_jitter_ns: u64,
    /// Name in `algorithms`, of requests and answers.
    pub algorithm: String,
    /// Traffic class on the wire, 0 (lowest) to 7.
    #[serde(default)]
    pub priority: u8,
    /// Deadlines of answers; for fresh connections only, as a deadline is a flow's.
    #[serde(default)]
    pub deadline: Option<DeadlineSpec>,
}

const fn yes() -> bool {
    true
}

/// The description of a group, resolved.
#[derive(Clone, Debug)]
pub(crate) struct RoundsPlan {
    pub name: String,
    /// Index of its first flow.
    first: u32,
    servers: Vec<String>,
    request_bytes: u64,
    response_bytes: Vec<u64>,
    rounds: u32,
    start: Time,
    think: Span,
    service_jitter: Span,
    persistent: bool,
    mean_gap: Option<Span>,
    constant_gap: bool,
    start_jitter: Span,
}

impl RoundsPlan {
    /// Appends the group's flows, numbered from `first_id`.
    pub fn new(
        index: usize,
        spec: &RoundsSpec,
        resolver: &Resolver<'_>,
        first_id: u32,
        flows: &mut Vec<FlowPlan>,
    ) -> Result<Self, SpecError> {
        let path = format!("rounds[{index}]");
        let at = |key: &str| format!("{path}.{key}");
        check(&path, spec)?;
        let client = resolver.host(&at("client"), &spec.client)?;
        let plan = Self {
            name: spec.name.clone(),
            first: flows.len() as u32,
            servers: spec.servers.clone(),
            request_bytes: spec.request_bytes,
            response_bytes: spec.response_bytes.clone(),
            rounds: spec.rounds,
            start: Time::from_ns(spec.start_ns),
            think: Span::from_ns(spec.think_ns),
            service_jitter: Span::from_ns(spec.service_jitter_ns),
            persistent: spec.persistent,
            mean_gap: spec.mean_gap_ns.map(|ns| Span::from_ps((ns * 1e3) as u64)),
            constant_gap: spec.constant_gap,
            start_jitter: Span::from_ns(spec.start_jitter_ns),
        };
        let template = FlowPlan {
            algorithm: resolver.algorithm(&at("algorithm"), &spec.algorithm)?,
            priority: resolver.priority(&at("priority"), spec.priority)?,
            start: plan.start,
            ..FlowPlan::default()
        };
        let mut servers = Vec::with_capacity(spec.servers.len());
        for (i, name) in spec.servers.iter().enumerate() {
            let server = resolver.host(&format!("{path}.servers[{i}]"), name)?;
            if server == client || servers.contains(&server) {
                let cause = format!("{name:?} is the client, or listed twice");
                return refuse(format!("{path}.servers[{i}]"), cause, "name each other host once");
            }
            servers.push(server);
        }
        let mut ids = first_id..;
        let class =
            |suffix: &str| Arc::from(format!("{}{suffix}", spec.label.as_ref().unwrap_or(&spec.name)));
        let rounds = u64::from(spec.rounds);
        for (i, &server) in servers.iter().enumerate() {
            flows.push(FlowPlan {
                id: ids.next().unwrap_or(u32::MAX),
                src: client,
                dst: server,
                size_bytes: Some(rounds * spec.request_bytes),
                piece_bytes: spec.request_bytes,
                class: class(".request"),
                is_triggered: plan.starts_later(),
                member: Some(RoundMember { group: index as u32, server: i as u32, is_request: true }),
                ..template.clone()
            });
        }
        let repeats = if spec.persistent { 1 } else { rounds };
        for _ in 0..repeats {
            for (i, &server) in servers.iter().enumerate() {
                let bytes = spec.response_bytes[i];
                flows.push(FlowPlan {
                    id: ids.next().unwrap_or(u32::MAX),
                    src: server,
                    dst: client,
                    size_bytes: Some(if spec.persistent { rounds * bytes } else { bytes }),
                    piece_bytes: if spec.persistent { bytes } else { 0 },
                    class: class(""),
                    deadline: spec.deadline,
                    is_triggered: true,
                    member: Some(RoundMember { group: index as u32, server: i as u32, is_request: false }),
                    ..template.clone()
                });
            }
        }
        Ok(plan)
    }

    /// Whether the first requests leave after a random time.
    fn starts_later(&self) -> bool {
        self.mean_gap.is_some() || self.start_jitter > Span::ZERO
    }

    /// The time between two requests of an open loop.
    fn gap(&self, stream: &mut Stream) -> Option<Span> {
        let mean = self.mean_gap?;
        Some(if self.constant_gap { mean } else { exponential(stream, mean) })
    }

    /// Flows that carry the requests.
    pub fn requests(&self) -> core::ops::Range<u32> {
        self.first..self.first + self.servers.len() as u32
    }

    /// The flow of a server's answer.
    fn answer(&self, server: u32, round: u32) -> u32 {
        let servers = self.servers.len() as u32;
        let repeat = if self.persistent { 0 } else { round };
        self.first + servers * (1 + repeat) + server
    }

    fn round(&self, start: Time) -> Round {
        Round { start, finish: None, open: self.servers.len() as u32 }
    }

    /// Payload of all answers of one round.
    pub fn round_bytes(&self) -> u64 {
        self.response_bytes.iter().sum()
    }
}

fn check(path: &str, spec: &RoundsSpec) -> Result<(), SpecError> {
    let at = |key: &str| format!("{path}.{key}");
    if spec.servers.is_empty() || spec.servers.len() != spec.response_bytes.len() {
        let cause = format!("{} servers, {} sizes of answers", spec.servers.len(), spec.response_bytes.len());
        return refuse(at("response_bytes"), cause, "give one size for each of at least one server");
    }
    in_range(&at("rounds"), spec.rounds.into(), 1, MAX_FLOWS as u64)?;
    let most = MAX_FLOW_BYTES / u64::from(spec.rounds);
    in_range(&at("request_bytes"), spec.request_bytes, 1, most)?;
    for (i, bytes) in spec.response_bytes.iter().enumerate() {
        in_range(&format!("{path}.response_bytes[{i}]"), *bytes, 1, most)?;
    }
    let flows = spec.servers.len() as u64 * (1 + if spec.persistent { 1 } else { u64::from(spec.rounds) });
    in_range(&at("rounds"), flows, 1, MAX_FLOWS as u64)
        .map_err(|error| SpecError { cause: format!("{flows} flows are needed"), ..error })?;
    for (key, value) in [
        ("start_ns", spec.start_ns),
        ("think_ns", spec.think_ns),
        ("service_jitter_ns", spec.service_jitter_ns),
        ("start_jitter_ns", spec.start_jitter_ns),
    ] {
        in_range(&at(key), value, 0, MAX_TIME_NS)?;
    }
    if let Some(gap_ns) = spec.mean_gap_ns {
        let max = MAX_TIME_NS as f64;
        if !(0.001..=max).contains(&gap_ns) {
            let remedy = format!("give a number from 0.001 to {max}");
            return refuse(at("mean_gap_ns"), format!("{gap_ns} is out of range"), remedy);
        }
        if !spec.persistent {
            let cause = "in an open loop answers share a connection, on which they come in order";
            return refuse(at("persistent"), cause, "set it to true, or use arrivals");
        }
    }
    if spec.constant_gap && spec.mean_gap_ns.is_none() {
        let cause = "a closed loop has no gap between requests";
        return refuse(at("constant_gap"), cause, "give mean_gap_ns, or leave it out");
    }
    match &spec.deadline {
        Some(_) if spec.persistent => {
            let cause = "a connection kept over all rounds cannot have a deadline";
            refuse(at("deadline"), cause, "set persistent to false, or leave the deadline out")
        }
        Some(deadline) => deadline.check(&at("deadline")),
        None => Ok(()),
    }
}

/// One round as it went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Round {
    /// When its requests left the application.
    pub start: Time,
    /// When the last answer was complete at the client.
    pub finish: Option<Time>,
    /// Answers that are not complete.
    open: u32,
}

/// What an application does after a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// The application of this flow acts after a time.
    Answer(u32, Span),
    /// The applications of all request flows act after a time.
    Ask(Span),
}

/// A server of a group in one run.
#[derive(Clone, Debug)]
struct Server {
    /// Requests that are complete at the server, and answers that are complete at the client.
    asked: u32,
    answered: u32,
    service: Stream,
}

/// A group in one run.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    /// Those whose requests have left the application, or are about to.
    pub rounds: Vec<Round>,
    servers: Vec<Server>,
    /// For open loops and random starts.
    gaps: Stream,
}

impl Rounds {
    pub fn new(plan: &RoundsPlan, seed: u64) -> Self {
        let stream = |what: &str| Stream::named(seed, &format!("rounds.{}.{what}", plan.name));
        let server =
            |name: &String| Server { asked: 0, answered: 0, service: stream(&format!("{name}.service")) };
        Self {
            // The first round of a group without random times begins with the group.
            rounds: if plan.starts_later() { Vec::new() } else { vec![plan.round(plan.start)] },
            servers: plan.servers.iter().map(server).collect(),
            gaps: stream("gaps"),
        }
    }

    /// When the first requests leave, of a group that starts at random.
    pub fn first_ask(&mut self, plan: &RoundsPlan) -> Option<Time> {
        if !plan.starts_later() {
            return None;
        }
        let jitter = uniform(&mut self.gaps, plan.start_jitter);
        let gap = plan.gap(&mut self.gaps).unwrap_or(Span::ZERO);
        Some(plan.start + jitter + gap)
    }

    /// Requests leave; in an open loop the time until the next ones do.
    pub fn on_asked(&mut self, plan: &RoundsPlan, now: Time) -> Option<Span> {
        if plan.mean_gap.is_some() || self.rounds.is_empty() {
            self.rounds.push(plan.round(now));
        }
        let has_more = (self.rounds.len() as u64) < u64::from(plan.rounds);
        if has_more { plan.gap(&mut self.gaps) } else { None }
    }

    /// Bytes of a member's flow reached its receiver: `delivered` of them in all, in order.
    pub fn on_delivered(
        &mut self,
        plan: &RoundsPlan,
        member: RoundMember,
        delivered: u64,
        now: Time,
    ) -> SmallVec<[Next; 1]> {
        let mut next = SmallVec::new();
        let (begun, place) = (self.rounds.len() as u32, member.server as usize);
        if member.is_request {
            let server = &mut self.servers[place];
            while server.asked < begun && delivered >= (u64::from(server.asked) + 1) * plan.request_bytes {
                let service = match plan.service_jitter {
                    Span::ZERO => Span::ZERO,
                    most => uniform(&mut server.service, most),
                };
                next.push(Next::Answer(plan.answer(member.server, server.asked), service));
                server.asked += 1;
            }
            return next;
        }
        // On a fresh connection there is one answer, on a kept one they follow each other.
        let answers = delivered / plan.response_bytes[place];
        let whole = if plan.persistent { answers } else { u64::from(self.servers[place].answered) + answers };
        while self.servers[place].answered < begun && u64::from(self.servers[place].answered) < whole {
            let round = self.servers[place].answered;
            self.servers[place].answered += 1;
            next.extend(self.on_answered(plan, round as usize, now));
        }
        next
    }

    /// An answer of this round is complete; in a closed loop the last one begins the next round.
    fn on_answered(&mut self, plan: &RoundsPlan, round: usize, now: Time) -> Option<Next> {
        let state = &mut self.rounds[round];
        state.open -= 1;
        if state.open > 0 {
            return None;
        }
        state.finish = Some(now);
        if plan.mean_gap.is_some() || self.rounds.len() as u64 == u64::from(plan.rounds) {
            return None;
        }
        self.rounds.push(plan.round(now + plan.think));
        Some(Next::Ask(plan.think))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(persistent: bool) -> RoundsPlan {
        RoundsPlan {
            name: "r".to_owned(),
            first: 10,
            servers: vec!["a".to_owned(), "b".to_owned()],
            request_bytes: 5,
            response_bytes: vec![100, 200],
            rounds: 2,
            start: Time::from_ns(7),
            think: Span::from_ns(3),
            service_jitter: Span::ZERO,
            persistent,
            mean_gap: None,
            constant_gap: false,
            start_jitter: Span::ZERO,
        }
    }

    const fn member(server: u32, is_request: bool) -> RoundMember {
        RoundMember { group: 0, server, is_request }
    }

    #[test]
    fn the_next_request_waits_for_the_last_answer() {
        for (persistent, answers, wholes) in
            [(true, [12, 13, 12, 13], [200, 400]), (false, [12, 13, 14, 15], [100, 200])]
        {
            let plan = plan(persistent);
            let mut run = Rounds::new(&plan, 1);
            let mut deliver = |server, is_request, bytes, at| {
                run.on_delivered(&plan, member(server, is_request), bytes, Time::from_ns(at)).into_vec()
            };
            let nothing: Vec<Next> = Vec::new();
            let answer = |flow| vec![Next::Answer(flow, Span::ZERO)];
            assert_eq!(deliver(0, true, 3, 10), nothing);
            assert_eq!(deliver(0, true, 5, 11), answer(answers[0]));
            assert_eq!(deliver(1, true, 5, 11), answer(answers[1]));
            assert_eq!(deliver(1, false, 200, 15), nothing);
            assert_eq!(deliver(0, false, 99, 16), nothing);
            assert_eq!(deliver(0, false, 100, 20), vec![Next::Ask(Span::from_ns(3))]);
            assert_eq!(deliver(0, true, 10, 30), answer(answers[2]));
            assert_eq!(deliver(0, false, wholes[0], 40), nothing);
            assert_eq!(deliver(1, true, 10, 41), answer(answers[3]));
            assert_eq!(deliver(1, false, wholes[1], 50), nothing);
            let times = |round: &Round| (round.start.as_ns(), round.finish.map(Time::as_ns));
            assert_eq!(run.rounds.iter().map(times).collect::<Vec<_>>(), [(7, Some(20)), (23, Some(50))]);
        }
    }

    /// Open loop: requests leave whatever the answers do; one delivery
    /// may bring several of them, and answers count in order.
    #[test]
    fn in_an_open_loop_requests_do_not_wait() {
        let plan = RoundsPlan {
            mean_gap: Some(Span::from_us(10)),
            servers: vec!["a".to_owned()],
            response_bytes: vec![100],
            rounds: 3,
            ..plan(true)
        };
        let mut run = Rounds::new(&plan, 1);
        assert!(run.rounds.is_empty());
        let first = run.first_ask(&plan).expect("a random start");
        assert!(first > plan.start);
        assert!(run.on_asked(&plan, first).is_some() && run.on_asked(&plan, Time::from_us(90)).is_some());
        assert_eq!(run.on_asked(&plan, Time::from_us(95)), None, "the third is the last");
        let mut deliver = |is_request, bytes, at| {
            run.on_delivered(&plan, member(0, is_request), bytes, Time::from_us(at)).into_vec()
        };
        assert_eq!(deliver(true, 12, 100), vec![Next::Answer(11, Span::ZERO); 2]);
        assert_eq!(deliver(false, 100, 110), vec![]);
        assert_eq!(deliver(false, 300, 120), vec![]);
        let finished: Vec<_> = run.rounds.iter().map(|round| round.finish.map(Time::as_us)).collect();
        assert_eq!(finished, [Some(110), Some(120), Some(120)]);
    }
}
