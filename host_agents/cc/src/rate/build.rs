//! A rate control from its configuration.

use super::control::{RateControl, RateEnvironment};
use crate::config::AlgorithmSpec;
use crate::error::ConfigError;
use crate::info::Make;
use crate::kind::{Kind, SwitchNeed};
use crate::registry::{find, registry};

/// What the algorithm that a configuration names needs from switches; nothing for one that there is not.
pub fn rate_needs(spec: &AlgorithmSpec) -> SwitchNeed {
    if let Some(own) = &spec.brought {
        return own.algorithm.switch_needs();
    }
    let row = registry().iter().find(|row| row.kind == Kind::RateControl && row.name == spec.name);
    row.map_or(SwitchNeed::None, |row| row.switch_needs)
}

/// Makes the algorithm that a configuration names.
///
/// # Errors
/// An unknown algorithm or parameter, a value out of range,
/// or values that contradict each other or the network.
pub fn build_rate(
    spec: &AlgorithmSpec,
    environment: &RateEnvironment,
) -> Result<Box<dyn RateControl>, ConfigError> {
    let kind = Kind::RateControl;
    if let Some(own) = spec.own(kind)? {
        return own.algorithm.rate_control(own.flow, environment);
    }
    let info = find(kind, &spec.name)?;
    let Make::RateControl(make) = info.make else {
        return Err(ConfigError::new(kind.key(), "is registered under a wrong kind", "report this as a bug"));
    };
    make(&info.params(kind.key(), spec)?, environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(name: &str) -> SwitchNeed {
        rate_needs(&serde_json::from_str(&format!(r#"{{"name":"{name}"}}"#)).expect("valid JSON"))
    }

    #[test]
    fn needs_are_those_of_the_rate_control_of_this_name() {
        assert_eq!(needs("hpcc"), SwitchNeed::Telemetry);
        assert_eq!(needs("bolt"), SwitchNeed::QueueNotices);
        // A slow start, and nothing.
        assert_eq!(needs("gst"), SwitchNeed::None);
        assert_eq!(needs("gone"), SwitchNeed::None);
    }
}
