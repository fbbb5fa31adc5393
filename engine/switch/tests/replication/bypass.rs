//! A packet that bypasses its queue has the effects of one that was put into its queue and taken out.

use p4cc_switch::{BufferConfig, ExecChoice, MulticastGroup, PauseFrame, Replica, Switch, Transmission};
use p4cc_units::{Span, Time};
use proptest::prelude::*;

use super::{CPU_PORT, packet, session, switch_with};

/// What a step of a run does.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A packet on a port asks for an operation.
    Packet { port: u32, op: u8, arg: u16 },
    /// The neighbour at a port pauses a priority, or lets it go on.
    Pause { port: u32, priority: u8, pause: bool },
    /// A queue gets a rate, or loses it.
    Rate { port: u32, rated: bool },
}

/// Everything that can be seen of a run.
#[derive(Default, Debug, PartialEq)]
struct Seen {
    sent: Vec<(Time, u32, Vec<u8>, Span, bool)>,
    pauses: Vec<(Time, PauseFrame)>,
}

/// A switch and the lines behind its ports.
struct Run {
    switch: Switch,
    goes_straight: bool,
    busy_until: [Time; 4],
    seen: Seen,
}

impl Run {
    fn new(buffer: Option<BufferConfig>, exec: ExecChoice, goes_straight: bool) -> Self {
        let mut switch = switch_with(buffer);
        switch.control().set_exec(exec);
        let replicas = [(1, 5), (2, 6), (2, 7)].map(|(port, instance)| Replica::new(port, instance)).to_vec();
        let group = MulticastGroup { id: 2, replicas, metadata: Vec::new() };
        switch.control().pre_mut().insert_group(group).expect("a right group");
        for (id, port, bytes) in [(2, 2, 30), (7, 2, 0), (1, CPU_PORT, 0)] {
            switch.control().pre_mut().insert_session(session(id, port, bytes)).expect("a right session");
        }
        Self { switch, goes_straight, busy_until: [Time::ZERO; 4], seen: Seen::default() }
    }

    fn left(&mut self, now: Time, sent: Transmission) {
        let Transmission { port, packet, bytes, duration, has_more } = sent;
        assert_eq!(bytes, packet.len());
        self.busy_until[port as usize] = now + duration;
        self.seen.sent.push((now, port, packet.to_vec(), duration, has_more));
    }

    fn start(&mut self, now: Time, port: u32) {
        if self.busy_until[port as usize] <= now
            && let Some(sent) = self.switch.transmit(now, port)
        {
            self.left(now, sent);
        }
    }

    fn step(&mut self, now: Time, step: Step) {
        (1..4).for_each(|port| self.start(now, port));
        match step {
            Step::Packet { port, op, arg } if self.goes_straight => {
                let busy_until = self.busy_until;
                let is_free = |port: u32| busy_until[port as usize] <= now;
                if let Some(sent) = self.switch.receive_with_bypass(now, port, packet(op, arg), is_free) {
                    self.left(now, sent);
                }
            }
            Step::Packet { port, op, arg } => self.switch.receive(now, port, packet(op, arg)),
            Step::Pause { port, priority, pause } => self.switch.set_paused(now, port, priority, pause),
            Step::Rate { port, rated } => {
                self.switch.control().set_queue_rate_pps(port, Some(0), rated.then_some(3_000_000));
            }
        }
        while let Some(port) = self.switch.next_ready() {
            self.start(now, port);
        }
        while let Some(frame) = self.switch.next_pause_frame() {
            self.seen.pauses.push((now, frame));
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let packet = (1_u32..4, 0_u8..17, 0_u16..8).prop_map(|(port, op, arg)| Step::Packet { port, op, arg });
    // Plain packets are most of them, so that queues are empty and full in turn.
    let plain = (1_u32..4, 0_u16..4).prop_map(|(port, arg)| Step::Packet { port, op: 0, arg });
    let to_cpu = (1_u32..4).prop_map(|port| Step::Packet { port, op: 0, arg: CPU_PORT as u16 });
    let pause = (1_u32..4, 0_u8..8, any::<bool>());
    let pause = pause.prop_map(|(port, priority, pause)| Step::Pause { port, priority, pause });
    let rate = (1_u32..4, any::<bool>()).prop_map(|(port, rated)| Step::Rate { port, rated });
    let step = prop_oneof![12 => plain, 8 => packet, 1 => to_cpu, 2 => pause, 1 => rate];
    prop::collection::vec((0_u64..200, step), 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn straight_on_is_as_through_the_queue(
        steps in steps(),
        native in any::<bool>(),
        buffer_bytes in prop::option::of(2_700_u64..4_500),
    ) {
        let buffer = buffer_bytes.map(|bytes| BufferConfig {
            bytes,
            reserve_bytes: 100,
            resume_offset_bytes: 90,
            lossless: 0b0000_1011,
        });
        let exec = if native { ExecChoice::Native } else { ExecChoice::Interp };
        let mut runs = [true, false].map(|goes_straight| Run::new(buffer, exec, goes_straight));
        let mut now = Time::ZERO;
        for (later, step) in steps {
            now += Span::from_ns(later);
            runs.iter_mut().for_each(|run| run.step(now, step));
            let [bypassing, queued] = &runs;
            prop_assert_eq!(&bypassing.seen, &queued.seen);
            prop_assert_eq!(bypassing.switch.observation().counters(), queued.switch.observation().counters());
        }
        let [bypassing, queued] = &mut runs;
        for port in 1..4 {
            prop_assert_eq!(bypassing.switch.observation().port_counters(port), queued.switch.observation().port_counters(port));
        }
        prop_assert_eq!(bypassing.switch.take_packet_ins(), queued.switch.take_packet_ins());
        prop_assert_eq!(bypassing.switch.observation().waiting(), queued.switch.observation().waiting());
    }
}
