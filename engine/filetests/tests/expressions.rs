//! Random expressions give what a naive evaluator on big integers gives: from source text through the
//! compiler and the machine to a packet, all operators, widths 1 to 300, with and without sign.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer as _;
use num_traits::{One, Signed, ToPrimitive as _, Zero};
use p4cc_filetests::compile_source;
use p4cc_filetests::stf;
use p4cc_switch::ExecChoice;
use p4cc_syntax::{FileSystem, Options, Source};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
use std::fmt::Write as _;
use std::sync::Arc;

const MAX_WIDTH: u32 = 300;

/// Type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ty {
    Bit(u32),
    Int(u32),
}

impl Ty {
    fn width(self) -> u32 {
        match self {
            Ty::Bit(width) | Ty::Int(width) => width,
        }
    }

    fn text(self) -> String {
        match self {
            Ty::Bit(width) => format!("bit<{width}>"),
            Ty::Int(width) => format!("int<{width}>"),
        }
    }

    fn range(self) -> (BigInt, BigInt) {
        match self {
            Ty::Int(width) => (-two_to(width - 1), two_to(width - 1) - 1),
            _ => (BigInt::zero(), two_to(self.width()) - 1),
        }
    }

    /// A number brought into the type's range by dropping high bits.
    fn wrap(self, value: &BigInt) -> BigInt {
        let low = value.mod_floor(&two_to(self.width()));
        if matches!(self, Ty::Int(_)) && low > self.range().1 { low - two_to(self.width()) } else { low }
    }
}

fn two_to(width: u32) -> BigInt {
    BigInt::one() << width
}

/// An expression: how it is written and what it is worth for each packet.
struct Made {
    text: String,
    values: Vec<BigInt>,
}

/// Makes expressions over fields with known values.
struct Maker {
    random: ChaCha8Rng,
    fields: Vec<(Ty, Vec<BigInt>)>,
    packets: usize,
}

impl Maker {
    fn new(seed: u64, packets: usize) -> Self {
        let mut made = Self { random: ChaCha8Rng::seed_from_u64(seed), fields: Vec::new(), packets };
        for _ in 0..5 {
            let ty = made.number_type();
            let values = (0..packets).map(|_| made.number(ty)).collect();
            made.fields.push((ty, values));
        }
        made
    }

    /// One of `0 .. count`.
    fn below(&mut self, count: usize) -> usize {
        self.random.next_u32() as usize % count
    }

    /// From `low` to `high`, both included.
    fn pick(&mut self, low: u32, high: u32) -> u32 {
        low + self.random.next_u32() % (high - low + 1)
    }

