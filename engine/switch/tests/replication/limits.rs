//! What one received packet may cause, and what becomes of packets for ports without an interface.

use p4cc_switch::{DropCause, ExecChoice, MulticastGroup, PauseFrame, Replica, Switch, Transmission};
use p4cc_units::Time;
use proptest::prelude::*;

use super::{CPU_PORT, DEFAULT_PASS_LIMIT, drain, is_conserved, limited, packet, seen, session};

/// Operations that cause copies or passes for ever: resubmission, recirculation,
/// multicast and recirculation, clones from egress and recirculation, clones
/// from ingress and resubmission, and the like at a port without an interface.
const ENDLESS: [(u8, u16); 7] = [(5, 2), (11, 2), (12, 2), (13, 2), (14, 2), (16, 77), (16, CPU_PORT as u16)];

/// A switch with a group of `copies` replicas, one of them at
/// a port without an interface, and sessions to ports 1 and 2.
fn hostile(pass_limit: u32, copies: u32, exec: ExecChoice) -> Switch {
    let mut switch = limited(None, pass_limit);
    switch.control().set_exec(exec);
    let ports = [2, 77, 1, 3, CPU_PORT];
    let replica = |instance: u32| Replica::new(ports[instance as usize % 5], instance as u16);
    let group = MulticastGroup { id: 2, replicas: (0..copies).map(replica).collect(), metadata: Vec::new() };
    switch.control().pre_mut().insert_group(group).expect("a right group");
    for (id, port) in [(2, 2), (7, 1)] {
        switch.control().pre_mut().insert_session(session(id, port, 0)).expect("a right session");
    }
    switch
}

/// Serves the ports until nothing waits; how many calls that took.
fn serve(switch: &mut Switch) -> u64 {
    let mut calls = 0;
    while let Some(port) = switch.next_ready() {
        while let Some(Transmission { .. }) = switch.transmit(Time::ZERO, port) {
            calls += 1;
        }
        calls += 1;
    }
    let none: Option<PauseFrame> = switch.next_pause_frame();
    assert!(
        none.is_none() && switch.observation().waiting() == 0 && is_conserved(switch),
        "{:?}",
        switch.observation().counters()
    );
    calls
}

/// Copies and passes that were made, without those that the limit refused.
fn made(switch: &Switch) -> u64 {
    let counters = switch.observation().counters();
    // What is refused of copies is counted as made and dropped; a refused pass is dropped only.
    counters.resubmitted + counters.recirculated + counters.copies
        - counters.drops.of(DropCause::PassLimit).min(counters.copies)
}

#[test]
fn loops_end_where_the_limit_says() {
    for op in [5, 11] {
        for limit in [1, 64, DEFAULT_PASS_LIMIT] {
            let mut switch = limited(None, limit);
            switch.receive(Time::ZERO, 3, packet(op, 2));
            serve(&mut switch);
            let counters = switch.observation().counters();
            assert_eq!((counters.sent, counters.drops.of(DropCause::PassLimit)), (0, 1));
            assert_eq!(counters.resubmitted + counters.recirculated, u64::from(limit));
        }
    }
}

#[test]
fn a_packet_that_multiplies_ends_and_is_counted_at_its_ports() {
    for (op, arg) in ENDLESS {
        let mut switch = hostile(DEFAULT_PASS_LIMIT, 4, ExecChoice::NativeWhenBusy);
        switch.receive(Time::ZERO, 3, packet(op, arg));
        let calls = serve(&mut switch);
        let drops = switch.observation().counters().drops;
        assert!(drops.of(DropCause::PassLimit) > 0, "operation {op}");
        assert!(
            made(&switch) <= u64::from(DEFAULT_PASS_LIMIT),
            "operation {op}: {:?}",
            switch.observation().counters()
        );
        assert!(calls <= 2 * u64::from(DEFAULT_PASS_LIMIT), "operation {op}: {calls} calls");
        let of_ports = [1, 2, 3].map(|port| {
            let counters = switch.observation().port_counters(port).expect("the port");
            counters.queues.iter().map(|queue| queue.dropped.of(DropCause::PassLimit)).sum::<u64>()
        });
        // A pass from a port without an interface is of no port.
        assert!(arg >= 77 || of_ports.iter().sum::<u64>() > 0, "operation {op}: {of_ports:?}");
        // The next packet has a budget of its own.
        switch.receive(Time::ZERO, 3, packet(15, 77));
        assert_eq!(drain(&mut switch).len(), 1);
    }
}

