//! Types in P4Info: `type_info`, and the fields that name a type.

use p4cc_ir::{ControlPlaneName, DataType, DataTypes, NewType, VarType};

use super::annotations;
use crate::proto::p4::config::v1 as p4;
use p4::p4_bitstring_like_type_spec::TypeSpec as Bitstring;
use p4::p4_data_type_spec::TypeSpec;
use p4::p4_new_type_spec::Representation;

/// P4Info counts in signed numbers; the IR's bounds keep these far below the limit.
pub(super) fn signed(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

fn named(name: &str) -> p4::P4NamedType {
    p4::P4NamedType { name: name.to_owned() }
}

fn bitstring(ty: VarType) -> Option<p4::P4BitstringLikeTypeSpec> {
    let spec = match ty {
        VarType::Bool => return None,
        VarType::Bit(width) => Bitstring::Bit(p4::P4BitTypeSpec { bitwidth: signed(width) }),
        VarType::Int(width) => Bitstring::Int(p4::P4IntTypeSpec { bitwidth: signed(width) }),
        VarType::Varbit(width) => Bitstring::Varbit(p4::P4VarbitTypeSpec { max_bitwidth: signed(width) }),
    };
    Some(p4::P4BitstringLikeTypeSpec { type_spec: Some(spec), ..Default::default() })
}

/// A type where it is used.
pub(super) fn data_type(ty: &DataType) -> p4::P4DataTypeSpec {
    let spec = match ty {
        DataType::Scalar(ty) => bitstring(*ty).map_or(TypeSpec::Bool(p4::P4BoolType {}), TypeSpec::Bitstring),
        DataType::Tuple(members) => {
            TypeSpec::Tuple(p4::P4TupleTypeSpec { members: members.iter().map(data_type).collect() })
        }
        DataType::Struct(name) => TypeSpec::Struct(named(name)),
        DataType::Header(name) => TypeSpec::Header(named(name)),
        DataType::Union(name) => TypeSpec::HeaderUnion(named(name)),
        DataType::Stack(name, size) => TypeSpec::HeaderStack(p4::P4HeaderStackTypeSpec {
            header: Some(named(name)),
            size: signed(*size),
        }),
        DataType::UnionStack(name, size) => TypeSpec::HeaderUnionStack(p4::P4HeaderUnionStackTypeSpec {
            header_union: Some(named(name)),
            size: signed(*size),
        }),
        DataType::NewType(name) => TypeSpec::NewType(named(name)),
        DataType::Enum(name) => TypeSpec::Enum(named(name)),
        DataType::SerializableEnum(name) => TypeSpec::SerializableEnum(named(name)),
        DataType::Error => TypeSpec::Error(p4::P4ErrorType {}),
    };
    p4::P4DataTypeSpec { type_spec: Some(spec) }
}

/// `type_name` of a key, field or index: that of a `type`.
pub(super) fn type_name(cp: &ControlPlaneName) -> Option<p4::P4NamedType> {
    match &cp.data_type {
        Some(DataType::NewType(name)) => Some(named(name)),
        _ => None,
    }
}

/// `type_name` of an action's parameter, which names an enum without values too.
pub(super) fn param_type_name(cp: &ControlPlaneName) -> Option<p4::P4NamedType> {
    match &cp.data_type {
        Some(DataType::Enum(name)) => Some(named(name)),
        _ => type_name(cp),
    }
}

/// `bitwidth` of a key, parameter or field: that of what the controller gives, 0 where it gives no number.
pub(super) fn bitwidth(types: &DataTypes, cp: &ControlPlaneName, ty: VarType) -> i32 {
    let given = match &cp.data_type {
        Some(DataType::NewType(name)) => types.sdn_bitwidth(name),
        Some(DataType::Error | DataType::Enum(_)) => Some(0),
        _ => None,
    };
    signed(given.unwrap_or_else(|| ty.width()))
}

/// All types that the program's objects name.
pub(super) fn type_info(types: &DataTypes, errors: &[String]) -> p4::P4TypeInfo {
    let mut info = p4::P4TypeInfo::default();
    for (name, members) in &types.structs {
        let members = members.iter().map(|(name, ty)| p4::p4_struct_type_spec::Member {
            name: name.clone(),
            type_spec: Some(data_type(ty)),
        });
        let spec = p4::P4StructTypeSpec { members: members.collect(), ..Default::default() };
        info.structs.insert(name.clone(), spec);
    }
    for (name, fields) in &types.headers {
        let members = fields.iter().map(|(name, ty)| p4::p4_header_type_spec::Member {
            name: name.clone(),
            type_spec: bitstring(*ty),
        });
        let spec = p4::P4HeaderTypeSpec { members: members.collect(), ..Default::default() };
        info.headers.insert(name.clone(), spec);
    }
    for (name, members) in &types.unions {
        let members = members.iter().map(|(name, header)| p4::p4_header_union_type_spec::Member {
            name: name.clone(),
            header: Some(named(header)),
        });
        let spec = p4::P4HeaderUnionTypeSpec { members: members.collect(), ..Default::default() };
        info.header_unions.insert(name.clone(), spec);
    }
    for (name, members) in &types.enums {
        let members = members
            .iter()
            .map(|name| p4::p4_enum_type_spec::Member { name: name.clone(), ..Default::default() });
        let spec = p4::P4EnumTypeSpec { members: members.collect(), ..Default::default() };
        info.enums.insert(name.clone(), spec);
    }
    for (name, (ty, members)) in &types.serializable_enums {
        let members = members.iter().map(|(name, value)| p4::p4_serializable_enum_type_spec::Member {
            name: name.clone(),
            value: value.to_be_bytes(),
            ..Default::default()
        });
        let spec = p4::P4SerializableEnumTypeSpec {
            underlying_type: Some(p4::P4BitTypeSpec { bitwidth: signed(ty.width()) }),
            members: members.collect(),
            ..Default::default()
        };
        info.serializable_enums.insert(name.clone(), spec);
    }
    for (name, declared) in &types.new_types {
        info.new_types.insert(name.clone(), new_type(declared));
    }
    if types.has_errors {
        info.error = Some(p4::P4ErrorTypeSpec { members: errors.to_vec() });
    }
    info
}

fn new_type(declared: &NewType) -> p4::P4NewTypeSpec {
    use p4::p4_new_type_translation::SdnType;
    let representation = match &declared.translation {
        None => Representation::OriginalType(data_type(&declared.original)),
        Some(translation) => {
            let sdn_type = match translation.sdn_bitwidth {
                Some(width) => SdnType::SdnBitwidth(signed(width)),
                None => SdnType::SdnString(p4::p4_new_type_translation::SdnString {}),
            };
            let (uri, sdn_type) = (translation.uri.clone(), Some(sdn_type));
            Representation::TranslatedType(p4::P4NewTypeTranslation { uri, sdn_type })
        }
    };
    let sorted = annotations::sort(&declared.annotations, &["p4runtime_translation"]);
    p4::P4NewTypeSpec {
        annotations: sorted.plain,
        structured_annotations: sorted.structured,
        representation: Some(representation),
        ..Default::default()
    }
}
