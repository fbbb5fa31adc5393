//! Annotations: `@name`, `@name(tokens)`, `@name[expressions]` and `@pragma name tokens`.

use super::{Failed, Parsed, Parser};
use crate::ast::{Annotation, AnnotationBody, AnnotationToken, Ident};
use crate::diag::Diagnostic;
use crate::lexer::Tok;

impl Parser<'_> {
    /// All annotations here.
    pub(super) fn annotations(&mut self) -> Parsed<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.at(Tok::At) {
            annotations.push(self.annotation()?);
        }
        Ok(annotations)
    }

    fn annotation(&mut self) -> Parsed<Annotation> {
        let start = self.expect(Tok::At)?;
        let pragma = self.at_word("pragma") && !self.token().new_line;
        let mut name = self.annotation_name()?;
        let body = if pragma {
            name = self.annotation_name()?;
            self.pragma_tokens()
        } else {
            match self.tok() {
                Tok::LParen => self.token_body()?,
                Tok::LBracket => self.structured_body()?,
                _ => AnnotationBody::Empty,
            }
        };
        Ok(Annotation { name, body, span: self.since(start) })
    }

    /// Any word may name an annotation, reserved or not.
    fn annotation_name(&mut self) -> Parsed<Ident> {
        let token = self.token();
        if token.tok == Tok::Ident || token.tok.is_keyword() {
            self.bump();
            return Ok(Ident { name: self.text_of(token).to_owned(), span: token.span });
        }
        self.expected("the name of an annotation")
    }

    fn raw_token(&mut self) -> AnnotationToken {
        let token = self.bump();
        AnnotationToken { text: self.text_of(token).to_owned(), span: token.span }
    }

    /// A pragma ends with its line.
    fn pragma_tokens(&mut self) -> AnnotationBody {
        let mut tokens = Vec::new();
        while !self.token().new_line && !self.at(Tok::Eof) {
            tokens.push(self.raw_token());
        }
        AnnotationBody::Tokens(tokens)
    }

    /// Tokens up to the parenthesis that closes the first.
    fn token_body(&mut self) -> Parsed<AnnotationBody> {
        let open = self.expect(Tok::LParen)?;
        let mut tokens = Vec::new();
        let mut depth = 0u32;
        loop {
            match self.tok() {
                Tok::RParen if depth == 0 => {
                    self.bump();
                    return Ok(AnnotationBody::Tokens(tokens));
                }
                Tok::LParen => depth += 1,
                Tok::RParen => depth -= 1,
                Tok::Eof => {
                    self.report(
                        Diagnostic::error(open, "this parenthesis is never closed").with_help("add `)`"),
                    );
                    return Err(Failed);
                }
                _ => {}
            }
            tokens.push(self.raw_token());
        }
    }

    fn structured_body(&mut self) -> Parsed<AnnotationBody> {
        self.expect(Tok::LBracket)?;
        let key_values = self.at(Tok::Ident) && self.peek(1).tok == Tok::Assign;
        let body = self.with_angle(false, |parser| {
            Ok(if key_values {
                AnnotationBody::KeyValues(parser.list(Tok::RBracket, true, Self::key_value)?)
            } else {
                AnnotationBody::Expressions(parser.list(Tok::RBracket, true, Self::expression)?)
            })
        })?;
        self.expect(Tok::RBracket)?;
        Ok(body)
    }
}
