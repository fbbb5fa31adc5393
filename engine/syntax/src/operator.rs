//! Operators as they are written: the one list that the printer and the diagnostics read.

use crate::ast::{BinaryOp, UnaryOp};

impl UnaryOp {
    /// As written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Not => "!",
            Self::BitNot => "~",
            Self::Neg => "-",
            Self::Plus => "+",
        }
    }
}

impl BinaryOp {
    /// As written.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
            Self::Add => "+",
            Self::Sub => "-",
            Self::AddSat => "|+|",
            Self::SubSat => "|-|",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::BitAnd => "&",
            Self::BitXor => "^",
            Self::BitOr => "|",
            Self::Concat => "++",
            Self::And => "&&",
            Self::Or => "||",
        }
    }
}
