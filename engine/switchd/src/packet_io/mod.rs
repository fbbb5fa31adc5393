//! A network interface as a port: frames in from a ring shared with the kernel, frames out many at a time.
//!
//! Invariants: a frame that does not fit the ring is counted, never cut; what the interface does not take is
//! counted, never waited for; packets that this host itself sends on the interface are not seen.

mod files;
mod message;
pub(crate) mod sys;
mod xdp;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use libc::{SOL_PACKET, tpacket_req};
use p4cc_switch::{Packet, PacketPool};

use files::FilePort;
use message::MessagePort;
pub use sys::pin_to;
pub(crate) use sys::precise_timers;
use sys::{MAX_SEND, Ring, send_many, set_option};
use xdp::{Refusal, XdpSocket};

/// Room of a ring's frame beside the interface's largest
/// payload: the kernel's header, Ethernet's, two VLAN tags.
const FRAME_OVERHEAD: u32 = 128;
/// Smallest frame of a ring.
const MIN_FRAME: u32 = 2_048;
/// Largest frame of a ring: the largest packet that a switch takes.
const MAX_FRAME: u32 = 1 << 17;
/// Frames of a packet socket's ring beside an AF_XDP socket.
const MAX_RING_BESIDE_XDP: u32 = 2_048;
/// The queueing discipline of an interface that has none.
const NO_QUEUEING: &str = "noqueue";
/// Zero bytes that packets without stored payload are sent from.
static ZEROS: [u8; p4cc_switch::MAX_PACKET_BYTES as usize] = [0; p4cc_switch::MAX_PACKET_BYTES as usize];

/// Why an interface cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InterfaceError {
    /// There is no such interface.
    #[error("there is no interface {0} in this network namespace; `ip link` lists the interfaces")]
    Missing(String),
    /// Packet sockets are for root.
    #[error("interface {0}: packet sockets need root or CAP_NET_RAW; start the switch with sudo")]
    Denied(String),
    /// `--io af_xdp` cannot be had.
    #[error("interface {0}: {1}; --io auto would use packet sockets")]
    Xdp(String, String),
    /// Something else.
    #[error("interface {0}: {1}: {2}")]
    System(String, &'static str, io::Error),
}

/// How packets come from an interface and go to it.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, clap::ValueEnum)]
#[clap(rename_all = "snake_case")]
pub enum Io {
    /// AF_XDP sockets where nothing is lost by it, else packet sockets
    #[default]
    Auto,
    /// AF_XDP sockets
    AfXdp,
    /// Packet sockets (AF_PACKET)
    Packet,
}

/// What an interface lost; everything else is in the switch's own counters.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct InterfaceLosses {
    /// Frames that the kernel dropped because the ring was full.
    pub ring_full: u64,
    /// Frames longer than the ring's: their sender has segmentation offload on.
    pub too_long: u64,
    /// Frames that the interface did not take.
    pub not_sent: u64,
}

/// What carries the packets.
enum Medium {
    /// A packet socket and its ring, for all packets or for those that an AF_XDP socket leaves to it.
    Ring(Ring, OwnedFd, Option<Box<XdpSocket>>),
    /// A socket that all ports share.
    Message(MessagePort),
    /// Two files.
    Files(FilePort),
    /// Nothing, until the interface is attached again.
    Closed,
}

/// An open interface.
pub struct Interface {
    name: String,
    medium: Medium,
    /// How packets are moved, and why so.
    way: String,
    /// The largest MTU whose frames fit the rings.
    max_mtu: u32,
    losses: InterfaceLosses,
    /// Frames came in whose checksum their sender had left to an offload; they were completed.
    pub(crate) checksums_completed: u64,
}

