//! Parts that tables are made of: ids of the fields with a `$`, types of the program's values.

use p4cc_ir::{DataType, DataTypes, VarType};

use super::{Annotation, Data, Field, Key, KeyKind, Means, Table, Type};

/// Ids of the fields with a `$`, far above those of the program's own fields.
pub mod id {
    pub const MATCH_PRIORITY: u32 = 65_537;
    pub const ACTION_MEMBER: u32 = 65_539;
    pub const SELECTOR_GROUP: u32 = 65_540;
    pub const ENTRY_TTL: u32 = 65_543;
    pub const ENTRY_HIT_STATE: u32 = 65_544;
    pub const METER_KBPS: u32 = 65_545;
    pub const METER_PPS: u32 = 65_549;
    pub const COUNTER_BYTES: u32 = 65_553;
    pub const COUNTER_PACKETS: u32 = 65_554;
    pub const METER_INDEX: u32 = 65_555;
    pub const COUNTER_INDEX: u32 = 65_556;
    pub const REGISTER_INDEX: u32 = 65_557;
    pub const LPF_INDEX: u32 = 65_560;
    pub const WRED_INDEX: u32 = 65_561;
    pub const CHOSEN_MEMBER: u32 = 65_562;
    pub const CHOSEN_GROUP: u32 = 65_563;
    pub const MEMBER_STATUS: u32 = 65_564;
    pub const MAX_GROUP_SIZE: u32 = 65_565;
    pub const ADT_OFFSET: u32 = 65_566;
    pub const LPF_SPEC: u32 = 65_567;
    pub const WRED_SPEC: u32 = 65_571;
    pub const PORT_METADATA_PORT: u32 = 65_575;
    pub const PORT_METADATA_DEFAULT: u32 = 65_576;
    pub const HASH_ROTATE: u32 = 65_577;
    pub const HASH_SEED: u32 = 65_578;
    pub const HASH_MSB: u32 = 65_579;
    pub const HASH_EXTEND: u32 = 65_580;
    pub const HASH_PRE_DEFINED: u32 = 65_581;
    pub const HASH_USER_DEFINED: u32 = 65_582;
    pub const HASH_VALUE: u32 = 65_583;
    pub const HASH_START_BIT: u32 = 65_584;
    pub const HASH_LENGTH: u32 = 65_585;
    pub const HASH_ORDER: u32 = 65_586;
    pub const STAGE: u32 = 65_587;
    pub const END_STAGE: u32 = 65_588;
    pub const SNAPSHOT_ENABLE: u32 = 65_589;
    pub const TRIGGER_STATE: u32 = 65_590;
    pub const TIMER_ENABLE: u32 = 65_591;
    pub const TIMER_TRIGGER: u32 = 65_592;
    pub const TIMER_VALUE: u32 = 65_593;
    pub const TABLE_INFO: u32 = 65_596;
    pub const METER_ALU_INFO: u32 = 65_597;
    pub const PREVIOUS_STAGE_TRIGGER: u32 = 65_599;
    pub const INGRESS_TRIGGER_MODE: u32 = 65_600;
    pub const LOCAL_STAGE_TRIGGER: u32 = 65_601;
    pub const NEXT_TABLE_NAME: u32 = 65_603;
    pub const ENABLED_NEXT_TABLES: u32 = 65_604;
    pub const DEPARSER_ERROR: u32 = 65_609;
    pub const TABLE_NAME: u32 = 65_611;
    pub const METER_TABLE_NAME: u32 = 65_612;
    pub const METER_ALU_OPERATION: u32 = 65_613;
    pub const MATCH_HIT_HANDLE: u32 = 65_614;
    pub const TABLE_HIT: u32 = 65_615;
    pub const TABLE_INHIBITED: u32 = 65_616;
    pub const TABLE_EXECUTED: u32 = 65_617;
    pub const LIVENESS_FIELD: u32 = 65_618;
    pub const LIVENESS_STAGES: u32 = 65_619;
    pub const SNAPSHOT_THREAD: u32 = 65_620;
    pub const INGRESS_CAPTURE: u32 = 65_621;
    pub const EGRESS_CAPTURE: u32 = 65_622;
    pub const GHOST_CAPTURE: u32 = 65_623;
    pub const DEBUG_TABLE_NAME: u32 = 65_626;
    pub const DEBUG_TYPE: u32 = 65_627;
    pub const DEBUG_VALUE: u32 = 65_628;
}

/// A table without fields.
pub fn table(
    name: impl Into<String>,
    id: u32,
    kind: &'static str,
    object: super::Object,
    size: u64,
) -> Table {
    Table {
        name: name.into(),
        id,
        kind,
        object,
        size,
        annotations: Vec::new(),
        depends_on: Vec::new(),
        has_const_default: None,
        key: Vec::new(),
        actions: Vec::new(),
        data: Vec::new(),
        operations: Vec::new(),
        attributes: Vec::new(),
    }
}

