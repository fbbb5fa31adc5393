//! Table lookups as inline code.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use p4cc_ir::{ActionId, TableId};

use super::state::{Vector, given_flags, lasting_flags, state_flags};
use super::{Behind, TranslateResult, Translator, field};
use crate::frame_layout::NO_SLOT;
use crate::native::helpers::Name;
use crate::state::{Head, State, offsets};

/// What applying a table came to.
#[derive(Clone, Copy)]
struct Found {
    /// A [`Head`].
    head: Value,
    /// Where the arguments of its action stand, as many as any action of the table takes.
    args: Value,
}

impl Translator<'_, '_> {
    /// Applies a table and goes on at `next`, or at the block that
    /// it is known of an action to lead to from the address behind.
    pub(super) fn apply(
        &mut self,
        table: u32,
        [hit, action]: [u32; 2],
        behind: Behind<'_>,
        next: Block,
    ) -> TranslateResult {
        let plan = &self.shared.code.tables[table as usize];
        let key = self.key(table)?;
        let found = match (key, &plan.selector) {
            (Some(key), None) => self.apply_word(table, key),
            (None, None) => self.apply_by(Name::ApplyWords, table, &[]),
            (Some(key), Some(_)) => self.apply_selector(Name::ApplySelector, table, &[key])?,
            (None, Some(_)) => self.apply_selector(Name::ApplySelectorWords, table, &[])?,
        };
        let Found { head, args } = found;
        if let Some(slot) = plan.color {
            let color = self.load_field(field!(color));
            self.write(slot, color)?;
        }
        if let Some(slot) = plan.entry {
            let entry = self.load_field(field!(entry));
            self.write(slot, entry)?;
        }
        if hit != NO_SLOT {
            let bit = self.b.ins().ushr_imm(head, i64::from(Head::HIT_BIT));
            let bit = self.b.ins().band_imm(bit, 1);
            self.write(hit, bit)?;
        }
        if action != NO_SLOT {
            let position = self.b.ins().ushr_imm(head, i64::from(Head::POSITION_SHIFT));
            self.write(action, position)?;
        }
        let chosen = self.b.ins().band_imm(head, Head::NO_ACTION as i64);
        self.run_chosen(table, chosen, args, behind, next)
    }

    /// Applies a table by a helper.
    fn apply_by(&mut self, helper: Name, table: u32, args: &[Value]) -> Found {
        let table_id = self.iconst(table.into());
        let args: Vec<Value> = [table_id].iter().chain(args).copied().collect();
        let head = self.call(helper, &args);
        self.handed_over(table, head)
    }

