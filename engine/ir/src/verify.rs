//! The verifier: what every program promises to those that run it.
//!
//! Invariants it checks, all of them, reporting every breach:
//! - every index lies in the list it points into; lists stay within [`crate::limits`];
//! - variables are 1 to `MAX_WIDTH` bits wide, varbits up to `MAX_VARBIT`, all of them `MAX_FRAME_BITS` at
//!   most; a header has one variable per field of its type, of that type, and no other variable claims the
//!   field; a header type has at most one varbit;
//! - stacks hold headers of one type, none in two stacks or in a union; union and members name each other;
//! - a function has blocks, each terminator's targets exist, constants and variables have the widths that
//!   each instruction asks for; varbits stand only where they can (copies, equality, headers, field lists);
//! - extraction, lookahead, select, accept and reject stand in the parser
//!   only; emit in the deparser only; tables and actions run in controls
//!   only; v1model's deparser calls what keeps no state and asks for nothing;
//! - no action reaches itself through calls and tables, so that a call chain is bounded;
//! - tables, actions, entries, defaults and profiles agree: listed actions, scopes, argument and key widths,
//!   priorities, selector keys, direct counters and meters used by one table and declared without size;
//! - core.p4's errors come first; standard metadata are plain variables of at most 64 bits.

mod code;
mod objects;

use core::fmt::Display;

use crate::{
    Action, ActionCall, Counter, CustomCrc, Digest, Func, HashAlgorithm, Header, HeaderType, Meter, Operand,
    Profile, Program, Register, Stack, Table, Union, ValueSet, Var, VarId, VarType, limits,
};

/// Most fields of one hash, checksum or digest.
pub const MAX_DATA_FIELDS: usize = 1_024;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: function, block and instruction, or the object.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl Display for Violation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl core::error::Error for Violation {}

/// All violations of a program, empty when it is sound.
pub fn verify(program: &Program) -> Vec<Violation> {
    let mut verifier = Verifier { program, place: String::new(), violations: Vec::new() };
    verifier.objects();
    verifier.functions();
    verifier.calls_end();
    verifier.violations
}

/// Collects violations; `place` names what is being looked at.
struct Verifier<'p> {
    program: &'p Program,
    place: String,
    violations: Vec<Violation>,
}

/// Looks up an index, reporting when it dangles.
macro_rules! lookup {
    ($name:ident, $list:ident, $id:ty, $item:ty) => {
        fn $name(&mut self, id: $id) -> Option<&'p $item> {
            let found = self.program.$list.get(id.index());
            if found.is_none() {
                let len = self.program.$list.len();
                self.report(format!("{id} is out of range: the program has {len}"));
            }
            found
        }
    };
}

impl<'p> Verifier<'p> {
    lookup!(var, vars, VarId, Var);
    lookup!(header, headers, crate::HeaderId, Header);
    lookup!(header_type, header_types, crate::HeaderTypeId, HeaderType);
    lookup!(stack, stacks, crate::StackId, Stack);
    lookup!(union, unions, crate::UnionId, Union);
    lookup!(func, funcs, crate::FuncId, Func);
    lookup!(action, actions, crate::ActionId, Action);
    lookup!(table, tables, crate::TableId, Table);
    lookup!(counter, counters, crate::CounterId, Counter);
    lookup!(meter, meters, crate::MeterId, Meter);
    lookup!(register, registers, crate::RegisterId, Register);
    lookup!(profile, profiles, crate::ProfileId, Profile);
    lookup!(digest, digests, crate::DigestId, Digest);
    lookup!(value_set, value_sets, crate::ValueSetId, ValueSet);
    lookup!(custom_crc, custom_crcs, crate::CustomCrcId, CustomCrc);
    lookup!(filter, filters, crate::FilterId, crate::Filter);
    lookup!(hash, hashes, crate::HashId, crate::HashObject);

    /// A custom check is there and has the width that the algorithm says.
    fn algorithm(&mut self, algorithm: HashAlgorithm) {
        let (id, wanted) = match algorithm {
            HashAlgorithm::Crc16Custom(id) => (id, 16),
            HashAlgorithm::Crc32Custom(id) => (id, 32),
            HashAlgorithm::Object(id) => {
                self.hash(id);
                return;
            }
            _ => return,
        };
        let width = self.custom_crc(id).map(|crc| crc.width);
        self.check(width.is_none_or(|width| width == wanted), || format!("{id} is not {wanted} bits wide"));
    }

    fn report(&mut self, message: impl Display) {
        self.violations.push(Violation { place: self.place.clone(), message: message.to_string() });
    }

    fn check(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            let message = message();
            self.report(message);
        }
    }

    /// Type of a variable.
    fn var_type(&mut self, var: VarId) -> Option<VarType> {
        self.var(var).map(|var| var.ty)
    }

    /// Type of an operand; constants are bits.
    fn operand_type(&mut self, operand: &Operand) -> Option<VarType> {
        match operand {
            Operand::Var(var) => self.var_type(*var),
            Operand::Const(bits) => {
                let width = bits.width();
                self.check((1..=limits::MAX_WIDTH).contains(&width), || {
                    format!("constant {bits} has a width outside of 1 to {}", limits::MAX_WIDTH)
                });
                Some(VarType::Bit(width))
            }
        }
    }

    /// Width of a variable that must not be a varbit.
    fn fixed_var(&mut self, var: VarId) -> Option<u32> {
        let ty = self.var_type(var)?;
        self.fixed(&var, ty)
    }

    /// Width of an operand that must not be a varbit.
    fn fixed_operand(&mut self, operand: &Operand) -> Option<u32> {
        let ty = self.operand_type(operand)?;
        match operand {
            Operand::Var(var) => self.fixed(var, ty),
            Operand::Const(_) => Some(ty.width()),
        }
    }

    fn fixed(&mut self, var: &VarId, ty: VarType) -> Option<u32> {
        if matches!(ty, VarType::Varbit(_)) {
            self.report(format!("{var} is a varbit, which cannot stand here"));
            return None;
        }
        Some(ty.width())
    }

    /// Two widths that must be equal.
    fn same_width(&mut self, what: &str, left: Option<u32>, right: Option<u32>) {
        if let (Some(left), Some(right)) = (left, right) {
            self.check(left == right, || format!("{what}: {left} bits against {right}"));
        }
    }

    /// A variable of exactly one bit.
    fn flag_var(&mut self, what: &str, var: VarId) {
        let width = self.fixed_var(var);
        self.same_width(what, width, Some(1));
    }

    /// An operand of exactly one bit.
    fn flag_operand(&mut self, what: &str, operand: &Operand) {
        let width = self.fixed_operand(operand);
        self.same_width(what, width, Some(1));
    }

    /// Arguments against an action's parameters, by widths.
    fn arguments(&mut self, action: &Action, widths: &[Option<u32>]) {
        let params = action.params.len();
        self.check(params == widths.len(), || {
            format!("action `{}` takes {params} arguments, not {}", action.cp.name, widths.len())
        });
        for (param, &width) in action.params.iter().zip(widths) {
            let expected = self.fixed_var(param.var);
            self.same_width(&format!("argument `{}`", param.cp.name), width, expected);
        }
    }

    /// A call with constant arguments.
    fn constant_call(&mut self, call: &ActionCall) {
        if let Some(action) = self.action(call.action) {
            let widths: Vec<Option<u32>> = call.args.iter().map(|bits| Some(bits.width())).collect();
            self.arguments(action, &widths);
        }
    }
}
