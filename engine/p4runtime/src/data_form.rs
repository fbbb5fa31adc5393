//! P4Data: values of registers and digests in the form that P4Info gives them.

use std::sync::Arc;

use p4cc_ir::{Bits, VarType};

use crate::codec;
use crate::errors::Failure;
use crate::proto::p4::config::v1 as p4info;
use crate::proto::p4::v1 as p4;
use crate::translation::{Form, Translations};
use p4::p4_data::Data;
use p4info::p4_bitstring_like_type_spec::TypeSpec as Bitstring;
use p4info::p4_data_type_spec::TypeSpec;
use p4info::p4_new_type_spec::Representation;

/// Most levels of structs in structs.
const MAX_DEPTH: u32 = 32;

/// The form of a value; its scalars, in order, are what the program packs.
#[derive(Clone, Debug)]
pub(crate) enum DataForm {
    /// A built-in type.
    Scalar(VarType),
    /// A translated type.
    Translated(Form),
    /// An enum without values, by its members.
    Enum(u32, Arc<Vec<String>>),
    /// An error, by the program's names.
    Error(u32, Arc<Vec<String>>),
    /// An enum with values, by its value.
    SerializableEnum(u32),
    /// A struct, or a tuple.
    Members { members: Vec<DataForm>, is_tuple: bool },
    /// A header: whether it is valid, then its fields.
    Header(Vec<VarType>),
    /// A stack of headers or of header unions.
    Stack(Vec<DataForm>),
    /// A header union, by the names of its members.
    Union(Vec<(String, DataForm)>),
    /// No bits: one value.
    Nothing,
}

/// Where forms are read from.
pub(crate) struct Types<'a> {
    pub(crate) info: &'a p4info::P4Info,
    pub(crate) translations: &'a Translations,
    /// The program's errors.
    pub(crate) errors: &'a [String],
}

