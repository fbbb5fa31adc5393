//! Random programs: few variables, so that arguments overlap
//! often; calls in arguments, indexes, conditions and keys.

use crate::tree::{
    Arg, Call, Callable, Cond, Dir, Expr, Kind, Op, Param, Place, Program, Runs, SHARED, Step, Stmt, Table,
    Ty, Var, VarDecl, Whole,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};

/// What statements at some place can name.
#[derive(Clone)]
struct Scope {
    kind: Option<Kind>,
    readable: Vec<Var>,
    writable: Vec<Var>,
    /// Tables that can be applied: those with lower numbers.
    tables: usize,
    /// Calls left: what is called is inlined, and calls multiply.
    calls: u32,
    in_loop: bool,
}

impl Scope {
    fn new(kind: Option<Kind>) -> Self {
        let (readable, writable) = (Vec::new(), Vec::new());
        Self { kind, readable, writable, tables: 0, calls: 0, in_loop: false }
    }

    /// Sees the variables of the control.
    fn shared(mut self) -> Self {
        self.readable.extend(0..SHARED.len());
        self.writable.extend(0..SHARED.len());
        self
    }
}

/// Makes a program.
pub fn program(seed: u64) -> Program {
    let vars = SHARED.iter().map(|(name, ty)| VarDecl { name: (*name).to_owned(), ty: *ty }).collect();
    let program = Program { vars, ..Program::default() };
    let mut maker = Maker { random: ChaCha8Rng::seed_from_u64(seed), program };
    let kinds = [(Kind::Function, 3), (Kind::GlobalAction, 1), (Kind::Action, 3), (Kind::Control, 2)];
    for (kind, count) in kinds {
        for _ in 0..count {
            maker.callable(kind);
        }
    }
    for number in 0..2 {
        maker.table(number);
    }
    let mut scope = Scope { tables: 2, calls: 12, ..Scope::new(None).shared() };
    maker.program.main = maker.stmts(&mut scope, 10, 2);
    maker.program
}

struct Maker {
    random: ChaCha8Rng,
    program: Program,
}

impl Maker {
    /// One of `0 .. count`.
    fn below(&mut self, count: usize) -> usize {
        self.random.next_u32() as usize % count
    }

