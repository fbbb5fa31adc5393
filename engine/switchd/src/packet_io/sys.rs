//! What the standard library has no safe call for: packet sockets, their receive
//! ring, sending many packets at once, waiting with nanosecond timeouts. This module and
//! `xdp` are the daemon's only ones with `unsafe`; everything they give out is safe.
//!
//! The ring is TPACKET_V2: version 3 hands packets over by the block, and a block
//! that is not full waits for a timer of at least a millisecond, which is longer
//! than the links that labs model; version 2 hands over each packet at once.

#![allow(unsafe_code, reason = "system calls and memory shared with the kernel; each use states its proof")]

use std::ffi::CString;
use std::io;
use std::mem::{size_of, size_of_val};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use libc::{c_int, c_uint, c_void, iovec, mmsghdr, pollfd, tpacket_req, tpacket2_hdr};

/// Most packets that one system call sends.
pub(crate) const MAX_SEND: usize = 64;

/// Plain values that the kernel reads as options. Unsafe to implement for types with padding or pointers.
///
/// # Safety
/// The type is `repr(C)` or a primitive, and all its bytes are initialised.
pub(crate) unsafe trait PlainOption {}
// SAFETY: an integer.
unsafe impl PlainOption for c_int {}
// SAFETY: `repr(C)`, four `c_uint`s.
unsafe impl PlainOption for tpacket_req {}
// SAFETY: `repr(C)`, fields of 4, 2, 2 and 8 bytes: no padding.
unsafe impl PlainOption for libc::packet_mreq {}

