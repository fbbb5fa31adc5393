//! What stands here? Decisions that need a token or two, and which names are types.

use super::Parser;
use crate::lexer::{Tok, Token};

impl Parser<'_> {
    /// The token at `ahead` begins a type that is known to be one.
    pub(super) fn type_at(&self, ahead: usize) -> bool {
        let token = self.peek(ahead);
        match token.tok {
            Tok::Bit
            | Tok::Bool
            | Tok::IntType
            | Tok::MatchKind
            | Tok::StringType
            | Tok::Varbit
            | Tok::Tuple
            | Tok::Void => true,
            // `error.X` is a value.
            Tok::Error => self.peek(ahead + 1).tok != Tok::Dot,
            Tok::Ident => self.type_name(token) || self.list_at(ahead),
            Tok::Dot => {
                let name = self.peek(ahead + 1);
                name.tok == Tok::Ident && self.scopes.is_global_type(self.text_of(name))
            }
            _ => false,
        }
    }

    /// `list <`: the word is reserved in this place only.
    pub(super) fn list_at(&self, ahead: usize) -> bool {
        let token = self.peek(ahead);
        token.tok == Tok::Ident && self.text_of(token) == "list" && self.peek(ahead + 1).tok == Tok::Lt
    }

    pub(super) fn type_name(&self, token: Token) -> bool {
        token.tok == Tok::Ident && self.scopes.is_type(self.text_of(token))
    }

    /// A word that begins a declaration at top level and nothing inside
    /// one, at the start of a line: a brace is missing before it.
    pub(super) fn at_top_word(&self) -> bool {
        self.token().new_line
            && matches!(
                self.tok(),
                Tok::Control
                    | Tok::Enum
                    | Tok::Extern
                    | Tok::Header
                    | Tok::HeaderUnion
                    | Tok::Package
                    | Tok::Parser
                    | Tok::Struct
                    | Tok::Typedef
            )
    }

    /// An action or table, annotated or not, begins on this line.
    /// Among statements that means a `}` is missing before.
    pub(super) fn at_control_member(&self) -> bool {
        self.token().new_line && matches!(self.tok_behind_annotations(), Tok::Action | Tok::Table)
    }

    fn tok_behind_annotations(&self) -> Tok {
        let mut ahead = 0;
        while self.peek(ahead).tok == Tok::At {
            ahead += 2;
            let mut depth = 0u32;
            loop {
                match self.peek(ahead).tok {
                    Tok::LParen | Tok::LBracket => depth += 1,
                    Tok::RParen | Tok::RBracket => depth = depth.saturating_sub(1),
                    Tok::Eof => return Tok::Eof,
                    _ if depth == 0 => break,
                    _ => {}
                }
                ahead += 1;
            }
        }
        self.peek(ahead).tok
    }
}
