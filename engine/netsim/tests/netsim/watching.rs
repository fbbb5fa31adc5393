//! Whoever watches a run: looks that agree with its tables, stops at news, packets followed by a switch. None
//! of it changes what happens.

use p4cc_netsim::{Network, News, Results, RunOptions};
use p4cc_units::{Span, Time};

use crate::columns::u64s;
use crate::support::{Incast, incast};

/// An incast that marks, and drops at 12 packets.
fn network() -> Network {
    let network = incast(&Incast {
        senders: 6,
        size_bytes: 120_000,
        start_jitter_ns: 5_000,
        buffer_pkts: 12,
        k: 3,
        k_dc: 8,
        algorithm: r#"{"cc": {"congestion_avoidance": {"name": "dctcp"}}, "ecn_profile": "gst", "rto_min_ns": 5000000}"#,
        record: r#"{"queues_interval_ns": 3000}"#,
    });
    network.fork(7).expect("a fork")
}

fn until_news(network: &mut Network, until: Time, news: News) -> bool {
    let found = network.run(RunOptions { stop_at_news: Some(news), ..RunOptions::until(until) });
    found.expect("few events")
}

fn sum(results: &Results, table: &str, column: &str) -> u64 {
    u64s(results, table, column).iter().sum()
}

#[test]
fn a_look_agrees_with_the_tables() {
    let mut network = network();
    network.run(RunOptions::until(Time::from_ns(400_000))).expect("few events");
    let (look, results) = (network.look(&[1, 99, 3], 2), network.results());
    let summary = &results.summary;
    assert!(summary.drops > 0 && summary.marks_level1 > 0 && summary.marks_level2 > 0, "{summary:?}");
    assert_eq!((look.drops, look.packet_hops), (summary.drops, summary.packet_hops));
    assert_eq!(look.marks, [summary.marks_level1, summary.marks_level2]);
    assert_eq!((look.flows_finite, look.flows_completed), (6, summary.flows_completed));
    assert_eq!(look.dropped_pkts.iter().sum::<u64>(), sum(&results, "ports", "dropped_pkts"));
    assert_eq!(look.link_bytes.iter().sum::<u64>(), sum(&results, "links", "bytes"));
    assert_eq!(look.depth_pkts.len(), 7);
    assert_eq!(look.flows.iter().map(|flow| flow.id).collect::<Vec<_>>(), [1, 3]);
    assert_eq!((look.first_active.as_slice(), look.flows_active), (&[1, 2][..], 6));
    assert!(look.flows.iter().all(|flow| flow.cwnd_segments.is_some() && flow.rate_bps.is_none()));
    assert_eq!(network.flow_results().tables, [results.table("flows").expect("it is there").clone()]);
}

#[test]
fn a_run_stops_at_the_first_drop_and_the_first_mark() {
    for (news, mut count) in [
        (
            News::Drop,
            Box::new(|network: &Network| network.look(&[], 0).drops) as Box<dyn FnMut(&Network) -> u64>,
        ),
        (News::Mark, Box::new(|network: &Network| network.look(&[], 0).marks.iter().sum())),
    ] {
        let mut stopped = network();
        assert!(until_news(&mut stopped, Time::MAX, news), "there is {news:?}");
        let at = stopped.now();
        assert!(count(&stopped) > 0);
        let mut before = network();
        before.run(RunOptions::until(Time::from_ps(at.as_ps() - 1))).expect("few events");
        assert_eq!(count(&before), 0, "nothing is missed before {news:?}");
    }
}

#[test]
fn without_news_a_run_goes_on_to_the_instant() {
    let mut network = network();
    assert!(!until_news(&mut network, Time::from_ns(300_000), News::Pause));
    assert_eq!(network.now(), Time::from_ns(300_000));
    assert!(!until_news(&mut network, Time::MAX, News::Pause));
    assert!(network.has_ended());
}

#[test]
fn a_switch_tells_what_it_did_with_the_next_packets() {
    let mut network = network();
    network.run(RunOptions::until(Time::from_ns(250_000))).expect("few events");
    assert!(network.follow_next(0, 3));
    assert!(until_news(&mut network, Time::MAX, News::Followed(0, 3)));
    let lines = network.take_followed(0, 3);
    let of =
        |packet: u64| lines.iter().filter(move |line| line.starts_with(&format!("{{\"packet\":{packet},")));
    for packet in 1..=3 {
        assert!(of(packet).next().is_some_and(|line| line.contains(r#""step":"received""#)), "{lines:#?}");
        assert!(of(packet).any(|line| line.contains("thresholds") || line.contains("dropped")), "{lines:#?}");
    }
    assert_eq!(of(4).count(), 0);
    for part in [r#""step":"changed""#, r#""entry":{"keys":["#] {
        assert!(lines.iter().any(|line| line.contains(part)), "{lines:#?}");
    }
    assert!(network.take_followed(0, 3).is_empty(), "it follows none any more");
}

#[test]
fn watching_leaves_no_trace() {
    let mut whole = network();
    whole.run(RunOptions::default()).expect("few events");
    let mut watched = network();
    let kinds = [News::Drop, News::Mark, News::Pause, News::Followed(0, 2)];
    for news in kinds.into_iter().cycle() {
        if watched.has_ended() {
            break;
        }
        if matches!(news, News::Followed(..)) {
            watched.follow_next(0, 2);
        }
        let until = watched.now() + Span::from_ns(30_000);
        until_news(&mut watched, until, news);
        watched.look(&[1, 2], 3);
        watched.take_followed(0, 2);
    }
    // As text: what there is no number for is no number equal to itself.
    assert_eq!(format!("{:?}", whole.results()), format!("{:?}", watched.results()));
}
