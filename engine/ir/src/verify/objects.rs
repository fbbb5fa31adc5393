//! Variables, headers, tables and the other objects.

use std::collections::BTreeSet;

use super::Verifier;
use crate::{
    ActionCall, ActionScope, HeaderId, MatchKind, MatchValue, RegisterKind, SourceEntry, Table, UnionId,
    VarId, VarKind, VarType, limits,
};

impl Verifier<'_> {
    pub(super) fn objects(&mut self) {
        self.variables();
        self.header_shapes();
        self.stacks_and_unions();
        self.arrays();
        self.profiles();
        let program = self.program;
        for action in &program.actions {
            self.place = format!("action `{}`", action.cp.name);
            self.func(action.body);
            for param in &action.params {
                self.fixed_var(param.var);
            }
        }
        for (index, table) in program.tables.iter().enumerate() {
            self.place = format!("table `{}`", table.cp.name);
            self.check_table(index, table);
        }
        self.rest();
    }

    fn variables(&mut self) {
        let program = self.program;
        self.place = "program".to_owned();
        let count = program.vars.len();
        self.check(count <= limits::MAX_VARS, || {
            format!("{count} variables, more than {}", limits::MAX_VARS)
        });
        let bits = program.frame_bits();
        self.check(bits <= limits::MAX_FRAME_BITS, || {
            format!("variables of {bits} bits, more than {}", limits::MAX_FRAME_BITS)
        });
        for var in &program.vars {
            self.place = format!("variable `{}`", var.name);
            self.width(var.ty);
        }
    }

    fn width(&mut self, ty: VarType) {
        let width = ty.width();
        let most = match ty {
            VarType::Varbit(_) => limits::MAX_VARBIT,
            _ => limits::MAX_WIDTH,
        };
        self.check((1..=most).contains(&width), || format!("width {width} is not between 1 and {most}"));
    }

    fn header_shapes(&mut self) {
        let program = self.program;
        for ty in &program.header_types {
            self.place = format!("header type `{}`", ty.name);
            let varbits = ty.fields.iter().filter(|field| matches!(field.ty, VarType::Varbit(_))).count();
            self.check(varbits <= 1, || format!("{varbits} varbit fields, more than one"));
            ty.fields.iter().for_each(|field| self.width(field.ty));
        }
        let mut owned = 0;
        for (index, header) in program.headers.iter().enumerate() {
            self.place = format!("header `{}`", header.name);
            let Some(ty) = self.header_type(header.ty) else { continue };
            let (has, wants) = (header.fields.len(), ty.fields.len());
            self.check(has == wants, || format!("{has} variables for the {wants} fields of `{}`", ty.name));
            for (field, (&var, declared)) in header.fields.iter().zip(&ty.fields).enumerate() {
                let Some(found) = self.var(var) else { continue };
                self.check(found.ty == declared.ty, || {
                    format!("{var} is {:?}, but field `{}` is {:?}", found.ty, declared.name, declared.ty)
                });
                let kind = VarKind::Field { header: HeaderId::from_index(index), field: field as u32 };
                self.check(found.kind == kind, || format!("{var} says it is {:?}, not {kind:?}", found.kind));
                owned += usize::from(found.kind == kind);
            }
        }
        self.place = "program".to_owned();
        let claimed = program.vars.iter().filter(|var| matches!(var.kind, VarKind::Field { .. })).count();
        self.check(claimed == owned, || {
            format!("{claimed} variables claim to be fields, but headers have {owned}")
        });
    }

    fn stacks_and_unions(&mut self) {
        let program = self.program;
        let mut stacked = BTreeSet::new();
        for stack in &program.stacks {
            self.place = format!("stack `{}`", stack.name);
            let size = stack.elements.len();
            self.check((1..=limits::MAX_STACK as usize).contains(&size), || {
                format!("{size} elements, not between 1 and {}", limits::MAX_STACK)
            });
            let ty = stack.elements.first().and_then(|&first| self.header(first)).map(|header| header.ty);
            for &element in &stack.elements {
                self.check(stacked.insert(element), || format!("{element} stands in a stack already"));
                let Some(header) = self.header(element) else { continue };
                self.check(Some(header.ty) == ty, || format!("{element} is not of the stack's type"));
                self.check(header.union.is_none(), || format!("{element} is in a union"));
            }
        }
        for (index, union) in program.unions.iter().enumerate() {
            self.place = format!("union `{}`", union.name);
            let id = UnionId::from_index(index);
            for &member in &union.members {
                let Some(header) = self.header(member) else { continue };
                self.check(header.union == Some(id), || {
                    format!("{member} says its union is {:?}", header.union)
                });
            }
        }
        for (index, header) in program.headers.iter().enumerate() {
            self.place = format!("header `{}`", header.name);
            let id = HeaderId::from_index(index);
            if let Some(union) = header.union.and_then(|union| self.union(union)) {
                let times = union.members.iter().filter(|&&member| member == id).count();
                self.check(times == 1, || {
                    format!("stands {times} times in union `{}`, not once", union.name)
                });
            }
        }
    }

    fn array_size(&mut self, size: u32) {
        self.check(size <= limits::MAX_ARRAY_CELLS, || {
            format!("{size} cells, more than {}", limits::MAX_ARRAY_CELLS)
        });
    }

    fn arrays(&mut self) {
        let program = self.program;
        for counter in &program.counters {
            self.place = format!("counter `{}`", counter.cp.name);
            self.array_size(counter.size.unwrap_or(0));
        }
        for meter in &program.meters {
            self.place = format!("meter `{}`", meter.cp.name);
            self.array_size(meter.size.unwrap_or(0));
        }
        for register in &program.registers {
            self.place = format!("register `{}`", register.cp.name);
            self.array_size(register.size);
            self.width(register.ty);
            self.check(!matches!(register.ty, VarType::Varbit(_)), || "cells are varbits".to_owned());
        }
        self.chip_objects();
        for set in &program.value_sets {
            self.place = format!("value set `{}`", set.cp.name);
            for (name, ty, kind) in &set.keys {
                self.width(*ty);
                self.check(*kind != MatchKind::Selector && !matches!(ty, VarType::Varbit(_)), || {
                    format!("key `{}` is a selector or a varbit", name.name)
                });
            }
        }
        for digest in &program.digests {
            self.place = format!("digest `{}`", digest.cp.name);
            digest.fields.iter().for_each(|field| self.width(field.ty));
        }
    }

    /// Filters and hash functions.
    fn chip_objects(&mut self) {
        for filter in &self.program.filters {
            self.place = format!("filter `{}`", filter.cp.name);
            self.array_size(filter.size.unwrap_or(0));
            self.check((1..=64).contains(&filter.width), || format!("{} bits, not 1 to 64", filter.width));
        }
        for hash in &self.program.hashes {
            self.place = format!("hash `{}`", hash.cp.name);
            self.check((1..=64).contains(&hash.width), || format!("{} bits, not 1 to 64", hash.width));
            let bits = hash.function.bits().unwrap_or(1);
            self.check((1..=64).contains(&bits), || format!("a function of {bits} bits, not 1 to 64"));
            let fields = hash.fields.len();
            self.check(fields <= super::MAX_DATA_FIELDS, || format!("{fields} fields are too many"));
            for field in &hash.fields {
                self.width(VarType::Bit(field.width));
            }
        }
    }

    fn profiles(&mut self) {
        for profile in &self.program.profiles {
            self.place = format!("profile `{}`", profile.cp.name);
            if let Some((algorithm, width)) = profile.selector {
                self.algorithm(algorithm);
                self.check((1..=64).contains(&width), || {
                    format!("selector keeps {width} bits of its hash, not between 1 and 64")
                });
            }
            if let Some(bits) = profile.bits {
                let register = self.program.registers.get(bits.index());
                let holds = register.is_some_and(|register| register.ty.width() == 1 && register.size > 0);
                self.check(holds && profile.group_lines > 0, || {
                    format!("{bits} is no array of bits of a selector with memory")
                });
            }
        }
    }

    fn check_table(&mut self, index: usize, table: &Table) {
        self.check(table.size <= limits::MAX_TABLE_SIZE, || {
            format!("size {} is above {}", table.size, limits::MAX_TABLE_SIZE)
        });
        let profile = table.profile.and_then(|profile| self.profile(profile));
        let selects = profile.is_some_and(|profile| profile.selector.is_some());
        for key in &table.keys {
            self.fixed_var(key.var);
            self.check(selects || key.kind != MatchKind::Selector, || {
                format!("key `{}` is a selector key, but the table has no selector", key.cp.name)
            });
        }
        let prefixes = table.keys.iter().filter(|key| key.kind == MatchKind::Lpm).count();
        self.check(prefixes <= 1, || format!("{prefixes} lpm keys, more than one"));
        let mut seen = BTreeSet::new();
        for listed in &table.actions {
            self.action(listed.action);
            self.check(seen.insert(listed.action), || format!("{} is listed twice", listed.action));
        }
        self.listed(table, &table.default_action, true);
        self.check(table.entries.is_empty() || table.profile.is_none(), || {
            "has both source entries and a profile".to_owned()
        });
        for (number, entry) in table.entries.iter().enumerate() {
            self.place = format!("table `{}`, entry {number}", table.cp.name);
            self.entry(table, entry);
        }
        self.place = format!("table `{}`", table.cp.name);
        self.direct_objects(index, table);
    }

    fn direct_objects(&mut self, index: usize, table: &Table) {
        let earlier = &self.program.tables[..index];
        if let Some(id) = table.counter
            && let Some(counter) = self.counter(id)
        {
            self.check(counter.size.is_none(), || format!("direct {id} has a size"));
            let shared = earlier.iter().any(|other| other.counter == Some(id));
            self.check(!shared, || format!("{id} is the direct counter of two tables"));
        }
        if let Some(id) = table.meter
            && let Some(meter) = self.meter(id)
        {
            self.check(meter.size.is_none(), || format!("direct {id} has a size"));
            let shared = earlier.iter().any(|other| other.meter == Some(id));
            self.check(!shared, || format!("{id} is the direct meter of two tables"));
        }
        if let Some(id) = table.register
            && let Some(register) = self.register(id)
        {
            self.check(register.kind == RegisterKind::Direct, || format!("{id} is no direct register"));
            let shared = earlier.iter().any(|other| other.register == Some(id));
            self.check(!shared, || format!("{id} is the direct register of two tables"));
        }
        if let Some(id) = table.filter
            && let Some(filter) = self.filter(id)
        {
            self.check(filter.size.is_none(), || format!("direct {id} has a size"));
            let shared = earlier.iter().any(|other| other.filter == Some(id));
            self.check(!shared, || format!("{id} is the direct filter of two tables"));
        }
    }

    /// A call that must be among a table's actions, in a scope that allows it.
    fn listed(&mut self, table: &Table, call: &ActionCall, as_default: bool) {
        self.constant_call(call);
        let scope = table.actions.iter().find(|listed| listed.action == call.action);
        let forbidden = if as_default { ActionScope::TableOnly } else { ActionScope::DefaultOnly };
        match scope {
            None => self.report(format!("{} is not among the table's actions", call.action)),
            Some(listed) => self.check(listed.scope != forbidden, || {
                format!("{} is {:?} and cannot stand here", call.action, listed.scope)
            }),
        }
    }

    fn entry(&mut self, table: &Table, entry: &SourceEntry) {
        self.listed(table, &entry.action, false);
        let keys: Vec<_> = table.keys.iter().filter(|key| key.kind != MatchKind::Selector).collect();
        let (has, wants) = (entry.matches.len(), keys.len());
        self.check(has == wants && wants > 0, || format!("{has} match values for {wants} keys"));
        for (key, value) in keys.iter().zip(&entry.matches) {
            if let Some(width) = self.fixed_var(key.var) {
                self.match_value(key.kind, width, value);
            }
        }
    }

    fn match_value(&mut self, kind: MatchKind, width: u32, value: &MatchValue) {
        let bits = match (kind, value) {
            (MatchKind::Exact | MatchKind::Optional, MatchValue::Exact(bits)) => [bits, bits],
            (MatchKind::Lpm, MatchValue::Lpm { value, len }) => {
                self.check(*len <= width, || format!("prefix of {len} in {width} bits"));
                [value, value]
            }
            (MatchKind::Ternary, MatchValue::Ternary { value, mask }) => {
                let outside = value.words().iter().zip(mask.words()).any(|(value, mask)| value & !mask != 0);
                self.check(!outside, || format!("{value} has bits outside of its mask {mask}"));
                [value, mask]
            }
            (MatchKind::Range, MatchValue::Range { low, high }) => [low, high],
            (kind, MatchValue::Any) if kind != MatchKind::Exact => return,
            _ => return self.report(format!("{value:?} cannot match a key of kind {kind:?}")),
        };
        for bits in bits {
            self.same_width("match value and key", Some(bits.width()), Some(width));
        }
    }

    fn rest(&mut self) {
        let program = self.program;
        self.place = "errors".to_owned();
        let core = [
            "NoError",
            "PacketTooShort",
            "NoMatch",
            "StackOutOfBounds",
            "HeaderTooShort",
            "ParserTimeout",
            "ParserInvalidArgument",
        ];
        let first = program.errors.iter().take(core.len());
        self.check(first.eq(core), || format!("do not start with core.p4's: {}", core.join(", ")));
        for list in &program.field_lists {
            self.place = format!("field list {}", list.index);
            for &var in &list.vars {
                self.var(var);
            }
        }
        for header in &program.controller_headers {
            self.place = format!("controller header `{}`", header.cp.name);
            self.header_type(header.ty);
        }
        self.architecture();
    }

    /// Metadata that the switch sets, reads or carries along.
    fn architecture(&mut self) {
        let architecture = &self.program.architecture;
        self.place = "intrinsic metadata".to_owned();
        for var in architecture.intrinsic() {
            self.narrow_var(var);
        }
        let width = self.fixed_var(architecture.parser_error());
        self.check(width.is_none_or(|width| width >= 32), || {
            "the parser error has less than 32 bits".to_owned()
        });
        for bridge in architecture.bridges() {
            for &var in &bridge.vars {
                self.var(var);
            }
            for &header in &bridge.headers {
                self.header(header);
            }
        }
        if let Some(fault) = architecture.fault() {
            self.report(fault);
        }
    }

    /// A variable that the switch sets as one word.
    pub(super) fn narrow_var(&mut self, var: VarId) {
        if let Some(width) = self.fixed_var(var) {
            self.check(width <= 64, || format!("{var} is {width} bits wide, more than 64"));
        }
    }
}
