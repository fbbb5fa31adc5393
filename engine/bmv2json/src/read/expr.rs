//! Expressions.
//!
//! The format computes with integers without bounds and says where they are cut: `(a + b) & 0xff`,
//! `two_comp_mod(a - b, 8)`, or the field that is written. Here every expression is lowered for what is
//! wanted of it: its low bits, which need only the low bits of the operands of `+ - * << & | ^ ~`, or its
//! exact value, held in as many bits as it can need. Both give what the integers give.

use serde_json::Value;

use super::Reader;
use super::build::{bit, constant};
use super::json::{NOT_P4C, Res, fault, flag, get, number, opt, text, tuple, typed};
use super::names::named;
use super::number::{Number, ones};
use super::shape::INDEX_WIDTH;
use super::term::{Data, HeaderRef, Term, UnionRef, Want};
use p4cc_ir::{BinOp, Bits, ExternCall, Inst, Operand, UnOp, VarId, VarType, limits};

/// Widest `b` of `a << b` whose exact result can be bounded.
const MAX_SHIFT_BITS: u32 = 11;

impl<'j> Reader<'j> {
    /// An expression of any kind.
    pub(super) fn term(&mut self, value: &'j Value, want: Want) -> Res<'j, Term<'j>> {
        if let Some(op) = value.get("op") {
            return self.operation(value, text(op)?, want);
        }
        let (ty, inner) = typed(value)?;
        match ty {
            "expression" => self.term(inner, want),
            "hexstr" => self.literal(inner).map(Term::Data),
            "bool" => flag(inner).map(|flag| Term::Bool(bit(flag))),
            "field" => self.field_term(inner),
            "local" | "runtime_data" => self.parameter(inner).map(Term::Data),
            "header" => text(inner).map(|name| Term::Header(HeaderRef::Named(name))),
            "header_union" => self.shapes.union_named(inner).map(|union| Term::Union(UnionRef::Fixed(union))),
            "header_stack" | "header_union_stack" => self.stack_term(inner),
            "stack_field" => self.stack_field(inner),
            "union_stack_field" => self.union_stack_field(inner),
            "lookahead" => self.lookahead(inner).map(Term::Data),
            "register" => self.register_cell(inner).map(Term::Data),
            other => fault(value, format!("`{other:.40}` cannot stand in an expression"), NOT_P4C),
        }
    }

