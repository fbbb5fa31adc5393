//! What can be wrong with bytes, or with a packet to be turned into bytes.

use thiserror::Error;

/// Bytes that are no p4cc packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The buffer ends inside a header.
    #[error("{layer} needs {needed} B, the buffer holds {available} B: the packet was cut")]
    Truncated {
        /// The layer that does not fit.
        layer: &'static str,
        /// Bytes that the packet needs up to the end of the layer.
        needed: usize,
        /// Bytes that there are.
        available: usize,
    },
    /// Not IPv4 over Ethernet.
    #[error("EtherType {0:#06x} is not IPv4 (0x0800)")]
    NotIpv4(u16),
    /// An IPv4 header other than version 4 without options.
    #[error("IPv4 version and header length are {0:#04x}, only 0x45 (no options) is used")]
    BadIpv4Header(u8),
    /// The checksum of the IPv4 header does not match.
    #[error("IPv4 header checksum is {found:#06x}, computed {computed:#06x}: the header was damaged")]
    BadIpv4Checksum {
        /// The checksum in the header.
        found: u16,
        /// The checksum over the header.
        computed: u16,
    },
    /// A fragment; p4cc never fragments.
    #[error("the packet is an IPv4 fragment (flags and offset {0:#06x})")]
    Fragment(u16),
    /// Not UDP.
    #[error("IPv4 protocol {0} is not UDP (17)")]
    NotUdp(u8),
    /// Not IPv6 over Ethernet.
    #[error("EtherType {0:#06x} is not IPv6 (0x86dd)")]
    NotIpv6(u16),
    /// An IPv6 header of another version.
    #[error("IP version {0} behind the EtherType of IPv6")]
    BadIpv6Version(u8),
    /// Neither UDP nor TCP behind IPv6.
    #[error("IPv6 next header {0} is neither UDP (17) nor TCP (6)")]
    OtherNextHeader(u8),
    /// An IPv6 address that is no host's.
    #[error("{0} is not an address of fd00::/96, where hosts have theirs")]
    OtherPrefix(core::net::Ipv6Addr),
    /// The checksum of UDP or TCP over IPv6 does not match.
    #[error(
        "checksum over IPv6 is {found:#06x}, computed {computed:#06x}: the datagram or its addresses were changed"
    )]
    BadChecksum {
        /// The checksum in the header.
        found: u16,
        /// The checksum over the datagram and its addresses.
        computed: u16,
    },
    /// Not TCP.
    #[error("IPv4 protocol {0} is not TCP (6)")]
    NotTcp(u8),
    /// A TCP header shorter than TCP's least, or longer than what is there.
    #[error("TCP header length is {len} B; 20 B to the {available} B of the segment are possible")]
    BadTcpHeader {
        /// The length by the data offset.
        len: usize,
        /// Bytes from TCP on, by IPv4's length.
        available: usize,
    },
    /// The checksum of a TCP segment does not match.
    #[error(
        "TCP checksum is {found:#06x}, computed {computed:#06x}: the segment or its addresses were changed"
    )]
    BadTcpChecksum {
        /// The checksum in the header.
        found: u16,
        /// The checksum over the segment and its addresses.
        computed: u16,
    },
    /// A TCP option whose length is impossible.
    #[error("TCP option {kind} with a length of {len} B")]
    BadTcpOption {
        /// The option's kind.
        kind: u8,
        /// Its length, kind and length included.
        len: u8,
    },
    /// UDP for somebody else.
    #[error("UDP destination port {0} is not the p4cc port {port}", port = super::UDP_PORT)]
    OtherPort(u16),
    /// A UDP checksum, which cannot be checked when the payload is carried as a length.
    #[error("UDP checksum is {0:#06x}; p4cc sends 0 (no checksum)")]
    UnexpectedUdpChecksum(u16),
    /// A transport header of another version.
    #[error("transport header version {0}, this end speaks {version}", version = super::VERSION)]
    UnknownVersion(u8),
    /// A packet type that has no meaning.
    #[error("packet type {0} is not assigned")]
    UnknownType(u8),
    /// An extension whose type cannot have its length.
    #[error("extension type {kind} with a length of {len} B")]
    BadExtension {
        /// The type code.
        kind: u8,
        /// The length in the header.
        len: u8,
    },
    /// Two lengths that contradict each other.
    #[error("{layer} length is {found} B, the headers and payload make {expected} B")]
    BadLength {
        /// The layer whose length is wrong.
        layer: &'static str,
        /// The length in its header.
        found: usize,
        /// The length that the rest implies.
        expected: usize,
    },
}

impl DecodeError {
    /// Whether the bytes are of another protocol, rather than damaged ones of this.
    pub fn is_other_protocol(&self) -> bool {
        match self {
            Self::Truncated { layer, .. } => matches!(*layer, "Ethernet" | "IPv4" | "IPv6" | "UDP"),
            Self::NotIpv4(_)
            | Self::BadIpv4Header(_)
            | Self::Fragment(_)
            | Self::NotUdp(_)
            | Self::NotTcp(_)
            | Self::NotIpv6(_)
            | Self::BadIpv6Version(_)
            | Self::OtherNextHeader(_)
            | Self::OtherPort(_) => true,
            Self::BadIpv4Checksum { .. }
            | Self::OtherPrefix(_)
            | Self::BadChecksum { .. }
            | Self::BadTcpHeader { .. }
            | Self::BadTcpChecksum { .. }
            | Self::BadTcpOption { .. }
            | Self::UnexpectedUdpChecksum(_)
            | Self::UnknownVersion(_)
            | Self::UnknownType(_)
            | Self::BadExtension { .. }
            | Self::BadLength { .. } => false,
        }
    }
}

/// A packet that has no bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Longer than IPv4's 16-bit length.
    #[error("the IPv4 packet would be {0} B, at most 65535 B fit; lower the segment size")]
    TooLong(usize),
    /// An extension longer than its 8-bit length, or type and bytes that contradict each other.
    #[error(
        "extension type {kind} with {len} B; type 0 has none, 5 (SACK) 8 to 32 B in steps of 8, others 1 to 255 B"
    )]
    BadExtension {
        /// The type code.
        kind: u8,
        /// Its bytes.
        len: usize,
    },
    /// More TCP options than a header has room for.
    #[error("TCP options take {0} B, a header has room for 40 B")]
    TooManyOptions(usize),
    /// The caller's buffer is too small.
    #[error("the headers need {needed} B, the buffer holds {available} B")]
    BufferTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        available: usize,
    },
}
