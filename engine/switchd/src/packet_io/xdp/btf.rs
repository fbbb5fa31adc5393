//! The kernel's own types (BTF), as far as it takes to find a function by its name.
//!
//! The form is that of the kernel's documentation, "BPF Type Format": a header, types one behind the other,
//! names.

/// First word of the format, as this machine writes numbers.
const MAGIC: u16 = 0xeb9f;
/// Bytes of a type before what its kind adds.
const TYPE_BYTES: usize = 12;
/// A function.
const FUNC: u32 = 12;

/// The number of a function, for programs that call it; none where there is no such
/// function, or these are no types.
pub(super) fn function(btf: &[u8], name: &str) -> Option<u32> {
    if u16::from_ne_bytes(*btf.first_chunk()?) != MAGIC {
        return None;
    }
    let header = |at: usize| number(btf, at).map(|value| value as usize);
    let base = header(4)?;
    let part = |offset: usize, bytes: usize| {
        let start = base.checked_add(offset)?;
        btf.get(start..start.checked_add(bytes)?)
    };
    let mut types = part(header(8)?, header(12)?)?;
    let names = part(header(16)?, header(20)?)?;
    // Type 0 is `void` and not written down.
    for id in 1.. {
        let (name_at, info) = (number(types, 0)? as usize, number(types, 4)?);
        let (kind, members) = (info >> 24 & 0x1f, (info & 0xffff) as usize);
        let is_it = || names.get(name_at..)?.strip_prefix(name.as_bytes())?.first().map(|end| *end == 0);
        if kind == FUNC && is_it() == Some(true) {
            return Some(id);
        }
        types = types.get(TYPE_BYTES + added(kind, members)..)?;
    }
    None
}

/// Bytes that a kind adds to its type.
fn added(kind: u32, members: usize) -> usize {
    match kind {
        // Integers, variables, tags of declarations.
        1 | 14 | 17 => 4,
        // Arrays.
        3 => 12,
        // Structures, unions, sections, enumerations of 64 bits.
        4 | 5 | 15 | 19 => 12 * members,
        // Enumerations, prototypes.
        6 | 13 => 8 * members,
        _ => 0,
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `struct { 2 members }`, a function of another name that begins so, the function `pass`.
    fn btf() -> Vec<u8> {
        let names = b"\0passing\0pass\0";
        let types: Vec<u32> =
            [&[0, 4 << 24 | 2, 8][..], &[7; 6], &[1, FUNC << 24, 0], &[9, FUNC << 24, 0]].concat();
        let types_bytes = 4 * types.len() as u32;
        let header = [24, 0, types_bytes, types_bytes, names.len() as u32];
        let mut bytes = [&MAGIC.to_ne_bytes()[..], &[1, 0]].concat();
        bytes.extend(header.iter().chain(&types).flat_map(|word| word.to_ne_bytes()));
        bytes.extend(names);
        bytes
    }

    #[test]
    fn functions_are_found_by_their_whole_name() {
        assert_eq!(function(&btf(), "pass"), Some(3));
        assert_eq!(function(&btf(), "passing"), Some(2));
        assert_eq!(function(&btf(), "pas"), None);
    }

    proptest! {
        #[test]
        fn what_is_cut_or_damaged_ends(at in 0_usize..200, value: u8, len in 0_usize..200) {
            let mut bytes = btf();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
            bytes.truncate(len);
            function(&bytes, "pass");
        }
    }
}
