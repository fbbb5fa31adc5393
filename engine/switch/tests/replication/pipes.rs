//! Pipes of a chip with tables, counters and registers of their own.

use std::sync::Arc;

use p4cc_exec::State;
use p4cc_exec::control::{CounterCell, EntryAction, TableEntry};
use p4cc_ir::{ActionCall, Bits, CounterId, MatchValue, RegisterId, TableId};
use p4cc_switch::chip::MulticastPort;
use p4cc_switch::config::DEFAULT_DROP_PORT;
use p4cc_switch::{DEFAULT_PASS_LIMIT, ExecChoice, Packet, PortConfig, Switch, SwitchConfig, TimestampUnit};
use p4cc_units::{Rate, Time};

use super::compiled;

const PROGRAM: &str = include_str!("pipes.p4");
/// Ports of pipes 0, 1, 1 and 3.
const PORTS: [u32; 4] = [1, 129, 130, 385];

fn switch(pipes: u8, exec: ExecChoice) -> Switch {
    let port = |port| PortConfig {
        port,
        rate: Rate::from_bps(8_000_000_000),
        capacity_pkts: 4,
        ..PortConfig::default()
    };
    let config = SwitchConfig {
        device_id: 1,
        ports: PORTS.map(port).to_vec(),
        timestamp_unit: TimestampUnit::Us,
        buffer: None,
        cpu_port: None,
        drop_port: DEFAULT_DROP_PORT,
        seed: 1,
        pass_limit: DEFAULT_PASS_LIMIT,
        deflect_on_drop: false,
    };
    let mut switch = Switch::new(config).expect("a right configuration");
    switch.control().set_exec(exec);
    switch.control().split_pipes(pipes);
    switch.control().set_pipeline(compiled("pipes.p4", PROGRAM));
    switch
}

/// What the program calls things.
fn named<T: Copy>(switch: &Switch, name: &str, of: impl Fn(&p4cc_ir::Program) -> Vec<(String, T)>) -> T {
    let program = Arc::clone(switch.observation().pipeline().expect("a program").program());
    let found = of(&program).into_iter().find(|(known, _)| known.ends_with(name));
    found.unwrap_or_else(|| panic!("{name} is in the program")).1
}

fn send_to(switch: &Switch, kind: u8, port: u32) -> (TableId, TableEntry) {
    let table = named(switch, "forward", |program| {
        let tables = program.tables.iter().enumerate();
        tables.map(|(id, table)| (table.cp.name.clone(), TableId::from_index(id))).collect()
    });
    let action = named(switch, "send", |program| {
        let actions = program.actions.iter().enumerate();
        actions.map(|(id, action)| (action.cp.name.clone(), p4cc_ir::ActionId::from_index(id))).collect()
    });
    let call = ActionCall { action, args: vec![Bits::from_u128(9, port.into())] };
    let entry = TableEntry {
        matches: vec![MatchValue::Exact(Bits::from_u128(8, kind.into()))],
        priority: 0,
        action: EntryAction::Direct(call),
        metadata: Vec::new(),
        controller_metadata: 0,
        idle_timeout_ns: 0,
        is_const: false,
    };
    (table, entry)
}

/// Sends a packet in on a port; where it leaves, and its second byte.
fn pass(switch: &mut Switch, port: u32, kind: u8) -> Option<(u32, u8)> {
    switch.receive(Time::ZERO, port, Packet::new(&[kind, 0], 62));
    let left = switch.next_ready()?;
    let sent = switch.transmit(Time::ZERO, left).expect("it is ready");
    Some((left, sent.packet.head[1]))
}

fn register(state: Option<&State>) -> u128 {
    let bits = state.expect("the pipe has a state").register_read(RegisterId::from_index(0), 1);
    bits.expect("there are four cells").to_u128().expect("32 bits")
}

fn packets(switch: &Switch, counter: &str, pipe: usize) -> u64 {
    cell(switch, counter, pipe).packets
}

fn cell(switch: &Switch, counter: &str, pipe: usize) -> CounterCell {
    let id = named(switch, counter, |program| {
        let counters = program.counters.iter().enumerate();
        counters.map(|(id, counter)| (counter.cp.name.clone(), CounterId::from_index(id))).collect()
    });
    switch.observation().state_of(pipe).expect("the pipe has a state").counter_read(id, 0).expect("cell 0")
}

