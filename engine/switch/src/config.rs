//! Configuration of a switch: ports, rates, queue capacities, the shared buffer and its PFC (IEEE 802.1Qbb)
//! thresholds, units.

use p4cc_exec::Exec;
use p4cc_units::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that the interpreter takes before native code is made for a
/// busy switch: what is short, as most tests are, never pays for it. Making
/// it costs as much as some ten thousand packets of a small program save.
pub const NATIVE_AFTER_PACKETS: u32 = 1_000;

/// What runs a switch's programs, and from when on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExecChoice {
    /// The interpreter.
    Interp,
    /// Native code from the first packet on, made as a program
    /// is loaded: where a pause later would lose packets.
    Native,
    /// Native code once another thread has made it
    /// ([`Pipeline::make_native`](p4cc_exec::Pipeline::make_native)): the thread that moves packets
    /// interprets until then, and never waits.
    NativeWhenMade,
    /// Native code once the switches of a program have taken [`NATIVE_AFTER_PACKETS`] together.
    #[default]
    NativeWhenBusy,
}

impl ExecChoice {
    /// The back end.
    pub const fn exec(self) -> Exec {
        match self {
            Self::Interp => Exec::Interp,
            Self::Native | Self::NativeWhenMade | Self::NativeWhenBusy => Exec::Native,
        }
    }

    /// Packets that the interpreter takes first.
    pub(crate) const fn warm_up_packets(self) -> u32 {
        match self {
            Self::Interp | Self::Native => 0,
            Self::NativeWhenMade => MADE_ELSEWHERE,
            Self::NativeWhenBusy => NATIVE_AFTER_PACKETS,
        }
    }
}

impl core::str::FromStr for ExecChoice {
    type Err = String;

    /// What an option `--exec` asks for.
    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name.parse()? {
            Exec::Interp => Self::Interp,
            Exec::Native => Self::Native,
        })
    }
}

/// In the place of a number of packets: none are enough for the thread that moves them to make native code.
pub(crate) const MADE_ELSEWHERE: u32 = u32::MAX;
/// Ports that v1model can name with its 9 bits.
pub const MAX_PORTS: u32 = 512;
/// Queues of a port; 0 is served last, 7 first.
pub const PRIORITIES: usize = 8;
/// Largest capacity of one queue, in packets: what `enq_qdepth`'s 19 bits can count.
pub const MAX_QUEUE_PKTS: u32 = (1 << 19) - 1;
/// Most extra bytes that a link may add to each packet.
pub const MAX_FRAMING_BYTES: u32 = 256;

/// Unit of v1model's timestamps.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimestampUnit {
    /// Microseconds, as BMv2.
    #[default]
    Us,
    /// Nanoseconds.
    Ns,
}

/// Unit of `enq_qdepth` and `deq_qdepth`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
pub enum QdepthUnit {
    /// The architecture's: packets, or under TNA and T2NA cells of the chip.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// Packets.
    #[serde(rename = "packets")]
    Packets,
    /// Cells of [`CELL_BYTES`] bytes; a packet takes whole cells of its length on the link.
    #[serde(rename = "cells_80B")]
    Cells80,
    /// The same in cells of [`TOFINO2_CELL_BYTES`] bytes.
    #[serde(rename = "cells_176B")]
    Cells176,
    /// Bytes on the link of the whole queue in units of
    /// [`CELL_BYTES`], rounded down: no packet is rounded by itself.
    #[serde(rename = "bytes_80B")]
    Bytes80,
}

/// Copies and passes that one received packet may cause when
/// nobody says otherwise: four times a full multicast group.
pub const DEFAULT_PASS_LIMIT: u32 = 4_096;
/// Largest limit of copies and passes: what takes about a second.
pub const MAX_PASS_LIMIT: u32 = 1_000_000;

