//! Packets as docs/reference/wire-format.md has them, written from fields
//! and read back with every length and checksum checked.

use p4cc_switch::Packet;

/// Ethernet address that the route writes.
pub const NEXT_HOP: u64 = 0x0200_0000_0009;
const ETHERNET: usize = 14;
const IP: usize = 20;
const UDP: usize = 8;
const TRANSPORT: usize = 36;
/// Start of the extension.
pub const EXTENSION: usize = ETHERNET + IP + UDP + TRANSPORT;

/// What tests choose of a packet; the rest is fixed.
#[derive(Clone, Debug)]
pub struct Frame {
    pub packet_type: u8,
    pub version: u8,
    pub class: u8,
    pub ecn: u8,
    pub dscp: u8,
    pub ttl: u8,
    pub protocol: u8,
    pub fragment: u16,
    pub port: u16,
    pub udp_checksum: u16,
    pub flow: u32,
    pub extension_type: u8,
    pub extension: Vec<u8>,
    /// Added to the UDP length, to make it contradict that of IPv4.
    pub udp_excess: u16,
    pub payload: u16,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            packet_type: 0,
            version: 1,
            class: 0,
            ecn: 2,
            dscp: 0,
            ttl: 64,
            protocol: 17,
            fragment: 0x4000,
            port: 52224,
            udp_checksum: 0,
            flow: 1,
            extension_type: 0,
            extension: Vec::new(),
            udp_excess: 0,
            payload: 1000,
        }
    }
}

impl Frame {
    /// A data packet with an extension.
    pub fn data(extension_type: u8, extension: Vec<u8>) -> Self {
        Self { extension_type, extension, ..Self::default() }
    }

    /// The packet; its payload is zeros.
    pub fn packet(&self) -> Packet {
        let udp_len = (UDP + TRANSPORT + self.extension.len()) as u16 + self.payload;
        let mut head = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
        let mut ip = vec![0x45, self.dscp << 2 | self.ecn];
        ip.extend((udp_len + IP as u16).to_be_bytes());
        ip.extend([0, 0]);
        ip.extend(self.fragment.to_be_bytes());
        ip.extend([self.ttl, self.protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let sum = checksum(&ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        head.extend(ip);
        head.extend((49_152 + self.flow as u16 % 16_384).to_be_bytes());
        head.extend(self.port.to_be_bytes());
        head.extend((udp_len + self.udp_excess).to_be_bytes());
        head.extend(self.udp_checksum.to_be_bytes());
        head.extend([self.version << 4 | self.packet_type, 0, self.class << 5, self.extension_type]);
        head.extend(self.flow.to_be_bytes());
        head.extend([0; 8]);
        head.extend(self.payload.to_be_bytes());
        head.extend([self.extension.len() as u8, 0]);
        head.extend([0xab; 16]);
        head.extend(&self.extension);
        Packet::new(&head, self.payload.into())
    }
}

/// RFC 1071 over a header whose checksum field is zero.
pub fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// Big-endian number of `bytes`.
pub fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// ECN bits of a packet.
pub fn ecn(packet: &Packet) -> u8 {
    packet.head[ETHERNET + 1] & 3
}

/// Flow id of a packet of ours.
pub fn flow(packet: &Packet) -> u32 {
    number(&packet.head[EXTENSION - 32..EXTENSION - 28]) as u32
}

/// The IPv4 length of a packet.
pub fn ip_bytes(packet: &Packet) -> u32 {
    number(&packet.head[ETHERNET + 2..ETHERNET + 4]) as u32
}

/// The extension of a packet that left, after its addresses,
/// TTL, checksum and all its lengths were found right.
pub fn extension(packet: &Packet, sent: &Frame) -> Vec<u8> {
    let bytes = packet.to_vec();
    let ip = &bytes[ETHERNET..ETHERNET + IP];
    assert_eq!(number(&bytes[..6]), NEXT_HOP);
    assert_eq!(ip[8], sent.ttl - 1, "one hop");
    let mut zeroed = ip.to_vec();
    zeroed[10..12].fill(0);
    assert_eq!(number(&ip[10..12]), u64::from(checksum(&zeroed)), "IPv4 checksum");
    assert_eq!(ip_bytes(packet) as usize, bytes.len() - ETHERNET, "IPv4 length");
    let udp = &bytes[ETHERNET + IP..];
    assert_eq!(number(&udp[4..6]) as usize, bytes.len() - ETHERNET - IP, "UDP length");
    assert_eq!(number(&udp[6..8]), 0, "UDP checksum");
    let transport = &bytes[ETHERNET + IP + UDP..EXTENSION];
    let length = usize::from(transport[18]);
    assert_eq!(number(&transport[16..18]), u64::from(sent.payload), "the payload keeps its length");
    assert_eq!(bytes.len(), EXTENSION + length + usize::from(sent.payload), "extension length");
    assert_eq!(transport[20..], [0xab; 16], "the timestamps are untouched");
    bytes[EXTENSION..EXTENSION + length].to_vec()
}

/// A packet as it leaves when nothing but forwarding touches it.
pub fn forwarded(packet: &Packet) -> Packet {
    let mut packet = packet.clone();
    packet.head.copy_within(0..6, 6);
    packet.head[..6].copy_from_slice(&NEXT_HOP.to_be_bytes()[2..]);
    packet.head[ETHERNET + 8] -= 1;
    let ip = &mut packet.head[ETHERNET..ETHERNET + IP];
    ip[10..12].fill(0);
    let sum = checksum(ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    packet
}
