//! Headers of the user's program in data packets: put in, taken out, read, and echoed.
//!
//! A list of headers stands together behind Ethernet, IPv4 or UDP. How often one stands there may be told by
//! a field of another one, as with a stack that switches push records onto. The layers in front announce
//! them: by the EtherType, by IPv4's protocol number, by IPv4's header length where they are options of it,
//! or by the UDP destination port. What a field means is the program's business; here it is bits.
//!
//! An ACK carries the headers of a data packet as its payload, which no switch looks into.
//!
//! Invariant: what [`UserHeaders::insert`] puts into a frame, [`UserHeaders::take`] takes out of it, and any
//! bytes give a frame or nothing.

mod config;

use p4cc_cc::{ConfigError, HeaderField};

pub use self::config::{After, Announcement, CountField, UserHeaderConfig, UserHeadersConfig};
use super::{ETHERNET_LEN, FRAME_HEADERS_LEN, IPV4_LEN, UDP_LEN, UDP_PORT};

/// Most headers in a list.
pub const MAX_HEADERS: usize = 16;
/// Most fields of a header.
pub const MAX_FIELDS: usize = 256;
/// Widest field.
pub const MAX_FIELD_BITS: u32 = 2_048;
/// Most bytes of all headers at their sender.
pub const MAX_HEADER_BYTES: usize = 1_024;
/// Most bytes that are taken out of a packet, and that an ACK carries.
pub const MAX_TAKEN_BYTES: usize = 4_096;
/// Room for IPv4 options.
const MAX_OPTION_BYTES: usize = 40;

const ETHERTYPE_AT: usize = 12;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const VERSION_IHL_AT: usize = ETHERNET_LEN;
const VERSION_IHL: u8 = 0x45;
const TOTAL_LENGTH_AT: usize = ETHERNET_LEN + 2;
const PROTOCOL_AT: usize = ETHERNET_LEN + 9;
const PROTOCOL_UDP: u8 = 17;
const CHECKSUM_AT: usize = ETHERNET_LEN + 10;
const BEHIND_IPV4: usize = ETHERNET_LEN + IPV4_LEN;
const UDP_PORT_AT: usize = BEHIND_IPV4 + 2;
const UDP_LENGTH_AT: usize = BEHIND_IPV4 + 4;
const BEHIND_UDP: usize = BEHIND_IPV4 + UDP_LEN;
/// Payload length of the transport header.
const PAYLOAD_LENGTH_AT: usize = BEHIND_UDP + 16;

impl After {
    const fn offset(self) -> usize {
        match self {
            Self::Ethernet => ETHERNET_LEN,
            Self::Ipv4 => BEHIND_IPV4,
            Self::Udp => BEHIND_UDP,
        }
    }
}

/// The headers of a run, checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UserHeaders {
    after: After,
    announce: Announcement,
    echo: bool,
    headers: Vec<Layout>,
    /// All bytes as senders write them.
    sent: Vec<u8>,
}

/// What a header looks like.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Layout {
    name: String,
    fields: Vec<FieldLayout>,
    len: usize,
    count: Option<CountField>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct FieldLayout {
    name: String,
    /// First bit, from the start of the header.
    at: usize,
    bits: u32,
}

/// What was taken out of a frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The headers' bytes.
    pub headers: Box<[u8]>,
    /// The frame without them, as if they had never been there.
    pub frame: Vec<u8>,
}

/// Where each header of a packet begins, and how often it stands there.
type Places = [(usize, usize); MAX_HEADERS];

/// The headers of one packet, to be read field by field.
#[derive(Clone, Copy, Debug)]
pub struct UserHeadersView<'a> {
    layout: &'a UserHeaders,
    bytes: &'a [u8],
    places: Places,
}

impl<'a> UserHeadersView<'a> {
    /// The bytes behind it.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// All fields in the order of the wire.
    pub fn fields(&self) -> impl Iterator<Item = HeaderField<'a>> + use<'a> {
        let bytes = self.bytes;
        self.layout.headers.iter().zip(self.places).flat_map(move |(header, (at, elements))| {
            (0..elements).flat_map(move |index| header.fields_at(bytes, index, at + index * header.len))
        })
    }

