//! TCP options (RFC9293 3.1, RFC7323, RFC2018): largest segment, window scale, SACK, timestamps.
//!
//! ```text
//! SYN:      MSS 4 | SACK-permitted 2, or two NOPs | timestamps 10 | NOP | window scale 3
//! later:    NOP NOP | timestamps 10 | NOP NOP | SACK 2 + 8 for each block
//! ```

use super::error::DecodeError;
use crate::SackBlocks;

/// Most bytes of options in a header (RFC9293 3.1).
pub const MAX_TCP_OPTIONS_LEN: usize = 40;
/// Most SACK blocks beside timestamps (RFC2018 3).
pub const MAX_TCP_SACK_BLOCKS: usize = 3;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// Largest shift (RFC7323 2.3): a larger one is taken as this.
const MAX_WINDOW_SCALE: u8 = 14;

/// The timestamp option (RFC7323 3.2).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the value that it answers; 0 in a first SYN.
    pub echo: u32,
}

/// The options of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TcpOptions {
    /// Largest payload that its sender takes; in SYN segments.
    pub mss: Option<u16>,
    /// Shift of the windows that its sender says from now on; in SYN segments.
    pub window_scale: Option<u8>,
    /// Its sender reads SACK blocks; in SYN segments.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// What arrived above the acknowledgement number, by sequence numbers.
    pub sack: SackBlocks,
}

impl TcpOptions {
    /// Timestamps alone, as most segments have them.
    #[inline]
    pub const fn timestamps(value: u32, echo: u32) -> Self {
        Self {
            mss: None,
            window_scale: None,
            sack_permitted: false,
            timestamps: Some(Timestamps { value, echo }),
            sack: SackBlocks::NONE,
        }
    }

    /// Bytes, padding included; always a multiple of four.
    #[inline]
    pub const fn len(&self) -> usize {
        let mss = if self.mss.is_some() { 4 } else { 0 };
        // Two bytes of padding stand before timestamps, or SACK-permitted in their place.
        let timestamps = match (self.timestamps, self.sack_permitted) {
            (Some(_), _) => 12,
            (None, true) => 4,
            (None, false) => 0,
        };
        let window_scale = if self.window_scale.is_some() { 4 } else { 0 };
        let sack = if self.sack.is_empty() { 0 } else { 4 + 8 * self.sack.as_slice().len() };
        mss + timestamps + window_scale + sack
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the options to a buffer of their length.
    #[inline]
    pub(super) fn write(&self, out: &mut [u8]) {
        match (self.timestamps, <&mut [u8; 12]>::try_from(&mut *out)) {
            (Some(stamps), Ok(out)) if !self.sack_permitted => write_timestamps(NOP, NOP, stamps, out),
            _ => self.write_all(out),
        }
    }

    #[cold]
    fn write_all(&self, out: &mut [u8]) {
        let mut rest = out;
        let mut put = |bytes: &[u8]| {
            let (place, behind) = core::mem::take(&mut rest).split_at_mut(bytes.len());
            place.copy_from_slice(bytes);
            rest = behind;
        };
        if let Some(mss) = self.mss {
            put(&[MSS, 4]);
            put(&mss.to_be_bytes());
        }
        let (first, second) = if self.sack_permitted { (SACK_PERMITTED, 2) } else { (NOP, NOP) };
        match self.timestamps {
            Some(stamps) => {
                let mut bytes = [0; 12];
                write_timestamps(first, second, stamps, &mut bytes);
                put(&bytes);
            }
            None if self.sack_permitted => put(&[NOP, NOP, first, second]),
            None => {}
        }
        if let Some(shift) = self.window_scale {
            put(&[NOP, WINDOW_SCALE, 3, shift]);
        }
        if !self.sack.is_empty() {
            // At most four blocks: 34 bytes.
            put(&[NOP, NOP, SACK, 2 + 8 * self.sack.as_slice().len() as u8]);
            for (start, end) in self.sack.as_slice() {
                put(&start.to_be_bytes());
                put(&end.to_be_bytes());
            }
        }
    }

    /// Reads the options of a header into none; kinds that it does not know are skipped.
    #[inline]
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        match bytes {
            &[NOP, NOP, TIMESTAMPS, 10, a, b, c, d, e, f, g, h] => {
                let (value, echo) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
                self.timestamps = Some(Timestamps { value, echo });
                Ok(())
            }
            _ => self.read_all(bytes),
        }
    }

    #[cold]
    fn read_all(&mut self, mut bytes: &[u8]) -> Result<(), DecodeError> {
        while let Some((&kind, rest)) = bytes.split_first() {
            match kind {
                END => break,
                NOP => bytes = rest,
                _ => {
                    let len = rest.first().copied().unwrap_or_default();
                    let bad = DecodeError::BadTcpOption { kind, len };
                    let content = bytes.get(2..usize::from(len)).ok_or(bad)?;
                    self.read_one(kind, content).ok_or(bad)?;
                    bytes = &bytes[usize::from(len)..];
                }
            }
        }
        Ok(())
    }

    /// Reads one option; none if its length is not its kind's.
    fn read_one(&mut self, kind: u8, content: &[u8]) -> Option<()> {
        let number = |bytes: &[u8]| bytes.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
        match (kind, content) {
            (MSS, &[high, low]) => self.mss = Some(u16::from_be_bytes([high, low])),
            (WINDOW_SCALE, &[shift]) => self.window_scale = Some(shift.min(MAX_WINDOW_SCALE)),
            (SACK_PERMITTED, []) => self.sack_permitted = true,
            (TIMESTAMPS, content) if content.len() == 8 => {
                self.timestamps = Some(Timestamps { value: number(content)?, echo: number(&content[4..])? });
            }
            (SACK, content) if content.len().is_multiple_of(8) && !content.is_empty() => {
                self.sack = SackBlocks::NONE;
                for block in content.chunks_exact(8) {
                    self.sack.push(number(block)?, number(&block[4..])?);
                }
            }
            (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _) => return None,
            _ => {}
        }
        Some(())
    }
}

#[inline]
fn write_timestamps(first: u8, second: u8, stamps: Timestamps, out: &mut [u8; 12]) {
    let ([a, b, c, d], [e, f, g, h]) = (stamps.value.to_be_bytes(), stamps.echo.to_be_bytes());
    *out = [first, second, TIMESTAMPS, 10, a, b, c, d, e, f, g, h];
}
