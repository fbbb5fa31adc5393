//! The typed tree: what the checker makes of the syntax tree and the lowering reads.
//!
//! Invariants (once checking ended without an error): every name is resolved to an index, every implicit cast
//! is explicit, every named argument stands at its parameter's place, every compile-time constant that does
//! not depend on a constructor parameter is folded to [`ExprKind::Const`]. After an error the tree may hold
//! [`ExprKind::Poison`].

use std::collections::BTreeMap;

use super::ids::{ActId, ControlId, ExternId, FnId, InstId, LocalId, ParserId, SetId, TabId, TypeVar};
use super::order::Order;
use super::ty::Ty;
use super::value::Value;
use num_bigint::BigInt;
use p4cc_ir::Translation;
use p4cc_syntax::Span;
use p4cc_syntax::ast::{AggregateKind, BinaryOp, Direction, UnaryOp};

/// Names and annotations that the control plane sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// Value of `@name`.
    pub name: Option<String>,
    /// Value of `@id`.
    pub id: Option<u32>,
    /// `@hidden`
    pub hidden: bool,
    /// All but `@name` and `@id`, as source text.
    pub texts: Vec<String>,
    /// Numbers of `@field_list`.
    pub field_lists: Vec<u32>,
    /// Value of `@max_group_size`.
    pub max_group_size: Option<u32>,
    /// Value of `@controller_header`.
    pub controller_header: Option<String>,
    /// Value of `@p4runtime_translation`.
    pub translation: Option<Translation>,
}

impl Annotations {
    /// Whether `@name` without arguments stands among them.
    pub fn has(&self, name: &str) -> bool {
        self.texts.iter().any(|text| {
            text.strip_prefix('@').is_some_and(|rest| {
                rest.strip_prefix(name).is_some_and(|tail| tail.is_empty() || tail.starts_with(['(', '[']))
            })
        })
    }
}

/// A field of an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Ty,
    /// Annotations.
    pub annotations: Annotations,
}

/// A struct, header or union type.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// Which of the three.
    pub kind: AggregateKind,
    /// Name with type arguments.
    pub name: String,
    /// Fields in order.
    pub fields: Vec<Field>,
    /// Annotations of the declaration.
    pub annotations: Annotations,
    /// Place of the name.
    pub span: Span,
}

/// An enum type.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumDef {
    /// Name.
    pub name: String,
    /// Underlying type of a serializable enum.
    pub underlying: Option<Ty>,
    /// Members in order, with their values if serializable.
    pub members: Vec<(String, BigInt)>,
    /// Annotations of the declaration.
    pub annotations: Annotations,
}

/// A `type` declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct NewType {
    /// Name.
    pub name: String,
    /// What it wraps.
    pub ty: Ty,
    /// Annotations of the declaration.
    pub annotations: Annotations,
}

/// A parameter of a signature.
#[derive(Clone, Debug, PartialEq)]
pub struct SigParam {
    /// Name.
    pub name: String,
    /// Direction.
    pub direction: Direction,
    /// Type.
    pub ty: Ty,
    /// Default value.
    pub default: Option<Expr>,
    /// `@optional`
    pub optional: bool,
}

/// Signature of a function, method or constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct Sig {
    /// Name.
    pub name: String,
    /// Type variables.
    pub type_vars: Vec<TypeVar>,
    /// Parameters.
    pub params: Vec<SigParam>,
    /// Result.
    pub ret: Ty,
    /// Place of the name.
    pub span: Span,
}

/// An extern object type.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternDef {
    /// Name.
    pub name: String,
    /// Type variables.
    pub type_vars: Vec<TypeVar>,
    /// Constructors.
    pub constructors: Vec<Sig>,
    /// Methods.
    pub methods: Vec<Sig>,
    /// Names of the methods that instances may leave out (`@optional abstract`).
    pub optional_abstracts: Vec<String>,
    /// Names of the methods that instances implement.
    pub abstracts: Vec<String>,
}

/// What a local is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalKind {
    /// A variable.
    Variable,
    /// A run-time parameter.
    Param(Direction),
    /// A constructor parameter.
    Constructor,
}

/// A variable or parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Name.
    pub name: String,
    /// Type.
    pub ty: Ty,
    /// What it is.
    pub kind: LocalKind,
    /// Annotations.
    pub annotations: Annotations,
    /// Place of the name.
    pub span: Span,
}

