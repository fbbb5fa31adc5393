//! The fixed p4cc transport header, and which extensions may stand behind it.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-------+-------+---------------+-----+-------+---+-------------+
//! |version| type  |     flags     |class|  zero |ecn|  ext type   |
//! +-------+-------+---------------+-----+-------+---+-------------+
//! |                            flow id                            |
//! |                        sequence number                        |
//! |                     acknowledgement number                    |
//! +-------------------------------+---------------+---------------+
//! |        payload length         |  ext length   |     zero      |
//! +-------------------------------+---------------+---------------+
//! |                   timestamp, ns (64 bits)                     |
//! |                timestamp echo, ns (64 bits)                   |
//! +---------------------------------------------------------------+
//! ```

use p4cc_units::Time;

use super::error::DecodeError;
use super::extension::{Extension, ExtensionType};
use super::{TRANSPORT_LEN, VERSION};
use crate::rdma::RdmaAck;
use crate::{AckFields, Codepoint, DataFields, SackBlocks, Segment, seq};

/// What a packet is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PacketKind {
    /// Carries payload.
    Data,
    /// Acknowledges payload.
    Ack,
    /// A switch tells the sender of a data packet what the packet met.
    Notice,
}

impl PacketKind {
    #[inline]
    const fn code(self) -> u8 {
        match self {
            Self::Data => 0,
            Self::Ack => 1,
            Self::Notice => 2,
        }
    }
}

/// Offset of the payload's length in the transport header.
pub(super) const PAYLOAD_LEN_AT: usize = 16;

/// The flag bits: none, one of the constants, or some of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Flags(u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The last byte of the payload is the last of the flow.
    pub const FIN: Self = Self(0x01);
    /// The payload was sent before.
    pub const RETRANSMIT: Self = Self(0x02);
    /// The sender has cut its window for marks.
    pub const CWR: Self = Self(0x04);
    /// The sender reads SACK blocks in ACKs.
    pub const SACK_PERMITTED: Self = Self(0x08);
    /// The receiver is to repeat a mark until CWR (RFC3168).
    pub const ECHO_UNTIL_CWR: Self = Self(0x10);
    /// In an ACK: the byte it names is missing and what follows was thrown away; go back to it.
    pub const NACK: Self = Self(0x20);
    /// In data: the receiver is to answer at once, however rarely it acknowledges else.
    pub const ACK_REQUEST: Self = Self(0x40);

    /// In an ACK: the sequence number is that of the data packet that it answers, and was kept.
    pub const SELECTIVE: Self = Self(0x80);

    /// These flags if so, else none.
    #[inline]
    #[must_use]
    pub const fn when(self, so: bool) -> Self {
        if so { self } else { Self::NONE }
    }

    /// Whether it has one of these flags.
    #[inline]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    #[inline]
    const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }
}

impl core::ops::BitOr for Flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Traffic class, from 0 (lowest priority) to 7 (highest).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct TrafficClass(u8);

impl TrafficClass {
    /// The class, if there is one of this number.
    #[inline]
    pub const fn new(class: u8) -> Option<Self> {
        if class < 8 { Some(Self(class)) } else { None }
    }

    /// The class that a byte with DSCP and ECN selects (RFC2474 4.2.2).
    #[inline]
    pub(super) const fn of_tos(tos: u8) -> Self {
        Self(tos >> 5)
    }

    /// The number of the class.
    #[inline]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// Whether type and length of an extension agree, and the length fits its field.
#[inline]
pub(super) const fn is_valid_extension(kind: ExtensionType, len: usize) -> bool {
    match kind {
        ExtensionType::NONE => len == 0,
        ExtensionType::SACK => SackBlocks::is_length_valid(len),
        _ => len > 0 && len <= u8::MAX as usize,
    }
}

/// The fixed transport header; the extension stands beside it in [`super::Packet`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// What the packet is.
    pub kind: PacketKind,
    /// Flag bits.
    pub flags: Flags,
    /// Traffic class.
    pub class: TrafficClass,
    /// In an ACK the ECN bits of the data packet that caused it; zero in data.
    pub ecn_echo: Codepoint,
    /// The flow, the same in both directions.
    pub flow_id: u32,
    /// In data, and in an ACK with [`Flags::SELECTIVE`] of the data that it answers, the low 32 bits of the
    /// position of the first payload byte.
    pub seq: u32,
    /// In an ACK the low 32 bits of the next byte expected. In data 0; where the receiver lets the sender
    /// send, the bytes that the flow has beyond this packet.
    pub ack: u32,
    /// Payload bytes.
    pub payload_len: u16,
    /// When the packet was sent, by its sender's clock.
    pub timestamp_ns: u64,
    /// In an ACK the timestamp of the data packet that caused it.
    pub timestamp_echo_ns: u64,
}

