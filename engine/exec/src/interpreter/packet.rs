//! Extract, advance, lookahead and emit in the interpreter.

use p4cc_ir::core_errors::{
    HEADER_TOO_SHORT, PACKET_TOO_SHORT, PARSER_INVALID_ARGUMENT, STACK_OUT_OF_BOUNDS,
};

use super::{Run, get};
use crate::bitplan::{read_bits, slices_of};
use crate::env::Trace;
use crate::frame_layout::FrameLocation;

impl<T: Trace> Run<'_, '_, '_, T> {
    /// Whether so many bits are left.
    #[inline]
    fn need(&self, bits: u64) -> Result<(), u32> {
        let left = (self.packet.len() * 8).saturating_sub(self.at);
        if bits <= left { Ok(()) } else { Err(PACKET_TOO_SHORT) }
    }

    #[inline]
    pub(crate) fn extract(&mut self, header: u32) -> Result<(), u32> {
        let header = &self.code.headers[header as usize];
        self.need(u64::from(header.plan.bits))?;
        header.plan.load(self.packet, self.at, self.slots);
        self.at += u64::from(header.plan.bits);
        self.slots[header.valid as usize] = 1;
        for &rival in &header.rivals {
            self.slots[rival as usize] = 0;
        }
        Ok(())
    }

    pub(crate) fn extract_var(&mut self, header: u32, varbit_bits: u64) -> Result<(), u32> {
        let plan = &self.code.headers[header as usize];
        let Some((varbit, rest)) = &plan.tail else {
            return self.extract(header);
        };
        if !varbit_bits.is_multiple_of(8) {
            return Err(PARSER_INVALID_ARGUMENT);
        }
        // The length is checked first, then the size of the field (P4-16 12.8.2).
        self.need(varbit_bits.saturating_add(u64::from(plan.plan.bits + rest.bits)))?;
        if varbit_bits > u64::from(varbit.width) {
            return Err(HEADER_TOO_SHORT);
        }
        self.extract(header)?;
        self.slots[varbit.slot as usize] = varbit_bits;
        let value = FrameLocation { slot: varbit.value(), width: varbit_bits as u32, varbit: false };
        let all = varbit.value() as usize..(varbit.slot + varbit.words()) as usize;
        self.slots[all].fill(0);
        self.read_place(value);
        self.at += varbit_bits;
        rest.load(self.packet, self.at, self.slots);
        self.at += u64::from(rest.bits);
        Ok(())
    }

    /// Reads the bits ahead into a value, without taking them.
    fn read_place(&mut self, place: FrameLocation) {
        let mut at = self.at;
        for (slot, width) in slices_of(place) {
            self.slots[slot as usize] = read_bits(self.packet, at, u32::from(width));
            at += u64::from(width);
        }
    }

    pub(crate) fn extract_next(
        &mut self,
        next: u32,
        elements: &[u32],
        varbit_bits: Option<u32>,
    ) -> Result<(), u32> {
        let index = get(self.slots, next);
        let header = usize::try_from(index).ok().and_then(|index| elements.get(index));
        let &header = header.ok_or(STACK_OUT_OF_BOUNDS)?;
        match varbit_bits {
            Some(bits) => self.extract_var(header, get(self.slots, bits))?,
            None => self.extract(header)?,
        }
        self.slots[next as usize] = index + 1;
        Ok(())
    }

    pub(crate) fn advance(&mut self, bits: u64) -> Result<(), u32> {
        self.need(bits)?;
        self.at += bits;
        Ok(())
    }

    pub(crate) fn lookahead(&mut self, width: u32, dst: u32) -> Result<(), u32> {
        self.need(u64::from(width))?;
        self.slots[dst as usize] = read_bits(self.packet, self.at, width);
        Ok(())
    }

    pub(crate) fn lookahead_wide(&mut self, dst: FrameLocation) -> Result<(), u32> {
        self.need(u64::from(dst.width))?;
        self.read_place(dst);
        Ok(())
    }

    #[inline]
    pub(crate) fn emit(&mut self, header: u32) {
        let header = &self.code.headers[header as usize];
        if get(self.slots, header.valid) == 0 {
            return;
        }
        header.plan.store(self.slots, &mut self.out);
        if let Some((varbit, rest)) = &header.tail {
            let length = get(self.slots, varbit.slot) as u32;
            let value = FrameLocation { slot: varbit.value(), width: length, varbit: false };
            for (slot, width) in slices_of(value) {
                self.out.put(get(self.slots, slot), u32::from(width));
            }
            rest.store(self.slots, &mut self.out);
        }
    }
}
