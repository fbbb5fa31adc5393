//! HPCC's hop records and RCP's fair rate as a header carries them (docs/reference/wire-format.md,
//! extensions 1 and 6).

use p4cc_cc::HopRecord;
use p4cc_units::Rate;

use super::{IntRoom, IntTable};
use crate::wire::{Extension, ExtensionType};

/// What a sender puts into a packet for switches to fill: no hop yet, path 0, and room where it is reserved.
const EMPTY: [u8; SHIM_BYTES + FIXED_RECORDS * RECORD_BYTES] = [0; SHIM_BYTES + FIXED_RECORDS * RECORD_BYTES];
const FIXED_RECORDS: usize = 5;
const SHIM_BYTES: usize = 2;

/// What a sender puts into a packet for switches to lower.
pub(crate) const NO_FAIR_RATE: [u8; 4] = [0xff; 4];

/// The path's fair rate in bit/s; none where this is no stamp, or where no switch stamped.
#[inline]
pub(crate) fn fair_rate_bps(extension: &Extension<'_>) -> Option<f64> {
    let bytes = <[u8; 4]>::try_from(extension.bytes).ok();
    let kbps = bytes.filter(|bytes| extension.kind == ExtensionType::FAIR_RATE && *bytes != NO_FAIR_RATE);
    kbps.map(|bytes| f64::from(u32::from_be_bytes(bytes)) * 1e3)
}
const RECORD_BYTES: usize = 8;
pub(crate) const MAX_RECORDS: usize = 8;

/// The extension that a sender's packets leave with.
const fn empty(room: IntRoom) -> Extension<'static> {
    match room {
        IntRoom::Push => Extension { kind: ExtensionType::INT_HPCC, bytes: EMPTY.split_at(SHIM_BYTES).0 },
        IntRoom::HsFixed => Extension { kind: ExtensionType::INT_FIXED, bytes: &EMPTY },
    }
}

/// What a sender keeps of its [`IntTable`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntReader {
    /// The extension that its packets leave with.
    pub empty: Extension<'static>,
    /// Line rate of each code; a code that nobody gave a rate is
    /// a hop of rate 0, which no algorithm takes into account.
    line_rates: [Rate; RATE_CODES],
}

/// Codes of four bits.
const RATE_CODES: usize = 16;

impl IntReader {
    pub fn new(table: &IntTable) -> Self {
        let rate = |code: usize| table.rates_bps.get(&(code as u8)).copied().unwrap_or(0);
        Self { empty: empty(table.room), line_rates: core::array::from_fn(|code| Rate::from_bps(rate(code))) }
    }
}

/// What tells the path of this telemetry from others (docs/algorithms/int.md#path-id): hop count and
/// path id, or in reserved room the count alone, as the ns-3 simulator's header has no more.
#[inline]
pub(crate) fn path(extension: &Extension<'_>) -> u16 {
    let shim = extension.bytes.first_chunk().map_or(0, |shim| u16::from_be_bytes(*shim));
    match extension.kind {
        ExtensionType::INT_HPCC => shim,
        ExtensionType::INT_FIXED => shim & HOP_COUNT,
        _ => 0,
    }
}

/// Bits of the shim that count hops.
const HOP_COUNT: u16 = 0xf000;

/// The records in the order of hops, which it puts into `room`: the first
/// on the wire is the last switch's. None where this is no telemetry.
#[inline]
pub(crate) fn hops<'a>(
    extension: &Extension<'_>,
    reader: &IntReader,
    room: &'a mut [HopRecord; MAX_RECORDS],
) -> &'a [HopRecord] {
    let filled = match (extension.kind, extension.bytes.first()) {
        (ExtensionType::INT_HPCC, _) => MAX_RECORDS,
        // The first four bits count the hops; room that none has filled stands behind.
        (ExtensionType::INT_FIXED, Some(first)) => FIXED_RECORDS.min(usize::from(first >> 4)),
        _ => return &[],
    };
    let records = extension.bytes.get(SHIM_BYTES..).unwrap_or_default().as_chunks::<RECORD_BYTES>();
    if !records.1.is_empty() {
        return &[];
    }
    let filled = records.0.get(..filled).unwrap_or(records.0);
    let mut count = 0;
    for (place, record) in room.iter_mut().zip(filled.iter().rev()) {
        *place = read(u64::from_be_bytes(*record), reader);
        count += 1;
    }
    &room[..count]
}