/// A named instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Name.
    pub name: String,
    /// What it is made of.
    pub construct: Construct,
    /// Of an array of objects its sizes, from the outermost.
    pub sizes: Vec<u32>,
    /// Annotations.
    pub annotations: Annotations,
    /// What it implements of the abstract methods of its extern.
    pub methods: Vec<FnId>,
    /// How often `apply` is called on it in the source; at least 2 when it is handed on as an argument.
    pub apply_sites: u32,
    /// Place.
    pub span: Span,
}

/// A constructor call.
#[derive(Clone, Debug, PartialEq)]
pub struct Construct {
    /// What is made.
    pub what: Constructed,
    /// Arguments in order of the parameters; `None` where an optional one is left out.
    pub args: Vec<Option<Expr>>,
}

/// What a constructor call makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Constructed {
    /// An extern object with its type arguments.
    Extern(ExternId, Vec<Ty>),
    /// A control.
    Control(ControlId),
    /// A parser.
    Parser(ParserId),
    /// A package, by name.
    Package(String),
    /// Nothing: an error was reported.
    Poison,
}

/// A function with a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<LocalId>,
    /// Result.
    pub ret: Ty,
    /// Statements.
    pub body: Vec<Stmt>,
}

/// An action.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// Name.
    pub name: String,
    /// Declared outside any control, so that its name is not qualified.
    pub global: bool,
    /// Parameters in order.
    pub params: Vec<LocalId>,
    /// Statements.
    pub body: Vec<Stmt>,
    /// Annotations.
    pub annotations: Annotations,
    /// Place of the name.
    pub span: Span,
}

/// A control with a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// Name.
    pub name: String,
    /// Run-time parameters.
    pub params: Vec<LocalId>,
    /// Constructor parameters.
    pub constructor_params: Vec<LocalId>,
    /// Instances in order.
    pub instances: Vec<InstId>,
    /// Initialisers of the control's variables, then the apply block.
    pub body: Vec<Stmt>,
    /// Annotations.
    pub annotations: Annotations,
    /// Place of the name.
    pub span: Span,
}

/// A parser with a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Parser {
    /// Name.
    pub name: String,
    /// Run-time parameters.
    pub params: Vec<LocalId>,
    /// Constructor parameters.
    pub constructor_params: Vec<LocalId>,
    /// Instances in order.
    pub instances: Vec<InstId>,
    /// Initialisers of the parser's variables.
    pub init: Vec<Stmt>,
    /// States in order.
    pub states: Vec<State>,
    /// Position of `start`.
    pub start: usize,
    /// Annotations.
    pub annotations: Annotations,
    /// Place of the name.
    pub span: Span,
}

/// A parser state.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Name.
    pub name: String,
    /// Statements.
    pub body: Vec<Stmt>,
    /// Where it goes.
    pub transition: Transition,
    /// Place.
    pub span: Span,
}

/// Where a state goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Transition {
    /// To one state.
    Direct(Target),
    /// By value.
    Select {
        /// Selected values.
        keys: Vec<Expr>,
        /// Cases in order, one keyset per key.
        cases: Vec<SelectCase>,
    },
}

/// A line of a select.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectCase {
    /// What it matches.
    pub keyset: SelectKeyset,
    /// Where it goes.
    pub target: Target,
    /// Place.
    pub span: Span,
}

/// What a case of a select matches.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectKeyset {
    /// One keyset per key.
    Each(Vec<Expr>),
    /// All keys in a value set.
    Set(SetId),
}

/// A state, or the end of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// By position.
    State(usize),
    /// `accept`
    Accept,
    /// `reject`
    Reject,
}

/// A parser value set.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSet {
    /// Name.
    pub name: String,
    /// Type of a member.
    pub ty: Ty,
    /// Most members.
    pub size: Expr,
    /// Annotations.
    pub annotations: Annotations,
    /// Place.
    pub span: Span,
}

/// A key of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Name for the control plane, `@name` not applied.
    pub name: String,
    /// Matched expression.
    pub expr: Expr,
    /// Match kind.
    pub match_kind: String,
    /// Annotations.
    pub annotations: Annotations,
}

/// An action listed in a table, or called by an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRef {
    /// Which action.
    pub action: ActId,
    /// Arguments in order of the parameters; in a table's list those of the directional parameters only.
    pub args: Vec<Option<Expr>>,
    /// The order in which they were written.
    pub order: Order,
    /// Annotations.
    pub annotations: Annotations,
    /// Place.
    pub span: Span,
}

