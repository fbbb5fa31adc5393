//! The parser of a program as JSON, for what is generated from it.

use p4cc_ir::{Block, Header, Inst, Keyset, Operand, Program, Terminator, VarType};
use serde_json::{Value, json};

/// Header instances with their fields, and the blocks of the (ingress) parser with instructions and ways on.
/// Headers, variables and blocks are numbers; numbers of more than 53 bits are texts.
pub(crate) fn parser_json(program: &Program) -> String {
    let func = program.architecture.first_parser();
    let stack = |stack: &p4cc_ir::Stack| {
        let elements: Vec<usize> = stack.elements.iter().map(|header| header.index()).collect();
        json!({"name": stack.name, "elements": elements})
    };
    let blocks = &program.funcs[func.index()].blocks;
    json!({
        "name": program.name,
        "headers": program.headers.iter().map(|one| header(program, one)).collect::<Vec<_>>(),
        "stacks": program.stacks.iter().map(stack).collect::<Vec<_>>(),
        "widths": program.vars.iter().map(|var| var.ty.width()).collect::<Vec<_>>(),
        "blocks": blocks.iter().map(|one| block(program, one)).collect::<Vec<_>>(),
    })
    .to_string()
}

fn header(program: &Program, header: &Header) -> Value {
    let ty = &program.header_types[header.ty.index()];
    let fields = ty.fields.iter().zip(&header.fields).map(|(field, var)| {
        let is_varbit = matches!(field.ty, VarType::Varbit(_));
        json!({"name": field.name, "width": field.ty.width(), "varbit": is_varbit, "var": var.index()})
    });
    json!({"name": header.name, "type": ty.name, "fields": fields.collect::<Vec<_>>()})
}

fn block(program: &Program, block: &Block) -> Value {
    let insts = block.insts.iter().map(|one| inst(program, one));
    json!({"label": block.label, "ops": insts.collect::<Vec<_>>(), "end": end(&block.terminator)})
}

fn number(bits: &p4cc_ir::Bits) -> Value {
    match bits.to_u128() {
        Some(value) if value < 1 << 53 => json!(value as u64),
        Some(value) => json!(value.to_string()),
        None => Value::Null,
    }
}

fn operand(operand: &Operand) -> Value {
    match operand {
        Operand::Var(var) => json!({"var": var.index()}),
        Operand::Const(bits) => json!({"value": number(bits), "width": bits.width()}),
    }
}

/// An instruction that decides how bytes are read; `["other"]` for the rest.
fn inst(program: &Program, inst: &Inst) -> Value {
    match inst {
        Inst::Assign { dst, src } => json!(["assign", dst.index(), operand(src)]),
        Inst::Binary { dst, op, a, b } => {
            json!(["binary", dst.index(), format!("{op:?}"), operand(a), operand(b)])
        }
        Inst::Unary { dst, op, src } => json!(["unary", dst.index(), format!("{op:?}"), operand(src)]),
        Inst::Resize { dst, src, signed } => json!(["resize", dst.index(), operand(src), signed]),
        Inst::Concat { dst, hi, lo } => {
            let low_width = match lo {
                Operand::Var(var) => program.vars[var.index()].ty.width(),
                Operand::Const(bits) => bits.width(),
            };
            json!(["concat", dst.index(), operand(hi), operand(lo), low_width])
        }
        Inst::Slice { dst, src, lo } => json!(["slice", dst.index(), operand(src), lo]),
        Inst::SetValid { header } => json!(["set_valid", header.index(), true]),
        Inst::SetInvalid { header } => json!(["set_valid", header.index(), false]),
        Inst::IsValid { dst, header } => json!(["is_valid", dst.index(), header.index()]),
        Inst::StackNextIndex { dst, stack } => json!(["next_index", dst.index(), stack.index()]),
        Inst::StackSetNextIndex { stack, next } => {
            json!(["set_next_index", stack.index(), operand(next)])
        }
        Inst::StackLoad { dst, stack, index, field } => {
            json!(["stack_load", dst.index(), stack.index(), operand(index), field])
        }
        Inst::Extract { header } => json!(["extract", header.index(), null]),
        Inst::ExtractVar { header, varbit_bits } => {
            json!(["extract", header.index(), operand(varbit_bits)])
        }
        Inst::ExtractNext { stack, varbit_bits } => {
            json!(["extract_next", stack.index(), varbit_bits.as_ref().map(operand)])
        }
        Inst::Lookahead { dst } => json!(["lookahead", dst.index()]),
        Inst::Advance { bits } => json!(["advance", operand(bits)]),
        Inst::PacketLength { dst } => json!(["length", dst.index()]),
        Inst::Verify { cond, .. } => json!(["verify", operand(cond)]),
        _ => json!(["other"]),
    }
}

fn keyset(keyset: &Keyset) -> Value {
    match keyset {
        Keyset::Any => json!({"any": true}),
        Keyset::Mask { value, mask } => json!({"value": number(value), "mask": number(mask)}),
        Keyset::Range { low, high, signed } => {
            json!({"low": number(low), "high": number(high), "signed": signed})
        }
    }
}

fn end(end: &Terminator) -> Value {
    match end {
        Terminator::Jump(to) => json!({"jump": to.0}),
        Terminator::Branch { cond, then, otherwise } => {
            json!({"branch": operand(cond), "then": then.0, "else": otherwise.0})
        }
        Terminator::Switch { value, cases, default } => {
            let case =
                |(bits, to): &(p4cc_ir::Bits, p4cc_ir::BlockId)| json!([[{"value": number(bits)}], to.0]);
            let cases: Vec<Value> = cases.iter().map(case).collect();
            json!({"select": [operand(value)], "cases": cases, "default": default.0})
        }
        Terminator::Select { keys, cases, default } => {
            let case = |(sets, to): &(Vec<Keyset>, p4cc_ir::BlockId)| {
                json!([sets.iter().map(keyset).collect::<Vec<_>>(), to.0])
            };
            let keys: Vec<Value> = keys.iter().map(operand).collect();
            let cases: Vec<Value> = cases.iter().map(case).collect();
            json!({"select": keys, "cases": cases, "default": default.map(|to| to.0)})
        }
        Terminator::Accept => json!({"end": "accept"}),
        _ => json!({"end": "reject"}),
    }
}