    /// True once in `times`.
    fn flip(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// From `low` to `high`, both included.
    fn between(&mut self, low: &BigInt, high: &BigInt) -> BigInt {
        let mut bytes = [0u8; MAX_WIDTH as usize / 8 + 8];
        self.random.fill_bytes(&mut bytes);
        low + BigInt::from_bytes_be(Sign::Plus, &bytes) % (high - low + 1)
    }

    fn width(&mut self) -> u32 {
        // Small widths, those around a machine word and large ones alike.
        match self.below(3) {
            0 => self.pick(1, 16),
            1 => self.pick(60, 68),
            _ => self.pick(1, MAX_WIDTH),
        }
    }

    fn number_type(&mut self) -> Ty {
        let width = self.width();
        if self.flip(2) { Ty::Bit(width) } else { Ty::Int(width) }
    }

    /// A number of a type: an end of its range now and then.
    fn number(&mut self, ty: Ty) -> BigInt {
        let (low, high) = ty.range();
        match self.below(6) {
            0 => low,
            1 => high,
            2 => BigInt::zero(),
            _ => self.between(&low, &high),
        }
    }

    fn both(&self, a: &Made, b: &Made, f: impl Fn(&BigInt, &BigInt) -> BigInt) -> Vec<BigInt> {
        a.values.iter().zip(&b.values).map(|(a, b)| f(a, b)).collect()
    }

    fn make(&mut self, ty: Ty, depth: u32) -> Made {
        match ty {
            _ if depth == 0 => self.leaf(ty),
            _ => match self.below(12) {
                0..=3 => self.arithmetic(ty, depth),
                4 => self.unary(ty, depth),
                5 | 6 => self.shift(ty, depth),
                7 => self.divide_or_slice(ty, depth),
                8 => self.concat(ty, depth),
                9 => self.choose(ty, depth),
                10 => self.cast(ty, depth),
                _ => self.leaf(ty),
            },
        }
    }

    fn leaf(&mut self, ty: Ty) -> Made {
        if self.flip(5) {
            return self.literal(ty);
        }
        let at = self.below(self.fields.len());
        let (from, values) = self.fields[at].clone();
        converted(Made { text: format!("hdr.given.f{at}"), values }, from, ty)
    }

    fn literal(&mut self, ty: Ty) -> Made {
        let value = self.number(ty);
        let mark = if matches!(ty, Ty::Int(_)) { 's' } else { 'w' };
        let text = match (ty, value.is_negative()) {
            // The least number has no literal of its own sign: it is the negation of itself.
            (_, true) => format!("(-{}{mark}{})", ty.width(), ty.wrap(&-value.clone()).magnitude()),
            _ => format!("{}{mark}{value}", ty.width()),
        };
        Made { text, values: vec![value; self.packets] }
    }

    fn arithmetic(&mut self, ty: Ty, depth: u32) -> Made {
        let (a, b) = (self.make(ty, depth - 1), self.make(ty, depth - 1));
        let op = ["+", "-", "*", "&", "|", "^", "|+|", "|-|"][self.below(8)];
        let (low, high) = ty.range();
        let values = self.both(&a, &b, |a, b| match op {
            "+" => ty.wrap(&(a + b)),
            "-" => ty.wrap(&(a - b)),
            "*" => ty.wrap(&(a * b)),
            "&" => ty.wrap(&(a & b)),
            "|" => ty.wrap(&(a | b)),
            "^" => ty.wrap(&(a ^ b)),
            "|+|" => (a + b).clamp(low.clone(), high.clone()),
            _ => (a - b).clamp(low.clone(), high.clone()),
        });
        Made { text: format!("({} {op} {})", a.text, b.text), values }
    }

    fn unary(&mut self, ty: Ty, depth: u32) -> Made {
        let a = self.make(ty, depth - 1);
        let negate = self.flip(2);
        let values = a.values.iter().map(|a| ty.wrap(&if negate { -a } else { -a - 1 })).collect();
        Made { text: format!("({}{})", if negate { "-" } else { "~" }, a.text), values }
    }

    fn shift(&mut self, ty: Ty, depth: u32) -> Made {
        let a = self.make(ty, depth - 1);
        let amount = Ty::Bit(self.pick(1, 10));
        let b = self.make(amount, depth - 1);
        let left = self.flip(2);
        let values = self.both(&a, &b, |a, b| {
            let by = b.to_u64().expect("ten bits at most");
            if left { ty.wrap(&(a << by)) } else { a >> by }
        });
        Made { text: format!("({} {} {})", a.text, if left { "<<" } else { ">>" }, b.text), values }
    }

    /// Division is for unsigned numbers and slices are unsigned; other types come from them by casts.
    fn divide_or_slice(&mut self, ty: Ty, depth: u32) -> Made {
        let unsigned = Ty::Bit(ty.width());
        let made = match self.below(3) {
            0 => self.divide(unsigned, depth),
            1 => self.slice(unsigned, depth),
            _ => self.run_slice(unsigned, depth),
        };
        converted(made, unsigned, ty)
    }

    fn divide(&mut self, ty: Ty, depth: u32) -> Made {
        let a = self.make(ty, depth - 1);
        let (_, high) = ty.range();
        let by = self.between(&BigInt::one(), &high);
        let divide = self.flip(2);
        let values = a.values.iter().map(|a| if divide { a / &by } else { a % &by }).collect();
        let op = if divide { "/" } else { "%" };
        Made { text: format!("({} {op} {}w{by})", a.text, ty.width()), values }
    }

    /// Something at least as wide to take a slice of.
    fn wider(&mut self, ty: Ty, depth: u32) -> (Ty, Made) {
        let width = self.pick(ty.width(), MAX_WIDTH.max(ty.width()));
        let whole = if self.flip(2) { Ty::Bit(width) } else { Ty::Int(width) };
        (whole, self.make(whole, depth - 1))
    }

    fn slice(&mut self, ty: Ty, depth: u32) -> Made {
        let (whole, a) = self.wider(ty, depth);
        let low = self.pick(0, whole.width() - ty.width());
        let values = a.values.iter().map(|a| ty.wrap(&(a >> low))).collect();
        Made { text: format!("({})[{}:{low}]", a.text, low + ty.width() - 1), values }
    }

    /// At a place known at run time only; bits past the end are zero.
    fn run_slice(&mut self, ty: Ty, depth: u32) -> Made {
        let (whole, a) = self.wider(ty, depth);
        let at = self.make(Ty::Bit(8), depth - 1);
        let values = self.both(&a, &at, |a, at| {
            let bits = Ty::Bit(whole.width()).wrap(a);
            ty.wrap(&(bits >> at.to_u64().expect("eight bits")))
        });
        // A constant place is a slice like any other and may
        // not lie outside; a field keeps it from being one.
        let zero = converted(
            Made { text: "hdr.given.zero".to_owned(), values: vec![BigInt::zero(); self.packets] },
            Ty::Bit(8),
            Ty::Bit(8),
        );
        Made { text: format!("({})[({} | {}) +: {}]", a.text, at.text, zero.text, ty.width()), values }
    }

    fn concat(&mut self, ty: Ty, depth: u32) -> Made {
        if ty.width() < 2 {
            return self.leaf(ty);
        }
        let low_width = self.pick(1, ty.width() - 1);
        let high = match ty {
            Ty::Int(width) => Ty::Int(width - low_width),
            _ => Ty::Bit(ty.width() - low_width),
        };
        let low = if self.flip(2) { Ty::Bit(low_width) } else { Ty::Int(low_width) };
        let (a, b) = (self.make(high, depth - 1), self.make(low, depth - 1));
        let values = self.both(&a, &b, |a, b| ty.wrap(&((a << low_width) + Ty::Bit(low_width).wrap(b))));
        Made { text: format!("({} ++ {})", a.text, b.text), values }
    }

    fn choose(&mut self, ty: Ty, depth: u32) -> Made {
        let (c, a, b) = (self.make_bool(depth - 1), self.make(ty, depth - 1), self.make(ty, depth - 1));
        let sides = a.values.iter().zip(&b.values);
        let values =
            c.values.iter().zip(sides).map(|(c, (a, b))| if c.is_zero() { b } else { a }.clone()).collect();
        Made { text: format!("({} ? {} : {})", c.text, a.text, b.text), values }
    }

    fn cast(&mut self, ty: Ty, depth: u32) -> Made {
        if ty == Ty::Bit(1) && self.flip(2) {
            let a = self.make_bool(depth - 1);
            return Made { text: format!("(bit<1>)({})", a.text), values: a.values };
        }
        let from = self.number_type();
        let a = self.make(from, depth - 1);
        converted(a, from, ty)
    }

    fn make_bool(&mut self, depth: u32) -> Made {
        let flag = |flag: bool| BigInt::from(u8::from(flag));
        if depth == 0 || self.flip(10) {
            let a = self.leaf(Ty::Bit(1));
            return Made { text: format!("(bool)({})", a.text), values: a.values };
        }
        match self.below(8) {
            0 => {
                let a = self.make_bool(depth - 1);
                let values = a.values.iter().map(|a| flag(a.is_zero())).collect();
                Made { text: format!("(!{})", a.text), values }
            }
            1 | 2 => {
                let (a, b) = (self.make_bool(depth - 1), self.make_bool(depth - 1));
                let op = ["&&", "||", "==", "!="][self.below(4)];
                let values = self.both(&a, &b, |a, b| match op {
                    "&&" => a & b,
                    "||" => a | b,
                    "==" => flag(a == b),
                    _ => flag(a != b),
                });
                Made { text: format!("({} {op} {})", a.text, b.text), values }
            }
            _ => {
                let ty = self.number_type();
                let (a, b) = (self.make(ty, depth - 1), self.make(ty, depth - 1));
                let op = ["==", "!=", "<", "<=", ">", ">="][self.below(6)];
                let values = self.both(&a, &b, |a, b| {
                    flag(match op {
                        "==" => a == b,
                        "!=" => a != b,
                        "<" => a < b,
                        "<=" => a <= b,
                        ">" => a > b,
                        _ => a >= b,
                    })
                });
                Made { text: format!("({} {op} {})", a.text, b.text), values }
            }
        }
    }
}

/// Casts, one change at a time: first the width, then the sign (P4-16 8.11.1).
fn converted(made: Made, from: Ty, to: Ty) -> Made {
    let Made { mut text, mut values } = made;
    let resized = if matches!(from, Ty::Int(_)) { Ty::Int(to.width()) } else { Ty::Bit(to.width()) };
    for (before, after) in [(from, resized), (resized, to)] {
        if before != after {
            text = format!("({})({text})", after.text());
            values = values.iter().map(|value| after.wrap(value)).collect();
        }
    }
    Made { text, values }
}

/// Fields as bytes, with zeros up to a whole number of them.
fn packed(fields: &[(Ty, BigInt)]) -> String {
    let (mut bits, mut width) = (BigUint::zero(), 0);
    for (ty, value) in fields {
        let low = Ty::Bit(ty.width()).wrap(value);
        assert_ne!(low.sign(), Sign::Minus);
        bits = (bits << ty.width()) + low.magnitude();
        width += ty.width();
    }
    let pad = (8 - width % 8) % 8;
    format!("{:0digits$x}", bits << pad, digits = ((width + pad) / 4) as usize)
}

fn header(name: &str, fields: &[Ty], extra: &str) -> String {
    let mut text = format!("header {name} {{\n");
    for (at, ty) in fields.iter().enumerate() {
        let _ = writeln!(text, "    {} f{at};", ty.text());
    }
    text.push_str(extra);
    let width: u32 = fields.iter().map(|ty| ty.width()).sum();
    if !width.is_multiple_of(8) {
        let _ = writeln!(text, "    bit<{}> pad;", 8 - width % 8);
    }
    text + "}\n"
}

fn program(maker: &Maker, results: &[(Ty, Made)]) -> String {
    let given: Vec<Ty> = maker.fields.iter().map(|field| field.0).collect();
    let wanted: Vec<Ty> = results.iter().map(|result| result.0).collect();
    let mut text = "#include <core.p4>\n#include <v1model.p4>\n".to_owned();
    text += &header("given_h", &given, "    bit<8> zero;\n");
    text += &header("result_h", &wanted, "");
    text += "struct headers_t { given_h given; result_h result; }\nstruct meta_t { }\n\
        parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {\n\
            state start { packet.extract(hdr.given); transition accept; }\n}\n\
        control V(inout headers_t hdr, inout meta_t meta) { apply { } }\n\
        control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {\n apply {\n\
            sm.egress_spec = 1;\n hdr.result.setValid();\n";
    for (at, (_, made)) in results.iter().enumerate() {
        let _ = writeln!(text, "        hdr.result.f{at} = {};", made.text);
    }
    text += "        hdr.given.setInvalid();\n } }\n\
        control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }\n\
        control C(inout headers_t hdr, inout meta_t meta) { apply { } }\n\
        control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }\n\
        V1Switch(P(), V(), I(), E(), C(), D()) main;\n";
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn expressions_give_what_big_integers_give(seed in any::<u64>(), depth in 1u32..6) {
        const PACKETS: usize = 4;
        let mut maker = Maker::new(seed, PACKETS);
        let results: Vec<(Ty, Made)> = (0..4)
            .map(|_| {
                let ty = maker.number_type();
                (ty, maker.make(ty, depth))
            })
            .collect();
        let text = program(&maker, &results);
        let (source, diagnostics) =
            Source::from_text("random.p4", &text, &FileSystem, &Options::default());
        let compiled = compile_source(source, diagnostics);
        let Some(program) = compiled.program else {
            let shown = compiled.source.render(&compiled.diagnostics, false);
            return Err(TestCaseError::fail(format!("does not compile:\n{shown}\n{text}")));
        };
        let mut test = String::new();
        for packet in 0..PACKETS {
            let mut given: Vec<(Ty, BigInt)> =
                maker.fields.iter().map(|(ty, values)| (*ty, values[packet].clone())).collect();
            given.push((Ty::Bit(8), BigInt::zero()));
            let wanted: Vec<(Ty, BigInt)> =
                results.iter().map(|(ty, made)| (*ty, made.values[packet].clone())).collect();
            let _ = writeln!(test, "packet 0 {}\nexpect 1 {}$", packed(&given), packed(&wanted));
        }
        let program = Arc::new(program);
        let by = |exec| stf::run(&program, &test, exec).problems;
        let problems = [by(ExecChoice::Interp), by(ExecChoice::Native)].concat();
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        prop_assert!(problems.is_empty(), "{}\n{test}\n{text}", shown.join("\n"));
    }
}
