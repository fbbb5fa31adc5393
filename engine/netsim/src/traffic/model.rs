//! What all models of random flows have: a name, a time from start to end, and a template of their flows.

use std::sync::Arc;

use p4cc_units::Time;

use super::DeadlineSpec;
use crate::describe::{FlowPlan, MAX_TIME_NS, Resolver, in_range};
use crate::error::{SpecError, refuse};

/// As it stands in a description.
pub(super) struct ModelSpec<'a> {
    pub name: &'a str,
    pub start_ns: u64,
    pub end_ns: u64,
    pub algorithm: &'a str,
    pub priority: u8,
    pub deadline: Option<DeadlineSpec>,
}

/// The part of a model's description that all models have, by the names that they share.
macro_rules! model_spec {
    ($spec:expr) => {
        $crate::traffic::model::ModelSpec {
            name: &$spec.name,
            start_ns: $spec.start_ns,
            end_ns: $spec.end_ns,
            algorithm: &$spec.algorithm,
            priority: $spec.priority,
            deadline: $spec.deadline,
        }
    };
}
pub(super) use model_spec;

/// Checked and resolved.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Where it stands in the description.
    pub path: String,
    /// Label of its flows and name of its streams.
    pub name: String,
    /// Flows start from this time on,
    pub start: Time,
    /// and before this one.
    pub end: Time,
    /// A flow but for its hosts, size, start and number.
    pub template: FlowPlan,
}

impl Model {
    /// The model at `path`, which lasts at least `least_ns`.
    pub fn new(
        path: &str,
        spec: &ModelSpec<'_>,
        least_ns: u64,
        resolver: &Resolver<'_>,
    ) -> Result<Self, SpecError> {
        let at = |key: &str| format!("{path}.{key}");
        in_range(&at("start_ns"), spec.start_ns, 0, MAX_TIME_NS)?;
        in_range(&at("end_ns"), spec.end_ns, spec.start_ns + least_ns, MAX_TIME_NS)?;
        if let Some(deadline) = &spec.deadline {
            deadline.check(&at("deadline"))?;
        }
        Ok(Self {
            path: path.to_owned(),
            name: spec.name.to_owned(),
            start: Time::from_ns(spec.start_ns),
            end: Time::from_ns(spec.end_ns),
            template: FlowPlan {
                algorithm: resolver.algorithm(&at("algorithm"), spec.algorithm)?,
                priority: resolver.priority(&at("priority"), spec.priority)?,
                class: Arc::from(spec.name),
                deadline: spec.deadline,
                ..FlowPlan::default()
            },
        })
    }
}

/// Hosts that send, and those that each flow's destination is drawn from.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    /// Host indices, with names for the streams.
    pub sources: Vec<(u32, String)>,
    destinations: Vec<u32>,
}

impl Ends {
    /// The hosts of the model at `path`; each source has another host to send to.
    pub fn new(
        path: &str,
        sources: &[String],
        destinations: &[String],
        resolver: &Resolver<'_>,
    ) -> Result<Self, SpecError> {
        let hosts = |key: &str, names: &[String]| {
            let found =
                names.iter().enumerate().map(|(i, name)| resolver.host(&format!("{path}.{key}[{i}]"), name));
            found.collect::<Result<Vec<u32>, _>>()
        };
        let (found, destinations) = (hosts("sources", sources)?, hosts("destinations", destinations)?);
        if found.is_empty() {
            return refuse(format!("{path}.sources"), "there is none", "name at least one host");
        }
        for (source, name) in found.iter().zip(sources) {
            if destinations.iter().all(|destination| destination == source) {
                let cause = format!("{name:?} has no other host to send to");
                return refuse(format!("{path}.destinations"), cause, "name another host");
            }
        }
        Ok(Self { sources: found.into_iter().zip(sources.iter().cloned()).collect(), destinations })
    }

    /// Destinations of a source.
    pub fn others(&self, source: u32) -> Vec<u32> {
        self.destinations.iter().copied().filter(|&destination| destination != source).collect()
    }
}

/// Checks a number of a description against its bounds.
pub(super) fn check_within(path: &str, value: f64, min: f64, max: f64) -> Result<(), SpecError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    refuse(path, format!("{value} is out of range"), format!("give a number from {min} to {max}"))
}
