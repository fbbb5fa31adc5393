//! Traces of packets that are expected: the steps of these and of what descends from them, and results as
//! without a trace.

use p4cc_switch::{ExecChoice, MulticastGroup, Packet, Replica, Step, Switch, TraceEvent};
use p4cc_units::Time;

use super::{drain, packet, session, switch};

/// Groups and sessions that operations use: group 2 to ports 1 and 3, sessions 2 and 7.
fn prepared(exec: ExecChoice) -> Switch {
    let mut switch = switch();
    switch.control().set_exec(exec);
    let replicas = vec![Replica::new(1, 1), Replica::new(3, 2)];
    let group = MulticastGroup { id: 2, replicas, metadata: Vec::new() };
    switch.control().pre_mut().insert_group(group).expect("a right group");
    for (id, port) in [(2, 2), (7, 1)] {
        switch.control().pre_mut().insert_session(session(id, port, 0)).expect("a right session");
    }
    switch
}

fn steps(switch: &Switch, number: u64) -> Vec<&Step> {
    switch.observation().trace().filter(|event| event.packet == number).map(|event| &event.step).collect()
}

fn sent(steps: &[&Step]) -> Vec<u32> {
    let port = |step: &&Step| if let Step::Sent { port, .. } = step { Some(*port) } else { None };
    steps.iter().filter_map(port).collect()
}

#[test]
fn an_expected_packet_is_followed_with_its_copies_and_no_other() {
    let mut switch = prepared(ExecChoice::default());
    switch.control().set_tracing_expected(1_000);
    switch.control().expect_traced(1, 2, 7);
    switch.control().expect_traced(3, 1, 8);
    for (port, op, arg) in [(1, 0, 2), (1, 2, 2), (3, 7, 1), (1, 2, 2), (2, 0, 1)] {
        switch.receive(Time::ZERO, port, packet(op, arg));
    }
    drain(&mut switch);
    assert!(switch.observation().trace().all(|event| [7, 8].contains(&event.packet)));
    let multicast = steps(&switch, 7);
    assert_eq!(multicast[0], &Step::Received { port: 1, bytes: 100 });
    assert_eq!(sent(&multicast), [1, 3]);
    let enqueued = |step: &&&Step| matches!(step, Step::Enqueued { .. });
    assert_eq!(multicast.iter().filter(enqueued).count(), 2);
    // Once more through ingress for each of two recirculations.
    let again = steps(&switch, 8);
    let dequeued = |step: &&&Step| matches!(step, Step::Dequeued { .. });
    assert_eq!((again.iter().filter(dequeued).count(), sent(&again).len()), (3, 1));
    assert!(switch.observation().trace().take(multicast.len()).all(|event| event.at == Time::ZERO));
}

#[test]
fn a_trace_changes_no_result() {
    for exec in [ExecChoice::default(), ExecChoice::Interp] {
        let [mut plain, mut traced, mut logged] = core::array::from_fn(|_| prepared(exec));
        traced.control().set_tracing_expected(100_000);
        // As the daemon's log levels `debug` and `trace` do.
        logged.control().set_tracing(true);
        for nth in (1..200).step_by(3) {
            traced.control().expect_traced(1, nth, nth);
        }
        for round in 0..200_u16 {
            let asked = packet((round % 17) as u8, 2 + round % 5 / 4);
            let outcome = |switch: &mut Switch| -> Vec<(u32, Packet)> {
                let sent = switch.receive_with_bypass(Time::ZERO, 1, asked.clone(), |_| true);
                let mut out: Vec<_> = sent.map(|sent| (sent.port, sent.packet)).into_iter().collect();
                out.extend(drain(switch));
                let packet_ins = switch.take_packet_ins().into_iter();
                out.extend(packet_ins.map(|packet| (super::CPU_PORT, packet)));
                out
            };
            let wanted = outcome(&mut plain);
            assert_eq!(outcome(&mut traced), wanted, "round {round}");
            assert_eq!(outcome(&mut logged), wanted, "round {round}, logged");
        }
        assert_eq!(
            (traced.observation().counters(), logged.observation().counters()),
            (plain.observation().counters(), plain.observation().counters())
        );
        assert!(traced.observation().trace().count() > 100);
    }
}

#[test]
fn steps_are_bounded_and_lineages_that_are_reused_are_forgotten() {
    let mut switch = prepared(ExecChoice::default());
    switch.control().set_tracing_expected(20);
    for nth in [1, 2, 3] {
        switch.control().expect_traced(1, nth, nth);
        switch.receive(Time::ZERO, 1, packet(0, 2));
        drain(&mut switch);
    }
    let found = switch.observation().trace().count() as u64 + switch.observation().trace_left_out();
    assert_eq!(switch.observation().trace().count(), 20);
    assert!(switch.observation().trace_left_out() > 0);
    // Each causes a pass, and with it a lineage: they begin anew with those that were traced.
    for _ in 0..3_000 {
        switch.receive(Time::ZERO, 1, packet(7, 2));
        drain(&mut switch);
    }
    assert_eq!(switch.observation().trace().count() as u64 + switch.observation().trace_left_out(), found);
    assert!(switch.observation().trace().all(|TraceEvent { packet, .. }| *packet <= 3));
}

#[test]
fn the_controllers_packets_are_followed_to_its_port_and_then_the_packet_at_hand_again() {
    let mut switch = prepared(ExecChoice::default());
    switch.control().set_tracing_expected(1_000);
    switch.control().expect_traced(1, 1, 1);
    switch.receive(Time::ZERO, 1, packet(0, super::CPU_PORT as u16));
    let found = steps(&switch, 1);
    assert_eq!(found.last(), Some(&&Step::ToController { port: super::CPU_PORT }));
    assert_eq!(switch.take_packet_ins().len(), 1);
}
