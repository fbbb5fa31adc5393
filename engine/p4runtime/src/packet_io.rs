//! Packet-out and packet-in: the protocol's metadata against the bits of the program's controller headers.

use p4cc_ir::Bits;

use crate::catalog::Catalog;
use crate::errors::Failure;
use crate::proto::p4::v1 as p4;

/// The bytes of a packet-out as they enter the CPU port: `packet_out` header, then payload.
pub(crate) fn encode_packet_out(catalog: &Catalog, packet: &p4::PacketOut) -> Result<Vec<u8>, Failure> {
    let mut bits = BitWriter::default();
    let mut known = 0;
    for part in catalog.header("packet_out").unwrap_or_default() {
        let given = packet.metadata.iter().find(|metadata| Some(metadata.metadata_id) == part.id);
        known += usize::from(given.is_some());
        let value = match (given, part.id) {
            (Some(metadata), _) => {
                part.form.parse(&metadata.value, || format!("packet-out metadata {}", part.name))?
            }
            (None, None) => Bits::zero(part.form.width),
            (None, Some(id)) => {
                let name = &part.name;
                return Err(Failure::invalid(format!("packet-out metadata {name} (id {id}) is missing")));
            }
        };
        bits.push(&value);
    }
    if known != packet.metadata.len() {
        return Err(Failure::invalid(
            "the packet-out has metadata twice, or that the program's packet_out header lacks",
        ));
    }
    let mut bytes = bits.bytes;
    bytes.extend_from_slice(&packet.payload);
    Ok(bytes)
}

/// A packet from the CPU port for the controller. A packet
/// shorter than the `packet_in` header is all payload.
pub(crate) fn decode_packet_in(catalog: &Catalog, bytes: &[u8]) -> p4::PacketIn {
    let whole = || p4::PacketIn { payload: bytes.to_vec(), metadata: Vec::new() };
    let Some(header) = catalog.header("packet_in") else { return whole() };
    let width: u32 = header.iter().map(|part| part.form.width).sum();
    let len = width.div_ceil(8) as usize;
    if bytes.len() < len {
        return whole();
    }
    let mut at = 0;
    let mut metadata = Vec::new();
    for part in header {
        let value = read_bits(bytes, at, part.form.width);
        at += part.form.width as usize;
        if let Some(metadata_id) = part.id {
            metadata.push(p4::PacketMetadata { metadata_id, value: part.form.given(&value) });
        }
    }
    p4::PacketIn { payload: bytes[len..].to_vec(), metadata }
}

#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    bits: usize,
}

impl BitWriter {
    fn push(&mut self, value: &Bits) {
        for bit in (0..value.width()).rev() {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let one = (value.words()[(bit / 64) as usize] >> (bit % 64) & 1) as u8;
            if let Some(last) = self.bytes.last_mut() {
                *last |= one << (7 - self.bits % 8);
            }
            self.bits += 1;
        }
    }
}

/// The `width` bits from bit `at` of the packet, which has them.
fn read_bits(bytes: &[u8], at: usize, width: u32) -> Bits {
    let mut words = vec![0_u64; p4cc_ir::bits::words_for(width)];
    for i in 0..width as usize {
        let from = at + width as usize - 1 - i;
        let bit = bytes[from / 8] >> (7 - from % 8) & 1;
        words[i / 64] |= u64::from(bit) << (i % 64);
    }
    Bits::from_words(width, &words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_written_are_read(values in proptest::collection::vec((1_u32..80, any::<u128>()), 1..6)) {
            let mut writer = BitWriter::default();
            let values: Vec<Bits> = values.into_iter().map(|(width, value)| Bits::from_u128(width, value)).collect();
            values.iter().for_each(|value| writer.push(value));
            let mut at = 0;
            for value in values {
                prop_assert_eq!(&read_bits(&writer.bytes, at, value.width()), &value);
                at += value.width() as usize;
            }
            prop_assert_eq!(writer.bytes.len(), at.div_ceil(8));
        }
    }
}
