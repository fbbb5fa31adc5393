//! The programs as P4-16 source.

use crate::tree::{
    Arg, Call, Callable, Cond, Dir, Expr, Kind, Op, Place, Program, Runs, Step, Stmt, Table, Whole,
};
use std::fmt::Write as _;

const HEAD: &str = "#include <core.p4>
#include <v1model.p4>
header g_h { bit<8> f0; bit<8> f1; }
header elem_h { bit<8> v; }
header result_h { bit<8> v; bit<8> a; bit<8> b; bit<8> s0; bit<8> s1; bit<8> s2; bit<8> s3; }
struct pair_t { bit<8> a; bit<8> b; }
struct headers_t { g_h g; result_h result; }
struct meta_t { bit<8> v; pair_t p; elem_h[4] s; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.g); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
";

const BEGIN: &str = "        sm.egress_spec = 1;
        meta.s[0].setValid(); meta.s[1].setValid(); meta.s[2].setValid(); meta.s[3].setValid();
";

const TAIL: &str = "control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply {
        hdr.result = { meta.v, meta.p.a, meta.p.b, meta.s[0].v, meta.s[1].v, meta.s[2].v, meta.s[3].v };
    }
}
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

impl Program {
    /// The whole program.
    pub fn source(&self) -> String {
        let mut text = HEAD.to_owned();
        let indexed = || self.callables.iter().enumerate();
        for (at, callable) in indexed().filter(|(_, callable)| callable.kind != Kind::Action) {
            text += &self.callable(at, callable);
        }
        text += "control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {\n";
        text += "    register<bit<8>>(4) cells;\n";
        for (at, callable) in indexed() {
            match callable.kind {
                Kind::Action => text += &self.callable(at, callable),
                Kind::Control => {
                    let _ = writeln!(text, "    c{at}() i{at};");
                }
                Kind::Function | Kind::GlobalAction => {}
            }
        }
        for (at, table) in self.tables.iter().enumerate() {
            text += &self.table(at, table);
        }
        let _ = writeln!(text, "    apply {{\n{BEGIN}{}    }}\n}}", self.stmts(&self.main));
        text + TAIL
    }

    fn callable(&self, at: usize, callable: &Callable) -> String {
        let params: Vec<String> = callable
            .params
            .iter()
            .map(|param| {
                let var = &self.vars[param.var];
                let direction = match param.dir {
                    Dir::In => "in ",
                    Dir::Out => "out ",
                    Dir::InOut => "inout ",
                    Dir::Data => "",
                };
                format!("{direction}{} {}", var.ty.name(), var.name)
            })
            .collect();
        let (params, body) = (params.join(", "), self.stmts(&callable.body));
        match callable.kind {
            Kind::Function => format!("bit<8> c{at}({params}) {{\n{body}}}\n"),
            Kind::Action | Kind::GlobalAction => format!("action c{at}({params}) {{\n{body}}}\n"),
            Kind::Control => format!("control c{at}({params}) {{\n    apply {{\n{body}    }}\n}}\n"),
        }
    }

    fn table(&self, at: usize, table: &Table) -> String {
        let mut text = format!("    table t{at} {{\n        key = {{\n");
        for (number, key) in table.keys.iter().enumerate() {
            // A bare place as well: it may be read where it lies.
            let key = match key {
                Expr::Read(place) => self.place(place),
                key => self.expr(key),
            };
            let _ = writeln!(text, "            {key} : ternary @name(\"k{number}\");");
        }
        let listed: Vec<String> = table.actions.iter().map(|call| self.call(call)).collect();
        let runs = |runs: &Runs| {
            let data: Vec<String> = runs.data.iter().map(ToString::to_string).collect();
            format!("c{}({})", table.actions[runs.action].callee, data.join(", "))
        };
        let _ = writeln!(text, "        }}\n        actions = {{ {}; }}", listed.join("; "));
        let _ = writeln!(text, "        const default_action = {};", runs(&table.default));
        text += "        const entries = {\n";
        for (keys, entry) in &table.entries {
            let keys: Vec<String> = keys.iter().map(|key| format!("{key} &&& 1")).collect();
            let _ = writeln!(text, "            ({}) : {};", keys.join(", "), runs(entry));
        }
        text + "        }\n    }\n"
    }