impl Header {
    /// The header of a data segment that leaves at `now`;
    /// none if the segment is too long for the length field.
    #[inline]
    pub fn data(flow_id: u32, class: TrafficClass, segment: &Segment, now: Time) -> Option<Self> {
        Some(Self {
            kind: PacketKind::Data,
            flags: Flags::FIN.when(segment.fin)
                | Flags::RETRANSMIT.when(segment.retransmit)
                | Flags::CWR.when(segment.cwr)
                | Flags::SACK_PERMITTED.when(segment.sack_permitted)
                | Flags::ECHO_UNTIL_CWR.when(segment.echo_until_cwr)
                | Flags::ACK_REQUEST.when(segment.ack_request),
            class,
            ecn_echo: Codepoint::NOT_ECT,
            flow_id,
            seq: seq::wrap(segment.seq),
            ack: segment.beyond,
            payload_len: u16::try_from(segment.len).ok()?,
            timestamp_ns: now.as_ns(),
            timestamp_echo_ns: 0,
        })
    }

    /// The header of an ACK that leaves at `now`; its packet is never
    /// capable of ECN, and carries the SACK blocks as its extension.
    #[inline]
    pub fn ack(flow_id: u32, class: TrafficClass, fields: &AckFields, now: Time) -> Self {
        Self {
            kind: PacketKind::Ack,
            flags: Flags::NONE,
            class,
            ecn_echo: fields.ecn_echo,
            flow_id,
            seq: 0,
            ack: fields.ack,
            payload_len: 0,
            timestamp_ns: now.as_ns(),
            timestamp_echo_ns: fields.timestamp_echo_ns,
        }
    }

    /// The header of an RDMA-like receiver's answer that leaves
    /// at `now`; its packet carries the answer's extension.
    #[inline]
    pub fn rdma_ack(flow_id: u32, class: TrafficClass, answer: &RdmaAck, now: Time) -> Self {
        let fields = AckFields {
            ack: answer.ack,
            ecn_echo: answer.ecn_echo,
            timestamp_echo_ns: answer.timestamp_echo_ns,
            ..AckFields::default()
        };
        let flags = Flags::NACK.when(answer.nack) | Flags::SELECTIVE.when(answer.answered.is_some());
        let seq = answer.answered.unwrap_or(0);
        Self { flags, seq, ..Self::ack(flow_id, class, &fields, now) }
    }

    /// The header of a reader's request for a segment, which leaves at `now`; its packet carries the length
    /// as its extension.
    #[inline]
    pub fn read_request(flow_id: u32, class: TrafficClass, wanted: &Segment, now: Time) -> Self {
        let fields = AckFields { ack: seq::wrap(wanted.seq), ..AckFields::default() };
        Self { flags: Flags::FIN.when(wanted.fin), ..Self::ack(flow_id, class, &fields, now) }
    }

    /// What a data packet that arrived with these ECN bits says to the receiver.
    #[inline]
    pub fn data_fields(&self, ecn: Codepoint) -> DataFields {
        DataFields {
            seq: self.seq,
            len: u32::from(self.payload_len),
            fin: self.flags.has(Flags::FIN),
            cwr: self.flags.has(Flags::CWR),
            sack_permitted: self.flags.has(Flags::SACK_PERMITTED),
            echo_until_cwr: self.flags.has(Flags::ECHO_UNTIL_CWR),
            ecn,
            timestamp_ns: self.timestamp_ns,
        }
    }

