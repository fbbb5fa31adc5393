//! Packets of the user's own: a host sends given bytes at given times.
//!
//! A source goes round its frames: each one stands for the time until the next. Nothing is drawn at random,
//! and bytes are sent as they are given: a host adds no header.

use p4cc_switch::MAX_PACKET_BYTES;
use p4cc_transport::wire::TrafficClass;
use p4cc_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::describe::{MAX_TIME_NS, Resolver, in_range};
use crate::error::{SpecError, refuse};

/// Most frames of a source.
pub const MAX_FRAMES: usize = 100_000;
/// Most bytes of all frames of all sources, zeros at their ends not counted.
pub const MAX_FRAME_BYTES: usize = 64 << 20;
/// Most sources.
pub const MAX_SOURCES: usize = 16_384;
/// Most packets of a source.
pub const MAX_OWN_PACKETS: u64 = 1 << 40;

/// One host that sends the user's packets.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketsSpec {
    /// Label for results.
    pub name: String,
    /// Name of the host.
    pub host: String,
    /// What it sends, in turn.
    pub frames: Vec<FrameSpec>,
    /// Packets in all; after the last frame comes the first again.
    pub count: u64,
    /// When the first one is due.
    #[serde(default)]
    pub start_ns: u64,
    /// None is due at this time or later.
    pub end_ns: u64,
    /// Class that PFC (IEEE 802.1Qbb) pauses it by, 0 to 7.
    #[serde(default)]
    pub priority: u8,
}

/// One packet from its first byte on, and when the next one is due.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameSpec {
    /// Two hexadecimal digits a byte.
    pub hex: String,
    /// Zero bytes behind them.
    #[serde(default)]
    pub zeros: u32,
    /// From the time this one is due to the time the next one is.
    #[serde(default)]
    pub gap_ps: u64,
}

/// A source, resolved.
#[derive(Clone, Debug)]
pub(crate) struct PacketsPlan {
    pub name: String,
    pub host: u32,
    /// Its place among the sources of its host.
    pub slot: u32,
    pub frames: Vec<Frame>,
    pub count: u64,
    pub start: Time,
    pub end: Time,
    pub class: TrafficClass,
}

/// A frame, resolved.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub head: Box<[u8]>,
    pub zeros: u32,
    pub gap: Span,
}

impl PacketsPlan {
    /// All sources of a description.
    pub fn all(specs: &[PacketsSpec], resolver: &Resolver<'_>) -> Result<Vec<Self>, SpecError> {
        in_range("packets", specs.len() as u64, 0, MAX_SOURCES as u64)?;
        let mut plans: Vec<Self> = Vec::with_capacity(specs.len());
        let mut bytes = 0;
        for (index, spec) in specs.iter().enumerate() {
            let mut plan = Self::new(index, spec, &mut bytes, resolver)?;
            plan.slot = plans.iter().filter(|other| other.host == plan.host).count() as u32;
            plans.push(plan);
        }
        Ok(plans)
    }

    fn new(
        index: usize,
        spec: &PacketsSpec,
        bytes: &mut usize,
        resolver: &Resolver<'_>,
    ) -> Result<Self, SpecError> {
        let at = |key: &str| format!("packets[{index}].{key}");
        in_range(&at("frames"), spec.frames.len() as u64, 1, MAX_FRAMES as u64)?;
        in_range(&at("count"), spec.count, 1, MAX_OWN_PACKETS)?;
        in_range(&at("start_ns"), spec.start_ns, 0, MAX_TIME_NS)?;
        in_range(&at("end_ns"), spec.end_ns, spec.start_ns, MAX_TIME_NS)?;
        let mut frames = Vec::with_capacity(spec.frames.len());
        for (place, frame) in spec.frames.iter().enumerate() {
            let frame = frame_plan(&at(&format!("frames[{place}]")), frame)?;
            *bytes += frame.head.len();
            if *bytes > MAX_FRAME_BYTES {
                let cause = format!("all frames have more than {MAX_FRAME_BYTES} bytes");
                return refuse(at("frames"), cause, "send fewer or shorter packets");
            }
            frames.push(frame);
        }
        if spec.count > frames.len() as u64 && frames.iter().all(|frame| frame.gap == Span::ZERO) {
            let cause =
                format!("{} packets are due at one instant, from {} frames", spec.count, frames.len());
            return refuse(at("count"), cause, "give a gap_ps, or as many frames");
        }
        Ok(Self {
            name: spec.name.clone(),
            host: resolver.host(&at("host"), &spec.host)?,
            slot: 0,
            frames,
            count: spec.count,
            start: Time::from_ns(spec.start_ns),
            end: Time::from_ns(spec.end_ns),
            class: resolver.priority(&at("priority"), spec.priority)?,
        })
    }
}

fn frame_plan(path: &str, spec: &FrameSpec) -> Result<Frame, SpecError> {
    let head = from_hex(&spec.hex).ok_or_else(|| {
        SpecError::new(format!("{path}.hex"), "these are not bytes", "write two hexadecimal digits a byte")
    })?;
    let length = head.len() as u64 + u64::from(spec.zeros);
    in_range(&format!("{path}.zeros"), length, 1, u64::from(MAX_PACKET_BYTES))
        .map_err(|error| SpecError { cause: format!("the packet has {length} bytes"), ..error })?;
    in_range(&format!("{path}.gap_ps"), spec.gap_ps, 0, MAX_TIME_NS * 1_000)?;
    Ok(Frame { head: head.into(), zeros: spec.zeros, gap: Span::from_ps(spec.gap_ps) })
}

/// Bytes from pairs of digits.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some((digit(high)? * 16 + digit(low)?) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bytes_are_pairs_of_digits() {
        assert_eq!(from_hex("00fF1a"), Some(vec![0, 0xff, 0x1a]));
        assert_eq!(from_hex(""), Some(Vec::new()));
        for bad in ["0", "0g", "+1", "0x", " 1", "é"] {
            assert_eq!(from_hex(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_bytes_or_none(text in ".{0,40}") {
            let written = from_hex(&text)
                .map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
            prop_assert!(written.is_none_or(|written| written == text.to_lowercase()));
        }
    }
}