    /// The value of a field, by the names of header and field; none if the packet does not have it.
    pub fn get(&self, header: &str, index: usize, field: &str) -> Option<u128> {
        self.fields()
            .find(|one| (one.header, one.index, one.name) == (header, index, field))
            .map(|one| one.value)
    }
}

impl UserHeaders {
    /// Checks the headers of a run.
    ///
    /// # Errors
    /// The first value that cannot be used; its place is a path in `config`.
    pub fn new(config: &UserHeadersConfig) -> Result<Self, ConfigError> {
        in_bounds("headers", "headers", config.headers.len(), 1, MAX_HEADERS)?;
        let mut made = Self {
            after: config.after,
            announce: config.announce,
            echo: config.echo,
            headers: Vec::with_capacity(config.headers.len()),
            sent: Vec::new(),
        };
        for (place, header) in config.headers.iter().enumerate() {
            let path = format!("headers[{place}]");
            let layout = Layout::new(&path, header)?;
            if let Some(count) = header.count {
                made.check_count(&path, count)?;
            }
            let elements =
                made.places(&made.sent).map_or(0, |(places, _)| layout.elements(&made, &made.sent, &places));
            made.headers.push(layout);
            let bytes = elements.saturating_mul(header.bytes.len());
            in_bounds(&path, "bytes so far", made.sent.len().saturating_add(bytes), 1, MAX_HEADER_BYTES)?;
            for _ in 0..elements {
                made.sent.extend(&header.bytes);
            }
        }
        made.check_announcement()?;
        Ok(made)
    }

    fn check_count(&self, path: &str, count: CountField) -> Result<(), ConfigError> {
        let field = self.headers.get(count.header).and_then(|header| header.fields.get(count.field));
        match field {
            Some(field) if field.bits <= 32 => Ok(()),
            _ => Err(refused(
                format!("{path}.count"),
                "it names no field of a header before it of at most 32 bits",
                "count by a field of an earlier header",
            )),
        }
    }

    fn check_announcement(&self) -> Result<(), ConfigError> {
        let Announcement { ethertype, protocol, ihl, udp_port } = self.announce;
        let said = [ethertype.is_some(), protocol.is_some(), ihl, udp_port.is_some()];
        let fits = match self.after {
            After::Ethernet => said == [true, false, false, false],
            After::Ipv4 => said == [false, true, false, false] || said == [false, false, true, false],
            After::Udp => said == [false, false, false, true],
        };
        if !fits || udp_port == Some(UDP_PORT) {
            let remedy =
                "give ethertype behind ethernet, protocol or ihl behind ipv4, another udp_port behind udp";
            return Err(refused("announce", "it does not fit the position of the headers", remedy));
        }
        if ihl && (!self.sent.len().is_multiple_of(4) || self.sent.len() > MAX_OPTION_BYTES) {
            let cause = format!("{} bytes of IPv4 options", self.sent.len());
            return Err(refused(
                "headers",
                cause,
                format!("give words of 4 bytes, at most {MAX_OPTION_BYTES}"),
            ));
        }
        Ok(())
    }

    /// Whether receivers echo them.
    pub const fn is_echoed(&self) -> bool {
        self.echo
    }

    /// Bytes that senders put into a data packet.
    pub const fn sent_len(&self) -> usize {
        self.sent.len()
    }

    /// Puts the headers into a data frame of this transport; returns whether they fit.
    pub fn insert(&self, frame: &[u8], out: &mut Vec<u8>) -> bool {
        out.clear();
        let Some((front, back)) = frame.split_at_checked(self.after.offset()) else { return false };
        out.extend(front);
        out.extend(&self.sent);
        out.extend(back);
        let grown = self.sent.len();
        match self.after {
            After::Ethernet => {
                put(out, ETHERTYPE_AT, self.announce.ethertype.unwrap_or_default());
                return true;
            }
            After::Ipv4 => {}
            After::Udp => {
                put(out, UDP_PORT_AT, self.announce.udp_port.unwrap_or(UDP_PORT));
                if !grow(out, UDP_LENGTH_AT, grown) {
                    return false;
                }
            }
        }
        if !grow(out, TOTAL_LENGTH_AT, grown) {
            return false;
        }
        if let Some(protocol) = self.announce.protocol {
            out[PROTOCOL_AT] = protocol;
        }
        if self.announce.ihl {
            out[VERSION_IHL_AT] += (grown / 4) as u8;
        }
        set_checksum(out);
        true
    }

