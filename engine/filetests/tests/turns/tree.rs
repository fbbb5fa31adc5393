//! Small programs of nested calls: what the test makes, prints and evaluates. All numbers are `bit<8>`.

/// A variable or parameter, by position in [`Program::vars`].
pub type Var = usize;

/// Variables that outlive the control: two fields of a
/// header, a number, a struct and a stack of the metadata.
pub const SHARED: [(&str, Ty); 5] = [
    ("hdr.g.f0", Ty::Num),
    ("hdr.g.f1", Ty::Num),
    ("meta.v", Ty::Num),
    ("meta.p", Ty::Pair),
    ("meta.s", Ty::Stack),
];

/// Elements of a stack.
pub const STACK: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Num,
    /// A struct of two numbers.
    Pair,
    /// A header of one number, valid throughout.
    Elem,
    /// A stack of such headers.
    Stack,
}

impl Ty {
    pub fn numbers(self) -> usize {
        match self {
            Ty::Num | Ty::Elem => 1,
            Ty::Pair => 2,
            Ty::Stack => STACK,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Ty::Num => "bit<8>",
            Ty::Pair => "pair_t",
            Ty::Elem => "elem_h",
            Ty::Stack => "elem_h[4]",
        }
    }
}

#[derive(Clone, Debug)]
pub struct VarDecl {
    pub name: String,
    pub ty: Ty,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// Field of a pair.
    Part(usize),
    /// Element of a stack, the index brought into its size.
    Index(Box<Expr>),
    /// The number of an element.
    Number,
}

/// What can be written.
#[derive(Clone, Debug)]
pub struct Place {
    pub root: Var,
    pub path: Vec<Step>,
    pub ty: Ty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Xor,
    Or,
    /// The low halves of both, behind each other.
    Halves,
}

#[derive(Clone, Debug)]
pub enum Expr {
    Const(u8),
    Read(Place),
    Op(Op, Box<Expr>, Box<Expr>),
    Choose(Box<Cond>, Box<Expr>, Box<Expr>),
    Call(Call),
}

#[derive(Clone, Debug)]
pub enum Cond {
    Less(Expr, Expr),
    Same(Whole, Whole),
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
    Not(Box<Cond>),
    /// `table.apply().hit`
    Hit(usize),
}

/// A value of a type with parts.
#[derive(Clone, Debug)]
pub enum Whole {
    Read(Place),
    /// Fields in the order written; by name if that is not their own.
    Pair([(usize, Expr); 2]),
    Elem(Expr),
}

#[derive(Clone, Debug)]
pub enum Arg {
    Number(Expr),
    Whole(Whole),
    Place(Place),
}

#[derive(Clone, Debug)]
pub struct Call {
    pub callee: usize,
    /// Positions of parameters with their arguments, in the order written.
    pub args: Vec<(usize, Arg)>,
    pub named: bool,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Set(Place, Option<Op>, Expr),
    SetWhole(Place, Whole),
    Declare(Var, Expr),
    Call(Call),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    Switch(Expr, [Vec<Stmt>; 3]),
    /// The low two bits of both ends.
    For(Var, Expr, Expr, Vec<Stmt>),
    Return(Option<Expr>),
    Exit,
    Apply(usize),
    /// A body where the first action ran, one where it did not.
    SwitchRun(usize, [Vec<Stmt>; 2]),
    /// A cell to a place; the index first if so written.
    Fetch {
        place: Place,
        index: Expr,
        index_first: bool,
    },
    /// A cell from a value; the value first if so written.
    Keep {
        index: Expr,
        value: Expr,
        value_first: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dir {
    In,
    Out,
    InOut,
    /// Without direction: data of an action.
    Data,
}

#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub dir: Dir,
    pub var: Var,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Function,
    /// An action outside of the control, which sees its parameters only.
    GlobalAction,
    /// One of the control, which sees its variables.
    Action,
    Control,
}

#[derive(Clone, Debug)]
pub struct Callable {
    pub kind: Kind,
    pub params: Vec<Param>,
    pub body: Vec<Stmt>,
}

/// An entry or default: which of the table's actions, with what data.
#[derive(Clone, Debug)]
pub struct Runs {
    pub action: usize,
    pub data: Vec<u8>,
}

/// Keys match by their lowest bits.
#[derive(Clone, Debug)]
pub struct Table {
    pub keys: Vec<Expr>,
    /// With the arguments that the list binds.
    pub actions: [Call; 2],
    pub entries: Vec<(Vec<u8>, Runs)>,
    pub default: Runs,
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub vars: Vec<VarDecl>,
    pub callables: Vec<Callable>,
    pub tables: Vec<Table>,
    pub main: Vec<Stmt>,
}
