//! Expressions.

use super::Printer;
use crate::ast::{Argument, Expr, ExprKind, Ident, IntLiteral};

impl Printer {
    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Bool(value) => self.put(if *value { "true" } else { "false" }),
            ExprKind::Int(literal) => self.integer(literal),
            ExprKind::String(text) => self.string(text),
            ExprKind::Path(path) => self.path(path),
            ExprKind::This => self.put("this"),
            ExprKind::Dots => self.put("..."),
            ExprKind::InvalidHeader => self.put("{#}"),
            ExprKind::DontCare => self.put("_"),
            ExprKind::Default => self.put("default"),
            ExprKind::List(items) => {
                self.put("{");
                self.commas(items, Self::expr);
                self.put("}");
            }
            ExprKind::Struct { fields, dots } => self.structure(fields, *dots),
            ExprKind::Tuple(items) => {
                self.put("(");
                self.commas(items, Self::expr);
                self.put(")");
            }
            ExprKind::Mask(a, b) => self.between(a, " &&& ", b),
            ExprKind::Range(a, b) => self.between(a, " .. ", b),
            ExprKind::Unary(op, operand) => {
                self.put("(");
                self.put(op.text());
                self.expr(operand);
                self.put(")");
            }
            ExprKind::Binary(op, a, b) => {
                self.put("(");
                self.between(a, &format!(" {} ", op.text()), b);
                self.put(")");
            }
            ExprKind::Conditional(cond, yes, no) => {
                self.put("(");
                self.between(cond, " ? ", yes);
                self.put(" : ");
                self.expr(no);
                self.put(")");
            }
            ExprKind::Cast(ty, operand) => {
                self.put("((");
                self.ty(ty);
                self.put(") ");
                self.expr(operand);
                self.put(")");
            }
            ExprKind::Index(..) | ExprKind::Slice(..) | ExprKind::PlusSlice(..) => self.index(&expr.kind),
            ExprKind::Member(..)
            | ExprKind::TypeMember(..)
            | ExprKind::Call { .. }
            | ExprKind::Construct { .. } => {
                self.member_or_call(&expr.kind);
            }
        }
    }

    fn member_or_call(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Member(base, name) => {
                self.expr(base);
                self.put(".");
                self.put(&name.name);
            }
            ExprKind::TypeMember(ty, name) => {
                self.ty(ty);
                self.put(".");
                self.put(&name.name);
            }
            ExprKind::Call { callee, type_args, args } => {
                self.expr(callee);
                if !type_args.is_empty() {
                    self.type_args(type_args);
                }
                self.args(args);
            }
            ExprKind::Construct { ty, args } => {
                self.ty(ty);
                self.args(args);
            }
            _ => {}
        }
    }

    fn between(&mut self, a: &Expr, text: &str, b: &Expr) {
        self.expr(a);
        self.put(text);
        self.expr(b);
    }

    fn index(&mut self, kind: &ExprKind) {
        let (base, first, second) = match kind {
            ExprKind::Index(base, at) => (base, at, None),
            ExprKind::Slice(base, high, low) => (base, high, Some((":", low))),
            ExprKind::PlusSlice(base, low, width) => (base, low, Some((" +: ", width))),
            _ => return,
        };
        self.expr(base);
        self.put("[");
        self.expr(first);
        if let Some((mark, second)) = second {
            self.put(mark);
            self.expr(second);
        }
        self.put("]");
    }

    fn structure(&mut self, fields: &[(Ident, Expr)], dots: bool) {
        self.put("{");
        self.commas(fields, |printer, (name, value)| printer.key_value(name, value));
        if dots {
            self.put(", ...");
        }
        self.put("}");
    }

    pub(super) fn key_value(&mut self, name: &Ident, value: &Expr) {
        self.put(&name.name);
        self.put(" = ");
        self.expr(value);
    }

    pub(super) fn args(&mut self, args: &[Argument]) {
        self.put("(");
        self.commas(args, |printer, arg| match &arg.name {
            Some(name) => printer.key_value(name, &arg.value),
            None => printer.expr(&arg.value),
        });
        self.put(")");
    }

    fn integer(&mut self, literal: &IntLiteral) {
        if let Some((width, signed)) = literal.width {
            self.put(&format!("{width}{}", if signed { 's' } else { 'w' }));
        }
        self.put(match literal.base {
            2 => "0b",
            8 => "0o",
            16 => "0x",
            _ => "",
        });
        self.put(&literal.digits);
    }

    fn string(&mut self, text: &str) {
        self.put("\"");
        for c in text.chars() {
            match c {
                '"' => self.put("\\\""),
                '\\' => self.put("\\\\"),
                '\n' => self.put("\\n"),
                '\t' => self.put("\\t"),
                c => self.out.push(c),
            }
        }
        self.put("\"");
    }
}
