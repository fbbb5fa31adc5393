//! A rate between its bounds, and the parameters that set these.

use super::control::RateEnvironment;
use crate::error::ConfigError;
use crate::params::{Domain, ParamInfo, Params};

pub(crate) const R_MIN: ParamInfo = ParamInfo {
    name: "r_min_mbps",
    unit: "Mbit/s",
    summary: "lower bound of the rate; if 0, r_min_share applies",
    domain: Domain::Number { default: Some(0.0), min: 0.0, max: 1e9 },
    source: "docs/algorithms/timely.md#timely-parameters, docs/algorithms/dcqcn.md#dcqcn-sender, docs/algorithms/hpcc.md#hpcc-parameters",
};

pub(crate) const R_MIN_SHARE: ParamInfo = ParamInfo {
    name: "r_min_share",
    unit: "ratio",
    summary: "lower bound of the rate as a fraction of the line rate, if r_min_mbps is 0",
    domain: Domain::Number { default: Some(0.001), min: 1e-9, max: 1.0 },
    source: "docs/algorithms/dcqcn.md#choice-least-rate",
};

pub(crate) const WINDOW: ParamInfo = ParamInfo {
    name: "window",
    unit: "",
    summary: "'vwin' limits the data in flight to the largest BDP times rate over line rate",
    domain: Domain::Choice { default: "none", options: &["none", "vwin"] },
    source: "docs/algorithms/timely.md#timely-variants",
};

/// A rate between its bounds, with the window of the "+win"
/// variants (docs/algorithms/timely.md#timely-variants).
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedRate {
    bps: f64,
    min_bps: f64,
    line_bps: f64,
    /// `W_max`, where there is a window.
    window_max_bytes: Option<f64>,
}

impl BoundedRate {
    /// At the line rate, from [`R_MIN`], [`R_MIN_SHARE`] and [`WINDOW`], which the algorithm's
    /// registry row must list.
    pub(crate) fn new(params: &Params<'_>, environment: &RateEnvironment) -> Result<Self, ConfigError> {
        let line_bps = environment.line_bps();
        let min_bps = min_rate_bps(params, environment)?;
        let has_window = params.choice("window")? == "vwin";
        let window_max_bytes = has_window.then(|| environment.bdp_bytes());
        Ok(Self { bps: line_bps, min_bps, line_bps, window_max_bytes })
    }

    pub(crate) const fn bps(&self) -> f64 {
        self.bps
    }

    pub(crate) const fn line_bps(&self) -> f64 {
        self.line_bps
    }

    /// Sets the rate, clamped to its bounds; not-a-number counts as the minimum.
    pub(crate) const fn set(&mut self, bps: f64) {
        self.bps = if bps.is_nan() { self.min_bps } else { bps.clamp(self.min_bps, self.line_bps) };
    }

    /// docs/algorithms/timely.md#timely-variants: `W = W_max * R/R_max`, at least 1 byte.
    pub(crate) fn cwnd_bytes(&self) -> Option<f64> {
        self.window_max_bytes.map(|max| (max * self.bps / self.line_bps).max(1.0))
    }
}

/// The least rate in bit/s by `r_min_mbps`, which must not lie above the line rate, or by `r_min_share`.
pub(crate) fn min_rate_bps(params: &Params<'_>, environment: &RateEnvironment) -> Result<f64, ConfigError> {
    let (min_bps, line_bps) = (params.number("r_min_mbps")? * 1e6, environment.line_bps());
    if min_bps == 0.0 {
        return Ok(params.number("r_min_share")? * line_bps);
    }
    if min_bps > line_bps {
        let cause = format!("{} Mbit/s exceeds the line rate of {} Mbit/s", min_bps / 1e6, line_bps / 1e6);
        return Err(params.error("r_min_mbps", cause, "reduce it, or use a faster link".to_owned()));
    }
    Ok(min_bps)
}
