//! What one compilation may take, counted while the work is done.
//!
//! A few lines of source can stand for any amount of work: types made of types, constants of constants, calls
//! that multiply as they are inlined. Code that multiplies charges the budget before it does the work. Past a
//! limit, or once another thread cancels, every further charge fails, so that the compilation ends soon.
//!
//! Invariant: one [`Budget`] serves one compilation, from the first token to the last instruction.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// What a compilation spends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Tokens of the preprocessed text.
    Tokens,
    /// Types, functions, parsers and controls made of generic ones.
    Instantiations,
    /// Expressions and statements after generic code and constants are filled in.
    TreeNodes,
    /// Members of all `error` declarations.
    ErrorNames,
    /// Keys of all tables.
    TableKeys,
    /// Parser states after sub-parsers are inlined.
    ParserStates,
    /// Calls after inlining.
    InlinedCalls,
    /// Variables of the flattened program.
    Variables,
    /// Instructions after inlining.
    Instructions,
    /// Bytes of names and strings that the compiler makes.
    NameBytes,
    /// Steps of walks through types and code, so that no product of two sizes takes for ever.
    Steps,
    /// Bytes that counters, meters, registers and filters take from the start, of one pipe.
    StateBytes,
}

/// Number of [`Resource`]s.
const RESOURCES: usize = 12;

impl Resource {
    /// All of them, in the order of [`Resource::index`].
    pub const ALL: [Resource; RESOURCES] = [
        Self::Tokens,
        Self::Instantiations,
        Self::TreeNodes,
        Self::ErrorNames,
        Self::TableKeys,
        Self::ParserStates,
        Self::InlinedCalls,
        Self::Variables,
        Self::Instructions,
        Self::NameBytes,
        Self::Steps,
        Self::StateBytes,
    ];

    const fn index(self) -> usize {
        self as usize
    }

    /// The most that a compilation may take, unless it is told otherwise.
    pub const fn limit(self) -> u64 {
        match self {
            Self::Tokens => 1 << 20,
            Self::Instantiations => 10_000,
            Self::TreeNodes => 1_000_000,
            Self::ErrorNames | Self::ParserStates | Self::Variables => 65_536,
            Self::TableKeys => 32_768,
            Self::InlinedCalls => 20_000,
            Self::Instructions => 1_000_000,
            Self::NameBytes => 64 << 20,
            Self::Steps => 100_000_000,
            Self::StateBytes => 512 << 20,
        }
    }

    /// What is counted, as messages and the reference name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Instantiations => "instances of generic types, functions, parsers and controls",
            Self::TreeNodes => "expressions and statements with generic code and constants filled in",
            Self::ErrorNames => "error names",
            Self::TableKeys => "table keys",
            Self::ParserStates => "parser states after inlining",
            Self::InlinedCalls => "calls after inlining",
            Self::Variables => "variables",
            Self::Instructions => "instructions after inlining",
            Self::NameBytes => "bytes of names and strings",
            Self::Steps => "steps of the compiler",
            Self::StateBytes => "bytes of counters, meters, registers and filters",
        }
    }

    /// What to do about a program that needs more.
    const fn remedy(self) -> &'static str {
        match self {
            Self::Tokens => "look for an include or macro that repeats itself",
            Self::Instantiations => "use fewer combinations of type arguments",
            Self::TreeNodes => "large constants count wherever they are used; index them instead",
            Self::ErrorNames => "declare fewer errors",
            Self::TableKeys => "match on fewer keys, or on one wider key",
            Self::ParserStates | Self::InlinedCalls => "nested calls multiply; call less",
            Self::Variables => "make stacks smaller or use fewer copies of large structs",
            Self::Instructions => "inlined calls multiply; call less or apply tables instead",
            Self::NameBytes => {
                "shorten the names: each field of each stack element carries all names around it"
            }
            Self::Steps => "make types smaller, or use the large ones in fewer places",
            Self::StateBytes => "declare fewer cells",
        }
    }
}

/// Why a compilation ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// More is needed than the limit allows.
    Limit {
        /// Of what.
        resource: Resource,
        /// What was needed when the compilation ended.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// [`Budget::cancel`] was called.
    Cancelled,
}

impl Overrun {
    /// What is wrong.
    pub fn cause(self) -> String {
        match self {
            Self::Limit { resource, needed, limit } => {
                format!("the program needs {needed} {}; at most {limit} are allowed", resource.name())
            }
            Self::Cancelled => "the compilation was cancelled".to_owned(),
        }
    }

