//! The pcapng format (draft-ietf-opsawg-pcapng): one section with one interface, little-endian.
//!
//! Times are nanoseconds since virtual time zero.

/// Where a packet was seen from the captured end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Direction {
    Inbound,
    Outbound,
}

/// An interface: a captured end of a link.
pub(crate) struct Interface<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub rate_bps: u64,
    pub snap_bytes: u32,
}

/// A captured packet.
pub(crate) struct Captured<'a> {
    pub time_ns: u64,
    pub direction: Direction,
    /// What is kept of it, without the zeros at the end.
    pub bytes: &'a [u8],
    /// Length with these zeros.
    pub captured_bytes: u32,
    /// Length of the packet.
    pub length: u32,
    /// What a reader should know of it.
    pub comment: &'a str,
}

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;
/// `if_tsresol`: units of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Numbers of options; those of 2 and more are of one kind of block.
const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION: u16 = 3;
const INTERFACE_SPEED: u16 = 8;
const INTERFACE_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;
const STATISTICS_RECEIVED: u16 = 4;
const STATISTICS_DROPPED: u16 = 5;

/// Bytes of a packet's block beside packet and comment: eight words, direction, end of options.
const PACKET_BLOCK_BYTES: u64 = 32 + 8 + 4;
/// Bytes of the block that ends a file.
pub(crate) const STATISTICS_BYTES: u64 = 24 + 12 + 12 + 4;

/// A file under construction.
#[derive(Default)]
pub(crate) struct PcapNg {
    bytes: Vec<u8>,
}

impl PcapNg {
    /// A file with its section and interface.
    pub fn new(comment: &str, interface: &Interface<'_>) -> Self {
        let mut file = Self::default();
        file.block(SECTION, |body| {
            body.extend(BYTE_ORDER.to_le_bytes());
            // Version 1.0, and a section whose length is not told.
            body.extend([1, 0, 0, 0]);
            body.extend(u64::MAX.to_le_bytes());
            option(body, COMMENT, comment.as_bytes());
            option(body, SECTION_APPLICATION, b"p4cc");
            option(body, END_OF_OPTIONS, b"");
        });
        file.block(INTERFACE, |body| {
            body.extend(ETHERNET.to_le_bytes());
            body.extend([0, 0]);
            body.extend(interface.snap_bytes.to_le_bytes());
            option(body, INTERFACE_NAME, interface.name.as_bytes());
            option(body, INTERFACE_DESCRIPTION, interface.description.as_bytes());
            option(body, INTERFACE_SPEED, &interface.rate_bps.to_le_bytes());
            option(body, INTERFACE_RESOLUTION, &[NANOSECONDS]);
            option(body, END_OF_OPTIONS, b"");
        });
        file
    }

    /// Bytes so far.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Adds a packet.
    pub fn packet(&mut self, packet: &Captured<'_>) {
        self.block(PACKET, |body| {
            body.extend(0_u32.to_le_bytes());
            time(body, packet.time_ns);
            body.extend(packet.captured_bytes.to_le_bytes());
            body.extend(packet.length.to_le_bytes());
            let start = body.len();
            body.extend_from_slice(packet.bytes);
            body.resize(start + (packet.captured_bytes as usize).next_multiple_of(4), 0);
            let direction: u32 = if packet.direction == Direction::Inbound { 1 } else { 2 };
            option(body, PACKET_FLAGS, &direction.to_le_bytes());
            if !packet.comment.is_empty() {
                option(body, COMMENT, packet.comment.as_bytes());
            }
            option(body, END_OF_OPTIONS, b"");
        });
    }

    /// The whole file: its last block says how many packets were seen, and how many of these left out.
    pub fn end(mut self, now_ns: u64, seen: u64, left_out: u64) -> Vec<u8> {
        self.block(STATISTICS, |body| {
            body.extend(0_u32.to_le_bytes());
            time(body, now_ns);
            option(body, STATISTICS_RECEIVED, &seen.to_le_bytes());
            option(body, STATISTICS_DROPPED, &left_out.to_le_bytes());
            option(body, END_OF_OPTIONS, b"");
        });
        self.bytes
    }

    /// A block: its type, its length before and after what `fill` adds.
    fn block(&mut self, kind: u32, fill: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend([0; 4]);
        fill(&mut self.bytes);
        // Blocks are bounded by the snap length and by the longest comment.
        let length = ((self.bytes.len() - start + 4) as u32).to_le_bytes();
        self.bytes[start + 4..start + 8].copy_from_slice(&length);
        self.bytes.extend(length);
    }
}

/// Bytes that a packet takes in a file.
pub(crate) fn packet_bytes(captured_bytes: u32, comment: &str) -> u64 {
    let comment = if comment.is_empty() { 0 } else { 4 + comment.len().next_multiple_of(4) as u64 };
    PACKET_BLOCK_BYTES + u64::from(captured_bytes).next_multiple_of(4) + comment
}

/// A time, its upper half first.
fn time(body: &mut Vec<u8>, ns: u64) {
    body.extend(((ns >> 32) as u32).to_le_bytes());
    body.extend((ns as u32).to_le_bytes());
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    let start = body.len();
    body.extend_from_slice(value);
    body.resize(start + value.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Type and bytes of each block; the two lengths of a block agree.
    fn blocks(mut file: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
        let mut found = Vec::new();
        while !file.is_empty() {
            let length = word(&file[4..]) as usize;
            assert_eq!((length % 4, word(&file[length - 4..]) as usize), (0, length));
            found.push((word(file), file[8..length - 4].to_vec()));
            file = &file[length..];
        }
        found
    }

    #[test]
    fn a_file_is_blocks_whose_lengths_are_known_beforehand() {
        let interface = Interface { name: "s1:3", description: "to h1", rate_bps: 10, snap_bytes: 6 };
        let mut file = PcapNg::new("why", &interface);
        for (bytes, captured_bytes, comment) in [(&[1, 2, 3][..], 5, ""), (&[], 0, "lost"), (&[7; 8], 8, "x")]
        {
            let before = file.len();
            file.packet(&Captured {
                time_ns: 0x1_2345_6789,
                direction: Direction::Outbound,
                bytes,
                captured_bytes,
                length: 1_500,
                comment,
            });
            assert_eq!(file.len() - before, packet_bytes(captured_bytes, comment));
        }
        let before = file.len();
        let file = file.end(9, 3, 1);
        assert_eq!(file.len() as u64 - before, STATISTICS_BYTES);
        let blocks = blocks(&file);
        let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, [SECTION, INTERFACE, PACKET, PACKET, PACKET, STATISTICS]);
        let packet = [
            0, 0, 0, 0, 1, 0, 0, 0, 0x89, 0x67, 0x45, 0x23, 5, 0, 0, 0, 0xdc, 5, 0, 0, 1, 2, 3, 0, 0, 0, 0,
            0, 2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(blocks[2].1, packet);
    }
}
