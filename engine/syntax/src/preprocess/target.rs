//! Macros that a compiler defines before the first line, by the back end.
//!
//! p4c is one program per back end and defines that of its target. Here the architecture's file decides: a
//! program is read for BMv2 until it includes a file of the Tofino's, and is then read again for that chip. A
//! `__TARGET_...` macro of the command line decides alone.

use super::macros::{BUILT_IN, Definition, Macro};
use crate::source::Options;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a program is read for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BackEnd {
    /// BMv2's simple_switch or psa_switch.
    #[default]
    Bmv2,
    /// Tofino 1 or 2.
    Tofino(u32),
}

/// What the C preprocessor defines for a text in assembler's language without a system.
const STANDARD: [(&str, &str); 3] = [("__STDC__", "1"), ("__STDC_HOSTED__", "1"), ("__ASSEMBLER__", "1")];

const BMV2: [(&str, &str); 1] = [("__TARGET_BMV2__", "1")];

/// What the driver of the Tofino's compiler defines besides its target: the version whose language is read
/// here.
const TOFINO_DRIVER: [(&str, &str); 5] = [
    ("__p4c__", "1"),
    ("__p4c_major__", "9"),
    ("__p4c_minor__", "13"),
    ("__p4c_patchlevel__", "4"),
    ("__p4c_version__", "\"9.13.4\""),
];

fn decides(name: &str) -> bool {
    name.starts_with("__TARGET_")
}

/// All macros before the first line.
pub(super) fn macros(back_end: BackEnd, options: &Options) -> BTreeMap<Rc<str>, Macro> {
    let mut macros: BTreeMap<Rc<str>, Macro> =
        BUILT_IN.iter().map(|(name, built_in)| (Rc::from(*name), Macro::BuiltIn(*built_in))).collect();
    let mut define = |name: &str, text: &str| {
        macros.insert(Rc::from(name), Macro::User(Rc::new(Definition::of_text(text))));
    };
    STANDARD.iter().for_each(|(name, text)| define(name, text));
    let decided = options.defines.iter().any(|(name, _)| decides(name));
    match back_end {
        BackEnd::Bmv2 if !decided => BMV2.iter().for_each(|(name, text)| define(name, text)),
        BackEnd::Bmv2 => {}
        BackEnd::Tofino(chip) => {
            if !decided {
                define("__TARGET_TOFINO__", &chip.to_string());
            }
            if chip == 2 {
                define("__TOFINO2_VARIANT__", "1");
            }
            TOFINO_DRIVER.iter().for_each(|(name, text)| define(name, text));
        }
    }
    options.defines.iter().for_each(|(name, text)| define(name, text));
    macros
}
