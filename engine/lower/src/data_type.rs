//! Types for the control plane: which names it sees, and what P4Info's `type_info` says of them.

use super::Lowerer;
use p4cc_ir::{ControlPlaneName, DataType, NewType, VarType};
use p4cc_syntax::ast::AggregateKind;
use p4cc_types::ids::{AggId, EnumId, NewTypeId};
use p4cc_types::ty::Ty;

impl Lowerer<'_> {
    /// A type for the control plane; those that it names are
    /// described with it. None for a type that no value has.
    pub(super) fn data_type(&mut self, ty: &Ty) -> Option<DataType> {
        Some(match ty {
            Ty::NewType(id) => DataType::NewType(self.describe_new_type(*id)?),
            Ty::Enum(id) => self.describe_enum(*id)?,
            Ty::Error => {
                self.out.data_types.has_errors = true;
                DataType::Error
            }
            Ty::Aggregate(id) => self.describe_aggregate(*id)?,
            Ty::Tuple(items) => {
                DataType::Tuple(items.iter().map(|item| self.data_type(item)).collect::<Option<_>>()?)
            }
            Ty::Stack(element, size) => match self.data_type(element)? {
                DataType::Header(name) => DataType::Stack(name, *size),
                DataType::Union(name) => DataType::UnionStack(name, *size),
                // P4Info has no arrays of other values.
                element => DataType::Tuple(vec![element; *size as usize]),
            },
            Ty::Bit(0) => DataType::Scalar(VarType::Bit(0)),
            other => DataType::Scalar(self.var_type(other)?),
        })
    }

    /// The same key, parameter or field with its type.
    pub(super) fn typed(&mut self, cp: ControlPlaneName, ty: &Ty) -> ControlPlaneName {
        ControlPlaneName { data_type: self.data_type(ty), ..cp }
    }

    /// An array with the type of its index. v1model has numbers only.
    pub(super) fn indexed(&mut self, cp: ControlPlaneName, index: Option<&Ty>) -> ControlPlaneName {
        match index {
            Some(index) if !self.is_v1model() => self.typed(cp, index),
            _ => cp,
        }
    }

    fn describe_new_type(&mut self, id: NewTypeId) -> Option<String> {
        let hir = self.hir;
        let declared = hir.newtypes.get(id.index())?;
        let name = control_plane_name(&declared.annotations.name, &declared.name);
        if !self.out.data_types.new_types.contains_key(&name) {
            let mut original = &declared.ty;
            while let Ty::NewType(inner) = original {
                original = &hir.newtypes.get(inner.index())?.ty;
            }
            let made = NewType {
                original: self.data_type(original)?,
                translation: declared.annotations.translation.clone(),
                annotations: declared.annotations.texts.clone(),
            };
            self.out.data_types.new_types.insert(name.clone(), made);
        }
        Some(name)
    }

    fn describe_enum(&mut self, id: EnumId) -> Option<DataType> {
        let declared = self.hir.enums.get(id.index())?;
        let name = control_plane_name(&declared.annotations.name, &declared.name);
        let Some(underlying) = &declared.underlying else {
            let members = declared.members.iter().map(|(member, _)| member.clone()).collect();
            self.out.data_types.enums.insert(name.clone(), members);
            return Some(DataType::Enum(name));
        };
        let ty = self.var_type(underlying)?;
        let bits = |value| p4cc_types::value::int_to_bits(value, ty.width());
        let members = declared.members.iter().map(|(member, value)| (member.clone(), bits(value))).collect();
        self.out.data_types.serializable_enums.insert(name.clone(), (ty, members));
        Some(DataType::SerializableEnum(name))
    }

    fn describe_aggregate(&mut self, id: AggId) -> Option<DataType> {
        let declared = self.hir.aggregates.get(id.index())?;
        let name = control_plane_name(&declared.annotations.name, &declared.name);
        let fields = declared.fields.iter();
        let fields =
            fields.map(|field| (control_plane_name(&field.annotations.name, &field.name), &field.ty));
        match declared.kind {
            AggregateKind::Struct => {
                if !self.out.data_types.structs.contains_key(&name) {
                    let members = fields.map(|(name, ty)| Some((name, self.data_type(ty)?)));
                    let members = members.collect::<Option<_>>()?;
                    self.out.data_types.structs.insert(name.clone(), members);
                }
                Some(DataType::Struct(name))
            }
            AggregateKind::Header => {
                let mut leaves = Vec::new();
                for (name, ty) in fields {
                    self.leaves(ty, &name, &mut leaves)?;
                }
                let leaves = leaves.into_iter().map(|leaf| (leaf.name, leaf.ty)).collect();
                self.out.data_types.headers.insert(name.clone(), leaves);
                Some(DataType::Header(name))
            }
            AggregateKind::HeaderUnion => {
                let mut members = Vec::new();
                for (name, ty) in fields {
                    let DataType::Header(header) = self.data_type(ty)? else { return None };
                    members.push((name, header));
                }
                self.out.data_types.unions.insert(name.clone(), members);
                Some(DataType::Union(name))
            }
        }
    }
}

/// What the control plane calls a declaration: its `@name`, or its own name.
fn control_plane_name(annotated: &Option<String>, own: &str) -> String {
    let name = annotated.as_deref().unwrap_or(own);
    name.strip_prefix('.').unwrap_or(name).to_owned()
}
