//! Counter, meter and register arrays, direct counters and meters, value sets.

use p4cc_ir::state_bytes::{COUNTER_CELL_BYTES, METER_CELL_BYTES};
use p4cc_ir::{
    Bits, CountUnit, CounterId, MatchValue, MeterId, ProfileId, Program, RegisterId, RegisterKind, TableId,
    ValueSetId, VarType, bits::words_for,
};
use p4cc_units::Time;

use super::meter::{MeterCell, MeterConfig, MeterCounts};
use super::validate::{past_end, unknown};
use super::{KeyShape, RegisterState, State, ValueSetState, validate};
use crate::control::{ControlError, CounterCell};

// The bound on a program's state is checked with these.
const _: () = assert!(
    size_of::<CounterCell>() as u64 <= COUNTER_CELL_BYTES
        && size_of::<MeterCell>() as u64 <= METER_CELL_BYTES
);

pub(super) fn counters(program: &Program) -> Vec<Vec<CounterCell>> {
    let size = |size: Option<u32>| size.unwrap_or(0) as usize;
    program.counters.iter().map(|counter| vec![CounterCell::default(); size(counter.size)]).collect()
}

pub(super) fn meters(program: &Program) -> Vec<Vec<MeterCell>> {
    let size = |size: Option<u32>| size.unwrap_or(0) as usize;
    program.meters.iter().map(|meter| vec![MeterCell::default(); size(meter.size)]).collect()
}

pub(super) fn registers(program: &Program) -> Vec<RegisterState> {
    let of = |register: &p4cc_ir::Register| {
        let words_per_cell = words_for(register.ty.width());
        // Of a direct register the default entry's cell is there from the start.
        let cells = if register.kind == RegisterKind::Direct { 1 } else { register.size as usize };
        let words = match &register.initial {
            Some(initial) => initial.words().repeat(cells),
            None => vec![0; words_per_cell * cells],
        };
        RegisterState { words_per_cell, ty: register.ty, words }
    };
    program.registers.iter().map(of).collect()
}

pub(super) fn value_sets(program: &Program) -> Vec<ValueSetState> {
    let of = |set: &p4cc_ir::ValueSet| ValueSetState {
        shape: KeyShape::unpacked(set.keys.iter().map(|key| &key.1)),
        members: Vec::new(),
        patterns: Vec::new(),
    };
    program.value_sets.iter().map(of).collect()
}

/// Counts one packet.
#[inline]
pub(super) fn count(cell: &mut CounterCell, packet_length: u32) {
    cell.packets = cell.packets.wrapping_add(1);
    cell.bytes = cell.bytes.wrapping_add(u64::from(packet_length));
}

/// What a meter counts of a packet.
pub(super) fn metered_units(unit: CountUnit, packet_length: u32) -> u64 {
    match unit {
        CountUnit::Packets => 1,
        CountUnit::Bytes | CountUnit::Both => u64::from(packet_length),
    }
}

fn exchange<T>(one: Option<&mut T>, other: Option<&mut T>, are_alike: impl Fn(&T, &T) -> bool) {
    if let (Some(one), Some(other)) = (one, other)
        && are_alike(one, other)
    {
        core::mem::swap(one, other);
    }
}

/// Exchanges of arrays with those of another state, whatever the number of their cells; arrays of other sizes
/// stay as they are.
impl State {
    /// The cells of a counter for those of another.
    pub fn exchange_counter(&mut self, id: CounterId, other: &mut State, of_other: CounterId) {
        let (one, other) = (self.counters.get_mut(id.index()), other.counters.get_mut(of_other.index()));
        exchange(one, other, |one, other| one.len() == other.len());
    }

    /// The cells of a meter, with what is left of their rates, for those of another.
    pub fn exchange_meter(&mut self, id: MeterId, other: &mut State, of_other: MeterId) {
        let (one, other) = (self.meters.get_mut(id.index()), other.meters.get_mut(of_other.index()));
        exchange(one, other, |one, other| one.len() == other.len());
    }

    /// The cells of a register for those of another of the same type.
    pub fn exchange_register(&mut self, id: RegisterId, other: &mut State, of_other: RegisterId) {
        let (one, other) = (self.registers.get_mut(id.index()), other.registers.get_mut(of_other.index()));
        exchange(one, other, |one, other| one.ty == other.ty && one.words.len() == other.words.len());
    }
}

impl State {
    /// Counts a packet in an array; past the end counts nothing.
    #[inline]
    pub(crate) fn count(&mut self, counter: CounterId, index: u64, packet_length: u32) {
        let cells = self.counters.get_mut(counter.index());
        if let Some(cell) = cells.and_then(|cells| cells.get_mut(usize::try_from(index).ok()?)) {
            count(cell, packet_length);
        }
    }

