//! `$PORT_METADATA`: what the ingress parser finds in front of packets, by port.

use p4cc_ir::Bits;
use p4cc_p4runtime::errors::Failure;

use super::rows::{Change, FixedEntry, KEPT, Rule};
use crate::fields::Value;
use crate::schema::{Table, Type};
use crate::target::Target;

/// The table of each pipe.
pub const BY_PORT: Rule = Rule { effect: set_bytes, ..KEPT };

fn set_bytes(target: &mut Target<'_>, change: &Change<'_>) -> Result<(), Failure> {
    let port = u32::try_from(change.number(0)).unwrap_or(u32::MAX);
    let bytes = change.new.map(|new| packed(change.table, new));
    Ok(target.switch.control().chip_mut().set_port_metadata(port, bytes.as_deref())?)
}

/// The fields one behind the other, the first in the highest bits.
fn packed(table: &Table, row: &FixedEntry) -> Vec<u8> {
    let mut bits: Vec<bool> = Vec::new();
    for field in table.data.iter().flat_map(|data| &data.fields) {
        let value = match (row.data.get(&field.id), &field.ty) {
            (Some(Value::Number(value)), _) => value.clone(),
            (Some(Value::Bool(value)), _) => Bits::from_u128(1, u128::from(*value)),
            (_, Type::Bool(_)) => Bits::zero(1),
            (_, ty) => Bits::zero(ty.width()),
        };
        bits.extend((0..value.width()).rev().map(|at| !value.slice(at, 1).is_zero()));
    }
    let byte =
        |part: &[bool]| part.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << (7 - at));
    bits.chunks(8).map(byte).collect()
}
