//! The halves of a chip's pipes (TNA, T2NA): parser, control and deparser of ingress or of egress, which a
//! packet enters as bytes and leaves as bytes.
//!
//! A half runs in one of two ways. The architecture runs its blocks one after the other, and sees the
//! parser's error between them. Native code runs a whole half as one function, for packets without an error.
//! Both leave the same bytes, state, effects, and values of what the architecture reads.

use p4cc_ir::{HalfPipeline, Program, T2naForDeparser, TNA_NO_PORT, Tna, TnaPipe, VarId};

use crate::op::Code;
use crate::v1_pipelines::liveness::LiveVars;

/// What native code needs to know of a half.
#[derive(Debug)]
pub(crate) struct Half {
    pub funcs: HalfPipeline,
    /// Set before the parser starts.
    pub set_before: Option<(VarId, u64)>,
    /// Set to the time that the architecture gives, once the parser has ended.
    pub timestamp: VarId,
    /// What the architecture reads afterwards.
    pub observed: Vec<VarId>,
    /// It may make a request to the architecture.
    pub makes_requests: bool,
}

/// How a half ended that ran as one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfEnd {
    /// Bytes that the parser took.
    pub taken: u32,
}

/// Where the ingress or egress half of a pipe stands among a program's halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfId(usize);

impl HalfId {
    /// Ingress of a pipe of the program.
    pub const fn ingress(pipe: usize) -> Self {
        Self(pipe * 2)
    }

    /// Egress of a pipe of the program.
    pub const fn egress(pipe: usize) -> Self {
        Self(pipe * 2 + 1)
    }

    pub(crate) const fn index(self) -> usize {
        self.0
    }
}

/// The halves of a program by their [`HalfId`].
pub(crate) fn of(program: &Program, code: &Code, tna: &Tna) -> Vec<Half> {
    let mut halves: Vec<Half> = tna.pipes.iter().flat_map(|pipe| [ingress(pipe), egress(pipe)]).collect();
    for half in &mut halves {
        let mut reached = LiveVars::new(program, code);
        for func in [half.funcs.parser, half.funcs.control, half.funcs.deparser] {
            reached.func(func);
        }
        half.makes_requests = reached.makes_requests;
    }
    halves
}

fn ingress(pipe: &TnaPipe) -> Half {
    let tm = pipe.for_tm;
    let mut observed = vec![pipe.for_deparser.drop_ctl];
    observed.extend(tm.vars());
    observed.extend(pipe.for_deparser.t2na.into_iter().flat_map(T2naForDeparser::vars));
    Half {
        funcs: pipe.ingress,
        set_before: Some((tm.ucast_egress_port, TNA_NO_PORT)),
        timestamp: pipe.ingress_from_parser.global_tstamp,
        observed,
        makes_requests: false,
    }
}

fn egress(pipe: &TnaPipe) -> Half {
    let asked = pipe.for_egress_deparser;
    let mut observed = vec![asked.drop_ctl];
    observed.extend(asked.t2na.into_iter().flat_map(T2naForDeparser::vars));
    Half {
        funcs: pipe.egress,
        set_before: None,
        timestamp: pipe.egress_from_parser.global_tstamp,
        observed,
        makes_requests: false,
    }
}