    /// The colour of a packet with the colour `before`; `None` past the end.
    pub(crate) fn meter_execute(
        &mut self,
        id: MeterId,
        index: u64,
        before: u64,
        length: u32,
        now: Time,
    ) -> Option<u64> {
        let unit = self.program.meters.get(id.index())?.unit;
        let cell = self.meters.get_mut(id.index())?.get_mut(usize::try_from(index).ok()?)?;
        Some(cell.execute(metered_units(unit, length), length, before, now))
    }

    pub(crate) fn register_words(&self, register: RegisterId, index: u64) -> Option<&[u64]> {
        let register = self.registers.get(register.index())?;
        let from = usize::try_from(index).ok()?.checked_mul(register.words_per_cell)?;
        register.words.get(from..from.checked_add(register.words_per_cell)?)
    }

    pub(crate) fn register_words_mut(&mut self, register: RegisterId, index: u64) -> Option<&mut [u64]> {
        let register = self.registers.get_mut(register.index())?;
        let from = usize::try_from(index).ok()?.checked_mul(register.words_per_cell)?;
        register.words.get_mut(from..from.checked_add(register.words_per_cell)?)
    }

    /// The lowest word of a register's cell.
    #[inline]
    pub(crate) fn register_word(&self, register: RegisterId, index: u64) -> Option<&u64> {
        let register = self.registers.get(register.index())?;
        register.words.get(usize::try_from(index).ok()?.checked_mul(register.words_per_cell)?)
    }

    /// The same to write to.
    #[inline]
    pub(crate) fn register_word_mut(&mut self, register: RegisterId, index: u64) -> Option<&mut u64> {
        let register = self.registers.get_mut(register.index())?;
        register.words.get_mut(usize::try_from(index).ok()?.checked_mul(register.words_per_cell)?)
    }

    fn counter_cells(&self, id: CounterId) -> Result<(&str, &[CounterCell]), ControlError> {
        let counter = self.program.counters.get(id.index()).ok_or_else(|| unknown("counter", id))?;
        Ok((&counter.cp.name, &self.counters[id.index()]))
    }

    /// Cells of a counter array.
    pub fn counter_size(&self, counter: CounterId) -> usize {
        self.counters.get(counter.index()).map_or(0, Vec::len)
    }

    /// Reads a counter cell.
    pub fn counter_read(&self, counter: CounterId, index: u32) -> Result<CounterCell, ControlError> {
        let (name, cells) = self.counter_cells(counter)?;
        let cell = cells.get(index as usize).copied();
        cell.ok_or_else(|| past_end("counter", name, index.into(), cells.len()))
    }

    /// Sets a counter cell.
    pub fn counter_write(
        &mut self,
        counter: CounterId,
        index: u32,
        value: CounterCell,
    ) -> Result<(), ControlError> {
        self.counter_read(counter, index)?;
        self.counters[counter.index()][index as usize] = value;
        Ok(())
    }

