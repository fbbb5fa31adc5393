//! Header types, header instances, stacks and unions.

use p4cc_ir::{HeaderTypeId, VarType};
use serde_json::{Value, json};

use super::Writer;
use super::names::{SCALARS, VARBIT};

/// The type of `scalars`.
const SCALARS_TYPE: &str = "scalars_0";

impl Writer<'_> {
    /// Types and instances of headers; `scalars` has what code has named by now.
    pub(super) fn headers(&self) -> (Vec<Value>, Vec<Value>) {
        let scalars = padded(self.names.scalar_fields.iter().map(|(name, ty)| (name.as_str(), *ty)));
        let mut types = vec![header_type(SCALARS_TYPE, 0, scalars)];
        for builtin in &self.names.builtins {
            let fields = builtin.fields.iter().map(|(name, var, width)| {
                (*name, width.map_or(self.program.vars[var.index()].ty, VarType::Bit))
            });
            types.push(header_type(builtin.type_name, types.len(), padded(fields)));
        }
        let first = self.first_header();
        for (id, ty) in self.program.header_types.iter().enumerate() {
            let fields = ty.fields.iter().map(|field| (field.name.clone(), field.ty));
            types.push(header_type(&self.type_name(HeaderTypeId::from_index(id)), first + id, fields));
        }
        let instance = |name: &str, id: usize, ty: &str, is_metadata: bool| {
            json!({
                "name": name, "id": id, "header_type": ty, "metadata": is_metadata, "pi_omit": true,
            })
        };
        let mut headers = vec![instance(SCALARS, 0, SCALARS_TYPE, true)];
        for builtin in &self.names.builtins {
            headers.push(instance(builtin.name, headers.len(), builtin.type_name, true));
        }
        for (at, header) in self.program.headers.iter().enumerate() {
            let name = self.names.header(p4cc_ir::HeaderId::from_index(at));
            headers.push(instance(name, first + at, &self.type_name(header.ty), false));
        }
        for (name, ty) in &self.names.varbits {
            let (id, type_name) = (types.len(), format!("{name}_t"));
            types.push(header_type(&type_name, id, [(VARBIT.to_owned(), *ty)]));
            headers.push(instance(name, headers.len(), &type_name, true));
        }
        (types, headers)
    }

    /// The first id of the program's own types and instances, behind `scalars` and what the switch knows.
    fn first_header(&self) -> usize {
        1 + self.names.builtins.len()
    }

    /// The name of a header type; two types of one name are told apart by their numbers.
    fn type_name(&self, ty: HeaderTypeId) -> String {
        let types = &self.program.header_types;
        let name = &types[ty.index()].name;
        let is_taken = types[..ty.index()].iter().any(|other| other.name == *name)
            || self.names.builtins.iter().any(|builtin| builtin.type_name == name)
            || name == SCALARS_TYPE;
        if is_taken { format!("{name}_{ty}") } else { name.clone() }
    }

    pub(super) fn header_stacks(&self) -> Vec<Value> {
        let stacks = self.program.stacks.iter().enumerate();
        let stack = |(id, stack): (usize, &p4cc_ir::Stack)| {
            let ty = stack.elements.first().map(|first| self.program.headers[first.index()].ty);
            let ids: Vec<usize> =
                stack.elements.iter().map(|header| self.first_header() + header.index()).collect();
            json!({
                "name": self.names.stack(p4cc_ir::StackId::from_index(id)),
                "id": id,
                "header_type": ty.map(|ty| self.type_name(ty)),
                "size": ids.len(),
                "header_ids": ids,
            })
        };
        stacks.map(stack).collect()
    }

    /// One type for each union: the IR has no types of unions.
    pub(super) fn union_types(&self) -> Vec<Value> {
        let unions = self.program.unions.iter().enumerate();
        let of = |(id, union): (usize, &p4cc_ir::Union)| {
            let members: Vec<Value> = union
                .members
                .iter()
                .map(|member| {
                    let ty = self.program.headers[member.index()].ty;
                    json!([self.names.header(*member), self.type_name(ty)])
                })
                .collect();
            json!({ "name": format!("union_{id}_t"), "id": id, "headers": members })
        };
        unions.map(of).collect()
    }

    pub(super) fn unions(&self) -> Vec<Value> {
        let unions = self.program.unions.iter().enumerate();
        let of = |(id, union): (usize, &p4cc_ir::Union)| {
            let ids: Vec<usize> =
                union.members.iter().map(|header| self.first_header() + header.index()).collect();
            json!({
                "name": self.names.union(p4cc_ir::UnionId::from_index(id)),
                "id": id,
                "union_type": format!("union_{id}_t"),
                "header_ids": ids,
                "pi_omit": true,
            })
        };
        unions.map(of).collect()
    }
}

/// Fields and what fills their last byte: BMv2 wants whole bytes.
fn padded<'n>(fields: impl IntoIterator<Item = (&'n str, VarType)>) -> Vec<(String, VarType)> {
    let mut fields: Vec<_> = fields.into_iter().map(|(name, ty)| (name.to_owned(), ty)).collect();
    let is_fixed = |ty: &VarType| !matches!(ty, VarType::Varbit(_));
    let bits: u64 = fields.iter().filter(|(_, ty)| is_fixed(ty)).map(|(_, ty)| u64::from(ty.width())).sum();
    if !bits.is_multiple_of(8) {
        fields.push(("_padding".to_owned(), VarType::Bit(8 - (bits % 8) as u32)));
    }
    fields
}

fn header_type(name: &str, id: usize, fields: impl IntoIterator<Item = (String, VarType)>) -> Value {
    let mut bits = 0_u64;
    let mut has_varbit = false;
    let mut list = Vec::new();
    for (name, ty) in fields {
        bits += u64::from(ty.width());
        has_varbit |= matches!(ty, VarType::Varbit(_));
        list.push(match ty {
            VarType::Varbit(_) => json!([name, "*"]),
            ty => json!([name, ty.width(), matches!(ty, VarType::Int(_))]),
        });
    }
    let mut ty = json!({ "name": name, "id": id, "fields": list });
    if has_varbit {
        ty["max_length"] = json!(bits.div_ceil(8));
    }
    ty
}
