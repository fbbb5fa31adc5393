//! The traffic manager where its state changes: PFC (IEEE 802.1Qbb), ready ports, bypassing, a shared buffer.

use p4cc_units::{Rate, Time};

use crate::config::{BufferConfig, PortConfig, ShaperConfig};
use crate::counters::DropCause;
use crate::tm::{PortIndex, TrafficManager};
use crate::tm_buffer::PauseFrame;

/// Bytes of a frame, and those that it takes on the link.
const FRAME: u32 = 114;
const ON_LINK: u64 = 100;
/// The lossless priority of [`shared`].
const LOSSLESS: u8 = 3;

fn port(number: u32, capacity_pkts: u32) -> PortConfig {
    PortConfig {
        port: number,
        rate: Rate::from_bps(8_000),
        capacity_pkts,
        headroom_bytes: 200,
        alpha_log2: 0,
        ..PortConfig::default()
    }
}

/// Ports 5 and 3 with queues of four packets.
fn manager(buffer: Option<&BufferConfig>) -> (TrafficManager<u32>, PortIndex, PortIndex) {
    let manager = TrafficManager::new(&[port(5, 4), port(3, 4)], buffer);
    let (five, three) = (manager.port(5).expect("a port"), manager.port(3).expect("a port"));
    (manager, five, three)
}

/// A reserve of one frame and a pool of four: a port's third frame is at the threshold of two.
fn shared() -> BufferConfig {
    BufferConfig { bytes: 1_000, reserve_bytes: ON_LINK, resume_offset_bytes: 0, lossless: 1 << LOSSLESS }
}

fn put(manager: &mut TrafficManager<u32>, at: PortIndex, priority: u8, from: Option<PortIndex>, pkts: u32) {
    for item in 0..pkts {
        assert_eq!(manager.enqueue(at, priority, FRAME, from, item), Ok(()));
    }
}

fn frames(manager: &mut TrafficManager<u32>) -> Vec<PauseFrame> {
    core::iter::from_fn(|| manager.next_pause_frame()).collect()
}

#[test]
fn a_ports_depth_is_that_of_all_its_queues() {
    let (mut manager, five, three) = manager(None);
    put(&mut manager, five, 0, None, 2);
    put(&mut manager, five, 7, None, 1);
    assert_eq!((manager.port_depth_pkts(five), manager.port_depth_bytes(five)), (3, 3 * ON_LINK));
    assert_eq!((manager.port_depth_pkts(three), manager.port_depth_bytes(three)), (0, 0));
}

#[test]
fn a_port_is_not_ready_for_what_is_paused() {
    let (mut manager, five, _) = manager(None);
    manager.set_paused(Time::ZERO, five, LOSSLESS, true);
    put(&mut manager, five, LOSSLESS, None, 2);
    assert_eq!((manager.next_ready(), manager.has_sendable(five)), (None, false));
    manager.set_paused(Time::from_ms(1), five, LOSSLESS, false);
    assert_eq!((manager.next_ready(), manager.next_ready()), (Some(5), None));
}

/// A frame does not pass what waits, though that may not be sent.
#[test]
fn no_frame_bypasses_a_port_that_holds_something() {
    let (mut manager, five, three) = manager(None);
    manager.set_paused(Time::ZERO, five, LOSSLESS, true);
    assert!(manager.can_bypass(five, 0) && !manager.can_bypass(five, LOSSLESS));
    put(&mut manager, five, LOSSLESS, None, 1);
    assert!(!manager.can_bypass(five, 0) && manager.can_bypass(three, 0));
}

#[test]
fn a_frame_bypasses_a_queue_that_has_room() {
    let mut manager = TrafficManager::<u32>::new(&[port(5, 1), port(3, 0)], None);
    let (five, three) = (manager.port(5).expect("a port"), manager.port(3).expect("a port"));
    assert!(manager.try_bypass(five, 0, FRAME, PortIndex::NOWHERE));
    assert!(!manager.try_bypass(three, 0, FRAME, PortIndex::NOWHERE));
    let counted = |port| {
        let queue = manager.counters(port).queues[0];
        (queue.enqueued_pkts, queue.enqueued_bytes, queue.peak_depth_pkts, queue.peak_depth_bytes)
    };
    assert_eq!((counted(five), counted(three)), ((1, ON_LINK, 1, ON_LINK), (0, 0, 0, 0)));
}

#[test]
fn the_third_frame_pauses_its_neighbour_and_its_departure_lets_it_go_on() {
    let (mut manager, five, three) = manager(Some(&shared()));
    put(&mut manager, five, LOSSLESS, Some(three), 2);
    assert!(!manager.has_pause_frames());
    put(&mut manager, five, LOSSLESS, Some(three), 1);
    assert!(manager.has_pause_frames());
    let pause = PauseFrame { port: 3, priority: LOSSLESS, pause: true, towards: Some(5) };
    assert_eq!(frames(&mut manager), [pause]);
    assert!(manager.dequeue(five).is_some());
    assert_eq!(frames(&mut manager), [PauseFrame { pause: false, towards: None, ..pause }]);
    let counted = manager.counters(three).pauses[usize::from(LOSSLESS)];
    assert_eq!((counted.sent, counted.resumes_sent, counted.received), (1, 1, 0));
    assert_eq!(counted.peak_ingress_bytes, 3 * ON_LINK);
}

