//! The switch around a P4 program: replication in BMv2's
//! order, standard metadata, queues, the controller's port.

mod bypass;
mod limits;
mod pipes;
mod traces;

use std::sync::{Arc, OnceLock};

use p4cc_exec::Pipeline;
use p4cc_switch::config::DEFAULT_DROP_PORT;
use p4cc_switch::{
    BufferConfig, CloneSession, DEFAULT_PASS_LIMIT, DropCause, MulticastGroup, Packet, PortConfig, Replica,
    Switch, SwitchConfig, TimestampUnit,
};
use p4cc_syntax::{Memory, Options, Source};
use p4cc_units::{Rate, Span, Time};

const PROGRAM: &str = include_str!("replication.p4");
const CPU_PORT: u32 = 510;

fn switch() -> Switch {
    switch_with(None)
}

/// With a headroom of two packets of 100 B for each port and lossless priority of the buffer.
fn switch_with(buffer: Option<BufferConfig>) -> Switch {
    limited(buffer, DEFAULT_PASS_LIMIT)
}

/// With a limit of copies and passes.
fn limited(buffer: Option<BufferConfig>, pass_limit: u32) -> Switch {
    let port = |port| PortConfig {
        port,
        rate: Rate::from_bps(8_000_000_000),
        capacity_pkts: 4,
        headroom_bytes: 172,
        ..PortConfig::default()
    };
    let config = SwitchConfig {
        device_id: 1,
        ports: vec![port(1), port(2), port(3)],
        timestamp_unit: TimestampUnit::Us,
        buffer,
        cpu_port: Some(CPU_PORT),
        drop_port: DEFAULT_DROP_PORT,
        seed: 1,
        pass_limit,
        deflect_on_drop: false,
    };
    let mut switch = Switch::new(config).expect("a right configuration");
    switch.control().set_pipeline(Arc::clone(PIPELINE.get_or_init(pipeline)));
    switch
}

/// The program, compiled once: what is native is made once too.
static PIPELINE: OnceLock<Arc<Pipeline>> = OnceLock::new();

fn pipeline() -> Arc<Pipeline> {
    compiled("replication.p4", PROGRAM)
}

fn compiled(name: &str, text: &str) -> Arc<Pipeline> {
    let (source, found) = Source::from_text(name, text, &Memory::default(), &Options::default());
    assert!(found.is_empty(), "{}", source.render(&found, false));
    let (tree, found) = p4cc_syntax::parse(&source);
    assert!(found.is_empty(), "{}", source.render(&found, false));
    let (program, found) = p4cc_compile::compile(&tree);
    let program = program.unwrap_or_else(|| panic!("{}", source.render(&found, false)));
    Arc::new(Pipeline::compile(Arc::new(program)).expect("a checked program"))
}

/// A packet of 100 bytes that asks for `op`.
fn packet(op: u8, arg: u16) -> Packet {
    let mut head = [0; 17];
    head[0] = op;
    head[1..3].copy_from_slice(&arg.to_be_bytes());
    Packet::new(&head, 83)
}

/// What egress wrote into a packet.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    arg: u16,
    kept: u16,
    instance: u8,
    rid: u8,
    enq_qdepth: u16,
    packet_length: u32,
    ingress_port: u16,
}

fn seen(packet: &Packet) -> Seen {
    let b = &packet.head;
    let two = |at: usize| u16::from_be_bytes([b[at], b[at + 1]]);
    Seen {
        arg: two(1),
        kept: two(3),
        instance: b[5],
        rid: b[6],
        enq_qdepth: two(7),
        packet_length: u32::from_be_bytes([b[9], b[10], b[11], b[12]]),
        ingress_port: two(13),
    }
}

/// Everything that leaves, by port in the order of the ports.
fn drain(switch: &mut Switch) -> Vec<(u32, Packet)> {
    while switch.next_ready().is_some() {}
    let mut out = Vec::new();
    for port in 1..=3 {
        while let Some(sent) = switch.transmit(Time::ZERO, port) {
            out.push((port, sent.packet));
        }
    }
    assert!(is_conserved(switch), "{:?}", switch.observation().counters());
    out
}

