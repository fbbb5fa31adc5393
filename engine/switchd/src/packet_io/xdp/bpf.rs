//! The XDP program of a port and the map that it looks into: made, loaded and attached by bpf(2).
//!
//! The program hands a packet to the AF_XDP socket of its receive queue. Two sorts of packets go to the
//! packet socket instead, as without a program: those of queues without a socket, and, where the interface
//! tells programs of them, those whose VLAN tag the kernel keeps beside their bytes, which would be lost.
//!
//! The program is attached by a link: with the last descriptor of it, at the latest with
//! the process, the kernel takes the program off the interface.

#![allow(unsafe_code, reason = "a system call; each use states its proof")]

use std::ffi::{c_int, c_long};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

use super::super::sys::check;
use super::btf;

/// Where the kernel tells its types.
const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";
/// The kernel's function that tells a packet's VLAN tag.
const VLAN_TAG: &str = "bpf_xdp_metadata_rx_vlan_tag";
/// Functions of the kernel are for programs of a licence that fits its own.
const LICENSE: &[u8] = b"Dual MIT/GPL\0";

// Commands of bpf(2), kinds and flags (linux/bpf.h, linux/if_link.h).
const MAP_CREATE: c_int = 0;
const MAP_UPDATE_ELEM: c_int = 2;
const PROG_LOAD: c_int = 5;
const LINK_CREATE: c_int = 28;
const MAP_TYPE_XSKMAP: u32 = 17;
const PROG_TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const BOUND_TO_INTERFACE: u32 = 1 << 6;
const FLAG_GENERIC: u32 = 1 << 1;
const FLAG_NATIVE: u32 = 1 << 2;
const XDP_PASS: i32 = 2;
/// Helper `bpf_redirect_map`.
const REDIRECT_MAP: i32 = 51;
/// Place of the queue's number in what a program is given.
const RX_QUEUE_INDEX: i16 = 16;

/// Where in the kernel a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// In the interface's driver.
    Native,
    /// In front of the kernel's stack, for any interface.
    Generic,
}

/// A map from receive queue to AF_XDP socket; it has room for queue 0.
pub(super) struct Sockets(OwnedFd);

impl Sockets {
    pub fn new() -> io::Result<Self> {
        let attributes =
            MapCreate { map_type: MAP_TYPE_XSKMAP, key_size: 4, value_size: 4, max_entries: 1, map_flags: 0 };
        new_descriptor(MAP_CREATE, &attributes).map(Self)
    }

    /// Makes a socket that of queue 0.
    pub fn set(&self, socket: &OwnedFd) -> io::Result<()> {
        let (key, value) = (0_u32, socket.as_raw_fd());
        let attributes = MapUpdate {
            map_fd: self.0.as_raw_fd() as u32,
            zero: 0,
            key: &raw const key as u64,
            value: &raw const value as u64,
            flags: 0,
        };
        bpf(MAP_UPDATE_ELEM, &attributes).map(|_| ())
    }
}

/// A program that is attached to an interface until this is dropped.
pub(super) type Attached = OwnedFd;

/// Loads a program that hands the packets of an interface to these sockets; `sees_vlan_tags` leaves those
/// with a tag beside their bytes to the packet socket.
pub(super) fn load(sockets: &Sockets, interface: c_int, sees_vlan_tags: bool) -> io::Result<OwnedFd> {
    let vlan_tag = if sees_vlan_tags { Some(vlan_tag_function()?) } else { None };
    let program = program(sockets.0.as_raw_fd(), vlan_tag);
    let attributes = ProgLoad {
        prog_type: PROG_TYPE_XDP,
        insn_cnt: program.len() as u32,
        insns: program.as_ptr() as u64,
        license: LICENSE.as_ptr() as u64,
        log: [0; 2],
        kern_version: 0,
        prog_flags: if sees_vlan_tags { BOUND_TO_INTERFACE } else { 0 },
        prog_name: *b"p4cc_switch\0\0\0\0\0",
        prog_ifindex: if sees_vlan_tags { interface as u32 } else { 0 },
        expected_attach_type: ATTACH_XDP,
    };
    new_descriptor(PROG_LOAD, &attributes)
}

/// Attaches a program to its interface.
pub(super) fn attach(program: &OwnedFd, interface: c_int, mode: Mode) -> io::Result<Attached> {
    let attributes = LinkCreate {
        prog_fd: program.as_raw_fd() as u32,
        target_ifindex: interface as u32,
        attach_type: ATTACH_XDP,
        flags: if mode == Mode::Native { FLAG_NATIVE } else { FLAG_GENERIC },
    };
    new_descriptor(LINK_CREATE, &attributes)
}

