//! Control flow: jumps, selects, ends of functions, and calls of actions.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use cranelift_frontend::Switch;
use p4cc_ir::ActionId;
use p4cc_ir::core_errors::NO_MATCH;

use super::{Behind, OutOfFrame, Shared, TranslateResult, Translator, field};
use crate::native::helpers::Name;
use crate::native::storage::Storage;
use crate::op::{Code, Op, SelectOp};
use crate::state::Head;

/// Actions that comparisons separate; more need a table of jumps.
const MAX_COMPARED_ACTIONS: usize = 4;

/// Addresses that an operation may go on at, besides the next one.
pub(crate) fn targets(code: &Code, op: &Op) -> Vec<u32> {
    match op {
        Op::Jump { to } => vec![*to],
        Op::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        Op::Select(index) => {
            let select = &code.selects[*index as usize];
            select.cases.iter().map(|case| case.2).chain(select.default).collect()
        }
        Op::SelectSlow(index) => {
            let select = &code.slow_selects[*index as usize];
            select.cases.iter().map(|case| case.1).chain(select.default).collect()
        }
        _ => Vec::new(),
    }
}

impl Translator<'_, '_> {
    /// Translates the end of a block.
    pub(super) fn end(
        &mut self,
        op: Op,
        blocks: &BTreeMap<u32, Block>,
        back: Option<Block>,
    ) -> TranslateResult {
        match op {
            Op::Jump { to } => {
                let to = self.edge(blocks, to)?;
                self.jump(to, &[]);
            }
            Op::Branch { cond, then, otherwise } => {
                let value = self.read(cond)?;
                if let Some(value) = self.constant(value) {
                    let to = self.edge(blocks, if value == 0 { otherwise } else { then })?;
                    self.jump(to, &[]);
                    return Ok(());
                }
                let then = self.supposing(cond, 1, |t| t.edge(blocks, then))?;
                let otherwise = self.supposing(cond, 0, |t| t.edge(blocks, otherwise))?;
                self.branch(cond, value, [then, otherwise]);
            }
            Op::Select(index) => self.select(index, blocks)?,
            Op::SelectSlow(index) => self.select_slow(index, blocks)?,
            Op::Return => {
                let to = match back {
                    Some(back) => back,
                    None if self.ends.is_some() => self.ended(),
                    None => self.returned,
                };
                self.jump(to, &[]);
            }
            Op::Reject => {
                self.jump(self.reject_known, &[]);
            }
            // What is left: exit and accept.
            _ => {
                let done = self.ended();
                self.jump(done, &[]);
            }
        }
        Ok(())
    }

    /// The block to jump to at the end of a function.
    fn ended(&mut self) -> Block {
        let Some(ends) = &mut self.ends else { return self.done };
        let block = self.b.create_block();
        ends.push(block);
        block
    }

    /// The block in which what stands at an address is to be found.
    pub(super) fn place(&mut self, blocks: &BTreeMap<u32, Block>, to: u32) -> TranslateResult<Block> {
        if !self.is_acyclic || self.summary.counted {
            return blocks.get(&to).copied().ok_or(OutOfFrame);
        }
        let to = self.follow(to);
        match self.shared.code.ops.get(to as usize) {
            Some(Op::Accept) if self.ends.is_some() => return Ok(self.ended()),
            Some(Op::Return) if self.ends.is_some() && self.is_outermost => return Ok(self.ended()),
            _ => {}
        }
        blocks.get(&to).copied().ok_or(OutOfFrame)
    }

    /// The block to jump to for an address: one that counts the jump first where jumps are counted.
    fn edge(&mut self, blocks: &BTreeMap<u32, Block>, to: u32) -> TranslateResult<Block> {
        let block = self.place(blocks, to)?;
        if !self.summary.counted {
            return Ok(block);
        }
        let edge = self.b.create_block();
        self.edges.push((edge, block));
        Ok(edge)
    }

    /// Writes the blocks that count jumps.
    pub(super) fn fill_edges(&mut self) {
        for (edge, to) in core::mem::take(&mut self.edges) {
            self.switch_to(edge);
            let steps = self.load_field(field!(steps));
            let left = self.b.ins().iadd_imm(steps, -1);
            let next = self.b.create_block();
            self.brif(steps, next, &[], self.limit, &[]);
            self.switch_to(next);
            self.store_field(field!(steps), left);
            self.jump(to, &[]);
        }
    }

