//! What a UDP socket carries of a packet: the transport header, the extension, the payload.

use super::error::{DecodeError, EncodeError};
use super::extension::Extension;
use super::header::{Header, is_valid_extension};
use super::{IPV4_LEN, TRANSPORT_LEN, UDP_LEN};
use crate::AckFields;

/// The part of a packet behind the UDP header, without its payload, which is zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram<'a> {
    /// The fixed transport header.
    pub header: Header,
    /// The extension.
    pub extension: Extension<'a>,
}

impl<'a> Datagram<'a> {
    /// Bytes of the headers, the extension and the payload.
    pub const fn len(&self) -> usize {
        TRANSPORT_LEN + self.extension.bytes.len() + self.header.payload_len as usize
    }

    /// Never: there is always a header.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// What an ACK says to the sender.
    pub fn ack_fields(&self) -> AckFields {
        self.header.ack_fields(&self.extension)
    }

    /// Replaces the content of `out` by the whole datagram, payload included.
    ///
    /// # Errors
    /// A datagram that no IPv4 packet holds, or an extension whose type and length contradict each other.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let ext_len = self.extension.bytes.len();
        let bad_extension = EncodeError::BadExtension { kind: self.extension.kind.0, len: ext_len };
        if !is_valid_extension(self.extension.kind, self.extension.bytes.len()) {
            return Err(bad_extension);
        }
        let ip_len = IPV4_LEN + UDP_LEN + self.len();
        u16::try_from(ip_len).map_err(|_| EncodeError::TooLong(ip_len))?;
        let mut transport = [0; TRANSPORT_LEN];
        self.header.write(
            self.extension.kind,
            u8::try_from(ext_len).map_err(|_| bad_extension)?,
            &mut transport,
        );
        out.clear();
        out.extend(transport);
        out.extend(self.extension.bytes);
        out.resize(self.len(), 0);
        Ok(())
    }

    /// Reads what a UDP socket received.
    ///
    /// # Errors
    /// The first thing that is wrong; a length that is not that of the datagram is.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let cut = |layer, needed| DecodeError::Truncated { layer, needed, available: bytes.len() };
        let (transport, rest) = bytes.split_first_chunk().ok_or(cut("transport header", TRANSPORT_LEN))?;
        let (header, kind, ext_len) = Header::read(transport)?;
        let ext_len = usize::from(ext_len);
        let extension = rest.get(..ext_len).ok_or(cut("extension", TRANSPORT_LEN + ext_len))?;
        let datagram = Self { header, extension: Extension { kind, bytes: extension } };
        if datagram.len() != bytes.len() {
            let (found, expected) = (bytes.len(), datagram.len());
            return Err(DecodeError::BadLength { layer: "UDP", found, expected });
        }
        Ok(datagram)
    }
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;
    use crate::wire::{ETHERNET_LEN, Endpoint, ExtensionType, Packet, TrafficClass};
    use crate::{Codepoint, Segment};
    use p4cc_units::Time;

    fn header(len: u32) -> Header {
        let segment = Segment { seq: 77, len, ..Segment::default() };
        Header::data(9, TrafficClass::default(), &segment, Time::from_us(3)).expect("it fits")
    }

    #[test]
    fn a_datagram_is_the_rest_of_the_packet() {
        let bytes = [1, 2, 3, 4];
        let extension = Extension { kind: ExtensionType(240), bytes: &bytes };
        let datagram = Datagram { header: header(100), extension };
        let end = Endpoint { mac: [2; 6], ip: Ipv4Addr::LOCALHOST };
        let packet = Packet::new(end, end, Codepoint::NOT_ECT, datagram.header).with_extension(extension);
        let (mut whole, mut part) = (Vec::new(), Vec::new());
        packet.encode(&mut whole).expect("a good packet");
        datagram.encode(&mut part).expect("a good datagram");
        assert_eq!(part[..part.len() - 100], whole[ETHERNET_LEN + IPV4_LEN + UDP_LEN..]);
        assert_eq!(part[part.len() - 100..], [0; 100]);
        assert_eq!(Datagram::decode(&part), Ok(datagram));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_datagram_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(datagram) = Datagram::decode(&bytes) {
                prop_assert_eq!(datagram.len(), bytes.len());
            }
        }

        #[test]
        fn a_datagram_of_another_length_is_refused(len in 0_u32..50, more in 1_usize..20) {
            let mut bytes = Vec::new();
            Datagram { header: header(len), extension: Extension::NONE }.encode(&mut bytes).expect("it fits");
            let longer = [&bytes[..], &vec![0; more][..]].concat();
            prop_assert!(Datagram::decode(&longer).is_err());
            prop_assert!(Datagram::decode(&bytes[..bytes.len() - 1]).is_err());
        }
    }
}
