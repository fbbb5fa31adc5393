//! Values of Thrift's binary protocol, read and written without a schema.
//!
//! Invariants: what is read costs memory in proportion to the bytes that
//! came, and both are bounded; nesting is bounded; no input panics.

use std::collections::BTreeMap;
use std::io::{self, Read};

/// Most bytes of one message: a program's JSON, or a table of many entries.
pub const MAX_MESSAGE_BYTES: usize = 32 << 20;
/// Deepest nesting of structs and lists.
const MAX_DEPTH: u32 = 16;

/// Types as the protocol numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Type {
    /// True or false.
    Bool = 2,
    /// 8 bits, signed.
    Byte = 3,
    /// A number of 64 bits with a binary point.
    Double = 4,
    /// 16 bits, signed.
    I16 = 6,
    /// 32 bits, signed.
    I32 = 8,
    /// 64 bits, signed.
    I64 = 10,
    /// Text, or bytes.
    String = 11,
    /// Fields by their ids.
    Struct = 12,
    /// Pairs of a key and a value.
    Map = 13,
    /// Members without an order.
    Set = 14,
    /// Items in order.
    List = 15,
}

impl Type {
    fn from_code(code: u8) -> io::Result<Self> {
        const ALL: [Type; 11] = [
            Type::Bool,
            Type::Byte,
            Type::Double,
            Type::I16,
            Type::I32,
            Type::I64,
            Type::String,
            Type::Struct,
            Type::Map,
            Type::Set,
            Type::List,
        ];
        ALL.into_iter().find(|one| *one as u8 == code).ok_or_else(|| malformed("an unknown type"))
    }
}

/// Fields of a struct by their ids.
pub type Fields = BTreeMap<i16, Value>;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// 8 bits, signed.
    Byte(i8),
    /// A number of 64 bits with a binary point.
    Double(f64),
    /// 16 bits, signed.
    I16(i16),
    /// 32 bits, signed.
    I32(i32),
    /// 64 bits, signed.
    I64(i64),
    /// Text, or bytes.
    String(Vec<u8>),
    /// Fields by their ids.
    Struct(Fields),
    /// Types of keys and values, and the pairs.
    Map(Type, Type, Vec<(Value, Value)>),
    /// The type of the members, and the members.
    Set(Type, Vec<Value>),
    /// The type of the items, and the items.
    List(Type, Vec<Value>),
}

impl Value {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::String(text.into().into_bytes())
    }

    /// A struct of these fields.
    pub fn structure<const N: usize>(fields: [(i16, Value); N]) -> Self {
        Self::Struct(fields.into())
    }

    /// A list of structs.
    pub fn structs(values: Vec<Value>) -> Self {
        Self::List(Type::Struct, values)
    }

    /// Its type.
    pub fn kind(&self) -> Type {
        match self {
            Self::Bool(_) => Type::Bool,
            Self::Byte(_) => Type::Byte,
            Self::Double(_) => Type::Double,
            Self::I16(_) => Type::I16,
            Self::I32(_) => Type::I32,
            Self::I64(_) => Type::I64,
            Self::String(_) => Type::String,
            Self::Struct(_) => Type::Struct,
            Self::Map(..) => Type::Map,
            Self::Set(..) => Type::Set,
            Self::List(..) => Type::List,
        }
    }

    /// Appends its bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Bool(value) => out.push(u8::from(*value)),
            Self::Byte(value) => out.extend(value.to_be_bytes()),
            Self::Double(value) => out.extend(value.to_be_bytes()),
            Self::I16(value) => out.extend(value.to_be_bytes()),
            Self::I32(value) => out.extend(value.to_be_bytes()),
            Self::I64(value) => out.extend(value.to_be_bytes()),
            Self::String(bytes) => write_bytes(bytes, out),
            Self::Struct(fields) => write_fields(fields, out),
            Self::Map(key, value, pairs) => {
                out.extend([*key as u8, *value as u8]);
                out.extend((pairs.len() as u32).to_be_bytes());
                for (key, value) in pairs {
                    key.write(out);
                    value.write(out);
                }
            }
            Self::Set(of, values) | Self::List(of, values) => {
                out.push(*of as u8);
                out.extend((values.len() as u32).to_be_bytes());
                values.iter().for_each(|value| value.write(out));
            }
        }
    }
}

/// Appends a struct's bytes.
pub fn write_fields(fields: &Fields, out: &mut Vec<u8>) {
    for (id, value) in fields {
        out.push(value.kind() as u8);
        out.extend(id.to_be_bytes());
        value.write(out);
    }
    out.push(0);
}

/// Appends a length and bytes.
pub fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the message holds {what}"))
}

/// Reads one message.
pub struct Reader<R> {
    source: R,
    /// Bytes that the message may still have.
    left: usize,
    depth: u32,
}

impl<R: Read> Reader<R> {
    /// A reader of one message of at most [`MAX_MESSAGE_BYTES`].
    pub fn new(source: R) -> Self {
        Self { source, left: MAX_MESSAGE_BYTES, depth: 0 }
    }