/// Bytes of a unit of [`QdepthUnit::Cells80`] and [`QdepthUnit::Bytes80`].
pub const CELL_BYTES: u32 = 80;
/// Bytes of a unit of [`QdepthUnit::Cells176`].
pub const TOFINO2_CELL_BYTES: u32 = 176;

impl QdepthUnit {
    /// Cells of a packet, where the unit is cells.
    #[inline]
    pub(crate) const fn cells(self, link_bytes: u32) -> u32 {
        // In steps, since a match becomes a jump through a table, twice for each packet that waits.
        if matches!(self, Self::Cells80) {
            link_bytes.div_ceil(CELL_BYTES)
        } else if matches!(self, Self::Cells176) {
            link_bytes.div_ceil(TOFINO2_CELL_BYTES)
        } else {
            0
        }
    }
}

/// The priority of ACKs and notifications: a shared buffer neither counts nor pauses it
/// (docs/algorithms/pfc.md#pfc-parameters: the ns-3 simulator's queue 0).
pub const CONTROL_PRIORITY: u8 = 7;
/// Largest power of two, up or down, that a dynamic threshold may be of the free pool.
pub const MAX_ALPHA_LOG2: i8 = 10;
/// Largest buffer, queue and headroom in bytes.
pub const MAX_BUFFER_BYTES: u64 = 1 << 40;

/// Bytes of a turn of weight 1 when nobody says otherwise: a packet of 1,500 bytes with all that Ethernet
/// adds.
pub const DEFAULT_QUANTUM_BYTES: u32 = 1_538;
/// Least bytes of such a turn: a packet waits for a bounded number of turns.
pub const LEAST_QUANTUM_BYTES: u32 = 256;
/// Most bytes of it.
pub const MAX_QUANTUM_BYTES: u32 = 1 << 20;
/// Largest weight of a queue.
pub const MAX_WEIGHT: u16 = 1_023;

/// What a turn of a queue counts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoundUnit {
    /// Bytes on the link: deficit round robin.
    #[default]
    Bytes,
    /// Packets: weighted round robin.
    Packets,
}

/// In which order the queues of a port send. Arrays are by queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SchedulerConfig {
    /// Higher levels go first; queues of one level take turns.
    pub levels: [u8; PRIORITIES],
    /// Shares of the queues of one level.
    pub weights: [u16; PRIORITIES],
    /// What turns count.
    pub unit: RoundUnit,
    /// With bytes: what a turn of weight 1 adds to a queue's deficit.
    pub quantum_bytes: u32,
}

impl Default for SchedulerConfig {
    /// Each queue is a level of its own, by its number.
    fn default() -> Self {
        Self {
            levels: core::array::from_fn(|at| at as u8),
            weights: [1; PRIORITIES],
            unit: RoundUnit::default(),
            quantum_bytes: DEFAULT_QUANTUM_BYTES,
        }
    }
}

impl SchedulerConfig {
    /// Whether queues go by their numbers, so that none takes turns.
    pub fn is_strict_by_number(&self) -> bool {
        self.levels.is_sorted_by(|lower, higher| lower < higher)
    }

    pub(crate) fn check(&self, place: &str) -> Result<(), ConfigError> {
        if let Some(level) = self.levels.iter().find(|level| usize::from(**level) >= PRIORITIES) {
            let cause = format!("level {level} is out of range");
            return Err(ConfigError::new(format!("{place}.levels"), cause, "give levels from 0 to 7"));
        }
        if let Some(weight) = self.weights.iter().find(|weight| !(1..=MAX_WEIGHT).contains(*weight)) {
            let cause = format!("weight {weight} is out of range");
            return Err(ConfigError::new(format!("{place}.weights"), cause, "give weights from 1 to 1023"));
        }
        if !(LEAST_QUANTUM_BYTES..=MAX_QUANTUM_BYTES).contains(&self.quantum_bytes) {
            let cause = format!("{} bytes a turn are out of range", self.quantum_bytes);
            return Err(ConfigError::new(
                format!("{place}.quantum_bytes"),
                cause,
                "give 256 to 1048576 bytes",
            ));
        }
        Ok(())
    }
}

