//! Objects of TNA's tables and its counters and meters: cells of the entry that was hit, and lengths that are
//! adjusted.

use p4cc_ir::{Bits, CounterId, MatchValue, MeterId, ProfileId, Program, RegisterId, Table, TableId};
use p4cc_units::Time;

use super::State;
use super::arrays::{count, metered_units};
use super::places::PlaceBit;
use super::validate::unknown;
use crate::control::ControlError;

impl State {
    /// Whether direct counters and meters work where they are called, as on the chip; elsewhere each hit
    /// counts.
    pub(crate) fn counts_by_calls(program: &Program) -> bool {
        program.architecture.chip().is_some()
    }

    /// Whether actions work on cells of the entry that was hit.
    pub(crate) fn keeps_entry(program: &Program, table: &Table) -> bool {
        let by_calls = Self::counts_by_calls(program) && (table.counter.is_some() || table.meter.is_some());
        by_calls || table.register.is_some() || table.filter.is_some()
    }

    /// A write of a bit of a selector's memory. Where it is that of a member, its group chooses among those
    /// whose bits are set; past the end of the register it does nothing.
    pub(crate) fn place_write(&mut self, id: ProfileId, index: u64, bit: u64) {
        let register = self.program.profiles.get(id.index()).and_then(|profile| profile.bits);
        let cell = register.and_then(|register| self.register_word_mut(register, index));
        let Some((cell, place)) = cell.zip(u32::try_from(index).ok()) else { return };
        *cell = bit & 1;
        let down = &self.ports_down;
        if self.profiles[id.index()].set_place(place, bit & 1 == 1, |port| !down.contains(&port)) {
            self.refresh_defaults(|table| table.profile == Some(id));
        }
    }

    /// Writes all cells of a register.
    pub(crate) fn register_fill(&mut self, id: RegisterId, value: &[u64]) {
        if let Some(profile) = self.program.profiles.iter().position(|profile| profile.bits == Some(id)) {
            let bit = value.first().copied().unwrap_or(0);
            let cells = self.register_size(id) as u64;
            (0..cells).for_each(|at| self.place_write(ProfileId::from_index(profile), at, bit));
            return;
        }
        let Some(register) = self.registers.get_mut(id.index()) else { return };
        if register.words_per_cell == value.len() && !value.is_empty() {
            register.words.chunks_exact_mut(value.len()).for_each(|cell| cell.copy_from_slice(value));
        }
    }

    /// The bits of a selector's memory follow its groups.
    pub(super) fn write_places(&mut self, id: ProfileId, bits: &[PlaceBit]) {
        let Some(register) = self.program.profiles.get(id.index()).and_then(|profile| profile.bits) else {
            return;
        };
        for &(place, bit) in bits {
            if let Some(cell) = self.register_word_mut(register, place.into()) {
                *cell = bit.into();
            }
        }
    }

    /// Places of a group's members in the memory of a Tofino selector, in order: these are the indices that
    /// a `SelectorAction` is given.
    pub fn group_places(&self, id: ProfileId, group: u32) -> Vec<(u32, u32)> {
        self.profiles.get(id.index()).map(|profile| profile.places_of(group).collect()).unwrap_or_default()
    }

    /// Counts a packet in a cell of an array or of an entry.
    pub(crate) fn counter_add(
        &mut self,
        (counter, table): (CounterId, Option<TableId>),
        index: u64,
        length: u32,
    ) {
        let Some(table) = table else { return self.count(counter, index, length) };
        let table = self.tables.get_mut(table.index());
        let number = u32::try_from(index).ok();
        if let Some(cells) = table.zip(number).and_then(|(table, number)| table.cells_mut(number)) {
            count(&mut cells.counter, length);
        }
    }

    /// The colour of a packet by a cell of an array or of an entry; `None` past the end.
    pub(crate) fn meter_measure(
        &mut self,
        (id, table): (MeterId, Option<TableId>),
        index: u64,
        before: u64,
        length: u32,
        now: Time,
    ) -> Option<u64> {
        let unit = self.program.meters.get(id.index())?.unit;
        let length = length.saturating_add_signed(self.meter_adjust(id));
        let cell = match table {
            Some(table) => {
                &mut self.tables.get_mut(table.index())?.cells_mut(u32::try_from(index).ok()?)?.meter
            }
            None => self.meters.get_mut(id.index())?.get_mut(usize::try_from(index).ok()?)?,
        };
        Some(cell.execute(metered_units(unit, length), length, before, now))
    }

    /// Bytes that are added to what a meter meters of each packet.
    pub fn meter_adjust(&self, id: MeterId) -> i32 {
        self.meter_adjust.get(id.index()).copied().unwrap_or(0)
    }

    /// Sets them.
    ///
    /// # Errors
    /// The program has no such meter.
    pub fn set_meter_adjust(&mut self, id: MeterId, bytes: i32) -> Result<(), ControlError> {
        *self.meter_adjust.get_mut(id.index()).ok_or_else(|| unknown("meter", id))? = bytes;
        Ok(())
    }