/// A pause that lapsed is sent again with the next frame.
#[test]
fn a_lapsed_pause_is_sent_again() {
    let (mut manager, five, three) = manager(Some(&shared()));
    put(&mut manager, five, LOSSLESS, Some(three), 3);
    assert_eq!(frames(&mut manager).len(), 1);
    manager.lapse(three, LOSSLESS);
    put(&mut manager, five, LOSSLESS, Some(three), 1);
    assert_eq!(frames(&mut manager).len(), 1);
    assert_eq!(manager.counters(three).pauses[usize::from(LOSSLESS)].sent, 2);
}

/// A step of a cyclic wait: paused by the neighbour, with a packet of a port that this switch has paused.
#[test]
fn a_switch_waits_where_it_is_paused_and_pauses() {
    let (mut manager, five, three) = manager(Some(&shared()));
    put(&mut manager, five, LOSSLESS, None, 1);
    put(&mut manager, five, LOSSLESS, Some(three), 2);
    manager.set_paused(Time::ZERO, five, LOSSLESS, true);
    assert_eq!(manager.waits(LOSSLESS), [], "the port that it came in on is not paused");
    put(&mut manager, five, LOSSLESS, Some(three), 1);
    assert_eq!((manager.waits(LOSSLESS), manager.waits(LOSSLESS + 1)), (vec![(3, 5)], Vec::new()));
    manager.set_paused(Time::ZERO, five, LOSSLESS, false);
    assert_eq!(manager.waits(LOSSLESS), [], "the queue may send");
}

#[test]
fn what_is_cleared_lets_neighbours_go_on() {
    let (mut manager, five, three) = manager(Some(&shared()));
    put(&mut manager, five, LOSSLESS, Some(three), 3);
    frames(&mut manager);
    assert_eq!(manager.clear(), 3);
    let resume = PauseFrame { port: 3, priority: LOSSLESS, pause: false, towards: None };
    assert_eq!(frames(&mut manager), [resume]);
    put(&mut manager, five, LOSSLESS, Some(three), 2);
    assert!(!manager.has_pause_frames());
}

#[test]
fn a_pause_of_what_is_paused_is_none() {
    let (mut manager, five, _) = manager(None);
    assert_eq!(manager.paused_since(five, LOSSLESS), None);
    for ms in [1, 2] {
        manager.set_paused(Time::from_ms(ms), five, LOSSLESS, true);
        assert_eq!(manager.paused_since(five, LOSSLESS), Some(Time::from_ms(1)));
    }
    assert_eq!(manager.paused_since(five, LOSSLESS + 1), None);
    manager.set_paused(Time::from_ms(5), five, LOSSLESS, false);
    manager.set_paused(Time::from_ms(6), five, LOSSLESS, false);
    let counted = manager.pauses(five, LOSSLESS, Time::from_ms(9));
    assert_eq!((counted.received, counted.paused.as_ps()), (1, 4_000_000_000));
    assert_eq!((counted.first, counted.last), (Some(Time::from_ms(1)), Some(Time::from_ms(5))));
}

#[test]
fn a_port_has_more_where_something_waits_that_is_not_paused() {
    let (mut manager, five, _) = manager(None);
    assert!(!manager.at(five).has_more());
    put(&mut manager, five, LOSSLESS, None, 1);
    assert!(manager.at(five).has_more());
    manager.set_paused(Time::ZERO, five, LOSSLESS, true);
    assert!(!manager.at(five).has_more());
}

/// 800 bit/s, so a frame takes a second: queue 3 alone waits for its shaper.
#[test]
fn shapers_of_a_port_are_those_of_its_queues() {
    let mut config = port(5, 4);
    config.shapers[usize::from(LOSSLESS)] = Some(ShaperConfig { rate: Rate::from_bps(800), burst_bytes: 0 });
    let mut manager = TrafficManager::new(&[config], None);
    let five = manager.port(5).expect("a port");
    let mut sent = Vec::new();
    put(&mut manager, five, LOSSLESS, None, 2);
    put(&mut manager, five, 0, None, 2);
    while let Some(left) = manager.dequeue(five) {
        manager.hold(five, left.priority, FRAME, Time::ZERO);
        sent.push(left.priority);
    }
    assert_eq!((sent, manager.next_allowed(five)), (vec![LOSSLESS, 0, 0], Some(Time::from_ms(1_000))));
}

/// Two frames fill 200 bytes on the link to the last one.
#[test]
fn a_queue_holds_as_many_bytes_as_its_capacity() {
    let config = PortConfig { capacity_bytes: Some(2 * ON_LINK), ..port(5, 4) };
    let mut manager = TrafficManager::<u32>::new(&[config], None);
    let five = manager.port(5).expect("a port");
    put(&mut manager, five, 0, None, 2);
    assert_eq!(manager.enqueue(five, 0, FRAME, None, 2), Err(DropCause::TailDrop));
    assert_eq!(manager.port_depth_bytes(five), 2 * ON_LINK);
}