impl Interface {
    /// Opens an interface of this network namespace, with
    /// rings of this many frames, rounded up to what they allow.
    ///
    /// # Errors
    /// There is no such interface, the process may not, or the system refuses a step.
    pub fn open(name: &str, ring_frames: u32, io: Io) -> Result<Self, InterfaceError> {
        let system = |what| move |error| InterfaceError::System(name.to_owned(), what, error);
        let fd = sys::packet_socket().map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => InterfaceError::Denied(name.to_owned()),
            _ => system("cannot open a packet socket")(error),
        })?;
        let index = sys::interface_index(name).map_err(|_| InterfaceError::Missing(name.to_owned()))?;
        let mtu = sys::interface_mtu(&fd, name).map_err(system("cannot read its MTU"))?;
        let xdp = (io != Io::Packet).then(|| open_xdp(name, index, mtu, ring_frames, io)).transpose();
        let (xdp, way) = match xdp {
            Ok(Some(xdp)) => {
                let way = xdp.describe();
                (Some(Box::new(xdp)), way)
            }
            Ok(None) => (None, "packet socket, as requested".to_owned()),
            Err(refusal) if io == Io::Auto => (None, format!("packet socket: {refusal}")),
            Err(refusal) => return Err(InterfaceError::Xdp(name.to_owned(), refusal.to_string())),
        };
        // Beside AF_XDP, it has what comes seldom.
        let ring_frames = if xdp.is_some() { ring_frames.min(MAX_RING_BESIDE_XDP) } else { ring_frames };
        let ring = packet_ring(&fd, index, mtu, ring_frames).map_err(|(what, error)| system(what)(error))?;
        let of_ring = ring_request(mtu, ring_frames).tp_frame_size - FRAME_OVERHEAD;
        let max_mtu = xdp.as_ref().map_or(of_ring, |xdp| xdp.max_mtu().min(of_ring));
        Ok(Self { max_mtu, ..Self::of(name, Medium::Ring(ring, fd, xdp), way) })
    }

    fn of(name: &str, medium: Medium, way: String) -> Self {
        let losses = InterfaceLosses::default();
        Self { name: name.to_owned(), medium, way, max_mtu: u32::MAX, losses, checksums_completed: 0 }
    }

    /// Lets go of the interface: nothing comes in, and what is sent is counted as lost.
    pub(crate) fn close(&mut self) {
        self.losses();
        self.medium = Medium::Closed;
    }

    /// Takes the place of what was closed, with its losses.
    pub(crate) fn replace(&mut self, by: Self) {
        let losses = self.losses();
        let checksums_completed = self.checksums_completed;
        *self = Self { losses, checksums_completed, ..by };
    }

    /// Ports whose packets come and go over one socket, `ipc://PATH` or `tcp://HOST:PORT`.
    ///
    /// # Errors
    /// The address is none, or is taken.
    pub fn listen(address: &str, ports: &[u32]) -> Result<Vec<Self>, InterfaceError> {
        let ports = message::listen(address, ports)
            .map_err(|error| InterfaceError::System(address.to_owned(), "cannot listen", error))?;
        let open = |port| Self::of(address, Medium::Message(port), "a socket of all ports".to_owned());
        Ok(ports.into_iter().map(open).collect())
    }

    /// Ports, as number and name, whose packets come from `NAME_in.pcap` after `wait`, and go to
    /// `NAME_out.pcap`.
    ///
    /// # Errors
    /// A file is missing, is no pcap file, or cannot be made.
    pub(crate) fn files(ports: &[(u32, &str)], wait: Duration) -> Result<Vec<Self>, InterfaceError> {
        let opened = files::open(ports, wait)
            .map_err(|(file, error)| InterfaceError::System(file, "cannot be used", error))?;
        let named = opened.into_iter().zip(ports);
        Ok(named
            .map(|(port, (_, name))| Self::of(name, Medium::Files(port), "pcap files".to_owned()))
            .collect())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How its packets are moved, and why so.
    pub fn way(&self) -> &str {
        &self.way
    }

    /// What tells how an interface of the kernel's is doing; none for a socket, whose ports are always up.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub(crate) fn watch(&self) -> Result<Option<Watch>, InterfaceError> {
        let Medium::Ring(_, fd, _) = &self.medium else { return Ok(None) };
        let name = self.name.clone();
        let system = |error| InterfaceError::System(name.clone(), "cannot be watched", error);
        let socket = fd.try_clone().map_err(system)?;
        Ok(Some(Watch { name, socket, max_mtu: self.max_mtu }))
    }

    /// What to wait for.
    pub fn raw_fds(&self) -> impl Iterator<Item = RawFd> + use<> {
        let (first, second) = match &self.medium {
            Medium::Ring(_, fd, xdp) => (Some(fd.as_raw_fd()), xdp.as_ref().map(|xdp| xdp.raw_fd())),
            Medium::Message(port) => (Some(port.raw_fd()), None),
            Medium::Files(port) => (Some(port.raw_fd()), None),
            Medium::Closed => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// Waits until an interface has packets or the time is over; without a time, as long as it takes.
    ///
    /// # Errors
    /// The system cannot wait.
    pub fn wait(interfaces: &[Self], timeout: Option<Duration>) -> io::Result<()> {
        let mut fds: Vec<_> = interfaces.iter().flat_map(Self::raw_fds).map(sys::readable).collect();
        sys::wait(&mut fds, timeout)
    }

    /// The next packet, if one is there, in memory of the pool.
    #[inline]
    pub fn receive(&mut self, pool: &mut PacketPool) -> Option<Packet> {
        let ring = match &mut self.medium {
            Medium::Ring(ring, _, None) => ring,
            Medium::Ring(ring, _, Some(xdp)) => {
                let mut packet = None;
                let completed = &mut self.checksums_completed;
                xdp.receive(|frame| {
                    *completed += u64::from(super::checksum::complete_if_left(frame));
                    packet = Some(pool.take_with(frame));
                });
                if packet.is_some() {
                    return packet;
                }
                ring
            }
            Medium::Message(port) => return port.receive(pool),
            Medium::Files(port) => return port.receive(pool),
            Medium::Closed => return None,
        };
        loop {
            let mut packet = None;
            let (losses, completed) = (&mut self.losses, &mut self.checksums_completed);
            let received = ring.receive(|frame| {
                if frame.wire_len as usize > frame.bytes.len() {
                    losses.too_long += 1;
                    return;
                }
                let mut whole = pool.take_with(frame.bytes);
                if frame.checksum_missing && super::checksum::complete(&mut whole.head) {
                    *completed += 1;
                }
                if let Some((protocol, control)) = frame.vlan {
                    insert_vlan(&mut whole, protocol, control);
                }
                packet = Some(whole);
            });
            if packet.is_some() || !received {
                return packet;
            }
        }
    }

    /// Sends packets, in order; what the interface does not take is
    /// counted. Leaves `packets` empty; their memory goes to the pool.
    pub fn send(&mut self, packets: &mut Vec<Packet>, pool: &mut PacketPool) {
        self.losses.not_sent += match &mut self.medium {
            Medium::Ring(_, fd, None) => send_to_packet_socket(fd, packets),
            Medium::Ring(_, fd, Some(xdp)) => send_to_xdp_socket(xdp, fd, packets),
            Medium::Message(port) => packets.iter().filter(|packet| !port.send(packet)).count() as u64,
            Medium::Files(port) => port.send(packets),
            Medium::Closed => packets.len() as u64,
        };
        packets.drain(..).for_each(|packet| pool.give(packet));
    }

    /// What was lost so far.
    pub fn losses(&mut self) -> InterfaceLosses {
        if let Medium::Ring(_, fd, xdp) = &mut self.medium {
            self.losses.ring_full += u64::from(sys::take_ring_drops(fd));
            self.losses.ring_full += xdp.as_mut().map_or(0, |xdp| xdp.take_drops());
        }
        self.losses
    }
}

/// How an interface of the kernel's that is a port is doing.
pub(crate) struct Watch {
    /// Its name when it was attached.
    name: String,
    /// Its packet socket once more.
    socket: OwnedFd,
    max_mtu: u32,
}

/// What a [`Watch`] finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It has a link.
    Up,
    /// It has a link, and an MTU whose packets are lost in part.
    UpCut(String),
    /// It has none, for this reason.
    Down(String),
    /// It has an MTU that it must be attached again for.
    Outgrown(u32),
    /// It is gone, whatever was made in its place.
    Gone,
}

