//! Figures of the simulator on one core: packet-hops per second of an incast with the project's ECN program at the
//! switch, cost of the program for one packet, memory of a packet that waits or is on its way.
//!
//! `cargo bench -p p4cc-netsim`. Prints figures, asserts none.

#[path = "../tests/support/mod.rs"]
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use p4cc_switch::Packet;
use p4cc_units::Time;
use support::{Incast, incast};

/// Counts the bytes in use and the allocations.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code, reason = "a global allocator is unsafe by its trait; this one only counts")]
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise about the layout is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the memory came from `alloc` with this layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const GST: &str = r#"{"rto_init_ns":200000000,"cc":{"congestion_avoidance":{"name":"dctcp","cwnd_min":1},
    "slow_start":{"name":"gst","k":33,"k_dc":65}}}"#;

fn scenario(senders: u32, size_bytes: u64, buffer_pkts: u32) -> Incast<'static> {
    Incast {
        senders,
        size_bytes,
        start_jitter_ns: 10_000,
        buffer_pkts,
        k: 33,
        k_dc: 65,
        algorithm: GST,
        record: "{}",
    }
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    hops(&mut out)?;
    pipeline(&mut out)?;
    memory(&mut out)
}

/// 16 senders of 8 MiB.
fn hops(out: &mut impl Write) -> io::Result<()> {
    let base = incast(&scenario(16, 8 << 20, 150));
    for seed in 1..=3 {
        let mut run = base.fork(seed).map_err(io::Error::other)?;
        let (allocations, start) = (ALLOCATIONS.load(Ordering::Relaxed), Instant::now());
        run.run_to_end(&AtomicBool::new(false), &mut |_| {}).map_err(io::Error::other)?;
        let seconds = start.elapsed().as_secs_f64();
        let allocations = ALLOCATIONS.load(Ordering::Relaxed) - allocations;
        let summary = run.summary();
        writeln!(
            out,
            "incast 16 x 8 MiB: {:.2} M packet-hops/s, {:.2} M events/s, {} hops, {allocations} allocations",
            summary.packet_hops as f64 / seconds / 1e6,
            summary.events as f64 / seconds / 1e6,
            summary.packet_hops,
        )?;
    }
    Ok(())
}

/// A data packet that goes through one switch again and again.
fn pipeline(out: &mut impl Write) -> io::Result<()> {
    let mut network = incast(&scenario(2, 1 << 20, 150));
    let packet = data_packet();
    let switch = network.switch_mut(1).ok_or_else(|| io::Error::other("no switch"))?;
    const ROUNDS: u32 = 1_000_000;
    let start = Instant::now();
    let mut now = Time::ZERO;
    for _ in 0..ROUNDS {
        switch.receive(now, 2, packet.clone());
        while let Some(port) = switch.next_ready() {
            if let Some(sent) = switch.transmit(now, port) {
                now += sent.duration;
            }
        }
    }
    let ns = start.elapsed().as_nanos() as f64 / f64::from(ROUNDS);
    writeln!(out, "one switch, parser to deparser, queue included: {ns:.0} ns a packet")
}

/// Packets that wait, by filling the queue of a port that nobody empties.
fn memory(out: &mut impl Write) -> io::Result<()> {
    const WAITING: u32 = 1 << 15;
    let mut network = incast(&scenario(2, 1 << 20, WAITING));
    let packet = data_packet();
    let switch = network.switch_mut(1).ok_or_else(|| io::Error::other("no switch"))?;
    let before = IN_USE.load(Ordering::Relaxed);
    for _ in 0..WAITING {
        switch.receive(Time::ZERO, 2, packet.clone());
    }
    let bytes = (IN_USE.load(Ordering::Relaxed) - before) as f64 / switch.waiting() as f64;
    writeln!(out, "packet that waits in a queue: {bytes:.0} B")?;
    writeln!(out, "packet on a link: {} B", core::mem::size_of::<(Time, Packet)>())
}

/// A packet of 1,500 B from host 1 to host 0, with 78 B of headers.
fn data_packet() -> Packet {
    let header = [
        2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 3, 5, 220, 0, 0, 0x40, 0, 64, 17, 0x21, 0x0c, 10, 0,
        0, 2, 10, 0, 0, 1, 0xc0, 0, 0xcc, 0, 5, 200, 0, 0,
    ];
    let mut head = [0; 78];
    head[..header.len()].copy_from_slice(&header);
    Packet::new(&head, 1_436)
}