    /// Bits of a table's keys that count, one mask for each key; nothing where all do.
    pub fn key_mask(&self, id: TableId) -> &[Bits] {
        self.key_masks.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// Sets which bits of a table's exact keys count, by a mask for each key; no masks make all count again.
    ///
    /// # Errors
    /// The table is unknown, has other keys or entries, or the masks do not fit its keys.
    pub fn set_key_mask(&mut self, id: TableId, masks: Vec<Bits>) -> Result<(), ControlError> {
        let table = self.table_of(id)?;
        let name = &table.cp.name;
        let widths: Vec<u32> =
            super::match_keys(table).map(|key| self.program.vars[key.var.index()].ty.width()).collect();
        let state = &self.tables[id.index()];
        if !state.is_exact() {
            return Err(ControlError::InvalidArgument(format!(
                "table `{name}` has keys that are not exact: its entries say which bits count"
            )));
        }
        if !masks.is_empty() && !masks.iter().map(Bits::width).eq(widths.iter().copied()) {
            return Err(ControlError::InvalidArgument(format!(
                "table `{name}` has {} keys of {widths:?} bits: give a mask of the same width for each",
                widths.len()
            )));
        }
        if state.len() > 0 {
            return Err(ControlError::FailedPrecondition(format!(
                "table `{name}` has entries: delete them before the mask of its keys changes"
            )));
        }
        let pattern: Vec<MatchValue> = masks
            .iter()
            .map(|mask| MatchValue::Ternary { value: Bits::zero(mask.width()), mask: mask.clone() })
            .collect();
        let shares = !super::table::TableState::counts(table);
        self.tables[id.index()].set_mask((!masks.is_empty()).then_some(&pattern), shares);
        self.key_masks[id.index()] = masks;
        Ok(())
    }

    /// Sets the cells that a new entry has in its table's own objects to what they start with.
    pub(super) fn start_direct_cells(&mut self, id: TableId, number: u32) {
        self.clear_direct_filter(id, number);
        let Some(register) = self.program.tables[id.index()].register else { return };
        let initial = self.initial_cell(register);
        self.set_direct_cell(register, number, initial.words());
    }

    fn initial_cell(&self, id: RegisterId) -> Bits {
        let register = &self.program.registers[id.index()];
        register.initial.clone().unwrap_or_else(|| Bits::zero(register.ty.width()))
    }

    fn set_direct_cell(&mut self, id: RegisterId, number: u32, value: &[u64]) {
        let register = &mut self.registers[id.index()];
        let from = number as usize * register.words_per_cell;
        let to = from + register.words_per_cell;
        if register.words.len() < to {
            register.words.resize(to, 0);
        }
        register.words[from..to].copy_from_slice(value);
    }

    fn direct_register(&self, id: TableId) -> Result<RegisterId, ControlError> {
        let table = self.table_of(id)?;
        table.register.ok_or_else(|| {
            let message = format!("table `{}` has no direct register", table.cp.name);
            ControlError::InvalidArgument(message)
        })
    }

    /// Reads the direct register of an entry, or of the default entry where no match values are given.
    ///
    /// # Errors
    /// There is no such entry, or the table has no direct register.
    pub fn direct_register_read(
        &self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
    ) -> Result<Bits, ControlError> {
        let register = self.direct_register(id)?;
        let number = self.any_place(id, matches, priority)?;
        let width = self.program.registers[register.index()].ty.width();
        let words = self.register_words(register, number.into());
        Ok(words.map_or_else(|| self.initial_cell(register), |words| Bits::from_words(width, words)))
    }

    /// Sets the direct register of an entry; the value must have its width.
    ///
    /// # Errors
    /// As for reading, or the value has another width.
    pub fn direct_register_write(
        &mut self,
        id: TableId,
        matches: &[MatchValue],
        priority: u32,
        value: &Bits,
    ) -> Result<(), ControlError> {
        let register = self.direct_register(id)?;
        let number = self.any_place(id, matches, priority)?;
        let declared = &self.program.registers[register.index()];
        if value.width() != declared.ty.width() {
            return Err(ControlError::InvalidArgument(format!(
                "register `{}` holds {} bits, but {value} has {} bits",
                declared.cp.name,
                declared.ty.width(),
                value.width()
            )));
        }
        self.set_direct_cell(register, number, value.words());
        Ok(())
    }

    /// Sets all cells of a register to what they start with.
    ///
    /// # Errors
    /// The program has no such register.
    pub fn register_clear(&mut self, id: RegisterId) -> Result<(), ControlError> {
        self.program.registers.get(id.index()).ok_or_else(|| unknown("register", id))?;
        let initial = self.initial_cell(id);
        self.register_fill(id, initial.words());
        Ok(())
    }
}
