//! What each operation reads and writes: the one table that liveness, zero initialisation, known validity and
//! the storage plan look at.
//!
//! An access is either on words of the frame or on a header as a whole. What the action of a call or table
//! does is no access of the call: its function has accesses of its own.
//!
//! Invariant: the result of an operation depends on no word that it does not report as read, and it changes
//! no word that it does not report as written. Apart from that stand the words of headers that it reports,
//! its actions, and what the interpreter keeps: the parser's error and the length that headers added.
//! `testing::check_accesses` runs operations to see.

use p4cc_ir::HashAlgorithm;

use crate::bitplan::BitPlan;
use crate::frame_layout::{FrameLocation, NO_SLOT};
use crate::op::{ChecksumOp, Code, Data, ExternOp, Op, PACKED_HASHES, SlowOp, WideKind};

/// What happens to words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    /// All bits are replaced, if the operation gets that far.
    Write,
    /// Some bits, or some of the words, are replaced: the others stay.
    Update,
    /// Validity of a header whose fields are read. Generated code hands it to helpers itself.
    Guard,
    /// Read as a field of a header, so only if that is valid.
    ReadField,
    /// Moved with their header, so meaningful only where that is valid.
    MoveField,
    /// Replaced in a rare case, and otherwise left.
    Flag,
}

impl Access {
    /// Whether the value from before matters.
    pub(crate) const fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::Flag)
    }

    /// Whether the value may change.
    pub(crate) const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Update | Self::MoveField | Self::Flag)
    }

    /// Whether it is on a field that is looked at where its header is valid only.
    pub(crate) const fn is_guarded(self) -> bool {
        matches!(self, Self::ReadField | Self::MoveField)
    }
}

/// What happens to a header as a whole: its validity, and the fields with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HeaderAccess {
    /// It may become valid, and its fields come from the packet.
    Extract,
    /// It may become valid, its fields zero.
    SetValid,
    SetInvalid,
    Emit,
    /// It may become valid or invalid, one of several headers; the others of its union become invalid.
    ExtractOneOf,
    /// One of several headers may become valid or invalid.
    SetOneOf,
    /// The others of its union become invalid if it is valid.
    ClearRivals,
}

/// What performs an operation in native code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Accessor {
    /// Generated instructions.
    Code,
    /// Generated instructions as a rule; where a helper does it, the word is
    /// written to the frame before and read from it after.
    Either,
    Helper,
}

/// One access of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OpAccess {
    Words { first: u32, words: u32, access: Access, by: Accessor },
    Header { header: u32, access: HeaderAccess },
}

/// Calls `f` with every access of an operation.
pub(crate) fn accesses(code: &Code, op: &Op, f: &mut impl FnMut(OpAccess)) {
    use Access::{Read, Update, Write};
    let mut words =
        |slots: &[u32], access| slots.iter().for_each(|&slot| f(one(slot, access, Accessor::Code)));
    match op {
        Op::Not(_, args) | Op::Neg(_, args) => {
            words(&[args.a], Read);
            words(&[args.dst], Write);
        }
        Op::Add(_, args)
        | Op::Sub(_, args)
        | Op::Mul(_, args)
        | Op::Div(args)
        | Op::Mod(args)
        | Op::AddSat(_, args)
        | Op::SubSat(args)
        | Op::AddSatSigned(_, args)
        | Op::SubSatSigned(_, args)
        | Op::And(args)
        | Op::Or(args)
        | Op::Xor(args)
        | Op::Shl(_, args)
        | Op::Shr(args)
        | Op::ShrSigned(_, args)
        | Op::Eq(args)
        | Op::Ne(args)
        | Op::Lt(args)
        | Op::LtSigned(_, args)
        | Op::Le(args)
        | Op::LeSigned(_, args)
        | Op::Concat { args, .. } => {
            words(&[args.a, args.b], Read);
            words(&[args.dst], Write);
        }
        Op::Move { dst, src }
        | Op::Truncate { dst, src, .. }
        | Op::SignExtend { dst, src, .. }
        | Op::Slice { dst, src, .. } => {
            words(&[*src], Read);
            words(&[*dst], Write);
        }
        Op::SetSlice { dst, src, .. } => {
            words(&[*src], Read);
            words(&[*dst], Update);
        }
        Op::CopyWords { dst, src, words } => {
            f(OpAccess::Words { first: *src, words: *words, access: Read, by: Accessor::Code });
            f(OpAccess::Words { first: *dst, words: *words, access: Write, by: Accessor::Code });
        }
        Op::Lookahead { dst, .. } | Op::PacketLength { dst, .. } => words(&[*dst], Write),
        Op::Advance { bits } => words(&[*bits], Read),
        Op::Verify { cond, error } => words(&[*cond, *error], Read),
        Op::Count { index, .. } => words(&[*index], Read),
        Op::Branch { cond, .. } => words(&[*cond], Read),
        Op::Extract { header } => f(of_header(*header, HeaderAccess::Extract)),
        Op::Emit { header } => f(of_header(*header, HeaderAccess::Emit)),
        Op::SetValid { header } => f(of_header(*header, HeaderAccess::SetValid)),
        Op::SetInvalid { header } => f(of_header(*header, HeaderAccess::SetInvalid)),
        Op::Select(index) => {
            code.selects[*index as usize].keys.iter().for_each(|key| words(&[key.0], Read));
        }
        Op::SelectSlow(index) => {
            places(&code.slow_selects[*index as usize].keys, Read, Accessor::Helper, f);
        }
        Op::Apply { table, hit, action } => apply(code, *table, &[*hit, *action], f),
        Op::VerifyChecksum(index) => checksum(code, &code.checksums[*index as usize], Read, f),
        Op::UpdateChecksum(index) => checksum(code, &code.checksums[*index as usize], Update, f),
        Op::Extern(index) => call(code, &code.externs[*index as usize], f),
        Op::Slow(index) => slow(&code.slow[*index as usize], f),
        Op::Call { .. } | Op::Jump { .. } | Op::Return | Op::Exit | Op::Accept | Op::Reject => {}
    }
}