    fn take(&mut self, bytes: usize) -> io::Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| malformed("too much"))?;
        Ok(())
    }

    /// The next bytes.
    ///
    /// # Errors
    /// There are not as many, or the message is too long; so for all of these.
    pub fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        self.take(N)?;
        let mut bytes = [0; N];
        self.source.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// A number.
    pub fn i32(&mut self) -> io::Result<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// A length and as many bytes.
    pub fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let len = usize::try_from(self.i32()?).map_err(|_| malformed("a negative length"))?;
        self.take(len)?;
        // Grows as bytes come: a length alone takes no memory.
        let mut bytes = Vec::new();
        if self.source.by_ref().take(len as u64).read_to_end(&mut bytes)? < len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }

    /// The fields of a struct; of two with one id the later counts.
    pub fn fields(&mut self) -> io::Result<Fields> {
        let mut fields = Fields::new();
        self.enter()?;
        loop {
            let [code] = self.array()?;
            if code == 0 {
                break;
            }
            let id = i16::from_be_bytes(self.array()?);
            let value = self.value(Type::from_code(code)?)?;
            fields.insert(id, value);
        }
        self.depth -= 1;
        Ok(fields)
    }

    fn enter(&mut self) -> io::Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(malformed("structs in too many others")) } else { Ok(()) }
    }

    fn kind(&mut self) -> io::Result<Type> {
        let [code] = self.array()?;
        Type::from_code(code)
    }

    fn values(&mut self) -> io::Result<(Type, Vec<Value>)> {
        let of = self.kind()?;
        self.enter()?;
        let mut values = Vec::new();
        for _ in 0..self.count()? {
            values.push(self.value(of)?);
        }
        self.depth -= 1;
        Ok((of, values))
    }

    /// Number of elements; each has a byte at least.
    fn count(&mut self) -> io::Result<usize> {
        let count = usize::try_from(self.i32()?).map_err(|_| malformed("a negative length"))?;
        if count > self.left { Err(malformed("too much")) } else { Ok(count) }
    }

    fn map(&mut self) -> io::Result<Value> {
        let (key, value) = (self.array::<2>()?, self.count()?);
        if value == 0 {
            // Types of an empty map may be anything.
            return Ok(Value::Map(Type::Bool, Type::Bool, Vec::new()));
        }
        let ([key, of], count) = (key, value);
        let (key, of) = (Type::from_code(key)?, Type::from_code(of)?);
        self.enter()?;
        let mut pairs = Vec::new();
        for _ in 0..count {
            pairs.push((self.value(key)?, self.value(of)?));
        }
        self.depth -= 1;
        Ok(Value::Map(key, of, pairs))
    }

    fn value(&mut self, kind: Type) -> io::Result<Value> {
        Ok(match kind {
            Type::Bool => Value::Bool(self.array()? != [0]),
            Type::Byte => Value::Byte(i8::from_be_bytes(self.array()?)),
            Type::Double => Value::Double(f64::from_be_bytes(self.array()?)),
            Type::I16 => Value::I16(i16::from_be_bytes(self.array()?)),
            Type::I32 => Value::I32(self.i32()?),
            Type::I64 => Value::I64(i64::from_be_bytes(self.array()?)),
            Type::String => Value::String(self.bytes()?),
            Type::Struct => Value::Struct(self.fields()?),
            Type::Map => self.map()?,
            Type::Set => {
                let (of, values) = self.values()?;
                Value::Set(of, values)
            }
            Type::List => {
                let (of, values) = self.values()?;
                Value::List(of, values)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::Bool),
            any::<i8>().prop_map(Value::Byte),
            (-1e300..1e300).prop_map(Value::Double),
            any::<i16>().prop_map(Value::I16),
            any::<i32>().prop_map(Value::I32),
            any::<i64>().prop_map(Value::I64),
            proptest::collection::vec(any::<u8>(), 0..20).prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                proptest::collection::btree_map(any::<i16>(), inner.clone(), 0..6).prop_map(Value::Struct),
                (inner.clone(), 1_usize..5).prop_map(|(value, n)| Value::List(value.kind(), vec![value; n])),
                (inner.clone(), inner, 1_usize..4).prop_map(|(key, value, n)| Value::Map(
                    key.kind(),
                    value.kind(),
                    vec![(key, value); n]
                )),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(fields in proptest::collection::btree_map(any::<i16>(), values(), 0..6)) {
            let mut bytes = Vec::new();
            write_fields(&fields, &mut bytes);
            let mut reader = Reader::new(&bytes[..]);
            prop_assert_eq!(reader.fields().unwrap(), fields);
            prop_assert_eq!(reader.left, MAX_MESSAGE_BYTES - bytes.len());
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Reader::new(&bytes[..]).fields();
        }

        #[test]
        fn damaged_messages_do_not_panic(
            fields in proptest::collection::btree_map(any::<i16>(), values(), 1..6),
            damage in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..4),
        ) {
            let mut bytes = Vec::new();
            write_fields(&fields, &mut bytes);
            for (at, byte) in damage {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            let _ = Reader::new(&bytes[..]).fields();
        }
    }

    #[test]
    fn a_length_without_bytes_and_endless_nesting_are_refused() {
        // A string of 31 MiB that does not come, a list of as many, structs in structs.
        for bytes in [
            [&[11, 0, 1][..], &(31_u32 << 20).to_be_bytes()].concat(),
            [&[15, 0, 1, 12][..], &u32::MAX.to_be_bytes()].concat(),
            [&[15, 0, 1, 2][..], &(31_u32 << 20).to_be_bytes()].concat(),
            [12, 0, 1].repeat(1_000),
        ] {
            assert!(Reader::new(&bytes[..]).fields().is_err());
        }
    }
}