impl Types<'_> {
    /// The form of a type whose scalars are these; none if they are others.
    pub(crate) fn form(&self, spec: &p4info::P4DataTypeSpec, leaves: &[VarType]) -> Option<DataForm> {
        let mut rest = leaves.iter().copied();
        let form = self.of(spec, &mut rest, 0)?;
        rest.next().is_none().then_some(form)
    }

    fn of(
        &self,
        spec: &p4info::P4DataTypeSpec,
        leaves: &mut impl Iterator<Item = VarType>,
        depth: u32,
    ) -> Option<DataForm> {
        if depth > MAX_DEPTH {
            return None;
        }
        let types = self.info.type_info.as_ref();
        match spec.type_spec.as_ref()? {
            TypeSpec::Bool(_) => {
                leaves.next().filter(|leaf| leaf.width() == 1).map(|_| DataForm::Scalar(VarType::Bool))
            }
            TypeSpec::Bitstring(given) => match bitstring(given)? {
                VarType::Bit(0) | VarType::Int(0) | VarType::Varbit(0) => Some(DataForm::Nothing),
                given => leaves
                    .next()
                    .filter(|leaf| leaf.width() == given.width())
                    .map(|_| DataForm::Scalar(given)),
            },
            TypeSpec::Struct(named) => {
                let members = &types?.structs.get(&named.name)?.members;
                let members =
                    members.iter().map(|member| self.of(member.type_spec.as_ref()?, leaves, depth + 1));
                Some(DataForm::Members { members: members.collect::<Option<_>>()?, is_tuple: false })
            }
            TypeSpec::Tuple(tuple) => {
                let members = tuple.members.iter().map(|member| self.of(member, leaves, depth + 1));
                Some(DataForm::Members { members: members.collect::<Option<_>>()?, is_tuple: true })
            }
            TypeSpec::NewType(named) => match types?.new_types.get(&named.name)?.representation.as_ref()? {
                Representation::OriginalType(original) => self.of(original, leaves, depth + 1),
                Representation::TranslatedType(_) => {
                    let form = self.translations.form(&named.name, leaves.next()?.width())?;
                    Some(DataForm::Translated(form))
                }
            },
            TypeSpec::Enum(named) => {
                let members = &types?.enums.get(&named.name)?.members;
                let names = members.iter().map(|member| member.name.clone()).collect();
                Some(DataForm::Enum(leaves.next()?.width(), Arc::new(names)))
            }
            TypeSpec::Error(_) => {
                Some(DataForm::Error(leaves.next()?.width(), Arc::new(self.errors.to_vec())))
            }
            TypeSpec::SerializableEnum(_) => Some(DataForm::SerializableEnum(leaves.next()?.width())),
            TypeSpec::Header(named) => self.header(&named.name, leaves),
            TypeSpec::HeaderUnion(named) => self.union(&named.name, leaves),
            TypeSpec::HeaderStack(stack) => {
                let name = &stack.header.as_ref()?.name;
                let elements = (0..stack.size).map(|_| self.header(name, leaves));
                Some(DataForm::Stack(elements.collect::<Option<_>>()?))
            }
            TypeSpec::HeaderUnionStack(stack) => {
                let name = &stack.header_union.as_ref()?.name;
                let elements = (0..stack.size).map(|_| self.union(name, leaves));
                Some(DataForm::Stack(elements.collect::<Option<_>>()?))
            }
        }
    }

    fn header(&self, name: &str, leaves: &mut impl Iterator<Item = VarType>) -> Option<DataForm> {
        let members = &self.info.type_info.as_ref()?.headers.get(name)?.members;
        leaves.next().filter(|valid| valid.width() == 1)?;
        let field = |member: &p4info::p4_header_type_spec::Member| {
            let given = bitstring(member.type_spec.as_ref()?)?;
            if given.width() == 0 {
                return Some(given);
            }
            leaves.next().filter(|leaf| leaf.width() == given.width()).map(|_| given)
        };
        Some(DataForm::Header(members.iter().map(field).collect::<Option<_>>()?))
    }

    fn union(&self, name: &str, leaves: &mut impl Iterator<Item = VarType>) -> Option<DataForm> {
        let members = &self.info.type_info.as_ref()?.header_unions.get(name)?.members;
        let member = |member: &p4info::p4_header_union_type_spec::Member| {
            Some((member.name.clone(), self.header(&member.header.as_ref()?.name, leaves)?))
        };
        Some(DataForm::Union(members.iter().map(member).collect::<Option<_>>()?))
    }
}

/// The built-in type that a description of bits names.
fn bitstring(spec: &p4info::P4BitstringLikeTypeSpec) -> Option<VarType> {
    Some(match spec.type_spec.as_ref()? {
        Bitstring::Bit(bit) => VarType::Bit(u32::try_from(bit.bitwidth).ok()?),
        Bitstring::Int(int) => VarType::Int(u32::try_from(int.bitwidth).ok()?),
        Bitstring::Varbit(varbit) => VarType::Varbit(u32::try_from(varbit.max_bitwidth).ok()?),
    })
}

fn name_of(names: &[String], value: &Bits) -> String {
    let at = usize::try_from(value.low_u64()).unwrap_or(usize::MAX);
    names.get(at).cloned().unwrap_or_else(|| value.low_u64().to_string())
}

