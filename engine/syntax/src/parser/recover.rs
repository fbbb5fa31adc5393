//! Going on behind an error.

use super::Parser;
use crate::lexer::Tok;

impl Parser<'_> {
    /// After an error in a statement or member that began at token `start`: skips to behind its `;`, or to
    /// the `}` that closes the block around it. A brace opened on the way is skipped with its contents.
    pub(super) fn skip_item(&mut self, start: usize) {
        let mut depth = self.open_braces(start);
        loop {
            match self.tok() {
                Tok::Eof => return,
                Tok::Semi if depth == 0 => {
                    self.bump();
                    return;
                }
                Tok::LBrace => depth += 1,
                Tok::RBrace if depth == 0 => return,
                Tok::RBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(Tok::Semi);
                        return;
                    }
                }
                tok if depth == 0 && self.at > start && self.token().new_line && begins_item(tok) => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// Braces opened and not closed between `start` and here.
    fn open_braces(&self, start: usize) -> u32 {
        self.tokens[start..self.at].iter().fold(0, |depth: u32, token| match token.tok {
            Tok::LBrace => depth + 1,
            Tok::RBrace => depth.saturating_sub(1),
            _ => depth,
        })
    }
}

/// Words that begin a declaration or statement and occur nowhere
/// else, so that parsing can go on there even if a `;` is missing.
fn begins_item(tok: Tok) -> bool {
    matches!(
        tok,
        Tok::Action
            | Tok::Const
            | Tok::Control
            | Tok::Enum
            | Tok::Extern
            | Tok::Header
            | Tok::HeaderUnion
            | Tok::If
            | Tok::MatchKind
            | Tok::Package
            | Tok::Parser
            | Tok::Return
            | Tok::Struct
            | Tok::Switch
            | Tok::Table
            | Tok::Transition
            | Tok::Typedef
    )
}