    /// True once in `times`.
    fn flip(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn byte(&mut self) -> u8 {
        self.random.next_u32() as u8
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn var(&mut self, ty: Ty) -> Var {
        let var = self.program.vars.len();
        self.program.vars.push(VarDecl { name: format!("x{var}"), ty });
        var
    }

    fn callable(&mut self, kind: Kind) {
        let mut params = Vec::new();
        for _ in 0..1 + self.below(3) {
            let dir = self.pick(&[Dir::In, Dir::InOut, Dir::InOut, Dir::Out]);
            // A parameter that begins without a value gets one first; a stack has none of its own.
            let types: &[Ty] = match dir {
                Dir::Out => &[Ty::Num, Ty::Num, Ty::Pair, Ty::Elem],
                _ => &[Ty::Num, Ty::Num, Ty::Pair, Ty::Elem, Ty::Stack],
            };
            let ty = self.pick(types);
            params.push(Param { dir, var: self.var(ty) });
        }
        if kind == Kind::Action && self.flip(2) {
            params.push(Param { dir: Dir::Data, var: self.var(Ty::Num) });
        }
        let mut scope = Scope { calls: 2, ..Scope::new(Some(kind)) };
        if kind == Kind::Action {
            scope = scope.shared();
        }
        let mut body = Vec::new();
        for param in &params {
            if param.dir == Dir::Out {
                let place = Place { root: param.var, path: Vec::new(), ty: self.program.vars[param.var].ty };
                let (a, b) = (Expr::Const(self.byte()), Expr::Const(self.byte()));
                body.push(match place.ty {
                    Ty::Num => Stmt::Set(place, None, a),
                    Ty::Pair => Stmt::SetWhole(place, Whole::Pair([(0, a), (1, b)])),
                    Ty::Elem | Ty::Stack => Stmt::SetWhole(place, Whole::Elem(a)),
                });
            }
            scope.readable.push(param.var);
            if matches!(param.dir, Dir::Out | Dir::InOut) {
                scope.writable.push(param.var);
            }
        }
        let count = 1 + self.below(4);
        body.extend(self.stmts(&mut scope, count, 1));
        if kind == Kind::Function {
            let value = self.expr(&mut scope, 2);
            body.push(Stmt::Return(Some(value)));
        }
        self.program.callables.push(Callable { kind, params, body });
    }

    fn table(&mut self, number: usize) {
        let mut scope = Scope { tables: number, calls: 3, ..Scope::new(None).shared() };
        let mut keys = Vec::new();
        for _ in 0..2 {
            // Often a bare place, which a later key may change.
            let bare = self.flip(2).then(|| self.place(&scope, Ty::Num, false)).flatten();
            keys.push(match bare {
                Some(place) => Expr::Read(place),
                None => self.expr(&mut scope, 2),
            });
        }
        // Arguments in the list see no tables.
        scope.tables = 0;
        scope.calls = 4;
        let actions: Vec<usize> = self.of_kinds(&[Kind::Action]);
        let first = self.below(actions.len());
        let second = (first + 1 + self.below(actions.len() - 1)) % actions.len();
        let listed = [actions[first], actions[second]].map(|callee| self.call(&mut scope, callee, true));
        let runs = |maker: &mut Self| {
            let action = maker.below(2);
            let callee = &maker.program.callables[listed[action].callee];
            let count = callee.params.iter().filter(|param| param.dir == Dir::Data).count();
            Runs { action, data: (0..count).map(|_| maker.byte()).collect() }
        };
        let entries = [vec![0, 0], vec![0, 1], vec![1, 1]];
        let entries = entries.into_iter().map(|keys| (keys, runs(self))).collect();
        let default = runs(self);
        self.program.tables.push(Table { keys, actions: listed, entries, default });
    }

    fn of_kinds(&self, kinds: &[Kind]) -> Vec<usize> {
        let all = self.program.callables.iter().enumerate();
        all.filter(|(_, callable)| kinds.contains(&callable.kind)).map(|(at, _)| at).collect()
    }

    /// What a statement may call; functions also stand in expressions.
    fn callees(&self, scope: &Scope) -> Vec<usize> {
        match scope.kind {
            Some(Kind::Function) => self.of_kinds(&[Kind::Function]),
            Some(Kind::GlobalAction | Kind::Control) => self.of_kinds(&[Kind::Function, Kind::GlobalAction]),
            Some(Kind::Action) => self.of_kinds(&[Kind::Function, Kind::GlobalAction, Kind::Action]),
            None => self.of_kinds(&[Kind::Function, Kind::GlobalAction, Kind::Action, Kind::Control]),
        }
    }

    /// A place of a type in the variables of a scope.
    fn place(&mut self, scope: &Scope, ty: Ty, written: bool) -> Option<Place> {
        let vars = if written { &scope.writable } else { &scope.readable };
        let holds = |of: Ty| {
            of == ty
                || match ty {
                    Ty::Num => true,
                    Ty::Elem => of == Ty::Stack,
                    Ty::Pair | Ty::Stack => false,
                }
        };
        let fit: Vec<Var> = vars.iter().copied().filter(|var| holds(self.program.vars[*var].ty)).collect();
        if fit.is_empty() {
            return None;
        }
        let root = self.pick(&fit);
        let of = self.program.vars[root].ty;
        let mut path = Vec::new();
        if of != ty {
            if of == Ty::Stack {
                path.push(Step::Index(Box::new(Expr::Const(self.byte()))));
            }
            if ty == Ty::Num {
                path.push(if of == Ty::Pair { Step::Part(self.below(2)) } else { Step::Number });
            }
        }
        Some(Place { root, path, ty })
    }

    /// The same with indexes of run time.
    fn run_place(&mut self, scope: &mut Scope, ty: Ty, written: bool, depth: u32) -> Option<Place> {
        let mut place = self.place(scope, ty, written)?;
        for step in &mut place.path {
            if let Step::Index(index) = step
                && depth > 0
                && !self.flip(4)
            {
                **index = self.expr(scope, depth - 1);
            }
        }
        Some(place)
    }

    fn expr(&mut self, scope: &mut Scope, depth: u32) -> Expr {
        if depth == 0 {
            return match self.place(scope, Ty::Num, false) {
                Some(place) if !self.flip(6) => Expr::Read(place),
                _ => Expr::Const(self.byte()),
            };
        }
        match self.below(9) {
            0 | 1 => match self.run_place(scope, Ty::Num, false, depth) {
                Some(place) => Expr::Read(place),
                None => Expr::Const(self.byte()),
            },
            2..=4 => {
                let op = self.pick(&[Op::Add, Op::Sub, Op::Xor, Op::Or, Op::Halves]);
                let a = self.expr(scope, depth - 1);
                Expr::Op(op, Box::new(a), Box::new(self.expr(scope, depth - 1)))
            }
            5 => {
                let cond = self.cond(scope, depth - 1);
                let a = self.expr(scope, depth - 1);
                Expr::Choose(Box::new(cond), Box::new(a), Box::new(self.expr(scope, depth - 1)))
            }
            _ => {
                let mut functions = self.of_kinds(&[Kind::Function]);
                functions.retain(|callee| self.callable_in(scope, *callee));
                if scope.calls == 0 || functions.is_empty() {
                    return self.expr(scope, 0);
                }
                let callee = self.pick(&functions);
                Expr::Call(self.call(scope, callee, false))
            }
        }
    }

    fn cond(&mut self, scope: &mut Scope, depth: u32) -> Cond {
        let Some(depth) = depth.checked_sub(1) else {
            let a = self.expr(scope, 0);
            return Cond::Less(a, self.expr(scope, 0));
        };
        match self.below(8) {
            0 if scope.tables > 0 && scope.calls > 0 => {
                scope.calls -= 1;
                Cond::Hit(self.below(scope.tables))
            }
            1 | 2 => {
                let a = Box::new(self.cond(scope, depth));
                let b = Box::new(self.cond(scope, depth));
                if self.flip(2) { Cond::And(a, b) } else { Cond::Or(a, b) }
            }
            3 => Cond::Not(Box::new(self.cond(scope, depth))),
            4 | 5 => {
                let ty = self.pick(&[Ty::Pair, Ty::Elem]);
                let a = self.whole(scope, ty, depth);
                Cond::Same(a, self.whole(scope, ty, depth))
            }
            _ => {
                let a = self.expr(scope, depth);
                Cond::Less(a, self.expr(scope, depth))
            }
        }
    }

    /// A value of a pair or element.
    fn whole(&mut self, scope: &mut Scope, ty: Ty, depth: u32) -> Whole {
        if !self.flip(3)
            && let Some(place) = self.run_place(scope, ty, false, depth)
        {
            return Whole::Read(place);
        }
        let first = self.expr(scope, depth);
        if ty == Ty::Elem {
            return Whole::Elem(first);
        }
        let second = self.expr(scope, depth);
        let at = self.below(2);
        Whole::Pair([(at, first), (1 - at, second)])
    }

    /// A call with arguments in some order; in a table's list those with a direction only.
    fn call(&mut self, scope: &mut Scope, callee: usize, listed: bool) -> Call {
        scope.calls = scope.calls.saturating_sub(1);
        let params = self.program.callables[callee].params.clone();
        let mut order: Vec<usize> =
            (0..params.len()).filter(|at| !listed || params[*at].dir != Dir::Data).collect();
        let named = self.flip(2);
        if named {
            for at in (1..order.len()).rev() {
                let other = self.below(at + 1);
                order.swap(at, other);
            }
        }
        let mut args = Vec::new();
        for at in order {
            let (dir, ty) = (params[at].dir, self.program.vars[params[at].var].ty);
            let arg = match (dir, ty) {
                (Dir::Out | Dir::InOut, _) => self.run_place(scope, ty, true, 2).map(Arg::Place),
                (_, Ty::Num) => Some(Arg::Number(self.expr(scope, 1))),
                (_, Ty::Stack) => self.place(scope, ty, false).map(|place| Arg::Whole(Whole::Read(place))),
                (_, ty) => Some(Arg::Whole(self.whole(scope, ty, 1))),
            };
            args.extend(arg.map(|arg| (at, arg)));
        }
        Call { callee, args, named }
    }

    /// Whether all that a callee asks for can be given in a scope.
    fn callable_in(&self, scope: &Scope, callee: usize) -> bool {
        self.program.callables[callee].params.iter().all(|param| {
            let ty = self.program.vars[param.var].ty;
            let written = matches!(param.dir, Dir::Out | Dir::InOut);
            let vars = if written { &scope.writable } else { &scope.readable };
            let types = || vars.iter().map(|var| self.program.vars[*var].ty);
            match ty {
                Ty::Num => !written || types().next().is_some(),
                Ty::Elem => !written || types().any(|ty| matches!(ty, Ty::Elem | Ty::Stack)),
                Ty::Pair => !written || types().any(|of| of == Ty::Pair),
                Ty::Stack => types().any(|of| of == Ty::Stack),
            }
        })
    }

    fn stmts(&mut self, scope: &mut Scope, count: usize, depth: u32) -> Vec<Stmt> {
        (0..count).filter_map(|_| self.stmt(scope, depth)).collect()
    }

    /// Statements in a block of their own.
    fn block(&mut self, scope: &mut Scope, depth: u32) -> Vec<Stmt> {
        let mut inner = scope.clone();
        let count = 1 + self.below(2);
        let made = self.stmts(&mut inner, count, depth - 1);
        scope.calls = inner.calls;
        made
    }

    fn stmt(&mut self, scope: &mut Scope, depth: u32) -> Option<Stmt> {
        let ends = depth == 0 && !scope.in_loop;
        Some(match self.below(if depth == 0 { 11 } else { 15 }) {
            0 | 1 => {
                let op = self.pick(&[None, Some(Op::Add), Some(Op::Sub), Some(Op::Xor), Some(Op::Or)]);
                let place = self.run_place(scope, Ty::Num, true, 2)?;
                Stmt::Set(place, op, self.expr(scope, 2))
            }
            2 => {
                let ty = self.pick(&[Ty::Pair, Ty::Elem]);
                let place = self.run_place(scope, ty, true, 2)?;
                Stmt::SetWhole(place, self.whole(scope, ty, 1))
            }
            3 if ends && self.flip(2) => self.leave(scope)?,
            4 if matches!(scope.kind, None | Some(Kind::Action)) => self.cell(scope)?,
            5 if scope.tables > 0 => Stmt::Apply(self.below(scope.tables)),
            6 if depth > 0 => {
                let value = self.expr(scope, 2);
                let var = self.var(Ty::Num);
                scope.readable.push(var);
                scope.writable.push(var);
                Stmt::Declare(var, value)
            }
            3..=10 => {
                let callees: Vec<usize> = self
                    .callees(scope)
                    .into_iter()
                    .filter(|callee| self.callable_in(scope, *callee))
                    .collect();
                if scope.calls == 0 || callees.is_empty() {
                    return None;
                }
                let callee = self.pick(&callees);
                Stmt::Call(self.call(scope, callee, false))
            }
            11 | 12 => {
                let cond = self.cond(scope, 2);
                let then = self.block(scope, depth);
                Stmt::If(cond, then, self.block(scope, depth))
            }
            13 if scope.tables > 0 && self.flip(2) => {
                let table = self.below(scope.tables);
                Stmt::SwitchRun(table, [self.block(scope, depth), self.block(scope, depth)])
            }
            13 => {
                let value = self.expr(scope, 2);
                Stmt::Switch(value, [0; 3].map(|_| self.block(scope, depth)))
            }
            _ => {
                let low = self.expr(scope, 1);
                let high = self.expr(scope, 1);
                let var = self.var(Ty::Num);
                let mut inner = Scope { in_loop: true, calls: scope.calls.min(1), ..scope.clone() };
                inner.readable.push(var);
                Stmt::For(var, low, high, self.stmts(&mut inner, 2, 0))
            }
        })
    }

    fn leave(&mut self, scope: &mut Scope) -> Option<Stmt> {
        match scope.kind {
            Some(Kind::Function) => Some(Stmt::Return(Some(self.expr(scope, 2)))),
            None if self.flip(2) => None,
            _ => Some(if self.flip(2) { Stmt::Exit } else { Stmt::Return(None) }),
        }
    }

    /// A cell of the register.
    fn cell(&mut self, scope: &mut Scope) -> Option<Stmt> {
        let first = self.flip(2);
        if self.flip(2) {
            let place = self.run_place(scope, Ty::Num, true, 2)?;
            return Some(Stmt::Fetch { place, index: self.expr(scope, 1), index_first: first });
        }
        let index = self.expr(scope, 1);
        Some(Stmt::Keep { index, value: self.expr(scope, 1), value_first: first })
    }
}