/// An entry written in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// One keyset per key.
    pub keysets: Vec<Expr>,
    /// Written priority.
    pub priority: Option<u32>,
    /// `@priority` of p4c: the smallest wins.
    pub annotated_priority: Option<u32>,
    /// What it runs.
    pub action: ActionRef,
    /// Cannot be changed.
    pub is_const: bool,
    /// Place.
    pub span: Span,
}

/// What a property attaches to a table: an action profile, a counter or a meter.
#[derive(Clone, Debug, PartialEq)]
pub struct Attached {
    /// An instance, or the constructor call that makes one for this table alone.
    pub object: Expr,
    /// Annotations of the property; `@name` names an object made here.
    pub annotations: Annotations,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name.
    pub name: String,
    /// Keys in order.
    pub keys: Vec<Key>,
    /// Actions in order.
    pub actions: Vec<ActionRef>,
    /// Default action.
    pub default_action: Option<ActionRef>,
    /// `const default_action`
    pub const_default: bool,
    /// Entries in order.
    pub entries: Vec<Entry>,
    /// `const entries`
    pub const_entries: bool,
    /// `size`
    pub size: Option<Expr>,
    /// `implementation`
    pub implementation: Option<Attached>,
    /// `counters`
    pub counters: Option<Attached>,
    /// `meters`
    pub meters: Option<Attached>,
    /// `registers`
    pub registers: Option<Attached>,
    /// `filters`
    pub filters: Option<Attached>,
    /// `support_timeout`
    pub support_timeout: bool,
    /// `largest_priority_wins`, true unless written.
    pub largest_priority_wins: bool,
    /// `priority_delta`, 1 unless written.
    pub priority_delta: u32,
    /// Annotations.
    pub annotations: Annotations,
    /// Place of the name.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Which expression.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Ty,
    /// Place.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An error was reported.
    Poison,
    /// A constant.
    Const(Value),
    /// A variable or parameter.
    Local(LocalId),
    /// A named instance.
    Instance(InstId),
    /// A constructor call in an argument.
    Construct(Box<Construct>),
    /// Field of a struct, header, union or tuple, by position.
    Field(Box<Expr>, usize),
    /// Element of a stack.
    Index(Box<Expr>, Box<Expr>),
    /// `stack.next`
    StackNext(Box<Expr>),
    /// `stack.last`
    StackLast(Box<Expr>),
    /// `stack.lastIndex`
    StackLastIndex(Box<Expr>),
    /// `value[hi:lo]`
    Slice(Box<Expr>, u32, u32),
    /// `value[lo +: width]` where `lo` is known at run time only, in bits.
    PlusSlice(Box<Expr>, Box<Expr>, u32),
    /// Unary operator.
    Unary(UnaryOp, Box<Expr>),
    /// Binary operator.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Cast to the expression's type.
    Cast(Box<Expr>),
    /// Value of a struct, header, tuple or stack, by position.
    Aggregate(Vec<Expr>),
    /// The same where the order in which the parts were written is another and some part has effects.
    AggregateInOrder(Vec<Expr>, Order),
    /// Names of the fields of an [`ExprKind::Aggregate`]
    /// without a known type yet: the type is [`Ty::Record`].
    InvalidHeader,
    /// The default value of the type.
    Default,
    /// A call.
    Call(Box<Call>),
    /// `this`: the instance whose method it is.
    This,
    /// `table.apply().hit` or `.miss`
    Hit {
        /// Which table.
        table: TabId,
        /// `.miss`
        negated: bool,
    },
    /// `table.apply().action_run`
    ActionRun(TabId),
    /// `a &&& b` in a keyset
    Mask(Box<Expr>, Box<Expr>),
    /// `a .. b` in a keyset
    Range(Box<Expr>, Box<Expr>),
    /// `_` or `default`
    Any,
    /// A value set in a keyset.
    ValueSet(SetId),
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// Arguments in order of the parameters; `None` for `_` and for optional ones left out.
    pub args: Vec<Option<Expr>>,
    /// The order in which they were written, which is that of their evaluation.
    pub order: Order,
    /// Place.
    pub span: Span,
}

