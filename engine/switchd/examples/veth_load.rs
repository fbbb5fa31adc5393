//! What `make bench-veth` measures with: a sender, a receiver, and a forwarder that does nothing but forward.
//!
//! ```text
//! veth_load send INTERFACE BYTES RATE_PPS SECONDS CPU    frames at a steady rate; prints how many went out
//! veth_load burst INTERFACE BYTES RATE_PPS FRAMES CPU    so many frames at a steady rate
//! veth_load forward INTERFACE INTERFACE CPU IO           the daemon's own I/O without a switch, until killed
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "results are for whoever measures")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use p4cc_switch::{Packet, PacketPool};
use p4cc_switchd::{Interface, Io, pin_to};

/// Frames of the rings, as many as the bench gives the daemon.
const RING_FRAMES: u32 = 16_384;
/// Longest time for a burst.
const PATIENCE: Duration = Duration::from_secs(30);
/// Frames in one call of the system.
const BATCH: u64 = 32;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["send", interface, bytes, rate_pps, seconds, cpu] => number(seconds).and_then(|seconds| {
            let limit = Duration::from_secs(seconds.saturating_add(1));
            send(interface, bytes, rate_pps, number(rate_pps)?.saturating_mul(seconds), limit, cpu)
        }),
        ["burst", interface, bytes, rate_pps, frames, cpu] => {
            number(frames).and_then(|frames| send(interface, bytes, rate_pps, frames, PATIENCE, cpu))
        }
        ["forward", a, b, cpu, "packet"] => forward(a, b, cpu, Io::Packet),
        ["forward", a, b, cpu, "af_xdp"] => forward(a, b, cpu, Io::AfXdp),
        _ => Err("usage: veth_load send|burst|forward ...; see the source".to_owned()),
    };
    if let Err(cause) = done {
        eprintln!("veth_load: {cause}");
        std::process::exit(2);
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn open(interface: &str, cpu: &str, io: Io) -> Result<Interface, String> {
    pin_to(number(cpu)? as usize).map_err(|error| error.to_string())?;
    Interface::open(interface, RING_FRAMES, io).map_err(|error| error.to_string())
}

/// One of so many frames of a steady load is a probe: to this UDP port, with the time at which it was sent.
const PROBE_EVERY: u64 = 256;
const PROBE_PORT: u16 = 5_001;
/// Where a frame has its UDP port and its payload.
const PORT_AT: usize = 36;
const PAYLOAD_AT: usize = 42;

/// A frame as a probe: nanoseconds since the Epoch begin its payload.
fn probe(frame: &Packet) -> Packet {
    let mut head = frame.head.to_vec();
    head[PORT_AT..PORT_AT + 2].copy_from_slice(&PROBE_PORT.to_be_bytes());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    head.extend((now.as_nanos() as u64).to_le_bytes());
    debug_assert_eq!(head.len(), PAYLOAD_AT + 8);
    Packet::new(&head, frame.zeros - 8)
}

/// IPv4 and UDP from 10.9.0.1 to 10.9.0.2 with right checksums, ECN-capable; the payload is zeros.
fn frame(bytes: u32) -> Packet {
    let mut head = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let ip_bytes = (bytes - 14) as u16;
    let mut ip = vec![0x45, 2, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2];
    ip[2..4].copy_from_slice(&ip_bytes.to_be_bytes());
    let sum: u32 = ip.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    head.extend(ip);
    // UDP without a checksum.
    head.extend([0x13, 0x88, 0x13, 0x88]);
    head.extend((ip_bytes - 20).to_be_bytes());
    head.extend([0, 0]);
    let zeros = bytes - head.len() as u32;
    Packet::new(&head, zeros)
}

fn send(
    interface: &str,
    bytes: &str,
    rate_pps: &str,
    total: u64,
    limit: Duration,
    cpu: &str,
) -> Result<(), String> {
    let mut interface = open(interface, cpu, Io::Auto)?;
    let packet = frame(number(bytes)?.clamp(64, 1_514) as u32);
    let (start, rate_pps) = (Instant::now(), number(rate_pps)?.max(1));
    let (mut sent, mut batch, mut pool) = (0, Vec::new(), PacketPool::keeping(BATCH as usize));
    while sent < total {
        let due = (start.elapsed().as_nanos() as u64).saturating_mul(rate_pps) / 1_000_000_000;
        let now = due.min(total).saturating_sub(sent).min(BATCH);
        if now == 0 {
            std::hint::spin_loop();
            continue;
        }
        // A sender that cannot keep up stops in time; what it sent is what counts.
        if start.elapsed() > limit {
            break;
        }
        let frame = |at: u64| if at.is_multiple_of(PROBE_EVERY) { probe(&packet) } else { packet.clone() };
        batch.extend((sent..sent + now).map(frame));
        interface.send(&mut batch, &mut pool);
        sent += now;
    }
    let not_sent = interface.losses().not_sent;
    println!("{} {:.3}", sent - not_sent, start.elapsed().as_secs_f64());
    Ok(())
}

/// The daemon's loop without a switch: frames of each interface go out of the other.
fn forward(a: &str, b: &str, cpu: &str, io: Io) -> Result<(), String> {
    let mut interfaces = [open(a, cpu, io)?, open(b, cpu, io)?];
    let (mut batch, mut pool) = (Vec::new(), PacketPool::keeping(BATCH as usize));
    loop {
        let mut any = false;
        for from in 0..2 {
            batch.extend((0..BATCH).map_while(|_| interfaces[from].receive(&mut pool)));
            any |= !batch.is_empty();
            interfaces[1 - from].send(&mut batch, &mut pool);
        }
        if !any {
            Interface::wait(&interfaces, None).map_err(|error| error.to_string())?;
        }
    }
}