    /// The block that rejects because nothing matched.
    fn no_match(&mut self) -> Block {
        let b = &mut self.b;
        *self.no_match.get_or_insert_with(|| b.create_block())
    }

    /// Writes that block, if something jumps to it.
    pub(super) fn fill_no_match(&mut self) {
        if let Some(block) = self.no_match {
            self.b.set_cold_block(block);
            self.switch_to(block);
            let error = self.iconst(NO_MATCH.into());
            self.jump(self.reject, &[error.into()]);
        }
    }

    fn otherwise(&mut self, default: Option<u32>, blocks: &BTreeMap<u32, Block>) -> TranslateResult<Block> {
        match default {
            Some(to) => self.edge(blocks, to),
            None => Ok(self.no_match()),
        }
    }

    fn select(&mut self, index: u32, blocks: &BTreeMap<u32, Block>) -> TranslateResult {
        let select = &self.shared.code.selects[index as usize];
        if let Some(to) = self.selected(index) {
            let to = self.edge(blocks, to)?;
            self.jump(to, &[]);
            return Ok(());
        }
        let known = self.known_keys(select);
        let key = self.select_key(select)?;
        let all =
            select.key_masks().map(|(slot, key)| self.key_bits(slot, key)).fold(0, |all, key| all | key);
        let otherwise = self.otherwise(select.default, blocks)?;
        // What can still match, less what is known of it.
        let is_possible = |case: &&(u64, u64, u32)| (case.0 ^ known.value) & case.1 & known.mask == 0;
        let cases: Vec<_> = select.cases.iter().filter(is_possible).collect();
        let edges: Vec<Block> = cases.iter().map(|_| self.b.create_block()).collect();
        let first = cases.first().map_or(0, |case| case.1 & !known.mask);
        if cases.iter().all(|case| case.1 & !known.mask == first) && first != 0 {
            let is_whole = all & !known.mask & !first == 0;
            let key = if is_whole { key } else { self.b.ins().band_imm(key, first as i64) };
            let mut switch = Switch::new();
            for (case, &edge) in cases.iter().zip(&edges) {
                // The first of two equal cases counts.
                let value = u128::from(case.0 & !known.mask);
                if !switch.entries().contains_key(&value) {
                    switch.set_entry(value, edge);
                }
            }
            self.switch(switch, key, otherwise);
        } else {
            for (case, &edge) in cases.iter().zip(&edges) {
                let masked = self.b.ins().band_imm(key, (case.1 & !known.mask) as i64);
                let value = case.0 & !known.mask;
                let hit = self.b.ins().icmp_imm(IntCC::Equal, masked, value as i64);
                let next = self.b.create_block();
                self.brif(hit, edge, &[], next, &[]);
                self.switch_to(next);
            }
            self.jump(otherwise, &[]);
        }
        for (&&(value, mask, to), edge) in cases.iter().zip(edges) {
            if !self.known.is_entered(edge) {
                continue;
            }
            self.switch_to(edge);
            for (slot, key) in select.key_masks() {
                let key = self.key_bits(slot, key);
                if mask & key == key {
                    self.learn(slot, (value & key) >> key.trailing_zeros());
                }
            }
            let to = self.edge(blocks, to)?;
            self.jump(to, &[]);
        }
        Ok(())
    }

    /// The bits that a key has among all of a select: of the first one the places above it are given as well.
    fn key_bits(&self, slot: u32, key: u64) -> u64 {
        match self.shared.plan.storage_of(slot) {
            Storage::PackedBits(part) => (part.bits() >> part.low) << key.trailing_zeros(),
            _ => key,
        }
    }

    /// The keys of a select that are not known side by side;
    /// those that stand so in a chunk are taken at once.
    fn select_key(&mut self, select: &SelectOp) -> TranslateResult<Value> {
        let mut parts: Vec<(Storage, u32, u8)> = Vec::new();
        for &(slot, shift) in &select.keys {
            if self.known(slot).is_some() {
                continue;
            }
            let storage_of = self.shared.plan.storage_of(slot);
            if let (Some((Storage::PackedBits(high), _, above)), Storage::PackedBits(low)) =
                (parts.last_mut(), storage_of)
                && high.chunk == low.chunk
                && high.low == low.low + low.width
                && *above == shift + low.width
            {
                (high.low, high.width, *above) = (low.low, high.width + low.width, shift);
            } else {
                parts.push((storage_of, slot, shift));
            }
        }
        let mut key = None;
        for (storage_of, slot, shift) in parts {
            let part = if let Storage::PackedBits(part) = storage_of {
                self.read_packed(part)
            } else {
                self.read(slot)?
            };
            let part = if shift == 0 { part } else { self.b.ins().ishl_imm(part, i64::from(shift)) };
            key = Some(key.map_or(part, |key| self.b.ins().bor(key, part)));
        }
        Ok(key.unwrap_or_else(|| self.iconst(0)))
    }

