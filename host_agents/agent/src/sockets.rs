//! UDP sockets that show and set the ECN bits of each packet.
//!
//! Data and ACKs of all flows come in on one socket; packets of a flow leave by a socket that is bound to the
//! flow's own port, so that switches spread flows. No socket ever waits.

use std::collections::BTreeMap;
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use p4cc_transport::Codepoint;
use p4cc_transport::wire::{UDP_PORT, source_port};
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};

/// Room for what comes in while the agent does something else.
const RECEIVE_BUFFER_BYTES: usize = 4 << 20;
/// Room for one read: the kernel may join packets of a sender into one.
const READ_BYTES: usize = 1 << 16;

/// A socket and what the kernel offers for it.
struct EcnSocket {
    socket: Socket,
    state: UdpSocketState,
}

impl EcnSocket {
    fn bind(address: Ipv4Addr, port: u16) -> io::Result<Self> {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        // Flows whose ports are the same, of this agent or of another one of this host.
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::from((address, port)).into())?;
        send_no_checksum(&socket)?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        Ok(Self { socket, state })
    }
}

/// Has the kernel send UDP checksum 0: switches rewrite what it would cover (docs/reference/wire-format.md).
#[expect(unsafe_code, reason = "no library sets this option")]
fn send_no_checksum(socket: &Socket) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = size_of_val(&on) as libc::socklen_t;
    // SAFETY: the descriptor is open as long as `socket` lives; the kernel reads `length` bytes from `on`,
    // which is that long and lives beyond the call, and writes nothing.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NO_CHECK,
            (&raw const on).cast(),
            length,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// All sockets of an agent.
pub struct Sockets {
    address: Ipv4Addr,
    incoming: EcnSocket,
    outgoing: BTreeMap<u16, EcnSocket>,
    buffer: Vec<u8>,
}

impl Sockets {
    /// Opens the socket for what comes in to this address.
    ///
    /// # Errors
    /// The address is not this host's, or another agent has it.
    pub fn open(address: Ipv4Addr) -> io::Result<Self> {
        let incoming = EcnSocket::bind(address, UDP_PORT)?;
        // As much as the system allows; less is no error.
        let _ = incoming.socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES);
        Ok(Self { address, incoming, outgoing: BTreeMap::new(), buffer: vec![0; READ_BYTES] })
    }

    /// Opens the socket of a flow, if no other flow has opened it.
    ///
    /// # Errors
    /// The system refuses one more.
    pub fn open_flow(&mut self, flow_id: u32) -> io::Result<()> {
        let port = source_port(flow_id);
        if !self.outgoing.contains_key(&port) {
            self.outgoing.insert(port, EcnSocket::bind(self.address, port)?);
        }
        Ok(())
    }

    /// Sends a datagram of a flow; false if the interface has no room now.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn send(&self, flow_id: u32, to: Ipv4Addr, ecn: Codepoint, contents: &[u8]) -> io::Result<bool> {
        let Some(out) = self.outgoing.get(&source_port(flow_id)) else {
            return Err(io::Error::other("the flow has no socket"));
        };
        let transmit = Transmit {
            destination: SocketAddrV4::new(to, UDP_PORT).into(),
            ecn: EcnCodepoint::from_bits(ecn.bits()),
            contents,
            segment_size: None,
            src_ip: None,
        };
        match out.state.try_send(UdpSockRef::from(&out.socket), &transmit) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes what came in, datagram by datagram, with its sender and ECN bits; false if there was nothing.
    ///
    /// # Errors
    /// The system refuses to read.
    pub fn receive(&mut self, mut each: impl FnMut(Ipv4Addr, Codepoint, &[u8])) -> io::Result<bool> {
        let mut meta = [RecvMeta::default()];
        let socket = UdpSockRef::from(&self.incoming.socket);
        match self.incoming.state.recv(socket, &mut [IoSliceMut::new(&mut self.buffer)], &mut meta) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
        let [meta] = meta;
        let ecn = meta.ecn.map_or(Codepoint::NOT_ECT, |ecn| Codepoint::from_bits(ecn as u8));
        let SocketAddr::V4(from) = meta.addr else { return Ok(true) };
        let received = self.buffer.get(..meta.len).unwrap_or(&self.buffer);
        // Packets that the kernel joined have one length, all but the last, and the same ECN bits.
        for datagram in received.chunks(meta.stride.max(1)) {
            each(*from.ip(), ecn, datagram);
        }
        Ok(true)
    }
}

impl AsFd for Sockets {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.incoming.socket.as_fd()
    }
}
