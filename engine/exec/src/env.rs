//! The environment of a run: packet views, effects, randomness, traces, and the executor's interface.
//!
//! Invariant: nothing here owns packets or state. The architecture lends both for one call.

use p4cc_ir::{
    ActionId, Bits, BlockId, CloneKind, DigestId, FuncId, HeaderId, MeterId, RegisterId, TableId, VarId,
};
use p4cc_units::Time;
use smallvec::SmallVec;

use crate::{EgressEnd, EgressStart, Frame, IngressStart, Pipeline, State};

/// What a packet is to the parser: real bytes, then `zeros` zero bytes that are not stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketView<'a> {
    /// Stored bytes.
    pub bytes: &'a [u8],
    /// Zero bytes after them.
    pub zeros: u32,
}

impl<'a> PacketView<'a> {
    /// A packet of stored bytes only.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, zeros: 0 }
    }

    /// Length in bytes.
    #[inline]
    pub const fn len(&self) -> u64 {
        self.bytes.len() as u64 + self.zeros as u64
    }

    /// What is left behind its first bytes.
    #[must_use]
    #[inline]
    pub fn skip(self, bytes: u32) -> Self {
        let stored = self.bytes.len().min(bytes as usize);
        let zeros = self.zeros.saturating_sub(bytes - stored as u32);
        Self { bytes: &self.bytes[stored..], zeros }
    }

    /// Whether it has no bytes at all.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What follows the parsed headers, for checksums with payload.
pub type PayloadView<'a> = PacketView<'a>;

/// How a parser ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseResult {
    /// Bits taken from the packet. When not a multiple of 8
    /// the caller drops the rest of that byte, as BMv2 does.
    pub consumed_bits: u32,
    /// Error code of a reject (`NoError` for a plain `transition reject`); `None` for an accept.
    pub error: Option<u32>,
}

impl ParseResult {
    /// Bytes taken. A byte that was taken in part is gone for the deparser, as in BMv2.
    #[inline]
    pub fn consumed_bytes(&self) -> u32 {
        self.consumed_bits.div_ceil(8)
    }
}

/// A named stream of random numbers, owned by the switch.
pub trait RandomSource {
    /// The next 64 random bits.
    fn next_u64(&mut self) -> u64;
}

/// Decides whether a packet bypasses its queue.
pub trait QueueBypass {
    /// Called once at most, for a packet that ingress sends to one port without any other request. Where the
    /// answer is yes, it is as if the packet had been put into its queue and taken out.
    fn may_bypass(&mut self, port: u32, priority: u8) -> bool;
}

/// What one call works on, given by the architecture.
pub struct Env<'a> {
    /// Tables, counters, registers.
    pub state: &'a mut State,
    /// Requests of the call to the architecture.
    pub effects: &'a mut Effects,
    /// For `random` and the random hash.
    pub random: &'a mut dyn RandomSource,
    /// Bytes that counters and meters count for this packet.
    pub packet_length: u32,
    /// For checksums with payload.
    pub payload: PayloadView<'a>,
    /// For meters and idle timeouts.
    pub now: Time,
}

/// A requested clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloneRequest {
    /// Which copy.
    pub kind: CloneKind,
    /// Clone session.
    pub session: u32,
    /// Field list kept, if any.
    pub field_list: Option<u32>,
}

/// A digest message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestMessage {
    /// Which digest.
    pub digest: DigestId,
    /// One value per field.
    pub values: Vec<Bits>,
    /// Pipe of the chip that sent it; 0 where there is one.
    pub pipe: u8,
}

/// Requests of a run to the architecture, in order of the calls; the
/// last of several resubmits, recirculations or truncations counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
// In the order of fields: of most runs the first says all.
#[repr(C)]
pub struct Effects {
    /// A request was made since the last reset.
    requested: bool,
    /// Clones.
    pub clones: SmallVec<[CloneRequest; 2]>,
    /// Field list of a resubmit.
    pub resubmit: Option<u32>,
    /// Field list of a recirculation.
    pub recirculate: Option<u32>,
    /// Bytes to truncate to.
    pub truncate: Option<u32>,
    /// Digest messages.
    pub digests: Vec<DigestMessage>,
    /// Whether the text of `log_msg` is wanted; a reset leaves it.
    pub keep_logs: bool,
    /// Lines of `log_msg`, if they are wanted.
    pub logs: Vec<String>,
    /// Places of assertions that failed.
    pub assertion_failures: Vec<String>,
    /// Runs cut short because a loop passed [`crate::MAX_CONTROL_STEPS`].
    pub loop_limits_hit: u32,
}

impl Effects {
    /// Forgets everything, keeping allocations.
    #[inline]
    pub fn reset(&mut self) {
        if self.requested {
            self.forget();
        }
    }

