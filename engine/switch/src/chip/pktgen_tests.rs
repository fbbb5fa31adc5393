use super::*;

fn generator() -> PacketGenerator {
    let mut generator = PacketGenerator::new(1, 2);
    for port in [68, 196] {
        let known = GeneratorPort { generates: true, matches_pattern: true, ..GeneratorPort::default() };
        generator.set_port(port, known).expect("a port");
    }
    generator.write_buffer(1, 32, &[0xaa, 0xbb]).expect("within the buffer");
    generator
}

fn app(trigger: Trigger) -> App {
    App { trigger, enabled: true, length_bytes: 2, offset_bytes: 32, ..App::default() }
}

/// Time, port and bytes of all that is generated up to a time.
fn all(generator: &mut PacketGenerator, until_ns: u64, chip: TofinoChip) -> Vec<(u64, u32, Vec<u8>)> {
    let mut made = Vec::new();
    while let Some(due) = generator.next_due().filter(|due| due.as_ns() <= until_ns) {
        while let Some(Generated { port, packet }) = generator.take(due, chip) {
            made.push((due.as_ns(), port, packet.to_vec()));
        }
    }
    made
}

#[test]
fn a_timer_starts_batches_of_packets_once_or_again_and_again() {
    let mut generator = generator();
    let once = App {
        last_batch: 1,
        last_packet: 1,
        batch_gap_ns: 100,
        packet_gap_ns: 10,
        ..app(Trigger::OneShot { timer_ns: 50 })
    };
    generator.set_app(Time::from_ns(7), 1, 5, once.clone()).expect("a right application");
    let made = all(&mut generator, 1_000_000, TofinoChip::Tofino1);
    let packet = |batch, number| vec![0b0000_1101, 0, 0, batch, 0, number, 0xaa, 0xbb];
    let want = [(57, 0, 0), (67, 0, 1), (157, 1, 0), (167, 1, 1)];
    let want: Vec<_> = want.into_iter().map(|(at, batch, number)| (at, 196, packet(batch, number))).collect();
    assert_eq!(made, want);
    let counted = generator.app(1, 5).map(|app| (app.triggers, app.batches, app.packets));
    assert_eq!(counted, Some((1, 2, 4)));
    // It does not disable itself, and starts again only after it was disabled.
    let known = generator.app(1, 5).expect("it is there").clone();
    generator.set_app(Time::from_ns(500), 1, 5, known.clone()).expect("the same");
    assert_eq!(generator.next_due(), None);
    generator.set_app(Time::from_ns(500), 1, 5, App { enabled: false, ..known.clone() }).expect("disabled");
    let again = App { trigger: Trigger::Periodic { timer_ns: 300 }, ..known };
    generator.set_app(Time::from_ns(600), 1, 5, again).expect("a right application");
    let made = all(&mut generator, 1_600, TofinoChip::Tofino1);
    let starts: Vec<u64> =
        made.iter().filter(|(_, _, bytes)| bytes[3] == 0 && bytes[5] == 0).map(|made| made.0).collect();
    assert_eq!(starts, [900, 1_200, 1_500]);
}

#[test]
fn a_timer_shorter_than_its_burst_waits_for_the_end_and_a_stopped_one_is_silent() {
    let mut generator = generator();
    let fast = App { last_packet: 9, packet_gap_ns: 20, ..app(Trigger::Periodic { timer_ns: 1 }) };
    generator.set_app(Time::ZERO, 0, 0, fast.clone()).expect("a right application");
    let made = all(&mut generator, 400, TofinoChip::Tofino1);
    let starts: Vec<u64> = made.iter().filter(|(_, _, bytes)| bytes[5] == 0).map(|made| made.0).collect();
    // Ten packets, 20 ns apart; the last takes 8 bytes at 100 Gb/s.
    assert_eq!(starts, [1, 182, 363]);
    generator.set_app(Time::from_ns(400), 0, 0, App { enabled: false, ..fast }).expect("disabled");
    assert!(all(&mut generator, 1_000_000, TofinoChip::Tofino1).is_empty());
    assert_eq!(generator.next_due(), None, "nothing is left of it");
}

