//! Bursts of segmentation offload (docs/algorithms/window.md#kernel-sender).

use p4cc_transport::{AckFields, Action, Actions, WindowSender};
use p4cc_units::Time;

use crate::pair::config;

const MSS: u32 = 1_000;

/// Segments that leave at the start and with each of `acks` ACKs of one segment, with a window of 30.
fn sent_with_each_ack(tso: &str, flow_bytes: Option<u64>, acks: u32) -> Vec<usize> {
    let json =
        format!(r#"{{"mss_bytes":{MSS},"iw":30,"ssthresh0":30,"rwnd":30,"grow_beyond_rwnd":false{tso}}}"#);
    let mut sender = WindowSender::new(&config(&json), flow_bytes).expect("a valid sender");
    let mut out = Actions::new();
    let mut counts = Vec::new();
    for ack in 0..=acks {
        out.clear();
        match ack {
            0 => sender.start(Time::ZERO, &mut out),
            _ => {
                let fields = AckFields { ack: ack * MSS, ..AckFields::default() };
                sender.on_ack(Time::from_us(u64::from(ack)), &fields, &mut out);
            }
        }
        counts.push(out.actions().iter().filter(|action| matches!(action, Action::Send(_))).count());
    }
    counts
}

#[test]
fn a_burst_waits_until_it_is_whole_or_a_third_of_the_window() {
    assert_eq!(sent_with_each_ack("", None, 5), [30, 1, 1, 1, 1, 1]);
    // Four segments: the 30 leave as seven bursts, the last two wait for two more.
    assert_eq!(sent_with_each_ack(r#","tso_bytes":4999"#, None, 6), [28, 0, 4, 0, 0, 0, 4]);
    // 64 KiB are more than a third of the window, which then decides.
    let sent = sent_with_each_ack(r#","tso_bytes":65536"#, None, 20);
    assert_eq!((sent[0], sent[10], sent[20], sent.iter().sum::<usize>()), (30, 10, 10, 50));
}

#[test]
fn the_end_of_a_flow_does_not_wait() {
    assert_eq!(sent_with_each_ack(r#","tso_bytes":65536"#, Some(32_000), 4), [30, 0, 2, 0, 0]);
}
