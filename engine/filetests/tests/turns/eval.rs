//! The rules of the P4-16 text on the order of evaluation, followed word by word: 6.8 (calls), 8.1
//! (expressions), 12.1 (assignment), 12.4 and 12.5 (return and exit), 14.2.3 (tables).

use crate::tree::{Arg, Call, Cond, Dir, Expr, Op, Place, Program, Runs, STACK, Step, Stmt, Ty, Var, Whole};

/// An `exit` is on its way.
pub struct Exit;

type Outcome<T> = Result<T, Exit>;

/// How statements ended.
enum End {
    Behind,
    Return(u8),
}

/// Where an l-value lies, its indexes found.
#[derive(Clone, Copy)]
struct Spot {
    root: Var,
    at: usize,
    len: usize,
}

/// An argument, evaluated: what the parameter begins with, and where it is copied to.
struct Given {
    param: usize,
    value: Option<Vec<u8>>,
    target: Option<Spot>,
}

/// A run of a program.
pub struct Machine<'p> {
    program: &'p Program,
    /// No callable calls itself, so that each variable has one place.
    pub values: Vec<Vec<u8>>,
    pub cells: [u8; 4],
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program) -> Self {
        let values = program.vars.iter().map(|var| vec![0; var.ty.numbers()]).collect();
        Self { program, values, cells: [0; 4] }
    }

    pub fn run(&mut self) {
        // An exit ends the control; what it left is looked at behind it.
        let _ = self.stmts(&self.program.main);
    }

    fn spot(&mut self, place: &Place) -> Outcome<Spot> {
        let mut at = 0;
        for step in &place.path {
            at += match step {
                Step::Part(part) => *part,
                Step::Index(index) => usize::from(self.expr(index)?) % STACK,
                Step::Number => 0,
            };
        }
        Ok(Spot { root: place.root, at, len: place.ty.numbers() })
    }

    fn load(&self, spot: Spot) -> Vec<u8> {
        self.values[spot.root][spot.at..spot.at + spot.len].to_vec()
    }

    fn store(&mut self, spot: Spot, value: &[u8]) {
        self.values[spot.root][spot.at..spot.at + spot.len].copy_from_slice(value);
    }

    fn read(&mut self, place: &Place) -> Outcome<Vec<u8>> {
        let spot = self.spot(place)?;
        Ok(self.load(spot))
    }

    fn expr(&mut self, expr: &Expr) -> Outcome<u8> {
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Read(place) => self.read(place)?[0],
            Expr::Op(op, a, b) => {
                let a = self.expr(a)?;
                let b = self.expr(b)?;
                apply(*op, a, b)
            }
            Expr::Choose(cond, a, b) => {
                if self.cond(cond)? {
                    self.expr(a)?
                } else {
                    self.expr(b)?
                }
            }
            Expr::Call(call) => self.call(call, &[])?,
        })
    }

    fn cond(&mut self, cond: &Cond) -> Outcome<bool> {
        Ok(match cond {
            Cond::Less(a, b) => {
                let a = self.expr(a)?;
                a < self.expr(b)?
            }
            Cond::Same(a, b) => {
                let a = self.whole(a)?;
                a == self.whole(b)?
            }
            Cond::And(a, b) => self.cond(a)? && self.cond(b)?,
            Cond::Or(a, b) => self.cond(a)? || self.cond(b)?,
            Cond::Not(a) => !self.cond(a)?,
            Cond::Hit(table) => self.table(*table)?.0,
        })
    }

    fn whole(&mut self, whole: &Whole) -> Outcome<Vec<u8>> {
        Ok(match whole {
            Whole::Read(place) => self.read(place)?,
            Whole::Elem(number) => vec![self.expr(number)?],
            Whole::Pair(fields) => {
                let mut made = vec![0; Ty::Pair.numbers()];
                for (at, value) in fields {
                    made[*at] = self.expr(value)?;
                }
                made
            }
        })
    }

    /// Steps 1 to 6 of section 6.8; `data` are the values of an entry.
    fn call(&mut self, call: &Call, data: &[u8]) -> Outcome<u8> {
        let program = self.program;
        let callee = &program.callables[call.callee];
        let mut given = Vec::new();
        for (param, arg) in &call.args {
            let (value, target) = match arg {
                Arg::Number(number) => (Some(vec![self.expr(number)?]), None),
                Arg::Whole(whole) => (Some(self.whole(whole)?), None),
                Arg::Place(place) => {
                    let spot = self.spot(place)?;
                    let read = callee.params[*param].dir == Dir::InOut;
                    (read.then(|| self.load(spot)), Some(spot))
                }
            };
            given.push(Given { param: *param, value, target });
        }
        for one in &given {
            if let Some(value) = &one.value {
                self.values[callee.params[one.param].var] = value.clone();
            }
        }
        let of_entry = callee.params.iter().filter(|param| param.dir == Dir::Data);
        for (param, value) in of_entry.zip(data) {
            self.values[param.var] = vec![*value];
        }
        let end = self.stmts(&callee.body);
        for one in &given {
            if let Some(target) = one.target {
                let value = self.values[callee.params[one.param].var].clone();
                self.store(target, &value);
            }
        }
        Ok(match end? {
            End::Return(value) => value,
            End::Behind => 0,
        })
    }

    /// Whether an entry matched, and which of the table's actions ran.
    fn table(&mut self, table: usize) -> Outcome<(bool, usize)> {
        let program = self.program;
        let table = &program.tables[table];
        let mut keys = Vec::new();
        for key in &table.keys {
            keys.push(self.expr(key)? & 1);
        }
        let found = table.entries.iter().find(|(wanted, _)| *wanted == keys);
        let Runs { action, data } = found.map_or(&table.default, |(_, runs)| runs);
        self.call(&table.actions[*action], data)?;
        Ok((found.is_some(), *action))
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Outcome<End> {
        for stmt in stmts {
            if let End::Return(value) = self.stmt(stmt)? {
                return Ok(End::Return(value));
            }
        }
        Ok(End::Behind)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Outcome<End> {
        match stmt {
            Stmt::Set(place, op, value) => {
                let spot = self.spot(place)?;
                let old = self.load(spot)[0];
                let value = self.expr(value)?;
                self.store(spot, &[op.map_or(value, |op| apply(op, old, value))]);
            }
            Stmt::SetWhole(place, value) => {
                let spot = self.spot(place)?;
                let value = self.whole(value)?;
                self.store(spot, &value);
            }
            Stmt::Declare(var, value) => self.values[*var] = vec![self.expr(value)?],
            Stmt::Call(call) => {
                self.call(call, &[])?;
            }
            Stmt::If(cond, then, otherwise) => {
                let taken = if self.cond(cond)? { then } else { otherwise };
                return self.stmts(taken);
            }
            Stmt::Switch(value, bodies) => {
                let value = usize::from(self.expr(value)? & 3);
                return self.stmts(&bodies[value.min(2)]);
            }
            Stmt::For(var, low, high, body) => {
                let low = self.expr(low)? & 3;
                let high = self.expr(high)? & 3;
                for round in low..=high {
                    self.values[*var] = vec![round];
                    if let End::Return(value) = self.stmts(body)? {
                        return Ok(End::Return(value));
                    }
                }
            }
            Stmt::Return(value) => {
                let value = value.as_ref().map_or(Ok(0), |value| self.expr(value))?;
                return Ok(End::Return(value));
            }
            Stmt::Exit => return Err(Exit),
            Stmt::Apply(table) => {
                self.table(*table)?;
            }
            Stmt::SwitchRun(table, bodies) => {
                let (_, ran) = self.table(*table)?;
                return self.stmts(&bodies[ran]);
            }
            Stmt::Fetch { place, index, index_first } => {
                let before = if *index_first { Some(self.expr(index)?) } else { None };
                let spot = self.spot(place)?;
                let index = before.map_or_else(|| self.expr(index), Ok)?;
                self.store(spot, &[self.cells[usize::from(index & 3)]]);
            }
            Stmt::Keep { index, value, value_first } => {
                let before = if *value_first { Some(self.expr(value)?) } else { None };
                let index = self.expr(index)?;
                let value = before.map_or_else(|| self.expr(value), Ok)?;
                self.cells[usize::from(index & 3)] = value;
            }
        }
        Ok(End::Behind)
    }
}

fn apply(op: Op, a: u8, b: u8) -> u8 {
    match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Xor => a ^ b,
        Op::Or => a | b,
        Op::Halves => a << 4 | b & 15,
    }
}
