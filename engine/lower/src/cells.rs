//! Values as data of registers, digests and value sets: their scalars one behind the other.
//!
//! A header brings a flag in front of its fields, which says whether it is valid, so that an invalid one
//! comes back invalid; a cell that nobody wrote holds invalid headers.

use super::Lowerer;
use super::storage::{Rvalue, StaticStorage, Target};
use p4cc_ir::{Bits, HeaderField, HeaderId, Inst, Operand, VarId, VarKind, VarType};
use p4cc_syntax::Span;
use p4cc_types::ty::Ty;

/// Name of the flag of a header among its fields.
const VALID: &str = "$valid$";

impl Lowerer<'_> {
    /// Names and types of the scalars of a type. `None` for a type that has
    /// others parts than scalars, or whose scalars have no fixed width.
    pub(super) fn cell_leaves(&self, ty: &Ty, name: &str, out: &mut Vec<HeaderField>) -> Option<()> {
        let within = |part: &str| if name.is_empty() { part.to_owned() } else { format!("{name}.{part}") };
        match self.var_type(ty) {
            Some(VarType::Varbit(_)) => return None,
            Some(ty) => {
                out.push(HeaderField { name: name.to_owned(), ty });
                return Some(());
            }
            None => {}
        }
        if let Ty::Stack(elem, size) = ty {
            return (0..*size).try_for_each(|at| self.cell_leaves(elem, &within(&at.to_string()), out));
        }
        if self.hir.is_header(ty) {
            out.push(HeaderField { name: within(VALID), ty: VarType::Bool });
        }
        for (part, ty) in self.parts(ty)? {
            self.cell_leaves(&ty, &within(&part), out)?;
        }
        Some(())
    }

    /// Bits of a cell of a type.
    pub(super) fn cell_bits(&self, ty: &Ty) -> Option<u32> {
        let mut fields = Vec::new();
        self.cell_leaves(ty, "", &mut fields)?;
        Some(fields.iter().map(|field| field.ty.width()).sum())
    }

    /// The scalars of a value, as [`Self::cell_leaves`] has them.
    pub(super) fn cell_data(
        &mut self,
        value: Rvalue,
        ty: &Ty,
        span: Span,
        out: &mut Vec<Operand>,
    ) -> Option<()> {
        if self.hir.is_header(ty) {
            let header = self.header_of(value, ty, span)?;
            let valid = self.temp(VarType::Bool);
            self.emit(Inst::IsValid { dst: valid, header });
            out.push(Operand::Var(valid));
            out.extend(self.field_vars(header).into_iter().map(Operand::Var));
            return Some(());
        }
        if let Rvalue::Scalar(operand) = value {
            out.push(operand);
            return Some(());
        }
        let value = self.settled(value, ty, span)?;
        let parts = self.element_types(ty)?;
        let values = self.parts_of(value, &parts, span)?;
        for (value, ty) in values.into_iter().zip(&parts) {
            self.cell_data(value, ty, span, out)?;
        }
        Some(())
    }

    /// Types of the parts of a struct, tuple, union or stack.
    fn element_types(&self, ty: &Ty) -> Option<Vec<Ty>> {
        match ty {
            Ty::Stack(elem, size) => Some((0..*size).map(|_| (**elem).clone()).collect()),
            _ => Some(self.parts(ty)?.into_iter().map(|(_, part)| part).collect()),
        }
    }

    /// Takes a cell apart from the high end of `whole`; `left` bits are not used yet.
    pub(super) fn cell_value(&mut self, ty: &Ty, whole: VarId, left: &mut u32, span: Span) -> Option<Rvalue> {
        if self.hir.is_header(ty) {
            return self.cell_header(ty, whole, left, span).map(Rvalue::Header);
        }
        if let Some(scalar) = self.var_type(ty) {
            return self.cell_scalar(scalar, whole, left).map(Rvalue::Scalar);
        }
        let parts = self.element_types(ty)?;
        let values: Option<Vec<Rvalue>> =
            parts.iter().map(|part| self.cell_value(part, whole, left, span)).collect();
        Some(if self.hir.is_stack(ty) { Rvalue::NewStack(values?) } else { Rvalue::Struct(values?) })
    }

    fn cell_scalar(&mut self, ty: VarType, whole: VarId, left: &mut u32) -> Option<Operand> {
        *left = left.checked_sub(ty.width())?;
        let dst = self.temp(ty);
        self.emit(Inst::Slice { dst, src: Operand::Var(whole), lo: *left });
        Some(Operand::Var(dst))
    }

    fn cell_header(&mut self, ty: &Ty, whole: VarId, left: &mut u32, span: Span) -> Option<HeaderId> {
        let valid = self.cell_scalar(VarType::Bool, whole, left)?;
        let name = format!("{}.tmp{}", self.name, self.out.vars.len());
        let StaticStorage::Header(header) = self.alloc(ty, &name, VarKind::Local, span)? else {
            return self.shape_error(span);
        };
        let mut fields = Vec::new();
        for var in self.field_vars(header) {
            let ty = self.out.vars.get(var.index())?.ty;
            fields.push(self.cell_scalar(ty, whole, left)?);
        }
        self.assign(
            Target::StaticStorage(StaticStorage::Header(header)),
            Rvalue::NewHeader(fields),
            ty,
            span,
        )?;
        let Operand::Var(flag) = valid else { return self.shape_error(span) };
        self.if_valid(flag, |this, valid| {
            if !valid {
                this.emit(Inst::SetInvalid { header });
            }
        });
        Some(header)
    }

    /// The scalars of a cell as one number, the first in its highest bits.
    pub(super) fn packed(&mut self, scalars: Vec<Operand>) -> Option<Operand> {
        let mut scalars = scalars.into_iter();
        let mut whole = scalars.next().unwrap_or(Operand::Const(Bits::zero(0)));
        for low in scalars {
            let width = self.operand_width(&whole)? + self.operand_width(&low)?;
            let dst = self.temp(VarType::Bit(width));
            self.emit(Inst::Concat { dst, hi: whole, lo: low });
            whole = Operand::Var(dst);
        }
        Some(whole)
    }
}