impl Watch {
    /// The name that it was attached by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Looks.
    pub fn look(&self, io: Io) -> Finding {
        let Some(name) = sys::bound_interface(&self.socket) else { return Finding::Gone };
        // It may go between the two questions.
        let Ok(state) = sys::interface_state(&self.socket, &name) else { return Finding::Gone };
        if state.mtu > self.max_mtu && (io != Io::AfXdp || state.mtu <= xdp::largest_mtu()) {
            Finding::Outgrown(state.mtu)
        } else if !state.up {
            Finding::Down(format!("interface {name} is down; set it up: ip link set dev {name} up"))
        } else if !state.runs {
            Finding::Down(format!("interface {name} has no link: its peer is down or missing"))
        } else if state.mtu > self.max_mtu {
            let cause = xdp::mtu_refusal(&name, state.mtu);
            Finding::UpCut(format!("longer packets are lost: {cause}, or start the switch with --io auto"))
        } else {
            Finding::Up
        }
    }
}

/// A packet's stored bytes, and the zeros behind them.
#[inline]
fn parts(packet: &Packet) -> [&[u8]; 2] {
    [&packet.head[..], &ZEROS[..(packet.zeros as usize).min(ZEROS.len())]]
}

/// Sends packets, in order; how many the interface did not take.
fn send_to_packet_socket(fd: &OwnedFd, packets: &[Packet]) -> u64 {
    let (mut rest, mut not_sent) = (packets, 0);
    while !rest.is_empty() {
        match send_many(fd, rest.iter().take(MAX_SEND).map(parts)) {
            Ok(sent) if sent > 0 => rest = &rest[sent.min(rest.len())..],
            // The first of them was refused: too long for the
            // interface, too short, or no room; or it is down.
            _ => {
                not_sent += 1;
                rest = &rest[1..];
            }
        }
    }
    not_sent
}