#[test]
fn tofino_2_counts_gaps_from_the_end_of_a_packet_and_jitter_is_bounded() {
    let mut generator = generator();
    let known = GeneratorPort { generates: true, ..GeneratorPort::default() };
    generator.set_port(128 + 6, known).expect("a port");
    let once = App {
        last_batch: 1,
        last_packet: 1,
        packet_gap_ns: 10,
        batch_gap_ns: 100,
        channel: 6,
        ..app(Trigger::OneShot { timer_ns: 0 })
    };
    generator.set_app(Time::ZERO, 1, 12, once.clone()).expect("a right application");
    let made = all(&mut generator, 1_000, TofinoChip::Tofino2);
    assert_eq!(made.iter().map(|made| made.0).collect::<Vec<_>>(), [0, 11, 112, 123]);
    assert_eq!(made[3], (123, 134, vec![0b0001_1100, 0, 0, 1, 0, 1, 0xaa, 0xbb]));
    let jittery = App { packet_jitter_ns: 50, last_packet: 99, ..once };
    generator.set_app(Time::ZERO, 1, 3, jittery).expect("a right application");
    let times: Vec<u64> =
        all(&mut generator, 100_000, TofinoChip::Tofino2).iter().map(|made| made.0).collect();
    let gaps: Vec<u64> = times[..100].windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| (11..=61).contains(gap)) && gaps.iter().any(|gap| *gap > 40), "{gaps:?}");
}

#[test]
fn a_port_that_goes_down_triggers_once_until_it_is_cleared() {
    let mut generator = generator();
    generator.set_app(Time::ZERO, 1, 2, app(Trigger::PortDown { mask: 0 })).expect("a right application");
    generator.port_down(5);
    assert!(all(&mut generator, 0, TofinoChip::Tofino1).is_empty(), "a port of another pipe");
    generator.port_down(130);
    let made = all(&mut generator, 0, TofinoChip::Tofino1);
    assert_eq!(made, [(0, 196, vec![0b0000_1010, 0, 0, 130, 0, 0, 0xaa, 0xbb])]);
    generator.port_down(130);
    assert!(all(&mut generator, 0, TofinoChip::Tofino1).is_empty());
    generator.clear_port_down(130);
    generator.port_down(130);
    assert_eq!(all(&mut generator, 0, TofinoChip::Tofino1).len(), 1);
}

#[test]
fn a_packet_that_goes_round_triggers_by_its_first_bytes() {
    let mut generator = generator();
    let mut pattern = ([0; CONTEXT_BYTES], [0; CONTEXT_BYTES]);
    pattern.0[..4].copy_from_slice(&[1, 2, 3, 4]);
    pattern.1[..4].copy_from_slice(&[0xff, 0xff, 0, 0]);
    let trigger = Trigger::Recirculation { value: pattern.0, mask: pattern.1 };
    generator.set_app(Time::ZERO, 1, 2, app(trigger)).expect("a right application");
    for head in [&[1, 2, 9, 8, 7][..], &[1, 3, 9, 8], &[1, 2, 9]] {
        generator.compare(Time::ZERO, TofinoChip::Tofino1, 196, head, false);
    }
    let made = all(&mut generator, 0, TofinoChip::Tofino1);
    assert_eq!(made, [(0, 196, vec![0b0000_1010, 2, 9, 8, 0, 0, 0xaa, 0xbb])]);
    generator.compare(Time::ZERO, TofinoChip::Tofino1, 197, &[1, 2, 9, 8], false);
    assert_eq!(generator.next_due(), None, "a port that is not compared");
}

#[test]
fn what_is_out_of_range_is_refused() {
    let mut generator = generator();
    let at = |generator: &mut PacketGenerator, pipe, id, app| generator.set_app(Time::ZERO, pipe, id, app);
    assert!(matches!(at(&mut generator, 4, 0, App::default()), Err(ControlError::InvalidArgument(_))));
    assert!(matches!(at(&mut generator, 0, 16, App::default()), Err(ControlError::InvalidArgument(_))));
    let long = App { offset_bytes: 16_383, length_bytes: 2, ..App::default() };
    assert!(matches!(at(&mut generator, 0, 0, long), Err(ControlError::OutOfRange(_))));
    assert!(matches!(generator.write_buffer(0, usize::MAX, &[1]), Err(ControlError::OutOfRange(_))));
    assert_eq!(generator.buffer(1, 31, 4), [0, 0xaa, 0xbb, 0]);
    assert_eq!(generator.buffer(3, 0, 1 << 40).len(), BUFFER_BYTES);
}