const fn one(slot: u32, access: Access, by: Accessor) -> OpAccess {
    OpAccess::Words { first: slot, words: 1, access, by }
}

const fn of_header(header: u32, access: HeaderAccess) -> OpAccess {
    OpAccess::Header { header, access }
}

fn place(place: FrameLocation, access: Access, by: Accessor) -> OpAccess {
    OpAccess::Words { first: place.slot, words: place.words(), access, by }
}

fn places(places: &[FrameLocation], access: Access, by: Accessor, f: &mut impl FnMut(OpAccess)) {
    places.iter().for_each(|&at| f(place(at, access, by)));
}

/// Fields that a hash or checksum reads.
fn data(data: &Data, by: Accessor, f: &mut impl FnMut(OpAccess)) {
    for (&field, &owner) in data.fields.iter().zip(&data.owners) {
        f(place(field, if owner == NO_SLOT { Access::Read } else { Access::ReadField }, by));
    }
    data.guards.iter().for_each(|&guard| f(one(guard, Access::Guard, by)));
}

/// Who hashes fields: generated instructions call the algorithm where they can pack the fields.
fn hasher(algorithm: HashAlgorithm, data: &Data) -> Accessor {
    let packs = data.plan.as_ref().is_some_and(BitPlan::is_chunked);
    let known = PACKED_HASHES.contains(&algorithm) || matches!(algorithm, HashAlgorithm::Object(_));
    if packs && known { Accessor::Either } else { Accessor::Helper }
}

fn apply(code: &Code, table: u32, results: &[u32], f: &mut impl FnMut(OpAccess)) {
    let table = &code.tables[table as usize];
    table.parts.iter().for_each(|part| f(one(part.0, Access::Read, Accessor::Code)));
    let wanted = results.iter().filter(|&&slot| slot != NO_SLOT);
    wanted.for_each(|&slot| f(one(slot, Access::Write, Accessor::Code)));
    if let Some((algorithm, fields)) = &table.selector {
        data(fields, hasher(*algorithm, fields), f);
    }
}

fn checksum(code: &Code, op: &ChecksumOp, access: Access, f: &mut impl FnMut(OpAccess)) {
    let by = if op.is_columns() { Accessor::Either } else { Accessor::Helper };
    f(one(op.cond, Access::Read, by));
    f(place(op.checksum, access, by));
    data(&op.data, by, f);
    let error = code.v1model.as_ref().map(|places| places.checksum_error);
    error.iter().for_each(|&error| f(one(error, Access::Flag, Accessor::Either)));
}

