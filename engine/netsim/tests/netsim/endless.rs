//! A program that copies and recirculates without end: the run ends all the same, and says what it dropped.

use std::path::Path;

use p4cc_netsim::RunOptions;
use p4cc_switch::{DropCause, MulticastGroup, Replica};

use crate::columns::u64s;
use crate::support::{Incast, compile, incast};

#[test]
fn packets_that_multiply_end_and_are_counted() {
    let mut network = incast(&Incast {
        senders: 2,
        size_bytes: 20_000,
        start_jitter_ns: 0,
        buffer_pkts: 100,
        k: 10,
        k_dc: 10,
        algorithm: r#"{"iw": 3}"#,
        record: "{}",
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/netsim/endless.p4");
    let switch = network.switch_mut(1).expect("the switch");
    switch.control().set_pipeline(compile(&path));
    let replicas = (1..=3).map(|port| Replica::new(port, 1)).collect();
    let group = MulticastGroup { id: 1, replicas, metadata: Vec::new() };
    switch.control().pre_mut().insert_group(group).expect("a right group");
    let limit = u64::from(switch.config().pass_limit);
    network.run(RunOptions::default()).expect("few events");
    assert!(network.has_ended());
    let balance = network.packet_balance();
    assert!(balance.is_even() && balance.waiting == 0, "{balance:?}");
    let counters = *network.switch(1).expect("the switch").observation().counters();
    let dropped = counters.drops.of(DropCause::PassLimit);
    assert!(dropped > 0 && counters.caused() - dropped.min(counters.copies) <= counters.received * limit);
    let results = network.results();
    assert_eq!((results.summary.pass_limit_drops, results.summary.flows_completed), (dropped, 0));
    let of_queues = u64s(&results, "port_queues", "dropped_pass_limit");
    assert_eq!(of_queues.iter().sum::<u64>(), dropped);
}
