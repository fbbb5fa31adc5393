//! Parameters of algorithms: their declaration, and the values that a configuration gives them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::config::{AlgorithmSpec, ParamValue};
use crate::error::{ConfigError, remedy};

/// The values that a parameter may have.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Domain {
    /// A number in a closed range.
    Number {
        /// Value when the configuration gives none; no default means that it must be given.
        default: Option<f64>,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// One of several words.
    Choice {
        /// Value when the configuration gives none.
        default: &'static str,
        /// The words.
        options: &'static [&'static str],
    },
}

/// One parameter of an algorithm.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ParamInfo {
    /// Key in the configuration.
    pub name: &'static str,
    /// Unit, empty where there is none.
    pub unit: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Allowed values and the default.
    #[serde(flatten)]
    pub domain: Domain,
    /// Where the default comes from.
    pub source: &'static str,
}

impl ParamInfo {
    /// A number: its default, none where it must be given, its smallest and its largest value.
    pub(crate) const fn number(
        name: &'static str,
        unit: &'static str,
        summary: &'static str,
        (default, min, max): (Option<f64>, f64, f64),
        source: &'static str,
    ) -> Self {
        Self { name, unit, summary, domain: Domain::Number { default, min, max }, source }
    }
}

/// The remedy of errors that no configuration can cause.
fn defect() -> String {
    "report this as a bug".to_owned()
}

/// The parameters of one algorithm, checked against its registry row.
pub(crate) struct Params<'a> {
    /// Configuration key above the parameters, for error places.
    key: &'a str,
    algorithm: &'static str,
    known: &'static [ParamInfo],
    given: &'a BTreeMap<String, ParamValue>,
}

impl<'a> Params<'a> {
    /// Refuses parameters that the algorithm does not have.
    pub(crate) fn new(
        key: &'a str,
        (algorithm, known): (&'static str, &'static [ParamInfo]),
        spec: &'a AlgorithmSpec,
    ) -> Result<Self, ConfigError> {
        let names: Vec<&str> = known.iter().map(|param| param.name).collect();
        if let Some(name) = spec.parameters.keys().find(|name| !names.contains(&name.as_str())) {
            let cause = format!("{algorithm:?} has no parameter {name:?}");
            return Err(ConfigError::new(format!("{key}.{name}"), cause, remedy(name, &names)));
        }
        Ok(Self { key, algorithm, known, given: &spec.parameters })
    }

    /// An error about one parameter.
    pub(crate) fn error(&self, name: &str, cause: String, remedy: String) -> ConfigError {
        ConfigError::new(format!("{}.{name}", self.key), cause, remedy)
    }

    fn domain(&self, name: &str) -> Result<Domain, ConfigError> {
        let param = self.known.iter().find(|param| param.name == name);
        param.map(|param| param.domain).ok_or_else(|| {
            // Only a slip between an algorithm and its own registry row leads here.
            self.error(name, format!("{:?} reads an undeclared parameter", self.algorithm), String::new())
        })
    }

    /// A whole number, its default if absent.
    pub(crate) fn whole(&self, name: &str) -> Result<u64, ConfigError> {
        let value = self.number(name)?;
        if value.fract() == 0.0 && value >= 0.0 {
            return Ok(value as u64);
        }
        let remedy = match self.domain(name)? {
            Domain::Number { min, max, .. } => format!("give a whole number from {min} to {max}"),
            Domain::Choice { .. } => defect(),
        };
        Err(self.error(name, format!("{value} is not a whole number"), remedy))
    }

    /// A number, its default if absent.
    pub(crate) fn number(&self, name: &str) -> Result<f64, ConfigError> {
        let Domain::Number { default, min, max } = self.domain(name)? else {
            return Err(self.error(name, "is not declared as a number".to_owned(), defect()));
        };
        let range = format!("give a number from {min} to {max}");
        match (self.given.get(name), default) {
            (Some(ParamValue::Number(value)), _) if (min..=max).contains(value) => Ok(*value),
            (Some(ParamValue::Number(value)), _) => {
                Err(self.error(name, format!("{value} is out of range"), range))
            }
            (Some(ParamValue::Text(text)), _) => {
                Err(self.error(name, format!("{text:?} is not a number"), range))
            }
            (None, Some(default)) => Ok(default),
            (None, None) => Err(self.error(
                name,
                format!("{:?} requires this parameter, which has no default", self.algorithm),
                range,
            )),
        }
    }

    /// A word, its default if absent.
    pub(crate) fn choice(&self, name: &str) -> Result<&'static str, ConfigError> {
        let Domain::Choice { default, options } = self.domain(name)? else {
            return Err(self.error(name, "is not declared as a word".to_owned(), defect()));
        };
        let Some(given) = self.given.get(name) else { return Ok(default) };
        let found = match given {
            ParamValue::Text(text) => options.iter().find(|option| *option == text),
            ParamValue::Number(_) => None,
        };
        found.copied().ok_or_else(|| {
            self.error(
                name,
                format!("{given} is not an allowed value"),
                format!("give one of: {}", options.join(", ")),
            )
        })
    }
}
