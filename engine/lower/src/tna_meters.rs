//! TNA's counters, meters and filters: what is attached to a table works on the cell of the entry that was
//! hit, where it is called.

use super::Lowerer;
use super::object::TnaObject;
use super::storage::Rvalue;
use p4cc_ir::limits::MAX_ARRAY_CELLS;
use p4cc_ir::{
    BinOp, Bits, ControlPlaneName, CounterId, ExternCall, Filter, FilterId, FilterKind, Inst, MeterId,
    Operand, VarId, VarType,
};
use p4cc_syntax::Span;
use p4cc_types::hir::{Call, Construct, Expr};
use p4cc_types::ty::Ty;

/// Widest value that a filter is given.
const MAX_FILTER_BITS: u32 = 64;
/// Colours as the chip gives them: green, yellow, red.
const COLORS: [u8; 3] = [0, 1, 3];

fn constant(width: u32, value: u128) -> Operand {
    Operand::Const(Bits::from_u128(width, value))
}

impl Lowerer<'_> {
    /// Keeps the colours that a meter gives, if its constructor has some.
    pub(super) fn meter_colors(&mut self, name: &str, construct: &Construct, meter: MeterId) -> Option<()> {
        let first = if name == "Meter" { 2 } else { 1 };
        let given: Vec<&Expr> = construct.args.iter().skip(first).flatten().collect();
        let [red, yellow, green] = given[..] else { return Some(()) };
        let mut number = |expr: &Expr| Some(self.const_value(expr)?.to_bits(8).low_u64() as u8);
        let colors = [number(green)?, number(yellow)?, number(red)?];
        self.tna.colors.push((meter, colors));
        Some(())
    }

    pub(super) fn filter(
        &mut self,
        (name, types): (&str, &[Ty]),
        construct: &Construct,
        cp: &ControlPlaneName,
        span: Span,
    ) -> Option<TnaObject> {
        let direct = name.starts_with("Direct");
        let Some(width) = types.first().and_then(|ty| self.width(ty)).filter(|w| *w <= MAX_FILTER_BITS)
        else {
            return self.refused(
                span,
                "a filter processes numbers of at most 64 bits",
                "use a narrower type",
            );
        };
        let size = match direct {
            true => None,
            false => Some(self.size_arg(construct, 0, MAX_ARRAY_CELLS, span)?),
        };
        let values = usize::from(!direct);
        let mut number = |at: usize| {
            let expr = construct.args.get(at)?.as_ref()?;
            Some(self.const_value(expr)?.to_bits(8).low_u64() as u8)
        };
        let kind = if name.ends_with("Lpf") {
            FilterKind::Lpf
        } else {
            FilterKind::Wred { drop_value: number(values)?, no_drop_value: number(values + 1)? }
        };
        let cp = self.indexed(cp.clone(), types.get(1));
        self.out.filters.push(Filter { cp, kind, size, width });
        Some(TnaObject::Filter(FilterId::from_index(self.out.filters.len() - 1)))
    }

    /// `execute(value[, index])`
    pub(super) fn execute_filter(&mut self, id: FilterId, call: &Call) -> Option<Rvalue> {
        let filter = self.out.filters.get(id.index())?;
        let (is_array, width, kind) = (filter.size.is_some(), filter.width, filter.kind);
        let value = if is_array { self.arg_before(call, 0)? } else { self.arg(call, 0)? };
        let index = if is_array { Some(self.arg(call, 1)?) } else { None };
        let width = if kind == FilterKind::Lpf { width } else { 8 };
        let dst = self.temp(VarType::Bit(width));
        self.emit(Inst::Extern(ExternCall::FilterExecute { filter: id, index, value, dst }));
        Some(Rvalue::Scalar(Operand::Var(dst)))
    }

    /// `count([index][, adjust_byte_count])`
    pub(super) fn tna_count(&mut self, counter: CounterId, call: &Call) -> Option<Rvalue> {
        let is_array = self.out.counters.get(counter.index())?.size.is_some();
        let at = usize::from(is_array);
        let adjusted = matches!(call.args.get(at), Some(Some(_)));
        let index = match (is_array, adjusted) {
            (false, _) => None,
            (true, false) => Some(self.arg(call, 0)?),
            (true, true) => Some(self.arg_before(call, 0)?),
        };
        let adjust = if adjusted { Some(self.arg(call, at)?) } else { None };
        self.emit(Inst::Extern(match (index, adjust) {
            (Some(index), None) => ExternCall::CounterCount { counter, index },
            (index, adjust) => ExternCall::CounterAdd { counter, index, adjust },
        }));
        Some(Rvalue::Struct(Vec::new()))
    }

    /// Whether an argument is the colour that a meter is given, not `adjust_byte_count`.
    fn is_color(&self, arg: &Expr) -> bool {
        let Ty::Enum(id) = &arg.ty else { return false };
        self.hir.enums.get(id.index()).is_some_and(|def| def.name == "MeterColor_t")
    }

    /// `execute([index][, color][, adjust_byte_count])`
    pub(super) fn tna_meter(&mut self, meter: MeterId, call: &Call) -> Option<Rvalue> {
        let is_array = self.out.meters.get(meter.index())?.size.is_some();
        let index = if is_array { Some(self.arg_before(call, 0)?) } else { None };
        let (mut color, mut adjust) = (None, None);
        for (at, arg) in call.args.iter().enumerate().skip(usize::from(is_array)) {
            let Some(arg) = arg else { continue };
            let is_color = self.is_color(arg);
            let given = self.arg_before(call, at)?;
            if is_color { color = Some(self.color_in(given)) } else { adjust = Some(given) }
        }
        let dst = self.temp(VarType::Bit(32));
        self.emit(Inst::Extern(ExternCall::MeterMeasure { meter, index, color, adjust, dst }));
        let known = self.tna.colors.iter().find(|(known, _)| *known == meter).map(|(_, colors)| *colors);
        Some(self.color_out(dst, known.unwrap_or(COLORS)))
    }

    /// A colour as the meter's constructor or the chip numbers it; 0, 1 and 2 here.
    fn color_out(&mut self, color: VarId, [green, yellow, red]: [u8; 3]) -> Rvalue {
        let dst = self.temp(VarType::Bit(8));
        self.emit(Inst::Assign { dst, src: constant(8, green.into()) });
        for (number, value) in [(1, yellow), (2, red)] {
            let flag = self.equals(Operand::Var(color), 32, number);
            self.if_valid(flag, |this, holds| {
                if holds {
                    this.emit(Inst::Assign { dst, src: constant(8, value.into()) });
                }
            });
        }
        Rvalue::Scalar(Operand::Var(dst))
    }

    /// 0, 1 and 3 of the chip are 0, 1 and 2 here.
    fn color_in(&mut self, color: Operand) -> Operand {
        let color = Operand::Var(self.resized(color, VarType::Bit(32)));
        let (half, dst) = (self.temp(VarType::Bit(32)), self.temp(VarType::Bit(32)));
        let op = BinOp::Shr { signed: false };
        self.emit(Inst::Binary { dst: half, op, a: color.clone(), b: constant(32, 1) });
        self.emit(Inst::Binary { dst, op: BinOp::Sub, a: color, b: Operand::Var(half) });
        Operand::Var(dst)
    }
}