impl DataForm {
    /// What the controller is given for scalars of the program.
    pub(crate) fn data(&self, values: &mut impl Iterator<Item = Bits>) -> p4::P4Data {
        let mut next = || values.next().unwrap_or_else(|| Bits::zero(1));
        let data = match self {
            Self::Scalar(ty) => return codec::data(&next(), *ty),
            Self::Translated(form) => Data::Bitstring(form.given(&next())),
            Self::Enum(_, names) => Data::Enum(name_of(names, &next())),
            Self::Error(_, names) => Data::Error(name_of(names, &next())),
            Self::SerializableEnum(_) => Data::EnumValue(codec::canonical(&next())),
            Self::Members { members, is_tuple } => {
                let members = members.iter().map(|member| member.data(values)).collect();
                return codec::members_data(members, *is_tuple);
            }
            Self::Header(fields) => Data::Header(header_data(fields, values)),
            Self::Union(members) => Data::HeaderUnion(union_data(members, values)),
            Self::Stack(elements) if matches!(elements.first(), Some(Self::Union(_))) => {
                let union = |element: &Self| match element {
                    Self::Union(members) => union_data(members, values),
                    _ => p4::P4HeaderUnion::default(),
                };
                let entries = elements.iter().map(union).collect();
                Data::HeaderUnionStack(p4::P4HeaderUnionStack { entries })
            }
            Self::Stack(elements) => {
                let header = |element: &Self| match element {
                    Self::Header(fields) => header_data(fields, values),
                    _ => p4::P4Header::default(),
                };
                let entries = elements.iter().map(header).collect();
                Data::HeaderStack(p4::P4HeaderStack { entries })
            }
            Self::Nothing => Data::Bitstring(vec![0]),
        };
        p4::P4Data { data: Some(data) }
    }

    /// Bits of what the program packs.
    fn width(&self) -> u32 {
        match self {
            Self::Scalar(ty) => ty.width(),
            Self::Translated(form) => form.width,
            Self::Enum(width, _) | Self::Error(width, _) | Self::SerializableEnum(width) => *width,
            Self::Members { members, .. } | Self::Stack(members) => members.iter().map(Self::width).sum(),
            Self::Header(fields) => 1 + fields.iter().map(|field| field.width()).sum::<u32>(),
            Self::Union(members) => members.iter().map(|(_, member)| member.width()).sum(),
            Self::Nothing => 0,
        }
    }

    /// The same for scalars that are packed into one value, the first in the highest bits.
    pub(crate) fn packed_data(&self, value: &Bits, leaves: &[VarType]) -> p4::P4Data {
        let mut left = value.width();
        let mut values = leaves.iter().map(|leaf| {
            left = left.saturating_sub(leaf.width());
            value.slice(left, leaf.width())
        });
        self.data(&mut values)
    }

    /// Reads what a controller gives, packed as the program packs it.
    pub(crate) fn parse(
        &self,
        given: &p4::P4Data,
        what: impl Fn() -> String + Clone,
    ) -> Result<Bits, Failure> {
        let wrong = |takes: &str| Failure::invalid(format!("{}: it takes {takes}", what()));
        let named = |names: &[String], width: u32, given: &str| {
            let form = Form::names(width, names.to_vec());
            form.parse(given.as_bytes(), what.clone())
        };
        match (self, &given.data) {
            (Self::Scalar(ty), _) => codec::parse_data(given, *ty, what),
            (Self::Translated(form), Some(Data::Bitstring(bytes))) => form.parse(bytes, what),
            (Self::Translated(_), _) => Err(wrong("a bit string, the controller's value")),
            (Self::Enum(width, names), Some(Data::Enum(name))) => named(names, *width, name),
            (Self::Enum(..), _) => Err(wrong("a member of the enum")),
            (Self::Error(width, names), Some(Data::Error(name))) => named(names, *width, name),
            (Self::Error(..), _) => Err(wrong("an error")),
            (Self::SerializableEnum(width), Some(Data::EnumValue(bytes))) => {
                codec::parse(bytes, *width, what)
            }
            (Self::SerializableEnum(_), _) => Err(wrong("the value of a member of the enum")),
            (Self::Members { members, is_tuple }, given) => {
                let parts = match given {
                    Some(Data::Struct(parts)) if !is_tuple => &parts.members,
                    Some(Data::Tuple(parts)) if *is_tuple => &parts.members,
                    _ => return Err(wrong(if *is_tuple { "a tuple" } else { "a struct" })),
                };
                if parts.len() != members.len() {
                    let (given, wanted) = (parts.len(), members.len());
                    return Err(Failure::invalid(format!(
                        "{}: {given} members given; it has {wanted}",
                        what()
                    )));
                }
                let mut value = Bits::zero(0);
                for (member, part) in members.iter().zip(parts) {
                    value = value.concat(&member.parse(part, what.clone())?);
                }
                Ok(value)
            }
            (Self::Header(fields), Some(Data::Header(header))) => parse_header(fields, header, what),
            (Self::Header(_), _) => Err(wrong("a header")),
            (Self::Union(_), Some(Data::HeaderUnion(union))) => self.parse_union(union, what),
            (Self::Union(_), _) => Err(wrong("a header union")),
            (Self::Stack(elements), given) => parse_stack(elements, given.as_ref(), what),
            (Self::Nothing, Some(Data::Bitstring(bytes))) if bytes.iter().all(|byte| *byte == 0) => {
                Ok(Bits::zero(0))
            }
            (Self::Nothing, _) => Err(wrong("zero: it has no bits")),
        }
    }

