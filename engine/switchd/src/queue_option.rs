//! `--queue` and `--turns`: order and rates of the queues of a port, or of all ports.

use std::str::FromStr;

use p4cc_switch::config::PRIORITIES;
use p4cc_switch::{PortConfig, RoundUnit, ShaperConfig};
use p4cc_units::Rate;

/// A queue and what differs for it: `3:level=0,weight=2,rate-bps=1000000,burst-bytes=3000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueOption {
    queue: u8,
    level: Option<u8>,
    weight: Option<u16>,
    rate_bps: Option<u64>,
    burst_bytes: Option<u32>,
}

impl QueueOption {
    /// Puts it into a port's configuration, whose bounds are checked with the rest.
    pub fn apply(&self, port: &mut PortConfig) {
        let at = usize::from(self.queue);
        let scheduler = &mut port.scheduler;
        scheduler.levels[at] = self.level.unwrap_or(scheduler.levels[at]);
        scheduler.weights[at] = self.weight.unwrap_or(scheduler.weights[at]);
        if let Some(rate_bps) = self.rate_bps {
            let burst_bytes = self.burst_bytes.unwrap_or_default();
            port.shapers[at] = Some(ShaperConfig { rate: Rate::from_bps(rate_bps), burst_bytes });
        }
    }
}

impl FromStr for QueueOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write QUEUE:KEY=VALUE,... with level, weight, rate-bps or burst-bytes";
        let (queue, settings) = text.split_once(':').ok_or_else(|| format!("no settings; {FORM}"))?;
        let queue = queue.parse().ok().filter(|queue| usize::from(*queue) < PRIORITIES);
        let queue = queue.ok_or_else(|| format!("queues are 0 to {}; {FORM}", PRIORITIES - 1))?;
        let mut made = Self { queue, level: None, weight: None, rate_bps: None, burst_bytes: None };
        for setting in settings.split(',') {
            let (key, value) = setting.split_once('=').ok_or_else(|| format!("`{setting}`: {FORM}"))?;
            match key {
                "level" => made.level = Some(number(setting, value)?),
                "weight" => made.weight = Some(number(setting, value)?),
                "rate-bps" => made.rate_bps = Some(number(setting, value)?),
                "burst-bytes" => made.burst_bytes = Some(number(setting, value)?),
                _ => return Err(format!("`{setting}`: {FORM}")),
            }
        }
        if made.burst_bytes.is_some() && made.rate_bps.is_none() {
            return Err("burst-bytes needs rate-bps".to_owned());
        }
        Ok(made)
    }
}

/// What turns count: `bytes` or `packets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnsOption(pub RoundUnit);

impl FromStr for TurnsOption {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "bytes" => Ok(Self(RoundUnit::Bytes)),
            "packets" => Ok(Self(RoundUnit::Packets)),
            _ => Err("write bytes or packets"),
        }
    }
}

fn number<T: FromStr>(setting: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("`{setting}`: not a number in range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_one_word() {
        let mut port = PortConfig::default();
        let queue: QueueOption = "3:level=0,weight=2,rate-bps=1000,burst-bytes=9".parse().expect("valid");
        queue.apply(&mut port);
        assert_eq!((port.scheduler.levels[3], port.scheduler.weights[3]), (0, 2));
        assert_eq!(port.shapers[3], Some(ShaperConfig { rate: Rate::from_bps(1_000), burst_bytes: 9 }));
        assert_eq!(port.scheduler.levels[4], 4, "others keep theirs");
    }

    #[test]
    fn a_mistake_names_the_form() {
        for (text, want) in [
            ("3", "no settings; write"),
            ("8:level=0", "queues are 0 to 7"),
            ("3:levl=0", "`levl=0`: write"),
            ("3:weight=70000", "`weight=70000`: not a number"),
            ("3:burst-bytes=7", "burst-bytes needs rate-bps"),
        ] {
            let error = text.parse::<QueueOption>().expect_err(text);
            assert!(error.starts_with(want), "{error}");
        }
    }
}