/// Most that a queue sends: a token bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShaperConfig {
    /// Bits on the link a second.
    pub rate: Rate,
    /// Bytes that may be ahead of the rate: with 0, a packet starts when those before it are paid for.
    pub burst_bytes: u32,
}

/// A port.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PortConfig {
    /// Number that the program sees.
    pub port: u32,
    /// Rate of the link.
    pub rate: Rate,
    /// Packets that each of the port's queues holds; the packet in transmission is not counted.
    pub capacity_pkts: u32,
    /// Bytes on the link that each of the port's queues holds, if they are bounded too.
    pub capacity_bytes: Option<u64>,
    /// With a shared buffer: bytes for what each lossless priority still receives here after its pause.
    pub headroom_bytes: u64,
    /// With a shared buffer: log2 of alpha, the share of the free pool that the port's dynamic threshold is.
    pub alpha_log2: i8,
    /// Bytes that the link adds to the IP bytes of each packet.
    pub framing_bytes: u32,
    /// Unit of the depths that the program sees.
    pub qdepth_unit: QdepthUnit,
    /// In which order its queues send.
    pub scheduler: SchedulerConfig,
    /// What queues send at most, by queue; none for as much as the link takes.
    pub shapers: [Option<ShaperConfig>; PRIORITIES],
}

/// A buffer that all ports share (docs/algorithms/pfc.md#pfc).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferConfig {
    /// All of it: reserves, headrooms and the shared pool.
    pub bytes: u64,
    /// Set aside for each ingress port and lossless priority.
    pub reserve_bytes: u64,
    /// How far below the threshold a paused port and priority must be to go on.
    pub resume_offset_bytes: u64,
    /// Bit `p` is set where priority `p` is paused rather than dropped (PFC).
    pub lossless: u8,
}

impl BufferConfig {
    /// What the reserves and headrooms of these ports leave to share; none if they take more than there is.
    pub fn pool_bytes(&self, ports: &[PortConfig]) -> Option<u64> {
        let classes = u64::from(self.lossless.count_ones());
        let kept = ports.iter().map(|port| (port.headroom_bytes + self.reserve_bytes) * classes);
        self.bytes.checked_sub(kept.sum())
    }
}

/// A switch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SwitchConfig {
    /// P4Runtime's device id.
    pub device_id: u64,
    /// Ports, in any order.
    pub ports: Vec<PortConfig>,
    /// The buffer that ports share; without one each queue has its own capacity only.
    pub buffer: Option<BufferConfig>,
    /// Unit of timestamps.
    pub timestamp_unit: TimestampUnit,
    /// Port whose packets go to the controller, if there is one. Not among `ports`.
    pub cpu_port: Option<u32>,
    /// Value of `egress_spec` that drops; v1model's default is 511.
    pub drop_port: u32,
    /// Seed of the switch's random stream.
    pub seed: u64,
    /// Most resubmissions, recirculations, clones and multicast copies that
    /// one received packet may cause, those of its copies included. What would
    /// be one more is dropped and counted ([`crate::DropCause::PassLimit`]).
    pub pass_limit: u32,
    /// Of v1model, p4cc's extension: a packet whose queue is full runs through ingress once more, which may
    /// cut it and choose another queue (docs/algorithms/trimming.md#deflection). Of TNA and T2NA: pipes
    /// deflect to the first queue of their first port until the control plane says otherwise.
    pub deflect_on_drop: bool,
}

/// v1model's drop port when nobody says otherwise.
pub const DEFAULT_DROP_PORT: u32 = 511;

/// A configuration that cannot be used: where, why, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}: {cause}; {remedy}")]
pub struct ConfigError {
    /// Which value, such as `ports[3].capacity_pkts`.
    pub place: String,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub remedy: String,
}

