//! The syntax tree of P4-16 (language version 1.2.5, grammar of its appendix), one noun per type.
//!
//! Names are kept as written; types, constants and directions are resolved by `p4cc-types`, not here. The
//! only semantic knowledge the parser has is which identifiers name types, since the grammar needs it.

use std::collections::BTreeMap;

use crate::span::Span;

/// Whole program: what the preprocessor and the parser made of the root file and its includes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Declarations in source order.
    pub decls: Vec<Decl>,
    /// File and line, as `file:line`, of names that a running program reports: by the offset of the name.
    pub reported: BTreeMap<u32, String>,
}

/// An identifier with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// Text as written.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// A possibly global name: `.x` has `absolute` set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Leading dot.
    pub absolute: bool,
    /// The identifier.
    pub name: Ident,
}

/// `@name(...)`, `@name[...]` or `@name`.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// Without the `@`.
    pub name: Ident,
    /// What follows the name.
    pub body: AnnotationBody,
    /// Whole annotation.
    pub span: Span,
}

/// Body of an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum AnnotationBody {
    /// `@hidden`
    Empty,
    /// `@name("x")`, unstructured: the raw tokens between the parentheses, each as its source text.
    Tokens(Vec<AnnotationToken>),
    /// `@structured[1, "a", x == 2]`
    Expressions(Vec<Expr>),
    /// `@structured[a = 1, b = "x"]`
    KeyValues(Vec<(Ident, Expr)>),
}

/// One raw token of an unstructured annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnotationToken {
    /// Source text; string literals keep their quotes.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A declaration at top level or inside a parser, control or action.
#[derive(Clone, Debug, PartialEq)]
pub struct Decl {
    /// Annotations in order.
    pub annotations: Vec<Annotation>,
    /// What is declared.
    pub kind: DeclKind,
    /// Whole declaration.
    pub span: Span,
}

/// The kinds of declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum DeclKind {
    /// `const T x = e;`
    Const {
        /// Type.
        ty: Type,
        /// Name.
        name: Ident,
        /// Value.
        value: Expr,
    },
    /// `T x;` or `T x = e;`
    Variable {
        /// Type.
        ty: Type,
        /// Name.
        name: Ident,
        /// `= e`
        init: Option<Expr>,
    },
    /// `T(args) x;`, with an optional `= { ... }` block of abstract method implementations.
    Instance {
        /// Type.
        ty: Type,
        /// Arguments.
        args: Vec<Argument>,
        /// Name.
        name: Ident,
        /// Implementations of abstract methods: functions and instances.
        body: Option<Vec<Decl>>,
    },
    /// `error { A, B }`
    Error {
        /// Members in order.
        members: Vec<Ident>,
    },
    /// `match_kind { exact, lpm }`
    MatchKind {
        /// Members in order.
        members: Vec<Ident>,
    },
    /// `header H { ... }`, `struct S { ... }`, `header_union U { ... }`
    Aggregate {
        /// Which aggregate.
        kind: AggregateKind,
        /// Name.
        name: Ident,
        /// Type parameters.
        type_params: Vec<Ident>,
        /// Fields in order.
        fields: Vec<Field>,
    },
    /// `enum E { A, B }` or `enum bit<8> E { A = 1 }`
    Enum {
        /// Name.
        name: Ident,
        /// `bit<8>` of a serializable enum.
        underlying: Option<Type>,
        /// Members in order.
        members: Vec<EnumMember>,
    },
    /// `typedef T x;`
    Typedef {
        /// Type.
        ty: Type,
        /// Name.
        name: Ident,
    },
    /// `type T x;`
    NewType {
        /// Type.
        ty: Type,
        /// Name.
        name: Ident,
    },
    /// `parser P<T>(params);` without a body
    ParserType {
        /// Name.
        name: Ident,
        /// Type parameters.
        type_params: Vec<Ident>,
        /// Parameters.
        params: Vec<Param>,
    },
    /// `control C<T>(params);` without a body
    ControlType {
        /// Name.
        name: Ident,
        /// Type parameters.
        type_params: Vec<Ident>,
        /// Parameters.
        params: Vec<Param>,
    },
    /// `package P<T>(params);`
    PackageType {
        /// Name.
        name: Ident,
        /// Type parameters.
        type_params: Vec<Ident>,
        /// Parameters.
        params: Vec<Param>,
    },
    /// `parser P(params)(ctor params) { locals states }`
    Parser(Box<ParserDecl>),
    /// `control C(params)(ctor params) { locals apply {...} }`
    Control(Box<ControlDecl>),
    /// `extern E<T> { ... }`
    ExternObject {
        /// Name.
        name: Ident,
        /// Type parameters.
        type_params: Vec<Ident>,
        /// Constructors and methods in order.
        methods: Vec<ExternMethod>,
    },
    /// `extern T f<U>(params);`
    ExternFunction(FunctionSignature),
    /// `T f<U>(params) { ... }`
    Function {
        /// Name, types, parameters.
        signature: FunctionSignature,
        /// Statements.
        body: Block,
    },
    /// `action a(params) { ... }`
    Action {
        /// Name.
        name: Ident,
        /// Parameters.
        params: Vec<Param>,
        /// Statements.
        body: Block,
    },
    /// `table t { ... }`
    Table(Box<TableDecl>),
    /// `value_set<T>(size) name;`
    ValueSet {
        /// Type.
        ty: Type,
        /// How many values it holds.
        size: Expr,
        /// Name.
        name: Ident,
    },
}

