//! Binary operators and their precedence (grammar of the language
//! specification: bit operators bind tighter than comparisons).

use super::Parser;
use crate::ast::BinaryOp;
use crate::lexer::Tok;

/// Level of `==` and so on; a larger number binds tighter. All are left associative.
pub(super) struct Operator {
    pub(super) op: BinaryOp,
    pub(super) level: u8,
    /// Tokens that make it up (`>>` is two).
    pub(super) tokens: usize,
}

impl Parser<'_> {
    /// The binary operator here, if there is one.
    pub(super) fn binary_operator(&self) -> Option<Operator> {
        use BinaryOp::{
            Add, AddSat, And, BitAnd, BitOr, BitXor, Concat, Div, Eq, Ge, Gt, Le, Lt, Mod, Mul, Ne, Or, Shl,
            Shr, Sub, SubSat,
        };
        let (op, level, tokens) = match self.tok() {
            Tok::OrOr => (Or, 1, 1),
            Tok::AndAnd => (And, 2, 1),
            Tok::EqEq => (Eq, 3, 1),
            Tok::NotEq => (Ne, 3, 1),
            Tok::Lt => (Lt, 4, 1),
            Tok::Le => (Le, 4, 1),
            Tok::Gt | Tok::Ge if self.angle => return None,
            Tok::Gt if self.adjacent(Tok::Gt) => (Shr, 8, 2),
            Tok::Gt if self.adjacent(Tok::Ge) => return None,
            Tok::Gt => (Gt, 4, 1),
            Tok::Ge => (Ge, 4, 1),
            Tok::Or => (BitOr, 5, 1),
            Tok::Xor => (BitXor, 6, 1),
            Tok::And => (BitAnd, 7, 1),
            Tok::Shl => (Shl, 8, 1),
            Tok::PlusPlus => (Concat, 9, 1),
            Tok::Plus => (Add, 9, 1),
            Tok::Minus => (Sub, 9, 1),
            Tok::AddSat => (AddSat, 9, 1),
            Tok::SubSat => (SubSat, 9, 1),
            Tok::Star => (Mul, 10, 1),
            Tok::Slash => (Div, 10, 1),
            Tok::Percent => (Mod, 10, 1),
            _ => return None,
        };
        Some(Operator { op, level, tokens })
    }

    /// The next token is `tok` and touches this one.
    pub(super) fn adjacent(&self, tok: Tok) -> bool {
        let next = self.peek(1);
        next.tok == tok && next.span.start == self.span().end
    }

    /// Consumes `=` or a compound assignment operator: `Some(None)` is plain.
    pub(super) fn assignment(&mut self) -> Option<Option<BinaryOp>> {
        if self.at(Tok::Gt) && self.adjacent(Tok::Ge) {
            self.bump();
            self.bump();
            return Some(Some(BinaryOp::Shr));
        }
        let op = match self.tok() {
            Tok::Assign => None,
            Tok::PlusAssign => Some(BinaryOp::Add),
            Tok::MinusAssign => Some(BinaryOp::Sub),
            Tok::StarAssign => Some(BinaryOp::Mul),
            Tok::SlashAssign => Some(BinaryOp::Div),
            Tok::PercentAssign => Some(BinaryOp::Mod),
            Tok::AddSatAssign => Some(BinaryOp::AddSat),
            Tok::SubSatAssign => Some(BinaryOp::SubSat),
            Tok::ShlAssign => Some(BinaryOp::Shl),
            Tok::AndAssign => Some(BinaryOp::BitAnd),
            Tok::OrAssign => Some(BinaryOp::BitOr),
            Tok::XorAssign => Some(BinaryOp::BitXor),
            _ => return None,
        };
        self.bump();
        Some(op)
    }
}
