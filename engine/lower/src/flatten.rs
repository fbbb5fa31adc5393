//! Static storage of values: types are flattened into variables, headers, stacks and unions.

use super::Lowerer;
use super::storage::{Binding, INDEX_BITS, Rvalue, StaticStorage, UnionStack};
use p4cc_budget::Resource;
use p4cc_ir::{
    Header, HeaderField, HeaderId, HeaderType, HeaderTypeId, Operand, Stack, StackId, Union, UnionId, Var,
    VarId, VarKind, VarType,
};
use p4cc_syntax::{Diagnostic, Span};
use p4cc_types::ids::{AggId, LocalId};
use p4cc_types::ty::Ty;
use std::collections::BTreeSet;
use std::rc::Rc;

impl Lowerer<'_> {
    /// The type of the variable that a scalar type becomes.
    pub(super) fn var_type(&self, ty: &Ty) -> Option<VarType> {
        match self.hir.underlying(ty) {
            Ty::Bool => Some(VarType::Bool),
            // One value only: there is nothing to keep.
            Ty::Bit(0) | Ty::Varbit(0) => None,
            Ty::Bit(width) => Some(VarType::Bit(*width)),
            Ty::Int(width) => Some(VarType::Int(*width)),
            Ty::Varbit(width) => Some(VarType::Varbit(*width)),
            Ty::Enum(_) | Ty::Error => Some(VarType::Bit(32)),
            _ => None,
        }
    }

    /// Width of a scalar type.
    pub(super) fn width(&self, ty: &Ty) -> Option<u32> {
        self.var_type(ty).map(VarType::width)
    }

    /// How many variables a type takes, saturating.
    fn var_count(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Aggregate(_) => self
                .hir
                .fields(ty)
                .iter()
                .fold(0, |sum: u64, field| sum.saturating_add(self.var_count(&field.ty)))
                .max(1),
            Ty::Tuple(items) => {
                items.iter().fold(0, |sum: u64, item| sum.saturating_add(self.var_count(item)))
            }
            Ty::Stack(elem, size) => self.var_count(elem).saturating_mul(u64::from(*size)),
            _ => 1,
        }
    }

    /// Makes storage for a value.
    pub(super) fn alloc(&mut self, ty: &Ty, name: &str, kind: VarKind, span: Span) -> Option<StaticStorage> {
        let count = self.var_count(ty);
        if !self.budget.allows(Resource::Variables, count) {
            self.charge(Resource::Variables, count, span)?;
        }
        self.alloc_within(ty, name, kind, span)
    }

    fn alloc_within(&mut self, ty: &Ty, name: &str, kind: VarKind, span: Span) -> Option<StaticStorage> {
        if let Some(var_ty) = self.var_type(ty) {
            return Some(StaticStorage::Scalar(self.new_var(name, var_ty, kind)));
        }
        match ty {
            _ if self.is_empty(ty) => Some(StaticStorage::Struct(Rc::new([]))),
            Ty::Tuple(items) => {
                let parts: Option<Vec<StaticStorage>> = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| self.alloc_within(item, &format!("{name}[{at}]"), kind, span))
                    .collect();
                Some(StaticStorage::Struct(parts?.into()))
            }
            Ty::Stack(elem, size) if self.hir.is_array(ty) => {
                let parts: Option<Vec<StaticStorage>> = (0..*size)
                    .map(|at| self.alloc_within(elem, &format!("{name}[{at}]"), kind, span))
                    .collect();
                Some(StaticStorage::Struct(parts?.into()))
            }
            Ty::Stack(elem, size) if self.hir.is_union(elem) => {
                let unions: Option<Vec<UnionId>> = (0..*size)
                    .map(|at| match self.alloc_union(elem, &format!("{name}[{at}]"))? {
                        StaticStorage::Union(union) => Some(union),
                        _ => None,
                    })
                    .collect();
                let next = self.new_var(&format!("{name}.nextIndex"), VarType::Bit(INDEX_BITS), kind);
                Some(StaticStorage::UnionStack(Rc::new(UnionStack { unions: unions?, next })))
            }
            Ty::Stack(elem, size) => {
                let elements: Option<Vec<HeaderId>> = (0..*size)
                    .map(|at| match self.alloc_within(elem, &format!("{name}[{at}]"), kind, span)? {
                        StaticStorage::Header(header) => Some(header),
                        _ => None,
                    })
                    .collect();
                let id = StackId::from_index(self.out.stacks.len());
                self.out.stacks.push(Stack { name: name.to_owned(), elements: elements? });
                Some(StaticStorage::Stack(id))
            }
            Ty::Aggregate(id) if self.hir.is_header(ty) => self.alloc_header(*id, name, None),
            Ty::Aggregate(_) if self.hir.is_union(ty) => self.alloc_union(ty, name),
            Ty::Aggregate(_) => {
                let fields = self.hir.fields(ty);
                let parts: Option<Vec<StaticStorage>> = fields
                    .iter()
                    .map(|field| self.alloc_within(&field.ty, &format!("{name}.{}", field.name), kind, span))
                    .collect();
                Some(StaticStorage::Struct(parts?.into()))
            }
            _ => {
                let shown = self.hir.show(ty);
                self.push(Diagnostic::not_supported(span, format!("variables of type `{shown}`")));
                None
            }
        }
    }

    fn alloc_union(&mut self, ty: &Ty, name: &str) -> Option<StaticStorage> {
        let id = UnionId::from_index(self.out.unions.len());
        self.out.unions.push(Union { name: name.to_owned(), members: Vec::new() });
        let mut members = Vec::new();
        for field in self.hir.fields(ty) {
            let Ty::Aggregate(member) = field.ty else { return None };
            match self.alloc_header(member, &format!("{name}.{}", field.name), Some(id))? {
                StaticStorage::Header(header) => members.push(header),
                _ => return None,
            }
        }
        if let Some(union) = self.out.unions.get_mut(id.index()) {
            union.members = members;
        }
        Some(StaticStorage::Union(id))
    }

    fn alloc_header(&mut self, agg: AggId, name: &str, union: Option<UnionId>) -> Option<StaticStorage> {
        let ty = self.header_type(agg)?;
        let header = HeaderId::from_index(self.out.headers.len());
        self.out.headers.push(Header { name: name.to_owned(), ty, fields: Vec::new(), union });
        let fields = self.out.header_types.get(ty.index())?.fields.clone();
        let mut vars = Vec::with_capacity(fields.len());
        for (at, field) in fields.iter().enumerate() {
            let kind = VarKind::Field { header, field: at as u32 };
            vars.push(self.new_var(&format!("{name}.{}", field.name), field.ty, kind));
        }
        self.out.headers.get_mut(header.index())?.fields = vars;
        Some(StaticStorage::Header(header))
    }

    /// The IR's header type of a header declaration.
    pub(super) fn header_type(&mut self, agg: AggId) -> Option<HeaderTypeId> {
        if let Some(id) = self.header_types.get(&agg) {
            return Some(*id);
        }
        let decl = self.hir.aggregates.get(agg.index())?;
        let mut fields = Vec::with_capacity(decl.fields.len());
        for field in &decl.fields {
            self.leaves(&field.ty, &field.name, &mut fields)?;
        }
        fields.extend(self.filling(agg, &fields));
        let id = HeaderTypeId::from_index(self.out.header_types.len());
        self.out.header_types.push(HeaderType { name: decl.name.clone(), fields });
        self.header_types.insert(agg, id);
        Some(id)
    }

    /// TNA's chip carries whole bytes: its compiler lays `@flexible` fields out as it likes, and fills what
    /// they leave of a byte. Here the bits stand behind all fields, on both ways.
    fn filling(&self, agg: AggId, fields: &[HeaderField]) -> Option<HeaderField> {
        let bits: u32 = fields.iter().map(|field| field.ty.width()).sum();
        let missing = bits.next_multiple_of(8) - bits;
        let is_fixed = !fields.iter().any(|field| matches!(field.ty, VarType::Varbit(_)));
        let fills = self.is_tofino() && missing > 0 && is_fixed && self.is_flexible(agg);
        fills.then(|| HeaderField { name: "$filling".to_owned(), ty: VarType::Bit(missing) })
    }

    fn is_flexible(&self, agg: AggId) -> bool {
        let Some(decl) = self.hir.aggregates.get(agg.index()) else { return false };
        let within = |ty: &Ty| matches!(ty, Ty::Aggregate(inner) if self.is_flexible(*inner));
        decl.annotations.has("flexible")
            || decl.fields.iter().any(|field| field.annotations.has("flexible") || within(&field.ty))
    }

    /// The variables that a field of a header becomes: one, or those of a struct inside, in wire order.
    pub(super) fn leaves(&self, ty: &Ty, name: &str, out: &mut Vec<HeaderField>) -> Option<()> {
        if let Some(ty) = self.var_type(ty) {
            out.push(HeaderField { name: name.to_owned(), ty });
            return Some(());
        }
        for (part, ty) in self.parts(ty)? {
            self.leaves(&ty, &format!("{name}.{part}"), out)?;
        }
        Some(())
    }

    /// How many variables a field of a header becomes.
    fn leaf_count(&self, ty: &Ty) -> usize {
        if self.var_type(ty).is_some() {
            return 1;
        }
        self.parts(ty).map_or(0, |parts| parts.iter().map(|(_, ty)| self.leaf_count(ty)).sum())
    }

    /// Where among a header's variables those of a field begin, and the field's type.
    pub(super) fn leaf_start(&self, header: &Ty, at: usize) -> Option<(usize, Ty)> {
        let fields = self.hir.fields(header);
        let start = fields.iter().take(at).map(|field| self.leaf_count(&field.ty)).sum();
        Some((start, fields.get(at)?.ty.clone()))
    }

    /// Whether a type has no bits, and so one value only.
    pub(super) fn is_empty(&self, ty: &Ty) -> bool {
        matches!(self.hir.underlying(ty), Ty::Bit(0) | Ty::Varbit(0))
    }

    /// Names and types of the parts of a struct, tuple or array. What has no bits has no parts.
    pub(super) fn parts(&self, ty: &Ty) -> Option<Vec<(String, Ty)>> {
        match ty {
            _ if self.is_empty(ty) => Some(Vec::new()),
            Ty::Aggregate(_) => {
                Some(self.hir.fields(ty).iter().map(|field| (field.name.clone(), field.ty.clone())).collect())
            }
            Ty::Tuple(items) => {
                Some(items.iter().enumerate().map(|(at, ty)| (format!("f{at}"), ty.clone())).collect())
            }
            Ty::Stack(elem, size) if self.hir.is_array(ty) => {
                Some((0..*size).map(|at| (at.to_string(), (**elem).clone())).collect())
            }
            _ => None,
        }
    }

    /// A field of a header: one of its variables, or several as a struct.
    pub(super) fn header_field(&self, header: HeaderId, ty: &Ty, at: usize) -> Option<StaticStorage> {
        let (start, field) = self.leaf_start(ty, at)?;
        let vars = self.field_vars(header);
        self.place_over(&field, &mut vars.into_iter().skip(start))
    }

    fn place_over(&self, ty: &Ty, vars: &mut dyn Iterator<Item = VarId>) -> Option<StaticStorage> {
        if self.var_type(ty).is_some() {
            return vars.next().map(StaticStorage::Scalar);
        }
        let parts: Option<Vec<StaticStorage>> =
            self.parts(ty)?.iter().map(|(_, part)| self.place_over(part, vars)).collect();
        Some(StaticStorage::Struct(parts?.into()))
    }

    /// A value of a type without headers put together from its scalars, first one first.
    pub(super) fn put_together(
        &mut self,
        ty: &Ty,
        scalar: &mut dyn FnMut(&mut Self, VarType) -> Option<Operand>,
    ) -> Option<Rvalue> {
        if let Some(ty) = self.var_type(ty) {
            return scalar(self, ty).map(Rvalue::Scalar);
        }
        let parts = self.parts(ty)?;
        let values: Option<Vec<Rvalue>> =
            parts.iter().map(|(_, part)| self.put_together(part, scalar)).collect();
        values.map(Rvalue::Struct)
    }

    /// A new variable. Past the bound on variables it reports and hands out another one.
    pub(super) fn new_var(&mut self, name: &str, ty: VarType, kind: VarKind) -> VarId {
        let within = self
            .charge(Resource::Variables, 1, self.place)
            .and_then(|()| self.charge(Resource::NameBytes, name.len() as u64, self.place));
        if within.is_none() && !self.out.vars.is_empty() {
            // No program comes of it: any variable will do.
            return VarId(0);
        }
        let id = VarId::from_index(self.out.vars.len());
        self.out.vars.push(Var { name: name.to_owned(), ty, kind });
        id
    }

    /// A new temporary.
    pub(super) fn temp(&mut self, ty: VarType) -> VarId {
        let name = format!("{}.tmp{}", self.name, self.out.vars.len());
        self.new_var(&name, ty, VarKind::Local)
    }

    /// Storage of a local, made on first use; a local of a block that is made twice keeps its storage.
    pub(super) fn local_place(&mut self, id: LocalId) -> Option<StaticStorage> {
        if let Some(Binding::StaticStorage(place)) = self.binding(id) {
            return Some(place.clone());
        }
        let local = self.hir.locals.get(id.index())?;
        let name = format!("{}.{}", self.name, local.name);
        let place = self.alloc(&local.ty, &name, VarKind::Local, local.span)?;
        self.bind(id, Binding::StaticStorage(place.clone()));
        Some(place)
    }

    /// All variables and headers of a place.
    pub(super) fn footprint(
        &self,
        place: &StaticStorage,
        vars: &mut BTreeSet<VarId>,
        headers: &mut BTreeSet<HeaderId>,
    ) {
        match place {
            StaticStorage::Scalar(var) => {
                vars.insert(*var);
            }
            StaticStorage::Header(header) => {
                headers.insert(*header);
                if let Some(header) = self.out.headers.get(header.index()) {
                    vars.extend(header.fields.iter().copied());
                    // Validity of one member changes that of the others.
                    if let Some(union) = header.union.and_then(|union| self.out.unions.get(union.index())) {
                        headers.extend(union.members.iter().copied());
                    }
                }
            }
            StaticStorage::Stack(stack) => {
                let elements = self.out.stacks.get(stack.index()).map_or(&[][..], |stack| &stack.elements);
                for element in elements {
                    self.footprint(&StaticStorage::Header(*element), vars, headers);
                }
            }
            StaticStorage::Union(union) => {
                let members = self.out.unions.get(union.index()).map_or(&[][..], |union| &union.members);
                for member in members {
                    self.footprint(&StaticStorage::Header(*member), vars, headers);
                }
            }
            StaticStorage::UnionStack(stack) => {
                vars.insert(stack.next);
                stack
                    .unions
                    .iter()
                    .for_each(|union| self.footprint(&StaticStorage::Union(*union), vars, headers));
            }
            StaticStorage::Struct(parts) => parts.iter().for_each(|part| self.footprint(part, vars, headers)),
        }
    }
}
