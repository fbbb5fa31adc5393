//! The pipes of a TNA program as packets meet them: by port, small enough to be copied for each packet.

use p4cc_exec::{HalfId, Pipeline};
use p4cc_ir::{HalfPipeline, Tna, TnaForDeparser, TnaForEgressDeparser, TnaForTm, TnaFromParser, TnaPipe};

/// Pipes of a chip.
const CHIP_PIPES: usize = 4;

/// What ingress and egress have in common.
#[derive(Clone, Copy)]
pub(super) struct Half {
    pub id: HalfId,
    pub blocks: HalfPipeline,
    pub from_parser: TnaFromParser,
    /// The pipe of the chip.
    pub pipe: u8,
    /// Behind the traffic manager.
    pub is_egress: bool,
}

/// Ingress of a pipe.
#[derive(Clone, Copy)]
pub(super) struct IngressPipe {
    pub half: Half,
    /// Ingress looks at `parser_err` itself.
    pub reads_error: bool,
    pub for_deparser: TnaForDeparser,
    pub for_tm: TnaForTm,
}

/// Egress of a pipe.
#[derive(Clone, Copy)]
pub(super) struct EgressPipe {
    pub half: Half,
    /// It may make copies and the like.
    pub makes_requests: bool,
    pub for_deparser: TnaForEgressDeparser,
}

/// For each pipe of the chip that of the program: its own, or where it has fewer, one of them in turn.
#[derive(Clone)]
pub(super) struct Pipes(Box<[(IngressPipe, EgressPipe)]>);

impl Pipes {
    pub fn new(pipeline: &Pipeline, tna: &Tna) -> Self {
        let all = (0..CHIP_PIPES).map(|at| at % tna.pipes.len().max(1));
        Self(all.filter_map(|at| tna.pipes.get(at).map(|pipe| of(pipeline, at, pipe))).collect())
    }

    /// Ingress of a port.
    #[inline]
    pub fn ingress(&self, port: u32) -> Option<IngressPipe> {
        self.0.get(pipe_of_chip(port)).map(|pipe| pipe.0)
    }

    /// Egress of a port.
    #[inline]
    pub fn egress(&self, port: u32) -> Option<EgressPipe> {
        self.0.get(pipe_of_chip(port)).map(|pipe| pipe.1)
    }
}

fn of(pipeline: &Pipeline, at: usize, pipe: &TnaPipe) -> (IngressPipe, EgressPipe) {
    let chip_pipe = at as u8;
    let half =
        |id, blocks, from_parser, is_egress| Half { id, blocks, from_parser, pipe: chip_pipe, is_egress };
    let ingress = IngressPipe {
        half: half(HalfId::ingress(at), pipe.ingress, pipe.ingress_from_parser, false),
        reads_error: pipe.ingress_reads_error,
        for_deparser: pipe.for_deparser,
        for_tm: pipe.for_tm,
    };
    let half = half(HalfId::egress(at), pipe.egress, pipe.egress_from_parser, true);
    let makes_requests = pipeline.makes_requests(half.id);
    (ingress, EgressPipe { half, makes_requests, for_deparser: pipe.for_egress_deparser })
}

/// The chip's pipe that a port belongs to.
pub(super) fn pipe_of_chip(port: u32) -> usize {
    (port >> 7 & 3) as usize
}