    fn select_slow(&mut self, index: u32, blocks: &BTreeMap<u32, Block>) -> TranslateResult {
        let select = &self.shared.code.slow_selects[index as usize];
        let target = self.call_index(Name::SelectSlow, index);
        let no_match = self.no_match();
        let mut switch = Switch::new();
        for to in select.cases.iter().map(|case| case.1).chain(select.default) {
            if !switch.entries().contains_key(&to.into()) {
                let edge = self.edge(blocks, to)?;
                switch.set_entry(to.into(), edge);
            }
        }
        self.switch(switch, target, no_match);
        Ok(())
    }

    /// Runs an action whose parameters are set, then goes on at `next`; ends the current block.
    pub(super) fn run_action(&mut self, action: ActionId, next: Block) -> TranslateResult {
        let Some(&function) = self.callees.actions.get(&action) else {
            let body = self.shared.program.actions[action.index()].body;
            return self.body(body.index(), Some(next));
        };
        let call = self.b.ins().call(function, &[self.context, self.slots]);
        let end = self.b.inst_results(call)[0];
        self.after_action(end, next);
        Ok(())
    }

    /// An action that is a function of its own returns how it ended, and so do the functions around it.
    fn after_action(&mut self, end: Value, next: Block) {
        let mut switch = Switch::new();
        switch.set_entry(super::RETURN.into(), next);
        switch.set_entry(super::STEP_LIMIT.into(), self.limit);
        self.switch(switch, end, self.done);
    }

    /// Actions that a table may run, each in a block of its own.
    pub(super) fn run_chosen(
        &mut self,
        table: u32,
        chosen: Value,
        args: Value,
        behind: Behind<'_>,
        next: Block,
    ) -> TranslateResult {
        let Shared { code, program, plan } = *self.shared;
        // An action that does nothing needs no block.
        let idle = |action: &ActionId| {
            let body = program.actions[action.index()].body.index();
            matches!(code.ops.get(code.addresses_of(body)), Some([Op::Return, ..]))
        };
        let candidates: Vec<ActionId> =
            plan.candidates(table).iter().copied().filter(|action| !idle(action)).collect();
        debug_assert!(candidates.iter().all(|action| u64::from(action.0) != Head::NO_ACTION));
        let starts: Vec<Block> = candidates.iter().map(|_| self.b.create_block()).collect();
        if candidates.len() <= MAX_COMPARED_ACTIONS {
            for (action, &start) in candidates.iter().zip(&starts) {
                let other = self.b.create_block();
                let is_this = self.b.ins().icmp_imm(IntCC::Equal, chosen, i64::from(action.0));
                self.brif(is_this, start, &[], other, &[]);
                self.switch_to(other);
            }
            self.jump(next, &[]);
        } else {
            let mut switch = Switch::new();
            for (action, &start) in candidates.iter().zip(&starts) {
                switch.set_entry(action.0.into(), start);
            }
            self.switch(switch, chosen, next);
        }
        for (action, start) in candidates.into_iter().zip(starts) {
            self.switch_to(start);
            self.take_args(action, args)?;
            let back = self.b.create_block();
            self.run_action(action, back)?;
            if self.known.is_entered(back) {
                self.switch_to(back);
                let to = self.place_behind(behind)?.unwrap_or(next);
                self.jump(to, &[]);
            }
        }
        Ok(())
    }

    /// Where jumps from the address behind a table lead, by what is known here; none if it is no jump.
    fn place_behind(&mut self, behind: Behind<'_>) -> TranslateResult<Option<Block>> {
        let Behind { blocks, address } = behind;
        let follows = self.is_acyclic && !self.summary.counted && self.follow(address) != address;
        if follows { self.place(blocks, address).map(Some) } else { Ok(None) }
    }
}
