//! What calculations run over, and checksums.
//!
//! BMv2 leaves fields of invalid headers out of a calculation. Operands of the IR are always there, so that
//! code is made for each combination of valid headers, chosen when the packet is there.

use p4cc_budget::Resource;
use serde_json::Value;

use super::Reader;
use super::build::bit;
use super::json::{NOT_P4C, Res, fault, flag, get, items, number_to, of_type, opt, text, tuple, typed};
use super::names::{Calculation, named};
use super::term::{HeaderRef, Term, Want};
use p4cc_ir::verify::MAX_DATA_FIELDS;
use p4cc_ir::{BinOp, ExternCall, Func, HeaderId, Inst, Operand, Terminator, VarType, limits};

/// Most headers whose fields one calculation runs over: code doubles with each.
const MAX_HEADERS: usize = 6;

/// A part of what a calculation runs over.
struct Part {
    /// Must be valid for the part to count.
    header: Option<HeaderId>,
    operand: Operand,
}

impl<'j> Reader<'j> {
    /// Calls `act` with the data of a calculation and whether the payload follows, once for each combination
    /// of valid headers, each in a block of its own.
    pub(super) fn with_data(
        &mut self,
        input: &'j [Value],
        mut act: impl FnMut(&mut Self, Vec<Operand>, bool) -> Res<'j, ()>,
    ) -> Res<'j, ()> {
        let (mut parts, mut payload) = (Vec::new(), false);
        for item in input {
            payload |= self.part(item, &mut parts)?;
        }
        if let (Some(item), true) = (input.first(), parts.len() > MAX_DATA_FIELDS) {
            let cause = format!("a calculation over {} fields, more than {MAX_DATA_FIELDS}", parts.len());
            return fault(item, cause, "hash fewer fields");
        }
        let mut headers: Vec<HeaderId> = parts.iter().filter_map(|part| part.header).collect();
        headers.sort_unstable();
        headers.dedup();
        if let (Some(item), true) = (input.first(), headers.len() > MAX_HEADERS) {
            let cause = format!("a calculation over {} headers, more than {MAX_HEADERS}", headers.len());
            return fault(item, cause, "copy the fields to metadata first");
        }
        let join = self.b.block("");
        for combination in 0..1_u32 << headers.len() {
            // The first combination has all headers valid.
            let valid = |header: &HeaderId| {
                headers.iter().position(|known| known == header).is_some_and(|at| combination >> at & 1 == 0)
            };
            let next = self.b.block("");
            for header in &headers {
                let is_valid = self.is_valid(*header);
                let here = self.b.block("");
                let (then, otherwise) = if valid(header) { (here, next) } else { (next, here) };
                self.b.end(Terminator::Branch { cond: is_valid, then, otherwise });
                self.b.go_to(here);
            }
            let counted = parts.iter().filter(|part| part.header.as_ref().is_none_or(valid));
            let data: Vec<_> = counted.map(|part| part.operand.clone()).collect();
            if !self.b.charge(Resource::Instructions, data.len()) {
                return Ok(());
            }
            act(self, data, payload)?;
            self.b.end(Terminator::Jump(join));
            self.b.go_to(next);
        }
        self.b.fall_into(join);
        Ok(())
    }

    /// Adds what an item of a calculation stands for; whether it is the payload.
    fn part(&mut self, item: &'j Value, parts: &mut Vec<Part>) -> Res<'j, bool> {
        if text(get(item, "type")?)? == "payload" {
            return Ok(true);
        }
        match typed(item)? {
            ("field", pair) => {
                let [header, _] = tuple::<2>(pair)?;
                let header = self.header_ref(header)?;
                let header = self.fixed_header(pair, &header)?;
                let operand = match self.term(item, Want::Exact)? {
                    Term::Varbit(var) => Operand::Var(var),
                    Term::Data(data) => data.operand,
                    _ => return fault(item, "this is not a field", NOT_P4C),
                };
                parts.push(Part { header, operand });
            }
            ("hexstr", value) => {
                let bits = get(item, "bitwidth")?;
                let width = number_to(bits, limits::MAX_WIDTH)?;
                if width > 0 {
                    let operand = Operand::Const(self.number(value)?.low(width));
                    parts.push(Part { header: None, operand });
                }
            }
            ("header", name) => {
                let header = HeaderRef::Named(text(name)?);
                let (slot, header) =
                    (self.shapes.slot(name, text(name)?)?, self.fixed_header(name, &header)?);
                let of = |var| Part { header, operand: Operand::Var(var) };
                parts.extend(slot.vars.iter().copied().map(of));
            }
            (other, _) => {
                let cause = format!("`{other:.40}` cannot stand in a calculation");
                return fault(item, cause, NOT_P4C);
            }
        }
        Ok(false)
    }

    /// The function that verifies checksums, or the one that updates them.
    pub(super) fn checksums(&mut self, verify: bool) -> Func {
        self.b.begin();
        if verify && let Some(error) = self.metadata_var(&["standard_metadata.parser_error"]) {
            self.errors_to_format(error);
        }
        let root = self.root;
        for item in items(root, "checksums").unwrap_or_default() {
            self.b.next_statement();
            if let Err(fault) = self.checksum(item, verify) {
                self.faults.report(fault);
            }
            if self.faults.is_over(item) {
                break;
            }
        }
        self.b.finish(if verify { "verify_checksum" } else { "compute_checksum" }, &Terminator::Return)
    }

    fn checksum(&mut self, item: &'j Value, verify: bool) -> Res<'j, ()> {
        let wanted = opt(item, if verify { "verify" } else { "update" }).map_or(Ok(true), flag)?;
        if !wanted {
            return Ok(());
        }
        if let Some(ty) = opt(item, "type")
            && text(ty)? != "generic"
        {
            return fault(ty, "only checksums of type `generic` are known", NOT_P4C);
        }
        let name = get(item, "calculation")?;
        let Calculation { algorithm, input } = named(name, "calculation", &self.objects.calculations)?;
        let target = get(item, "target")?;
        let [header, field] = tuple::<2>(target)?;
        let slot = self.shapes.slot(header, text(header)?)?;
        let checksum = slot.vars[self.shapes.field_index(field, slot.type_name, text(field)?)?];
        if matches!(self.b.ty(checksum), VarType::Varbit(_)) {
            return fault(target, "a checksum in a varbit", NOT_P4C);
        }
        let mut cond = opt(item, "if_cond").map_or(Ok(bit(true)), |cond| self.condition(cond))?;
        if verify && let Some(header) = slot.header {
            // BMv2 does not verify a checksum in an invalid header.
            let valid = self.is_valid(header);
            cond = self.b.binary(BinOp::And, 1, cond, valid);
        }
        self.with_data(input, |reader, data, with_payload| {
            let cond = cond.clone();
            let call = if verify {
                let checksum = Operand::Var(checksum);
                ExternCall::VerifyChecksum { cond, data, checksum, algorithm, with_payload }
            } else {
                ExternCall::UpdateChecksum { cond, data, checksum, algorithm, with_payload }
            };
            reader.b.emit(Inst::Extern(call));
            Ok(())
        })
    }

    /// The deparser: its primitives, then its headers in order.
    pub(super) fn deparser(&mut self) -> Func {
        self.b.begin();
        self.in_deparser = true;
        let root = self.root;
        match items(root, "deparsers") {
            Ok([deparser]) => {
                if let Err(fault) = self.deparse(deparser) {
                    self.faults.report(fault);
                }
            }
            Ok(all) => self.faults.complain(
                root,
                format!("{} deparsers where v1model has one", all.len()),
                "read programs of p4c's v1model back end",
            ),
            Err(fault) => self.faults.report(fault),
        }
        self.in_deparser = false;
        self.b.finish("deparser", &Terminator::Return)
    }

    pub(super) fn deparse(&mut self, deparser: &'j Value) -> Res<'j, ()> {
        for primitive in items(deparser, "primitives")? {
            self.primitive(primitive)?;
            self.faults.check_budget(primitive)?;
        }
        for name in items(deparser, "order")? {
            self.faults.check_budget(name)?;
            let named = text(name)?;
            if let Some(&stack) = self.shapes.stacks.get(named) {
                for header in self.program.stacks[stack.index()].elements.clone() {
                    self.b.emit(Inst::Emit { header });
                }
                continue;
            }
            match self.fixed_header(name, &HeaderRef::Named(named))? {
                Some(header) => self.b.emit(Inst::Emit { header }),
                None => return fault(name, "metadata cannot be sent", NOT_P4C),
            }
        }
        Ok(())
    }

    /// A field reference as p4c writes it outside of expressions: `[header, field]`.
    pub(super) fn plain_field(&mut self, pair: &'j Value) -> Res<'j, p4cc_ir::VarId> {
        let [header, field] = tuple::<2>(pair)?;
        let slot = self.shapes.slot(header, text(header)?)?;
        let index = self.shapes.field_index(field, slot.type_name, text(field)?)?;
        Ok(slot.vars[index])
    }

    /// Inputs of a selector, as variables.
    pub(super) fn selector_vars(&mut self, input: &'j [Value]) -> Res<'j, Vec<p4cc_ir::VarId>> {
        input.iter().map(|field| self.plain_field(of_type(field, "field")?)).collect()
    }
}