    /// What to do about it, if anything.
    pub fn remedy(self) -> Option<&'static str> {
        match self {
            Self::Limit { resource, .. } => Some(resource.remedy()),
            Self::Cancelled => None,
        }
    }
}

#[derive(Debug)]
struct Account {
    limits: [u64; RESOURCES],
    spent: [AtomicU64; RESOURCES],
    /// Why the compilation is to end.
    over: OnceLock<Overrun>,
}

/// What one compilation has left; clones share it, so that one may cancel from another thread.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Account>);

impl Default for Budget {
    fn default() -> Self {
        Self(Arc::new(Account {
            limits: Resource::ALL.map(Resource::limit),
            spent: std::array::from_fn(|_| AtomicU64::new(0)),
            over: OnceLock::new(),
        }))
    }
}

impl Budget {
    /// One with another limit on a resource, nothing spent.
    pub fn limited(&self, resource: Resource, limit: u64) -> Self {
        let mut limits = self.0.limits;
        limits[resource.index()] = limit;
        let spent = std::array::from_fn(|_| AtomicU64::new(0));
        Self(Arc::new(Account { limits, spent, over: OnceLock::new() }))
    }

    /// Ends the compilation at its next charge.
    pub fn cancel(&self) {
        let _ = self.0.over.set(Overrun::Cancelled);
    }

    /// Whether the compilation is to end: it was cancelled, or it exceeded a limit.
    pub fn is_over(&self) -> bool {
        self.over().is_some()
    }

    /// Why the compilation is to end, if it is.
    pub fn over(&self) -> Option<Overrun> {
        self.0.over.get().copied()
    }

    /// What was spent so far.
    pub fn spent(&self, resource: Resource) -> u64 {
        self.0.spent[resource.index()].load(Ordering::Relaxed)
    }

    /// Whether `amount` of a resource is left.
    pub fn allows(&self, resource: Resource, amount: u64) -> bool {
        self.spent(resource).saturating_add(amount) <= self.0.limits[resource.index()]
    }

    /// Takes `amount` of a resource, before the work that needs it is done.
    ///
    /// # Errors
    /// The limit is exceeded, or [`Budget::cancel`] was called. Every later charge fails for the same reason.
    pub fn charge(&self, resource: Resource, amount: u64) -> Result<(), Overrun> {
        if let Some(overrun) = self.0.over.get() {
            return Err(*overrun);
        }
        let before = self.0.spent[resource.index()].fetch_add(amount, Ordering::Relaxed);
        let needed = before.saturating_add(amount);
        let limit = self.0.limits[resource.index()];
        if needed <= limit {
            return Ok(());
        }
        Err(*self.0.over.get_or_init(|| Overrun::Limit { resource, needed, limit }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_resources_is_in_the_order_of_the_enum() {
        for (at, resource) in Resource::ALL.into_iter().enumerate() {
            assert_eq!(resource.index(), at);
        }
    }

    #[test]
    fn the_first_charge_past_a_limit_names_it_and_ends_all_others() {
        let budget = Budget::default().limited(Resource::TableKeys, 10);
        assert_eq!(budget.charge(Resource::TableKeys, 10), Ok(()));
        assert!(!budget.is_over());
        let overrun = budget.charge(Resource::TableKeys, 3).unwrap_err();
        assert_eq!(overrun, Overrun::Limit { resource: Resource::TableKeys, needed: 13, limit: 10 });
        assert_eq!(overrun.cause(), "the program needs 13 table keys; at most 10 are allowed");
        assert_eq!(budget.charge(Resource::Steps, 1), Err(overrun));
        assert!(budget.is_over());
    }

    #[test]
    fn a_clone_cancels() {
        let budget = Budget::default();
        let other = budget.clone();
        assert_eq!(budget.charge(Resource::Steps, 1), Ok(()));
        std::thread::spawn(move || other.cancel()).join().expect("the thread ends");
        assert_eq!(budget.charge(Resource::Steps, 1), Err(Overrun::Cancelled));
    }

    #[test]
    fn huge_amounts_do_not_wrap() {
        let budget = Budget::default();
        assert_eq!(budget.charge(Resource::Steps, 5), Ok(()));
        assert!(matches!(
            budget.charge(Resource::Steps, u64::MAX),
            Err(Overrun::Limit { needed: u64::MAX, .. })
        ));
    }
}
