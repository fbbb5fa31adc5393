//! Barrier rounds, as incast is in practice: a client asks all servers, each answers, and the next request leaves when
//! every answer is in (spec 16.4, A-17).
//!
//! Requests are packets as answers are. A group has one request flow to each server, kept over all rounds, and answer
//! flows: one for each server kept over all rounds, or a fresh one for each round. Flows stand in the order: requests by
//! server, then answers by round (if fresh) and server.
//!
//! ```text
//! ask all ──► request whole at server i ──► (service time) ──► answer i whole at client ──► all whole? next round
//! ```

use std::sync::Arc;

use p4cc_switch::Stream;
use p4cc_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::{DeadlineSpec, uniform};
use crate::SpecError;
use crate::spec::{MAX_FLOW_BYTES, MAX_FLOWS, MAX_TIME_NS, in_range};
use crate::topology::{FlowPlan, Resolver};

/// A client and its servers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundsSpec {
    /// Label for results and name of the random streams, unique among rounds.
    pub name: String,
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

/// What a flow is to a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Member {
    pub group: u32,
    pub server: u32,
    pub is_request: bool,
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
                return Err(SpecError::new(
                    format!("{path}.servers[{i}]"),
                    cause,
                    "name each other host once",
                ));
            }
            servers.push(server);
        }
        let mut ids = first_id..;
        let class = |suffix: &str| Arc::from(format!("{}{suffix}", spec.name));
        let rounds = u64::from(spec.rounds);
        for (i, &server) in servers.iter().enumerate() {
            flows.push(FlowPlan {
                id: ids.next().unwrap_or(u32::MAX),
                src: client,
                dst: server,
                size_bytes: Some(rounds * spec.request_bytes),
                piece_bytes: spec.request_bytes,
                class: class(".request"),
                member: Some(Member { group: index as u32, server: i as u32, is_request: true }),
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
                    member: Some(Member { group: index as u32, server: i as u32, is_request: false }),
                    ..template.clone()
                });
            }
        }
        Ok(plan)
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

    /// Payload of all answers of one round.
    pub fn round_bytes(&self) -> u64 {
        self.response_bytes.iter().sum()
    }
}

fn check(path: &str, spec: &RoundsSpec) -> Result<(), SpecError> {
    let at = |key: &str| format!("{path}.{key}");
    if spec.servers.is_empty() || spec.servers.len() != spec.response_bytes.len() {
        let cause = format!("{} servers, {} sizes of answers", spec.servers.len(), spec.response_bytes.len());
        return Err(SpecError::new(
            at("response_bytes"),
            cause,
            "give one size for each of at least one server",
        ));
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
    ] {
        in_range(&at(key), value, 0, MAX_TIME_NS)?;
    }
    match &spec.deadline {
        Some(_) if spec.persistent => {
            let cause = "a connection kept over all rounds has no deadline of its own";
            Err(SpecError::new(at("deadline"), cause, "set persistent to false, or leave the deadline out"))
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
    /// When the last answer was whole at the client.
    pub finish: Option<Time>,
}

/// What is to be done after a delivery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    Nothing,
    /// The application of this flow acts after a time.
    Answer(u32, Span),
    /// The applications of all request flows act after a time.
    Ask(Span),
}

/// A group in one run.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    /// Finished ones, and the one under way.
    pub rounds: Vec<Round>,
    /// Answers of this round that are not whole.
    open: u32,
    service: Vec<Stream>,
}

impl Rounds {
    pub fn new(plan: &RoundsPlan, seed: u64) -> Self {
        let stream = |server: &String| Stream::named(seed, &format!("rounds.{}.{server}.service", plan.name));
        Self {
            rounds: vec![Round { start: plan.start, finish: None }],
            open: plan.servers.len() as u32,
            service: plan.servers.iter().map(stream).collect(),
        }
    }

    /// Bytes of a member's flow reached its receiver: `delivered` of them in all, in order.
    pub fn on_delivered(&mut self, plan: &RoundsPlan, member: Member, delivered: u64, now: Time) -> Next {
        let round = self.rounds.len() as u64 - 1;
        let server = member.server as usize;
        if member.is_request {
            if delivered != (round + 1) * plan.request_bytes {
                return Next::Nothing;
            }
            let service = match plan.service_jitter {
                Span::ZERO => Span::ZERO,
                most => uniform(&mut self.service[server], most),
            };
            return Next::Answer(plan.answer(member.server, round as u32), service);
        }
        let whole = plan.response_bytes[server] * if plan.persistent { round + 1 } else { 1 };
        if delivered != whole {
            return Next::Nothing;
        }
        self.open -= 1;
        if self.open > 0 {
            return Next::Nothing;
        }
        if let Some(last) = self.rounds.last_mut() {
            last.finish = Some(now);
        }
        if round + 1 == u64::from(plan.rounds) {
            return Next::Nothing;
        }
        self.open = plan.servers.len() as u32;
        self.rounds.push(Round { start: now + plan.think, finish: None });
        Next::Ask(plan.think)
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
        }
    }

    const fn member(server: u32, is_request: bool) -> Member {
        Member { group: 0, server, is_request }
    }

    #[test]
    fn the_next_request_waits_for_the_last_answer() {
        for (persistent, answers, wholes) in
            [(true, [12, 13, 12, 13], [200, 400]), (false, [12, 13, 14, 15], [100, 200])]
        {
            let plan = plan(persistent);
            let mut run = Rounds::new(&plan, 1);
            let mut deliver = |server, is_request, bytes, at| {
                run.on_delivered(&plan, member(server, is_request), bytes, Time::from_ns(at))
            };
            assert_eq!(deliver(0, true, 3, 10), Next::Nothing);
            assert_eq!(deliver(0, true, 5, 11), Next::Answer(answers[0], Span::ZERO));
            assert_eq!(deliver(1, true, 5, 11), Next::Answer(answers[1], Span::ZERO));
            assert_eq!(deliver(1, false, 200, 15), Next::Nothing);
            assert_eq!(deliver(0, false, 99, 16), Next::Nothing);
            assert_eq!(deliver(0, false, 100, 20), Next::Ask(Span::from_ns(3)));
            assert_eq!(deliver(0, true, 10, 30), Next::Answer(answers[2], Span::ZERO));
            assert_eq!(deliver(0, false, wholes[0], 40), Next::Nothing);
            assert_eq!(deliver(1, true, 10, 41), Next::Answer(answers[3], Span::ZERO));
            assert_eq!(deliver(1, false, wholes[1], 50), Next::Nothing);
            let times = |round: &Round| (round.start.as_ns(), round.finish.map(Time::as_ns));
            assert_eq!(run.rounds.iter().map(times).collect::<Vec<_>>(), [(7, Some(20)), (23, Some(50))]);
        }
    }
}
