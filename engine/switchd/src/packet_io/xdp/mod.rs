//! A port's packets over an AF_XDP socket (the kernel's documentation, "AF_XDP"): a program on the interface
//! hands them to the socket before the kernel makes more of them, and many leave in one call, without the
//! layers that a packet socket sends through.
//!
//! The socket copies (`XDP_COPY`): its kernel end sends inside of our own call only, so that what an
//! interface did not take can be taken back and counted. Frames lie in memory of the socket's own (UMEM),
//! those to receive in front. The frames to send are few and are used again at once, so that they stay in the
//! processor's cache.
//!
//! Crate `xdp` would replace the rings and is as fast (docs/reference/performance.md), but it attaches no
//! program and neither reports nor takes back packets that the kernel did not take, which `not_sent` counts.

#![allow(unsafe_code, reason = "system calls and memory shared with the kernel; each use states its proof")]

mod bpf;
mod btf;
mod ring;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use libc::{SOL_XDP, c_int, c_void, xdp_desc, xdp_mmap_offsets, xdp_statistics, xdp_umem_reg};

use p4cc_switch::prefetch::prefetch_start;

use super::sys::{self, Mapping, PlainOption, check, set_option};
use bpf::{Attached, Mode, Sockets};
use ring::Ring;

/// Room that the kernel keeps in front of a received packet (`XDP_PACKET_HEADROOM`).
const HEADROOM: u32 = 256;
/// Ethernet's header and two VLAN tags, beside an interface's largest payload.
const MAX_LINK_HEADER: u32 = 22;
/// Sizes that a frame of the memory may have: powers of two up to a page.
const FRAME_BYTES: [u32; 2] = [2_048, 4_096];
/// Frames to send, which is also the most that leave in one call.
const SEND_FRAMES: u32 = 64;
/// Packets that one call sends at most (`XDP_MAX_TX_SKB_BUDGET`, Linux 6.18; before, 32).
const XDP_MAX_TX_SKB_BUDGET: c_int = 9;
/// What the processor fetches of memory at once.
const CACHE_LINE_BYTES: usize = 64;
/// Longest wait for a queue whose socket was closed, and how often it is tried.
const MAX_RELEASE: Duration = Duration::from_secs(1);
const RELEASE_STEP: Duration = Duration::from_millis(10);
/// Calls in which the kernel takes nothing, after which the rest is left for later.
const MAX_STALLS: u32 = 3;