pub(super) fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A socket of a family, closed by programs that this one starts.
pub(crate) fn socket(family: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    // SAFETY: takes no pointer.
    let fd = check(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: the descriptor was just made and nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A raw packet socket that receives nothing until it is bound.
pub(crate) fn packet_socket() -> io::Result<OwnedFd> {
    socket(libc::AF_PACKET, libc::SOCK_RAW, 0)
}

/// Sets an option of a socket.
pub(crate) fn set_option<T: PlainOption>(
    fd: &OwnedFd,
    level: c_int,
    name: c_int,
    value: &T,
) -> io::Result<()> {
    let (at, len) = (std::ptr::from_ref(value).cast::<c_void>(), size_of_val(value) as u32);
    // SAFETY: `at` points to `len` initialised bytes (`PlainOption`),
    // which the kernel reads before the call returns.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, at, len) }).map(|_| ())
}

/// The number of an interface of this network namespace.
pub(crate) fn interface_index(name: &str) -> io::Result<c_int> {
    let name = CString::new(name).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: `name` is a string that ends with a zero byte and lives through the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 { Err(io::Error::last_os_error()) } else { Ok(index as c_int) }
}

/// A request about an interface.
fn interface_request(name: &str) -> libc::ifreq {
    // SAFETY: `ifreq` is plain data for which all zeros is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero.
    for (to, from) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

/// What the kernel says of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InterfaceState {
    /// It is set up.
    pub up: bool,
    /// It is set up and has a link (RFC 2863's operational state).
    pub runs: bool,
    /// The largest payload, its Ethernet header not counted.
    pub mtu: u32,
}

/// The state of the interface of this name.
pub(crate) fn interface_state(fd: &OwnedFd, name: &str) -> io::Result<InterfaceState> {
    let mut request = interface_request(name);
    // SAFETY: SIOCGIFFLAGS reads the name and writes the
    // flags inside `request`, which lives through the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) })?;
    // SAFETY: the call above succeeded, so this member of the union holds the flags.
    let flags = c_int::from(unsafe { request.ifr_ifru.ifru_flags });
    let up = flags & libc::IFF_UP != 0;
    Ok(InterfaceState { up, runs: up && flags & libc::IFF_RUNNING != 0, mtu: interface_mtu(fd, name)? })
}

/// The largest payload of an interface, its Ethernet header not counted.
pub(crate) fn interface_mtu(fd: &OwnedFd, name: &str) -> io::Result<u32> {
    let mut request = interface_request(name);
    // SAFETY: SIOCGIFMTU reads the name and writes the number inside `request`, which lives through the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCGIFMTU, &raw mut request) })?;
    // SAFETY: the call above succeeded, so this member of the union holds the number.
    Ok(unsafe { request.ifr_ifru.ifru_mtu }.max(0) as u32)
}

/// The name, as it is now, of the interface that a packet socket is
/// bound to; none once that is gone, whatever was made in its place.
pub(crate) fn bound_interface(fd: &OwnedFd) -> Option<String> {
    // SAFETY: `sockaddr_ll` is plain data for which all zeros is a value.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    let mut len = size_of::<libc::sockaddr_ll>() as u32;
    let at = (&raw mut address).cast::<libc::sockaddr>();
    // SAFETY: the kernel writes at most `len` bytes to `at`, which has as many and lives through the call.
    check(unsafe { libc::getsockname(fd.as_raw_fd(), at, &raw mut len) }).ok()?;
    let index = c_uint::try_from(address.sll_ifindex).ok().filter(|index| *index > 0)?;
    let mut name = [0; libc::IF_NAMESIZE];
    // SAFETY: the call writes a name and its zero byte to `name`, which has IF_NAMESIZE bytes.
    let found = unsafe { libc::if_indextoname(index, name.as_mut_ptr()) };
    let bytes = name.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8);
    (!found.is_null()).then(|| String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned())
}

/// The name of an interface's queueing discipline, as rtnetlink tells it (RFC 3549, section 3.1).
pub(crate) fn queueing_discipline(index: c_int) -> io::Result<Option<String>> {
    // What the standard library calls a datagram socket sends and receives on any.
    let asks = UnixDatagram::from(socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?);
    // Length, type and flags; sequence and sender; family and device type; number; flags and their mask.
    let head = [LINK_REQUEST_BYTES as u32, u32::from(libc::RTM_GETLINK) | (libc::NLM_F_REQUEST as u32) << 16];
    let request = head.into_iter().chain([0, 0, 0, index as u32, 0, 0]);
    asks.send(&request.flat_map(u32::to_ne_bytes).collect::<Vec<u8>>())?;
    let mut answer = vec![0; 1 << 15];
    let len = asks.recv(&mut answer)?;
    Ok(attribute(answer.get(LINK_REQUEST_BYTES..len).unwrap_or_default(), libc::IFLA_QDISC))
}

/// Bytes of a request for an interface, and of an answer before its attributes.
const LINK_REQUEST_BYTES: usize = 32;

/// The text of an attribute: each has length, kind, value, and ends at a whole word.
fn attribute(mut attributes: &[u8], wanted: u16) -> Option<String> {
    while let Some((&[low, high, kind_low, kind_high], _)) = attributes.split_first_chunk() {
        let (len, kind) = (u16::from_ne_bytes([low, high]), u16::from_ne_bytes([kind_low, kind_high]));
        if kind == wanted {
            let text = attributes.get(4..usize::from(len))?.split(|byte| *byte == 0).next()?;
            return Some(String::from_utf8_lossy(text).into_owned());
        }
        attributes = attributes.get(usize::from(len).next_multiple_of(4).max(4)..)?;
    }
    None
}

/// Binds a packet socket to an interface for all protocols: from here on packets arrive.
pub(crate) fn bind(fd: &OwnedFd, index: c_int) -> io::Result<()> {
    // SAFETY: `sockaddr_ll` is plain data for which all zeros is a value.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index;
    let at = (&raw const address).cast::<libc::sockaddr>();
    // SAFETY: `at` points to a whole `sockaddr_ll`, whose size is given and which lives through the call.
    check(unsafe { libc::bind(fd.as_raw_fd(), at, size_of::<libc::sockaddr_ll>() as u32) }).map(|_| ())
}

/// Takes the error that a socket waits to tell, such as that
/// its interface went down; until then it can always be "read".
pub(crate) fn take_error(fd: RawFd) -> Option<io::Error> {
    let mut error: c_int = 0;
    let mut len = size_of::<c_int>() as u32;
    let at = (&raw mut error).cast::<c_void>();
    // SAFETY: the kernel writes at most `len` bytes to `at`, which has as many and lives through the call.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ERROR, at, &raw mut len) };
    (result == 0 && error != 0).then(|| io::Error::from_raw_os_error(error))
}

/// What the kernel dropped since the last call because the ring was full.
pub(crate) fn take_ring_drops(fd: &OwnedFd) -> u32 {
    let mut stats = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut len = size_of::<libc::tpacket_stats>() as u32;
    let at = (&raw mut stats).cast::<c_void>();
    // SAFETY: the kernel writes at most `len` bytes to `at`, which has as many and lives through the call.
    let result = unsafe {
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, at, &raw mut len)
    };
    if result == 0 { stats.tp_drops } else { 0 }
}

