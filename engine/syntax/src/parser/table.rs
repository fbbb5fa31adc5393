//! Tables and their properties.

use super::{Parsed, Parser};
use crate::ast::{
    ActionRef, Annotation, DeclKind, Expr, KeyElement, TableDecl, TableEntry, TableProperty,
    TablePropertyKind,
};
use crate::lexer::Tok;

impl Parser<'_> {
    /// `table t { ... }`
    pub(super) fn table(&mut self) -> Parsed<DeclKind> {
        self.expect(Tok::Table)?;
        let name = self.name("a table name")?;
        self.scopes.declare_object(&name.name);
        self.expect(Tok::LBrace)?;
        let properties = self.members(Self::table_property)?;
        Ok(DeclKind::Table(Box::new(TableDecl { name, properties })))
    }

    fn table_property(&mut self) -> Parsed<TableProperty> {
        let start = self.span();
        let annotations = self.annotations()?;
        let is_const = self.eat(Tok::Const);
        let name = self.name("a table property")?;
        self.expect(Tok::Assign)?;
        let kind = match name.name.as_str() {
            "key" if !is_const && self.eat(Tok::LBrace) => {
                TablePropertyKind::Key(self.members(Self::key_element)?)
            }
            "actions" if !is_const && self.eat(Tok::LBrace) => {
                TablePropertyKind::Actions(self.members(Self::listed_action)?)
            }
            "entries" if self.eat(Tok::LBrace) => {
                TablePropertyKind::Entries { is_const, entries: self.members(Self::table_entry)? }
            }
            _ => {
                let value = self.expression()?;
                self.expect_semi("the table property")?;
                TablePropertyKind::Other { is_const, name, value }
            }
        };
        Ok(TableProperty { annotations, kind, span: self.since(start) })
    }

    fn key_element(&mut self) -> Parsed<KeyElement> {
        let expr = self.expression()?;
        self.expect(Tok::Colon)?;
        let match_kind = self.name("a match kind")?;
        let annotations = self.annotations()?;
        self.expect_semi("the key")?;
        Ok(KeyElement { annotations, expr, match_kind })
    }

    fn listed_action(&mut self) -> Parsed<ActionRef> {
        let annotations = self.annotations()?;
        let action = self.action_ref(annotations)?;
        self.expect_semi("the action")?;
        Ok(action)
    }

    fn action_ref(&mut self, annotations: Vec<Annotation>) -> Parsed<ActionRef> {
        let start = self.span();
        let path = self.path("an action name")?;
        let args = if self.at(Tok::LParen) { self.arguments()? } else { Vec::new() };
        Ok(ActionRef { annotations, path, args, span: self.since(start) })
    }

    fn table_entry(&mut self) -> Parsed<TableEntry> {
        let start = self.span();
        let is_const = self.eat(Tok::Const);
        let priority = self.entry_priority()?;
        let keyset = self.keyset()?;
        self.expect(Tok::Colon)?;
        let action = self.action_ref(Vec::new())?;
        let annotations = self.annotations()?;
        self.expect_semi("the entry")?;
        Ok(TableEntry { is_const, priority, keyset, action, annotations, span: self.since(start) })
    }

    /// `priority = e:`, the word being reserved in this place only.
    fn entry_priority(&mut self) -> Parsed<Option<Expr>> {
        if !self.at_word("priority") || self.peek(1).tok != Tok::Assign {
            return Ok(None);
        }
        self.bump();
        self.bump();
        let priority = self.expression()?;
        self.expect(Tok::Colon)?;
        Ok(Some(priority))
    }
}