    fn parse_union(
        &self,
        given: &p4::P4HeaderUnion,
        what: impl Fn() -> String + Clone,
    ) -> Result<Bits, Failure> {
        let Self::Union(members) = self else { return Ok(Bits::zero(self.width())) };
        let name = &given.valid_header_name;
        if !name.is_empty() && members.iter().all(|(member, _)| member != name) {
            let names: Vec<&str> = members.iter().map(|(member, _)| member.as_str()).collect();
            let what = what();
            return Err(Failure::invalid(format!("{what}: {name} is none of {}", names.join(", "))));
        }
        let mut value = Bits::zero(0);
        for (member, form) in members {
            let part = match (form, &given.valid_header) {
                (Self::Header(fields), Some(header)) if member == name => {
                    parse_header(fields, header, what.clone())?
                }
                _ => Bits::zero(form.width()),
            };
            value = value.concat(&part);
        }
        Ok(value)
    }
}

fn header_data(fields: &[VarType], values: &mut impl Iterator<Item = Bits>) -> p4::P4Header {
    let is_valid = values.next().is_some_and(|valid| !valid.is_zero());
    // What has no bits is no part of the packed value.
    let mut value = |ty: &VarType| if ty.width() == 0 { Some(Bits::zero(0)) } else { values.next() };
    let bytes = fields.iter().filter_map(|ty| match codec::data(&value(ty)?, *ty).data {
        Some(Data::Bitstring(bytes)) => Some(bytes),
        _ => None,
    });
    let all: Vec<Vec<u8>> = bytes.collect();
    p4::P4Header { is_valid, bitstrings: if is_valid { all } else { Vec::new() } }
}

fn union_data(members: &[(String, DataForm)], values: &mut impl Iterator<Item = Bits>) -> p4::P4HeaderUnion {
    let mut union = p4::P4HeaderUnion::default();
    for (name, member) in members {
        let DataForm::Header(fields) = member else { continue };
        let header = header_data(fields, values);
        if header.is_valid {
            union = p4::P4HeaderUnion { valid_header_name: name.clone(), valid_header: Some(header) };
        }
    }
    union
}

/// An invalid header has no fields, and its fields are zero in the program.
fn parse_header(
    fields: &[VarType],
    given: &p4::P4Header,
    what: impl Fn() -> String + Clone,
) -> Result<Bits, Failure> {
    let wanted = if given.is_valid { fields.len() } else { 0 };
    if given.bitstrings.len() != wanted {
        let (what, found) = (what(), given.bitstrings.len());
        let state = if given.is_valid { "a valid" } else { "an invalid" };
        return Err(Failure::invalid(format!(
            "{what}: {found} fields given; {state} header here has {wanted}"
        )));
    }
    if !given.is_valid {
        return Ok(Bits::zero(1 + fields.iter().map(|field| field.width()).sum::<u32>()));
    }
    let mut value = Bits::from_u128(1, 1);
    for (ty, bytes) in fields.iter().zip(&given.bitstrings) {
        let data = p4::P4Data { data: Some(Data::Bitstring(bytes.clone())) };
        value = value.concat(&codec::parse_data(&data, *ty, what.clone())?);
    }
    Ok(value)
}