    /// What an ACK with this extension says to the sender.
    #[inline]
    pub fn ack_fields(&self, extension: &Extension<'_>) -> AckFields {
        AckFields {
            ack: self.ack,
            ecn_echo: self.ecn_echo,
            timestamp_echo_ns: self.timestamp_echo_ns,
            sack: SackBlocks::from_wire(extension),
            hop_count: 0,
            answered: self.flags.has(Flags::SELECTIVE).then_some(self.seq),
        }
    }

    #[inline]
    pub(super) fn write(&self, kind: ExtensionType, ext_len: u8, out: &mut [u8; TRANSPORT_LEN]) {
        out[0] = VERSION << 4 | self.kind.code();
        out[1] = self.flags.0;
        out[2] = self.class.0 << 5 | self.ecn_echo.bits();
        out[3] = kind.0;
        put::<4, 4, _>(out, self.flow_id.to_be_bytes());
        put::<4, 8, _>(out, self.seq.to_be_bytes());
        put::<4, 12, _>(out, self.ack.to_be_bytes());
        put::<2, PAYLOAD_LEN_AT, _>(out, self.payload_len.to_be_bytes());
        out[18] = ext_len;
        out[19] = 0;
        put::<8, 20, _>(out, self.timestamp_ns.to_be_bytes());
        put::<8, 28, _>(out, self.timestamp_echo_ns.to_be_bytes());
    }

    /// The header, the type and the length of its extension.
    #[inline]
    pub(super) fn read(bytes: &[u8; TRANSPORT_LEN]) -> Result<(Self, ExtensionType, u8), DecodeError> {
        let [first, flags, class_echo, ext_type] = take::<4, 0, _>(bytes);
        if first >> 4 != VERSION {
            return Err(DecodeError::UnknownVersion(first >> 4));
        }
        let kind = match first & 0x0f {
            0 => PacketKind::Data,
            1 => PacketKind::Ack,
            2 => PacketKind::Notice,
            other => return Err(DecodeError::UnknownType(other)),
        };
        let ext_len = bytes[18];
        if !is_valid_extension(ExtensionType(ext_type), usize::from(ext_len)) {
            return Err(DecodeError::BadExtension { kind: ext_type, len: ext_len });
        }
        let header = Self {
            kind,
            flags: Flags::from_bits(flags),
            class: TrafficClass(class_echo >> 5),
            ecn_echo: Codepoint::from_bits(class_echo),
            flow_id: u32::from_be_bytes(take::<4, 4, _>(bytes)),
            seq: u32::from_be_bytes(take::<4, 8, _>(bytes)),
            ack: u32::from_be_bytes(take::<4, 12, _>(bytes)),
            payload_len: u16::from_be_bytes(take::<2, PAYLOAD_LEN_AT, _>(bytes)),
            timestamp_ns: u64::from_be_bytes(take::<8, 20, _>(bytes)),
            timestamp_echo_ns: u64::from_be_bytes(take::<8, 28, _>(bytes)),
        };
        Ok((header, ExtensionType(ext_type), ext_len))
    }
}

/// `N` bytes of a header from byte `AT` on, which lie inside it. Without a copy of slices, which is a call
/// where the compiler does not look across crates.
#[inline(always)]
pub(super) fn take<const N: usize, const AT: usize, const LEN: usize>(header: &[u8; LEN]) -> [u8; N] {
    header[AT..].first_chunk().copied().unwrap_or([0; N])
}

/// The same in place.
#[inline(always)]
pub(super) fn part<const N: usize, const AT: usize, const LEN: usize>(header: &[u8; LEN]) -> &[u8; N] {
    header[AT..].first_chunk().unwrap_or(&[0; N])
}

/// Puts `N` bytes into a header from byte `AT` on, which lie inside it.
#[inline(always)]
pub(super) fn put<const N: usize, const AT: usize, const LEN: usize>(header: &mut [u8; LEN], bytes: [u8; N]) {
    if let Some(place) = header[AT..].first_chunk_mut() {
        *place = bytes;
    }
}
