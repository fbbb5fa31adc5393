//! Indexes into the lists of a typed program.

/// Defines a `u32` index newtype into a list of [`Program`](crate::hir::Program).
macro_rules! index {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
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
    )*};
}

index! {
    /// A struct, header or union type, type arguments filled in.
    AggId;
    /// An enum type.
    EnumId;
    /// A `type` declaration.
    NewTypeId;
    /// An extern object type.
    ExternId;
    /// A variable or parameter.
    LocalId;
    /// An instance declared by name.
    InstId;
    /// A function with a body.
    FnId;
    /// An action.
    ActId;
    /// A table.
    TabId;
    /// A control with a body.
    ControlId;
    /// A parser with a body.
    ParserId;
    /// A parser value set.
    SetId;
    /// A type variable of a generic declaration.
    TypeVar;
}
