//! Captured ends of links, resolved: each has a channel that leaves there and one that arrives.

use std::collections::BTreeMap;

use p4cc_switch::MAX_PACKET_BYTES;

use crate::describe::limits::{MAX_CAPTURE_BYTES, MAX_CAPTURE_COMMENT_BYTES, MIN_CAPTURE_BYTES, in_range};
use crate::describe::spec::{LinkSpec, PcapSpec};
use crate::error::{SpecError, refuse};

/// Bounds of one capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CaptureLimits {
    /// First bytes of each packet that are kept.
    pub snap_bytes: u32,
    /// Bytes of the file.
    pub max_bytes: u64,
}

/// A captured end of a link.
#[derive(Clone, Debug)]
pub(crate) struct CapturePlan {
    pub node: String,
    pub port: u32,
    /// Channel that begins there.
    pub leaving: u32,
    /// Channel that ends there.
    pub arriving: u32,
}

/// The captured ends, in the order of the description.
///
/// # Errors
/// A bound out of range, or the first end that no link has or that stands there twice.
pub(crate) fn plans(pcap: &PcapSpec, links: &[LinkSpec]) -> Result<Vec<CapturePlan>, SpecError> {
    check_bounds(pcap)?;
    let mut channels = BTreeMap::new();
    for (link, first) in links.iter().zip((0_u32..).step_by(2)) {
        channels.insert((link.a.node.as_str(), link.a.port), (first, first + 1));
        channels.insert((link.b.node.as_str(), link.b.port), (first + 1, first));
    }
    let ends = pcap.ends.iter().enumerate().map(|(i, end)| {
        // A channel is taken out, so that an end that stands there twice is not found again.
        let (leaving, arriving) = channels.remove(&(end.node.as_str(), end.port)).ok_or_else(|| {
            let cause = format!("no link ends at {}:{}, or it was named before", end.node, end.port);
            let remedy = "name each node and port once; the port of a host is 0";
            SpecError::new(format!("record.pcap.ends[{i}]"), cause, remedy)
        })?;
        Ok(CapturePlan { node: end.node.clone(), port: end.port, leaving, arriving })
    });
    ends.collect()
}

fn check_bounds(pcap: &PcapSpec) -> Result<(), SpecError> {
    in_range("record.pcap.snap_bytes", pcap.snap_bytes.into(), 1, MAX_PACKET_BYTES.into())?;
    in_range("record.pcap.max_bytes", pcap.max_bytes, MIN_CAPTURE_BYTES, MAX_CAPTURE_BYTES)?;
    in_range("record.pcap.comment", pcap.comment.len() as u64, 0, MAX_CAPTURE_COMMENT_BYTES)?;
    let ends = pcap.ends.len() as u64;
    let bytes = pcap.max_bytes.saturating_mul(ends);
    if bytes > MAX_CAPTURE_BYTES {
        let cause = format!("{ends} captures may take {bytes} bytes");
        let remedy = format!("capture fewer ends or bytes: at most {MAX_CAPTURE_BYTES} bytes together");
        return refuse("record.pcap.max_bytes", cause, remedy);
    }
    Ok(())
}
