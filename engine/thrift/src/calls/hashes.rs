//! Parameters of hashes.

use p4cc_exec::CrcParams;
use p4cc_ir::CustomCrcId;

use super::{Entry, of_switch};
use crate::fault::{Fault, Outcome};
use crate::service::{Answer, Args, Context};
use crate::value::Value;

/// `CrcErrorCode`'s and `ToeplitzHashErrorCode`'s `INVALID_CALCULATION_NAME` and `WRONG_TYPE_CALCULATION`.
const INVALID_NAME: i32 = 1;
const WRONG_TYPE: i32 = 2;

pub(super) fn calls() -> impl Iterator<Item = Entry> {
    of_switch(
        "standard",
        [
            ("bm_set_crc16_custom_parameters", |context, args| set_crc(context, args, 16)),
            ("bm_set_crc32_custom_parameters", |context, args| set_crc(context, args, 32)),
            // v1model has no such hash.
            ("bm_set_toeplitz_hash_key", |_, args| {
                let name = args.text(2)?;
                Err(Fault::new(
                    WRONG_TYPE,
                    format!("the calculation {name} is not a Toeplitz hash; v1model has none"),
                ))
            }),
        ],
    )
}

/// A number of 16 or 32 bits; Thrift knows signed ones only.
fn number(args: &Args<'_>, id: i16) -> Outcome<u32> {
    match args.value(id)? {
        Value::I16(value) => Ok(u32::from(*value as u16)),
        Value::I32(value) => Ok(*value as u32),
        _ => Err(Fault::Arguments(format!("argument {id} is not an i16 or i32"))),
    }
}

fn set_crc(context: &mut Context<'_>, args: &Args<'_>, width: u32) -> Answer {
    let program = context.program()?;
    let name = args.text(2)?;
    let at = program.custom_crcs.iter().position(|crc| crc.name == name && crc.width == width);
    let at = at.ok_or_else(|| {
        let known = program.custom_crcs.iter().any(|crc| crc.name == name);
        let code = if known { WRONG_TYPE } else { INVALID_NAME };
        Fault::new(code, format!("the program has no calculation {name} with crc{width}_custom"))
    })?;
    let given = args.fields(3)?;
    let params = CrcParams {
        polynomial: number(&given, 1)?,
        initial: number(&given, 2)?,
        final_xor: number(&given, 3)?,
        reflect_data: given.bool(4)?,
        reflect_result: given.bool(5)?,
    };
    let set = context.state_mut()?.set_custom_crc(CustomCrcId::from_index(at), params);
    set.map_err(|error| Fault::new(INVALID_NAME, error.to_string()))?;
    Ok(None)
}
