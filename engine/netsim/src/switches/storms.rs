//! What the watchdog of a switch knows: the queues that their neighbours keep paused, by PFC (IEEE 802.1Qbb),
//! and what happened to them ([`super::watchdog`]).

use std::collections::BTreeMap;

use p4cc_units::{Span, Time};

use crate::describe::spec::{SwitchSpec, WatchdogAction, WatchdogSpec};
use crate::record::Log;

/// A watchdog, with the storms that it knows of.
pub(crate) struct Watchdog {
    pub(super) detection: Span,
    pub(super) restoration: Span,
    pub(super) action: WatchdogAction,
    /// By port and priority.
    pub(super) storms: BTreeMap<(u32, u8), Storm>,
    pub log: Log<WatchdogEvent>,
}

/// A queue that is in a storm.
pub(super) struct Storm {
    /// Whether its neighbour pauses it now, though that is not obeyed.
    pub paused: bool,
    /// When the neighbour last paused or resumed it.
    pub changed: Time,
    /// Packets that the queue held, where it lets nothing in now.
    pub capacity_pkts: Option<u32>,
    /// Drops of the queue when the storm was detected.
    pub dropped_before: u64,
}

/// A storm is detected, or its queue restored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchdogEvent {
    pub at: Time,
    pub port: u32,
    pub priority: u8,
    pub detected: bool,
    /// Packets that the queue dropped: those that waited, or all of the storm.
    pub dropped_pkts: u64,
}

impl Watchdog {
    /// The watchdog of a switch that has one.
    pub fn of(spec: &SwitchSpec, max_rows: u64) -> Option<Box<Self>> {
        let WatchdogSpec { detection_ns, restoration_ns, action } = spec.buffer.as_ref()?.watchdog?;
        Some(Box::new(Self {
            detection: Span::from_ns(detection_ns),
            restoration: Span::from_ns(restoration_ns),
            action,
            storms: BTreeMap::new(),
            log: Log::new(max_rows),
        }))
    }
}
