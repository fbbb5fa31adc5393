//! Messages of the binary protocol: calls and replies, buffered or framed.

use std::io::{self, BufRead, Read, Write};

use crate::value::{Fields, MAX_MESSAGE_BYTES, Reader, Value, write_bytes, write_fields};

/// Version 1 of the binary protocol, in the upper half of a message's first word.
const VERSION_1: u32 = 0x8001_0000;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A call that is answered.
    Call = 1,
    /// The answer, with a result or an exception of the method.
    Reply = 2,
    /// The answer where the method did not run.
    Exception = 3,
    /// A call that is not answered.
    Oneway = 4,
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// The method; a multiplexed one has its service and a colon in front.
    pub name: String,
    /// Given back in the reply.
    pub sequence: i32,
    /// Arguments, result or exception.
    pub fields: Fields,
}

impl Message {
    /// Reads a message, and whether it was framed; none at the end of the stream.
    ///
    /// # Errors
    /// The stream breaks off, or holds no message of this protocol.
    pub fn read(source: &mut impl BufRead) -> io::Result<Option<(Self, bool)>> {
        let Some(&first) = source.fill_buf()?.first() else { return Ok(None) };
        // A message starts with the version's high bit, a frame with its length, which is far smaller.
        let framed = first & 0x80 == 0;
        if !framed {
            return Ok(Some((Self::read_one(Reader::new(source))?, false)));
        }
        let mut len = [0; 4];
        source.read_exact(&mut len)?;
        let len = u32::from_be_bytes(len) as usize;
        if len > MAX_MESSAGE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the frame is too long"));
        }
        let mut frame = source.take(len as u64);
        let message = Self::read_one(Reader::new(&mut frame))?;
        io::copy(&mut frame, &mut io::sink())?;
        Ok(Some((message, true)))
    }

    fn read_one<R: Read>(mut reader: Reader<R>) -> io::Result<Self> {
        let malformed = || io::Error::new(io::ErrorKind::InvalidData, "not Thrift's strict binary protocol");
        let word = u32::from_be_bytes(reader.array()?);
        if word & 0xffff_0000 != VERSION_1 {
            return Err(malformed());
        }
        let kind = match word & 0xff {
            1 => Kind::Call,
            2 => Kind::Reply,
            3 => Kind::Exception,
            4 => Kind::Oneway,
            _ => return Err(malformed()),
        };
        let name = String::from_utf8(reader.bytes()?).map_err(|_| malformed())?;
        let sequence = reader.i32()?;
        Ok(Self { kind, name, sequence, fields: reader.fields()? })
    }

    /// Writes the message.
    ///
    /// # Errors
    /// The stream does not take it.
    pub fn write(&self, framed: bool, to: &mut impl Write) -> io::Result<()> {
        let mut bytes = vec![0; if framed { 4 } else { 0 }];
        bytes.extend((VERSION_1 | self.kind as u32).to_be_bytes());
        write_bytes(self.name.as_bytes(), &mut bytes);
        bytes.extend(self.sequence.to_be_bytes());
        write_fields(&self.fields, &mut bytes);
        if framed {
            let len = (bytes.len() - 4) as u32;
            bytes[..4].copy_from_slice(&len.to_be_bytes());
        }
        to.write_all(&bytes)?;
        to.flush()
    }
}

/// Thrift's own numbers of what went wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum ApplicationError {
    /// The service has no such method.
    UnknownMethod = 1,
    /// The method could not do its work.
    InternalError = 6,
    /// The arguments cannot be read.
    ProtocolError = 7,
}

/// Fields of an application exception.
pub fn application_exception(error: ApplicationError, text: &str) -> Fields {
    Fields::from([(1, Value::text(text)), (2, Value::I32(error as i32))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_both_transports() {
        let message = Message {
            kind: Kind::Call,
            name: "standard:bm_mgmt_get_info".to_owned(),
            sequence: -7,
            fields: Fields::from([(1, Value::I32(3)), (2, Value::text("t"))]),
        };
        for framed in [false, true] {
            let mut bytes = Vec::new();
            for _ in 0..2 {
                message.write(framed, &mut bytes).unwrap();
            }
            let mut source = &bytes[..];
            for _ in 0..2 {
                assert_eq!(Message::read(&mut source).unwrap(), Some((message.clone(), framed)));
            }
            assert_eq!(Message::read(&mut source).unwrap(), None);
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0x80, 2, 0, 1], &[0, 0, 0, 9, 1, 2]] {
            assert!(Message::read(&mut &bytes[..]).is_err());
        }
    }
}
