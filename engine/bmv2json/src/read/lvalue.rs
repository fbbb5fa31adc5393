//! Headers, unions and fields as lvalues: read, written, tested.
//!
//! Elements of a stack that are chosen at run time are read and written by the IR's stack instructions. Those
//! of a union stack, which the IR does not have, are read and written by a chain over all elements. An index
//! past the end reads zero and writes nothing.

use serde_json::Value;

use super::Reader;
use super::build::{bit, constant};
use super::json::{NOT_P4C, Res, fault, get, number, text, tuple, typed};
use super::names::named;
use super::shape::INDEX_WIDTH;
use super::term::{Data, FieldRef, HeaderRef, Lvalue, Term, UnionRef, Want};
use p4cc_ir::{BinOp, HeaderId, HeaderTypeId, Inst, Operand, StackId, Terminator, UnionId, VarId, VarType};

/// The field that stands for a header's validity.
pub(super) const VALID: &str = "$valid$";

impl<'j> Reader<'j> {
    /// A header, by name or by an expression.
    pub(super) fn header_ref(&mut self, value: &'j Value) -> Res<'j, HeaderRef<'j>> {
        if let Value::String(name) = value {
            return Ok(HeaderRef::Named(name));
        }
        match value.get("op").map(text).transpose()? {
            Some("dereference_header_stack") => {
                let (left, right) = (get(value, "left")?, get(value, "right")?);
                match self.term(left, Want::Exact)? {
                    Term::Stack(stack) => Ok(HeaderRef::Element { stack, index: self.index(right)? }),
                    _ => fault(left, "this is not a header stack", NOT_P4C),
                }
            }
            Some("access_union_header") => {
                let union = self.union_ref(get(value, "left")?)?;
                self.union_member(value, &union, number(get(value, "right")?)? as usize)
            }
            Some(_) => fault(value, "this operation does not give a header", NOT_P4C),
            None => match typed(value)? {
                ("expression", inner) => self.header_ref(inner),
                ("header", name) => text(name).map(HeaderRef::Named),
                // `stack.last` as a whole.
                ("stack_field", pair) if pair.get(1).and_then(Value::as_str) == Some("last") => {
                    let [stack, _] = tuple::<2>(pair)?;
                    let stack = named(stack, "header stack", &self.shapes.stacks)?;
                    Ok(self.last_element(stack))
                }
                _ => fault(value, "this is not a header", NOT_P4C),
            },
        }
    }

    /// A union, by name or by an expression.
    pub(super) fn union_ref(&mut self, value: &'j Value) -> Res<'j, UnionRef<'j>> {
        if value.get("op").map(text).transpose()? == Some("dereference_union_stack") {
            let (left, right) = (get(value, "left")?, get(value, "right")?);
            let Term::UnionStack(stack) = self.term(left, Want::Exact)? else {
                return fault(left, "this is not a stack of header unions", NOT_P4C);
            };
            let index = self.chain_index(right)?;
            return Ok(UnionRef::Element { stack, index });
        }
        match typed(value)? {
            ("expression", inner) => self.union_ref(inner),
            ("header_union", name) => self.shapes.union_named(name).map(UnionRef::Fixed),
            _ => fault(value, "this is not a header union", NOT_P4C),
        }
    }

