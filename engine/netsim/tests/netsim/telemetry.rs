//! Hop records against the simulator's own counts: two switches, two senders, every record of every packet.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use p4cc_netsim::{Network, RunOptions};
use p4cc_switch::{Packet, PortCounters};
use p4cc_units::Time;

use crate::fabrics::{Fabric, HEADROOM_BYTES};

/// Ethernet, IPv4, UDP, transport header (docs/reference/wire-format.md); the
/// shim of two bytes and the records follow.
const EXTENSION: usize = 14 + 20 + 8 + 36;
const SHIM: usize = 2;
const ETHERNET: u64 = 14;
/// `UNIT_SHIFT` of the fabric, and cells of 80 B of a full packet, which its headers and records leave at 14.
const UNIT_SHIFT: u32 = 2;
const CELLS: u32 = 14;
const RECEIVER: usize = 2;

/// A record of a data packet: where it was written, the packet's IPv4 length there, and its fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Record {
    device_id: u64,
    ip_bytes: u64,
    timestamp_ns: u64,
    tx_units: u64,
    queue_units: u64,
}

/// Two hosts at the first switch send to one at the second, by one trunk: both ports have queues.
fn network(flows: &[(usize, usize, u64, u64)]) -> Network {
    Fabric {
        program: "int_hpcc.p4",
        hosts_at: &[0, 0, 1, 1],
        trunks: &[(0, 1)],
        next: |_, to| to,
        buffer_bytes: 32 << 20,
        headroom_bytes: HEADROOM_BYTES,
        lossless: &[3],
        cc: r#"{"name":"hpcc"}"#,
        more: serde_json::Value::Null,
        flows,
        record: serde_json::json!({}),
        stop_ns: 10_000_000,
    }
    .build()
}

/// The records of a data packet that arrived, the latest switch's first.
fn records(packet: &Packet) -> Vec<Record> {
    let number = |at: usize, bytes: usize| {
        packet.head[at..at + bytes].iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    let (ip_bytes, extension) = (number(16, 2), packet.head.len() - EXTENSION);
    let hops = (extension - SHIM) / 8;
    (0..hops)
        .map(|hop| {
            let word = number(EXTENSION + SHIM + 8 * hop, 8);
            Record {
                // The last switch's record comes first, and the last switch is the second.
                device_id: 2 - hop as u64,
                ip_bytes: ip_bytes - 8 * hop as u64,
                timestamp_ns: word >> 36 & 0xff_ffff,
                tx_units: word >> 16 & 0xf_ffff,
                queue_units: word & 0xffff,
            }
        })
        .collect()
}

fn counters(network: &Network, record: &Record) -> PortCounters {
    let switch = network.switch(record.device_id).expect("a switch");
    switch.observation().port_counters(port_of(record)).expect("a port")
}

/// The trunk of the first switch, the receiver's port of the second.
fn port_of(record: &Record) -> u32 {
    if record.device_id == 1 { 3 } else { 1 }
}

/// Runs the network on, picosecond by picosecond within the nanosecond of these records, and compares each at
/// the instant at which its port sent; gives the queues found.
fn compare(network: &mut Network, records: &[Record]) -> Vec<(u64, u32)> {
    let timestamp_ns = records[0].timestamp_ns;
    let start = Time::from_ns(timestamp_ns).as_ps();
    network.run(RunOptions::until(Time::from_ps(start - 1))).expect("few events");
    let mut due: Vec<(Record, u64)> =
        records.iter().map(|record| (*record, counters(network, record).tx_pkts)).collect();
    let mut found = Vec::new();
    for ps in start..start + 1_000 {
        network.run(RunOptions::until(Time::from_ps(ps))).expect("few events");
        due.retain(|(record, before)| {
            let sent = counters(network, record);
            if sent.tx_pkts == *before {
                return true;
            }
            // The switch counts frames, records count IP bytes, as links do.
            let sent_before = sent.tx_bytes - ETHERNET * sent.tx_pkts - record.ip_bytes;
            let waiting = network
                .switch(record.device_id)
                .map_or(0, |switch| switch.observation().port_depth_pkts(port_of(record)));
            assert_eq!(record.tx_units, sent_before >> 7 >> UNIT_SHIFT, "{record:?}");
            assert_eq!(record.queue_units, u64::from((waiting * CELLS) >> UNIT_SHIFT), "{record:?}");
            found.push((record.device_id, waiting));
            false
        });
        if due.is_empty() {
            return found;
        }
    }
    panic!("no departure within the nanosecond of {due:?}");
}

/// Issue: "a two-hop check of the INT record against the simulator's own queue and byte counts: exact".
#[test]
fn records_are_the_simulators_own_counts() {
    // The third flow meets the others at the last port only.
    let flows = [(0, 2, 60_000, 1_000), (1, 2, 60_000, 1_313), (3, 2, 60_000, 2_417)];
    let seen: Arc<Mutex<Vec<Record>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let mut first = network(&flows);
    first.set_tap(Box::new(move |_, host, packet| {
        if host == RECEIVER && packet.zeros > 0 {
            let mut all = sink.lock().expect("one thread");
            all.extend(records(packet));
        }
    }));
    first.run(RunOptions::until(Time::from_us(1_000))).expect("few events");
    assert_eq!(first.progress().flows_completed, 3);
    let mut all = seen.lock().expect("one thread").clone();
    // Packets of the third flow pass the second switch only.
    assert_eq!(all.len(), 60 * 2 * 2 + 60);

    // The same run again, stopped at each departure: what the simulator counts is what the record says.
    all.sort_by_key(|record| record.timestamp_ns);
    let mut again = network(&flows);
    let mut deepest = BTreeMap::from([(1_u64, 0_u32), (2, 0)]);
    for records in all.chunk_by(|one, next| one.timestamp_ns == next.timestamp_ns) {
        for (device_id, waiting) in compare(&mut again, records) {
            let most = deepest.entry(device_id).or_default();
            *most = waiting.max(*most);
        }
    }
    assert!(deepest.values().all(|&most| most > 5), "both ports had queues: {deepest:?}");
}