/// Why an interface's packets do not come over AF_XDP.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("this kernel does not support AF_XDP sockets (CONFIG_XDP_SOCKETS)")]
    Kernel,
    #[error("AF_XDP needs root, or CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF; start the switch with sudo")]
    Denied,
    #[error(
        "its MTU of {mtu} is above the {most} bytes of an AF_XDP frame; \
         reduce it: ip link set dev {name} mtu {most}",
        most = largest_mtu()
    )]
    Mtu { name: String, mtu: u32 },
    #[error("its queueing discipline is {0}, which AF_XDP would bypass; only `noqueue` is allowed")]
    Discipline(String),
    #[error(
        "another process uses AF_XDP or XDP on it; stop that process, or detach the program: ip link set dev {0} xdp off"
    )]
    Taken(String),
    #[error("its driver or this kernel cannot {0}: {1}")]
    Step(&'static str, #[source] io::Error),
    #[error("not enough memory for {0} frames; reduce --ring-frames: {1}")]
    Memory(u32, #[source] io::Error),
}

/// The largest payload of an interface whose packets fit the largest frame.
pub(super) const fn largest_mtu() -> u32 {
    FRAME_BYTES[1] - HEADROOM - MAX_LINK_HEADER
}

/// An AF_XDP socket on receive queue 0 of an interface, and the program that hands packets to it.
pub(crate) struct XdpSocket {
    // In the order in which they go: the program first, so that packets take the
    // other way from then on; the socket before the memory that it knows.
    _program: Attached,
    _sockets: Sockets,
    received: Ring<xdp_desc>,
    fill: Ring<u64>,
    sending: Ring<xdp_desc>,
    completed: Ring<u64>,
    fd: OwnedFd,
    memory: Mapping,
    frame_bytes: u32,
    /// First bytes of frames that a packet to send may take; the last one was used last.
    free: Vec<u64>,
    /// Frames taken that the kernel was not given back yet.
    taken: u32,
    /// The kernel has looked at packets to send that it did not take.
    is_looked_at: bool,
    /// What the kernel had dropped when it was asked last.
    dropped: u64,
    mode: Mode,
    /// Packets whose VLAN tag the kernel keeps apart come whole, over the packet socket.
    sees_vlan_tags: bool,
}

impl XdpSocket {
    /// Opens the interface of this name and number. Where `any` way will do, in the kernel in place of
    /// the driver too, and with VLAN tags that the kernel keeps apart lost; else only what loses nothing.
    pub fn open(name: &str, index: c_int, mtu: u32, frames: u32, any: bool) -> Result<Self, Refusal> {
        let step = |what| move |error| refusal(name, what, error);
        let fits = |bytes: &u32| mtu.saturating_add(HEADROOM + MAX_LINK_HEADER) <= *bytes;
        let frame_bytes = FRAME_BYTES.into_iter().find(fits).ok_or_else(|| mtu_refusal(name, mtu))?;
        let fd = sys::socket(libc::AF_XDP, libc::SOCK_RAW, 0).map_err(step("open an AF_XDP socket"))?;
        let sockets = Sockets::new().map_err(step("make a map of sockets"))?;
        let receive = frames.next_power_of_two();
        let no_memory = |error| Refusal::Memory(receive, error);
        let (memory, rings) = memory_and_rings(&fd, receive, frame_bytes).map_err(no_memory)?;
        let (received, mut fill, sending, completed) = rings;
        let address = |frame: u32| u64::from(frame) * u64::from(frame_bytes);
        (0..receive).for_each(|frame| {
            fill.push(address(frame));
        });
        fill.publish();
        let free = (receive..receive + SEND_FRAMES).rev().map(address).collect();
        // Kernels before 6.18 send 32 in a call.
        let _ = set_option(&fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &(SEND_FRAMES as c_int));
        bind(&fd, index).map_err(step("bind an AF_XDP socket"))?;
        sockets.set(&fd).map_err(step("put the socket into the map"))?;
        let (program, mode, sees_vlan_tags) =
            attach(&sockets, index, any).map_err(|(what, error)| step(what)(error))?;
        let dropped = 0;
        Ok(Self {
            _program: program,
            _sockets: sockets,
            received,
            fill,
            sending,
            completed,
            fd,
            memory,
            frame_bytes,
            free,
            taken: 0,
            is_looked_at: false,
            dropped,
            mode,
            sees_vlan_tags,
        })
    }

    /// In words for the log.
    pub fn describe(&self) -> String {
        let mode = match self.mode {
            Mode::Native => "native",
            Mode::Generic => "generic",
        };
        let tags = if self.sees_vlan_tags { "" } else { "; VLAN tags that the kernel takes out are lost" };
        format!("AF_XDP, {mode} XDP{tags}")
    }

    /// The largest payload of an interface whose packets fit a frame.
    pub fn max_mtu(&self) -> u32 {
        self.frame_bytes - HEADROOM - MAX_LINK_HEADER
    }

    pub fn raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Lends the next packet, then gives its frame back; false if there is none.
    #[inline]
    pub fn receive(&mut self, f: impl FnOnce(&mut [u8])) -> bool {
        let Some(packet) = self.received.pop() else {
            self.give_back();
            return false;
        };
        // The sender's processor wrote the packets: while this one is worked on, the next one comes over.
        if let Some(next) = self.received.peek().and_then(|next| self.frame(next)) {
            next.chunks(CACHE_LINE_BYTES).for_each(prefetch_start);
        }
        if let Some(frame) = self.frame_mut(packet) {
            f(frame);
        }
        // There is room: as many frames are in use as the ring has entries.
        self.fill.push(packet.addr - packet.addr % u64::from(self.frame_bytes));
        self.taken += 1;
        if self.taken >= SEND_FRAMES {
            self.give_back();
        }
        true
    }

    /// The bytes of a packet that was received and not given back.
    #[inline]
    fn frame(&self, packet: xdp_desc) -> Option<&[u8]> {
        let start = self.range(packet.addr, packet.len)?;
        // SAFETY: the range lies inside the memory, and the kernel gave us the frame:
        // it writes there again only after `give_back`, which takes `&mut self`.
        Some(unsafe {
            std::slice::from_raw_parts(self.memory.base().as_ptr().add(start), packet.len as usize)
        })
    }

    /// The same to change them.
    #[inline]
    fn frame_mut(&mut self, packet: xdp_desc) -> Option<&mut [u8]> {
        let start = self.range(packet.addr, packet.len)?;
        let at = self.memory.base();
        // SAFETY: as in `frame`; `&mut self` lends it once.
        Some(unsafe { std::slice::from_raw_parts_mut(at.as_ptr().add(start), packet.len as usize) })
    }

    /// Lets the kernel use the frames again that were read.
    #[inline]
    fn give_back(&mut self) {
        if self.taken > 0 {
            self.fill.publish();
            self.received.release();
            self.taken = 0;
        }
    }

    /// Where so many bytes at an address start in the memory, if they lie inside.
    #[inline]
    fn range(&self, address: u64, len: u32) -> Option<usize> {
        let start = usize::try_from(address).ok()?;
        (start.checked_add(len as usize)? <= self.memory.len()).then_some(start)
    }

    /// Whether a packet of so many bytes fits a frame.
    #[inline]
    pub fn fits(&self, bytes: usize) -> bool {
        bytes <= self.frame_bytes as usize
    }

    /// Puts a packet that fits, and zeros behind it, into a frame; false where
    /// no frame is free, until [`Self::flush`].
    #[inline]
    pub fn queue(&mut self, head: &[u8], zeros: usize) -> bool {
        let len = head.len() + zeros;
        let Some(&frame) = self.free.last() else { return false };
        let Some(start) = self.range(frame, len as u32).filter(|_| self.fits(len)) else { return false };
        // SAFETY: `start + len` lies inside the memory and inside one frame, which is free: neither the
        // kernel nor a lent slice uses it, and `head` is no part of the memory, whose slices are lent under
        // `&mut self` only.
        unsafe {
            let to = self.memory.base().as_ptr().add(start);
            std::ptr::copy_nonoverlapping(head.as_ptr(), to, head.len());
            std::ptr::write_bytes(to.add(head.len()), 0, zeros);
        }
        let queued = self.sending.push(xdp_desc { addr: frame, len: len as u32, options: 0 });
        if queued {
            self.free.pop();
        }
        queued
    }

    /// Sends what is queued; how many packets the interface did not take. What it has no room for yet stays
    /// queued for the next time.
    pub fn flush(&mut self) -> u64 {
        self.sending.publish();
        let (mut left, mut stalls, mut refused) = (self.sending.left(), 0, 0);
        while left > 0 && stalls < MAX_STALLS {
            let error = self.kick().err().and_then(|error| error.raw_os_error());
            let now = self.sending.left();
            match error {
                Some(libc::ENETDOWN) => {
                    refused += self.withdraw();
                    break;
                }
                // A packet that the interface dropped is gone, though the ring may tell so later.
                Some(libc::EBUSY) => refused += 1,
                _ => stalls = if now == left { stalls + 1 } else { 0 },
            }
            (self.is_looked_at, left) = (now > 0, now);
        }
        while let Some(frame) = self.completed.pop() {
            self.free.push(frame - frame % u64::from(self.frame_bytes));
        }
        self.completed.release();
        refused
    }

    fn kick(&self) -> io::Result<()> {
        // SAFETY: no bytes and no address are given.
        let sent = unsafe {
            libc::sendto(self.fd.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0)
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Takes back what the kernel did not take of an interface that is down, so that it is not sent when that
    /// is up again; how many packets that are. What the kernel looked at already, before the interface went
    /// down in the middle of it, can no more be taken back.
    fn withdraw(&mut self) -> u64 {
        if self.is_looked_at {
            return 0;
        }
        let before = self.free.len();
        let free = &mut self.free;
        self.sending.withdraw(|packet| free.push(packet.addr));
        (self.free.len() - before) as u64
    }

    /// What the kernel dropped since the last call: no frame was free, or the packet was longer than one.
    pub fn take_drops(&mut self) -> u64 {
        // SAFETY: plain numbers, for which all zeros is a value.
        let mut statistics: xdp_statistics = unsafe { std::mem::zeroed() };
        if get_option(&self.fd, libc::XDP_STATISTICS, &mut statistics).is_err() {
            return 0;
        }
        let dropped = statistics.rx_dropped + statistics.rx_ring_full;
        dropped - std::mem::replace(&mut self.dropped, dropped)
    }
}

/// Why an interface of this MTU has none, with the remedy.
pub(super) fn mtu_refusal(name: &str, mtu: u32) -> Refusal {
    Refusal::Mtu { name: name.to_owned(), mtu }
}

/// The refusal that an error of a step means.
fn refusal(name: &str, what: &'static str, error: io::Error) -> Refusal {
    match error.raw_os_error() {
        Some(libc::EAFNOSUPPORT) => Refusal::Kernel,
        Some(libc::EPERM | libc::EACCES) => Refusal::Denied,
        Some(libc::EBUSY | libc::EEXIST) => Refusal::Taken(name.to_owned()),
        _ => Refusal::Step(what, error),
    }
}

/// Attaches the program in the way that loses least.
fn attach(
    sockets: &Sockets,
    index: c_int,
    any: bool,
) -> Result<(Attached, Mode, bool), (&'static str, io::Error)> {
    let ways = [(Mode::Native, true), (Mode::Native, false), (Mode::Generic, false)];
    let mut first = None;
    for (mode, sees_vlan_tags) in ways.into_iter().take(if any { ways.len() } else { 1 }) {
        let attached = bpf::load(sockets, index, sees_vlan_tags)
            .map_err(|error| ("tell XDP programs of VLAN tags", error))
            .and_then(|program| {
                bpf::attach(&program, index, mode).map_err(|error| ("run XDP programs in the driver", error))
            });
        match attached {
            Ok(program) => return Ok((program, mode, sees_vlan_tags)),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| ("attach", io::ErrorKind::Unsupported.into())))
}

/// The four rings: received, fill, sending, completed.
type Rings = (Ring<xdp_desc>, Ring<u64>, Ring<xdp_desc>, Ring<u64>);

/// Makes a socket's memory, frames to receive in front of those to send, and its rings.
fn memory_and_rings(fd: &OwnedFd, receive: u32, frame_bytes: u32) -> io::Result<(Mapping, Rings)> {
    let bytes = (receive + SEND_FRAMES) as usize * frame_bytes as usize;
    let memory = Mapping::anonymous(bytes)?;
    let region = xdp_umem_reg {
        addr: memory.base().as_ptr() as u64,
        len: bytes as u64,
        chunk_size: frame_bytes,
        headroom: 0,
        flags: 0,
        tx_metadata_len: 0,
    };
    set_option(fd, SOL_XDP, libc::XDP_UMEM_REG, &region)?;
    for (option, size) in [
        (libc::XDP_UMEM_FILL_RING, receive),
        (libc::XDP_UMEM_COMPLETION_RING, SEND_FRAMES),
        (libc::XDP_RX_RING, receive),
        (libc::XDP_TX_RING, SEND_FRAMES),
    ] {
        set_option(fd, SOL_XDP, option, &(size as c_int))?;
    }
    // SAFETY: plain numbers, for which all zeros is a value.
    let mut at: xdp_mmap_offsets = unsafe { std::mem::zeroed() };
    get_option(fd, libc::XDP_MMAP_OFFSETS, &mut at)?;
    let rings = (
        Ring::map(fd, libc::XDP_PGOFF_RX_RING as u64, &at.rx, receive)?,
        Ring::map(fd, libc::XDP_UMEM_PGOFF_FILL_RING, &at.fr, receive)?,
        Ring::map(fd, libc::XDP_PGOFF_TX_RING as u64, &at.tx, SEND_FRAMES)?,
        Ring::map(fd, libc::XDP_UMEM_PGOFF_COMPLETION_RING, &at.cr, SEND_FRAMES)?,
    );
    Ok((memory, rings))
}

// SAFETY: `repr(C)`, two words of eight bytes and four of four: no padding.
unsafe impl PlainOption for xdp_umem_reg {}

/// Plain values that the kernel writes as options. Unsafe to implement for types that not any bytes are a
/// value of.
///
/// # Safety
/// The type is `repr(C)` and any bytes are a value of it.
unsafe trait PlainAnswer {}
// SAFETY: `repr(C)`, integers only.
unsafe impl PlainAnswer for xdp_statistics {}
// SAFETY: `repr(C)`, integers only.
unsafe impl PlainAnswer for xdp_mmap_offsets {}

fn get_option<T: PlainAnswer>(fd: &OwnedFd, option: c_int, value: &mut T) -> io::Result<()> {
    let mut len = size_of::<T>() as u32;
    let at = std::ptr::from_mut(value).cast::<c_void>();
    // SAFETY: the kernel writes at most `len` bytes to `at`, which has as many and
    // lives through the call; any bytes are a value of it (`PlainAnswer`).
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), SOL_XDP, option, at, &raw mut len) }).map(|_| ())
}

/// Binds a socket to queue 0 of an interface: from here on it may be handed packets. The
/// kernel lets go of a queue some time after the socket that had it was closed.
fn bind(fd: &OwnedFd, index: c_int) -> io::Result<()> {
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: libc::XDP_COPY,
        sxdp_ifindex: index as u32,
        sxdp_queue_id: 0,
        sxdp_shared_umem_fd: 0,
    };
    let end = Instant::now() + MAX_RELEASE;
    loop {
        let at = (&raw const address).cast::<libc::sockaddr>();
        // SAFETY: `at` points to a whole `sockaddr_xdp`, whose size is given and which lives through the
        // call.
        let bound = check(unsafe { libc::bind(fd.as_raw_fd(), at, size_of::<libc::sockaddr_xdp>() as u32) });
        match bound {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < end => {
                std::thread::sleep(RELEASE_STEP);
            }
            bound => return bound.map(|_| ()),
        }
    }
}