    /// An index of [`INDEX_WIDTH`] bits; one that does not fit is past every end.
    fn chain_index(&mut self, value: &'j Value) -> Res<'j, Operand> {
        let data = self.exact(value)?;
        if data.width <= INDEX_WIDTH {
            return Ok(self.fit(data, INDEX_WIDTH));
        }
        let (width, signed) = (data.width, data.signed);
        let low = self.fit(data.clone(), INDEX_WIDTH);
        let back = self.b.resize(low.clone(), INDEX_WIDTH, signed, width);
        let same = self.b.binary(BinOp::Eq, width, back, data.operand);
        let past = constant(INDEX_WIDTH, u64::from(u32::MAX));
        Ok(self.b.select(same, INDEX_WIDTH, low, past))
    }

    /// A member of a union, by its place.
    fn union_member(&mut self, at: &'j Value, union: &UnionRef<'j>, member: usize) -> Res<'j, HeaderRef<'j>> {
        let missing = format!("the union has no member {member}");
        let of = |reader: &Self, union: UnionId| {
            reader.program.unions.get(union.index()).and_then(|union| union.members.get(member)).copied()
        };
        match union {
            UnionRef::Fixed(union) => match of(self, *union) {
                Some(header) => Ok(HeaderRef::Fixed(header)),
                None => fault(at, missing, NOT_P4C),
            },
            UnionRef::Element { stack, index } => {
                let unions = self.shapes.union_stack_named(at, stack)?.unions;
                let among: Option<Vec<HeaderId>> = unions.iter().map(|&union| of(self, union)).collect();
                match among {
                    Some(among) => Ok(HeaderRef::Chosen { among, index: index.clone() }),
                    None => fault(at, missing, NOT_P4C),
                }
            }
        }
    }

    /// The header of the IR behind a name; `None` for metadata.
    pub(super) fn fixed_header(&self, at: &'j Value, header: &HeaderRef<'j>) -> Res<'j, Option<HeaderId>> {
        match header {
            HeaderRef::Named(name) => Ok(self.shapes.slot(at, name)?.header),
            HeaderRef::Fixed(header) => Ok(Some(*header)),
            _ => fault(at, "an element chosen at run time cannot stand here", "use a constant index"),
        }
    }

