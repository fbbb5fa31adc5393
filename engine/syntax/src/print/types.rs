//! Types and names.

use super::Printer;
use crate::ast::{Expr, Ident, Path, Type, TypeKind};

impl Printer {
    pub(super) fn path(&mut self, path: &Path) {
        if path.absolute {
            self.put(".");
        }
        self.put(&path.name.name);
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        match &ty.kind {
            TypeKind::Void => self.put("void"),
            TypeKind::Bool => self.put("bool"),
            TypeKind::Error => self.put("error"),
            TypeKind::MatchKind => self.put("match_kind"),
            TypeKind::String => self.put("string"),
            TypeKind::Integer => self.put("int"),
            TypeKind::DontCare => self.put("_"),
            TypeKind::Bit(None) => self.put("bit"),
            TypeKind::Bit(Some(width)) => self.sized("bit", width),
            TypeKind::Int(width) => self.sized("int", width),
            TypeKind::Varbit(width) => self.sized("varbit", width),
            TypeKind::Named(path) => self.path(path),
            TypeKind::Specialized(path, args) => {
                self.path(path);
                self.type_args(args);
            }
            TypeKind::Stack(of, size) => {
                self.ty(of);
                self.put("[");
                self.expr(size);
                self.put("]");
            }
            TypeKind::Tuple(args) => {
                self.put("tuple");
                self.type_args(args);
            }
            TypeKind::List(of) => {
                self.put("list<");
                self.ty(of);
                self.put(">");
            }
        }
    }

    fn sized(&mut self, name: &str, width: &Expr) {
        self.put(name);
        self.put("<");
        self.expr(width);
        self.put(">");
    }

    pub(super) fn type_args(&mut self, args: &[Type]) {
        self.put("<");
        self.commas(args, Self::ty);
        self.put(">");
    }

    /// `<T, U>`, nothing if there are none.
    pub(super) fn type_params(&mut self, params: &[Ident]) {
        if !params.is_empty() {
            self.put("<");
            self.commas(params, |printer, param| printer.put(&param.name));
            self.put(">");
        }
    }
}