fn is_conserved(switch: &Switch) -> bool {
    let c = switch.observation().counters();
    c.received + c.packet_outs + c.copies
        == c.sent + c.packet_ins + c.drops.total() + switch.observation().waiting()
}

fn session(id: u32, port: u32, packet_length_bytes: u32) -> CloneSession {
    let replicas = vec![Replica::new(port, 9)];
    CloneSession { id, replicas, class_of_service: 0, packet_length_bytes }
}

const PLAIN: Seen =
    Seen { arg: 2, kept: 0, instance: 0, rid: 0, enq_qdepth: 0, packet_length: 100, ingress_port: 3 };

#[test]
fn unicast_fills_standard_metadata_and_takes_the_time_of_its_ip_bytes() {
    let mut switch = switch();
    for _ in 0..3 {
        switch.receive(Time::ZERO, 3, packet(0, 2));
    }
    assert_eq!((switch.next_ready(), switch.next_ready()), (Some(2), None));
    for depth in 0..3 {
        let sent = switch.transmit(Time::ZERO, 2).expect("three wait");
        assert_eq!(seen(&sent.packet), Seen { enq_qdepth: depth, ..PLAIN });
        // 100 B less 14 of Ethernet at 1 B/ns.
        assert_eq!((sent.packet.len(), sent.duration), (100, Span::from_ns(86)));
    }
    assert!(switch.transmit(Time::ZERO, 2).is_none() && is_conserved(&switch));
}

#[test]
fn what_is_not_sent_is_counted_by_cause() {
    let mut switch = switch();
    for (op, arg) in [(1, 0), (0, 77), (2, 5), (10, 0)] {
        switch.receive(Time::ZERO, 3, packet(op, arg));
    }
    for _ in 0..6 {
        switch.receive(Time::ZERO, 3, packet(0, 2));
    }
    switch.receive(Time::ZERO, 200, packet(0, 2));
    switch.receive(Time::ZERO, 3, Packet::new(&[0], 70_000));
    assert_eq!(drain(&mut switch).len(), 4);
    let drops = switch.observation().counters().drops;
    for (cause, count) in [
        (DropCause::Ingress, 1),
        (DropCause::NoSuchPort, 2),
        (DropCause::NoReplicas, 1),
        (DropCause::Egress, 1),
        (DropCause::TailDrop, 2),
        (DropCause::TooLong, 1),
    ] {
        assert_eq!(drops.of(cause), count, "{cause:?}");
    }
    let port = |port| switch.observation().port_counters(port).expect("the port");
    assert_eq!(port(2).queues[0].dropped.of(DropCause::TailDrop), 2);
    assert_eq!(port(1).queues[0].dropped.of(DropCause::Egress), 1);
    assert_eq!(port(3).dropped(), 4);
}

#[test]
fn multicast_makes_one_copy_for_each_replica() {
    let mut switch = switch();
    let replicas = [(1, 5), (2, 6), (2, 7)].map(|(port, instance)| Replica::new(port, instance)).to_vec();
    let group = MulticastGroup { id: 2, replicas, metadata: Vec::new() };
    switch.control().pre_mut().insert_group(group).expect("a right group");
    switch.receive(Time::ZERO, 3, packet(2, 2));
    let out: Vec<_> = drain(&mut switch).iter().map(|(port, packet)| (*port, seen(packet))).collect();
    let copy = |rid, enq_qdepth| Seen { instance: 5, rid, enq_qdepth, ..PLAIN };
    assert_eq!(out, [(1, copy(5, 0)), (2, copy(6, 0)), (2, copy(7, 1))]);
}

#[test]
fn an_ingress_clone_is_the_packet_as_it_came_in_with_the_listed_metadata() {
    let mut switch = switch();
    switch.control().pre_mut().insert_session(session(2, 2, 30)).expect("a right session");
    switch.receive(Time::ZERO, 3, packet(3, 2));
    let out = drain(&mut switch);
    assert_eq!(out.len(), 2);
    assert_eq!((out[0].0, seen(&out[0].1)), (1, Seen { arg: 99, kept: 0x1234, ..PLAIN }));
    let clone = Seen { kept: 0x1234, instance: 1, rid: 9, ingress_port: 0, ..PLAIN };
    assert_eq!((out[1].0, seen(&out[1].1), out[1].1.len()), (2, clone, 30));
    // A session that does not exist clones nothing.
    switch.receive(Time::ZERO, 3, packet(3, 8));
    assert_eq!(drain(&mut switch).len(), 1);
}