/// A frame of the ring, lent until the closure that got it returns.
pub(crate) struct Frame<'a> {
    /// The bytes from the Ethernet header on, as far as they fit the ring's frame.
    pub bytes: &'a [u8],
    /// Bytes that the packet had.
    pub wire_len: u32,
    /// VLAN tag that the kernel took out of the bytes: protocol and control information.
    pub vlan: Option<(u16, u16)>,
    /// The sender left the transport checksum to an interface that was never there.
    pub checksum_missing: bool,
}

/// Memory of this process that the kernel uses too, unmapped when it is dropped.
pub(crate) struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread; what reads and writes it goes
// through one owner, or through an address whose user proves its own access.
unsafe impl Send for Mapping {}

impl Mapping {
    /// What a socket shares at an offset.
    pub(crate) fn of(fd: &OwnedFd, offset: libc::off_t, bytes: usize) -> io::Result<Self> {
        Self::map(fd.as_raw_fd(), offset, bytes, libc::MAP_SHARED)
    }

    /// Zeros, for the kernel to be told of.
    pub(crate) fn anonymous(bytes: usize) -> io::Result<Self> {
        Self::map(-1, 0, bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS)
    }

    fn map(fd: RawFd, offset: libc::off_t, bytes: usize, flags: c_int) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: asks for a new mapping at an address of the
        // kernel's choice; nothing that is mapped already changes.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, fd, offset) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base =
            NonNull::new(at.cast::<u8>()).ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(Self { base, bytes })
    }

    /// The first byte.
    #[inline]
    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Bytes that are mapped.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and size, and no
        // borrow of it outlives its owner. It cannot fail for such a pair.
        let _ = unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// The receive ring of a packet socket: memory that the kernel fills and we read.
pub(crate) struct Ring {
    mapping: Mapping,
    frame_bytes: usize,
    frames: usize,
    next: usize,
}

impl Ring {
    /// Maps the ring of a socket on which PACKET_RX_RING was set with this request, whose sizes it checks.
    pub(crate) fn map(fd: &OwnedFd, request: &tpacket_req) -> io::Result<Self> {
        let (frame_bytes, frames) = (request.tp_frame_size as usize, request.tp_frame_nr as usize);
        let bytes = request.tp_block_size as usize * request.tp_block_nr as usize;
        // Frames lie one behind the other only if blocks hold whole frames.
        if frame_bytes < size_of::<tpacket2_hdr>()
            || !(request.tp_block_size as usize).is_multiple_of(frame_bytes)
            || frame_bytes * frames != bytes
        {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        Ok(Self { mapping: Mapping::of(fd, 0, bytes)?, frame_bytes, frames, next: 0 })
    }

    /// Lends the next frame if the kernel has filled it, then gives it back; false if there is none.
    #[inline]
    pub(crate) fn receive(&mut self, f: impl FnOnce(Frame<'_>)) -> bool {
        // SAFETY: `next < frames`, and `frames * frame_bytes`
        // bytes are mapped (`map`), so the header lies inside.
        let frame = unsafe { self.mapping.base().add(self.next * self.frame_bytes) };
        // SAFETY: the status is the header's first field, aligned as frames are to 16 bytes, and written by
        // the kernel as one word; it is only ever accessed as an atomic here.
        let status = unsafe { AtomicU32::from_ptr(frame.as_ptr().cast::<u32>()) };
        let flags = status.load(Ordering::Acquire);
        if flags & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: a whole header lies at the frame's start, and the kernel writes none of it while the frame
        // is ours, which the load above acquired.
        let header = unsafe { frame.as_ptr().cast::<tpacket2_hdr>().read() };
        let at = usize::from(header.tp_mac).min(self.frame_bytes);
        let len = (header.tp_snaplen as usize).min(self.frame_bytes - at);
        // SAFETY: `at + len` is at most the frame's size, so the bytes lie inside the mapping; the kernel
        // leaves them alone until the status is given back below, after `f`, which cannot keep the slice.
        let bytes = unsafe { std::slice::from_raw_parts(frame.as_ptr().add(at), len) };
        let has = |flag: u32| flags & flag != 0;
        f(Frame {
            bytes,
            wire_len: header.tp_len,
            vlan: has(libc::TP_STATUS_VLAN_VALID).then(|| {
                let protocol = header.tp_vlan_tpid;
                (if has(libc::TP_STATUS_VLAN_TPID_VALID) { protocol } else { 0x8100 }, header.tp_vlan_tci)
            }),
            checksum_missing: has(libc::TP_STATUS_CSUMNOTREADY),
        });
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = if self.next + 1 == self.frames { 0 } else { self.next + 1 };
        true
    }
}

/// Sends packets, each given as two parts, without waiting; how
/// many the kernel took. At most [`MAX_SEND`] are looked at.
pub(crate) fn send_many<'a>(fd: &OwnedFd, packets: impl Iterator<Item = [&'a [u8]; 2]>) -> io::Result<usize> {
    // SAFETY: both are plain data for which all zeros (null pointers of length 0) is a value.
    let (mut parts, mut messages): ([[iovec; 2]; MAX_SEND], [mmsghdr; MAX_SEND]) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    let mut count = 0;
    for ((packet, part), message) in packets.zip(&mut parts).zip(&mut messages) {
        *part = packet.map(|bytes| iovec {
            iov_base: bytes.as_ptr().cast_mut().cast::<c_void>(),
            iov_len: bytes.len(),
        });
        message.msg_hdr.msg_iov = part.as_mut_ptr();
        message.msg_hdr.msg_iovlen = 2;
        count += 1;
    }
    // SAFETY: the first `count` messages point to pairs in `parts`, which lives through the call, and these
    // to slices that live for 'a; sending only reads them.
    let sent =
        unsafe { libc::sendmmsg(fd.as_raw_fd(), messages.as_mut_ptr(), count as c_uint, libc::MSG_DONTWAIT) };
    check(sent).map(|sent| sent as usize)
}

