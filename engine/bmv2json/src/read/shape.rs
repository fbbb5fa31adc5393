//! Header types, header instances, metadata, stacks and unions.
//!
//! A "header" of the format is a header, a struct of metadata, or the compiler's scalars. Headers become
//! headers of the IR; fields of the others become metadata variables. A stack of header unions, which the IR
//! does not have, is a list of unions and a variable for the next index.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Reader;
use super::json::{NOT_P4C, Res, fault, flag, get, id_of, items, list, name_of, number_to, opt, text, tuple};
use super::names::{Shapes, Slot, TypeInfo, UnionStack, once};
use p4cc_ir::{
    Header, HeaderField, HeaderId, HeaderType, HeaderTypeId, Stack, StackId, Union, UnionId, VarId, VarKind,
    VarType, limits,
};

/// Last minor version of the format in which some compilers gave lengths of headers with varbits in bits.
const LAST_WITH_BITS: u32 = 18;

/// Width of the next index of a union stack, as `nextIndex` of other stacks.
pub(super) const INDEX_WIDTH: u32 = 32;

impl<'j> Reader<'j> {
    /// Reads all shapes; what is wrong is reported item by item.
    pub(super) fn shapes(&mut self) {
        self.each("header_types", Self::header_type);
        self.each("headers", Self::header);
        self.each("header_stacks", Self::header_stack);
        self.each("header_union_types", Self::union_type);
        self.each("header_unions", Self::header_union);
        self.each("header_union_stacks", Self::union_stack);
    }

    fn header_type(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        if let Some(length) = opt(item, "length_exp") {
            let remedy = "compile the program with p4c, which gives the length to each `extract_VL`";
            return fault(
                length,
                "a header type that computes its own varbit length is not supported",
                remedy,
            );
        }
        let declared = list(get(item, "fields")?)?;
        let in_bits = self.minor_version().is_none_or(|minor| minor <= LAST_WITH_BITS);
        let mut fields = Vec::with_capacity(declared.len());
        for field in declared {
            fields.push(header_field(item, declared, field, in_bits)?);
        }
        let varbits = fields.iter().filter(|field| matches!(field.ty, VarType::Varbit(_))).count();
        if varbits > 1 {
            return fault(item, format!("`{name}` has {varbits} fields of variable length"), NOT_P4C);
        }
        let places = fields.iter().enumerate().map(|(place, field)| (field.name.clone(), place)).collect();
        let ir = HeaderTypeId::from_index(self.program.header_types.len());
        self.program.header_types.push(HeaderType { name: name.to_owned(), fields: fields.clone() });
        once(item, name, self.shapes.types.insert(name, TypeInfo { ir, places, fields }).is_some())
    }

