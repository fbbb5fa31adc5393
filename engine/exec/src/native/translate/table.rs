//! Applying tables.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlags, Value, types};
use p4cc_ir::ActionId;

use super::{Made, Translator, bytes_flags, field};
use crate::native::helpers::Name;
use crate::op::NO_SLOT;
use crate::state::Head;

impl Translator<'_, '_> {
    pub(super) fn apply(&mut self, table: u32, hit: u32, action: u32) -> Made {
        let plan = &self.shared.code.tables[table as usize];
        let key = self.key(table)?;
        let id = self.iconst(table.into());
        let found = match (key, &plan.selector) {
            (Some(key), None) => self.call(Name::ApplyWord, &[id, key]),
            (None, None) => self.call(Name::ApplyWords, &[id]),
            (Some(key), Some(_)) => self.call(Name::ApplySelector, &[id, key]),
            (None, Some(_)) => self.call(Name::ApplySelectorWords, &[id]),
        };
        let found = if plan.selector.is_some() { self.choose_member(table, found)? } else { found };
        if let Some(slot) = plan.color {
            let color = self.load_field(field!(color));
            self.write(slot, color)?;
        }
        if hit != NO_SLOT {
            let bit = self.b.ins().ushr_imm(found, i64::from(Head::HIT_BIT));
            let bit = self.b.ins().band_imm(bit, 1);
            self.write(hit, bit)?;
        }
        if action != NO_SLOT {
            let position = self.b.ins().ushr_imm(found, i64::from(Head::POSITION_SHIFT));
            self.write(action, position)?;
        }
        let chosen = self.b.ins().band_imm(found, Head::NO_ACTION as i64);
        let next = self.b.create_block();
        self.run_chosen(table, chosen, next)?;
        self.b.switch_to_block(next);
        Ok(())
    }

    /// Chooses the member of a group by its hash, where a group was found.
    fn choose_member(&mut self, table: u32, found: Value) -> Made<Value> {
        let Some((algorithm, data)) = &self.shared.code.tables[table as usize].selector else {
            return Ok(found);
        };
        let [group, next] = core::array::from_fn(|_| self.b.create_block());
        let chosen = self.b.append_block_param(next, types::I64);
        let is_group = self.b.ins().band_imm(found, 1 << Head::LIST_BIT);
        self.b.ins().brif(is_group, group, &[], next, &[found.into()]);
        self.b.switch_to_block(group);
        let id = self.iconst(table.into());
        self.hash(*algorithm, data, |t, hash| {
            let member = match hash {
                Some(hash) => t.call(Name::ApplyList, &[id, hash]),
                None => t.call(Name::ApplyListSlow, &[id]),
            };
            t.b.ins().jump(next, &[member.into()]);
            Ok(())
        })?;
        self.b.switch_to_block(next);
        Ok(chosen)
    }

    /// Packs the key: the value of a key of one word; any other goes to its place in the frame.
    fn key(&mut self, table: u32) -> Made<Option<Value>> {
        let plan = &self.shared.code.tables[table as usize];
        let mut words: Vec<Option<Value>> = vec![None; plan.words as usize];
        for &(from, word, shift) in &plan.parts {
            let part = self.read(from)?;
            let part = self.b.ins().ishl_imm(part, i64::from(shift));
            let packed = &mut words[word as usize];
            *packed = Some(match *packed {
                Some(low) => self.b.ins().bor(low, part),
                None => part,
            });
        }
        if let [Some(key)] = words[..] {
            return Ok(Some(key));
        }
        for (slot, word) in (self.shared.code.layout.key..).zip(words) {
            if let Some(word) = word {
                self.write(slot, word)?;
            }
        }
        Ok(None)
    }

    /// Sets the parameters of an action that a table chose.
    pub(super) fn take_args(&mut self, action: ActionId, next: Block) -> Made {
        let params = &self.shared.code.actions[action.index()].param_words;
        if params.is_empty() {
            return Ok(());
        }
        let (args, count) = (self.load_field(field!(args)), self.load_field(field!(arg_count)));
        let wanted = self.b.create_block();
        let enough = self.b.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, count, params.len() as i64);
        // Entries are checked when they are written, so there always are.
        self.b.ins().brif(enough, wanted, &[], next, &[]);
        self.b.switch_to_block(wanted);
        for (i, &slot) in params.iter().enumerate() {
            let flags: MemFlags = bytes_flags();
            let value = self.b.ins().load(types::I64, flags, args, i as i32 * 8);
            self.write(slot, value)?;
        }
        Ok(())
    }
}
