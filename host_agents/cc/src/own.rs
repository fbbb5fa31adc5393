//! Algorithms that stand in no registry: whoever runs the senders brings them along, in code of their own.
//!
//! A configuration names one by its place in a list (`config.rs`).

use core::fmt;
use std::sync::Arc;

use crate::error::ConfigError;
use crate::kind::{Kind, SwitchNeed};
use crate::{
    CongestionAvoidance, RateControl, RateEnvironment, ReceiverAlgorithm, ReceiverEnvironment, SlowStart,
};

/// Whose algorithm it is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FlowIdentity {
    /// The flow's number.
    pub flow_id: u32,
    /// The run's seed, from which random streams derive.
    pub seed: u64,
}

/// An algorithm of the user's. It makes a state machine for each flow.
pub trait OwnAlgorithm: fmt::Debug + Send + Sync {
    /// Which part of a controller it is; the constructors of the other kinds are never called.
    fn kind(&self) -> Kind;

    /// What it needs from the switches.
    fn switch_needs(&self) -> SwitchNeed;

    /// Makes the slow start of a flow.
    ///
    /// # Errors
    /// What the user's code refuses.
    fn slow_start(&self, flow: FlowIdentity) -> Result<Box<dyn SlowStart>, ConfigError>;

    /// Makes the congestion avoidance of a flow.
    ///
    /// # Errors
    /// What the user's code refuses.
    fn congestion_avoidance(&self, flow: FlowIdentity) -> Result<Box<dyn CongestionAvoidance>, ConfigError>;

    /// Makes the rate control of a flow.
    ///
    /// # Errors
    /// What the user's code refuses.
    fn rate_control(
        &self,
        flow: FlowIdentity,
        environment: &RateEnvironment,
    ) -> Result<Box<dyn RateControl>, ConfigError>;

    /// Makes the receiver of a host, whose number `host` has in place of a flow's.
    ///
    /// # Errors
    /// What the user's code refuses.
    fn receiver(
        &self,
        host: FlowIdentity,
        environment: &ReceiverEnvironment,
    ) -> Result<Box<dyn ReceiverAlgorithm>, ConfigError>;
}

/// An algorithm that was brought, for one flow. Two are equal if they are one and the same.
#[derive(Clone, Debug)]
pub struct Brought {
    pub(crate) algorithm: Arc<dyn OwnAlgorithm>,
    pub(crate) flow: FlowIdentity,
}

impl PartialEq for Brought {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.algorithm, &other.algorithm) && self.flow == other.flow
    }
}
