//! Parsers: a block per state, selects, value sets.

use super::Lowerer;
use p4cc_budget::Resource;
use p4cc_ir::limits::MAX_TABLE_SIZE;
use p4cc_ir::{
    BinOp, BlockId, ControlPlaneName, Inst, Keyset, MatchKind, Operand, Terminator, ValueSet, ValueSetId,
    VarType,
};
use p4cc_types::hir::{Expr, ExprKind, SelectCase, SelectKeyset, Target, Transition};
use p4cc_types::ids::{ParserId, SetId};
use p4cc_types::ty::Ty;
use p4cc_types::walk::has_call;

impl Lowerer<'_> {
    /// The states of a parser, entered from the open block; `accept` is how the parser ends well.
    pub(super) fn parser_body(&mut self, id: ParserId, accept: &Terminator) -> Option<()> {
        let parser = self.hir.parsers.get(id.index())?;
        self.charge(Resource::ParserStates, parser.states.len() as u64, parser.span)?;
        self.stmts(&parser.init)?;
        let states: Vec<BlockId> =
            parser.states.iter().map(|state| self.func.block(state.name.clone())).collect();
        self.func.end(Terminator::Jump(*states.get(parser.start)?));
        let (accepted, rejected) = (self.func.block(""), self.func.block(""));
        let to = |target: Target| match target {
            Target::State(at) => states.get(at).copied().unwrap_or(rejected),
            Target::Accept => accepted,
            Target::Reject => rejected,
        };
        for (state, block) in parser.states.iter().zip(&states) {
            self.func.open(*block);
            self.stmts(&state.body)?;
            self.end_sums()?;
            match &state.transition {
                Transition::Direct(target) => self.func.end(Terminator::Jump(to(*target))),
                Transition::Select { keys, cases } => {
                    self.within("select", state.span, |this| this.select(keys, cases, &to))?;
                }
            }
        }
        self.func.open(accepted);
        self.func.end(accept.clone());
        self.func.open(rejected);
        self.func.end(Terminator::Reject);
        Some(())
    }

    fn select(&mut self, keys: &[Expr], cases: &[SelectCase], to: &dyn Fn(Target) -> BlockId) -> Option<()> {
        let each = cases.iter().flat_map(|case| match &case.keyset {
            SelectKeyset::Each(each) => each.as_slice(),
            SelectKeyset::Set(_) => &[],
        });
        let all: Vec<&Expr> = keys.iter().chain(each).collect();
        let place = keys.first().map_or(self.place, |key| key.span);
        self.charge(Resource::Instructions, all.len() as u64, place)?;
        // What is evaluated later changes nothing, as a rule.
        let is_quiet = !all.iter().any(|expr| has_call(expr));
        let mut operands = Vec::with_capacity(keys.len());
        for (at, key) in keys.iter().enumerate() {
            if self.is_empty(&key.ty) {
                self.rvalue(key)?;
                continue;
            }
            let later = if is_quiet { &[][..] } else { all.get(at + 1..).unwrap_or_default() };
            self.charge(Resource::Steps, later.len() as u64, key.span)?;
            operands.push(self.operand_before(key, later)?);
        }
        let mut plain: Vec<(Vec<Keyset>, BlockId)> = Vec::new();
        for case in cases {
            match &case.keyset {
                SelectKeyset::Each(each) => {
                    // A key without bits matches whatever a case says of it.
                    let parts = each.iter().zip(keys).filter(|(_, key)| !self.is_empty(&key.ty));
                    let each: Vec<&Expr> = parts.map(|(part, _)| part).collect();
                    if each.iter().all(|part| part.kind == ExprKind::Any) {
                        let default = Some(to(case.target));
                        self.func.end(Terminator::Select { keys: operands, cases: plain, default });
                        return Some(());
                    }
                    if !each.iter().all(|part| self.is_const_keyset(part)) {
                        self.flush_cases(&operands, &mut plain);
                        let hit = self.run_keysets(&operands, &each)?;
                        let otherwise = self.func.block("");
                        let then = to(case.target);
                        self.func.end(Terminator::Branch { cond: hit, then, otherwise });
                        self.func.open(otherwise);
                        continue;
                    }
                    let keysets: Option<Vec<Keyset>> = each.iter().map(|part| self.keyset(part)).collect();
                    plain.push((keysets?, to(case.target)));
                }
                SelectKeyset::Set(set) => {
                    // Cases keep their order: those before the set first, those behind it after.
                    self.flush_cases(&operands, &mut plain);
                    let set = self.value_set(*set)?;
                    let dst = self.temp(VarType::Bool);
                    self.emit(Inst::ValueSetMatch { dst, set, keys: operands.clone() });
                    let otherwise = self.func.block("");
                    let cond = Operand::Var(dst);
                    self.func.end(Terminator::Branch { cond, then: to(case.target), otherwise });
                    self.func.open(otherwise);
                }
            }
        }
        self.func.end(Terminator::Select { keys: operands, cases: plain, default: None });
        Some(())
    }

    fn is_const_keyset(&self, part: &Expr) -> bool {
        let known = |expr: &Expr| !matches!(self.try_const(expr), Ok(None));
        match &part.kind {
            ExprKind::Any | ExprKind::ValueSet(_) => true,
            ExprKind::Mask(a, b) | ExprKind::Range(a, b) => known(a) && known(b),
            _ => known(part),
        }
    }

    /// Whether keys match keysets that are known at run time only.
    fn run_keysets(&mut self, keys: &[Operand], each: &[&Expr]) -> Option<Operand> {
        let mut all: Option<Operand> = None;
        for (key, part) in keys.iter().zip(each) {
            let Some(hit) = self.run_keyset(key, part)? else { continue };
            all = Some(match all {
                None => hit,
                Some(so_far) => self.binary_inst(VarType::Bool, BinOp::And, so_far, hit),
            });
        }
        all
    }

    /// Whether a key matches; `None` where anything does.
    fn run_keyset(&mut self, key: &Operand, part: &Expr) -> Option<Option<Operand>> {
        let ty = self.var_type(&part.ty)?;
        let signed = matches!(self.hir.underlying(&part.ty), Ty::Int(_));
        let key = key.clone();
        Some(Some(match &part.kind {
            ExprKind::Any => return Some(None),
            ExprKind::Mask(value, mask) => {
                let (value, mask) = (self.operand_before(value, &[mask])?, self.operand(mask)?);
                let wanted = self.binary_inst(ty, BinOp::And, value, mask.clone());
                let found = self.binary_inst(ty, BinOp::And, key, mask);
                self.binary_inst(VarType::Bool, BinOp::Eq, found, wanted)
            }
            ExprKind::Range(low, high) => {
                let (low, high) = (self.operand_before(low, &[high])?, self.operand(high)?);
                let above = self.binary_inst(VarType::Bool, BinOp::Le { signed }, low, key.clone());
                let below = self.binary_inst(VarType::Bool, BinOp::Le { signed }, key, high);
                self.binary_inst(VarType::Bool, BinOp::And, above, below)
            }
            ExprKind::ValueSet(_) => return self.shape_error(part.span),
            _ => {
                let value = self.operand(part)?;
                self.binary_inst(VarType::Bool, BinOp::Eq, key, value)
            }
        }))
    }

    fn flush_cases(&mut self, keys: &[Operand], cases: &mut Vec<(Vec<Keyset>, BlockId)>) {
        if cases.is_empty() {
            return;
        }
        let next = self.func.block("");
        let cases = std::mem::take(cases);
        self.func.end(Terminator::Select { keys: keys.to_vec(), cases, default: Some(next) });
        self.func.open(next);
    }

    fn keyset(&mut self, part: &Expr) -> Option<Keyset> {
        let width = self.width(&part.ty)?;
        let signed = matches!(self.hir.underlying(&part.ty), Ty::Int(_));
        match &part.kind {
            ExprKind::Any => Some(Keyset::Any),
            ExprKind::Mask(value, mask) => {
                let value = self.const_bits(value, width)?;
                let mask = self.const_bits(mask, width)?;
                Some(Keyset::Mask { value, mask })
            }
            ExprKind::Range(low, high) => {
                let low = self.const_bits(low, width)?;
                let high = self.const_bits(high, width)?;
                Some(Keyset::Range { low, high, signed })
            }
            ExprKind::ValueSet(_) => {
                self.not_supported(part.span, "a value set combined with other keysets");
                None
            }
            _ => {
                let value = self.const_bits(part, width)?;
                Some(Keyset::Mask { value, mask: super::table::ones(width) })
            }
        }
    }

    /// A value set of the current environment, made on first use.
    fn value_set(&mut self, id: SetId) -> Option<ValueSetId> {
        if let Some(made) = self.envs.get(self.env.0).and_then(|env| env.sets.get(&id)) {
            return Some(*made);
        }
        let source = self.hir.value_sets.get(id.index())?;
        let cp = self.cp_name(&source.name, &source.annotations);
        let size =
            self.bounded_number(&source.size, "size of the value set", 1, MAX_TABLE_SIZE, source.span)?;
        let mut keys = Vec::new();
        self.set_keys(&source.ty, (ControlPlaneName::default(), MatchKind::Exact), source.span, &mut keys)?;
        let made = ValueSetId::from_index(self.out.value_sets.len());
        self.out.value_sets.push(ValueSet { cp, size, keys });
        if let Some(env) = self.envs.get_mut(self.env.0) {
            env.sets.insert(id, made);
        }
        Some(made)
    }

    /// The values that a member of a value set has: those of
    /// a struct by their names, one inside another by both.
    fn set_keys(
        &mut self,
        ty: &Ty,
        (cp, kind): (ControlPlaneName, MatchKind),
        span: p4cc_syntax::Span,
        keys: &mut Vec<(ControlPlaneName, VarType, MatchKind)>,
    ) -> Option<()> {
        if let Some(scalar) = self.var_type(ty) {
            keys.push((cp, scalar, kind));
            return Some(());
        }
        match ty {
            Ty::Aggregate(_) => {
                for field in self.hir.fields(ty) {
                    let kind = self.set_match_kind(&field.annotations.texts, span)?;
                    let field_cp = Self::cp_name_in(&cp.name, &field.name, &field.annotations);
                    self.set_keys(&field.ty, (field_cp, kind), span, keys)?;
                }
                Some(())
            }
            Ty::Tuple(items) => {
                items.iter().try_for_each(|item| self.set_keys(item, (cp.clone(), kind), span, keys))
            }
            // What has no bits matches anyway.
            _ if self.is_empty(ty) => Some(()),
            _ => self.shape_error(span),
        }
    }

    /// `@match(kind)` of a value set's field.
    fn set_match_kind(&mut self, annotations: &[String], span: p4cc_syntax::Span) -> Option<MatchKind> {
        let written = annotations.iter().find_map(|text| text.strip_prefix("@match(")?.strip_suffix(')'));
        match written {
            None | Some("exact") => Some(MatchKind::Exact),
            Some("ternary") => Some(MatchKind::Ternary),
            Some("lpm") => Some(MatchKind::Lpm),
            Some("range") => Some(MatchKind::Range),
            Some("optional") => Some(MatchKind::Optional),
            Some(other) => {
                let message = format!("match kind `{other}` in a value set");
                self.not_supported(span, message);
                None
            }
        }
    }
}