/// Entries of pipe 1 are met by packets of its ports only, cells count what passed their own pipe, egress
/// those of the port that a packet leaves by, and digests say whose they are. By both execution back ends.
#[test]
fn each_pipe_has_its_own_tables_registers_and_counters() {
    for exec in [ExecChoice::Interp, ExecChoice::Native] {
        let mut switch = switch(4, exec);
        assert_eq!(switch.observation().pipes(), 4);
        let (table, entry) = send_to(&switch, 5, 385);
        let pipe = switch.control().state_of_mut(1).expect("there are four");
        pipe.table_insert(table, entry.clone()).expect("a right entry");

        assert_eq!(pass(&mut switch, 1, 5), None, "pipe 0 has no entry");
        assert_eq!(pass(&mut switch, 129, 5), Some((385, 8)), "the register of pipe 1 was 7");
        assert_eq!(pass(&mut switch, 130, 5), Some((385, 9)), "another port of pipe 1");

        let registers: Vec<_> = (0..4).map(|pipe| register(switch.observation().state_of(pipe))).collect();
        assert_eq!(registers, [8, 9, 7, 7]);
        assert_eq!((0..4).map(|pipe| packets(&switch, "seen", pipe)).collect::<Vec<_>>(), [1, 2, 0, 0]);
        assert_eq!((0..4).map(|pipe| packets(&switch, "left", pipe)).collect::<Vec<_>>(), [0, 0, 0, 2]);
        assert_eq!(
            switch.observation().state().expect("a program").table_len(table),
            0,
            "the state is that of pipe 0"
        );

        pass(&mut switch, 130, 9);
        pass(&mut switch, 385, 9);
        assert_eq!(switch.take_digests().iter().map(|message| message.pipe).collect::<Vec<_>>(), [1, 3]);
    }
}

/// Counters count the frame check sequence, as the chip's do.
#[test]
fn counters_count_the_frame_check_sequence() {
    let mut switch = switch(1, ExecChoice::Interp);
    pass(&mut switch, 1, 5);
    assert_eq!(cell(&switch, "seen", 0), CounterCell { packets: 1, bytes: 64 + 4 });
}

/// Nothing is split unless it is asked for, and a switch that is not has one pipe's worth of everything.
#[test]
fn without_a_split_all_ports_share_one_state() {
    let mut switch = switch(1, ExecChoice::Interp);
    assert_eq!((switch.observation().pipes(), switch.observation().state_of(1).is_none()), (1, true));
    let (table, entry) = send_to(&switch, 5, 129);
    switch.control().state_mut().expect("a program").table_insert(table, entry).expect("a right entry");
    assert_eq!(pass(&mut switch, 1, 5), Some((129, 8)));
    assert_eq!(pass(&mut switch, 385, 5), Some((129, 9)));
}

/// A split of a switch that runs begins with what is there in all pipes, as does a state that is put in.
#[test]
fn pipes_begin_with_the_state_that_was_there() {
    let mut switch = switch(1, ExecChoice::Interp);
    let (table, entry) = send_to(&switch, 5, 1);
    switch.control().state_mut().expect("a program").table_insert(table, entry).expect("a right entry");
    assert_eq!(pass(&mut switch, 1, 5), Some((1, 8)));
    let kept = switch.observation().state().expect("a program").clone();
    switch.control().split_pipes(4);
    assert_eq!(pass(&mut switch, 385, 5), Some((1, 9)));
    assert_eq!(
        (0..4).map(|pipe| register(switch.observation().state_of(pipe))).collect::<Vec<_>>(),
        [8, 8, 8, 9]
    );
    switch.control().set_state(kept);
    assert_eq!((0..4).map(|pipe| register(switch.observation().state_of(pipe))).collect::<Vec<_>>(), [8; 4]);
    assert_eq!(pass(&mut switch.fork(1), 385, 5), Some((1, 9)), "a fork has what its original has");
}

/// Copies for the CPU leave by the port that the control plane chose last, and by none before.
#[test]
fn copies_for_the_cpu_leave_by_the_port_that_the_chips_tables_name() {
    let mut switch = switch(1, ExecChoice::Interp);
    assert_eq!(pass(&mut switch, 1, 10), None, "there is no such port");
    for port in [129, 130] {
        let known = MulticastPort { copies_to_cpu: true, ..MulticastPort::default() };
        switch.control().chip_mut().multicast.set_port(port, known).expect("a right port");
    }
    assert_eq!(pass(&mut switch, 1, 10), Some((130, 9)));
    switch.control().chip_mut().multicast.set_port(130, MulticastPort::default()).expect("a right port");
    assert_eq!(pass(&mut switch, 1, 10), None);
}