/// Sends packets, in order; how many the interface did not take. Those that
/// are too long for a frame go the other way, which may know longer ones.
fn send_to_xdp_socket(xdp: &mut XdpSocket, fd: &OwnedFd, packets: &[Packet]) -> u64 {
    let mut not_sent = 0;
    for packet in packets {
        let [head, zeros] = parts(packet);
        if !xdp.fits(head.len() + zeros.len()) {
            not_sent += xdp.flush() + send_to_packet_socket(fd, std::slice::from_ref(packet));
        } else if !xdp.queue(head, zeros.len()) {
            not_sent += xdp.flush();
            not_sent += u64::from(!xdp.queue(head, zeros.len()));
        }
    }
    not_sent + xdp.flush()
}

/// The AF_XDP socket of an interface, where it is asked for or loses nothing.
fn open_xdp(name: &str, index: i32, mtu: u32, ring_frames: u32, io: Io) -> Result<XdpSocket, Refusal> {
    if io == Io::Auto {
        match sys::queueing_discipline(index) {
            Ok(Some(none)) if none == NO_QUEUEING => {}
            Ok(other) => return Err(Refusal::Discipline(other.unwrap_or_default())),
            Err(error) => return Err(Refusal::Step("tell its queueing discipline", error)),
        }
    }
    XdpSocket::open(name, index, mtu, ring_frames, io == Io::AfXdp)
}

/// Makes the receive ring of a packet socket and binds the socket; what failed, if anything.
fn packet_ring(fd: &OwnedFd, index: i32, mtu: u32, frames: u32) -> Result<Ring, (&'static str, io::Error)> {
    let failed = |what| move |error| (what, error);
    let request = ring_request(mtu, frames);
    let option = |option, value: &libc::c_int| set_option(fd, SOL_PACKET, option, value);
    option(libc::PACKET_VERSION, &(libc::tpacket_versions::TPACKET_V2 as libc::c_int))
        .map_err(failed("cannot choose the ring's version"))?;
    option(libc::PACKET_IGNORE_OUTGOING, &1).map_err(failed("cannot ignore outgoing packets"))?;
    set_option(fd, SOL_PACKET, libc::PACKET_RX_RING, &request)
        .map_err(failed("cannot make a receive ring; reduce --ring-frames"))?;
    let ring = Ring::map(fd, &request).map_err(failed("cannot map the receive ring"))?;
    let promiscuous = libc::packet_mreq {
        mr_ifindex: index,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set_option(fd, SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous)
        .map_err(failed("cannot receive what is not addressed to this host"))?;
    sys::bind(fd, index).map_err(failed("cannot bind to it"))?;
    Ok(ring)
}

/// A ring whose frames hold the interface's packets, in blocks that hold whole frames.
fn ring_request(mtu: u32, frames: u32) -> tpacket_req {
    let tp_frame_size = mtu.saturating_add(FRAME_OVERHEAD).clamp(MIN_FRAME, MAX_FRAME).next_power_of_two();
    let tp_block_size = tp_frame_size.max(1 << 16);
    let per_block = tp_block_size / tp_frame_size;
    let tp_block_nr = frames.div_ceil(per_block).max(1);
    tpacket_req { tp_block_size, tp_block_nr, tp_frame_size, tp_frame_nr: tp_block_nr * per_block }
}

/// Puts the VLAN tag back that the kernel took out, behind the two addresses (IEEE 802.1Q).
fn insert_vlan(packet: &mut Packet, protocol: u16, control: u16) {
    const ADDRESSES: usize = 12;
    if packet.head.len() >= ADDRESSES {
        let tag = [protocol.to_be_bytes(), control.to_be_bytes()].concat();
        packet.head.insert(ADDRESSES, &tag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_hold_whole_frames_for_every_mtu() {
        for mtu in [0, 68, 1_500, 1_900, 1_921, 9_000, 65_535, u32::MAX] {
            for frames in [1, 33, 4_096] {
                let request = ring_request(mtu, frames);
                assert!(request.tp_frame_size >= mtu.min(65_535) + FRAME_OVERHEAD);
                assert_eq!(request.tp_block_size % request.tp_frame_size, 0);
                assert_eq!(
                    u64::from(request.tp_frame_nr) * u64::from(request.tp_frame_size),
                    u64::from(request.tp_block_nr) * u64::from(request.tp_block_size)
                );
                assert!(request.tp_frame_nr >= frames);
            }
        }
    }

    #[test]
    fn a_vlan_tag_goes_behind_the_addresses() {
        let mut packet = Packet::new(&[[1; 6], [2; 6]].concat(), 3);
        insert_vlan(&mut packet, 0x8100, 0x2005);
        assert_eq!(packet.head[12..], [0x81, 0x00, 0x20, 0x05]);
        let mut short = Packet::new(&[1; 5], 0);
        insert_vlan(&mut short, 0x8100, 1);
        assert_eq!(short.len(), 5);
    }
}
