//! The senders of `host_agents/cc` as the Linux kernel runs them.
//!
//! The code is C, in `law`: eBPF programs include it, and this crate's tests compile it in user space and
//! compare each window with that of `p4cc-cc`. [`Params`] are the parameters in the layout of
//! `law/p4cc_types.h`, [`DelayParams`] those of `law/p4cc_delay.h`; the loader in `loader` writes
//! them into a program's map.

mod delay;
mod params;

use std::path::{Path, PathBuf};

pub use delay::{DELAY_FIELDS, DELAY_SENDERS, DelayParams};
pub use params::{FIELDS, Growth, Params, SENDERS, SLOW_STARTS};

/// The folder of the senders' headers.
#[must_use]
pub fn law_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("law")
}
