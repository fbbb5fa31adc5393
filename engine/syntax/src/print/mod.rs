//! Syntax tree to P4 text.
//!
//! Invariants: `parse(print(tree))` is the same tree but for spans; every operator stands in parentheses, so
//! the text shows the tree's shape without precedence.

mod decl;
mod expr;
mod stmt;
mod types;

use crate::ast::{Annotation, AnnotationBody, Program};

/// The program as P4 text.
pub fn print(program: &Program) -> String {
    let mut printer = Printer::default();
    for decl in &program.decls {
        printer.decl(decl);
    }
    printer.out
}

#[derive(Debug, Default)]
struct Printer {
    out: String,
    depth: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Starts a line.
    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.out.push_str("    ");
        }
    }

    /// A whole line.
    fn line(&mut self, text: &str) {
        self.indent();
        self.put(text);
        self.put("\n");
    }

    /// ` {` and the lines of `items`, then `}` without an end of line.
    fn braces<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.put("{\n");
        self.depth += 1;
        for each in items {
            item(self, each);
        }
        self.depth -= 1;
        self.indent();
        self.put("}");
    }

    /// Items with `, ` between them.
    fn commas<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        for (index, each) in items.iter().enumerate() {
            if index > 0 {
                self.put(", ");
            }
            item(self, each);
        }
    }

    /// Annotations with a blank behind each.
    fn annotations(&mut self, annotations: &[Annotation]) {
        for annotation in annotations {
            self.annotation(annotation);
        }
    }

    fn annotation(&mut self, annotation: &Annotation) {
        let name = &annotation.name.name;
        match &annotation.body {
            AnnotationBody::Empty => self.put(&format!("@{name} ")),
            AnnotationBody::Tokens(tokens) => {
                let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
                let text = texts.join(" ");
                if balanced(&texts) {
                    self.put(&format!("@{name}({text}) "));
                } else {
                    // Only a pragma can hold a lone parenthesis; it ends with its line.
                    self.put(&format!("@pragma {name} {text}\n"));
                }
            }
            AnnotationBody::Expressions(items) => {
                self.put(&format!("@{name}["));
                self.commas(items, |printer, item| printer.expr(item));
                self.put("] ");
            }
            AnnotationBody::KeyValues(items) => {
                self.put(&format!("@{name}["));
                self.commas(items, |printer, (key, value)| printer.key_value(key, value));
                self.put("] ");
            }
        }
    }
}

fn balanced(texts: &[&str]) -> bool {
    let mut depth = 0i64;
    for text in texts {
        depth += match *text {
            "(" => 1,
            ")" => -1,
            _ => 0,
        };
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}
