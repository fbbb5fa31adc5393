//! Programs that ask for more than a compiler can give: a few lines that stand for any amount of work.
//!
//! [`bomb`] makes one for each seed. Every kind has a size drawn from a wide range, so that some programs of
//! it are harmless and some come near a bound; the third program of a kind has the largest sizes, and every
//! fourth program joins several kinds.
//! Each must compile, or be refused with a diagnostic, within a moment and within bounded memory.

mod code;
pub mod cost;
mod names;
mod tables;
mod types;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::fmt::Write;

/// A program.
#[derive(Clone, Debug)]
pub struct Bomb {
    /// The kinds that it joins, with the seed.
    pub name: String,
    /// P4-16 source for v1model.
    pub text: String,
}

/// Text that goes to one place of a program, and draws of sizes.
pub(crate) struct Draft {
    random: ChaCha8Rng,
    /// All sizes are the largest.
    is_largest: bool,
    /// Ends every declared name, so that kinds can be joined.
    tag: usize,
    globals: String,
    headers: String,
    metadata: String,
    parser_locals: String,
    states: String,
    ingress_locals: String,
    ingress: String,
    deparser: String,
}

type Kind = (&'static str, fn(&mut Draft));

/// All kinds.
fn kinds() -> Vec<Kind> {
    [types::KINDS, code::KINDS, tables::KINDS, names::KINDS].concat()
}

/// The names of all kinds, in the order in which seeds go through them.
pub fn kind_names() -> Vec<&'static str> {
    kinds().into_iter().map(|(name, _)| name).collect()
}

/// The program of a seed: consecutive seeds go through the kinds in turn.
pub fn bomb(seed: u64) -> Bomb {
    let kinds = kinds();
    let mut draft = Draft::new(seed);
    let first = seed as usize % kinds.len();
    draft.is_largest = (seed as usize / kinds.len()) % 3 == 2;
    let mut chosen = vec![first];
    if draft.below(4) == 0 {
        let more = 1 + draft.below(2);
        chosen.extend((0..more).map(|_| draft.below(kinds.len())));
    }
    let mut name = format!("{seed}");
    for (tag, at) in chosen.into_iter().enumerate() {
        draft.tag = tag;
        let (kind, fill) = kinds[at];
        fill(&mut draft);
        name.push('-');
        name.push_str(kind);
    }
    Bomb { name, text: draft.finish() }
}

impl Draft {
    fn new(seed: u64) -> Self {
        Self {
            random: ChaCha8Rng::seed_from_u64(seed),
            is_largest: false,
            tag: 0,
            globals: String::new(),
            headers: String::new(),
            metadata: String::new(),
            parser_locals: String::new(),
            states: String::new(),
            ingress_locals: String::new(),
            ingress: String::new(),
            deparser: String::new(),
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound.max(1) as u64) as usize
    }

    /// A size between two, each order of magnitude as likely.
    fn size(&mut self, least: usize, most: usize) -> usize {
        if self.is_largest {
            return most;
        }
        let steps = 64;
        let ratio = (most as f64 / least as f64).powf(self.below(steps + 1) as f64 / steps as f64);
        ((least as f64 * ratio) as usize).clamp(least, most)
    }

    /// A name of this kind within the program.
    fn name(&self, stem: &str) -> String {
        format!("{stem}_{}", self.tag)
    }

    fn finish(self) -> String {
        let mut text = String::from("#include <core.p4>\n#include <v1model.p4>\n");
        text.push_str(&self.globals);
        let _ = write!(
            text,
            "header base_t {{ bit<32> a; bit<32> b; }}\n\
             struct headers_t {{ base_t base; {} }}\n\
             struct metadata_t {{ bit<32> m; {} }}\n\
             parser P(packet_in packet, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {{\n\
             {}\nstate start {{ packet.extract(h.base); transition after; }}\n{}\n{}}}\n\
             control V(inout headers_t h, inout metadata_t m) {{ apply {{ }} }}\n\
             control I(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {{\n\
             {}\napply {{ s.egress_spec = 1;\n{}\n}} }}\n\
             control E(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {{ apply {{ }} }}\n\
             control C(inout headers_t h, inout metadata_t m) {{ apply {{ }} }}\n\
             control D(packet_out packet, in headers_t h) {{ apply {{ packet.emit(h.base);\n{} }} }}\n\
             V1Switch(P(), V(), I(), E(), C(), D()) main;\n",
            self.headers,
            self.metadata,
            self.parser_locals,
            if self.states.contains("state after ") { "" } else { "state after { transition accept; }" },
            self.states,
            self.ingress_locals,
            self.ingress,
            self.deparser,
        );
        text
    }
}

/// Adds formatted text.
macro_rules! add {
    ($to:expr, $($text:tt)*) => {{
        let _ = std::fmt::Write::write_fmt(&mut $to, format_args!($($text)*));
    }};
}
pub(crate) use add;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_program_and_all_kinds_come() {
        let kinds = kind_names();
        for (seed, kind) in kinds.iter().enumerate() {
            let (one, other) = (bomb(seed as u64), bomb(seed as u64));
            assert_eq!(one.text, other.text);
            assert!(one.name.contains(kind), "{} is of kind {kind}", one.name);
        }
    }
}
