//! Order and combination of a table's properties.

use p4cc_syntax::ast::{Decl, DeclKind, Program, TableDecl, TablePropertyKind};
use p4cc_syntax::visit::{self, Visitor};
use p4cc_syntax::{Diagnostic, Span};

/// Runs the pass.
pub(super) fn check(tree: &Program, found: &mut Vec<Diagnostic>) {
    let mut pass = Tables { found, open_default: false };
    visit::walk_program(&mut pass, tree);
    if pass.open_default {
        no_action(tree, found);
    }
}

/// A table without a default action runs core.p4's `NoAction`;
/// a program may declare its own, but like that one.
fn no_action(tree: &Program, found: &mut Vec<Diagnostic>) {
    for decl in &tree.decls {
        let (name, fits) = match &decl.kind {
            DeclKind::Action { name, params, .. } => (name, params.is_empty()),
            DeclKind::Const { name, .. } | DeclKind::Instance { name, .. } => (name, false),
            _ => continue,
        };
        if name.name == "NoAction" && !fits {
            found.push(
                Diagnostic::error(name.span, "`NoAction` must be an action without parameters")
                    .with_help("tables without `default_action` execute it; include core.p4 instead"),
            );
        }
    }
}

struct Tables<'a> {
    found: &'a mut Vec<Diagnostic>,
    /// Some table has no default action.
    open_default: bool,
}

/// A property, and where a table has it.
#[derive(Clone, Copy)]
struct Property<'a> {
    name: &'a str,
    span: Option<Span>,
}

impl Tables<'_> {
    /// `later` refers to `earlier`, so it must stand behind it, as every use stands behind its declaration.
    fn order(&mut self, table: &TableDecl, earlier: Property<'_>, later: Property<'_>) {
        if let (Some(first), Some(second)) = (earlier.span, later.span)
            && second.start < first.start
        {
            self.found.push(
                Diagnostic::error(
                    second,
                    format!(
                        "`{}` of table `{}` precedes its `{}`",
                        later.name, table.name.name, earlier.name
                    ),
                )
                .with_related(first, format!("`{}` is here", earlier.name))
                .with_help(format!("write `{}` first", earlier.name)),
            );
        }
    }

    fn properties(&mut self, table: &TableDecl) {
        let place = |wanted: &dyn Fn(&TablePropertyKind) -> bool| {
            table.properties.iter().find(|property| wanted(&property.kind)).map(|property| property.span)
        };
        let filled =
            place(&|kind| matches!(kind, TablePropertyKind::Entries { entries, .. } if !entries.is_empty()));
        let key = place(&|kind| matches!(kind, TablePropertyKind::Key(_)));
        let actions = place(&|kind| matches!(kind, TablePropertyKind::Actions(_)));
        let entries = place(&|kind| matches!(kind, TablePropertyKind::Entries { .. }));
        let default = place(
            &|kind| matches!(kind, TablePropertyKind::Other { name, .. } if name.name == "default_action"),
        );
        self.open_default |= default.is_none();
        let key = Property { name: "key", span: key };
        let actions = Property { name: "actions", span: actions };
        let entries = Property { name: "entries", span: entries };
        self.order(table, key, entries);
        self.order(table, actions, Property { name: "default_action", span: default });
        self.order(table, actions, entries);
        let keyless = table.properties.iter().all(|property| match &property.kind {
            TablePropertyKind::Key(keys) => keys.is_empty(),
            _ => true,
        });
        if let Some(entries) = filled
            && keyless
        {
            self.found.push(
                Diagnostic::error(
                    table.name.span,
                    format!("table `{}` has entries but no key", table.name.name),
                )
                .with_related(entries, "entries are here")
                .with_help("add `key = { ... }`, or remove the entries and set `default_action`"),
            );
        }
    }

    fn priorities(&mut self, table: &TableDecl) {
        for property in &table.properties {
            let TablePropertyKind::Entries { is_const: true, entries } = &property.kind else { continue };
            if let Some(priority) = entries.iter().find_map(|entry| entry.priority.as_ref()) {
                self.found.push(
                    Diagnostic::error(priority.span, "entries of `const entries` cannot have priorities")
                        .with_help("their order decides; alternatively remove `const` before `entries`"),
                );
            }
        }
    }
}

impl Visitor for Tables<'_> {
    fn decl(&mut self, decl: &Decl) {
        if let DeclKind::Table(table) = &decl.kind {
            self.properties(table);
            self.priorities(table);
        }
        visit::walk_decl(self, decl);
    }
}