    fn place(&self, place: &Place) -> String {
        let mut text = self.vars[place.root].name.clone();
        for step in &place.path {
            match step {
                Step::Part(part) => text += [".a", ".b"][*part],
                Step::Index(index) => {
                    let _ = write!(text, "[{} & 3]", self.expr(index));
                }
                Step::Number => text += ".v",
            }
        }
        text
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const(value) => format!("8w{value}"),
            Expr::Read(place) => self.place(place),
            Expr::Op(Op::Halves, a, b) => format!("({}[3:0] ++ {}[3:0])", self.expr(a), self.expr(b)),
            Expr::Op(op, a, b) => format!("({} {} {})", self.expr(a), sign(*op), self.expr(b)),
            Expr::Choose(cond, a, b) => {
                format!("({} ? {} : {})", self.cond(cond), self.expr(a), self.expr(b))
            }
            Expr::Call(call) => self.call(call),
        }
    }

    fn cond(&self, cond: &Cond) -> String {
        match cond {
            Cond::Less(a, b) => format!("({} < {})", self.expr(a), self.expr(b)),
            Cond::Same(a, b) => format!("({} == {})", self.whole(a), self.whole(b)),
            Cond::And(a, b) => format!("({} && {})", self.cond(a), self.cond(b)),
            Cond::Or(a, b) => format!("({} || {})", self.cond(a), self.cond(b)),
            Cond::Not(a) => format!("(!{})", self.cond(a)),
            Cond::Hit(table) => format!("t{table}.apply().hit"),
        }
    }

    fn whole(&self, whole: &Whole) -> String {
        match whole {
            Whole::Read(place) => self.place(place),
            Whole::Elem(number) => format!("(elem_h){{ {} }}", self.expr(number)),
            Whole::Pair([(0, a), (_, b)]) => format!("(pair_t){{ {}, {} }}", self.expr(a), self.expr(b)),
            Whole::Pair([(_, b), (_, a)]) => {
                format!("(pair_t){{ b = {}, a = {} }}", self.expr(b), self.expr(a))
            }
        }
    }

    fn call(&self, call: &Call) -> String {
        let callee = &self.callables[call.callee];
        let args: Vec<String> = call
            .args
            .iter()
            .map(|(param, arg)| {
                let value = match arg {
                    Arg::Number(number) => self.expr(number),
                    Arg::Whole(whole) => self.whole(whole),
                    Arg::Place(place) => self.place(place),
                };
                let name = &self.vars[callee.params[*param].var].name;
                if call.named { format!("{name} = {value}") } else { value }
            })
            .collect();
        match callee.kind {
            Kind::Control => format!("i{}.apply({})", call.callee, args.join(", ")),
            _ => format!("c{}({})", call.callee, args.join(", ")),
        }
    }

    fn stmts(&self, stmts: &[Stmt]) -> String {
        stmts.iter().map(|stmt| format!("        {}\n", self.stmt(stmt))).collect()
    }

    fn stmt(&self, stmt: &Stmt) -> String {
        match stmt {
            Stmt::Set(place, op, value) => {
                let op = op.map_or("", sign);
                format!("{} {op}= {};", self.place(place), self.expr(value))
            }
            Stmt::SetWhole(place, value) => format!("{} = {};", self.place(place), self.whole(value)),
            Stmt::Declare(var, value) => {
                let var = &self.vars[*var];
                format!("{} {} = {};", var.ty.name(), var.name, self.expr(value))
            }
            Stmt::Call(call) => format!("{};", self.call(call)),
            Stmt::If(cond, then, otherwise) => format!(
                "if ({}) {{\n{}        }} else {{\n{}        }}",
                self.cond(cond),
                self.stmts(then),
                self.stmts(otherwise)
            ),
            Stmt::Switch(value, [zero, one, other]) => format!(
                "switch ({} & 3) {{\n        0: {{\n{}        }}\n        1: {{\n{}        }}\n        \
                 default: {{\n{}        }}\n        }}",
                self.expr(value),
                self.stmts(zero),
                self.stmts(one),
                self.stmts(other)
            ),
            Stmt::For(var, low, high, body) => format!(
                "for (bit<8> {} in ({} & 3) .. ({} & 3)) {{\n{}        }}",
                self.vars[*var].name,
                self.expr(low),
                self.expr(high),
                self.stmts(body)
            ),
            Stmt::Return(None) => "return;".to_owned(),
            Stmt::Return(Some(value)) => format!("return {};", self.expr(value)),
            Stmt::Exit => "exit;".to_owned(),
            Stmt::Apply(table) => format!("t{table}.apply();"),
            Stmt::SwitchRun(table, [first, other]) => format!(
                "switch (t{table}.apply().action_run) {{\n        c{}: {{\n{}        }}\n        \
                 default: {{\n{}        }}\n        }}",
                self.tables[*table].actions[0].callee,
                self.stmts(first),
                self.stmts(other)
            ),
            Stmt::Fetch { place, index, index_first } => {
                let (place, index) = (self.place(place), format!("(bit<32>)({} & 3)", self.expr(index)));
                if *index_first {
                    format!("cells.read(index = {index}, result = {place});")
                } else {
                    format!("cells.read({place}, {index});")
                }
            }
            Stmt::Keep { index, value, value_first } => {
                let (value, index) = (self.expr(value), format!("(bit<32>)({} & 3)", self.expr(index)));
                if *value_first {
                    format!("cells.write(value = {value}, index = {index});")
                } else {
                    format!("cells.write({index}, {value});")
                }
            }
        }
    }
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Xor => "^",
        Op::Or | Op::Halves => "|",
    }
}
