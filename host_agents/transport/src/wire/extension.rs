//! The extension of the transport header: what it is, and its bytes as they are.

/// What the extension after the fixed header holds; codes are never reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct ExtensionType(pub u8);

impl ExtensionType {
    /// No extension.
    pub const NONE: Self = Self(0);
    /// HPCC's hop records.
    pub const INT_HPCC: Self = Self(1);
    /// Reserved: INT-MD 2.1.
    pub const INT_MD: Self = Self(2);
    /// Rate request of D3 and RCP_dc, and its return.
    pub const RATE_REQUEST: Self = Self(3);
    /// Congestion notification: marked packets since the last one, 32 bits.
    pub const CNP: Self = Self(4);
    /// Selective acknowledgement: one to four blocks of two 32-bit positions (RFC2018).
    pub const SACK: Self = Self(5);
    /// RCP's fair rate: 32 bits, kbit/s.
    pub const FAIR_RATE: Self = Self(6);
    /// HPCC's hop records in room for five that the sender reserved.
    pub const INT_FIXED: Self = Self(7);
    /// RDMA read: how many bytes of the flow are wanted, 32 bits.
    pub const READ_REQUEST: Self = Self(8);
    /// Bolt's flags, and the queue that a switch tells of.
    pub const BOLT: Self = Self(9);
    /// What a receiver lets the sender send: 8-bit traffic class, 24 zero bits, 32 bits of the credit.
    pub const CREDIT: Self = Self(10);
    /// PINT: the utilisation of the busiest port, as a power of a base.
    pub const PINT: Self = Self(11);
}

/// An extension: its type and its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Extension<'a> {
    /// What the bytes are.
    pub kind: ExtensionType,
    /// The bytes, at most 255.
    pub bytes: &'a [u8],
}

impl Extension<'_> {
    /// No extension.
    pub const NONE: Extension<'static> = Extension { kind: ExtensionType::NONE, bytes: &[] };
}
