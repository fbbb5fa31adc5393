//! Packet-out and packet-in: the protocol's metadata against the bits of the program's controller headers.

use p4cc_ir::{Bits, ControllerHeader, Program};

use crate::codec::{canonical, parse};
use crate::errors::Failure;
use crate::p4info::field_ids;
use crate::proto::p4::v1 as p4;

fn header<'a>(program: &'a Program, name: &str) -> Option<&'a ControllerHeader> {
    program.controller_headers.iter().find(|header| header.cp.name == name)
}

fn header_ids(header: &ControllerHeader) -> Vec<u32> {
    field_ids(header.fields.iter().map(|(cp, _)| cp))
}

/// The bytes of a packet-out as they enter the CPU port: `packet_out` header, then payload.
pub(crate) fn encode_packet_out(program: &Program, packet: &p4::PacketOut) -> Result<Vec<u8>, Failure> {
    let mut bits = BitWriter::default();
    let mut known = 0;
    if let Some(header) = header(program, "packet_out") {
        for ((cp, ty), id) in header.fields.iter().zip(header_ids(header)) {
            let given = packet.metadata.iter().find(|metadata| metadata.metadata_id == id);
            known += usize::from(given.is_some());
            let value = match given {
                Some(metadata) => {
                    parse(&metadata.value, ty.width(), || format!("packet-out metadata {}", cp.name))?
                }
                None if cp.hidden => Bits::zero(ty.width()),
                None => {
                    return Err(Failure::invalid(format!(
                        "packet-out metadata {} (id {id}) is missing",
                        cp.name
                    )));
                }
            };
            bits.push(&value);
        }
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

/// A packet from the CPU port for the controller. A packet shorter than the `packet_in` header is all payload.
pub(crate) fn decode_packet_in(program: &Program, bytes: &[u8]) -> p4::PacketIn {
    let whole = || p4::PacketIn { payload: bytes.to_vec(), metadata: Vec::new() };
    let Some(header) = header(program, "packet_in") else { return whole() };
    let width: u32 = header.fields.iter().map(|(_, ty)| ty.width()).sum();
    let len = width.div_ceil(8) as usize;
    if bytes.len() < len {
        return whole();
    }
    let mut at = 0;
    let mut metadata = Vec::new();
    for ((cp, ty), metadata_id) in header.fields.iter().zip(header_ids(header)) {
        let value = read_bits(bytes, at, ty.width());
        at += ty.width() as usize;
        if !cp.hidden {
            metadata.push(p4::PacketMetadata { metadata_id, value: canonical(&value) });
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
