//! Entries of a table: their priorities (P4-16 14.2.1.4), and those that match the same.

use p4cc_syntax::Diagnostic;
use p4cc_types::hir::{Entry, Expr, ExprKind, Program, Table};
use std::collections::BTreeMap;

/// Runs the pass.
pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    program.tables.iter().for_each(|table| check_duplicates(table, found));
    for table in program.tables.iter().filter(|table| !table.const_entries) {
        let Some(first) = table.entries.first() else { continue };
        let Some(ranked) = table.entries.iter().find(|entry| entry.priority.is_some()) else { continue };
        if !table.has_priorities() {
            let place = table.keys.first().map_or(table.span, |key| key.expr.span);
            found.push(
                Diagnostic::error(
                    ranked.span,
                    format!("entries of table `{}` cannot have priorities", table.name),
                )
                .with_related(place, "none of its keys is ternary, range or optional")
                .with_help("remove `priority = ...:`"),
            );
            continue;
        }
        if first.priority.is_none() {
            found.push(
                Diagnostic::error(
                    first.span,
                    "the first entry needs a priority, because another entry has \
                    one",
                )
                .with_related(ranked.span, "this entry has a priority")
                .with_help("later entries may omit the priority"),
            );
            continue;
        }
        check_numbers(table, found);
    }
}

/// A priority that is not written follows from the one before.
fn check_numbers(table: &Table, found: &mut Vec<Diagnostic>) {
    let mut used: BTreeMap<i64, &Entry> = BTreeMap::new();
    let delta = i64::from(table.priority_delta);
    let step = if table.largest_priority_wins { -delta } else { delta };
    let mut before: Option<(i64, &Entry)> = None;
    let (mut disorder_told, mut twice_told) = (false, false);
    for entry in &table.entries {
        let follows = before.map_or(1, |(priority, _)| priority + step);
        let priority = entry.priority.map_or(follows, i64::from);
        if !(0..=i64::from(i32::MAX)).contains(&priority) {
            found.push(
                Diagnostic::error(
                    table.span,
                    format!("the priority of an entry of table `{}` would be {priority}", table.name),
                )
                .with_related(entry.span, "at this entry")
                .with_help("give it a priority, or reduce `priority_delta`"),
            );
            return;
        }
        if let Some(first) = used.insert(priority, entry)
            && !std::mem::replace(&mut twice_told, true)
        {
            found.push(
                Diagnostic::warning(entry.span, format!("two entries have the priority {priority}"))
                    .with_name("duplicate-priorities")
                    .with_related(first.span, "the other entry"),
            );
        }
        if let Some((last, other)) = before
            && !disorder_told
            && (if table.largest_priority_wins { priority > last } else { priority < last })
        {
            disorder_told = true;
            found.push(
                Diagnostic::warning(
                    entry.span,
                    format!("priority {priority} takes precedence over {last} of the entry before"),
                )
                .with_name("entries-out-of-priority-order")
                .with_related(other.span, "the entry before")
                .with_help("order the entries by decreasing precedence"),
            );
        }
        before = Some((priority, entry));
    }
}

/// An entry that matches just what one before it does:
/// never found where the order decides, an error elsewhere.
fn check_duplicates(table: &Table, found: &mut Vec<Diagnostic>) {
    let mut seen: BTreeMap<Vec<String>, &Entry> = BTreeMap::new();
    for entry in &table.entries {
        let Some(key) = entry.keysets.iter().map(matched).collect::<Option<Vec<String>>>() else { continue };
        let Some(first) = seen.get(&key) else {
            seen.insert(key, entry);
            continue;
        };
        if !table.has_priorities() {
            found.push(
                Diagnostic::error(entry.span, "another entry matches exactly the same values")
                    .with_related(first.span, "the other entry"),
            );
        } else if table.const_entries {
            found.push(
                Diagnostic::warning(
                    entry.span,
                    "this entry never matches, because an earlier entry matches \
                    the same values",
                )
                .with_name("unreachable")
                .with_related(first.span, "the earlier entry"),
            );
        }
    }
}

/// What a keyset matches, as a text that is equal for equal keysets; `None` if it is not known here.
fn matched(keyset: &Expr) -> Option<String> {
    let value = |expr: &Expr| match &expr.kind {
        ExprKind::Const(value) => Some(format!("{value:?}")),
        _ => None,
    };
    match &keyset.kind {
        ExprKind::Any => Some("_".to_owned()),
        ExprKind::Const(_) => value(keyset),
        ExprKind::Mask(a, b) => Some(format!("{} &&& {}", value(a)?, value(b)?)),
        ExprKind::Range(a, b) => Some(format!("{} .. {}", value(a)?, value(b)?)),
        _ => None,
    }
}