/// Which aggregate a declaration makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateKind {
    /// `header`
    Header,
    /// `struct`
    Struct,
    /// `header_union`
    HeaderUnion,
}

/// A field of an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Annotations in order.
    pub annotations: Vec<Annotation>,
    /// Type.
    pub ty: Type,
    /// Name.
    pub name: Ident,
}

/// A member of an enum; `value` only in a serializable enum.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumMember {
    /// Name.
    pub name: Ident,
    /// `= e`
    pub value: Option<Expr>,
}

/// Direction of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// No direction: control-plane data of an action, or a compile-time value.
    None,
    /// `in`
    In,
    /// `out`
    Out,
    /// `inout`
    InOut,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Annotations in order.
    pub annotations: Vec<Annotation>,
    /// Direction.
    pub direction: Direction,
    /// Type.
    pub ty: Type,
    /// Name.
    pub name: Ident,
    /// `= e`
    pub default: Option<Expr>,
}

/// Name, type parameters, parameters and return type of a function or method.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSignature {
    /// Return type (`void` is [`TypeKind::Void`]).
    pub return_type: Type,
    /// Name.
    pub name: Ident,
    /// Type parameters.
    pub type_params: Vec<Ident>,
    /// Parameters.
    pub params: Vec<Param>,
}

/// A method or constructor of an extern object.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternMethod {
    /// Annotations in order.
    pub annotations: Vec<Annotation>,
    /// `abstract`
    pub is_abstract: bool,
    /// The constructor has the extern's name and a `void` return type.
    pub is_constructor: bool,
    /// Signature.
    pub signature: FunctionSignature,
}

/// A parser with its body.
#[derive(Clone, Debug, PartialEq)]
pub struct ParserDecl {
    /// Name.
    pub name: Ident,
    /// Type parameters.
    pub type_params: Vec<Ident>,
    /// Run-time parameters.
    pub params: Vec<Param>,
    /// Constructor parameters.
    pub constructor_params: Vec<Param>,
    /// Constants, variables, instances, value sets.
    pub locals: Vec<Decl>,
    /// States in source order.
    pub states: Vec<ParserState>,
}

/// A parser state.
#[derive(Clone, Debug, PartialEq)]
pub struct ParserState {
    /// Annotations in order.
    pub annotations: Vec<Annotation>,
    /// Name.
    pub name: Ident,
    /// Statements before the transition.
    pub body: Vec<Stmt>,
    /// `None` means an implicit `transition reject`.
    pub transition: Option<Transition>,
    /// Whole state.
    pub span: Span,
}

/// Where a state goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Transition {
    /// `transition s;`
    Direct(Ident),
    /// `transition select(keys) { cases }`
    Select {
        /// Selected values.
        keys: Vec<Expr>,
        /// Cases in order.
        cases: Vec<SelectCase>,
        /// From `select` (or the first token) to the closing brace.
        span: Span,
    },
}

/// One line of a select.
#[derive(Clone, Debug, PartialEq)]
pub struct SelectCase {
    /// `(a, b)` is [`ExprKind::Tuple`]; a single keyset stands
    /// alone; `default` and `_` are keyset expressions.
    pub keyset: Expr,
    /// State it leads to.
    pub state: Ident,
    /// Whole case.
    pub span: Span,
}