impl ConfigError {
    fn new(place: String, cause: String, remedy: &str) -> Self {
        Self { place, cause, remedy: remedy.to_owned() }
    }

    /// A port was to be added to a switch whose buffer is laid out already.
    pub(crate) fn shared_buffer() -> Self {
        let cause = "the switch has a shared buffer, laid out for the ports that it started with".to_owned();
        Self::new("ports".to_owned(), cause, "name all ports when the switch is made")
    }
}

impl SwitchConfig {
    /// Checks every value against its bounds.
    ///
    /// # Errors
    /// The first value that is out of bounds or contradicts another.
    pub fn check(&self) -> Result<(), ConfigError> {
        let mut seen = [false; MAX_PORTS as usize];
        for (name, port) in [("drop_port", Some(self.drop_port)), ("cpu_port", self.cpu_port)] {
            let Some(port) = port else { continue };
            take(&mut seen, port, name)?;
        }
        for (i, port) in self.ports.iter().enumerate() {
            take(&mut seen, port.port, &format!("ports[{i}].port"))?;
            port.check(i)?;
        }
        if !(1..=MAX_PASS_LIMIT).contains(&self.pass_limit) {
            let cause =
                format!("{} copies and passes of a received packet are out of range", self.pass_limit);
            let remedy = "give a limit from 1 to 1000000";
            return Err(ConfigError::new("pass_limit".to_owned(), cause, remedy));
        }
        self.check_buffer()
    }

    fn check_buffer(&self) -> Result<(), ConfigError> {
        let Some(buffer) = &self.buffer else { return Ok(()) };
        for (name, bytes) in [
            ("bytes", buffer.bytes),
            ("reserve_bytes", buffer.reserve_bytes),
            ("resume_offset_bytes", buffer.resume_offset_bytes),
        ] {
            if bytes > MAX_BUFFER_BYTES {
                let (place, cause) = (format!("buffer.{name}"), format!("{bytes} bytes are out of range"));
                return Err(ConfigError::new(place, cause, "give at most 2^40"));
            }
        }
        if buffer.lossless & (1 << CONTROL_PRIORITY) != 0 {
            let cause = "priority 7 carries ACKs and notifications and is never paused".to_owned();
            return Err(ConfigError::new("buffer.lossless".to_owned(), cause, "name priorities from 0 to 6"));
        }
        if buffer.pool_bytes(&self.ports).unwrap_or(0) == 0 {
            let cause = format!("reserves and headrooms take all of {} bytes", buffer.bytes);
            let remedy = "enlarge the buffer, or lower headroom and reserve";
            return Err(ConfigError::new("buffer.bytes".to_owned(), cause, remedy));
        }
        Ok(())
    }
}

/// Takes a port number that nobody else has.
fn take(seen: &mut [bool], port: u32, place: &str) -> Result<(), ConfigError> {
    let Some(taken) = seen.get_mut(port as usize) else {
        let cause = format!("port {port} does not fit v1model's 9 bits");
        return Err(ConfigError::new(place.to_owned(), cause, "give a number from 0 to 511"));
    };
    if core::mem::replace(taken, true) {
        let cause = format!("port {port} is used twice");
        let remedy = "ports, the CPU port and the drop port each need a different number";
        return Err(ConfigError::new(place.to_owned(), cause, remedy));
    }
    Ok(())
}

