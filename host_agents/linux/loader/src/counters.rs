//! Counters of programs: per-processor arrays, summed.

use std::path::Path;

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde_json::{Map, Value};

use crate::error::{Context, Outcome};

/// The sums of a pinned array of counters, by the names of its places.
pub fn read(pin: &Path, names: &[&str]) -> Outcome<Map<String, Value>> {
    let map = MapHandle::from_pinned_path(pin).context(pin.display())?;
    let mut sums = Map::new();
    for (place, name) in (0_u32..).zip(names) {
        let values = map.lookup_percpu(&place.to_ne_bytes(), MapFlags::ANY).context(pin.display())?;
        let sum: u64 = values.iter().flatten().map(|value| word(value, 0)).sum();
        sums.insert((*name).to_owned(), sum.into());
    }
    Ok(sums)
}

/// The 64-bit word at `at` of a value; 0 beyond its end.
pub fn word(value: &[u8], at: usize) -> u64 {
    value.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
}