    fn header(&mut self, item: &'j Value) -> Res<'j, ()> {
        let (name, type_name) = (name_of(item)?, text(get(item, "header_type")?)?);
        let metadata = flag(get(item, "metadata")?)?;
        let id = id_of(item)?;
        let Some(info) = self.shapes.types.get(type_name) else {
            return fault(item, format!("there is no header type `{type_name}`"), NOT_P4C);
        };
        let (ty, fields) = (info.ir, info.fields.clone());
        let header = (!metadata).then(|| HeaderId::from_index(self.program.headers.len()));
        let mut vars = Vec::with_capacity(fields.len());
        for (number, field) in fields.iter().enumerate() {
            let kind = match header {
                Some(header) => VarKind::Field { header, field: number as u32 },
                None => VarKind::Metadata,
            };
            vars.push(self.b.var(format!("{name}.{}", field.name), field.ty, kind));
        }
        if header.is_some() {
            let fields = vars.clone();
            self.program.headers.push(Header { name: name.to_owned(), ty, fields, union: None });
        }
        self.shapes.slot_ids.insert(id, name);
        let slot = Slot { type_name, header, vars: vars.into() };
        once(item, name, self.shapes.slots.insert(name, slot).is_some())
    }

    fn header_stack(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let elements = self.shapes.headers_of(item)?;
        check_size(item, elements.len())?;
        let types: Vec<_> = elements.iter().map(|&header| self.program.headers[header.index()].ty).collect();
        if types.windows(2).any(|pair| pair[0] != pair[1]) {
            return fault(item, format!("elements of stack `{name}` are of different types"), NOT_P4C);
        }
        if elements.iter().any(|&element| !self.shapes.stacked.insert(element)) {
            return fault(item, format!("an element of stack `{name}` is in another stack already"), NOT_P4C);
        }
        let id = StackId::from_index(self.program.stacks.len());
        self.program.stacks.push(Stack { name: name.to_owned(), elements });
        once(item, name, self.shapes.stacks.insert(name, id).is_some())
    }

    fn union_type(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let mut members = Vec::new();
        for member in items(item, "headers")? {
            let [member, _] = tuple::<2>(member)?;
            members.push(text(member)?.to_owned());
        }
        once(item, name, self.shapes.union_types.insert(name, members).is_some())
    }

    fn header_union(&mut self, item: &'j Value) -> Res<'j, ()> {
        let name = name_of(item)?;
        let members = self.shapes.headers_of(item)?;
        if members.iter().any(|member| self.shapes.stacked.contains(member)) {
            return fault(item, format!("a member of union `{name}` is in a stack already"), NOT_P4C);
        }
        let id = UnionId::from_index(self.program.unions.len());
        for &member in &members {
            let header = &mut self.program.headers[member.index()];
            if header.union.replace(id).is_some() {
                let cause = format!("header `{}` is a member of two unions", header.name);
                return fault(item, cause, NOT_P4C);
            }
        }
        self.program.unions.push(Union { name: name.to_owned(), members });
        self.shapes.union_ids.insert(id_of(item)?, id);
        once(item, name, self.shapes.unions.insert(name, id).is_some())
    }

    fn union_stack(&mut self, item: &'j Value) -> Res<'j, ()> {
        let (name, type_name) = (name_of(item)?, text(get(item, "union_type")?)?);
        let mut unions = Vec::new();
        for id in list(get(item, "header_union_ids")?)? {
            match self.shapes.union_ids.get(&super::json::number(id)?) {
                Some(&union) => unions.push(union),
                None => return fault(id, format!("there is no header union with id {id}"), NOT_P4C),
            }
        }
        check_size(item, unions.len())?;
        let Some(members) = self.shapes.union_types.get(type_name).cloned() else {
            return fault(item, format!("there is no header union type `{type_name}`"), NOT_P4C);
        };
        let wrong = |union: &UnionId| self.program.unions[union.index()].members.len() != members.len();
        if unions.iter().any(wrong) {
            return fault(item, format!("an element of `{name}` is not a `{type_name}`"), NOT_P4C);
        }
        let next = self.b.var(format!("{name}.$next"), VarType::Bit(INDEX_WIDTH), VarKind::Metadata);
        let stack = UnionStack { unions, next, members };
        once(item, name, self.shapes.union_stacks.insert(name, stack).is_some())
    }
}

impl<'j> Shapes<'j> {
    /// Headers by the ids in a list.
    fn headers_of(&self, item: &'j Value) -> Res<'j, Vec<HeaderId>> {
        let ids = list(get(item, "header_ids")?)?;
        check_size(item, ids.len())?;
        let (mut headers, mut seen) = (Vec::with_capacity(ids.len()), BTreeSet::new());
        for id in ids {
            let name = super::json::number(id)?;
            let slot = self.slot_ids.get(&name).and_then(|name| self.slots.get(name));
            match slot.and_then(|slot| slot.header) {
                Some(header) if seen.insert(header) => headers.push(header),
                Some(_) => return fault(id, format!("header {id} stands twice"), NOT_P4C),
                None => return fault(id, format!("there is no header with id {id}"), NOT_P4C),
            }
        }
        Ok(headers)
    }

    /// A header instance by name.
    pub(super) fn slot(&self, at: &'j Value, name: &str) -> Res<'j, Slot<'j>> {
        match self.slots.get(name) {
            Some(slot) => Ok(slot.clone()),
            None => fault(at, format!("there is no header `{name}`"), NOT_P4C),
        }
    }

    /// Place of a field in a header type.
    pub(super) fn field_index(&self, at: &'j Value, type_name: &str, field: &str) -> Res<'j, usize> {
        match self.types.get(type_name).and_then(|info| info.places.get(field)) {
            Some(&index) => Ok(index),
            None => fault(at, format!("header type `{type_name}` has no field `{field}`"), NOT_P4C),
        }
    }

    /// The variable of a field that may not exist.
    pub(super) fn find_field(&self, header: &str, field: &str) -> Option<VarId> {
        let slot = self.slots.get(header)?;
        let info = self.types.get(slot.type_name)?;
        slot.vars.get(*info.places.get(field)?).copied()
    }

    /// A union by name.
    pub(super) fn union_named(&self, value: &'j Value) -> Res<'j, UnionId> {
        let name = text(value)?;
        match self.unions.get(name) {
            Some(&union) => Ok(union),
            None => fault(value, format!("there is no header union `{name}`"), NOT_P4C),
        }
    }

    /// A stack of unions by name.
    pub(super) fn union_stack_named(&self, at: &'j Value, name: &str) -> Res<'j, UnionStack> {
        match self.union_stacks.get(name) {
            Some(stack) => Ok(stack.clone()),
            None => fault(at, format!("there is no stack of header unions `{name}`"), NOT_P4C),
        }
    }
}

fn check_size(item: &Value, size: usize) -> Res<'_, ()> {
    if (1..=limits::MAX_STACK as usize).contains(&size) {
        return Ok(());
    }
    fault(
        item,
        format!("{size} elements, not from 1 to {}", limits::MAX_STACK),
        "give the stack another size",
    )
}

/// A field: name, width or `"*"`, and in newer versions whether it is signed.
fn header_field<'j>(
    item: &'j Value,
    all: &'j [Value],
    field: &'j Value,
    in_bits: bool,
) -> Res<'j, HeaderField> {
    let parts = list(field)?;
    let (Some(name), Some(width)) = (parts.first(), parts.get(1)) else {
        return fault(field, "a field needs a name and a width", NOT_P4C);
    };
    let name = text(name)?.to_owned();
    let signed = parts.get(2).map_or(Ok(false), is_signed)?;
    if width.as_str() == Some("*") {
        return Ok(HeaderField { name, ty: VarType::Varbit(varbit_width(item, all, in_bits)?) });
    }
    let bits = number_to(width, limits::MAX_WIDTH)?;
    if bits == 0 {
        return fault(width, format!("field `{name}` has no bits"), NOT_P4C);
    }
    Ok(HeaderField { name, ty: if signed { VarType::Int(bits) } else { VarType::Bit(bits) } })
}

/// Whether a field is signed; p4c writes 0 where the field is a `bool`.
fn is_signed(value: &Value) -> Res<'_, bool> {
    match value.as_u64() {
        Some(number @ 0..=1) => Ok(number == 1),
        _ => flag(value),
    }
}

/// Largest width of a varbit: what `max_length` bytes leave beside the other
/// fields. `may_be_bits` says that an older p4c may have given the length in
/// bits: then a length that makes a wider varbit than those compilers had is one.
fn varbit_width<'j>(item: &'j Value, all: &'j [Value], may_be_bits: bool) -> Res<'j, u32> {
    let most = u64::from(super::json::number(get(item, "max_length")?)?);
    let others = all.iter().filter_map(|field| field.get(1)?.as_u64()).fold(0, u64::saturating_add);
    let bytes = (most * 8).saturating_sub(others);
    let bits = match most.checked_sub(others) {
        Some(bits) if may_be_bits && bytes > u64::from(limits::MAX_OLD_VARBIT) => bits,
        _ => bytes,
    };
    match u32::try_from(bits) {
        Ok(bits) if (1..=limits::MAX_VARBIT).contains(&bits) => Ok(bits),
        _ => {
            let cause = format!("a varbit of {bits} bits is not from 1 to {} bits wide", limits::MAX_VARBIT);
            fault(item, cause, "declare a shorter varbit")
        }
    }
}