    /// An integer; a boolean counts as one bit.
    pub(super) fn data(&mut self, value: &'j Value, want: Want) -> Res<'j, Data> {
        match self.term(value, want)?.into_data() {
            Some(data) => Ok(data),
            None => fault(value, "a header, stack or varbit stands where a number is expected", NOT_P4C),
        }
    }

    pub(super) fn exact(&mut self, value: &'j Value) -> Res<'j, Data> {
        self.data(value, Want::Exact)
    }

    /// The low `width` bits.
    pub(super) fn low(&mut self, value: &'j Value, width: u32) -> Res<'j, Operand> {
        let data = self.data(value, Want::Low(width))?;
        Ok(self.fit(data, width))
    }

    /// A value in another width; exact when it is wide enough.
    pub(super) fn fit(&mut self, data: Data, width: u32) -> Operand {
        self.b.resize(data.operand, data.width, data.signed, width)
    }

    /// A condition; an integer holds when it is not zero.
    pub(super) fn condition(&mut self, value: &'j Value) -> Res<'j, Operand> {
        match self.term(value, Want::Exact)? {
            Term::Bool(operand) => Ok(operand),
            Term::Data(data) => Ok(self.not_zero(data)),
            _ => fault(value, "a header, stack or varbit stands where a condition is expected", NOT_P4C),
        }
    }

    pub(super) fn not_zero(&mut self, data: Data) -> Operand {
        if data.width == 1 {
            return data.operand;
        }
        let zero = Operand::Const(Bits::zero(data.width));
        self.b.binary(BinOp::Ne, data.width, data.operand, zero)
    }

    pub(super) fn number(&self, value: &'j Value) -> Res<'j, Number> {
        match Number::parse(text(value)?) {
            Some(number) => Ok(number),
            None => {
                let cause = format!("not a hexadecimal number of at most {} bits", limits::MAX_WIDTH);
                fault(value, cause, "write it as 0x and hexadecimal digits")
            }
        }
    }

    fn literal(&self, value: &'j Value) -> Res<'j, Data> {
        let Number { bits, negative } = self.number(value)?;
        Ok(Data { width: bits.width(), signed: negative, operand: Operand::Const(bits) })
    }

    /// A variable as a term.
    pub(super) fn var_term(&self, var: VarId) -> Term<'j> {
        match self.b.ty(var) {
            VarType::Varbit(_) => Term::Varbit(var),
            ty => Term::Data(Data {
                operand: Operand::Var(var),
                width: ty.width(),
                signed: matches!(ty, VarType::Int(_)),
            }),
        }
    }

    /// A parameter of the action at hand.
    fn parameter(&self, value: &'j Value) -> Res<'j, Data> {
        let index = number(value)?;
        match self.params.get(index as usize) {
            Some(&var) => {
                Ok(Data { operand: Operand::Var(var), width: self.b.ty(var).width(), signed: false })
            }
            None => fault(value, format!("there is no action parameter {index} here"), NOT_P4C),
        }
    }

    fn stack_term(&self, value: &'j Value) -> Res<'j, Term<'j>> {
        let name = text(value)?;
        if let Some(&stack) = self.shapes.stacks.get(name) {
            return Ok(Term::Stack(stack));
        }
        if self.shapes.union_stacks.contains_key(name) {
            return Ok(Term::UnionStack(name));
        }
        fault(value, format!("there is no stack `{name}`"), NOT_P4C)
    }

    /// `lookahead`: bits of the packet from an offset.
    fn lookahead(&mut self, value: &'j Value) -> Res<'j, Data> {
        let [offset, width] = tuple::<2>(value)?;
        let (offset, width) = (number(offset)?, number(width)?);
        let span = offset.saturating_add(width);
        if !self.in_parser {
            return fault(value, "a lookahead stands outside of the parser", NOT_P4C);
        }
        if width == 0 || span > limits::MAX_WIDTH {
            let cause = format!("a lookahead of {width} bits from bit {offset} is too wide");
            return fault(value, cause, "look at no more than 2048 bits ahead");
        }
        let dst = self.b.temp(span);
        self.b.emit(Inst::Lookahead { dst });
        Ok(Data { operand: self.b.resize(Operand::Var(dst), span, false, width), width, signed: false })
    }

    /// A register read in an expression.
    fn register_cell(&mut self, value: &'j Value) -> Res<'j, Data> {
        let [name, index] = tuple::<2>(value)?;
        let register = named(name, "register array", &self.objects.registers)?;
        let index = self.index(index)?;
        let width = self.program.registers[register.index()].ty.width();
        let dst = self.b.temp(width);
        self.b.emit(Inst::Extern(ExternCall::RegisterRead { register, dst, index }));
        Ok(Data { operand: Operand::Var(dst), width, signed: false })
    }

    /// An index: an exact number; a negative one lies past every end.
    pub(super) fn index(&mut self, value: &'j Value) -> Res<'j, Operand> {
        self.exact(value).map(|data| data.operand)
    }

    /// An operation with its operands.
    fn operation(&mut self, value: &'j Value, op: &str, want: Want) -> Res<'j, Term<'j>> {
        match op {
            "+" | "*" | "&" | "|" | "^" => self.arithmetic(value, op, want).map(Term::Data),
            "-" if opt(value, "left").is_some() => self.arithmetic(value, op, want).map(Term::Data),
            "-" | "~" => self.unary(value, op == "~", want).map(Term::Data),
            "<<" => self.shift_left(value, want).map(Term::Data),
            ">>" => self.shift_right(value).map(Term::Data),
            "/" | "%" => self.division(value, op == "/").map(Term::Data),
            "==" | "!=" => self.equality(value, op == "!=").map(Term::Bool),
            "<" | ">" | "<=" | ">=" => self.order(value, op).map(Term::Bool),
            "and" | "or" => self.logic(value, op == "and").map(Term::Bool),
            "not" => {
                let flag = self.condition(get(value, "right")?)?;
                Ok(Term::Bool(self.b.not(flag)))
            }
            "d2b" => self.condition(get(value, "right")?).map(Term::Bool),
            "b2d" => {
                let operand = self.condition(get(value, "right")?)?;
                Ok(Term::Data(Data { operand, width: 1, signed: false }))
            }
            "valid" => {
                let header = self.header_ref(get(value, "right")?)?;
                self.validity(value, &header).map(Term::Bool)
            }
            "valid_union" => self.union_validity(get(value, "right")?).map(Term::Bool),
            "two_comp_mod" => self.two_comp_mod(value).map(Term::Data),
            "usat_cast" | "sat_cast" => self.saturated(value, op == "sat_cast").map(Term::Data),
            "?" => self.ternary(value, want),
            _ => self.access(value, op),
        }
    }

    fn sides(&self, value: &'j Value) -> Res<'j, (&'j Value, &'j Value)> {
        Ok((get(value, "left")?, get(value, "right")?))
    }

    /// Width that is within bounds.
    fn bounded(&self, at: &'j Value, width: u32) -> Res<'j, u32> {
        if width <= limits::MAX_WIDTH {
            return Ok(width);
        }
        let cause = format!("an intermediate result needs {width} bits, more than {}", limits::MAX_WIDTH);
        fault(at, cause, "cut operands to fewer bits before this operation")
    }

    /// `+ - * & | ^`
    fn arithmetic(&mut self, value: &'j Value, op: &str, want: Want) -> Res<'j, Data> {
        let (left, right) = self.sides(value)?;
        let binary = match op {
            "+" => BinOp::Add,
            "-" => BinOp::Sub,
            "*" => BinOp::Mul,
            "&" => BinOp::And,
            "|" => BinOp::Or,
            _ => BinOp::Xor,
        };
        if binary == BinOp::And {
            for (mask, other) in [(right, left), (left, right)] {
                if let Some(mask) = self.mask(mask)? {
                    return self.masked(other, &mask, want);
                }
            }
        }
        if let Want::Low(width) = want {
            let (a, b) = (self.low(left, width)?, self.low(right, width)?);
            return Ok(Data { operand: self.b.binary(binary, width, a, b), width, signed: false });
        }
        let (a, b) = (self.exact(left)?, self.exact(right)?);
        let signed = a.signed || b.signed;
        // Widths as numbers of one kind: an unsigned one among signed ones needs a bit for its sign.
        let (wa, wb) = (a.width + u32::from(signed && !a.signed), b.width + u32::from(signed && !b.signed));
        let (width, signed) = match binary {
            BinOp::Add => (wa.max(wb) + 1, signed),
            BinOp::Sub => (wa.max(wb) + 1, true),
            BinOp::Mul => (wa + wb, signed),
            _ => (wa.max(wb), signed),
        };
        let width = self.bounded(value, width)?;
        let (a, b) = (self.fit(a, width), self.fit(b, width));
        Ok(Data { operand: self.b.binary(binary, width, a, b), width, signed })
    }

    /// A constant mask that is not negative.
    fn mask(&self, value: &'j Value) -> Res<'j, Option<Bits>> {
        let mut value = value;
        while value.get("op").is_none() && value.get("type").and_then(Value::as_str) == Some("expression") {
            value = get(value, "value")?;
        }
        if value.get("type").and_then(Value::as_str) != Some("hexstr") {
            return Ok(None);
        }
        let number = self.number(get(value, "value")?)?;
        Ok((!number.negative).then_some(number.bits))
    }

    /// `other & mask`: as many bits as the mask has.
    fn masked(&mut self, other: &'j Value, mask: &Bits, want: Want) -> Res<'j, Data> {
        let width = match want {
            Want::Exact => mask.width(),
            Want::Low(low) => mask.width().min(low),
        };
        let mask = Bits::from_words(width, mask.words());
        let operand = self.low(other, width)?;
        let operand = if mask == ones(width) {
            operand
        } else {
            self.b.binary(BinOp::And, width, operand, Operand::Const(mask))
        };
        Ok(Data { operand, width, signed: false })
    }

    fn unary(&mut self, value: &'j Value, complement: bool, want: Want) -> Res<'j, Data> {
        let right = get(value, "right")?;
        let (src, width, signed) = match want {
            Want::Low(width) => (self.low(right, width)?, width, false),
            Want::Exact => {
                let data = self.exact(right)?;
                let grows = !(complement && data.signed);
                let width = self.bounded(value, data.width + u32::from(grows))?;
                (self.fit(data, width), width, true)
            }
        };
        let dst = self.b.temp(width);
        let op = if complement { UnOp::Not } else { UnOp::Neg };
        self.b.emit(Inst::Unary { dst, op, src });
        Ok(Data { operand: Operand::Var(dst), width, signed })
    }

    /// An amount to shift by.
    fn amount(&mut self, value: &'j Value) -> Res<'j, Data> {
        let amount = self.exact(value)?;
        if amount.signed {
            return fault(value, "the amount of a shift may be negative", "shift by an unsigned number");
        }
        Ok(amount)
    }

    fn shift_left(&mut self, value: &'j Value, want: Want) -> Res<'j, Data> {
        let (left, right) = self.sides(value)?;
        let amount = self.amount(right)?;
        let (a, width, signed) = match want {
            Want::Low(width) => (self.low(left, width)?, width, false),
            Want::Exact => {
                let most = match &amount.operand {
                    Operand::Const(bits) => bits.to_u128().and_then(|bits| u32::try_from(bits).ok()),
                    Operand::Var(_) if amount.width <= MAX_SHIFT_BITS => Some((1 << amount.width) - 1),
                    Operand::Var(_) => None,
                };
                let data = self.exact(left)?;
                let width = data.width.saturating_add(most.unwrap_or(u32::MAX));
                let (width, signed) = (self.bounded(value, width)?, data.signed);
                (self.fit(data, width), width, signed)
            }
        };
        Ok(Data { operand: self.b.binary(BinOp::Shl, width, a, amount.operand), width, signed })
    }

    fn shift_right(&mut self, value: &'j Value) -> Res<'j, Data> {
        let (left, right) = self.sides(value)?;
        let Data { operand, width, signed } = self.exact(left)?;
        let amount = self.amount(right)?;
        let operand = self.b.binary(BinOp::Shr { signed }, width, operand, amount.operand);
        Ok(Data { operand, width, signed })
    }

    fn division(&mut self, value: &'j Value, quotient: bool) -> Res<'j, Data> {
        let (left, right) = self.sides(value)?;
        let (a, b) = (self.exact(left)?, self.exact(right)?);
        if a.signed || b.signed {
            return fault(value, "a division of signed numbers", "divide unsigned numbers, as P4-16 asks");
        }
        let width = a.width.max(b.width);
        let (a, b) = (self.fit(a, width), self.fit(b, width));
        let op = if quotient { BinOp::Div } else { BinOp::Mod };
        Ok(Data { operand: self.b.binary(op, width, a, b), width, signed: false })
    }

    /// Two integers in the width that holds both.
    fn common(&mut self, at: &'j Value, a: Data, b: Data) -> Res<'j, (Operand, Operand, u32, bool)> {
        let signed = a.signed || b.signed;
        let width = |data: &Data| data.width + u32::from(signed && !data.signed);
        let width = self.bounded(at, width(&a).max(width(&b)))?;
        Ok((self.fit(a, width), self.fit(b, width), width, signed))
    }

    fn equality(&mut self, value: &'j Value, negate: bool) -> Res<'j, Operand> {
        let (left, right) = self.sides(value)?;
        let (a, b) = (self.term(left, Want::Exact)?, self.term(right, Want::Exact)?);
        let op = if negate { BinOp::Ne } else { BinOp::Eq };
        match (a, b) {
            (Term::Varbit(a), Term::Varbit(b)) => {
                if self.b.ty(a) != self.b.ty(b) {
                    return fault(value, "varbits of different largest widths are compared", NOT_P4C);
                }
                Ok(self.b.binary(op, 1, Operand::Var(a), Operand::Var(b)))
            }
            (Term::Header(a), Term::Header(b)) => {
                let equal = self.headers_equal(value, &a, &b)?;
                Ok(if negate { self.b.not(equal) } else { equal })
            }
            (Term::Union(a), Term::Union(b)) => {
                let equal = self.unions_equal(value, &a, &b)?;
                Ok(if negate { self.b.not(equal) } else { equal })
            }
            (a, b) => match (a.into_data(), b.into_data()) {
                (Some(a), Some(b)) => {
                    let (a, b, width, _) = self.common(value, a, b)?;
                    Ok(self.b.binary(op, width, a, b))
                }
                _ => fault(value, "things of different kinds are compared", NOT_P4C),
            },
        }
    }

    fn order(&mut self, value: &'j Value, op: &str) -> Res<'j, Operand> {
        let (left, right) = self.sides(value)?;
        let (a, b) = (self.exact(left)?, self.exact(right)?);
        let (a, b, width, signed) = self.common(value, a, b)?;
        Ok(match op {
            "<" => self.b.binary(BinOp::Lt { signed }, width, a, b),
            ">" => self.b.binary(BinOp::Lt { signed }, width, b, a),
            "<=" => self.b.binary(BinOp::Le { signed }, width, a, b),
            _ => self.b.binary(BinOp::Le { signed }, width, b, a),
        })
    }

    fn logic(&mut self, value: &'j Value, and: bool) -> Res<'j, Operand> {
        let (left, right) = self.sides(value)?;
        let (a, b) = (self.condition(left)?, self.condition(right)?);
        Ok(self.b.binary(if and { BinOp::And } else { BinOp::Or }, 1, a, b))
    }

    /// Width given as an operand of a cast.
    fn cast_width(&self, value: &'j Value) -> Res<'j, u32> {
        let width = match self.mask(value)? {
            Some(bits) => bits.to_u128().and_then(|bits| u32::try_from(bits).ok()),
            None => None,
        };
        match width.filter(|width| (1..=limits::MAX_WIDTH).contains(width)) {
            Some(width) => Ok(width),
            None => fault(value, "the width of a cast is not a constant from 1 to 2048", NOT_P4C),
        }
    }

    fn two_comp_mod(&mut self, value: &'j Value) -> Res<'j, Data> {
        let (left, right) = self.sides(value)?;
        let width = self.cast_width(right)?;
        Ok(Data { operand: self.low(left, width)?, width, signed: true })
    }

    /// `usat_cast` and `sat_cast`: the nearest value of the width.
    fn saturated(&mut self, value: &'j Value, signed: bool) -> Res<'j, Data> {
        let (left, right) = self.sides(value)?;
        let width = self.cast_width(right)?;
        let data = self.exact(left)?;
        // One bit more than both, signed: any bound compares with any value.
        let wide = self.bounded(value, data.width.max(width) + 1)?;
        let mut exact = self.fit(data, wide);
        let half = Bits::from_words(wide, ones((width - 1).max(1)).words());
        let (low, high) = if !signed {
            (Bits::zero(wide), Bits::from_words(wide, ones(width).words()))
        } else if width == 1 {
            (ones(wide), Bits::zero(wide))
        } else {
            let low = half.words().iter().map(|word| !word).collect::<Vec<_>>();
            (Bits::from_words(wide, &low), half)
        };
        for (bound, below) in [(low, true), (high, false)] {
            let bound = Operand::Const(bound);
            let (a, b) = if below { (exact.clone(), bound.clone()) } else { (bound.clone(), exact.clone()) };
            let outside = self.b.binary(BinOp::Lt { signed: true }, wide, a, b);
            exact = self.b.select(outside, wide, bound, exact);
        }
        let operand = self.b.resize(exact, wide, true, width);
        Ok(Data { operand, width, signed })
    }

    fn ternary(&mut self, value: &'j Value, want: Want) -> Res<'j, Term<'j>> {
        let (left, right) = self.sides(value)?;
        let cond = self.condition(get(value, "cond")?)?;
        let (a, b) = match (self.term(left, want)?, self.term(right, want)?) {
            (Term::Data(a), Term::Data(b)) => (a, b),
            (Term::Bool(a), Term::Bool(b)) => return Ok(Term::Bool(self.b.select(cond, 1, a, b))),
            _ => return fault(value, "the two results are not both numbers or both conditions", NOT_P4C),
        };
        let (a, b, width, signed) = match want {
            Want::Low(width) => (self.fit(a, width), self.fit(b, width), width, false),
            Want::Exact => self.common(value, a, b)?,
        };
        Ok(Term::Data(Data { operand: self.b.select(cond, width, a, b), width, signed }))
    }

    /// Operations on headers, stacks and unions.
    fn access(&mut self, value: &'j Value, op: &str) -> Res<'j, Term<'j>> {
        match op {
            "access_field" => {
                let (header, field) = self.accessed_field(value)?;
                self.read_field(value, &header, field)
            }
            "dereference_header_stack" | "access_union_header" => self.header_ref(value).map(Term::Header),
            "dereference_union_stack" => self.union_ref(value).map(Term::Union),
            "last_stack_index" | "size_stack" => {
                let next = self.next_index(get(value, "right")?)?;
                let data = Data { operand: next, width: INDEX_WIDTH, signed: false };
                if op == "size_stack" {
                    return Ok(Term::Data(data));
                }
                let width = INDEX_WIDTH + 1;
                let next = self.fit(data, width);
                let operand = self.b.binary(BinOp::Sub, width, next, constant(width, 1));
                Ok(Term::Data(Data { operand, width, signed: true }))
            }
            other => {
                let remedy = "read programs of p4c's v1model back end; others use operators of their own";
                fault(value, format!("the operator `{other:.40}` is unknown"), remedy)
            }
        }
    }
}