    /// The type of a header of the IR.
    pub(super) fn header_type_of(&self, at: &'j Value, header: &HeaderRef<'j>) -> Res<'j, HeaderTypeId> {
        let of = |header: HeaderId| self.program.headers.get(header.index()).map(|header| header.ty);
        let ty = match header {
            HeaderRef::Named(name) => {
                let slot = self.shapes.slot(at, name)?;
                self.shapes.types.get(slot.type_name).map(|info| info.ir)
            }
            HeaderRef::Fixed(header) => of(*header),
            HeaderRef::Element { stack, .. } => {
                let stack = self.program.stacks.get(stack.index());
                stack.and_then(|stack| stack.elements.first()).and_then(|&first| of(first))
            }
            HeaderRef::Chosen { among, .. } => among.first().and_then(|&first| of(first)),
        };
        match ty {
            Some(ty) => Ok(ty),
            None => fault(at, "the header has no type", NOT_P4C),
        }
    }

    /// Place of a named field.
    fn named_field(&self, at: &'j Value, header: &HeaderRef<'j>, field: &str) -> Res<'j, FieldRef> {
        if field == VALID {
            return Ok(FieldRef::Valid);
        }
        let ty = self.header_type_of(at, header)?;
        let name = self.program.header_types[ty.index()].name.as_str();
        match self.shapes.types.get(name).and_then(|info| info.places.get(field)) {
            Some(&index) => Ok(FieldRef::At(index)),
            None => fault(at, format!("the header has no field `{field}`"), NOT_P4C),
        }
    }

    /// `[header, field]`; the header is a name or an expression.
    fn field_pair(&mut self, value: &'j Value) -> Res<'j, (HeaderRef<'j>, FieldRef)> {
        let [header, field] = tuple::<2>(value)?;
        let header = self.header_ref(header)?;
        let field = self.named_field(value, &header, text(field)?)?;
        Ok((header, field))
    }

    pub(super) fn field_term(&mut self, value: &'j Value) -> Res<'j, Term<'j>> {
        let (header, field) = self.field_pair(value)?;
        self.read_field(value, &header, field)
    }

    /// The last element that was extracted into a stack.
    fn last_element(&mut self, stack: StackId) -> HeaderRef<'j> {
        let next = self.b.temp(INDEX_WIDTH);
        self.b.emit(Inst::StackNextIndex { dst: next, stack });
        let one = constant(INDEX_WIDTH, 1);
        let index = self.b.binary(BinOp::Sub, INDEX_WIDTH, Operand::Var(next), one);
        HeaderRef::Element { stack, index }
    }

    fn stack_pair(&mut self, value: &'j Value) -> Res<'j, (HeaderRef<'j>, FieldRef)> {
        let [stack, field] = tuple::<2>(value)?;
        let name = text(stack)?;
        let Some(&id) = self.shapes.stacks.get(name) else {
            return fault(stack, format!("there is no stack `{name}`"), NOT_P4C);
        };
        let header = self.last_element(id);
        let field = self.named_field(value, &header, text(field)?)?;
        Ok((header, field))
    }

    pub(super) fn stack_field(&mut self, value: &'j Value) -> Res<'j, Term<'j>> {
        let (header, field) = self.stack_pair(value)?;
        self.read_field(value, &header, field)
    }

    /// `[union stack, member, field]` of the last element.
    pub(super) fn union_stack_field(&mut self, value: &'j Value) -> Res<'j, Term<'j>> {
        let [stack, member, field] = tuple::<3>(value)?;
        let name = text(stack)?;
        let info = self.shapes.union_stack_named(stack, name)?;
        let member = text(member)?;
        let Some(member) = info.members.iter().position(|known| known == member) else {
            return fault(value, format!("the union has no member `{member}`"), NOT_P4C);
        };
        let one = constant(INDEX_WIDTH, 1);
        let index = self.b.binary(BinOp::Sub, INDEX_WIDTH, Operand::Var(info.next), one);
        let header = self.union_member(value, &UnionRef::Element { stack: name, index }, member)?;
        let field = self.named_field(value, &header, text(field)?)?;
        self.read_field(value, &header, field)
    }

    /// Operands of `access_field`.
    pub(super) fn accessed_field(&mut self, value: &'j Value) -> Res<'j, (HeaderRef<'j>, FieldRef)> {
        let header = self.header_ref(get(value, "left")?)?;
        Ok((header, FieldRef::At(number(get(value, "right")?)? as usize)))
    }

    /// The variable of a header's field.
    fn field_var(&self, at: &'j Value, header: HeaderId, field: usize) -> Res<'j, VarId> {
        let fields = self.program.headers.get(header.index()).map(|header| &header.fields);
        match fields.and_then(|fields| fields.get(field)) {
            Some(&var) => Ok(var),
            None => fault(at, format!("the header has no field {field}"), NOT_P4C),
        }
    }

    /// The place of a field.
    fn field_place(&mut self, at: &'j Value, header: &HeaderRef<'j>, field: FieldRef) -> Res<'j, Lvalue> {
        let FieldRef::At(field) = field else {
            return fault(at, "the validity of a header is not a field to write", NOT_P4C);
        };
        match header {
            HeaderRef::Named(name) => match self.shapes.slot(at, name)?.vars.get(field) {
                Some(&var) => Ok(Lvalue::Var(var)),
                None => fault(at, format!("`{name}` has no field {field}"), NOT_P4C),
            },
            HeaderRef::Fixed(header) => self.field_var(at, *header, field).map(Lvalue::Var),
            HeaderRef::Element { stack, index } => {
                let ty = self.header_type_of(at, header)?;
                let declared = self.program.header_types[ty.index()].fields.get(field);
                match declared.map(|declared| declared.ty) {
                    Some(ty) => Ok(Lvalue::StackField {
                        stack: *stack,
                        index: index.clone(),
                        field: field as u32,
                        ty,
                    }),
                    None => fault(at, format!("the header has no field {field}"), NOT_P4C),
                }
            }
            HeaderRef::Chosen { among, index } => {
                let mut vars = Vec::with_capacity(among.len());
                for &header in among {
                    vars.push(self.field_var(at, header, field)?);
                }
                let ty = vars.first().map_or(VarType::Bit(1), |&var| self.b.ty(var));
                Ok(Lvalue::Chosen { among: vars, index: index.clone(), ty })
            }
        }
    }

    pub(super) fn read_field(
        &mut self,
        at: &'j Value,
        header: &HeaderRef<'j>,
        field: FieldRef,
    ) -> Res<'j, Term<'j>> {
        if field == FieldRef::Valid {
            let operand = self.validity(at, header)?;
            return Ok(Term::Data(Data { operand, width: 1, signed: false }));
        }
        let varbit = "a varbit of an element chosen at run time";
        match self.field_place(at, header, field)? {
            Lvalue::Var(var) => Ok(self.var_term(var)),
            Lvalue::StackField { ty: VarType::Varbit(_), .. }
            | Lvalue::Chosen { ty: VarType::Varbit(_), .. } => fault(at, varbit, "use a constant index"),
            Lvalue::StackField { stack, index, field, ty } => {
                let (width, signed) = (ty.width(), matches!(ty, VarType::Int(_)));
                let dst = self.b.temp(width);
                self.b.emit(Inst::StackLoad { dst, stack, index, field });
                Ok(Term::Data(Data { operand: Operand::Var(dst), width, signed }))
            }
            Lvalue::Chosen { among, index, ty } => {
                let (width, signed) = (ty.width(), matches!(ty, VarType::Int(_)));
                let zero = constant(width, 0);
                let operand = self.chosen(&among, &index, width, zero, |_, &var| Operand::Var(var));
                Ok(Term::Data(Data { operand, width, signed }))
            }
        }
    }

    /// One of several values by an index; `otherwise` past the end.
    fn chosen<T>(
        &mut self,
        among: &[T],
        index: &Operand,
        width: u32,
        otherwise: Operand,
        mut value: impl FnMut(&mut Self, &T) -> Operand,
    ) -> Operand {
        let mut result = otherwise;
        for (number, item) in among.iter().enumerate() {
            let here = constant(INDEX_WIDTH, number as u64);
            let here = self.b.binary(BinOp::Eq, INDEX_WIDTH, index.clone(), here);
            let value = value(self, item);
            result = self.b.select(here, width, value, result);
        }
        result
    }

    /// Does something to the one of several things that an index chooses, in blocks of their own.
    pub(super) fn for_chosen<T>(&mut self, among: &[T], index: &Operand, mut act: impl FnMut(&mut Self, &T)) {
        let join = self.b.block("");
        let blocks: Vec<_> = among.iter().map(|_| self.b.block("")).collect();
        let cases = blocks.iter().enumerate();
        let cases =
            cases.map(|(number, &block)| (p4cc_ir::Bits::from_u128(INDEX_WIDTH, number as u128), block));
        self.b.end(Terminator::Switch { value: index.clone(), cases: cases.collect(), default: join });
        for (item, &block) in among.iter().zip(&blocks) {
            self.b.go_to(block);
            act(self, item);
            self.b.end(Terminator::Jump(join));
        }
        self.b.go_to(join);
    }

    /// A place to write.
    pub(super) fn place(&mut self, value: &'j Value) -> Res<'j, Lvalue> {
        if value.get("op").is_some() {
            let (header, field) = self.accessed_field(value)?;
            return self.field_place(value, &header, field);
        }
        match typed(value)? {
            ("expression", inner) => self.place(inner),
            ("field", inner) => {
                let (header, field) = self.field_pair(inner)?;
                self.field_place(value, &header, field)
            }
            ("stack_field", inner) => {
                let (header, field) = self.stack_pair(inner)?;
                self.field_place(value, &header, field)
            }
            (other, _) => fault(value, format!("`{other:.40}` cannot be written"), NOT_P4C),
        }
    }

    pub(super) fn place_type(&self, place: &Lvalue) -> VarType {
        match place {
            Lvalue::Var(var) => self.b.ty(*var),
            Lvalue::StackField { ty, .. } | Lvalue::Chosen { ty, .. } => *ty,
        }
    }

    /// Writes a value of the place's width.
    pub(super) fn write(&mut self, place: Lvalue, src: Operand) {
        match place {
            Lvalue::Var(var) => self.b.store(var, src),
            Lvalue::StackField { stack, index, field, .. } => {
                self.b.emit(Inst::StackStore { stack, index, field, src });
            }
            Lvalue::Chosen { among, index, .. } => self.for_chosen(&among, &index, |reader, &var| {
                reader.b.emit(Inst::Assign { dst: var, src: src.clone() });
            }),
        }
    }

    /// Whether a header is valid; metadata always is.
    pub(super) fn validity(&mut self, at: &'j Value, header: &HeaderRef<'j>) -> Res<'j, Operand> {
        if let HeaderRef::Chosen { among, index } = header {
            return Ok(self.chosen(among, index, 1, bit(false), |reader, &header| reader.is_valid(header)));
        }
        if let HeaderRef::Element { stack, index } = header {
            let dst = self.b.temp(1);
            self.b.emit(Inst::StackIsValid { dst, stack: *stack, index: index.clone() });
            return Ok(Operand::Var(dst));
        }
        let fixed = self.fixed_header(at, header)?;
        Ok(fixed.map_or(bit(true), |header| self.is_valid(header)))
    }

    pub(super) fn is_valid(&mut self, header: HeaderId) -> Operand {
        let dst = self.b.temp(1);
        self.b.emit(Inst::IsValid { dst, header });
        Operand::Var(dst)
    }

    pub(super) fn union_validity(&mut self, value: &'j Value) -> Res<'j, Operand> {
        match self.union_ref(value)? {
            UnionRef::Fixed(union) => Ok(self.union_is_valid(union)),
            UnionRef::Element { stack, index } => {
                let unions = self.shapes.union_stack_named(value, stack)?.unions;
                let valid = |reader: &mut Self, union: &UnionId| reader.union_is_valid(*union);
                Ok(self.chosen(&unions, &index, 1, bit(false), valid))
            }
        }
    }

    fn union_is_valid(&mut self, union: UnionId) -> Operand {
        let dst = self.b.temp(1);
        self.b.emit(Inst::UnionIsValid { dst, union });
        Operand::Var(dst)
    }

    pub(super) fn headers_equal(
        &mut self,
        at: &'j Value,
        a: &HeaderRef<'j>,
        b: &HeaderRef<'j>,
    ) -> Res<'j, Operand> {
        let (Some(a), Some(b)) = (self.fixed_header(at, a)?, self.fixed_header(at, b)?) else {
            return fault(at, "metadata are compared as headers", "compare their fields");
        };
        if self.program.headers[a.index()].ty != self.program.headers[b.index()].ty {
            return fault(at, "headers of different types are compared", NOT_P4C);
        }
        let dst = self.b.temp(1);
        self.b.emit(Inst::HeaderEq { dst, a, b });
        Ok(Operand::Var(dst))
    }

    /// Unions are equal when all members are.
    pub(super) fn unions_equal(
        &mut self,
        at: &'j Value,
        a: &UnionRef<'j>,
        b: &UnionRef<'j>,
    ) -> Res<'j, Operand> {
        let (UnionRef::Fixed(a), UnionRef::Fixed(b)) = (a, b) else {
            return fault(at, "unions chosen at run time are compared", "use constant indices");
        };
        let members = |union: &UnionId| self.program.unions[union.index()].members.clone();
        let (a, b) = (members(a), members(b));
        if a.len() != b.len() {
            return fault(at, "unions of different types are compared", NOT_P4C);
        }
        let mut all = bit(true);
        for (&a, &b) in a.iter().zip(&b) {
            let equal = self.headers_equal(at, &HeaderRef::Fixed(a), &HeaderRef::Fixed(b))?;
            all = self.b.binary(BinOp::And, 1, all, equal);
        }
        Ok(all)
    }

    /// Number of elements extracted into a stack, of [`INDEX_WIDTH`] bits.
    pub(super) fn next_index(&mut self, value: &'j Value) -> Res<'j, Operand> {
        match self.term(value, Want::Exact)? {
            Term::Stack(stack) => {
                let dst = self.b.temp(INDEX_WIDTH);
                self.b.emit(Inst::StackNextIndex { dst, stack });
                Ok(Operand::Var(dst))
            }
            Term::UnionStack(name) => Ok(Operand::Var(self.shapes.union_stack_named(value, name)?.next)),
            _ => fault(value, "this is not a stack", NOT_P4C),
        }
    }
}