#[test]
fn an_egress_clone_goes_through_egress_again_with_its_new_headers() {
    let mut switch = switch();
    switch.control().pre_mut().insert_session(session(7, 2, 0)).expect("a right session");
    switch.receive(Time::ZERO, 3, packet(6, 2));
    let out = drain(&mut switch);
    assert_eq!(out.len(), 2);
    assert_eq!((out[0].0, seen(&out[0].1)), (1, Seen { arg: 3, kept: 0x66, ..PLAIN }));
    let clone = Seen { arg: 3, kept: 0x66, instance: 2, rid: 9, ingress_port: 0, ..PLAIN };
    assert_eq!((out[1].0, seen(&out[1].1)), (2, clone));
}

#[test]
fn resubmitted_and_recirculated_packets_keep_what_their_list_names() {
    let mut switch = switch();
    switch.receive(Time::ZERO, 3, packet(4, 2));
    let out = drain(&mut switch);
    assert_eq!(seen(&out[0].1), Seen { kept: 0x55, ingress_port: 0, ..PLAIN });
    switch.receive(Time::ZERO, 3, packet(7, 2));
    let out = drain(&mut switch);
    assert_eq!(switch.observation().counters().recirculated, 1);
    // Ingress makes it a normal packet again, as in BMv2.
    assert_eq!(seen(&out[0].1), Seen { arg: 3, kept: 0x77, ingress_port: 0, ..PLAIN });
}

#[test]
fn truncation_and_priority_do_as_v1model_says() {
    let mut switch = switch();
    switch.receive(Time::ZERO, 3, packet(8, 2));
    let out = drain(&mut switch);
    assert_eq!((out[0].1.len(), seen(&out[0].1).packet_length), (20, 100));
    for priority in [0, 7, 3] {
        switch.receive(Time::ZERO, 3, packet(9, priority));
    }
    let order: Vec<u16> = drain(&mut switch).iter().map(|(_, packet)| seen(packet).arg).collect();
    assert_eq!(order, [7, 3, 0]);
}

#[test]
fn the_controller_sends_and_receives_at_its_port() {
    let mut switch = switch();
    switch.packet_out(Time::ZERO, packet(0, 2));
    let out = drain(&mut switch);
    assert_eq!(seen(&out[0].1), Seen { ingress_port: CPU_PORT as u16, ..PLAIN });
    switch.receive(Time::ZERO, 3, packet(0, CPU_PORT as u16));
    assert_eq!(switch.next_ready(), None);
    let packets = switch.take_packet_ins();
    assert_eq!(seen(&packets[0]), Seen { arg: CPU_PORT as u16, ..PLAIN });
    assert!(is_conserved(&switch) && switch.take_packet_ins().is_empty());
}

#[test]
fn a_short_packet_is_no_reason_to_stop() {
    let mut switch = switch();
    // The header has 15 bytes.
    for len in 0..15 {
        switch.receive(Time::ZERO, 3, Packet::new(&vec![0; len], 0));
        drain(&mut switch);
    }
    assert_eq!(switch.observation().counters().parser_errors, 15);
}

#[test]
fn a_fork_and_a_clone_go_on_as_documented() {
    let mut switch = switch();
    switch.control().pre_mut().insert_session(session(2, 2, 0)).expect("a right session");
    switch.receive(Time::ZERO, 3, packet(0, 2));
    let mut clone = switch.clone();
    assert_eq!(drain(&mut clone), drain(&mut switch));
    let fork = switch.fork(9);
    assert_eq!(
        (fork.observation().waiting(), fork.observation().counters().received, fork.config().seed),
        (0, 0, 9)
    );
    assert!(fork.observation().pipeline().is_some() && fork.observation().pre().session(2).is_some());
}