/// A control with its body.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlDecl {
    /// Name.
    pub name: Ident,
    /// Type parameters.
    pub type_params: Vec<Ident>,
    /// Run-time parameters.
    pub params: Vec<Param>,
    /// Constructor parameters.
    pub constructor_params: Vec<Param>,
    /// Constants, variables, instances, actions, tables.
    pub locals: Vec<Decl>,
    /// `apply { ... }`
    pub apply: Block,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDecl {
    /// Name.
    pub name: Ident,
    /// Properties in source order.
    pub properties: Vec<TableProperty>,
}

/// A table property with its annotations.
#[derive(Clone, Debug, PartialEq)]
pub struct TableProperty {
    /// Annotations in order.
    pub annotations: Vec<Annotation>,
    /// What it sets.
    pub kind: TablePropertyKind,
    /// Whole property.
    pub span: Span,
}

/// The kinds of table property.
#[derive(Clone, Debug, PartialEq)]
pub enum TablePropertyKind {
    /// `key = { e : kind; ... }`
    Key(Vec<KeyElement>),
    /// `actions = { a; b(x); }`
    Actions(Vec<ActionRef>),
    /// `[const] entries = { ... }`
    Entries {
        /// `const` before the name.
        is_const: bool,
        /// Entries in order.
        entries: Vec<TableEntry>,
    },
    /// `[const] default_action = a(1)` and every other `name = value`, target properties included.
    Other {
        /// `const` before the name.
        is_const: bool,
        /// Name.
        name: Ident,
        /// Value.
        value: Expr,
    },
}

/// One key of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyElement {
    /// Annotations in order.
    pub annotations: Vec<Annotation>,
    /// Matched expression.
    pub expr: Expr,
    /// Match kind.
    pub match_kind: Ident,
}

/// An action listed in a table.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionRef {
    /// Annotations in order (`@tableonly`, `@defaultonly`).
    pub annotations: Vec<Annotation>,
    /// Which action.
    pub path: Path,
    /// Arguments bound to directional parameters.
    pub args: Vec<Argument>,
    /// Whole reference.
    pub span: Span,
}

/// An entry of an `entries` property.
#[derive(Clone, Debug, PartialEq)]
pub struct TableEntry {
    /// `const` before the entry.
    pub is_const: bool,
    /// `priority = e:`
    pub priority: Option<Expr>,
    /// Keyset; a tuple has [`ExprKind::Tuple`].
    pub keyset: Expr,
    /// Action with all its arguments.
    pub action: ActionRef,
    /// Annotations after the action.
    pub annotations: Vec<Annotation>,
    /// Whole entry.
    pub span: Span,
}

/// An argument, positional or named. `_` is [`ExprKind::DontCare`].
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// `name = e`
    pub name: Option<Ident>,
    /// The value.
    pub value: Expr,
}