    /// Takes the headers out of a frame; none if it has none of them, or is damaged.
    pub fn take(&self, frame: &[u8]) -> Option<Taken> {
        let at = self.after.offset();
        let (front, rest) = frame.split_at_checked(at)?;
        let room = self.announced_room(front, rest)?;
        let (_, len) = self.places(room)?;
        // Of options all go, those that are padding too.
        let removed = if self.announce.ihl { room.len() } else { len };
        let mut left = Vec::with_capacity(frame.len() - removed);
        left.extend(front);
        left.extend(rest.get(removed..)?);
        match self.after {
            After::Ethernet => left[ETHERTYPE_AT..ETHERNET_LEN].copy_from_slice(&ETHERTYPE_IPV4),
            After::Ipv4 | After::Udp => {
                left[VERSION_IHL_AT] = VERSION_IHL;
                left[PROTOCOL_AT] = PROTOCOL_UDP;
                if self.after == After::Udp {
                    put(&mut left, UDP_PORT_AT, UDP_PORT);
                }
                let shrinks = shrink(&mut left, TOTAL_LENGTH_AT, removed)
                    && (self.after != After::Udp || shrink(&mut left, UDP_LENGTH_AT, removed));
                if !shrinks {
                    return None;
                }
                set_checksum(&mut left);
            }
        }
        Some(Taken { headers: room[..len].into(), frame: left })
    }

    /// What follows the front of a frame and may be headers, if they are announced.
    fn announced_room<'a>(&self, front: &[u8], rest: &'a [u8]) -> Option<&'a [u8]> {
        if self.after == After::Ethernet {
            let ethertype = self.announce.ethertype.unwrap_or_default().to_be_bytes();
            return (front[ETHERTYPE_AT..] == ethertype).then_some(rest);
        }
        let is_ipv4 = front[ETHERTYPE_AT..ETHERNET_LEN] == ETHERTYPE_IPV4;
        let protocol = self.announce.protocol.unwrap_or(PROTOCOL_UDP);
        let version_ihl = front[VERSION_IHL_AT];
        let options = usize::from(version_ihl & 15).checked_sub(IPV4_LEN / 4)? * 4;
        let has_options = self.announce.ihl == (options > 0);
        if !is_ipv4 || version_ihl >> 4 != 4 || front[PROTOCOL_AT] != protocol || !has_options {
            return None;
        }
        if self.after == After::Udp && self.announce.udp_port != Some(number(front, UDP_PORT_AT)) {
            return None;
        }
        let header = front.get(ETHERNET_LEN..BEHIND_IPV4)?;
        let room = if self.announce.ihl { rest.get(..options)? } else { rest };
        // A program may leave the options out of the checksum, as the P4 tutorials do.
        let is_whole = sum(header, &[]) == u16::MAX || sum(header, room.get(..options)?) == u16::MAX;
        is_whole.then_some(room)
    }

    /// The headers of a packet, to be read; none if the bytes are not as many as they say.
    pub fn view<'a>(&'a self, bytes: &'a [u8]) -> Option<UserHeadersView<'a>> {
        let (places, len) = self.places(bytes)?;
        (len == bytes.len()).then_some(UserHeadersView { layout: self, bytes, places })
    }

    /// Where the headers at the start of `bytes` stand, and their length; none if the bytes end before.
    fn places(&self, bytes: &[u8]) -> Option<(Places, usize)> {
        let (mut places, mut len) = (Places::default(), 0_usize);
        for (number, header) in self.headers.iter().enumerate() {
            let elements = header.elements(self, bytes, &places);
            places[number] = (len, elements);
            len = len.checked_add(elements.checked_mul(header.len)?)?;
            if len > bytes.len() || len > MAX_TAKEN_BYTES {
                return None;
            }
        }
        Some((places, len))
    }
}

