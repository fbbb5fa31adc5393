//! A half of a chip's pipe as one native function: parser, control and deparser.
//!
//! Invariant: the function leaves the same bytes, state, effects and observed values as the three blocks one
//! after the other. A packet whose parser has an error, or a header that is not stored as a whole, has
//! changed nothing but words of the frame: the switch runs its blocks from the start.

use cranelift_frontend::FunctionBuilder;
use p4cc_ir::VarId;

use super::pipelines::BlockKind;
use super::state::given_flags;
use super::{Callees, Shared, TranslateResult, Translator};
use crate::native::context::{DONE, UNREADABLE, state_vectors};
use crate::native::summary;
use crate::native::zero_init;
use crate::tna_pipelines::Half;

impl<'a, 'f> Translator<'a, 'f> {
    /// What the switch gives a half: the time that its parser tells.
    pub(in crate::native) const HALF_INPUT_WORDS: usize = 1;

    /// Translates a half; the bytes that it may emit.
    pub fn half(
        shared: &'a Shared<'a>,
        half: &Half,
        b: FunctionBuilder<'f>,
        callees: Callees,
    ) -> TranslateResult<u32> {
        let mut t = Self::start(shared, b, callees);
        t.vectors = state_vectors();
        t.init_registers()?;
        t.clear(&zero_init::at_half(shared, half));
        if let Some((var, value)) = half.set_before {
            let value = t.iconst(value);
            t.set_given(value, var)?;
        }
        t.ends = t.is_copied(&[half.funcs.control, half.funcs.deparser]).then(Vec::new);
        let unreadable = t.b.create_block();
        t.b.set_cold_block(unreadable);
        t.unreadable = Some(unreadable);
        t.block(half.funcs.parser, BlockKind::StrictParser)?;
        t.unreadable = None;
        let others = t.done;
        for block in t.usual_accepts().into_iter().chain([others]) {
            t.switch_to(block);
            t.behind_half_parser(half)?;
        }
        t.switch_to(unreadable);
        t.end_with(UNREADABLE);
        Ok(t.close())
    }

    /// Control and deparser, up to the end of the function.
    fn behind_half_parser(&mut self, half: &Half) -> TranslateResult {
        self.flush_at();
        self.set_input(given_flags(), 0, half.timestamp)?;
        self.control(half.funcs.control)?;
        self.control(half.funcs.deparser)?;
        // What it emitted; what it took was told behind the parser.
        self.flush();
        self.spill_vars(half.observed.iter().copied())?;
        self.spill_listed()?;
        self.end_with(DONE);
        Ok(())
    }
}

/// Whether one function may run a half: its parser may run again, and inline code emits its headers.
pub(in crate::native) fn is_plain_half(shared: &Shared<'_>, half: &Half) -> bool {
    let Half { funcs, set_before, timestamp, observed, .. } = half;
    let narrow = |var: VarId| shared.code.layout.var(var).is_narrow();
    let set = set_before.iter().map(|&(var, _)| var).chain([*timestamp]);
    let parser_ends = zero_init::is_repeatable(shared, funcs.parser);
    let emits = !summary::of(shared, funcs.deparser.index(), false).emits_by_interpreter;
    // The payload begins behind the intrinsic metadata whatever the parser takes.
    let payload = zero_init::reads_payload(shared, &[funcs.control, funcs.deparser]);
    set.chain(observed.iter().copied()).all(narrow) && parser_ends && emits && !payload
}