fn vlan_tag_function() -> io::Result<u32> {
    static FOUND: OnceLock<Option<u32>> = OnceLock::new();
    let look = || btf::function(&std::fs::read(KERNEL_TYPES).ok()?, VLAN_TAG);
    FOUND.get_or_init(look).ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))
}

/// One instruction: operation, registers (destination in the low half), offset, number.
#[repr(C)]
#[derive(Clone, Copy)]
struct Instruction(u8, u8, i16, i32);

/// The program (RFC 9669 has the instruction set).
fn program(sockets: c_int, vlan_tag: Option<u32>) -> Vec<Instruction> {
    let mut program = Vec::new();
    if let Some(function) = vlan_tag {
        program.extend([
            Instruction(0xbf, 0x16, 0, 0),               // r6 = r1, the context
            Instruction(0x7a, 0x0a, -8, 0),              // *(u64 *)(r10 - 8) = 0
            Instruction(0xbf, 0xa2, 0, 0),               // r2 = r10
            Instruction(0x07, 0x02, 0, -8),              // r2 += -8, room for the tag's protocol
            Instruction(0xbf, 0xa3, 0, 0),               // r3 = r10
            Instruction(0x07, 0x03, 0, -4),              // r3 += -4, room for the tag
            Instruction(0x85, 0x20, 0, function as i32), // r0 = the kernel's function
            Instruction(0x15, 0x00, 7, 0),               // there is a tag: to the end
            Instruction(0xbf, 0x61, 0, 0),               // r1 = r6
        ]);
    }
    program.extend([
        Instruction(0x61, 0x12, RX_QUEUE_INDEX, 0), // r2 = the queue
        Instruction(0x18, 0x11, 0, sockets),        // r1 = the map, an instruction of two words
        Instruction(0, 0, 0, 0),
        Instruction(0xb7, 0x03, 0, XDP_PASS), // r3 = what to do with queues that the map has not
        Instruction(0x85, 0x00, 0, REDIRECT_MAP), // r0 = bpf_redirect_map
        Instruction(0x95, 0x00, 0, 0),        // exit
        Instruction(0xb7, 0x00, 0, XDP_PASS), // r0 = pass
        Instruction(0x95, 0x00, 0, 0),        // exit
    ]);
    if vlan_tag.is_none() {
        // Nothing jumps to the end.
        program.truncate(program.len() - 2);
    }
    program
}

/// What a command of bpf(2) is given. Unsafe to implement for types with padding.
///
/// # Safety
/// The type is `repr(C)`, all its bytes are initialised, and its numbers
/// that the command takes for addresses are those of memory that lives through the call.
unsafe trait Attributes {}

#[repr(C)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
}
// SAFETY: five words of four bytes, no address.
unsafe impl Attributes for MapCreate {}

#[repr(C)]
struct MapUpdate {
    map_fd: u32,
    zero: u32,
    key: u64,
    value: u64,
    flags: u64,
}
// SAFETY: two words of four bytes, three of eight; `Sockets::set`, which alone makes one,
// keeps key and value, four bytes each as the map was made for, on its stack through the call.
unsafe impl Attributes for MapUpdate {}

#[repr(C)]
struct ProgLoad {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    /// Level and size, then the address: no log.
    log: [u64; 2],
    kern_version: u32,
    prog_flags: u32,
    prog_name: [u8; 16],
    prog_ifindex: u32,
    expected_attach_type: u32,
}
// SAFETY: the fields leave no gap; `load`, which alone makes one, keeps the instructions, whose number it
// gives, through the call, and the licence is a constant that ends with a zero byte.
unsafe impl Attributes for ProgLoad {}

#[repr(C)]
struct LinkCreate {
    prog_fd: u32,
    target_ifindex: u32,
    attach_type: u32,
    flags: u32,
}
// SAFETY: four words of four bytes, no address.
unsafe impl Attributes for LinkCreate {}

fn bpf<T: Attributes>(command: c_int, attributes: &T) -> io::Result<c_int> {
    let at = std::ptr::from_ref(attributes);
    // SAFETY: `at` points to as many initialised bytes as are said, which the
    // kernel reads before the call returns; so are addresses in them (`Attributes`).
    let result = unsafe { libc::syscall(libc::SYS_bpf, c_long::from(command), at, size_of::<T>()) };
    check(result as c_int)
}

fn new_descriptor<T: Attributes>(command: c_int, attributes: &T) -> io::Result<OwnedFd> {
    let fd = bpf(command, attributes)?;
    // SAFETY: the commands that this is called with give a new descriptor, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