/// What is called.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A function of the program.
    Function(FnId),
    /// An action.
    Action(ActId),
    /// An extern function.
    Extern {
        /// Name.
        name: String,
        /// Type arguments, inferred or written.
        type_args: Vec<Ty>,
        /// Parameters with the type arguments filled in.
        params: Vec<(Direction, Ty)>,
    },
    /// A method of an extern object.
    Method {
        /// The object.
        object: Box<Expr>,
        /// Its extern type's name.
        extern_name: String,
        /// Method.
        name: String,
        /// Type arguments of the method.
        type_args: Vec<Ty>,
    },
    /// `control.apply` or `parser.apply`
    Apply(Box<Expr>),
    /// `table.apply`
    Table(TabId),
    /// A built-in method of a header, union or stack.
    Builtin(Builtin, Box<Expr>),
}

/// Built-in methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// `header.isValid()` or `union.isValid()`
    IsValid,
    /// `header.setValid()`
    SetValid,
    /// `header.setInvalid()`
    SetInvalid,
    /// `stack.push_front(n)`
    PushFront,
    /// `stack.pop_front(n)`
    PopFront,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Place.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// A variable comes into being.
    Declare(LocalId, Option<Expr>),
    /// `a = b`
    Assign(Expr, Expr),
    /// `a op= b` where `a` is found by a call, and so only once.
    Update {
        /// What is written.
        target: Expr,
        /// Stands for what the target held before.
        old: LocalId,
        /// What it gets.
        value: Expr,
    },
    /// A call for its effects.
    Call(Call),
    /// `if`
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `switch (t.apply().action_run)`
    SwitchAction {
        /// The table.
        table: TabId,
        /// Actions and bodies; a body is shared by labels that fall through to it.
        cases: Vec<(Vec<ActId>, Vec<Stmt>)>,
        /// Default body.
        default: Vec<Stmt>,
    },
    /// `switch` on a value
    SwitchValue {
        /// The value.
        value: Expr,
        /// Values and bodies.
        cases: Vec<(Vec<Expr>, Vec<Stmt>)>,
        /// Default body.
        default: Vec<Stmt>,
    },
    /// `for (init; cond; update)`
    For {
        /// Before the first round.
        init: Vec<Stmt>,
        /// Checked before each round.
        cond: Expr,
        /// After each round.
        update: Vec<Stmt>,
        /// Body.
        body: Vec<Stmt>,
    },
    /// `for (x in { a, b })` and `for (x in stack)`
    ForEach {
        /// Loop variable.
        var: LocalId,
        /// What it gets, one after the other; found before the first round.
        items: Expr,
        /// Body.
        body: Vec<Stmt>,
    },
    /// `for (x in lo .. hi)`
    ForRange {
        /// Loop variable.
        var: LocalId,
        /// First value.
        low: Expr,
        /// Last value.
        high: Expr,
        /// Body.
        body: Vec<Stmt>,
    },
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`
    Return(Option<Expr>),
    /// `exit`
    Exit,
    /// A block.
    Block(Vec<Stmt>),
}

/// A checked program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Structs, headers and unions, by [`AggId`].
    pub aggregates: Vec<Aggregate>,
    /// Enum types, by [`EnumId`].
    pub enums: Vec<EnumDef>,
    /// `type` declarations, by [`NewTypeId`].
    pub newtypes: Vec<NewType>,
    /// Extern object types, by [`ExternId`].
    pub externs: Vec<ExternDef>,
    /// Members of `error`; the value of each is its position.
    pub errors: Vec<String>,
    /// Variables and parameters, by [`LocalId`].
    pub locals: Vec<Local>,
    /// Named instances, by [`InstId`].
    pub instances: Vec<Instance>,
    /// Functions, by [`FnId`].
    pub functions: Vec<Function>,
    /// Actions, by [`ActId`].
    pub actions: Vec<Action>,
    /// Tables, by [`TabId`].
    pub tables: Vec<Table>,
    /// Controls, by [`ControlId`].
    pub controls: Vec<Control>,
    /// Parsers, by [`ParserId`].
    pub parsers: Vec<Parser>,
    /// Parser value sets, by [`SetId`].
    pub value_sets: Vec<ValueSet>,
    /// File and line, as `file:line`, of names that a running program reports: by the offset of the name.
    pub reported: BTreeMap<u32, String>,
    /// Instances declared at top level, in order.
    pub global_instances: Vec<InstId>,
    /// The instance named `main`.
    pub main: Option<InstId>,
    /// `NoAction` of core.p4.
    pub no_action: Option<ActId>,
}
