//! Access to the switch's state from inline code: counters, registers, and the data of table lookups.
//!
//! Only ingress and egress pipelines access the state inline, since they always run with the state of their
//! own program. Other functions call helpers.

use core::mem::{offset_of, size_of};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlags, Value, types};

use super::{TranslateResult, Translator, field};
use crate::control::CounterCell;
use crate::env::Env;
use crate::native::context::VectorLayout;
use crate::native::helpers::Name;
use crate::state::offsets::{self, VectorOffset, WordOffset};

/// Data found behind a comparison: it stays valid while a pipeline runs, but is read there only.
pub(super) fn lasting_flags() -> MemFlags {
    MemFlags::trusted().with_readonly()
}

/// What is always there and lasts while native code runs: fields of the context, the state's lists of
/// structures, the vectors of those. It may be read anywhere.
pub(super) fn given_flags() -> MemFlags {
    lasting_flags().with_can_move()
}

/// Counters, registers, rows.
pub(super) fn state_flags() -> MemFlags {
    MemFlags::trusted()
}

/// Pointer and length of a vector.
#[derive(Clone, Copy)]
pub(super) struct Vector {
    pub pointer: Value,
    pub len: Value,
}

impl Translator<'_, '_> {
    fn env_pointer(&mut self) -> Value {
        self.load_given(field!(env))
    }

    /// The structures that a list of the state consists of.
    pub(super) fn structures(&mut self, list: usize) -> Option<Value> {
        let pointer = self.vectors?.pointer;
        let env = self.env_pointer();
        let state = offset_of!(Env<'static>, state) as i32;
        let state = self.b.ins().load(types::I64, given_flags(), env, state);
        Some(self.b.ins().load(types::I64, given_flags(), state, (list + pointer) as i32))
    }

    /// The vector of the structure of some number.
    pub(super) fn vector(&mut self, place: VectorOffset, number: u32) -> Option<Vector> {
        let places = self.vectors?;
        let at = i32::try_from(number as usize * place.stride + place.vector).ok()?;
        let structures = self.structures(place.list)?;
        Some(self.vector_by(given_flags(), places, structures, at))
    }

    /// A word of the structure of some number.
    pub(super) fn state_word(&mut self, place: WordOffset, number: u32) -> Option<Value> {
        let at = i32::try_from(number as usize * place.stride + place.word).ok()?;
        let structures = self.structures(place.list)?;
        Some(self.b.ins().load(types::I64, given_flags(), structures, at))
    }

    /// The vector at some place that is known to be one here.
    pub(super) fn vector_at(&mut self, places: VectorLayout, base: Value, at: i32) -> Vector {
        self.vector_by(lasting_flags(), places, base, at)
    }

    fn vector_by(&mut self, flags: MemFlags, places: VectorLayout, base: Value, at: i32) -> Vector {
        let [pointer, len] = [places.pointer, places.len]
            .map(|part| self.b.ins().load(types::I64, flags, base, at + part as i32));
        Vector { pointer, len }
    }

    /// The address of an element, unless there is none: goes to `otherwise` then.
    pub(super) fn element(&mut self, vector: Vector, index: Value, bytes: usize, otherwise: Block) -> Value {
        let there = self.b.create_block();
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThan, index, vector.len);
        self.brif(fits, there, &[], otherwise, &[]);
        self.switch_to(there);
        let offset = if bytes.is_power_of_two() {
            self.b.ins().ishl_imm(index, i64::from(bytes.trailing_zeros()))
        } else {
            self.b.ins().imul_imm(index, bytes as i64)
        };
        self.b.ins().iadd(vector.pointer, offset)
    }

    /// Counts the packet in an array; past the end counts nothing.
    pub(super) fn count(&mut self, counter: u32, index: Value) {
        let Some(cells) = self.vector(offsets::COUNTER, counter) else {
            let counter = self.iconst(counter.into());
            self.call(Name::Count, &[counter, index]);
            return;
        };
        let next = self.b.create_block();
        let cell = self.element(cells, index, size_of::<CounterCell>(), next);
        let length = offset_of!(Env<'static>, packet_length) as i32;
        let env = self.env_pointer();
        let length = self.b.ins().load(types::I32, given_flags(), env, length);
        let length = self.b.ins().uextend(types::I64, length);
        let one = self.iconst(1);
        let sums = [(offset_of!(CounterCell, packets), one), (offset_of!(CounterCell, bytes), length)];
        for (at, more) in sums {
            let sum = self.b.ins().load(types::I64, state_flags(), cell, at as i32);
            let sum = self.b.ins().iadd(sum, more);
            self.b.ins().store(state_flags(), sum, cell, at as i32);
        }
        self.jump(next, &[]);
        self.switch_to(next);
    }

    /// Whether inline code works with the cells of a register.
    fn cells(&mut self, register: u32) -> Option<Vector> {
        let width = self.shared.program.registers.get(register as usize)?.ty.width();
        if width > 64 || width == 0 {
            return None;
        }
        self.vector(offsets::REGISTER, register)
    }

    /// The cell of a register; zero past the end.
    pub(super) fn register_read(&mut self, register: u32, index: Value) -> Value {
        let Some(cells) = self.cells(register) else {
            let register = self.iconst(register.into());
            return self.call(Name::RegisterRead, &[register, index]);
        };
        let [past, next] = core::array::from_fn(|_| self.b.create_block());
        let value = self.b.append_block_param(next, types::I64);
        let cell = self.element(cells, index, size_of::<u64>(), past);
        let word = self.b.ins().load(types::I64, state_flags(), cell, 0);
        self.jump(next, &[word.into()]);
        self.switch_to(past);
        let zero = self.iconst(0);
        self.jump(next, &[zero.into()]);
        self.switch_to(next);
        value
    }

    /// Writes the cell of a register, if there is one.
    pub(super) fn register_write(&mut self, register: u32, index: Value, value: Value) -> TranslateResult {
        let Some(cells) = self.cells(register) else {
            let register = self.iconst(register.into());
            self.call(Name::RegisterWrite, &[register, index, value]);
            return Ok(());
        };
        let next = self.b.create_block();
        let cell = self.element(cells, index, size_of::<u64>(), next);
        self.b.ins().store(state_flags(), value, cell, 0);
        self.jump(next, &[]);
        self.switch_to(next);
        Ok(())
    }
}