#[test]
fn a_call_leaves_what_is_much_for_the_next_one() {
    let mut switch = hostile(DEFAULT_PASS_LIMIT, 1, ExecChoice::Interp);
    for _ in 0..4 {
        // Each causes as many passes as it may, at port 1.
        switch.receive(Time::ZERO, 3, packet(11, 0));
    }
    assert_eq!(switch.next_ready(), Some(1));
    let before = switch.observation().counters().caused();
    assert!(switch.transmit(Time::ZERO, 1).is_none());
    let caused = switch.observation().counters().caused() - before;
    assert!(caused <= 2 * 4_096, "{caused} passes in one call");
    let ready: Vec<u32> = core::iter::from_fn(|| switch.next_ready()).collect();
    assert!(ready.contains(&1), "the port is ready again");
    while switch.observation().waiting() > 0 {
        assert!(switch.transmit(Time::ZERO, 1).is_none());
    }
    serve(&mut switch);
    assert_eq!(switch.observation().counters().recirculated, 4 * u64::from(DEFAULT_PASS_LIMIT));
}

#[test]
fn egress_runs_for_a_port_without_an_interface() {
    for exec in [ExecChoice::Interp, ExecChoice::Native] {
        let mut switch = hostile(DEFAULT_PASS_LIMIT, 2, exec);
        // Recirculated from there to port 2.
        switch.receive(Time::ZERO, 3, packet(15, 77));
        let out = drain(&mut switch);
        assert_eq!((out.len(), out[0].0, seen(&out[0].1).arg), (1, 2, 2));
        assert_eq!(
            (switch.observation().counters().recirculated, switch.observation().counters().drops.total()),
            (1, 0)
        );
        // Without more ado it is dropped behind egress, with its name.
        switch.receive(Time::ZERO, 3, packet(0, 77));
        assert!(drain(&mut switch).is_empty());
        assert_eq!(switch.observation().counters().drops.of(DropCause::NoSuchPort), 1);
        let of_port = switch.observation().port_counters(3).expect("the port").queues[0].dropped;
        assert_eq!(of_port.of(DropCause::NoSuchPort), 1);
        // So are copies: of the group's two one goes there.
        switch.receive(Time::ZERO, 3, packet(2, 2));
        assert_eq!(drain(&mut switch).len(), 1);
        assert_eq!(switch.observation().counters().drops.of(DropCause::NoSuchPort), 2);
        // The drop port drops before egress.
        switch.receive(Time::ZERO, 3, packet(15, 511));
        assert!(drain(&mut switch).is_empty());
        assert_eq!(
            (
                switch.observation().counters().recirculated,
                switch.observation().counters().drops.of(DropCause::Ingress)
            ),
            (1, 1)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_causes_more_than_the_limit(
        packets in prop::collection::vec((0_u8..17, 0_u16..8), 1..6),
        limit in 1_u32..300,
        copies in 1_u32..20,
        native in any::<bool>(),
    ) {
        let exec = if native { ExecChoice::Native } else { ExecChoice::Interp };
        let mut switch = hostile(limit, copies, exec);
        let count = packets.len() as u64;
        for (op, arg) in packets {
            switch.receive(Time::ZERO, 3, packet(op, arg));
        }
        serve(&mut switch);
        prop_assert!(made(&switch) <= count * u64::from(limit), "{:?}", switch.observation().counters());
    }
}