impl Layout {
    fn new(path: &str, config: &UserHeaderConfig) -> Result<Self, ConfigError> {
        in_bounds(&format!("{path}.fields"), "fields", config.fields.len(), 1, MAX_FIELDS)?;
        let mut at = 0_usize;
        let mut fields = Vec::with_capacity(config.fields.len());
        for (name, bits) in &config.fields {
            in_bounds(&format!("{path}.{name}"), "bits", *bits as usize, 1, MAX_FIELD_BITS as usize)?;
            fields.push(FieldLayout { name: name.clone(), at, bits: *bits });
            at += *bits as usize;
        }
        if !at.is_multiple_of(8) || config.bytes.len() != at / 8 {
            let cause = format!("{} has {at} bits and {} bytes", config.name, config.bytes.len());
            return Err(refused(path, cause, "headers are whole bytes, and all of them are given"));
        }
        Ok(Self { name: config.name.clone(), fields, len: at / 8, count: config.count })
    }

    /// How often it stands in a packet in which the headers before it have these places.
    fn elements(&self, headers: &UserHeaders, bytes: &[u8], places: &Places) -> usize {
        let Some(count) = self.count else { return 1 };
        let (at, counts) = places[count.header];
        let field = headers.headers.get(count.header).and_then(|header| header.fields.get(count.field));
        match field {
            Some(field) if counts > 0 => read_bits(bytes, 8 * at + field.at, field.bits) as usize,
            _ => 0,
        }
    }

    /// The fields of the element that begins at a byte.
    fn fields_at<'a>(
        &'a self,
        bytes: &'a [u8],
        index: usize,
        at: usize,
    ) -> impl Iterator<Item = HeaderField<'a>> {
        self.fields.iter().map(move |field| HeaderField {
            header: &self.name,
            index,
            name: &field.name,
            value: read_bits(bytes, 8 * at + field.at, field.bits),
        })
    }
}

/// Puts what a receiver echoes behind an ACK of this transport that has no payload; returns whether it fits.
pub fn append_echo(ack: &mut Vec<u8>, echo: &[u8]) -> bool {
    if ack.len() < FRAME_HEADERS_LEN || echo.len() > MAX_TAKEN_BYTES {
        return false;
    }
    ack.extend(echo);
    let grows = [TOTAL_LENGTH_AT, UDP_LENGTH_AT, PAYLOAD_LENGTH_AT].map(|at| grow(ack, at, echo.len()));
    set_checksum(ack);
    !grows.contains(&false)
}

fn in_bounds(place: &str, what: &str, value: usize, min: usize, max: usize) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(refused(place, format!("{value} {what}"), format!("give {min} to {max}")))
}

fn refused(place: impl Into<String>, cause: impl Into<String>, remedy: impl Into<String>) -> ConfigError {
    ConfigError::new(place, cause, remedy)
}

/// A number of so many bits from a bit on; of a wider one the lower 128 bits. The bits are there.
fn read_bits(bytes: &[u8], at: usize, bits: u32) -> u128 {
    let end = at + bits as usize;
    (at..end).fold(0, |value, bit| {
        let byte = bytes.get(bit / 8).copied().unwrap_or_default();
        value << 1 | u128::from(byte >> (7 - bit % 8) & 1)
    })
}

