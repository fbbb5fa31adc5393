//! Statements.

use super::Printer;
use crate::ast::{BinaryOp, Block, Decl, DeclKind, ForRange, Stmt, StmtKind, SwitchCase};

impl Printer {
    pub(super) fn block(&mut self, block: &Block) {
        self.annotations(&block.annotations);
        self.braces(&block.stmts, Self::stmt);
    }

    /// A statement on lines of its own.
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        self.indent();
        self.stmt_text(stmt);
    }

    /// The body of an `if` or loop, behind its head.
    fn body(&mut self, stmt: &Stmt) {
        self.put(" ");
        self.stmt_text(stmt);
    }

    /// A statement without indentation, with its end of line.
    fn stmt_text(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { cond, then, otherwise } => {
                self.put("if (");
                self.expr(cond);
                self.put(")");
                self.body(then);
                if let Some(otherwise) = otherwise {
                    self.indent();
                    self.put("else");
                    self.body(otherwise);
                }
                return;
            }
            StmtKind::For { annotations, init, cond, update, body } => {
                self.annotations(annotations);
                self.put("for (");
                self.commas(init, Self::simple);
                self.put("; ");
                self.expr(cond);
                self.put("; ");
                self.commas(update, Self::simple);
                self.put(")");
                return self.body(body);
            }
            StmtKind::ForIn { annotations, ty, name, range, body } => {
                self.annotations(annotations);
                self.put("for (");
                self.ty(ty);
                self.put(" ");
                self.put(&name.name);
                self.put(" in ");
                match range {
                    ForRange::Range(low, high) => {
                        self.expr(low);
                        self.put(" .. ");
                        self.expr(high);
                    }
                    ForRange::Expr(expr) => self.expr(expr),
                }
                self.put(")");
                return self.body(body);
            }
            StmtKind::Switch { value, cases } => {
                self.put("switch (");
                self.expr(value);
                self.put(") ");
                self.braces(cases, Self::switch_case);
            }
            StmtKind::Block(block) => self.block(block),
            _ => {
                self.simple(stmt);
                self.put(";");
            }
        }
        self.put("\n");
    }

    fn switch_case(&mut self, case: &SwitchCase) {
        self.indent();
        match &case.label {
            Some(label) => self.expr(label),
            None => self.put("default"),
        }
        self.put(":");
        if let Some(body) = &case.body {
            self.put(" ");
            self.block(body);
        }
        self.put("\n");
    }

    /// A statement without blocks inside, without `;`.
    fn simple(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Decl(Decl { annotations, kind, .. }) => {
                self.annotations(annotations);
                self.local(kind);
            }
            StmtKind::Assign { target, op, value } => {
                self.expr(target);
                self.put(" ");
                self.put(op.map_or("", BinaryOp::text));
                self.put("= ");
                self.expr(value);
            }
            StmtKind::Call(call) => self.expr(call),
            StmtKind::DirectApplication { ty, args } => {
                self.ty(ty);
                self.put(".apply");
                self.args(args);
            }
            StmtKind::Break => self.put("break"),
            StmtKind::Continue => self.put("continue"),
            StmtKind::Exit => self.put("exit"),
            StmtKind::Return(None) => self.put("return"),
            StmtKind::Return(Some(value)) => {
                self.put("return ");
                self.expr(value);
            }
            _ => {}
        }
    }

    /// A constant, variable or instance, without `;`.
    pub(super) fn local(&mut self, kind: &DeclKind) {
        match kind {
            DeclKind::Const { ty, name, value } => {
                self.put("const ");
                self.ty(ty);
                self.put(" ");
                self.key_value(name, value);
            }
            DeclKind::Variable { ty, name, init } => {
                self.ty(ty);
                self.put(" ");
                match init {
                    Some(init) => self.key_value(name, init),
                    None => self.put(&name.name),
                }
            }
            DeclKind::Instance { ty, args, name, body } => self.instance(ty, args, name, body.as_deref()),
            _ => {}
        }
    }
}