/// A key field that must be given.
pub fn key(id: u32, name: &str, ty: Type, means: Means) -> Key {
    Key {
        id,
        name: name.to_owned(),
        kind: KeyKind::Exact,
        ty,
        mandatory: true,
        repeated: false,
        mask: None,
        annotations: Vec::new(),
        means,
    }
}

/// A data field.
pub fn field(id: u32, name: impl Into<String>, ty: Type, means: Means) -> Field {
    Field { id, name: name.into(), ty, repeated: false, annotations: Vec::new(), means }
}

impl Field {
    /// The same as an array.
    pub(super) fn repeated(self) -> Self {
        Self { repeated: true, ..self }
    }

    /// That need not be given.
    pub(super) fn optional(self) -> Data {
        Data { mandatory: false, read_only: false, fields: vec![self] }
    }

    /// That must be given.
    pub(super) fn mandatory(self) -> Data {
        Data { mandatory: true, ..self.optional() }
    }

    /// That cannot be written.
    pub(super) fn read_only(self) -> Data {
        Data { read_only: true, ..self.optional() }
    }
}

/// `uint32`
pub const UINT32: Type = Type::Int("uint32", None);
/// `uint64`
pub const UINT64: Type = Type::Int("uint64", None);

/// One of these texts.
pub fn choices(of: &[&str], default: Option<&str>) -> Type {
    Type::Text(of.iter().map(|one| (*one).to_owned()).collect(), default.map(str::to_owned))
}

/// Any text.
pub fn text() -> Type {
    Type::Text(Vec::new(), None)
}

/// Annotations as the JSON has them: the whole text is the name.
pub fn annotations(texts: &[String]) -> Vec<Annotation> {
    let plain = p4cc_p4runtime::p4info::plain_annotations(texts).into_iter();
    plain.map(|name| Annotation { name, value: None }).collect()
}

/// Names and types of the values in a cell, message or key. Numbers of values without a name begin at
/// `first`.
pub fn values(types: &DataTypes, ty: &DataType, first: u32) -> Vec<(String, Type)> {
    match ty {
        DataType::Struct(_) | DataType::Header(_) | DataType::Tuple(_) => {
            let mut found = Vec::new();
            members(types, ty, "", first, &mut found, 0);
            found
        }
        DataType::NewType(name) => match types.new_types.get(name) {
            Some(declared) => values(types, &declared.original, first),
            None => Vec::new(),
        },
        scalar => {
            let ty = member(types, scalar)
                .map(|ty| if ty == Type::Bool(Some(true)) { Type::Bool(None) } else { ty });
            ty.map(|ty| ("f1".to_owned(), ty)).into_iter().collect()
        }
    }
}

/// Bound of the nesting of types.
const MAX_DEPTH: usize = 32;

fn members(
    types: &DataTypes,
    ty: &DataType,
    prefix: &str,
    first: u32,
    found: &mut Vec<(String, Type)>,
    depth: usize,
) {
    if depth > MAX_DEPTH {
        return;
    }
    let mut add = |name: &str, ty: &DataType| match member(types, ty) {
        Some(ty) => found.push((format!("{prefix}{name}"), ty)),
        None => members(types, ty, &format!("{prefix}{name}."), first, found, depth + 1),
    };
    match ty {
        DataType::Struct(name) => {
            types.structs.get(name).into_iter().flatten().for_each(|(name, ty)| add(name, ty));
        }
        DataType::Header(name) => {
            let fields = types.headers.get(name).into_iter().flatten();
            fields.for_each(|(name, ty)| add(name, &DataType::Scalar(*ty)));
        }
        DataType::Tuple(items) => {
            for (at, ty) in items.iter().enumerate() {
                add(&format!("f{}", first as usize + at), ty);
            }
        }
        _ => {}
    }
}

/// Type of a value that is one number; none of what has parts.
fn member(types: &DataTypes, ty: &DataType) -> Option<Type> {
    match ty {
        DataType::Scalar(VarType::Bool) => Some(Type::Bool(Some(true))),
        DataType::Scalar(ty) => Some(Type::Bytes(ty.width(), None)),
        DataType::SerializableEnum(name) => {
            types.serializable_enums.get(name).map(|(ty, _)| Type::Bytes(ty.width(), None))
        }
        DataType::NewType(name) => member(types, &types.new_types.get(name)?.original),
        DataType::Enum(_) | DataType::Error => Some(Type::Bytes(32, None)),
        _ => None,
    }
}