fn number(frame: &[u8], at: usize) -> u16 {
    frame[at..].first_chunk().map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

fn put(frame: &mut [u8], at: usize, value: u16) {
    if let Some(place) = frame[at..].first_chunk_mut() {
        *place = value.to_be_bytes();
    }
}

/// Adds to a length; whether it fits its field.
fn grow(frame: &mut [u8], at: usize, by: usize) -> bool {
    let grown = u16::try_from(usize::from(number(frame, at)) + by);
    grown.is_ok_and(|length| {
        put(frame, at, length);
        true
    })
}

fn shrink(frame: &mut [u8], at: usize, by: usize) -> bool {
    if frame.len() < at + 2 {
        return false;
    }
    let shrunk = usize::from(number(frame, at)).checked_sub(by);
    shrunk.is_some_and(|length| {
        put(frame, at, length as u16);
        true
    })
}

/// Sets IPv4's checksum over its header and options.
fn set_checksum(frame: &mut [u8]) {
    let len = usize::from(frame[VERSION_IHL_AT] & 15) * 4;
    put(frame, CHECKSUM_AT, 0);
    let checksum = frame.get(ETHERNET_LEN..ETHERNET_LEN + len).map_or(0, |header| !sum(header, &[]));
    put(frame, CHECKSUM_AT, checksum);
}

/// The one's complement sum of RFC1071 over whole words.
fn sum(first: &[u8], second: &[u8]) -> u16 {
    let words = |bytes: &[u8]| -> u32 {
        bytes.chunks_exact(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum()
    };
    let mut sum = words(first) + words(second);
    while sum > u32::from(u16::MAX) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;
    use crate::Codepoint;
    use crate::wire::{Endpoint, Extension, ExtensionType, Flags, Header, Packet, PacketKind, TrafficClass};

    fn header(name: &str, fields: &[(&str, u32)], bytes: &[u8]) -> UserHeaderConfig {
        UserHeaderConfig {
            name: name.to_owned(),
            fields: fields.iter().map(|(name, bits)| ((*name).to_owned(), *bits)).collect(),
            count: None,
            bytes: bytes.to_vec(),
        }
    }

    /// An option with a stack of records, two of them there from the start.
    fn records() -> UserHeadersConfig {
        let record = UserHeaderConfig {
            count: Some(CountField { header: 1, field: 0 }),
            ..header("record", &[("id", 12), ("depth", 20)], &[0, 0x10, 0, 0x02])
        };
        UserHeadersConfig {
            after: After::Ipv4,
            announce: Announcement { ihl: true, ..Announcement::default() },
            echo: true,
            headers: vec![
                header("option", &[("kind", 8), ("length", 8)], &[31, 12]),
                header("counts", &[("records", 16)], &[0, 2]),
                record,
            ],
        }
    }

    #[test]
    fn fields_are_read_by_name() {
        let headers = UserHeaders::new(&records()).expect("right headers");
        assert_eq!(headers.sent_len(), 12);
        let sent = headers.sent.clone();
        let view = headers.view(&sent).expect("as many bytes as it says");
        assert_eq!(view.get("option", 0, "kind"), Some(31));
        assert_eq!(view.get("record", 1, "id"), Some(1));
        assert_eq!(view.get("record", 1, "depth"), Some(2));
        assert_eq!(view.get("record", 2, "id"), None);
        assert_eq!(view.fields().count(), 2 + 1 + 2 * 2);
        assert!(headers.view(&sent[..11]).is_none());
    }

    #[test]
    fn mistakes_are_named() {
        let right = records;
        type Bend = dyn Fn(&mut UserHeadersConfig);
        let cases: [(&Bend, &str); 10] = [
            (&|config| config.headers.clear(), "headers"),
            (&|config| config.headers[0].fields.clear(), "headers[0].fields"),
            (&|config| config.headers[0].fields[0].1 = 0, "headers[0].kind"),
            (&|config| config.headers[0].fields[0].1 = 7, "headers[0]"),
            (&|config| config.headers[0].bytes.clear(), "headers[0]"),
            (
                &|config| config.headers[2].count = Some(CountField { header: 2, field: 0 }),
                "headers[2].count",
            ),
            (&|config| config.announce.protocol = Some(9), "announce"),
            (&|config| config.after = After::Ethernet, "announce"),
            (
                &|config| config.headers[2].count = Some(CountField { header: 0, field: 2 }),
                "headers[2].count",
            ),
            (&|config| config.headers[1].bytes = vec![0, 200], "headers"),
        ];
        for (bend, place) in cases {
            let mut config = right();
            bend(&mut config);
            assert_eq!(UserHeaders::new(&config).expect_err(place).place, place);
        }
    }

    /// A data packet, or an ACK, of this transport.
    fn frame(kind: PacketKind, payload_len: u16, extension: &[u8]) -> Vec<u8> {
        let header = Header {
            kind,
            flags: Flags::NONE,
            class: TrafficClass::default(),
            ecn_echo: Codepoint::NOT_ECT,
            flow_id: 7,
            seq: 1,
            ack: 2,
            payload_len,
            timestamp_ns: 3,
            timestamp_echo_ns: 4,
        };
        let kind = ExtensionType(if extension.is_empty() { 0 } else { 200 });
        let from = Endpoint { mac: [2; 6], ip: Ipv4Addr::new(10, 0, 0, 1) };
        let to = Endpoint { mac: [4; 6], ip: Ipv4Addr::new(10, 0, 0, 2) };
        let packet = Packet::new(from, to, Codepoint::NOT_ECT, header)
            .with_extension(Extension { kind, bytes: extension });
        let mut frame = Vec::new();
        packet.encode(&mut frame).expect("it fits");
        frame
    }

    fn places() -> impl Strategy<Value = UserHeadersConfig> {
        let announce =
            |ethertype, protocol, ihl, udp_port| Announcement { ethertype, protocol, ihl, udp_port };
        prop_oneof![
            Just((After::Ethernet, announce(Some(0x1212), None, false, None))),
            Just((After::Ipv4, announce(None, Some(150), false, None))),
            Just((After::Ipv4, announce(None, None, true, None))),
            Just((After::Udp, announce(None, None, false, Some(9)))),
        ]
        .prop_map(|(after, announce)| UserHeadersConfig { after, announce, ..records() })
    }

    proptest! {
        #[test]
        fn what_is_put_in_is_taken_out(
            config in places(), payload_len in 0_u16..2_000, extension in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let headers = UserHeaders::new(&config).expect("right headers");
            let plain = frame(PacketKind::Data, payload_len, &extension);
            let mut carrying = Vec::new();
            prop_assert!(headers.insert(&plain, &mut carrying));
            prop_assert_eq!(carrying.len(), plain.len() + headers.sent_len());
            prop_assert!(Packet::decode(&carrying, payload_len.into()).is_err());
            let taken = headers.take(&carrying).expect("they are there");
            prop_assert_eq!(&taken.frame, &plain);
            prop_assert_eq!(&*taken.headers, &headers.sent);
            // A packet without them is left alone.
            prop_assert_eq!(headers.take(&plain), None);
        }

        #[test]
        fn any_bytes_are_a_frame_or_nothing(
            config in places(), bent in prop::collection::vec((0_usize..160, any::<u8>()), 0..8), end in 0_usize..160,
        ) {
            let headers = UserHeaders::new(&config).expect("right headers");
            let mut carrying = Vec::new();
            prop_assert!(headers.insert(&frame(PacketKind::Data, 9, &[1, 2, 3]), &mut carrying));
            for (at, byte) in bent {
                if let Some(place) = carrying.get_mut(at) {
                    *place = byte;
                }
            }
            carrying.truncate(end);
            if let Some(taken) = headers.take(&carrying) {
                prop_assert!(headers.view(&taken.headers).is_some());
                prop_assert!(taken.frame.len() <= carrying.len());
            }
        }

        #[test]
        fn an_ack_carries_an_echo_as_its_payload(
            echo in prop::collection::vec(any::<u8>(), 0..90), sack in any::<bool>(),
        ) {
            let mut ack = frame(PacketKind::Ack, 0, if sack { &[1; 16] } else { &[] });
            let len = ack.len();
            prop_assert!(append_echo(&mut ack, &echo));
            let read = Packet::decode(&ack, 0).expect("an ACK");
            prop_assert_eq!(usize::from(read.header.payload_len), echo.len());
            prop_assert_eq!(&ack[read.headers_len()..], &echo[..]);
            prop_assert_eq!(read.headers_len(), len);
        }
    }
}