impl PortConfig {
    fn check(&self, index: usize) -> Result<(), ConfigError> {
        if self.rate.as_bps() == 0 {
            let place = format!("ports[{index}].rate_bps");
            return Err(ConfigError::new(place, "a port of rate 0 never sends".to_owned(), "give 1 or more"));
        }
        if !(1..=MAX_QUEUE_PKTS).contains(&self.capacity_pkts) {
            let cause = format!("{} packets are out of range", self.capacity_pkts);
            let place = format!("ports[{index}].capacity_pkts");
            return Err(ConfigError::new(place, cause, "give a capacity from 1 to 524287"));
        }
        let bytes = self.headroom_bytes.max(self.capacity_bytes.unwrap_or(1));
        if bytes > MAX_BUFFER_BYTES || self.capacity_bytes == Some(0) {
            let place = format!("ports[{index}].capacity_bytes, headroom_bytes");
            let cause = "a number of bytes is out of range".to_owned();
            return Err(ConfigError::new(place, cause, "give a capacity from 1, a headroom from 0 to 2^40"));
        }
        if self.alpha_log2.unsigned_abs() > MAX_ALPHA_LOG2.unsigned_abs() {
            let place = format!("ports[{index}].alpha_log2");
            let cause = format!("{} is out of range", self.alpha_log2);
            return Err(ConfigError::new(place, cause, "give -10 to 10; the ns-3 simulator's is -3"));
        }
        if self.framing_bytes > MAX_FRAMING_BYTES {
            let cause = format!("{} bytes a packet are out of range", self.framing_bytes);
            let place = format!("ports[{index}].framing_bytes");
            return Err(ConfigError::new(place, cause, "give 0 to 256; Ethernet's are 24 or 38"));
        }
        if self.shapers.iter().flatten().any(|shaper| shaper.rate.as_bps() == 0) {
            let cause = "a queue of rate 0 never sends".to_owned();
            return Err(ConfigError::new(format!("ports[{index}].shapers"), cause, "give 1 or more"));
        }
        self.scheduler.check(&format!("ports[{index}].scheduler"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(port: u32) -> PortConfig {
        PortConfig { port, rate: Rate::from_bps(1), capacity_pkts: 1, ..PortConfig::default() }
    }

    fn message(ports: Vec<PortConfig>, cpu_port: Option<u32>) -> String {
        let config = SwitchConfig {
            device_id: 1,
            ports,
            buffer: None,
            timestamp_unit: TimestampUnit::Us,
            cpu_port,
            drop_port: DEFAULT_DROP_PORT,
            seed: 0,
            pass_limit: DEFAULT_PASS_LIMIT,
            deflect_on_drop: false,
        };
        config.check().map_or_else(|error| error.to_string(), |()| "fine".to_owned())
    }

    #[test]
    fn every_bound_names_its_place() {
        assert_eq!(message(vec![port(0), port(1)], Some(510)), "fine");
        let usual = SchedulerConfig::default();
        let scheduled = |scheduler| message(vec![PortConfig { scheduler, ..port(1) }], None);
        for (got, want) in [
            (message(vec![port(512)], None), "ports[0].port: port 512 does not fit"),
            (message(vec![port(1), port(1)], None), "ports[1].port: port 1 is used twice"),
            (message(vec![port(511)], None), "ports[0].port: port 511 is used twice"),
            (message(vec![port(7)], Some(7)), "ports[0].port: port 7 is used twice"),
            (message(vec![PortConfig { rate: Rate::default(), ..port(1) }], None), "ports[0].rate_bps: "),
            (message(vec![PortConfig { capacity_pkts: 0, ..port(1) }], None), "ports[0].capacity_pkts: 0"),
            (
                message(vec![PortConfig { framing_bytes: 257, ..port(1) }], None),
                "ports[0].framing_bytes: 257",
            ),
            (scheduled(SchedulerConfig { levels: [8; 8], ..usual }), "ports[0].scheduler.levels: level 8"),
            (scheduled(SchedulerConfig { weights: [0; 8], ..usual }), "ports[0].scheduler.weights: weight 0"),
            (
                scheduled(SchedulerConfig { quantum_bytes: 255, ..usual }),
                "ports[0].scheduler.quantum_bytes: 255 bytes",
            ),
        ] {
            assert!(got.starts_with(want), "{got}");
        }
    }
}
