//! PINT between a sender and its ACKs: which packets carry the byte, what it does to the window, and values
//! that are refused (docs/algorithms/hpcc.md#pint-sender).

use p4cc_transport::AckFields;
use p4cc_transport::rdma::{RdmaConfig, RdmaSender};
use p4cc_transport::wire::{Extension, ExtensionType, Flags};
use p4cc_units::{Span, Time};

use super::rdma::{LINE, config};

fn pint(table: &str) -> RdmaConfig {
    config(&format!(r#"{{"base_rtt_ns":13000,"rto_ns":1000000{table},"cc":{{"name":"hpcc_pint"}}}}"#))
}

fn sender(table: &str) -> RdmaSender {
    let mut sender = RdmaSender::new(&pint(table), LINE, Some(50_000_000)).expect("a valid configuration");
    sender.start(Time::ZERO);
    sender
}

/// Acknowledges `ack` bytes with this extension; the window in segments after it.
fn window(sender: &mut RdmaSender, now: Time, ack: u32, extension: &Extension<'_>) -> f64 {
    sender.on_ack(now, &AckFields { ack, ..AckFields::default() }, Flags::NONE, extension, Span::ZERO);
    sender.snapshot().cwnd_segments
}

/// 10 Gb/s for 13 us are 16.25 packets; 1.05^142 / 512 is twice 0.997, and eta of 0.95 over it 0.476.
#[test]
fn the_byte_of_an_ack_moves_the_window() {
    let mut sender = sender(r#","pint":{"log_base":1.05}"#);
    let mut sent = 0;
    for us in 0..100 {
        while let Some((segment, extension)) = sender.take(Time::from_us(us)) {
            assert_eq!((extension.kind, extension.bytes), (ExtensionType::PINT, &[0_u8][..]));
            sent += segment.len;
        }
    }
    assert!(sent > 10_000, "{sent}");
    let busy = Extension { kind: ExtensionType::PINT, bytes: &[142] };
    let now = Time::from_us(110);
    assert_eq!(window(&mut sender, now, 1_000, &busy), 16.25, "the first only begins a round");
    let plain = window(&mut sender, now, 2_000, &Extension::NONE);
    assert_eq!(plain, 16.25, "an ACK without the byte says nothing");
    let records = Extension { kind: ExtensionType::INT_HPCC, bytes: &[142] };
    assert_eq!(window(&mut sender, now, 2_000, &records), 16.25, "nor does another extension");
    let cut = window(&mut sender, now, 3_000, &busy);
    let want = 16.25 * 0.95 / (1.05_f64.powi(142) / 512.0) + 0.0065;
    assert!((cut - want).abs() < 1e-9, "{cut} in place of {want}");
}

#[test]
fn a_share_of_packets_carries_the_byte() {
    let count = |seed| {
        let mut sender = sender(r#","pint":{"log_base":1.05,"share":0.25}"#);
        sender.choose_pint(seed);
        let (mut now, mut carried) = (Time::ZERO, Vec::new());
        let mut ack = 0;
        while carried.len() < 4_000 {
            now += Span::from_us(1);
            while let Some((segment, extension)) = sender.take(now) {
                carried.push(extension.kind == ExtensionType::PINT);
                ack += segment.len;
            }
            window(&mut sender, now, ack, &Extension::NONE);
        }
        carried
    };
    let (one, other) = (count(1), count(2));
    let share = one.iter().filter(|carries| **carries).count() as f64 / one.len() as f64;
    // Five standard deviations of 4,000 draws.
    assert!((share - 0.25).abs() < 0.035, "{share}");
    assert_ne!(one, other, "each flow draws by itself");
    assert_eq!(one, count(1));
}

#[test]
fn what_cannot_be_used_is_named() {
    for (table, place) in [
        ("", "pint"),
        (r#","pint":{"log_base":1.04}"#, "pint.log_base"),
        (r#","pint":{"log_base":2.5}"#, "pint.log_base"),
        (r#","pint":{"log_base":1.05,"share":0}"#, "pint.share"),
        (r#","pint":{"log_base":1.05,"share":1.5}"#, "pint.share"),
    ] {
        let refused = pint(table).validate(LINE).expect_err("refused");
        assert_eq!(refused.place, place);
        assert!(!refused.cause.is_empty() && !refused.remedy.is_empty());
    }
}