/// Rate code 4 bits, timestamp 24, transmitted 20, queue 16.
#[inline]
fn read(record: u64, reader: &IntReader) -> HopRecord {
    HopRecord {
        line_rate: reader.line_rates[(record >> 60) as usize],
        timestamp: (record >> 36) as u32 & 0xff_ffff,
        tx: (record >> 16) as u32 & 0xf_ffff,
        queue: record as u32 & 0xffff,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hops(extension: &Extension<'_>, reader: &IntReader) -> Vec<HopRecord> {
        super::hops(extension, reader, &mut Default::default()).to_vec()
    }

    #[test]
    fn a_fair_rate_is_what_a_switch_lowered() {
        let stamp = |kind, bytes| fair_rate_bps(&Extension { kind, bytes });
        assert_eq!(stamp(ExtensionType::FAIR_RATE, &[0, 0, 3, 0xe8]), Some(1e6));
        assert_eq!(stamp(ExtensionType::FAIR_RATE, &NO_FAIR_RATE), None);
        assert_eq!(stamp(ExtensionType::FAIR_RATE, &[0; 5]), None);
        assert_eq!(stamp(ExtensionType::CNP, &[0, 0, 3, 0xe8]), None);
    }

    /// Two ways of three hops differ by the path id; reserved
    /// room tells ways of three hops from ways of five only.
    #[test]
    fn a_path_is_told_by_its_id_where_the_encoding_has_one() {
        let path = |kind, shim: [u8; 2]| super::path(&Extension { kind, bytes: &shim });
        let (one, other, longer) = ([0x3a, 0xbc], [0x3a, 0xbd], [0x5a, 0xbc]);
        for (kind, told) in [(ExtensionType::INT_HPCC, true), (ExtensionType::INT_FIXED, false)] {
            assert_eq!(path(kind, one) != path(kind, other), told, "{kind:?}");
            assert_ne!(path(kind, one), path(kind, longer), "{kind:?}");
        }
        assert_eq!(path(ExtensionType::CNP, one), 0);
        assert_eq!(super::path(&Extension { kind: ExtensionType::INT_HPCC, bytes: &[1] }), 0, "cut off");
    }

    #[test]
    fn the_first_record_on_the_wire_is_the_last_hop() {
        let table = IntTable {
            unit_shift: 2,
            tick_ns: 1,
            rates_bps: [(2, 100_000_000_000)].into(),
            room: IntRoom::Push,
        };
        let table = IntReader::new(&table);
        let mut bytes = vec![0x20, 0x03];
        bytes.extend(0x2abc_def1_2345_6789_u64.to_be_bytes());
        bytes.extend(0xf000_0010_0001_0002_u64.to_be_bytes());
        let found = hops(&Extension { kind: ExtensionType::INT_HPCC, bytes: &bytes }, &table);
        let [first, last] = found.as_slice() else { panic!("two hops: {found:?}") };
        assert_eq!((first.line_rate.as_bps(), first.timestamp, first.tx, first.queue), (0, 1, 1, 2));
        assert_eq!(last.line_rate.as_bps(), 100_000_000_000);
        assert_eq!((last.timestamp, last.tx, last.queue), (0xab_cdef, 0x1_2345, 0x6789));
        // In reserved room the hop count says how many are filled.
        let fixed = Extension { kind: ExtensionType::INT_FIXED, bytes: &bytes };
        assert_eq!(hops(&fixed, &table).as_slice(), found.as_slice());
        bytes[0] = 0x10;
        let fixed = Extension { kind: ExtensionType::INT_FIXED, bytes: &bytes };
        assert_eq!(hops(&fixed, &table).as_slice(), &found[1..], "the first on the wire");
        assert!(
            hops(&empty(IntRoom::HsFixed), &table).is_empty()
                && hops(&empty(IntRoom::Push), &table).is_empty()
        );
        // A cut record is no telemetry.
        bytes.pop();
        assert!(hops(&Extension { kind: ExtensionType::INT_HPCC, bytes: &bytes }, &table).is_empty());
    }
}
