//! What the registries say of an algorithm: kind, parameters, needs from the switches, constructor.

use serde::Serialize;

use crate::config::AlgorithmSpec;
use crate::error::{ConfigError, remedy};
use crate::kind::{Kind, SwitchNeed};
use crate::params::{ParamInfo, Params};
use crate::rate::{RateControl, RateEnvironment};
use crate::receiver::{ReceiverAlgorithm, ReceiverEnvironment};
use crate::{CongestionAvoidance, SlowStart};

/// Makes an algorithm of the rate family, which must know the network.
pub(crate) type MakeRate = fn(&Params<'_>, &RateEnvironment) -> Result<Box<dyn RateControl>, ConfigError>;

/// Makes a receiver, which must know its host.
pub(crate) type MakeReceiver =
    fn(&Params<'_>, &ReceiverEnvironment) -> Result<Box<dyn ReceiverAlgorithm>, ConfigError>;

/// Makes an algorithm from checked parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Make {
    SlowStart(fn(&Params<'_>) -> Result<Box<dyn SlowStart>, ConfigError>),
    CongestionAvoidance(fn(&Params<'_>) -> Result<Box<dyn CongestionAvoidance>, ConfigError>),
    RateControl(MakeRate),
    Receiver(MakeReceiver),
}

/// One algorithm.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AlgorithmInfo {
    /// Name in the configuration.
    pub name: &'static str,
    /// Which part of a controller it is.
    pub kind: Kind,
    /// What it does.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParamInfo],
    /// What it needs from the switches.
    pub switch_needs: SwitchNeed,
    /// Where it is defined.
    pub source: &'static str,
    #[serde(skip)]
    pub(crate) make: Make,
}

impl AlgorithmInfo {
    /// The parameters that `spec` gives, below the configuration's `key`.
    pub(crate) fn params<'a>(
        &self,
        key: &'a str,
        spec: &'a AlgorithmSpec,
    ) -> Result<Params<'a>, ConfigError> {
        Params::new(key, (self.name, self.parameters), spec)
    }
}

/// Finds an algorithm of one kind among `rows`, or says which there are.
pub(crate) fn find_in(
    rows: &'static [AlgorithmInfo],
    kind: Kind,
    name: &str,
) -> Result<&'static AlgorithmInfo, ConfigError> {
    if let Some(info) = rows.iter().find(|info| info.kind == kind && info.name == name) {
        return Ok(info);
    }
    let known: Vec<&str> = rows.iter().filter(|info| info.kind == kind).map(|info| info.name).collect();
    let cause = match rows.iter().find(|info| info.name == name) {
        Some(other) => format!("{name:?} is an algorithm for {}, not for {}", other.kind.key(), kind.key()),
        None => format!("unknown algorithm {name:?}"),
    };
    Err(ConfigError::new(format!("{}.name", kind.key()), cause, remedy(name, &known)))
}