/// `{ ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Annotations before the brace.
    pub annotations: Vec<Annotation>,
    /// Statements and declarations in order.
    pub stmts: Vec<Stmt>,
    /// With the braces.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Whole statement.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// A constant, variable or instance declaration.
    Decl(Decl),
    /// `a = b;`, or `a += b;` with the operator in `op`.
    Assign {
        /// What is written.
        target: Expr,
        /// Operator of a compound assignment.
        op: Option<BinaryOp>,
        /// Value.
        value: Expr,
    },
    /// `f(x);`, `t.apply();`
    Call(Expr),
    /// `C.apply(args);` where `C` names a type (direct application).
    DirectApplication {
        /// Type.
        ty: Type,
        /// Arguments.
        args: Vec<Argument>,
    },
    /// `if (c) s else s`
    If {
        /// Condition.
        cond: Expr,
        /// Taken if true.
        then: Box<Stmt>,
        /// Taken if false.
        otherwise: Option<Box<Stmt>>,
    },
    /// `switch (e) { ... }`
    Switch {
        /// What is switched on.
        value: Expr,
        /// Cases in order.
        cases: Vec<SwitchCase>,
    },
    /// `for (init; cond; update) body`
    For {
        /// Annotations before `for`.
        annotations: Vec<Annotation>,
        /// `= e`
        init: Vec<Stmt>,
        /// Condition.
        cond: Expr,
        /// Run after each round.
        update: Vec<Stmt>,
        /// Body.
        body: Box<Stmt>,
    },
    /// `for (T x in range) body`
    ForIn {
        /// Annotations before `for`.
        annotations: Vec<Annotation>,
        /// Type.
        ty: Type,
        /// Name.
        name: Ident,
        /// What is walked over.
        range: ForRange,
        /// Body.
        body: Box<Stmt>,
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return;` or `return e;`
    Return(Option<Expr>),
    /// `exit;`
    Exit,
    /// `{ ... }`
    Block(Block),
}

/// What a `for ... in` walks over.
#[derive(Clone, Debug, PartialEq)]
pub enum ForRange {
    /// `lo .. hi`
    Range(Expr, Expr),
    /// A list or header stack expression.
    Expr(Expr),
}

/// A case of a switch statement.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchCase {
    /// `None` is `default`; an action name is a path expression.
    pub label: Option<Expr>,
    /// `None` falls through to the next case.
    pub body: Option<Block>,
    /// Whole case.
    pub span: Span,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Which type.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of type expression.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `void`
    Void,
    /// `bool`
    Bool,
    /// `error`
    Error,
    /// `match_kind`
    MatchKind,
    /// `string`
    String,
    /// `int`
    Integer,
    /// `bit` or `bit<W>`; `None` is `bit<1>`
    Bit(Option<Box<Expr>>),
    /// `int<W>`
    Int(Box<Expr>),
    /// `varbit<W>`
    Varbit(Box<Expr>),
    /// `T` or `.T`
    Named(Path),
    /// `T<A, B>`
    Specialized(Path, Vec<Type>),
    /// `T[n]`
    Stack(Box<Type>, Box<Expr>),
    /// `tuple<A, B>`
    Tuple(Vec<Type>),
    /// `list<T>`
    List(Box<Type>),
    /// `_`
    DontCare,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Which expression.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// An integer literal: `8w0xFF`, `4s7`, `1_000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntLiteral {
    /// Digits without underscores, prefix and width, in base [`Self::base`].
    pub digits: String,
    /// 2, 8, 10 or 16.
    pub base: u32,
    /// `(width, signed)`, if written.
    pub width: Option<(u32, bool)>,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `true`, `false`
    Bool(bool),
    /// Integer literal.
    Int(IntLiteral),
    /// String literal, escapes resolved.
    String(String),
    /// `x`, `.x`
    Path(Path),
    /// `this`
    This,
    /// `...` (default initializer)
    Dots,
    /// `{#}` (invalid header)
    InvalidHeader,
    /// `_`
    DontCare,
    /// `default` in a keyset
    Default,
    /// `{a, b}` list expression
    List(Vec<Expr>),
    /// `{f = a, ...}` structure expression; `dots` is a trailing `...`
    Struct {
        /// Fields in order.
        fields: Vec<(Ident, Expr)>,
        /// Trailing `...`.
        dots: bool,
    },
    /// `(a, b)` in a keyset
    Tuple(Vec<Expr>),
    /// `a &&& b`
    Mask(Box<Expr>, Box<Expr>),
    /// `a .. b`
    Range(Box<Expr>, Box<Expr>),
    /// `-a`, `!a`, `~a`, `+a`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(T) e`
    Cast(Type, Box<Expr>),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `a[hi:lo]`
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a[lo+:width]`
    PlusSlice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a.b` on a value
    Member(Box<Expr>, Ident),
    /// `T.member`: enum or error constant, or a static name
    TypeMember(Type, Ident),
    /// `f<T>(args)`
    Call {
        /// What is called.
        callee: Box<Expr>,
        /// Type arguments as written.
        type_args: Vec<Type>,
        /// Arguments.
        args: Vec<Argument>,
    },
    /// `T(args)`: constructor call
    Construct {
        /// Type.
        ty: Type,
        /// Arguments.
        args: Vec<Argument>,
    },
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `~`
    BitNot,
    /// `-`
    Neg,
    /// `+`
    Plus,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `|+|`
    AddSat,
    /// `|-|`
    SubSat,
    /// `<<`
    Shl,
    /// `>>`
    Shr,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `&`
    BitAnd,
    /// `^`
    BitXor,
    /// `|`
    BitOr,
    /// `++`
    Concat,
    /// `&&`
    And,
    /// `||`
    Or,
}