/// Waits until one of the descriptors can be read or the time is over; without a time, as long as it takes.
pub(crate) fn wait(fds: &mut [pollfd], timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().min(3_600) as libc::time_t,
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let at = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `fds` is an exclusive slice of the length given; `at`
    // is null or points to `timeout`, which lives through the call.
    let result = unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, at, std::ptr::null()) };
    match check(result) {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

/// A descriptor to wait for.
pub(crate) fn readable(fd: RawFd) -> pollfd {
    pollfd { fd, events: libc::POLLIN, revents: 0 }
}

/// Makes this thread's waits end when they are due rather than up to 50 us later.
pub(crate) fn precise_timers() {
    // SAFETY: takes no pointer. If the kernel refuses, waits are as coarse as before.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}

/// Keeps this thread on one processor.
///
/// # Errors
/// There is no such processor, or it is not this process's to use.
pub fn pin_to(cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    // SAFETY: a set of bits, for which all zeros is a value; `cpu` is within it.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        set
    };
    // SAFETY: the set lives through the call and its size is given; 0 names the calling thread.
    check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) }).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_behind_others_and_cut_ones_are_none() {
        // Kind 3 with one byte and three to fill up, kind 6 with a text.
        let bytes: Vec<u8> = [[5_u16, 3], [0x61, 0], [12, 6]]
            .as_flattened()
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        let bytes = [&bytes[..], b"noqueue\0"].concat();
        assert_eq!(attribute(&bytes, 6).as_deref(), Some("noqueue"));
        assert_eq!(attribute(&bytes, 7), None);
        for len in 0..bytes.len() {
            assert_eq!(attribute(&bytes[..len], 6), None, "{len} bytes");
        }
        // A length of nothing does not hold it up.
        assert_eq!(attribute(&[0; 64], 6), None);
    }

    #[test]
    fn a_socket_that_is_bound_to_nothing_has_no_interface() {
        let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0).expect("a socket");
        assert_eq!(bound_interface(&fd), None);
        assert!(interface_state(&fd, "lo").expect("there is one").mtu > 0);
        assert!(interface_state(&fd, "no-such").is_err());
    }

    #[test]
    fn loopback_has_no_queueing_discipline() {
        let index = interface_index("lo").expect("there is one");
        assert_eq!(queueing_discipline(index).expect("rtnetlink answers").as_deref(), Some("noqueue"));
    }
}
