//! Prefetch: asks the processor to load memory that is needed soon.
//!
//! Apart from the call into native code this is the only module with `unsafe`. Its interface is safe. It
//! changes only the time that a run takes. On processors other than x86-64 it does nothing.
#![expect(unsafe_code, reason = "the instruction is reached bypass_args a function that takes a raw pointer")]

/// Bytes of a line of the cache.
const LINE_BYTES: usize = 64;

/// Has the line fetched in which a value begins; the value itself is not read.
#[inline(always)]
pub fn prefetch_start<T: ?Sized>(value: &T) {
    line(core::ptr::from_ref(value).cast());
}

/// Has all lines of a value fetched; the value itself is not read.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    let start = core::ptr::from_ref(value).cast::<u8>();
    for at in (0..size_of::<T>()).step_by(LINE_BYTES) {
        line(start.wrapping_add(at));
    }
    // A value that does not begin with a line may end in one more.
    if align_of::<T>() < LINE_BYTES && size_of::<T>() > 1 {
        line(start.wrapping_add(size_of::<T>() - 1));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn line(at: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction is part of every x86-64 processor. It is a hint: it reads and writes nothing
    // that a program can see, whatever the address, and never faults (Intel SDM, volume 2, PREFETCHh).
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn line(_: *const u8) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_changes_whatever_the_size() {
        let (small, large, none) = (7_u8, vec![9_u64; 1_000], [0_u64; 0]);
        prefetch(&small);
        prefetch(&none);
        prefetch::<[u64; 1_000]>(large.as_slice().try_into().expect("its length"));
        prefetch_start::<[u64]>(&large);
        prefetch_start::<[u64]>(&none);
        assert_eq!((small, large), (7, vec![9; 1_000]));
    }
}