    #[cold]
    fn forget(&mut self) {
        self.clones.clear();
        self.resubmit = None;
        self.recirculate = None;
        self.truncate = None;
        self.digests.clear();
        self.logs.clear();
        self.assertion_failures.clear();
        self.loop_limits_hit = 0;
        self.requested = false;
    }

    /// Records that there is a request, for the caller to add it.
    pub(crate) fn request(&mut self) -> &mut Self {
        self.requested = true;
        self
    }

    /// Whether there is no request.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.requested
    }
}

/// Runs a program's code: the interpreter, and native code.
///
/// Frame and state must come from the pipeline that the executor was made from.
pub trait Executor {
    /// Runs the parser that packets meet first over a packet.
    /// Sets header fields, metadata and `parser_error`.
    fn parse(&self, frame: &mut Frame, packet: PacketView<'_>, env: &mut Env<'_>) -> ParseResult;
    /// Runs a parser by its entry point.
    fn parse_by(
        &self,
        func: FuncId,
        frame: &mut Frame,
        packet: PacketView<'_>,
        env: &mut Env<'_>,
    ) -> ParseResult;
    /// Runs a control (checksums, ingress, egress) by its entry point.
    fn run(&self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>);
    /// Appends the headers that the last deparser emits to `out`; what it calls does nothing.
    fn deparse(&self, frame: &mut Frame, out: &mut Vec<u8>);
    /// Runs a deparser that may call externs by its entry point; appends what it emits to `out`.
    fn deparse_by(&self, func: FuncId, frame: &mut Frame, env: &mut Env<'_>, out: &mut Vec<u8>);
    /// Runs what stands before the queues of a v1model program: parser, checksum
    /// verification, ingress. What lives on is left as the frame's front unless
    /// the packet is to be dropped. Does nothing for other architectures.
    fn ingress<'e>(&self, frame: &mut Frame, start: IngressStart<'e>, env: &mut Env<'e>) -> ParseResult;
    /// Runs what stands behind the queues of a v1model program: egress, then checksum computation and the
    /// deparser unless the packet is dropped or made a request. Does nothing for other architectures.
    fn egress<'e>(&self, frame: &mut Frame, start: EgressStart<'e>, env: &mut Env<'e>) -> EgressEnd;
    /// Runs the rest where egress made a request: checksum computation and the deparser.
    fn finish(&self, frame: &mut Frame, env: &mut Env<'_>);
}

/// Sees what a packet does. All methods do nothing by default; [`NoTrace`] costs nothing.
pub trait Trace {
    /// Whether to call at all.
    const ENABLED: bool = true;
    /// A block was entered by a jump (a parser state, when its label is not empty).
    fn block(&mut self, _func: FuncId, _block: BlockId, _values: Values<'_>) {}
    /// A table was applied; `entry` is the number of the entry that it hit, and `values` holds its keys.
    fn table(&mut self, _table: TableId, _entry: Option<u32>, _values: Values<'_>) {}
    /// An action runs, `within` another one, or a table's or a control's own; `values` holds its parameters.
    fn action(&mut self, _action: ActionId, _within: bool, _values: Values<'_>) {}
    /// A cell of a meter gave a colour; no cell, no colour.
    fn meter(&mut self, _meter: MeterId, _index: u64, _color: Option<u64>, _values: Values<'_>) {}
    /// The direct meter of the table that was just applied gave a colour.
    fn direct_meter(&mut self, _table: TableId, _color: u64) {}
    /// A cell of a register is read, or written with a value; no cell, no value.
    fn register(&mut self, _register: RegisterId, _access: RegisterAccess, _values: Values<'_>) {}
    /// `mark_to_drop` runs, in an action or in a control itself.
    fn mark_to_drop(&mut self, _in_action: bool) {}
    /// A parser or control has ended.
    fn left(&mut self, _values: Values<'_>) {}
}

/// What a program does to a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterAccess {
    /// The cell.
    pub index: u64,
    /// It is written.
    pub writes: bool,
    /// What it holds, or is to hold; none behind the last cell.
    pub value: Option<Bits>,
}

/// Values of a packet's variables at a moment of its run.
#[derive(Clone, Copy)]
pub struct Values<'a>(pub(crate) &'a [u64]);

impl Values<'_> {
    /// The value of a variable; of a varbit, as wide as it is long.
    pub fn get(&self, pipeline: &Pipeline, var: VarId) -> Bits {
        crate::frame::bits_of(self.0, pipeline, var)
    }

    /// Whether a header is valid.
    pub fn is_valid(&self, pipeline: &Pipeline, header: HeaderId) -> bool {
        self.0[pipeline.code().layout.valid(header) as usize] != 0
    }
}

/// The absent trace.
pub struct NoTrace;

impl Trace for NoTrace {
    const ENABLED: bool = false;
}