    /// What a helper found: entries are checked when they are written, so there are always as many arguments
    /// as any action takes; if there were not, none would run.
    fn handed_over(&mut self, table: u32, head: Value) -> Found {
        let actions = self.shared.plan.candidates(table).iter();
        let wanted = actions.map(|action| self.shared.code.actions[action.index()].param_words.len()).max();
        let wanted = wanted.unwrap_or(0) as i64;
        let (args, count) = (self.load_field(field!(args)), self.load_field(field!(arg_count)));
        if wanted == 0 {
            return Found { head, args };
        }
        let none = self.b.ins().bor_imm(head, Head::NO_ACTION as i64);
        let enough = self.b.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, count, wanted);
        Found { head: self.b.ins().select(enough, head, none), args }
    }

    /// A block that takes what was found.
    fn found_block(&mut self) -> (Block, Found) {
        let block = self.b.create_block();
        let [head, args] = core::array::from_fn(|_| self.b.append_block_param(block, types::I64));
        (block, Found { head, args })
    }

    /// Goes on with what was found.
    fn hand_over(&mut self, next: Block, Found { head, args }: Found) {
        self.jump(next, &[head.into(), args.into()]);
    }

    /// Applies a table with a key of one word: where rows
    /// stand by key, or by the first tuple of prefixes, here.
    fn apply_word(&mut self, table: u32, key: Value) -> Found {
        let stride = State::plain_stride(self.shared.program, TableId(table));
        let (Some(stride), Some(words)) = (stride, self.vector(offsets::TABLE_ROWS, table)) else {
            return self.apply_by(Name::ApplyWord, table, &[key]);
        };
        let other = self.b.create_block();
        let (next, found) = self.found_block();
        self.b.set_cold_block(other);
        let row = if State::is_longest(self.shared.program, TableId(table)) {
            self.longest(table, key, other)
        } else {
            self.dense(table, key, other)
        };
        if let Some(row) = row {
            let run = self.row(words, row, stride, other);
            self.hand_over(next, run);
        } else {
            self.jump(other, &[]);
        }
        self.switch_to(other);
        let called = self.apply_by(Name::ApplyWord, table, &[key]);
        self.hand_over(next, called);
        self.switch_to(next);
        found
    }

    /// The row of a key in a dense index; goes to `otherwise` where the index is another.
    fn dense(&mut self, table: u32, key: Value, otherwise: Block) -> Option<Value> {
        let (tag, rows) = (self.index_tag(table)?, self.vector(offsets::DENSE, table)?);
        let at = i32::try_from(table as usize * offsets::DENSE.stride + offsets::DENSE_FIRST).ok()?;
        let structures = self.structures(offsets::DENSE.list)?;
        self.require_tag(tag, offsets::DENSE_TAG, otherwise);
        // Below the first key it wraps, and is past all rows.
        let first = self.b.ins().load(types::I64, lasting_flags(), structures, at);
        let key = self.b.ins().isub(key, first);
        let [past, taken] = core::array::from_fn(|_| self.b.create_block());
        let row = self.b.append_block_param(taken, types::I64);
        let place = self.element(rows, key, size_of::<u32>(), past);
        let stored = self.b.ins().uload32(state_flags(), place, 0);
        self.jump(taken, &[stored.into()]);
        self.switch_to(past);
        let default = self.iconst(0);
        self.jump(taken, &[default.into()]);
        self.switch_to(taken);
        Some(row)
    }

    /// The row of a key that the tuple of the longest prefixes holds where
    /// it is looked for first; goes to `otherwise` where the search goes on.
    fn longest(&mut self, table: u32, key: Value, otherwise: Block) -> Option<Value> {
        let (places, tag) = (self.vectors?, self.index_tag(table)?);
        let at = i32::try_from(table as usize * offsets::DENSE.stride + offsets::TUPLES).ok()?;
        let structures = self.structures(offsets::DENSE.list)?;
        self.require_tag(tag, offsets::TUPLES_TAG, otherwise);
        let tuples = self.b.ins().load(types::I64, lasting_flags(), structures, at);
        let [mask, seed, tuple] = [offsets::FIRST_MASK, offsets::FIRST_SEED, offsets::FIRST_TUPLE]
            .map(|at| self.b.ins().load(types::I64, lasting_flags(), tuples, at as i32));
        let key = self.b.ins().band(key, mask);
        let (hash, multiplier) = (self.b.ins().bxor(seed, key), self.iconst(offsets::MULTIPLIER));
        let (low, high) = (self.b.ins().imul(hash, multiplier), self.b.ins().umulhi(hash, multiplier));
        let hash = self.b.ins().bxor(low, high);
        let mask = self.b.ins().load(types::I64, lasting_flags(), tuples, offsets::HASH_MASK as i32);
        let at = self.b.ins().band(hash, mask);
        let slots = self.vector_at(places, tuples, offsets::HASH_SLOTS as i32);
        Some(self.probe(slots, mask, at, tuple, key, otherwise))
    }

    /// Looks for a key of a space in a hash, from a place on; goes to `otherwise` at a place that is free.
    fn probe(
        &mut self,
        slots: Vector,
        mask: Value,
        first: Value,
        space: Value,
        key: Value,
        otherwise: Block,
    ) -> Value {
        let [look, other, further, found] = core::array::from_fn(|_| self.b.create_block());
        let at = self.b.append_block_param(look, types::I64);
        self.jump(look, &[first.into()]);
        self.switch_to_open(look);
        // Tag and key: both are there if the key is. The mask is
        // a number of places less one, so this does not wrap.
        let word = self.b.ins().ishl_imm(at, 1);
        let word = self.b.ins().bor_imm(word, 1);
        let slot = self.element(slots, word, size_of::<u64>(), otherwise);
        let [stored, tag] = [0, -8].map(|at| self.b.ins().load(types::I64, lasting_flags(), slot, at));
        let row = self.b.ins().band_imm(tag, i64::from(u32::MAX));
        let stored_space = self.b.ins().ushr_imm(tag, i64::from(offsets::SPACE_SHIFT));
        let (spaces, keys) = (self.b.ins().bxor(stored_space, space), self.b.ins().bxor(stored, key));
        let differs = self.b.ins().bor(spaces, keys);
        self.brif(differs, other, &[], found, &[]);
        // Some places are always free, so this ends.
        self.switch_to(other);
        self.brif(tag, further, &[], otherwise, &[]);
        self.switch_to(further);
        let next = self.b.ins().iadd_imm(at, 1);
        let next = self.b.ins().band(next, mask);
        self.jump(look, &[next.into()]);
        self.b.seal_block(look);
        self.switch_to(found);
        // A free place has no row, and may look like the key of zeros.
        let there = self.b.create_block();
        self.brif(row, there, &[], otherwise, &[]);
        self.switch_to(there);
        row
    }

    /// Goes to `otherwise` unless an index is of some kind.
    fn require_tag(&mut self, tag: Value, wanted: u64, otherwise: Block) {
        let there = self.b.create_block();
        let is_wanted = self.b.ins().icmp_imm(IntCC::Equal, tag, wanted as i64);
        self.brif(is_wanted, there, &[], otherwise, &[]);
        self.switch_to(there);
    }

    /// Which kind of index a table has.
    fn index_tag(&mut self, table: u32) -> Option<Value> {
        let place = offsets::DENSE;
        let at = i32::try_from(table as usize * place.stride + offsets::INDEX_TAG).ok()?;
        let structures = self.structures(place.list)?;
        Some(self.b.ins().load(types::I64, given_flags(), structures, at))
    }

    /// A row of `stride` words; goes to `otherwise` where there is none.
    fn row(&mut self, words: Vector, row: Value, stride: usize, otherwise: Block) -> Found {
        let at = self.b.ins().imul_imm(row, stride as i64);
        // A row number has 32 bits, so this does not wrap; all words are there if the last one is.
        let last = self.b.ins().iadd_imm(at, stride as i64 - 1);
        let there = self.b.create_block();
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThan, last, words.len);
        self.brif(fits, there, &[], otherwise, &[]);
        self.switch_to(there);
        let at = self.b.ins().ishl_imm(at, 3);
        let place = self.b.ins().iadd(words.pointer, at);
        let head = self.b.ins().load(types::I64, state_flags(), place, 0);
        Found { head, args: self.b.ins().iadd_imm(place, 8) }
    }

    /// Applies a table with a selector: where a list was found, its member is chosen by the hash.
    fn apply_selector(&mut self, helper: Name, table: u32, key: &[Value]) -> TranslateResult<Found> {
        let Some((algorithm, data)) = &self.shared.code.tables[table as usize].selector else {
            return Ok(self.apply_by(helper, table, key));
        };
        let id = self.iconst(table.into());
        let args: Vec<Value> = [id].iter().chain(key).copied().collect();
        let [list, single, other] = core::array::from_fn(|_| self.b.create_block());
        let [pointer, len, row] = core::array::from_fn(|_| self.b.append_block_param(list, types::I64));
        let (next, found) = self.found_block();
        let is_done = match *key {
            [key] => self.member_list(table, key, list, next, other).is_some(),
            _ => false,
        };
        if is_done {
            self.b.set_cold_block(other);
        } else {
            self.jump(other, &[]);
        }
        self.switch_to(other);
        let head = self.call(helper, &args);
        let is_list = self.b.ins().band_imm(head, 1 << Head::LIST_BIT);
        let choices = [field!(choices), field!(choice_count), field!(row)].map(|at| self.load_field(at));
        self.brif(is_list, list, &choices.map(Into::into), single, &[]);
        self.switch_to(single);
        let run = self.handed_over(table, head);
        self.hand_over(next, run);
        self.switch_to(list);
        self.hash(*algorithm, data, |t, hash| {
            if let Some(hash) = hash {
                t.choose(table, hash, Vector { pointer, len }, row, next);
            } else {
                t.store_field(field!(row), row);
                let head = t.call(Name::ApplyListSlow, &[id]);
                let run = t.handed_over(table, head);
                t.hand_over(next, run);
            }
            Ok(())
        })?;
        self.switch_to(next);
        Ok(found)
    }

    /// Looks a longest prefix up: goes to `list` with the rows to choose among,
    /// to the first of the blocks with what else was found, to the second where a
    /// helper is to do it. None where that is always so; the block goes on then.
    fn member_list(&mut self, table: u32, key: Value, list: Block, next: Block, other: Block) -> Option<()> {
        let program = self.shared.program;
        let (profile, member_stride, _) = State::member_stride(program, TableId(table))?;
        let stride = State::stride(program, TableId(table))?;
        if !State::is_longest(program, TableId(table)) {
            return None;
        }
        let places = self.vectors?;
        let (words, lists) =
            (self.vector(offsets::TABLE_ROWS, table)?, self.vector(offsets::LISTS, profile.0)?);
        let row = self.longest(table, key, other)?;
        let run = self.row(words, row, stride, other);
        let [listed, single, member, plain] = core::array::from_fn(|_| self.b.create_block());
        let members = self.vector(offsets::PROFILE_ROWS, profile.0)?;
        let is_list = self.b.ins().band_imm(run.head, 1 << Head::LIST_BIT);
        self.brif(is_list, listed, &[], single, &[]);
        self.switch_to(listed);
        let number = self.b.ins().band_imm(run.head, i64::from(u32::MAX));
        let chosen = self.element(lists, number, offsets::LIST_BYTES, other);
        let Vector { pointer, len } = self.vector_at(places, chosen, 0);
        self.jump(list, &[pointer.into(), len.into(), row.into()]);
        self.switch_to(single);
        let is_member = self.b.ins().band_imm(run.head, 1 << Head::MEMBER_BIT);
        self.brif(is_member, member, &[], plain, &[]);
        self.switch_to(member);
        let number = self.b.ins().band_imm(run.head, i64::from(u32::MAX));
        let chosen = self.row(members, number, member_stride, other);
        self.hand_over(next, chosen);
        self.switch_to(plain);
        self.b.set_cold_block(plain);
        self.hand_over(next, run);
        Some(())
    }

    /// Chooses the member of the list of a row by a hash, and goes on at `next`.
    fn choose(&mut self, table: u32, hash: Value, choices: Vector, listed: Value, next: Block) {
        let members = State::member_stride(self.shared.program, TableId(table));
        let by_helper = self.b.create_block();
        if let Some((profile, stride, mask)) = members
            && let Some(words) = self.vector(offsets::PROFILE_ROWS, profile.0)
        {
            self.b.set_cold_block(by_helper);
            let [divided, masked, chosen] = core::array::from_fn(|_| self.b.create_block());
            self.b.set_cold_block(divided);
            let index = self.b.append_block_param(chosen, types::I64);
            let hash = self.b.ins().band_imm(hash, mask as i64);
            let below = self.b.ins().iadd_imm(choices.len, -1);
            // All lengths but powers of two, and zero, share a bit with the number before them.
            let shared = self.b.ins().band(choices.len, below);
            self.brif(shared, divided, &[], masked, &[]);
            self.switch_to(divided);
            let rest = self.b.ins().urem(hash, choices.len);
            self.jump(chosen, &[rest.into()]);
            self.switch_to(masked);
            let rest = self.b.ins().band(hash, below);
            self.jump(chosen, &[rest.into()]);
            self.switch_to(chosen);
            let place = self.element(choices, index, size_of::<u32>(), by_helper);
            let row = self.b.ins().uload32(state_flags(), place, 0);
            let run = self.row(words, row, stride, by_helper);
            self.hand_over(next, run);
        } else {
            self.jump(by_helper, &[]);
        }
        self.switch_to(by_helper);
        self.store_field(field!(row), listed);
        let called = self.apply_by(Name::ApplyList, table, &[hash]);
        self.hand_over(next, called);
    }

    /// Packs the key: the value of a key of one word; any other goes to its place in the frame.
    fn key(&mut self, table: u32) -> TranslateResult<Option<Value>> {
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
    pub(super) fn take_args(&mut self, action: ActionId, args: Value) -> TranslateResult {
        let params = &self.shared.code.actions[action.index()].param_words;
        for (i, &slot) in params.iter().enumerate() {
            let value = self.b.ins().load(types::I64, state_flags(), args, i as i32 * 8);
            self.write(slot, value)?;
        }
        Ok(())
    }
}
