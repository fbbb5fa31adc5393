//! Index types: one per kind of reference.

/// Defines a `u32` index newtype.
macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// Position in the owning list.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
            /// From a position in the owning list.
            pub const fn from_index(index: usize) -> Self {
                Self(index as u32)
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

entity!(
    /// A scalar variable of the frame.
    VarId, "v"
);
entity!(
    /// A header instance.
    HeaderId, "h"
);
entity!(
    /// A header type.
    HeaderTypeId, "ht"
);
entity!(
    /// A header stack.
    StackId, "stack"
);
entity!(
    /// A header union instance.
    UnionId, "union"
);
entity!(
    /// A basic block of one function.
    BlockId, "block"
);
entity!(
    /// A function: a parser, a control or the body of an action.
    FuncId, "fn"
);
entity!(
    /// An action.
    ActionId, "action"
);
entity!(
    /// A table.
    TableId, "table"
);
entity!(
    /// A counter array, or the counter attached to a table.
    CounterId, "counter"
);
entity!(
    /// A meter array, or the meter attached to a table.
    MeterId, "meter"
);
entity!(
    /// A register array.
    RegisterId, "register"
);
entity!(
    /// An action profile or selector.
    ProfileId, "profile"
);
entity!(
    /// A digest message type.
    DigestId, "digest"
);
entity!(
    /// A parser value set.
    ValueSetId, "value_set"
);
entity!(
    /// An array of filters, or the filter attached to a table.
    FilterId, "filter"
);
entity!(
    /// A hash function that the control plane sets.
    HashId, "hash"
);
entity!(
    /// A cyclic redundancy check whose parameters the control plane sets.
    CustomCrcId, "crc"
);