    /// Reads the direct counter of an entry, or of the default
    /// entry where no match values are given; so below.
    pub fn direct_counter_read(
        &self,
        table: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<CounterCell, ControlError> {
        self.direct(table, "counter", |table| table.counter.is_some())?;
        Ok(self.cells(table, matches, priority)?.counter)
    }

    /// Sets the direct counter of an entry.
    pub fn direct_counter_write(
        &mut self,
        table: TableId,
        matches: &[MatchValue],
        priority: u32,
        value: CounterCell,
    ) -> Result<(), ControlError> {
        self.direct(table, "counter", |table| table.counter.is_some())?;
        self.cells_mut(table, matches, priority)?.counter = value;
        Ok(())
    }

    /// Reads the configuration of an entry's direct meter; `None` when it has none.
    pub fn direct_meter_read(
        &self,
        table: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<Option<MeterConfig>, ControlError> {
        self.direct(table, "meter", |table| table.meter.is_some())?;
        Ok(self.cells(table, matches, priority)?.meter.config())
    }

    /// Configures an entry's direct meter; `None` makes everything green.
    pub fn direct_meter_write(
        &mut self,
        table: TableId,
        matches: &[MatchValue],
        priority: u32,
        config: Option<MeterConfig>,
    ) -> Result<(), ControlError> {
        self.direct(table, "meter", |table| table.meter.is_some())?;
        self.cells_mut(table, matches, priority)?.meter.configure(config);
        Ok(())
    }

    /// What an entry's direct meter coloured.
    pub fn direct_meter_counts(
        &self,
        table: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<MeterCounts, ControlError> {
        self.direct(table, "meter", |table| table.meter.is_some())?;
        Ok(self.cells(table, matches, priority)?.meter.counts())
    }

    /// Lets an entry's direct meter count from zero.
    pub fn direct_meter_reset_counts(
        &mut self,
        table: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<(), ControlError> {
        self.direct(table, "meter", |table| table.meter.is_some())?;
        self.cells_mut(table, matches, priority)?.meter.reset_counts();
        Ok(())
    }

    fn direct(
        &self,
        id: TableId,
        what: &str,
        has: impl Fn(&p4cc_ir::Table) -> bool,
    ) -> Result<(), ControlError> {
        let table = self.table_of(id)?;
        if has(table) {
            return Ok(());
        }
        Err(ControlError::InvalidArgument(format!("table `{}` has no direct {what}", table.cp.name)))
    }

    /// Cells of a meter array.
    pub fn meter_size(&self, meter: MeterId) -> usize {
        self.meters.get(meter.index()).map_or(0, Vec::len)
    }

    /// Reads a meter cell's configuration; `None` when it has none.
    pub fn meter_read(&self, id: MeterId, index: u32) -> Result<Option<MeterConfig>, ControlError> {
        self.meter_cell(id, index).map(MeterCell::config)
    }

    /// What a meter cell coloured.
    pub fn meter_counts(&self, id: MeterId, index: u32) -> Result<MeterCounts, ControlError> {
        self.meter_cell(id, index).map(MeterCell::counts)
    }

    /// Lets a meter cell count from zero.
    pub fn meter_reset_counts(&mut self, id: MeterId, index: u32) -> Result<(), ControlError> {
        self.meter_cell(id, index)?;
        self.meters[id.index()][index as usize].reset_counts();
        Ok(())
    }

    fn meter_cell(&self, id: MeterId, index: u32) -> Result<&MeterCell, ControlError> {
        let meter = self.program.meters.get(id.index()).ok_or_else(|| unknown("meter", id))?;
        let cells = &self.meters[id.index()];
        cells.get(index as usize).ok_or_else(|| past_end("meter", &meter.cp.name, index.into(), cells.len()))
    }

    /// Configures a meter cell; `None` makes everything green.
    pub fn meter_write(
        &mut self,
        meter: MeterId,
        index: u32,
        config: Option<MeterConfig>,
    ) -> Result<(), ControlError> {
        self.meter_read(meter, index)?;
        self.meters[meter.index()][index as usize].configure(config);
        Ok(())
    }

    /// Cells of a register array.
    pub fn register_size(&self, register: RegisterId) -> usize {
        self.program.registers.get(register.index()).map_or(0, |register| register.size as usize)
    }

    /// Reads a register cell.
    pub fn register_read(&self, id: RegisterId, index: u32) -> Result<Bits, ControlError> {
        let register = self.program.registers.get(id.index()).ok_or_else(|| unknown("register", id))?;
        let in_array = register.kind != RegisterKind::Direct;
        let words = self.register_words(id, index.into()).filter(|_| in_array);
        let past = || past_end("register", &register.cp.name, index.into(), register.size as usize);
        words.map(|words| Bits::from_words(register.ty.width(), words)).ok_or_else(past)
    }

    /// Sets a register cell; the value must have its width.
    pub fn register_write(&mut self, id: RegisterId, index: u32, value: &Bits) -> Result<(), ControlError> {
        let width = self.register_read(id, index)?.width();
        if value.width() != width {
            let name = &self.program.registers[id.index()].cp.name;
            return Err(ControlError::InvalidArgument(format!(
                "register `{name}` holds {width} bits, but {value} has {} bits",
                value.width()
            )));
        }
        if let Some(profile) = self.program.profiles.iter().position(|profile| profile.bits == Some(id)) {
            self.place_write(ProfileId::from_index(profile), index.into(), value.low_u64());
        } else if let Some(cell) = self.register_words_mut(id, index.into()) {
            cell.copy_from_slice(value.words());
        }
        Ok(())
    }

    /// Type of a register's cells.
    pub fn register_type(&self, register: RegisterId) -> Option<VarType> {
        self.registers.get(register.index()).map(|register| register.ty)
    }

    /// Members of a value set, in the order written.
    pub fn value_set_read(&self, id: ValueSetId) -> Result<&[Vec<MatchValue>], ControlError> {
        let set = self.value_sets.get(id.index()).ok_or_else(|| unknown("value set", id))?;
        Ok(&set.members)
    }

    /// Replaces the members of a value set.
    pub fn value_set_write(
        &mut self,
        id: ValueSetId,
        members: Vec<Vec<MatchValue>>,
    ) -> Result<(), ControlError> {
        let declared = self.program.value_sets.get(id.index()).ok_or_else(|| unknown("value set", id))?;
        let name = &declared.cp.name;
        if members.len() > declared.size as usize {
            return Err(ControlError::ResourceExhausted(format!(
                "value set `{name}` holds {} members, but the request gives {}",
                declared.size,
                members.len()
            )));
        }
        // The chip compares value sets under a mask, whatever the program says of their keys.
        let masks = self.program.architecture.chip().is_some();
        for member in &members {
            validate::value_set_member(name, &declared.keys, member, masks)?;
        }
        let set = &mut self.value_sets[id.index()];
        set.patterns = members.iter().map(|member| set.shape.pattern(member)).collect();
        set.members = members;
        Ok(())
    }
}