fn parse_stack(
    elements: &[DataForm],
    given: Option<&Data>,
    what: impl Fn() -> String + Clone,
) -> Result<Bits, Failure> {
    let entries: Vec<p4::P4Data> = match given {
        Some(Data::HeaderStack(stack)) => {
            stack.entries.iter().map(|one| p4::P4Data { data: Some(Data::Header(one.clone())) }).collect()
        }
        Some(Data::HeaderUnionStack(stack)) => stack
            .entries
            .iter()
            .map(|one| p4::P4Data { data: Some(Data::HeaderUnion(one.clone())) })
            .collect(),
        _ => return Err(Failure::invalid(format!("{}: it takes a stack", what()))),
    };
    if entries.len() != elements.len() {
        let (what, given, wanted) = (what(), entries.len(), elements.len());
        return Err(Failure::invalid(format!("{what}: {given} elements given; it has {wanted}")));
    }
    let mut value = Bits::zero(0);
    for (element, entry) in elements.iter().zip(&entries) {
        value = value.concat(&element.parse(entry, what.clone())?);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_form() -> impl Strategy<Value = DataForm> {
        let scalar = prop_oneof![
            Just(DataForm::Scalar(VarType::Bool)),
            (1_u32..40).prop_map(|width| DataForm::Scalar(VarType::Bit(width))),
            (1_u32..40).prop_map(|width| DataForm::Scalar(VarType::Int(width))),
            (2_u32..20).prop_map(DataForm::SerializableEnum),
            Just(DataForm::Nothing),
        ];
        let header =
            || proptest::collection::vec((0_u32..20).prop_map(VarType::Bit), 1..4).prop_map(DataForm::Header);
        let parts = prop_oneof![
            scalar,
            header(),
            header().prop_map(|header| DataForm::Stack(vec![header.clone(), header])),
            (header(), header())
                .prop_map(|(a, b)| DataForm::Union(vec![("a".to_owned(), a), ("b".to_owned(), b)])),
        ];
        parts.prop_recursive(3, 12, 4, |inner| {
            (proptest::collection::vec(inner, 1..4), any::<bool>())
                .prop_map(|(members, is_tuple)| DataForm::Members { members, is_tuple })
        })
    }

    /// Widths of the scalars that a form packs.
    fn leaves(form: &DataForm, out: &mut Vec<VarType>) {
        match form {
            DataForm::Members { members, .. } | DataForm::Stack(members) => {
                members.iter().for_each(|member| leaves(member, out));
            }
            DataForm::Header(fields) => {
                out.push(VarType::Bool);
                out.extend(fields.iter().filter(|field| field.width() > 0));
            }
            DataForm::Union(members) => members.iter().for_each(|(_, member)| leaves(member, out)),
            DataForm::Nothing => {}
            other => out.push(VarType::Bit(other.width())),
        }
    }

    proptest! {
        #[test]
        fn what_is_given_is_taken(form in any_form(), bytes in proptest::collection::vec(any::<u8>(), 64)) {
            let mut all = Vec::new();
            leaves(&form, &mut all);
            let value = Bits::from_be_bytes(form.width(), &bytes);
            let data = form.packed_data(&value, &all);
            let back = form.parse(&data, || "r".to_owned()).unwrap();
            // Fields of invalid headers, and all but one header of a union, are not kept.
            prop_assert_eq!(form.packed_data(&back, &all), data);
            prop_assert_eq!(back.width(), form.width());
        }
    }
}