fn call(code: &Code, op: &ExternOp, f: &mut impl FnMut(OpAccess)) {
    use Access::{Read, Update, Write};
    let helper = Accessor::Helper;
    match op {
        ExternOp::MeterExecute { index, color, dst, .. } => {
            f(one(*index, Read, helper));
            color.iter().for_each(|&color| f(one(color, Read, helper)));
            // A cell that is not there leaves it.
            f(place(*dst, Update, helper));
        }
        ExternOp::CounterAdd { index, adjust, .. } => {
            core::iter::once(index).chain(adjust).for_each(|&word| f(one(word, Read, helper)));
        }
        ExternOp::MeterMeasure { index, color, adjust, dst, .. } => {
            let words = core::iter::once(index).chain(color).chain(adjust);
            words.for_each(|&word| f(one(word, Read, helper)));
            f(place(*dst, Update, helper));
        }
        ExternOp::FilterExecute { index, value, dst, .. } => {
            [index, value].into_iter().for_each(|&word| f(one(word, Read, helper)));
            f(one(*dst, Write, helper));
        }
        ExternOp::Math { src, dst, .. } => {
            f(one(*src, Read, helper));
            f(place(*dst, Write, helper));
        }
        ExternOp::RegisterRead { index, dst, .. } => {
            let by = if dst.is_narrow() { Accessor::Code } else { helper };
            f(one(*index, Read, by));
            f(place(*dst, Write, by));
        }
        ExternOp::RegisterWrite { index, src, .. } => {
            let by = if src.is_narrow() { Accessor::Code } else { helper };
            f(one(*index, Read, by));
            f(place(*src, Read, by));
        }
        ExternOp::RegisterClear { src, .. } => f(place(*src, Read, helper)),
        ExternOp::PlaceWrite { index, src, .. } => {
            f(one(*index, Read, helper));
            f(place(*src, Read, helper));
        }
        ExternOp::Hash { dst, algorithm, base, data: fields, max } => {
            let narrow = [dst, base, max].into_iter().all(|place| place.is_narrow());
            let by = if narrow { hasher(*algorithm, fields) } else { helper };
            places(&[*base, *max], Read, by, f);
            data(fields, by, f);
            f(place(*dst, Write, by));
        }
        ExternOp::Random { dst, low, high } => {
            let by = if op.is_narrow_random() { Accessor::Code } else { helper };
            places(&[*low, *high], Read, by, f);
            f(place(*dst, Write, by));
        }
        ExternOp::MarkToDrop => {
            if let Some(places) = &code.v1model {
                f(one(places.mcast_grp, Write, Accessor::Either));
                f(place(places.egress_spec, Write, Accessor::Either));
            }
        }
        ExternOp::Digest { fields, .. } | ExternOp::LogMsg { args: fields, .. } => {
            places(fields, Read, helper, f);
        }
        ExternOp::Clone { session, field_list, .. } => {
            f(one(*session, Read, helper));
            field_list.iter().for_each(|&list| f(one(list, Read, helper)));
        }
        ExternOp::Resubmit { field_list: word }
        | ExternOp::Recirculate { field_list: word }
        | ExternOp::Truncate { bytes: word }
        | ExternOp::Assert { cond: word, .. } => f(one(*word, Read, helper)),
    }
}

fn slow(op: &SlowOp, f: &mut impl FnMut(OpAccess)) {
    use Access::{MoveField, Read, Update, Write};
    let mut run = |first: u32, words: u32, access| {
        f(OpAccess::Words { first, words, access, by: Accessor::Helper });
    };
    match op {
        SlowOp::Wide { kind, dst, a, b } => {
            run(a.slot, a.words(), Read);
            if matches!(kind, WideKind::Binary(_) | WideKind::Concat) {
                run(b.slot, b.words(), Read);
            }
            run(
                dst.slot,
                dst.words(),
                if matches!(kind, WideKind::SetSlice { .. }) { Update } else { Write },
            );
        }
        SlowOp::EqWords { dst, a, b, words, .. } | SlowOp::HeaderEq { dst, a, b, words } => {
            run(*a, *words, Read);
            run(*b, *words, Read);
            run(*dst, 1, Write);
        }
        SlowOp::CopyHeader { dst, src, words } => {
            run(*src, 1, Read);
            run(src + 1, words - 1, Access::ReadField);
            run(*dst, 1, Write);
            run(dst + 1, words - 1, MoveField);
        }
        SlowOp::AnyWord { dst, of } => {
            of.iter().for_each(|&slot| run(slot, 1, Read));
            run(*dst, 1, Write);
        }
        SlowOp::StackLoad { dst, index, words, elements } => {
            run(*index, 1, Read);
            elements.iter().for_each(|&element| run(element, *words, Read));
            run(*dst, *words, Write);
        }
        SlowOp::StackStore { src, index, words, elements } => {
            run(*index, 1, Read);
            run(*src, *words, Read);
            elements.iter().for_each(|&element| run(element, *words, Update));
        }
        SlowOp::StackIsValid { dst, index, elements } => {
            run(*index, 1, Read);
            elements.iter().for_each(|&element| run(element, 1, Read));
            run(*dst, 1, Write);
        }
        SlowOp::StackShift { next, words, elements, .. } => {
            run(*next, 1, Update);
            elements.iter().for_each(|&element| run(element, *words, MoveField));
        }
        SlowOp::StackSetValid { index, elements, .. } => {
            run(*index, 1, Read);
            elements.iter().for_each(|&header| f(of_header(header, HeaderAccess::SetOneOf)));
        }
        SlowOp::ExtractVar { header, varbit_bits } => {
            run(*varbit_bits, 1, Read);
            f(of_header(*header, HeaderAccess::ExtractOneOf));
        }
        SlowOp::ExtractNext { next, elements, varbit_bits } => {
            run(*next, 1, Update);
            varbit_bits.iter().for_each(|&bits| run(bits, 1, Read));
            elements.iter().for_each(|&header| f(of_header(header, HeaderAccess::ExtractOneOf)));
        }
        SlowOp::LookaheadWide { dst } => run(dst.slot, dst.words(), Write),
        SlowOp::ValueSetMatch { dst, keys, .. } => {
            keys.iter().for_each(|key| run(key.slot, key.words(), Read));
            run(*dst, 1, Write);
        }
        SlowOp::ClearRivals { header } => f(of_header(*header, HeaderAccess::ClearRivals)),
    }
}
