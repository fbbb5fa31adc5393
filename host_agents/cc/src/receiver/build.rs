//! A receiver from its configuration.

use super::control::{ReceiverAlgorithm, ReceiverEnvironment};
use crate::config::AlgorithmSpec;
use crate::error::ConfigError;
use crate::info::Make;
use crate::kind::Kind;
use crate::registry::find;

/// Makes the receiver that a configuration names.
///
/// # Errors
/// An unknown algorithm or parameter, a value out of range,
/// or values that contradict each other or the network.
pub fn build_receiver(
    spec: &AlgorithmSpec,
    environment: &ReceiverEnvironment,
) -> Result<Box<dyn ReceiverAlgorithm>, ConfigError> {
    let kind = Kind::Receiver;
    if let Some(own) = spec.own(kind)? {
        return own.algorithm.receiver(own.flow, environment);
    }
    let info = find(kind, &spec.name)?;
    let Make::Receiver(make) = info.make else {
        return Err(ConfigError::new(kind.key(), "is registered under a wrong kind", "report this as a bug"));
    };
    make(&info.params(kind.key(), spec)?, environment)
}
